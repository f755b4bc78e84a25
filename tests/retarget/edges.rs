//! Sources whose rest pose is turned, leans, lies or spreads the legs, or is not the pose of the bind matrices; clips that
//! lie; bodies that are mirrored.
//!
//! An actor has one motion in space, and rest poses of many kinds that all lead to it. What the target does follows from
//! the motion alone, computed here in f64.

use crate::support::*;
use glam::{DMat4, DQuat, DVec3, Vec3};
use phalanx::build::{BuildOptions, RootJoint, RootMotionOptions, build_rig};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::retarget::{
    Alignment, FootPlanting, Ground, Reference, ReferenceOrigin, RetargetError, RetargetOptions,
    RetargetReport, Retargeting, mirror,
};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use std::f64::consts::{FRAC_PI_2, PI};

/// A body in space: the place of its hips, and how much each bone is turned from the T-pose.
#[derive(Clone)]
struct Pose {
    hips: DVec3,
    turns: Vec<DQuat>,
}

/// The hips of a body that stands straight.
const HIPS: DVec3 = DVec3::new(0.0, 0.55, 0.0);

/// The toes of a body that stands.
const SOLE: f64 = 0.01;

/// The index of a bone in [`BODY`].
fn at(bone: B) -> usize {
    let place = BODY.iter().position(|b| b.0 == Some(bone));
    place.unwrap_or_else(|| panic!("{bone}"))
}

/// Whether a bone is that of a bone's limb, from it on.
fn below(index: usize, top: B) -> bool {
    let up = |&i: &usize| Some(BODY[i].2).filter(|_| i > 0);
    std::iter::successors(Some(index), up).any(|i| i == at(top))
}

impl Pose {
    fn stands() -> Self {
        Self {
            hips: HIPS,
            turns: vec![DQuat::IDENTITY; BODY.len()],
        }
    }

    /// Turned as a whole about the origin.
    fn turned(mut self, turn: DQuat) -> Self {
        self.hips = turn * self.hips;
        self.turns.iter_mut().for_each(|q| *q = turn * *q);
        self
    }

    /// With a limb turned in space, up to a bone that keeps its own turn.
    fn with(mut self, top: B, until: Option<B>, turn: DQuat) -> Self {
        for index in 0..BODY.len() {
            if below(index, top) && !until.is_some_and(|until| below(index, until)) {
                self.turns[index] = turn * self.turns[index];
            }
        }
        self
    }

    /// With legs spread by an angle on both sides, and feet that follow them or stay level.
    fn spread(self, angle: f64, follow: bool) -> Self {
        let until = |foot| Some(foot).filter(|_| !follow);
        let left = DQuat::from_rotation_z(angle);
        self.with(B::LeftUpperLeg, until(B::LeftFoot), left).with(
            B::RightUpperLeg,
            until(B::RightFoot),
            left.inverse(),
        )
    }

    /// From a bone to the next one, in the T-pose.
    fn offset(index: usize) -> DVec3 {
        let [own, above] = [index, BODY[index].2].map(|i| DVec3::from_array(BODY[i].3));
        own - above
    }

    fn place(&self, bone: B) -> DVec3 {
        let mut place = self.hips;
        let mut index = at(bone);
        while index > at(B::Hips) {
            place += self.turns[BODY[index].2] * Self::offset(index);
            index = BODY[index].2;
        }
        place
    }

    fn direction(&self, (bone, end): (B, B)) -> DVec3 {
        (self.place(end) - self.place(bone)).normalize()
    }
}

/// A motion with a rest pose.
#[derive(Clone)]
struct Actor {
    /// How bones are turned from the T-pose in the rest pose. Joints have no rest rotation, as in BVH files.
    rest: Pose,
    /// One pose in every 30th of a second.
    frames: Vec<Pose>,
    /// The pose of the bind matrices, in the space of a mesh that this leads to model space; none without a skin.
    bind: Option<(Pose, DMat4)>,
    size: f64,
    names: fn(&str) -> String,
}

impl Actor {
    fn new(rest: Pose, frames: Vec<Pose>) -> Self {
        Self {
            rest,
            frames,
            bind: None,
            size: 1.8,
            names: |name| name.to_owned(),
        }
    }

    fn rig(&self) -> Rig {
        build_rig(self.raw(), &BuildOptions::default()).unwrap()
    }

    fn raw(&self) -> RawScene {
        let rest = &self.rest;
        let vector = |v: DVec3| Vec3::from_array(v.to_array().map(|v| v as f32));
        let node = |index: usize| {
            let offset = match index {
                0 => DVec3::ZERO,
                1 => rest.hips,
                _ => rest.turns[BODY[index].2] * Pose::offset(index),
            };
            RawNode {
                source: index,
                name: Some((self.names)(BODY[index].1)),
                parent: (index > 0).then_some(BODY[index].2),
                local: Trs {
                    translation: vector(offset * self.size),
                    ..Trs::IDENTITY
                },
                ..RawNode::default()
            }
        };
        let nodes: Vec<RawNode> = (0..BODY.len()).map(node).collect();
        let times: Vec<f32> = (0..self.frames.len()).map(|k| k as f32 / 30.0).collect();
        let track = |node: usize, channel: RawChannel, values: Vec<f32>| RawTrack {
            node,
            channel,
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values,
        };
        let mut tracks: Vec<RawTrack> = (1..BODY.len())
            .map(|index| {
                let world = |pose: &Pose, i: usize| pose.turns[i] * rest.turns[i].inverse();
                let local = |pose: &Pose| match BODY[index].2 {
                    0 => world(pose, index),
                    above => world(pose, above).inverse() * world(pose, index),
                };
                let values = self
                    .frames
                    .iter()
                    .flat_map(|pose| narrow(local(pose)).to_array());
                track(index, RawChannel::Rotation, values.collect())
            })
            .collect();
        let hips = self
            .frames
            .iter()
            .flat_map(|pose| vector(pose.hips * self.size).to_array());
        tracks.push(track(at(B::Hips), RawChannel::Translation, hips.collect()));
        let clip = RawClip {
            name: Some("take".into()),
            duration: times.last().copied().unwrap_or(0.0),
            tracks,
            ..RawClip::default()
        };
        let skins = self.bind.iter().map(|(pose, space)| {
            let joints = 1..BODY.len();
            let inverse = |index: usize| {
                let turn = pose.turns[index] * rest.turns[index].inverse();
                let place = match BODY[index].0 {
                    Some(bone) => pose.place(bone),
                    None => pose.hips + pose.turns[1] * Pose::offset(index),
                };
                let model = DMat4::from_rotation_translation(turn, place * self.size);
                let inverse = model.inverse() * *space;
                inverse.to_cols_array().map(|v| v as f32)
            };
            RawSkin {
                name: None,
                inverse_bind: joints.clone().map(inverse).collect(),
                joints: joints.collect(),
            }
        });
        RawScene {
            name: "actor".into(),
            skins: skins.collect(),
            nodes,
            clips: vec![clip],
            ..RawScene::default()
        }
    }
}

