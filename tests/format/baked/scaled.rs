//! Below nodes of any scale a clip has the error, and the size, that it has without them.

use super::Random;
use super::carried::frame;
use glam::{Quat, Vec3};
use libtest_mimic::Failed;
use phalanx::bake::{BakeOptions, ErrorReport, bake};
use phalanx::build::{BuildOptions, build_rig};
use phalanx::clip::Clip;
use phalanx::format::codec::encode;
use phalanx::import::ImportOptions;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::import::read_path;
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use phalanx_testkit::{baked, carried, trials};

/// How near in size clips in other units are. Steps are those of model space, but lengths divided by a number that is not a
/// power of two round otherwise: a few numbers fall to the other side of a half step, and the search goes another way.
/// 0.9% was measured.
const SAME_SIZE: f64 = 0.01;

/// A scene below a node of a scale, with all lengths divided by it: in model space nothing changes.
fn below(scene: &RawScene, scale: f32) -> RawScene {
    let mut scene = scene.clone();
    for node in &mut scene.nodes {
        node.local.translation /= scale;
        if let Some(m) = &mut node.matrix {
            m[12..15].iter_mut().for_each(|v| *v /= scale);
        }
    }
    let tracks = scene.clips.iter_mut().flat_map(|c| &mut c.tracks);
    for track in tracks.filter(|t| t.channel == RawChannel::Translation) {
        track.values.iter_mut().for_each(|v| *v /= scale);
    }
    for bind in scene.skins.iter_mut().flat_map(|s| &mut s.inverse_bind) {
        // Rows of the upper three: (M · s)⁻¹.
        for (i, v) in bind.iter_mut().enumerate() {
            *v /= if i % 4 < 3 { scale } else { 1.0 };
        }
    }
    let top = scene.nodes.len();
    for node in scene.nodes.iter_mut().filter(|n| n.parent.is_none()) {
        node.parent = Some(top);
    }
    scene.nodes.push(RawNode {
        source: top,
        name: Some("Armature of another scale".into()),
        local: Trs { scale: Vec3::splat(scale), ..Trs::IDENTITY },
        ..RawNode::default()
    });
    scene.scenes.iter_mut().for_each(|roots| *roots = vec![top]);
    scene
}

/// Reports of all clips, and their bytes on disk.
fn bakes(scene: RawScene) -> Result<(Vec<ErrorReport>, usize), Failed> {
    let rig = build_rig(scene, &BuildOptions::default())?;
    let mut bytes = 0;
    let mut reports = Vec::new();
    for raw in rig.clips() {
        let (built, report) = bake(raw, rig.skeleton(), &BakeOptions::default())?;
        bytes += encode(&built, rig.skeleton())?.len();
        reports.push(report);
    }
    Ok((reports, bytes))
}

/// Whole models: for powers of two the report has equal bits; for others sizes are equal within a hundredth, and errors keep
/// the same bound.
pub fn models(file: &str) -> Result<(), Failed> {
    let (scene, _) = read_path(&trials::needed(file)?, &ImportOptions::default())?;
    let (wanted, bytes) = bakes(below(&scene, 1.0))?;
    for scale in [1024.0, 1.0 / 1024.0, 1e-3, 1e-2, 1e2, 1e4] {
        let (found, size) = bakes(below(&scene, scale))?;
        let apart = found.iter().zip(&wanted).map(|(a, b)| (a.max - b.max).abs());
        let apart = apart.fold(0.0, f32::max);
        println!("{file} {scale}: {size} of {bytes} bytes, errors {apart:.2e} apart");
        // In their stored form numbers of other sizes take other bytes.
        if scale.log2().fract() == 0.0 && found != wanted {
            return Err(format!("{scale}: {found:?} and {wanted:?}").into());
        }
        if size.abs_diff(bytes) as f64 > SAME_SIZE * bytes as f64 {
            return Err(format!("{scale}: {size} and {bytes} bytes").into());
        }
        for (found, wanted) in found.iter().zip(&wanted) {
            // Which of all errors is the largest depends on single numbers.
            assert!(found.max <= 1e-4, "{scale}: {} and {}", found.max, wanted.max);
        }
    }
    Ok(())
}

