//! Characters whose poses the host changes or reads: legs on targets, all joints of everyone, a hook, whole poses.

use super::crowds::{Playing, joint_of};
use super::scene::{Around, LiveError};
use phalanx::crowd::{Hook, ModifierId, PoseSpace, PoseStage, Target, TwoBoneIk};
use phalanx::math::Affine3x4;
use phalanx::skeleton::Trs;
use std::hint::black_box;

/// A crowd whose feet follow targets, set in each frame by a call per leg.
#[derive(Debug)]
pub struct Legs {
    playing: Playing,
    legs: Vec<(ModifierId, Vec<Target>)>,
    frame: usize,
    targets: Vec<Target>,
}

/// Number of targets that characters take in turn. It shares no factor with the numbers of characters.
const TURNS: usize = 61;

impl Legs {
    /// Gives both legs of every character two-bone inverse kinematics at full weight.
    ///
    /// # Errors
    /// If the rig has no legs of two bones.
    pub fn new(mut playing: Playing) -> Result<Self, LiveError> {
        let mut legs = Vec::new();
        if let Some(rig) = playing.instances.first().map(|first| first.rig()) {
            let names: [&[&str]; 2] = [&["rightfoot", "foot"], &["leftfoot", "foot"]];
            for parts in names {
                let foot = joint_of(&playing, parts)?;
                let leg = playing.crowd.add_modifier(rig, TwoBoneIk::new(foot))?;
                let rest = playing.crowd.rig(rig)?.skeleton().rest_models()[foot].translation;
                let target = |i: usize| {
                    let angle = i as f32 / TURNS as f32 * std::f32::consts::TAU;
                    let aside = glam::Vec3A::new(0.1 * angle.cos(), 0.1 + 0.1 * angle.sin(), 0.1);
                    Target::model((rest + aside).into())
                };
                legs.push((leg, (0..TURNS).map(target).collect()));
            }
        }
        Ok(Self { playing, legs, frame: 0, targets: Vec::new() })
    }
}

impl Around for Legs {
    fn playing(&self) -> &Playing {
        &self.playing
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.playing
    }

    fn requests(&mut self) -> Result<(), LiveError> {
        let Self { playing, legs, frame, targets } = self;
        for (leg, turns) in legs {
            targets.clear();
            targets.extend((0..playing.instances.len()).map(|i| turns[(*frame + i) % TURNS]));
            playing.crowd.set_targets(*leg, &playing.instances, targets, &[1.0])?;
        }
        *frame += 1;
        Ok(())
    }
}

/// A crowd of which the model matrices of all joints are read after each frame.
#[derive(Debug)]
pub struct AllPoses {
    playing: Playing,
    joints: Vec<usize>,
    models: Vec<Affine3x4>,
}

impl AllPoses {
    /// Makes room for the matrices of every character.
    ///
    /// # Errors
    /// If a character is unknown.
    pub fn new(playing: Playing) -> Result<Self, LiveError> {
        let joints: Vec<usize> = match playing.instances.first() {
            Some(first) => (0..playing.crowd.rig(first.rig())?.skeleton().len()).collect(),
            None => Vec::new(),
        };
        let models = vec![Affine3x4::IDENTITY; joints.len() * playing.instances.len()];
        Ok(Self { playing, joints, models })
    }
}

impl Around for AllPoses {
    fn playing(&self) -> &Playing {
        &self.playing
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.playing
    }

    fn update(&mut self) -> Result<(), LiveError> {
        let Playing { crowd, instances, .. } = &self.playing;
        if let Some(first) = instances.first() {
            let (joints, models) = (&self.joints, &mut self.models);
            crowd.model_poses(first.rig(), joints, instances, PoseStage::After, models)?;
        }
        black_box(&self.models);
        Ok(())
    }
}

/// A crowd with a hook that turns five joints of every character.
#[derive(Debug)]
pub struct Hooks {
    playing: Playing,
    joints: [usize; 5],
}

impl Hooks {
    /// Flags every character.
    ///
    /// # Errors
    /// If a rig refuses the hook.
    pub fn new(mut playing: Playing) -> Result<Self, LiveError> {
        let mut joints = [0; 5];
        if let Some(rig) = playing.instances.first().map(|first| first.rig()) {
            let count = playing.crowd.rig(rig)?.skeleton().len();
            joints = [1, 2, 3, 4, 5].map(|n| (n * count / 6).min(count.saturating_sub(1)));
            let listed = Some(joints.to_vec());
            let hook = playing.crowd.add_modifier(rig, Hook { joints: listed, reach: 0.0 })?;
            let targets = [Target::default()];
            playing.crowd.set_targets(hook, &playing.instances, &targets, &[1.0])?;
        }
        Ok(Self { playing, joints })
    }
}

impl Around for Hooks {
    fn playing(&self) -> &Playing {
        &self.playing
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.playing
    }

    fn evaluate(&mut self) {
        let Self { playing: Playing { crowd, buffer, .. }, joints } = self;
        let turn = glam::Quat::from_rotation_x(0.1);
        crowd.evaluate_with(buffer, &|_, pose, _| {
            for &joint in &*joints {
                if let Some(local) = pose.local(joint) {
                    let turned = Trs { rotation: local.rotation * turn, ..local };
                    let _ = black_box(pose.set_local(joint, turned));
                }
            }
        });
    }
}

/// A crowd of which every character is given a whole pose at weight 0.5, another one in each frame.
#[derive(Debug)]
pub struct GivenPoses {
    playing: Playing,
    /// Poses of one character more than there are.
    poses: Vec<Trs>,
    joints: usize,
    frame: usize,
}

impl GivenPoses {
    /// Makes the poses.
    ///
    /// # Errors
    /// If a character is unknown.
    pub fn new(playing: Playing) -> Result<Self, LiveError> {
        let (mut poses, mut joints) = (Vec::new(), 0);
        if let Some(first) = playing.instances.first() {
            let skeleton = playing.crowd.rig(first.rig())?.skeleton();
            joints = skeleton.len();
            for n in 0..=playing.instances.len() {
                let turn = glam::Quat::from_rotation_z(0.01 * (n % TURNS) as f32);
                let turned = |rest: Trs| Trs { rotation: rest.rotation * turn, ..rest };
                poses.extend((0..joints).map(|joint| turned(skeleton.rest(joint))));
            }
        }
        Ok(Self { playing, poses, joints, frame: 0 })
    }
}

impl Around for GivenPoses {
    fn playing(&self) -> &Playing {
        &self.playing
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.playing
    }

    fn requests(&mut self) -> Result<(), LiveError> {
        let Self { playing: Playing { crowd, instances, .. }, poses, joints, frame } = self;
        if let Some(first) = instances.first() {
            let from = *frame % 2 * *joints;
            let poses = &poses[from..][..instances.len() * *joints];
            crowd.set_poses(first.rig(), instances, poses, PoseSpace::Local, &[0.5])?;
        }
        *frame += 1;
        Ok(())
    }
}
