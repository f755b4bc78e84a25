//! The actions of all instances of a rig, as plain arrays: one entry per instance × layer, with
//! [`ACTIONS_PER_LAYER`] slots each.

use super::blend_space::Members;
use super::ids::{NO_CLIP, Source};
use super::interval::{Loop, Playhead};
use super::linear_fade::LinearFade;
use super::options::{AtEnd, PlayOptions};

/// The largest number of actions of a layer.
pub const ACTIONS_PER_LAYER: usize = 4;

/// Four actions of one layer of one instance.
pub(crate) type Four<T> = [T; ACTIONS_PER_LAYER];

/// State of the actions. Values that every step reads lie in separate arrays.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Actions {
    /// The clips' indices in their pool, or [`NO_CLIP`].
    pub clip: Vec<Four<u16>>,
    /// The second clip of a blend space (the first again if that plays alone), and its share.
    pub other: Vec<Four<u16>>,
    pub mix: Vec<Four<f32>>,
    /// The time within the pass: seconds, for a blend space phases.
    pub time: Vec<Four<f64>>,
    /// The change of `time` per second.
    pub rate: Vec<Four<f64>>,
    /// The open interval around `time` without an end or a marker.
    pub low: Vec<Four<f64>>,
    pub high: Vec<Four<f64>>,
    pub weight: Vec<Four<f32>>,
    /// Whether the pass runs from the clip's end to its start.
    pub mirrored: Vec<Four<bool>>,
    /// The order of starts: older actions come first in a blend.
    pub started: Vec<Four<u32>>,
    pub starts: Vec<u32>,
    /// Whether a step changes more than `time`: a fade (of an action or the layer) or a warp runs, or an action is
    /// fresh.
    pub busy: Vec<bool>,
    pub slow: Vec<Four<Slow>>,
}

/// The values of an action that only calls and rare steps read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Slow {
    pub course: Loop,
    pub pass: f64,
    /// Factor on time; `warp` changes it.
    pub speed: f64,
    /// The change of `time` per second at speed 1.
    pub pace: f64,
    pub warp: LinearFade,
    pub fade: LinearFade,
    pub paused: bool,
    pub at_end: AtEnd,
    /// Whether it was started and has not been advanced yet.
    pub fresh: bool,
    /// Whether its last step finished it. Speeds of layers and of the character, and steps back in time, may
    /// send it to the end that its own speed leads away from.
    pub ended: bool,
    /// Whether the slot is freed when the fade ends.
    pub ending: bool,
    /// The index of the blend space.
    pub space: Option<u16>,
}

impl Actions {
    /// Appends an entry that plays nothing.
    pub fn push(&mut self) {
        let n = self.clip.len() + 1;
        self.clip.resize(n, [NO_CLIP; 4]);
        self.other.resize(n, [NO_CLIP; 4]);
        self.mix.resize(n, [0.0; 4]);
        self.time.resize(n, [0.0; 4]);
        self.rate.resize(n, [0.0; 4]);
        self.low.resize(n, [f64::NEG_INFINITY; 4]);
        self.high.resize(n, [f64::INFINITY; 4]);
        self.weight.resize(n, [0.0; 4]);
        self.mirrored.resize(n, [false; 4]);
        self.started.resize(n, [0; 4]);
        self.starts.resize(n, 0);
        self.busy.resize(n, false);
        self.slow.resize(n, [Slow::default(); 4]);
    }

    /// Frees all slots of an entry.
    pub fn clear(&mut self, entry: usize) {
        for a in 0..ACTIONS_PER_LAYER {
            self.free(entry, a);
        }
    }

    pub fn free(&mut self, entry: usize, a: usize) {
        self.clip[entry][a] = NO_CLIP;
        self.other[entry][a] = NO_CLIP;
        self.mix[entry][a] = 0.0;
        self.time[entry][a] = 0.0;
        self.rate[entry][a] = 0.0;
        self.low[entry][a] = f64::NEG_INFINITY;
        self.high[entry][a] = f64::INFINITY;
        self.weight[entry][a] = 0.0;
        self.mirrored[entry][a] = false;
        self.slow[entry][a] = Slow::default();
    }

    /// The slots of an entry that play.
    pub fn playing(&self, entry: usize) -> impl Iterator<Item = usize> + use<> {
        let clips = self.clip[entry];
        (0..ACTIONS_PER_LAYER).filter(move |&a| clips[a] != NO_CLIP)
    }

    /// What an action plays.
    pub fn source(&self, entry: usize, a: usize) -> Source {
        match self.slow[entry][a].space {
            Some(space) => Source::Space(space),
            None => Source::Clip(self.clip[entry][a]),
        }
    }

    /// The slot that plays a clip or blend space, if any.
    pub fn find(&self, entry: usize, source: Source) -> Option<usize> {
        let same = |a: &usize| self.source(entry, *a) == source;
        self.playing(entry).find(same)
    }

    /// Empties a slot for a new action: a free one, else that of the action with the lowest weight, which is
    /// evicted. Returns the slot and whether it was taken from another.
    pub fn vacate(&mut self, entry: usize) -> (usize, bool) {
        let (clips, weights) = (&self.clip[entry], &self.weight[entry]);
        if let Some(free) = (0..ACTIONS_PER_LAYER).find(|&a| clips[a] == NO_CLIP) {
            return (free, false);
        }
        let least = (1..ACTIONS_PER_LAYER).fold(0, |least: usize, a| {
            if weights[a].abs() < weights[least].abs() {
                a
            } else {
                least
            }
        });
        self.free(entry, least);
        (least, true)
    }

