//! Speeds of a rig's vertices while a clip plays.
//!
//! ```text
//! samples    at every key time, and between keys at 60 per second at least; an interval that may be the fastest is
//!            halved while the halves show more speed than the chord between its samples
//! step keys  just before and at: the distance between these two samples is a jump, and no speed
//! ```

use super::clip_bounds::{ClipBoundsScratch, MATRICES, cost};
use crate::clip::{Block, BlockKind, Clip};
use crate::evaluate::CHANNELS;
use crate::math::Affine3x4;
use crate::rig::{ClipSpeed, Rig};
use glam::Vec3;
use std::mem::take;

/// Smallest number of samples per second between keys.
const RATE: f32 = 60.0;

/// Smallest number of intervals between key times in a clip with cubic splines.
const CUBIC: usize = 8;

/// An interval is halved if it is slower than the fastest by at most this factor: an arc is up to π/2 times as long as
/// its chord. Halves are halved again while they are faster by [`LONGER`], down to [`SHORTEST`] seconds.
const SLOWER: f32 = 1.6;
const LONGER: f32 = 1.005;
const SHORTEST: f32 = 1e-4;

/// Factor on the largest measured speed: the fastest arc is at most this much longer than its chords.
const CHORDS: f32 = 1.01;

/// Share by which an interval may be longer than the interval of [`RATE`] without being divided: key times of f32 are
/// rounded.
const ROUNDED: f32 = 0.01;

/// Limits on the samples and on the key times of a clip.
const SAMPLES: usize = 1 << 17;
const KEYS: usize = 1 << 20;

/// Time before a step key at which the pose is sampled: these seconds and [`STEPS`] rounding steps of f32. At 3 m/s a
/// vertex moves by 0.03 mm in that time, which counts as a jump.
const BEFORE: f32 = 1e-5;
const STEPS: f32 = 2.0;

/// Step keys within this time after a step key count as one jump with it, seconds.
const TOGETHER: f32 = 1e-3;

/// In intervals shorter than this, seconds, rounding is subtracted: positions are off by up to [`NOISE`] of the largest
/// coordinate that they are sums of (points, joints and meshes).
const SHORT: f32 = 1e-3;
const NOISE: f32 = 4e-6;

/// Speeds are also measured over intervals of this length, seconds, in which the rounding of short ones does not count.
const LONG: f32 = 1.0 / 120.0;

/// Measures a full clip at the corners of the boxes of all slots, or at the joints of a rig that draws nothing.
/// [`ClipSpeed::UNKNOWN`] if a sample is not finite, or the clip needs more than 131,072 samples or 2^27 matrices.
pub(crate) fn clip_speed(rig: &Rig, clip: &Clip, scratch: &mut ClipBoundsScratch) -> ClipSpeed {
    let measured = key_times(clip).and_then(|keys| measure(rig, clip, &keys, scratch));
    measured.unwrap_or(ClipSpeed::UNKNOWN)
}

/// A key time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct KeyTime {
    time: f32,
    /// Whether a value may jump there.
    step: bool,
}

/// The times within a clip at which transforms have keys, and its end, ascending. `None` if they are too many.
fn key_times(clip: &Clip) -> Option<Vec<KeyTime>> {
    // For each timeline, `Some` if transforms use it: whether a lane that moves is held.
    let mut used: Vec<Option<bool>> = vec![None; clip.timelines().len()];
    for b in moving(clip) {
        let step = b.hold & b.moving != 0;
        let timeline = used.get_mut(b.timeline as usize)?;
        *timeline = Some(timeline.unwrap_or(false) | step);
    }
    let used = clip.timelines().zip(used).filter_map(|(times, step)| Some((times, step?)));
    let count: usize = used.clone().map(|(times, _)| times.len()).sum();
    if count > KEYS {
        return None;
    }
    let end = clip.duration();
    let mut keys = Vec::with_capacity(count + 1);
    for (times, step) in used {
        let inside = times.iter().filter(|&&time| time > 0.0 && time <= end);
        keys.extend(inside.map(|&time| KeyTime { time, step }));
    }
    keys.push(KeyTime { time: end, step: false });
    keys.sort_unstable_by(|a, b| a.time.total_cmp(&b.time));
    keys.dedup_by(|later, kept| {
        let same = later.time == kept.time;
        kept.step |= same && later.step;
        same
    });
    Some(keys)
}

/// The number of intervals into which a time between keys is divided.
fn parts(seconds: f32) -> usize {
    (seconds * RATE - ROUNDED).ceil().max(1.0) as usize
}

