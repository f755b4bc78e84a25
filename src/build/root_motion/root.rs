//! The joint that carries the motion: its curves in one clip, their motion in model space, and the tracks
//! that remain.

use super::{RootMotionOptions, TracksOf, up};
use crate::build::clip_builder::{Variation, check_track, variation};
use crate::build::curve::Curve;
use crate::build::lengths::Lengths;
use crate::clip::{MAX_IRREGULAR_KEYS, MAX_KEYS, RootMotionParts};
use crate::error::BuildError;
use crate::math::{Rigid, angle};
use crate::raw::{Interpolation, RawChannel, RawClip, RawScene, RawTrack, UpAxis};
use crate::words::shorten;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// A clip travels if its root ends at least this fraction of the model's size from its start: above the
/// gaps that loops leave (the mannequin's gaits close to 1e-7), far below a step.
const TRAVEL: f64 = 0.01;
/// A clip travels if its root ends rotated by more than this, in radians: one degree, for the same reason.
const TURN: f64 = std::f64::consts::PI / 180.0;
/// Motion within this fraction of the model's size, or this many radians, counts as none.
const STILL: f64 = 1e-6;
/// Splines are divided until a line is this close to them, as a fraction of the model's size in model space.
const SPLINE_TOLERANCE: f64 = 1e-4;
/// Limit on the halvings of a spline's segment: 256 parts follow a swing of one unit to 1e-4.
const MAX_HALVINGS: u32 = 8;
/// The largest rotation between keys where rotation is extracted, radians. Within 2.5 degrees, the pose
/// that remains is off by less than 1e-3 of the joint's height.
const MAX_STEP: f64 = 2.5 * std::f64::consts::PI / 180.0;
/// Largest deviation of motion and pose together from the clip between keys: radians, and a share of the larger of the
/// model's size and the joint's distance from the origin. A yaw of [`MAX_STEP`] leaves 2.4e-4, so that keys are added
/// only where the yaw is faster than the joint turns: when it has tipped over by nearly half a turn.
const COMPOSED: f64 = 5e-4;
/// Limit on the halvings of an interval for [`COMPOSED`]: the rest is shorter than any frame.
const MAX_TURN_HALVINGS: u32 = 16;
/// Largest difference of scales along the axes that still count as uniform.
const EVEN: f64 = 1e-5;

/// The joint's curves in one clip, and the transform of its ancestors.
pub(super) struct Root {
    node: usize,
    name: String,
    translation: Option<(usize, Curve)>,
    rotation: Option<(usize, Curve)>,
    rest: (DVec3, DQuat),
    /// Transform from parent space to model space.
    above: DAffine3,
    above_rotation: DQuat,
    even: bool,
    axes: DVec3,
    up: DVec3,
}

