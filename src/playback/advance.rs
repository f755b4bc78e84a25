//! A step of time over a range of instances: the entries that are due are visited, all others stay as they are in
//! memory.
//!
//! A visit at the end of the entry's wait changes the entry: it gets a new anchor. Any other visit fires the events
//! that the actions pass in the step, and changes nothing. So times, weights and root motion have the same bits with
//! every event filter.

use super::action::Action;
use super::blend_space::steer::Extra;
use super::clock::{Step, Wait};
use super::entries::{BUCKET, EntriesMut, Entry};
use super::event_sink::{EventSink, silence};
use super::events::{EventKinds, Events};
use super::ids::{InstanceId, Owner};
use super::interval::TimeInterval;
use super::layer_state::{ACTIONS_PER_LAYER, LayerState};
use super::lead::{Contender, Contenders, Passage};
use super::linear_fade::LinearFade;
use super::motions::Motions;
use super::options::LayerOptions;
use super::root_motion::RootLane;
use super::state::stands_still;
use crate::math::Affine3x4;
use crate::simd::prefetch;
use glam::DAffine3;

mod passed;

pub(crate) use passed::Passed;

/// The shared inputs of a step's visits.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub motions: &'a Motions,
    pub layers: &'a [LayerOptions],
    pub owner: Owner,
    pub step: Step,
    /// The kinds of events that are collected.
    pub kinds: EventKinds,
    /// The root joint's lane, if root motion is tracked or applied and a clip has it.
    pub root: Option<RootLane>,
    /// True if the step lists the instances that it changes.
    pub records: bool,
}

/// A step over a range of a pool's instances, run by one worker.
pub(crate) struct Advance<'a> {
    pub stage: Stage<'a>,
    /// Index of the range's first instance in the pool.
    pub first: usize,
    pub alive: &'a [bool],
    pub generation: &'a [u16],
    pub speed: &'a [f32],
    pub entries: EntriesMut<'a>,
    pub world: &'a mut [Affine3x4],
    /// The world transforms in f64; `None` unless root motion moves the instances.
    pub world_wide: Option<&'a mut [DAffine3]>,
}

