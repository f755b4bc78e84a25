//! Spheres around instances, found from the clips that they play, without evaluating them.

use super::Pool;
use crate::clip::{Channel, Clip, ClipKind};
use crate::evaluate::{JointOverride, POSE_ROWS, Replaces};
use crate::math::{LANES, Row};
use crate::playback::inputs::POSE;
use crate::playback::layer_state::ACTIONS_PER_LAYER;
use crate::playback::library::Library;
use crate::playback::modifiers::Definition;
use crate::rig::{Aabb, ClipBounds, Extremes, Reach, Rig, Sphere};
use crate::runtime::ClipBoundsScratch;
use crate::skeleton::{JointMask, Skeleton};
use std::sync::{Arc, OnceLock, Weak};

mod offset;

/// Bound of the rounding in sums over a chain of joints.
const ROUNDING: f64 = 1.0 + 1e-4;

/// Distance from the joints at which meshes that the rig does not have may be, as a share of the longest side of the
/// rest pose. A head is a tenth above its joint; clothes, hats and objects in hands reach further.
const AROUND_JOINTS: f32 = 0.25;

/// The bounds of a pool's clips, which follow its library.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// Made by the first query after the loaded clips have changed.
    now: OnceLock<PoolBounds>,
    /// The bounds before the last change; clips that stayed keep their measured bounds.
    last: Option<PoolBounds>,
}

impl Bounds {
    /// Drops the bounds, because the clips have changed.
    pub fn forget(&mut self) {
        self.last = self.now.take().or(self.last.take());
    }

    /// The bounds of a library. Measures them if the clips have changed.
    fn of(&self, library: &Library) -> &PoolBounds {
        self.now.get_or_init(|| PoolBounds::new(library, self.last.as_ref()))
    }
}

/// Bounds for any mix of a pool's clips: of the meshes or, if the rig draws nothing, of the joints.
#[derive(Debug, Default)]
pub(crate) struct PoolBounds {
    /// True if the rig draws anything.
    draws: bool,
    rest: Option<ClipBounds>,
    /// The bounds of each clip, by index; `None` for an index without a clip.
    clips: Vec<Option<Measured>>,
    /// Distances of vertices, by the number of additive actions that play.
    far: Vec<Far>,
    /// True if the anchor of a blend may lie outside the box of its clips' anchors.
    anchor_escapes: bool,
    /// The largest [`ClipBounds::morph`] of all clips and the rest pose.
    morph: f32,
    /// Largest displacement of a vertex by the morph weights of one additive action.
    added_morph: f64,
    /// The largest product of scales down a chain of joints, times that of a bind matrix.
    morph_scale: f64,
    /// Indices of the anchor and the joints above it.
    chain: Vec<u16>,
    /// By joint, without additive clips: the largest distance from its parent, the largest component of its scale, and the
    /// product of those down to it.
    offsets: Vec<[f64; 3]>,
    /// The largest product of scales down a chain of joints.
    scale: f64,
}

#[derive(Debug, Clone)]
struct Measured {
    /// The clip that was measured, to recognise it after the clips have changed.
    clip: Weak<Clip>,
    /// `None` if the clip is additive, or too long to be measured.
    bounds: Option<ClipBounds>,
}

/// Largest distances of vertices, for any rotations of the joints.
#[derive(Clone, Copy, Debug, Default)]
struct Far {
    /// Distance from the anchor to a vertex.
    anchor: f64,
    /// Distance from the anchor to the box of the clips' anchors.
    drift: f64,
    /// Distance from the origin of the model to a vertex.
    origin: f64,
}

