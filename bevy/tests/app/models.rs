//! Pictures of models with what glTF has, by Bevy's own animation, by the plugin's meshes and by Bevy's scenes.

use crate::pictures::{assert_alike, save};
use crate::{common, files};
use bevy::animation::graph::{AnimationGraph, AnimationGraphHandle};
use bevy::camera::primitives::Aabb;
use bevy::gltf::GltfAssetLabel;
use bevy::mesh::morph::MeshMorphWeights;
use bevy::mesh::skinning::SkinnedMesh;
use bevy::pbr::SkinUniforms;
use bevy::prelude::*;
use bevy::world_serialization::WorldAssetRoot;
use bevy_phalanx::phalanx::crowd::{Tier, TierDetail, Tiers};
use bevy_phalanx::{
    PhalanxCharacter, PhalanxCrowd, PhalanxInstance, PhalanxPlayer, PhalanxRig, RigSettings,
};

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Bevy,
    Meshes,
    Scene,
}

/// A model, its clip, the time, and where it stands.
type Model = (&'static str, usize, f32, Transform);

/// The models below a parent that turns, shears and mirrors, and a floor that takes shadows.
fn picture(way: Way, models: &[Model], parent: Transform, shadows: bool) -> Option<Vec<u8>> {
    let mut app = common::app(&common::models()?);
    common::scene(&mut app, Vec3::new(0.0, 3.0, 9.0), Vec3::new(0.0, 1.5, 0.0));
    let _files = Vec::from_iter(models.iter().map(|(file, ..)| common::loaded(&mut app, file)));
    let world = app.world_mut();
    if shadows {
        for mut light in world.query::<&mut DirectionalLight>().iter_mut(world) {
            light.shadow_maps_enabled = true;
        }
        let floor = Plane3d::new(Vec3::Y, Vec2::splat(10.0)).mesh().build();
        let floor = world.resource_mut::<Assets<Mesh>>().add(floor);
        let white = world.resource_mut::<Assets<StandardMaterial>>().add(Color::WHITE);
        world.spawn((Mesh3d(floor), MeshMaterial3d(white), Transform::from_xyz(0.0, -0.5, 0.0)));
    }
    let parent = world.spawn((parent, Visibility::default())).id();
    let assets = world.resource::<AssetServer>().clone();
    for &(file, clip, time, place) in models {
        let scene = || WorldAssetRoot(assets.load(GltfAssetLabel::Scene(0).from_asset(file)));
        let place = (place, ChildOf(parent));
        if way == Way::Bevy {
            let animation = assets.load(GltfAssetLabel::Animation(clip).from_asset(file));
            let (graph, node) = AnimationGraph::from_clip(animation);
            let graph = app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);
            let root = app.world_mut().spawn((scene(), place)).id();
            common::until(&mut app, "the scene spawns", |world| {
                let mut players = world.query_filtered::<Entity, With<AnimationPlayer>>();
                let all: Vec<Entity> = players.iter(world).collect();
                let of_root = |e: &Entity| {
                    let mut at = *e;
                    while let Some(above) = world.get::<ChildOf>(at) {
                        at = above.parent();
                        if at == root {
                            return true;
                        }
                    }
                    false
                };
                let Some(player) = all.into_iter().find(of_root) else { return false };
                world.entity_mut(player).insert(AnimationGraphHandle(graph.clone()));
                let mut player = world.get_mut::<AnimationPlayer>(player).expect("found");
                player.play(node).seek_to(time).set_speed(0.0);
                true
            });
            continue;
        }
        let rig: Handle<PhalanxRig> = assets.load(file);
        let mut name = String::new();
        common::until(&mut app, "the rig loads", |world| {
            let Some(rig) = world.resource::<Assets<PhalanxRig>>().get(&rig) else { return false };
            name = rig.rig.clips()[clip].name().to_owned();
            true
        });
        let mut player = PhalanxPlayer::default();
        player.play(&name).seek_to(time).with_speed(0.0);
        let mut character = app.world_mut().spawn((PhalanxCharacter(rig), player, place));
        if way == Way::Scene {
            character.insert(scene());
        }
    }
    if way != Way::Bevy {
        common::until(&mut app, "the characters are bound", |world| {
            world.query::<&PhalanxInstance>().iter(world).count() == models.len()
                && world.query::<(&PhalanxInstance, &Children)>().iter(world).count()
                    == models.len()
        });
    }
    for _ in 0..20 {
        app.update();
    }
    if way != Way::Bevy {
        let world = app.world_mut();
        assert_eq!(world.query::<&AnimationPlayer>().iter(world).count(), 0, "nodes go");
    }
    default_materials(app.world_mut());
    Some(common::picture(&mut app))
}