/// Where the target is turned, and how large it is.
fn target() -> Made {
    Made {
        axes: 5,
        size: 0.9,
        ..Made::default()
    }
}

fn options(reference: Reference) -> RetargetOptions {
    RetargetOptions {
        source_reference: reference,
        ..RetargetOptions::default()
    }
}

/// Arms, legs and hips that move on all sides, and walk along an axis.
fn dance(count: usize) -> Vec<Pose> {
    let mut random = Random(17);
    let mut turn = || random.turn(0.4);
    let frames = (0..count).map(|k| {
        let mut pose = Pose::stands();
        // The first frame shows the T-pose.
        if k > 0 {
            pose = pose
                .with(B::Spine, None, turn())
                .with(B::Head, None, turn())
                .with(B::LeftUpperArm, None, turn())
                .with(B::RightLowerArm, None, turn())
                .with(B::LeftUpperLeg, None, turn())
                .with(B::LeftFoot, None, turn())
                .with(B::RightUpperLeg, None, turn());
        }
        pose.hips += DVec3::new(0.01, 0.0, 0.05) * k as f64;
        pose
    });
    frames.collect()
}

/// The target's bones turn as those of the motion, seen in another space, and so do its limbs and its way. Poses of the
/// motion show the T-pose with no turn.
fn follows(actor: &Actor, to: &Rig, options: RetargetOptions, space: DQuat) -> RetargetReport {
    let from = actor.rig();
    let done = retarget(&from, to, clip(&from, "take"), options);
    let map = map(to);
    let rest = Posed::rest(to.skeleton());
    let there = |k: usize| Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0);
    let first = there(0).place(&map, B::Hips);
    for (k, pose) in actor.frames.iter().enumerate() {
        let result = there(k);
        for (bone, joint) in map.bones() {
            let wanted = space * pose.turns[at(bone)] * rest.turns[joint];
            let error = angle(result.turns[joint], wanted);
            // Limbs of both are aligned: they point alike, but for twist, and hands follow them.
            let limb = LIMBS.iter().any(|limb| limb.0 == bone);
            let hand = below(at(bone), B::LeftHand) || below(at(bone), B::RightHand);
            assert!(limb || hand || error < 2e-3, "{bone} in frame {k}: {error}");
        }
        for limb in LIMBS {
            let wanted = space * pose.direction(limb);
            let error = (result.direction(&map, limb.0, limb.1) - wanted).length();
            assert!(error < 2e-4, "{} in frame {k}: {error}", limb.0);
        }
        let way = space * (pose.hips - actor.frames[0].hips) * actor.size * done.report.ratio;
        let error = (result.place(&map, B::Hips) - first - way).length();
        assert!(error < 1e-5, "hips in frame {k}: {error}");
    }
    done.report
}

fn yaw(degrees: f64) -> DQuat {
    DQuat::from_rotation_y(degrees.to_radians())
}

fn all(frames: Vec<Pose>, turn: DQuat) -> Vec<Pose> {
    frames.into_iter().map(|pose| pose.turned(turn)).collect()
}

/// A reference pose that is turned about the up axis is turned as a whole, and so is what it stands for.
#[test]
fn references_are_turned_as_a_whole() {
    let to = target().rig();
    for degrees in [0.0, 3.0, 25.0, 31.0, 45.0, 60.0, 91.0, 133.0, 180.0, -100.0] {
        let turned = all(dance(8), yaw(degrees));
        // The rest pose faces forwards, the take is turned.
        let actor = Actor::new(Pose::stands(), turned.clone());
        let from = actor.rig();
        let first = Reference::of_clip(clip(&from, "take"), from.skeleton(), 0.0).unwrap();
        follows(&actor, &to, options(first), yaw(-degrees));
        // The rest pose is turned as well.
        let actor = Actor::new(Pose::stands().turned(yaw(degrees)), turned);
        follows(&actor, &to, RetargetOptions::default(), yaw(-degrees));
    }
}

/// Limbs and way of the target, where those of the motion are in another space.
fn limbs_follow(actor: &Actor, to: &Rig, options: RetargetOptions, space: DQuat) {
    let from = actor.rig();
    let done = retarget(&from, to, clip(&from, "take"), options);
    let map = map(to);
    let there = |k: usize| Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0);
    let first = there(0).place(&map, B::Hips);
    for (k, pose) in actor.frames.iter().enumerate() {
        for limb in LIMBS {
            let wanted = space * pose.direction(limb);
            let error = (there(k).direction(&map, limb.0, limb.1) - wanted).length();
            assert!(error < 2e-4, "{} in frame {k}: {error}", limb.0);
        }
        let way = space * (pose.hips - actor.frames[0].hips) * actor.size * done.report.ratio;
        let error = (there(k).place(&map, B::Hips) - first - way).length();
        assert!(error < 1e-5, "hips in frame {k}: {error}");
    }
}

