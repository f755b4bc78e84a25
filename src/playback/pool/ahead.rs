//! Prefetching: what the next instances will read, step by step, since each address is in what comes before.

use super::Pool;
use crate::playback::gather::{ActiveClip, ActiveLayer, Visitor};
use crate::simd::prefetch;

/// How many instances ahead the state, the programs, their tables and the keys are asked for.
const STATE: usize = 4;
const PROGRAMS: usize = 3;
const TABLES: usize = 2;
const KEYS: usize = 1;

/// Asks for what the instances after the `i`-th of an order will read.
#[inline(always)]
pub(super) fn look_ahead(pool: &Pool, order: &[u32], i: usize) {
    let after = |steps: usize| order.get(i + steps).map(|&index| index as usize);
    if let Some(index) = after(STATE) {
        prefetch(pool.state.entries().range(pool.entries_of(index)));
    }
    for (steps, what) in [
        (PROGRAMS, What::Program),
        (TABLES, What::Tables),
        (KEYS, What::Keys),
    ] {
        if let Some(index) = after(steps) {
            let entries = pool.state.entries().range(pool.entries_of(index));
            let alone = entries.len() == 1 && entries[0].plays_one();
            pool.visit(index, &mut Ask { pool, what, alone });
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
}

impl Visitor for Ask<'_> {
    #[inline(always)]
    fn layer(&mut self, _: ActiveLayer) {}

    #[inline(always)]
    fn clip(&mut self, clip: ActiveClip) {
        let programs = self.pool.programs.clips();
        let Some(Some(program)) = programs.get(usize::from(clip.clip)) else {
            return;
        };
        match self.what {
            What::Program => prefetch(std::slice::from_ref(&**program)),
            What::Tables => program.prefetch_tables(self.alone),
            What::Keys => program.prefetch_keys(clip.time),
        }
    }
}
