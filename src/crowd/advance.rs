//! `Crowd::advance` on rayon: each range of instances fills its own buffers, which are joined in the order of
//! instances.

use super::crowd_data::Crowd;
use crate::playback::advance::{Advance, Passed};
use crate::playback::changes::What;
use crate::playback::options::check;
use crate::playback::pool::Pool;
use crate::playback::{Event, EventKinds, MAX_TIME, PlaybackError as CrowdError};
use crate::threads;

/// A step with fewer visits is not split: a visit takes some 100 ns, a split some microseconds, since rayon has to wake
/// a worker.
const VISITS: usize = 256;
/// Ranges per worker: more than one, since visits are not spread evenly.
const PARTS_PER_WORKER: usize = 4;
/// A range of fewer instances is not split further.
const INSTANCES: usize = 128;
/// A range reserves room for one changed instance in this many; the list of changed instances grows if more change.
const CHANGED: usize = 16;

/// The events of the last step, and the buffers of the ranges.
#[derive(Debug, Default)]
pub(crate) struct Passages {
    /// Events and changes of all ranges; the arrays of root motion are borrowed from one pool after another.
    all: Passed,
    /// Events, changes and root motion of every range but the first.
    later: Vec<Passed>,
    /// The number of instances for which `all.events` has room, one event each.
    room: usize,
}

impl Passages {
    pub fn clear(&mut self) {
        self.all.events.clear();
    }

    /// Reserves room for one event per instance. Frames rarely have more, unless many instances are in step.
    fn reserve(&mut self, instances: usize) {
        if instances > self.room {
            self.all.events.reserve(instances);
            self.room = instances;
        }
    }
}

/// Empty buffers for `parts` ranges behind the first, each with room for an event of every fourth instance.
fn later(
    all: &mut Vec<Passed>,
    parts: usize,
    (events, instances): (usize, usize),
    (roots, records): (bool, bool),
) -> &mut [Passed] {
    if all.len() < parts {
        all.resize_with(parts, Passed::default);
    }
    let later = &mut all[..parts];
    for passed in &mut *later {
        passed.clear();
        passed.events.reserve(events.div_ceil(parts + 1) / 4);
        if roots {
            passed.moves.reserve(instances.div_ceil(parts + 1));
        }
        if records {
            let changed = instances.div_ceil(parts + 1) / CHANGED;
            passed.changed.reserve(changed);
        }
    }
    later
}

impl Crowd {
    /// Advances all times by `dt` seconds and all fades by its absolute value: a fade never runs backwards. Runs on
    /// the current rayon pool.
    ///
    /// A step is rounded to 2^-48 s. Time is counted in such ticks, so that it does not drift.
    ///
    /// # Errors
    /// If `dt` is not within ±[`MAX_TIME`].
    pub fn advance(&mut self, dt: f64) -> Result<(), CrowdError> {
        check("dt", dt, -MAX_TIME, MAX_TIME)?;
        let Self { pools, passages, .. } = self;
        self.tiering.advance(dt);
        passages.clear();
        let listened = |pool: &&Pool| pool.kinds() != EventKinds::NONE;
        let listened = pools.iter().flatten().filter(listened);
        passages.reserve(listened.map(|p| p.state().len()).sum());
        for pool in pools.iter_mut().flatten() {
            let instances = pool.state().len();
            let roots = pool.has_roots();
            let records = pool.changes().records(What::BOUNDS);
            passages.all.changed.clear();
            passages.all.ended.clear();
            if records {
                passages.all.changed.reserve(instances / CHANGED);
            }
            let events = match pool.kinds() {
                EventKinds::NONE => 0,
                _ => instances,
            };
            if roots {
                passages.all.moves = pool.roots_mut().take_moves();
            } else {
                pool.roots_mut().moves.clear();
            }
            let advance = pool.advance(dt);
            let parts = match advance.visits(VISITS) {
                true => {
                    (threads::current_num_threads() * PARTS_PER_WORKER).min(instances / INSTANCES)
                }
                false => 1,
            };
            let Passages { all, later: more, .. } = &mut *passages;
            if parts > 1 && threads::current_num_threads() > 1 {
                let later = later(more, parts - 1, (events, instances), (roots, records));
                run(advance, all, later);
                for later in &*later {
                    all.append(later);
                }
            } else {
                advance.run(all);
            }
            if roots {
                pool.roots_mut().moves = std::mem::take(&mut all.moves);
            }
            pool.record_steps(&all.changed);
            pool.end_offsets(&all.ended);
            pool.follow(dt);
        }
        Ok(())
    }

    /// The events of the last [`advance`](Self::advance), in the order of [`instances`](Self::instances), then by layer,
    /// then by age of the action, oldest first, then by time.
    pub fn events(&self) -> &[Event] {
        &self.passages.all.events.all
    }

    /// The number of events that the last [`advance`](Self::advance) left out, because their action had fired
    /// [`MAX_EVENTS_PER_ACTION`](crate::playback::MAX_EVENTS_PER_ACTION).
    pub fn dropped_events(&self) -> u64 {
        self.passages.all.events.dropped
    }
}

/// Splits down to one buffer; `join` runs both halves without allocating.
fn run(advance: Advance<'_>, first: &mut Passed, later: &mut [Passed]) {
    let parts = later.len() + 1;
    let half = parts / 2;
    // Each half has a first buffer, and the others behind it.
    let (later_a, rest) = later.split_at_mut(half.saturating_sub(1));
    let Some((first_b, later_b)) = rest.split_first_mut() else {
        return advance.run(first);
    };
    let at = advance.len() * half / parts;
    let (a, b) = advance.split_at(at);
    threads::join(|| run(a, first, later_a), || run(b, first_b, later_b));
}
