//! Two cameras: each draws the characters of its layers as Bevy's own animation does, with and without tiers.

use crate::common;
use crate::pictures::{assert_alike, play_all, save};
use bevy::camera::RenderTarget;
use bevy::camera::primitives::{Frustum, Sphere};
use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::gltf::GltfAssetLabel;
use bevy::light::cascade::Cascades;
use bevy::math::primitives::ViewFrustum;
use bevy::prelude::*;
use bevy::render::gpu_readback::{Readback, ReadbackComplete};
use bevy::world_serialization::WorldAssetRoot;
use bevy_phalanx::phalanx::crowd::Tiers;
use bevy_phalanx::{
    PhalanxAttachment, PhalanxCharacter, PhalanxCrowd, PhalanxInstance, PhalanxPlayer,
};

/// The picture of the second camera.
#[derive(Resource, Default)]
struct Second(Vec<u8>);

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Bevy,
    Phalanx,
    Tiers,
}

const PLACES: [Vec3; 3] = [Vec3::ZERO, Vec3::new(90.0, 0.0, -60.0), Vec3::new(-90.0, 0.0, -60.0)];

/// Foxes of which the last is only in layer 1, by a camera of both layers and by one of layer 0 at the side.
fn pictures(way: Way) -> Option<[Vec<u8>; 2]> {
    let mut app = common::app(&common::models()?);
    app.init_resource::<Second>();
    let _file = common::loaded(&mut app, "Fox.glb");
    common::scene(&mut app, Vec3::new(0.0, 120.0, 260.0), Vec3::new(0.0, 30.0, 0.0));
    let image = common::image(&mut app);
    let world = app.world_mut();
    let both = RenderLayers::from_layers(&[0, 1]);
    for camera in world.query_filtered::<Entity, With<Camera>>().iter(world).collect::<Vec<_>>() {
        world.entity_mut(camera).insert(both.clone());
    }
    for light in
        world.query_filtered::<Entity, With<DirectionalLight>>().iter(world).collect::<Vec<_>>()
    {
        world.entity_mut(light).insert(both.clone());
    }
    world.spawn((
        Camera3d::default(),
        RenderTarget::Image(image.clone().into()),
        Msaa::Off,
        Tonemapping::None,
        Transform::from_xyz(200.0, 260.0, -30.0).looking_at(Vec3::new(0.0, 30.0, -30.0), Vec3::Y),
    ));
    world.spawn(Readback::texture(image)).observe(
        |read: On<ReadbackComplete>, mut picture: ResMut<Second>| picture.0.clone_from(&read.data),
    );
    if way == Way::Tiers {
        let mut crowd = world.resource_mut::<PhalanxCrowd>();
        crowd.crowd.set_tiers(Some(Tiers::default())).expect("valid tiers");
    }
    let assets = world.resource::<AssetServer>().clone();
    let mut last = Entity::PLACEHOLDER;
    for place in PLACES {
        let mut fox = world.spawn(Transform::from_translation(place));
        last = fox.id();
        if way == Way::Bevy {
            let scene = assets.load(GltfAssetLabel::Scene(0).from_asset("Fox.glb"));
            fox.insert(WorldAssetRoot(scene));
        } else {
            let mut player = PhalanxPlayer::default();
            player.play("Run").seek_to(0.4).with_speed(0.0);
            fox.insert((PhalanxCharacter(assets.load("Fox.glb")), player));
        }
    }
    if way == Way::Bevy {
        let animation = assets.load(GltfAssetLabel::Animation(2).from_asset("Fox.glb"));
        play_all(&mut app, animation, 0.4, PLACES.len());
    } else {
        common::until(&mut app, "the characters are bound", |world| {
            world.query::<&PhalanxInstance>().iter(world).count() == PLACES.len()
        });
    }
    // Entities of meshes do not take the layers of the one that they are below.
    let world = app.world_mut();
    let mut below = vec![last];
    while let Some(entity) = below.pop() {
        below.extend(world.get::<Children>(entity).into_iter().flatten());
        if world.get::<Mesh3d>(entity).is_some() {
            world.entity_mut(entity).insert(RenderLayers::layer(1));
        }
    }
    let first = common::picture(&mut app);
    Some([first, std::mem::take(&mut app.world_mut().resource_mut::<Second>().0)])
}

