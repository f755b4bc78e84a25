//! What is wrong with a skeleton, a skin or a mask, and why data does not fit a skeleton.

/// Why a skeleton cannot be made from a list of joints.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SkeletonFault {
    /// More joints than 16-bit indices can name.
    TooManyJoints(usize),
    /// A joint comes before its parent, or is its own parent.
    ParentNotFirst {
        /// The joint.
        joint: usize,
        /// Its parent.
        parent: usize,
    },
    /// NaN or an infinity in a rest pose.
    NotFinite(usize),
    /// A number of a rest pose is beyond its limit.
    Beyond {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// Which quantity.
        what: &'static str,
        /// Its value.
        value: f32,
        /// The least or greatest value allowed.
        limit: f32,
    },
    /// The scales of the rest pose have too large a product down a chain.
    Chain {
        /// The joint.
        joint: usize,
        /// Its name.
        name: String,
        /// The product of the largest scales.
        product: f64,
    },
    /// A scalar's rest value is beyond its limit.
    ScalarBeyond {
        /// The scalar.
        scalar: usize,
        /// Its name.
        name: String,
        /// Its value.
        value: f32,
    },
    /// A scalar's rest value is NaN or infinite.
    ScalarNotFinite(usize),
    /// A user channel has the name of another, or of a scalar.
    ChannelName(String),
    /// A user channel's rest value is NaN or infinite, or a quaternion without a direction.
    ChannelRest(String),
    /// More user channels than are allowed.
    TooManyChannels(usize),
    /// The lane order is not a permutation of the joints.
    LaneOrder {
        /// Entries of the lane order.
        len: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// Joints and matrices differ in number.
    SkinLengths {
        /// Number of joints.
        joints: usize,
        /// Number of matrices.
        matrices: usize,
    },
    /// A slot refers to a joint that the skeleton lacks.
    SkinJoint {
        /// The slot.
        slot: usize,
        /// The joint it refers to.
        joint: u16,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// A matrix holds NaN or an infinity.
    SkinNotFinite(usize),
    /// A matrix holds a number beyond its limit.
    SkinBeyond {
        /// The slot.
        slot: usize,
        /// The number.
        value: f32,
    },
    /// One weight per joint is needed.
    MaskLengths {
        /// Weights given.
        weights: usize,
        /// Joints of the skeleton.
        joints: usize,
    },
    /// A weight is outside [0, 1] or NaN.
    MaskWeight {
        /// The joint.
        joint: usize,
        /// Its weight.
        weight: f32,
    },
}

/// Why data of one skeleton does not fit another.
#[derive(Clone, Debug, PartialEq)]
pub enum SkeletonMismatch {
    /// The joints or the scalars differ: the first difference in words, with its values in both.
    Structure(String),
    /// Only the lane orders differ: [`reorder_lanes`](crate::clip::reorder_lanes) converts a clip.
    LaneOrder,
    /// The joints are the same in another order, and the lane orders differ too:
    /// [`reorder_lanes`](crate::clip::reorder_lanes) converts a clip.
    JointOrder,
}
