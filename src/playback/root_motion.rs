//! Root motion of a step: the motions of all playing clips, blended with the weights of poses, and applied.

use super::advance::{Advance, Passed, Stage};
use super::clock::{Clock, Step};
use super::entries::BUCKET;
use super::event_sink::Clips;
use super::ids::InstanceId;
use super::interval::{Loop, Playhead};
use super::layer_state::LayerState;
use super::motions::Motions;
use super::options::Fill;
use super::state::stands_still;
use crate::clip::Clip;
use crate::math::{Affine3x4, LANES, Rigid};
use crate::rig::Rig;
use crate::skeleton::JointMask;
use crate::skeleton::limits::is_world;
use glam::{DAffine3, DQuat, DVec3, Quat, Vec3};

/// The movements of roots in the last step, each in the root's space before the step.
///
/// The arrays are parallel. An instance whose clips have no root motion has no entry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootMotions<'a> {
    /// The instances that moved, in the order of their indices.
    pub instances: &'a [InstanceId],
    /// Translations in metres.
    pub translations: &'a [Vec3],
    /// Rotations, as unit quaternions.
    pub rotations: &'a [Quat],
}

/// The movements of roots in a step, as parallel arrays.
#[derive(Debug, Default)]
pub(crate) struct Moves {
    instances: Vec<InstanceId>,
    translations: Vec<Vec3>,
    rotations: Vec<Quat>,
    /// The last movement pushed, in f64: that of a mixer's only instance.
    last: Rigid,
}

impl Moves {
    pub fn clear(&mut self) {
        self.instances.clear();
        self.translations.clear();
        self.rotations.clear();
        self.last = Rigid::IDENTITY;
    }

    /// Reserves room for `instances` in total.
    pub fn reserve(&mut self, instances: usize) {
        let more = instances.saturating_sub(self.instances.len());
        self.instances.reserve(more);
        self.translations.reserve(more);
        self.rotations.reserve(more);
    }

    /// Appends the movements of instances with higher indices.
    pub fn append(&mut self, later: &Self) {
        self.instances.extend_from_slice(&later.instances);
        self.translations.extend_from_slice(&later.translations);
        self.rotations.extend_from_slice(&later.rotations);
        self.last = later.last;
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

    fn push(&mut self, instance: InstanceId, root: &Rigid) {
        let round = |v: f64| v.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
        let t = root.translation;
        self.last = *root;
        self.instances.push(instance);
        self.translations.push(Vec3::new(round(t.x), round(t.y), round(t.z)));
        self.rotations.push(root.rotation.as_quat());
    }
}

/// The lane of the root joint, whose weight in a mask applies to root motion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootLane(usize);

impl RootLane {
    /// The lane of the root joint of the first clip with root motion; `None` if no clip has it.
    pub fn of<'c>(rig: &Rig, mut clips: impl Iterator<Item = &'c Clip>) -> Option<Self> {
        let motion = clips.find_map(Clip::root_motion)?;
        let lane = rig.skeleton().lane_of().get(usize::from(motion.parts().joint)).copied();
        Some(Self(usize::from(lane.unwrap_or_default())))
    }

    fn weight(self, mask: &JointMask) -> f32 {
        mask.rows()[self.0 / LANES].0[self.0 % LANES]
    }
}

/// The root motion of a pool.
#[derive(Debug)]
pub(crate) struct Roots {
    /// Lane of the root joint; `None` if no clip has root motion.
    pub lane: Option<RootLane>,
    /// True if each step computes root motion, whether it is applied or not.
    pub tracks: bool,
    /// The root motion of the last step.
    pub moves: Moves,
}

impl Default for Roots {
    fn default() -> Self {
        Self { lane: None, tracks: true, moves: Moves::default() }
    }
}

impl Roots {
    /// Follows the loaded clips.
    pub fn fit(&mut self, rig: &Rig, clips: &Clips) {
        self.lane = RootLane::of(rig, clips.iter().map(|(_, clip)| &**clip));
    }

    /// Takes the buffer of root motions, emptied, for the next step.
    pub fn take_moves(&mut self) -> Moves {
        self.moves.clear();
        std::mem::take(&mut self.moves)
    }
}

/// A weighted sum of movements, by the rules of blending.
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

    /// Normalises the sum. The rest pose, which does not move, has the rest of the weight to 1.
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

/// Blends from `below` to `above` by `weight`.
fn over(below: &Rigid, above: &Rigid, weight: f64) -> Rigid {
    let mut sum = Sum::NOTHING;
    sum.add(below, 1.0 - weight);
    sum.add(above, weight);
    sum.finish()
}

/// The clip time of a playhead.
fn clip_time(course: &Loop, playhead: Playhead) -> f64 {
    if course.mirrored(playhead.pass) { course.length - playhead.time } else { playhead.time }
}

/// The movement of the root between two playheads; `None` if the clip has no root motion.
fn movement(clip: &Clip, course: &Loop, from: Playhead, to: Playhead) -> Option<Rigid> {
    let motion = clip.root_motion()?;
    if course.length <= 0.0 {
        return Some(Rigid::IDENTITY);
    }
    // The time of a blend space is a phase.
    let scale = f64::from(clip.duration()) / course.length;
    // A ping-pong never jumps from the clip's end to its start.
    let wraps = if course.ping_pong {
        0
    } else {
        // The cast saturates.
        (to.pass - from.pass) as i64
    };
    let [from, to] = [from, to].map(|playhead| clip_time(course, playhead) * scale);
    Some(motion.delta(from, to, wraps))
}