/// The blocks that move joints.
fn moving(clip: &Clip) -> impl Iterator<Item = &Block> {
    let all = CHANNELS.into_iter().flat_map(|channel| clip.blocks(channel));
    all.filter(|b| b.kind != BlockKind::Constant)
}

/// Points of the rig in one pose.
#[derive(Clone, Debug, Default)]
struct Sample {
    time: f32,
    points: Vec<Vec3>,
    /// The largest coordinate of a point, a joint, or the origin of a mesh under a row of the palette.
    farthest: f32,
}

impl Sample {
    /// The largest distance between the same point in two samples; `None` if it is not finite.
    fn distance(&self, other: &Self) -> Option<f32> {
        let mut farthest = 0.0f32;
        for (a, b) in self.points.iter().zip(&other.points) {
            let distance = a.distance(*b);
            if !distance.is_finite() {
                return None;
            }
            farthest = farthest.max(distance);
        }
        Some(farthest)
    }

    /// The largest distance by which rounding moves a point.
    fn noise(&self) -> f32 {
        NOISE * self.farthest
    }
}

fn measure(
    rig: &Rig,
    clip: &Clip,
    keys: &[KeyTime],
    scratch: &mut ClipBoundsScratch,
) -> Option<ClipSpeed> {
    let least = match moving(clip).any(|b| b.kind == BlockKind::Cubic) {
        true => CUBIC,
        false => 1,
    };
    let parts = |seconds: f32| parts(seconds).max(least);
    let mut last = 0.0;
    let mut samples = 1usize;
    for key in keys {
        samples = samples.saturating_add(parts(key.time - last) + usize::from(key.step));
        last = key.time;
    }
    if samples > SAMPLES || cost(rig, samples) > MATRICES {
        return None;
    }
    let mut course = Course::new(rig, clip, scratch)?;
    let mut keys = keys;
    while let Some((&key, mut later)) = keys.split_first() {
        let from = course.last.time;
        let length = key.time - from;
        let step = BEFORE + STEPS * (key.time.next_up() - key.time);
        let end = match key.step {
            true => key.time - step.min(0.25 * length),
            false => key.time,
        };
        // Between two neighbouring numbers of f32 there is no time to sample: the whole distance is the jump.
        let moves = !key.step || end > from && end < key.time;
        let parts = if moves { parts(length) } else { 0 };
        for part in 1..=parts {
            let time = match part {
                last if last == parts => end,
                part => from + length * (part as f32 / parts as f32),
            };
            course.moves_to(time)?;
        }
        if key.step {
            let near = later.iter().take_while(|k| k.time - key.time <= TOGETHER);
            let steps = near.enumerate().filter(|(_, k)| k.step);
            let (together, rest) = later.split_at(steps.last().map_or(0, |(last, _)| last + 1));
            course.jumps(key.time, together)?;
            later = rest;
        }
        keys = later;
    }
    Some(course.speed())
}

/// The samples of a clip, one after another.
struct Course<'a> {
    rig: &'a Rig,
    clip: &'a Clip,
    scratch: &'a mut ClipBoundsScratch,
    last: Sample,
    now: Sample,
    /// The beginning of a long interval without jumps.
    base: Sample,
    fastest: f32,
    jump: f32,
    /// End of the last jump, and the shortest time between two jumps, seconds.
    jumped: Option<f32>,
    apart: f32,
}

impl<'a> Course<'a> {
    fn new(rig: &'a Rig, clip: &'a Clip, scratch: &'a mut ClipBoundsScratch) -> Option<Self> {
        let mut course = Self {
            rig,
            clip,
            scratch,
            last: Sample::default(),
            now: Sample::default(),
            base: Sample::default(),
            fastest: 0.0,
            jump: 0.0,
            jumped: None,
            apart: f32::INFINITY,
        };
        course.sample(0.0)?;
        course.last.clone_from(&course.now);
        course.base.clone_from(&course.now);
        Some(course)
    }

    /// Computes the points at a time.
    fn sample(&mut self, time: f32) -> Option<()> {
        self.scratch.pose(self.rig, Some(self.clip), time).ok()?;
        let (models, rows) = self.scratch.matrices();
        let Sample { time: at, points, farthest } = &mut self.now;
        *at = time;
        points.clear();
        let boxes = self.rig.slot_bounds();
        let drawn = rows.iter().zip(boxes).filter(|(_, b)| !b.is_empty());
        for (row, b) in drawn {
            points.extend(b.corners().map(|corner| row.transform_point3(corner)));
        }
        if points.is_empty() {
            points.extend(models.iter().map(Affine3x4::translation));
        }
        let places = models.iter().chain(rows).map(Affine3x4::translation);
        let coordinates = places.chain(points.iter().copied());
        *farthest = coordinates.fold(0.0, |most, p| p.abs().max_element().max(most));
        Some(())
    }

