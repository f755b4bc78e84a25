//! Corrects the legs of the target's tracks while feet are in contact.

use super::contact::{Roots, contacts, feet, ground, in_world, is_loop, level, travels};
use super::leg::{Leg, reach};
use super::ring::Ring;
use crate::clip::{Channel, Clip};
use crate::raw::Interpolation;
use crate::retarget::body::{Body, FEET, twin};
use crate::retarget::error::RetargetError;
use crate::retarget::humanoid::HumanBone as B;
use crate::retarget::loose::Loose;
use crate::retarget::motion::Motion;
use crate::retarget::options::RetargetOptions;
use crate::retarget::pose::{parent, path};
use crate::retarget::report::FeetReport;
use crate::retarget::sampler::key_times;
use crate::retarget::space::Space;
use crate::retarget::track::{Keys, Tracks};
use crate::retarget::work::Work;
use glam::{DMat3, DQuat, DVec3};
use std::ops::Range;

/// Longest time between samples, seconds: one frame at 60 Hz.
const SAMPLE: f64 = 1.0 / 60.0;

/// Limit on the samples between keys: an irregular timeline has room for as many keys.
const MAX_SAMPLES: usize = 1 << 15;

/// Largest distance of keys that count as one sample, seconds.
const BESIDE: f64 = 1e-4;

/// Number of products down to a joint per sample: positions and rotations of the leg, before, during and after.
const LOOKS: usize = 24;

/// A leg of the target: joints of thigh, shin and foot, and the foot's tip.
struct Limb {
    thigh: usize,
    shin: usize,
    foot: usize,
    tip: usize,
    /// The foot, if it does not lie below the shin.
    loose: Option<Loose>,
}

impl Limb {
    fn new(target: &Body, foot: B, tip: B) -> Option<Self> {
        let shin = foot.parent()?;
        let joint = |bone: B| target.map.joint(bone);
        let foot = joint(foot)?;
        Some(Self {
            thigh: joint(shin.parent()?)?,
            shin: joint(shin)?,
            foot,
            tip: joint(tip).unwrap_or(foot),
            loose: target.loose.iter().find(|l| l.joint == foot).copied(),
        })
    }

    /// The position of a joint at the end of the leg. The toes of a loose foot are moved along later, so the foot counts.
    fn end(&self, joint: usize, motion: &Motion<'_>, time: f32) -> DVec3 {
        match &self.loose {
            Some(loose) => loose.place(motion, time),
            None => motion.place(joint, time),
        }
    }
}

/// Moves feet in contact along with the ground. `scale` maps the source's distances to the target's.
pub(in crate::retarget) fn plant(
    options: &RetargetOptions,
    (source, target): (&Body, &Body),
    (space, scale): (&Space, DMat3),
    (motion, tracks): (&Motion<'_>, &mut Tracks<'_>),
    clip: &Clip,
    work: &mut Work,
) -> Result<FeetReport, RetargetError> {
    let duration = clip.duration();
    let times = sample_times(source, target, motion, tracks, duration);
    let depth = depth(source).saturating_add(depth(target));
    work.take(times.len().saturating_mul(LOOKS), depth)?;
    let up = source.up();
    let roots = Roots { motion: clip.root_motion(), space, scale };
    let ring = Ring::new(&times, is_loop(source, motion, &roots, duration));
    let feet = feet(source, motion, &roots, &times);
    // Root motion moves the whole character.
    let travels = roots.motion.is_some() || travels(source, motion, duration, options);
    let ground = ground(&feet, &ring, up, (source.height, travels), options);
    let mut report = FeetReport {
        ground_velocity: ground.to_array(),
        missing: missing(source, target, space),
        ..FeetReport::default()
    };
    let mut slides = [Slides::default(), Slides::default()];
    for (bone, foot) in &feet {
        let contacts = contacts(foot, &ring, (up, ground), source.height, options);
        let limb = Limb::new(target, twin(*bone, space), twin(foot.tip, space));
        let Some(limb) = limb.filter(|_| !contacts.is_empty()) else { continue };
        let floor = Floor { ring: &ring, up: target.up(), velocity: scale * ground };
        let places = |tracks: &Tracks<'_>| -> Vec<DVec3> {
            let tip = |t: f32| limb.end(limb.tip, &tracks.motion, t);
            let place = |&t: &f32| in_world(&roots.target(t), tip(t));
            times.iter().map(place).collect()
        };
        let before = places(tracks);
        slides[0].add(&before, &contacts, &floor);
        let mut shifts = shifts(&before, &contacts, &floor, options.plant_fade);
        for (shift, &time) in shifts.iter_mut().zip(&times) {
            *shift = roots.target(time).rotation.conjugate() * *shift;
        }
        report.out_of_reach += correct(&limb, tracks, &times, &shifts);
        slides[1].add(&places(tracks), &contacts, &floor);
        report.contacts += contacts.len();
        report.seconds += contacts.iter().map(|c| ring.seconds(c)).sum::<f64>();
        let longest = shifts.iter().map(|s| s.length()).fold(0.0, f64::max);
        report.correction = report.correction.max(longest);
    }
    for (at, slides) in slides.iter().enumerate() {
        let mean = |sum: f64| sum / slides.count.max(1) as f64;
        report.slide[at] = mean(slides.sum);
        report.world[at] = mean(slides.sum_in_world);
        report.worst[at] = slides.worst;
    }
    Ok(report)
}

