//! Keys of the source as keys of the target. If one moving joint lies on a route, its keys are multiplied by constants,
//! which is exact for every interpolation; if several do, they are sampled.

use super::binding::{Binding, Carry};
use super::locals::{Locals, R, S, T, on_rest};
use super::path::Route;
use super::rests::frame_scale;
use crate::build::curve::Curve;
use crate::clip::{Channel, MAX_IRREGULAR_KEYS};
use crate::raw::RawTrack;
use crate::retarget::error::RetargetError;
use crate::retarget::motion::CHANNELS;
use crate::retarget::pose::{Chain, Local, Step, product, three, unit};
use crate::retarget::sampler::{Sampling, Value};
use crate::retarget::track::{Keys, constant, mapped_vectors};
use glam::{DQuat, DVec3};
use std::cell::Cell;

/// Largest error of an interval of sampled rotations, radians (0.002 degrees).
const ROTATION: f64 = 4e-5;

/// Largest error of an interval of sampled translations, as a share of the target's size: 0.02 mm of a character of 2 m.
const TRANSLATION: f64 = 1e-5;

/// Limit on the local transforms that binding one clip evaluates. A take of ten minutes at 120 Hz with ten folded joints
/// needs 2^24.
pub const MAX_WORK: usize = 1 << 26;

/// The tracks of a bound clip, and figures of what they leave out, as in [`BoundClip`](super::BoundClip).
#[derive(Default)]
pub struct Made {
    pub tracks: Vec<RawTrack>,
    pub translations_left: usize,
    pub farthest_left: f64,
    pub sampled: usize,
    last_sampled: Option<u16>,
    pub sampled_rotation: f64,
    pub sampled_translation: f64,
    pub scales_left: usize,
    pub scales_kept: usize,
}

pub fn tracks(binding: &Binding, locals: &Locals<'_>) -> Result<Made, RetargetError> {
    let mut made = Made::default();
    let work = Cell::new(MAX_WORK);
    let mut used = vec![false; binding.source.len()];
    for (route, way) in &binding.routes {
        used[usize::from(route.source)] = true;
        let maker = Maker { binding, locals, route };
        maker.rotation(&work, &mut made)?;
        match way {
            Carry::Rest => {
                let apart = maker.leaves();
                made.translations_left += usize::from(apart.is_some());
                made.farthest_left = made.farthest_left.max(apart.unwrap_or_default());
            }
            way => maker.translation(*way, &work, &mut made)?,
        }
        maker.scale(&mut made);
    }
    let scaled = |joint: &usize| !used[*joint] && locals.moves(*joint as u16, S);
    made.scales_left = (0..used.len()).filter(scaled).count();
    Ok(made)
}

pub struct Maker<'a> {
    pub binding: &'a Binding,
    pub locals: &'a Locals<'a>,
    pub route: &'a Route,
}

