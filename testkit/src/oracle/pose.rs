//! Blending of whole local poses, matrices between two, and transforms relative to one another, in f64.

use super::ik::rotation_of;
use super::math::Mat4;
use super::{Pose, Scene};
use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3};

/// The pose between two: translations and scales on the line between, rotations on the chord of the shorter arc.
pub fn blended(from: &Pose, to: &Pose, weight: f64) -> Pose {
    let line = |a: [f64; 3], b: [f64; 3]| DVec3::from(a).lerp(DVec3::from(b), weight).to_array();
    let mut out = from.clone();
    for (out, to) in out.iter_mut().zip(to) {
        let (a, b) = (DQuat::from_array(out.r), DQuat::from_array(to.r));
        let near = if a.dot(b) < 0.0 { -b } else { b };
        out.r = (a * (1.0 - weight) + near * weight).normalize().to_array();
        (out.t, out.s) = (line(out.t, to.t), line(out.s, to.s));
    }
    out
}

/// The position of a transform in the space of another one.
pub fn relative(parent: &DAffine3, child: &DAffine3) -> DVec3 {
    parent.inverse().transform_point3(child.translation)
}

/// The world matrices of all nodes after one of them is moved towards a matrix, with all below it. Rotations (as of
/// [`rotation_of`]) are on the chord of the shorter arc; translations, and what the linear parts do before they rotate, on
/// the line between.
pub fn moved(scene: &Scene, worlds: &[Mat4], node: usize, to: &Mat4, weight: f64) -> Vec<Mat4> {
    let [from, to] = [&worlds[node], to].map(DMat4::from_cols_array);
    let turns = [from, to].map(|m| rotation_of(&m.to_cols_array()));
    let [a, b] = turns.map(|turn| DQuat::from_mat3(&turn));
    let near = if a.dot(b) < 0.0 { -b } else { b };
    let turn = DMat3::from_quat((a * (1.0 - weight) + near * weight).normalize());
    let [before, after] =
        [(turns[0], from), (turns[1], to)].map(|(turn, m)| turn.transpose() * DMat3::from_mat4(m));
    let mut now = DMat4::from_mat3(turn * (before * (1.0 - weight) + after * weight));
    now.w_axis = from.w_axis.lerp(to.w_axis, weight);
    let by = now * from.inverse();
    let below = |n: usize| {
        std::iter::successors(Some(n), |&n| scene.nodes[n].parent).any(|above| above == node)
    };
    let all = worlds.iter().enumerate();
    let all = all.map(|(n, world)| match below(n) {
        true => (by * DMat4::from_cols_array(world)).to_cols_array(),
        false => *world,
    });
    all.collect()
}
