//! Two-bone inverse kinematics on world matrices: the middle joint is where two circles in the plane of the bend meet,
//! and joints turn from the old frame of their bone (direction, normal of the bend) to the new one.

use super::math::{Mat4, Quat, Vec3};
use super::scene::Scene;
use glam::{DMat3, DMat4, DQuat, DVec3};

/// A chain of nodes. `middle` is below `upper` and `end` below `middle`, with other nodes between them or not.
#[derive(Clone, Debug)]
pub struct Chain {
    pub upper: usize,
    pub middle: usize,
    pub end: usize,
    pub pole: Pole,
    /// Normal of the bend of a straight chain, in the world at rest; `None` for that of the bend at rest.
    pub axis: Option<Vec3>,
    pub soft: f64,
    pub stretch: f64,
    pub twist: f64,
    /// True if the end turns with the middle joint, unless the goal says how it is turned.
    pub follows: bool,
    /// Axis of the end in its space; `None` for the one along y of the world at rest.
    pub normal_axis: Option<Vec3>,
}

/// Where the middle joint points.
#[derive(Clone, Copy, Debug)]
pub enum Pole {
    Animated,
    Direction(Vec3),
    Node(usize),
}

/// Where the end is wanted, in the world.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    pub position: Vec3,
    pub rotation: Option<Quat>,
    pub normal: Option<Vec3>,
}

/// A frame: direction of a bone, normal of the bend, and what is across both.
fn frame(direction: DVec3, normal: DVec3) -> DMat3 {
    let x = direction.normalize();
    let y = (normal - x * normal.dot(x)).normalize();
    DMat3::from_cols(x, y, x.cross(y))
}

/// The shortest rotation from one direction to another (Rodrigues).
fn shortest(from: DVec3, to: DVec3) -> DMat3 {
    let (from, to) = (from.normalize(), to.normalize());
    let (axis, cos) = (from.cross(to), from.dot(to));
    let turned = |v: DVec3| v * cos + axis.cross(v) + axis * (axis.dot(v) / (1.0 + cos));
    DMat3::from_cols(turned(DVec3::X), turned(DVec3::Y), turned(DVec3::Z))
}

/// A share of a rotation by at most half a turn.
fn share(of: DMat3, by: f64) -> DMat3 {
    let q = DQuat::from_mat3(&of).normalize();
    let (axis, angle) = (if q.w < 0.0 { -q } else { q }).to_axis_angle();
    DMat3::from_axis_angle(axis, angle * by)
}

/// The rotation of a matrix: its first two columns made orthonormal; of a mirroring matrix, of its negative.
pub fn rotation_of(m: &Mat4) -> DMat3 {
    let m = linear(m);
    let m = if m.determinant() < 0.0 { m * -1.0 } else { m };
    let x = m.x_axis.normalize();
    let y = (m.y_axis - x * x.dot(m.y_axis)).normalize();
    DMat3::from_cols(x, y, x.cross(y))
}

fn linear(m: &Mat4) -> DMat3 {
    DMat3::from_mat4(DMat4::from_cols_array(m))
}

pub fn position(m: &Mat4) -> DVec3 {
    DVec3::new(m[12], m[13], m[14])
}

