//! Targets, overrides, springs and feet.

use crate::bare;
use bevy::prelude::*;
use bevy_phalanx::{
    OverrideSpace, PhalanxAttachment, PhalanxCharacter, PhalanxFeet, PhalanxGround,
    PhalanxOverride, PhalanxOverrides, PhalanxSprings, PhalanxTarget, PhalanxTargets, TargetPoint,
};

const PLACE: Transform = Transform::from_xyz(3.0, 0.0, -2.0);

fn start() -> (App, Entity) {
    let mut app = bare::app();
    let rig = bare::rig(&mut app);
    let place = PLACE.with_rotation(Quat::from_rotation_y(1.0));
    let character = bare::walker(&mut app, &rig, place);
    app.update();
    (app, character)
}

/// A place in the world that the right hand reaches, given in the space of the character.
fn near() -> Vec3 {
    PLACE.with_rotation(Quat::from_rotation_y(1.0)).transform_point(Vec3::new(-0.3, 1.2, 0.35))
}

fn hand(app: &App, character: Entity) -> Vec3 {
    bare::joint(app, character, "RightHand").translation()
}

fn aim_at(app: &mut App, character: Entity, target: PhalanxTarget) {
    app.world_mut().entity_mut(character).insert(PhalanxTargets(vec![target]));
}

#[test]
fn a_hand_reaches_points_of_all_spaces() {
    let (mut app, character) = start();
    for point in [TargetPoint::World(near()), TargetPoint::Model(Vec3::new(-0.3, 1.2, 0.35))] {
        aim_at(&mut app, character, PhalanxTarget::new("reach", point));
        app.update();
        let off = hand(&app, character).distance(near());
        assert!(off < 1e-3, "{off} m");
    }
    let offset = Vec3::new(-0.2, 0.1, 0.3);
    let point = TargetPoint::Joint("Chest".into(), offset);
    aim_at(&mut app, character, PhalanxTarget::new("reach", point));
    app.update();
    let chest = bare::joint(&app, character, "Chest").transform_point(offset);
    let off = hand(&app, character).distance(chest);
    assert!(off < 1e-3, "{off} m");
}

#[test]
fn a_hand_reaches_an_entity_in_the_frame_in_which_it_moves() {
    let (mut app, character) = start();
    let handle = app.world_mut().spawn(Transform::from_translation(near())).id();
    aim_at(&mut app, character, PhalanxTarget::new("reach", TargetPoint::Entity(handle)));
    for i in 0..10 {
        let at = near() + Vec3::Y * (0.02 * i as f32);
        app.world_mut().get_mut::<Transform>(handle).expect("a handle").translation = at;
        app.update();
        let off = hand(&app, character).distance(at);
        assert!(off < 1e-3, "{off} m in frame {i}");
    }
    // Without it the arm is the animation's again.
    app.world_mut().entity_mut(handle).despawn();
    app.update();
    assert!(hand(&app, character).distance(near()) > 0.1);
}

#[test]
fn a_hand_reaches_a_joint_of_another_that_moves() {
    let (mut app, character) = start();
    let rig = app.world().get::<PhalanxCharacter>(character).expect("a character").0.clone();
    let place = |i: usize| PLACE.with_translation(near() + Vec3::new(0.03 * i as f32, -1.5, 0.0));
    let other = bare::walker(&mut app, &rig, place(0));
    let head = app.world_mut().spawn((PhalanxAttachment::new("Head"), ChildOf(other))).id();
    aim_at(&mut app, character, PhalanxTarget::new("reach", TargetPoint::Entity(head)));
    (0..3).for_each(|_| app.update());
    for i in 1..6 {
        // The pose is that of the last frame, the place that of this one.
        let pose =
            place(i - 1).compute_affine().inverse() * bare::joint(&app, other, "Head").affine();
        let at = (place(i).compute_affine() * pose).translation.into();
        *app.world_mut().get_mut::<Transform>(other).expect("another") = place(i);
        app.update();
        let off = hand(&app, character).distance(at);
        assert!(off < 1e-3, "{off} m in frame {i}");
    }
}

