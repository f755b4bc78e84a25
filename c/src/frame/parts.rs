//! Frames in parts. What a part borrows lies in boxes of the frame, and is freed in the reverse order.

use super::memory::Memory;
use super::{Given, Request, phx_frame_stats};
use crate::border::{Error, Exclusive, Hold};
use crate::crowd::{CrowdState, on_pool};
use crate::modifiers::{Closure, HookCall};
use crate::types::*;
use phalanx::crowd::{FrameId, Schedule};
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value that others borrow for as long as this lives.
struct Lender<T>(NonNull<T>);

// SAFETY: it owns the value as a box does.
unsafe impl<T: Send> Send for Lender<T> {}
// SAFETY: a reference to it gives nothing of the value.
unsafe impl<T> Sync for Lender<T> {}

impl<T> Lender<T> {
    fn new(value: T) -> Self {
        Self(NonNull::from(Box::leak(Box::new(value))))
    }

    /// # Safety
    /// Called once, and the borrow ends before this is dropped.
    unsafe fn lend<'a>(&self) -> &'a mut T {
        // SAFETY: the value is this one's, and nobody else has it, by the promise.
        unsafe { &mut *self.0.as_ptr() }
    }
}

impl<T> Drop for Lender<T> {
    fn drop(&mut self) {
        // SAFETY: it came from a box in `new`, and all borrows have ended.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

type Part = Box<dyn FnOnce() + Send>;

/// What a frame's handle owns. Fields are dropped in their order: each borrows from those after it.
pub struct FrameState {
    /// Each is taken by the call that runs it.
    pub(super) parts: Vec<Mutex<Option<Part>>>,
    schedule: Lender<Schedule<'static>>,
    hook: Lender<Option<Closure>>,
    /// Parts that were run to their end.
    done: AtomicUsize,
    id: FrameId,
    /// `CrowdState::frame`
    last: &'static mut Option<FrameId>,
    /// The crowd, which the schedule borrows.
    hold: Hold<'static>,
}

impl FrameState {
    /// Schedules the frame and splits it, or says why not. The counts are known in either case.
    ///
    /// # Safety
    /// The caller's promise of the memory, until the frame is dropped.
    pub(super) unsafe fn begin(
        state: Exclusive<'static, CrowdState>,
        request: Request,
        given: Given,
    ) -> (phx_frame_stats, Result<Self, Error>) {
        let (mut state, hold) = state.split();
        // SAFETY: nobody else has the state until `hold` is dropped, which is after all that borrows it: here, or as the
        // last field of the frame.
        let CrowdState { crowd, pool, frame, .. } = unsafe { state.as_mut() };
        // Until the end, and if this fails, no memory has the frame.
        *frame = None;
        let begun = on_pool(pool, move || {
            let schedule = crowd.schedule(&request.layout);
            let (stats, id) = (request.stats(&schedule), schedule.id());
            // SAFETY: the caller's promise.
            let memory = match unsafe { given.rows(schedule.rows(), &request) } {
                Ok(memory) => memory,
                Err(error) => return Err((stats, error)),
            };
            let schedule = Lender::new(schedule);
            let hook = Lender::new(request.hook.map(HookCall::boxed));
            // SAFETY: only the parts borrow these, and they are dropped first.
            let parts = unsafe { split(schedule.lend(), request.parts, memory, hook.lend()) };
            Ok((phx_frame_stats { parts: parts.len() as u32, ..stats }, parts, schedule, hook, id))
        });
        match begun {
            Ok((stats, parts, schedule, hook, id)) => {
                let done = AtomicUsize::new(0);
                (stats, Ok(Self { parts, schedule, hook, done, id, last: frame, hold }))
            }
            Err((stats, error)) => (stats, Err(error)),
        }
    }

    /// Runs a part that was not run.
    pub fn run(&self, index: usize) -> Result<(), Error> {
        let cell = self.parts.get(index);
        let cell = cell.ok_or_else(|| Error::index("part", index, self.parts.len()))?;
        // No panic comes between a lock and its end.
        let part = cell.lock().ok().and_then(|mut part| part.take());
        let again = || Error::new(PHX_ERROR_STATE, format!("part {index} was run already"));
        part.ok_or_else(again)?();
        self.done.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Runs what is left and releases the crowd.
    pub fn end(self) {
        for index in 0..self.parts.len() {
            // Parts that were run are refused.
            let _ = self.run(index);
        }
        let Self { parts, schedule, hook, done, id, last, hold } = self;
        let whole = done.into_inner() == parts.len();
        drop(parts);
        drop(schedule);
        drop(hook);
        *last = whole.then_some(id);
        drop(hold);
    }
}

fn split(
    schedule: &'static mut Schedule<'static>,
    parts: usize,
    memory: Memory<'static>,
    hook: &'static mut Option<Closure>,
) -> Vec<Mutex<Option<Part>>> {
    fn cells(
        parts: impl Iterator<Item = impl FnOnce() + Send + 'static>,
    ) -> Vec<Mutex<Option<Part>>> {
        parts.map(|part| Mutex::new(Some(Box::new(part) as Part))).collect()
    }
    match (memory, hook) {
        (Memory::Rows(rows), None) => cells(schedule.parts(parts, rows)),
        (Memory::Columns(columns), None) => cells(schedule.parts(parts, columns)),
        (Memory::Rows(rows), Some(hook)) => cells(schedule.parts_with(parts, rows, hook)),
        (Memory::Columns(columns), Some(hook)) => cells(schedule.parts_with(parts, columns, hook)),
    }
}
