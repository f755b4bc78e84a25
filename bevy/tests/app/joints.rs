//! Attachments are at their joints in the same frame.

use crate::{bare, common, files};
use bevy::math::{Affine3A, Vec3A};
use bevy::prelude::*;
use bevy_phalanx::phalanx::crowd::PoseStage;
use bevy_phalanx::phalanx::playback::{Mixer, PlayOptions};
use bevy_phalanx::{
    PhalanxAttachment, PhalanxCharacter, PhalanxCrowd, PhalanxJointEntities, PhalanxPlugin,
    PhalanxRig, RigAssets, phalanx,
};
use std::sync::Arc;

const STEP: f64 = 1.0 / 60.0;

/// A mixer of its own that walks for some steps.
fn mixer(steps: usize) -> Mixer {
    let rig = Arc::new(phalanx::import::mannequin().expect("built in"));
    let mut mixer = Mixer::new(rig).expect("made");
    let walk = mixer.clip_named("Walk").expect("a clip");
    mixer.player().play(0, walk, &PlayOptions::default()).expect("plays");
    (0..steps).for_each(|_| mixer.advance(STEP).expect("a step"));
    mixer
}

/// The model matrix of a joint by a mixer.
fn by_mixer(joint: &str, steps: usize) -> Affine3A {
    joint_of(&mixer(steps), joint)
}

fn joint_of(mixer: &Mixer, joint: &str) -> Affine3A {
    let [x, y, z] = mixer.model_matrix(joint).expect("a joint").rows;
    Affine3A::from_cols_array(&[
        x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2], x[3], y[3], z[3],
    ])
}

#[track_caller]
fn equal(a: Affine3A, b: Affine3A) {
    let (a, b) = (a.to_cols_array(), b.to_cols_array());
    let most = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(most < 1e-4, "{most}: {a:?} {b:?}");
}

fn world(app: &App, entity: Entity) -> Affine3A {
    app.world().get::<GlobalTransform>(entity).expect("it has a place").affine()
}

const OFFSET: Transform = Transform::from_xyz(0.1, 0.2, 0.3);

fn attach(app: &mut App, joint: &str, character: Entity) -> Entity {
    app.world_mut().spawn((PhalanxAttachment::new(joint), OFFSET, ChildOf(character))).id()
}

/// Of step `i`: a character that moves, turns and is scaled.
fn place(i: usize) -> Transform {
    let i = i as f32;
    Transform::from_xyz(i * 0.2, 1.0, -i)
        .with_rotation(Quat::from_rotation_y(0.1 * i))
        .with_scale(Vec3::splat(1.0 + 0.05 * i))
}

#[test]
fn attachments_and_what_is_below_them_follow_in_the_same_frame() {
    let mut app = bare::app();
    let rig = bare::rig(&mut app);
    let character = bare::walker(&mut app, &rig, place(0));
    // Before the rig is bound.
    let sword = attach(&mut app, "RightHand", character);
    let gem = app.world_mut().spawn((Transform::from_xyz(0.0, 1.0, 0.0), ChildOf(sword))).id();
    for i in 1..20 {
        *app.world_mut().get_mut::<Transform>(character).expect("a character") = place(i);
        app.update();
        // The first update has no time.
        let expected =
            place(i).compute_affine() * by_mixer("RightHand", i - 1) * OFFSET.compute_affine();
        equal(world(&app, sword), expected);
        let gem_offset = Affine3A::from_translation(Vec3::Y);
        equal(world(&app, gem), expected * gem_offset);
        let read = bare::joint(&app, character, "RightHand").affine();
        equal(read * OFFSET.compute_affine(), expected);
    }
    let crowd = app.world().resource::<PhalanxCrowd>();
    assert!(crowd.joint(character, "Tail").is_err());
    assert!(crowd.joint(sword, "Head").is_err());
}

