//! Characters come and go, and leave nothing behind.

use crate::bare;
use crate::common::{self, bare, bound, built_in};
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::entity_disabling::Disabled;
use bevy::prelude::*;
use bevy::world_serialization::DynamicWorldBuilder;
use bevy_phalanx::{
    PhalanxAttachment, PhalanxCharacter, PhalanxCrowd, PhalanxInstance, PhalanxJointEntities,
    PhalanxPlayer, PhalanxPlugin, PhalanxRig, PhalanxTarget, PhalanxTargets, TargetPoint,
};

fn rig(app: &App, file: &str) -> Handle<PhalanxRig> {
    app.world().resource::<AssetServer>().load(file.to_owned())
}

fn walker(rig: &Handle<PhalanxRig>) -> (PhalanxCharacter, PhalanxPlayer) {
    let mut player = PhalanxPlayer::default();
    player.play("Walk").repeat();
    (PhalanxCharacter(rig.clone()), player)
}

fn count(app: &App) -> usize {
    app.world().resource::<PhalanxCrowd>().crowd.instance_count()
}

fn entities(app: &mut App) -> usize {
    app.world_mut().query::<Entity>().iter(app.world()).count()
}

#[test]
fn thousands_leave_in_random_order() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let rig = rig(&app, "mannequin_lod2.glb");
    let parent = app.world_mut().spawn_empty().id();
    let first = app.world_mut().spawn((PhalanxCharacter(rig.clone()), ChildOf(parent))).id();
    bound(&mut app, 1);
    let mut alive = vec![first];
    let mut seed = 1u64;
    let mut random = move |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for _ in 0..200 {
        for _ in 0..random(12) {
            let character = (PhalanxCharacter(rig.clone()), ChildOf(parent));
            alive.push(app.world_mut().spawn(character).id());
        }
        for _ in 0..random(12).min(alive.len()) {
            let gone = alive.swap_remove(random(alive.len()));
            app.world_mut().despawn(gone);
        }
        app.update();
        assert_eq!(count(&app), alive.len());
        let crowd = app.world().resource::<PhalanxCrowd>();
        for &entity in &alive {
            let instance = crowd.instance(entity).expect("it is bound");
            assert_eq!(crowd.entity(instance), Some(entity));
        }
    }
    app.world_mut().despawn(parent);
    app.update();
    assert_eq!(count(&app), 0);
}

#[test]
fn a_character_may_go_while_its_file_loads() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let rig = rig(&app, "mannequin.glb");
    let gone = app.world_mut().spawn(walker(&rig)).id();
    app.world_mut().spawn(walker(&rig));
    app.world_mut().despawn(gone);
    bound(&mut app, 1);
    app.update();
    assert_eq!(count(&app), 1);
}

#[test]
fn without_its_component_a_character_is_an_entity() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let rig = rig(&app, "mannequin.glb");
    let entity = app.world_mut().spawn((walker(&rig), PhalanxJointEntities)).id();
    bound(&mut app, 1);
    let joints = 40;
    assert!(app.world().get::<Children>(entity).is_some_and(|c| c.len() > joints));
    app.world_mut().entity_mut(entity).remove::<PhalanxCharacter>();
    app.update();
    app.update();
    assert_eq!(count(&app), 0);
    assert!(app.world().get::<PhalanxInstance>(entity).is_none());
    assert!(app.world().get::<Children>(entity).is_none_or(|c| c.is_empty()));
}

#[test]
fn another_handle_leaves_nothing_of_the_one_before() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let (first, second) = (rig(&app, "mannequin.glb"), rig(&app, "mannequin_lod1.glb"));
    let other = app.world_mut().spawn(PhalanxCharacter(second.clone())).id();
    let entity = app.world_mut().spawn((walker(&first), PhalanxJointEntities)).id();
    bound(&mut app, 2);
    let before = entities(&mut app);
    let copy = app.world().resource::<PhalanxCrowd>().rig(&first);
    app.world_mut().entity_mut(entity).insert(PhalanxCharacter(second.clone()));
    for _ in 0..3 {
        app.update();
    }
    let crowd = app.world().resource::<PhalanxCrowd>();
    assert_eq!(crowd.instance(entity).map(|i| i.rig()), crowd.rig(&second));
    assert_ne!(crowd.rig(&second), copy);
    assert_eq!(count(&app), 2);
    // And back, with joints that are not doubled.
    app.world_mut().entity_mut(entity).insert(PhalanxCharacter(first.clone()));
    for _ in 0..3 {
        app.update();
    }
    assert_eq!((count(&app), entities(&mut app)), (2, before));
    app.world_mut().despawn(other);
    app.update();
    assert_eq!(count(&app), 1);
}