/// Hips whose joints are not level do not turn the body, in a rest pose or in another reference.
#[test]
fn uneven_hips_do_not_turn_the_body() {
    let to = target().rig();
    for degrees in [0.0, 8.0, 12.0, 28.0, 75.0, 102.0] {
        for uneven in [4.0, -9.0, 25.0] {
            let mut rest = Pose::stands().turned(yaw(degrees));
            // Chest and legs are where they are.
            rest.turns[at(B::Hips)] = yaw(degrees + uneven);
            let actor = Actor::new(rest, all(dance(6), yaw(degrees)));
            limbs_follow(&actor, &to, RetargetOptions::default(), yaw(-degrees));
            let mut frames = all(dance(6), yaw(degrees));
            frames[0].turns[at(B::Hips)] = yaw(degrees + uneven);
            let actor = Actor::new(Pose::stands(), frames);
            let from = actor.rig();
            let first = Reference::of_clip(clip(&from, "take"), from.skeleton(), 0.0).unwrap();
            limbs_follow(&actor, &to, options(first), yaw(-degrees));
        }
    }
}

/// What a reference pose leans is not taken for up: a level path stays level.
#[test]
fn references_that_lean_keep_paths_level() {
    let to = target().rig();
    let map = map(&to);
    for degrees in [10.0f64, 30.0, 40.0, 45.0, 50.0, 60.0, -45.0] {
        for axis in [DVec3::X, DVec3::Z] {
            let lean = DQuat::from_axis_angle(axis, degrees.to_radians());
            let frames = (0..6).map(|k| {
                let mut pose = Pose::stands().with(B::Hips, None, lean);
                pose.hips += DVec3::new(0.0, 0.0, 0.3) * f64::from(k);
                pose
            });
            let frames: Vec<Pose> = frames.collect();
            for file in [0.0, 1.0, -1.0].map(|q| DQuat::from_rotation_x(q * FRAC_PI_2)) {
                let actor = Actor::new(Pose::stands().turned(file), all(frames.clone(), file));
                let from = actor.rig();
                let first = Reference::of_clip(clip(&from, "take"), from.skeleton(), 0.0).unwrap();
                let done = retarget(&from, &to, clip(&from, "take"), options(first));
                let place = |k: usize| {
                    Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0).place(&map, B::Hips)
                };
                let way = DVec3::Z * (1.5 * actor.size * done.report.ratio);
                let error = (place(5) - place(0) - way).length();
                assert!(error < 1e-5, "{degrees} about {axis}: {error}");
            }
        }
    }
}