/// The number of joints down to a foot, which is the number of factors of each position and rotation.
fn depth(body: &Body) -> usize {
    let joints = FEET.into_iter().filter_map(|b| body.map.joint(b));
    let depths = joints.map(|j| path(&body.skeleton, j).len());
    depths.max().unwrap_or(0)
}

/// Lower bounds of a planting's evaluations and joints, before the target's tracks are known.
pub(in crate::retarget) fn least_work(
    (source, target): (&Body, &Body),
    motion: &Motion<'_>,
    duration: f32,
) -> (usize, usize) {
    let joints = FEET.into_iter().filter_map(|b| source.map.joint(b));
    let curves = joints.map(|j| motion.rotations(&path(motion.skeleton, j)));
    let keys = curves.flatten().map(|c| c.times.len()).max().unwrap_or(0);
    let samples = (f64::from(duration) / SAMPLE) as usize;
    let samples = samples.min(MAX_SAMPLES).max(keys);
    let depth = depth(source).saturating_add(depth(target));
    (samples.saturating_mul(LOOKS), depth)
}

/// Missing bones without which a foot cannot be planted, at most one per leg, with the side that lacks them.
pub(in crate::retarget) fn missing(
    source: &Body,
    target: &Body,
    space: &Space,
) -> Vec<(&'static str, B)> {
    let lacks = |foot: B| {
        if source.map.joint(foot).is_none() {
            return Some(("source", foot));
        }
        let leg = std::iter::successors(Some(twin(foot, space)), |b| b.parent()).take(3);
        leg.filter(|b| target.map.joint(*b).is_none()).last().map(|b| ("target", b))
    };
    FEET.into_iter().filter_map(lacks).collect()
}

/// The key times of both characters' legs and hips, and samples between them.
fn sample_times(
    source: &Body,
    target: &Body,
    motion: &Motion<'_>,
    tracks: &Tracks<'_>,
    duration: f32,
) -> Vec<f32> {
    let curves = |body: &Body, motion: &Motion<'_>| {
        let joints = FEET.into_iter().filter_map(|b| body.map.joint(b));
        key_times(&motion.curves(&motion.with_above(joints)), false)
    };
    let mut times = curves(source, motion);
    times.extend(curves(target, &tracks.motion));
    times.extend([0.0, duration]);
    times.retain(|t| (0.0..=duration).contains(t));
    times.sort_by(f32::total_cmp);
    let mut out: Vec<f32> = Vec::with_capacity(times.len());
    for t in times {
        let Some(&last) = out.last() else {
            out.push(t);
            continue;
        };
        let gap = f64::from(t) - f64::from(last);
        // Velocities between keys this close would be rounding.
        if gap <= BESIDE {
            continue;
        }
        // Gaps that are a frame long except for rounding are not split.
        let parts = (gap / SAMPLE - 0.01).ceil();
        if parts <= MAX_SAMPLES as f64 && out.len() < MAX_SAMPLES {
            let between = (1..parts as usize).map(|k| f64::from(last) + gap * k as f64 / parts);
            out.extend(between.map(|t| t as f32));
        }
        out.push(t);
    }
    out
}

struct Floor<'r> {
    ring: &'r Ring<'r>,
    up: DVec3,
    velocity: DVec3,
}

impl Floor<'_> {
    /// The velocity of the ground in a contact. For a foot that stands through a whole loop it closes the loop.
    fn velocity(&self, contact: &Range<usize>, places: &[DVec3]) -> DVec3 {
        if !self.ring.is_whole(contact) {
            return self.velocity;
        }
        let ends = [contact.start, contact.end - 1];
        let [from, to] = ends.map(|k| self.ring.place(places, k));
        level(to - from, self.up) / self.ring.seconds(contact)
    }
}

