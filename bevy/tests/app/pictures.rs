//! Pictures equal those of Bevy's own animation.

use crate::common;
use bevy::animation::graph::{AnimationGraph, AnimationGraphHandle};
use bevy::gltf::GltfAssetLabel;
use bevy::prelude::*;
use bevy::world_serialization::WorldAssetRoot;
use bevy_phalanx::{PhalanxCharacter, PhalanxInstance, PhalanxPlayer};

/// What of two pictures differs: the share of bytes by more than 8 of 255, and the mean difference.
fn difference(a: &[u8], b: &[u8]) -> (f64, f64) {
    assert_eq!(a.len(), b.len());
    assert!(!a.is_empty());
    let differences = || a.iter().zip(b).map(|(a, b)| f64::from(a.abs_diff(*b)));
    let count = a.len() as f64;
    (differences().filter(|d| *d > 8.0).count() as f64 / count, differences().sum::<f64>() / count)
}

/// How many colours a picture has, so that two empty ones are no success.
fn colours(picture: &[u8]) -> usize {
    let mut all: Vec<&[u8]> = picture.chunks(4).collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

pub fn save(name: &str, picture: &[u8]) {
    let Some(folder) = std::env::var_os("PHALANX_PICTURES") else { return };
    let path = std::path::PathBuf::from(folder).join(name);
    image::save_buffer(path, picture, common::SIZE[0], common::SIZE[1], image::ColorType::Rgba8)
        .expect("written");
}

/// A model, a clip and places: Bevy's picture of them at a time.
fn by_bevy(
    file: &str,
    clip: usize,
    time: f32,
    places: &[Transform],
    eye: Vec3,
    target: Vec3,
) -> Option<Vec<u8>> {
    let mut app = common::app(&common::models()?);
    common::scene(&mut app, eye, target);
    let assets = app.world().resource::<AssetServer>().clone();
    let _file = common::loaded(&mut app, file);
    let scene = assets.load(GltfAssetLabel::Scene(0).from_asset(file.to_owned()));
    let animation = assets.load(GltfAssetLabel::Animation(clip).from_asset(file.to_owned()));
    for place in places {
        app.world_mut().spawn((WorldAssetRoot(scene.clone()), *place));
    }
    play_all(&mut app, animation, time, places.len());
    Some(common::picture(&mut app))
}

/// Waits for so many scenes, and holds a clip at a time in all by Bevy's players.
pub fn play_all(app: &mut App, clip: Handle<AnimationClip>, time: f32, count: usize) {
    common::until(app, "the scenes spawn", |world| {
        world.query::<&AnimationPlayer>().iter(world).count() == count
    });
    let (graph, node) = AnimationGraph::from_clip(clip);
    let graph = app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);
    let world = app.world_mut();
    let players: Vec<Entity> =
        world.query_filtered::<Entity, With<AnimationPlayer>>().iter(world).collect();
    for entity in players {
        world.entity_mut(entity).insert(AnimationGraphHandle(graph.clone()));
        let mut player = world.get_mut::<AnimationPlayer>(entity).expect("queried");
        player.play(node).seek_to(time).set_speed(0.0);
    }
}

fn by_phalanx(
    file: &str,
    clip: &str,
    time: f32,
    places: &[Transform],
    eye: Vec3,
    target: Vec3,
) -> Option<Vec<u8>> {
    let mut app = common::app(&common::models()?);
    common::scene(&mut app, eye, target);
    let rig = app.world().resource::<AssetServer>().load(file.to_owned());
    for place in places {
        let mut player = PhalanxPlayer::default();
        player.play(clip).seek_to(time).with_speed(0.0);
        app.world_mut().spawn((PhalanxCharacter(rig.clone()), player, *place));
    }
    common::until(&mut app, "the characters are bound", |world| {
        world.query::<&PhalanxInstance>().iter(world).count() == places.len()
    });
    Some(common::picture(&mut app))
}

fn compare(
    name: &str,
    file: &str,
    clip: (usize, &str),
    time: f32,
    places: &[Transform],
    eye: Vec3,
    target: Vec3,
) {
    let Some(theirs) = by_bevy(file, clip.0, time, places, eye, target) else { return };
    let Some(ours) = by_phalanx(file, clip.1, time, places, eye, target) else { return };
    save(&format!("{name}-bevy.png"), &theirs);
    save(&format!("{name}-phalanx.png"), &ours);
    assert_alike(name, &theirs, &ours);
}

/// At most 0.2% of the bytes differ by more than 8 of 255: edges of triangles, where roundings differ.
pub fn assert_alike(name: &str, theirs: &[u8], ours: &[u8]) {
    assert!(colours(theirs) > 50, "{name}: {} colours", colours(theirs));
    let (share, mean) = difference(theirs, ours);
    eprintln!("{name}: {share} of all bytes differ, by {mean} of 255 in the mean");
    assert!(
        share < 0.002 && mean < 0.1,
        "{name}: {share} of all bytes differ, by {mean} of 255 in the mean"
    );
}

#[test]
fn one_fox_looks_as_by_bevy() {
    let places = [Transform::IDENTITY];
    compare(
        "fox",
        "Fox.glb",
        (1, "Walk"),
        0.3,
        &places,
        Vec3::new(120.0, 90.0, 120.0),
        Vec3::new(0.0, 40.0, 0.0),
    );
}

#[test]
fn many_foxes_look_as_by_bevy() {
    let places: Vec<Transform> = (0..25)
        .map(|i| {
            let place = Vec3::new((i % 5) as f32 * 100.0, 0.0, (i / 5) as f32 * -120.0);
            Transform::from_translation(place)
                .with_rotation(Quat::from_rotation_y(i as f32))
                .with_scale(Vec3::new(1.0, 0.7 + 0.02 * i as f32, 1.0))
        })
        .collect();
    compare(
        "foxes",
        "Fox.glb",
        (2, "Run"),
        0.4,
        &places,
        Vec3::new(200.0, 260.0, 330.0),
        Vec3::new(200.0, 0.0, -200.0),
    );
}
