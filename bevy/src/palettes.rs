//! Palettes in Bevy's joint buffer.
//!
//! Bevy's `extract_skins` reserves matrices for every visible `SkinnedMesh` and fills those of joint entities that
//! moved. The children of a character have neither joint entities nor inverse bind matrices, so it only reserves. The
//! system here fills them: the row of the palette below the world transform of this frame, as Bevy keeps matrices of
//! world space, column by column.

use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use bevy::ecs::prelude::*;
use bevy::math::{Affine3A, Mat4, Vec4};
use bevy::pbr::{SkinUniforms, extract_skins};
use bevy::prelude::{App, GlobalTransform};
use bevy::render::sync_world::MainEntity;
use bevy::render::{Extract, ExtractSchedule, RenderApp};
use bevy::tasks::ComputeTaskPool;
use phalanx::crowd::{RigId, Shown};
use phalanx::math::Affine3x4;
use std::ops::Range;

pub fn add(app: &mut App) {
    if let Some(render) = app.get_sub_app_mut(RenderApp) {
        render.add_systems(ExtractSchedule, extract_palettes.after(extract_skins));
    }
}

/// One mesh of one character: rows of the bone buffer to matrices of Bevy's.
struct Job {
    to: usize,
    /// The rows of the full palette that the mesh refers to.
    rows: Range<usize>,
    world: Affine3A,
    /// The rig, and what the instance shows; `None` if the crowd takes it to be in no picture.
    shown: Option<(RigId, Shown)>,
}

/// Matrices that one task writes at least: some 20 µs.
const PER_TASK: usize = 4096;
/// Tasks per thread at most: the pool allocates for each.
const TASKS: usize = 4;

fn extract_palettes(
    skins: Option<ResMut<SkinUniforms>>,
    crowd: Extract<Res<PhalanxCrowd>>,
    characters: Extract<Query<(&PhalanxInstance, &GlobalTransform)>>,
    mut jobs: Local<Vec<Job>>,
) {
    let Some(mut skins) = skins else { return };
    jobs.clear();
    for (instance, transform) in &characters {
        let world = transform.affine();
        let shown = crowd.crowd.shown(instance.instance);
        for (mesh, rows) in &instance.meshes {
            let Some(to) = skins.skin_index(MainEntity::from(*mesh)) else { continue };
            let shown = shown.clone().map(|shown| (instance.rig, shown));
            jobs.push(Job { to: to as usize, rows: rows.clone(), world, shown });
        }
    }
    // The order of places is that of the frame before, unless characters came or went.
    if !jobs.is_sorted_by_key(|job| job.to) {
        jobs.sort_unstable_by_key(|job| job.to);
    }
    // Rows beyond what Bevy has reserved for a mesh, whose skin a game may change, would be those of another.
    let mut end = skins.current_staging_buffer.len();
    for job in jobs.iter_mut().rev() {
        let reserved = end.saturating_sub(job.to);
        job.rows.end = job.rows.end.min(job.rows.start + reserved);
        end = job.to;
    }
    let crowd = &**crowd;
    let mut rest = &mut skins.current_staging_buffer[..];
    let mut jobs = &jobs[..];
    let pool = ComputeTaskPool::get();
    let threads = pool.thread_num();
    if threads <= 1 {
        return write_all(jobs, crowd, rest, 0);
    }
    let all: usize = jobs.iter().map(|job| job.rows.len()).sum();
    let per_task = PER_TASK.max(all.div_ceil(TASKS * threads));
    let mut start = 0;
    pool.scope(|scope| {
        while !jobs.is_empty() {
            let mut count = 0;
            let mut matrices = 0;
            while count < jobs.len() && matrices < per_task {
                matrices += jobs[count].rows.len();
                count += 1;
            }
            let (these, others) = jobs.split_at(count);
            jobs = others;
            let first = these[0].to;
            let end = these[count - 1].to + these[count - 1].rows.len();
            let (_, from) = std::mem::take(&mut rest).split_at_mut(first - start);
            let (out, others) = from.split_at_mut(end - first);
            rest = others;
            start = end;
            scope.spawn(async move {
                #[cfg(feature = "trace")]
                let _span = tracing::info_span!("write palettes").entered();
                write_all(these, crowd, out, first);
            });
        }
    });
}

/// Writes the matrices of meshes; `out` begins with number `first` of the buffer.
fn write_all(jobs: &[Job], crowd: &PhalanxCrowd, out: &mut [Mat4], first: usize) {
    for job in jobs {
        let at = job.to - first;
        write(job, crowd, &mut out[at..at + job.rows.len()]);
    }
}

/// The world transform times rows, as columns.
fn write(job: &Job, crowd: &PhalanxCrowd, out: &mut [Mat4]) {
    let m = job.world.matrix3;
    let [x, y, z] = [m.x_axis.extend(0.0), m.y_axis.extend(0.0), m.z_axis.extend(0.0)];
    let t = job.world.translation.extend(1.0);
    let product = |[a, b, c]: [Vec4; 3]| {
        Mat4::from_cols(
            x * a.x + y * b.x + z * c.x,
            x * a.y + y * b.y + z * c.y,
            x * a.z + y * b.z + z * c.z,
            x * a.w + y * b.w + z * c.w + t,
        )
    };
    let Some((rig, shown)) = &job.shown else {
        // Bevy culls by boxes, which are wider than the crowd's spheres. What is in between is seen by nobody; its bind
        // pose is there so that the motion vectors of the next frame begin near it. But what is too small for the tiers
        // may be seen by Bevy: a point, unless it is smaller than a pixel.
        let tiers = crowd.crowd.tiers();
        let last = tiers.and_then(|all| all.tiers.last()).map_or(0.0, |tier| tier.height);
        let [x, y, z] = if last > 1.0 { [Vec4::ZERO; 3] } else { [x, y, z] };
        out.fill(Mat4::from_cols(x, y, z, t));
        return;
    };
    let bones = crowd.bones.rows();
    let detail = shown.detail.and_then(|n| crowd.crowd.tier_details(*rig).ok()?.nth(n));
    if let Some(full) = detail.and_then(|detail| detail.full_rows()) {
        // A vertex of the level refers to none of the rows that the detail lacks.
        let first = full.partition_point(|&row| (row as usize) < job.rows.start);
        for (number, &row) in full.iter().enumerate().skip(first) {
            let Some(out) = out.get_mut(row as usize - job.rows.start) else { break };
            let [from, to] = [&shown.from, &shown.to].map(|rows| &bones[rows.start + number]);
            *out = product(between(from, to, shown.factor));
        }
        return;
    }
    let rows = |palette: &Range<usize>| &bones[palette.start + job.rows.start..][..out.len()];
    let (from, to) = (rows(&shown.from), rows(&shown.to));
    if shown.from == shown.to {
        for (out, row) in out.iter_mut().zip(from) {
            *out = product(row.rows.map(Vec4::from));
        }
        return;
    }
    for ((out, from), to) in out.iter_mut().zip(from).zip(to) {
        *out = product(between(from, to, shown.factor));
    }
}

fn between(from: &Affine3x4, to: &Affine3x4, factor: f32) -> [Vec4; 3] {
    [0, 1, 2].map(|i| Vec4::from(from.rows[i]).lerp(Vec4::from(to.rows[i]), factor))
}
