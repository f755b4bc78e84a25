//! Where feet are: against the oracle, on level ground, steps and slopes, and what limits them.

use super::super::{place, posed};
use super::{Body, Cast, both, by_height, cast, stood};
use glam::{EulerRot, Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::playback::{EndRotation, Feet, Ground, Mixer, Pole};
use phalanx_testkit::ruler::held;
use phalanx_workload::hash01;

/// Feet with several settings.
fn settings(body: &Body) -> Vec<Feet> {
    let plain = both(body);
    let with = |change: fn(&mut phalanx::playback::TwoBoneIk)| {
        let mut feet = plain.clone();
        feet.feet.iter_mut().for_each(|foot| change(&mut foot.leg));
        feet
    };
    // The knee of a leg points to the foot of the one before.
    let mut behind = plain.clone();
    behind.feet[1].leg.pole = Pole::Joint(plain.feet[0].leg.end);
    vec![
        plain.clone(),
        behind,
        Feet { reach: 0.05, tilt: 0.1, ..plain.clone() },
        Feet { reach: 0.0, tilt: 1.5, pelvis: body.joint("Root"), ..plain.clone() },
        with(|leg| leg.pole = Pole::Direction(Vec3::new(0.2, 0.1, 1.0))),
        with(|leg| (leg.soft, leg.stretch) = (0.1, 1.2)),
        with(|leg| leg.end_rotation = EndRotation::Follow),
        Feet { feet: plain.feet[1..].to_vec(), ..plain },
    ]
}

#[test]
fn feet_are_where_the_oracle_has_them() {
    let body = Body::character();
    let mut number = 0;
    for (kind, feet) in settings(body).into_iter().enumerate() {
        let (mut cast, by) = cast(body, &feet, body.scene.clips.len());
        let mut mixer = Mixer::new(body.rig.clone()).unwrap();
        let by_mixer = mixer.add_modifier(feet.clone()).unwrap();
        for clip in 0..cast.all.len() {
            number += 1;
            let r = |k: u64| 2.0 * hash01(number * 32 + k) as f32 - 1.0;
            let time = (body.scene.clips[clip].duration * hash01(number + 7)) as f32;
            let turn = Quat::from_euler(EulerRot::YXZ, 3.0 * r(1), 0.3 * r(2), 0.3 * r(3));
            let size = [1.0, 1.0, 0.4][number as usize % 3];
            let scale = Vec3::new(if number % 4 == 3 { -size } else { size }, size, size);
            let at = Vec3::new(40.0 * r(4), 3.0 * r(5), 40.0 * r(6));
            let world = Affine3x4::from_scale_rotation_translation(scale, turn, at);
            let ground = |k: u64| Ground {
                height: at.y + 0.3 * size * r(k),
                normal: Vec3::new(r(k + 1), 1.5 + r(k + 2), r(k + 3)) * 3.0,
            };
            let grounds: Vec<_> = (0..feet.feet.len() as u64).map(|f| ground(8 + 4 * f)).collect();
            let weight = [1.0, 0.37][number as usize % 2];
            cast.hold(clip, clip, time);
            cast.crowd.set_world(cast.all[clip], world).unwrap();
            cast.stand(clip, by, &grounds, weight);
            let worlds = posed(body, clip, time);
            let contacts = |w| {
                (0..grounds.len())
                    .map(|f| by_height(body, &feet, &worlds, w, f))
                    .collect::<Vec<_>>()
            };
            let what = format!("settings {kind}, clip {clip}");
            let wanted = stood(body, &feet, &worlds, (&world, &grounds), &contacts(&world), weight);
            body.close(&cast.models(clip), &wanted, (1.0, 2e-4), &what);
            // A mixer stands at the origin.
            let grounds: Vec<_> =
                grounds.iter().map(|g| Ground { height: (g.height - at.y) / size, ..*g }).collect();
            let of_clip = mixer.clip_by_index(clip).unwrap();
            let mut player = mixer.player();
            player.play(0, of_clip, &held(time.into(), 1.0)).unwrap();
            player.set_grounds(by_mixer, &grounds).unwrap();
            player.fade_modifier(by_mixer, weight, 0.0).unwrap();
            let origin = Affine3x4::IDENTITY;
            let wanted =
                stood(body, &feet, &worlds, (&origin, &grounds), &contacts(&origin), weight);
            body.close(&mixer.model_matrices(), &wanted, (1.0, 2e-4), &format!("{what}, mixer"));
            body.palette(mixer.evaluate(), &wanted, 1e-3, &what);
        }
        // In frames they are the same.
        let rows = cast.frame();
        for (n, rows) in rows.iter().enumerate() {
            let wanted: Vec<_> = cast.models(n).iter().map(super::wide).collect();
            body.palette(rows, &wanted, 1e-4, &format!("settings {kind}, clip {n}"));
        }
    }
}

#[test]
fn level_ground_changes_no_bit() {
    let body = Body::character();
    let (mut cast, by) = cast(body, &both(body), 10);
    for n in 0..10 {
        cast.hold(n, n, 0.05 * n as f32);
    }
    let before = cast.frame();
    for n in 0..10 {
        let at = Vec3::new(n as f32, 0.7 * n as f32, -3.0);
        let turn = Quat::from_rotation_y(n as f32);
        let world = Affine3x4::from_scale_rotation_translation(Vec3::ONE, turn, at);
        cast.crowd.set_world(cast.all[n], world).unwrap();
        cast.stand(n, by, &[Ground::level(at.y); 2], 1.0);
    }
    // The tables of the run may be others, with the stage and without.
    for (n, (have, want)) in cast.frame().iter().zip(&before).enumerate() {
        let want: Vec<_> = want.iter().map(super::wide).collect();
        for (row, (have, want)) in have.iter().zip(&want).enumerate() {
            let off = phalanx_testkit::reference::apart(&super::wide(have), want);
            assert!(off < 1e-6, "{n}: row {row} is off by {off:e}");
        }
    }
}

/// The lower foot keeps its leg; only the other one bends.
#[test]
fn a_step_under_one_foot_bends_one_leg() {
    let body = Body::character();
    let feet = both(body);
    let joint = |name: &str| body.joint(name);
    let (mut cast, by) = cast(body, &feet, 1);
    cast.hold(0, 0, 0.1);
    let plain = cast.models(0);
    for (heights, bent, kept, pelvis) in [
        ([0.2, 0.0], "LeftLeg", "RightLeg", 0.0),
        ([0.0, -0.25], "LeftLeg", "RightLeg", -0.25),
        ([0.1, 0.3], "RightLeg", "LeftLeg", 0.1),
    ] {
        cast.stand(0, by, &heights.map(Ground::level), 1.0);
        let models = cast.models(0);
        for (name, height) in ["LeftFoot", "RightFoot"].into_iter().zip(heights) {
            let wanted = place(&plain, joint(name)) + Vec3::Y * height;
            let far = place(&models, joint(name)).distance(wanted);
            assert!(far < 1e-4, "{heights:?}: {name} is off by {far}");
        }
        let hips = place(&models, joint("Hips")) - place(&plain, joint("Hips"));
        assert!(hips.distance(Vec3::Y * pelvis) < 1e-5, "{heights:?}: {hips}");
        let moved = |name: &str| {
            let off = place(&models, joint(name)) - place(&plain, joint(name)) - hips;
            off.length()
        };
        assert!(moved(bent) > 0.02 && moved(kept) < 1e-6, "{heights:?}");
        assert!(moved("Head") < 1e-6 && moved("LeftHand") < 1e-6);
    }
}

/// The direction that pointed up in a foot's animated pose.
fn sole(cast: &Cast, plain: &[Affine3x4], joint: usize) -> Vec3 {
    let linear = |m: &Affine3x4| glam::Affine3A::from(*m).matrix3;
    (linear(&cast.models(0)[joint]) * linear(&plain[joint]).inverse() * glam::Vec3A::Y).into()
}

#[test]
fn soles_turn_with_a_slope_up_to_the_tilt() {
    let body = Body::character();
    for tilt in [0.0, 0.2, 0.5, 1.2] {
        let feet = Feet { tilt, ..both(body) };
        let (mut cast, by) = cast(body, &feet, 1);
        // At rest both feet are on the ground.
        let plain = cast.models(0);
        for angle in [0.1, 0.35, 0.8, 1.4] {
            let normal = Quat::from_rotation_z(angle) * Vec3::Y;
            let grounds = [Ground { height: 0.0, normal: normal * 5.0 }; 2];
            for weight in [1.0f32, 0.4] {
                cast.stand(0, by, &grounds, weight);
                for foot in &feet.feet {
                    let up = sole(&cast, &plain, foot.leg.end);
                    let most = 2.0 * ((angle.min(tilt) / 2.0).tan() * weight).atan();
                    let wanted = Quat::from_rotation_z(most) * Vec3::Y;
                    let off = up.distance(wanted);
                    assert!(off < 1e-4, "tilt {tilt}, slope {angle}, weight {weight}: {up}");
                    let stays = place(&cast.models(0), foot.leg.end);
                    assert!(stays.distance(place(&plain, foot.leg.end)) < 1e-5);
                }
            }
        }
    }
}

#[test]
fn the_pelvis_moves_within_its_reach() {
    let body = Body::character();
    let feet = Feet { reach: 0.2, ..both(body) };
    let reach = 0.2 * super::length(body, &feet) as f32;
    for size in [1.0f32, 0.01, 20.0] {
        let (mut cast, by) = cast(body, &feet, 1);
        let world = glam::Affine3A::from_scale(Vec3::splat(size));
        cast.crowd.set_world(cast.all[0], world).unwrap();
        let plain = cast.models(0);
        for (height, wanted) in [(-0.1, -0.1), (-3.0, -reach), (0.1, 0.1), (3.0, reach)] {
            cast.stand(0, by, &[Ground::level(height * size); 2], 1.0);
            let hips = place(&cast.models(0), feet.pelvis) - place(&plain, feet.pelvis);
            let off = hips.distance(Vec3::Y * wanted);
            assert!(off < 1e-5, "size {size}, height {height}: {hips}");
        }
    }
}

/// Two modifiers with feet, and an arm before and after them.
#[test]
fn feet_work_beside_other_modifiers() {
    let body = Body::character();
    let feet = both(body);
    let one = |n: usize| Feet { feet: feet.feet[n..=n].to_vec(), reach: 0.0, ..feet.clone() };
    let mut cast = Cast::new(&body.rig, 1);
    let arm = phalanx::playback::TwoBoneIk::new(body.joint("RightHand"));
    let left = cast.crowd.add_modifier(cast.rig, one(0)).unwrap();
    let hand = cast.crowd.add_modifier(cast.rig, arm).unwrap();
    let right = cast.crowd.add_modifier(cast.rig, one(1)).unwrap();
    let plain = cast.models(0);
    let target = Vec3::new(-0.28, 1.25, 0.27);
    cast.aim(0, hand, phalanx::playback::Target::model(target), 1.0);
    cast.stand(0, left, &[Ground::level(0.2)], 1.0);
    cast.stand(0, right, &[Ground::level(0.3)], 0.5);
    let models = cast.models(0);
    for (foot, height) in [(0, 0.2), (1, 0.15)] {
        let ankle = feet.feet[foot].leg.end;
        let far = place(&models, ankle).distance(place(&plain, ankle) + Vec3::Y * height);
        assert!(far < 1e-4, "{foot}: {far}");
    }
    assert!(place(&models, body.joint("RightHand")).distance(target) < 1e-4);
    cast.crowd.remove_modifier(left).unwrap();
    let ankle = feet.feet[0].leg.end;
    assert!(place(&cast.models(0), ankle).distance(place(&plain, ankle)) < 1e-5);
    let far =
        place(&cast.models(0), feet.feet[1].leg.end).y - place(&plain, feet.feet[1].leg.end).y;
    assert!((far - 0.15).abs() < 1e-4);
}
