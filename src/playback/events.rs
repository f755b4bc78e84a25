//! `Events`: what happened in a step, as plain arrays.

use super::ids::{ClipId, InstanceId};

/// The most events that one action fires in one step; the others are counted. More than a frame of
/// normal length ever fires, and a step of years stays cheap.
pub const MAX_EVENTS_PER_ACTION: usize = 64;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A marker of the clip was passed.
    Marker,
    /// A pass over the clip ended and another began.
    Looped,
    /// The last pass ended (backwards: the first one's start was reached).
    Finished,
}

/// One event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The character (of a crowd; a mixer has but one).
    pub instance: InstanceId,
    /// The layer that the action is on.
    pub layer: usize,
    /// The clip; of a blend space the one whose marker it is, or else the one of greater weight.
    pub clip: ClipId,
    /// What happened.
    pub kind: EventKind,
    /// The marker's place in [`Clip::markers`](crate::clip::Clip::markers); 0 for other kinds.
    pub marker: usize,
    /// Clip time in seconds.
    pub time: f32,
    /// The clip's weight in the pose when the step began: action × layer.
    pub weight: f32,
}

/// The events of the last step: by rig, instance and layer, each action's in order of time. All arrays
/// have the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events {
    instances: Vec<InstanceId>,
    layers: Vec<u16>,
    clips: Vec<ClipId>,
    kinds: Vec<EventKind>,
    markers: Vec<u16>,
    times: Vec<f32>,
    weights: Vec<f32>,
    dropped: u64,
}

impl Events {
    /// How many.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether nothing happened.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The characters.
    pub fn instances(&self) -> &[InstanceId] {
        &self.instances
    }

    /// The layers.
    pub fn layers(&self) -> &[u16] {
        &self.layers
    }

    /// The clips.
    pub fn clips(&self) -> &[ClipId] {
        &self.clips
    }

    /// What happened.
    pub fn kinds(&self) -> &[EventKind] {
        &self.kinds
    }

    /// The markers' places in their clips; 0 for other kinds.
    pub fn markers(&self) -> &[u16] {
        &self.markers
    }

    /// Clip times in seconds.
    pub fn times(&self) -> &[f32] {
        &self.times
    }

    /// The clips' weights.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Events left out because their action had fired [`MAX_EVENTS_PER_ACTION`] in the step.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// One by one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Event> + '_ {
        (0..self.len()).map(|i| Event {
            instance: self.instances[i],
            layer: usize::from(self.layers[i]),
            clip: self.clips[i],
            kind: self.kinds[i],
            marker: usize::from(self.markers[i]),
            time: self.times[i],
            weight: self.weights[i],
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
        self.dropped = 0;
    }

    /// Makes room, so that frames need not.
    pub(crate) fn reserve(&mut self, events: usize) {
        let more = events.saturating_sub(self.len());
        self.instances.reserve(more);
        self.layers.reserve(more);
        self.clips.reserve(more);
        self.kinds.reserve(more);
        self.markers.reserve(more);
        self.times.reserve(more);
        self.weights.reserve(more);
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.instances.push(event.instance);
        self.layers.push(event.layer as u16);
        self.clips.push(event.clip);
        self.kinds.push(event.kind);
        self.markers.push(event.marker as u16);
        self.times.push(event.time);
        self.weights.push(event.weight);
    }

    pub(crate) fn drop_some(&mut self, count: u64) {
        self.dropped = self.dropped.saturating_add(count);
    }
}
