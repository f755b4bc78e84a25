//! Tiers: what is evaluated when, and that shown palettes are those of the right poses.

mod after;
mod bare_rigs;
mod budget;
mod calls;
mod details;
mod errors;
mod even;
mod held;
mod independent;
mod many_clips;
mod properties;
mod restored;
mod sharing;
mod steps;
mod unwind;
mod views;
mod watched;
mod within;

use glam::Vec3;
use phalanx::crowd::{
    ActionState, BoneBuffer, ClipId, Crowd, InstanceId, PlayOptions, Playable, RigId, Tier, Tiers,
    View,
};
use phalanx::math::Affine3x4;
use phalanx_testkit::chain::{rig, sharing_error};
use std::sync::Arc;

pub const DT: f64 = 1.0 / 60.0;

/// A transform that moves.
pub fn at(place: [f32; 3]) -> Affine3x4 {
    glam::Affine3A::from_translation(place.into()).into()
}

/// A camera at the origin that looks along an angle around the vertical axis.
pub fn camera(angle: f32) -> View {
    let to = Vec3::new(angle.sin(), 0.0, -angle.cos());
    let projection = glam::camera::rh::proj::directx::perspective_infinite_reverse(1.0, 1.0, 0.1);
    View {
        clip_from_world: (projection
            * glam::camera::rh::view::look_to_mat4(Vec3::ZERO, to, Vec3::Y))
        .to_cols_array_2d(),
        height: 1000.0,
        shadows: false,
    }
}

/// All actions of a rig's instances.
pub fn actions(crowd: &Crowd, rig: RigId) -> Vec<(InstanceId, usize, Playable, ActionState)> {
    let playing = crowd.view(rig).unwrap().playing();
    let layers = playing.flat_map(|(i, p)| (0..p.layers()).map(move |layer| (i, p, layer)));
    let actions = layers.flat_map(|(i, p, layer)| {
        p.actions(layer).unwrap().map(move |(motion, state)| (i, layer, motion, state))
    });
    actions.collect()
}

/// One tier for all.
pub fn one(tier: Tier) -> Tiers {
    Tiers { tiers: vec![tier], ..Tiers::default() }
}

/// A tier of a rate, without sharing.
pub fn every(rate: u8, interpolate: bool) -> Tiers {
    one(Tier { rate, interpolate, ..Tier::default() })
}

pub fn shared(phases: u16) -> Tiers {
    one(Tier { shared_error: Some(sharing_error(phases)), ..Tier::default() })
}

/// A crowd of chains that play their first clip from different times on.
pub fn chains(count: usize) -> (Crowd, Vec<InstanceId>, RigId, ClipId) {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let clip = crowd.clip_by_index(id, 0).unwrap();
    let mut all = Vec::new();
    crowd.spawn_many(id, count, &mut all).unwrap();
    for (n, &i) in all.iter().enumerate() {
        let options = PlayOptions { time: 0.037 * n as f64, ..PlayOptions::default() };
        crowd.play(i, clip, &options).unwrap();
    }
    (crowd, all, id, clip)
}

/// The palettes of all instances that are in the picture, one after another.
pub fn palettes(crowd: &Crowd, bones: &BoneBuffer, all: &[InstanceId]) -> Vec<Vec<Affine3x4>> {
    let shown = |&i: &InstanceId| {
        let pair = crowd.shown(i)?;
        let (from, to) = (&bones.rows()[pair.from], &bones.rows()[pair.to]);
        let lerp = |(a, b): (&Affine3x4, &Affine3x4)| {
            let mut row = *a;
            for (a, b) in row.rows.as_flattened_mut().iter_mut().zip(b.rows.as_flattened()) {
                *a += (b - *a) * pair.factor;
            }
            row
        };
        Some(from.iter().zip(to).map(lerp).collect())
    };
    all.iter().filter_map(shown).collect()
}

/// The largest difference of two palettes' numbers.
pub fn apart(a: &[Affine3x4], b: &[Affine3x4]) -> f32 {
    assert_eq!(a.len(), b.len());
    let rows = a.iter().zip(b);
    let numbers = rows.flat_map(|(a, b)| {
        let (a, b) = (a.rows.as_flattened(), b.rows.as_flattened());
        (0..12).map(move |i| (a[i] - b[i]).abs())
    });
    numbers.fold(0.0, f32::max)
}

/// A copy of a crowd without tiers, in the same state.
pub fn plain(crowd: &Crowd, rig: &Arc<phalanx::rig::Rig>) -> Crowd {
    let mut copy = Crowd::new();
    copy.add_rig(rig.clone()).unwrap();
    copy.restore(&crowd.snapshot()).unwrap();
    copy
}

/// The palettes that a crowd without tiers has in the state of this one.
pub fn exact(
    crowd: &Crowd,
    rig: &Arc<phalanx::rig::Rig>,
    all: &[InstanceId],
) -> Vec<Vec<Affine3x4>> {
    let mut copy = plain(crowd, rig);
    let mut full = BoneBuffer::new();
    copy.evaluate(&mut full);
    palettes(&copy, &full, all)
}

/// Rows are a function of the crowd's state: a twin whose memory is lost in the middle, twice, shows the same palettes.
/// `run` runs frames and returns the palettes of each. Returns the twin and its memory.
pub fn lost_memory_changes_no_bit(
    make: impl Fn() -> Crowd,
    run: impl Fn(&mut Crowd, &mut BoneBuffer, std::ops::Range<usize>) -> Vec<Vec<Vec<Affine3x4>>>,
) -> (Crowd, BoneBuffer) {
    let (mut crowd, mut bones) = (make(), BoneBuffer::new());
    let wanted = run(&mut crowd, &mut bones, 0..60);
    let mut twin = make();
    let mut from = 0;
    let mut memory = BoneBuffer::new();
    for to in [33, 50, 60] {
        memory = BoneBuffer::new();
        assert!(run(&mut twin, &mut memory, from..to) == wanted[from..to]);
        from = to;
    }
    (twin, memory)
}
