//! `Body`: a skeleton with a humanoid map in its reference pose.

use super::error::RetargetError;
use super::facing::facing;
use super::humanoid::{HumanBone as B, HumanoidMap, is_below};
use super::loose::Loose;
use super::options::Alignment;
use super::pose::{Local, ancestors, compose, models, parent, rest, unit};
use super::reference::Reference;
use super::space::Space;
use super::stance::{LEGS, Stance};
use crate::skeleton::Skeleton;
use glam::{DAffine3, DQuat, DVec3};
use std::sync::Arc;

/// Largest height of a body's lowest joint above the origin on which it stands, as a share of its height: toes, ankles.
const SOLES: [f64; 2] = [0.1, 0.25];
/// Largest depth of that joint below the origin, as a share of the body's height.
const SUNK: f64 = 0.03;

pub(super) const FEET: [B; 2] = [B::LeftFoot, B::RightFoot];
/// For each foot, the rotation from a level sole to the sole in the reference pose.
pub(super) type Tilts = [DQuat; 2];

const TOES: [B; 2] = [B::LeftToes, B::RightToes];

/// Smallest difference of directions of bones that is aligned, radians: less is rounding of rest poses.
const ALIGNED: f64 = 1e-6;

/// Largest difference of directions of bones that is aligned, radians. Arms that hang down are 90° from a T-pose; beyond
/// it the poses differ in kind, or the map is wrong.
const MOST_ALIGNED: f64 = 95.0 * std::f64::consts::PI / 180.0;

#[derive(Clone)]
pub(super) struct Body {
    pub skeleton: Arc<Skeleton>,
    pub map: HumanoidMap,
    /// The reference pose, in joint order.
    pub locals: Vec<Local>,
    pub models: Vec<DAffine3>,
    /// Rotations in model space: products of rotations alone.
    pub worlds: Vec<DQuat>,
    /// Rotation from the axes left, up and forward to model space.
    pub facing: DQuat,
    /// Joints of the left and the right foot with its toes; the lowest stands on the ground. All joints if the body has no
    /// feet.
    pub feet: [Vec<usize>; 2],
    /// Whether `feet` contains toes.
    pub on_toes: bool,
    pub tilts: Tilts,
    pub stands: bool,
    /// The least height of feet and toes along `up`, and the least height if the legs were straight.
    pub low: [f64; 2],
    /// Height of the hips with straight legs; comparable with the other body's, see [`Body::measure`].
    pub height: f64,
    pub loose: Vec<Loose>,
}

impl Body {
    pub fn new(
        skeleton: &Arc<Skeleton>,
        map: &HumanoidMap,
        reference: &Reference,
        side: &'static str,
    ) -> Result<Self, RetargetError> {
        let needed = skeleton.len();
        if let Some((_, joint)) = map.bones().find(|b| b.1 >= needed) {
            return Err(RetargetError::Foreign { side, joint, joints: needed });
        }
        map.check(skeleton)?;
        let locals: Vec<Local> = match reference.pose() {
            None => rest(skeleton),
            Some(pose) => {
                let have = pose.iter().filter(|t| t.is_finite()).count();
                if have != needed || pose.len() != needed {
                    return Err(RetargetError::Reference { side, have, needed });
                }
                pose.iter().map(|t| Local::from(*t)).collect()
            }
        };
        let mut body = Self {
            skeleton: skeleton.clone(),
            map: map.clone(),
            models: Vec::new(),
            worlds: Vec::new(),
            locals,
            facing: DQuat::IDENTITY,
            feet: Default::default(),
            on_toes: false,
            tilts: [DQuat::IDENTITY; 2],
            stands: false,
            low: [0.0; 2],
            height: 0.0,
            loose: Vec::new(),
        };
        body.pose();
        body.loose = body.find_loose();
        body.facing = match reference.pose() {
            None => facing(body.stance(&body.models), None),
            Some(_) => {
                let models = models(skeleton, &rest(skeleton));
                facing(body.stance(&models), Some(body.stance(&body.models)))
            }
        };
        body.feet = body.feet_of(true);
        let (hips, foot) = (body.position(body.hips()).dot(body.up()), body.lowest(false));
        let toes = TOES.iter().any(|toes| map.joint(*toes).is_some());
        let sole = SOLES[usize::from(!toes)];
        body.stands = (-SUNK..=sole).contains(&(foot / (hips - foot)));
        Ok(body)
    }

