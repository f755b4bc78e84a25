//! `Skeleton`: flat parents, rest pose and lane order.

use super::channel::UserChannel;
use super::frames::{Frames, noise_length};
use super::limits::{
    Beyond, MAX_CHAIN_SCALE, MAX_SCALAR, beyond, check_chain, check_local, largest,
};
use super::{Pose, Trs};
use crate::error::BuildError;
use crate::math::{Fnv1a, LANES, NOISE, Row, blocks_for, settle};
use crate::words::{plural, shorten};
use glam::{Affine3A, Quat};
use std::sync::Arc;

/// The parent of a root joint, and the joint of a slot without one.
pub const NO_JOINT: u16 = u16::MAX;

/// Limit on the joints of a skeleton: indices are u16 and the last value means "none".
pub const MAX_JOINTS: usize = u16::MAX as usize;

/// One joint of the list that [`Skeleton::new`] takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name; may be empty or shared with other joints.
    pub name: String,
    /// Index of the parent in the list, smaller than the joint's own; `None` for a root.
    pub parent: Option<usize>,
    /// Rest pose, relative to the parent.
    pub rest: Trs,
}

/// A named scalar of a skeleton (a morph weight, a number of a user channel) with its rest value.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// Name.
    pub name: String,
    /// Value while no clip animates the scalar.
    pub rest: f32,
}

/// An immutable, flat hierarchy of joints, parents first, with its rest pose in lane order.
///
/// A clone shares the arrays; it only increments a counter.
#[derive(Clone, Debug)]
pub struct Skeleton {
    pub(super) data: Arc<SkeletonData>,
}

/// Skeletons that share their arrays are equal; the arrays are then not compared.
impl PartialEq for Skeleton {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.data, &other.data) || self.data == other.data
    }
}

/// The arrays of a skeleton.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SkeletonData {
    names: Vec<String>,
    parents: Vec<u16>,
    lane_of: Vec<u16>,
    joint_of: Vec<u16>,
    pub(super) scalars: Vec<Scalar>,
    /// User channels, each with its first scalar.
    pub(super) channels: Vec<(UserChannel, usize)>,
    rest: Pose,
    structure_hash: u64,
    layout_hash: u64,
}

/// A rest transform with the rounding noise of exporters set to zero; `frame` is the scale of the translation's frame.
fn settled(rest: &Trs, frame: f64) -> Trs {
    let noise = noise_length(frame);
    Trs {
        translation: rest.translation.to_array().map(|v| settle(v, noise)).into(),
        rotation: Quat::from_array(rest.rotation.to_array().map(|v| settle(v, NOISE))),
        scale: rest.scale,
    }
}

pub(super) fn check_scalars(scalars: &[Scalar]) -> Result<(), BuildError> {
    for (scalar, s) in scalars.iter().enumerate() {
        beyond("", &[s.rest], MAX_SCALAR).map_err(|Beyond { value, limit, .. }| {
            let place = format!("scalar {scalar} \"{}\": the rest value", shorten(&s.name));
            BuildError::Beyond { place, value, limit }
        })?;
    }
    Ok(())
}

