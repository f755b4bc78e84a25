//! Keys of the source as keys of the target. If one moving joint lies on a route, its keys are multiplied by constants,
//! which is exact for every interpolation; if several do, they are sampled (`sampled.rs`).

use super::binding::{Binding, Carry, Shown, frame_scale};
use super::path::{Route, Step, affine, carry, rotation, turn};
use super::sampled::{MAX_WORK, Work, sample_rotation, sample_translation};
use crate::build::curve::Curve;
use crate::clip::{Channel, Clip, ClipKind, LaneCurve};
use crate::math::LANES;
use crate::raw::{Interpolation, RawChannel, RawClip, RawTrack};
use crate::retarget::error::RetargetError;
use crate::retarget::motion::{Local, unit};
use crate::retarget::track::Keys;
use crate::skeleton::{Skeleton, Trs};
use glam::{DAffine3, DQuat, DVec3};
use std::cell::Cell;

/// The tracks of a bound clip, and figures of what they leave out.
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

/// The values of a clip for the joints of the source, as the clip itself gives them, not its converted tracks.
pub struct Locals<'a> {
    skeleton: &'a Skeleton,
    raw: &'a RawClip,
    additive: bool,
    /// For each joint, its tracks of translation, rotation and scale.
    tracks: Vec<[Option<Track<'a>>; 3]>,
}

struct Track<'a> {
    index: usize,
    curve: Curve,
    shown: LaneCurve<'a>,
    /// The interval of the last time that was read.
    near: Cell<usize>,
}

const T: usize = 0;
const R: usize = 1;
const S: usize = 2;

impl<'a> Locals<'a> {
    /// The values of a clip of the skeleton, given with its tracks.
    pub fn new(skeleton: &'a Skeleton, of: &Shown<'a>, raw: &'a RawClip) -> Self {
        let clip = of.clip();
        let mut tracks: Vec<[Option<Track<'a>>; 3]> = Vec::new();
        tracks.resize_with(skeleton.len(), Default::default);
        for (index, track) in raw.tracks.iter().enumerate() {
            let (Some(own), Some((place, channel))) =
                (tracks.get_mut(track.node), place_of(track.channel))
            else {
                continue;
            };
            own[place] = shown(clip, channel, of.joint_of_clip(track.node)).map(|shown| Track {
                index,
                curve: Curve::new(track, 0),
                shown,
                near: Cell::new(0),
            });
        }
        Self { skeleton, raw, additive: clip.kind() == ClipKind::Additive, tracks }
    }

    fn curve(&self, joint: u16, channel: usize) -> Option<&Curve> {
        let found = self.tracks[usize::from(joint)][channel].as_ref();
        found.map(|t| &t.curve)
    }

    fn track(&self, joint: u16, channel: usize) -> Option<&RawTrack> {
        let found = self.tracks[usize::from(joint)][channel].as_ref();
        found.map(|t| &self.raw.tracks[t.index])
    }

    /// Whether a channel of a joint has more than one key.
    fn moves(&self, joint: u16, channel: usize) -> bool {
        self.curve(joint, channel).is_some_and(|c| c.times.len() > 1)
    }

    fn rest(&self, joint: u16) -> Trs {
        self.skeleton.rest(joint.into())
    }

    fn rest_rotation(&self, joint: u16) -> DQuat {
        rotation(&self.rest(joint))
    }

    fn value(&self, joint: u16, channel: usize, time: f32) -> Option<[f64; 4]> {
        let track = self.tracks[usize::from(joint)][channel].as_ref()?;
        let mut near = track.near.get();
        let value = track.shown.value(time, &mut near);
        track.near.set(near);
        Some(value)
    }

    /// The local rotation at a time: the rest if the clip stores none; the difference on top of the rest if additive.
    pub fn rotation(&self, joint: u16, time: f32) -> DQuat {
        let rest = self.rest_rotation(joint);
        match self.value(joint, R, time).map(DQuat::from_array) {
            Some(q) if self.additive => rest * unit(q),
            Some(q) => unit(q),
            None => rest,
        }
    }

    /// The local transform at a time.
    pub fn transform(&self, joint: u16, time: f32) -> DAffine3 {
        let rest = self.rest(joint);
        let three = |v: [f64; 4]| DVec3::new(v[0], v[1], v[2]);
        let translation = self.value(joint, T, time).map(three);
        let scale = self.value(joint, S, time).map(three);
        let (t, s) = (rest.translation.as_dvec3(), rest.scale.as_dvec3());
        DAffine3::from_scale_rotation_translation(
            scale.map_or(s, |v| if self.additive { s * v } else { v }),
            self.rotation(joint, time),
            translation.map_or(t, |v| if self.additive { t + v } else { v }),
        )
    }
}

/// A local transform from a clip's translation, scale and rotation; those of an additive clip are on top of the rest.
pub fn on_rest(
    rest: Local,
    additive: bool,
    [translation, scale]: [Option<DVec3>; 2],
    rotation: Option<DQuat>,
) -> Local {
    let of = |v: Option<DVec3>, rest: DVec3, sum: DVec3| match v {
        Some(_) if additive => sum,
        v => v.unwrap_or(rest),
    };
    let (t, s) = (translation.unwrap_or_default(), scale.unwrap_or(DVec3::ONE));
    Local {
        translation: of(translation, rest.translation, rest.translation + t),
        scale: of(scale, rest.scale, rest.scale * s),
        rotation: match rotation {
            Some(q) if additive => rest.rotation * q,
            q => q.unwrap_or(rest.rotation),
        },
    }
}

/// The index of a joint's channel among its tracks.
fn place_of(channel: RawChannel) -> Option<(usize, Channel)> {
    match channel {
        RawChannel::Translation => Some((T, Channel::Translation)),
        RawChannel::Rotation => Some((R, Channel::Rotation)),
        RawChannel::Scale => Some((S, Channel::Scale)),
        RawChannel::Weights => None,
    }
}

/// The curve of a joint in a clip of its skeleton; `None` if the clip stores none.
pub fn shown(clip: &Clip, channel: Channel, joint: usize) -> Option<LaneCurve<'_>> {
    let lane = usize::from(*clip.skeleton().lane_of().get(joint)?);
    let block = clip.block_at(channel, lane / LANES)?;
    Some(LaneCurve::new(clip, channel, block, lane % LANES))
}