fn keys(count: usize) -> Vec<f32> {
    (0..count).map(|k| k as f32 / 30.0).collect()
}

fn track(
    node: usize,
    channel: RawChannel,
    times: &[f32],
    of: impl Fn(f32) -> Vec<f32>,
) -> RawTrack {
    RawTrack {
        node,
        channel,
        interpolation: Interpolation::Linear,
        times: times.to_vec(),
        values: times.iter().flat_map(|&t| of(t)).collect(),
    }
}

/// A chain of joints, half a metre apart in model space where `scales` are those of the nodes.
fn chain(scales: &[Vec3], tracks: Vec<RawTrack>, duration: f32) -> Result<Rig, Failed> {
    chain_in(None, scales, tracks, duration)
}

/// A chain in a lane order.
fn chain_in(
    lane_order: Option<Vec<u16>>,
    scales: &[Vec3],
    tracks: Vec<RawTrack>,
    duration: f32,
) -> Result<Rig, Failed> {
    let mut above = 1.0;
    let nodes = scales.iter().enumerate().map(|(i, &scale)| {
        let local = Trs {
            translation: Vec3::new(0.0, 0.5 / above, 0.0),
            rotation: Quat::from_rotation_z(0.1 * i as f32),
            scale,
        };
        let size = scale.abs().max_element();
        above *= if size > 0.0 { size } else { 1.0 };
        RawNode { source: i, parent: i.checked_sub(1), local, ..RawNode::default() }
    });
    let scene = RawScene {
        nodes: nodes.collect(),
        clips: vec![RawClip { duration, tracks, ..RawClip::default() }],
        scenes: vec![vec![0]],
        ..RawScene::default()
    };
    let options = BuildOptions { lane_order, ..BuildOptions::default() };
    Ok(build_rig(scene, &options)?)
}

/// A chain below a node of a scale, whose second joint wanders and whose third turns.
pub fn wandering(scale: f32) -> Result<Rig, Failed> {
    let times = keys(31);
    let wander = |t: f32| vec![0.2 * t.sin() / scale, (0.5 + 0.1 * t * t) / scale, 0.3 * t / scale];
    let turn = |t: f32| Quat::from_rotation_x((3.0 * t).sin()).to_array().to_vec();
    let tracks = vec![
        track(1, RawChannel::Translation, &times, wander),
        track(2, RawChannel::Rotation, &times, turn),
    ];
    chain(&[Vec3::splat(scale), Vec3::ONE, Vec3::ONE], tracks, 1.0)
}

/// The largest displacement of shells between a clip in f64 and what frames show of another, at many times. Between keys
/// far apart a frame is not quite on the arc between them.
fn displaced(raw: &Clip, built: &Clip, rig: &Rig, shell: f64) -> Result<f64, Failed> {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut times = baked::times(raw, &[&[0.21, 0.5, 0.79]]);
    for _ in 0..1000 {
        times.push(random.below(1 << 20) as f64 / f64::from(1 << 20) * f64::from(raw.duration()));
    }
    let mut pairs = Vec::new();
    for t in times {
        let t = t as f32;
        let wanted = baked::models(raw, rig.skeleton(), t.into());
        pairs.push((wanted, frame(built, rig.skeleton(), t)?));
    }
    let mut worst = 0.0f64;
    for joint in 0..rig.skeleton().len() {
        let length = |axis: usize| {
            let square =
                |m: &[[f64; 16]]| -> f64 { (0..3).map(|r| m[joint][axis * 4 + r].powi(2)).sum() };
            pairs.iter().map(|(raw, _)| square(raw)).fold(0.0, f64::max).sqrt()
        };
        let least = [0, 1, 2].map(|axis| 0.01 * length(axis));
        if least.contains(&0.0) {
            continue;
        }
        for (raw, built) in &pairs {
            worst = worst.max(carried::apart(&raw[joint], &built[joint], shell, least)[0]);
        }
    }
    Ok(worst)
}

