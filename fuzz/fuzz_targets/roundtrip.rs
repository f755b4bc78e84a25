//! Any skeleton and clips, in every form and lane order: a written file reads back bit for bit.
#![no_main]

mod support;

use arbitrary::{Arbitrary, Unstructured};
use glam::{Quat, Vec3};
use libfuzzer_sys::fuzz_target;
use phalanx::bake::{BakeOptions, bake};
use phalanx::build::{BuildOptions, build_rig};
use phalanx::clip::Marker;
use phalanx::format::{
    ClipForm, ClipOrigin, Library, LibraryWriter, Provenance, RigOptions, Source,
};
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use std::collections::BTreeSet;
use std::io::Cursor;

#[derive(Arbitrary, Debug)]
struct Node {
    name: String,
    parent: u8,
    translation: [f32; 3],
    rotation: [i8; 4],
    scale: [i8; 3],
}

#[derive(Arbitrary, Debug)]
struct Track {
    node: u8,
    channel: u8,
    interpolation: u8,
    steps: Vec<u16>,
    values: Vec<f32>,
}

#[derive(Arbitrary, Debug)]
struct Animation {
    name: String,
    tracks: Vec<Track>,
    markers: Vec<(String, f32)>,
    max_error: f32,
}

#[derive(Arbitrary, Debug)]
struct Input {
    nodes: Vec<Node>,
    animations: Vec<Animation>,
    provenance: (String, String, u64, u64),
    order: u8,
}

/// Largest number of keys: two thousand times on fifty joints took minutes to bake under AddressSanitizer.
const MOST_KEYS: usize = 24;

/// Largest value: beyond it products of f32 keys overflow; the import has a limit as well.
const LARGEST: f32 = 1e6;

fn number(v: f32) -> f32 {
    if v.is_finite() { v.clamp(-LARGEST, LARGEST) } else { 0.5 }
}

fn rotation(v: [f32; 4]) -> [f32; 4] {
    let q = Quat::from_array(v.map(|v| number(v).clamp(-1e3, 1e3)));
    let q = if q.length() > 1e-3 { q.normalize() } else { Quat::IDENTITY };
    q.to_array()
}

fn track(t: &Track, nodes: usize) -> Option<((usize, RawChannel), RawTrack)> {
    let (channel, width) = match t.channel % 3 {
        0 => (RawChannel::Translation, 3),
        1 => (RawChannel::Rotation, 4),
        _ => (RawChannel::Scale, 3),
    };
    let (interpolation, per_key) = match t.interpolation % 3 {
        0 => (Interpolation::Linear, width),
        1 => (Interpolation::Step, width),
        _ => (Interpolation::CubicSpline, 3 * width),
    };
    let keys = t.steps.len().min(t.values.len() / per_key).min(MOST_KEYS);
    let mut time = 0.0f32;
    let mut times = Vec::new();
    for step in &t.steps[..keys] {
        times.push(time);
        time += (f32::from(*step) + 1.0) / 256.0;
    }
    let mut values: Vec<f32> = t.values[..keys * per_key].iter().map(|&v| number(v)).collect();
    if channel == RawChannel::Rotation && per_key == width {
        for q in values.chunks_exact_mut(4) {
            q.copy_from_slice(&rotation([q[0], q[1], q[2], q[3]]));
        }
    }
    let node = usize::from(t.node) % nodes;
    let raw = RawTrack { node, channel, interpolation, times, values };
    (keys > 0).then_some(((node, channel), raw))
}

fn clip(a: &Animation, nodes: usize) -> RawClip {
    let mut seen = BTreeSet::new();
    let tracks = a.tracks.iter().take(8).filter_map(|t| track(t, nodes));
    let tracks: Vec<RawTrack> =
        tracks.filter(|(what, _)| seen.insert(*what)).map(|(_, track)| track).collect();
    let ends = tracks.iter().filter_map(|t| t.times.last());
    let duration = ends.fold(0.0, |a: f32, b| a.max(*b));
    let markers = a.markers.iter().take(16).map(|(name, place)| {
        let place = if place.is_finite() { place.abs().fract() } else { 1.0 };
        Marker::new(name.clone(), duration * place)
    });
    RawClip {
        name: Some(a.name.clone()),
        duration,
        markers: markers.collect(),
        tracks,
        ..RawClip::default()
    }
}

