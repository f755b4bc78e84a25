//! `SkeletonFault` and `SkeletonMismatch`: why a skeleton, a skin or a mask is invalid, and how two skeletons differ.

/// Why a skeleton, a skin or a mask is invalid.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkeletonFault {
    /// More joints than 16-bit indices can name.
    TooManyJoints(usize),
    /// A joint comes before its parent, or is its own parent.
    ParentNotFirst {
        /// Index of the joint.
        joint: usize,
        /// Index of its parent.
        parent: usize,
    },
    /// NaN or an infinity in the rest pose of this joint.
    NotFinite(usize),
    /// A number of a rest pose is beyond its limit.
    Beyond {
        /// Index of the joint.
        joint: usize,
        /// Name of the joint.
        name: String,
        /// Name of the number.
        what: &'static str,
        /// Value of the number.
        value: f32,
        /// The exceeded limit, upper or lower.
        limit: f32,
    },
    /// The product of the rest pose's scales down a chain of joints is too large.
    Chain {
        /// Index of the joint.
        joint: usize,
        /// Name of the joint.
        name: String,
        /// Product of the largest scales down to the joint.
        product: f64,
    },
    /// A scalar's rest value is beyond its limit.
    ScalarBeyond {
        /// Index of the scalar.
        scalar: usize,
        /// Name of the scalar.
        name: String,
        /// Rest value of the scalar.
        value: f32,
    },
    /// The rest value of this scalar is NaN or infinite.
    ScalarNotFinite(usize),
    /// A user channel has the name of another channel or scalar.
    ChannelName(String),
    /// The rest value of a user channel is NaN or infinite, or a quaternion without a direction.
    ChannelRest(String),
    /// More user channels than are allowed.
    TooManyChannels(usize),
    /// The lane order is not a permutation of the joints.
    LaneOrder {
        /// Length of the lane order.
        len: usize,
        /// Number of joints of the skeleton.
        joints: usize,
    },
    /// The numbers of joints and of inverse bind matrices differ.
    SkinLengths {
        /// Number of joints.
        joints: usize,
        /// Number of inverse bind matrices.
        matrices: usize,
    },
    /// A slot refers to a joint that the skeleton lacks.
    SkinJoint {
        /// Index of the slot.
        slot: usize,
        /// Index of the joint that the slot refers to.
        joint: u16,
        /// Number of joints of the skeleton.
        joints: usize,
    },
    /// The inverse bind matrix of this slot holds NaN or an infinity.
    SkinNotFinite(usize),
    /// An inverse bind matrix holds a number beyond its limit.
    SkinBeyond {
        /// Index of the slot.
        slot: usize,
        /// Value of the number.
        value: f32,
    },
    /// A mask does not have one weight per joint.
    MaskLengths {
        /// Number of weights.
        weights: usize,
        /// Number of joints of the skeleton.
        joints: usize,
    },
    /// A weight of a mask is outside [0, 1] or NaN.
    MaskWeight {
        /// Index of the joint.
        joint: usize,
        /// Weight of the joint.
        weight: f32,
    },
}

/// How the skeleton of some data differs from the one that it is used with.
#[derive(Clone, Debug, PartialEq)]
pub enum SkeletonMismatch {
    /// The joints or the scalars differ: the first difference as text, with the values of both skeletons.
    Structure(String),
    /// Only the lane orders differ: [`reorder_lanes`](crate::clip::reorder_lanes) converts a clip.
    LaneOrder,
    /// The joints are the same in another order, and the lane orders differ too:
    /// [`reorder_lanes`](crate::clip::reorder_lanes) converts a clip.
    JointOrder,
}