impl Advance<'_> {
    /// Advances a range of a pool with root motion: reads every entry, and visits those that are due.
    pub(super) fn run_roots(&mut self, lane: RootLane, into: &mut Passed) {
        let Stage { layers, step, .. } = self.stage;
        // The bucket of the last entry, and which of its entries are due, as bits.
        let mut due = (usize::MAX, 0);
        for index in 0..self.len() {
            if !self.alive[index] {
                continue;
            }
            let mut root: Option<Rigid> = None;
            let holds = stands_still(self.speed[index]);
            let since = |clock: Clock, anchor| match holds {
                true => 0.0,
                false => clock.since(anchor),
            };
            for (layer, options) in layers.iter().enumerate() {
                let at = index * layers.len() + layer;
                let (mut before, anchor) = self.entries.load(at);
                before.glide(since(step.before(), anchor));
                if due.0 != at / BUCKET && !step.is_empty() {
                    due = (at / BUCKET, self.entries.calendar.take(at / BUCKET, &step));
                }
                if due.1 >> (at % BUCKET) & 1 != 0 {
                    self.visit(at, into);
                }
                if options.additive || before.actions().is_empty() {
                    continue;
                }
                let (mut after, anchor) = self.entries.load(at);
                after.glide(since(step.after(), anchor));
                let factor = f64::from(self.speed[index]) * f64::from(before.speed);
                let motion = layer_motion(self.stage.motions, &before, &after, &step, factor);
                let Some((mut sum, moves)) = motion else {
                    continue;
                };
                if !moves && root.is_none() {
                    continue;
                }
                let mut share = 1.0;
                if options.fill == Fill::Below && sum.total < 1.0 {
                    share = sum.total as f32;
                    sum.scale(1.0 / sum.total);
                }
                let mask = options.mask.as_ref().map_or(1.0, |mask| lane.weight(mask));
                let weights = before.weight.value() + after.weight.value();
                let weight = 0.5 * weights.min(2.0) * mask * share;
                let below = root.unwrap_or_default();
                root = Some(over(&below, &sum.finish(), f64::from(weight)));
            }
            if let Some(root) = root {
                self.move_root(index, &root);
                into.moves.push(self.instance(index), &root);
            }
        }
    }

    /// Moves the world transform of an instance, if root motion is applied.
    fn move_root(&mut self, index: usize, root: &Rigid) {
        let wide = self.world_wide.as_mut();
        let Some(wide) = wide.and_then(|wide| wide.get_mut(index)) else {
            return;
        };
        let step = DAffine3::from_rotation_translation(root.rotation, root.translation);
        let moved = *wide * step;
        let world = narrow(&moved);
        // A step beyond the limits of the world is not applied.
        if is_world(&world) {
            *wide = moved;
            self.world[index] = world;
        }
    }
}

/// The summed movements of a layer's actions, and whether one of their clips has root motion; `None` if none has a
/// weight. An action's weight is the mean of its weights before and after the step, so that a fade moves as far in one
/// step as in many.
fn layer_motion(
    motions: &Motions,
    before: &LayerState,
    after: &LayerState,
    step: &Step,
    factor: f64,
) -> Option<(Sum, bool)> {
    let (mut sum, mut moves) = (Sum::NOTHING, false);
    // From three rotations on, the order decides the hemisphere of each: oldest first, as for poses.
    for action in before.actions() {
        let (from, course) = (action.playhead(), action.course());
        let members = motions.members(action);
        let (to, weight, later) = match after.find(action.source()) {
            Some(a) => {
                let now = after.action(a);
                let later = (now.place() != action.place()).then(|| motions.members(now));
                (now.playhead(), now.weight.value(), later)
            }
            None => {
                // The action stopped in this step. Its last position is not stored, so it is computed here.
                let seconds = match action.ending() {
                    true => step.seconds.min(action.weight.left()),
                    false => step.seconds,
                };
                let rate = match action.paused() {
                    true => 0.0,
                    false => factor * f64::from(action.speed()) * motions.pace(action),
                };
                (course.advance(from, seconds * step.sign() * rate).0, 0.0, None)
            }
        };
        let weight = 0.5 * f64::from(action.weight.value() + weight);
        if weight <= 0.0 {
            continue;
        }
        // The same for the shares of clips: a parameter may be on its way.
        let half = if later.is_some() { 0.5 } else { 1.0 };
        let later = later.as_ref().map_or(&[][..], |later| later.all());
        for &(clip, part) in members.all().iter().chain(later) {
            let clip = motions.clips.get(clip);
            let went = clip.and_then(|c| movement(c, &course, from, to));
            moves |= went.is_some();
            sum.add(&went.unwrap_or_default(), weight * half * f64::from(part));
        }
    }
    (sum.total > 0.0).then_some((sum, moves))
}

pub(super) fn widen(world: &Affine3x4) -> DAffine3 {
    let m = world.to_cols_array().map(f64::from);
    DAffine3::from_cols_array(&[
        m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10], m[12], m[13], m[14],
    ])
}

pub(super) fn narrow(world: &DAffine3) -> Affine3x4 {
    let m = world.to_cols_array().map(|v| v as f32);
    Affine3x4::from_cols_array(&[
        m[0], m[1], m[2], 0.0, m[3], m[4], m[5], 0.0, m[6], m[7], m[8], 0.0, m[9], m[10], m[11],
        1.0,
    ])
}
