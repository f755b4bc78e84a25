//! Boxes: of a rig's slots, and of an instance.

use super::RigMesh;
use super::limits::{MAX_SHARED_SLOTS, distinct};
use crate::mesh::{Mesh, Primitive};
use crate::skeleton::Skin;
use glam::Vec3;
use std::collections::HashSet;

/// An axis-aligned box; empty if `min > max`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Least corner.
    pub min: Vec3,
    /// Greatest corner.
    pub max: Vec3,
}

impl Default for Aabb {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Aabb {
    /// The box that holds nothing.
    pub const EMPTY: Self = Self {
        min: Vec3::INFINITY,
        max: Vec3::NEG_INFINITY,
    };

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        !(self.min.cmple(self.max).all())
    }

    /// Grows to hold a point; a NaN coordinate is passed over.
    pub fn add(&mut self, p: Vec3) {
        self.min = self.min.min(p);
        self.max = self.max.max(p);
    }

    /// Grows to hold another box.
    pub fn union(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Its centre; the origin if it is empty.
    pub fn center(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            (self.min + self.max) * 0.5
        }
    }

    /// Half its size; zero if it is empty.
    pub fn half_size(&self) -> Vec3 {
        if self.is_empty() {
            Vec3::ZERO
        } else {
            (self.max - self.min) * 0.5
        }
    }
}

/// For every palette row of a rig, the box (in mesh space) of the vertices that it moves.
///
/// A skinned vertex is a weighted mean of its places under each of its slots, so the union of the
/// moved boxes holds the deformed mesh (weights that sum to 1, morph weights in [0, 1]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlotBounds {
    boxes: Vec<Aabb>,
}

/// What a mesh moves, measured once however many nodes draw it.
#[derive(Clone, Debug, Default)]
struct Measured {
    /// Of all its vertices.
    whole: Aabb,
    /// The slots that its influences name with a weight, ascending, with the boxes of their vertices.
    slots: Vec<(u16, Aabb)>,
}

impl Measured {
    fn new(mesh: &Mesh) -> Self {
        let mut whole = Aabb::EMPTY;
        let mut boxes: Vec<Aabb> = Vec::new();
        for p in &mesh.primitives {
            for v in 0..p.positions.len() {
                let reach = reach(p, v);
                whole.union(&reach);
                let n = p.influences.per_vertex;
                let range = v * n..(v + 1) * n;
                let weights = p.influences.weights.get(range.clone()).unwrap_or(&[]);
                let joints = p.influences.joints.get(range).unwrap_or(&[]);
                for (&slot, _) in joints.iter().zip(weights).filter(|(_, w)| **w > 0.0) {
                    let slot = usize::from(slot);
                    if slot >= boxes.len() {
                        boxes.resize(slot + 1, Aabb::EMPTY);
                    }
                    boxes[slot].union(&reach);
                }
            }
        }
        let used = (0..=u16::MAX).zip(boxes).filter(|(_, b)| !b.is_empty());
        Self {
            whole,
            slots: used.collect(),
        }
    }
}

impl SlotBounds {
    /// Measures the boxes of all slots.
    ///
    /// # Errors
    /// With the slots that would be looked at, if they are above [`MAX_SHARED_SLOTS`].
    pub(crate) fn measure(
        skins: &[Skin],
        offsets: &[usize],
        meshes: &[RigMesh],
    ) -> Result<Self, u64> {
        let (distinct, which) = distinct(meshes);
        let measured: Vec<Measured> = distinct.iter().map(|m| Measured::new(m)).collect();
        let mut drawn: HashSet<(usize, usize)> = HashSet::new();
        let skinned = |m: &RigMesh, mesh: usize, drawn: &mut HashSet<(usize, usize)>| {
            m.rigid_slot.is_none() && drawn.insert((mesh, m.skin))
        };
        let mut work = 0u64;
        for (m, &mesh) in meshes.iter().zip(&which) {
            if skinned(m, mesh, &mut drawn) {
                work = work.saturating_add(measured[mesh].slots.len() as u64);
            }
        }
        if work > MAX_SHARED_SLOTS {
            return Err(work);
        }
        drawn.clear();
        let rows = skins.iter().map(Skin::len).sum();
        let mut boxes = vec![Aabb::EMPTY; rows];
        for (m, &mesh) in meshes.iter().zip(&which) {
            let first = offsets[m.skin];
            let boxes = &mut boxes[first..first + skins[m.skin].len()];
            let mut grow = |slot: u16, by: &Aabb| {
                if let Some(b) = boxes.get_mut(usize::from(slot)) {
                    b.union(by);
                }
            };
            if let Some(slot) = m.rigid_slot {
                grow(slot, &measured[mesh].whole);
            } else if skinned(m, mesh, &mut drawn) {
                for (slot, by) in &measured[mesh].slots {
                    grow(*slot, by);
                }
            }
        }
        Ok(Self { boxes })
    }

    /// One box per palette row; empty for slots that move no vertex.
    pub fn boxes(&self) -> &[Aabb] {
        &self.boxes
    }
}

/// Where morph weights in [0, 1] can bring a vertex.
fn reach(p: &Primitive, v: usize) -> Aabb {
    let at = Vec3::from(p.positions[v]);
    let mut out = Aabb { min: at, max: at };
    for target in &p.targets {
        if let Some(&d) = target.positions.get(v) {
            let d = Vec3::from(d);
            out.min += d.min(Vec3::ZERO);
            out.max += d.max(Vec3::ZERO);
        }
    }
    out
}
