//! Measures how far planted feet slide, from the palettes that a renderer would use.

use crate::square::Agent;
use glam::{Affine3A, Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;

/// The measured points: ankles and balls of the feet.
const JOINTS: [&str; 4] = ["LeftFoot", "LeftToe", "RightFoot", "RightToe"];
/// A point is planted while it is within this height of its lowest point in a cycle, in metres.
const STANDING: f32 = 0.005;
/// Number of frames of the slowest measured cycle, to find the lowest point.
const CYCLE: usize = 90;
/// Agents are measured below this turn rate, in radians per second, and above this speed, in m/s.
const MAX_TURN: f32 = 30.0 / 180.0 * std::f32::consts::PI;
const MIN_SPEED: f32 = 1.0;
/// Number of measured frames from which an agent counts.
const MIN_FRAMES: usize = 120;

/// An agent and its feet in one frame.
struct Moment {
    place: Vec3,
    heading: f32,
    speed: f32,
    feet: [Vec3; 4],
}

/// Recorded frames of the measured agents.
pub struct Feet {
    /// Palette row of every joint, and the joint's position in the bind pose.
    rows: [(usize, Vec3); 4],
    seen: Vec<Vec<Moment>>,
}

impl Feet {
    /// Finds the joints of the feet.
    pub fn new(rig: &Rig, agents: usize) -> Result<Self, String> {
        let skin = rig.skins().first().ok_or("no skin")?;
        let mut rows = [(0, Vec3::ZERO); 4];
        for (row, name) in rows.iter_mut().zip(JOINTS) {
            let joint = rig.skeleton().joint(name).map_err(|e| e.to_string())?;
            let slot = skin.joints().iter().position(|&j| usize::from(j) == joint);
            let slot = slot.ok_or(format!("{name} moves no skin"))?;
            let bind = Affine3A::from(skin.inverse_bind()[slot]).inverse();
            *row = (slot, bind.translation.into());
        }
        Ok(Self { rows, seen: (0..agents).map(|_| Vec::new()).collect() })
    }

    /// Records the world positions of an agent's feet. Model matrix = palette row × bind matrix.
    pub fn record(&mut self, index: usize, agent: &Agent, palette: &[Affine3x4]) {
        let [x, z] = agent.position;
        let place = Vec3::new(x, 0.0, z);
        let turn = Quat::from_rotation_y(agent.heading);
        self.seen[index].push(Moment {
            place,
            heading: agent.heading,
            speed: agent.speed(),
            feet: self.rows.map(|(row, bind)| place + turn * palette[row].transform_point3(bind)),
        });
    }

    /// Slide of every agent measured long enough: the distance that its planted points moved, over the
    /// distance that its body travelled meanwhile.
    pub fn slides(&self, frame: f32) -> Slides {
        let mut slides: Vec<f64> = Vec::new();
        let (mut stood, mut all) = (0, 0);
        for seen in &self.seen {
            let (mut slide, mut way, mut frames, mut steps) = (0.0f64, 0.0f64, 0, 0);
            for t in 1..seen.len() {
                let (a, b) = (&seen[t - 1], &seen[t]);
                let turn = (b.heading - a.heading).abs() / frame;
                if turn >= MAX_TURN || a.speed.min(b.speed) < MIN_SPEED {
                    continue;
                }
                frames += 1;
                let from = t.saturating_sub(CYCLE / 2);
                let cycle = &seen[from..(from + CYCLE).min(seen.len())];
                for p in 0..JOINTS.len() {
                    let heights = cycle.iter().map(|m| m.feet[p].y);
                    let floor = heights.fold(f32::INFINITY, f32::min) + STANDING;
                    let (from, to) = (a.feet[p], b.feet[p]);
                    if from.y <= floor && to.y <= floor {
                        slide += f64::from((to - from).with_y(0.0).length());
                        way += f64::from(a.place.distance(b.place));
                        steps += 1;
                    }
                }
            }
            if frames >= MIN_FRAMES && way > 0.0 {
                slides.push(slide / way);
                stood += steps;
                all += frames * JOINTS.len();
            }
        }
        slides.sort_by(f64::total_cmp);
        Slides { slides, standing: stood as f64 / all.max(1) as f64 }
    }
}

/// Slide over distance travelled, one number per agent, ascending.
pub struct Slides {
    slides: Vec<f64>,
    /// Fraction of the time for which a point was planted.
    pub standing: f64,
}

impl Slides {
    /// Number of agents measured.
    pub fn len(&self) -> usize {
        self.slides.len()
    }

    /// The value that this fraction of the agents does not exceed.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let rank = (share * self.slides.len() as f64).ceil() as usize;
        self.slides.get(rank.max(1) - 1).copied()
    }
}
