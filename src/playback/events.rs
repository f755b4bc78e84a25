//! `Events`: the events of a step, as parallel arrays.

use super::ids::{ClipId, InstanceId};

/// The most events that one action fires in one step; [`Events::dropped`] counts the others.
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
}

/// A set of event kinds: the filter of a mixer or of a rig's instances.
///
/// ```
/// use phalanx::playback::EventKinds;
///
/// let steps = EventKinds { markers: true, ..EventKinds::NONE };
/// assert_ne!(steps, EventKinds::ALL);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventKinds {
    /// Includes [`EventKind::Marker`].
    pub markers: bool,
    /// Includes [`EventKind::Looped`].
    pub loops: bool,
    /// Includes [`EventKind::Finished`].
    pub finishes: bool,
}

impl EventKinds {
    /// All kinds. The default.
    pub const ALL: Self = Self { markers: true, loops: true, finishes: true };
    /// No kind.
    pub const NONE: Self = Self { markers: false, loops: false, finishes: false };
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
    pub layer: usize,
    /// Handle of the clip. Of a blend space, the clip that has the marker; for other kinds, the clip of greater weight.
    pub clip: ClipId,
    /// The kind of the event.
    pub kind: EventKind,
    /// Index of the marker in [`Clip::markers`](crate::clip::Clip::markers); 0 for other kinds.
    pub marker: usize,
    /// Clip time in seconds.
    pub time: f32,
    /// Weight of the clip in the pose when the step began: action × share in a blend space × layer.
    pub weight: f32,
    /// True if the clip led its layer when the event happened: it had the greatest weight (action × share in a blend
    /// space) of the clips with markers. Of equal weights, the action that began later leads; of the two clips of a
    /// blend space, the first one does.
    ///
    /// So if clips play in step and have their markers at the same phases, every footstep is heard once, in any blend
    /// and crossfade. The weights are those at the moment of the event within the step, so that the length of steps
    /// does not matter; weights that differ by less than 1 / 16,384 count as equal. A clip leads nothing while its
    /// weight is 0 and does not fade, without markers, or while it stands still: it is paused, or has finished. The
    /// weight of the layer does not count.
    pub leading: bool,
}

/// The events of the last step, as parallel arrays of one length.
///
/// They are sorted by rig, instance, layer and age of the action, oldest first; the events of one action are in order
/// of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    instances: Vec<InstanceId>,
    layers: Vec<u16>,
    clips: Vec<ClipId>,
    kinds: Vec<EventKind>,
    markers: Vec<u16>,
    times: Vec<f32>,
    weights: Vec<f32>,
    leading: Vec<bool>,
    dropped: u64,
}

impl Events {
    /// The number of events.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Handles of the instances.
    pub fn instances(&self) -> &[InstanceId] {
        &self.instances
    }

    /// Indices of the layers.
    pub fn layers(&self) -> &[u16] {
        &self.layers
    }

    /// Handles of the clips.
    pub fn clips(&self) -> &[ClipId] {
        &self.clips
    }

    /// The kinds of the events.
    pub fn kinds(&self) -> &[EventKind] {
        &self.kinds
    }

    /// Indices of the markers in their clips; 0 for other kinds.
    pub fn markers(&self) -> &[u16] {
        &self.markers
    }

    /// Clip times in seconds.
    pub fn times(&self) -> &[f32] {
        &self.times
    }

    /// Weights of the clips: [`Event::weight`].
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Whether each clip led its layer: [`Event::leading`].
    pub fn leading(&self) -> &[bool] {
        &self.leading
    }

    /// The number of events left out because their action had fired [`MAX_EVENTS_PER_ACTION`] in the step.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Iterates over the events.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Event> + '_ {
        (0..self.len()).map(|i| Event {
            instance: self.instances[i],
            layer: usize::from(self.layers[i]),
            clip: self.clips[i],
            kind: self.kinds[i],
            marker: usize::from(self.markers[i]),
            time: self.times[i],
            weight: self.weights[i],
            leading: self.leading[i],
        })
    }

    pub(crate) fn clear(&mut self) {
        self.instances.clear();
        self.layers.clear();
        self.clips.clear();
        self.kinds.clear();
        self.markers.clear();
        self.times.clear();
        self.weights.clear();
        self.leading.clear();
        self.dropped = 0;
    }

    /// Reserves capacity for `events` in total, so that frames need not allocate.
    pub(crate) fn reserve(&mut self, events: usize) {
        let more = events.saturating_sub(self.len());
        self.instances.reserve(more);
        self.layers.reserve(more);
        self.clips.reserve(more);
        self.kinds.reserve(more);
        self.markers.reserve(more);
        self.times.reserve(more);
        self.weights.reserve(more);
        self.leading.reserve(more);
    }

    /// Appends the events of instances with higher indices.
    pub(crate) fn append(&mut self, later: &Self) {
        self.instances.extend_from_slice(&later.instances);
        self.layers.extend_from_slice(&later.layers);
        self.clips.extend_from_slice(&later.clips);
        self.kinds.extend_from_slice(&later.kinds);
        self.markers.extend_from_slice(&later.markers);
        self.times.extend_from_slice(&later.times);
        self.weights.extend_from_slice(&later.weights);
        self.leading.extend_from_slice(&later.leading);
        self.drop_some(later.dropped);
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.instances.push(event.instance);
        self.layers.push(event.layer as u16);
        self.clips.push(event.clip);
        self.kinds.push(event.kind);
        self.markers.push(event.marker as u16);
        self.times.push(event.time);
        self.weights.push(event.weight);
        self.leading.push(event.leading);
    }

    pub(crate) fn drop_some(&mut self, count: u64) {
        self.dropped = self.dropped.saturating_add(count);
    }
}
