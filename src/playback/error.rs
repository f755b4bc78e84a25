//! `PlaybackError`: the errors of mixers and crowds.

use super::ids::{BlendSpaceId, ClipId, InstanceId, ModifierId, Playable, RigId};
use super::pose::MAX_POSED_STEPS;
use super::snapshot::SNAPSHOT_VERSION;
use super::unknown::Unknown;
use crate::error::BuildError;
use crate::runtime::JobError;
use crate::scene::{NodeId, SceneError};
use crate::skeleton::ChannelHandle;
use crate::suggest::LookupError;
use crate::words::{number, plural, shorten};
use thiserror::Error;

/// An error of a mixer or a crowd. The call that returned it changed nothing.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlaybackError {
    /// The rig was removed, or belongs to another crowd.
    #[error("{}", why.sentence(&rig.to_string(), None, "", "was removed"))]
    UnknownRig {
        /// Handle of the rig.
        rig: RigId,
        /// Reason why the handle is unknown.
        why: Unknown,
    },
    /// The instance was despawned, or belongs to another crowd.
    #[error("{}", why.sentence(&format!("instance {}", instance.index()), Some(instance.rig()), rig, "was despawned"))]
    UnknownInstance {
        /// Handle of the instance.
        instance: InstanceId,
        /// Reason why the handle is unknown.
        why: Unknown,
        /// Name of the instance's rig, cut short; empty if the rig is unknown, too.
        rig: String,
    },
    /// The clip was unloaded, or belongs to another rig, crowd or mixer.
    #[error("{}", why.sentence(&format!("clip {}", clip.index()), clip.rig(), rig, "was unloaded"))]
    UnknownClip {
        /// Handle of the clip.
        clip: ClipId,
        /// Reason why the handle is unknown.
        why: Unknown,
        /// Name of the rig that the clip was used with, cut short; empty if that rig is unknown, too.
        rig: String,
    },
    /// The clip (or blend space) does not play on the layer.
    #[error("{name} does not play on layer {layer}")]
    NotPlaying {
        /// Handle of the clip or blend space.
        motion: Playable,
        /// Text for the motion, with its name and the rig's, cut short: `clip 1 ("Walk") of rig 0 ("hero")`.
        name: String,
        /// Index of the layer.
        layer: usize,
    },
    /// The rig has no such layer.
    #[error("unknown layer {layer}: rig \"{rig}\" has {}", plural(*.layers as u64, "layer"))]
    UnknownLayer {
        /// Index of the layer.
        layer: usize,
        /// Number of layers of the rig.
        layers: usize,
        /// Name of the rig, cut short.
        rig: String,
    },
    /// No loaded clip has this name; or no joint of the skeleton matches, or several do.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The handle belongs to a user channel of another skeleton.
    #[error("{channel} belongs to another skeleton than that of rig \"{rig}\"")]
    UnknownChannel {
        /// Handle of the channel.
        channel: ChannelHandle,
        /// Name of the rig, cut short.
        rig: String,
    },
    /// Instances of the rig are alive, actions play the clip or blend space, or blend spaces hold the clip.
    #[error("{name} is still used by {users}")]
    InUse {
        /// Text for the rig, clip or blend space, as in [`NotPlaying`](Self::NotPlaying).
        name: String,
        /// Text for the users, with their number.
        users: String,
    },
    /// The blend space was removed, or belongs to another rig, crowd or mixer.
    #[error("{}", why.sentence(&format!("blend space {}", space.index()), space.rig(), rig, "was removed"))]
    UnknownSpace {
        /// Handle of the blend space.
        space: BlendSpaceId,
        /// Reason why the handle is unknown.
        why: Unknown,
        /// Name of the rig that the blend space was used with, cut short; empty if that rig is unknown, too.
        rig: String,
    },
    /// The clips and values do not form a blend space.
    #[error("invalid blend space: {what}")]
    BlendSpace {
        /// The reason as text, with the clip and the values that do not fit.
        what: String,
    },
    /// The modifier was removed, or belongs to another rig, crowd or mixer.
    #[error("{}", why.sentence(&format!("modifier {}", modifier.index()), modifier.rig(), rig, "was removed"))]
    UnknownModifier {
        /// Handle of the modifier.
        modifier: ModifierId,
        /// Reason why the handle is unknown.
        why: Unknown,
        /// Name of the rig that the modifier was used with, cut short; empty if that rig is unknown, too.
        rig: String,
    },
    /// A modifier does not fit the skeleton, or a target is not one.
    #[error("invalid modifier: {what}")]
    Modifier {
        /// The reason as text, with the joints by index and name.
        what: String,
    },
    /// Two clips are to be synchronised by markers and share none.
    #[error("clips \"{from}\" and \"{to}\" share no markers to synchronise by: {lacks}")]
    NoSyncMarkers {
        /// Name of the clip that fades out, cut short.
        from: String,
        /// Name of the clip that fades in, cut short.
        to: String,
        /// Text that says which clip lacks which markers, or which markers each has.
        lacks: String,
    },
    /// A clip cannot be laid out for the rig: it was built for another skeleton, or is too large.
    #[error("rig \"{rig}\": {source}", rig = shorten(.rig))]
    ClipLayout {
        /// Name of the rig.
        rig: String,
        /// The cause, with the joint that differs or both sizes.
        source: Box<BuildError>,
    },
    /// The largest scales of the clips, multiplied down a chain of joints, exceed the limit.
    #[error("rig \"{rig}\": {source}", rig = shorten(.rig))]
    Scales {
        /// Name of the rig.
        rig: String,
        /// The cause, with the joint and the product.
        source: Box<BuildError>,
    },
    /// An additive clip on a layer that blends, or the reverse.
    #[error("clip \"{clip}\" is {have}; layer {layer} accepts {needed} clips", clip = shorten(.clip))]
    ClipKind {
        /// Name of the clip.
        clip: String,
        /// Kind of the clip: full or additive.
        have: &'static str,
        /// Index of the layer.
        layer: usize,
        /// Kind that the layer accepts.
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
        /// Value of the number.
        value: f64,
        /// Smallest allowed value.
        low: f64,
        /// Largest allowed value.
        high: f64,
    },
    /// A world transform contains a number beyond its limit, NaN or an infinity.
    #[error(
        "the world transform of {instance} (\"{rig}\"): {value:e} is beyond the limit of {limit:e}"
    )]
    Beyond {
        /// Handle of the instance.
        instance: InstanceId,
        /// Name of the instance's rig, cut short.
        rig: String,
        /// Value of the number.
        value: f32,
        /// The exceeded limit, upper or lower.
        limit: f32,
    },
    /// An override is refused.
    #[error(
        "the override of joint {joint} (\"{name}\") of {character}: {what} {:e}, beyond the limit of {:e}",
        Shortest(*.value),
        Shortest(*.limit)
    )]
    Override {
        /// Index of the joint.
        joint: usize,
        /// Name of the joint, cut short.
        name: String,
        /// Text for the character, with its rig: `instance 7 of rig 0 ("hero")`.
        character: String,
        /// Text for the number, with its verb: of the matrix, of its translation, or of the stretch down a chain of joints.
        what: &'static str,
        /// Value of the number.
        value: f64,
        /// The exceeded limit, upper or lower; the largest f32 for a number that is NaN or infinite.
        limit: f64,
    },
    /// A pose of a host is refused.
    #[error("the pose is refused at joint {joint} (\"{name}\"): {what}")]
    Pose {
        /// Index of the joint.
        joint: usize,
        /// Name of the joint, cut short.
        name: String,
        /// The reason as text, with the number and its limit.
        what: String,
    },
    /// The weight of a pose is to be faded, and the character has none.
    #[error("the character has no pose; `set_pose` or `set_poses` sets one")]
    NoPose,
    /// Joints are not given in ascending order.
    #[error("joint {joint} (\"{}\") is given after joint {after} (\"{}\"); joints have to ascend", .names[0], .names[1])]
    JointOrder {
        /// Names of `joint` and `after`, cut short.
        names: [String; 2],
        /// Index of the joint.
        joint: usize,
        /// Index of the joint that is given before it.
        after: usize,
    },
    /// An array of a call on joints of instances does not have one value per instance and joint.
    #[error(
        "{} given for {} of {}",
        plural(*.values as u64, "value"),
        plural(*.joints as u64, "joint"),
        plural(*.instances as u64, "instance")
    )]
    JointValues {
        /// Length of the array.
        values: usize,
        /// Number of instances given.
        instances: usize,
        /// Number of joints given.
        joints: usize,
    },
    /// The instance has no mirror in that scene.
    #[error("{instance} (\"{rig}\") is not mirrored in this scene")]
    NoMirror {
        /// Handle of the instance.
        instance: InstanceId,
        /// Name of the instance's rig, cut short.
        rig: String,
    },
    /// The node is not a mirrored joint of an instance of this crowd.
    #[error("{node} is not a joint of an instance of this crowd")]
    NotMirrored {
        /// Handle of the node.
        node: NodeId,
    },
    /// Root motion is to be applied, and no loaded clip of the rig has any.
    #[error(
        "no clip of {rig} (\"{name}\") has root motion; it is taken out of clips when a file is imported or a rig is built"
    )]
    NoRootMotion {
        /// Handle of the rig.
        rig: RigId,
        /// Name of the rig, cut short.
        name: String,
    },
    /// Tiers, views or importances are refused.
    #[error("{what}")]
    Tiers {
        /// The reason as text, with the number of the tier, view or importance.
        what: String,
    },
    /// The crowd has no tiers.
    #[error("the crowd has no tiers; Crowd::set_tiers sets them")]
    NoTiers,
    /// An error of the scene graph.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// A mask was made for another skeleton.
    #[error("the mask of layer {layer} was made for another skeleton than \"{rig}\"", rig = shorten(.rig))]
    Mask {
        /// Index of the layer.
        layer: usize,
        /// Name of the rig.
        rig: String,
    },
    /// A count is above its limit.
    #[error("{what}: {count}; the limit is {limit}")]
    Limit {
        /// Name of what is counted.
        what: &'static str,
        /// The requested count.
        count: usize,
        /// Largest count allowed.
        limit: usize,
    },
    /// A snapshot does not fit the present rigs, layers, clips or blend spaces of the crowd or mixer.
    #[error("the snapshot does not fit: {difference}")]
    Snapshot {
        /// The part that differs: `rigs`, `layers`, `clips`, `blend spaces`, `modifiers`, `poses` or `overrides`.
        part: &'static str,
        /// The first difference as text, with both values.
        difference: String,
    },
    /// A snapshot was stored by another version.
    #[error("the snapshot has version {have}, supported is version {SNAPSHOT_VERSION}")]
    SnapshotVersion {
        /// Version of the snapshot.
        have: u16,
    },
    /// Bytes are not a snapshot of the needed kind, or were changed.
    #[error("snapshot at byte {offset}: {fault}")]
    SnapshotBytes {
        /// Byte offset of the wrong value, or of the list that holds it.
        offset: u64,
        /// The fault as text.
        fault: String,
    },
    /// An array of a call on many instances has neither one value nor one per instance.
    #[error(
        "{what}: {} for {}; one for all or one each are needed",
        plural(*.values as u64, "value"),
        plural(*.instances as u64, "instance")
    )]
    Lengths {
        /// Name of the array.
        what: &'static str,
        /// Length of the array.
        values: usize,
        /// Number of instances.
        instances: usize,
    },
    /// A call on many instances is refused for one of them, and changed none.
    #[error("element {element}: {source}")]
    Element {
        /// Index in the arrays of the first element that is refused.
        element: usize,
        /// The error of the same call on this instance alone.
        source: Box<PlaybackError>,
    },
    /// The allocator has no memory for palette rows.
    #[error("there is no memory for {rows} palette rows ({bytes} bytes)")]
    RowMemory {
        /// Number of rows requested.
        rows: usize,
        /// Size of the rows, bytes.
        bytes: u64,
    },
    /// The rig of [`evaluate_pose`](super::evaluate_pose) has no such clip.
    #[error("unknown clip {clip}: the rig has {}", plural(*.clips as u64, "clip"))]
    ClipIndex {
        /// Index of the clip.
        clip: usize,
        /// Number of clips of the rig.
        clips: usize,
    },
    /// The meshes of a pose take too many steps: their vertices times influences and targets, for every node that draws
    /// them.
    #[error(
        "deforming the meshes takes {needed} steps (vertices x influences and targets); the limit is {MAX_POSED_STEPS}"
    )]
    TooManyVertices {
        /// Number of steps needed.
        needed: u64,
    },
    /// A number of an evaluated pose is NaN or infinite.
    #[error("{what} of node {node} is not finite")]
    NotFinite {
        /// Name of the number.
        what: &'static str,
        /// Index of the node in the file.
        node: usize,
    },
    /// A job of an evaluated pose rejected its input.
    #[error(transparent)]
    Job(#[from] JobError),
}

/// A number that was f32, if it still fits, in the shortest form with an exponent.
struct Shortest(f64);

impl std::fmt::LowerExp for Shortest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 as f32 {
            short if short.is_finite() || !self.0.is_finite() => short.fmt(f),
            _ => self.0.fmt(f),
        }
    }
}
