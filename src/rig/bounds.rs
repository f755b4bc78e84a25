//! Bounding boxes, and the boxes of a rig's palette rows.

use super::RigMesh;
use super::limits::{MAX_SHARED_SLOTS, distinct};
use crate::error::BuildError;
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
    /// The empty box.
    pub const EMPTY: Self = Self { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY };

    /// True if it contains nothing.
    pub fn is_empty(&self) -> bool {
        !(self.min.cmple(self.max).all())
    }

    /// Extends the box to contain a point. NaN coordinates are ignored.
    pub fn add(&mut self, p: Vec3) {
        self.min = self.min.min(p);
        self.max = self.max.max(p);
    }

    /// Extends the box to contain another box.
    pub fn union(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The eight corners of a box that is not empty.
    pub(crate) fn corners(&self) -> [Vec3; 8] {
        std::array::from_fn(|corner| {
            let part = |axis: usize| match corner >> axis & 1 {
                0 => self.min[axis],
                _ => self.max[axis],
            };
            Vec3::new(part(0), part(1), part(2))
        })
    }

    /// The centre; the origin if the box is empty.
    pub fn center(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { (self.min + self.max) * 0.5 }
    }

    /// Half the size; zero if the box is empty.
    pub fn half_size(&self) -> Vec3 {
        if self.is_empty() { Vec3::ZERO } else { (self.max - self.min) * 0.5 }
    }
}

/// The boxes of a mesh, measured once however many nodes draw it.
#[derive(Clone, Debug, Default)]
struct Measured {
    /// Box of all vertices.
    whole: Aabb,
    /// Slots with a weight above 0, ascending, each with the box of its vertices.
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
        Self { whole, slots: used.collect() }
    }
}

/// Measures the box of every palette row: see [`Rig::slot_bounds`](super::Rig::slot_bounds).
///
/// # Errors
/// If more slots than [`MAX_SHARED_SLOTS`] have to be visited.
pub(crate) fn measure_slots(
    skins: &[Skin],
    offsets: &[usize],
    meshes: &[RigMesh],
) -> Result<Vec<Aabb>, BuildError> {
    let measured = measure_within(skins, offsets, meshes, MAX_SHARED_SLOTS);
    measured.map_err(|needed| {
        let what = format!(
            "the meshes use {needed} slots, counted for each skin that they are drawn with"
        );
        BuildError::Limit { what, needed, limit: MAX_SHARED_SLOTS }
    })
}

fn measure_within(
    skins: &[Skin],
    offsets: &[usize],
    meshes: &[RigMesh],
    limit: u64,
) -> Result<Vec<Aabb>, u64> {
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
    if work > limit {
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
    Ok(boxes)
}

/// The box of a vertex over all morph weights in [0, 1].
fn reach(p: &Primitive, v: usize) -> Aabb {
    #[cfg(test)]
    tests::LOOKED_AT.set(tests::LOOKED_AT.get() + 1);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Affine3x4;
    use crate::mesh::Influences;
    use std::cell::Cell;
    use std::sync::Arc;

    thread_local! {
        /// Number of vertices measured.
        pub(super) static LOOKED_AT: Cell<usize> = const { Cell::new(0) };
    }

    const VERTICES: usize = 50;

    fn mesh() -> Arc<Mesh> {
        let slot = |v: usize| (v % 5) as u16;
        Arc::new(Mesh {
            primitives: vec![Primitive {
                positions: (0..VERTICES).map(|v| [v as f32, -1.0, 0.5]).collect(),
                influences: Influences {
                    per_vertex: 4,
                    joints: (0..VERTICES).flat_map(|v| [slot(v), 5, 0, 0]).collect(),
                    weights: (0..VERTICES).flat_map(|_| [1.0, 0.0, 0.0, 0.0]).collect(),
                },
                ..Primitive::default()
            }],
            ..Mesh::default()
        })
    }

    fn on(mesh: &Arc<Mesh>, skin: usize, rigid_slot: Option<u16>) -> RigMesh {
        RigMesh { node: 0, source: 0, mesh: mesh.clone(), skin, rigid_slot, lod: 0 }
    }

    #[test]
    fn a_mesh_is_measured_once_however_many_nodes_draw_it() {
        let skin = || Skin::new(None, vec![0; 8], vec![Affine3x4::IDENTITY; 8], 1).unwrap();
        let skins = [skin(), skin(), skin()];
        let (a, b) = (mesh(), mesh());
        let mut meshes = Vec::new();
        for i in 0..1000 {
            meshes.push(on(&a, i % 2, None));
            meshes.push(on(&b, 2, Some((i % 8) as u16)));
        }
        LOOKED_AT.set(0);
        let bounds = measure_slots(&skins, &[0, 8, 16], &meshes).unwrap();
        assert_eq!(LOOKED_AT.get(), 2 * VERTICES);
        // Slots 0 to 4 move every fifth vertex each; the other slots have no weights.
        for skin in 0..2 {
            for slot in 0..8 {
                let found = bounds[skin * 8 + slot];
                let (x, last) = (slot as f32, (VERTICES - 5 + slot) as f32);
                let wanted = Aabb { min: Vec3::new(x, -1.0, 0.5), max: Vec3::new(last, -1.0, 0.5) };
                assert_eq!(found, if slot < 5 { wanted } else { Aabb::EMPTY });
            }
        }
        let whole = Aabb {
            min: Vec3::new(0.0, -1.0, 0.5),
            max: Vec3::new(VERTICES as f32 - 1.0, -1.0, 0.5),
        };
        assert!(bounds[16..].iter().all(|b| *b == whole));
    }

    #[test]
    fn slots_of_all_pairs_are_counted_before_they_are_visited() {
        let skin = || Skin::new(None, vec![0; 8], vec![Affine3x4::IDENTITY; 8], 1).unwrap();
        let skins: Vec<Skin> = (0..10).map(|_| skin()).collect();
        let offsets: Vec<usize> = (0..10).map(|s| 8 * s).collect();
        let (a, b) = (mesh(), mesh());
        let pairs = (0..10).flat_map(|s| [on(&a, s, None), on(&b, s, None), on(&a, s, None)]);
        let pairs: Vec<RigMesh> = pairs.collect();
        // Two meshes × ten skins × five slots with a weight.
        let within = measure_within(&skins, &offsets, &pairs, 100);
        assert!(within.is_ok());
        let refused = measure_within(&skins, &offsets, &pairs, 99);
        assert_eq!(refused, Err(100));
    }
}