#[test]
fn entities_of_targets_are_mapped() {
    let mut world = World::new();
    let [from, to] = [0, 1].map(|_| world.spawn_empty().id());
    let target = |entity| PhalanxTarget::new("look", TargetPoint::Entity(entity));
    let mut targets = PhalanxTargets(vec![target(from)]);
    let mut map = bevy::ecs::entity::EntityHashMap::<Entity>::default();
    map.insert(from, to);
    <PhalanxTargets as Component>::map_entities(&mut targets, &mut map);
    assert_eq!(targets.0, [target(to)]);
}

#[test]
fn a_head_looks_at_a_point() {
    let (mut app, character) = start();
    let bird = PLACE.translation + Vec3::new(3.0, 2.0, 2.0);
    aim_at(&mut app, character, PhalanxTarget::new("look", TargetPoint::World(bird)));
    app.update();
    let head = bare::joint(&app, character, "Head");
    let off = (head.rotation() * Vec3::Z).angle_between(bird - head.translation());
    assert!(off < 1e-2, "{off} rad");
}

/// How far the hand is from the target while a target fades in for 20 steps, then out by one of three ways.
#[test]
fn targets_fade_in_and_out() {
    for way in 0..3 {
        let (mut app, character) = start();
        let handle = app.world_mut().spawn(Transform::from_translation(near())).id();
        let fading = PhalanxTarget {
            seconds: 20.0 / 60.0,
            ..PhalanxTarget::new("reach", TargetPoint::Entity(handle))
        };
        aim_at(&mut app, character, fading);
        let off = |app: &App| hand(app, character).distance(near());
        (0..10).for_each(|_| app.update());
        let half = off(&app);
        // A list that is written in each frame goes on with the fade.
        for _ in 0..12 {
            app.world_mut().get_mut::<PhalanxTargets>(character).expect("set").set_changed();
            app.update();
        }
        assert!(half > 0.02 && off(&app) < 1e-3, "{half} m, then {} m", off(&app));
        match way {
            0 => {
                aim_at(&mut app, character, PhalanxTarget::new("look", TargetPoint::World(Vec3::Y)))
            }
            1 => _ = app.world_mut().entity_mut(character).remove::<PhalanxTargets>(),
            _ => app.world_mut().entity_mut(handle).despawn(),
        }
        (0..10).for_each(|_| app.update());
        let half = off(&app);
        (0..12).for_each(|_| app.update());
        let out = off(&app);
        assert!(half > 0.02 && out > half + 0.02, "way {way}: {half} m, then {out} m");
    }
}

#[test]
fn an_unknown_modifier_changes_nothing() {
    let (mut app, character) = start();
    let (mut plain, other) = start();
    aim_at(&mut app, character, PhalanxTarget::new("grab", TargetPoint::World(near())));
    for _ in 0..3 {
        app.update();
        plain.update();
    }
    assert_eq!(hand(&app, character), hand(&plain, other));
}

#[test]
fn overrides_hold_in_all_spaces_and_end() {
    let (mut app, character) = start();
    let transform = Transform::from_xyz(0.1, 1.5, 0.2).with_rotation(Quat::from_rotation_x(0.4));
    let place = *app.world().get::<GlobalTransform>(character).expect("placed");
    for space in [OverrideSpace::Local, OverrideSpace::Model, OverrideSpace::World] {
        let o = PhalanxOverride { joint: "Head".into(), transform, space, weight: 1.0 };
        app.world_mut().entity_mut(character).insert(PhalanxOverrides(vec![o]));
        app.update();
        let over = match space {
            OverrideSpace::Local => bare::joint(&app, character, "Neck"),
            OverrideSpace::Model => place,
            OverrideSpace::World => GlobalTransform::IDENTITY,
        };
        let expected = (over * transform).affine();
        let head = bare::joint(&app, character, "Head").affine();
        assert!(head.abs_diff_eq(expected, 1e-3), "{space:?}: {head:?}, not {expected:?}");
    }
    // Half of it is between; nothing of it remains.
    let head = |app: &App| bare::joint(app, character, "Head").translation();
    let full = head(&app);
    app.world_mut().get_mut::<PhalanxOverrides>(character).expect("set").0[0].weight = 0.5;
    app.update();
    let half = head(&app);
    app.world_mut().entity_mut(character).remove::<PhalanxOverrides>();
    app.update();
    let none = head(&app);
    assert!(none.distance(place.translation()) < 2.0);
    let middle = (full + none) / 2.0;
    assert!(half.distance(middle) < 0.1 * full.distance(none), "{half} is not near {middle}");
}

