//! The evaluation of instances, from the clips that they play to their palette rows, and the tables that it reads.
//!
//! ```text
//! gather                   what is asked of a pool (`Instances`), gathered as inputs of a run
//! rig_tables, details      the tables of a rig and its loaded clips
//! frame, ahead, watch      buffers of workers, prefetching, watched joints; `evaluated` reads one instance
//! instance, mix, scratch   the run of one instance: chooses tables, samples, blends, composes, walks
//! offsets, capture         offsets of layers that decay: their pool, and how they are found from two poses
//! stage/                   what changes a pose between blending and the walk: overrides, modifiers
//! tables/                  what a run reads, made once per rig and per clip and shared by all crowds and mixers
//! kernel/                  arithmetic, generic over the vector type: decodes keys, blends, composes; reads clips alone
//! ```
//!
//! Imports go from the upper to the lower of these. Rules of playing do not belong here: no time, no fades, no pools.
//! A run does not allocate, panic or log; what would have to allocate is made in `tables`, before the frame.

mod ahead;
mod capture;
mod details;
mod evaluated;
mod frame;
mod gather;
mod instance;
mod kernel;
mod mix;
mod offsets;
mod rig_tables;
mod scratch;
mod stage;
mod tables;
mod watch;

pub(crate) use ahead::{Prefetch, STATE, STEPS, Step};
pub(crate) use capture::{Capture, POSES, scalar_parts};
pub use details::TierDetail;
pub use evaluated::PoseStage;
pub(crate) use evaluated::{Evaluated, WATCHED_CHUNK};
pub(crate) use frame::{How, PaletteScratch, Target};
pub(crate) use gather::{ActiveClip, ActiveLayer, Instances, Visitor};
pub(crate) use instance::Instance;
pub(crate) use kernel::{blend, compose, decay, locate_all, multiply, quat, track};
pub use offsets::MAX_INERTIAL_BYTES;
pub(crate) use offsets::{OFFSET_ROWS, OffsetId, OffsetInput, Offsets, SCALARS};
pub(crate) use rig_tables::RigTables;
pub(crate) use scratch::{
    ActionInput, JointOverride, LayerInput, Needs, Replaces, Scratch, Sources,
};
pub(crate) use stage::{
    Aim, Axes, CONTACT_FADE, Chain, Chains, Change, Contacts, Feet, Follow, Footing, Gaze, Given,
    IkTarget, Lag, Leg, Limit, MAX_FEET, MAX_TURNS, POSE_ROWS, Springs, Steps, Tails, Turn,
};
pub use stage::{EndRotation, Pole};
pub(crate) use stage::{Modify, PoseMut, Stage, beneath, rotation};
pub(crate) use tables::{CHANNELS, ROTATION, SCALE, TRANSLATION, group_floats, scratch_row};
pub(crate) use watch::{Own, TakenJoints, Watched, WatchedRow};