/// The displacement of the foot at every time: in contact to the position that moves with the ground from the contact's
/// middle; around the contact it fades.
fn shifts(places: &[DVec3], contacts: &[Range<usize>], floor: &Floor<'_>, fade: f64) -> Vec<DVec3> {
    let ring = floor.ring;
    let mut shifts = vec![DVec3::ZERO; ring.len()];
    let mut stands = vec![false; ring.len()];
    for contact in contacts {
        let middle = contact.start + contact.len() / 2;
        let velocity = floor.velocity(contact, places);
        for k in contact.clone() {
            let seconds = ring.time(k) - ring.time(middle);
            let place = ring.place(places, middle) + velocity * seconds;
            let at = k % ring.len();
            shifts[at] = level(place - ring.place(places, k), floor.up);
            stands[at] = true;
        }
    }
    // Between contacts the corrections of both ends fade into each other.
    let ends = contacts.iter().map(|c| (c.end - 1, true));
    let starts = contacts.iter().map(|c| (c.start, false));
    for (edge, forward) in ends.chain(starts) {
        let shift = shifts[edge % ring.len()];
        let mut k = edge;
        while let Some(next) = ring.beside(k, forward) {
            k = next % ring.len();
            let far = ring.apart(k, edge) / fade;
            if far >= 1.0 || stands[k] {
                break;
            }
            let weight = 1.0 - far * far * (3.0 - 2.0 * far);
            shifts[k] += shift * weight;
        }
    }
    ring.unroll(shifts)
}

/// Bends the leg so that the foot moves by `shifts`. Returns the number of times out of reach.
fn correct(limb: &Limb, tracks: &mut Tracks<'_>, times: &[f32], shifts: &[DVec3]) -> usize {
    let mut values: [Vec<f32>; 3] = Default::default();
    let mut out_of_reach = 0;
    for (&time, shift) in times.iter().zip(shifts) {
        let motion = &tracks.motion;
        let leg = Leg {
            hip: motion.place(limb.thigh, time),
            knee: motion.place(limb.shin, time),
            ankle: limb.end(limb.foot, motion, time),
        };
        let (mut bend, mut turn) = (DQuat::IDENTITY, DQuat::IDENTITY);
        if *shift != DVec3::ZERO {
            let reached;
            (bend, turn, reached) = reach(&leg, leg.ankle + *shift);
            out_of_reach += usize::from(!reached);
        }
        let world = |joint: usize| motion.model_rotation(joint, time);
        let thigh = turn * world(limb.thigh);
        let shin = turn * bend * world(limb.shin);
        let over = |joint| parent(motion.skeleton, joint).map_or(DQuat::IDENTITY, world);
        // The rotation of the joint above, which turns with the ancestor's correction.
        let above = |joint: usize, ancestor: usize, turned: DQuat| {
            turned * world(ancestor).conjugate() * over(joint)
        };
        let locals = [
            over(limb.thigh).conjugate() * thigh,
            above(limb.shin, limb.thigh, thigh).conjugate() * shin,
            above(limb.foot, limb.shin, shin).conjugate() * world(limb.foot),
        ];
        for (values, local) in values.iter_mut().zip(locals) {
            values.extend(local.normalize().to_array().map(|v| v as f32));
        }
    }
    let joints = [limb.thigh, limb.shin, limb.foot];
    for (joint, values) in joints.into_iter().zip(values) {
        // A loose foot keeps its rotation in space without a correction.
        if joint == limb.foot && limb.loose.is_some() {
            continue;
        }
        let keys = Keys { times: times.to_vec(), interpolation: Interpolation::Linear, values };
        tracks.set(keys.track(joint, Channel::Rotation));
    }
    out_of_reach
}

#[derive(Default)]
struct Slides {
    sum: f64,
    /// Sum of the speeds in the world, where the ground may move.
    sum_in_world: f64,
    count: usize,
    worst: f64,
}

impl Slides {
    fn add(&mut self, places: &[DVec3], contacts: &[Range<usize>], floor: &Floor<'_>) {
        let ring = floor.ring;
        for contact in contacts {
            let ground = floor.velocity(contact, places);
            // Only samples within the contact count: the motion after it is not a slide.
            for k in contact.clone() {
                let (a, b) = (k.max(contact.start + 1) - 1, (k + 1).min(contact.end - 1));
                let seconds = ring.time(b) - ring.time(a);
                if seconds <= 0.0 {
                    continue;
                }
                let way = ring.place(places, b) - ring.place(places, a);
                let speed = level(way / seconds - ground, floor.up).length();
                self.sum += speed;
                self.sum_in_world += level(way / seconds, floor.up).length();
                self.count += 1;
                self.worst = self.worst.max(speed);
            }
        }
    }
}
