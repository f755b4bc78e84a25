//! Poses in f64, and humanoids made in code.

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};
use phalanx::build::{BuildOptions, build_rig};
use phalanx::clip::Clip;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::import::{ImportOptions, import_path};
use phalanx::retarget::{
    BindOptions, BindReport, Binding, BoundClip, HumanBone, HumanoidMap, RetargetError,
    RetargetOptions, RetargetReport, Retargeting,
};
use phalanx::rig::Rig;
use phalanx::skeleton::{NO_JOINT, Skeleton, Trs};
use phalanx_testkit::sample::sample;
use phalanx_testkit::trials;

pub type B = HumanBone;

/// A test model, if it is there.
pub fn model(name: &str) -> Option<Rig> {
    let path = trials::model(name)?;
    Some(import_path(&path, &ImportOptions::default()).unwrap().rigs.swap_remove(0))
}

pub fn map(rig: &Rig) -> HumanoidMap {
    HumanoidMap::find(rig.skeleton()).unwrap()
}

pub fn clip<'a>(rig: &'a Rig, name: &str) -> &'a Clip {
    &rig.clips()[rig.find_clip(name).unwrap()]
}

pub fn prepared(from: &Rig, to: &Rig, options: RetargetOptions) -> Retargeting {
    let (a, b) = (map(from), map(to));
    Retargeting::new((from.skeleton(), &a), (to.skeleton(), &b), options).unwrap()
}

pub fn retarget(from: &Rig, to: &Rig, clip: &Clip, options: RetargetOptions) -> Retargeted {
    prepared(from, to, options).retarget(clip).unwrap().into()
}

/// A retargeted clip, and the report.
#[derive(Clone)]
pub struct Retargeted {
    pub clip: Clip,
    pub report: RetargetReport,
}

impl From<(Clip, RetargetReport)> for Retargeted {
    fn from((clip, report): (Clip, RetargetReport)) -> Self {
        Self { clip, report }
    }
}

/// Binds one clip.
pub fn bind(
    clip: &Clip,
    target: &Skeleton,
    options: &BindOptions,
) -> Result<(BoundClip, BindReport), RetargetError> {
    let binding = Binding::new(clip.skeleton(), target, options)?;
    Ok((binding.clip(clip)?, binding.report().clone()))
}

/// A pose in model space, in f64: places of joints, and rotations as products of rotations.
pub struct Posed {
    pub places: Vec<DVec3>,
    pub turns: Vec<DQuat>,
    pub locals: Vec<Trs>,
}

impl Posed {
    pub fn new(skeleton: &Skeleton, locals: Vec<Trs>) -> Self {
        let mut models: Vec<(DMat3, DVec3)> = Vec::new();
        let mut turns: Vec<DQuat> = Vec::new();
        for (joint, local) in locals.iter().enumerate() {
            let turn = local.rotation.as_dquat().normalize();
            let matrix = DMat3::from_quat(turn) * DMat3::from_diagonal(local.scale.as_dvec3());
            let place = local.translation.as_dvec3();
            let parent = skeleton.parents()[joint];
            if parent == NO_JOINT {
                models.push((matrix, place));
                turns.push(turn);
            } else {
                let (m, p) = models[usize::from(parent)];
                models.push((m * matrix, p + m * place));
                turns.push(turns[usize::from(parent)] * turn);
            }
        }
        Self { places: models.iter().map(|m| m.1).collect(), turns, locals }
    }

    pub fn rest(skeleton: &Skeleton) -> Self {
        Self::new(skeleton, (0..skeleton.len()).map(|j| skeleton.rest(j)).collect())
    }

    /// A clip's pose, by the library's job for sampling.
    pub fn at(skeleton: &Skeleton, clip: &Clip, time: f32) -> Self {
        let output = sample(clip, skeleton, time).unwrap();
        let lane = |&l: &u16| output.lane(usize::from(l));
        Self::new(skeleton, skeleton.lane_of().iter().map(lane).collect())
    }

    pub fn place(&self, map: &HumanoidMap, bone: B) -> DVec3 {
        self.places[map.joint(bone).unwrap()]
    }