impl PoolBounds {
    /// Finds the bounds of a pool's clips: from `last`, if the same clip has the same index, or as the rig states them.
    /// Other clips are measured once per rig.
    fn new(library: &Library, last: Option<&Self>) -> Self {
        let (rig, skeleton) = (&**library.rig(), library.rig().skeleton());
        let draws = rig.slot_bounds().iter().any(|b| !b.is_empty());
        let joints = (!draws).then(|| Reach::of_joints(skeleton));
        let reach = joints.as_ref().unwrap_or(&rig.reach);
        let mut scratch = None;
        let mut measure = |clip: Option<&Arc<Clip>>| {
            let scratch = scratch.get_or_insert_with(|| ClipBoundsScratch::new(rig));
            let clip = clip.map(|c| &**c);
            match draws {
                // Additive clips give `None`: they have no bounds.
                true => scratch.measure(rig, clip).ok().flatten(),
                false => scratch.measure_joints(rig, clip, reach.anchor),
            }
        };
        let known = |index: u16, clip: &Arc<Clip>| {
            let last = last?.clips.get(usize::from(index))?.as_ref()?;
            (Weak::as_ptr(&last.clip) == Arc::as_ptr(clip)).then(|| last.clone())
        };
        let mut clips = Vec::new();
        let mut extremes = Extremes::of_rest(skeleton);
        let mut anchor_escapes = false;
        for (index, clip) in library.clips().iter() {
            extremes.add(skeleton, clip);
            anchor_escapes |= reach.turning(skeleton, clip).is_some();
            clips.resize(usize::from(index), None);
            let measured = known(index, clip).unwrap_or_else(|| {
                let stated = rig.stated_bounds(usize::from(index), clip);
                let bounds = stated.filter(|_| draws).copied().or_else(|| {
                    let measured = rig.measured(clip);
                    *measured.bounds.get_or_init(|| measure(Some(clip)))
                });
                Measured { clip: Arc::downgrade(clip), bounds }
            });
            clips.push(Some(measured));
        }
        let chain: Vec<u16> = reach.chain(skeleton).collect();
        let layers = library.layers().iter();
        let uneven = |mask: &JointMask| {
            let weight = |&joint: &u16| {
                let lane = usize::from(skeleton.lane_of()[usize::from(joint)]);
                let rows = mask.rows().get(lane / LANES);
                rows.map_or(1.0, |row| row.0[lane % LANES])
            };
            let mut weights = chain.iter().map(weight);
            let first = weights.next();
            weights.any(|w| Some(w) != first)
        };
        // Joints with different weights may come from different clips.
        anchor_escapes |= layers.clone().filter_map(|l| l.mask.as_ref()).any(uneven);
        let additive = match library.clips().iter().any(|(_, c)| c.kind() == ClipKind::Additive) {
            true => layers.filter(|l| l.additive).count() * ACTIONS_PER_LAYER * 2,
            false => 0,
        };
        let far = |additive: u32| {
            let [anchor, origin] = reach.farthest(skeleton, &extremes, additive);
            Far { anchor, origin, drift: reach.drift(skeleton, &extremes, additive) }
        };
        let most = additive as u32;
        let scales: Vec<f64> =
            (0..skeleton.len()).map(|joint| extremes.scale(joint, most)).collect();
        let mut products: Vec<f64> = Vec::with_capacity(scales.len());
        for (scale, &parent) in scales.iter().zip(skeleton.parents()) {
            let above = products.get(usize::from(parent)).copied().unwrap_or(1.0);
            products.push(above * scale);
        }
        let scale = products.into_iter().fold(1.0, f64::max);
        let mut offsets: Vec<[f64; 3]> = Vec::with_capacity(skeleton.len());
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            let above = offsets.get(usize::from(parent)).map_or(1.0, |above| above[2]);
            let [length, scale] = extremes.of(joint, 0);
            offsets.push([length, scale, above * scale]);
        }
        let added = library.clips().iter().filter(|(_, c)| c.kind() == ClipKind::Additive);
        let added = added.map(|(_, clip)| displacement(rig, clip));
        let morph_scale = scale * f64::from(reach.bind);
        let added_morph = added.fold(0.0, f64::max) * morph_scale;
        let rest = *rig.rest_bounds().get_or_init(|| measure(None));
        let measured = clips.iter().flatten().filter_map(|c| c.bounds.as_ref());
        let morph = measured.chain(&rest).map(|b| b.morph).fold(0.0, f32::max);
        Self {
            draws,
            rest,
            clips,
            far: (0..=most).map(far).collect(),
            anchor_escapes,
            morph,
            added_morph,
            morph_scale,
            chain,
            offsets,
            scale,
        }
    }

    /// The box of the rest pose, around the meshes or, if the rig draws nothing, the joints. `None` if it cannot be
    /// measured.
    pub fn rest(&self) -> Option<&Aabb> {
        self.rest.as_ref().map(|rest| &rest.mesh)
    }

    fn clip(&self, clip: u16) -> Option<&ClipBounds> {
        self.clips.get(usize::from(clip))?.as_ref()?.bounds.as_ref()
    }

    /// The sphere of one clip, or of the rest pose, that plays alone at full weight.
    fn alone(&self, bounds: &ClipBounds) -> Option<Sphere> {
        let sphere = Sphere::around(&bounds.mesh)?;
        Some(Sphere { radius: sphere.radius + bounds.morph, ..sphere })
    }

    /// Bounds of how much a pose of the host lengthens any chain of joints, with the scales of the clips, and of its
    /// factor on their scales: over all joints, as a query does not allocate.
    fn of_pose(&self, pose: &[Row], skeleton: &Skeleton) -> [f64; 2] {
        let (mut longer, mut wider) = (0.0, 1.0);
        for (&lane, [length, scales, _]) in skeleton.lane_of().iter().zip(&self.offsets) {
            let lane = usize::from(lane);
            let rows = &pose[lane / LANES * POSE_ROWS..][..POSE_ROWS];
            let value = |row: usize| f64::from(rows[row].0[lane % LANES]);
            let away = value(0).hypot(value(1)).hypot(value(2));
            let scale = [7, 8, 9].map(|row| value(row).abs()).into_iter().fold(0.0, f64::max);
            longer += (away - length).max(0.0);
            wider *= (scale / scales).max(1.0);
        }
        [longer, wider]
    }

    /// The sphere of any blend of the clips of `play`, with its additive actions and the overrides.
    fn between<'d>(
        &self,
        play: &Play,
        (overrides, more): (&[JointOverride], &More),
        modifiers: impl Iterator<Item = &'d Definition>,
    ) -> Option<Sphere> {
        let far = self.far.get(play.additive).or(self.far.last())?;
        let (mut offsets, mut stretch, mut moved) = (more.longer, more.wider, 0.0);
        let mut anchor_escapes = self.anchor_escapes || play.unknown || more.escapes;
        for o in overrides {
            let joint = usize::from(o.joint);
            let [length, scale, down] = self.offsets.get(joint).copied().unwrap_or([0.0, 1.0, 1.0]);
            let offset = f64::from(o.matrix.translation().length());
            let in_model = o.replaces == Replaces::Model;
            match in_model {
                true => moved += offset,
                false => offsets += (offset - length).max(0.0),
            }
            let scale = if in_model { down } else { scale };
            stretch *= (o.matrix.stretch_bound() / scale).max(1.0);
            anchor_escapes |= in_model || self.chain.contains(&o.joint);
        }
        // Rotations keep lengths; a chain that stretches is longer.
        for modifier in modifiers {
            stretch *= f64::from(modifier.stretch);
            moved += f64::from(modifier.moves);
            anchor_escapes |= modifier.joints.iter().any(|joint| self.chain.contains(joint));
        }
        let further = self.scale * offsets + moved;
        let morph = f64::from(self.morph) + play.additive as f64 * self.added_morph + more.morph;
        let around = |distance: f64| (distance + further + morph) * stretch * ROUNDING;
        let anchor = Sphere::around(&play.anchors).filter(|_| !anchor_escapes);
        let sphere = match anchor {
            Some(anchor) => Sphere {
                center: anchor.center,
                radius: anchor.radius + around(far.anchor + far.drift) as f32,
            },
            None => Sphere { center: [0.0; 3], radius: around(far.origin) as f32 },
        };
        Some(sphere).filter(|s| s.radius.is_finite())
    }
}