/// Rest poses that do not stand, as files of motion capture have them: every bone along x, flat legs, a body on its back.
fn lying() -> [(&'static str, Pose); 4] {
    let along_x = |index: usize| {
        let next = (index + 1..BODY.len()).find(|&i| BODY[i].2 == index);
        next.map_or(DQuat::IDENTITY, |next| {
            DQuat::from_rotation_arc(Pose::offset(next).normalize(), DVec3::X)
        })
    };
    let mut row = Pose::stands();
    for index in 2..BODY.len() {
        row.turns[index] = along_x(index);
    }
    let forward = DQuat::from_rotation_x(-FRAC_PI_2);
    let flat =
        Pose::stands()
            .with(B::LeftUpperLeg, None, forward)
            .with(B::RightUpperLeg, None, forward);
    [
        ("row", row),
        ("flat legs", flat),
        ("back", Pose::stands().turned(forward)),
        (
            "side",
            Pose::stands().turned(DQuat::from_rotation_z(FRAC_PI_2)),
        ),
    ]
}

/// The first frame that stands takes the place of a rest pose that does not.
#[test]
fn frames_that_stand_take_the_place_of_rest_poses_that_lie() {
    let to = target().rig();
    for (name, rest) in lying() {
        // It gets up first.
        let down = DQuat::from_rotation_x(-FRAC_PI_2);
        let mut first = Pose::stands().with(B::Hips, None, down);
        first.hips.y = 0.1;
        let mut frames = vec![first.clone(), first];
        frames.extend(dance(6));
        let mut actor = Actor::new(rest.clone(), frames);
        // As files of motion capture are read: bound in their rest pose.
        actor.bind = Some((rest, DMat4::IDENTITY));
        let from = actor.rig();
        let map = map(&from);
        let found =
            Reference::find(&from, &map, "source").unwrap_or_else(|e| panic!("{name}: {e}"));
        let ReferenceOrigin::Frame { clip, time } = &found.origin else {
            panic!("{name}: {:?}", found.origin);
        };
        // Within the steps of frames that are looked at.
        assert!(
            *clip == "take" && (0.05..0.08).contains(time),
            "{name}: {time}"
        );
        // Exact if it shows what the target's rest pose shows.
        let third = Reference::of_clip(&from.clips()[0], from.skeleton(), 2.0 / 30.0).unwrap();
        let actor = Actor {
            frames: actor.frames[2..].to_vec(),
            ..actor
        };
        let report = follows(&actor, &to, options(third), DQuat::IDENTITY);
        assert!(
            (report.ratio - 0.5).abs() < 5e-3,
            "{name}: {}",
            report.ratio
        );
    }
}

/// Without such a frame nothing is written: the error has the heights.
#[test]
fn rest_poses_that_lie_are_refused() {
    let to = target().rig();
    for (name, rest) in lying() {
        let mut lies = Pose::stands().with(B::Hips, None, DQuat::from_rotation_x(-1.2));
        lies.hips.y = 0.1;
        let lies = if name == "back" || name == "side" {
            dance(3)
        } else {
            vec![lies; 3]
        };
        let actor = Actor::new(rest, lies);
        let from = actor.rig();
        let (own, map_to) = (map(&from), map(&to));
        let sides = ((from.skeleton(), &own), (to.skeleton(), &map_to));
        let refused = Retargeting::new(sides.0, sides.1, RetargetOptions::default());
        // A body that lies along an axis may be one whose up is that axis: clips tell.
        if name == "back" || name == "side" {
            let found = Reference::find(&from, &own, "source").unwrap();
            assert!(
                matches!(found.origin, ReferenceOrigin::Frame { .. }),
                "{name}"
            );
            continue;
        }
        let Err(RetargetError::Lies {
            side: "source",
            height,
            leg,
            ..
        }) = refused.map(|_| ())
        else {
            panic!("{name}");
        };
        assert!(height < 0.5 * leg, "{name}: {height} {leg}");
        let refused = Reference::find(&from, &own, "source").map(|found| found.origin);
        assert!(
            matches!(refused, Err(RetargetError::Lies { .. })),
            "{name}: {refused:?}"
        );
        // Asked for, it is taken; but hips do not leave the ground by lengths of legs.
        let rest = (0..from.skeleton().len()).map(|j| from.skeleton().rest(j));
        let asked = options(Reference::Pose(rest.collect()));
        match Retargeting::new(sides.0, sides.1, asked) {
            Err(RetargetError::Height { .. }) => {}
            Err(error) => panic!("{name}: {error}"),
            Ok(ready) => match ready.retarget(&from.clips()[0]) {
                Err(RetargetError::Far {
                    source_height,
                    target_height,
                    ..
                }) => {
                    assert!(
                        source_height.abs() <= 3.0 && target_height.abs() > 3.0,
                        "{name}"
                    );
                }
                Err(error) => panic!("{name}: {error}"),
                Ok(done) => {
                    let map = map(&to);
                    let hips = Posed::at(to.skeleton(), &done.clip, 0.0).place(&map, B::Hips);
                    assert!(hips.length() < 3.0, "{name}: {hips}");
                }
            },
        }
    }
}

/// Heights of poses that are taken as they are may have no sense: hips that leave the ground by lengths of legs are refused.
#[test]
fn hips_beyond_all_legs_are_refused() {
    let to = target().rig();
    let [_, (_, flat), ..] = lying();
    let actor = Actor::new(flat, vec![Pose::stands(); 3]);
    let from = actor.rig();
    let rest = (0..from.skeleton().len()).map(|j| from.skeleton().rest(j));
    let as_they_are = RetargetOptions {
        alignment: Alignment::None,
        ..options(Reference::Pose(rest.collect()))
    };
    let (own, map_to) = (map(&from), map(&to));
    let sides = ((from.skeleton(), &own), (to.skeleton(), &map_to));
    let ready = Retargeting::new(sides.0, sides.1, as_they_are).unwrap();
    match ready.retarget(&from.clips()[0]).map(|done| done.report) {
        Err(RetargetError::Far {
            source_height,
            target_height,
            ..
        }) => assert!(source_height.abs() <= 3.0 && target_height.abs() > 3.0),
        other => panic!("{other:?}"),
    }
}

/// Files whose up is another axis stand.
#[test]
fn other_ups_stand() {
    let up = DQuat::from_rotation_x(FRAC_PI_2);
    let mut frames = dance(6);
    // It lies down at the end.
    let mut lies = Pose::stands().with(B::Hips, None, DQuat::from_rotation_x(-FRAC_PI_2));
    lies.hips.y = 0.1;
    frames.extend([lies.clone(), lies]);
    let actor = Actor::new(Pose::stands().turned(up), all(frames, up));
    let from = actor.rig();
    let found = Reference::find(&from, &map(&from), "source").unwrap();
    assert_eq!(found.origin, ReferenceOrigin::Rest);
    follows(
        &actor,
        &target().rig(),
        options(found.reference),
        up.inverse(),
    );
}

/// An idle pose: arms down, a knee bent, the head turned, hips twisted.
fn idle() -> Pose {
    Pose::stands()
        .with(B::Hips, None, yaw(9.0))
        .with(B::Head, None, yaw(20.0))
        .with(B::LeftUpperArm, None, DQuat::from_rotation_z(-1.3))
        .with(B::RightUpperArm, None, DQuat::from_rotation_z(1.2))
        .with(B::LeftUpperLeg, None, DQuat::from_rotation_x(-0.2))
        .with(B::LeftLowerLeg, None, DQuat::from_rotation_x(0.3))
}

/// A T-pose that the bind matrices alone hold is the reference, in whatever space the meshes are.
#[test]
fn bind_poses_are_references() {
    let to = target().rig();
    let quarter = DMat4::from_rotation_x(FRAC_PI_2);
    for space in [
        DMat4::IDENTITY,
        DMat4::from_scale(DVec3::splat(100.0)),
        quarter * DMat4::from_scale(DVec3::splat(0.01)),
        DMat4::from_translation(DVec3::new(0.0, 0.3, 0.0)),
    ] {
        let mut actor = Actor::new(idle(), dance(6));
        actor.bind = Some((Pose::stands(), space));
        let from = actor.rig();
        let found = Reference::find(&from, &map(&from), "source").unwrap();
        assert_eq!(found.origin, ReferenceOrigin::Bind, "{space}");
        let report = follows(&actor, &to, options(found.reference), DQuat::IDENTITY);
        assert!((report.ratio - 0.5).abs() < 5e-3, "{}", report.ratio);
        let asked = Reference::bind(&from, &map(&from)).unwrap();
        follows(&actor, &to, options(asked), DQuat::IDENTITY);
    }
    // Where the rest pose faces does not matter.
    for degrees in [30.0, 60.0, 135.0, 180.0] {
        let mut actor = Actor::new(idle().turned(yaw(degrees)), dance(6));
        actor.bind = Some((Pose::stands(), DMat4::IDENTITY));
        let from = actor.rig();
        let found = Reference::find(&from, &map(&from), "source").unwrap();
        assert_eq!(found.origin, ReferenceOrigin::Bind);
        follows(&actor, &to, options(found.reference), DQuat::IDENTITY);
    }
    // Of two poses of that kind the rest pose is taken, and the other offered.
    let mut actor = Actor::new(Pose::stands(), dance(3));
    let lowered = Pose::stands().with(B::LeftUpperArm, None, DQuat::from_rotation_z(-0.2));
    actor.bind = Some((lowered, DMat4::IDENTITY));
    let from = actor.rig();
    let found = Reference::find(&from, &map(&from), "source").unwrap();
    assert_eq!(found.origin, ReferenceOrigin::Rest);
    assert!(
        (found.bind_angle - 0.2).abs() < 1e-4,
        "{}",
        found.bind_angle
    );
    // Without skins there is none.
    actor.bind = None;
    let plain = actor.rig();
    let none = Reference::bind(&plain, &map(&plain));
    assert_eq!(none, Err(RetargetError::NoBind));
}

/// Heights of the hips in a clip of the target, frame by frame.
fn heights(actor: &Actor, to: &Rig, options: RetargetOptions) -> (Vec<f64>, RetargetReport) {
    let from = actor.rig();
    let done = retarget(&from, to, clip(&from, "take"), options);
    let map = map(to);
    let height = |k: usize| {
        Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0)
            .place(&map, B::Hips)
            .y
    };
    ((0..actor.frames.len()).map(height).collect(), done.report)
}

