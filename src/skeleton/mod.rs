//! Skeletons: flat parents and rest poses in rows of lanes, skins, masks. Knows only `math`.

mod channel;
mod joint_ref;
mod mask;
mod pose;
mod skeleton_data;
mod skin;
mod trs;

pub use channel::{ChannelHandle, ChannelValue, MAX_CHANNELS, UserChannel};
pub use joint_ref::{JointRef, JointRefError};
pub use mask::{JointMask, MaskError};
pub use pose::Pose;
pub use skeleton_data::{Joint, MAX_JOINTS, NO_JOINT, Scalar, Skeleton, SkeletonError};
pub use skin::{Skin, SkinError};
pub use trs::Trs;
