//! Root motion of a step: the motions of all playing actions, blended as poses are, and applied.

use super::actions::Four;
use super::advance::Step;
use super::error::PlaybackError;
use super::events::Events;
use super::ids::{InstanceId, NO_CLIP};
use super::interval::{Loop, Playhead};
use super::pool::{Fill, Pool};
use crate::clip::Clip;
use crate::math::{Affine3x4, LANES, Rigid};
use crate::skeleton::limits::is_world;
use crate::skeleton::{ChannelHandle, ChannelValue};
use glam::{DAffine3, DQuat, DVec3, Quat, Vec3};

/// How far the roots moved in the last step, each in the root's space before the step.
///
/// The arrays are parallel. Instances that play no root motion are left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootMotions<'a> {
    /// The instances that moved, in the order of their indices.
    pub instances: &'a [InstanceId],
    /// Translations in metres.
    pub translations: &'a [Vec3],
    /// Rotations, as unit quaternions.
    pub rotations: &'a [Quat],
}

impl<'a> RootMotions<'a> {
    /// The translations as x, y, z.
    pub fn translation_arrays(&self) -> &'a [[f32; 3]] {
        bytemuck::must_cast_slice(self.translations)
    }

    /// The rotations as x, y, z, w.
    pub fn rotation_arrays(&self) -> &'a [[f32; 4]] {
        bytemuck::must_cast_slice(self.rotations)
    }
}

/// The root motion of a pool in its last step.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    /// The root joint of the first clip with root motion; `None` if no clip has it, and the pass is skipped.
    pub joint: Option<usize>,
    instances: Vec<InstanceId>,
    translations: Vec<Vec3>,
    rotations: Vec<Quat>,
    /// The last motion in f64: that of a mixer's only instance.
    last: Rigid,
}

impl Roots {
    pub fn clear(&mut self) {
        self.instances.clear();
        self.translations.clear();
        self.rotations.clear();
        self.last = Rigid::IDENTITY;
    }

    pub fn arrays(&self) -> RootMotions<'_> {
        RootMotions {
            instances: &self.instances,
            translations: &self.translations,
            rotations: &self.rotations,
        }
    }

    pub fn of_only(&self) -> Rigid {
        self.last
    }
}

/// The state of an entry before a step.
#[derive(Clone, Copy)]
struct Before {
    clip: Four<u16>,
    other: Four<u16>,
    mix: Four<f32>,
    started: Four<u32>,
    place: Four<Playhead>,
    course: Four<Loop>,
    weight: Four<f32>,
    /// Seconds until an action that fades out stops; infinite for the others.
    left: Four<f64>,
    rate: Four<f64>,
    layer_weight: f32,
}

/// A weighted sum of motions, by the rules of blending.
struct Sum {
    translation: DVec3,
    rotation: DQuat,
    total: f64,
}

impl Sum {
    const NOTHING: Self = Self {
        translation: DVec3::ZERO,
        rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        total: 0.0,
    };

    fn add(&mut self, motion: &Rigid, weight: f64) {
        let ahead = self.rotation.dot(motion.rotation) >= 0.0;
        self.translation += motion.translation * weight;
        self.rotation += motion.rotation * if ahead { weight } else { -weight };
        self.total += weight;
    }

    fn scale(&mut self, factor: f64) {
        self.translation *= factor;
        self.rotation *= factor;
        self.total *= factor;
    }

    /// Normalises the sum. The rest pose, which does not move, takes the weight missing to 1.
    fn finish(mut self) -> Rigid {
        if self.total < 1.0 {
            self.add(&Rigid::IDENTITY, 1.0 - self.total);
        }
        Rigid {
            translation: self.translation / self.total.max(1.0),
            rotation: if self.rotation.length_squared() > 0.0 {
                self.rotation.normalize()
            } else {
                DQuat::IDENTITY
            },
        }
    }
}

/// Blends from `below` towards `above`.
fn over(below: &Rigid, above: &Rigid, weight: f64) -> Rigid {
    let mut sum = Sum::NOTHING;
    sum.add(below, 1.0 - weight);
    sum.add(above, weight);
    sum.finish()
}

