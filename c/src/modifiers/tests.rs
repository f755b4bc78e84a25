//! Modifiers, overrides and poses against the same calls of the library.

mod poses;
mod springs;

use super::*;
use crate::border::Extensible;
use crate::border::said;
use crate::crowd::phx_crowd;
use crate::frame::tests::{Twins, expect};
use crate::types::*;
use phalanx::crowd::*;
use phalanx::glam::Quat;
use phalanx::math::Affine3x4;
use phalanx::skeleton::{SpringBones, Trs};
use std::f32::consts::{FRAC_PI_2, PI};
use std::ptr::{null, null_mut};

#[test]
fn defaults_are_those_of_the_library() {
    let ik = phx_two_bone_ik::DEFAULT;
    assert_eq!(definitions::two_bone_ik(&ik).unwrap(), TwoBoneIk::new(PHX_NONE as usize));
    let rust = Aim::chain([(3, 1.0), (4, 1.0)]);
    let joints = [3, 4];
    let aim = phx_aim { joints: joints.as_ptr(), count: 2, ..phx_aim::DEFAULT };
    // SAFETY: arrays of this test.
    unsafe {
        assert_eq!(definitions::aim(&aim).unwrap(), rust);
        let foot =
            phx_foot { ankle: 5, leg: null(), down: phx_text::empty(), up: phx_text::empty() };
        let feet = phx_feet { pelvis: 1, feet: &foot, count: 1, ..phx_feet::DEFAULT };
        assert_eq!(definitions::feet(&feet).unwrap(), Feet::new(1, &[5]));
        assert_eq!(definitions::hook(&phx_hook::DEFAULT).unwrap(), Hook::default());
        assert_eq!(
            crate::modifiers::springs::springs(&phx_springs::DEFAULT).unwrap(),
            SpringBones::default()
        );
    }
    let none = phx_watched::DEFAULT;
    assert_eq!((none.count, none.age), (0, PHX_NEVER));
}

type Add<T> =
    unsafe extern "C" fn(*mut phx_crowd, phx_rig_id, *const T, *mut phx_modifier_id) -> phx_status;

/// Adds a modifier to both twins, and sees what every definition refuses.
fn add<T: Extensible>(
    twins: &mut Twins,
    call: Add<T>,
    definition: &T,
    rust: impl Into<Modifier>,
) -> ModifierId {
    let (rig, mut id) = (twins.rig.to_bits(), 1);
    // SAFETY: pointers of this function.
    unsafe {
        expect(call(twins.c, rig, definition, null_mut()), PHX_ERROR_NULL);
        expect(call(null_mut(), rig, definition, &mut id), PHX_ERROR_NULL);
        expect(call(twins.c, 0, definition, &mut id), PHX_ERROR_ID);
        expect(call(twins.c, rig + (1 << 40), definition, &mut id), PHX_ERROR_ID);
        let mut other = *definition;
        (&raw mut other).cast::<usize>().write(4);
        expect(call(twins.c, rig, &other, &mut id), PHX_ERROR_STRUCT_SIZE);
        assert_eq!(id, 1);
        expect(call(twins.c, rig, definition, &mut id), PHX_OK);
    }
    let added = twins.rust.add_modifier(twins.rig, rust).unwrap();
    // The first of the rig: nothing that was refused is there.
    assert_eq!(id, added.to_bits());
    added
}

/// Definitions that are refused.
fn refuse<T: Extensible>(twins: &Twins, call: Add<T>, all: &[(T, phx_status)]) {
    let mut id = 1;
    for (number, (definition, status)) in all.iter().enumerate() {
        // SAFETY: pointers of this function.
        let got = unsafe { call(twins.c, twins.rig.to_bits(), definition, &mut id) };
        assert_eq!((got, id), (*status, 1), "{number}: {}", said());
    }
}

fn in_world(position: [f32; 3]) -> phx_target {
    phx_target {
        space: PHX_TARGET_WORLD,
        joint: 0,
        position,
        has_rotation: 0,
        rotation: [0.0; 4],
        has_normal: 0,
        normal: [0.0; 3],
    }
}