#[test]
fn attachments_move_to_other_characters_and_survive_what_goes() {
    let mut app = bare::app();
    let rig = bare::rig(&mut app);
    let characters = [0, 5].map(|i| bare::walker(&mut app, &rig, place(i)));
    let sword = attach(&mut app, "RightHand", characters[0]);
    let none = attach(&mut app, "Tail", characters[0]);
    (0..3).for_each(|_| app.update());
    // A joint that is not there leaves an attachment where Bevy puts a child.
    equal(world(&app, none), place(0).compute_affine() * OFFSET.compute_affine());
    app.world_mut().entity_mut(sword).insert(ChildOf(characters[1]));
    app.update();
    let expected = place(5).compute_affine() * by_mixer("RightHand", 3) * OFFSET.compute_affine();
    equal(world(&app, sword), expected);
    // The other joint, of the same attachment.
    app.world_mut().get_mut::<PhalanxAttachment>(sword).expect("attached").joint = "Head".into();
    app.update();
    let expected = place(5).compute_affine() * by_mixer("Head", 4) * OFFSET.compute_affine();
    equal(world(&app, sword), expected);
    app.world_mut().entity_mut(none).despawn();
    app.world_mut().entity_mut(characters[1]).despawn();
    (0..2).for_each(|_| app.update());
    assert!(app.world().get_entity(sword).is_err());
}

#[test]
fn attachments_follow_a_rig_that_has_changed() {
    let mut app = bare::app();
    let rig = bare::rig(&mut app);
    let character = bare::walker(&mut app, &rig, place(2));
    app.world_mut().entity_mut(character).insert(PhalanxJointEntities);
    let sword = attach(&mut app, "RightHand", character);
    (0..3).for_each(|_| app.update());
    let count = |app: &mut App| {
        let mut all = app.world_mut().query::<&PhalanxAttachment>();
        all.iter(app.world()).count()
    };
    let joints = 47;
    assert_eq!(count(&mut app), joints + 1);
    // Another rig in the same asset, as a file that has changed.
    let remake = move |In(rig): In<Handle<PhalanxRig>>, mut assets: RigAssets| {
        let new = assets.add(phalanx::import::mannequin().expect("built in")).expect("no images");
        let new = assets.rigs.remove(&new).expect("added");
        assets.rigs.insert(&rig, new).expect("replaced");
    };
    app.world_mut().run_system_cached_with(remake, rig).expect("it runs");
    (0..3).for_each(|_| app.update());
    assert_eq!(count(&mut app), joints + 1);
    let read = bare::joint(&app, character, "RightHand").affine();
    equal(world(&app, sword), read * OFFSET.compute_affine());
    app.world_mut().entity_mut(character).remove::<PhalanxJointEntities>();
    app.update();
    assert_eq!(count(&mut app), 1);
}

#[test]
fn joint_entities_are_at_their_joints() {
    let mut app = bare::app();
    let rig = bare::rig(&mut app);
    let character = bare::walker(&mut app, &rig, place(3));
    app.update();
    app.world_mut().entity_mut(character).insert(PhalanxJointEntities);
    (0..4).for_each(|_| app.update());
    let mut all = app.world_mut().query::<(Entity, &Name, &PhalanxAttachment)>();
    let all: Vec<(Entity, String)> =
        all.iter(app.world()).map(|(e, name, _)| (e, name.to_string())).collect();
    assert_eq!(all.len(), 47);
    let mixer = mixer(4);
    // The left index finger has springs.
    for (entity, name) in all.into_iter().filter(|(_, name)| !name.starts_with("LeftHandIndex")) {
        equal(world(&app, entity), place(3).compute_affine() * joint_of(&mixer, &name));
    }
}

#[test]
fn a_rider_and_its_hat_follow_the_mount() {
    let mut app = bare::app();
    let rig = bare::rig(&mut app);
    let mount = bare::walker(&mut app, &rig, place(1));
    // The hat comes before the saddle, so that it is met first.
    let hat = app.world_mut().spawn((PhalanxAttachment::new("Head"), OFFSET)).id();
    let saddle = attach(&mut app, "Chest", mount);
    let rider = bare::walker(&mut app, &rig, Transform::from_xyz(0.0, 0.5, 0.0));
    app.world_mut().entity_mut(rider).insert(ChildOf(saddle));
    app.world_mut().entity_mut(hat).insert(ChildOf(rider));
    (0..5).for_each(|_| app.update());
    let saddle_at = place(1).compute_affine() * by_mixer("Chest", 4) * OFFSET.compute_affine();
    let rider_at = saddle_at * Affine3A::from_translation(Vec3::new(0.0, 0.5, 0.0));
    equal(world(&app, rider), rider_at);
    equal(world(&app, hat), rider_at * by_mixer("Head", 4) * OFFSET.compute_affine());
    assert!(app.world().get::<PhalanxCharacter>(rider).is_some());
}

