//! A mesh on a rig, five instances of it on a device, and what the CPU skinning job makes of them.

use crate::support::{bones, crowd_of};
use phalanx::crowd::BoneBuffer;
use phalanx::gpu::{BoneRow, Gpu, GpuBoneBuffer, PaletteBackend};
use phalanx::math::Affine3x4;
use phalanx::mesh::Primitive;
use phalanx::rig::Rig;
use phalanx::runtime::{LerpPaletteJob, SkinningJob};
use std::ops::Range;
use std::sync::Arc;

pub const INSTANCES: usize = 5;

/// Morph weights of something else that stand before each instance's.
pub const STRANGERS: u32 = 2;

pub struct Subject {
    pub rig: Arc<Rig>,
    pub primitive: Primitive,
    /// The rows of the mesh's skin in an instance's palette.
    pub slots: Range<usize>,
    /// The farthest coordinate of the mesh, in metres.
    pub size: f32,
}

impl Subject {
    pub fn new(rig: Arc<Rig>, primitive: Primitive, slots: Range<usize>) -> Self {
        let far = |p: &[f32; 3]| p.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        Self {
            size: primitive.positions.iter().map(far).fold(0.0, f32::max),
            rig,
            primitive,
            slots,
        }
    }

    /// The skinned meshes of a file.
    pub fn of_file(rig: &Arc<Rig>) -> Vec<Self> {
        let skinned = rig.meshes().iter().filter(|m| m.rigid_slot.is_none());
        let primitives = skinned.flat_map(|m| m.mesh.primitives.iter().map(move |p| (m.skin, p)));
        primitives
            .map(|(skin, primitive)| {
                let first = rig.palette_offset(skin);
                let slots = first..first + rig.skins()[skin].len();
                Self::new(rig.clone(), primitive.clone(), slots)
            })
            .collect()
    }

    pub fn targets(&self) -> usize {
        self.primitive.targets.len()
    }
}

/// Vertices that the CPU skinning job has computed.
pub struct Skinned {
    pub positions: Vec<[f32; 3]>,
    pub normals: Vec<[f32; 3]>,
    pub tangents: Vec<[f32; 4]>,
}

/// A subject's instances with their rows on the device.
pub struct Staged<'a> {
    pub subject: &'a Subject,
    pub bones: GpuBoneBuffer,
    pub places: Vec<BoneRow>,
    /// The instances' ranges in the frame.
    pub ranges: Vec<Range<usize>>,
    /// Morph weights of all instances, each after its strangers.
    pub weights: Vec<f32>,
    palettes: Vec<Vec<Affine3x4>>,
}

impl<'a> Staged<'a> {
    pub fn new(gpu: &Gpu, backend: PaletteBackend, subject: &'a Subject) -> Self {
        let (mut crowd, all, _) = crowd_of(std::slice::from_ref(&subject.rig), INSTANCES);
        let mut heap = BoneBuffer::new();
        crowd.evaluate(&mut heap);
        let palette = |&id| {
            let rows = &heap.rows()[crowd.palette_range(id).expect("it is shown")];
            rows[subject.slots.clone()].to_vec()
        };
        let palettes = all.iter().map(palette).collect();
        let mut bones = bones(gpu, backend);
        bones.evaluate(&mut crowd, gpu).expect("the device works");
        let range = |&id| crowd.palette_range(id).expect("it is shown");
        let ranges: Vec<_> = all.iter().map(range).collect();
        let place = |range| bones.locate(range).expect("it is on the device");
        let places = ranges.iter().map(place);
        let weight = |i: usize, t: usize| ((i * 5 + t * 3) % 7) as f32 / 6.0 - 0.25;
        let of_instance = |i: usize| {
            let own = (0..subject.targets()).map(move |t| weight(i, t));
            [9.0; STRANGERS as usize].into_iter().chain(own)
        };
        Self {
            subject,
            places: places.collect(),
            ranges,
            bones,
            weights: (0..INSTANCES).flat_map(of_instance).collect(),
            palettes,
        }
    }

    /// Morph weights from one instance to the next.
    pub fn stride(&self) -> u32 {
        STRANGERS + self.subject.targets() as u32
    }

    /// An instance by the CPU skinning job, from a palette that was evaluated into heap memory.
    pub fn by_the_job(&self, instance: usize) -> Skinned {
        self.skinned(instance, &self.palettes[instance])
    }

    /// An instance between its palette and that of another, by the CPU jobs.
    pub fn between(&self, instance: usize, other: usize, factor: f32) -> Skinned {
        let mut palette = self.palettes[instance].clone();
        LerpPaletteJob {
            from: &self.palettes[instance],
            to: &self.palettes[other],
            factor,
            output: &mut palette,
        }
        .run()
        .expect("a sound factor");
        self.skinned(instance, &palette)
    }

    fn skinned(&self, instance: usize, palette: &[Affine3x4]) -> Skinned {
        let p = &self.subject.primitive;
        let stride = self.stride() as usize;
        let first = instance * stride + STRANGERS as usize;
        let mut out = Skinned {
            positions: vec![[0.0; 3]; p.positions.len()],
            normals: vec![[0.0; 3]; p.normals.len()],
            tangents: vec![[0.0; 4]; p.tangents.len()],
        };
        SkinningJob {
            primitive: p,
            palette,
            // Without influences the first slot transforms it.
            rigid: palette[0],
            morph_weights: &self.weights[first..first + self.subject.targets()],
            positions: &mut out.positions,
            normals: &mut out.normals,
            tangents: &mut out.tangents,
        }
        .run()
        .expect("a sound mesh");
        out
    }
}