/// The clip time of a playhead.
fn clip_time(course: &Loop, place: Playhead) -> f64 {
    if course.mirrored(place.pass) {
        course.length - place.time
    } else {
        place.time
    }
}

/// The root motion from one playhead to another; `None` if the clip has none.
fn way(clip: &Clip, course: &Loop, from: Playhead, to: Playhead) -> Option<Rigid> {
    let motion = clip.root_motion()?;
    if course.length <= 0.0 {
        return Some(Rigid::IDENTITY);
    }
    // The time of a blend space is its phase.
    let scale = f64::from(clip.duration()) / course.length;
    // A ping-pong never jumps from the end to the start.
    let wraps = if course.ping_pong {
        0
    } else {
        // The cast saturates.
        (to.pass - from.pass) as i64
    };
    let [from, to] = [from, to].map(|place| clip_time(course, place) * scale);
    Some(motion.delta(from, to, wraps))
}

impl Pool {
    /// Advances a pool with root motion. The mask weight of `joint` applies to the motion.
    pub(super) fn advance_roots(&mut self, joint: usize, dt: f64, events: &mut Events) {
        let layers = self.layers.len();
        let lane = self.rig.skeleton().lane_of().get(joint).copied();
        let lane = usize::from(lane.unwrap_or_default());
        for i in 0..self.state.speed.len() {
            if !self.state.alive[i] {
                continue;
            }
            let speed = f64::from(self.state.speed[i]);
            let mut root: Option<Rigid> = None;
            for layer in 0..layers {
                let entry = self.entry(i, layer);
                let factor = speed * f64::from(self.state.layer_speed[entry]);
                let step = Step { dt, factor };
                let before = self.before(entry);
                if !self.state.actions.glide(entry, step) {
                    self.advance_entry(i, layer, step, events);
                }
                if self.layers[layer].additive {
                    continue;
                }
                let Some((mut sum, moves)) = self.layer_motion(entry, step, &before) else {
                    continue;
                };
                if !moves && root.is_none() {
                    continue;
                }
                let options = &self.layers[layer];
                let mut share = 1.0;
                if options.fill == Fill::Below && sum.total < 1.0 {
                    share = sum.total as f32;
                    sum.scale(1.0 / sum.total);
                }
                let mask = options.mask.as_ref();
                let mask = mask.map_or(1.0, |m| m.rows()[lane / LANES].0[lane % LANES]);
                let now = self.state.layer_weight[entry];
                let weight = 0.5 * (before.layer_weight + now).min(2.0) * mask * share;
                let below = root.unwrap_or_default();
                root = Some(over(&below, &sum.finish(), f64::from(weight)));
            }
            if let Some(root) = root {
                self.move_root(i, &root);
            }
        }
    }

    fn before(&self, entry: usize) -> Before {
        let (actions, state) = (&self.state.actions, &self.state);
        let slow = &actions.slow[entry];
        Before {
            clip: actions.clip[entry],
            other: actions.other[entry],
            mix: actions.mix[entry],
            started: actions.started[entry],
            place: std::array::from_fn(|a| actions.place(entry, a)),
            course: slow.map(|s| s.course),
            weight: actions.weight[entry],
            left: slow.map(|s| {
                if s.ending {
                    s.fade.left()
                } else {
                    f64::INFINITY
                }
            }),
            rate: actions.rate[entry],
            layer_weight: state.layer_weight[entry],
        }
    }

