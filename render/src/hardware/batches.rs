//! `Batches`: instances as vertex records, grouped into draws.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::super::Scene;
use super::super::draw_list::{DrawList, Lists, Visible, largest_scale, relative};
use super::pipelines::Pass;
use phalanx::gpu::BoneRow;

/// `Instance` of `shaders/character.wgsl`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct InstanceRecord {
    pub world: [[f32; 4]; 3],
    pub tint: [f32; 4],
    pub row: u32,
    pub first_weight: u32,
    /// The palette row at factor 1.
    pub to_row: u32,
    pub size: f32,
    /// Interpolation factor between the two palettes, 0 to 1.
    pub factor: f32,
}

/// `first_weight` of instances that are drawn without their morph targets.
const NO_WEIGHTS: u32 = u32::MAX;

impl InstanceRecord {
    pub const LAYOUT: wgpu::VertexBufferLayout<'static> = wgpu::VertexBufferLayout {
        array_stride: size_of::<Self>() as u64,
        step_mode: wgpu::VertexStepMode::Instance,
        attributes: &wgpu::vertex_attr_array![
            8 => Float32x4, 9 => Float32x4, 10 => Float32x4, 11 => Float32x4,
            12 => Uint32x3, 13 => Float32x2
        ],
    };
}

/// Instances that share one draw per mesh: equal model, detail, winding, page and window.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub model: usize,
    pub detail: usize,
    pub world_mirrors: bool,
    pub page: usize,
    /// The row of the page at which the uniform backend's window starts.
    pub window: u32,
    pub first: u64,
    pub count: u32,
}

impl Batch {
    /// The byte range of the batch's records.
    pub fn bytes(&self) -> Range<u64> {
        let stride = size_of::<InstanceRecord>() as u64;
        self.first * stride..(self.first + u64::from(self.count)) * stride
    }

    /// The dynamic offset of the batch's window.
    pub fn offset(&self) -> u32 {
        let (page, row) = (self.page, self.window);
        BoneRow { page, row }.offset()
    }
}

/// All draws of a picture.
#[derive(Debug)]
pub(super) struct Batches {
    pub bodies: Vec<Batch>,
    pub shadows: Vec<Batch>,
    /// Blended meshes, farthest first: the index of the mesh, and neighbours in that order that one draw shows.
    pub blended: Vec<(usize, Batch)>,
    pub records: Vec<InstanceRecord>,
}

/// Input of batching: the list, and the places of its instances' rows.
#[derive(Clone, Copy)]
pub(super) struct Batching<'a> {
    pub scene: &'a Scene<'a>,
    pub draws: &'a DrawList,
    /// The positions of the ranges that [`readers`] returns, in the same order.
    pub places: &'a [BoneRow],
    /// Rows per window of the uniform backend; `None` for the others, which bind whole pages.
    pub window: Option<usize>,
}

impl Batching<'_> {
    /// Groups the visible instances and fills in their records.
    pub fn run(&self) -> Batches {
        let Lists { bodies, shadows, .. } = &self.draws.lists;
        let (body_places, shadow_places) =
            (self.places).split_at(bodies.len().min(self.places.len()));
        let mut records = Vec::with_capacity(self.places.len());
        Batches {
            bodies: self.batch(bodies, body_places, &mut records),
            shadows: self.batch(shadows, shadow_places, &mut records),
            blended: self.blended(body_places, &mut records),
            records,
        }
    }
}

impl Batches {
    /// Every batch with the pass that draws it.
    pub fn all(&self) -> impl Iterator<Item = (Pass, &Batch)> {
        let bodies = self.bodies.iter().map(|b| (Pass::Body, b));
        bodies.chain(self.shadows.iter().map(|b| (Pass::Shadow, b)))
    }
}

/// The palette rows that the visible instances read, of both palettes of those that are interpolated: of bodies, then
/// of shadows.
pub(super) fn readers(scene: &Scene, draws: &DrawList) -> Vec<Range<usize>> {
    let Lists { bodies, shadows, .. } = &draws.lists;
    let rows = |visible: &Visible| draws.lists.shown(scene, visible).1;
    bodies.iter().chain(shadows).map(rows).collect()
}

