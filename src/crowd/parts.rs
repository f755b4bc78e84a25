//! The parts of a scheduled frame that a host runs on threads of its own.

use super::crowd_data::Crowd;
use super::memory::PaletteMemory;
use super::schedule::FrameId;
use super::scratches::WorkerScratch;
use super::tiers::{BankShare, BankTask};
use std::sync::atomic::{AtomicUsize, Ordering};

/// State of a frame whose parts were handed out, kept until the next call that changes the crowd.
#[derive(Debug, Default)]
pub(crate) struct Lending {
    /// The frame of the parts; becomes the crowd's last frame if all were run. `left` counts the parts that were not.
    frame: Option<FrameId>,
    left: AtomicUsize,
}

impl Crowd {
    /// Ends the frame whose parts were handed out last. The frame counts as complete if all of them were run.
    #[inline]
    pub(super) fn settle_parts(&mut self) {
        if let Some(frame) = self.lending.frame.take()
            && *self.lending.left.get_mut() == 0
        {
            self.frame = Some(frame);
            self.tiering.finish();
        }
    }

    /// Splits the work of a frame into at most `parts` parts.
    pub(super) fn lend_parts<M: PaletteMemory>(
        &mut self,
        frame: FrameId,
        parts: usize,
        memory: M,
    ) -> impl ExactSizeIterator<Item = FramePart<'_, M>> {
        self.settle_parts();
        let Self { pools, scratches, lending, tiering, frame: last, .. } = self;
        *last = None;
        lending.frame = Some(frame);
        tiering.begin_joints(pools);
        tiering.evaluate_joints(pools, false);
        let (task, share) = tiering.share(pools, false);
        let parts = parts.max(1).min(share.work.len());
        *lending.left.get_mut() = parts;
        Parts {
            task,
            share: Some(share),
            scratches: scratches.take(parts).iter_mut(),
            memory: Some(memory),
            left: &lending.left,
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