#[test]
fn two_cameras_see_the_characters_of_their_layers() {
    let Some(bevy) = pictures(Way::Bevy) else { return };
    for (way, name) in [(Way::Phalanx, "plain"), (Way::Tiers, "tiers")] {
        let ours = pictures(way).expect("there are models");
        for (camera, (theirs, ours)) in bevy.iter().zip(&ours).enumerate() {
            save(&format!("camera-{camera}-{name}-bevy.png"), theirs);
            save(&format!("camera-{camera}-{name}-phalanx.png"), ours);
            assert_alike(&format!("camera {camera}, {name}"), theirs, ours);
        }
    }
}

#[test]
fn a_camera_at_a_joint_culls_by_where_it_is() {
    let mut app = common::app(&common::built_in());
    common::scene(&mut app, Vec3::new(0.0, 3.0, 9.0), Vec3::new(0.0, 1.5, 0.0));
    let rig = app.world().resource::<AssetServer>().load("mannequin.glb");
    let mut player = PhalanxPlayer::default();
    player.play("Walk").repeat();
    let character =
        app.world_mut().spawn((PhalanxCharacter(rig), player, Transform::default())).id();
    let head = PhalanxAttachment::new("Head");
    let camera = app.world_mut().spawn((Camera3d::default(), head, ChildOf(character))).id();
    common::bound(&mut app, 1);
    for i in 0..10 {
        app.world_mut().get_mut::<Transform>(character).expect("one").translation.x = i as f32;
        app.update();
        let of = app.world().entity(camera);
        let place = of.get::<GlobalTransform>().expect("placed");
        let clip_from_view = of.get::<Projection>().expect("a camera").get_clip_from_view();
        let clip_from_world = clip_from_view * place.to_matrix().inverse();
        let expected = ViewFrustum::from_clip_from_world(&clip_from_world);
        let frustum = of.get::<Frustum>().expect("culls");
        // The far plane is set by Bevy apart.
        for side in 0..5 {
            let [a, b] = [&expected, &frustum.0].map(|f| f.half_spaces[side].normal_d());
            assert!(a.abs_diff_eq(b, 1e-3), "side {side} in frame {i}: {b}, not {a}");
        }
        assert!((place.translation().x - i as f32).abs() < 0.5, "it follows");
    }
}

#[test]
fn shadows_and_lights_at_a_joint_are_where_it_is() {
    let mut app = common::app(&common::built_in());
    common::scene(&mut app, Vec3::new(0.0, 3.0, 9.0), Vec3::new(0.0, 1.5, 0.0));
    for mut sun in app.world_mut().query::<&mut DirectionalLight>().iter_mut(app.world_mut()) {
        sun.shadow_maps_enabled = true;
    }
    let rig = app.world().resource::<AssetServer>().load("mannequin.glb");
    let mut player = PhalanxPlayer::default();
    player.play("Walk").repeat();
    let character = app.world_mut().spawn((PhalanxCharacter(rig), player)).id();
    let images = [common::image(&mut app), common::image(&mut app)];
    let [first, second] = images.map(|image| RenderTarget::Image(image.into()));
    let head = (PhalanxAttachment::new("Head"), ChildOf(character));
    let camera = (Camera3d::default(), Camera { order: 1, ..default() }, first, head.clone());
    let camera = app.world_mut().spawn(camera).id();
    let free = (Camera3d::default(), Camera { order: 2, ..default() }, second);
    let free = app.world_mut().spawn((free, Transform::default())).id();
    let torch = app.world_mut().spawn((PointLight::default(), head)).id();
    common::bound(&mut app, 1);
    (0..3).for_each(|_| app.update());
    for i in 0..6 {
        // Where the head was, below the character's new place.
        let [old, was] = [camera, character]
            .map(|e| app.world().get::<GlobalTransform>(e).expect("placed").affine());
        let now = Transform::from_xyz(i as f32 * 0.3, 0.0, 0.0);
        app.world_mut().entity_mut(character).insert(now);
        let expected = now.compute_affine() * was.inverse() * old;
        app.world_mut().entity_mut(free).insert(Transform::from_matrix(expected.into()));
        app.update();
        let world = app.world_mut();
        let cascades = world.query::<&Cascades>().single(world).expect("a sun");
        let [ours, theirs] =
            [camera, free].map(|e| cascades.cascades[&e][0].world_from_cascade.w_axis.truncate());
        // Places of cascades are in whole texels.
        assert!(ours.distance(theirs) < 0.1, "{ours}, not {theirs}, in frame {i}");
        let place = world.get::<GlobalTransform>(torch).expect("placed").translation();
        let sphere = Vec3::from(world.get::<Sphere>(torch).expect("a light").center);
        assert!(place.distance(sphere) < 1e-3, "{sphere}, not {place}, in frame {i}");
    }
}
