//! Levels of detail that tiers choose: a character's children show the meshes of its level.
//!
//! Meshes of every level refer to the rows of the full palette. A reduced palette has fewer; the system that writes
//! palettes puts them where the full one has them.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use crate::frame;
use crate::loader::{PhalanxRig, RigSurface};
use crate::morphs::{self, Morphed};
use bevy::asset::{Assets, Handle};
use bevy::ecs::prelude::*;
use bevy::ecs::query::QueryItem;
use bevy::mesh::{Mesh3d, mark_3d_meshes_as_changed_if_their_assets_changed};
use bevy::pbr::{MeshMaterial3d, StandardMaterial};
use bevy::prelude::{App, PostUpdate, ReflectComponent, ReflectDefault};
use bevy::reflect::Reflect;
use phalanx::crowd::{Crowd, InstanceId};
use std::sync::Arc;

pub fn add(app: &mut App) {
    // Bevy chooses pipelines of meshes that have changed after that system.
    let choose = choose
        .in_set(PhalanxSystems::Evaluate)
        .after(frame::evaluate)
        .before(mark_3d_meshes_as_changed_if_their_assets_changed);
    app.register_type::<RigMaterial>().add_systems(PostUpdate, choose);
}

/// The surfaces of a level, in order.
pub fn of_level(rig: &PhalanxRig, level: usize) -> impl Iterator<Item = &RigSurface> {
    rig.surfaces.iter().filter(move |surface| surface.lod == level)
}

/// How many rows each child needs, so that it can show the meshes of any level.
pub fn children(rig: &PhalanxRig) -> Vec<usize> {
    let mut rows = Vec::new();
    for level in 0..rig.rig.lod_count() {
        for (child, surface) in of_level(rig, level).enumerate() {
            if child == rows.len() {
                rows.push(0);
            }
            rows[child] = surface.rows.len().max(rows[child]);
        }
    }
    rows
}

/// The level that an instance shows in this frame; `None` if it shows nothing.
fn shown(crowd: &Crowd, instance: InstanceId) -> Option<usize> {
    let Some(number) = crowd.shown(instance)?.detail else { return Some(0) };
    Some(crowd.tier_details(instance.rig()).ok()?.nth(number)?.detail_level())
}

/// The material of the rig for a child that the plugin spawned. The child has it, unless the game has put another in its
/// place. By this component children that come with a saved scene are known.
#[derive(Component, Reflect, Clone, Default)]
#[reflect(Component, Default, Clone)]
pub struct RigMaterial(Handle<StandardMaterial>);

/// What a child draws.
pub type Drawn = (
    &'static mut Mesh3d,
    Option<&'static mut MeshMaterial3d<StandardMaterial>>,
    &'static mut RigMaterial,
);

/// What a new child draws. One that is left over has a mesh that is nowhere.
pub fn drawn(surface: Option<&RigSurface>) -> impl Bundle {
    let mesh = surface.map(|surface| surface.mesh.clone()).unwrap_or_default();
    let material = surface.map(|surface| surface.material.clone()).unwrap_or_default();
    (Mesh3d(mesh), MeshMaterial3d(material.clone()), RigMaterial(material))
}

/// Lets a child draw another surface, in the material of the game if that has put one in the place of the rig's.
pub fn show(
    (mut mesh, material, mut of_rig): QueryItem<'_, '_, Drawn>,
    surface: Option<&RigSurface>,
) {
    mesh.0 = surface.map(|surface| surface.mesh.clone()).unwrap_or_default();
    let Some(surface) = surface else { return };
    if let Some(mut material) = material.filter(|material| material.0 == of_rig.0) {
        material.0 = surface.material.clone();
    }
    of_rig.0 = surface.material.clone();
}

pub fn choose(
    mut commands: Commands,
    crowd: Res<PhalanxCrowd>,
    assets: Res<Assets<PhalanxRig>>,
    mut characters: Query<(&mut PhalanxInstance, Has<Morphed>)>,
    mut meshes: Query<Drawn>,
    mut reduced: Local<bool>,
) {
    let crowd = &crowd.crowd;
    let details = crowd.tiers().is_some_and(|all| all.tiers.iter().any(|t| t.detail.is_some()));
    // One more time when they are gone, back to the finest.
    if !std::mem::replace(&mut *reduced, details) && !details {
        return;
    }
    for (mut instance, morphed) in &mut characters {
        let Some(level) = shown(crowd, instance.id()) else { continue };
        if level == instance.level || !instance.own_meshes {
            continue;
        }
        // A changed file whose setup has failed has other meshes than the rig that goes on.
        let Some(rig) = assets.get(instance.asset) else { continue };
        if !crowd.rig(instance.rig).is_ok_and(|own| Arc::ptr_eq(own, &rig.rig)) {
            continue;
        }
        let instance = &mut *instance;
        instance.level = level;
        let mut surfaces = of_level(rig, level);
        for (child, rows) in &mut instance.meshes {
            let surface = surfaces.next();
            let Ok(drawn) = meshes.get_mut(*child) else { continue };
            show(drawn, surface);
            *rows = surface.map_or(0..0, |surface| surface.rows.clone());
            if morphed {
                morphs::follow(&mut commands.entity(*child), rig, surface);
            }
        }
    }
}