/// What has no material has glTF's default. Bevy's loader gives it one of two, by what it comes upon first.
fn default_materials(world: &mut World) {
    let mut materials = world.query::<&MeshMaterial3d<StandardMaterial>>();
    let of_bevy: Vec<Handle<StandardMaterial>> = materials
        .iter(world)
        .map(|material| material.0.clone())
        .filter(|m| m.path().is_some_and(|path| path.label() == Some("DefaultMaterial/std")))
        .collect();
    for material in of_bevy {
        let mut materials = world.resource_mut::<Assets<StandardMaterial>>();
        let mut material = materials.get_mut(&material).expect("it is drawn");
        (material.metallic, material.perceptual_roughness) = (1.0, 1.0);
    }
}

fn compare(name: &str, models: &[Model], parent: Transform, shadows: bool) {
    let Some(bevy) = picture(Way::Bevy, models, parent, shadows) else { return };
    save(&format!("{name}-bevy.png"), &bevy);
    let ours = [(Way::Meshes, "meshes"), (Way::Scene, "scene")].map(|(way, label)| {
        let ours = picture(way, models, parent, shadows).expect("the models are there");
        save(&format!("{name}-{label}.png"), &ours);
        (label, ours)
    });
    for (label, ours) in &ours {
        assert_alike(&format!("{name}, {label}"), &bevy, ours);
    }
}

fn at(x: f32, y: f32, scale: f32) -> Transform {
    Transform::from_xyz(x, y, 0.0).with_scale(Vec3::splat(scale))
}

#[test]
fn skins_rigid_parts_and_morph_targets_look_as_by_bevy() {
    let models = [
        ("Fox.glb", 0, 0.4, at(-4.0, 2.4, 0.015)),
        ("robot.glb", 10, 0.3, at(-1.5, 2.4, 0.4)),
        ("mannequin.glb", 3, 0.3, at(1.0, 2.4, 1.1)),
        ("SimpleSkin.gltf", 0, 1.5, at(3.0, 2.4, 0.8)),
        ("bl_morphbones.glb", 1, 0.4, at(-3.0, 0.0, 1.4)),
        ("MorphStressTest.gltf", 1, 0.6, at(0.5, 0.3, 0.8)),
    ];
    compare("models", &models, Transform::IDENTITY, false);
}

#[test]
fn a_parent_that_mirrors_and_shears_with_shadows_looks_as_by_bevy() {
    let models = [
        ("mannequin.glb", 2, 0.4, at(-1.5, 0.0, 1.2).with_rotation(Quat::from_rotation_y(0.7))),
        ("Fox.glb", 2, 0.3, at(1.5, 0.0, 0.02).with_rotation(Quat::from_rotation_y(0.5))),
    ];
    let parent = Transform::from_xyz(0.0, 0.2, 0.0)
        .with_rotation(Quat::from_euler(EulerRot::XYZ, 0.2, 0.4, 0.1))
        .with_scale(Vec3::new(-1.3, 1.0, 0.8));
    compare("mirrored", &models, parent, true);
}