impl Maker<'_> {
    /// The rotation that the joint has at a time, or its difference in an additive clip.
    pub fn rotation_at(&self, time: f32) -> DQuat {
        unit(self.undo() * product(&self.route.steps, |joint| self.locals.rotation(joint, time)))
    }

    /// The inverse of the rotation above the joint.
    fn undo(&self) -> DQuat {
        match self.locals.additive {
            // A difference is relative to the rest along the whole route.
            true => product(&self.route.steps, |j| self.locals.rest_rotation(j)).inverse(),
            false => self.route.between_rotation.inverse(),
        }
    }

    /// The joint's translation at a time; `None` if a scale of 0 is in between.
    pub fn translation_at(&self, way: Carry, time: f32) -> Option<DVec3> {
        let place = self.place(way)?;
        let whole = product(&self.route.steps, |j| self.locals.transform(j, time));
        Some(place(whole.translation))
    }

    fn rest(&self) -> Local {
        self.binding.target.rest(self.route.target.into()).into()
    }

    /// The joint's local transform at a time, of an additive clip on top of its rest pose.
    pub fn local(&self, way: Carry, time: f32) -> Local {
        let rest = self.rest();
        let (rotation, scale) = (self.rotation_at(time), self.scale_at(time));
        let placed = way != Carry::Rest && self.is_placed();
        let place = placed.then(|| self.translation_at(way, time)).flatten();
        on_rest(rest, self.locals.additive, [place, scale], Some(rotation))
    }

    /// The joint's scale at a time, if the clip stores it.
    pub fn scale_at(&self, time: f32) -> Option<DVec3> {
        let scale = self.locals.value(self.route.source, S, time)?;
        Some(self.scale_factor() * three(scale))
    }

    /// Metres of model space in a unit of the joint's translation.
    pub fn unit(&self) -> f64 {
        frame_scale(&self.binding.target, &self.binding.scales[1], self.route.target)
    }

    /// The index and the step of the only joint that moves; otherwise `Err` with the number of joints that move.
    fn one(&self, moves: impl Fn(u16) -> bool) -> Result<(usize, Step), usize> {
        let steps = self.route.steps.iter().copied().enumerate();
        let mut moving = steps.filter(|(_, step)| moves(step.joint));
        match (moving.next(), moving.next()) {
            (Some(one), None) => Ok(one),
            (None, _) => Err(0),
            _ => Err(2 + moving.count()),
        }
    }

    fn put(&self, channel: Channel, keys: Keys, made: &mut Made) {
        made.tracks.push(keys.track(self.route.target.into(), channel));
    }

    fn rotation(&self, work: &Cell<usize>, made: &mut Made) -> Result<(), RetargetError> {
        let (locals, route) = (self.locals, self.route);
        let undo = self.undo();
        let now = |joint: u16| locals.rotation(joint, 0.0);
        match self.one(|joint| locals.moves(joint, R)) {
            Err(0) => {
                let says = |step: &Step| locals.curve(step.joint, R).is_some();
                if !locals.additive || route.steps.iter().any(says) {
                    self.put(R, constant(self.rotation_at(0.0).to_array()), made);
                }
            }
            Ok((place, step)) => {
                let (before, after) = (&route.steps[..place], &route.steps[place + 1..]);
                let mut left = undo * product(before, now);
                let mut right = product(after, now);
                if locals.additive {
                    let own = locals.rest_rotation(step.joint);
                    if step.inverse { right = own.inverse() * right } else { left *= own }
                }
                if let Some(from) = locals.track(step.joint, R) {
                    self.put(R, turned(from, unit(left), unit(right), step.inverse), made);
                }
            }
            Err(_) => {
                let chain = Chain::new(&route.steps, |j| locals.moves(j, R), now);
                let at = |time: f32| {
                    take(work, chain.len())?;
                    Some(unit(undo * chain.at(|j| locals.rotation(j, time))))
                };
                self.sample(R, &self.curves(&[R]), ROTATION, at, made)?;
            }
        }
        Ok(())
    }

    fn translation(
        &self,
        way: Carry,
        work: &Cell<usize>,
        made: &mut Made,
    ) -> Result<(), RetargetError> {
        let (locals, route) = (self.locals, self.route);
        let Some((last, before)) = route.steps.split_last() else { return Ok(()) };
        let Some(place) = self.place(way).filter(|_| self.is_placed()) else { return Ok(()) };
        let moves = |step: &&Step| {
            CHANNELS.iter().any(|&c| self.matters(step, c) && locals.moves(step.joint, c))
        };
        let count = route.steps.iter().filter(moves).count();
        let one = count == 1 && !last.inverse && locals.moves(last.joint, T);
        let now = |joint: u16| locals.transform(joint, 0.0);
        if count == 0 {
            let p = product(&route.steps, now).translation;
            self.put(T, constant(place(p).to_array()), made);
        } else if one && let Some(from) = locals.curve(last.joint, T) {
            let above = product(before, now);
            let rest = locals.rest(last.joint).translation.as_dvec3();
            let base = if locals.additive { rest } else { DVec3::ZERO };
            let value = |v: DVec3| place(above.transform_point3(base + v));
            // The map is affine: a tangent is mapped by its linear part.
            let zero = value(DVec3::ZERO);
            self.put(T, mapped_vectors(from, value, |v| value(v) - zero), made);
        } else {
            let any = |j: u16| CHANNELS.iter().any(|&c| locals.moves(j, c));
            let chain = Chain::new(&route.steps, any, now);
            let at = |time: f32| {
                take(work, chain.len())?;
                Some(place(chain.at(|j| locals.transform(j, time)).translation))
            };
            let tolerance = TRANSLATION * self.binding.size / self.unit();
            self.sample(T, &self.curves(&[T, R, S]), tolerance, at, made)?;
        }
        Ok(())
    }

    /// Whether a channel of a step moves the joint: rotation and scale of the last one do not, unless it is undone.
    fn matters(&self, step: &Step, channel: Channel) -> bool {
        let last = self.route.steps.last();
        let only_place = last.is_some_and(|last| step.joint == last.joint && !last.inverse);
        channel == T || !only_place
    }

    /// Whether the clip determines the joint's position.
    fn is_placed(&self) -> bool {
        let says = |step: &Step| {
            let says = |&c: &Channel| self.locals.curve(step.joint, c).is_some();
            CHANNELS.iter().any(|c| self.matters(step, *c) && says(c))
        };
        self.route.steps.iter().any(says)
    }

    /// The map from a position relative to the joint above in the source to the target's translation; `None` if scales of 0
    /// are in between.
    fn place(&self, way: Carry) -> Option<impl Fn(DVec3) -> DVec3 + use<>> {
        let (locals, route) = (self.locals, self.route);
        let undo = route.between.inverse();
        let additive = locals.additive;
        let at_rest = route.at_rest(locals.skeleton).translation;
        let own = self.rest().translation;
        let place = move |p: DVec3| match way {
            Carry::Scaled(scale) | Carry::Relative(scale) if additive => {
                undo.transform_vector3((p - at_rest) * scale)
            }
            Carry::Scaled(scale) => undo.transform_point3(p * scale),
            Carry::Relative(scale) => own + undo.transform_vector3((p - at_rest) * scale),
            Carry::Rest if additive => DVec3::ZERO,
            Carry::Rest => own,
        };
        undo.is_finite().then_some(place)
    }

    /// The largest distance that the clip moves a joint, or one folded into it, whose translation is not carried; `None` if
    /// it moves none.
    fn leaves(&self) -> Option<f64> {
        let moved = |step: &Step| {
            let curve = self.locals.curve(step.joint, T)?;
            let rest = self.locals.rest(step.joint).translation.as_dvec3();
            let base = if self.locals.additive { DVec3::ZERO } else { rest };
            let key = |k: usize| DVec3::from_slice(curve.key(k)).distance(base);
            let most = (0..curve.times.len()).map(key).fold(0.0, f64::max);
            let unit = frame_scale(self.locals.skeleton, &self.binding.scales[0], step.joint);
            (most > 0.0).then_some(most * unit)
        };
        let all = self.route.steps.iter().filter_map(moved);
        all.fold(None, |most: Option<f64>, m| Some(most.map_or(m, |n| n.max(m))))
    }

    /// Scales are relative to the rest pose: the target keeps its own.
    fn scale(&self, made: &mut Made) {
        let joint = self.route.source;
        let Some(from) = self.locals.curve(joint, S) else { return };
        let factor = self.scale_factor();
        made.scales_kept += usize::from(self.locals.moves(joint, S));
        self.put(S, mapped_vectors(from, |v| v * factor, |v| v * factor), made);
    }

    fn scale_factor(&self) -> DVec3 {
        let source = self.locals.rest(self.route.source).scale.as_dvec3();
        let target = self.rest().scale;
        let ratio = |a: f64, b: f64| if a == b || b == 0.0 { 1.0 } else { a / b };
        match self.locals.additive {
            true => DVec3::ONE,
            false => DVec3::new(
                ratio(target.x, source.x),
                ratio(target.y, source.y),
                ratio(target.z, source.z),
            ),
        }
    }

    /// The curves of channels of the joints on the route that move.
    fn curves(&self, channels: &[Channel]) -> Vec<&Curve> {
        let of = |&channel: &Channel| {
            let steps = self.route.steps.iter();
            steps.filter_map(move |step| self.locals.curve(step.joint, channel))
        };
        channels.iter().flat_map(of).filter(|c| c.times.len() > 1).collect()
    }

    /// Adds the keys of a function of curves; `at` gives none if the work is used up.
    fn sample<V: Value>(
        &self,
        channel: Channel,
        curves: &[&Curve],
        tolerance: f64,
        at: impl Fn(f32) -> Option<V>,
        made: &mut Made,
    ) -> Result<(), RetargetError> {
        let close = (tolerance, MAX_IRREGULAR_KEYS);
        let too_much = || RetargetError::FoldingWork {
            clip: self.locals.raw.name.clone().unwrap_or_default(),
            joint: self.binding.target.names()[usize::from(self.route.target)].clone(),
            limit: MAX_WORK,
        };
        let at = |time| at(time).ok_or_else(too_much);
        let (keys, off) = Sampling::new(curves).sample(close, at)?;
        self.put(channel, keys, made);
        // The joint's translation may be sampled as well as its rotation.
        let joint = Some(self.route.target);
        made.sampled += usize::from(made.last_sampled != joint);
        made.last_sampled = joint;
        let (worst, difference) = match channel {
            R => (&mut made.sampled_rotation, off),
            _ => (&mut made.sampled_translation, off * self.unit()),
        };
        *worst = worst.max(difference);
        Ok(())
    }
}

/// Counts evaluated transforms; `None` if there are too many.
fn take(work: &Cell<usize>, count: usize) -> Option<()> {
    work.set(work.get().checked_sub(count)?);
    Some(())
}

/// The keys of a rotation between two constants, unchanged if both are the identity.
fn turned(from: &RawTrack, left: DQuat, right: DQuat, inverse: bool) -> Keys {
    let like =
        |values| Keys { times: from.times.clone(), interpolation: from.interpolation, values };
    let still = |q: DQuat| q.x == 0.0 && q.y == 0.0 && q.z == 0.0;
    if still(left) && still(right) && !inverse {
        return like(from.values.clone());
    }
    let values = from.values.as_chunks().0.iter().flat_map(|v: &[f32; 4]| {
        let q = DQuat::from_array(v.map(f64::from));
        // Tangents are not unit quaternions, but the products are linear, and so is the conjugate.
        let q = if inverse { q.conjugate() } else { q };
        (left * q * right).to_array().map(|v| v as f32)
    });
    like(values.collect())
}
