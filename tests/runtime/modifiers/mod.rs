//! Modifiers of poses: two-bone IK and overrides against the f64 oracle, and who sees what they do.

mod aim;
mod aim_edges;
mod aim_random;
mod aim_speed;
mod before;
mod edges;
mod feet;
mod hook;
mod kept;
mod oracle;
mod overrides;
mod pose_store;
mod poses;
mod random;
mod refusals;
mod seen;
mod spaces;
mod springs;
mod stored;
mod tiers;
mod weights;

use glam::{DMat3, DMat4, DVec3, Vec3};
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, RigId};
use phalanx::import::raw::{RawNode, RawScene, RawSkin};
use phalanx::import::{ImportOptions, MANNEQUIN, read_slice};
use phalanx::math::Affine3x4;
use phalanx::playback::{EndRotation, ModifierId, Pole, Space, Target, TwoBoneIk};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use phalanx_testkit::oracle::ik::{self, Chain, Goal, rotation_of};
use phalanx_testkit::oracle::math::{Mat4, mul};
use phalanx_testkit::oracle::{Pose, Scene};
use phalanx_testkit::rigs::built;
use phalanx_testkit::{reference, ruler};
use std::sync::{Arc, OnceLock};

/// A rig beside the oracle's scene of it.
pub struct Body {
    pub rig: Arc<Rig>,
    pub scene: Scene,
    /// World matrices at rest, by node.
    pub rest: Vec<Mat4>,
    /// The node of each joint.
    pub nodes: Vec<usize>,
}

impl Body {
    pub fn of(raw: RawScene) -> Self {
        let scene = reference::scene(&raw);
        let rig = built(raw);
        let mut nodes = vec![usize::MAX; rig.skeleton().len()];
        for node in rig.nodes() {
            if let Some(joint) = node.joint {
                nodes[usize::from(joint)] = node.source;
            }
        }
        let rest = worlds(&scene, &scene.rest());
        Self { rig, scene, rest, nodes }
    }

    /// The built-in character.
    pub fn character() -> &'static Self {
        static BODY: OnceLock<Body> = OnceLock::new();
        BODY.get_or_init(|| {
            let (name, bytes) = MANNEQUIN[0];
            Self::of(read_slice(bytes, name, None, &ImportOptions::default()).unwrap().0)
        })
    }

    pub fn joint(&self, name: &str) -> usize {
        self.rig.skeleton().joint(name).unwrap()
    }

    /// World matrices of all nodes.
    pub fn worlds(&self, pose: &Pose) -> Vec<Mat4> {
        worlds(&self.scene, pose)
    }

    pub fn at(&self, worlds: &[Mat4], joint: usize) -> DVec3 {
        ik::position(&worlds[self.nodes[joint]])
    }

    /// The joints of a chain: upper, middle, end.
    pub fn joints(&self, ik: &TwoBoneIk) -> [usize; 3] {
        let parent = |joint: usize| usize::from(self.rig.skeleton().parents()[joint]);
        let middle = ik.middle.unwrap_or_else(|| parent(ik.end));
        [ik.upper.unwrap_or_else(|| parent(middle)), middle, ik.end]
    }

    /// The length of a chain.
    pub fn length(&self, worlds: &[Mat4], ik: &TwoBoneIk) -> f64 {
        let [a, b, c] = self.joints(ik).map(|joint| self.at(worlds, joint));
        a.distance(b) + b.distance(c)
    }

    pub fn chain(&self, ik: &TwoBoneIk) -> Chain {
        let [upper, middle, end] = self.joints(ik).map(|joint| self.nodes[joint]);
        let wide = |v: Vec3| v.as_dvec3().to_array();
        Chain {
            upper,
            middle,
            end,
            pole: match ik.pole {
                Pole::Animated => ik::Pole::Animated,
                Pole::Direction(direction) => ik::Pole::Direction(wide(direction)),
                Pole::Joint(joint) => ik::Pole::Node(self.nodes[joint]),
            },
            axis: ik.axis.map(wide),
            soft: ik.soft.into(),
            stretch: ik.stretch.into(),
            twist: ik.twist.into(),
            follows: ik.end_rotation == EndRotation::Follow,
            normal_axis: ik.normal_axis.map(wide),
        }
    }

    /// The world matrices after IK by the oracle.
    pub fn bent(
        &self,
        worlds: &[Mat4],
        ik: &TwoBoneIk,
        (target, world): (&Target, &Affine3x4),
        weight: f32,
    ) -> Vec<Mat4> {
        let goal = self.goal(target, world, worlds);
        self.chain(ik).bend(&self.scene, &self.rest, worlds, &goal, weight.into())
    }

    /// A target in model space.
    fn goal(&self, target: &Target, world: &Affine3x4, worlds: &[Mat4]) -> Goal {
        let to_model = match target.space {
            Space::Model => DMat4::IDENTITY,
            Space::World => DMat4::from_cols_array(&wide(world)).inverse(),
            Space::Joint(joint) => DMat4::from_cols_array(&worlds[self.nodes[joint]]),
        };
        let linear = DMat3::from_mat4(to_model);
        let rotation = target.rotation.map(|q| {
            let turned = linear * DMat3::from_quat(q.as_dquat().normalize());
            let turned = rotation_of(&DMat4::from_mat3(turned).to_cols_array());
            glam::DQuat::from_mat3(&turned).to_array()
        });
        let normal = |n: Vec3| (linear.inverse().transpose() * n.as_dvec3()).to_array();
        Goal {
            position: to_model.transform_point3(target.position.as_dvec3()).to_array(),
            rotation,
            normal: target.normal.map(normal),
        }
    }

    /// Asserts that joints have the oracle's world matrices: positions within a share of `length`, axes within a share
    /// of theirs.
    #[track_caller]
    pub fn close(
        &self,
        have: &[Affine3x4],
        want: &[Mat4],
        (length, share): (f64, f64),
        what: &str,
    ) {
        let size = |m: &Mat4| (0..11).map(|k| m[k].abs()).fold(0.0, f64::max);
        assert_eq!(have.len(), self.nodes.len());
        for (joint, have) in have.iter().enumerate() {
            let (have, want) = (wide(have), &want[self.nodes[joint]]);
            let off = (0..12).map(|k| (have[k] - want[k]).abs()).fold(0.0, f64::max);
            let far = ik::position(&have).distance(ik::position(want));
            let name = &self.rig.skeleton().names()[joint];
            assert!(far <= share * length, "{what}: {name} is off by {far:e} of {length}");
            let most = share * size(want).max(1e-30);
            assert!(off <= most, "{what}: axes of {name} are off by {off:e} of {most:e}");
        }
    }

    /// Asserts that a palette is that of world matrices.
    #[track_caller]
    pub fn palette(&self, have: &[Affine3x4], want: &[Mat4], most: f64, what: &str) {
        let skins = self.scene.skins.iter();
        let want = skins.flat_map(|s| {
            s.joints.iter().zip(&s.inverse_bind).map(|(&n, bind)| mul(&want[n], bind))
        });
        let want: Vec<Mat4> = want.collect();
        assert_eq!(have.len(), want.len());
        for (row, (have, want)) in have.iter().zip(&want).enumerate() {
            let off = reference::apart(&wide(have), want);
            assert!(off <= most, "{what}: row {row} is off by {off:e}");
        }
    }
}

