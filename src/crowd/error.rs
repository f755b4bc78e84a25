//! `CrowdError`: what a crowd refuses. The crowd stays as it was.

use super::ids::{ClipId, InstanceId, RigId};
use thiserror::Error;

/// A call that a crowd refused; nothing was changed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CrowdError {
    /// The rig was removed, or belongs to another crowd.
    #[error("there is no rig {rig:?}")]
    UnknownRig {
        /// The rig.
        rig: RigId,
    },
    /// The instance was despawned, or belongs to another crowd.
    #[error("there is no instance {instance:?}")]
    UnknownInstance {
        /// The instance.
        instance: InstanceId,
    },
    /// The clip was unloaded, or belongs to another rig.
    #[error("there is no clip {clip:?}")]
    UnknownClip {
        /// The clip.
        clip: ClipId,
    },
    /// The rig has no such layer.
    #[error("there is no layer {layer}, the rig has {layers}")]
    UnknownLayer {
        /// The layer.
        layer: usize,
        /// Layers of the rig.
        layers: usize,
    },
    /// The skeleton has no such joint.
    #[error("there is no joint {joint}, the skeleton has {joints}")]
    UnknownJoint {
        /// The joint.
        joint: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// Instances of the rig are alive.
    #[error("rig {rig:?} still has {instances} instances")]
    RigInUse {
        /// The rig.
        rig: RigId,
        /// How many.
        instances: usize,
    },
    /// Instances play the clip.
    #[error("clip {clip:?} is still played {actions} times")]
    ClipInUse {
        /// The clip.
        clip: ClipId,
        /// Actions that play it.
        actions: usize,
    },
    /// A clip was built for another skeleton or lane order.
    #[error("clip \"{clip}\" was built for another skeleton than \"{rig}\"")]
    ClipSkeleton {
        /// The clip.
        clip: String,
        /// The rig's name.
        rig: String,
    },
    /// An additive clip on a layer that blends, or the reverse.
    #[error("clip \"{clip}\" is {have}, layer {layer} takes {needed} clips")]
    ClipKind {
        /// The clip.
        clip: String,
        /// What it is.
        have: &'static str,
        /// The layer.
        layer: usize,
        /// What the layer takes.
        needed: &'static str,
    },
    /// A number is NaN, infinite or out of range.
    #[error("{what} is {value}, allowed are {low} to {high}")]
    Value {
        /// The number's name.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Least value allowed.
        low: f64,
        /// Greatest value allowed.
        high: f64,
    },
    /// A transform holds NaN or an infinity.
    #[error("the world transform is not finite")]
    Transform,
    /// A mask was made for another skeleton.
    #[error("the mask of layer {layer} was made for another skeleton than \"{rig}\"")]
    Mask {
        /// The layer.
        layer: usize,
        /// The rig's name.
        rig: String,
    },
    /// Too many of something.
    #[error("{what}: {count}, the limit is {limit}")]
    Limit {
        /// Of what.
        what: &'static str,
        /// How many were asked for.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// A snapshot does not fit the rigs and clips that the crowd holds now.
    #[error("the snapshot was taken with other {what} than the crowd holds now")]
    Snapshot {
        /// What differs.
        what: &'static str,
    },
}
