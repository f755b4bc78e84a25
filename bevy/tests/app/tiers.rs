//! Tiers by Bevy's cameras and shadows, levels of detail, and boxes that hold what is drawn.

use crate::common;
use crate::pictures::save;
use bevy::camera::RenderTarget;
use bevy::camera::primitives::Aabb;
use bevy::camera::visibility::ViewVisibility;
use bevy::math::Vec3A;
use bevy::prelude::*;
use bevy_phalanx::phalanx::crowd::{Tier, TierDetail, Tiers};
use bevy_phalanx::{
    PhalanxCharacter, PhalanxCrowd, PhalanxInstance, PhalanxPlayer, PhalanxRig, RigSettings,
};

/// Mannequins in a row away from the camera, and one behind it.
fn app(tiers: Tiers, places: &[Vec3]) -> Option<(App, Vec<Entity>)> {
    let mut app = common::app(&common::models()?);
    common::scene(&mut app, Vec3::new(0.0, 1.5, 4.0), Vec3::new(0.0, 1.0, 0.0));
    let world = app.world_mut();
    world.resource_mut::<PhalanxCrowd>().crowd.set_tiers(Some(tiers)).expect("valid tiers");
    let lods = ["mannequin_lod1.glb", "mannequin_lod2.glb"].map(str::to_owned).to_vec();
    let assets = world.resource::<AssetServer>().clone();
    let rig: Handle<PhalanxRig> = assets
        .load_builder()
        .with_settings(move |settings: &mut RigSettings| settings.lods = lods.clone())
        .load("mannequin.glb");
    let mut all = Vec::new();
    for place in places {
        let mut player = PhalanxPlayer::default();
        player.play("Run").repeat();
        let place = Transform::from_translation(*place);
        all.push(world.spawn((PhalanxCharacter(rig.clone()), player, place)).id());
    }
    common::until(&mut app, "the characters are bound", |world| {
        world.query::<&PhalanxInstance>().iter(world).count() == places.len()
    });
    for _ in 0..4 {
        app.update();
    }
    Some((app, all))
}

fn tier(app: &App, entity: Entity) -> Option<usize> {
    let crowd = app.world().resource::<PhalanxCrowd>();
    crowd.crowd.tier(crowd.instance(entity).expect("bound"))
}

#[test]
fn tiers_follow_cameras_and_levels_follow_tiers() {
    let detail = |level| Some(TierDetail { level, ..TierDetail::default() });
    let tiers = Tiers {
        tiers: vec![
            Tier { height: 60.0, ..Tier::default() },
            Tier { height: 20.0, detail: detail(1), ..Tier::default() },
            Tier { height: 0.5, detail: detail(2), rate: 2, interpolate: true, ..Tier::default() },
        ],
        ..Tiers::default()
    };
    let places = [0.0, -8.0, -40.0, 20.0].map(|z| Vec3::new(0.02 * z, 0.0, z));
    let Some((mut app, all)) = app(tiers, &places) else { return };
    let found: Vec<Option<usize>> = all.iter().map(|&e| tier(&app, e)).collect();
    assert_eq!(found, [Some(0), Some(1), Some(2), None], "one is behind the camera");
    // The meshes are those of the levels.
    let world = app.world_mut();
    let rigs = world.resource::<Assets<PhalanxRig>>();
    let (_, rig) = rigs.iter().next().expect("loaded");
    for (level, &entity) in all.iter().take(3).enumerate() {
        let expected: Vec<_> =
            rig.surfaces.iter().filter(|s| s.lod == level).map(|s| s.mesh.clone()).collect();
        let children = world.get::<Children>(entity).expect("meshes");
        let shown: Vec<_> = children
            .iter()
            .filter_map(|child| world.get::<Mesh3d>(child))
            .map(|mesh| mesh.0.clone())
            .filter(|mesh| *mesh != Handle::default())
            .collect();
        assert_eq!(shown, expected, "level {level}");
    }
    save("levels.png", &common::picture(&mut app));
    // A camera that turns to the one behind shows it in the same frame.
    let world = app.world_mut();
    let mut cameras = world.query_filtered::<&mut Transform, With<Camera>>();
    cameras.single_mut(world).expect("one camera").look_at(Vec3::new(0.4, 1.0, 20.0), Vec3::Y);
    app.update();
    assert_eq!(tier(&app, all[3]), Some(1));
    assert_eq!(tier(&app, all[0]), None);
    // Hidden ones, and all without an active camera, are in no tier.
    app.world_mut().entity_mut(all[3]).insert(Visibility::Hidden);
    app.update();
    assert_eq!(tier(&app, all[3]), None);
    app.world_mut().entity_mut(all[3]).insert(Visibility::Inherited);
    app.update();
    assert_eq!(tier(&app, all[3]), Some(1));
    let world = app.world_mut();
    world.query::<&mut Camera>().single_mut(world).expect("one").is_active = false;
    app.update();
    assert_eq!(all.iter().filter_map(|&e| tier(&app, e)).count(), 0);
}

