//! What a frame does: the clock, worlds, evaluation.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use bevy::ecs::prelude::*;
use bevy::ecs::schedule::InternedScheduleLabel;
use bevy::math::{Affine3A, Mat4};
use bevy::prelude::{App, GlobalTransform, PostUpdate, Time};
use bevy::tasks::ComputeTaskPool;
use phalanx::crowd::InstanceId;
use phalanx::math::Affine3x4;
use tracing::warn;

pub fn add(app: &mut App, schedule: InternedScheduleLabel) {
    app.add_systems(schedule, advance.in_set(PhalanxSystems::Advance));
    app.add_systems(PostUpdate, (set_worlds, evaluate).chain().in_set(PhalanxSystems::Evaluate));
}

/// Moves the clock of the crowd.
pub(crate) fn advance(mut crowd: ResMut<PhalanxCrowd>, time: Res<Time>) {
    if let Err(error) = crowd.crowd.advance(time.delta_secs_f64()) {
        warn!("the crowd stands still: {error}");
    }
}

pub(crate) fn affine(matrix: &Affine3x4) -> Affine3A {
    Affine3A::from_mat4(Mat4::from_cols_array(&matrix.to_cols_array()))
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
        worlds.push(Affine3x4::from_cols_array(&transform.to_matrix().to_cols_array()));
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
