//! Who sees what modifiers do: watched joints, mirrors, tiers, bounds, any number of workers, frames in parts.

use super::{Body, Cast, place};
use glam::{DVec3, Quat, Vec3};
use phalanx::crowd::{PlayOptions, PoseStage, RowLayout, Tier, Tiers};
use phalanx::math::Affine3x4;
use phalanx::playback::{EndRotation, Pole, PoseSpace, Target, TwoBoneIk};
use phalanx::scene::SceneGraph;
use phalanx_testkit::ruler::shift;
use phalanx_workload::hash01;

const NEAR: Vec3 = Vec3::new(-0.28, 1.25, 0.27);

#[test]
fn watched_joints_and_mirrors_are_where_the_palette_is() {
    let body = Body::character();
    let (hand, finger) = (body.joint("RightHand"), body.joint("RightHandMiddle2"));
    let mut cast = Cast::new(&body.rig, 3);
    let by = cast.crowd.add_modifier(cast.rig, TwoBoneIk::new(hand)).unwrap();
    let mut scene = SceneGraph::new();
    for n in 0..3 {
        cast.hold(n, n, 0.2);
        cast.crowd.set_world(cast.all[n], shift(3.0 * n as f32)).unwrap();
        cast.crowd.mirror(cast.all[n], &mut scene, None).unwrap();
    }
    cast.crowd.watch(cast.rig, &[hand, finger], PoseStage::After).unwrap();
    for round in 0..4 {
        let target = Target::model(NEAR + Vec3::X * 0.05 * round as f32);
        cast.aim(1, by, target, 1.0);
        cast.aim(2, by, target, 0.5);
        // In every other round the scene evaluates, not the frame.
        if round % 2 == 0 {
            cast.frame();
        }
        let rows: Vec<_> = (0..3).map(|n| cast.models(n)).collect();
        cast.crowd.update_scene(&mut scene);
        for (n, models) in rows.iter().enumerate() {
            let mirror = cast.crowd.mirror_of(cast.all[n], &scene).unwrap();
            for name in ["RightHand", "RightForeArm", "RightHandMiddle2", "Head"] {
                let node = scene.joint(mirror, name).unwrap();
                let at = scene.world(node).unwrap().translation - DVec3::X * 3.0 * n as f64;
                let far = at.distance(place(models, body.joint(name)).as_dvec3());
                assert!(far < 1e-6, "{name} of {n} is off by {far}");
            }
            let row = cast.crowd.watched(cast.all[n], PoseStage::After).unwrap();
            assert_eq!(row.model(hand), Some(&models[hand]));
            assert_eq!(row.model(finger), Some(&models[finger]));
            assert_eq!(cast.crowd.model_matrix(cast.all[n], finger).unwrap(), models[finger]);
        }
        assert!(place(&rows[1], hand).distance(target.position) < 1e-4);
        assert!(place(&rows[0], hand).distance(target.position) > 0.05);
    }
}

/// A target or a weight that changes: what was watched is not current until the next frame.
#[test]
fn inputs_make_what_was_watched_old() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 1);
    let hand = body.joint("RightHand");
    let by = cast.crowd.add_modifier(cast.rig, TwoBoneIk::new(hand)).unwrap();
    cast.crowd.watch(cast.rig, &[hand], PoseStage::After).unwrap();
    let current = |cast: &Cast| cast.crowd.watched(cast.all[0], PoseStage::After).unwrap().current;
    cast.frame();
    assert!(current(&cast));
    // A target of no weight changes nothing.
    cast.crowd.player(cast.all[0]).unwrap().set_target(by, Target::model(NEAR)).unwrap();
    assert!(current(&cast));
    cast.crowd.player(cast.all[0]).unwrap().fade_modifier(by, 0.5, 0.0).unwrap();
    assert!(!current(&cast));
    cast.frame();
    // The same again.
    cast.crowd.player(cast.all[0]).unwrap().fade_modifier(by, 0.5, 0.0).unwrap();
    cast.crowd.player(cast.all[0]).unwrap().set_target(by, Target::model(NEAR)).unwrap();
    assert!(current(&cast));
    cast.crowd.player(cast.all[0]).unwrap().set_target(by, Target::model(Vec3::Y)).unwrap();
    assert!(!current(&cast));
    cast.frame();
    cast.crowd.remove_modifier(by).unwrap();
    assert!(!current(&cast));
}

fn shared() -> Tiers {
    Tiers { tiers: vec![Tier { shared_error: Some(0.05), ..Tier::default() }], ..Tiers::default() }
}

