//! `Action`: a clip or blend space that plays on a layer, as it was at the anchor of its entry.

use super::blend_space::space::Place;
use super::ids::{NO_CLIP, Source};
use super::interval::{Loop, Playhead, before, odd, wrap};
use super::linear_fade::LinearFade;
use super::options::{AtEnd, PlayOptions};

mod fades;
mod shift;

/// The value of [`Action::next`] for the last action of an entry.
pub(super) const LAST: u8 = u8::MAX;

const PING_PONG: u8 = 1;
/// A step has passed since the action was started, and it has not moved: its speed is 0, or it is paused.
const STOOD: u8 = 2;
const PAUSED: u8 = 4;
/// The action was started and has not moved yet: the first interval that it passes includes its start.
const FRESH: u8 = 8;
/// The last step finished the action. This is stored, since speeds of layers and of the character, and steps back in
/// time, may send an action to the end that its own speed leads away from.
const ENDED: u8 = 16;
/// The action stops when its fade ends.
const ENDING: u8 = 32;
/// The action stops at the end of its last pass.
const STOPS: u8 = 64;
/// The action plays a blend space.
const SPACE: u8 = 128;

/// An action: 72 bytes. Times and weights are as of the anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Action {
    /// Time within the pass: seconds; for a blend space, phases.
    time: f64,
    /// The change of `time` per second of the clock, from the anchor on.
    pub(super) rate: f64,
    /// The number of passes since the start of the first one.
    pass: f64,
    pub weight: LinearFade,
    /// Factor on time. While a warp runs, its value at the anchor.
    pub(super) speed: f32,
    /// Length of a pass: seconds; 1 for a blend space.
    pub(super) length: f32,
    /// The number of passes; 0 means no end.
    pub(super) passes: u32,
    /// Index of the clip or blend space; [`NO_CLIP`] if nothing plays.
    motion: u16,
    /// The [place](Place) in the blend space: its cell, and its shares in 24 bits each. 0 for a clip.
    cell: u16,
    shares: [[u8; 3]; 2],
    flags: u8,
    /// Index of the next action of the entry in its bucket, or [`LAST`].
    next: u8,
}

/// The flags that snapshots store, in their order.
const STORED_FLAGS: [u8; 7] = [PING_PONG, PAUSED, FRESH, ENDED, ENDING, STOPS, STOOD];

impl Action {
    /// An element that holds no action.
    pub const NOTHING: Self = Self {
        time: 0.0,
        rate: 0.0,
        pass: 0.0,
        weight: LinearFade::still(0.0),
        speed: 0.0,
        length: 0.0,
        passes: 0,
        motion: NO_CLIP,
        cell: 0,
        shares: [[0; 3]; 2],
        flags: 0,
        next: LAST,
    };

    /// An action that starts, with weight 0. `length` is the length of a pass.
    pub fn new(source: Source, (place, length): (Place, f64), options: &PlayOptions) -> Self {
        let mut action = Self { speed: options.speed, ..Self::of(source, length as f32) };
        action.set(FRESH, true);
        let course = Loop::new(options.loop_mode, options.repetitions, length);
        action.store_course(&course);
        action.set_at_end(options.at_end);
        action.set_place(place);
        action.seek(options.time);
        action
    }

    /// A motion with the length of a pass.
    pub fn of(source: Source, length: f32) -> Self {
        let (motion, flags) = match source {
            Source::Clip(clip) => (clip, 0),
            Source::Space(space) => (space, SPACE),
        };
        Self { motion, flags, length, ..Self::NOTHING }
    }

    /// The flags that snapshots store.
    pub fn flags(&self) -> [bool; 7] {
        STORED_FLAGS.map(|flag| self.flag(flag))
    }

    /// Sets the flags that a snapshot has stored, and the playhead.
    pub fn restore(&mut self, flags: [bool; 7], playhead: Playhead) {
        for (flag, on) in STORED_FLAGS.into_iter().zip(flags) {
            self.set(flag, on);
        }
        self.move_to(playhead);
    }