/// Lying, sitting, falling and jumping bodies keep their height above the ground where the source's is, from rest poses
/// that stand on it and from those whose hips are the origin.
#[test]
fn clips_that_lie_or_sit_keep_their_height() {
    let to = target().rig();
    let lies = Pose::stands().with(B::Hips, None, DQuat::from_rotation_x(-FRAC_PI_2));
    let thigh = DQuat::from_rotation_x(-FRAC_PI_2);
    let sits = Pose::stands()
        .with(B::LeftUpperLeg, Some(B::LeftLowerLeg), thigh)
        .with(B::RightUpperLeg, Some(B::RightLowerLeg), thigh);
    let pose = |pose: &Pose, height: f64| Pose {
        hips: DVec3::new(0.0, height, 0.0),
        ..pose.clone()
    };
    let stands = Pose::stands();
    for frames in [
        vec![pose(&lies, 0.12), pose(&lies, 0.07)],
        vec![pose(&sits, 0.32), pose(&sits, 0.3)],
        vec![
            pose(&stands, 0.55),
            pose(&stands, 0.55),
            pose(&stands, 0.55),
            pose(&lies, 0.2),
            pose(&lies, 0.07),
        ],
        vec![
            pose(&stands, 0.55),
            pose(&stands, 0.95),
            pose(&stands, 0.55),
        ],
        vec![pose(&stands, 0.95), pose(&stands, 1.0)],
        (0..12)
            .map(|k| pose(&stands, 0.55 - 0.09 * f64::from(k)))
            .collect(),
    ] {
        for hips in [DVec3::ZERO, HIPS] {
            let actor = Actor::new(
                Pose {
                    hips,
                    ..Pose::stands()
                },
                frames.clone(),
            );
            let (heights, report) = heights(&actor, &to, RetargetOptions::default());
            // Both bodies have the same proportions but for 4 mm of a metre.
            assert!((report.ratio - 0.5).abs() < 6e-3, "{}", report.ratio);
            for (height, pose) in heights.iter().zip(&frames) {
                let wanted = pose.hips.y * actor.size * 0.5;
                assert!(
                    (height - wanted).abs() < 8e-3,
                    "{hips}: {height} for {wanted}"
                );
            }
            let origin = hips == DVec3::ZERO;
            assert_eq!(report.ground == Ground::Origin, origin);
        }
    }
    // A clip whose hips stay near those of a rest pose in the origin stands where that does.
    let frames = vec![pose(&stands, 0.0), pose(&stands, -0.05)];
    let actor = Actor::new(pose(&stands, 0.0), frames);
    let (heights_of, report) = heights(&actor, &to, RetargetOptions::default());
    assert_eq!(report.ground, Ground::Reference);
    let rest = Posed::rest(to.skeleton()).place(&map(&to), B::Hips).y;
    assert!((heights_of[0] - rest).abs() < 6e-3, "{heights_of:?} {rest}");
    // It may be asked for.
    let asked = RetargetOptions {
        ground: Ground::Origin,
        ..RetargetOptions::default()
    };
    let (sunk, _) = heights(&actor, &to, asked);
    assert!(sunk[0].abs() < 0.02, "{sunk:?}");
}

/// Feet of a target that stands on no origin get the height of its rest pose: the source's soles are subtracted.
#[test]
fn soles_of_the_source_are_no_height() {
    let lifted = Actor::new(
        Pose {
            hips: HIPS + DVec3::Y * 3.0,
            ..Pose::stands()
        },
        dance(2),
    );
    let to = lifted.rig();
    let mut frames = vec![Pose::stands(); 3];
    frames.iter_mut().for_each(|pose| pose.hips.y += 0.03);
    let actor = Actor {
        size: 1.0,
        ..Actor::new(
            Pose {
                hips: DVec3::ZERO,
                ..Pose::stands()
            },
            frames,
        )
    };
    let (heights, report) = heights(&actor, &to, RetargetOptions::default());
    assert_eq!(report.ground, Ground::Origin);
    let rest = (HIPS.y + 3.0) * lifted.size;
    assert!((heights[0] - rest).abs() < 1e-5, "{heights:?} {rest}");
    // A body that floats has no soles to be subtracted.
    let mut floats = actor.clone();
    floats.frames.iter_mut().for_each(|pose| pose.hips.y += 0.3);
    let (heights, _) = self::heights(&floats, &to, RetargetOptions::default());
    let wanted = rest + (0.33 + SOLE) * 1.8;
    assert!((heights[0] - wanted).abs() < 1e-4, "{heights:?} {wanted}");
}

