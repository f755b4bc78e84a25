//! Cost of one more animated joint with warm caches: for several rigs, the time of a character playing the
//! clip that animates most of its joints, minus the time of a character with a single animated joint. Prints
//! its own table, since criterion cannot subtract. `--quick` and `--test` shorten it.

mod common;

use phalanx::build::build_rig;
use phalanx::clip::{Channel, Clip};
use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, PlayOptions};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::import::{ImportOptions, import_path, mannequin};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use phalanx_testkit::trials;
use phalanx_workload::sampling::{ROUNDS, Samples, compare};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

/// The test models, used besides the built-in character.
const MODELS: [&str; 3] = ["Fox.glb", "pab.glb", "bl_manyjoints.glb"];

/// A character that plays one clip.
struct Character {
    name: String,
    joints: usize,
    moving: usize,
    crowd: Crowd,
    buffer: BoneBuffer,
}

impl Character {
    fn new(name: &str, rig: Rig) -> Result<Self, CrowdError> {
        let (clip, moving) = (0..rig.clips().len())
            .map(|c| (c, moving_joints(&rig, &rig.clips()[c])))
            .max_by_key(|&(clip, moving)| (moving, std::cmp::Reverse(clip)))
            .expect("the model has clips");
        let label = format!("{name} \"{}\"", rig.clips()[clip].name());
        let joints = rig.skeleton().len();
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(Arc::new(rig))?;
        let clip = crowd.clip_by_index(id, clip).expect("the clip is loaded");
        let instance = crowd.spawn(id)?;
        crowd.play(instance, clip, &PlayOptions::default())?;
        Ok(Self { name: label, joints, moving, crowd, buffer: BoneBuffer::new() })
    }

    fn frames(&mut self, frames: u32) -> Result<(), CrowdError> {
        for _ in 0..frames {
            self.crowd.advance(1.0 / 60.0)?;
            self.crowd.evaluate(&mut self.buffer);
            black_box(&mut self.buffer);
        }
        Ok(())
    }
}

/// Number of joints whose translation, rotation or scale changes in the clip.
fn moving_joints(rig: &Rig, clip: &Clip) -> usize {
    let mut moving = vec![0u16; rig.skeleton().blocks()];
    for channel in [Channel::Translation, Channel::Rotation, Channel::Scale] {
        for b in clip.blocks(channel) {
            moving[usize::from(b.block)] |= b.moving;
        }
    }
    moving.iter().map(|m| m.count_ones() as usize).sum()
}

/// A rig with one joint, which rotates.
fn one_joint() -> Rig {
    let keys = 0..31;
    let value = |key: i32| {
        let angle = 0.3 * (key as f32 * 0.2).sin();
        [angle.sin(), 0.0, 0.0, angle.cos()]
    };
    let scene = RawScene {
        name: "one joint".into(),
        nodes: vec![RawNode { local: Trs::IDENTITY, ..RawNode::default() }],
        skins: vec![RawSkin {
            name: None,
            joints: vec![0],
            inverse_bind: vec![glam::Mat4::IDENTITY.to_cols_array()],
        }],
        clips: vec![RawClip {
            name: Some("turn".into()),
            duration: 1.0,
            tracks: vec![RawTrack {
                node: 0,
                channel: RawChannel::Rotation,
                interpolation: Interpolation::Linear,
                times: keys.clone().map(|key| key as f32 / 30.0).collect(),
                values: keys.flat_map(value).collect(),
            }],
            ..RawClip::default()
        }],
        scenes: vec![vec![0]],
        default_scene: Some(0),
        ..RawScene::default()
    };
    build_rig(scene, &Default::default()).expect("one joint is a rig")
}

fn main() {
    let asked = |name: &str| std::env::args().any(|a| a == name);
    let budget = match () {
        () if asked("--test") => Duration::from_micros(10),
        () if asked("--quick") => Duration::from_millis(50),
        () => Duration::from_millis(500),
    };
    let add = |name: &str, rig| Character::new(name, rig).expect("the crowd accepts its rig");
    let mut characters = vec![
        add("one joint", one_joint()),
        add("mannequin.glb", mannequin().expect("the built-in character loads")),
    ];
    for name in MODELS {
        let Some(path) = trials::asset(name) else {
            println!("skipped: {name} is not among the test models");
            continue;
        };
        let options =
            ImportOptions { images: phalanx::mesh::ImageMode::Skip, ..ImportOptions::default() };
        let imported = import_path(&path, &options).expect("the model imports");
        characters.extend(imported.rigs.into_iter().take(1).map(|rig| add(name, rig)));
    }
    assert_eq!(characters[0].moving, 1, "moving joints of one joint");
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.expect("a thread can be started");
    common::at_levels(|level| {
        let count = characters.len();
        let mut samples = vec![Samples::default(); count];
        for _ in 0..ROUNDS {
            let run = |which: usize, frames: u32| characters[which].frames(frames);
            let round = pool.install(|| compare(count, budget / ROUNDS, run));
            let round = round.expect("a valid time step");
            for (samples, more) in samples.iter_mut().zip(round) {
                samples.0.push(more);
            }
        }
        let times: Vec<_> = samples.iter().map(Samples::summary).collect();
        println!("\n{level}, one character, ns per frame (median, noise):");
        let fixed = times[0].median;
        for (c, time) in characters.iter().zip(&times) {
            let more = c.moving.saturating_sub(1);
            let each = match more {
                0 => "the fixed cost, with one moving joint".into(),
                _ => {
                    let each = (time.median - fixed) / more as f64;
                    format!("{each:6.2} for each moving joint beyond the first")
                }
            };
            println!(
                "  {:34} {:3} of {:3} joints move {:8.1} ±{:4.1}  {each}",
                c.name, c.moving, c.joints, time.median, time.noise
            );
        }
    });
}