#[test]
fn chains_of_two_bones_reach_the_targets() {
    let mut twins = Twins::new(3, None);
    let hand = twins.joint("RightHand");
    let spine = twins.joint("Spine");
    let default = phx_two_bone_ik { end: hand, ..Extensible::DEFAULT };
    let ik = phx_two_bone_ik {
        pole: PHX_POLE_DIRECTION,
        pole_direction: [0.0, -1.0, -0.5],
        soft: 0.1,
        stretch: 1.2,
        twist: 0.3,
        end_rotation: PHX_END_ROTATION_FOLLOW,
        normal_axis: [1.0, 0.0, 0.0],
        axis: [0.0, 1.0, 0.0],
        ..default
    };
    let rust = TwoBoneIk {
        pole: Pole::Direction(Vec3::new(0.0, -1.0, -0.5)),
        soft: 0.1,
        stretch: 1.2,
        twist: 0.3,
        end_rotation: EndRotation::Follow,
        normal_axis: Some(Vec3::X),
        axis: Some(Vec3::Y),
        ..TwoBoneIk::new(hand as usize)
    };
    refuse(
        &twins,
        phx_crowd_add_two_bone_ik,
        &[
            (Extensible::DEFAULT, PHX_ERROR_NOT_FOUND),
            (phx_two_bone_ik { middle: 99, ..default }, PHX_ERROR_NOT_FOUND),
            (phx_two_bone_ik { pole: 3, ..default }, PHX_ERROR_VALUE),
            (phx_two_bone_ik { pole: PHX_POLE_JOINT, ..default }, PHX_ERROR_NOT_FOUND),
            (phx_two_bone_ik { end_rotation: 2, ..default }, PHX_ERROR_VALUE),
            (phx_two_bone_ik { stretch: f32::NAN, ..default }, PHX_ERROR_VALUE),
            (phx_two_bone_ik { axis: [f32::NAN; 3], ..default }, PHX_ERROR_VALUE),
        ],
    );
    let id = add(&mut twins, phx_crowd_add_two_bone_ik, &ik, rust);
    let (c, modifier) = (twins.c, id.to_bits());
    let [first, second, third] = [0, 1, 2].map(|n| twins.ids[n].to_bits());
    let turned = phx_target {
        space: PHX_TARGET_JOINT,
        joint: spine,
        has_rotation: 1,
        rotation: [0.0, 0.6, 0.0, 0.8],
        ..in_world([0.1, 0.2, 0.3])
    };
    let normal = phx_target {
        space: PHX_TARGET_MODEL,
        has_normal: 1,
        normal: [0.0, 2.0, 1.0],
        ..in_world([-0.3, 1.2, 0.2])
    };
    let position = Vec3::new(0.1, 0.2, 0.3);
    let (mut read, mut weight) = (in_world([7.0; 3]), 7.0);
    // SAFETY: pointers of this test.
    unsafe {
        expect(phx_crowd_add_two_bone_ik(c, twins.rig.to_bits(), null(), &mut 0), PHX_ERROR_NULL);
        let refused = [
            (c, first, modifier, phx_target { space: 3, ..normal }, PHX_ERROR_VALUE),
            (c, first, modifier, in_world([f32::NAN; 3]), PHX_ERROR_VALUE),
            (c, first, modifier, phx_target { joint: 47, ..turned }, PHX_ERROR_NOT_FOUND),
            (c, first, modifier, phx_target { rotation: [0.0; 4], ..turned }, PHX_ERROR_VALUE),
            (c, first, modifier ^ 1 << 33, normal, PHX_ERROR_ID),
            (c, first, 0, normal, PHX_ERROR_ID),
            (c, first ^ 1 << 20, modifier, normal, PHX_ERROR_ID),
            (c, 0, modifier, normal, PHX_ERROR_ID),
            (null_mut(), first, modifier, normal, PHX_ERROR_NULL),
        ];
        for (number, (c, who, modifier, target, status)) in refused.into_iter().enumerate() {
            let got = phx_instance_set_target(c, who, modifier, &target);
            assert_eq!(got, status, "{number}: {}", said());
        }
        expect(phx_instance_set_target(c, first, modifier, null()), PHX_ERROR_NULL);
        expect(phx_instance_target(c, first, modifier, &mut read, &mut weight), PHX_OK);
        assert_eq!((read.space, read.position, weight), (PHX_TARGET_MODEL, [0.0; 3], 0.0));
        expect(phx_instance_target(c, first, 0, &mut read, &mut weight), PHX_ERROR_ID);
        expect(phx_instance_set_target(c, first, modifier, &turned), PHX_OK);
        expect(phx_instance_fade_modifier(c, first, modifier, 0.75, 0.0), PHX_OK);
        expect(phx_instance_fade_modifier(c, first, modifier, 1.5, 0.0), PHX_ERROR_VALUE);
        expect(phx_instance_fade_modifier(c, first, modifier, 1.0, f32::NAN), PHX_ERROR_VALUE);
        expect(phx_instance_target(c, first, modifier, &mut read, &mut weight), PHX_OK);
        assert_eq!((read, weight), (turned, 0.75));
        expect(phx_instance_target(c, first, modifier, null_mut(), null_mut()), PHX_OK);

        let ids = [second, third];
        let both = [in_world([-0.4, 1.0, 0.3]), normal];
        let set = |ids: &[u64], targets: &[phx_target], weights: &[f32]| {
            let (of, n) = (ids.as_ptr(), ids.len());
            let (targets, t) = (targets.as_ptr(), targets.len());
            phx_instances_set_targets(
                c,
                of,
                n,
                modifier,
                targets,
                t,
                weights.as_ptr(),
                weights.len(),
            )
        };
        expect(set(&ids, &[in_world([1.0; 3]), in_world([f32::NAN; 3])], &[1.0]), PHX_ERROR_VALUE);
        expect(set(&ids, &[in_world([1.0; 3]); 3], &[1.0]), PHX_ERROR_VALUE);
        expect(set(&ids, &[phx_target { space: 9, ..normal }], &[1.0]), PHX_ERROR_VALUE);
        assert!(said().starts_with("element 0"), "{}", said());
        expect(set(&ids, &both, &[1.0, 2.0]), PHX_ERROR_VALUE);
        expect(set(&[second, 0], &both, &[1.0]), PHX_ERROR_ID);
        expect(phx_instance_target(c, second, modifier, &mut read, &mut weight), PHX_OK);
        assert_eq!((read.position, weight), ([0.0; 3], 0.0));
        expect(set(&ids, &both, &[1.0, 0.5]), PHX_OK);
    }
    let all = twins.ids.clone();
    let rotation = Some(Quat::from_xyzw(0.0, 0.6, 0.0, 0.8));
    let target = Target { rotation, ..Target::joint(spine as usize, position) };
    let mut player = twins.rust.player(all[0]).unwrap();
    player.set_target(id, target).unwrap();
    player.fade_modifier(id, 0.75, 0.0).unwrap();
    let last = Target::model(Vec3::new(-0.3, 1.2, 0.2));
    let last = Target { normal: Some(Vec3::new(0.0, 2.0, 1.0)), ..last };
    let targets = [Target::world(Vec3::new(-0.4, 1.0, 0.3)), last];
    twins.rust.set_targets(id, &all[1..], &targets, &[1.0, 0.5]).unwrap();
    twins.assert_equal("two bones");
    let animated = Twins::new(3, None);
    let model = |crowd: &Crowd, n: usize| crowd.model_matrix(all[n], hand as usize).unwrap();
    assert!((0..3).all(|n| model(&twins.rust, n) != model(&animated.rust, n)));
    // SAFETY: pointers of this test.
    unsafe {
        expect(phx_crowd_remove_modifier(c, modifier), PHX_OK);
        expect(phx_crowd_remove_modifier(c, modifier), PHX_ERROR_ID);
        expect(phx_crowd_remove_modifier(c, 0), PHX_ERROR_ID);
        expect(phx_crowd_remove_modifier(null_mut(), modifier), PHX_ERROR_NULL);
        expect(phx_instance_target(c, first, modifier, &mut read, &mut weight), PHX_ERROR_ID);
    }
    twins.rust.remove_modifier(id).unwrap();
    twins.assert_equal("removed");
}

