//! Bevy's cameras and the maps of its shadows as views of the crowd, for tiers.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use crate::frame;
use bevy::camera::Camera;
use bevy::ecs::prelude::*;
use bevy::light::DirectionalLightShadowMap;
use bevy::light::cascade::Cascades;
use bevy::prelude::{App, GlobalTransform, InheritedVisibility, PostUpdate};
use phalanx::crowd::{InstanceId, View};
use tracing::warn;

pub fn add(app: &mut App) {
    let systems = (set_visible, set_views);
    app.add_systems(PostUpdate, systems.in_set(PhalanxSystems::Evaluate).before(frame::evaluate));
}

/// Characters that are hidden are not evaluated.
fn set_visible(
    mut crowd: ResMut<PhalanxCrowd>,
    changed: Query<
        (&PhalanxInstance, &InheritedVisibility),
        Or<(Changed<InheritedVisibility>, Added<PhalanxInstance>)>,
    >,
    mut buffers: Local<(Vec<InstanceId>, Vec<bool>)>,
) {
    let (instances, visible) = &mut *buffers;
    instances.clear();
    visible.clear();
    for (instance, inherited) in &changed {
        instances.push(instance.instance);
        visible.push(inherited.get());
    }
    if let Err(error) = crowd.crowd.set_visible_many(instances, visible) {
        warn!("characters stay as visible as they were: {error}");
    }
}

/// With tiers, the crowd decides by these which characters it evaluates, and how often.
fn set_views(
    mut crowd: ResMut<PhalanxCrowd>,
    cameras: Query<(&Camera, &GlobalTransform)>,
    lights: Query<&Cascades>,
    shadow_map: Option<Res<DirectionalLightShadowMap>>,
    mut views: Local<Vec<View>>,
) {
    if crowd.crowd.tiers().is_none() {
        return;
    }
    views.clear();
    for (camera, transform) in cameras.iter().filter(|(camera, _)| camera.is_active) {
        let Some(size) = camera.physical_viewport_size() else { continue };
        let clip_from_world = camera.clip_from_view() * transform.to_matrix().inverse();
        views.push(View {
            clip_from_world: clip_from_world.to_cols_array_2d(),
            height: size.y as f32,
            shadows: false,
        });
    }
    let height = shadow_map.map_or(2048.0, |map| map.size as f32);
    for cascade in lights.iter().flat_map(|light| light.cascades.values().flatten()) {
        let clip_from_world = cascade.clip_from_world.to_cols_array_2d();
        views.push(View { clip_from_world, height, shadows: true });
    }
    if let Err(error) = crowd.crowd.set_views(&views) {
        warn!("the crowd keeps its views: {error}");
    }
}
