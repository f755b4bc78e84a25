//! How far feet slide that should stand, from the palettes that a renderer would draw with.

use crate::square::Agent;
use glam::{Affine3A, Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;

/// The points that stand: ankles and balls of the feet.
const JOINTS: [&str; 4] = ["LeftFoot", "LeftToe", "RightFoot", "RightToe"];
/// A point stands while it is no higher than this above its lowest of a cycle, in metres.
const STANDING: f32 = 0.005;
/// Frames of the slowest cycle of those measured, to find the lowest point.
const CYCLE: usize = 90;
/// Who is measured: radians per second, and metres per second.
const MAX_TURN: f32 = 30.0 / 180.0 * std::f32::consts::PI;
const MIN_SPEED: f32 = 1.0;
/// Frames that an agent must have been measured in, to count.
const MIN_FRAMES: usize = 120;

/// An agent and its feet in one frame.
struct Moment {
    place: Vec3,
    heading: f32,
    speed: f32,
    feet: [Vec3; 4],
}

/// What was seen of the agents that are measured.
pub struct Feet {
    /// The palette row of every joint, and the joint's place in the space of the bind pose.
    rows: [(usize, Vec3); 4],
    seen: Vec<Vec<Moment>>,
}

impl Feet {
    /// Finds the joints of the feet.
    pub fn new(rig: &Rig, agents: usize) -> Result<Self, String> {
        let skin = rig.skins().first().ok_or("no skin")?;
        let mut rows = [(0, Vec3::ZERO); 4];
        for (row, name) in rows.iter_mut().zip(JOINTS) {
            let joint = rig
                .skeleton()
                .find(name)
                .ok_or(format!("no joint {name}"))?;
            let slot = skin.joints().iter().position(|&j| usize::from(j) == joint);
            let slot = slot.ok_or(format!("{name} moves no skin"))?;
            let bind = Affine3A::from(skin.inverse_bind()[slot]).inverse();
            *row = (slot, bind.translation.into());
        }
        Ok(Self {
            rows,
            seen: (0..agents).map(|_| Vec::new()).collect(),
        })
    }

    /// Writes down where an agent's feet are in the world. Model matrix = palette row × bind matrix.
    pub fn record(&mut self, index: usize, agent: &Agent, palette: &[Affine3x4]) {
        let [x, z] = agent.position;
        let place = Vec3::new(x, 0.0, z);
        let turn = Quat::from_rotation_y(agent.heading);
        self.seen[index].push(Moment {
            place,
            heading: agent.heading,
            speed: agent.speed(),
            feet: self
                .rows
                .map(|(row, bind)| place + turn * palette[row].transform_point3(bind)),
        });
    }

    /// Slide over way of every agent that was measured long enough: how far the points that stand moved,
    /// over how far their bodies went meanwhile.
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
        Slides {
            slides,
            standing: stood as f64 / all.max(1) as f64,
        }
    }
}

/// Slide over way, one number per agent, ascending.
pub struct Slides {
    slides: Vec<f64>,
    /// The share of its time that a point stood.
    pub standing: f64,
}

impl Slides {
    /// Agents measured.
    pub fn len(&self) -> usize {
        self.slides.len()
    }

    /// The number that this share of the agents does not exceed.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let rank = (share * self.slides.len() as f64).ceil() as usize;
        self.slides.get(rank.max(1) - 1).copied()
    }
}