#[test]
fn aims_look_at_targets() {
    let mut twins = Twins::new(1, None);
    let joints = [twins.joint("Neck"), twins.joint("Head")];
    let shares = [1.0, 2.0];
    let default = phx_aim { joints: joints.as_ptr(), count: 2, ..Extensible::DEFAULT };
    let (limit, soft, speed) = (1.2, 0.2, 3.0);
    let up = [0.1, 1.0, 0.0];
    let shares = shares.as_ptr();
    let aim = phx_aim { shares, limit, soft, speed, up, ..default };
    let chain = [(joints[0] as usize, 1.0), (joints[1] as usize, 2.0)];
    let up = Some(Vec3::from_array(up));
    let rust = Aim { limit, soft, speed, up, ..Aim::chain(chain) };
    let backwards = [joints[1], joints[0]];
    refuse(
        &twins,
        phx_crowd_add_aim,
        &[
            (Extensible::DEFAULT, PHX_ERROR_VALUE),
            (phx_aim { joints: null(), ..default }, PHX_ERROR_NULL),
            (phx_aim { joints: backwards.as_ptr(), ..default }, PHX_ERROR_VALUE),
            (phx_aim { limit: PI + 0.1, ..default }, PHX_ERROR_VALUE),
            (phx_aim { forward: [f32::INFINITY; 3], ..default }, PHX_ERROR_VALUE),
        ],
    );
    let id = add(&mut twins, phx_crowd_add_aim, &aim, rust);
    let who = twins.ids[0];
    let target = in_world([1.0, 1.5, 2.0]);
    // SAFETY: pointers of this test.
    unsafe {
        expect(phx_instance_set_target(twins.c, who.to_bits(), id.to_bits(), &target), PHX_OK);
        expect(phx_instance_fade_modifier(twins.c, who.to_bits(), id.to_bits(), 1.0, 0.5), PHX_OK);
    }
    let mut player = twins.rust.player(who).unwrap();
    player.set_target(id, Target::world(Vec3::new(1.0, 1.5, 2.0))).unwrap();
    player.fade_modifier(id, 1.0, 0.5).unwrap();
    for _ in 0..3 {
        twins.both(|crowd| crowd.advance(0.1));
        twins.assert_equal("aim");
    }
}