#[test]
fn calls_go_on_after_a_handle_that_went_and_came_back() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let rig = rig(&app, "mannequin.glb");
    let entity = app.world_mut().spawn(walker(&rig)).id();
    bound(&mut app, 1);
    app.world_mut().entity_mut(entity).insert(PhalanxCharacter(Handle::default()));
    app.world_mut().get_mut::<PhalanxPlayer>(entity).expect("plays").play("Run").repeat();
    app.update();
    // The call is for the rig that has not loaded.
    assert!(app.world().resource::<PhalanxCrowd>().is_playing(entity, "Walk"));
    app.world_mut().entity_mut(entity).insert(PhalanxCharacter(rig));
    app.update();
    assert!(app.world().resource::<PhalanxCrowd>().is_playing(entity, "Run"));
}

#[derive(States, Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Level {
    #[default]
    First,
    Second,
}

#[test]
fn a_level_takes_the_place_of_another() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    app.init_state::<Level>();
    let first = rig(&app, "mannequin.glb");
    for _ in 0..300 {
        app.world_mut().spawn((walker(&first), DespawnOnExit(Level::First)));
    }
    bound(&mut app, 300);
    let second = rig(&app, "mannequin_lod1.glb");
    let id = app.world().resource::<PhalanxCrowd>().rig(&first).expect("loaded");
    drop(first);
    app.world_mut().resource_mut::<NextState<Level>>().set(Level::Second);
    app.update();
    for _ in 0..200 {
        app.world_mut().spawn((walker(&second), DespawnOnExit(Level::Second)));
    }
    bound(&mut app, 200);
    assert_eq!(count(&app), 200);
    // The rig of the first level went with its last handle.
    for _ in 0..5 {
        app.update();
    }
    assert!(app.world().resource::<PhalanxCrowd>().crowd.rig(id).is_err());
}

#[test]
fn a_scene_of_several_characters_is_spawned_again_and_again() {
    let mut app = bare::app();
    common::register(&mut app);
    let rig = bare::rig(&mut app);
    let places = [0.0, 2.0, 4.0].map(|x| Transform::from_xyz(x, 0.0, 0.0));
    let characters = places.map(|place| bare::walker(&mut app, &rig, place));
    let hat = (PhalanxAttachment::new("Head"), ChildOf(characters[1]));
    let hat = app.world_mut().spawn(hat).id();
    let look = PhalanxTarget::new("look", TargetPoint::Entity(hat));
    app.world_mut().entity_mut(characters[0]).insert(PhalanxTargets(vec![look]));
    // Before calls of players are taken.
    let all = characters.into_iter().chain([hat]);
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let scene = DynamicWorldBuilder::from_world(app.world(), &registry.read())
        .extract_entities(all)
        .build();
    for _ in 0..2 {
        let mut copies = EntityHashMap::default();
        scene.write_to_world(app.world_mut(), &mut copies).expect("it is written");
        (0..3).for_each(|_| app.update());
        let world = app.world();
        let crowd = world.resource::<PhalanxCrowd>();
        for (character, place) in characters.iter().zip(places) {
            assert!(crowd.is_playing(copies[character], "Walk"));
            assert_eq!(*world.get::<Transform>(copies[character]).expect("placed"), place);
        }
        let targets = world.get::<PhalanxTargets>(copies[&characters[0]]).expect("copied");
        assert_eq!(targets.0[0].point, TargetPoint::Entity(copies[&hat]));
        let at = world.get::<GlobalTransform>(copies[&hat]).expect("placed");
        let head = bare::joint(&app, copies[&characters[1]], "Head");
        assert!(at.affine().abs_diff_eq(head.affine(), 1e-4), "{at:?} {head:?}");
    }
    assert_eq!(count(&app), 9);
}