    /// The joint of the hips, which every map has.
    pub fn hips(&self) -> usize {
        self.map.joint(B::Hips).unwrap_or(0)
    }

    pub fn stance<'a>(&'a self, models: &'a [DAffine3]) -> Stance<'a> {
        let map = &self.map;
        Stance { map, models }
    }

    fn find_loose(&self) -> Vec<Loose> {
        let bones = self.map.bones();
        let loose = bones.filter_map(|(bone, joint)| {
            let carrier = self.map.joint(self.map.parent(bone)?)?;
            let offset = self.models[carrier].inverse();
            let offset = offset.transform_point3(self.position(joint));
            // The offset from a joint with scale 0 is not finite: such a bone is not loose.
            let free = !is_below(&self.skeleton, joint, carrier) && offset.is_finite();
            free.then_some(Loose { joint, carrier, offset })
        });
        loose.collect()
    }

    /// Computes models and worlds from the local transforms, and moves loose bones along.
    fn pose(&mut self) {
        self.compose();
        for Loose { joint, carrier, offset } in self.loose.clone() {
            let place = self.models[carrier].transform_point3(offset);
            let local = self.model_above(joint).inverse().transform_point3(place);
            if local.is_finite() {
                self.locals[joint].translation = local;
                self.compose();
            }
        }
    }

    fn compose(&mut self) {
        self.models = models(&self.skeleton, &self.locals);
        self.worlds = compose(&self.skeleton, |joint| self.locals[joint].rotation);
        self.worlds.iter_mut().for_each(|world| *world = unit(*world));
    }

    pub fn model_above(&self, joint: usize) -> DAffine3 {
        parent(&self.skeleton, joint).map_or(DAffine3::IDENTITY, |p| self.models[p])
    }

    pub fn world_above(&self, joint: usize) -> DQuat {
        parent(&self.skeleton, joint).map_or(DQuat::IDENTITY, |p| self.worlds[p])
    }

    pub fn position(&self, joint: usize) -> DVec3 {
        self.models[joint].translation
    }

    pub fn bone(&self, bone: B) -> Option<DVec3> {
        self.map.joint(bone).map(|j| self.position(j))
    }

    pub fn up(&self) -> DVec3 {
        self.facing * DVec3::Y
    }

    /// The joints of both feet, with or without toes; all joints if the body has no feet.
    fn feet_of(&self, toes: bool) -> [Vec<usize>; 2] {
        let joint = |bone: B| self.map.joint(bone);
        let feet = [0, 1].map(|side| {
            let toes = Some(TOES[side]).filter(|_| toes);
            let bones = [Some(FEET[side]), toes].into_iter().flatten();
            bones.filter_map(joint).collect::<Vec<usize>>()
        });
        match feet.iter().all(Vec::is_empty) {
            true => [(0..self.skeleton.len()).collect(), Vec::new()],
            false => feet,
        }
    }

    /// The least height of feet and toes along `up`; with `straight`, as if legs were straight and soles level.
    fn lowest(&self, straight: bool) -> f64 {
        let side = |side: usize| {
            let ankle = self.bone(FEET[side]).unwrap_or_default();
            let (longer, level) = match straight {
                true => (self.bend(side), self.tilts[side].conjugate()),
                false => (0.0, DQuat::IDENTITY),
            };
            let heights = self.feet[side].iter().map(move |&joint| {
                let place = ankle + level * (self.position(joint) - ankle);
                place.dot(self.up()) - longer
            });
            heights.fold(f64::INFINITY, f64::min)
        };
        let [left, right] = [side(0), side(1)];
        // A lifted foot that points down reaches lower than one that stands, so the higher one counts.
        match straight && left.is_finite() && right.is_finite() {
            true => left.max(right),
            false => left.min(right),
        }
    }

