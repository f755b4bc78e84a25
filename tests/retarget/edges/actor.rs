//! An actor: one motion in space, and rest poses of many kinds that all lead to it.

use crate::support::*;
use glam::{DMat4, DQuat, DVec3, Vec3};
use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::retarget::{Reference, RetargetOptions};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;

/// A body in space: the place of its hips, and how much each bone is turned from the T-pose.
#[derive(Clone)]
pub struct Pose {
    pub hips: DVec3,
    pub turns: Vec<DQuat>,
}

/// The hips of a body that stands straight.
pub const HIPS: DVec3 = DVec3::new(0.0, 0.55, 0.0);

/// The toes of a body that stands.
pub const SOLE: f64 = 0.01;

/// The index of a bone in [`BODY`].
pub fn at(bone: B) -> usize {
    let place = BODY.iter().position(|b| b.0 == Some(bone));
    place.unwrap_or_else(|| panic!("{bone}"))
}

/// Whether a bone is that of a bone's limb, from it on.
pub fn below(index: usize, top: B) -> bool {
    let up = |&i: &usize| Some(BODY[i].2).filter(|_| i > 0);
    std::iter::successors(Some(index), up).any(|i| i == at(top))
}

impl Pose {
    pub fn stands() -> Self {
        Self { hips: HIPS, turns: vec![DQuat::IDENTITY; BODY.len()] }
    }

    /// Turned as a whole about the origin.
    pub fn turned(mut self, turn: DQuat) -> Self {
        self.hips = turn * self.hips;
        self.turns.iter_mut().for_each(|q| *q = turn * *q);
        self
    }

    /// With a limb turned in space, up to a bone that keeps its own turn.
    pub fn with(mut self, top: B, until: Option<B>, turn: DQuat) -> Self {
        for index in 0..BODY.len() {
            if below(index, top) && !until.is_some_and(|until| below(index, until)) {
                self.turns[index] = turn * self.turns[index];
            }
        }
        self
    }

    /// With legs spread by an angle on both sides, and feet that follow them or stay level.
    pub fn spread(self, angle: f64, follow: bool) -> Self {
        let until = |foot| Some(foot).filter(|_| !follow);
        let left = DQuat::from_rotation_z(angle);
        self.with(B::LeftUpperLeg, until(B::LeftFoot), left).with(
            B::RightUpperLeg,
            until(B::RightFoot),
            left.inverse(),
        )
    }

    /// From a bone to the next one, in the T-pose.
    pub fn offset(index: usize) -> DVec3 {
        let [own, above] = [index, BODY[index].2].map(|i| DVec3::from_array(BODY[i].3));
        own - above
    }

    pub fn place(&self, bone: B) -> DVec3 {
        let mut place = self.hips;
        let mut index = at(bone);
        while index > at(B::Hips) {
            place += self.turns[BODY[index].2] * Self::offset(index);
            index = BODY[index].2;
        }
        place
    }

    pub fn direction(&self, (bone, end): (B, B)) -> DVec3 {
        (self.place(end) - self.place(bone)).normalize()
    }
}

/// A motion with a rest pose.
#[derive(Clone)]
pub struct Actor {
    /// How bones are turned from the T-pose in the rest pose. Joints have no rest rotation, as in BVH files.
    pub rest: Pose,
    /// One pose in every 30th of a second.
    pub frames: Vec<Pose>,
    /// The pose of the bind matrices, in the space of a mesh that this leads to model space; none without a skin.
    pub bind: Option<(Pose, DMat4)>,
    pub size: f64,
    pub names: fn(&str) -> String,
}

impl Actor {
    pub fn new(rest: Pose, frames: Vec<Pose>) -> Self {
        Self { rest, frames, bind: None, size: 1.8, names: |name| name.to_owned() }
    }

    pub fn rig(&self) -> Rig {
        build_rig(self.raw(), &BuildOptions::default()).unwrap()
    }

    pub fn raw(&self) -> RawScene {
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
                local: Trs { translation: vector(offset * self.size), ..Trs::IDENTITY },
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
                let values = self.frames.iter().flat_map(|pose| narrow(local(pose)).to_array());
                track(index, RawChannel::Rotation, values.collect())
            })
            .collect();
        let hips = self.frames.iter().flat_map(|pose| vector(pose.hips * self.size).to_array());
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
pub fn target() -> Made {
    Made { axes: 5, size: 0.9, ..Made::default() }
}

pub fn options(reference: Reference) -> RetargetOptions {
    RetargetOptions { source_reference: reference, ..RetargetOptions::default() }
}

/// Arms, legs and hips that move on all sides, and walk along an axis.
pub fn dance(count: usize) -> Vec<Pose> {
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

pub fn yaw(degrees: f64) -> DQuat {
    DQuat::from_rotation_y(degrees.to_radians())
}

pub fn all(frames: Vec<Pose>, turn: DQuat) -> Vec<Pose> {
    frames.into_iter().map(|pose| pose.turned(turn)).collect()
}