fn scene(input: &Input) -> RawScene {
    let nodes = input.nodes.iter().take(24).enumerate().map(|(i, n)| {
        let [x, y, z] = n.translation.map(number);
        RawNode {
            source: i,
            name: Some(n.name.clone()),
            // Parents come first; some nodes have none.
            parent: (i > 0 && n.parent < 250).then(|| usize::from(n.parent) % i.max(1)),
            local: Trs {
                translation: Vec3::new(x, y, z),
                rotation: Quat::from_array(rotation(n.rotation.map(f32::from))),
                scale: Vec3::from_array(n.scale.map(|s| f32::from(s) / 64.0)),
            },
            ..RawNode::default()
        }
    });
    let nodes: Vec<RawNode> = nodes.collect();
    let roots = (0..nodes.len()).filter(|&n| nodes[n].parent.is_none());
    let animations = input.animations.iter().take(3);
    RawScene {
        name: "fuzz".into(),
        clips: animations.map(|a| clip(a, nodes.len())).collect(),
        scenes: vec![roots.collect()],
        default_scene: Some(0),
        nodes,
        ..RawScene::default()
    }
}

fn write(rig: &Rig, input: &Input, form: ClipForm) -> (Vec<u8>, Provenance) {
    let (tool, settings, bytes, hash) = input.provenance.clone();
    let sources = vec![Source { name: tool.clone(), settings, bytes, hash }];
    let clips = rig.clips().iter().map(|_| ClipOrigin::default());
    let provenance = Provenance { tool, sources, clips: clips.collect() };
    let out = Cursor::new(Vec::new());
    let mut writer = LibraryWriter::new(out, rig.skeleton()).expect("writing to memory succeeds");
    writer.add_rig(rig).expect("the rig has the writer's skeleton");
    for clip in rig.clips() {
        let added = writer.add_clip(clip, clip.name(), form);
        added.expect("the clip has the writer's skeleton");
    }
    let out = writer.finish(&provenance).expect("writing to memory succeeds");
    (out.into_inner(), provenance)
}

/// True if the error is about a limit on scales or on values computed from them.
fn at_limit(error: &str) -> bool {
    error.contains("the limit is 1e12")
}

fn same(a: &Rig, b: &Rig) {
    assert!(a.skeleton() == b.skeleton());
    assert!(a.nodes() == b.nodes() && a.roots() == b.roots() && a.skins() == b.skins());
    assert!(a.clips() == b.clips());
    for (a, b) in a.clips().iter().zip(b.clips()) {
        assert!(a.content_hash() == b.content_hash(), "{}", a.name());
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(bytes)) else {
        return;
    };
    if input.nodes.is_empty() {
        return;
    }
    let raw = scene(&input);
    let Ok(rig) = build_rig(raw.clone(), &BuildOptions::default()) else {
        return;
    };
    let joints = rig.skeleton().len();
    let mut order: Vec<u16> = (0..joints as u16).collect();
    order.rotate_left(usize::from(input.order) % joints.max(1));
    let options = BuildOptions { lane_order: Some(order), ..BuildOptions::default() };
    let other = match build_rig(raw, &options) {
        Ok(other) => other,
        // Splines that share a block with others get more keys, whose tangents reach slightly further.
        Err(error) => return assert!(at_limit(&error.to_string()), "{error}"),
    };
    for form in ClipForm::ALL {
        let (file, provenance) = write(&rig, &input, form);
        assert!(file == write(&rig, &input, form).0, "two runs differ");
        let library = Library::from_bytes(&file).expect("the file was just written");
        assert!(*library.provenance() == provenance);
        same(&rig, &library.rig(&RigOptions::default()).expect("the file was just written"));
        for clip in 0..library.clip_count() {
            let moved = library.clip_for(clip, other.skeleton());
            let moved = match moved {
                Ok(moved) => moved,
                Err(error) => {
                    assert!(at_limit(&error.to_string()), "{error}");
                    continue;
                }
            };
            assert!(moved.fits(other.skeleton()));
            assert!(moved.duration() == rig.clips()[clip].duration());
        }
    }
    // Baked clips: the measured error is within the limit, or nothing was quantised.
    for (exact, a) in rig.clips().iter().zip(&input.animations) {
        let settings = BakeOptions {
            max_error: number(a.max_error).abs().clamp(1e-5, 1.0),
            ..BakeOptions::default()
        };
        let Ok((built, report)) = bake(exact, rig.skeleton(), &settings) else {
            continue;
        };
        let as_it_was = built.content_hash() == exact.content_hash();
        assert!(as_it_was || report.max <= settings.max_error);
        for form in ClipForm::ALL {
            let out = Cursor::new(Vec::new());
            let mut writer =
                LibraryWriter::new(out, rig.skeleton()).expect("writing to memory succeeds");
            writer.add_clip(&built, "baked", form).expect("it fits");
            let out = writer.finish(&Provenance::default()).expect("writing to memory succeeds");
            let library = Library::from_bytes(out.get_ref()).expect("the file was just written");
            let read = library.clip(0).expect("the file was just written");
            assert!(read.content_hash() == built.content_hash());
        }
    }
    support::play(rig);
});
