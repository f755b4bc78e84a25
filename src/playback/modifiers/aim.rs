//! Aims, as they are defined.

use super::{Definition, Modifier, above, below, quoted, refused, unit};
use crate::evaluate::{self as stage, Axes, Change, Follow, Limit, MAX_TURNS, Turn};
use crate::math::Fnv1a;
use crate::playback::error::PlaybackError;
use crate::playback::options::check;
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use glam::{Vec3, Vec3A};
use std::f32::consts::PI;

/// Turns one joint, or a chain of joints, so that the last one looks at the [target](super::Target) of the instance: eyes,
/// a head with neck and spine, a turret.
///
/// Every joint turns with all below it about its own place, by the shortest rotation; the last one takes what the others
/// have left. At full weight and within the [limit](Self::limit) the [forward](Self::forward) axis then points at the
/// target, whatever scales the joints have. With part of the weight it makes that part of the angle.
///
/// - A target in the joint: it looks as it was animated.
/// - A target exactly behind: the chain turns about the up axis.
/// - A joint below a scale of 0: it stays, and those below it take its share.
/// - A target's normal is a direction for [`up`](Self::up), its rotation says nothing.
///
/// ```
/// use phalanx::playback::{Aim, Mixer, Target};
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut mixer = Mixer::new(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let [neck, head] = ["Neck", "Head"].map(|name| mixer.rig().skeleton().joint(name));
/// let look = Aim { limit: 70f32.to_radians(), ..Aim::chain([(neck?, 1.0), (head?, 2.0)]) };
/// let look = mixer.add_modifier(look)?;
/// mixer.player().set_target(look, Target::model(glam::Vec3::new(2.0, 1.6, 3.0)))?;
/// mixer.player().fade_modifier(look, 1.0, 0.3)?;
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Aim {
    /// Indices of the joints that turn, each below the one before, with their shares of the turn; the last one looks. At
    /// most 16, shares in [0, 1000], that of the last above 0.
    pub joints: Vec<(usize, f32)>,
    /// Axis of the last joint, in its space, that is pointed at the target. Default: the axis along model z in the rest
    /// pose, the direction in which characters face.
    pub forward: Option<Vec3>,
    /// Direction of model space to which the last joint's [up axis](Self::up_axis) is turned, as far as it goes while the
    /// joint looks. A [normal](super::Target::normal) of the target is taken instead. Default: none; the joint keeps the
    /// roll that it was animated with.
    pub up: Option<Vec3>,
    /// Axis of the last joint, in its space. Default: the axis along model y in the rest pose; if that is forward, the axis
    /// against model z.
    pub up_axis: Option<Vec3>,
    /// The largest angle between the look and the animated forward axis, radians, in [0, π]. A target beyond is looked at
    /// as far as the limit goes. Default π.
    pub limit: f32,
    /// Share of the limit over which the look slows down before it, in [0, 1]: with *r* for that share in radians and *x* for
    /// what is wanted of it, it takes *x* / √(1 + (*x* / *r*)²). Default 0.
    pub soft: f32,
    /// The greatest angular speed of the look, radians per second. It starts forward when the weight leaves 0, and is
    /// advanced with time: a target or transform that is set after a step is followed from the next one on, root motion at
    /// once. The speed is
    /// that of the joint in the rest pose; where the pose differs, what that moves comes on top. Default: infinite.
    pub speed: f32,
}

impl Aim {
    /// One joint.
    pub fn new(joint: usize) -> Self {
        Self::chain([(joint, 1.0)])
    }

    /// [`joints`](Self::joints) with their shares.
    pub fn chain(joints: impl Into<Vec<(usize, f32)>>) -> Self {
        Self {
            joints: joints.into(),
            forward: None,
            up: None,
            up_axis: None,
            limit: PI,
            soft: 0.0,
            speed: f32::INFINITY,
        }
    }
}

impl From<Aim> for Modifier {
    fn from(aim: Aim) -> Self {
        Self::Aim(aim)
    }
}

impl Aim {
    pub(super) fn define(&self, rig: &Rig) -> Result<Definition, PlaybackError> {
        let skeleton = rig.skeleton();
        let aim = aim(self, skeleton)?;
        let joints = aim.turns.iter().map(|turn| aim.path[turn.place]).collect();
        Definition::of(rig, Change::Aim(aim), (joints, None), hash(self))
    }
}

fn aim(aim: &Aim, skeleton: &Skeleton) -> Result<stage::Aim, PlaybackError> {
    let quoted = |joint| quoted(skeleton, joint);
    let Some(&(look, last)) = aim.joints.last() else {
        return Err(refused("an aim has no joints".into()));
    };
    let count = aim.joints.len();
    if count > MAX_TURNS {
        return Err(refused(format!("an aim has {count} joints; the limit is {MAX_TURNS}")));
    }
    aim.joints.iter().try_for_each(|&(joint, share)| {
        skeleton.joint(joint)?;
        check("share", share.into(), 0.0, 1000.0)
    })?;
    for pair in aim.joints.windows(2) {
        let (from, to) = (pair[0].0, pair[1].0);
        if below(skeleton, from, to).is_none() {
            return Err(refused(format!("{} is not below {}", quoted(to), quoted(from))));
        }
    }
    if last <= 0.0 {
        return Err(refused(format!("{} looks and has a share of 0", quoted(look))));
    }
    check("limit", aim.limit.into(), 0.0, PI.into())?;
    check("soft", aim.soft.into(), 0.0, 1.0)?;
    check("speed", aim.speed.into(), 0.0, f64::INFINITY)?;
    let models = skeleton.rest_models();
    let in_space = |v: Vec3| (models[look].matrix3.inverse() * Vec3A::from(v)).try_normalize();
    let flat = || refused(format!("{} has a scale of 0 in the rest pose", quoted(look)));
    let given = |what, axis: Option<Vec3>| axis.map(|axis| unit(what, axis)).transpose();
    let forward = match given("forward", aim.forward)? {
        Some(axis) => axis.into(),
        None => in_space(Vec3::Z).ok_or_else(flat)?,
    };
    let along = |axis: Vec3A| axis.cross(forward).length() < 1e-3;
    let up_axis = match given("up_axis", aim.up_axis)? {
        Some(axis) if along(axis.into()) => {
            let joint = quoted(look);
            return Err(refused(format!("the up axis of {joint} is along its forward axis")));
        }
        Some(axis) => axis.into(),
        None => [Vec3::Y, Vec3::NEG_Z]
            .into_iter()
            .filter_map(in_space)
            .find(|&up| !along(up))
            .ok_or_else(flat)?,
    };
    let mut path: Vec<u16> = above(skeleton, look).collect();
    path.reverse();
    let mut left: f32 = 0.0;
    let mut turns = Vec::new();
    for &(joint, share) in aim.joints.iter().rev().filter(|joint| joint.1 > 0.0) {
        left += share;
        let place = path.iter().position(|&at| usize::from(at) == joint).unwrap_or_default();
        turns.push(Turn { place, share: share / left });
    }
    turns.reverse();
    let axes = Axes { forward, up: up_axis };
    let limit = Limit::new(aim.limit, aim.soft);
    let follow = match aim.speed < f32::INFINITY {
        true => Some(Follow::new((aim.speed, limit), look, &axes, models).ok_or_else(flat)?),
        false => None,
    };
    let up = given("up", aim.up)?;
    Ok(stage::Aim { path: path.into(), turns: turns.into(), axes, up, limit, follow })
}

/// The hash of the fields as they were given: the same on every machine.
fn hash(aim: &Aim) -> u64 {
    let mut h = Fnv1a::default();
    h.write(b"aim");
    h.write_u64(aim.joints.len() as u64);
    for &(joint, share) in &aim.joints {
        h.write_u64(joint as u64);
        h.write_f32(share);
    }
    for v in [aim.forward, aim.up, aim.up_axis] {
        h.write_u64(v.is_some().into());
        v.unwrap_or_default().to_array().into_iter().for_each(|v| h.write_f32(v));
    }
    [aim.limit, aim.soft, aim.speed].into_iter().for_each(|v| h.write_f32(v));
    h.finish()
}
