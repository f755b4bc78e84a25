//! Files that change, that are broken, and of all kinds.

use crate::common::{self, bare, bound, built_in, until};
use bevy::asset::LoadState;
use bevy::asset::io::file::FileAssetReader;
use bevy::asset::io::{AssetSourceBuilder, AssetSourceEvent, AssetSourceId, AssetWatcher};
use bevy::prelude::*;
use bevy::world_serialization::WorldAssetRoot;
use bevy_phalanx::phalanx::crowd::{Tier, TierDetail, Tiers};
use bevy_phalanx::phalanx::format::{ClipForm, LibraryWriter, Provenance};
use bevy_phalanx::{
    PhalanxAttachment, PhalanxCharacter, PhalanxCrowd, PhalanxJointEntities, PhalanxPlayer,
    PhalanxPlugin, PhalanxRig, RigSettings, RigSetup,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A folder of a test's own, empty.
pub fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bevy_phalanx-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

fn copy(from: &str, to: &Path) {
    std::fs::copy(built_in().join(from), to).expect("copied");
}

/// The two chunks of a .glb file.
pub fn parts(file: &Path) -> (serde_json::Value, Vec<u8>) {
    let bytes = std::fs::read(file).expect("read");
    let length = u32::from_le_bytes([bytes[12], bytes[13], bytes[14], bytes[15]]) as usize;
    let (json, data) = bytes[20..].split_at(length);
    (serde_json::from_slice(json).expect("JSON"), data[8..].to_vec())
}

/// Writes a .glb file of these chunks; without data it has one.
pub fn write_glb(file: &Path, json: &serde_json::Value, data: &[u8]) {
    let mut json = json.to_string().into_bytes();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut bytes = [&b"glTF\x02\0\0\0\0\0\0\0"[..], &chunk(&json, b"JSON")].concat();
    if !data.is_empty() {
        bytes.extend(chunk(data, b"BIN\0"));
    }
    let length = (bytes.len() as u32).to_le_bytes();
    bytes[8..12].copy_from_slice(&length);
    std::fs::write(file, bytes).expect("written");
}

fn chunk(data: &[u8], kind: &[u8]) -> Vec<u8> {
    [&(data.len() as u32).to_le_bytes()[..], kind, data].concat()
}

fn walker(app: &mut App, file: &str) -> (Handle<PhalanxRig>, Entity) {
    let rig: Handle<PhalanxRig> = app.world().resource::<AssetServer>().load(file.to_owned());
    let mut player = PhalanxPlayer::default();
    player.play("Walk").repeat().seek_to(0.25);
    let entity = app.world_mut().spawn((PhalanxCharacter(rig.clone()), player)).id();
    (rig, entity)
}

#[test]
fn characters_go_on_when_their_file_changes() {
    let folder = folder("changed");
    copy("mannequin.glb", &folder.join("a.glb"));
    let mut app = bare(&folder, PhalanxPlugin::default());
    let (rig, entity) = walker(&mut app, "a.glb");
    bound(&mut app, 1);
    app.update();
    let before = app.world().resource::<PhalanxCrowd>().rig(&rig);
    copy("mannequin.glb", &folder.join("a.glb"));
    app.world().resource::<AssetServer>().reload("a.glb");
    app.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(default()));
    until(&mut app, "the file is read again", |world| {
        world.resource::<PhalanxCrowd>().rig(&rig) != before
    });
    app.update();
    let crowd = app.world().resource::<PhalanxCrowd>();
    assert_eq!(crowd.crowd.instance_count(), 1);
    let state = crowd.state(entity, "Walk").expect("it goes on");
    assert!((state.time - 0.25 - 1.0 / 64.0).abs() < 1e-5, "{state:?}");
    assert!(crowd.crowd.rig(before.expect("bound")).is_err());
    // A broken file leaves it alone.
    std::fs::write(folder.join("a.glb"), b"glTF, but broken").expect("written");
    app.world().resource::<AssetServer>().reload("a.glb");
    until(&mut app, "the broken file is refused", |world| {
        matches!(world.resource::<AssetServer>().load_state(&rig), LoadState::Failed(_))
    });
    app.update();
    assert!(app.world().resource::<PhalanxCrowd>().state(entity, "Walk").is_some());
}

