//! The buffers with which workers evaluate instances of a pool, and the evaluation of one instance.

use super::{Pool, TakenJoints};
use crate::evaluate::{Instance, Needs, Scratch, Sources};
use crate::math::Affine3x4;
use crate::playback::Events;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};

/// The way in which a frame is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub level: SimdLevel,
    /// True to store rows past the caches.
    pub stream: bool,
    /// True to prefetch the data of the next instances.
    pub ahead: bool,
    /// True to write palettes one after another, not in their cells.
    pub compact: bool,
}

/// The memory of a part of a frame.
pub(crate) enum Target<'a> {
    /// The rows of the part.
    Rows(&'a mut [Affine3x4]),
    /// Memory that is not a slice: each palette is finished in `palette`, then passed to `write` with its first row in
    /// the part.
    Copied { palette: &'a mut [Affine3x4], write: &'a mut dyn FnMut(usize, &[Affine3x4]) },
}

/// The buffers of a worker, for instances of any rig that they were reserved for.
#[derive(Debug, Default)]
pub(crate) struct PaletteScratch {
    /// Buffers of one instance at a time.
    pub run: Scratch,
    /// A palette that is copied elsewhere when it is finished.
    pub palette: Vec<Affine3x4>,
    /// Events of steps of time whose result is not kept.
    pub events: Events,
    pub joints: TakenJoints,
}

/// The sizes that a worker's buffers need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaletteNeeds {
    pub run: Needs,
    rows: usize,
}

impl PaletteNeeds {
    /// The larger sizes of both.
    pub fn max(&self, other: &Self) -> Self {
        Self { run: self.run.max(&other.run), rows: self.rows.max(other.rows) }
    }
}

impl PaletteScratch {
    /// Makes room. Room is never given back.
    pub fn reserve(&mut self, needs: &PaletteNeeds) {
        self.run.reserve(&needs.run);
        if self.palette.len() < needs.rows {
            self.palette.resize(needs.rows, Affine3x4::IDENTITY);
        }
    }
}

impl Pool {
    /// The inputs of an evaluation with the pool's rig.
    #[inline(always)]
    pub fn sources(&self) -> Sources<'_> {
        Sources {
            rig: &self.rig,
            program: self.programs.rig().get(&self.rig, self.programs.width()),
            clips: self.programs.clips(),
            masks: self.programs.masks(),
            hint_stride: self.hint_stride,
        }
    }

    /// The places of clips, of which some may be free.
    pub fn clip_places(&self) -> usize {
        self.programs.clips().len()
    }

    /// Whether instances are worth sorting by their clips.
    pub fn sorts(&self) -> bool {
        self.programs.many()
    }

    /// What a worker needs for any instance of the pool.
    pub fn needs(&self) -> PaletteNeeds {
        let clips = self.max_clips();
        PaletteNeeds {
            run: Needs {
                actions: clips,
                layers: self.layers.len(),
                cursors: clips * self.timelines,
                lanes: self.rig.skeleton().joint_of().len(),
                joints: self.rig.skeleton().len(),
            },
            rows: self.rig.palette_len(),
        }
    }

    /// Evaluates one instance, whether it is scheduled or not. `hints` are the instance's.
    pub fn evaluate_one(
        &self,
        index: usize,
        level: SimdLevel,
        hints: &mut [u16],
        scratch: &mut Scratch,
        output: &mut [Affine3x4],
    ) {
        let one = One { pool: self, index, hints, scratch, output };
        dispatch(level, one);
    }
}

/// The evaluation of one instance's palette.
struct One<'a> {
    pool: &'a Pool,
    index: usize,
    hints: &'a mut [u16],
    scratch: &'a mut Scratch,
    output: &'a mut [Affine3x4],
}

impl Kernel for One<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        self.pool.gather(self.index, self.scratch);
        Instance {
            sources: self.pool.sources(),
            overrides: self.pool.state.overrides().of(self.index),
            hints: self.hints,
            scratch: self.scratch,
            output: self.output,
            streaming: None,
        }
        .run(simd);
    }
}
