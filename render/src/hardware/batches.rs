//! `Batches`: instances as vertex records, grouped into draws.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::super::draw_list::{DrawList, Lists, Needs, Visible, largest_scale, relative};
use super::super::view::Eye;
use super::super::{DrawInstance, Scene};
use super::pipelines::Pass;
use phalanx::gpu::BonePlace;

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

/// `first_weight` of instances that are drawn without their morph targets.
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
    /// A batch of one instance, whose record is the next one.
    fn new(visible: &Visible, place: &BonePlace, window: u32, records: usize) -> Self {
        Self {
            model: visible.model,
            detail: visible.detail,
            world_mirrors: visible.world_mirrors,
            page: place.page,
            window,
            first: records as u64,
            count: 1,
        }
    }

    /// The byte range of the batch's records.
    pub fn bytes(&self) -> Range<u64> {
        let stride = size_of::<InstanceRecord>() as u64;
        self.first * stride..(self.first + u64::from(self.count)) * stride
    }

    /// The dynamic offset of the batch's window.
    pub fn offset(&self) -> u32 {
        let (page, row) = (self.page, self.window);
        BonePlace { page, row }.offset()
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

/// What batching needs besides the scene.
pub(super) struct BatchRules<'a> {
    pub needs: &'a Needs,
    /// Rows per window of the uniform backend; `None` for the others, which bind whole pages.
    pub window: Option<usize>,
}

impl Batches {
    /// Groups the visible instances and fills in their records. `places` are the positions of the ranges
    /// that [`readers`] returns, in the same order.
    pub fn new(scene: &Scene, draws: &DrawList, rules: &BatchRules, places: &[BonePlace]) -> Self {
        let Lists {
            bodies, shadows, ..
        } = &draws.lists;
        let (body_places, shadow_places) = places.split_at(bodies.len().min(places.len()));
        let mut records = Vec::with_capacity(places.len());
        let mut batch = |list: &[Visible], places: &[BonePlace]| {
            batch(scene, rules, &draws.eye, list, places, &mut records)
        };
        Self {
            bodies: batch(bodies, body_places),
            shadows: batch(shadows, shadow_places),
            blended: blended(scene, rules, draws, body_places, &mut records),
            records,
        }
    }

    /// Every batch with the pass that draws it.
    pub fn all(&self) -> impl Iterator<Item = (Pass, &Batch)> {
        let bodies = self.bodies.iter().map(|b| (Pass::Body, b));
        bodies.chain(self.shadows.iter().map(|b| (Pass::Shadow, b)))
    }
}

/// The palette rows that the visible instances read: of bodies, then of shadows.
pub(super) fn readers(scene: &Scene, needs: &Needs, draws: &DrawList) -> Vec<Range<usize>> {
    let Lists {
        bodies, shadows, ..
    } = &draws.lists;
    let rows = |visible: &Visible| {
        let count = needs.rows(visible.model, visible.detail);
        let first = match scene.instances.get(visible.instance) {
            Some(instance) if count > 0 => instance.palette_offset as usize,
            _ => 0,
        };
        first..first.saturating_add(count)
    };
    bodies.iter().chain(shadows).map(rows).collect()
}

fn batch(
    scene: &Scene,
    rules: &BatchRules,
    eye: &Eye,
    list: &[Visible],
    places: &[BonePlace],
    records: &mut Vec<InstanceRecord>,
) -> Vec<Batch> {
    let mut order: Vec<(&Visible, BonePlace)> = list.iter().zip(places.iter().copied()).collect();
    // The sort is stable: batches stay front to back. With windows they are in memory order instead.
    let row = |place: &BonePlace| rules.window.map(|_| place.row);
    order.sort_by_key(|(v, place)| (v.key(), place.page, row(place)));
    let mut batches: Vec<Batch> = Vec::new();
    for (visible, place) in order {
        let Some(instance) = scene.instances.get(visible.instance) else {
            continue;
        };
        let window = rules.window.map_or(0, |_| place.row);
        let first_row = match batches
            .last_mut()
            .filter(|b| joins(b, rules, visible, &place))
        {
            Some(batch) => {
                batch.count += 1;
                batch.window
            }
            None => {
                batches.push(Batch::new(visible, &place, window, records.len()));
                window
            }
        };
        records.push(record(scene, eye, instance, place.row - first_row));
    }
    batches
}

/// Whether an instance can be drawn together with those of a batch, which it follows.
fn joins(b: &Batch, rules: &BatchRules, visible: &Visible, place: &BonePlace) -> bool {
    let end = place.row as usize + rules.needs.rows(visible.model, visible.detail);
    let windowed = |rows| place.row >= b.window && end <= b.window as usize + rows;
    (b.model, b.detail, b.world_mirrors) == visible.key()
        && b.page == place.page
        && rules.window.is_none_or(windowed)
}

/// The draws of blended meshes, in their order. Neighbours of one mesh share a draw.
fn blended(
    scene: &Scene,
    rules: &BatchRules,
    draws: &DrawList,
    places: &[BonePlace],
    records: &mut Vec<InstanceRecord>,
) -> Vec<(usize, Batch)> {
    let mut batches: Vec<(usize, Batch)> = Vec::new();
    for blended in &draws.lists.blended {
        let visible = draws.lists.bodies.get(blended.body);
        let (Some(visible), Some(place)) = (visible, places.get(blended.body)) else {
            continue;
        };
        let Some(instance) = scene.instances.get(visible.instance) else {
            continue;
        };
        let window = rules.window.map_or(0, |_| place.row);
        let last = batches.last_mut();
        let first_row = match last
            .filter(|(mesh, b)| *mesh == blended.mesh && joins(b, rules, visible, place))
        {
            Some((_, batch)) => {
                batch.count += 1;
                batch.window
            }
            None => {
                let batch = Batch::new(visible, place, window, records.len());
                batches.push((blended.mesh, batch));
                window
            }
        };
        records.push(record(scene, &draws.eye, instance, place.row - first_row));
    }
    batches
}

fn record(scene: &Scene, eye: &Eye, instance: &DrawInstance, row: u32) -> InstanceRecord {
    let world = relative(&instance.world, eye.position);
    InstanceRecord {
        world: world.rows,
        tint: instance.tint,
        row,
        first_weight: if scene.morph_weights.is_empty() {
            NO_WEIGHTS
        } else {
            instance.morph_offset
        },
        size: instance
            .bounds
            .map_or(0.0, |s| s.radius * largest_scale(&world)),
        padding: 0,
    }
}