#[test]
fn a_broken_file_is_an_error_of_bevy() {
    let folder = folder("broken");
    std::fs::write(folder.join("b.phx"), b"no rig").expect("written");
    let mut app = bare(&folder, PhalanxPlugin::default());
    let (rig, _) = walker(&mut app, "b.phx");
    until(&mut app, "the file is refused", |world| {
        matches!(world.resource::<AssetServer>().load_state(&rig), LoadState::Failed(_))
    });
    let LoadState::Failed(error) = app.world().resource::<AssetServer>().load_state(&rig) else {
        unreachable!("just seen")
    };
    assert!(error.to_string().contains("b.phx"), "{error}");
    app.update();
}

#[test]
fn phx_vrm_and_gltf_with_spaces_load() {
    let folder = folder("kinds");
    copy("mannequin.glb", &folder.join("c.vrm"));
    let rig = bevy_phalanx::phalanx::import::mannequin().expect("built in");
    let file = std::fs::File::create(folder.join("c.phx")).expect("created");
    let mut writer = LibraryWriter::new(file, rig.skeleton()).expect("begun");
    writer.add_rig(&rig).expect("added");
    for clip in rig.clips() {
        writer.add_clip(clip, clip.name(), ClipForm::default()).expect("added");
    }
    writer.finish(&Provenance::default()).expect("finished");
    let (mut json, data) = parts(&built_in().join("mannequin.glb"));
    json["buffers"][0]["uri"] = "the%20data%20%23%201.bin".into();
    std::fs::write(folder.join("a file.gltf"), json.to_string()).expect("written");
    std::fs::write(folder.join("the data # 1.bin"), data).expect("written");
    write_glb(&folder.join("d.glb"), &json, &[]);
    let mut app = bare(&folder, PhalanxPlugin::default());
    let all = ["c.vrm", "c.phx", "a file.gltf", "d.glb"].map(|file| walker(&mut app, file).1);
    bound(&mut app, 4);
    app.update();
    let crowd = app.world().resource::<PhalanxCrowd>();
    for entity in all {
        assert!(crowd.is_playing(entity, "Walk"));
    }
}

#[test]
fn a_glb_file_with_an_image_beside_it_loads() {
    let Some(models) = common::models() else { return };
    let folder = folder("image");
    let (mut json, data) = parts(&models.join("Fox.glb"));
    let view = json["images"][0]["bufferView"].as_u64().expect("an image inside") as usize;
    let view = &json["bufferViews"][view];
    let number = |name: &str| view[name].as_u64().unwrap_or(0) as usize;
    let image = &data[number("byteOffset")..][..number("byteLength")];
    std::fs::write(folder.join("a fox.png"), image).expect("written");
    json["images"][0] = serde_json::json!({"uri": "a%20fox.png"});
    write_glb(&folder.join("a.glb"), &json, &data);
    let mut app = bare(&folder, PhalanxPlugin::default());
    let (rig, entity) = walker(&mut app, "a.glb");
    bound(&mut app, 1);
    app.update();
    let world = app.world();
    assert!(world.resource::<PhalanxCrowd>().is_playing(entity, "Walk"));
    let surface = &world.resource::<Assets<PhalanxRig>>().get(&rig).expect("loaded").surfaces[0];
    let materials = world.resource::<Assets<StandardMaterial>>();
    let material = materials.get(&surface.material).expect("loaded");
    let texture = material.base_color_texture.as_ref().expect("it has one");
    let image = world.resource::<Assets<Image>>().get(texture).expect("loaded");
    assert!(image.width() > 64, "{}", image.width());
}