/// What the pose of a host and offsets of layers add to the reach of clips.
#[derive(Clone, Copy, Debug)]
struct More {
    /// Bounds of how much chains of joints are longer, and of a factor on their scales.
    longer: f64,
    wider: f64,
    /// The largest displacement of a vertex by morph weights.
    morph: f64,
    /// True if the anchor may lie outside the box of its clips' anchors by more than `longer`.
    escapes: bool,
}

/// The largest displacement of a vertex by the morph weights of an additive clip, in mesh space.
fn displacement(rig: &Rig, clip: &Clip) -> f64 {
    let of = |(scalar, longest): (usize, &f32)| {
        let block = clip.block_at(Channel::Scalar, scalar / LANES)?;
        let [low, high] = clip.reach(Channel::Scalar, block, scalar % LANES)[0];
        Some(f64::from(low.abs().max(high.abs()) * longest))
    };
    rig.displacements().iter().enumerate().filter_map(of).sum()
}

/// The properties of an instance's actions that its bounds depend on.
struct Play {
    /// Number of additive actions; an action that plays a blend space counts once per clip.
    additive: usize,
    /// Box of the anchors of all full clips and of the rest pose.
    anchors: Aabb,
    /// True if a clip has no bounds.
    unknown: bool,
}

impl Pool {
    pub fn bounds(&self) -> &PoolBounds {
        self.bounds.of(&self.library)
    }

