//! A frame of a pool: which instances a worker evaluates, in which order, and their palettes.

use super::ahead::Upcoming;
use super::{Pool, WatchPart};
use crate::evaluate::{Instance, Needs, Scratch, Sources};
use crate::math::Affine3x4;
use crate::playback::Events;
use crate::simd::{Fence, Kernel, Lanes, SimdLevel, Streaming, dispatch};
use std::ops::Range;

/// How a frame is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub level: SimdLevel,
    /// Whether rows are stored past the caches.
    pub stream: bool,
    /// Whether what the next instances read is prefetched.
    pub ahead: bool,
}

/// Where the palettes of a range of instances go.
pub(crate) enum Target<'a> {
    /// The rows of the range, one palette after another.
    Rows(&'a mut [Affine3x4]),
    /// Memory that is no slice: each palette is finished here, then given away with its first row in the range.
    Copied {
        palette: &'a mut [Affine3x4],
        write: &'a mut dyn FnMut(usize, &[Affine3x4]),
    },
}

/// The buffers of a worker, for instances of any rig that they were reserved for.
#[derive(Debug, Default)]
pub(crate) struct PaletteScratch {
    /// For one instance after another.
    pub instance: InstanceScratch,
    /// A palette that is copied elsewhere when it is finished.
    pub palette: Vec<Affine3x4>,
    /// For steps of time that are looked at and not taken.
    pub events: Events,
    /// For the order of banks of cells.
    pub banks: Vec<u32>,
}

/// The sizes that a worker's buffers need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PaletteNeeds {
    pub run: Needs,
    /// Clips and instances that are sorted.
    clips: usize,
    instances: usize,
    rows: usize,
}

impl PaletteNeeds {
    /// What serves both.
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
    /// Makes room. What there is stays.
    pub fn reserve(&mut self, needs: &PaletteNeeds) {
        let InstanceScratch { run, order } = &mut self.instance;
        run.reserve(&needs.run);
        let counts = needs.clips + 2;
        order
            .counts
            .reserve(counts.saturating_sub(order.counts.len()));
        let instances = needs.instances.saturating_sub(order.items.len());
        order.items.reserve(instances);
        if self.palette.len() < needs.rows {
            self.palette.resize(needs.rows, Affine3x4::IDENTITY);
        }
    }
}

/// The scratch of one instance after another.
#[derive(Debug, Default)]
pub(crate) struct InstanceScratch {
    pub run: Scratch,
    pub order: Order,
}

/// What a worker evaluates, in the order in which it does.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// By clip, first the number of items, then where the next one goes.
    counts: Vec<u32>,
    /// Indices of instances, or numbers of cells.
    pub items: Vec<u32>,
}

impl Order {
    /// Lists items as they come.
    pub fn list(&mut self, items: impl Iterator<Item = u32>) {
        self.items.clear();
        self.items.extend(items);
    }

    /// Sorts items by their clips, of which the pool has so many, by counting. Those that play none are last.
    pub fn sort(&mut self, clips: usize, items: impl Iterator<Item = (u16, u32)> + Clone) {
        self.counts.clear();
        self.counts.resize(clips + 2, 0);
        let key = |clip: u16| usize::from(clip).min(clips);
        for (clip, _) in items.clone() {
            self.counts[key(clip) + 1] += 1;
        }
        for i in 1..self.counts.len() {
            self.counts[i] += self.counts[i - 1];
        }
        let total = self.counts[clips + 1] as usize;
        self.items.clear();
        self.items.resize(total, 0);
        for (clip, item) in items {
            let next = &mut self.counts[key(clip)];
            self.items[*next as usize] = item;
            *next += 1;
        }
    }
}

impl Pool {
    /// What all instances of the pool are evaluated from.
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

    /// Whether instances are worth sorting by their clips.
    pub fn sorts(&self) -> bool {
        self.programs.many()
    }