impl Skeleton {
    /// Makes a skeleton. `lane_order[lane]` is the joint in that lane; `None` is joint order.
    ///
    /// # Errors
    /// If a parent does not come before its child, a value is not finite or beyond its limit
    /// ([`MAX_LENGTH`](super::MAX_LENGTH), [`MAX_CHAIN_SCALE`], scalars 1e12, squared lengths of rotations 0.5 to 2), there are too many joints, or the lane order is not
    /// a permutation.
    pub fn new(
        joints: &[Joint],
        lane_order: Option<&[u16]>,
        scalars: Vec<Scalar>,
    ) -> Result<Self, BuildError> {
        let count = joints.len();
        if count > MAX_JOINTS {
            return Err(BuildError::limit(format!("{count} joints"), count, MAX_JOINTS));
        }
        for (joint, j) in joints.iter().enumerate() {
            if let Some(parent) = j.parent.filter(|&p| p >= joint) {
                return Err(BuildError::invalid(format!(
                    "joint {joint} has parent {parent}, which does not come before it"
                )));
            }
            check_local(&j.rest).map_err(|Beyond { what, value, limit }| {
                let name = shorten(&j.name);
                let place = format!("joint {joint} \"{name}\": a {what} of the rest pose");
                BuildError::Beyond { place, value, limit }
            })?;
        }
        check_scalars(&scalars)?;
        let identity: Vec<u16>;
        let order = match lane_order {
            Some(order) => order,
            None => {
                identity = (0..count as u32).map(|j| j as u16).collect();
                &identity
            }
        };
        let bad_order = || {
            let entries = plural(order.len() as u64, "entry");
            let joints = plural(count as u64, "joint");
            BuildError::invalid(format!(
                "the lane order has {entries} for {joints}, or does not list each joint once"
            ))
        };
        if order.len() != count {
            return Err(bad_order());
        }
        let mut lane_of = vec![NO_JOINT; count];
        for (lane, &joint) in order.iter().enumerate() {
            match lane_of.get_mut(usize::from(joint)) {
                Some(slot) if *slot == NO_JOINT => *slot = lane as u16,
                _ => return Err(bad_order()),
            }
        }
        let scale = |joint: usize| f64::from(largest(&joints[joint].rest.scale.to_array()));
        let parent = |j: &Joint| j.parent.map_or(NO_JOINT, |p| p as u16);
        let parents: Vec<u16> = joints.iter().map(parent).collect();
        let frames = Frames::new(parents.clone(), scale);
        let mut rest = Pose::identity(count, scalars.len());
        for (joint, (j, &lane)) in joints.iter().zip(&lane_of).enumerate() {
            let local = settled(&j.rest, frames.above(joint));
            rest.set_lane(usize::from(lane), &local);
        }
        for (i, s) in scalars.iter().enumerate() {
            rest.set_scalar(i, s.rest);
        }
        let mut joint_of = order.to_vec();
        joint_of.resize(rest.blocks() * LANES, NO_JOINT);
        let data = SkeletonData {
            names: joints.iter().map(|j| j.name.clone()).collect(),
            parents,
            lane_of,
            joint_of,
            scalars,
            channels: Vec::new(),
            rest,
            structure_hash: 0,
            layout_hash: 0,
        };
        check_chain(&data.parents, MAX_CHAIN_SCALE, scale).map_err(|(joint, product)| {
            let name = shorten(&data.names[joint]);
            let place = format!("joint {joint} \"{name}\": the product of the scales down to it");
            BuildError::Beyond { place, value: product as f32, limit: MAX_CHAIN_SCALE as f32 }
        })?;
        let mut skeleton = Self { data: Arc::new(data) };
        let (structure, layout) = (skeleton.hash_structure(), skeleton.hash_layout());
        let data = Arc::make_mut(&mut skeleton.data);
        (data.structure_hash, data.layout_hash) = (structure, layout);
        Ok(skeleton)
    }

    /// Rewrites the scalars of the rest pose after channels were added.
    pub(super) fn lay_scalars(&mut self) {
        let data = Arc::make_mut(&mut self.data);
        let quaternions = data.channels.iter().filter(|c| c.0.rest.is_quaternion());
        data.rest.quaternions = quaternions.map(|c| c.1 as u32).collect();
        data.rest.scalars = vec![Row::splat(0.0); blocks_for(data.scalars.len())];
        for (i, s) in data.scalars.iter().enumerate() {
            data.rest.set_scalar(i, s.rest);
        }
        let structure = self.hash_structure();
        Arc::make_mut(&mut self.data).structure_hash = structure;
    }

    /// The same skeleton in another lane order: `lane_order[lane]` is the joint in that lane.
    ///
    /// # Errors
    /// If the lane order is not a permutation of the joints.
    pub fn in_lane_order(&self, lane_order: &[u16]) -> Result<Self, BuildError> {
        let joints = self.names().iter().enumerate().map(|(joint, name)| Joint {
            name: name.clone(),
            parent: Some(usize::from(self.parents()[joint])).filter(|&p| p < joint),
            rest: self.rest(joint),
        });
        let joints: Vec<Joint> = joints.collect();
        let mut new = Self::new(&joints, Some(lane_order), self.scalars().to_vec())?;
        Arc::make_mut(&mut new.data).channels.clone_from(&self.data.channels);
        new.lay_scalars();
        Ok(new)
    }

    /// Number of joints.
    pub fn len(&self) -> usize {
        self.data.parents.len()
    }

    /// Whether there are no joints.
    pub fn is_empty(&self) -> bool {
        self.data.parents.is_empty()
    }

    /// The parent of every joint, smaller than the joint, or [`NO_JOINT`].
    pub fn parents(&self) -> &[u16] {
        &self.data.parents
    }

    /// The name of every joint.
    pub fn names(&self) -> &[String] {
        &self.data.names
    }

    /// The lane of every joint.
    pub fn lane_of(&self) -> &[u16] {
        &self.data.lane_of
    }

    /// The joint of every lane; [`NO_JOINT`] in padding lanes.
    pub fn joint_of(&self) -> &[u16] {
        &self.data.joint_of
    }

    /// The scalars: morph weights, then the numbers of user channels.
    pub fn scalars(&self) -> &[Scalar] {
        &self.data.scalars
    }

    /// The rest pose, in lane order.
    pub fn rest_pose(&self) -> &Pose {
        &self.data.rest
    }

    /// The rest pose of a joint, by its index.
    ///
    /// # Panics
    /// If the skeleton has no such joint.
    pub fn rest(&self, joint: usize) -> Trs {
        self.data.rest.lane(usize::from(self.data.lane_of[joint]))
    }