/// The tracks of a clip for the target.
pub fn tracks(binding: &Binding, locals: &Locals<'_>) -> Result<Made, RetargetError> {
    let mut made = Made::default();
    let work = Work::new();
    let mut used = vec![false; binding.source().len()];
    for (route, way) in binding.routes() {
        used[usize::from(route.source)] = true;
        let maker = Maker::new(binding, locals, route);
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
    locals: &'a Locals<'a>,
    target: &'a Skeleton,
    /// For each joint of the source and of the target, the scale of its frame.
    scales: &'a [Vec<f64>; 2],
    /// Size of the target in model space.
    size: f64,
    route: &'a Route,
}

impl<'a> Maker<'a> {
    pub fn new(binding: &'a Binding, locals: &'a Locals<'a>, route: &'a Route) -> Self {
        Self {
            locals,
            target: binding.target(),
            scales: binding.scales(),
            size: binding.size(),
            route,
        }
    }

    /// The rotation that the joint has at a time, or its difference in an additive clip.
    pub fn rotation_at(&self, time: f32) -> DQuat {
        unit(self.undo() * self.route.rotation(|joint| self.locals.rotation(joint, time)))
    }

    /// The inverse of the rotation above the joint.
    fn undo(&self) -> DQuat {
        match self.locals.additive {
            // A difference is relative to the rest along the whole route.
            true => self.route.rotation(|joint| self.locals.rest_rotation(joint)).inverse(),
            false => self.route.between_rotation.inverse(),
        }
    }

    /// The joint's translation at a time; `None` if a scale of 0 is in between.
    pub fn translation_at(&self, way: Carry, time: f32) -> Option<DVec3> {
        let place = self.place(way)?;
        let whole = self.route.transform(|j| self.locals.transform(j, time));
        Some(place(whole.translation))
    }

    /// The joint's local transform at a time, of an additive clip on top of its rest pose.
    pub fn local(&self, way: Carry, time: f32) -> Local {
        let rest = Local::from(self.target.rest(self.route.target.into()));
        let (rotation, scale) = (self.rotation_at(time), self.scale_at(time));
        let placed = way != Carry::Rest && self.is_placed();
        let place = placed.then(|| self.translation_at(way, time)).flatten();
        on_rest(rest, self.locals.additive, [place, scale], Some(rotation))
    }

    /// The joint's scale at a time, if the clip stores it.
    pub fn scale_at(&self, time: f32) -> Option<DVec3> {
        let [x, y, z, _] = self.locals.value(self.route.source, S, time)?;
        Some(self.scale_factor() * DVec3::new(x, y, z))
    }

    /// Metres of model space in a unit of the joint's translation.
    pub fn unit(&self) -> f64 {
        frame_scale(self.target, &self.scales[1], self.route.target)
    }

    fn track(&self, channel: RawChannel, of: Option<&RawTrack>) -> RawTrack {
        RawTrack {
            node: self.route.target.into(),
            channel,
            interpolation: of.map_or(Interpolation::Linear, |t| t.interpolation),
            times: of.map_or(vec![0.0], |t| t.times.clone()),
            values: Vec::new(),
        }
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

    fn rotation(&self, work: &Work, made: &mut Made) -> Result<(), RetargetError> {
        let (locals, route) = (self.locals, self.route);
        let undo = self.undo();
        match self.one(|joint| locals.moves(joint, R)) {
            Err(0) => {
                let says = |step: &Step| locals.curve(step.joint, R).is_some();
                if locals.additive && !route.steps.iter().any(says) {
                    return Ok(());
                }
                let mut track = self.track(RawChannel::Rotation, None);
                track.values = narrow(self.rotation_at(0.0).to_array());
                made.tracks.push(track);
            }
            Ok((place, step)) => {
                let now = |joint: u16| locals.rotation(joint, 0.0);
                let (before, after) = (&route.steps[..place], &route.steps[place + 1..]);
                let mut left = undo * turn(before, now);
                let mut right = turn(after, now);
                if locals.additive {
                    let own = locals.rest_rotation(step.joint);
                    match step.inverse {
                        true => right = own.inverse() * right,
                        false => left *= own,
                    }
                }
                let Some(from) = locals.track(step.joint, R) else {
                    return Ok(());
                };
                let mut track = self.track(RawChannel::Rotation, Some(from));
                track.values = turned(from, unit(left), unit(right), step.inverse);
                made.tracks.push(track);
            }
            Err(_) => {
                let curves: Vec<&Curve> = self.curves(R);
                let now = |joint: u16| locals.rotation(joint, 0.0);
                let still = |steps: &[Step]| turn(steps, now);
                let parts = parts(&route.steps, |j| locals.moves(j, R), still);
                let at = |time: f32| {
                    work.take(parts.len())?;
                    let q = parts.iter().fold(undo, |q, part| match part {
                        Part::Still(constant) => q * *constant,
                        Part::Moving(step) => {
                            q * turn(std::slice::from_ref(step), |j| locals.rotation(j, time))
                        }
                    });
                    Some(unit(q))
                };
                let sampled = sample_rotation(&curves, at).ok_or_else(|| self.too_much())?;
                self.add(RawChannel::Rotation, sampled, made);
            }
        }
        Ok(())
    }

    fn translation(&self, way: Carry, work: &Work, made: &mut Made) -> Result<(), RetargetError> {
        let (locals, route) = (self.locals, self.route);
        let Some((last, before)) = route.steps.split_last() else {
            return Ok(());
        };
        let Some(place) = self.place(way).filter(|_| self.is_placed()) else {
            return Ok(());
        };
        let moves = |step: &Step| {
            [T, R, S].iter().any(|&c| self.matters(step, c) && locals.moves(step.joint, c))
        };
        let count = route.steps.iter().filter(|s| moves(s)).count();
        let one = count == 1 && !last.inverse && locals.moves(last.joint, T);
        if count == 0 {
            let p = route.transform(|j| locals.transform(j, 0.0)).translation;
            let mut track = self.track(RawChannel::Translation, None);
            track.values = narrow(place(p).to_array());
            made.tracks.push(track);
        } else if one && let Some(from) = locals.track(last.joint, T) {
            let above = carry(before, |j| locals.transform(j, 0.0));
            let rest = locals.rest(last.joint).translation.as_dvec3();
            let base = if locals.additive { rest } else { DVec3::ZERO };
            let value = |v: DVec3| place(above.transform_point3(base + v));
            // The map is affine: a tangent is mapped by its linear part.
            let zero = value(DVec3::ZERO);
            let mut track = self.track(RawChannel::Translation, Some(from));
            track.values = mapped(from, value, |v| value(v) - zero);
            made.tracks.push(track);
        } else {
            let mut curves = self.curves(T);
            curves.extend(self.curves(R));
            curves.extend(self.curves(S));
            let any = |j: u16| [T, R, S].iter().any(|&c| locals.moves(j, c));
            let still = |steps: &[Step]| carry(steps, |j| locals.transform(j, 0.0));
            let parts = parts(&route.steps, any, still);
            let at = |time: f32| {
                work.take(parts.len())?;
                let m = parts.iter().fold(DAffine3::IDENTITY, |m, part| match part {
                    Part::Still(constant) => m * *constant,
                    Part::Moving(step) => {
                        m * carry(std::slice::from_ref(step), |j| locals.transform(j, time))
                    }
                });
                Some(place(m.translation))
            };
            let unit = frame_scale(self.target, &self.scales[1], route.target);
            let size = self.size / unit;
            let sampled = sample_translation(&curves, size, at).ok_or_else(|| self.too_much())?;
            self.add(RawChannel::Translation, sampled, made);
        }
        Ok(())
    }

    /// Whether a channel of a step moves the joint: rotation and scale of the last one do not, unless it is undone.
    fn matters(&self, step: &Step, channel: usize) -> bool {
        let last = self.route.steps.last();
        let only_place = last.is_some_and(|last| step.joint == last.joint && !last.inverse);
        channel == T || !only_place
    }

    /// Whether the clip determines the joint's position.
    fn is_placed(&self) -> bool {
        let says = |step: &Step| {
            let mut channels = [T, R, S].into_iter();
            channels.any(|c| self.matters(step, c) && self.locals.curve(step.joint, c).is_some())
        };
        self.route.steps.iter().any(says)
    }

    /// The map from a position relative to the joint above in the source to the target's translation; `None` if scales of 0
    /// are in between.
    fn place(&self, way: Carry) -> Option<impl Fn(DVec3) -> DVec3 + use<>> {
        let (locals, route) = (self.locals, self.route);
        let undo = route.between.inverse();
        let additive = locals.additive;
        let at_rest = route.transform(|j| affine(&locals.rest(j))).translation;
        let own = self.target.rest(route.target.into()).translation.as_dvec3();
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
            let base = match self.locals.additive {
                true => DVec3::ZERO,
                false => self.locals.rest(step.joint).translation.as_dvec3(),
            };
            let key = |k: usize| DVec3::from_slice(curve.key(k)).distance(base);
            let most = (0..curve.times.len()).map(key).fold(0.0, f64::max);
            let unit = frame_scale(self.locals.skeleton, &self.scales[0], step.joint);
            (most > 0.0).then_some(most * unit)
        };
        let all = self.route.steps.iter().filter_map(moved);
        all.fold(None, |most: Option<f64>, m| Some(most.map_or(m, |n| n.max(m))))
    }

    /// Scales are relative to the rest pose: the target keeps its own.
    fn scale(&self, made: &mut Made) {
        let joint = self.route.source;
        let Some(from) = self.locals.track(joint, S) else {
            return;
        };
        let factor = self.scale_factor();
        let mut track = self.track(RawChannel::Scale, Some(from));
        track.values = mapped(from, |v| v * factor, |v| v * factor);
        made.scales_kept += usize::from(self.locals.moves(joint, S));
        made.tracks.push(track);
    }

    fn scale_factor(&self) -> DVec3 {
        let source = self.locals.rest(self.route.source).scale.as_dvec3();
        let target = self.target.rest(self.route.target.into()).scale.as_dvec3();
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

    /// The curves of the joints on the route that move.
    fn curves(&self, channel: usize) -> Vec<&Curve> {
        let steps = self.route.steps.iter();
        let curves = steps.filter_map(|step| self.locals.curve(step.joint, channel));
        curves.filter(|c| c.times.len() > 1).collect()
    }

    fn too_much(&self) -> RetargetError {
        RetargetError::FoldingWork {
            clip: self.locals.raw.name.clone().unwrap_or_default(),
            joint: self.target.names()[usize::from(self.route.target)].clone(),
            limit: MAX_WORK,
        }
    }

    fn add(&self, channel: RawChannel, (keys, difference): (Keys, f64), made: &mut Made) {
        let track = self.track(channel, None);
        made.tracks.push(RawTrack {
            interpolation: keys.interpolation,
            times: keys.times,
            values: keys.values,
            ..track
        });
        // The joint's translation may be sampled as well as its rotation.
        let joint = Some(self.route.target);
        made.sampled += usize::from(made.last_sampled != joint);
        made.last_sampled = joint;
        let (worst, difference) = match channel {
            RawChannel::Rotation => (&mut made.sampled_rotation, difference),
            _ => (&mut made.sampled_translation, difference * self.unit()),
        };
        *worst = worst.max(difference);
    }
}

/// A constant product between two joints that move, or one of these joints.
enum Part<C> {
    Still(C),
    Moving(Step),
}

/// Multiplies neighbouring steps that do not move to constants.
fn parts<C: Copy>(
    steps: &[Step],
    moves: impl Fn(u16) -> bool,
    still: impl Fn(&[Step]) -> C,
) -> Vec<Part<C>> {
    let mut all = Vec::new();
    let mut from = 0;
    for (at, step) in steps.iter().enumerate() {
        if moves(step.joint) {
            if from < at {
                all.push(Part::Still(still(&steps[from..at])));
            }
            all.push(Part::Moving(*step));
            from = at + 1;
        }
    }
    if from < steps.len() {
        all.push(Part::Still(still(&steps[from..])));
    }
    all
}

fn narrow<const N: usize>(values: [f64; N]) -> Vec<f32> {
    values.iter().map(|&v| v as f32).collect()
}

/// The keys of a rotation between two constants, unchanged if both are the identity.
fn turned(from: &RawTrack, left: DQuat, right: DQuat, inverse: bool) -> Vec<f32> {
    let still = |q: DQuat| q.x == 0.0 && q.y == 0.0 && q.z == 0.0;
    if still(left) && still(right) && !inverse {
        return from.values.clone();
    }
    let keys = from.values.chunks_exact(4);
    keys.flat_map(|v| {
        let q = DQuat::from_array([0, 1, 2, 3].map(|c: usize| f64::from(v[c])));
        // Tangents are not unit quaternions, but the products are linear, and so is the conjugate.
        let q = if inverse { q.conjugate() } else { q };
        narrow((left * q * right).to_array())
    })
    .collect()
}

/// The keys of vectors, mapped; tangents by the linear part.
fn mapped(
    from: &RawTrack,
    value: impl Fn(DVec3) -> DVec3,
    tangent: impl Fn(DVec3) -> DVec3,
) -> Vec<f32> {
    let cubic = from.interpolation == Interpolation::CubicSpline;
    let keys = from.values.chunks_exact(3).enumerate();
    keys.flat_map(|(k, v)| {
        let v = DVec3::new(v[0].into(), v[1].into(), v[2].into());
        let is_value = !cubic || k % 3 == 1;
        let new = if is_value { value(v) } else { tangent(v) };
        narrow(new.to_array())
    })
    .collect()
}