#[test]
fn another_handle_goes_on_with_what_played() {
    let folder = folder("handle");
    copy("mannequin.glb", &folder.join("a.glb"));
    copy("mannequin.glb", &folder.join("b.glb"));
    let mut app = bare(&folder, PhalanxPlugin::default());
    let (_, entity) = walker(&mut app, "a.glb");
    bound(&mut app, 1);
    app.update();
    app.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(default()));
    let other: Handle<PhalanxRig> = app.world().resource::<AssetServer>().load("b.glb");
    app.world_mut().entity_mut(entity).insert(PhalanxCharacter(other.clone()));
    app.update();
    until(&mut app, "the other file loads", |world| {
        // The character is never without an instance.
        let crowd = world.resource::<PhalanxCrowd>();
        assert_eq!(crowd.crowd.instance_count(), 1);
        crowd.rig(&other).is_some()
    });
    let crowd = app.world().resource::<PhalanxCrowd>();
    assert_eq!(crowd.instance(entity).map(|i| i.rig()), crowd.rig(&other));
    let state = crowd.state(entity, "Walk").expect("it goes on");
    assert!((state.time - 0.25 - 1.0 / 64.0).abs() < 1e-5, "{state:?}");
}

#[test]
fn a_file_with_other_joints_takes_its_place() {
    let Some(models) = common::models() else { return };
    let folder = folder("joints");
    copy("mannequin.glb", &folder.join("a.glb"));
    let mut app = bare(&folder, PhalanxPlugin::default());
    let (rig, entity) = walker(&mut app, "a.glb");
    app.world_mut().entity_mut(entity).insert(PhalanxJointEntities);
    let hand = app.world_mut().spawn((PhalanxAttachment::new("RightHand"), ChildOf(entity))).id();
    bound(&mut app, 1);
    app.update();
    let before = app.world().resource::<PhalanxCrowd>().rig(&rig);
    // A fox, which walks, too, and has no hands.
    std::fs::copy(models.join("Fox.glb"), folder.join("a.glb")).expect("copied");
    app.world().resource::<AssetServer>().reload("a.glb");
    until(&mut app, "the file is read again", |world| {
        world.resource::<PhalanxCrowd>().rig(&rig) != before
    });
    app.update();
    let world = app.world();
    let crowd = world.resource::<PhalanxCrowd>();
    assert_eq!(crowd.crowd.instance_count(), 1);
    assert!(crowd.is_playing(entity, "Walk"));
    let id = crowd.rig(&rig).expect("bound");
    let names = crowd.crowd.rig(id).expect("there").skeleton().names();
    let children = world.get::<Children>(entity).expect("meshes and joints");
    let joints = children.iter().filter_map(|child| world.get::<PhalanxAttachment>(child));
    let mut joints: Vec<&str> = joints.map(|attachment| attachment.joint.as_str()).collect();
    // The attachment of the game stays, and waits for a file that has its joint.
    let own = joints.iter().position(|name| *name == "RightHand").expect("it stays");
    joints.remove(own);
    joints.sort_unstable();
    let mut expected: Vec<&str> = names.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(joints, expected);
    copy("mannequin.glb", &folder.join("a.glb"));
    app.world().resource::<AssetServer>().reload("a.glb");
    until(&mut app, "the first file is read again", |world| {
        world.resource::<PhalanxCrowd>().rig(&rig) != Some(id)
    });
    app.update();
    let found = app.world().resource::<PhalanxCrowd>().joint(entity, "RightHand").expect("a hand");
    let place = app.world().get::<GlobalTransform>(hand).expect("it has one").translation();
    assert!(place.distance(found.translation()) < 1e-4, "{place}");
}

struct Watcher;

impl AssetWatcher for Watcher {}

/// The meshes of a character, in order, with their materials.
fn meshes(app: &App, character: Entity) -> Vec<(Entity, Handle<Mesh>, Handle<StandardMaterial>)> {
    let world = app.world();
    let children = world.get::<Children>(character).expect("it has meshes");
    let mesh = |child: Entity| {
        let material = world.get::<MeshMaterial3d<StandardMaterial>>(child)?.0.clone();
        Some((child, world.get::<Mesh3d>(child)?.0.clone(), material))
    };
    children.iter().filter_map(mesh).collect()
}

