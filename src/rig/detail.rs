//! Details: rigs with the meshes, the palette and the joints of one level of detail.

use super::limits::MAX_DETAIL_VERTICES;
use super::{Reach, Rig, RigMesh, measure_slots};
use crate::error::BuildError;
use crate::math::Affine3x4;
use crate::mesh::Mesh;
use crate::skeleton::{JointRef, LookupError, Pose, Skeleton, Skin};
use crate::words::plural;
use std::collections::HashMap;
use std::sync::Arc;

/// The parts of a rig that [`Rig::detail`] keeps and leaves out. Joints are named, or given by path or index.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use phalanx::rig::DetailOptions;
///
/// let rig = phalanx::import::mannequin()?;
/// let far = rig.detail(&DetailOptions {
///     level: 2,
///     // Something is attached to the right hand.
///     keep: &["RightHand".into()],
///     leave_out: &["LeftHand".into()],
/// })?;
/// assert!(far.palette_len() < rig.palette_len());
/// assert!(far.is_evaluated(rig.skeleton().joint("RightHand")?));
/// assert!(!far.is_evaluated(rig.skeleton().joint("LeftHand")?));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DetailOptions<'a> {
    /// Level of detail whose meshes are kept; 0 is the finest, and the default.
    pub level: usize,
    /// Joints that are evaluated even if no mesh uses them: joints that are watched, overridden, or have objects attached.
    /// They win over `leave_out`. Default: none.
    pub keep: &'a [JointRef<'a>],
    /// Joints that are not evaluated although meshes use them; joints below them are. Default: none.
    pub leave_out: &'a [JointRef<'a>],
}

/// The relation of a rig that [`Rig::detail`] has made to the full rig.
#[derive(Clone, Debug)]
pub(crate) struct Detail {
    level: usize,
    full_rows: Vec<u32>,
    /// For each joint, whether it is evaluated. The others are at rest below their parents.
    evaluated: Vec<bool>,
}

impl Rig {
    /// Makes the rig of a level of detail: with the meshes of the level, the slots that they use, and the joints that
    /// these slots need. It shares the skeleton and the clips of this rig, so it plays whatever this rig plays, but fewer
    /// joints are sampled, composed and written.
    ///
    /// - A skin has the slots that a vertex of the level uses with a weight other than 0, or that move one of its rigid
    ///   meshes, in the order of this rig. Meshes are copied, with influences that refer to these slots. Without meshes
    ///   of the level, all slots are kept.
    /// - A joint is evaluated if it, or a joint below it, is kept or has one of the slots, unless it is listed in
    ///   [`leave_out`](DetailOptions::leave_out). All other joints are at rest below their parents, in palettes and in
    ///   model matrices; overrides of them have no effect.
    /// - The scalars (morph weights and user channels) are the same as in this rig.
    ///
    /// The bounds of clips are measured when they are needed. A detail of a detail shares its meshes: keeping other joints
    /// copies none. What a detail leaves out is not part of [`Rig::parts`], and not written to files.
    ///
    /// # Errors
    /// If the rig has no such level, a joint is not found, or the copies of meshes that several skins share have more
    /// than 2^26 vertices. Each pair of a mesh and a skin that is drawn together counts with the vertices of the mesh,
    /// and again for each morph target and for every four influences.
    pub fn detail(&self, options: &DetailOptions<'_>) -> Result<Arc<Rig>, BuildError> {
        let (level, levels) = (options.level, self.lod_count());
        if level >= levels {
            let all = plural(levels as u64, "level");
            return Err(BuildError::invalid(format!(
                "there is no level of detail {level}, the rig has {all}"
            )));
        }
        let skeleton = &self.skeleton;
        let keep = marked(skeleton, options.keep)?;
        let mut left_out = marked(skeleton, options.leave_out)?;
        if self.detail.is_some() {
            // Joints that slots need but that are not evaluated were listed in `leave_out`.
            let needed = needed(skeleton, &self.skins, vec![false; skeleton.len()]);
            for (joint, out) in (0..=u16::MAX).zip(&mut left_out) {
                *out |= needed[usize::from(joint)] && self.is_left_out(joint);
            }
        }
        let meshes: Vec<&RigMesh> = self.meshes.iter().filter(|m| m.lod == level).collect();
        let kept = KeptSlots::new(self, &meshes);
        let skins: Vec<Skin> = kept.skins(self);
        let meshes = kept.meshes(&meshes)?;
        let (palette_offsets, palette_len) = super::parts::palette(&skins);
        let mut evaluated = needed(skeleton, &skins, keep.clone());
        for (joint, evaluated) in evaluated.iter_mut().enumerate() {
            *evaluated &= keep[joint] || !left_out[joint];
        }
        let slot_bounds = measure_slots(&skins, &palette_offsets, &meshes)?;
        let clips = self.clips.iter().map(|c| &**c);
        let reach = Reach::new(skeleton, &skins, &slot_bounds, clips);
        let displacements = super::parts::displacements(skeleton, &meshes, &self.nodes);
        // A copy has caches of its own.
        Ok(Arc::new(Self {
            palette_offsets,
            palette_len,
            slot_bounds,
            reach,
            displacements,
            clip_bounds: Vec::new(),
            bounds_file: None,
            detail: Some(Detail { level, full_rows: kept.full_rows(self), evaluated }),
            skins,
            meshes,
            ..self.clone()
        }))
    }