/// Scales at the root, in the middle and at several joints; uneven, mirrored and moving.
pub fn scales() -> Result<(), Failed> {
    let even = keys(61);
    let turn = |node: usize| {
        track(node, RawChannel::Rotation, &even, move |t| {
            let axis = Vec3::new(0.3, 1.0, 0.2 * node as f32).normalize();
            Quat::from_axis_angle(axis, 0.6 * (3.0 * t + node as f32).sin()).to_array().to_vec()
        })
    };
    let turns = || (0..4).map(turn).collect::<Vec<_>>();
    let scaled = |node: usize, of: fn(f32) -> f32| {
        track(node, RawChannel::Scale, &even, move |t| vec![of(t); 3])
    };
    let with = |more: RawTrack| {
        let mut all = turns();
        all.push(more);
        all
    };
    let one = Vec3::ONE;
    let cases: [(&str, [Vec3; 4], Vec<RawTrack>); 9] = [
        ("one", [one; 4], turns()),
        ("a hundredth", [one * 0.01, one, one, one], turns()),
        ("a thousand", [one * 1e3, one, one, one], turns()),
        ("nested", [one * 0.01, one * 50.0, one * 0.1, one * 20.0], turns()),
        ("in the middle", [one, one, one * 0.01, one], turns()),
        ("mirrored", [one, Vec3::new(-0.01, 0.01, 0.01), one, one], turns()),
        ("uneven", [one, Vec3::new(0.02, 0.01, 0.05), one, one], turns()),
        ("moving", [one; 4], with(scaled(1, |t| 0.05 + 0.5 * t))),
        ("of the clip alone", [one; 4], with(scaled(0, |t| 0.01 + 1e-4 * t))),
    ];
    let mut plain = None;
    for (name, scales, tracks) in cases {
        let rig = chain(&scales, tracks, 2.0)?;
        let (raw, settings) = (&rig.clips()[0], BakeOptions::default());
        let (built, report) = bake(raw, rig.skeleton(), &settings)?;
        let found = displaced(raw, &built, &rig, settings.shell.into())?;
        println!(
            "{name}: {found:.3e} found, {:.3e} stated, {} of {} bytes",
            report.max,
            built.bytes(),
            raw.bytes()
        );
        assert!(found <= report.max.into(), "{name}: {found} found, {} stated", report.max);
        assert!(report.max <= settings.max_error, "{name}: {}", report.max);
        // The error is used, but for the allowances of 5% and steps that are a sixteenth of an octave apart (4.4%), of
        // each joint by itself.
        assert!(found > 0.7e-4, "{name}: {found}");
        // Nothing is finer than it needs to be. A moving scale adds a track to four.
        let bytes = built.bytes();
        let wanted = *plain.get_or_insert(bytes);
        let moving = name == "moving" || name == "of the clip alone";
        let most = if moving { wanted * 5 / 4 } else { wanted };
        assert!(bytes <= most, "{name}: {bytes} bytes, {wanted} without scales");
    }
    Ok(())
}

/// A joint that is hidden at first costs hardly more than one that is not.
pub fn hidden_at_first() -> Result<(), Failed> {
    let even = keys(91);
    let sizes = [0.0f32, 0.5].map(|begin| {
        let mut tracks: Vec<RawTrack> = (0..4)
            .map(|node| {
                track(node, RawChannel::Rotation, &even, move |t| {
                    Quat::from_rotation_x(0.5 * (2.0 * t + node as f32).sin()).to_array().to_vec()
                })
            })
            .collect();
        tracks.push(track(0, RawChannel::Scale, &even, move |t| vec![(begin + t).min(1.0); 3]));
        let rig = chain(&[Vec3::ONE; 4], tracks, 3.0)?;
        let (built, report) = bake(&rig.clips()[0], rig.skeleton(), &BakeOptions::default())?;
        assert!(report.max <= 1e-4);
        Ok::<_, Failed>([built.bytes(), encode(&built, rig.skeleton())?.len()])
    });
    let [hidden, shown] = sizes;
    let (hidden, shown) = (hidden?, shown?);
    println!("{hidden:?} and {shown:?} bytes");
    assert!(hidden[0] <= shown[0] && hidden[1] * 100 <= shown[1] * 115, "{hidden:?} and {shown:?}");
    Ok(())
}

