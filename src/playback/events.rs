//! `Event`, and the events of a step.

use super::ids::{ClipId, InstanceId};

/// The most events that one action fires in one step; [`Mixer::dropped_events`](super::Mixer::dropped_events) counts the
/// others.
///
/// A frame of normal length fires far fewer; the limit keeps a step of years cheap.
pub const MAX_EVENTS_PER_ACTION: usize = 64;

/// The kind of an [`Event`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A marker of the clip was passed.
    Marker,
    /// A pass over the clip ended and another began.
    Looped,
    /// The last pass ended (backwards: the start of the first pass was reached).
    Finished,
    /// The action left its layer in the step: its fade-out ended, or its last pass if it [stops](super::AtEnd) there.
    ///
    /// Events are of steps. An action that a call removes at once fires nothing: one that [stops](super::Player::stop)
    /// within 0 seconds or at weight 0, that another one replaces without a fade or evicts, and one of an instance that is
    /// despawned.
    Stopped,
}

/// A set of event kinds: the filter of a mixer or of a rig's instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventKinds {
    /// Includes [`EventKind::Marker`].
    pub markers: bool,
    /// Includes [`EventKind::Looped`].
    pub loops: bool,
    /// Includes [`EventKind::Finished`].
    pub finishes: bool,
    /// Includes [`EventKind::Stopped`].
    pub stops: bool,
}

impl EventKinds {
    /// All kinds. The default.
    pub const ALL: Self = Self { markers: true, loops: true, finishes: true, stops: true };
    /// No kind.
    pub const NONE: Self = Self { markers: false, loops: false, finishes: false, stops: false };
}

impl Default for EventKinds {
    fn default() -> Self {
        Self::ALL
    }
}

/// An event of one action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Handle of the instance; events of mixers all have the same one.
    pub instance: InstanceId,
    /// Index of the layer that the action is on.
    pub layer: u16,
    /// Handle of the clip. Of a blend space, the clip that has the marker; for other kinds, the clip of the greatest
    /// weight.
    pub clip: ClipId,
    /// The kind of the event.
    pub kind: EventKind,
    /// Index of the marker in [`Clip::markers`](crate::clip::Clip::markers); 0 for other kinds.
    pub marker: u16,
    /// Clip time in seconds.
    pub time: f32,
    /// Weight of the clip in the pose when the step began: action × share in a blend space × layer.
    pub weight: f32,
    /// True if the clip led its layer when the event happened: it had the greatest weight (action × share in a blend
    /// space) of the clips with markers. Of equal weights, the action that began later leads; of the clips of a blend
    /// space, the first one does.
    ///
    /// So if clips play in step and have their markers at the same phases, every footstep is heard once, in any blend
    /// and crossfade. The weights are those at the moment of the event within the step, so that the length of steps
    /// does not matter; weights that differ by less than 1 / 16,384 count as equal. A clip leads nothing while its
    /// weight is 0 and does not fade, without markers, or while it stands still: it is paused, or has finished. The
    /// weight of the layer does not count.
    pub leading: bool,
}

/// The events of a step: sorted by rig, instance, layer and age of the action, oldest first; events of one action in
/// order of time.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub all: Vec<Event>,
    /// The number of events left out because their action had fired [`MAX_EVENTS_PER_ACTION`] in the step.
    pub dropped: u64,
}

impl Events {
    pub fn clear(&mut self) {
        self.all.clear();
        self.dropped = 0;
    }

    /// Reserves capacity for `events` in total, so that frames need not allocate.
    pub fn reserve(&mut self, events: usize) {
        self.all.reserve(events.saturating_sub(self.all.len()));
    }

    /// Appends the events of instances with higher indices.
    pub fn append(&mut self, later: &Self) {
        self.all.extend_from_slice(&later.all);
        self.dropped = self.dropped.saturating_add(later.dropped);
    }
}
