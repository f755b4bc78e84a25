//! Looks at a goal on world matrices: joint by joint, all that hangs on one is turned about its place.

use super::ik::position;
use super::math::{Mat4, Vec3};
use super::scene::Scene;
use glam::{DMat3, DMat4, DQuat, DVec2, DVec3};

/// Nodes that turn, each below the one before, with their shares. The last one looks.
#[derive(Clone, Debug)]
pub struct Aim {
    pub nodes: Vec<(usize, f64)>,
    /// Axes of the last node, in its space.
    pub forward: Vec3,
    pub up_axis: Vec3,
    /// Direction of the world to which the up axis is rolled.
    pub up: Option<Vec3>,
    pub limit: f64,
    pub soft: f64,
}

/// A look of limited speed: where it has got to, where it would be in the rest pose, and the part of the pose that it
/// heeds.
#[derive(Clone, Copy, Debug)]
pub struct Gaze {
    pub at: [f64; 2],
    pub wanted: [f64; 2],
    pub share: f64,
}

fn linear(m: &Mat4) -> DMat3 {
    DMat3::from_mat4(DMat4::from_cols_array(m))
}

impl Aim {
    fn last(&self) -> usize {
        self.nodes.last().map_or(0, |last| last.0)
    }

    /// The direction in which the last node looks.
    pub fn forward(&self, worlds: &[Mat4]) -> DVec3 {
        (linear(&worlds[self.last()]) * DVec3::from(self.forward)).normalize()
    }

    /// The up direction of the joint, across forward.
    pub fn up(&self, worlds: &[Mat4]) -> DVec3 {
        let up = linear(&worlds[self.last()]) * DVec3::from(self.up_axis);
        up.reject_from(self.forward(worlds)).normalize()
    }

    /// The angle of a direction about forward as a length, up and aside (aside is forward × up).
    fn chart(&self, worlds: &[Mat4], to: DVec3) -> DVec2 {
        let (forward, up) = (self.forward(worlds), self.up(worlds));
        let flat = DVec2::new(to.dot(up), to.dot(forward.cross(up)));
        flat.normalize_or_zero() * self.soften(forward.angle_between(to))
    }

    fn soften(&self, angle: f64) -> f64 {
        let soft = self.limit * self.soft;
        let over = angle - (self.limit - soft);
        match over > 0.0 {
            true if soft > 0.0 => self.limit - soft + over / (over / soft).hypot(1.0),
            true => self.limit,
            false => angle,
        }
    }

    /// Where a node in the rest pose looks.
    pub fn wanted_at_rest(&self, rest: &[Mat4], goal: Vec3) -> [f64; 2] {
        let to = DVec3::from(goal) - position(&rest[self.last()]);
        self.chart(rest, to.normalize()).to_array()
    }

    /// The direction of a look: `now` are the world matrices with the turns of the joints above, `before` without them.
    fn look(
        &self,
        before: &[Mat4],
        now: &[Mat4],
        goal: Vec3,
        gaze: Option<Gaze>,
        weight: f64,
    ) -> DVec3 {
        let to = DVec3::from(goal) - position(&now[self.last()]);
        let mut at = self.chart(before, to.normalize());
        if let Some(gaze) = gaze {
            at = DVec2::from(gaze.at) + (at - DVec2::from(gaze.wanted)) * gaze.share;
            at = at.clamp_length_max(self.limit);
        }
        let (forward, up) = (self.forward(before), self.up(before));
        let aside = up * at.x + forward.cross(up) * at.y;
        // About the axis across both.
        let axis = forward.cross(aside).normalize_or(up);
        DQuat::from_axis_angle(axis, at.length() * weight) * forward
    }

    /// The world matrices of all nodes after the look.
    pub fn turn(
        &self,
        scene: &Scene,
        worlds: &[Mat4],
        goal: Vec3,
        gaze: Option<Gaze>,
        weight: f64,
    ) -> Vec<Mat4> {
        let mut now = worlds.to_vec();
        for (n, &(node, share)) in self.nodes.iter().enumerate() {
            let rest: f64 = self.nodes[n..].iter().map(|node| node.1).sum();
            let (from, to) = (self.forward(&now), self.look(worlds, &now, goal, gaze, weight));
            let axis = from.cross(to);
            let angle = axis.length().atan2(from.dot(to)) * share / rest;
            let axis = axis.normalize_or(self.up(&now));
            hang(scene, &mut now, node, DQuat::from_axis_angle(axis, angle));
        }
        if let Some(up) = self.up {
            let forward = self.forward(&now);
            let (from, to) = (self.up(&now), DVec3::from(up).reject_from(forward));
            let angle = from.cross(to).dot(forward).atan2(from.dot(to));
            let roll = DQuat::from_axis_angle(forward, angle * weight);
            hang(scene, &mut now, self.last(), roll);
        }
        now
    }
}

/// Turns a node with all that hangs on it about its place.
fn hang(scene: &Scene, worlds: &mut [Mat4], node: usize, by: DQuat) {
    let place = position(&worlds[node]);
    let turn =
        DMat4::from_translation(place) * DMat4::from_quat(by) * DMat4::from_translation(-place);
    let above = |n: usize| std::iter::successors(Some(n), |&n| scene.nodes[n].parent);
    for (n, world) in worlds.iter_mut().enumerate() {
        if above(n).any(|n| n == node) {
            *world = (turn * DMat4::from_cols_array(world)).to_cols_array();
        }
    }
}