    /// The same action, linked to the next one.
    #[inline(always)]
    pub fn linked(self, next: u8) -> Self {
        Self { next, ..self }
    }

    /// The next action of its entry, or [`LAST`].
    #[inline(always)]
    pub fn next(&self) -> u8 {
        self.next
    }

    #[inline(always)]
    fn flag(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    fn set(&mut self, flag: u8, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }

    /// Whether this is an action, not an empty element.
    #[inline(always)]
    pub fn plays(&self) -> bool {
        self.motion != NO_CLIP
    }

    /// The clip or blend space that plays.
    #[inline(always)]
    pub fn source(&self) -> Source {
        match self.in_phases() {
            true => Source::Space(self.motion),
            false => Source::Clip(self.motion),
        }
    }

    /// The clip that plays, unless the action plays a blend space.
    #[inline(always)]
    pub fn clip(&self) -> Option<u16> {
        (!self.in_phases()).then_some(self.motion)
    }

    /// The blend space that plays, if one does.
    #[inline(always)]
    pub fn space(&self) -> Option<u16> {
        self.in_phases().then_some(self.motion)
    }

    /// Whether a blend space plays: the time is a phase.
    #[inline(always)]
    pub fn in_phases(&self) -> bool {
        self.flag(SPACE)
    }

    /// The place in the blend space.
    pub fn place(&self) -> Place {
        let share = |[a, b, c]: [u8; 3]| u32::from_le_bytes([a, b, c, 0]);
        Place { cell: self.cell, shares: self.shares.map(share) }
    }

    /// Sets the place in the blend space. Shares are at most 2^23.
    pub fn set_place(&mut self, place: Place) {
        self.cell = place.cell;
        self.shares = place.shares.map(|share| {
            let [bytes @ .., _] = share.to_le_bytes();
            bytes
        });
    }

    /// The length, number and direction of the passes.
    pub fn course(&self) -> Loop {
        Loop {
            length: f64::from(self.length),
            passes: match self.passes {
                0 => f64::INFINITY,
                n => f64::from(n),
            },
            ping_pong: self.flag(PING_PONG),
        }
    }

    fn store_course(&mut self, course: &Loop) {
        // The number of passes is infinite or fits 32 bits.
        self.passes = if course.bounded() { course.passes as u32 } else { 0 };
        self.set(PING_PONG, course.ping_pong);
    }

    /// Sets the length, number and direction of the passes. If they differ from before, the action is then in the first
    /// pass, at its present clip time.
    pub fn set_course(&mut self, course: &Loop) {
        if self.course() != *course {
            let time = self.clip_time();
            self.store_course(course);
            self.seek(time);
        }
    }

    /// Sets the time, counted from the start of the first pass.
    pub fn seek(&mut self, time: f64) {
        let playhead = self.course().playhead(time);
        self.set_playhead(playhead);
    }

    pub fn playhead(&self) -> Playhead {
        Playhead { pass: self.pass, time: self.time }
    }

    pub fn set_playhead(&mut self, playhead: Playhead) {
        self.set(ENDED, false);
        self.move_to(playhead);
    }

    fn move_to(&mut self, playhead: Playhead) {
        (self.pass, self.time) = (playhead.pass, playhead.time);
    }

    /// The clip time, in [0, duration].
    #[inline(always)]
    pub fn clip_time(&self) -> f64 {
        self.clip_time_after(0.0)
    }

    /// The clip time `seconds` after the anchor, if nothing has changed the action since.
    #[inline(always)]
    pub fn clip_time_after(&self, seconds: f64) -> f64 {
        let length = f64::from(self.length);
        let time = self.time + seconds * self.rate;
        let (passed, time) = if (0.0..length).contains(&time) || self.rate == 0.0 {
            (0.0, time)
        } else if self.passes == 0 && length > 0.0 {
            wrap(time, length)
        } else {
            let playhead = self.playhead_after(seconds);
            (playhead.pass - self.pass, playhead.time)
        };
        let mirrored = self.flag(PING_PONG) && odd(self.pass + passed);
        if mirrored { length - time } else { time }
    }

    /// The playhead `seconds` after the anchor, if nothing has changed the action since.
    pub fn playhead_after(&self, seconds: f64) -> Playhead {
        let playhead = self.playhead();
        if self.rate == 0.0 {
            return playhead;
        }
        self.course().advance(playhead, seconds * self.rate).0
    }

    /// Moves the action to where it is `seconds` after its anchor.
    pub fn glide(&mut self, seconds: f64) {
        let playhead = self.playhead_after(seconds);
        self.move_to(playhead);
        self.rate = 0.0;
        self.weight.advance(seconds);
    }

    /// Whether the passes are all alike and never end.
    pub fn repeats(&self) -> bool {
        self.passes == 0 && !self.flag(PING_PONG)
    }

    /// The change of time per second of the clock.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Sets the change of time per second of the clock, from the anchor on.
    pub fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
    }