    /// The rest pose in model space: a matrix per joint, in joint order.
    pub fn rest_models(&self) -> Vec<Affine3A> {
        let mut models: Vec<Affine3A> = Vec::with_capacity(self.len());
        for (joint, &parent) in self.data.parents.iter().enumerate() {
            let Trs { translation, rotation, scale } = self.rest(joint);
            let local = Affine3A::from_scale_rotation_translation(scale, rotation, translation);
            let above = models.get(usize::from(parent)).copied();
            models.push(above.unwrap_or(Affine3A::IDENTITY) * local);
        }
        models
    }

    /// The number of blocks of joint lanes.
    pub fn blocks(&self) -> usize {
        self.data.rest.blocks()
    }

    /// Hash of parents, names, rest pose and scalars. A clip fits only a skeleton with the same hash.
    pub fn structure_hash(&self) -> u64 {
        self.data.structure_hash
    }

    /// Hash of the lane order. A clip's rows are used without reordering if this hash is the same.
    pub fn layout_hash(&self) -> u64 {
        self.data.layout_hash
    }

    /// The joint's path from its root, names separated by `/`.
    pub fn path(&self, joint: usize) -> String {
        let mut names = Vec::new();
        let mut at = joint;
        while let Some(name) = self.data.names.get(at) {
            names.push(name.as_str());
            at = usize::from(self.data.parents[at]);
        }
        names.reverse();
        names.join("/")
    }

    fn hash_structure(&self) -> u64 {
        let mut h = Fnv1a::default();
        h.write_u64(self.len() as u64);
        for (joint, (name, &parent)) in self.data.names.iter().zip(&self.data.parents).enumerate() {
            h.write_u64(u64::from(parent));
            h.write_u64(name.len() as u64);
            h.write(name.as_bytes());
            for v in self.rest(joint).to_array() {
                h.write_f32(v);
            }
        }
        h.write_u64(self.data.scalars.len() as u64);
        for s in &self.data.scalars {
            h.write_u64(s.name.len() as u64);
            h.write(s.name.as_bytes());
            h.write_f32(s.rest);
        }
        for (channel, first) in &self.data.channels {
            let quaternion = u64::from(channel.rest.is_quaternion());
            h.write_u64(*first as u64 | quaternion << 32);
        }
        h.finish()
    }

    fn hash_layout(&self) -> u64 {
        let mut h = Fnv1a::default();
        for &joint in &self.data.joint_of {
            h.write(&joint.to_le_bytes());
        }
        h.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn joint(name: &str, parent: Option<usize>, x: f32) -> Joint {
        Joint {
            name: name.into(),
            parent,
            rest: Trs { translation: Vec3::new(x, 0.0, 0.0), ..Trs::IDENTITY },
        }
    }

    #[test]
    fn lane_order_is_kept_apart_from_joint_order() {
        let joints = [joint("a", None, 1.0), joint("b", Some(0), 2.0), joint("c", Some(1), 3.0)];
        let s = Skeleton::new(&joints, Some(&[2, 0, 1]), Vec::new()).unwrap();
        assert_eq!(s.lane_of(), [1, 2, 0]);
        assert_eq!(s.rest_pose().lane(0).translation.x, 3.0);
        assert_eq!(s.rest(0).translation.x, 1.0);
        assert_eq!(s.path(2), "a/b/c");
        assert_eq!(s.rest_pose().lane(15), Trs::IDENTITY);
        let plain = Skeleton::new(&joints, None, Vec::new()).unwrap();
        assert_eq!(plain.structure_hash(), s.structure_hash());
        assert_ne!(plain.layout_hash(), s.layout_hash());
    }

    #[test]
    fn refuses_what_is_no_skeleton() {
        let late = [joint("a", Some(1), 0.0), joint("b", None, 0.0)];
        let says = |joints: &[Joint], order: Option<&[u16]>| {
            Skeleton::new(joints, order, vec![]).unwrap_err().to_string()
        };
        let words = "joint 0 has parent 1, which does not come before it";
        assert_eq!(says(&late, None), words);
        let nan = [joint("a", None, f32::NAN)];
        assert!(
            says(&nan, None).starts_with("joint 0 \"a\": a translation of the rest pose is NaN")
        );
        let mut flat = [joint("a", None, 0.0)];
        flat[0].rest.scale.y = f32::NAN;
        assert!(says(&flat, None).starts_with("joint 0 \"a\": the product of the scales"));
        let two = [joint("a", None, 0.0), joint("b", None, 0.0)];
        for order in [&[0u16][..], &[0, 0], &[0, 2]] {
            assert!(says(&two, Some(order)).contains("does not list each joint once"));
        }
        let many = vec![joint("", None, 0.0); MAX_JOINTS + 1];
        assert_eq!(says(&many, None), "65536 joints, the limit is 65535");
    }
}