#[test]
fn feet_stand_on_the_ground() {
    let mut twins = Twins::new(2, None);
    let ankles = [twins.joint("LeftFoot"), twins.joint("RightFoot")];
    let pelvis = twins.joint("Hips");
    let soft = phx_two_bone_ik { soft: 0.05, ..Extensible::DEFAULT };
    let marker = |text: &'static str| phx_text::of(text);
    let feet = [
        phx_foot { ankle: ankles[0], leg: &soft, down: marker("left down"), up: marker("left up") },
        phx_foot { ankle: ankles[1], leg: null(), down: phx_text::empty(), up: phx_text::empty() },
    ];
    let one = [phx_foot { up: phx_text::empty(), ..feet[0] }];
    let bytes = [0xff_u8];
    let foreign = phx_text { data: bytes.as_ptr().cast(), length: 1 };
    let text = [phx_foot { down: foreign, ..feet[0] }];
    let (reach, tilt) = (0.4, 0.3);
    let default = phx_feet { pelvis, feet: feet.as_ptr(), count: 2, ..Extensible::DEFAULT };
    refuse(
        &twins,
        phx_crowd_add_feet,
        &[
            (Extensible::DEFAULT, PHX_ERROR_NOT_FOUND),
            (phx_feet { count: 0, ..default }, PHX_ERROR_VALUE),
            (phx_feet { pelvis: ankles[0], ..default }, PHX_ERROR_VALUE),
            (phx_feet { tilt: FRAC_PI_2 + 0.1, ..default }, PHX_ERROR_VALUE),
            (phx_feet { feet: one.as_ptr(), count: 1, ..default }, PHX_ERROR_VALUE),
            (phx_feet { feet: text.as_ptr(), count: 1, ..default }, PHX_ERROR_UTF8),
            (phx_feet { feet: null(), ..default }, PHX_ERROR_NULL),
        ],
    );
    let mut rust = Feet::new(pelvis as usize, &ankles.map(|ankle| ankle as usize));
    (rust.reach, rust.tilt) = (reach, tilt);
    rust.feet[0].leg.soft = 0.05;
    rust.feet[0].markers = Some(["left down".into(), "left up".into()]);
    let definition = phx_feet { reach, tilt, ..default };
    let id = add(&mut twins, phx_crowd_add_feet, &definition, rust);
    let (c, modifier, ids) = (twins.c, id.to_bits(), twins.bits());
    let ground = |height| phx_ground { height, normal: [0.1, 1.0, 0.0] };
    let grounds = [0.1, 0.0, 0.05, 0.2].map(ground);
    let mut out = [f32::NAN; 13];
    // SAFETY: pointers of this test.
    unsafe {
        let positions = |n: usize, of: u64, out: *mut f32, room: usize| {
            phx_instances_foot_positions(c, ids.as_ptr(), n, of, out, room)
        };
        expect(positions(2, modifier, out.as_mut_ptr(), 11), PHX_ERROR_SHORT);
        assert!(said().contains("11") && said().contains("12"), "{}", said());
        expect(positions(2, 0, out.as_mut_ptr(), 12), PHX_ERROR_ID);
        expect(positions(2, modifier, null_mut(), 12), PHX_ERROR_NULL);
        assert!(out.iter().all(|v| v.is_nan()));
        expect(positions(2, modifier, out.as_mut_ptr(), 13), PHX_OK);
        let set = |n: usize, grounds: &[phx_ground], weights: &[f32]| {
            let (at, count) = (grounds.as_ptr(), grounds.len());
            let (of, all) = (weights.as_ptr(), weights.len());
            phx_instances_set_grounds(c, ids.as_ptr(), n, modifier, at, count, of, all)
        };
        expect(set(2, &grounds[..3], &[1.0]), PHX_ERROR_VALUE);
        expect(set(2, &grounds.map(|_| ground(f32::NAN)), &[1.0]), PHX_ERROR_VALUE);
        expect(set(2, &grounds, &[-1.0]), PHX_ERROR_VALUE);
        expect(set(2, &grounds, &[1.0, 0.5]), PHX_OK);
        let set = |who, of, count| phx_instance_set_grounds(c, who, of, grounds.as_ptr(), count);
        expect(set(ids[0], modifier, 1), PHX_ERROR_VALUE);
        expect(set(ids[0], 0, 2), PHX_ERROR_ID);
        expect(set(0, modifier, 2), PHX_ERROR_ID);
        expect(phx_instance_set_grounds(c, ids[0], modifier, null(), 2), PHX_ERROR_NULL);
        expect(set(ids[1], modifier, 2), PHX_OK);
    }
    let mut positions = [Vec3::ZERO; 4];
    twins.rust.foot_positions(id, &twins.ids, &mut positions).unwrap();
    assert_eq!(out[..12], *positions.map(|p| p.to_array()).as_flattened());
    assert!(out[12].is_nan());
    let grounds =
        [0.1, 0.0, 0.05, 0.2].map(|height| Ground { height, normal: Vec3::new(0.1, 1.0, 0.0) });
    twins.rust.set_grounds(id, &twins.ids, &grounds, &[1.0, 0.5]).unwrap();
    twins.rust.player(twins.ids[1]).unwrap().set_grounds(id, &grounds[..2]).unwrap();
    twins.assert_equal("feet");
    let animated = Twins::new(2, None);
    let model = |crowd: &Crowd| crowd.model_matrices(twins.ids[0]).unwrap();
    assert!(model(&twins.rust) != model(&animated.rust));
}

#[test]
fn a_rig_has_one_hook_of_known_joints() {
    let mut twins = Twins::new(1, None);
    let joints = [twins.joint("Head")];
    let hook = phx_hook { joints: joints.as_ptr(), count: 1, reach: 0.2, ..Extensible::DEFAULT };
    let unknown = [99];
    refuse(
        &twins,
        phx_crowd_add_hook,
        &[
            (phx_hook { joints: unknown.as_ptr(), ..hook }, PHX_ERROR_NOT_FOUND),
            (phx_hook { joints: null(), ..hook }, PHX_ERROR_NULL),
            (phx_hook { reach: -1.0, ..hook }, PHX_ERROR_VALUE),
        ],
    );
    let rust = Hook { joints: Some(vec![joints[0] as usize]), reach: 0.2 };
    // SAFETY: the array of this test.
    assert_eq!(unsafe { definitions::hook(&hook) }.unwrap(), rust);
    add(&mut twins, phx_crowd_add_hook, &hook, rust);
    refuse(&twins, phx_crowd_add_hook, &[(hook, PHX_ERROR_VALUE)]);
}
