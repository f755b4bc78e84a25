//! What goes wrong on a device becomes typed errors, never panics.
//!
//! One part of this needs unwinding: wgpu 30 panics where a device is lost during a wait, and the panic
//! is caught here. A program built with `panic = "abort"` ends there instead.

use super::{Gpu, GpuError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a failed command waits to learn whether the device is lost. Software devices need a
/// millisecond; one that hangs gives its error without the reason.
const LOSS_WAIT: Duration = Duration::from_millis(200);

/// What the device's callbacks have reported since it was opened.
#[derive(Debug, Default)]
pub(super) struct Faults {
    lost: Option<String>,
    uncaptured: Option<GpuError>,
}

impl Gpu {
    /// The error of a lost device, once its callback has told of the loss.
    pub fn lost(&self) -> Option<GpuError> {
        let reason = self.faults().lost.clone()?;
        Some(GpuError::Lost { reason })
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has callbacks run whose work is done, without waiting for any. Errors: as [`Gpu::wait`].
    pub fn poll(&self) -> Result<(), GpuError> {
        self.turn(wgpu::PollType::Poll)
    }

    /// Runs `work` and returns its value, or the first error that the device reported meanwhile.
    ///
    /// A lost device comes before all other errors, because after a loss they no longer name it.
    pub fn checked<T>(&self, work: impl FnOnce() -> Result<T, GpuError>) -> Result<T, GpuError> {
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let value = work();
        let memory = pollster::block_on(memory.pop());
        let internal = pollster::block_on(internal.pop());
        let validation = pollster::block_on(validation.pop());
        let uncaptured = self.faults().uncaptured.take();
        let reported = memory.or(internal).or(validation).map(typed);
        let error = reported.or(uncaptured);
        let unclear = error.as_ref().is_some_and(|e| *e != GpuError::OutOfMemory);
        if unclear && self.poll().is_ok() {
            // A destroyed device tells of it when its last work is done, its errors before that do not.
            // Whatever comes of the wait, there is an error to return.
            let _ = self.turn(wgpu::PollType::Wait {
                submission_index: None,
                timeout: Some(LOSS_WAIT),
            });
        }
        match self.lost().or(error) {
            Some(error) => Err(error),
            None => value,
        }
    }

    /// Blocks until all submitted work is done.
    ///
    /// Errors: the device is lost, also if that happens meanwhile. wgpu 30 panics then, which is caught:
    /// with `panic = "abort"` the process ends.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.turn(wgpu::PollType::wait_indefinitely())
    }

    fn turn(&self, how: wgpu::PollType) -> Result<(), GpuError> {
        // wgpu 30 turns a device that is lost during the wait into a panic of its own.
        let polled = catch_unwind(AssertUnwindSafe(|| self.device.poll(how)));
        match polled {
            Ok(Ok(_)) => self.lost().map_or(Ok(()), Err),
            Ok(Err(e)) => Err(GpuError::Refused {
                reason: e.to_string(),
            }),
            Err(_) => Err(GpuError::Lost {
                reason: "waiting for the device failed".into(),
            }),
        }
    }
}

/// Has a device's errors kept from here on.
pub(super) fn watch(device: &wgpu::Device) -> Arc<Mutex<Faults>> {
    let faults = Arc::new(Mutex::new(Faults::default()));
    let sink = Arc::clone(&faults);
    // Without a handler wgpu panics on the first error that no scope captures.
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        let mut faults = sink.lock().unwrap_or_else(PoisonError::into_inner);
        faults.uncaptured.get_or_insert(typed(error));
    }));
    let sink = Arc::clone(&faults);
    device.set_device_lost_callback(move |reason, message| {
        let mut faults = sink.lock().unwrap_or_else(PoisonError::into_inner);
        faults.lost.get_or_insert_with(|| match message.as_str() {
            "" => format!("{reason:?}"),
            message => format!("{reason:?}: {message}"),
        });
    });
    faults
}

fn typed(error: wgpu::Error) -> GpuError {
    match error {
        wgpu::Error::OutOfMemory { .. } => GpuError::OutOfMemory,
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            GpuError::Refused {
                reason: description.split_whitespace().collect::<Vec<_>>().join(" "),
            }
        }
    }
}