#[test]
fn attachments_of_hidden_characters_move_with_them() {
    let mut app = bare::app();
    let rig = bare::rig(&mut app);
    let character = bare::walker(&mut app, &rig, place(1));
    let sword = attach(&mut app, "RightHand", character);
    (0..3).for_each(|_| app.update());
    app.world_mut().entity_mut(character).insert((Visibility::Hidden, place(4)));
    (0..5).for_each(|_| app.update());
    // The pose is the last that was evaluated.
    let expected = place(4).compute_affine() * by_mixer("RightHand", 2) * OFFSET.compute_affine();
    equal(world(&app, sword), expected);
}

#[test]
fn a_rider_is_in_the_crowd_where_its_mount_is() {
    let mut app = bare::app();
    let rig = bare::rig(&mut app);
    let mount = bare::walker(&mut app, &rig, place(0));
    let saddle = attach(&mut app, "Chest", mount);
    let rider = bare::walker(&mut app, &rig, Transform::from_xyz(0.0, 0.5, 0.0));
    app.world_mut().entity_mut(rider).insert(ChildOf(saddle));
    (0..3).for_each(|_| app.update());
    for i in 3..10 {
        *app.world_mut().get_mut::<Transform>(mount).expect("a mount") = place(i);
        app.update();
        let crowd = app.world().resource::<PhalanxCrowd>();
        let rows = crowd.crowd.world(crowd.instance(rider).expect("bound")).expect("one").rows;
        let seat = OFFSET.compute_affine() * Affine3A::from_translation(Vec3::Y * 0.5);
        // The chest is where it was in the last frame.
        let at = (place(i).compute_affine() * by_mixer("Chest", i - 1) * seat).translation;
        let off = at.distance(Vec3A::from(rows.map(|row| row[3])));
        assert!(off < 1e-3, "{off} m in frame {i}");
        equal(world(&app, rider), place(i).compute_affine() * by_mixer("Chest", i) * seat);
    }
}

#[test]
fn joints_of_one_name_have_entities_of_their_own() {
    let folder = files::folder("names");
    let (mut json, data) = files::parts(&common::built_in().join("mannequin.glb"));
    let nodes = json["nodes"].as_array_mut().expect("a list");
    for node in nodes.iter_mut().filter(|node| node["name"].as_str().is_some()) {
        if node["name"].as_str().is_some_and(|name| name.ends_with("HandIndex1")) {
            node["name"] = "Finger".into();
        }
    }
    files::write_glb(&folder.join("a.glb"), &json, &data);
    let mut app = common::bare(&folder, PhalanxPlugin::default());
    let rig: Handle<PhalanxRig> = app.world().resource::<AssetServer>().load("a.glb");
    let character = app.world_mut().spawn((PhalanxCharacter(rig), PhalanxJointEntities)).id();
    common::bound(&mut app, 1);
    (0..3).for_each(|_| app.update());
    let world = app.world_mut();
    let mut all = world.query::<(&Name, &GlobalTransform)>();
    let fingers = all.iter(world).filter(|(name, _)| name.as_str() == "Finger");
    let mut fingers: Vec<Vec3> = fingers.map(|(_, place)| place.translation()).collect();
    fingers.sort_by(|a, b| a.x.total_cmp(&b.x));
    // Hands in the rest pose: left is towards +x.
    assert!(fingers.len() == 2 && fingers[0].x < -0.2 && fingers[1].x > 0.2, "{fingers:?}");
    assert!(app.world().get::<PhalanxCharacter>(character).is_some());
}

#[test]
fn what_hangs_no_longer_is_not_watched() {
    let mut app = bare::app();
    let rig = bare::rig(&mut app);
    let character = bare::walker(&mut app, &rig, place(0));
    let [hat, sword] = ["Head", "RightHand"].map(|joint| attach(&mut app, joint, character));
    (0..3).for_each(|_| app.update());
    let watched = |app: &App| {
        let crowd = app.world().resource::<PhalanxCrowd>();
        let instance = crowd.instance(character).expect("bound");
        let of = crowd.crowd.watched(instance, PoseStage::After);
        of.map_or(0, |of| (0..47).filter(|&joint| of.model(joint).is_some()).count())
    };
    // The modifiers of the rig watch none.
    assert_eq!(watched(&app), 2);
    app.world_mut().entity_mut(hat).remove::<ChildOf>();
    let tree = app.world_mut().spawn(Transform::default()).id();
    app.world_mut().entity_mut(sword).insert(ChildOf(tree));
    (0..3).for_each(|_| app.update());
    assert_eq!(watched(&app), 0);
    app.world_mut().entity_mut(hat).insert(ChildOf(character));
    app.update();
    assert_eq!(watched(&app), 1);
}