impl Root {
    pub fn new(
        raw: &RawScene,
        node: usize,
        (clip, tracks): (&RawClip, &TracksOf),
        lengths: &Lengths,
        options: &RootMotionOptions,
    ) -> Result<Self, BuildError> {
        let tracks_of = |n: usize| {
            let of = tracks.get(&n).map_or(&[][..], |of| &of[..]);
            of.iter().map(|&index| (index, &clip.tracks[index]))
        };
        let name_of = |n: usize| raw.nodes[n].name.clone().unwrap_or_default();
        let (mut above, mut above_rotation, mut even) = (DAffine3::IDENTITY, DQuat::IDENTITY, true);
        for n in up(raw, raw.nodes[node].parent) {
            let local = &raw.nodes[n].local;
            let mut t = local.translation.as_dvec3();
            let mut r = local.rotation.as_dquat().normalize();
            let mut s = local.scale.as_dvec3();
            for (index, track) in tracks_of(n) {
                if track.channel == RawChannel::Weights {
                    continue;
                }
                match variation(clip, index, lengths)? {
                    Variation::Constant(v) => match track.channel {
                        RawChannel::Translation => t = DVec3::new(v[0], v[1], v[2]),
                        RawChannel::Rotation => r = DQuat::from_array(v),
                        _ => s = DVec3::new(v[0], v[1], v[2]),
                    },
                    Variation::Animated => {
                        let (joint, above) = (shorten(&name_of(node)), shorten(&name_of(n)));
                        return Err(BuildError::RootMotion(format!(
                            "joint \"{above}\" above \"{joint}\" is animated too by clip \"{}\"",
                            shorten(clip.name.as_deref().unwrap_or_default())
                        )));
                    }
                }
            }
            above = DAffine3::from_scale_rotation_translation(s, r, t) * above;
            above_rotation = r * above_rotation;
            even &= (s - DVec3::splat(s.x)).abs().max_element() <= EVEN * s.x.abs() && s.x > 0.0;
        }
        let name = name_of(node);
        let determinant = above.matrix3.determinant();
        if determinant == 0.0 || !determinant.is_finite() {
            return Err(uneven(&name));
        }
        let mut curves = [None, None];
        for (index, track) in tracks_of(node) {
            let slot = match track.channel {
                RawChannel::Translation => 0,
                RawChannel::Rotation => 1,
                _ => continue,
            };
            check_track(clip.name.as_deref().unwrap_or_default(), index, track, 1)?;
            curves[slot] = Some((index, Curve::new(track, 0)));
        }
        let [translation, rotation] = curves;
        let local = &raw.nodes[node].local;
        let up = match options.up {
            UpAxis::Y => DVec3::Y,
            UpAxis::Z => DVec3::Z,
        };
        let axes = match options.axes {
            Some(axes) => DVec3::from_array(axes.map(|on| f64::from(u8::from(on)))),
            None => DVec3::ONE - up,
        };
        Ok(Self {
            node,
            name,
            translation,
            rotation,
            rest: (local.translation.as_dvec3(), local.rotation.as_dquat().normalize()),
            above,
            above_rotation: above_rotation.normalize(),
            even,
            axes,
            up,
        })
    }

    /// The joint's translation relative to its parent.
    fn local_translation(&self, time: f32) -> DVec3 {
        let curve = self.translation.as_ref().map(|(_, c)| c.at(time).value);
        curve.map_or(self.rest.0, |v| DVec3::new(v[0], v[1], v[2]))
    }

    /// The joint's rotation in model space.
    fn model_rotation(&self, time: f32) -> DQuat {
        let curve = self.rotation.as_ref().map(|(_, c)| c.at(time).value);
        let local = curve.map_or(self.rest.1, |v| DQuat::from_array(v).normalize());
        (self.above_rotation * local).normalize()
    }

    /// The rotation about the up axis since the start.
    fn yaw(&self, time: f32) -> DQuat {
        let turn = self.model_rotation(time) * self.model_rotation(0.0).conjugate();
        let along = turn.xyz().dot(self.up);
        let twist = DQuat::from_vec4((self.up * along).extend(turn.w));
        // The joint has tipped over by half a turn: its yaw is undefined.
        let has_direction = twist.length_squared() > STILL * STILL;
        if has_direction { twist.normalize() } else { DQuat::IDENTITY }
    }

    /// The motion at a time: zero at the start, on the chosen axes, with `yaw` about the up axis.
    fn motion(&self, time: f32, yaw: DQuat) -> DVec3 {
        let place = |t| self.above.transform_point3(self.local_translation(t));
        let start = place(0.0);
        self.axes * (place(time) - yaw * start)
    }

    /// The joint's transform in model space, without scale.
    fn whole(&self, time: f32) -> Rigid {
        Rigid {
            rotation: self.model_rotation(time),
            translation: self.above.transform_point3(self.local_translation(time)),
        }
    }

    /// The motion at a time, and the joint's remaining pose, in model space.
    fn split(&self, time: f32) -> [Rigid; 2] {
        let rotation = self.yaw(time);
        let motion = Rigid { rotation, translation: self.motion(time, rotation) };
        [motion, motion.inverse() * self.whole(time)]
    }

    /// Whether motion and pose, each interpolated between its keys, give the joint's transform in the clip.
    fn follows(&self, (a, b): (f32, f32), time: f32, size: f64) -> bool {
        let way = (f64::from(time) - f64::from(a)) / (f64::from(b) - f64::from(a));
        let (from, to) = (self.split(a), self.split(b));
        let [motion, pose] = [0, 1].map(|part: usize| Rigid {
            rotation: from[part].rotation.slerp(to[part].rotation, way).normalize(),
            translation: from[part].translation.lerp(to[part].translation, way),
        });
        let (is, whole) = (motion * pose, self.whole(time));
        let apart = is.translation.distance(whole.translation);
        angle(&is.rotation.to_array(), &whole.rotation.to_array()) <= COMPOSED
            && (size <= 0.0 || apart <= COMPOSED * size)
    }