    pub fn turn(&self, map: &HumanoidMap, bone: B) -> DQuat {
        self.turns[map.joint(bone).unwrap()]
    }

    /// From a bone's joint to that of another.
    pub fn direction(&self, map: &HumanoidMap, bone: B, end: B) -> DVec3 {
        (self.place(map, end) - self.place(map, bone)).normalize()
    }
}

/// The angle between rotations, radians.
pub fn angle(a: DQuat, b: DQuat) -> f64 {
    let apart = (a - b).length().min((a + b).length());
    4.0 * (0.5 * apart).min(1.0).asin()
}

/// Times of a clip: its ends, and many between that are no key times.
pub fn times(clip: &Clip) -> Vec<f32> {
    (0..=37).map(|i| clip.duration() * (i as f32 / 37.0)).collect()
}

/// Bones whose directions are aligned, with the bones at their ends.
pub const LIMBS: [(B, B); 8] = [
    (B::LeftUpperArm, B::LeftLowerArm),
    (B::LeftLowerArm, B::LeftHand),
    (B::RightUpperArm, B::RightLowerArm),
    (B::RightLowerArm, B::RightHand),
    (B::LeftUpperLeg, B::LeftLowerLeg),
    (B::LeftLowerLeg, B::LeftFoot),
    (B::RightUpperLeg, B::RightLowerLeg),
    (B::RightLowerLeg, B::RightFoot),
];

/// Joints of a made humanoid: bone, Mixamo's name, index of the parent, place in the T-pose of a body of 1 m.
pub const BODY: [(Option<B>, &str, usize, [f64; 3]); 25] = [
    (None, "Armature", 0, [0.0, 0.0, 0.0]),
    (Some(B::Hips), "Hips", 0, [0.0, 0.55, 0.0]),
    (Some(B::Spine), "Spine", 1, [0.0, 0.62, 0.01]),
    (Some(B::Chest), "Spine1", 2, [0.0, 0.70, 0.0]),
    (Some(B::Neck), "Neck", 3, [0.0, 0.84, -0.01]),
    (Some(B::Head), "Head", 4, [0.0, 0.90, 0.01]),
    (Some(B::LeftUpperLeg), "LeftUpLeg", 1, [0.06, 0.52, 0.0]),
    (Some(B::LeftLowerLeg), "LeftLeg", 6, [0.06, 0.29, 0.01]),
    (Some(B::LeftFoot), "LeftFoot", 7, [0.06, 0.05, 0.0]),
    (Some(B::LeftToes), "LeftToeBase", 8, [0.06, 0.01, 0.08]),
    (Some(B::RightUpperLeg), "RightUpLeg", 1, [-0.06, 0.52, 0.0]),
    (Some(B::RightLowerLeg), "RightLeg", 10, [-0.06, 0.29, 0.01]),
    (Some(B::RightFoot), "RightFoot", 11, [-0.06, 0.05, 0.0]),
    (Some(B::RightToes), "RightToeBase", 12, [-0.06, 0.01, 0.08]),
    (Some(B::LeftShoulder), "LeftShoulder", 3, [0.03, 0.80, 0.0]),
    (Some(B::LeftUpperArm), "LeftArm", 14, [0.10, 0.80, 0.0]),
    (Some(B::LeftLowerArm), "LeftForeArm", 15, [0.25, 0.80, -0.01]),
    (Some(B::LeftHand), "LeftHand", 16, [0.40, 0.80, 0.0]),
    (Some(B::LeftIndexProximal), "LeftHandIndex1", 17, [0.46, 0.80, 0.02]),
    (Some(B::RightShoulder), "RightShoulder", 3, [-0.03, 0.80, 0.0]),
    (Some(B::RightUpperArm), "RightArm", 19, [-0.10, 0.80, 0.0]),
    (Some(B::RightLowerArm), "RightForeArm", 20, [-0.25, 0.80, -0.01]),
    (Some(B::RightHand), "RightHand", 21, [-0.40, 0.80, 0.0]),
    (Some(B::RightIndexProximal), "RightHandIndex1", 22, [-0.46, 0.80, 0.02]),
    (None, "Tail", 1, [0.0, 0.5, -0.1]),
];