#[test]
fn who_has_an_active_modifier_has_a_palette_of_its_own_in_tiers() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 40);
    let by = cast.crowd.add_modifier(cast.rig, TwoBoneIk::new(body.joint("RightHand"))).unwrap();
    let clip = cast.crowd.clip_by_index(cast.rig, 1).unwrap();
    for n in 0..40 {
        // Pairs in one phase.
        let options = PlayOptions { time: 0.05 * (n / 2) as f64, ..PlayOptions::default() };
        cast.crowd.play(cast.all[n], clip, &options).unwrap();
    }
    cast.crowd.set_tiers(Some(shared())).unwrap();
    let is_shared = |cast: &Cast, n: usize| cast.crowd.shown(cast.all[n]).unwrap().shared;
    cast.frame();
    assert!((0..40).all(|n| is_shared(&cast, n)));
    assert_eq!(cast.crowd.palette_range(cast.all[6]), cast.crowd.palette_range(cast.all[7]));
    cast.aim(7, by, Target::model(NEAR), 1.0);
    // A target without a weight, and a fade that has not begun to count.
    cast.aim(8, by, Target::model(NEAR), 0.0);
    let mut player = cast.crowd.player(cast.all[9]).unwrap();
    player.set_target(by, Target::model(NEAR)).unwrap();
    player.fade_modifier(by, 1.0, 0.5).unwrap();
    for _ in 0..8 {
        cast.crowd.advance(1.0 / 16.0).unwrap();
        let rows = cast.frame();
        for n in 0..40 {
            assert_eq!(is_shared(&cast, n), ![7, 9].contains(&n), "{n}");
        }
        // What it shows is what a crowd without tiers would show.
        let mut plain = Cast::new(&body.rig, 0);
        let again = plain.crowd.add_modifier(plain.rig, TwoBoneIk::new(body.joint("RightHand")));
        assert_eq!(again.unwrap(), by);
        plain.crowd.restore(&cast.crowd.snapshot()).unwrap();
        plain.all = cast.all.clone();
        let exact = plain.frame();
        assert!(rows[7] == exact[7] && rows[9] == exact[9]);
        assert!(rows[7] != rows[6]);
    }
    for n in [7, 9] {
        cast.aim(n, by, Target::model(NEAR), 0.0);
    }
    cast.frame();
    assert!((0..40).all(|n| is_shared(&cast, n)));
    // A fade to nothing ends without a call.
    cast.aim(7, by, Target::model(NEAR), 1.0);
    cast.crowd.player(cast.all[7]).unwrap().fade_modifier(by, 0.0, 0.25).unwrap();
    for step in 0..6 {
        cast.frame();
        assert_eq!(is_shared(&cast, 7), step > 3, "{step}");
        cast.crowd.advance(1.0 / 16.0).unwrap();
    }
}

/// The sphere around an instance holds its joints, wherever they are sent.
#[test]
fn the_bounding_sphere_holds_the_joints() {
    let body = Body::character();
    let names = ["RightHand", "LeftFoot", "Head", "Chest"];
    for (name, stretch) in names.into_iter().flat_map(|n| [(n, 1.0), (n, 3.0)]) {
        let ik = TwoBoneIk {
            stretch,
            pole: Pole::Direction(Vec3::new(0.1, 0.2, -1.0)),
            end_rotation: EndRotation::Follow,
            upper: (name == "Chest").then(|| body.joint("Root")),
            middle: (name == "Chest").then(|| body.joint("Spine")),
            ..TwoBoneIk::new(body.joint(name))
        };
        let mut cast = Cast::new(&body.rig, 1);
        let by = cast.crowd.add_modifier(cast.rig, ik).unwrap();
        for number in 0..40 {
            let r = |k: u64| 2.0 * hash01(number * 8 + k) as f32 - 1.0;
            cast.hold(0, number as usize % 10, 0.3);
            let position = Vec3::new(r(0), 1.0 + r(1), r(2)) * 4.0;
            let rotation = Quat::from_euler(glam::EulerRot::XYZ, 3.0 * r(3), r(4), 3.0 * r(5));
            let rotation = (number % 3 == 0).then_some(rotation);
            cast.aim(0, by, Target { rotation, ..Target::model(position) }, 1.0);
            let sphere = cast.crowd.bounding_sphere(cast.all[0]).unwrap().unwrap();
            let center = Vec3::from(sphere.center);
            for (joint, model) in cast.models(0).iter().enumerate() {
                let far = model.translation().distance(center);
                assert!(
                    far <= sphere.radius,
                    "{name} × {stretch}: joint {joint} {far} of {sphere:?}"
                );
            }
        }
    }
}