impl Chain {
    /// The world matrices of all nodes after the chain is bent to a goal. `rest` and `worlds`: those at rest, and those of
    /// the pose.
    pub fn bend(
        &self,
        scene: &Scene,
        rest: &[Mat4],
        worlds: &[Mat4],
        goal: &Goal,
        weight: f64,
    ) -> Vec<Mat4> {
        let [u, m, e] = [self.upper, self.middle, self.end].map(|n| position(&worlds[n]));
        let (a, b) = ((m - u).length(), (e - m).length());
        let whole = a + b;
        // The end goes along a straight line to the goal.
        let wanted = e.lerp(DVec3::from(goal.position), weight) - u;
        let far = wanted.length();
        let from = (e - u).normalize();
        let to = if far > 1e-5 * whole { wanted / far } else { from };
        // The distance comes close to the whole length without reaching it.
        let soft = self.soft * weight;
        let begins = whole * (1.0 - soft);
        let within = match soft > 0.0 && far > begins {
            true => whole - (whole - begins) * ((begins - far) / (whole - begins)).exp(),
            false => far.min(whole),
        };
        // What is missing is stretched.
        let stretch = if within > 0.0 { (far / within).clamp(1.0, self.stretch) } else { 1.0 };
        let (a, b) = (a * stretch, b * stretch);
        let distance = (within * stretch).min(a + b).max((a - b).abs());

        let bend = self.normal(rest, worlds);
        let mut normal = shortest(from, to) * bend;
        let pole = match self.pole {
            Pole::Animated => None,
            Pole::Direction(direction) => Some(DVec3::from(direction)),
            Pole::Node(node) => Some(position(&worlds[node]) - u),
        };
        if let Some(pole) = pole {
            // The normal for which the middle joint is on the side of the pole.
            let of_pole = pole.cross(to).normalize();
            let angle = normal.cross(of_pole).dot(to).atan2(normal.dot(of_pole));
            normal = DMat3::from_axis_angle(to, weight * angle) * normal;
        }
        normal = DMat3::from_axis_angle(to, weight * self.twist) * normal;

        // Both circles: around the upper joint and around the end.
        let along = (a * a - b * b + distance * distance) / (2.0 * distance);
        let aside = (a * a - along * along).max(0.0).sqrt();
        let new_m = u + to * along + to.cross(normal) * aside;
        let new_e = u + to * distance;
        let upper = frame(new_m - u, normal) * frame(m - u, bend).transpose();
        let lower = frame(new_e - new_m, normal) * frame(e - m, bend).transpose();
        let end = self.turn_of_end(rest, worlds, goal, weight, lower);
        self.apply(scene, worlds, [upper, lower, end], stretch)
    }

    /// The normal of the bend of a pose.
    fn normal(&self, rest: &[Mat4], worlds: &[Mat4]) -> DVec3 {
        let of = |worlds: &[Mat4]| {
            let [u, m, e] = [self.upper, self.middle, self.end].map(|n| position(&worlds[n]));
            ((m - u).normalize().cross((e - m).normalize()), m - u)
        };
        let (bend, first) = of(worlds);
        if bend.length() > 1e-5 {
            return bend.normalize();
        }
        let at_rest = self.axis.map_or_else(|| of(rest).0, DVec3::from);
        let axis = linear(&worlds[self.upper]) * linear(&rest[self.upper]).inverse() * at_rest;
        let x = first.normalize();
        (axis - x * axis.dot(x)).normalize()
    }

    fn turn_of_end(
        &self,
        rest: &[Mat4],
        worlds: &[Mat4],
        goal: &Goal,
        weight: f64,
        lower: DMat3,
    ) -> DMat3 {
        let now = &worlds[self.end];
        match (goal.rotation, goal.normal) {
            (Some(to), _) => {
                let to = DMat3::from_quat(DQuat::from_array(to).normalize());
                share(to * rotation_of(now).transpose(), weight)
            }
            (None, Some(normal)) => {
                let axis = match self.normal_axis {
                    Some(axis) => DVec3::from(axis),
                    None => linear(&rest[self.end]).inverse() * DVec3::Y,
                };
                share(shortest(linear(now) * axis, DVec3::from(normal)), weight)
            }
            (None, None) if self.follows => lower,
            (None, None) => DMat3::IDENTITY,
        }
    }

    /// Turns what hangs on the nodes of the chain with them.
    fn apply(&self, scene: &Scene, worlds: &[Mat4], turns: [DMat3; 3], stretch: f64) -> Vec<Mat4> {
        let up = |n: usize| std::iter::successors(Some(n), |&n| scene.nodes[n].parent);
        let mut path: Vec<usize> = up(self.end).take_while(|&n| n != self.upper).collect();
        path.push(self.upper);
        path.reverse();
        let place = |n: usize| path.iter().position(|&p| p == n);
        let (middle, end) = (place(self.middle).unwrap_or(0), path.len() - 1);
        let turn_of = |at: usize| turns[usize::from(at >= middle) + usize::from(at >= end)];
        let mut places = vec![position(&worlds[self.upper])];
        for at in 1..path.len() {
            let bone = position(&worlds[path[at]]) - position(&worlds[path[at - 1]]);
            places.push(places[at - 1] + turn_of(at - 1) * bone * stretch);
        }
        let turned = |n: usize| {
            let Some(at) = up(n).find_map(place) else {
                return worlds[n];
            };
            let turn = turn_of(at);
            let old = position(&worlds[path[at]]);
            let to = places[at] + turn * (position(&worlds[n]) - old);
            let mut m = DMat4::from_mat3(turn * linear(&worlds[n]));
            m.w_axis = to.extend(1.0);
            m.to_cols_array()
        };
        (0..worlds.len()).map(turned).collect()
    }
}
