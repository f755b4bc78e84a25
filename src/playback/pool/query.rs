//! Queries of one instance's present pose: model matrices, local matrices and scalars. Each costs the evaluation of one
//! character. A thread keeps its scratch, so queries do not allocate.

use super::{PaletteScratch, Pool, WatchPart, WatchedRow};
use crate::evaluate::{Scratch, Sources};
use crate::math::Affine3x4;
use crate::playback::PlaybackError;
use crate::playback::lent::Lent;
use crate::runtime::ScalarBlend;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use crate::skeleton::{JointRef, Pose};
use std::cell::RefCell;
use std::ops::Range;

/// An evaluated instance, to be read.
pub(crate) struct Evaluated<'a> {
    pool: &'a Pool,
    level: SimdLevel,
    scratch: &'a Scratch,
    /// Rows of the instance's palette.
    pub rows: &'a [Affine3x4],
}

/// A range of at most this many instances is not split further between workers.
const WATCHED_CHUNK: usize = 32;

#[derive(Default)]
struct Buffers {
    scratch: PaletteScratch,
    hints: Vec<u16>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

impl Pool {
    /// Evaluates an instance, and calls `read` with the result.
    pub fn evaluated<R>(&self, index: usize, read: impl FnOnce(&Evaluated<'_>) -> R) -> R {
        // Programs have one register width. A level with another one takes effect with the next frame.
        let level = self.level();
        BUFFERS.with_borrow_mut(|buffers| {
            let Buffers { scratch, hints } = buffers;
            scratch.reserve(&self.needs());
            hints.clear();
            hints.resize(self.hints_per_instance(), 0);
            let PaletteScratch { run, palette, .. } = scratch;
            let rows = &mut palette[..self.rig.palette_len()];
            self.evaluate_one(index, level, hints, run, rows);
            read(&Evaluated { pool: self, level, scratch: run, rows })
        })
    }

    /// Evaluates an instance in the thread's scratch: a thousand mixers share one, so it stays in the caches.
    pub fn evaluate_here(
        &self,
        index: usize,
        level: SimdLevel,
        hints: &mut [u16],
        output: &mut [Affine3x4],
    ) {
        BUFFERS.with_borrow_mut(|buffers| {
            let scratch = &mut buffers.scratch;
            scratch.reserve(&self.needs());
            self.evaluate_one(index, level, hints, &mut scratch.run, output);
        });
    }

    /// Evaluates the watched joints of an instance, if it has changed since their last evaluation. Returns whether it
    /// had.
    pub fn refresh_watched(&mut self, index: usize) -> bool {
        let settled = |row: WatchedRow<'_>| row.current || row.joints.is_empty();
        if self.watch.row(index).is_none_or(settled) {
            return false;
        }
        let mut lent = Lent::new(self, |pool| &mut pool.watch);
        let (pool, watch) = lent.split();
        pool.evaluated(index, |e| {
            let watch = &mut watch.apart();
            dispatch(e.level, Take { e, watch, index });
        });
        true
    }

    /// Evaluates the watched joints of instances that are scheduled and `shown`, if the frame has not stored them: with
    /// tiers, palettes are not always those of the present poses. Uses rayon's workers, or only this thread.
    pub fn evaluate_watched(&mut self, workers: bool, shown: impl Fn(usize) -> bool + Sync) {
        let instances = self.state.len();
        let mut lent = Lent::new(self, |pool| &mut pool.watch);
        let (pool, watch) = lent.split();
        let chunk = if workers { WATCHED_CHUNK } else { usize::MAX };
        pool.take_watched(0..instances, watch.frame(), (chunk, &shown));
    }

    fn take_watched(
        &self,
        instances: Range<usize>,
        mut watch: WatchPart<'_>,
        (chunk, shown): (usize, &(impl Fn(usize) -> bool + Sync)),
    ) {
        if watch.is_empty() {
            return;
        }
        if instances.len() > chunk {
            let half = instances.len() / 2;
            let middle = instances.start + half;
            let (a, b) = watch.split(half);
            rayon::join(
                || self.take_watched(instances.start..middle, a, (chunk, shown)),
                || self.take_watched(middle..instances.end, b, (chunk, shown)),
            );
            return;
        }
        for index in instances {
            if watch.lacks(index) && self.scheduled.all()[index] && shown(index) {
                let watch = &mut watch;
                self.evaluated(index, |e| dispatch(e.level, Take { e, watch, index }));
            }
        }
    }

    /// The model matrix of one joint.
    pub fn model_matrix(
        &self,
        index: usize,
        joint: JointRef<'_>,
    ) -> Result<Affine3x4, PlaybackError> {
        let joint = self.rig.skeleton().joint(joint)?;
        Ok(self.evaluated(index, |e| e.model(joint)))
    }

    /// The model matrices of all joints.
    pub fn model_matrices(&self, index: usize) -> Vec<Affine3x4> {
        let joints = 0..self.rig.skeleton().len();
        self.evaluated(index, |e| joints.map(|joint| e.model(joint)).collect())
    }

    /// The scalars of an instance, in a pose without joints.
    pub fn evaluate_scalars(&self, index: usize) -> Pose {
        let mut scratch = Scratch::default();
        scratch.reserve(&self.needs().run);
        self.gather(index, &mut scratch);
        let blend = ScalarBlend {
            sources: self.sources(),
            layers: &scratch.layers,
            actions: &scratch.actions,
        };
        blend.run(self.level())
    }
}

impl Evaluated<'_> {
    /// The model matrix of a joint.
    pub fn model(&self, joint: usize) -> Affine3x4 {
        dispatch(
            self.level,
            Model { sources: self.pool.sources(), scratch: self.scratch, rows: self.rows, joint },
        )
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
        let Evaluated { pool, scratch, rows, .. } = *self.e;
        let sources = pool.sources();
        self.watch.take(simd, &sources, scratch, self.index, rows);
    }
}

/// The model matrix of one joint of an evaluated instance.
struct Model<'a> {
    sources: Sources<'a>,
    scratch: &'a Scratch,
    rows: &'a [Affine3x4],
    joint: usize,
}

impl Kernel for Model<'_> {
    type Output = Affine3x4;

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) -> Affine3x4 {
        self.scratch.model(simd, &self.sources, self.joint, self.rows)
    }
}