    /// The motion of a layer's actions, and whether one of their clips has root motion; `None` if none
    /// plays. An action's weight is the mean of those before and after the step, so that a fade moves as
    /// far in one step as in many.
    fn layer_motion(&self, entry: usize, step: Step, before: &Before) -> Option<(Sum, bool)> {
        let actions = &self.state.actions;
        let (mut sum, mut moves) = (Sum::NOTHING, false);
        let mut order = [0, 1, 2, 3];
        if before.clip.iter().filter(|&&c| c != NO_CLIP).count() > 2 {
            // From three rotations on, the order decides the hemisphere of each: oldest first, as in poses.
            let newest = actions.starts[entry];
            let age = before.started.map(|s| newest.wrapping_sub(s));
            order.sort_unstable_by_key(|&a: &usize| std::cmp::Reverse(age[a]));
        }
        for a in order {
            if before.clip[a] == NO_CLIP {
                continue;
            }
            let stays =
                actions.clip[entry][a] != NO_CLIP && actions.started[entry][a] == before.started[a];
            let (from, course) = (before.place[a], &before.course[a]);
            let (to, weight) = if stays {
                (actions.place(entry, a), actions.weight[entry][a])
            } else {
                // It stopped in this step. Its end position is not stored, so it is computed here.
                let seconds = step.dt.abs().min(before.left[a]).copysign(step.dt);
                let distance = seconds * step.factor * before.rate[a];
                (course.advance(from, distance).0, 0.0)
            };
            let weight = 0.5 * f64::from(before.weight[a] + weight);
            if weight <= 0.0 {
                continue;
            }
            let mix = f64::from(before.mix[a]);
            for (clip, part) in [(before.clip[a], 1.0 - mix), (before.other[a], mix)] {
                if clip == NO_CLIP || part <= 0.0 {
                    continue;
                }
                let went = self.clips.get(clip).and_then(|c| way(c, course, from, to));
                moves |= went.is_some();
                sum.add(&went.unwrap_or_default(), weight * part);
            }
        }
        (sum.total > 0.0).then_some((sum, moves))
    }

    /// Records an instance's motion and, if root motion is applied, moves its world transform.
    fn move_root(&mut self, index: usize, root: &Rigid) {
        let round = |v: f64| v.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        let t = root.translation;
        self.roots.last = *root;
        self.roots.instances.push(self.instance_id(index));
        let translation = Vec3::new(round(t.x), round(t.y), round(t.z));
        self.roots.translations.push(translation);
        self.roots.rotations.push(root.rotation.as_quat());
        let places = self.state.places.as_mut();
        let Some(place) = places.and_then(|p| p.get_mut(index)) else {
            return;
        };
        let moved = *place * DAffine3::from_rotation_translation(root.rotation, t);
        let world = narrow(&moved);
        // A step beyond the limits of the world is not applied.
        if is_world(&world) {
            *place = moved;
            self.state.world[index] = world;
        }
    }

    /// Sets the world transform of an instance.
    pub fn set_world(&mut self, index: usize, world: Affine3x4) {
        self.state.world[index] = world;
        if let Some(places) = &mut self.state.places {
            places.resize(self.state.world.len(), DAffine3::IDENTITY);
            places[index] = widen(&world);
        }
    }

    /// Turns the movement of world transforms by root motion on or off.
    pub fn apply_roots(&mut self, apply: bool) {
        self.state.places = apply.then(|| self.state.world.iter().map(widen).collect());
    }

    /// The current value of a user channel of an instance.
    pub fn channel(
        &self,
        index: usize,
        channel: ChannelHandle,
    ) -> Result<ChannelValue, PlaybackError> {
        let found = self.rig.skeleton().channel_at(channel);
        let (user, first) = found.ok_or(PlaybackError::UnknownChannel { channel })?;
        let pose = self.evaluate_scalars(index);
        Ok(user.rest.with(|i| pose.scalar(first + i)))
    }
}

fn widen(world: &Affine3x4) -> DAffine3 {
    let m = world.to_cols_array().map(f64::from);
    DAffine3::from_cols_array(&[
        m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10], m[12], m[13], m[14],
    ])
}

fn narrow(place: &DAffine3) -> Affine3x4 {
    let m = place.to_cols_array().map(|v| v as f32);
    Affine3x4::from_cols_array(&[
        m[0], m[1], m[2], 0.0, m[3], m[4], m[5], 0.0, m[6], m[7], m[8], 0.0, m[9], m[10], m[11],
        1.0,
    ])
}
