//! Inertial fades: the offset of a pose from another, and its decay, as in D. Bollo, "Inertialization: High-Performance
//! Animation Transitions in Gears of War", GDC 2018. Velocities are those of the offset.

use super::math::{Quat, Vec3, conjugate, normalize, product};
use super::scene::Pose;

/// How fast the pose that was shown moves.
#[derive(Clone, Copy, Debug)]
pub enum Motion<'a> {
    /// The pose a step earlier.
    Earlier(&'a Pose),
    /// The pose a step later.
    Later(&'a Pose),
}

/// A number that decays: its value, at least 0, its velocity, and the seconds over which it decays.
#[derive(Clone, Copy, Debug)]
pub struct Decay {
    pub x0: f64,
    pub v0: f64,
    pub seconds: f64,
}

/// The offset of a pose, which decays.
#[derive(Clone, Debug)]
pub struct Offset {
    nodes: Vec<NodeOffset>,
}

#[derive(Clone, Debug)]
struct NodeOffset {
    /// About an axis, translation and scale along directions.
    turns: (Vec3, Decay),
    moves: (Vec3, Decay),
    scales: (Vec3, Decay),
    weights: Vec<(f64, Decay)>,
}

impl Decay {
    /// What is left after a time: the quintic with the value and velocity, and with an acceleration of which its last
    /// value, velocity and acceleration are 0, and so that its jerk ends at 0, unless that is negative.
    pub fn after(&self, t: f64) -> f64 {
        let Self { x0, .. } = *self;
        let (v0, t1) = (self.v0.min(0.0), self.ends());
        if t >= t1 || x0 == 0.0 {
            return 0.0;
        }
        let a0 = ((-8.0 * v0 * t1 - 20.0 * x0) / (t1 * t1)).max(0.0);
        let a = -(a0 * t1 * t1 + 6.0 * v0 * t1 + 12.0 * x0) / (2.0 * t1.powi(5));
        let b = (3.0 * a0 * t1 * t1 + 16.0 * v0 * t1 + 30.0 * x0) / (2.0 * t1.powi(4));
        let c = -(3.0 * a0 * t1 * t1 + 12.0 * v0 * t1 + 20.0 * x0) / (2.0 * t1.powi(3));
        a * t.powi(5) + b * t.powi(4) + c * t.powi(3) + 0.5 * a0 * t * t + v0 * t + x0
    }

    /// The seconds after which nothing is left.
    pub fn ends(&self) -> f64 {
        if self.v0 < 0.0 { self.seconds.min(-5.0 * self.x0 / self.v0) } else { self.seconds }
    }
}

fn length(v: Vec3) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

fn along(a: Vec3, b: Vec3) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn scaled(v: Vec3, by: f64) -> Vec3 {
    v.map(|v| v * by)
}

fn minus(a: Vec3, b: Vec3) -> Vec3 {
    std::array::from_fn(|i| a[i] - b[i])
}

fn imaginary([x, y, z, _]: Quat) -> Vec3 {
    [x, y, z]
}

/// The rotation as far before `q` as `later` is behind it.
fn back(q: Quat, later: Quat) -> Quat {
    product(product(q, conjugate(later)), q)
}

/// The difference to a state before, of values that add up.
fn moved(shown: f64, motion: f64, later: bool) -> f64 {
    if later { motion - shown } else { shown - motion }
}

impl Offset {
    /// The offset of the pose `shown` from `next`, which goes on to `after` in a step, decaying over `seconds`.
    pub fn new(
        (shown, motion): (&Pose, Motion<'_>),
        (next, after): (&Pose, &Pose),
        step: f64,
        seconds: f64,
    ) -> Self {
        let (then, later) = match motion {
            Motion::Earlier(then) => (then, false),
            Motion::Later(then) => (then, true),
        };
        let vector = |shown: Vec3, then: Vec3, next: Vec3, after: Vec3| {
            let d = minus(shown, next);
            let v: Vec3 = std::array::from_fn(|i| {
                (moved(shown[i], then[i], later) - (after[i] - next[i])) / step
            });
            let x0 = length(d);
            // A difference that f32 cannot tell from rounding is none.
            if x0 <= 1e-6 * length(next) {
                return ([0.0; 3], Decay { x0: 0.0, v0: 0.0, seconds });
            }
            let direction = scaled(d, 1.0 / x0);
            (direction, Decay { x0, v0: along(v, direction), seconds })
        };
        let rotation = |shown: Quat, then: Quat, next: Quat, after: Quat| {
            let then = if later { back(shown, then) } else { then };
            let mut now = product(conjugate(next), shown);
            if now[3] < 0.0 {
                now = now.map(|v| -v);
            }
            let x0 = 2.0 * length(imaginary(now)).atan2(now[3]);
            if x0 <= 2e-6 {
                return ([0.0; 3], Decay { x0: 0.0, v0: 0.0, seconds });
            }
            let axis = scaled(imaginary(now), 1.0 / length(imaginary(now)));
            let before = product(conjugate(back(next, after)), then);
            let twist = 2.0 * along(imaginary(before), axis).atan2(before[3]);
            let half = std::f64::consts::PI;
            let turned = (x0 - twist + half).rem_euclid(2.0 * half) - half;
            (axis, Decay { x0, v0: turned / step, seconds })
        };
        let node = |n: usize| {
            let [s, t, x, a] = [shown, then, next, after].map(|pose| &pose[n]);
            let unit = |q| normalize(q);
            let weights = (0..s.weights.len()).map(|i| {
                let d = s.weights[i] - x.weights[i];
                let v = moved(s.weights[i], t.weights[i], later) - (a.weights[i] - x.weights[i]);
                let v0 = v / step * d.signum();
                (d.signum(), Decay { x0: d.abs(), v0, seconds })
            });
            NodeOffset {
                turns: rotation(unit(s.r), unit(t.r), unit(x.r), unit(a.r)),
                moves: vector(s.t, t.t, x.t, a.t),
                scales: vector(s.s, t.s, x.s, a.s),
                weights: weights.collect(),
            }
        };
        Self { nodes: (0..shown.len()).map(node).collect() }
    }

    /// Adds what is left after a time to a pose.
    pub fn apply(&self, pose: &mut Pose, t: f64) {
        for (pose, by) in pose.iter_mut().zip(&self.nodes) {
            let (axis, decay) = &by.turns;
            let half = 0.5 * decay.after(t);
            let [x, y, z] = scaled(*axis, half.sin());
            pose.r = normalize(product(pose.r, [x, y, z, half.cos()]));
            for ((direction, decay), v) in [(&by.moves, &mut pose.t), (&by.scales, &mut pose.s)] {
                let left = decay.after(t);
                *v = std::array::from_fn(|i| v[i] + direction[i] * left);
            }
            for ((sign, decay), v) in by.weights.iter().zip(&mut pose.weights) {
                *v += sign * decay.after(t);
            }
        }
    }

    /// All numbers that decay.
    pub fn decays(&self) -> impl Iterator<Item = Decay> + '_ {
        let all = |n: &NodeOffset| [n.turns.1, n.moves.1, n.scales.1];
        self.nodes.iter().flat_map(all).filter(|decay| decay.x0 > 0.0)
    }
}
