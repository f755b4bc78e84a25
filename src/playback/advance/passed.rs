//! `Passed`: what a step over a range of instances returns.

use crate::evaluate::OffsetId;
use crate::playback::events::Events;
use crate::playback::root_motion::Moves;

/// The results of a step over a range.
#[derive(Debug, Default)]
pub(crate) struct Passed {
    pub events: Events,
    pub moves: Moves,
    /// The instances whose entries the step has changed, if [`Stage::records`](super::Stage::records) is set.
    pub changed: Vec<u32>,
    /// The offsets that have ended.
    pub ended: Vec<OffsetId>,
}

impl Passed {
    pub fn clear(&mut self) {
        self.events.clear();
        self.moves.clear();
        self.changed.clear();
        self.ended.clear();
    }

    /// Appends the results of instances with higher indices.
    pub fn append(&mut self, later: &Self) {
        self.events.append(&later.events);
        self.moves.append(&later.moves);
        self.changed.extend_from_slice(&later.changed);
        self.ended.extend_from_slice(&later.ended);
    }
}