    /// What a worker needs for any `instances` of the pool.
    pub fn needs(&self, instances: usize) -> PaletteNeeds {
        let clips = self.max_clips();
        let many = self.sorts();
        PaletteNeeds {
            run: Needs {
                actions: clips,
                layers: self.layers.len(),
                cursors: clips * self.timelines,
                lanes: self.rig.skeleton().joint_of().len(),
                joints: self.rig.skeleton().len(),
            },
            clips: if many { self.programs.clips().len() } else { 0 },
            instances: if many { instances } else { 0 },
            rows: self.rig.palette_len(),
        }
    }

    /// Evaluates the palettes of a range of instances into `target`, each in its place. Hints and watched joints are
    /// those of the range; rows that are read afterwards are not stored past the caches. Then the worker goes on to
    /// the instances of `next`.
    pub fn evaluate(
        &self,
        (instances, next): (Range<usize>, Option<&Self>),
        how: How,
        (hints, mut watch): (&mut [u16], WatchPart<'_>),
        scratch: &mut InstanceScratch,
        target: Target<'_>,
    ) {
        let streams = how.stream && matches!(target, Target::Rows(_));
        // Outside the kernel, so that it is dropped when the kernel unwinds and does not change the kernel's loops.
        let fence = streams.then(|| Fence::new(how.level));
        dispatch(
            how.level,
            Palettes {
                pool: self,
                next,
                ahead: how.ahead,
                streaming: fence.as_ref().map(Fence::streaming),
                instances,
                all: false,
                hints,
                watch: &mut watch,
                scratch,
                target,
            },
        );
    }

    /// Evaluates one instance, whether it is scheduled or not. The hints are its own.
    pub fn evaluate_one(
        &self,
        index: usize,
        level: SimdLevel,
        (hints, watch): (&mut [u16], &mut WatchPart<'_>),
        scratch: &mut InstanceScratch,
        output: &mut [Affine3x4],
    ) {
        dispatch(
            level,
            Palettes {
                pool: self,
                next: None,
                ahead: false,
                streaming: None,
                instances: index..index + 1,
                all: true,
                hints,
                watch,
                scratch,
                target: Target::Rows(output),
            },
        );
    }
}

/// The palettes of a range of instances.
struct Palettes<'a, 'w, 't> {
    pool: &'a Pool,
    /// The pool that is evaluated next.
    next: Option<&'a Pool>,
    /// Whether to prefetch.
    ahead: bool,
    streaming: Option<Streaming<'a>>,
    instances: Range<usize>,
    /// Whether those that are not scheduled are evaluated, too.
    all: bool,
    hints: &'a mut [u16],
    watch: &'a mut WatchPart<'w>,
    scratch: &'a mut InstanceScratch,
    target: Target<'t>,
}

impl Kernel for Palettes<'_, '_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Lanes>(mut self, simd: S) {
        let pool = self.pool;
        let rows = pool.rig.palette_len();
        let between = match self.target {
            Target::Rows(_) => rows,
            Target::Copied { .. } => pool.places.stride(),
        };
        let stride = pool.hints_per_instance();
        let first = self.instances.start;
        let sources = pool.sources();
        let InstanceScratch { run, order } = self.scratch;
        let sorted = pool.sorts() && self.instances.len() > 1 && !self.all;
        let count = if sorted {
            let fresh = |&index: &usize| pool.places.scheduled(index) && !pool.places.kept(index);
            let fresh = self.instances.clone().filter(fresh);
            let items = fresh.map(|index| (pool.first_clip(index), index as u32));
            order.sort(pool.programs.clips().len(), items);
            order.items.len()
        } else {
            self.instances.len()
        };
        let upcoming = Upcoming {
            pool,
            order: sorted.then_some(&order.items),
            first,
            count,
            next: self.next,
        };
        for i in 0..count {
            if self.ahead {
                upcoming.look_ahead(i);
            }
            let index = if sorted {
                order.items[i] as usize
            } else {
                let index = first + i;
                let fresh = || pool.places.scheduled(index) && !pool.places.kept(index);
                if !(self.all || fresh()) {
                    continue;
                }
                index
            };
            let at = match self.all {
                true => i * rows,
                false => pool.places.written(first, index) * between,
            };
            let output = match &mut self.target {
                Target::Rows(all) => all.get_mut(at..at + rows),
                Target::Copied { palette, .. } => palette.get_mut(..rows),
            };
            let Some(output) = output else {
                break;
            };
            pool.gather(index, run);
            let hints = self.hints.get_mut((index - first) * stride..);
            Instance {
                sources,
                overrides: pool.state.overrides().of(index),
                hints: hints.unwrap_or_default(),
                scratch: run,
                output,
                // What is read after the run is not stored past the caches.
                streaming: self.streaming.filter(|_| !self.watch.watches(index)),
            }
            .run(simd);
            self.watch.take(simd, &sources, run, index, output);
            if let Target::Copied { palette, write } = &mut self.target {
                write(at, &palette[..rows]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::raw::{
        Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
    };
    use crate::playback::ids::Owner;
    use crate::playback::places::RowOrder;
    use crate::playback::{PlayOptions, Player};
    use crate::simd::SETTLED;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    /// A rig of one joint with a clip, and two instances, of which the second plays it.
    fn pool(level: SimdLevel) -> Pool {
        let track = RawTrack {
            node: 0,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![3.0, 0.0, 0.0, 4.0, 0.0, 0.0],
        };
        let scene = RawScene {
            nodes: vec![RawNode::default()],
            skins: vec![RawSkin {
                name: None,
                joints: vec![0],
                inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array()],
            }],
            clips: vec![RawClip {
                duration: 1.0,
                tracks: vec![track],
                ..RawClip::default()
            }],
            ..RawScene::default()
        };
        let rig = Arc::new(crate::build::build_rig(scene, &Default::default()).unwrap());
        let layers = vec![Default::default()];
        let mut pool = Pool::new(Owner::of_rig(1, 0), rig, layers);
        pool.spawn().unwrap();
        let index = pool.spawn().unwrap();
        let clip = pool.clip_id(0);
        let mut player = Player {
            pool: &mut pool,
            index,
        };
        player.play(0, clip, &PlayOptions::default()).unwrap();
        pool.fit_programs(level);
        pool.count_places(false, RowOrder::Index);
        pool
    }

    /// A panic between two instances whose rows are streamed: only the fence completes the stores of the first.
    #[test]
    fn streamed_rows_are_settled_when_a_frame_is_cut_short() {
        for level in SimdLevel::supported() {
            let mut pool = pool(level);
            let mut hints = std::mem::take(&mut pool.hints);
            let mut scratch = PaletteScratch::default();
            scratch.reserve(&pool.needs(2));
            let mut frame = |scratch: &mut PaletteScratch, stream| {
                let nothing = Affine3x4 {
                    rows: [[f32::NAN; 4]; 3],
                };
                let mut rows = [nothing; 2];
                let settled = SETTLED.get();
                let how = How {
                    level,
                    stream,
                    ahead: false,
                };
                let (hints, instance) = (&mut hints[..], &mut scratch.instance);
                let kept = (hints, WatchPart::default());
                let run =
                    || pool.evaluate((0..2, None), how, kept, instance, Target::Rows(&mut rows));
                let whole = catch_unwind(AssertUnwindSafe(run)).is_ok();
                let first = rows.map(|row| row.rows[0][3]);
                (whole, first.map(f32::to_bits), SETTLED.get() - settled)
            };
            let bits = |x: [f32; 2]| x.map(f32::to_bits);
            let both = bits([0.0, 3.0]);
            assert_eq!(frame(&mut scratch, false), (true, both, 0), "{level}");
            assert_eq!(frame(&mut scratch, true), (true, both, 1), "{level}");
            // The scratch has no cursor for the second instance's clip: an index out of range.
            scratch.instance.run.forget_cursors();
            let one = bits([0.0, f32::NAN]);
            assert_eq!(frame(&mut scratch, true), (false, one, 1), "{level}");
        }
    }
}