#[test]
fn meshes_keep_what_a_game_puts_on_them_when_the_rig_changes() {
    let Some(models) = common::models() else { return };
    let folder = folder("children");
    copy("mannequin.glb", &folder.join("a.glb"));
    std::fs::copy(models.join("robot.glb"), folder.join("b.glb")).expect("copied");
    let mut app = bare(&folder, PhalanxPlugin::default());
    let (rig, entity) = walker(&mut app, "a.glb");
    bound(&mut app, 1);
    app.update();
    let first = meshes(&app, entity);
    let (child, _, of_rig) = first[0].clone();
    let gold = app.world_mut().resource_mut::<Assets<StandardMaterial>>().add(Color::WHITE);
    app.world_mut().entity_mut(child).insert((Name::new("mine"), MeshMaterial3d(gold.clone())));
    let hat = app.world_mut().spawn(ChildOf(child)).id();
    let check = |app: &App, rig: &Handle<PhalanxRig>, gold: &Handle<StandardMaterial>| {
        let now = meshes(app, entity);
        let surfaces = &app.world().resource::<Assets<PhalanxRig>>().get(rig).expect("it").surfaces;
        assert_eq!(now.len(), surfaces.len());
        for (i, ((_, mesh, material), surface)) in now.iter().zip(surfaces).enumerate() {
            assert_eq!(*mesh, surface.mesh);
            assert_eq!(material, if i == 0 { gold } else { &surface.material });
        }
        assert_eq!(now[0].0, child);
        assert_eq!(app.world().get::<Name>(child).map(Name::as_str), Some("mine"));
        assert!(app.world().get::<Children>(child).is_some_and(|c| c.contains(&hat)));
        now
    };
    let before = app.world().resource::<PhalanxCrowd>().rig(&rig);
    app.world().resource::<AssetServer>().reload("a.glb");
    until(&mut app, "the file is read again", |world| {
        world.resource::<PhalanxCrowd>().rig(&rig) != before
    });
    app.update();
    let ids = |meshes: &[(Entity, Handle<Mesh>, Handle<StandardMaterial>)]| {
        meshes.iter().map(|(child, ..)| *child).collect::<Vec<Entity>>()
    };
    assert_eq!(ids(&check(&app, &rig, &gold)), ids(&first));
    // A rig of more meshes.
    let other: Handle<PhalanxRig> = app.world().resource::<AssetServer>().load("b.glb");
    app.world_mut().entity_mut(entity).insert(PhalanxCharacter(other.clone()));
    until(&mut app, "the other file loads", |world| {
        world.resource::<PhalanxCrowd>().rig(&other).is_some()
    });
    app.update();
    let more = check(&app, &other, &gold);
    assert!(more.len() > first.len());
    assert_eq!(ids(&more)[..first.len()], ids(&first));
    // And back, in the material of the rig.
    let now = more[0].1.clone();
    let surfaces = &app.world().resource::<Assets<PhalanxRig>>().get(&other).expect("it").surfaces;
    let steel = MeshMaterial3d(surfaces[0].material.clone());
    app.world_mut().entity_mut(child).insert(steel);
    app.world_mut().entity_mut(entity).insert(PhalanxCharacter(rig.clone()));
    app.update();
    assert_ne!(meshes(&app, entity)[0].1, now);
    assert_eq!(ids(&check(&app, &rig, &of_rig)), ids(&first));
    let count = app.world_mut().query::<&Mesh3d>().iter(app.world()).count();
    assert_eq!(count, first.len(), "the others are gone");
}