    /// The level of detail whose meshes a [detail](Rig::detail) has; 0 for a full rig.
    pub fn detail_level(&self) -> usize {
        self.detail.as_ref().map_or(0, |detail| detail.level)
    }

    /// For every palette row of a [detail](Rig::detail), the row of the full rig's palette, ascending; `None` for a full
    /// rig.
    pub fn full_rows(&self) -> Option<&[u32]> {
        self.detail.as_ref().map(|detail| &detail.full_rows[..])
    }

    /// Whether a joint is evaluated; if not, it is at rest below its parent. True for all joints but those that a
    /// [detail](Rig::detail) leaves out.
    pub fn is_evaluated(&self, joint: usize) -> bool {
        let evaluated = self.detail.as_ref().map(|d| d.evaluated.get(joint));
        evaluated != Some(Some(&false))
    }

    /// Whether a joint of the skeleton is at rest whatever plays.
    pub(crate) fn is_left_out(&self, joint: u16) -> bool {
        !self.is_evaluated(joint.into())
    }

    /// Sets the joints that are left out to their rest transforms.
    pub(crate) fn rest_left_out(&self, pose: &mut Pose) {
        let Some(detail) = &self.detail else { return };
        for (joint, _) in detail.evaluated.iter().enumerate().filter(|e| !e.1) {
            let lane = usize::from(self.skeleton.lane_of()[joint]);
            pose.set_lane(lane, &self.skeleton.rest(joint));
        }
    }
}