#[test]
fn shadows_of_characters_out_of_the_picture_stay() {
    let places = [0.0, 6.0, 200.0].map(|z| Vec3::new(0.0, 0.0, z));
    let Some((mut app, all)) = app(Tiers::default(), &places) else { return };
    assert_eq!(tier(&app, all[1]), None, "behind the camera");
    let light = PointLight { shadow_maps_enabled: true, ..PointLight::default() };
    let lamp = app.world_mut().spawn((light, Transform::from_xyz(0.0, 2.0, 9.0))).id();
    app.update();
    assert!(tier(&app, all[1]).is_some(), "a lamp behind it throws its shadow");
    app.world_mut().entity_mut(lamp).despawn();
    app.update();
    assert_eq!(tier(&app, all[1]), None);
    // Of one that is far behind the camera a low sun throws the shadow into the picture, a high one does not.
    for (sun, falls) in [(Vec3::new(0.0, 0.01, 1.0), true), (Vec3::new(0.0, 1.0, 0.01), false)] {
        let world = app.world_mut();
        let mut suns = world.query::<(&mut DirectionalLight, &mut Transform)>();
        for (mut light, mut place) in suns.iter_mut(world) {
            light.shadow_maps_enabled = true;
            *place = Transform::from_translation(sun).looking_at(Vec3::ZERO, Vec3::Y);
        }
        app.update();
        app.update();
        assert_eq!(tier(&app, all[2]).is_some(), falls, "the sun at {sun}");
    }
}

/// Each character whose evaluated box is in the picture is visible to Bevy, and Bevy leaves the boxes alone.
#[test]
fn boxes_hold_the_meshes_at_the_edges_of_the_picture() {
    let places: Vec<Vec3> =
        (0..41).map(|i| Vec3::new(0.25 * (i - 20) as f32, 0.0, -0.2 * i as f32)).collect();
    let tiers = Tiers { tiers: vec![Tier { height: 4.0, ..Tier::default() }], ..Tiers::default() };
    let Some((mut app, all)) = app(tiers, &places) else { return };
    let mut exact = 0;
    for _ in 0..20 {
        app.update();
        let world = app.world();
        let crowd = world.resource::<PhalanxCrowd>();
        for &entity in &all {
            let instance = crowd.instance(entity).expect("bound");
            let evaluated = crowd.crowd.bounds(instance).expect("an instance");
            let children = world.get::<Children>(entity).expect("meshes");
            for child in children.iter() {
                let Some(held) = world.get::<Aabb>(child) else { continue };
                let low = Vec3A::from(evaluated.min.to_array());
                let high = Vec3A::from(evaluated.max.to_array());
                match crowd.crowd.tier(instance) {
                    // Evaluated in every frame: the box of the pose.
                    Some(0) => {
                        assert!(held.min().abs_diff_eq(low, 1e-4), "{held:?} {evaluated:?}");
                        assert!(held.max().abs_diff_eq(high, 1e-4), "{held:?} {evaluated:?}");
                        exact += 1;
                    }
                    // Not evaluated: the box of all poses.
                    None => {
                        assert!(held.min().cmple(low + 1e-4).all(), "{held:?} {evaluated:?}");
                        assert!(held.max().cmpge(high - 1e-4).all(), "{held:?} {evaluated:?}");
                    }
                    Some(_) => {}
                }
                // In the middle of the picture: drawn.
                let x = places[all.iter().position(|e| *e == entity).expect("listed")].x;
                let seen = world.get::<ViewVisibility>(child).expect("a mesh").get();
                assert!(seen || x.abs() > 1.0, "{entity} at {x} is not drawn");
            }
        }
    }
    assert!(exact > 20, "{exact} boxes are those of poses");
}

#[test]
fn a_flat_camera_is_no_view() {
    let Some((mut app, all)) = app(Tiers::default(), &[Vec3::new(0.0, 0.0, 60.0)]) else { return };
    assert_eq!(tier(&app, all[0]), None, "behind the camera");
    let image = RenderTarget::Image(common::image(&mut app).into());
    app.world_mut().spawn((Camera2d, Camera { order: 1, ..default() }, image));
    (0..3).for_each(|_| app.update());
    assert_eq!(tier(&app, all[0]), None);
}