#[test]
fn a_disabled_character_stands_still_and_goes_on() {
    let mut app = bare::app();
    let rig = bare::rig(&mut app);
    let entity = bare::walker(&mut app, &rig, Transform::IDENTITY);
    app.world_mut().get_mut::<PhalanxPlayer>(entity).expect("plays").set_character_speed(2.0);
    (0..4).for_each(|_| app.update());
    let time = |app: &App| {
        let state = app.world().resource::<PhalanxCrowd>().state(entity, "Walk");
        state.expect("it plays").time
    };
    let before = time(&app);
    app.world_mut().entity_mut(entity).insert_recursive::<Children>(Disabled);
    // Calls wait.
    app.world_mut().get_mut::<PhalanxPlayer>(entity).expect("plays").set_layer_weight(0, 0.5);
    (0..5).for_each(|_| app.update());
    assert_eq!(time(&app), before);
    app.world_mut().entity_mut(entity).remove_recursive::<Children, Disabled>();
    (0..6).for_each(|_| app.update());
    // The first of these frames starts it again, before the clock advances.
    let (passed, expected) = (time(&app) - before, 6.0 * 2.0 / 60.0);
    assert!((passed - expected).abs() < 1e-6, "{passed} s, not {expected}");
    let crowd = app.world().resource::<PhalanxCrowd>();
    let instance = crowd.instance(entity).expect("bound");
    assert_eq!(crowd.playing(entity).expect("plays").layer_weight(0).ok(), Some(0.5));
    assert!(crowd.crowd.shown(instance).is_some(), "it is evaluated again");
    assert_eq!(count(&app), 1);
    // One that is disabled from the beginning, and goes.
    let other = bare::walker(&mut app, &rig, Transform::IDENTITY);
    app.world_mut().entity_mut(other).insert(Disabled);
    (0..3).for_each(|_| app.update());
    app.world_mut().despawn(other);
    app.update();
    assert_eq!(count(&app), 1);
}

#[test]
fn a_running_world_that_is_saved_comes_back_whole() {
    let mut app = bare::app();
    common::register(&mut app);
    let rig = bare::rig(&mut app);
    let entity = bare::walker(&mut app, &rig, Transform::IDENTITY);
    app.world_mut().entity_mut(entity).insert(PhalanxJointEntities);
    (0..4).for_each(|_| app.update());
    let numbers = |app: &mut App| {
        let meshes = app.world_mut().query::<&Mesh3d>().iter(app.world()).count();
        (meshes, app.world_mut().query::<&PhalanxAttachment>().iter(app.world()).count())
    };
    let before = numbers(&mut app);
    assert!(before.0 > 0 && before.1 == 47, "{before:?}");
    let player = app.world().resource::<PhalanxCrowd>().player_of(entity).expect("bound");
    app.world_mut().entity_mut(entity).insert(player);
    let all: Vec<Entity> = {
        let mut all = app.world_mut().query_filtered::<Entity, With<Transform>>();
        all.iter(app.world()).collect()
    };
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let scene = DynamicWorldBuilder::from_world(app.world(), &registry.read())
        .extract_entities(all.into_iter())
        .build();
    let time = app.world().resource::<PhalanxCrowd>().state(entity, "Walk").expect("plays").time;
    app.world_mut().despawn(entity);
    app.update();
    let mut copies = EntityHashMap::default();
    scene.write_to_world(app.world_mut(), &mut copies).expect("it is written");
    (0..4).for_each(|_| app.update());
    assert_eq!(numbers(&mut app), before);
    let crowd = app.world().resource::<PhalanxCrowd>();
    let state = crowd.state(copies[&entity], "Walk").expect("it plays on");
    assert!((state.time - time - 4.0 / 60.0).abs() < 1e-4, "{} s after {time} s", state.time);
}
