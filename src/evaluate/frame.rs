//! The buffers with which workers evaluate instances of a pool, and the evaluation of one instance.

use super::gather::Instances;
use super::instance::Instance;
use super::scratch::{Needs, Scratch};
use super::stage::Stage;
use super::watch::TakenJoints;
use crate::math::Affine3x4;
use crate::simd::{Kernel, Lanes, SimdLevel};

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
    pub joints: TakenJoints,
}

impl PaletteScratch {
    /// Makes room. Room is never given back.
    pub fn reserve(&mut self, needs: &Needs) {
        self.run.reserve(needs);
        if self.palette.len() < needs.rows {
            self.palette.resize(needs.rows, Affine3x4::IDENTITY);
        }
    }
}

/// The evaluation of one instance's palette.
pub(super) struct One<'a, I: ?Sized> {
    pub instances: &'a I,
    pub index: usize,
    pub stage: Stage<'a>,
    pub hints: &'a mut [u16],
    pub scratch: &'a mut Scratch,
    pub output: &'a mut [Affine3x4],
}

impl<I: Instances + ?Sized> Kernel for One<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Self { instances, index, stage, hints, scratch, output } = self;
        instances.gather(index, scratch);
        Instance {
            sources: instances.tables().sources(),
            stage,
            hints,
            scratch,
            output,
            streaming: None,
        }
        .run(simd);
    }
}
