//! Skeletons: joint hierarchies with rest poses, skins, joint masks and user channels.
//!
//! Start with [`Skeleton::new`]; importers and builders call it for files. [`Skeleton::joint`] finds a
//! joint by name, path or index. A [`Pose`] holds local transforms as SoA rows in lane order.

mod channel;
mod difference;
mod frames;
mod human_bone;
mod joint_ref;
pub(crate) mod limits;
mod mask;
mod order;
mod pose;
mod skeleton_data;
mod skin;
mod trs;

pub use crate::error::{SkeletonFault, SkeletonMismatch};
pub use crate::suggest::LookupError;
pub use channel::{ChannelHandle, ChannelValue, MAX_CHANNELS, UserChannel};
pub(crate) use frames::{Frames, noise_length};
pub use human_bone::{HUMAN_BONES, HumanBone};
pub(crate) use joint_ref::Hierarchy;
pub use joint_ref::JointRef;
pub use limits::{
    LEAST_ROTATION_DOT, MAX_ADDITIVE_REACH, MAX_CHAIN_SCALE, MAX_LENGTH, MAX_OVERRIDE_LENGTH,
    MAX_OVERRIDE_SCALE, MAX_SCALAR, MAX_SECONDS, MAX_WORLD, ROTATION_SQUARES,
};
pub use mask::JointMask;
pub use pose::Pose;
pub use skeleton_data::{Joint, MAX_JOINTS, NO_JOINT, Scalar, Skeleton};
pub use skin::Skin;
pub use trs::Trs;