impl Advance<'_> {
    pub fn len(&self) -> usize {
        self.speed.len()
    }

    /// Whether the step visits about `most` entries or more.
    pub fn visits(&self, most: usize) -> bool {
        let step = &self.stage.step;
        let visits = match self.stage.root.is_some() || step.reaches_all() {
            true => self.entries.len(),
            false => self.entries.calendar.count(step, most),
        };
        visits >= most
    }

    /// Splits the range at an instance, rounded down to a multiple of [`BUCKET`].
    pub fn split_at(self, instance: usize) -> (Self, Self) {
        let at = instance.min(self.len());
        let at = at - at % BUCKET;
        let Self { stage, first, .. } = self;
        let (alive, later_alive) = self.alive.split_at(at);
        let (generation, later_generation) = self.generation.split_at(at);
        let (speed, later_speed) = self.speed.split_at(at);
        let (entries, later_entries) = self.entries.split_at(at * self.stage.layers.len());
        let (world, later_world) = self.world.split_at_mut(at);
        let world_wide =
            self.world_wide.map(|world_wide| world_wide.split_at_mut(at.min(world_wide.len())));
        let (world_wide, later_world_wide) = world_wide.unzip();
        let later = Self {
            first: first + at,
            alive: later_alive,
            generation: later_generation,
            speed: later_speed,
            entries: later_entries,
            world: later_world,
            world_wide: later_world_wide,
            stage,
        };
        (Self { stage, first, alive, generation, speed, entries, world, world_wide }, later)
    }

    /// Advances the range. Appends to `into`.
    pub fn run(mut self, into: &mut Passed) {
        if let Some(root) = self.stage.root {
            self.run_roots(root, into);
        } else if !self.stage.step.is_empty() {
            let step = self.stage.step;
            // Visits run one bucket behind the prefetches.
            let (mut last, mut due) = (0, 0);
            for bucket in 0..self.entries.calendar.buckets() {
                let next = self.entries.calendar.take(bucket, &step);
                if next != 0 {
                    self.look_ahead(bucket, next);
                    self.visit_all(last, due, into);
                    (last, due) = (bucket, next);
                }
            }
            self.visit_all(last, due, into);
        }
    }

    /// Visits the due entries of a bucket, given as bits.
    #[inline(always)]
    fn visit_all(&mut self, bucket: usize, due: u64, into: &mut Passed) {
        for at in entries(bucket, due) {
            self.visit(at, into);
        }
    }

    /// Prefetches what the visits of a bucket read: the entries do not lie together, so each visit would wait for memory.
    #[inline(always)]
    fn look_ahead(&self, bucket: usize, due: u64) {
        let layers = self.stage.layers.len();
        for at in entries(bucket, due) {
            self.entries.prefetch(at);
            let index = at / layers;
            prefetch(&self.speed[index..index + 1]);
            prefetch(&self.generation[index..index + 1]);
        }
    }

    /// The handle of an instance of the range.
    pub fn instance(&self, index: usize) -> InstanceId {
        InstanceId::new(self.stage.owner, self.first + index, self.generation[index])
    }

    /// Visits a due entry: changes it if its wait has ended, else only fires events.
    pub fn visit(&mut self, at: usize, into: &mut Passed) {
        let stage = self.stage;
        let layers = stage.layers.len();
        let (index, number) = (at / layers, at % layers);
        let (before, now) = (stage.step.before(), stage.step.after().now());
        let mut visit = Visit {
            step: stage.step,
            factor: f64::from(self.speed[index]),
            sink: EventSink {
                motions: stage.motions,
                events: &mut into.events,
                kinds: stage.kinds,
                owner: stage.owner,
                instance: self.instance(index),
                layer: number,
                layer_weight: 1.0,
            },
        };
        let holds = stands_still(self.speed[index]);
        if !stage.step.reaches(self.entries.still_until(at)) {
            let silent = match holds {
                true => f64::INFINITY,
                false => visit.listen(self.entries.get(at)),
            };
            return self.entries.set_visit(at, now, silent);
        }
        if holds {
            return self.entries.hold(at, now);
        }
        if stage.records {
            into.changed.push((self.first + index) as u32);
        }
        let alone = |action: &mut Action, layer: (f32, f32)| {
            visit.sink.layer_weight = layer.0;
            visit.factor *= f64::from(layer.1);
            let (contender, passage) = visit.advance(action, &mut { Extra::NONE });
            let stays = contender.until == f64::INFINITY;
            visit.sink.emit(&[contender], 0, passage.as_ref());
            stays.then(|| {
                let silent = visit.arm(action);
                (action.steady(), silent)
            })
        };
        // Most layers play one action, which is changed in place.
        if self.entries.update_alone(at, before, now, alone) {
            return;
        }
        let (mut layer, anchor) = self.entries.load(at);
        layer.glide(before.since(anchor));
        visit.sink.layer_weight = layer.weight.value();
        visit.factor *= f64::from(layer.speed);
        let offset = layer.offset.map(|offset| offset.id);
        let silent = visit.advance_layer(&mut layer);
        if layer.offset.is_none() {
            into.ended.extend(offset);
        }
        self.entries.store(at, &layer, now, Wait::of(layer.steady()));
        self.entries.set_visit(at, now, silent);
    }
}

/// The entries of a bucket whose bits are set.
#[inline(always)]
fn entries(bucket: usize, mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (bits != 0).then(|| bits.trailing_zeros() as usize)?;
        bits &= bits - 1;
        Some(bucket * BUCKET + bit)
    })
}

/// Advances a copy of layer `number` of an instance of a `speed` over a step. Fires no events.
pub(crate) fn foresee(
    layer: &mut LayerState,
    (owner, number): (Owner, usize),
    (motions, step, speed): (&Motions, Step, f32),
) {
    let mut visit = Visit {
        step,
        factor: f64::from(speed) * f64::from(layer.speed),
        sink: EventSink {
            motions,
            events: &mut Events::default(),
            kinds: EventKinds::NONE,
            owner,
            instance: InstanceId::new(owner, 0, 0),
            layer: number,
            layer_weight: 1.0,
        },
    };
    visit.advance_layer(layer);
}

/// One step of one entry.
struct Visit<'a> {
    step: Step,
    /// Factor on time: the speed of the layer times that of the character.
    factor: f64,
    sink: EventSink<'a>,
}