#[test]
fn a_reloaded_scene_leaves_no_mesh_behind() {
    let Some(models) = common::models() else { return };
    let folder = folder("scene");
    for file in ["Fox.glb", "robot.glb"] {
        std::fs::copy(models.join(file), folder.join(file)).expect("copied");
        let mut app = common::app(&folder);
        let _file = common::loaded(&mut app, file);
        let assets = app.world().resource::<AssetServer>().clone();
        let rig: Handle<PhalanxRig> = assets.load(file);
        let scene = assets.load(bevy::gltf::GltfAssetLabel::Scene(0).from_asset(file));
        let character = (PhalanxCharacter(rig.clone()), WorldAssetRoot(scene));
        let character = app.world_mut().spawn(character).id();
        let meshes = |world: &mut World| -> Vec<Entity> {
            world.query_filtered::<Entity, With<Mesh3d>>().iter(world).collect()
        };
        // The nodes go when the meshes are the character's.
        let adopted = |world: &mut World| {
            world.query::<&bevy::animation::AnimationTargetId>().iter(world).count() == 0
                && !meshes(world).is_empty()
        };
        until(&mut app, "the scene spawns", adopted);
        let mut before = meshes(app.world_mut());
        let count = before.len();
        for root in [true, true, false] {
            if !root {
                app.world_mut().entity_mut(character).remove::<WorldAssetRoot>();
            }
            let id = app.world().resource::<PhalanxCrowd>().rig(&rig);
            assets.reload(file);
            until(&mut app, "the file is read again", |world| {
                world.resource::<PhalanxCrowd>().rig(&rig) != id
            });
            until(&mut app, "other meshes are there", |world| {
                let now = meshes(world);
                adopted(world) && now.len() == count && now.iter().all(|e| !before.contains(e))
            });
            // Bevy may read its scene after the rig, and then spawns it once more.
            let mut still = 0;
            until(&mut app, "nothing changes any more", |world| {
                let now = meshes(world);
                still = if now == before { still + 1 } else { 0 };
                before = now;
                still == 20
            });
            assert_eq!(before.len(), count, "{file}");
            assert!(adopted(app.world_mut()), "{file}");
        }
    }
}

/// As when a program writes the buffer of a .gltf file, and Bevy watches files.
#[test]
fn a_buffer_that_changes_reloads_its_model() {
    let folder = folder("buffer");
    let (mut json, mut data) = parts(&built_in().join("mannequin.glb"));
    json["buffers"][0]["uri"] = "a.bin".into();
    std::fs::write(folder.join("a.gltf"), json.to_string()).expect("written");
    std::fs::write(folder.join("a.bin"), &data).expect("written");
    let events = Arc::new(Mutex::new(None));
    let mut app = App::new();
    let (kept, root) = (events.clone(), folder.clone());
    let source = AssetSourceBuilder::new(move || Box::new(FileAssetReader::new(&root)))
        .with_watcher(move |sender| {
            *kept.lock().expect("no panics") = Some(sender);
            Some(Box::new(Watcher))
        });
    app.register_asset_source(AssetSourceId::Default, source);
    app.add_plugins((
        MinimalPlugins,
        AssetPlugin { watch_for_changes_override: Some(true), ..default() },
        TransformPlugin,
        PhalanxPlugin::default(),
    ));
    app.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(default()));
    app.finish();
    app.cleanup();
    let (rig, entity) = walker(&mut app, "a.gltf");
    bound(&mut app, 1);
    app.update();
    let crowd = app.world().resource::<PhalanxCrowd>();
    let (before, height) = (crowd.rig(&rig), top(crowd, entity));
    // The vertices move up by a metre.
    let (offset, count) = positions(&json);
    for vertex in data[offset..offset + 12 * count].chunks_exact_mut(12) {
        let y = f32::from_le_bytes([vertex[4], vertex[5], vertex[6], vertex[7]]);
        vertex[4..8].copy_from_slice(&(y + 1.0).to_le_bytes());
    }
    std::fs::write(folder.join("a.bin"), &data).expect("written");
    let sender = events.lock().expect("no panics").take().expect("Bevy watches");
    sender.send_blocking(AssetSourceEvent::ModifiedAsset("a.bin".into())).expect("Bevy listens");
    until(&mut app, "the file is read again", |world| {
        world.resource::<PhalanxCrowd>().rig(&rig) != before
    });
    app.update();
    let crowd = app.world().resource::<PhalanxCrowd>();
    assert!(crowd.is_playing(entity, "Walk"));
    let moved = top(crowd, entity) - height;
    assert!(moved > 0.5, "the top moved by {moved}");
}