fn worlds(scene: &Scene, pose: &Pose) -> Vec<Mat4> {
    scene.evaluate(pose).world.into_iter().map(Option::unwrap).collect()
}

pub fn wide(m: &Affine3x4) -> Mat4 {
    m.to_cols_array().map(f64::from)
}

/// A crowd of one rig, and its instances.
pub struct Cast {
    pub crowd: Crowd,
    pub rig: RigId,
    pub all: Vec<InstanceId>,
    pub bones: BoneBuffer,
}

impl Cast {
    pub fn new(rig: &Arc<Rig>, count: usize) -> Self {
        let mut crowd = Crowd::with_tag(5).unwrap();
        let rig = crowd.add_rig(rig.clone()).unwrap();
        let all = (0..count).map(|_| crowd.spawn(rig).unwrap()).collect();
        Self { crowd, rig, all, bones: BoneBuffer::new() }
    }

    /// An instance holds a clip at a time.
    pub fn hold(&mut self, n: usize, clip: usize, time: f32) {
        let clip = self.crowd.clip_by_index(self.rig, clip).unwrap();
        self.crowd.play(self.all[n], clip, &ruler::held(time.into(), 1.0)).unwrap();
    }

    /// Gives a modifier of an instance a target and a weight.
    pub fn aim(&mut self, n: usize, by: ModifierId, target: Target, weight: f32) {
        self.crowd.set_targets(by, &[self.all[n]], &[target], &[weight]).unwrap();
    }

    pub fn models(&self, n: usize) -> Vec<Affine3x4> {
        self.crowd.model_matrices(self.all[n]).unwrap()
    }

    /// The palette of an instance, after a frame.
    pub fn rows(&self, n: usize) -> Vec<Affine3x4> {
        let range = self.crowd.palette_range(self.all[n]).unwrap();
        self.bones.rows()[range].to_vec()
    }

    /// A frame, and its palettes of all instances.
    pub fn frame(&mut self) -> Vec<Vec<Affine3x4>> {
        self.crowd.evaluate(&mut self.bones);
        (0..self.all.len()).map(|n| self.rows(n)).collect()
    }
}

/// A clip of a scene at a time, in f64.
pub fn posed(body: &Body, clip: usize, time: f32) -> Vec<Mat4> {
    body.worlds(&body.scene.pose(clip, time.into()))
}

/// Joints below one another with these local transforms, in one skin.
pub fn line(locals: &[Trs]) -> RawScene {
    let nodes = locals.iter().enumerate().map(|(n, &local)| RawNode {
        source: n,
        name: Some(format!("joint{n}")),
        parent: n.checked_sub(1),
        local,
        ..RawNode::default()
    });
    RawScene {
        name: "line".into(),
        nodes: nodes.collect(),
        skins: vec![RawSkin {
            joints: (0..locals.len()).collect(),
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); locals.len()],
            ..RawSkin::default()
        }],
        ..RawScene::default()
    }
}

/// A local transform that moves.
pub fn by(translation: [f32; 3]) -> Trs {
    Trs { translation: translation.into(), ..Trs::IDENTITY }
}

/// The position of a joint.
pub fn place(models: &[Affine3x4], joint: usize) -> Vec3 {
    models[joint].translation()
}
