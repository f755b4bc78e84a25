//! Prefetching: the data of the next instances, in steps, since each address is read from the data of the step before.

use super::gather::{ActiveClip, ActiveLayer, Visitor};
use super::scratch::Sources;
use crate::simd::prefetch;

/// Number of instances ahead at which the entries are prefetched; [`STEPS`] says when their clips' data is.
pub(crate) const STATE: usize = 4;

/// The data of clips to prefetch, with the number of instances ahead.
pub(crate) const STEPS: [(usize, Step); 3] =
    [(3, Step::Program), (2, Step::Tables), (1, Step::Keys)];

/// Part of a clip's data.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    Program,
    Tables,
    Keys,
}

/// Prefetches one step of the clips' data of an instance.
pub(crate) struct Prefetch<'a> {
    pub sources: Sources<'a>,
    pub step: Step,
    /// Read by [`Step::Tables`] only: true if the instance plays one clip alone, or nothing.
    pub alone: bool,
    /// True for the first instance of a pool: the tables that all instances share have not been read yet.
    pub other: bool,
}

impl Prefetch<'_> {
    #[inline(always)]
    pub fn clip(&self, clip: u16, time: f32) {
        let Sources { rig, program: of_rig, clips, .. } = self.sources;
        let Some(Some(program)) = clips.get(usize::from(clip)) else {
            return;
        };
        match self.step {
            Step::Program => {
                prefetch(std::slice::from_ref(&**program));
                if self.other {
                    prefetch(std::slice::from_ref(of_rig));
                }
            }
            Step::Tables => {
                program.prefetch_tables(self.alone);
                if self.other {
                    let (topology, fold) = of_rig.topology(rig, program.topology(of_rig));
                    topology.walk.prefetch();
                    fold.walk.prefetch();
                }
            }
            Step::Keys => program.prefetch_keys(time),
        }
    }
}

impl Visitor for Prefetch<'_> {
    #[inline(always)]
    fn layer(&mut self, _: ActiveLayer) {}

    #[inline(always)]
    fn clip(&mut self, clip: ActiveClip) {
        Prefetch::clip(self, clip.clip, clip.time);
    }
}