impl Batching<'_> {
    fn batch(
        &self,
        list: &[Visible],
        places: &[BoneRow],
        records: &mut Vec<InstanceRecord>,
    ) -> Vec<Batch> {
        let mut order: Vec<(&Visible, BoneRow)> = list.iter().zip(places.iter().copied()).collect();
        // The sort is stable: batches stay front to back. With windows they are in memory order instead.
        let row = |place: &BoneRow| self.window.map(|_| place.row);
        order.sort_by_key(|(v, place)| (v.key(), place.page, row(place)));
        let mut batches: Vec<Batch> = Vec::new();
        for (visible, place) in order {
            let new = self.add(batches.last_mut(), visible, &place, records);
            batches.extend(new);
        }
        batches
    }

    /// Adds the record of an instance: to a batch that it can be drawn together with, or to a new one, which is returned.
    fn add(
        &self,
        last: Option<&mut Batch>,
        visible: &Visible,
        place: &BoneRow,
        records: &mut Vec<InstanceRecord>,
    ) -> Option<Batch> {
        let first = records.len();
        if let Some(batch) = last.filter(|b| self.joins(b, visible, place)) {
            batch.count += 1;
            records.push(self.record(visible, place.row - batch.window));
            return None;
        }
        let window = self.window.map_or(0, |_| place.row);
        records.push(self.record(visible, place.row - window));
        Some(Batch {
            model: visible.model,
            detail: visible.detail,
            world_mirrors: visible.world_mirrors,
            page: place.page,
            window,
            first: first as u64,
            count: 1,
        })
    }

    /// Whether an instance can be drawn together with the instances of a batch that precedes it.
    fn joins(&self, b: &Batch, visible: &Visible, place: &BoneRow) -> bool {
        let (_, rows) = self.draws.lists.shown(self.scene, visible);
        let end = place.row as usize + rows.len();
        let windowed = |rows| place.row >= b.window && end <= b.window as usize + rows;
        (b.model, b.detail, b.world_mirrors) == visible.key()
            && b.page == place.page
            && self.window.is_none_or(windowed)
    }

    /// The draws of blended meshes, in their order. Neighbours of one mesh share a draw.
    fn blended(
        &self,
        places: &[BoneRow],
        records: &mut Vec<InstanceRecord>,
    ) -> Vec<(usize, Batch)> {
        let mut batches: Vec<(usize, Batch)> = Vec::new();
        for blended in &self.draws.lists.blended {
            let visible = self.draws.lists.bodies.get(blended.body);
            let (Some(visible), Some(place)) = (visible, places.get(blended.body)) else {
                continue;
            };
            let last = batches.last_mut().filter(|(mesh, _)| *mesh == blended.mesh);
            let new = self.add(last.map(|(_, batch)| batch), visible, place, records);
            batches.extend(new.map(|batch| (blended.mesh, batch)));
        }
        batches
    }

    /// The record of an instance whose rows begin at `first`, in the page or the window.
    fn record(&self, visible: &Visible, first: u32) -> InstanceRecord {
        let scene = self.scene;
        let Some(instance) = scene.instances.get(visible.instance) else {
            return InstanceRecord::zeroed();
        };
        let world = relative(&instance.world, self.draws.eye.position);
        let (shown, rows) = self.draws.lists.shown(scene, visible);
        let row = |row: u32| first + (row - rows.start as u32);
        InstanceRecord {
            world: world.rows,
            tint: instance.tint,
            row: row(shown.row),
            first_weight: if scene.morph_weights.is_empty() {
                NO_WEIGHTS
            } else {
                instance.morph_offset
            },
            to_row: row(shown.to_row),
            size: instance.bounds.map_or(0.0, |s| s.radius * largest_scale(&world)),
            factor: shown.factor,
        }
    }
}
