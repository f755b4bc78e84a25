//! Prefetching: what the next instances will read, step by step, since each address is in what comes before.

use super::Pool;
use crate::evaluate::Sources;
use crate::playback::gather::{ActiveClip, ActiveLayer, Visitor};
use crate::simd::prefetch;

/// How many instances ahead the state, the programs, their tables and the keys are asked for.
pub(crate) const STATE: usize = 4;

/// What is asked for of clips, and how many instances ahead.
pub(crate) const STEPS: [(usize, What); 3] =
    [(3, What::Program), (2, What::Tables), (1, What::Keys)];

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
        for (steps, what) in STEPS {
            if let Some((pool, index, other)) = self.at(i + steps) {
                pool.ask(index, what, pool.sources(), other);
            }
        }
    }
}

impl Pool {
    /// Asks for what an instance reads of the clips that it plays.
    #[inline(always)]
    pub fn ask(&self, index: usize, what: What, sources: Sources<'_>, other: bool) {
        let entries = self.state.entries().range(self.entries_of(index));
        let alone = entries.len() == 1 && entries[0].plays_one();
        let mut ask = Ask {
            sources,
            what,
            alone,
            other,
        };
        self.visit(index, &mut ask);
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What {
    Program,
    Tables,
    Keys,
}

/// Asks for what is read of clips.
pub(crate) struct Ask<'a> {
    pub sources: Sources<'a>,
    pub what: What,
    /// Whether the instance plays one clip alone, or nothing.
    pub alone: bool,
    /// Whether it is the first of its pool: what all of them read has not been read yet.
    pub other: bool,
}

impl Ask<'_> {
    #[inline(always)]
    pub fn clip(&self, clip: u16, time: f32) {
        let Sources {
            rig,
            program: of_rig,
            clips,
            ..
        } = self.sources;
        let Some(Some(program)) = clips.get(usize::from(clip)) else {
            return;
        };
        match self.what {
            What::Program => {
                prefetch(std::slice::from_ref(&**program));
                if self.other {
                    prefetch(std::slice::from_ref(of_rig));
                }
            }
            What::Tables => {
                program.prefetch_tables(self.alone);
                if self.other {
                    let (topology, fold) = of_rig.topology(rig, program.topology(of_rig));
                    topology.walk.prefetch();
                    fold.walk.prefetch();
                }
            }
            What::Keys => program.prefetch_keys(time),
        }
    }
}

impl Visitor for Ask<'_> {
    #[inline(always)]
    fn layer(&mut self, _: ActiveLayer) {}

    #[inline(always)]
    fn clip(&mut self, clip: ActiveClip) {
        Ask::clip(self, clip.clip, clip.time);
    }
}
