//! Device failures as typed errors, never panics.
//!
//! One part of this needs unwinding: wgpu 30 panics when a device is lost during a wait, and the panic
//! is caught here. A program built with `panic = "abort"` aborts there instead.

use super::{Gpu, GpuError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long a failed command waits for the report that the device is lost. Software devices need a
/// millisecond; with a device that hangs, the error lacks the reason.
const LOSS_WAIT: Duration = Duration::from_millis(200);

/// How the failures of a device become known.
#[derive(Debug)]
pub(super) enum Faults {
    /// Its callbacks are the library's and report to this.
    Reported(Arc<Mutex<Reports>>),
    /// Its callbacks are the host's. A buffer that is never used shows whether the device is lost; `None` if
    /// there was no memory for it.
    Probed(Option<Mutex<wgpu::Buffer>>),
}

/// The failures that the device's callbacks have reported since it was opened.
#[derive(Debug, Default)]
pub(super) struct Reports {
    lost: Option<String>,
    uncaptured: Option<GpuError>,
}

impl Faults {
    /// Starts to record a device's errors; without its handlers, only its loss can be asked for.
    pub fn of(device: &wgpu::Device, take_handlers: bool) -> Self {
        if take_handlers {
            return Self::Reported(watch(device));
        }
        // No error of the probe reaches the host's handler.
        let filters = [
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Validation,
            wgpu::ErrorFilter::Internal,
        ];
        let scopes = filters.map(|filter| device.push_error_scope(filter));
        let probe = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("phalanx probe"),
            size: 16,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        // The scope that was opened last is closed first.
        let errors = scopes
            .into_iter()
            .rev()
            .filter_map(|s| pollster::block_on(s.pop()));
        let refused = errors.count() > 0;
        Self::Probed((!refused).then_some(Mutex::new(probe)))
    }

    /// Why the device was lost, if it was.
    fn lost(&self) -> Option<String> {
        match self {
            Self::Reported(reports) => lock(reports).lost.clone(),
            Self::Probed(probe) => probe
                .as_ref()
                .filter(|probe| refuses_maps(&lock(probe)))
                .map(|_| "its device-lost callback, which is the host's, has the reason".into()),
        }
    }

    /// The first error that no scope has caught, if the library has the handler.
    fn take_uncaptured(&self) -> Option<GpuError> {
        match self {
            Self::Reported(reports) => lock(reports).uncaptured.take(),
            Self::Probed(_) => None,
        }
    }
}

/// Whether the device of a buffer is lost: wgpu then calls the callback of a map at once, with an error, and
/// reports no error to scopes or handlers.
fn refuses_maps(probe: &wgpu::Buffer) -> bool {
    let refused = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&refused);
    probe.map_async(wgpu::MapMode::Read, .., move |mapped| {
        shared.store(mapped.is_err(), Ordering::Relaxed);
    });
    let lost = refused.load(Ordering::Relaxed);
    if !lost {
        probe.unmap();
    }
    lost
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gpu {
    /// The error of a lost device: once its callback has reported the loss or, if the callback is the host's,
    /// as soon as wgpu knows of it.
    pub fn lost(&self) -> Option<GpuError> {
        let reason = self.faults.lost()?;
        Some(GpuError::Lost { reason })
    }

    /// Runs the callbacks of completed work, without waiting for any.
    ///
    /// # Errors
    /// Those of [`Gpu::wait`].
    pub(crate) fn poll(&self) -> Result<(), GpuError> {
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
        let uncaptured = self.faults.take_uncaptured();
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
fn watch(device: &wgpu::Device) -> Arc<Mutex<Reports>> {
    let faults = Arc::new(Mutex::new(Reports::default()));
    let sink = Arc::clone(&faults);
    // Without a handler wgpu panics on the first error that no scope captures.
    device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        let mut faults = lock(&sink);
        faults.uncaptured.get_or_insert(typed(error));
    }));
    let sink = Arc::clone(&faults);
    device.set_device_lost_callback(move |reason, message| {
        let reason = match reason {
            wgpu::DeviceLostReason::Destroyed => "it was destroyed",
            wgpu::DeviceLostReason::Unknown => "the reason is unknown",
        };
        lock(&sink)
            .lost
            .get_or_insert_with(|| match message.as_str() {
                "" => reason.into(),
                message => message.into(),
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
