//! Files that change, that are broken, and of all kinds.

use crate::common::{bare, bound, built_in, until};
use bevy::asset::LoadState;
use bevy::prelude::*;
use bevy_phalanx::phalanx::format::{ClipForm, LibraryWriter, Provenance};
use bevy_phalanx::{PhalanxCharacter, PhalanxCrowd, PhalanxPlayer, PhalanxPlugin, PhalanxRig};
use std::path::{Path, PathBuf};

/// A folder of a test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("bevy_phalanx-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

fn copy(from: &str, to: &Path) {
    std::fs::copy(built_in().join(from), to).expect("copied");
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
    // The two chunks of the .glb as files of their own.
    let bytes = std::fs::read(built_in().join("mannequin.glb")).expect("read");
    let length = |at: usize| {
        u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize
    };
    let (json, data) = bytes[20..].split_at(length(12));
    let mut json: serde_json::Value = serde_json::from_slice(json).expect("JSON");
    json["buffers"][0]["uri"] = "the%20data%20%23%201.bin".into();
    std::fs::write(folder.join("a file.gltf"), json.to_string()).expect("written");
    std::fs::write(folder.join("the data # 1.bin"), &data[8..]).expect("written");
    let mut app = bare(&folder, PhalanxPlugin::default());
    let all = ["c.vrm", "c.phx", "a file.gltf"].map(|file| walker(&mut app, file).1);
    bound(&mut app, 3);
    app.update();
    let crowd = app.world().resource::<PhalanxCrowd>();
    for entity in all {
        assert!(crowd.is_playing(entity, "Walk"));
    }
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
