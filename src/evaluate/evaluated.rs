//! Reading an instance's present pose: model matrices. Each costs the evaluation of one character. A
//! thread keeps its scratch, so reading does not allocate.

use super::PaletteScratch;
use super::gather::Instances;
use super::scratch::{Scratch, Sources};
use super::watch::WatchPart;
use crate::math::Affine3x4;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use std::cell::RefCell;
use std::ops::Range;

/// A range of at most this many instances is not split further between workers.
pub(crate) const WATCHED_CHUNK: usize = 32;

#[derive(Default)]
struct Buffers {
    scratch: PaletteScratch,
    hints: Vec<u16>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

/// An evaluated instance, to be read.
pub(crate) struct Evaluated<'a> {
    sources: Sources<'a>,
    level: SimdLevel,
    scratch: &'a Scratch,
    /// Rows of the instance's palette.
    pub rows: &'a [Affine3x4],
}

impl Evaluated<'_> {
    /// Evaluates an instance, and calls `read` with the result.
    pub fn read<I: Instances, R>(
        of: &I,
        index: usize,
        read: impl FnOnce(&Evaluated<'_>) -> R,
    ) -> R {
        // Tables have one register width. A level with another one takes effect with the next frame.
        let (tables, level) = (of.tables(), of.tables().level());
        BUFFERS.with_borrow_mut(|buffers| {
            let Buffers { scratch, hints } = buffers;
            scratch.reserve(&of.needs());
            hints.clear();
            hints.resize(of.hints_per_instance(), 0);
            let PaletteScratch { run, palette, .. } = scratch;
            let rows = &mut palette[..tables.rig().palette_len()];
            of.evaluate_one(index, level, hints, run, rows);
            let sources = tables.sources();
            read(&Evaluated { sources, level, scratch: run, rows })
        })
    }

    /// Evaluates an instance in the thread's scratch: a thousand mixers share one, so it stays in the caches.
    pub fn write<I: Instances>(
        of: &I,
        index: usize,
        level: SimdLevel,
        hints: &mut [u16],
        output: &mut [Affine3x4],
    ) {
        BUFFERS.with_borrow_mut(|buffers| {
            let scratch = &mut buffers.scratch;
            scratch.reserve(&of.needs());
            of.evaluate_one(index, level, hints, &mut scratch.run, output);
        });
    }

    /// Evaluates the watched joints of an instance.
    pub fn watch<I: Instances>(of: &I, index: usize, watch: &mut WatchPart<'_>) {
        Self::read(of, index, |e| dispatch(e.level, Take { e, watch, index }));
    }

    /// Evaluates the watched joints of a range of instances that are `due` and have not been written. A range of more
    /// than `chunk` is split between rayon's workers.
    pub fn watch_all<I: Instances>(
        of: &I,
        instances: Range<usize>,
        mut watch: WatchPart<'_>,
        (chunk, due): (usize, &(impl Fn(usize) -> bool + Sync)),
    ) {
        if watch.is_empty() {
            return;
        }
        if instances.len() > chunk {
            let half = instances.len() / 2;
            let middle = instances.start + half;
            let (a, b) = watch.split(half);
            rayon::join(
                || Self::watch_all(of, instances.start..middle, a, (chunk, due)),
                || Self::watch_all(of, middle..instances.end, b, (chunk, due)),
            );
            return;
        }
        for index in instances {
            if watch.lacks(index) && due(index) {
                Self::watch(of, index, &mut watch);
            }
        }
    }

    pub fn model(&self, joint: usize) -> Affine3x4 {
        dispatch(self.level, Model { e: self, joint })
    }
}

/// Stores the watched joints of an evaluated instance.
struct Take<'a, 'w> {
    e: &'a Evaluated<'a>,
    watch: &'a mut WatchPart<'w>,
    index: usize,
}

impl Kernel for Take<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Evaluated { sources, scratch, rows, .. } = self.e;
        self.watch.take(simd, sources, scratch, self.index, rows);
    }
}

/// The model matrix of one joint of an evaluated instance.
struct Model<'a> {
    e: &'a Evaluated<'a>,
    joint: usize,
}

impl Kernel for Model<'_> {
    type Output = Affine3x4;

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) -> Affine3x4 {
        let Evaluated { sources, scratch, rows, .. } = self.e;
        scratch.model(simd, sources, self.joint, rows)
    }
}
