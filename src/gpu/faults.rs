//! Device failures as typed errors, never panics.
//!
//! One part of this needs unwinding: wgpu 30 panics when a device is lost during a wait, and the panic
//! is caught here. A program built with `panic = "abort"` aborts there instead.

use super::{Gpu, GpuError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a failed command waits for the report that the device is lost. Software devices need a
/// millisecond; with a device that hangs, the error lacks the reason.
const LOSS_WAIT: Duration = Duration::from_millis(200);

/// The failures that the device's callbacks have reported since it was opened.
#[derive(Debug, Default)]
pub(super) struct Faults {
    lost: Option<String>,
    uncaptured: Option<GpuError>,
}

impl Gpu {
    /// The error of a lost device, once its callback has reported the loss.
    pub fn lost(&self) -> Option<GpuError> {
        let reason = self.faults().lost.clone()?;
        Some(GpuError::Lost { reason })
    }

    fn faults(&self) -> MutexGuard<'_, Faults> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the callbacks of completed work, without waiting for any.
    ///
    /// # Errors
    /// Those of [`Gpu::wait`].
    pub fn poll(&self) -> Result<(), GpuError> {
        self.turn(wgpu::PollType::Poll)
    }

    /// Runs `work` and returns its value, or the first error that the device reported meanwhile.
    ///
    /// The loss of the device is reported before all other errors, which no longer name it after a loss.
    ///
    /// # Errors
    /// That of `work`, or the device's.
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
            // A destroyed device reports the loss only when its last work is done; its errors come earlier.
            // The result of the wait is irrelevant: there is an error to return.
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
    /// # Errors
    /// If the device is lost, before or during the wait. wgpu 30 panics in the latter case, and the panic
    /// is caught: with `panic = "abort"` the process aborts.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.turn(wgpu::PollType::wait_indefinitely())
    }

    fn turn(&self, how: wgpu::PollType) -> Result<(), GpuError> {
        // wgpu 30 panics if the device is lost during the wait.
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

/// Starts to record a device's errors.
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