    /// The distance by which a foot would be lower if its leg were straight and upright; 0 if the leg is not whole.
    fn bend(&self, side: usize) -> f64 {
        match LEGS[side].map(|bone| self.bone(bone)) {
            [Some(upper), Some(lower), Some(foot)] => {
                let leg = upper.distance(lower) + lower.distance(foot);
                leg - (upper - foot).dot(self.up())
            }
            _ => 0.0,
        }
    }

    /// For each joint the joint of another body, if both have the same skeleton, bones and reference pose, in any order of
    /// joints.
    pub fn same(&self, other: &Self) -> Option<Vec<u16>> {
        let joints = other.skeleton.joints_in(&self.skeleton)?;
        let at = |joint: usize| usize::from(joints[joint]);
        let bones = self.map.bones().map(|(bone, joint)| (bone, at(joint)));
        let locals = self.locals.iter().enumerate();
        let same = bones.eq(other.map.bones())
            && locals.into_iter().all(|(j, local)| *local == other.locals[at(j)]);
        same.then_some(joints)
    }

    /// Whether toes point backwards in the reference pose.
    pub fn is_swapped(&self) -> bool {
        self.stance(&self.models).is_swapped(self.facing * DVec3::Z)
    }

    /// Whether the reference pose does not stand.
    pub fn is_lying(&self) -> bool {
        !self.stance(&self.models).is_up(self.up())
    }

    pub fn check_stance(&self, side: &'static str) -> Result<(), RetargetError> {
        let stance = self.stance(&self.models);
        match (stance.height(self.up()), stance.leg()) {
            (Some(height), Some(leg)) if self.is_lying() => {
                let lean = stance.lean(self.up()).to_degrees();
                Err(RetargetError::Lies { side, lean, height, leg })
            }
            _ => Ok(()),
        }
    }

    /// Fails if a joint above one of `joints` has a negative scale: directions below it do not follow from the joint's
    /// rotation.
    pub fn check_signs(
        &self,
        joints: impl Iterator<Item = usize>,
        side: &'static str,
    ) -> Result<(), RetargetError> {
        let mut seen = vec![false; self.skeleton.len()];
        for joint in joints {
            for j in ancestors(&self.skeleton, joint) {
                if std::mem::replace(&mut seen[j], true) {
                    break;
                }
                if self.locals[j].scale.min_element() < 0.0 {
                    let fault = ", which mirrors or turns the bones below; export it with that scale applied";
                    return Err(self.scale_error(j, side, fault));
                }
            }
        }
        Ok(())
    }

    /// The error of a joint whose scale allows no transfer.
    pub fn scale_error(
        &self,
        joint: usize,
        side: &'static str,
        fault: &'static str,
    ) -> RetargetError {
        RetargetError::JointScale {
            side,
            joint,
            name: self.skeleton.names()[joint].clone(),
            scale: self.locals[joint].scale.to_array(),
            fault,
        }
    }