    /// A sphere that holds the meshes of an instance, in model space, in every pose that its clips can take. `None` if
    /// the rig draws nothing, or the radius would not be finite.
    pub fn bounding_sphere(&self, index: usize) -> Option<Sphere> {
        let bounds = self.bounds();
        bounds.draws.then(|| self.tight_extent(index, bounds))?
    }

    /// The [sphere](Self::bounding_sphere) around the meshes of an instance; if the rig draws nothing, a sphere around
    /// its joints, with room for meshes around them.
    pub fn extent(&self, index: usize) -> Option<Sphere> {
        let bounds = self.bounds();
        let mut sphere = self.tight_extent(index, bounds)?;
        if !bounds.draws {
            sphere.radius += AROUND_JOINTS * self.longest_side();
        }
        Some(sphere)
    }

    fn tight_extent(&self, index: usize, bounds: &PoolBounds) -> Option<Sphere> {
        let overrides = self.state.overrides().of(index);
        let modified = self.state.inputs().active(index) != 0;
        if overrides.is_empty() && !modified {
            let one = match self.sole(index) {
                Ok(None) => bounds.rest.as_ref(),
                // An action that stops leaves the rest pose without a call.
                Ok(Some((_, action))) if !action.stops_at_end() => {
                    action.clip().and_then(|clip| bounds.clip(clip))
                }
                _ => None,
            };
            if let Some(one) = one {
                return bounds.alone(one);
            }
        }
        let mut play = Play { additive: 0, anchors: Aabb::EMPTY, unknown: false };
        for (options, at) in self.library.layers().iter().zip(self.entries_of(index)) {
            for action in self.state.entries().actions(at).filter(|a| a.plays()) {
                for clip in self.library.motions().clips_of(action) {
                    if options.additive {
                        play.additive += 1;
                        continue;
                    }
                    match bounds.clip(clip) {
                        Some(known) => play.anchors.union(&known.anchor),
                        None => play.unknown = true,
                    }
                }
            }
        }
        match &bounds.rest {
            Some(rest) => play.anchors.union(&rest.anchor),
            None => play.unknown = true,
        }
        let inputs = self.state.inputs();
        // A fade that has just begun has a weight later.
        let pose = (inputs.active(index) >> POSE == 1).then(|| inputs.pose(index));
        let [longer, wider] =
            pose.map_or([0.0, 1.0], |pose| bounds.of_pose(pose, self.library.rig().skeleton()));
        let mut more = More { longer, wider, morph: 0.0, escapes: pose.is_some() };
        for offset in self.entries_of(index).filter_map(|at| self.state.offset(at)) {
            self.add_offset(bounds, offset.id, &mut more);
        }
        bounds.between(
            &play,
            (overrides, &more),
            self.active(index).map(|(definition, _)| definition),
        )
    }
}

#[cfg(all(test, feature = "gltf"))]
mod tests;
