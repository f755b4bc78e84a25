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
use phalanx::math::Affine3x4;

pub fn add(app: &mut App) {
    if let Some(render) = app.get_sub_app_mut(RenderApp) {
        render.add_systems(ExtractSchedule, extract_palettes.after(extract_skins));
    }
}

/// One mesh of one character: rows of the bone buffer to matrices of Bevy's.
struct Job {
    to: usize,
    len: usize,
    rows: [usize; 2],
    factor: f32,
    world: Affine3A,
}

/// Matrices that one task writes, about: some 20 µs.
const PER_TASK: usize = 4096;

fn extract_palettes(
    skins: Option<ResMut<SkinUniforms>>,
    crowd: Extract<Res<PhalanxCrowd>>,
    characters: Extract<Query<(&PhalanxInstance, &GlobalTransform)>>,
    mut jobs: Local<Vec<Job>>,
) {
    let Some(mut skins) = skins else { return };
    jobs.clear();
    for (instance, transform) in &characters {
        // An instance that is out of the picture keeps what it showed last.
        let Some(shown) = crowd.crowd.shown(instance.instance) else { continue };
        let world = transform.affine();
        for (mesh, rows) in &instance.meshes {
            let Some(to) = skins.skin_index(MainEntity::from(*mesh)) else { continue };
            jobs.push(Job {
                to: to as usize,
                len: rows.len(),
                rows: [shown.from.start + rows.start, shown.to.start + rows.start],
                factor: shown.factor,
                world,
            });
        }
    }
    // The order of places is that of the frame before, unless characters came or went.
    if !jobs.is_sorted_by_key(|job| job.to) {
        jobs.sort_unstable_by_key(|job| job.to);
    }
    let rows = crowd.bones.rows();
    let mut rest = &mut skins.current_staging_buffer[..];
    let mut start = 0;
    let mut jobs = &jobs[..];
    ComputeTaskPool::get().scope(|scope| {
        while !jobs.is_empty() {
            let mut count = 0;
            let mut matrices = 0;
            while count < jobs.len() && matrices < PER_TASK {
                matrices += jobs[count].len;
                count += 1;
            }
            let (these, others) = jobs.split_at(count);
            jobs = others;
            let first = these[0].to;
            let end = these[count - 1].to + these[count - 1].len;
            let (_, from) = std::mem::take(&mut rest).split_at_mut(first - start);
            let (out, others) = from.split_at_mut(end - first);
            rest = others;
            start = end;
            scope.spawn(async move {
                #[cfg(feature = "trace")]
                let _span = tracing::info_span!("write palettes").entered();
                for job in these {
                    let at = job.to - first;
                    write(job, rows, &mut out[at..at + job.len]);
                }
            });
        }
    });
}

/// The world transform times rows, as columns.
fn write(job: &Job, rows: &[Affine3x4], out: &mut [Mat4]) {
    let m = job.world.matrix3;
    let [x, y, z] = [m.x_axis.extend(0.0), m.y_axis.extend(0.0), m.z_axis.extend(0.0)];
    let t = job.world.translation.extend(1.0);
    let from = &rows[job.rows[0]..][..job.len];
    let product = |[a, b, c]: [Vec4; 3]| {
        Mat4::from_cols(
            x * a.x + y * b.x + z * c.x,
            x * a.y + y * b.y + z * c.y,
            x * a.z + y * b.z + z * c.z,
            x * a.w + y * b.w + z * c.w + t,
        )
    };
    if job.rows[0] == job.rows[1] {
        for (out, row) in out.iter_mut().zip(from) {
            *out = product(row.rows.map(Vec4::from));
        }
        return;
    }
    let to = &rows[job.rows[1]..][..job.len];
    for ((out, from), to) in out.iter_mut().zip(from).zip(to) {
        let between = |i: usize| Vec4::from(from.rows[i]).lerp(Vec4::from(to.rows[i]), job.factor);
        *out = product([between(0), between(1), between(2)]);
    }
}
