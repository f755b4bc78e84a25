//! The buffers with which workers evaluate instances of a pool, and the evaluation of one instance.

use super::gather::Instances;
use super::instance::Instance;
use super::rig_tables::RigTables;
use super::scratch::{Needs, Scratch};
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
    pub instance: InstanceScratch,
    /// A palette that is copied elsewhere when it is finished.
    pub palette: Vec<Affine3x4>,
    pub joints: TakenJoints,
}

/// The sizes that a worker's buffers need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaletteNeeds {
    pub run: Needs,
    /// Number of clips and of instances to sort; 0 if the pool is not sorted.
    clips: usize,
    instances: usize,
    rows: usize,
}

impl PaletteNeeds {
    /// The sizes for any `instances` with these tables.
    pub fn new(run: Needs, tables: &RigTables, instances: usize) -> Self {
        let (clips, instances) = match tables.sorts() {
            true => (tables.clip_places(), instances),
            false => (0, 0),
        };
        Self { run, clips, instances, rows: tables.rig().palette_len() }
    }

    /// The larger sizes of both.
    pub fn max(&self, other: &Self) -> Self {
        Self {
            run: self.run.max(&other.run),
            clips: self.clips.max(other.clips),
            instances: self.instances.max(other.instances),
            rows: self.rows.max(other.rows),
        }
    }
}

impl PaletteScratch {
    /// Makes room. Room is never given back.
    pub fn reserve(&mut self, needs: &PaletteNeeds) {
        let InstanceScratch { run, order } = &mut self.instance;
        run.reserve(&needs.run);
        let counts = needs.clips + 2;
        order.counts.reserve(counts.saturating_sub(order.counts.len()));
        let instances = needs.instances.saturating_sub(order.items.len());
        order.items.reserve(instances);
        let pairs = needs.instances.saturating_sub(order.pairs.len());
        order.pairs.reserve(pairs);
        if self.palette.len() < needs.rows {
            self.palette.resize(needs.rows, Affine3x4::IDENTITY);
        }
    }
}

/// The buffers of one instance at a time, and the order of instances.
#[derive(Debug, Default)]
pub(crate) struct InstanceScratch {
    pub run: Scratch,
    pub order: Order,
}

/// The order in which a worker evaluates instances.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// By clip: first the number of items, then the place of the next item.
    counts: Vec<u32>,
    /// The items with their clips, as they come.
    pairs: Vec<(u16, u32)>,
    /// Indices of instances, or numbers of cells.
    pub items: Vec<u32>,
}

impl Order {
    /// Keeps the order of the items.
    pub fn list(&mut self, items: impl Iterator<Item = u32>) {
        self.items.clear();
        self.items.extend(items);
    }

    /// Sorts items by their clips, of which the pool has so many, by counting. Those that play none are last.
    pub fn sort(&mut self, clips: usize, items: impl Iterator<Item = (u16, u32)>) {
        self.counts.clear();
        self.counts.resize(clips + 2, 0);
        let key = |clip: u16| usize::from(clip).min(clips);
        self.pairs.clear();
        for (clip, item) in items {
            self.counts[key(clip) + 1] += 1;
            self.pairs.push((clip, item));
        }
        for i in 1..self.counts.len() {
            self.counts[i] += self.counts[i - 1];
        }
        let total = self.counts[clips + 1] as usize;
        self.items.clear();
        self.items.resize(total, 0);
        for &(clip, item) in &self.pairs {
            let next = &mut self.counts[key(clip)];
            self.items[*next as usize] = item;
            *next += 1;
        }
    }
}

/// The evaluation of one instance's palette.
pub(super) struct One<'a, I: ?Sized> {
    pub instances: &'a I,
    pub index: usize,
    pub hints: &'a mut [u16],
    pub scratch: &'a mut Scratch,
    pub output: &'a mut [Affine3x4],
}

impl<I: Instances + ?Sized> Kernel for One<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(self, simd: S) {
        let Self { instances, index, hints, scratch, output } = self;
        instances.gather(index, scratch);
        Instance {
            sources: instances.tables().sources(),
            overrides: instances.overrides(index),
            hints,
            scratch,
            output,
            streaming: None,
        }
        .run(simd);
    }
}
