//! Boxes around meshes, which Bevy culls and picks by. They follow each pose.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use crate::frame;
use bevy::camera::primitives::Aabb;
use bevy::ecs::prelude::*;
use bevy::math::{Vec3, Vec3A};
use bevy::prelude::{App, PostUpdate};
use phalanx::rig;
use phalanx::runtime::palette_bounds;
use std::ops::Range;

pub fn add(app: &mut App) {
    let systems = (measure, set).chain().after(frame::evaluate);
    app.add_systems(PostUpdate, systems.in_set(PhalanxSystems::Evaluate));
}

fn measure(crowd: Res<PhalanxCrowd>, mut instances: Query<&mut PhalanxInstance>) {
    instances.par_iter_mut().for_each(|mut instance| {
        let instance = instance.bypass_change_detection();
        instance.bounds = of_pose(&crowd, instance)
            .or_else(|| of_all_poses(&crowd, instance))
            .unwrap_or_default();
    });
}

/// The box of the pose that a character shows, in model space. `None` if it shows none.
fn of_pose(crowd: &PhalanxCrowd, instance: &PhalanxInstance) -> Option<Aabb> {
    let shown = crowd.crowd.shown(instance.instance)?;
    let rig = match shown.detail {
        None => crowd.crowd.rig(instance.rig).ok()?,
        Some(detail) => crowd.crowd.tier_details(instance.rig).ok()?.nth(detail)?,
    };
    let of = |rows: Range<usize>| -> Option<rig::Aabb> {
        palette_bounds(rig.slot_bounds(), crowd.bones.rows().get(rows)?).ok()
    };
    let mut held = of(shown.from.clone())?;
    if shown.to != shown.from {
        // Vertices between two poses are on the lines between them.
        held.union(&of(shown.to)?);
    }
    (!held.is_empty()).then(|| {
        let [center, half] = [held.center(), held.half_size()].map(|v| Vec3A::from(v.to_array()));
        Aabb { center, half_extents: half }
    })
}

/// The box of the sphere that holds all poses of what a character plays: until one is evaluated, it may be any.
fn of_all_poses(crowd: &PhalanxCrowd, instance: &PhalanxInstance) -> Option<Aabb> {
    let sphere = crowd.crowd.bounding_sphere(instance.instance).ok()??;
    let center = Vec3A::from(Vec3::from(sphere.center));
    Some(Aabb { center, half_extents: Vec3A::splat(sphere.radius) })
}

fn set(instances: Query<&PhalanxInstance>, mut boxes: Query<&mut Aabb>) {
    for instance in &instances {
        // Meshes of a scene without a palette have places of their own, and Bevy's boxes.
        let posed =
            instance.meshes.iter().filter(|(_, rows)| instance.own_meshes || !rows.is_empty());
        for (mesh, _) in posed {
            if let Ok(mut held) = boxes.get_mut(*mesh) {
                held.set_if_neq(instance.bounds);
            }
        }
    }
}
