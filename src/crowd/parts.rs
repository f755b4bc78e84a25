//! The parts of a scheduled frame that a host runs on threads of its own.

use super::crowd_data::Crowd;
use super::memory::PaletteMemory;
use super::schedule::FrameId;
use super::scratches::WorkerScratch;
use super::tiers::{BankShare, BankTask};
use crate::playback::hook::HookFn;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The frame that memory holds, and the frame whose parts a host runs.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    /// The frame that was scheduled last; `None` while no memory counts as holding it.
    last: Option<FrameId>,
    /// The frame whose parts were handed out, until the next call that changes the crowd. It becomes the last one if all
    /// of them were run.
    lent: Option<FrameId>,
    /// Number of its parts that were not run. A host may still be running them.
    left: AtomicUsize,
}

impl Frames {
    #[inline]
    pub fn last(&self) -> Option<FrameId> {
        self.last
    }

    /// Notes that a frame was scheduled or written.
    #[inline]
    pub fn hold(&mut self, frame: FrameId) {
        self.last = Some(frame);
    }

    /// Marks all memory as holding no frame, so the next frame evaluates every visible instance.
    #[inline]
    pub fn lose(&mut self) {
        self.last = None;
    }
}

impl Crowd {
    /// Ends the frame whose parts were handed out last. The frame counts as complete if all of them were run.
    #[inline]
    pub(super) fn settle_parts(&mut self) {
        if let Some(frame) = self.frames.lent.take()
            && *self.frames.left.get_mut() == 0
        {
            self.frames.hold(frame);
            self.tiering.finish();
        }
    }

    /// Splits the work of a frame into at most `parts` parts.
    pub(super) fn lend_parts<'a, M: PaletteMemory>(
        &'a mut self,
        frame: FrameId,
        parts: usize,
        memory: M,
        hook: Option<&'a HookFn<'a>>,
    ) -> impl ExactSizeIterator<Item = FramePart<'a, M>> {
        self.settle_parts();
        let Self { pools, scratches, frames, tiering, .. } = self;
        frames.lose();
        tiering.begin_joints(pools);
        tiering.evaluate_joints(pools, false);
        let (task, share) = tiering.share(pools, false, hook);
        let parts = parts.max(1).min(share.work.len());
        (frames.lent, *frames.left.get_mut()) = (Some(frame), parts);
        Parts {
            task,
            share: Some(share),
            scratches: scratches.take(parts).iter_mut(),
            memory: Some(memory),
            left: &frames.left,
        }
    }
}

/// The parts of a scheduled frame that have not been handed out.
struct Parts<'a, M> {
    task: BankTask<'a>,
    /// The work that is left.
    share: Option<BankShare<'a>>,
    scratches: std::slice::IterMut<'a, WorkerScratch>,
    memory: Option<M>,
    left: &'a AtomicUsize,
}

/// A part of a scheduled frame, with its palettes, its scratch and its part of the memory.
pub(super) struct FramePart<'a, M> {
    task: BankTask<'a>,
    share: BankShare<'a>,
    scratch: &'a mut WorkerScratch,
    memory: M,
    left: &'a AtomicUsize,
}

impl<'a, M: PaletteMemory> Iterator for Parts<'a, M> {
    type Item = FramePart<'a, M>;

    fn next(&mut self) -> Option<FramePart<'a, M>> {
        let parts = self.scratches.len();
        let scratch = self.scratches.next()?;
        let (mut share, mut memory) = (self.share.take()?, self.memory.take()?);
        if parts > 1 {
            let ((now, later), rows) = share.split(1, parts);
            let (of_now, of_later) = memory.split_at(rows);
            (share, memory) = (now, of_now);
            (self.share, self.memory) = (Some(later), Some(of_later));
        }
        Some(FramePart { task: self.task, share, scratch, memory, left: self.left })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.scratches.size_hint()
    }
}

impl<M: PaletteMemory> ExactSizeIterator for Parts<'_, M> {}

impl<M: PaletteMemory> FramePart<'_, M> {
    pub fn run(self) {
        self.task.fill(self.share, self.scratch, self.memory);
        // What has been written is visible to the one that takes the frame back.
        self.left.fetch_sub(1, Ordering::AcqRel);
    }
}
