//! Prefetching: what the next instances will read, step by step, since each address is in what comes before.

use super::Pool;
use crate::playback::gather::{ActiveClip, ActiveLayer, Visitor};
use crate::simd::prefetch;

/// How many instances ahead the state, the programs, their tables and the keys are asked for.
const STATE: usize = 4;
const PROGRAMS: usize = 3;
const TABLES: usize = 2;
const KEYS: usize = 1;

/// The instances of a frame in their order.
#[derive(Clone, Copy)]
pub(super) struct Upcoming<'a> {
    pub pool: &'a Pool,
    /// The indices of the instances; none if they are in ascending order from `first` on.
    pub order: Option<&'a [u32]>,
    pub first: usize,
    pub count: usize,
    /// The pool whose instances come behind them.
    pub next: Option<&'a Pool>,
}

impl<'a> Upcoming<'a> {
    /// The `i`-th instance, and whether it is the first of another pool.
    #[inline(always)]
    fn at(&self, i: usize) -> Option<(&'a Pool, usize, bool)> {
        if i < self.count {
            let index = self.order.map_or(self.first + i, |o| o[i] as usize);
            return Some((self.pool, index, false));
        }
        let (next, index) = (self.next?, i - self.count);
        (index < next.state.len()).then_some((next, index, index == 0))
    }

    /// Asks for what the instances after the `i`-th will read.
    #[inline(always)]
    pub fn look_ahead(&self, i: usize) {
        if let Some((pool, index, other)) = self.at(i + STATE) {
            prefetch(pool.state.entries().range(pool.entries_of(index)));
            if other {
                prefetch(&pool.layers);
                prefetch(pool.programs.clips());
                prefetch(std::slice::from_ref(&*pool.rig));
            }
        }
        for (steps, what) in [
            (PROGRAMS, What::Program),
            (TABLES, What::Tables),
            (KEYS, What::Keys),
        ] {
            if let Some((pool, index, other)) = self.at(i + steps) {
                let entries = pool.state.entries().range(pool.entries_of(index));
                let alone = entries.len() == 1 && entries[0].plays_one();
                let mut ask = Ask {
                    pool,
                    what,
                    alone,
                    other,
                };
                pool.visit(index, &mut ask);
            }
        }
    }
}

#[derive(Clone, Copy)]
enum What {
    Program,
    Tables,
    Keys,
}

struct Ask<'a> {
    pool: &'a Pool,
    what: What,
    /// Whether the instance plays one clip alone, or nothing.
    alone: bool,
    /// Whether it is the first of its pool: what all of them read has not been read yet.
    other: bool,
}

impl Visitor for Ask<'_> {
    #[inline(always)]
    fn layer(&mut self, _: ActiveLayer) {}

    #[inline(always)]
    fn clip(&mut self, clip: ActiveClip) {
        let pool = self.pool;
        let Some(Some(program)) = pool.programs.clips().get(usize::from(clip.clip)) else {
            return;
        };
        match self.what {
            What::Program => {
                prefetch(std::slice::from_ref(&**program));
                if self.other {
                    let program = pool.rig.program(pool.programs.width());
                    prefetch(std::slice::from_ref(program));
                }
            }
            What::Tables => {
                program.prefetch_tables(self.alone);
                if self.other {
                    let (rig, of_rig) = (&pool.rig, pool.rig.program(pool.programs.width()));
                    let (topology, fold) = of_rig.topology(rig, program.topology(of_rig));
                    topology.walk.prefetch();
                    fold.walk.prefetch();
                }
            }
            What::Keys => program.prefetch_keys(clip.time),
        }
    }
}