/// A file with five nodes of one name that show one mesh, each with weights of its own.
fn twins(models: &std::path::Path, folder: &std::path::Path) -> serde_json::Value {
    use serde_json::json;
    let text = std::fs::read(models.join("MorphStressTest.gltf")).expect("read");
    let mut file: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let node = |x: f32, weight: usize| {
        let weights: Vec<f32> = (0..8).map(|i| f32::from(i == weight)).collect();
        json!({"name": "Main", "mesh": 0, "weights": weights, "translation": [x, 0, 0]})
    };
    let above = |name: &str, x: f32, child: usize| json!({"name": name, "translation": [x, 0, 0], "children": [child]});
    file["nodes"] = json!([
        node(0.0, 0),
        node(10.0, 1),
        above("Arm", 20.0, 4),
        above("Arm", 30.0, 5),
        node(1.0, 2),
        node(2.0, 3),
        above("Leg", 40.0, 7),
        node(3.0, 4),
    ]);
    file["scenes"][0]["nodes"] = json!([0, 1, 2, 3, 6]);
    // The last is a joint, and so is the first.
    let values = [0.0f32, 1.0, 3.0, 0.0, 0.0, 3.0, 0.0, 0.0].map(f32::to_le_bytes).concat();
    std::fs::write(folder.join("a.bin"), &values).expect("written");
    let mut add = |list: &str, value| {
        let list = file[list].as_array_mut().expect("a list");
        list.push(value);
        list.len() - 1
    };
    let buffer = add("buffers", json!({"uri": "a.bin", "byteLength": values.len()}));
    let times = add("bufferViews", json!({"buffer": buffer, "byteLength": 8}));
    let places = add("bufferViews", json!({"buffer": buffer, "byteOffset": 8, "byteLength": 24}));
    let times = json!({"bufferView": times, "componentType": 5126, "type": "SCALAR", "count": 2,
        "min": [0], "max": [1]});
    let times = add("accessors", times);
    let places = json!({"bufferView": places, "componentType": 5126, "type": "VEC3", "count": 2});
    let places = add("accessors", places);
    add(
        "animations",
        json!({"name": "Still", "samplers": [{"input": times, "output": places}],
            "channels": [{"sampler": 0, "target": {"node": 7, "path": "translation"}}]}),
    );
    std::fs::write(folder.join("a.gltf"), file.to_string()).expect("written");
    file
}

