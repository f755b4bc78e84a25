//! What a frame does: the clock, worlds and views, evaluation, bounds.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use bevy::camera::primitives::Aabb;
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::InternedScheduleLabel;
use bevy::math::{Affine3A, Vec3, Vec3A};
use bevy::prelude::{App, GlobalTransform, PostUpdate, Time};
use bevy::tasks::ComputeTaskPool;
use phalanx::crowd::InstanceId;
use phalanx::math::Affine3x4;
use tracing::warn;

pub fn add(app: &mut App, schedule: InternedScheduleLabel) {
    app.add_systems(schedule, advance.in_set(PhalanxSystems::Advance));
    app.add_systems(
        PostUpdate,
        (set_worlds, evaluate, set_bounds).chain().in_set(PhalanxSystems::Evaluate),
    );
}

/// Moves the clock of the crowd.
pub(crate) fn advance(mut crowd: ResMut<PhalanxCrowd>, time: Res<Time>) {
    if let Err(error) = crowd.crowd.advance(time.delta_secs_f64()) {
        warn!("the crowd stands still: {error}");
    }
}

pub(crate) fn rows(transform: &Affine3A) -> Affine3x4 {
    let [x, y, z] = [transform.matrix3.x_axis, transform.matrix3.y_axis, transform.matrix3.z_axis];
    let t = transform.translation;
    Affine3x4 { rows: [[x.x, y.x, z.x, t.x], [x.y, y.y, z.y, t.y], [x.z, y.z, z.z, t.z]] }
}

/// The inverse of [`rows`].
pub(crate) fn affine(matrix: &Affine3x4) -> Affine3A {
    let [x, y, z] = matrix.rows;
    Affine3A::from_cols_array_2d(&[
        [x[0], y[0], z[0]],
        [x[1], y[1], z[1]],
        [x[2], y[2], z[2]],
        [x[3], y[3], z[3]],
    ])
}

/// World transforms that changed in this frame.
pub(crate) fn set_worlds(
    mut crowd: ResMut<PhalanxCrowd>,
    moved: Query<
        (&PhalanxInstance, &GlobalTransform),
        Or<(Changed<GlobalTransform>, Added<PhalanxInstance>)>,
    >,
    mut buffers: Local<(Vec<InstanceId>, Vec<Affine3x4>)>,
) {
    let (instances, worlds) = &mut *buffers;
    instances.clear();
    worlds.clear();
    for (instance, transform) in &moved {
        instances.push(instance.instance);
        worlds.push(rows(&transform.affine()));
    }
    if crowd.crowd.set_worlds(instances, worlds).is_ok() {
        return;
    }
    // One that is refused leaves all as they were.
    for (instance, world) in instances.iter().zip(worlds.iter()) {
        if let Err(error) = crowd.crowd.set_world(*instance, *world) {
            warn!("a character stays where it was: {error}");
        }
    }
}

/// Writes the palettes of the frame, on Bevy's pool.
pub(crate) fn evaluate(mut crowd: ResMut<PhalanxCrowd>) {
    let crowd = &mut *crowd;
    let pool = ComputeTaskPool::get();
    let (mut schedule, memory) = crowd.crowd.schedule_into(&mut crowd.bones);
    let parts = schedule.parts(pool.thread_num().max(1), memory);
    if parts.len() <= 1 {
        parts.for_each(|part| part());
        return;
    }
    pool.scope(|scope| {
        for part in parts {
            scope.spawn(async move {
                // Tasks run beside the span of the system.
                #[cfg(feature = "trace")]
                let _span = tracing::info_span!("evaluate part").entered();
                part();
            });
        }
    });
}

/// Boxes around the meshes, which Bevy culls by.
fn set_bounds(
    crowd: Res<PhalanxCrowd>,
    instances: Query<&PhalanxInstance>,
    mut boxes: Query<&mut Aabb>,
) {
    for instance in &instances {
        let Ok(Some(sphere)) = crowd.crowd.bounding_sphere(instance.instance) else { continue };
        let bounds = Aabb {
            center: Vec3A::from(Vec3::from(sphere.center)),
            half_extents: Vec3A::splat(sphere.radius),
        };
        for (mesh, _) in &instance.meshes {
            if let Ok(mut old) = boxes.get_mut(*mesh)
                && *old != bounds
            {
                *old = bounds;
            }
        }
    }
}