/// Joints that turn by a right angle from key to key: the error between the keys is stated, too.
pub fn wide_turns() -> Result<(), Failed> {
    let times: Vec<f32> = (0..9).map(|k| 0.5 * k as f32).collect();
    for step in [0.5f32, 1.0, std::f32::consts::FRAC_PI_2, 2.5, 3.1] {
        let tracks = (0..3).map(|node| {
            track(node, RawChannel::Rotation, &times, move |t| {
                let axis = Vec3::new(1.0, node as f32, 0.5).normalize();
                Quat::from_axis_angle(axis, 2.0 * step * t).to_array().to_vec()
            })
        });
        let rig = chain(&[Vec3::ONE; 3], tracks.collect(), 4.0)?;
        let raw = &rig.clips()[0];
        for max_error in [1e-3, 1e-4, 2e-5] {
            let settings = BakeOptions { max_error, ..BakeOptions::default() };
            let (built, report) = bake(raw, rig.skeleton(), &settings)?;
            let found = displaced(raw, &built, &rig, settings.shell.into())?;
            println!(
                "{step} {max_error}: {found:.3e} found, {:.3e} stated, {:.3e} measured",
                report.max, report.measured
            );
            assert!(found <= report.max.into(), "{step} {max_error}: {found} and {}", report.max);
        }
    }
    Ok(())
}

/// Splines that swing far between keys of one value, below and above joints that are baked.
pub fn swings() -> Result<(), Failed> {
    const JOINTS: usize = 24;
    let (even, far) = (keys(61), [0.0f32, 0.5, 1.0, 1.5, 2.0]);
    for swing in [0.5f32, 2.0, 6.0] {
        let tracks = (0..JOINTS).map(|node| {
            let axis = Vec3::new(1.0, 0.3 * node as f32, 0.5).normalize();
            if node % 3 != 1 {
                return track(node, RawChannel::Rotation, &even, move |t| {
                    let angle = 0.3 * (4.0 * t + node as f32).sin();
                    Quat::from_axis_angle(axis, angle).to_array().to_vec()
                });
            }
            let mut spline = track(node, RawChannel::Rotation, &far, |_| {
                let tangent = [swing * axis.x, swing * axis.y, swing * axis.z, 0.0];
                let back = tangent.map(|v| -v);
                [back, [0.0, 0.0, 0.0, 1.0], tangent].concat()
            });
            spline.interpolation = Interpolation::CubicSpline;
            spline
        });
        // Splines have a block of their own, else all of them are kept.
        let splines = |node: &u16| node % 3 == 1;
        let all = 0..JOINTS as u16;
        let order = all.clone().filter(|n| !splines(n)).chain(all.filter(splines));
        let order = Some(order.collect());
        let rig = chain_in(order, &[Vec3::ONE; JOINTS], tracks.collect(), 2.0)?;
        let raw = &rig.clips()[0];
        for max_error in [1e-3, 1e-4] {
            let settings = BakeOptions { max_error, ..BakeOptions::default() };
            let (built, report) = bake(raw, rig.skeleton(), &settings)?;
            let found = displaced(raw, &built, &rig, settings.shell.into())?;
            println!(
                "{swing} {max_error}: {found:.3e} found, {:.3e} stated, {:.3e} measured, {} of {} bytes",
                report.max,
                report.measured,
                built.bytes(),
                raw.bytes()
            );
            assert!(built.bytes() < raw.bytes());
            assert!(found <= report.max.into(), "{swing} {max_error}: {found} and {}", report.max);
        }
    }
    Ok(())
}
