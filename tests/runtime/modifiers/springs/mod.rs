//! Joints that swing: against the f64 oracle, in time, and where they are kept.

mod files;
mod hard;
mod kept;
mod oracle;
mod time;

use super::{Body, Cast};
use glam::{Affine3A, DMat4, Quat, Vec3};
use phalanx::crowd::Crowd;
use phalanx::math::Affine3x4;
use phalanx::playback::ModifierId;
use phalanx::skeleton::{SpringBones, SpringChain, SpringJoint, Trs};
use phalanx_testkit::ruler::held;
use phalanx_testkit::vrm::{self, Version};
use serde_json::Value;

/// The time between two steps.
pub const STEP: f64 = 1.0 / 60.0;

/// A VRM file's character, and what states its springs.
pub fn body(version: Version) -> (Body, Value) {
    let (file, springs) = vrm::file(version);
    (Body::of(file.read().0), springs)
}

/// A chain of so many joints that hang down from the second joint of a line of bones of 10 cm.
pub fn chain(joints: usize) -> (Body, SpringBones) {
    let mut locals = vec![Trs::IDENTITY];
    let bone = Trs { translation: Vec3::new(0.0, -0.1, 0.02), ..Trs::IDENTITY };
    locals.resize(joints + 2, bone);
    let joints = (1..joints + 2).map(|joint| SpringJoint {
        gravity: Vec3::new(0.0, -0.3, 0.0),
        stiffness: 0.4,
        drag: 0.2,
        ..SpringJoint::new(joint)
    });
    let chain = SpringChain { joints: joints.collect(), ..SpringChain::default() };
    let springs = SpringBones { chains: vec![chain], ..SpringBones::default() };
    (Body::of(super::line(&locals)), springs)
}

/// Where an instance is in a frame: on a circle around a place, turned.
pub fn walk(n: usize, around: Vec3, time: f64) -> Affine3x4 {
    let turn = (1.3 * time + n as f64) as f32;
    let at = around + Quat::from_rotation_y(turn) * Vec3::new(2.0, 0.2 * (7.0 * turn).sin(), 0.0);
    Affine3A::from_rotation_translation(Quat::from_rotation_y(2.0 * turn), at).into()
}

pub fn wide(m: &Affine3x4) -> DMat4 {
    DMat4::from_cols_array(&super::wide(m))
}

/// A crowd whose instances have springs at a weight.
pub fn swinging(
    body: &Body,
    springs: &SpringBones,
    count: usize,
    weight: f32,
) -> (Cast, ModifierId) {
    let mut cast = Cast::new(&body.rig, count);
    let by = cast.crowd.add_modifier(cast.rig, springs.clone()).unwrap();
    for n in 0..count {
        cast.crowd.player(cast.all[n]).unwrap().fade_modifier(by, weight, 0.0).unwrap();
    }
    (cast, by)
}

/// Plays a clip from a time on.
pub fn play(
    crowd: &mut Crowd,
    cast: (phalanx::crowd::InstanceId, phalanx::crowd::RigId),
    time: f64,
) {
    let clip = crowd.clip_by_index(cast.1, 0).unwrap();
    let options = phalanx::playback::PlayOptions { speed: 1.0, ..held(time, 1.0) };
    crowd.play(cast.0, clip, &options).unwrap();
}