impl Visit<'_> {
    /// Fires the events of an entry that is not changed in this step. Returns the seconds until its next event.
    fn listen<'e>(&mut self, (entry, actions): (&Entry, impl Iterator<Item = &'e Action>)) -> f64 {
        let since = entry.since(self.step.before());
        let after = entry.since(self.step.after());
        self.sink.layer_weight = entry.weight().after(since);
        let mut silent = f64::INFINITY;
        let mut all = Contenders::new();
        let mut passages = [None; ACTIONS_PER_LAYER];
        for (action, passage) in actions.zip(&mut passages) {
            let mut now = *action;
            now.glide(since);
            let (from, to) = (action.playhead_after(since), action.playhead_after(after));
            all.push(match to == from {
                true => Contender::standing(now),
                false => Contender::new(now),
            });
            *passage = (to != from).then(|| Passage {
                interval: TimeInterval {
                    from,
                    to,
                    backwards: action.rate() < 0.0,
                    closed: false,
                    finished: false,
                },
                rate: action.rate(),
                warp: None,
            });
            silent = silent.min(silence(self.sink.motions, self.sink.kinds, action, after));
        }
        self.emit_all(&all, &passages);
        silent
    }

    /// Advances a layer. Returns the seconds until its next event of a kind that is collected.
    fn advance_layer(&mut self, layer: &mut LayerState) -> f64 {
        let mut all = Contenders::new();
        let mut passages = [None; ACTIONS_PER_LAYER];
        let mut a = 0;
        for passage in passages.iter_mut().take(layer.len()) {
            let (action, extra) = layer.moving(a);
            let (contender, passed) = self.advance(action, extra);
            *passage = passed;
            all.push(contender);
            if contender.until == f64::INFINITY {
                a += 1;
            } else {
                layer.remove(a);
            }
        }
        // All actions have to be advanced first: which one leads depends on all of them.
        self.emit_all(&all, &passages);
        layer.weight.advance(self.step.seconds);
        layer.advance_offset(self.step.seconds);
        let mut silent = f64::INFINITY;
        for a in 0..layer.len() {
            silent = silent.min(self.arm(layer.action_mut(a)));
        }
        silent
    }

    /// Fires the events that the actions of a layer pass in a step.
    fn emit_all(&mut self, all: &Contenders, passages: &[Option<Passage>]) {
        for (a, passage) in passages.iter().enumerate().take(all.all().len()) {
            self.sink.emit(all.all(), a, passage.as_ref());
        }
    }

    /// Advances an action: its time, its weight, its warp and its parameter. Returns the action before the step, with the time after
    /// which it stops, if it does, and the interval that it passes.
    #[inline]
    fn advance(&mut self, action: &mut Action, extra: &mut Extra) -> (Contender, Option<Passage>) {
        let start = *action;
        if extra.fade_out > 0.0 {
            let rate = self.rate(action, None, 0.0);
            if action.fresh() || !action.holds(rate < 0.0) {
                extra.begin_fade_out(action, rate, self.step.seconds);
            }
        }
        let before = *action;
        // An action that fades out stops with its fade, even within a longer step.
        let seconds = if before.ending() {
            self.step.seconds.min(before.weight.left())
        } else {
            self.step.seconds
        };
        let warped = Some(extra.warp).filter(LinearFade::running);
        let rate = self.rate(action, Some(extra), seconds);
        let interval = action.course().pass(action.playhead(), seconds * rate, action.fresh());
        let passage = interval.map(|interval| Passage {
            interval,
            rate,
            warp: warped.map(|warp| (warp, seconds)),
        });
        let mut until = f64::INFINITY;
        let mut contender = Contender::standing(start);
        if let Some(passage) = &passage {
            contender = Contender::new(start);
            let TimeInterval { to, finished, .. } = passage.interval;
            action.set_playhead(to);
            action.advanced(finished);
            if finished {
                contender.leads = passage.moment(action.course().distance(before.playhead(), to));
            }
            if finished && action.stops_at_end() && !extra.outlasts(&before, contender.leads) {
                until = contender.leads;
            }
        } else {
            action.stood();
        }
        action.weight.advance(self.step.seconds);
        let faded_out = before.weight.running() && !action.weight.running();
        if faded_out && action.ending() {
            until = until.min(before.weight.left());
        }
        contender.until = until;
        contender.leads = contender.leads.min(until);
        (contender, passage)
    }

    /// The mean change of an action's time per second of the clock in the next `seconds`. Advances its warp and its
    /// parameter by as much.
    fn rate(&self, action: &mut Action, extra: Option<&mut Extra>, seconds: f64) -> f64 {
        let motions = self.sink.motions;
        let mean = match extra.filter(|extra| extra.moves(action)) {
            Some(extra) => extra.advance(motions, action, seconds),
            None => f64::from(action.speed()) * motions.pace(action),
        };
        if action.paused() { 0.0 } else { self.step.sign() * self.factor * mean }
    }

    /// Sets the rate of an action from now on. Returns the seconds until its next event of a kind that is collected.
    #[inline]
    fn arm(&self, action: &mut Action) -> f64 {
        let rate = self.rate(action, None, 0.0);
        let moves = rate != 0.0 && !action.holds(rate < 0.0);
        action.set_rate(if moves { rate } else { 0.0 });
        silence(self.sink.motions, self.sink.kinds, action, 0.0)
    }
}
