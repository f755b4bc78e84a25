//! Feet on the ground, on world matrices: the trunk is moved, each leg bends to where its ankle is wanted, and what hangs on
//! the ankle turns with the ground. Angles are angles here.

use super::ik::{Chain, Goal, position};
use super::math::Mat4;
use super::scene::Scene;
use glam::{DMat3, DMat4, DVec3};

/// Legs below a node, with the ground under each foot.
#[derive(Clone, Debug)]
pub struct Feet {
    pub pelvis: usize,
    pub legs: Vec<Chain>,
    /// The farthest that the pelvis moves.
    pub reach: f64,
    /// The greatest angle of a sole.
    pub tilt: f64,
}

/// The ground of a foot in the space of the host, and the share of the foot's contact with it.
#[derive(Clone, Copy, Debug)]
pub struct Ground {
    pub height: f64,
    pub normal: DVec3,
    pub contact: f64,
}

/// Seconds beside a contact over which it fades.
const FADE: f64 = 0.1;

/// The share of a foot's contact at a time of a clip that repeats, by the times at which the foot is put down and lifted,
/// ascending. `None` if there are none.
pub fn contact(events: &[(f64, bool)], duration: f64, time: f64) -> Option<f64> {
    // Seconds from one event on to the next, and back.
    let past = |at: f64| (time - at).rem_euclid(duration);
    let last = events.iter().min_by(|a, b| past(a.0).total_cmp(&past(b.0)))?;
    if last.1 {
        return Some(1.0);
    }
    // The event that began the time in the air may be a lift before the last one.
    let down = |e: &&(f64, bool)| e.1;
    let since_down = events.iter().filter(down).map(|e| past(e.0)).fold(f64::INFINITY, f64::min);
    let lifted = events.iter().filter(|e| !e.1 && past(e.0) < since_down);
    let lifted = lifted.map(|e| past(e.0)).fold(0.0, f64::max);
    let lifted = if since_down.is_finite() { lifted } else { f64::INFINITY };
    let ahead = |e: &(f64, bool)| (e.0 - time).rem_euclid(duration);
    let next = events.iter().filter(down).map(ahead).fold(f64::INFINITY, f64::min);
    Some((1.0 - lifted.min(next) / FADE).max(0.0))
}

impl Feet {
    /// World matrices of the model's nodes with the feet on their grounds. `place` brings the model to the host's space.
    pub fn stand(
        &self,
        scene: &Scene,
        (rest, worlds): (&[Mat4], &[Mat4]),
        (place, grounds): (&DMat4, &[Ground]),
        weight: f64,
    ) -> Vec<Mat4> {
        let linear = DMat3::from_mat4(*place);
        let up = linear.inverse() * DVec3::Y;
        let heights: Vec<f64> = grounds.iter().map(|g| g.height - place.w_axis.y).collect();
        let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.reach / up.length();
        let sinks = lowest.max(-most).min(most);
        let below = |node: usize, top: usize| {
            std::iter::successors(Some(node), |&n| scene.nodes[n].parent).any(|n| n == top)
        };
        let mut now = worlds.to_vec();
        for (_, m) in now.iter_mut().enumerate().filter(|(n, _)| below(*n, self.pelvis)) {
            for (value, by) in m[12..15].iter_mut().zip((up * sinks * weight).to_array()) {
                *value += by;
            }
        }
        for ((leg, ground), height) in self.legs.iter().zip(grounds).zip(heights) {
            // Where the ankle is wanted in the end, and the goal from which the weight leads there.
            let ankle = position(&worlds[leg.end]);
            let start = position(&now[leg.end]);
            let wanted = ankle + up * height * weight;
            let goal = Goal {
                position: (start + (wanted - start) / weight).to_array(),
                rotation: None,
                normal: None,
            };
            let bent = leg.bend(scene, rest, &now, &goal, weight);
            // The sole.
            let normal = ground.normal.normalize();
            let angle = normal.y.clamp(-1.0, 1.0).acos().min(self.tilt);
            let angle = 2.0 * ((angle / 2.0).tan() * ground.contact * weight).atan();
            let axis = DVec3::Y.cross(normal);
            let tilted = match axis.length() > 1e-12 {
                true => DMat3::from_axis_angle(axis.normalize(), angle) * DVec3::Y,
                false => DVec3::Y,
            };
            let plane = |normal: DVec3| (linear.transpose() * normal).normalize();
            let (from, to) = (plane(DVec3::Y), plane(tilted));
            let across = from.cross(to);
            let turn = match across.length() > 1e-15 {
                true => {
                    let angle = across.length().atan2(from.dot(to));
                    DMat3::from_axis_angle(across.normalize(), angle)
                }
                false => DMat3::IDENTITY,
            };
            let center = position(&bent[leg.end]);
            let turn = DMat4::from_translation(center)
                * DMat4::from_mat3(turn)
                * DMat4::from_translation(-center);
            now = bent;
            for (_, m) in now.iter_mut().enumerate().filter(|(n, _)| below(*n, leg.end)) {
                *m = (turn * DMat4::from_cols_array(m)).to_cols_array();
            }
        }
        now
    }
}