/// The height of the toes above where those of the rest pose are, frame by frame.
fn sunk(actor: &Actor, to: &Rig) -> Vec<f64> {
    let from = actor.rig();
    let done = retarget(&from, to, clip(&from, "take"), RetargetOptions::default());
    let map = map(to);
    let toes = |posed: Posed| posed.place(&map, B::LeftToes).y;
    let rest = toes(Posed::rest(to.skeleton()));
    let frames = 0..actor.frames.len();
    frames
        .map(|k| toes(Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0)) - rest)
        .collect()
}

/// Feet stand as high as those of the target, if those of the source are lower, and where the legs of a rest pose in the
/// origin are spread and those of the clip are not.
#[test]
fn feet_do_not_sink() {
    let to = Made::default().rig();
    let origin = Pose {
        hips: DVec3::ZERO,
        ..Pose::stands()
    };
    let mut frames = vec![Pose::stands(); 3];
    frames.iter_mut().for_each(|pose| pose.hips.y -= SOLE);
    let flat = sunk(&Actor::new(origin.clone(), frames), &to);
    assert!(flat.iter().all(|off| off.abs() < 1e-4), "{flat:?}");
    // A rest pose that is sunk or lifted against the ground of its clip.
    for off in [-0.2, -0.1, -0.03, 0.03, 0.05, 0.1, 0.2, 0.3] {
        let rest = Pose {
            hips: HIPS + DVec3::Y * off,
            ..Pose::stands()
        };
        let stale = sunk(&Actor::new(rest, vec![Pose::stands(); 3]), &to);
        assert!(stale.iter().all(|off| off.abs() < 1e-3), "{off}: {stale:?}");
    }
    // In place: hips stay in the origin.
    for follow in [false, true] {
        let spread = origin.clone().spread(0.4, follow);
        let still = sunk(&Actor::new(spread, vec![origin.clone(); 3]), &to);
        assert!(still.iter().all(|off| off.abs() < 1e-3), "{still:?}");
    }
}

/// Legs that are spread in the rest pose alone: soles are level and toes at their height where the motion has them so,
/// whether the feet of the rest pose are turned along with the legs or not.
#[test]
fn soles_are_level_below_spread_legs() {
    for size in [0.9, 2.0] {
        let to = Made { size, ..target() }.rig();
        let map = map(&to);
        let rest = Posed::rest(to.skeleton());
        for degrees in [4.0f64, 12.0, 20.0, 28.0] {
            for (follow, lift) in [(true, 0.0), (false, 0.0), (true, 0.55), (false, 0.55)] {
                let mut spread = Pose::stands().spread(degrees.to_radians(), follow);
                let low = spread.place(B::LeftToes).y;
                // Its hips are the origin, or its toes stand on the ground.
                spread.hips.y = if lift > 0.0 {
                    spread.hips.y - low + SOLE
                } else {
                    0.0
                };
                let mut frames = vec![Pose::stands(); 2];
                let step = DQuat::from_rotation_x(-0.5);
                frames.extend([
                    Pose::stands().with(B::LeftUpperLeg, None, step),
                    Pose::stands().spread(0.3, false),
                ]);
                let actor = Actor::new(spread, frames);
                let from = actor.rig();
                let done = retarget(&from, &to, clip(&from, "take"), RetargetOptions::default());
                let what = format!("{degrees}, {follow}, {lift}, {size}");
                assert_eq!(done.report.tilted, follow, "{what}");
                for (k, pose) in actor.frames.iter().enumerate() {
                    let result = Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0);
                    for foot in [B::LeftFoot, B::RightFoot] {
                        let wanted = pose.turns[at(foot)] * rest.turn(&map, foot);
                        let error = angle(result.turn(&map, foot), wanted);
                        assert!(error < 2e-3, "{what}: {foot} in frame {k}: {error}");
                    }
                }
                for toes in [B::LeftToes, B::RightToes] {
                    let place = |posed: &Posed| posed.place(&map, toes).y;
                    let result = Posed::at(to.skeleton(), &done.clip, 0.0);
                    let error = place(&result) - place(&rest);
                    assert!(error.abs() < 4e-3 * size, "{what}: {toes} {error}");
                }
            }
        }
    }
}

/// Arms that differ a little between the sides do not move the body when it is mirrored.
#[test]
fn mirrored_bodies_stay_on_the_ground() {
    let rest = Pose {
        hips: DVec3::ZERO,
        ..Pose::stands().with(B::LeftUpperArm, None, DQuat::from_rotation_z(-0.002))
    };
    let actor = Actor::new(rest, dance(5));
    let rig = actor.rig();
    let own = map(&rig);
    let done = mirror(&rig.clips()[0], rig.skeleton(), &own).unwrap();
    for (k, pose) in actor.frames.iter().enumerate() {
        let hips = Posed::at(rig.skeleton(), &done.clip, k as f32 / 30.0).place(&own, B::Hips);
        let wanted = pose.hips * DVec3::new(-1.0, 1.0, 1.0) * actor.size;
        assert!((hips - wanted).length() < 1e-5, "{k}: {hips} {wanted}");
    }
}

/// A joint above the hips that mirrors what is below has no transfer by rotations.
#[test]
fn mirroring_joints_are_refused() {
    let plain = Made::default().rig();
    for axes in [DVec3::new(-1.0, 1.0, 1.0), DVec3::splat(-1.0)] {
        let actor = Actor::new(Pose::stands(), dance(3));
        let mut joints: Vec<_> = (0..actor.rig().skeleton().len()).collect();
        let rig = actor.rig();
        let skeleton = rig.skeleton();
        joints.retain(|&j| skeleton.names()[j] == "Armature");
        let mut pose: Vec<Trs> = (0..skeleton.len()).map(|j| skeleton.rest(j)).collect();
        pose[joints[0]].scale = Vec3::from_array(axes.to_array().map(|v| v as f32));
        let (own, other) = (map(&rig), map(&plain));
        let mirrored = Reference::Pose(pose);
        for (sides, options, side) in [
            (
                ((skeleton, &own), (plain.skeleton(), &other)),
                options(mirrored.clone()),
                "source",
            ),
            (
                ((plain.skeleton(), &other), (skeleton, &own)),
                RetargetOptions {
                    target_reference: mirrored.clone(),
                    ..RetargetOptions::default()
                },
                "target",
            ),
        ] {
            match Retargeting::new(sides.0, sides.1, options).map(|_| ()) {
                Err(RetargetError::Mirrored { side: s, name, .. }) => {
                    assert_eq!((s, name.as_str()), (side, "Armature"));
                }
                other => panic!("{axes}: {other:?}"),
            }
        }
    }
}