    /// Advances to a time with no jump in between.
    fn moves_to(&mut self, time: f32) -> Option<()> {
        let seconds = time - self.last.time;
        if seconds <= 0.0 {
            return Some(());
        }
        self.sample(time)?;
        let (last, now) = (take(&mut self.last), take(&mut self.now));
        self.between(&last, &now, 0.0)?;
        (self.last, self.now) = (last, now);
        let long = time - self.base.time;
        if long >= LONG {
            if self.base.time < self.last.time {
                self.fastest = self.fastest.max(self.now.distance(&self.base)? / long);
            }
            self.base.clone_from(&self.now);
        }
        std::mem::swap(&mut self.last, &mut self.now);
        Some(())
    }

    /// Takes the mean speed between two samples, and the speeds of the halves if they may be faster. `whole` is the
    /// speed of the interval that was halved; 0 if there is none.
    fn between(&mut self, from: &Sample, to: &Sample, whole: f32) -> Option<()> {
        let seconds = to.time - from.time;
        let mut distance = to.distance(from)?;
        if seconds < SHORT {
            distance = (distance - to.noise()).max(0.0);
        }
        let speed = distance / seconds;
        self.fastest = self.fastest.max(speed);
        let may_be = speed > whole * LONGER && speed * SLOWER > self.fastest;
        let middle = from.time + 0.5 * seconds;
        // Late in a long clip there may be no number between the two times.
        let divides = from.time < middle && middle < to.time;
        if may_be && divides && seconds > 2.0 * SHORTEST {
            self.sample(middle)?;
            let middle = take(&mut self.now);
            self.between(from, &middle, speed)?;
            self.between(&middle, to, speed)?;
        }
        Some(())
    }

    /// Advances to the time of a step key and to the times of `together`, shortly after it: the whole distance is one
    /// jump.
    fn jumps(&mut self, time: f32, together: &[KeyTime]) -> Option<()> {
        let mut way = 0.0;
        let times = std::iter::once(time).chain(together.iter().map(|key| key.time));
        let mut end = time;
        for time in times {
            self.sample(time)?;
            let distance = self.now.distance(&self.last)?;
            if distance > self.now.noise() {
                way += distance;
            }
            end = time;
            std::mem::swap(&mut self.last, &mut self.now);
        }
        if way > 0.0 {
            self.jump = self.jump.max(way);
            let apart = self.jumped.map(|jumped| time - jumped);
            self.apart = apart.map_or(self.apart, |apart| self.apart.min(apart));
            self.jumped = Some(end);
            self.base.clone_from(&self.last);
        }
        Some(())
    }

    /// The result: in a time `t` there are at most `t / apart` jumps, and one more.
    fn speed(&self) -> ClipSpeed {
        ClipSpeed { speed: CHORDS * self.fastest + self.jump / self.apart, jump: self.jump }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build_rig;
    use crate::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack};
    use crate::skeleton::Trs;

    /// A joint at one metre from a joint that turns, by degrees per key at 60 Hz.
    #[test]
    fn speeds_along_arcs_are_angular_speeds() {
        for degrees in [1.0f32, 20.0, 60.0, 100.0] {
            let turn = |k: i32| glam::Quat::from_rotation_x((k as f32 * degrees).to_radians());
            let track = RawTrack {
                node: 0,
                channel: RawChannel::Rotation,
                interpolation: Interpolation::Linear,
                times: (0..=60).map(|k| k as f32 / 60.0).collect(),
                values: (0..=60).flat_map(|k| turn(k).to_array()).collect(),
            };
            let end = RawNode {
                parent: Some(0),
                local: Trs { translation: Vec3::Y, ..Trs::IDENTITY },
                ..RawNode::default()
            };
            let scene = RawScene {
                nodes: vec![RawNode::default(), end],
                skins: vec![RawSkin {
                    name: None,
                    joints: vec![0, 1],
                    inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); 2],
                }],
                clips: vec![RawClip { duration: 1.0, tracks: vec![track], ..RawClip::default() }],
                ..RawScene::default()
            };
            let rig = build_rig(scene, &Default::default()).unwrap();
            let found = clip_speed(&rig, &rig.clips()[0], &mut ClipBoundsScratch::new(&rig));
            let expected = degrees.to_radians() * 60.0;
            let ratio = found.speed / expected;
            assert!((1.0..1.02).contains(&ratio), "{degrees}: {ratio}");
            assert_eq!(found.jump, 0.0);
        }
    }
}
