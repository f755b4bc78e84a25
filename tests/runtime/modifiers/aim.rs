//! Aims against the f64 oracle: the built-in character's head, neck and spine, in crowds and mixers.

use super::{Body, Cast, posed, wide};
use glam::{DVec3, Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::playback::{Aim, Mixer, Target};
use phalanx_testkit::oracle::aim::{self, Gaze};
use phalanx_testkit::oracle::ik::position;
use phalanx_testkit::oracle::math::Mat4;
use phalanx_testkit::ruler::held;
use phalanx_workload::hash01;

impl Body {
    /// An aim as the oracle has it.
    pub fn aim(&self, aim: &Aim) -> aim::Aim {
        let last = aim.joints.last().unwrap().0;
        let rest =
            glam::DMat3::from_mat4(glam::DMat4::from_cols_array(&self.rest[self.nodes[last]]));
        let wide = |v: Vec3| v.as_dvec3();
        let axis = |given: Option<Vec3>, model: DVec3| {
            given.map_or_else(|| rest.inverse() * model, wide).normalize()
        };
        let forward = axis(aim.forward, DVec3::Z);
        let mut up_axis = axis(aim.up_axis, DVec3::Y);
        if up_axis.cross(forward).length() < 1e-3 {
            up_axis = axis(None, -DVec3::Z);
        }
        aim::Aim {
            nodes: aim.joints.iter().map(|j| (self.nodes[j.0], j.1.into())).collect(),
            forward: forward.to_array(),
            up_axis: up_axis.to_array(),
            up: aim.up.map(|up| wide(up).to_array()),
            limit: aim.limit.into(),
            soft: aim.soft.into(),
        }
    }

    /// The world matrices after an aim by the oracle.
    pub fn aimed(
        &self,
        worlds: &[Mat4],
        by: &Aim,
        (target, world): (&Target, &Affine3x4),
        gaze: Option<Gaze>,
        weight: f32,
    ) -> Vec<Mat4> {
        let goal = self.goal(target, world, worlds);
        let mut aim = self.aim(by);
        aim.up = goal.normal.or(aim.up);
        aim.turn(&self.scene, worlds, goal.position, gaze, weight.into())
    }

    /// The angle between the direction in which a joint looks and a point.
    pub fn off(&self, have: &[Affine3x4], by: &Aim, point: Vec3) -> f64 {
        let joint = by.joints.last().unwrap().0;
        let line = point.as_dvec3() - position(&wide(&have[joint]));
        self.looks(have, by).angle_between(line)
    }

    /// The direction in which a joint looks.
    pub fn looks(&self, have: &[Affine3x4], by: &Aim) -> DVec3 {
        let mut worlds = self.rest.clone();
        have.iter().zip(&self.nodes).for_each(|(have, &node)| worlds[node] = wide(have));
        self.aim(by).forward(&worlds)
    }
}

/// Chains with shares.
pub fn looks(body: &Body) -> Vec<Aim> {
    let joint = |name: &str| body.joint(name);
    let [spine, chest, neck, head] = ["Spine", "Chest", "Neck", "Head"].map(joint);
    vec![
        Aim::new(head),
        Aim::chain([(neck, 1.0), (head, 2.0)]),
        Aim::chain([(spine, 1.0), (chest, 0.0), (neck, 3.0), (head, 0.5)]),
        // A hand that points, with joints between that stay.
        Aim {
            forward: Some(Vec3::new(-1.0, -1.0, 0.2)),
            ..Aim::chain([(chest, 1.0), (joint("RightHand"), 5.0)])
        },
    ]
}

fn settings(aim: &Aim) -> Vec<(Aim, Option<Vec3>)> {
    let plain = aim.clone();
    let up = Some(Vec3::Y);
    vec![
        (plain.clone(), None),
        (Aim { limit: 0.8, ..plain.clone() }, None),
        (Aim { limit: 1.2, soft: 0.5, ..plain.clone() }, None),
        (Aim { limit: 0.4, soft: 1.0, up, ..plain.clone() }, None),
        (Aim { up, ..plain.clone() }, None),
        (Aim { up, limit: 0.6, ..plain.clone() }, Some(Vec3::new(0.3, 1.0, -0.2))),
        (
            Aim {
                up_axis: Some(Vec3::new(1.0, 0.4, 0.1)),
                up: Some(Vec3::new(0.2, 1.0, 0.5)),
                ..plain
            },
            None,
        ),
    ]
}

#[test]
fn looks_are_where_the_oracle_has_them() {
    let body = Body::character();
    let (mut number, mut limited, mut within) = (0, 0, 0);
    for chain in looks(body) {
        for (kind, (aim, normal)) in settings(&chain).into_iter().enumerate() {
            let mut cast = Cast::new(&body.rig, body.scene.clips.len());
            let mut mixer = Mixer::new(body.rig.clone()).unwrap();
            let by = cast.crowd.add_modifier(cast.rig, aim.clone()).unwrap();
            let by_mixer = mixer.add_modifier(aim.clone()).unwrap();
            let mut wanted = Vec::new();
            for clip in 0..cast.all.len() {
                number += 1;
                let time = (body.scene.clips[clip].duration * hash01(number + 99)) as f32;
                let worlds = posed(body, clip, time);
                let from = body.at(&worlds, aim.joints.last().unwrap().0);
                let r = |k: u64| 2.0 * hash01(number * 4 + k) as f32 - 1.0;
                let point = from.as_vec3() + 3.0 * Vec3::new(r(0), r(1), r(2));
                let weight = [1.0, 0.37][number as usize % 2];
                let target = Target { normal, ..Target::model(point) };
                cast.hold(clip, clip, time);
                cast.aim(clip, by, target, weight);
                let clip_of_mixer = mixer.clip_by_index(clip).unwrap();
                let mut player = mixer.player();
                player.play(0, clip_of_mixer, &held(time.into(), 1.0)).unwrap();
                player.set_target(by_mixer, target).unwrap();
                player.fade_modifier(by_mixer, weight, 0.0).unwrap();
                let world = Affine3x4::IDENTITY;
                let want = body.aimed(&worlds, &aim, (&target, &world), None, weight);
                let what = format!("{:?}, kind {kind}, clip {clip}, weight {weight}", aim.joints);
                let have = cast.models(clip);
                body.close(&have, &want, (1.0, 1e-4), &what);
                let before = body.aim(&aim).forward(&worlds);
                let turned = body.looks(&have, &aim).angle_between(before);
                assert!(turned < f64::from(aim.limit * weight) + 1e-5, "{what}: {turned}");
                let aside = before.angle_between(
                    point.as_dvec3() - position(&wide(&have[aim.joints.last().unwrap().0])),
                );
                match aside < f64::from(aim.limit * (1.0 - aim.soft)) {
                    true if weight == 1.0 => {
                        within += 1;
                        let off = body.off(&have, &aim, point);
                        assert!(off < 1e-5, "{what}: {off}");
                    }
                    true => {}
                    false => limited += 1,
                }
                let of_mixer = mixer.evaluate().to_vec();
                assert_eq!(mixer.model_matrices(), have, "{what}");
                body.palette(&of_mixer, &want, 1e-4, &what);
                wanted.push((what, of_mixer));
            }
            for (rows, (what, of_mixer)) in cast.frame().into_iter().zip(wanted) {
                assert!(rows == of_mixer, "{what}: the crowd's palette");
            }
        }
    }
    assert!(limited > 100 && within > 60, "{limited} {within}");
}

/// Targets and up directions in the three spaces are one.
#[test]
fn spaces_of_a_look() {
    let body = Body::character();
    let aim = looks(body).remove(1);
    let world = Affine3x4::from_scale_rotation_translation(
        Vec3::new(2.0, 1.5, 0.8),
        Quat::from_rotation_y(1.1) * Quat::from_rotation_x(0.2),
        Vec3::new(30.0, -2.0, 7.0),
    );
    let (point, up) = (Vec3::new(1.0, 1.2, 2.0), Vec3::new(0.2, 1.0, 0.1));
    let hand = body.joint("RightHand");
    let (clip, time) = (1, 0.4);
    let worlds = posed(body, clip, time);
    let of_hand = glam::DMat4::from_cols_array(&worlds[body.nodes[hand]]);
    let in_hand = of_hand.inverse().transform_point3(point.as_dvec3()).as_vec3();
    let normal_in = |to_model: glam::DMat3| (to_model.transpose() * up.as_dvec3()).as_vec3();
    let to_world = glam::DMat3::from_mat4(glam::DMat4::from_cols_array(&wide(&world)));
    let targets = [
        Target { normal: Some(up), ..Target::model(point) },
        Target {
            normal: Some(normal_in(to_world.inverse())),
            ..Target::world(world.transform_point3(point))
        },
        Target {
            normal: Some(normal_in(glam::DMat3::from_mat4(of_hand))),
            ..Target::joint(hand, in_hand)
        },
    ];
    let mut cast = Cast::new(&body.rig, 3);
    let by = cast.crowd.add_modifier(cast.rig, aim.clone()).unwrap();
    let want = body.aimed(&worlds, &aim, (&targets[0], &world), None, 1.0);
    for (n, target) in targets.into_iter().enumerate() {
        cast.hold(n, clip, time);
        cast.crowd.set_world(cast.all[n], world).unwrap();
        cast.aim(n, by, target, 1.0);
        body.close(&cast.models(n), &want, (1.0, 1e-4), &format!("{:?}", target.space));
    }
}

/// Each joint turns by its share: of a straight line of joints with a far target exactly.
#[test]
fn joints_turn_by_their_shares() {
    let up = super::by([0.0, 0.1, 0.0]);
    let body = Body::of(super::line(&[up; 4]));
    let aim = Aim::chain([(0, 1.0), (1, 0.0), (2, 3.0), (3, 4.0)]);
    let mut cast = Cast::new(&body.rig, 1);
    let by = cast.crowd.add_modifier(cast.rig, aim).unwrap();
    let angle: f32 = 1.2;
    for weight in [1.0, 0.5] {
        let target = Target::model(1e6 * Vec3::new(angle.sin(), 0.0, angle.cos()));
        cast.aim(0, by, target, weight);
        let models = cast.models(0);
        for (joint, share) in [1.0, 1.0, 4.0, 8.0].into_iter().enumerate() {
            let z = models[joint].transform_vector3(Vec3::Z);
            let turned = z.x.atan2(z.z);
            let wanted = angle * weight * share / 8.0;
            assert!((turned - wanted).abs() < 1e-5, "joint {joint}: {turned} {wanted}");
        }
    }
}