#[test]
fn nodes_of_one_name_keep_their_places_weights_and_boxes() {
    let Some(models) = common::models() else { return };
    let folder = files::folder("twins");
    let file = twins(&models, &folder);
    let mut app = common::app(&folder);
    common::scene(&mut app, Vec3::new(20.0, 3.0, 60.0), Vec3::new(20.0, 1.5, 0.0));
    let _file = common::loaded(&mut app, "a.gltf");
    let assets = app.world().resource::<AssetServer>().clone();
    let rig: Handle<PhalanxRig> = assets.load("a.gltf");
    let scene = WorldAssetRoot(assets.load(GltfAssetLabel::Scene(0).from_asset("a.gltf")));
    app.world_mut().spawn((PhalanxCharacter(rig), scene));
    common::until(&mut app, "the scene spawns", |world| {
        world.query::<(&PhalanxInstance, &Children)>().iter(world).count() == 1
    });
    for _ in 0..4 {
        app.update();
    }
    let world = app.world_mut();
    let mut found: Vec<(f32, Vec<f32>)> = Vec::new();
    let mut meshes = world.query::<(&GlobalTransform, &MeshMorphWeights, &Aabb, &Mesh3d)>();
    let boxes = ["min", "max"].map(|end| {
        let corner = |primitive: &serde_json::Value| {
            let accessor = primitive["attributes"]["POSITION"].as_u64().expect("a number");
            let corner = &file["accessors"][accessor as usize][end];
            Vec3::from([0, 1, 2].map(|i| corner[i].as_f64().expect("a number") as f32))
        };
        let primitives = file["meshes"][0]["primitives"].as_array().expect("a list");
        primitives.iter().map(corner).collect::<Vec<Vec3>>()
    });
    for (place, weights, bounds, mesh) in meshes.iter(world) {
        let MeshMorphWeights::Value { weights } = weights else { panic!("weights of a node") };
        found.push((place.translation().x, weights.clone()));
        // Those of the file, in the space of the mesh.
        let [min, max] = [bounds.min(), bounds.max()].map(Vec3::from);
        let own = (0..boxes[0].len())
            .any(|i| min.distance(boxes[0][i]) + max.distance(boxes[1][i]) < 1e-4);
        assert!(own, "{mesh:?} {bounds:?}");
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let one = |at: usize| (0..8).map(|i| f32::from(i == at)).collect::<Vec<f32>>();
    let expected = [0.0, 10.0, 21.0, 32.0, 43.0].into_iter().enumerate();
    let expected: Vec<(f32, Vec<f32>)> =
        expected.flat_map(|(i, x)| [(x, one(i)), (x, one(i))]).collect();
    assert_eq!(found, expected);
}

#[test]
fn levels_have_weights_for_their_own_morph_targets() {
    let Some(models) = common::models() else { return };
    let folder = files::folder("morphs");
    std::fs::copy(models.join("bl_morphbones.glb"), folder.join("a.glb")).expect("copied");
    let (file, data) = files::parts(&models.join("bl_morphbones.glb"));
    let level = |name: &str, count: usize| {
        let mut file = file.clone();
        file.as_object_mut().expect("an object").remove("animations");
        let mesh = file["meshes"][0].as_object_mut().expect("an object");
        mesh.remove("extras");
        let weights = mesh.remove("weights").expect("five");
        let primitive = mesh["primitives"][0].as_object_mut().expect("an object");
        let targets = primitive.remove("targets").expect("five");
        if count > 0 {
            let some = |list: serde_json::Value| {
                let list = list.as_array().expect("a list").clone();
                list.into_iter().cycle().take(count).collect::<serde_json::Value>()
            };
            primitive.insert("targets".into(), some(targets));
            mesh.insert("weights".into(), some(weights));
        }
        files::write_glb(&folder.join(name), &file, &data);
    };
    level("none.glb", 0);
    level("two.glb", 2);
    level("seven.glb", 7);
    let mut app = common::app(&folder);
    common::scene(&mut app, Vec3::new(0.0, 1.0, 4.0), Vec3::new(0.0, 0.5, 0.0));
    let lods = ["none.glb", "two.glb", "seven.glb"].map(str::to_owned).to_vec();
    let assets = app.world().resource::<AssetServer>().clone();
    let rig: Handle<PhalanxRig> = assets
        .load_builder()
        .with_settings(move |settings: &mut RigSettings| settings.lods = lods.clone())
        .load("a.glb");
    let mut player = PhalanxPlayer::default();
    player.play("Talk").seek_to(0.4).with_speed(0.0);
    let character = app.world_mut().spawn((PhalanxCharacter(rig), player)).id();
    common::bound(&mut app, 1);
    let mut weights = |level: usize| {
        // A detail without fewer joints would be the full rig.
        let detail = Some(TierDetail { level, leave_out: vec!["eye_l".to_owned()] });
        let tier = Tier { detail: detail.filter(|_| level > 0), ..Tier::default() };
        let tiers = Tiers { tiers: vec![tier], ..Tiers::default() };
        let crowd = &mut app.world_mut().resource_mut::<PhalanxCrowd>().crowd;
        crowd.set_tiers(Some(tiers)).expect("valid tiers");
        app.update();
        app.update();
        let child = app.world().get::<Children>(character).expect("a mesh")[0];
        match app.world().get::<MeshMorphWeights>(child) {
            Some(MeshMorphWeights::Value { weights }) => weights.clone(),
            Some(_) => panic!("weights of its own"),
            None => Vec::new(),
        }
    };
    let full = weights(0);
    assert_eq!(full.len(), 5);
    assert!(full.iter().any(|&weight| weight != 0.0), "{full:?}");
    assert!(weights(1).is_empty());
    assert_eq!(weights(2), full[..2]);
    assert_eq!(weights(3), [&full[..], &[0.0; 2]].concat());
    assert!(weights(1).is_empty());
    assert_eq!(weights(0), full);
}

/// Characters that are less than a pixel high, whom Bevy draws.
#[test]
fn characters_without_a_palette_are_bind_poses_or_points() {
    let mut app = common::app(&common::built_in());
    common::scene(&mut app, Vec3::ZERO, Vec3::NEG_Z);
    let rig: Handle<PhalanxRig> = app.world().resource::<AssetServer>().load("mannequin.glb");
    let place = Transform::from_xyz(1.0, 2.0, -900.0);
    let character = app.world_mut().spawn((PhalanxCharacter(rig), place)).id();
    common::bound(&mut app, 1);
    for (height, scale) in [(0.9, 1.0), (2.0, 0.0)] {
        let tiers = vec![Tier { height, ..Tier::default() }];
        let crowd = &mut app.world_mut().resource_mut::<PhalanxCrowd>().crowd;
        crowd.set_tiers(Some(Tiers { tiers, ..Tiers::default() })).expect("valid tiers");
        app.update();
        app.update();
        let crowd = app.world().resource::<PhalanxCrowd>();
        assert!(crowd.crowd.shown(crowd.instance(character).expect("bound")).is_none());
        let child = app.world().get::<Children>(character).expect("a mesh")[0];
        let joints = app.world().get::<SkinnedMesh>(child).expect("a skin").joints.len();
        let skins = app.sub_app(bevy::render::RenderApp).world().resource::<SkinUniforms>();
        let at = skins.skin_index(child.into()).expect("Bevy draws it") as usize;
        let expected =
            Mat4::from_translation(place.translation) * Mat4::from_scale(Vec3::splat(scale));
        for matrix in &skins.current_staging_buffer[at..at + joints] {
            assert_eq!(*matrix, expected, "{height}");
        }
    }
}