/// For each joint, whether it is listed.
fn marked(skeleton: &Skeleton, joints: &[JointRef<'_>]) -> Result<Vec<bool>, LookupError> {
    let mut marked = vec![false; skeleton.len()];
    for &joint in joints {
        marked[skeleton.joint(joint)?] = true;
    }
    Ok(marked)
}

/// For each joint, whether it or a joint below it is kept or has a slot.
fn needed(skeleton: &Skeleton, skins: &[Skin], keep: Vec<bool>) -> Vec<bool> {
    let mut needed = keep;
    for joint in skins.iter().flat_map(Skin::joints) {
        if let Some(needed) = needed.get_mut(usize::from(*joint)) {
            *needed = true;
        }
    }
    for (joint, &parent) in skeleton.parents().iter().enumerate().rev() {
        if let (true, Some(above)) = (needed[joint], needed.get_mut(usize::from(parent))) {
            *above = true;
        }
    }
    needed
}

/// The slots of a rig that the meshes of a level use.
struct KeptSlots {
    /// For each skin, the new slot of every old slot; `None` if the slot is dropped.
    new_slots: Vec<Vec<Option<u16>>>,
}

impl KeptSlots {
    fn new(rig: &Rig, meshes: &[&RigMesh]) -> Self {
        let all = meshes.is_empty();
        let mut used: Vec<Vec<bool>> = rig.skins.iter().map(|s| vec![all; s.len()]).collect();
        // Each mesh is read once, however many nodes draw it.
        let mut of_meshes: HashMap<*const Mesh, Vec<u16>> = HashMap::new();
        for m in meshes {
            let used = &mut used[m.skin];
            let mut mark = |slot: u16| {
                if let Some(used) = used.get_mut(usize::from(slot)) {
                    *used = true;
                }
            };
            match m.rigid_slot {
                Some(slot) => mark(slot),
                None => {
                    let slots = of_meshes.entry(Arc::as_ptr(&m.mesh));
                    let slots = slots.or_insert_with(|| used_slots(&m.mesh));
                    slots.iter().for_each(|&slot| mark(slot));
                }
            }
        }
        let new_slots = used.iter().map(|used| {
            let mut next = 0;
            let new_slot = |&used: &bool| {
                next += u16::from(used);
                used.then(|| next - 1)
            };
            used.iter().map(new_slot).collect()
        });
        Self { new_slots: new_slots.collect() }
    }

    fn is_whole(&self, skin: usize) -> bool {
        self.new_slots[skin].iter().all(Option::is_some)
    }

    fn skins(&self, rig: &Rig) -> Vec<Skin> {
        let skins = rig.skins.iter().zip(&self.new_slots);
        let kept = skins.map(|(skin, new)| skin.with_slots(|slot| new[slot].is_some()));
        kept.collect()
    }

    /// For every kept row, the row of the full rig.
    fn full_rows(&self, rig: &Rig) -> Vec<u32> {
        let kept = self.new_slots.iter().flatten().enumerate();
        let rows = kept.filter(|k| k.1.is_some()).map(|(row, _)| {
            let full = rig.detail.as_ref().map(|d| d.full_rows[row]);
            full.unwrap_or(row as u32)
        });
        rows.collect()
    }

    /// The meshes with influences that refer to the new slots.
    fn meshes(&self, meshes: &[&RigMesh]) -> Result<Vec<RigMesh>, BuildError> {
        let skinned = |m: &RigMesh| m.rigid_slot.is_none() && !self.is_whole(m.skin);
        let mut moved: HashMap<(*const Mesh, usize), Option<Arc<Mesh>>> = HashMap::new();
        let mut vertices = 0u64;
        for m in meshes.iter().filter(|m| skinned(m)) {
            let copy = moved.insert((Arc::as_ptr(&m.mesh), m.skin), None);
            if copy.is_none() {
                vertices = vertices.saturating_add(vertices_of(&m.mesh));
            }
        }
        if vertices > MAX_DETAIL_VERTICES {
            let what = format!(
                "the meshes of the detail have {vertices} vertices, counted for each skin, morph target and four influences"
            );
            return Err(BuildError::Limit { what, needed: vertices, limit: MAX_DETAIL_VERTICES });
        }
        let made = meshes.iter().map(|&m| {
            let mut made = m.clone();
            if let Some(slot) = m.rigid_slot {
                made.rigid_slot = self.new_slots[m.skin][usize::from(slot)];
            } else if let Some(copy) = moved.get_mut(&(Arc::as_ptr(&m.mesh), m.skin)) {
                let new_slots = &self.new_slots[m.skin];
                let copy = copy.get_or_insert_with(|| Arc::new(on_slots(&m.mesh, new_slots)));
                made.mesh = copy.clone();
            }
            made
        });
        Ok(made.collect())
    }
}

/// The vertices of a mesh, counted again for each morph target and for every four influences.
fn vertices_of(mesh: &Mesh) -> u64 {
    let all = mesh.primitives.iter().map(|p| {
        let streams = 1 + (p.targets.len() + p.influences.per_vertex / 4) as u64;
        (p.positions.len() as u64).saturating_mul(streams)
    });
    all.fold(0, u64::saturating_add)
}

/// The slots with a weight in a mesh, ascending. If no weight differs from 0, the first slot, to which influences refer.
fn used_slots(mesh: &Mesh) -> Vec<u16> {
    let mut used: Vec<bool> = Vec::new();
    for influences in mesh.primitives.iter().map(|p| &p.influences) {
        for (&slot, &weight) in influences.joints.iter().zip(&influences.weights) {
            let slot = usize::from(slot);
            if slot >= used.len() {
                used.resize(slot + 1, false);
            }
            used[slot] |= weight != 0.0;
        }
    }
    if !used.iter().any(|&used| used) {
        used.truncate(1);
        used.fill(true);
    }
    let slots = (0..=u16::MAX).zip(used).filter(|s| s.1);
    slots.map(|s| s.0).collect()
}

/// A mesh whose influences refer to new slots. Influences without a weight refer to slot 0.
fn on_slots(mesh: &Mesh, new_slots: &[Option<u16>]) -> Mesh {
    let mut moved = mesh.clone();
    for p in &mut moved.primitives {
        p.influences.move_slots(|slot| new_slots.get(slot).copied().flatten());
    }
    moved
}

impl Skin {
    /// The skin with some of its slots.
    fn with_slots(&self, keep: impl Fn(usize) -> bool) -> Self {
        let slots = || (0..self.len()).filter(|&slot| keep(slot));
        let joints: Vec<u16> = slots().map(|slot| self.joints()[slot]).collect();
        let binds: Vec<Affine3x4> = slots().map(|slot| self.inverse_bind()[slot]).collect();
        Self::of_checked(self.name().map(str::to_owned), joints, binds)
    }
}
