//! Instances as vertex records, grouped into draws.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::super::Scene;
use super::super::plan::{Lists, Needs, Plan, Visible, largest_scale, relative};
use super::super::view::Eye;
use super::pipelines::Pass;
use crate::gpu::{Gpu, GpuError, Pages};

/// `Instance` of `shaders/character.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct InstanceRecord {
    pub world: [[f32; 4]; 3],
    pub tint: [f32; 4],
    pub row: u32,
    pub first_weight: u32,
    pub size: f32,
    pub padding: u32,
}

/// The first weight of instances that are drawn without their morph targets.
const NO_WEIGHTS: u32 = u32::MAX;

impl InstanceRecord {
    pub const LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
        array_stride: size_of::<Self>() as u64,
        step_mode: wgpu::VertexStepMode::Instance,
        attributes: &wgpu::vertex_attr_array![
            8 => Float32x4, 9 => Float32x4, 10 => Float32x4, 11 => Float32x4,
            12 => Uint32x2, 13 => Float32
        ],
    };
}

/// Instances that one draw per mesh covers: equal model, detail, winding and page.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub model: usize,
    pub detail: usize,
    pub world_mirrors: bool,
    pub rows_mirror: bool,
    pub page: u32,
    pub first: u64,
    pub count: u32,
}

impl Batch {
    /// The bytes of the batch's records.
    pub fn bytes(&self) -> Range<u64> {
        let stride = size_of::<InstanceRecord>() as u64;
        self.first * stride..(self.first + u64::from(self.count)) * stride
    }
}

/// All draws of a picture.
#[derive(Debug)]
pub(super) struct Batches {
    pub bodies: Vec<Batch>,
    pub shadows: Vec<Batch>,
    pub records: Vec<InstanceRecord>,
    pub pages: Pages,
}

impl Batches {
    /// Plans pages for the visible instances and fills in their records.
    pub fn new(gpu: &Gpu, scene: &Scene, needs: &Needs, plan: &Plan) -> Result<Self, GpuError> {
        let Lists {
            bodies, shadows, ..
        } = &plan.lists;
        let readers: Vec<Range<u32>> = (bodies.iter())
            .chain(shadows)
            .map(|v| rows(scene, needs, v))
            .collect();
        let pages = Pages::plan(&readers, gpu.page_rows())?;
        let (body_pages, shadow_pages) = pages
            .of_reader
            .split_at(bodies.len().min(pages.of_reader.len()));
        let mut records = Vec::with_capacity(readers.len());
        let mut batch = |list: &[Visible], page_of: &[u32]| {
            batch(scene, needs, &plan.eye, list, page_of, &pages, &mut records)
        };
        let bodies = batch(bodies, body_pages);
        let shadows = batch(shadows, shadow_pages);
        Ok(Self {
            bodies,
            shadows,
            records,
            pages,
        })
    }

    /// Every batch with the pass that draws it.
    pub fn all(&self) -> impl Iterator<Item = (Pass, &Batch)> {
        let bodies = self.bodies.iter().map(|b| (Pass::Body, b));
        bodies.chain(self.shadows.iter().map(|b| (Pass::Shadow, b)))
    }
}

/// The palette rows that a visible instance reads.
fn rows(scene: &Scene, needs: &Needs, visible: &Visible) -> Range<u32> {
    let count = needs.rows(visible.model);
    let first = match scene.instances.get(visible.instance) {
        Some(instance) if count > 0 => instance.palette_offset,
        _ => 0,
    };
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    first..first.saturating_add(count)
}

fn batch(
    scene: &Scene,
    needs: &Needs,
    eye: &Eye,
    list: &[Visible],
    page_of: &[u32],
    pages: &Pages,
    records: &mut Vec<InstanceRecord>,
) -> Vec<Batch> {
    let mut order: Vec<(&Visible, u32)> = list.iter().zip(page_of.iter().copied()).collect();
    // Stable: near instances stay first within a batch.
    order.sort_by_key(|(v, page)| (v.key(), *page));
    let mut batches: Vec<Batch> = Vec::new();
    for (visible, page) in order {
        let Some(instance) = scene.instances.get(visible.instance) else {
            continue;
        };
        let world = relative(&instance.world, eye.position);
        let start = pages.rows.get(page as usize).map_or(0, |r| r.start);
        let first = records.len() as u64;
        records.push(InstanceRecord {
            world: world.rows,
            tint: instance.tint,
            row: rows(scene, needs, visible).start.saturating_sub(start),
            first_weight: if scene.morph_weights.is_empty() {
                NO_WEIGHTS
            } else {
                instance.morph_offset
            },
            size: instance
                .bounds
                .map_or(0.0, |s| s.radius * largest_scale(&world)),
            padding: 0,
        });
        match batches.last_mut() {
            Some(b)
                if (b.model, b.detail, b.world_mirrors, b.rows_mirror) == visible.key()
                    && b.page == page =>
            {
                b.count += 1;
            }
            _ => batches.push(Batch {
                model: visible.model,
                detail: visible.detail,
                world_mirrors: visible.world_mirrors,
                rows_mirror: visible.rows_mirror,
                page,
                first,
                count: 1,
            }),
        }
    }
    batches
}