    fn end(&self) -> f32 {
        let curves = self.translation.iter().chain(&self.rotation);
        curves.filter_map(|c| c.1.times.last().copied()).fold(0.0, f32::max)
    }

    pub fn travels(&self, model_size: f64, rotation: bool) -> bool {
        let end = self.end();
        let yaw = if rotation { self.yaw(end) } else { DQuat::IDENTITY };
        // The yaw is left out: a rotation in place does not displace.
        let way = self.motion(end, DQuat::IDENTITY).length();
        way > TRAVEL * model_size || turned(yaw) > TURN
    }

    /// Removes the motion from the clip's tracks and returns it; `None` if there is none.
    pub fn take(
        &self,
        clip: &mut RawClip,
        joint: u16,
        lengths: &Lengths,
        rotation: bool,
    ) -> Result<Option<RootMotionParts>, BuildError> {
        let rotation = rotation && self.rotation.is_some();
        let times = self.times(clip, lengths, rotation)?;
        let (mut yaws, mut moves) = (Vec::new(), Vec::new());
        let mut last = DQuat::IDENTITY;
        for &time in &times {
            let mut yaw = if rotation { self.yaw(time) } else { DQuat::IDENTITY };
            if yaw.dot(last) < 0.0 {
                yaw = -yaw;
            }
            last = yaw;
            yaws.push(yaw);
            moves.push(self.motion(time, yaw));
        }
        let turns = yaws.iter().any(|&q| turned(q) > STILL);
        if !turns && !moves.iter().any(|m| m.length() > STILL * lengths.model) {
            return Ok(None);
        }
        if turns {
            if !self.even {
                return Err(uneven(&self.name));
            }
            self.replace_both(clip, &times, &yaws, &moves);
        } else {
            self.keep_in_place(clip);
        }
        Ok(Some(RootMotionParts {
            joint,
            times,
            translations: moves.iter().map(|m| m.as_vec3().to_array()).collect(),
            rotations: if turns {
                yaws.iter().map(|q| q.as_quat().to_array()).collect()
            } else {
                Vec::new()
            },
        }))
    }

    /// Limit on the keys of the motion: four for each of the joint's keys, whose number files bound, but at least the
    /// keys of a full irregular timeline.
    fn most_keys(&self) -> usize {
        let keys = self.translation.iter().chain(&self.rotation);
        let keys: usize = keys.map(|(_, curve)| curve.times.len()).sum();
        keys.saturating_mul(4).clamp(MAX_IRREGULAR_KEYS, MAX_KEYS)
    }

    /// The key times of the motion.
    fn times(
        &self,
        clip: &RawClip,
        lengths: &Lengths,
        rotation: bool,
    ) -> Result<Vec<f32>, BuildError> {
        let limit = self.most_keys();
        let mut times = vec![0.0];
        let curves = self.translation.iter();
        for (_, curve) in curves.chain(self.rotation.iter().filter(|_| rotation)) {
            times.extend(curve.times.iter().map(|t| t + 0.0));
            match curve.interpolation {
                Interpolation::Linear => times.extend(curve.extra_times(MAX_STEP)),
                // The value holds until just before the next key.
                Interpolation::Step => times.extend(curve.times.iter().map(|t| t.next_down())),
                Interpolation::CubicSpline => {
                    let tolerance = if curve.rotation {
                        SPLINE_TOLERANCE
                    } else {
                        SPLINE_TOLERANCE * lengths.local(self.node)
                    };
                    for pair in curve.times.windows(2) {
                        let bounds = (MAX_HALVINGS, 4 * limit);
                        divide((pair[0], pair[1]), bounds, &mut times, &|span, time| {
                            is_straight(curve, span, time, tolerance)
                        });
                    }
                }
            }
            if times.len() > 4 * limit {
                break;
            }
        }
        times.retain(|t| *t >= 0.0);
        times.sort_by(f32::total_cmp);
        times.dedup();
        if rotation {
            let size = lengths.model.max(self.whole(0.0).translation.length());
            for pair in times.clone().windows(2) {
                let bounds = (MAX_TURN_HALVINGS, limit);
                divide((pair[0], pair[1]), bounds, &mut times, &|span, time| {
                    self.follows(span, time, size)
                });
            }
            times.sort_by(f32::total_cmp);
        }
        if times.len() > limit {
            let (name, keys) = (clip.name.as_deref().unwrap_or_default(), times.len());
            let what = format!("root motion of clip \"{}\" needs {keys} keys", shorten(name));
            return Err(BuildError::limit(what, keys, limit));
        }
        Ok(times)
    }

