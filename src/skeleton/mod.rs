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
pub(crate) mod springs;
mod trs;

pub use crate::error::SkeletonMismatch;
pub use crate::suggest::LookupError;
pub use channel::{ChannelHandle, ChannelValue, UserChannel};
pub(crate) use frames::{Frames, noise_length};
pub(crate) use human_bone::HUMAN_BONES;
pub use human_bone::HumanBone;
pub use joint_ref::JointRef;
pub(crate) use limits::{LEAST_ROTATION_DOT, ROTATION_SQUARES};
pub use limits::{MAX_CHAIN_SCALE, MAX_LENGTH, MAX_SECONDS, MAX_WORLD};
pub use mask::JointMask;
pub use pose::Pose;
pub(crate) use skeleton_data::MAX_JOINTS;
pub use skeleton_data::{Joint, NO_JOINT, Scalar, Skeleton};
pub use skin::Skin;
pub use springs::{ColliderShape, SpringBones, SpringChain, SpringCollider, SpringJoint};
pub use trs::Trs;