/// Also with overrides that have a part of the weight, and rotations in model space.
#[test]
fn the_bounding_sphere_holds_the_joints_of_overrides_with_weights() {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 1);
    for number in 0..60 {
        let r = |k: u64| 2.0 * hash01(number * 8 + k) as f32 - 1.0;
        cast.hold(0, number as usize % 10, 0.3);
        let joint = (number * 5 % 47) as usize;
        let turn = Quat::from_euler(glam::EulerRot::XYZ, 3.0 * r(0), r(1), 3.0 * r(2));
        let at = Vec3::new(r(3), r(4), r(5));
        let local = Affine3x4::from_scale_rotation_translation(Vec3::splat(1.0 + r(6)), turn, at);
        let mut player = cast.crowd.player(cast.all[0]).unwrap();
        player.clear_overrides();
        player.set_override_weighted(joint, local, PoseSpace::Local, 0.5 + 0.5 * r(7)).unwrap();
        player.set_model_rotation((joint + 3) % 47, turn, 1.0).unwrap();
        if number % 2 == 0 {
            let weight = if number % 4 == 0 { 1.0 } else { 0.7 };
            let away =
                Affine3x4::from_scale_rotation_translation(Vec3::splat(2.0 + r(6)), turn, 6.0 * at);
            let below = (joint + 5) % 47;
            player.set_override_weighted(below, away, PoseSpace::Model, weight).unwrap();
        }
        let sphere = cast.crowd.bounding_sphere(cast.all[0]).unwrap().unwrap();
        for (joint, model) in cast.models(0).iter().enumerate() {
            let far = model.translation().distance(Vec3::from(sphere.center));
            assert!(far <= sphere.radius, "{number}: joint {joint} {far} of {sphere:?}");
        }
    }
}

/// Many instances with modifiers of all kinds of targets, overrides, and fades.
fn busy() -> Cast {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 300);
    let (left, right) = (body.joint("LeftHand"), body.joint("RightHand"));
    let legs = [body.joint("LeftFoot"), body.joint("RightFoot")];
    let ends = [right, left, legs[0], legs[1]];
    let all = ends.map(|end| {
        let ik = TwoBoneIk { soft: 0.1, ..TwoBoneIk::new(end) };
        cast.crowd.add_modifier(cast.rig, ik).unwrap()
    });
    for n in 0..300 {
        let r = |k: u64| hash01(n * 16 + k) as f32;
        let i = cast.all[n as usize];
        let clip = cast.crowd.clip_by_index(cast.rig, n as usize % 10).unwrap();
        let options = PlayOptions { time: f64::from(r(0)), ..PlayOptions::default() };
        cast.crowd.play(i, clip, &options).unwrap();
        cast.crowd.set_world(i, shift(20.0 * r(1))).unwrap();
        let mut player = cast.crowd.player(i).unwrap();
        for (k, &by) in all.iter().enumerate().take(n as usize % 5) {
            let at = Vec3::new(r(3) - 0.5, 2.0 * r(4), r(5));
            let target = [Target::model(at), Target::world(at), Target::joint(right, 0.1 * at)];
            player.set_target(by, target[(n as usize + k) % 3]).unwrap();
            player.fade_modifier(by, r(6), 0.3 * r(7)).unwrap();
        }
        if n % 7 == 0 {
            player.set_model_rotation("Head", Quat::from_rotation_y(r(8)), r(9)).unwrap();
            player
                .set_override_weighted(
                    "Spine1",
                    super::by([0.0, 0.1, 0.0]),
                    PoseSpace::Local,
                    r(10),
                )
                .unwrap();
        }
    }
    cast
}

#[test]
fn palettes_have_the_same_bits_for_any_number_of_workers_and_in_parts() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut cast = busy();
            let mut hashes = Vec::new();
            for _ in 0..8 {
                cast.crowd.advance(1.0 / 20.0).unwrap();
                cast.crowd.evaluate(&mut cast.bones);
                hashes.push(cast.bones.hash());
            }
            hashes
        })
    };
    let one = run(1);
    assert!(one.windows(2).all(|pair| pair[0] != pair[1]));
    assert!(run(2) == one && run(7) == one);
    let mut cast = busy();
    for (frame, &hash) in one.iter().enumerate() {
        cast.crowd.advance(1.0 / 20.0).unwrap();
        let (mut schedule, rows) = cast.crowd.schedule_into(&mut cast.bones);
        let parts: Vec<_> = schedule.parts(1 + 3 * frame, rows).collect();
        std::thread::scope(|threads| {
            for part in parts {
                threads.spawn(part);
            }
        });
        assert_eq!(cast.bones.hash(), hash, "{frame}");
        // Asked for one by one they are the same, too.
        for n in (frame..300).step_by(37) {
            let models = cast.models(n);
            let body = Body::character();
            let want: Vec<_> = models.iter().map(super::wide).collect();
            body.palette(&cast.rows(n), &want, 1e-5, &format!("instance {n}"));
        }
    }
    // And in rows that the host lays out.
    let mut schedule = cast.crowd.schedule(&RowLayout::default());
    let mut rows = vec![Affine3x4::IDENTITY; schedule.rows()];
    schedule.write(&mut rows[..]);
    assert!(rows == cast.bones.rows());
}
