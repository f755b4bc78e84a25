//! `PlaybackError`: what mixers and crowds refuse. They stay as they were.

use super::ids::{ActionId, BlendSpaceId, ClipId, InstanceId, Motion, RigId};
use crate::rig::ScaleError;
use crate::scene::{NodeId, SceneError};
use crate::skeleton::ChannelHandle;
use crate::skeleton::limits;
use thiserror::Error;

/// A call that a mixer or a crowd refused; nothing was changed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PlaybackError {
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
    /// The clip was unloaded, or belongs to another rig, crowd or mixer.
    #[error("there is no clip {clip:?}")]
    UnknownClip {
        /// The clip.
        clip: ClipId,
    },
    /// The action's clip was unloaded, or it belongs to another mixer.
    #[error("there is no action {action:?}")]
    UnknownAction {
        /// The action.
        action: ActionId,
    },
    /// The clip (or blend space) does not play on the layer.
    #[error("{motion:?} does not play on layer {layer}")]
    NotPlaying {
        /// What should play.
        motion: Motion,
        /// The layer.
        layer: usize,
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
    /// The handle is one of another skeleton's user channels.
    #[error("there is no user channel {channel:?} here")]
    UnknownChannel {
        /// The channel.
        channel: ChannelHandle,
    },
    /// Instances of the rig are alive.
    #[error("rig {rig:?} still has {instances} instances")]
    RigInUse {
        /// The rig.
        rig: RigId,
        /// How many.
        instances: usize,
    },
    /// Actions play the clip, or blend spaces hold it.
    #[error("clip {clip:?} is still used by {actions} actions or blend spaces")]
    ClipInUse {
        /// The clip.
        clip: ClipId,
        /// Actions that play it, and blend spaces that hold it.
        actions: usize,
    },
    /// The blend space was removed, or belongs to another rig, crowd or mixer.
    #[error("there is no blend space {space:?}")]
    UnknownSpace {
        /// The blend space.
        space: BlendSpaceId,
    },
    /// Actions play the blend space.
    #[error("blend space {space:?} is still played {actions} times")]
    SpaceInUse {
        /// The blend space.
        space: BlendSpaceId,
        /// Actions that play it.
        actions: usize,
    },
    /// Clips and values that make no blend space.
    #[error("no blend space: {what}")]
    BlendSpace {
        /// Why.
        what: &'static str,
    },
    /// Two clips are to be put in step by markers, and share none.
    #[error("clips \"{from}\" and \"{to}\" share no markers to be in step by")]
    NoSyncMarkers {
        /// The first.
        from: String,
        /// The second.
        to: String,
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
    #[error("the transform is not finite")]
    Transform,
    /// A transform holds a number beyond its limit.
    #[error("{what}: {value:e} is beyond the limit of {limit:e}")]
    Beyond {
        /// The transform.
        what: &'static str,
        /// The number.
        value: f32,
        /// The limit.
        limit: f32,
    },
    /// Clips scale too much together, down a chain of joints.
    #[error("rig \"{rig}\": {source}")]
    Scales {
        /// The rig's name.
        rig: String,
        /// Where, and how much.
        source: ScaleError,
    },
    /// The instance has no mirror in that scene.
    #[error("{instance:?} is not mirrored in this scene")]
    NoMirror {
        /// The instance.
        instance: InstanceId,
    },
    /// The node is no joint of an instance of this crowd.
    #[error("{node:?} is no joint of an instance of this crowd")]
    NotMirrored {
        /// The node.
        node: NodeId,
    },
    /// The scene graph refused something, or a joint is unknown.
    #[error(transparent)]
    Scene(#[from] SceneError),
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

impl From<limits::Beyond> for PlaybackError {
    fn from(beyond: limits::Beyond) -> Self {
        let limits::Beyond { what, value, limit } = beyond;
        Self::Beyond { what, value, limit }
    }
}
