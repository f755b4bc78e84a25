//! `PlaybackError`: the errors of mixers and crowds.

use super::ids::{BlendSpaceId, ClipId, InstanceId, Playable, RigId};
use super::pose::MAX_POSED_STEPS;
use super::snapshot::{SnapshotDiffers, SnapshotFault};
use super::unknown::Unknown;
use crate::error::BuildError;
use crate::runtime::JobError;
use crate::scene::{NodeId, SceneError};
use crate::skeleton::ChannelHandle;
use crate::suggest::LookupError;
use crate::words::{number, plural, says, shorten};
use thiserror::Error;

/// An error of a mixer or a crowd. The call that returned it changed nothing.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlaybackError {
    /// The rig was removed, or belongs to another crowd.
    #[error("{}", why.sentence(&rig.to_string(), None, "", "was removed"))]
    UnknownRig {
        /// The rig.
        rig: RigId,
        /// Why it is unknown.
        why: Unknown,
    },
    /// The instance was despawned, or belongs to another crowd.
    #[error("{}", why.sentence(&format!("instance {}", instance.index()), Some(instance.rig()), rig, "was despawned"))]
    UnknownInstance {
        /// The instance.
        instance: InstanceId,
        /// Why it is unknown.
        why: Unknown,
        /// The name of the rig that it was used with, cut short; empty if that is unknown, too.
        rig: String,
    },
    /// The clip was unloaded, or belongs to another rig, crowd or mixer.
    #[error("{}", why.sentence(&format!("clip {}", clip.index()), clip.rig(), rig, "was unloaded"))]
    UnknownClip {
        /// The clip.
        clip: ClipId,
        /// Why it is unknown.
        why: Unknown,
        /// The name of the rig that it was used with, cut short; empty if that is unknown, too.
        rig: String,
    },
    /// The clip (or blend space) does not play on the layer.
    #[error("{name} does not play on layer {layer}")]
    NotPlaying {
        /// The clip or blend space.
        motion: Playable,
        /// It in words, with its name and that of its rig: `clip 1 ("Walk") of rig 0 ("hero")`. Names are cut short.
        name: String,
        /// The layer.
        layer: usize,
    },
    /// The rig has no such layer.
    #[error("unknown layer {layer}: rig \"{rig}\" has {}", plural(*.layers as u64, "layer"))]
    UnknownLayer {
        /// The layer.
        layer: usize,
        /// Number of layers.
        layers: usize,
        /// The rig's name, cut short.
        rig: String,
    },
    /// No loaded clip has this name; or the skeleton has no such joint, or several that match.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The handle belongs to a user channel of another skeleton.
    #[error("{channel} belongs to another skeleton than that of rig \"{rig}\"")]
    UnknownChannel {
        /// The channel.
        channel: ChannelHandle,
        /// The rig's name, cut short.
        rig: String,
    },
    /// Instances of the rig are alive.
    #[error("{rig} (\"{name}\") still has {}", plural(*.instances as u64, "instance"))]
    RigInUse {
        /// The rig.
        rig: RigId,
        /// Its name, cut short.
        name: String,
        /// Number of its instances.
        instances: usize,
    },
    /// Actions play the clip, or blend spaces hold it.
    #[error(
        "{name} is still used by {actions} {}",
        if *.actions == 1 { "action or blend space" } else { "actions or blend spaces" }
    )]
    ClipInUse {
        /// The clip.
        clip: ClipId,
        /// It in words, as in [`NotPlaying`](Self::NotPlaying).
        name: String,
        /// Number of actions that play it and blend spaces that hold it.
        actions: usize,
    },
    /// The blend space was removed, or belongs to another rig, crowd or mixer.
    #[error("{}", why.sentence(&format!("blend space {}", space.index()), space.rig(), rig, "was removed"))]
    UnknownSpace {
        /// The blend space.
        space: BlendSpaceId,
        /// Why it is unknown.
        why: Unknown,
        /// The name of the rig that it was used with, cut short; empty if that is unknown, too.
        rig: String,
    },
    /// Actions play the blend space.
    #[error("{name} is still played by {}", plural(*.actions as u64, "action"))]
    SpaceInUse {
        /// The blend space.
        space: BlendSpaceId,
        /// It in words, as in [`NotPlaying`](Self::NotPlaying).
        name: String,
        /// Number of actions that play it.
        actions: usize,
    },
    /// The clips and values do not form a blend space.
    #[error("invalid blend space: {what}")]
    BlendSpace {
        /// The reason, with the clip that does not fit and the values.
        what: String,
    },
    /// Two clips are to be synchronised by markers and share none.
    #[error("clips \"{from}\" and \"{to}\" share no markers to synchronise by: {lacks}")]
    NoSyncMarkers {
        /// The clip that fades out; its name is cut short.
        from: String,
        /// The clip that fades in; its name is cut short.
        to: String,
        /// Which clip lacks which markers, or what each has.
        lacks: String,
    },
    /// A clip cannot be laid out for the rig: it was built for another skeleton, or is too large.
    #[error("rig \"{rig}\": {source}", rig = shorten(.rig))]
    ClipLayout {
        /// The rig's name.
        rig: String,
        /// Why, with the joint that differs or both numbers.
        source: Box<BuildError>,
    },
    /// An additive clip on a layer that blends, or the reverse.
    #[error("clip \"{clip}\" is {have}; layer {layer} accepts {needed} clips", clip = shorten(.clip))]
    ClipKind {
        /// The clip.
        clip: String,
        /// The clip's kind.
        have: &'static str,
        /// The layer.
        layer: usize,
        /// The kind that the layer accepts.
        needed: &'static str,
    },
    /// A number is NaN, infinite or out of range.
    #[error(
        "{what} is {}; the allowed range is {} to {}",
        number(*.value), number(*.low), number(*.high)
    )]
    Value {
        /// Name of the number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// Smallest allowed value.
        low: f64,
        /// Largest allowed value.
        high: f64,
    },
    /// A world transform contains NaN or an infinity.
    #[error("the world transform of {instance} (\"{rig}\") is not finite")]
    Transform {
        /// The instance.
        instance: InstanceId,
        /// The name of its rig, cut short.
        rig: String,
    },
    /// A world transform contains a number beyond its limit.
    #[error(
        "the world transform of {instance} (\"{rig}\"): {value:e} is beyond the limit of {limit:e}"
    )]
    Beyond {
        /// The instance.
        instance: InstanceId,
        /// The name of its rig, cut short.
        rig: String,
        /// The number.
        value: f32,
        /// The limit.
        limit: f32,
    },
    /// The scales of the clips multiply beyond the limit down a chain of joints.
    #[error("rig \"{rig}\": {source}", rig = shorten(.rig))]
    Scales {
        /// The rig's name.
        rig: String,
        /// The joint and the product.
        source: Box<BuildError>,
    },
    /// An override is refused.
    #[error("the override of joint {joint} (\"{name}\") of {character}: {fault}")]
    Override {
        /// The joint.
        joint: usize,
        /// Its name, cut short.
        name: String,
        /// The character in words, with the name of its rig: `instance 7 of rig 0 ("hero")`.
        character: String,
        /// Why.
        fault: OverrideFault,
    },
    /// The instance is of another rig than the call.
    #[error("instance {} is of {} (\"{}\"), not of {rig} (\"{}\")", instance.index(), instance.rig(), .names[0], .names[1])]
    OtherRig {
        /// The instance.
        instance: InstanceId,
        /// The rig of the call.
        rig: RigId,
        /// The names of the instance's rig and of that of the call, cut short.
        names: [String; 2],
    },
    /// Joints are not given in ascending order.
    #[error("joint {joint} (\"{}\") is given after joint {after} (\"{}\"); joints have to ascend", .names[0], .names[1])]
    JointOrder {
        /// The names of both, cut short.
        names: [String; 2],
        /// The joint.
        joint: usize,
        /// The one given before it.
        after: usize,
    },
    /// A batch of overrides has another number of matrices than instances times joints.
    #[error(
        "{} given for {} of {}",
        plural(*.matrices as u64, "matrix"),
        plural(*.joints as u64, "joint"),
        plural(*.instances as u64, "instance")
    )]
    OverrideCount {
        /// Matrices given.
        matrices: usize,
        /// Instances given.
        instances: usize,
        /// Joints given.
        joints: usize,
    },
    /// The instance is not mirrored in that scene.
    #[error("{instance} (\"{rig}\") is not mirrored in this scene")]
    NoMirror {
        /// The instance.
        instance: InstanceId,
        /// The name of its rig, cut short.
        rig: String,
    },
    /// The node is not a mirrored joint of an instance of this crowd.
    #[error("{node} is not a joint of an instance of this crowd")]
    NotMirrored {
        /// The node.
        node: NodeId,
    },
    /// Root motion is to be applied, and no clip of the rig has it.
    #[error(
        "no clip of {rig} (\"{name}\") has root motion; it is taken out of clips when a file is imported or a rig is built"
    )]
    NoRootMotion {
        /// The rig.
        rig: RigId,
        /// Its name, cut short.
        name: String,
    },
    /// An error of the scene graph.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A mask was made for another skeleton.
    #[error("the mask of layer {layer} was made for another skeleton than \"{rig}\"", rig = shorten(.rig))]
    Mask {
        /// The layer.
        layer: usize,
        /// The rig's name.
        rig: String,
    },
    /// A count is above its limit.
    #[error("{what}: {count}; the limit is {limit}")]
    Limit {
        /// What is counted.
        what: &'static str,
        /// The requested count.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// A snapshot does not fit the rigs and clips that the crowd holds now.
    #[error("the snapshot does not fit: {0}")]
    Snapshot(SnapshotDiffers),
    /// Bytes are no snapshot.
    #[error("snapshot at byte {offset}: {fault}")]
    SnapshotBytes {
        /// Byte offset of the wrong value, or of the list that holds it.
        offset: u64,
        /// The fault.
        fault: SnapshotFault,
    },
    /// An array of a call on many instances has neither one value nor one per instance.
    #[error(
        "{what}: {} for {}; one for all or one each are needed",
        plural(*.values as u64, "value"),
        plural(*.instances as u64, "instance")
    )]
    Lengths {
        /// The array.
        what: &'static str,
        /// Its length.
        values: usize,
        /// The number of instances.
        instances: usize,
    },
    /// A call on many instances is refused for one of them, and changed none.
    #[error("element {element}: {source}")]
    Element {
        /// Its index in the arrays: the first one that is refused.
        element: usize,
        /// The error of the same call on this instance alone.
        source: Box<PlaybackError>,
    },
    /// The allocator has no memory for palette rows.
    #[error("there is no memory for {rows} palette rows ({bytes} bytes)")]
    RowMemory {
        /// The rows requested.
        rows: usize,
        /// Their size in bytes.
        bytes: u64,
    },
    /// The rig of [`evaluate_pose`](super::evaluate_pose) has no such clip.
    #[error("unknown clip {clip}: the rig has {}", plural(*.clips as u64, "clip"))]
    ClipIndex {
        /// The requested index.
        clip: usize,
        /// Number of clips in the rig.
        clips: usize,
    },
    /// The meshes of a pose have too many vertices, counted for every node that draws them.
    #[error(
        "deforming the meshes takes {needed} steps (vertices x influences and targets); the limit is {MAX_POSED_STEPS}"
    )]
    TooManyVertices {
        /// The steps needed.
        needed: u64,
    },
    /// A number of an evaluated pose is NaN or infinite.
    #[error("{what} of node {node} is not finite")]
    NotFinite {
        /// Which number.
        what: &'static str,
        /// The node's index in the file.
        node: usize,
    },
    /// A job of an evaluated pose rejected its input.
    #[error(transparent)]
    Job(#[from] JobError),
}

/// Why an override is refused.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum OverrideFault {
    /// The matrix contains NaN or an infinity.
    NotFinite,
    /// The translation is beyond its limit.
    Translation {
        /// The component.
        value: f32,
        /// The limit.
        limit: f32,
    },
    /// With the overrides above it, it stretches more than the limit.
    Stretch {
        /// The product of the factors down the chain of joints.
        value: f64,
        /// The limit.
        limit: f64,
    },
}

says! { OverrideFault:
    Self::NotFinite =>
        ("the matrix is not finite"),
    Self::Translation { value, limit } =>
        ("the translation has {value:e}, beyond the limit of {limit:e}"),
    Self::Stretch { value, limit } =>
        ("with those of the joints above it, it stretches by {value:e}; the limit is {limit:e}"),
}