    /// Starts a clip or blend space in a slot that is free or already plays it. `length` is the length of a pass. The
    /// slot keeps its weight and its fade.
    pub fn start(
        &mut self,
        entry: usize,
        a: usize,
        source: Source,
        (members, length): (Members, f64),
        options: &PlayOptions,
    ) {
        self.started[entry][a] = self.starts[entry];
        self.starts[entry] = self.starts[entry].wrapping_add(1);
        let Slow { fade, ending, .. } = self.slow[entry][a];
        self.slow[entry][a] = Slow {
            course: Loop::new(options.loop_mode, options.repetitions, length),
            speed: f64::from(options.speed),
            at_end: options.at_end,
            fresh: true,
            fade,
            ending,
            space: match source {
                Source::Space(space) => Some(space),
                Source::Clip(_) => None,
            },
            ..Slow::default()
        };
        self.seek(entry, a, options.time);
        self.set_members(entry, a, members);
        self.busy[entry] = true;
    }

    /// Sets the clips of an action, their shares and their rate. Returns whether the clips changed.
    pub fn set_members(&mut self, entry: usize, a: usize, members: Members) -> bool {
        let known = (self.clip[entry][a], self.other[entry][a]);
        let changed = known != (members.clip, members.other);
        self.clip[entry][a] = members.clip;
        self.other[entry][a] = members.other;
        self.mix[entry][a] = members.mix;
        self.slow[entry][a].pace = members.rate;
        self.set_rate(entry, a);
        if changed {
            self.close_window(entry, a);
        }
        changed
    }

    /// Sets an action to an unbounded time.
    pub fn seek(&mut self, entry: usize, a: usize, time: f64) {
        let place = self.slow[entry][a].course.place(time);
        self.put(entry, a, place);
        self.close_window(entry, a);
    }

    /// Makes the next step search for the ends and markers around an action's time.
    pub fn close_window(&mut self, entry: usize, a: usize) {
        self.low[entry][a] = self.time[entry][a];
        self.high[entry][a] = self.time[entry][a];
    }

    /// Whether an action has reached the end of its last pass and stays there.
    pub fn finished(&self, entry: usize, a: usize) -> bool {
        let slow = &self.slow[entry][a];
        !slow.fresh && (slow.ended || slow.course.over(self.place(entry, a), slow.speed < 0.0))
    }

    /// The playhead of an action.
    pub fn place(&self, entry: usize, a: usize) -> Playhead {
        Playhead {
            pass: self.slow[entry][a].pass,
            time: self.time[entry][a],
        }
    }

    pub fn put(&mut self, entry: usize, a: usize, place: Playhead) {
        let slow = &mut self.slow[entry][a];
        slow.ended = false;
        slow.pass = place.pass;
        self.time[entry][a] = place.time;
        self.mirrored[entry][a] = slow.course.mirrored(place.pass);
    }

    /// Updates the rate of an action after a change of speed or pause.
    pub fn set_rate(&mut self, entry: usize, a: usize) {
        let slow = &self.slow[entry][a];
        self.rate[entry][a] = if slow.paused {
            0.0
        } else {
            slow.speed * slow.pace
        };
    }

    /// Fades an action from its present weight to a target over `seconds`. A running fade that reaches the target
    /// sooner continues. Returns whether anything changed.
    pub fn fade(&mut self, entry: usize, a: usize, target: f32, seconds: f32) -> bool {
        let slow = &mut self.slow[entry][a];
        let (to, over) = (f64::from(target), f64::from(seconds));
        let rests = !slow.fade.running() && self.weight[entry][a] == target;
        if !slow.ending && (rests || slow.fade.gets_to(to, over)) {
            return false;
        }
        slow.ending = false;
        slow.fade = LinearFade::default();
        if seconds > 0.0 {
            let from = f64::from(self.weight[entry][a]);
            slow.fade = LinearFade::new(from, to, over);
            self.busy[entry] = true;
        } else {
            self.weight[entry][a] = target;
        }
        true
    }

    /// Fades an action out over `seconds`, from its present weight, and then stops it. A running fade to 0 that ends
    /// sooner continues. An action of weight 0 stops at once. Returns whether anything changed.
    pub fn end(&mut self, entry: usize, a: usize, seconds: f32) -> bool {
        let slow = &self.slow[entry][a];
        if slow.ending && slow.fade.gets_to(0.0, f64::from(seconds)) {
            return false;
        }
        if seconds > 0.0 && self.weight[entry][a] != 0.0 {
            self.fade(entry, a, 0.0, seconds);
            self.slow[entry][a].ending = true;
        } else {
            self.free(entry, a);
        }
        true
    }

    /// The clip time of an action, in [0, duration].
    #[inline(always)]
    pub fn clip_time(&self, entry: usize, a: usize) -> f64 {
        let time = self.time[entry][a];
        if self.mirrored[entry][a] {
            self.slow[entry][a].course.length - time
        } else {
            time
        }
    }
}