/// The top of a character's box.
fn top(crowd: &PhalanxCrowd, entity: Entity) -> f32 {
    let instance = crowd.instance(entity).expect("bound");
    crowd.crowd.bounds(instance).expect("an instance").max.y
}

/// The first byte and the number of the positions of a file's first primitive.
fn positions(json: &serde_json::Value) -> (usize, usize) {
    let number = |value: &serde_json::Value| value.as_u64().unwrap_or(0) as usize;
    let accessor = number(&json["meshes"][0]["primitives"][0]["attributes"]["POSITION"]);
    let accessor = &json["accessors"][accessor];
    let view = &json["bufferViews"][number(&accessor["bufferView"])];
    assert!(view.get("byteStride").is_none_or(|stride| number(stride) == 12));
    assert_eq!(accessor["componentType"], 5126);
    (number(&view["byteOffset"]) + number(&accessor["byteOffset"]), number(&accessor["count"]))
}

#[test]
fn a_reload_that_the_setup_refuses_leaves_levels_as_they_are() {
    let Some(models) = common::models() else { return };
    let folder = folder("refused");
    for file in ["a.glb", "b.glb"] {
        std::fs::copy(models.join("Fox.glb"), folder.join(file)).expect("copied");
    }
    let mut app = common::app(&folder);
    common::scene(&mut app, Vec3::new(0.0, 1.5, 4.0), Vec3::new(0.0, 1.0, 0.0));
    let detail = TierDetail { level: 1, leave_out: vec!["b_Head_05".into()] };
    let tiers = vec![
        Tier { height: 60.0, ..Tier::default() },
        Tier { height: 1.0, detail: Some(detail), ..Tier::default() },
    ];
    let tiers = Tiers { tiers, ..Tiers::default() };
    let mut crowd = app.world_mut().resource_mut::<PhalanxCrowd>();
    crowd.crowd.set_tiers(Some(tiers)).expect("valid tiers");
    let assets = app.world().resource::<AssetServer>().clone();
    let lods = |settings: &mut RigSettings| settings.lods = vec!["b.glb".into()];
    let rig: Handle<PhalanxRig> = assets.load_builder().with_settings(lods).load("a.glb");
    let refuses = Arc::new(AtomicBool::new(false));
    let refused = refuses.clone();
    let setup = RigSetup::new(move |_, _, _| match refused.load(Ordering::SeqCst) {
        false => Ok(()),
        true => Err("the clip is gone".into()),
    });
    app.world_mut().resource_mut::<PhalanxCrowd>().set_up(&rig, setup);
    let small = Transform::from_scale(Vec3::splat(0.02));
    let fox = app.world_mut().spawn((PhalanxCharacter(rig.clone()), small)).id();
    common::bound(&mut app, 1);
    (0..3).for_each(|_| app.update());
    let loaded = |world: &World| {
        world.resource::<Assets<PhalanxRig>>().get(&rig).expect("loaded").rig.clone()
    };
    let old = loaded(app.world());
    refuses.store(true, Ordering::SeqCst);
    for file in ["a.glb", "b.glb"] {
        std::fs::copy(models.join("pab.glb"), folder.join(file)).expect("copied");
    }
    assets.reload("a.glb");
    until(&mut app, "the file is read again", |world| !Arc::ptr_eq(&loaded(world), &old));
    let child = app.world().get::<Children>(fox).expect("a mesh")[0];
    let mesh = |app: &App| app.world().get::<Mesh3d>(child).expect("a mesh").clone();
    let before = mesh(&app);
    app.world_mut().get_mut::<Transform>(fox).expect("a fox").translation.z = -90.0;
    (0..4).for_each(|_| app.update());
    assert_eq!(mesh(&app), before);
    let crowd = app.world().resource::<PhalanxCrowd>();
    let instance = crowd.instance(fox).expect("it lives on");
    assert_eq!(crowd.crowd.tier(instance), Some(1));
    assert!(Arc::ptr_eq(crowd.crowd.rig(instance.rig()).expect("kept"), &old));
}
