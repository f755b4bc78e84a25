//! Reading an instance's present pose: model matrices. Each costs the evaluation of one character. A
//! thread keeps its scratch, so reading does not allocate.

use super::PaletteScratch;
use super::gather::Instances;
use super::instance::Instance;
use super::scratch::{Scratch, Sources};
use super::stage::Stage;
use super::watch::WatchPart;
use crate::math::Affine3x4;
use crate::simd::{Kernel, Lanes, SimdLevel, dispatch};
use crate::skeleton::Trs;
use crate::threads;
use std::cell::RefCell;
use std::ops::Range;

/// Which pose of an instance is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoseStage {
    /// As blended from clips and whole poses that the host gave, without overrides and modifiers.
    Before,
    /// As evaluated: with overrides and modifiers.
    After,
}

impl PoseStage {
    fn of<I: Instances>(self, of: &I, index: usize) -> Stage<'_> {
        match self {
            Self::Before => Stage { overrides: &[], stops: true, ..of.stage(index) },
            Self::After => of.stage(index),
        }
    }
}

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
    /// Whether a stage has changed the pose.
    staged: bool,
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
        Self::read_with(of, (index, of.stage(index)), read)
    }

    /// Evaluates an instance with a stage, and calls `read` with the result.
    fn read_with<I: Instances, R>(
        of: &I,
        (index, stage): (usize, Stage<'_>),
        read: impl FnOnce(&Evaluated<'_>) -> R,
    ) -> R {
        // Tables have one register width. A level with another one takes effect with the next frame.
        let (tables, level) = (of.tables(), of.tables().level());
        Self::with_buffers(of, |PaletteScratch { run, palette, .. }, hints| {
            let rows = &mut palette[..tables.rig().palette_len()];
            of.evaluate_one((index, stage), level, hints, run, rows);
            let (sources, staged) = (tables.sources(), !stage.is_empty());
            read(&Evaluated { sources, level, scratch: run, staged, rows })
        })
    }

    /// Evaluates an instance in the thread's scratch: a thousand mixers share one, so it stays in the caches.
    pub fn write<I: Instances>(
        of: &I,
        (index, stage): (usize, Stage<'_>),
        level: SimdLevel,
        hints: &mut [u16],
        output: &mut [Affine3x4],
    ) {
        let may_call = stage.modifiers.is_some();
        let mut evaluate = |buffers: &mut Buffers| {
            let scratch = &mut buffers.scratch;
            scratch.reserve(&of.needs());
            of.evaluate_one((index, stage), level, hints, &mut scratch.run, output);
        };
        if !may_call {
            return BUFFERS.with_borrow_mut(evaluate);
        }
        // Not borrowed meanwhile: a hook may evaluate others.
        let mut buffers = BUFFERS.take();
        evaluate(&mut buffers);
        BUFFERS.set(buffers);
    }

    /// Lends the thread's buffers, with room for an instance, and fresh key hints.
    pub(super) fn with_buffers<I: Instances, R>(
        of: &I,
        with: impl FnOnce(&mut PaletteScratch, &mut [u16]) -> R,
    ) -> R {
        BUFFERS.with_borrow_mut(|Buffers { scratch, hints }| {
            scratch.reserve(&of.needs());
            hints.clear();
            hints.resize(of.hints_per_instance(), 0);
            with(scratch, hints)
        })
    }

    /// The model matrices of joints of instances, before their stages or after them.
    pub fn models<I: Instances>(
        of: &I,
        (instances, stage): (impl Iterator<Item = usize>, PoseStage),
        joints: &[usize],
        out: &mut [Affine3x4],
    ) {
        let (tables, level) = (of.tables(), of.tables().level());
        Self::with_buffers(of, |PaletteScratch { run, palette, .. }, hints| {
            let rows = &mut palette[..tables.rig().palette_len()];
            let sources = tables.sources();
            for (index, out) in instances.zip(out.chunks_exact_mut(joints.len().max(1))) {
                let stage = stage.of(of, index);
                hints.fill(0);
                of.evaluate_one((index, stage), level, hints, run, rows);
                let staged = !stage.is_empty();
                let e = &Evaluated { sources, level, scratch: run, staged, rows };
                dispatch(level, Models { e, joints, out });
            }
        });
    }

    /// The local transforms of joints of instances, before their stages or after them.
    pub fn locals<I: Instances>(
        of: &I,
        (instances, stage): (impl Iterator<Item = usize>, PoseStage),
        joints: &[usize],
        out: &mut [Trs],
    ) {
        Self::with_buffers(of, |PaletteScratch { run, .. }, hints| {
            let sources = of.tables().sources();
            for (index, out) in instances.zip(out.chunks_exact_mut(joints.len().max(1))) {
                hints.fill(0);
                of.gather(index, run);
                let (stage, output) = (stage.of(of, index), &mut [][..]);
                let instance =
                    Instance { sources, stage, hints, scratch: run, output, streaming: None };
                dispatch(of.tables().level(), Locals { instance, joints, out });
            }
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
            threads::join(
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

    /// The model matrix of a joint before the stage, as evaluations keep it if the joint is watched there. `None` if it is
    /// not, and the instance has a stage.
    pub fn watched_before(&self, joint: u16) -> Option<Affine3x4> {
        match self.staged {
            true => {
                let before = self.sources.before;
                before.find(joint).map(|at| before.model(self.scratch, at))
            }
            false => Some(self.model(joint.into())),
        }
    }

    pub fn model(&self, joint: usize) -> Affine3x4 {
        let mut out = [Affine3x4::IDENTITY];
        dispatch(self.level, Models { e: self, joints: &[joint], out: &mut out });
        out[0]
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
        let Evaluated { sources, scratch, staged, rows, .. } = self.e;
        self.watch.take(simd, (sources, scratch, *staged), self.index, rows);
    }
}

/// The model matrices of joints of an evaluated instance.
struct Models<'a> {
    e: &'a Evaluated<'a>,
    joints: &'a [usize],
    out: &'a mut [Affine3x4],
}

impl Kernel for Models<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Evaluated { sources, scratch, rows, .. } = self.e;
        for (&joint, out) in self.joints.iter().zip(self.out) {
            scratch.model(simd, sources, (joint, rows), out);
        }
    }
}

/// The local transforms of joints of an instance.
struct Locals<'a> {
    instance: Instance<'a>,
    joints: &'a [usize],
    out: &'a mut [Trs],
}

impl Kernel for Locals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        self.instance.read(simd, |pose| {
            for (&joint, out) in self.joints.iter().zip(self.out) {
                *out = pose.local_trs(joint);
            }
        });
    }
}
