//! What a frame has to know before it runs, found once and shared by all crowds and mixers of a rig.
//!
//! Per rig: the base constants, the topologies (steps down the hierarchy) and the places of joints in the palette.
//! Per clip: its tracks, its constants and its fold. What plays together is a topology and references to clips, so
//! no frame makes a program. Nothing here runs in a frame; `kernel` does that.

mod clip_program;
mod constants;
mod fold;
mod rig_program;
mod topology;
mod units;

pub(crate) use clip_program::ClipProgram;
pub(crate) use fold::{Fold, rows as fold_rows};
pub(crate) use rig_program::{Programs, RigProgram};
pub(crate) use topology::{Topology, group_floats, scratch_row};
pub(crate) use units::UnitSet;

use crate::clip::Channel;

/// The channels of joints, in the order of their arrays.
pub(crate) const CHANNELS: [Channel; 3] = [Channel::Translation, Channel::Rotation, Channel::Scale];
pub(crate) const TRANSLATION: usize = 0;
pub(crate) const ROTATION: usize = 1;
pub(crate) const SCALE: usize = 2;