/// Joints of the left side on the right: the report says so.
#[test]
fn swapped_sides_are_said() {
    let swapped = |name: &str| match name.strip_prefix("Left") {
        Some(rest) => format!("Right{rest}"),
        None => name.replace("Right", "Left"),
    };
    for (names, expected) in [
        (swapped as fn(&str) -> String, true),
        (str::to_owned, false),
    ] {
        let actor = Actor {
            names,
            ..Actor::new(Pose::stands(), dance(3))
        };
        let from = actor.rig();
        let to = target().rig();
        let done = retarget(&from, &to, clip(&from, "take"), RetargetOptions::default());
        assert_eq!(done.report.swapped, [expected, false]);
    }
}

/// Without alignment heights are those of the poses: legs that are bent in both stay so.
#[test]
fn heights_without_alignment_are_those_of_the_poses() {
    let bent = |angle: f64| {
        let knees = [
            (B::LeftUpperLeg, B::LeftLowerLeg),
            (B::RightUpperLeg, B::RightLowerLeg),
        ];
        knees
            .into_iter()
            .fold(Pose::stands(), |pose, (thigh, shin)| {
                pose.with(thigh, None, DQuat::from_rotation_x(-angle)).with(
                    shin,
                    None,
                    DQuat::from_rotation_x(2.0 * angle),
                )
            })
    };
    // Its toes are on the ground.
    let mut rest = bent(0.5);
    rest.hips.y -= rest.place(B::LeftToes).y - SOLE;
    let actor = Actor::new(rest, dance(2));
    let to = Made::default().rig();
    let from = actor.rig();
    let rest = Posed::rest(from.skeleton());
    let own = map(&from);
    for (alignment, height) in [
        (Alignment::None, rest.place(&own, B::Hips).y),
        // Straight: the bend of both legs is added.
        (Alignment::Limbs, {
            let [hip, knee, foot] =
                [B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot].map(|b| rest.place(&own, b));
            let leg = hip.distance(knee) + knee.distance(foot);
            rest.place(&own, B::Hips).y + leg - (hip.y - foot.y)
        }),
    ] {
        let options = RetargetOptions {
            alignment,
            ..RetargetOptions::default()
        };
        let done = retarget(&from, &to, clip(&from, "take"), options);
        let error = done.report.heights[0] - height;
        assert!(error.abs() < 1e-5, "{alignment:?}: {error}");
    }
}

/// A rig of the actor whose root motion is extracted, with turns.
fn rooted(actor: &Actor, axes: [bool; 3]) -> Rig {
    let options = BuildOptions {
        root_motion: Some(RootMotionOptions {
            joint: RootJoint::from("Hips"),
            axes: Some(axes),
            rotation: true,
            ..RootMotionOptions::default()
        }),
        ..BuildOptions::default()
    };
    build_rig(actor.raw(), &options).unwrap()
}

/// Root motion of the other side turns the other way, and goes to the other side; at any size.
#[test]
fn mirrored_root_motion_turns_the_other_way() {
    let frames: Vec<Pose> = (0..8)
        .map(|k| {
            let mut pose = Pose::stands().turned(yaw(6.0 * f64::from(k)));
            pose.hips += DVec3::new(0.04, 0.0, 0.1) * f64::from(k);
            pose
        })
        .collect();
    let actor = Actor::new(Pose::stands(), frames.clone());
    let from = rooted(&actor, [true, false, true]);
    // Its hips are another joint: there is one more above.
    let to = {
        let mut raw = Actor::new(Pose::stands(), dance(2)).raw();
        for node in &mut raw.nodes {
            node.parent = Some(node.parent.map_or(0, |parent| parent + 1));
        }
        raw.nodes.insert(0, RawNode::default());
        raw.clips[0].tracks.iter_mut().for_each(|t| t.node += 1);
        build_rig(raw, &BuildOptions::default()).unwrap()
    };
    for mirror in [false, true] {
        let options = RetargetOptions {
            mirror,
            ..RetargetOptions::default()
        };
        let done = retarget(&from, &to, clip(&from, "take"), options);
        let motion = done.clip.root_motion().unwrap();
        assert_eq!(Some(motion.joint()), map(&to).joint(B::Hips), "{mirror}");
        let side = if mirror { -1.0 } else { 1.0 };
        let ratio = done.report.ratio;
        for (k, pose) in frames.iter().enumerate() {
            let there = motion.at(k as f64 / 30.0);
            let wanted = yaw(side * 6.0 * k as f64);
            let error = angle(there.rotation, wanted);
            assert!(error < 2e-3, "{mirror}, frame {k}: {error}");
            // Where it brings the hips.
            let posed = Posed::at(to.skeleton(), &done.clip, k as f32 / 30.0);
            let hips = posed.place(&map(&to), B::Hips);
            let hips = there.rotation * hips + there.translation;
            let place = pose.hips * DVec3::new(side, 1.0, 1.0) * actor.size * ratio;
            let rest = Posed::rest(to.skeleton()).place(&map(&to), B::Hips);
            let wanted = DVec3::new(rest.x + place.x, rest.y, rest.z + place.z);
            let error = (hips - wanted).length();
            assert!(error < 3e-3, "{mirror}, frame {k}: {hips} {wanted}");
        }
    }
}

