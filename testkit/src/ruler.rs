//! A rig whose poses are easy to check by hand: the position of its first joint shows what plays, and when.

use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::Affine3x4;
use phalanx::playback::PlayOptions;
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use std::sync::Arc;

/// Palette rows per instance: the joint "base" at the origin, and "tip" one metre above it.
pub const ROWS: usize = 2;

/// A track of "base", linear between evenly spaced keys.
pub fn track(channel: RawChannel, seconds: f32, values: &[&[f32]]) -> RawTrack {
    let last = (values.len() - 1).max(1) as f32;
    RawTrack {
        node: 0,
        channel,
        interpolation: Interpolation::Linear,
        times: (0..values.len()).map(|k| seconds * k as f32 / last).collect(),
        values: values.concat(),
    }
}

/// A clip of the given tracks.
pub fn clip(name: &str, duration: f32, tracks: Vec<RawTrack>) -> RawClip {
    RawClip { name: Some(name.into()), duration, tracks, ..RawClip::default() }
}

/// A clip that moves "base" in a straight line from the origin to `to`.
pub fn line(name: &str, duration: f32, to: [f32; 3]) -> RawClip {
    between(name, duration, [0.0; 3], to)
}

/// A clip that moves "base" in a straight line from one position to another.
pub fn between(name: &str, duration: f32, from: [f32; 3], to: [f32; 3]) -> RawClip {
    let values = track(RawChannel::Translation, duration, &[&from, &to]);
    clip(name, duration, vec![values])
}

/// A clip of 1 s that rotates "base" about x, from one angle in degrees to another.
pub fn turn(name: &str, from: f64, to: f64) -> RawClip {
    let half = |degrees: f64| {
        let (sin, cos) = (0.5 * degrees.to_radians()).sin_cos();
        [sin as f32, 0.0, 0.0, cos as f32]
    };
    let values = track(RawChannel::Rotation, 1.0, &[&half(from), &half(to)]);
    clip(name, 1.0, vec![values])
}

/// A clip of 1 s that animates translation, rotation and scale of "base" with different key times: three
/// timelines. It moves along x as "x" does.
pub fn busy(name: &str) -> RawClip {
    let full = [0.0, 0.0, 0.0, 1.0];
    let half = [0.1, 0.0, 0.0, 0.995];
    let mut tracks = vec![
        track(RawChannel::Translation, 1.0, &[&[0.0; 3], &[1.0, 0.0, 0.0]]),
        track(RawChannel::Rotation, 1.0, &[&full, &half, &full]),
        track(RawChannel::Scale, 1.0, &[&[1.0; 3], &[2.0; 3], &[1.0; 3], &[2.0; 3]]),
    ];
    // Uneven, so that it needs a key hint too.
    tracks[1].times[1] = 0.3;
    clip(name, 1.0, tracks)
}

/// The rig with the given clips.
pub fn with_clips(clips: Vec<RawClip>) -> Arc<Rig> {
    built(clips, &BuildOptions::default())
}

/// The rig with the given clips, built with the given options.
pub fn built(clips: Vec<RawClip>, options: &BuildOptions) -> Arc<Rig> {
    Arc::new(build_rig(scene(clips), options).unwrap())
}

/// The raw scene from which the rig is built.
pub fn scene(clips: Vec<RawClip>) -> RawScene {
    let joint = |name: &str, parent, y| RawNode {
        name: Some(name.into()),
        parent,
        local: Trs { translation: [0.0, y, 0.0].into(), ..Trs::IDENTITY },
        ..RawNode::default()
    };
    RawScene {
        name: "ruler".into(),
        nodes: vec![joint("base", None, 0.0), joint("tip", Some(0), 1.0)],
        skins: vec![RawSkin {
            joints: vec![0, 1],
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); ROWS],
            ..RawSkin::default()
        }],
        clips,
        ..RawScene::default()
    }
}

/// The rig with clips "x", "y" and "z": 1 m along x in 1 s, 2 m along y in 1 s, 3 m along z in 2 s.
pub fn ruler() -> Arc<Rig> {
    with_clips(vec![
        line("x", 1.0, [1.0, 0.0, 0.0]),
        line("y", 1.0, [0.0, 2.0, 0.0]),
        line("z", 2.0, [0.0, 0.0, 3.0]),
    ])
}

/// Palette of the rest pose.
pub fn rest() -> [Affine3x4; ROWS] {
    let mut tip = Affine3x4::IDENTITY;
    tip.rows[1][3] = 1.0;
    [Affine3x4::IDENTITY, tip]
}

/// A translation along x, in metres.
pub fn shift(x: f32) -> Affine3x4 {
    let mut matrix = Affine3x4::IDENTITY;
    matrix.rows[0][3] = x;
    matrix
}

/// Options of an action with speed 0 at a time, with a weight.
pub fn held(time: f64, weight: f32) -> PlayOptions {
    PlayOptions { time, weight, speed: 0.0, ..PlayOptions::default() }
}

/// Position of "base" in a palette.
pub fn place(palette: &[Affine3x4]) -> [f32; 3] {
    palette[0].rows.map(|row| row[3])
}

/// Asserts the position of "base".
#[track_caller]
pub fn stands(palette: &[Affine3x4], at: [f32; 3]) {
    let have = place(palette);
    let near = have.iter().zip(at).all(|(a, b)| (a - b).abs() < 1e-5);
    assert!(near, "{have:?} is not {at:?}");
}