    /// Without rotation: the translation track keeps its interpolation and keys but loses the chosen axes.
    fn keep_in_place(&self, clip: &mut RawClip) {
        let Some((index, curve)) = &self.translation else { return };
        let linear: DMat3 = self.above.matrix3;
        let taken = linear.inverse() * DMat3::from_diagonal(self.axes) * linear;
        let start = self.local_translation(0.0);
        let track: &mut RawTrack = &mut clip.tracks[*index];
        let cubic = curve.interpolation == Interpolation::CubicSpline;
        for (i, v) in track.values.as_chunks_mut::<3>().0.iter_mut().enumerate() {
            let value = DVec3::from_array(v.map(f64::from));
            // In- and out-tangents are stored before and after a cubic key's value and have no origin.
            let origin = if cubic && i % 3 != 1 { DVec3::ZERO } else { start };
            *v = (value - taken * (value - origin)).as_vec3().to_array();
        }
    }

    /// With rotation: both tracks are rewritten, linear between the motion's keys.
    fn replace_both(&self, clip: &mut RawClip, times: &[f32], yaws: &[DQuat], moves: &[DVec3]) {
        let down = self.above.inverse();
        let back = self.above_rotation.conjugate();
        let (mut translations, mut rotations) = (Vec::new(), Vec::new());
        for ((&time, yaw), shift) in times.iter().zip(yaws).zip(moves) {
            let place = self.above.transform_point3(self.local_translation(time));
            let place = yaw.conjugate() * (place - *shift);
            translations.extend(down.transform_point3(place).as_vec3().to_array());
            let turn = back * yaw.conjugate() * self.model_rotation(time);
            rotations.extend(turn.normalize().as_quat().to_array());
        }
        let new = [
            (&self.translation, RawChannel::Translation, translations),
            (&self.rotation, RawChannel::Rotation, rotations),
        ];
        for (old, channel, values) in new {
            let track = RawTrack {
                node: self.node,
                channel,
                interpolation: Interpolation::Linear,
                times: times.to_vec(),
                values,
            };
            match old {
                Some((index, _)) => clip.tracks[*index] = track,
                None => clip.tracks.push(track),
            }
        }
    }
}

/// The angle of a unit quaternion, in radians.
fn turned(q: DQuat) -> f64 {
    angle(&q.to_array(), &DQuat::IDENTITY.to_array())
}

/// Adds times between `a` and `b` until `follows` is true at the quarter and in the middle of every part. The quarter is
/// checked too, since the middle of an S-shaped path lies on its chord. Division stops after `left` halvings, or when there
/// are more than `most` times.
fn divide(
    (a, b): (f32, f32),
    (left, most): (u32, usize),
    times: &mut Vec<f32>,
    follows: &impl Fn((f32, f32), f32) -> bool,
) {
    let middle = 0.5 * (a + b);
    if left == 0 || !(a < middle && middle < b) || times.len() > most {
        return;
    }
    if ![0.5 * (a + middle), middle].iter().all(|&t| follows((a, b), t)) {
        times.push(middle);
        divide((a, middle), (left - 1, most), times, follows);
        divide((middle, b), (left - 1, most), times, follows);
    }
}

/// Whether the line between two values of a spline is within `tolerance` of it at a time.
fn is_straight(curve: &Curve, (a, b): (f32, f32), time: f32, tolerance: f64) -> bool {
    let [from, to, value] = [a, b, time].map(|t| curve.at(t).value);
    let way = f64::from(time - a) / f64::from(b - a);
    (0..curve.width).all(|c| (value[c] - (from[c] + (to[c] - from[c]) * way)).abs() <= tolerance)
}

/// The fault of scales through which the motion of a joint cannot be carried.
fn uneven(joint: &str) -> BuildError {
    let joint = shorten(joint);
    BuildError::RootMotion(format!("the joints above \"{joint}\" have non-uniform or zero scale"))
}