/// A body that steps on the spot: the leg swings back on the ground and comes forwards with a bent knee.
fn treadmill(seconds: f64, drift: f64) -> Actor {
    let leg = |phase: f64| match phase {
        p if p < 0.6 => (0.35 - 0.7 * p / 0.6, 0.0),
        p => {
            let part = (p - 0.6) / 0.4;
            (-0.35 + 0.7 * part, 1.2 * (PI * part).sin())
        }
    };
    let count = (seconds * 30.0) as usize;
    let frames = (0..=count).map(|k| {
        let time = k as f64 / 30.0;
        let mut pose = Pose::stands();
        for (thigh, shin, foot, start) in [
            (B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot, 0.0),
            (B::RightUpperLeg, B::RightLowerLeg, B::RightFoot, 0.5),
        ] {
            let (swing, bend) = leg((time + start).fract());
            pose = pose
                .with(thigh, Some(foot), DQuat::from_rotation_x(-swing))
                .with(shin, Some(foot), DQuat::from_rotation_x(bend));
        }
        pose.hips.z += drift * time / seconds;
        pose
    });
    // Hips of another height than 1.
    Actor {
        size: 3.2,
        ..Actor::new(Pose::stands(), frames.collect())
    }
}

fn planting(from: &Rig) -> phalanx::retarget::FeetReport {
    let options = RetargetOptions {
        feet: Some(FootPlanting::default()),
        ..RetargetOptions::default()
    };
    let done = retarget(from, &target().rig(), clip(from, "take"), options);
    done.report.feet.unwrap()
}

/// Hips that drift less than a foot in contact may slide in that time do not travel: the ground below them moves.
#[test]
fn hips_travel_by_their_way_in_all_the_time() {
    // A standing foot slides by 0.35 heights of 0.55 a second.
    let slide = 0.35 * HIPS.y;
    for (seconds, share, travels) in [
        (3.0, 0.6, false),
        (3.0, 0.9, false),
        (3.0, 1.3, true),
        (0.5, 1.5, true),
        (0.5, 0.6, false),
    ] {
        let from = treadmill(seconds, slide * seconds * share).rig();
        let feet = planting(&from);
        let speed = DVec3::from_array(feet.ground_velocity).length();
        assert_eq!(speed == 0.0, travels, "{seconds} s, {share}: {feet:?}");
        // Back, at the speed of the leg: 0.7 of its length in 0.6 s, and the drift.
        let back = -0.7 * 0.47 * 3.2 / 0.6;
        let off = feet.ground_velocity[2] - back;
        assert!(travels || off.abs() < 0.6, "{feet:?}");
    }
}

/// Hips that rise do not travel: their way is that along the ground.
#[test]
fn hips_that_rise_do_not_travel() {
    let mut actor = treadmill(0.5, 0.0);
    let most = 0.35 * HIPS.y * 0.5;
    let last = actor.frames.len() - 1;
    for (k, pose) in actor.frames.iter_mut().enumerate() {
        // At the end alone: before it, feet are low.
        pose.hips.y += if k == last { 1.5 * most } else { 0.0 };
    }
    let feet = planting(&actor.rig());
    assert!(feet.ground_velocity[2] < -0.5, "{feet:?}");
}

/// A body that stands, lifts both feet one after the other and stands again, somewhere else by `end`.
fn steps(end: impl Fn(f64) -> Pose) -> Actor {
    let frames = (0..=30).map(|k| {
        let time = f64::from(k) / 30.0;
        let lift = |from: f64| ((time - from) / 0.2).clamp(0.0, 1.0) * PI;
        let mut pose = end(((time - 0.3) / 0.4).clamp(0.0, 1.0));
        for (thigh, shin, foot, from) in [
            (B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot, 0.3),
            (B::RightUpperLeg, B::RightLowerLeg, B::RightFoot, 0.5),
        ] {
            let bend = 0.6 * lift(from).sin();
            let about = pose.turns[at(B::Hips)] * DVec3::X;
            pose = pose
                .with(thigh, Some(foot), DQuat::from_axis_angle(about, -bend))
                .with(shin, Some(foot), DQuat::from_axis_angle(about, 2.0 * bend));
        }
        pose
    });
    Actor::new(Pose::stands(), frames.collect())
}

/// A clip ends where it began if its hips neither rose nor turned, and its feet are below them as before: then a contact
/// spans the seam. Else each foot stands twice.
#[test]
fn contacts_span_the_seam_of_loops_alone() {
    let stays = steps(|_| Pose::stands());
    assert_eq!(planting(&stays.rig()).contacts, 2);
    let moved = |way: DVec3| {
        steps(move |part| Pose {
            hips: HIPS + way * part,
            ..Pose::stands()
        })
    };
    // Along the ground a loop may move on.
    assert_eq!(planting(&moved(DVec3::Z * 0.1).rig()).contacts, 2);
    // Up to a step of 0.02, within the height of contacts.
    for way in [DVec3::Y * 0.02, DVec3::Y * -0.02] {
        assert_eq!(planting(&moved(way).rig()).contacts, 4, "{way}");
        // The same with root motion, which takes the height along.
        let from = rooted(&moved(way), [true; 3]);
        assert_eq!(planting(&from).contacts, 4, "{way}");
    }
    // A foot is put elsewhere below the hips.
    let wider = steps(|part| {
        let turn = DQuat::from_rotation_z(0.05 * part);
        Pose::stands().with(B::LeftUpperLeg, Some(B::LeftFoot), turn)
    });
    assert_eq!(planting(&wider.rig()).contacts, 4);
    // Turned, with root motion: in its pose nothing turns.
    let turned = steps(|part| Pose::stands().turned(yaw(20.0 * part)));
    let from = rooted(&turned, [true, false, true]);
    assert_eq!(planting(&from).contacts, 4);
    let from = rooted(&steps(|_| Pose::stands()), [true, false, true]);
    assert_eq!(planting(&from).contacts, 2);
}