/// A humanoid made in code.
#[derive(Clone)]
pub struct Made {
    pub names: fn(Option<B>, &str) -> String,
    /// Metres.
    pub size: f64,
    /// The arms hang down by this angle, radians; the legs are spread by a quarter of it.
    pub arms: f64,
    /// Seed of the rest rotations; 0 is none.
    pub axes: u64,
    /// How the body is turned in its model space.
    pub facing: DQuat,
    /// Bones that it lacks; what hangs on them hangs on the joints above.
    pub without: &'static [B],
    /// Scale of the joint above the hips.
    pub armature: f64,
    /// A joint without a bone between the upper and lower arms and legs, halfway.
    pub twists: bool,
    pub clips: Vec<RawClip>,
}

impl Default for Made {
    fn default() -> Self {
        Self {
            names: |_, name| format!("mixamorig:{name}"),
            size: 1.0,
            arms: 0.0,
            axes: 0,
            facing: DQuat::IDENTITY,
            without: &[],
            armature: 1.0,
            twists: false,
            clips: Vec::new(),
        }
    }
}

/// Numbers from −1 to 1 (Knuth's MMIX generator).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn turn(&mut self, most: f64) -> DQuat {
        let axis = DVec3::new(self.next(), self.next(), self.next());
        DQuat::from_axis_angle(axis.try_normalize().unwrap_or(DVec3::X), most * self.next())
    }
}

pub fn narrow(q: DQuat) -> Quat {
    Quat::from_array(q.to_array().map(|v| v as f32))
}

impl Made {
    /// Nodes with their bones: parents, places and rotations in model space.
    fn joints(&self) -> Vec<(Option<B>, String, Option<usize>, DVec3)> {
        let mut random = Random(7);
        let mut place_of: Vec<Option<usize>> = Vec::new();
        let mut joints: Vec<(Option<B>, String, Option<usize>, DVec3)> = Vec::new();
        for (index, (bone, name, parent, t_pose)) in BODY.into_iter().enumerate() {
            if bone.is_some_and(|b| self.without.contains(&b)) {
                place_of.push(None);
                continue;
            }
            let mut place = DVec3::from_array(t_pose);
            // Proportions of its own.
            place +=
                DVec3::new(0.0, 0.004, 0.004) * random.next() * f64::from(u8::from(self.axes > 0));
            let side = place.x.signum();
            if t_pose[1] >= 0.80 && t_pose[0].abs() > 0.10 {
                let shoulder = DVec3::new(0.10 * side, 0.80, 0.0);
                place = shoulder + DQuat::from_rotation_z(-side * self.arms) * (place - shoulder);
            } else if t_pose[1] < 0.3 && t_pose[0] != 0.0 {
                let hip = DVec3::new(0.06 * side, 0.52, 0.0);
                place = hip + DQuat::from_rotation_z(side * self.arms * 0.25) * (place - hip);
            }
            let place = self.facing * place * self.size;
            let mut at = Some(parent).filter(|_| index > 0);
            while let Some(p) = at.filter(|&p| place_of[p].is_none()) {
                at = Some(BODY[p].2);
            }
            let mut above = at.and_then(|p| place_of[p]);
            let twisted = [B::LeftLowerArm, B::RightLowerArm, B::LeftLowerLeg, B::RightLowerLeg];
            if self.twists && bone.is_some_and(|b| twisted.contains(&b)) {
                let from: DVec3 = joints[above.unwrap()].3;
                joints.push((None, format!("twist_{name}"), above, 0.5 * (from + place)));
                above = Some(joints.len() - 1);
            }
            place_of.push(Some(joints.len()));
            joints.push((bone, (self.names)(bone, name), above, place));
        }
        joints
    }

    pub fn bones(&self) -> Vec<(B, usize)> {
        let joints = self.joints();
        joints.iter().enumerate().filter_map(|(j, n)| Some((n.0?, j))).collect()
    }

