//! Bevy's cameras and the maps of its shadows as views of the crowd, for tiers.

use crate::PhalanxSystems;
use crate::character::PhalanxInstance;
use crate::crowd::PhalanxCrowd;
use crate::frame;
use crate::joints::Hung;
use bevy::camera::primitives::CUBE_MAP_FACES;
use bevy::camera::visibility::VisibilityPlugin;
use bevy::camera::{Camera, CameraUpdateSystems};
use bevy::ecs::prelude::*;
use bevy::light::cascade::Cascades;
use bevy::light::{
    DirectionalLight, DirectionalLightShadowMap, PointLight, PointLightShadowMap,
    SimulationLightSystems, SpotLight, spot_light_clip_from_view, spot_light_world_from_view,
};
use bevy::math::Mat4;
use bevy::prelude::{App, Camera2d, GlobalTransform, InheritedVisibility, PostUpdate};
use phalanx::crowd::{InstanceId, View};
use std::f32::consts::FRAC_PI_2;
use tracing::warn;

pub fn add(app: &mut App) {
    let set_views = set_views
        .after(Hung)
        .after(CameraUpdateSystems)
        .after(SimulationLightSystems::UpdateDirectionalLightCascades);
    app.add_systems(PostUpdate, set_views.in_set(PhalanxSystems::Evaluate).before(frame::evaluate));
}

/// Without Bevy's plugin, as on a server, nobody says what is visible, and all characters are.
pub fn finish(app: &mut App) {
    if app.is_plugin_added::<VisibilityPlugin>() {
        let set_visible = set_visible.in_set(PhalanxSystems::Evaluate).before(frame::evaluate);
        app.add_systems(PostUpdate, set_visible);
    }
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

/// With tiers, the crowd decides by these which characters it evaluates, and how often. Other pictures, such as those of
/// reflection probes, show what cameras and lights have made it evaluate.
fn set_views(
    mut crowd: ResMut<PhalanxCrowd>,
    cameras: Query<(&Camera, &GlobalTransform), Without<Camera2d>>,
    suns: Query<(&DirectionalLight, &Cascades)>,
    spots: Query<(&SpotLight, &GlobalTransform, &InheritedVisibility)>,
    points: Query<(&PointLight, &GlobalTransform, &InheritedVisibility)>,
    sizes: (Option<Res<DirectionalLightShadowMap>>, Option<Res<PointLightShadowMap>>),
    mut views: Local<Vec<View>>,
) {
    if crowd.crowd.tiers().is_none() {
        return;
    }
    views.clear();
    let view = |clip_from_world: Mat4, height: f32, shadows: bool| View {
        clip_from_world: clip_from_world.to_cols_array_2d(),
        height,
        shadows,
    };
    for (camera, transform) in cameras.iter().filter(|(camera, _)| camera.is_active) {
        let Some(size) = camera.physical_viewport_size().filter(|size| size.y > 0) else {
            continue;
        };
        let clip_from_world = camera.clip_from_view() * transform.to_matrix().inverse();
        views.push(view(clip_from_world, size.y as f32, false));
    }
    // Without a camera that draws, no map of a shadow is drawn.
    if !views.is_empty() {
        let height = sizes.0.map_or(2048.0, |map| map.size as f32);
        for (_, cascades) in suns.iter().filter(|(light, _)| light.shadow_maps_enabled) {
            let all = cascades.cascades.values().flatten();
            views.extend(all.map(|cascade| view(cascade.clip_from_world, height, true)));
        }
        // Bevy draws the maps of spot lights in the size of those of suns.
        let shining =
            spots.iter().filter(|(light, _, seen)| light.shadow_maps_enabled && seen.get());
        for (light, transform, _) in shining {
            let clip_from_view =
                spot_light_clip_from_view(light.outer_angle, light.shadow_map_near_z);
            let world_from_view = Mat4::from(spot_light_world_from_view(transform));
            views.push(view(clip_from_view * world_from_view.inverse(), height, true));
        }
        let height = sizes.1.map_or(1024.0, |map| map.size as f32);
        let shining =
            points.iter().filter(|(light, _, seen)| light.shadow_maps_enabled && seen.get());
        for (light, transform, _) in shining {
            let near = light.shadow_map_near_z;
            let clip_from_view = Mat4::perspective_infinite_reverse_rh(FRAC_PI_2, 1.0, near);
            views.extend(CUBE_MAP_FACES.iter().map(|face| {
                let eye = transform.translation();
                let view_from_world = Mat4::look_to_rh(eye, face.target, face.up);
                view(clip_from_view * view_from_world, height, true)
            }));
        }
    }
    let set = match cameras.is_empty() {
        true => crowd.crowd.clear_views(),
        false => crowd.crowd.set_views(&views),
    };
    if let Err(error) = set {
        warn!("the crowd keeps its views: {error}");
    }
}
