//! `Looks`: samples of the source in a clip: the heights of hips and feet, and whether it stands and its soles are level.
//!
//! Positions of joints do not show whether the feet of a reference pose that spreads the legs are level or turned along
//! with the legs: an ankle and a toe have no roll. Feet that stand in a clip show it: their soles are level then.

use super::body::{Body, Tilts};
use super::motion::Motion;
use super::stance::{LEGS, Stance};
use glam::DQuat;

/// Number of samples of a clip.
const LOOKS: usize = 64;

/// Largest height of a foot that stands above the lowest foot, as a share of the hips' height.
const LOW: f64 = 0.05;

/// Largest distance of the joints of feet that stand on the origin from it, as a share of the hips' height.
const SOLE: f64 = 0.15;

/// Variation of the lower foot's height while a body stands or walks, most of the time, as a share of the hips' height.
const EVEN: f64 = 0.02;

/// Smallest spread of legs at which feet may be tilted, radians: below it the difference is not visible.
const SPREAD: f64 = 3.0 * DEGREE;
/// Largest turn of the legs of a body that stands, radians.
const MOST: f64 = 60.0 * DEGREE;
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// The source at a time.
pub(super) struct Look {
    pub time: f32,
    /// Height of the hips along up.
    pub hips: f64,
    /// Heights of both feet with their toes along up.
    feet: [f64; 2],
    stands: bool,
}

impl Look {
    fn low(&self) -> f64 {
        self.feet[0].min(self.feet[1])
    }
}

/// The source at evenly spaced times of a clip.
pub(super) struct Looks(Vec<Look>);

impl Looks {
    pub fn new(source: &Body, motion: &Motion<'_>, duration: f32) -> Self {
        let up = source.up();
        let bones = Stance::bones().filter_map(|bone| source.map.joint(bone));
        let feet = source.feet.iter().flatten().copied();
        let joints = motion.with_above(bones.chain(feet));
        let mut models = source.models.clone();
        let mut look = |i: usize| {
            let time = duration * (i as f32 / LOOKS as f32);
            motion.models_of(&joints, time, &mut models);
            let height = |joint: usize| models[joint].translation.dot(up);
            let least = |joints: &[usize]| {
                let heights = joints.iter().map(|&j| height(j));
                heights.fold(f64::INFINITY, f64::min)
            };
            Look {
                time,
                hips: height(source.hips()),
                feet: [0, 1].map(|side| least(&source.feet[side])),
                stands: source.stance(&models).is_erect(up),
            }
        };
        let all = if duration > 0.0 { LOOKS } else { 1 };
        Self((0..all).map(&mut look).collect())
    }

    pub fn iter(&self) -> impl Iterator<Item = &Look> {
        self.0.iter()
    }

    /// The least height of feet.
    pub fn low(&self) -> f64 {
        lowest(self.iter())
    }

    fn standing(&self) -> impl Iterator<Item = &Look> {
        self.iter().filter(|look| look.stands)
    }

    /// The height of feet that stand near the origin, for hips of a height. `None` if they do not stand there.
    pub fn soles(&self, height: f64) -> Option<f64> {
        let mut low: Vec<f64> = self.standing().map(Look::low).collect();
        low.sort_by(f64::total_cmp);
        // Some feet may be in the air, or below the ground by errors of the capture.
        let [least, most] = [*low.get(low.len() / 4)?, *low.get(low.len() / 2)?];
        let stands = most - least <= EVEN * height && least.abs() <= SOLE * height;
        stands.then_some(least)
    }

    /// Whether the clip stands on the origin rather than on feet at the height `other`: decided by the first time at which a
    /// foot is near one of them, otherwise by the lowest foot.
    pub fn on_origin(&self, other: f64, height: f64) -> bool {
        let near = |low: f64| [low, low - other].map(|off| off.abs() <= SOLE * height);
        let first = self.iter().map(Look::low).find(|low| near(*low) != [false; 2]);
        let low = first.unwrap_or_else(|| self.low());
        low.abs() < (low - other).abs()
    }

    /// Times at which a foot is low and the body stands.
    pub fn on_ground(&self, side: usize, height: f64) -> impl Iterator<Item = f32> {
        let low = lowest(self.standing()) + LOW * height;
        let low = move |look: &&Look| look.feet[side] <= low;
        self.standing().filter(low).map(|look| look.time)
    }
}

fn lowest<'a>(looks: impl Iterator<Item = &'a Look>) -> f64 {
    let feet = looks.flat_map(|look| look.feet);
    feet.fold(f64::INFINITY, f64::min)
}

/// The rotations of the feet of a reference pose if they are turned along with the legs; `None` if legs are not spread.
pub(super) fn tilts(body: &Body) -> Option<Tilts> {
    let up = body.up();
    let tilts = LEGS.map(|[upper, _, foot]| {
        let (Some(upper), Some(foot)) = (body.bone(upper), body.bone(foot)) else {
            return DQuat::IDENTITY;
        };
        let leg = (upper - foot).try_normalize().unwrap_or(up);
        let spread = (SPREAD..MOST).contains(&leg.angle_between(up));
        if spread { DQuat::from_rotation_arc(up, leg) } else { DQuat::IDENTITY }
    });
    (tilts != [DQuat::IDENTITY; 2]).then_some(tilts)
}

/// Whether soles are level while feet stand in a clip, if they count as tilted in the reference pose: nearer by half than
/// without the tilts, in the median of all times.
pub(super) fn are_tilted(body: &Body, tilts: &Tilts, motion: &Motion<'_>, looks: &Looks) -> bool {
    let up = body.up();
    let mut off: [Vec<f64>; 2] = Default::default();
    for (side, [_, _, foot]) in LEGS.into_iter().enumerate() {
        let tilted = tilts[side] * up;
        let (Some(joint), Some(across)) =
            (body.map.joint(foot), (tilted - up * tilted.dot(up)).try_normalize())
        else {
            continue;
        };
        for time in looks.on_ground(side, body.height) {
            // The up direction relative to the foot of the reference pose. A lifted heel tilts it about another axis.
            let turn = motion.model_rotation(joint, time) * body.worlds[joint].conjugate();
            let level = turn.conjugate() * up;
            let roll = f64::atan2(level.dot(across), level.dot(up));
            off[0].push(roll.abs());
            off[1].push((roll - tilted.angle_between(up)).abs());
        }
    }
    let [level, tilted] = off.map(|mut off| {
        off.sort_by(f64::total_cmp);
        off.get(off.len() / 2).copied().unwrap_or(0.0)
    });
    tilted < 0.5 * level
}