    pub fn rig(&self) -> Rig {
        let joints = self.joints();
        let mut random = Random(self.axes);
        let turns: Vec<DQuat> = joints
            .iter()
            .map(|_| if self.axes == 0 { DQuat::IDENTITY } else { random.turn(3.0) })
            .collect();
        let mut scale = vec![1.0; joints.len()];
        let nodes = joints.iter().enumerate().map(|(j, (_, name, parent, place))| {
            let (mut local, mut turn) = (*place, turns[j]);
            let mut own = DVec3::ONE;
            if let Some(p) = *parent {
                local = turns[p].conjugate() * (*place - joints[p].3) / scale[p];
                turn = turns[p].conjugate() * turn;
                scale[j] = scale[p];
            } else {
                own *= self.armature;
                scale[j] = self.armature;
            }
            RawNode {
                source: j,
                name: Some(name.clone()),
                parent: *parent,
                local: Trs {
                    translation: Vec3::from_array(local.to_array().map(|v| v as f32)),
                    rotation: narrow(turn),
                    scale: Vec3::from_array(own.to_array().map(|v| v as f32)),
                },
                ..RawNode::default()
            }
        });
        let nodes: Vec<RawNode> = nodes.collect();
        // Without a skin, animated nodes and those above are the joints: every node moves a little.
        let still = RawClip {
            name: Some("all".into()),
            duration: 1.0,
            tracks: (0..nodes.len())
                .map(|node| RawTrack {
                    node,
                    channel: RawChannel::Rotation,
                    interpolation: Interpolation::Linear,
                    times: vec![0.0, 1.0],
                    values: [
                        nodes[node].local.rotation.to_array(),
                        (nodes[node].local.rotation * Quat::from_rotation_x(0.01)).to_array(),
                    ]
                    .concat(),
                })
                .collect(),
            ..RawClip::default()
        };
        let raw = RawScene {
            name: "made".into(),
            nodes,
            clips: std::iter::once(still).chain(self.clips.clone()).collect(),
            ..RawScene::default()
        };
        build_rig(raw, &BuildOptions::default()).unwrap()
    }

    /// Adds a clip that turns every joint by up to 0.3 radians per key and moves the hips, on one timeline.
    pub fn with_dance(self, seed: u64, keys: usize) -> Self {
        self.with_turns(seed, keys, 0.3)
    }

    /// The same with turns of up to `most` radians per key.
    pub fn with_turns(mut self, seed: u64, keys: usize, most: f64) -> Self {
        let rig = self.rig();
        let names: Vec<String> = self.joints().into_iter().map(|j| j.1).collect();
        let mut random = Random(seed);
        let times: Vec<f32> = (0..keys).map(|k| k as f32 / 30.0).collect();
        let mut tracks = Vec::new();
        for (node, name) in names.iter().enumerate().skip(1) {
            let joint = rig.skeleton().joint(name).unwrap();
            let rest = rig.skeleton().rest(joint);
            let mut turn = DQuat::IDENTITY;
            let values = times.iter().flat_map(|_| {
                turn = (turn * random.turn(most)).normalize();
                narrow((rest.rotation.as_dquat() * turn).normalize()).to_array()
            });
            tracks.push(RawTrack {
                node,
                channel: RawChannel::Rotation,
                interpolation: Interpolation::Linear,
                values: values.collect(),
                times: times.clone(),
            });
        }
        let node = self.bones().iter().find(|b| b.0 == B::Hips).unwrap().1;
        let joint = rig.skeleton().joint(names[node].as_str()).unwrap();
        let rest = rig.skeleton().rest(joint).translation.as_dvec3();
        let reach = 0.2 * self.size / self.armature;
        let values = times.iter().flat_map(|_| {
            let step = DVec3::new(random.next(), random.next(), random.next());
            (rest + step * reach).to_array().map(|v| v as f32)
        });
        tracks.push(RawTrack {
            node,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            values: values.collect(),
            times,
        });
        self.clips.push(RawClip {
            name: Some("dance".into()),
            duration: (keys - 1) as f32 / 30.0,
            tracks,
            ..RawClip::default()
        });
        self
    }
}