    /// The seconds for which only time and weight change: until the fade or the last pass ends. All rounding of the
    /// times in between is allowed for.
    pub fn steady(&self) -> f64 {
        if self.fresh() && self.rate != 0.0 {
            return 0.0;
        }
        self.weight.wait().min(self.until_end())
    }

    /// The seconds until the end of the last pass, at the rate from the anchor on.
    pub fn until_end(&self) -> f64 {
        if self.passes == 0 || self.rate == 0.0 {
            return f64::INFINITY;
        }
        let (course, backwards) = (self.course(), self.rate < 0.0);
        let left = course.left(self.playhead(), backwards);
        before(left, course.passes * course.length, self.rate)
    }

    pub fn speed(&self) -> f32 {
        self.speed
    }

    /// Sets the speed that the action's warp has reached.
    pub fn warp_to(&mut self, speed: f32) {
        self.speed = speed;
    }

    /// Sets the speed. If its sign changes, it leads away from the end at which the action holds, so the action is no
    /// longer finished.
    pub fn set_speed(&mut self, speed: f32) {
        let ended = self.flag(ENDED) && (self.speed < 0.0) == (speed < 0.0);
        self.set(ENDED, ended);
        self.speed = speed;
    }

    pub fn paused(&self) -> bool {
        self.flag(PAUSED)
    }

    pub fn set_paused(&mut self, paused: bool) {
        self.set(PAUSED, paused);
    }

    pub fn stops_at_end(&self) -> bool {
        self.flag(STOPS)
    }

    pub fn set_at_end(&mut self, at_end: AtEnd) {
        self.set(STOPS, at_end != AtEnd::Hold);
    }

    pub fn fresh(&self) -> bool {
        self.flag(FRESH)
    }

    /// Records that the action was advanced, and whether that finished it.
    pub fn advanced(&mut self, finished: bool) {
        self.set(FRESH | STOOD, false);
        self.set(ENDED, finished);
    }

    /// Records that a step has passed in which the action did not move.
    pub fn stood(&mut self) {
        let fresh = self.fresh();
        self.set(STOOD, fresh);
    }

    /// Whether a step has passed since the action was started.
    pub fn begun(&self) -> bool {
        !self.fresh() || self.flag(STOOD)
    }

    pub fn ending(&self) -> bool {
        self.flag(ENDING)
    }

    pub fn set_ending(&mut self, ending: bool) {
        self.set(ENDING, ending);
    }

    /// Whether the action has reached the end of its last pass and stays there.
    pub fn finished(&self) -> bool {
        let over = || self.course().over(self.playhead(), self.speed < 0.0);
        !self.fresh() && (self.flag(ENDED) || over())
    }

    /// Whether the action can go no further in a direction.
    #[inline]
    pub fn holds(&self, backwards: bool) -> bool {
        let course = self.course();
        course.length <= 0.0 || course.over(self.playhead(), backwards)
    }

    /// Whether the action continues: it neither fades out nor has finished.
    pub fn is_target(&self) -> bool {
        !self.ending() && !self.finished()
    }
}

#[cfg(test)]
mod tests;