#[test]
fn springs_swing_unless_their_weight_is_0() {
    let finger = |weight: Option<f32>, later: Option<f32>| {
        let (mut app, character) = start();
        for weight in [weight, later] {
            match weight {
                Some(weight) => {
                    app.world_mut().entity_mut(character).insert(PhalanxSprings(weight));
                }
                None => _ = app.world_mut().entity_mut(character).remove::<PhalanxSprings>(),
            }
            (0..20).for_each(|_| app.update());
        }
        bare::joint(&app, character, "LeftHandIndex3").translation()
    };
    let (on, off) = (finger(Some(1.0), Some(1.0)), finger(Some(0.0), Some(0.0)));
    assert!(on.distance(off) > 5e-3, "{} m", on.distance(off));
    assert_eq!(finger(None, None), on);
    // Without the component they swing again.
    assert!(finger(Some(0.0), None).distance(off) > 5e-3);
}

/// The height of the lower foot.
fn low(app: &App, character: Entity) -> f32 {
    let feet = ["LeftFoot", "RightFoot"].map(|foot| bare::joint(app, character, foot));
    feet.map(|foot| foot.translation().y).into_iter().fold(f32::MAX, f32::min)
}

#[test]
fn feet_stand_on_the_ground_of_the_app() {
    let (mut app, character) = start();
    let before = low(&app, character);
    app.insert_resource(PhalanxGround::new(|_| (-0.2, Vec3::Y)));
    (0..60).for_each(|_| app.update());
    let sunk = low(&app, character) - before;
    assert!((sunk + 0.2).abs() < 0.03, "{sunk} m");
    app.world_mut().entity_mut(character).insert(PhalanxFeet { weight: 0.0, seconds: 0.1 });
    (0..60).for_each(|_| app.update());
    assert!((low(&app, character) - before).abs() < 0.03);
    app.world_mut().entity_mut(character).remove::<PhalanxFeet>();
    (0..60).for_each(|_| app.update());
    assert!((low(&app, character) - before + 0.2).abs() < 0.03);
    // And without the ground they are the animation's.
    app.world_mut().remove_resource::<PhalanxGround>();
    (0..60).for_each(|_| app.update());
    assert!((low(&app, character) - before).abs() < 0.03);
}

#[test]
fn where_there_is_no_ground_feet_are_as_animated() {
    let (mut app, character) = start();
    let rig = app.world().get::<PhalanxCharacter>(character).expect("a character").0.clone();
    let other = bare::walker(&mut app, &rig, Transform::from_xyz(100.0, 5.0, 0.0));
    app.update();
    let before = [character, other].map(|character| low(&app, character));
    for hole in
        [(f32::NAN, Vec3::Y), (f32::NEG_INFINITY, Vec3::Y), (4.0, Vec3::ZERO), (1e20, Vec3::Y)]
    {
        app.insert_resource(PhalanxGround::new(move |at| match at.x > 50.0 {
            true => hole,
            false => (-0.2, Vec3::Y),
        }));
        (0..60).for_each(|_| app.update());
        let [sunk, same] = [(character, before[0]), (other, before[1])]
            .map(|(character, before)| low(&app, character) - before);
        assert!((sunk + 0.2).abs() < 0.03 && same.abs() < 0.03, "{hole:?}: {sunk} m, {same} m");
    }
}