    /// Measures the heights of the hips of two bodies in the same way: above the origin if both stand on it, otherwise above
    /// the lowest foot; toes count if both have some. If bones are aligned, legs count as straight, since the two
    /// reference poses may spread or bend them differently. If one has no legs, the lengths of the trunks take the place of
    /// heights, and the hips of the reference poses are at the same height.
    pub fn measure(source: &mut Self, target: &mut Self, alignment: Alignment) {
        let trunks = Stance::trunks([&*source, &*target].map(|body| body.stance(&body.models)));
        let bodies = [source, target];
        if let Some(trunks) = trunks {
            for (body, trunk) in bodies.into_iter().zip(trunks) {
                (body.feet, body.stands, body.height) = (Default::default(), false, trunk);
                body.low = [body.position(body.hips()).dot(body.up()) - trunk; 2];
            }
            return;
        }
        let toes = |body: &&mut Self| TOES.iter().any(|b| body.map.joint(*b).is_some());
        let toes = bodies.iter().all(toes);
        let stand = bodies.iter().all(|body| body.stands);
        for body in bodies {
            body.feet = body.feet_of(toes);
            body.on_toes = toes;
            body.low = [false, alignment != Alignment::None].map(|s| body.lowest(s));
            let [low, straight] = body.low;
            let hips = body.position(body.hips()).dot(body.up());
            body.height = hips - straight + if stand { low } else { 0.0 };
        }
    }

    /// Turns bones of the reference pose into the directions of the source's. Returns the bones that were turned, and those
    /// that are too far from it, with the angles in radians.
    pub fn align(
        &mut self,
        source: &Body,
        space: &Space,
        alignment: Alignment,
    ) -> [Vec<(B, f64)>; 2] {
        let (mut turned, mut refused) = (Vec::new(), Vec::new());
        let foot = |(side, bone): (usize, B)| {
            let joint = self.map.joint(bone)?;
            source.map.joint(twin(bone, space))?;
            let other = if space.mirror { 1 - side } else { side };
            let tilt = space.rotation(source.tilts[other]) * self.tilts[side].conjugate();
            Some((joint, unit(tilt * self.worlds[joint])))
        };
        let feet = FEET.into_iter().enumerate().filter_map(foot);
        let feet: Vec<(usize, DQuat)> = feet.collect();
        for (bone, next) in pairs(alignment) {
            let (from, from_next) = (twin(bone, space), twin(next, space));
            let (Some(a), Some(b)) = (source.bone(from), source.bone(from_next)) else { continue };
            let (Some(joint), Some(c), Some(d)) =
                (self.map.joint(bone), self.bone(bone), self.bone(next))
            else {
                continue;
            };
            let wanted = space.direction(b - a).try_normalize();
            let (Some(wanted), Some(have)) = (wanted, (d - c).try_normalize()) else { continue };
            let turn = unit(DQuat::from_rotation_arc(have, wanted));
            let angle = have.angle_between(wanted);
            if angle.is_nan() || angle <= ALIGNED {
                continue;
            }
            if angle > MOST_ALIGNED {
                refused.push((bone, angle));
                continue;
            }
            self.turn(joint, turn * self.worlds[joint]);
            turned.push((bone, angle));
        }
        for (joint, world) in feet {
            self.turn(joint, world);
        }
        [turned, refused]
    }

    fn turn(&mut self, joint: usize, world: DQuat) {
        self.locals[joint].rotation = unit(self.world_above(joint).conjugate() * world);
        self.pose();
    }
}

/// The bone of the source that a bone of the target follows.
pub(super) fn twin(bone: B, space: &Space) -> B {
    if space.mirror { bone.mirrored() } else { bone }
}

/// Bones that are aligned, from the body outwards, with the bones at their ends.
fn pairs(alignment: Alignment) -> Vec<(B, B)> {
    let mut ends = vec![
        B::LeftLowerLeg,
        B::LeftFoot,
        B::LeftLowerArm,
        B::LeftHand,
        B::RightLowerLeg,
        B::RightFoot,
        B::RightLowerArm,
        B::RightHand,
    ];
    match alignment {
        Alignment::None => ends.clear(),
        Alignment::Limbs => {}
        // Above the first joints of fingers are hands, which are not aligned.
        Alignment::LimbsAndFingers => {
            ends.extend(B::all().filter(|b| b.is_finger() && b.parent().is_some_and(B::is_finger)))
        }
    }
    let pair = |end: B| Some((end.parent()?, end));
    ends.into_iter().filter_map(pair).collect()
}
