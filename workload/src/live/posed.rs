//! Characters whose poses the host changes or reads: legs and looks on targets, feet on the ground, all joints of
//! everyone, a hook, whole poses.

use super::crowds::{Playing, joint_of};
use super::scene::{Around, LiveError};
use glam::{Vec3, Vec3A};
use phalanx::crowd::{
    Aim, Feet, Ground, Hook, ModifierId, PoseSpace, PoseStage, Target, TwoBoneIk,
};
use phalanx::math::Affine3x4;
use phalanx::skeleton::Trs;
use std::hint::black_box;

/// A crowd whose modifiers follow targets, set in each frame by a call per modifier.
#[derive(Debug)]
pub struct Aimed {
    playing: Playing,
    modifiers: Vec<(ModifierId, Vec<Target>)>,
    frame: usize,
    targets: Vec<Target>,
}

/// Number of targets that characters take in turn. It shares no factor with the numbers of characters.
const TURNS: usize = 61;

/// A circle of targets around a point in model space.
fn circle(around: Vec3A, radius: f32) -> Vec<Target> {
    let target = |i: usize| {
        let angle = i as f32 / TURNS as f32 * std::f32::consts::TAU;
        let aside = Vec3A::new(radius * angle.cos(), radius * angle.sin(), 0.0);
        Target::model((around + aside).into())
    };
    (0..TURNS).map(target).collect()
}

impl Aimed {
    fn new(playing: Playing) -> Self {
        Self { playing, modifiers: Vec::new(), frame: 0, targets: Vec::new() }
    }

    /// Gives both legs of every character two-bone inverse kinematics at full weight.
    ///
    /// # Errors
    /// If the rig has no legs of two bones.
    pub fn legs(playing: Playing) -> Result<Self, LiveError> {
        let mut made = Self::new(playing);
        let Self { playing, modifiers, .. } = &mut made;
        if let Some(rig) = playing.instances.first().map(|first| first.rig()) {
            let names: [&[&str]; 2] = [&["rightfoot", "foot"], &["leftfoot", "foot"]];
            for parts in names {
                let foot = joint_of(playing, parts)?;
                let leg = playing.crowd.add_modifier(rig, TwoBoneIk::new(foot))?;
                let rest = playing.crowd.rig(rig)?.skeleton().rest_models()[foot].translation;
                modifiers.push((leg, circle(rest + Vec3A::new(0.0, 0.1, 0.1), 0.1)));
            }
        }
        Ok(made)
    }

    /// Lets the head of every character look at a target at full weight, with a third of the turn in the joint above, by
    /// 70 degrees at most. A quarter of the targets is beyond; for two thirds the look slows down.
    ///
    /// # Errors
    /// If the head is a root.
    pub fn look(playing: Playing) -> Result<Self, LiveError> {
        let mut made = Self::new(playing);
        let Self { playing, modifiers, .. } = &mut made;
        if let Some(rig) = playing.instances.first().map(|first| first.rig()) {
            let head = joint_of(playing, &["head"])?;
            let skeleton = playing.crowd.rig(rig)?.skeleton();
            let neck = usize::from(skeleton.parents()[head]);
            let rest = skeleton.rest_models()[head].translation;
            let aim = Aim {
                limit: 70f32.to_radians(),
                soft: 0.2,
                ..Aim::chain([(neck, 1.0), (head, 2.0)])
            };
            let look = playing.crowd.add_modifier(rig, aim)?;
            modifiers.push((look, circle(rest + Vec3A::new(1.5, 0.0, 1.1), 1.8)));
        }
        Ok(made)
    }
}

impl Around for Aimed {
    fn playing(&self) -> &Playing {
        &self.playing
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.playing
    }

    fn requests(&mut self) -> Result<(), LiveError> {
        let Self { playing, modifiers, frame, targets } = self;
        for (modifier, turns) in modifiers {
            targets.clear();
            targets.extend((0..playing.instances.len()).map(|i| turns[(*frame + i) % TURNS]));
            playing.crowd.set_targets(*modifier, &playing.instances, targets, &[1.0])?;
        }
        *frame += 1;
        Ok(())
    }
}

/// A crowd that stands on hilly ground.
#[derive(Debug)]
pub struct Standing {
    playing: Playing,
    feet: Option<ModifierId>,
    positions: Vec<Vec3>,
    grounds: Vec<Ground>,
}

impl Standing {
    /// Puts both feet of every character on the ground, at full weight.
    ///
    /// # Errors
    /// If the rig has no legs of two bones below its hips.
    pub fn new(mut playing: Playing) -> Result<Self, LiveError> {
        let mut feet = None;
        if let Some(rig) = playing.instances.first().map(|first| first.rig()) {
            let hips = joint_of(&playing, &["hips", "pelvis"])?;
            let ankles = [joint_of(&playing, &["rightfoot"])?, joint_of(&playing, &["leftfoot"])?];
            feet = Some(playing.crowd.add_modifier(rig, Feet::new(hips, &ankles))?);
        }
        let positions = vec![Vec3::ZERO; 2 * playing.instances.len()];
        let grounds = vec![Ground::level(0.0); positions.len()];
        Ok(Self { playing, feet, positions, grounds })
    }
}

/// The ground below a point: a triangle wave along both axes, which costs little beside what is measured.
fn ground(at: Vec3) -> Ground {
    let wave = |v: f32| {
        let part = v - v.floor();
        if part < 0.5 { (part, 1.0) } else { (1.0 - part, -1.0) }
    };
    let (x, z) = (wave(at.x), wave(at.z));
    let slope = 0.2;
    Ground { height: slope * (x.0 + z.0), normal: Vec3::new(-slope * x.1, 1.0, -slope * z.1) }
}

impl Around for Standing {
    fn playing(&self) -> &Playing {
        &self.playing
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.playing
    }

    fn requests(&mut self) -> Result<(), LiveError> {
        let Self { playing: Playing { crowd, instances, .. }, feet, positions, grounds } = self;
        if let Some(feet) = *feet {
            crowd.foot_positions(feet, instances, positions)?;
            for (to, &at) in grounds.iter_mut().zip(positions.iter()) {
                *to = ground(at);
            }
            crowd.set_grounds(feet, instances, grounds, &[1.0])?;
        }
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
