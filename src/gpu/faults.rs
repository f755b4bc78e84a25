//! Device failures become typed errors, never panics.
//!
//! One part of this needs unwinding: wgpu 30 panics when a device is lost during a wait, and the panic is caught here.
//! A program built with `panic = "abort"` aborts there instead.

use super::{Gpu, GpuError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The time that a failed command waits for the report of a device loss. Software devices need a millisecond; if a
/// device hangs for longer, the error lacks the reason.
const LOSS_WAIT: Duration = Duration::from_millis(200);

/// The source of a device's failures.
#[derive(Debug)]
pub(super) enum Faults {
    /// The library's callbacks report to these.
    Reported(Arc<Mutex<Reports>>),
    /// The callbacks are the host's. This buffer is never used for work; mapping it shows whether the device is lost.
    /// `None` if there was no memory for it.
    Probed(Option<Mutex<wgpu::Buffer>>),
}

/// The failures that the device's callbacks have reported since it was opened.
#[derive(Debug, Default)]
pub(super) struct Reports {
    lost: Option<String>,
    uncaptured: Option<GpuError>,
}

impl Faults {
    /// Sets a device's handlers, which record its errors from now on.
    pub fn report(device: &wgpu::Device) -> Self {
        let reports = Arc::new(Mutex::new(Reports::default()));
        let sink = Arc::clone(&reports);
        // Without a handler wgpu panics on the first error that no scope captures.
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&sink).uncaptured.get_or_insert(typed(error));
        }));
        let sink = Arc::clone(&reports);
        device.set_device_lost_callback(move |reason, message| {
            let reason = match reason {
                wgpu::DeviceLostReason::Destroyed => "it was destroyed",
                wgpu::DeviceLostReason::Unknown => "the reason is unknown",
            };
            lock(&sink).lost.get_or_insert_with(|| match message.as_str() {
                "" => reason.into(),
                message => message.into(),
            });
        });
        Self::Reported(reports)
    }

    /// Leaves the device's handlers to the host: only the device's loss can be found out then.
    pub fn probe(device: &wgpu::Device) -> Self {
        // Keeps errors of the probe from the host's handler.
        let (probe, error) = scoped(device, || {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("phalanx probe"),
                size: 16,
                usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        });
        Self::Probed(error.is_none().then_some(Mutex::new(probe)))
    }

    /// The reason of the device's loss, if it was lost.
    fn lost(&self) -> Option<String> {
        match self {
            Self::Reported(reports) => lock(reports).lost.clone(),
            Self::Probed(probe) => probe
                .as_ref()
                .filter(|probe| refuses_maps(&lock(probe)))
                .map(|_| "its device-lost callback, which is the host's, has the reason".into()),
        }
    }

    /// Takes the first error that no scope has caught. Always `None` if the host has the handler.
    fn take_uncaptured(&self) -> Option<GpuError> {
        match self {
            Self::Reported(reports) => lock(reports).uncaptured.take(),
            Self::Probed(_) => None,
        }
    }
}

/// True if the device of a buffer is lost: wgpu then calls the callback of a map at once, with an error, and reports
/// nothing to scopes or handlers.
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
    /// The error of a lost device. It is known once the device-lost callback was called or, if that is the host's, as
    /// soon as wgpu knows of the loss.
    pub fn lost(&self) -> Option<GpuError> {
        let reason = self.faults.lost()?;
        Some(GpuError::Lost { reason })
    }

    /// Runs the callbacks of completed work, without waiting for any.
    ///
    /// # Errors
    /// As for [`Gpu::wait`].
    pub(crate) fn poll(&self) -> Result<(), GpuError> {
        self.turn(wgpu::PollType::Poll)
    }

    /// Runs `work` and returns its value, or the first error that the device reported meanwhile.
    ///
    /// A loss of the device is returned instead of any other error, since errors after a loss no longer name it.
    ///
    /// # Errors
    /// The error of `work`, or the device's.
    pub fn checked<T>(&self, work: impl FnOnce() -> Result<T, GpuError>) -> Result<T, GpuError> {
        let (value, caught) = scoped(&self.device, work);
        let uncaptured = self.faults.take_uncaptured();
        let error = caught.or(uncaptured);
        let unclear = error.as_ref().is_some_and(|e| *e != GpuError::OutOfMemory);
        if unclear && self.poll().is_ok() {
            // A destroyed device reports its loss only when its last work is done; other errors come earlier. The
            // result of the wait is not needed: there is an error to return.
            let _ = self
                .turn(wgpu::PollType::Wait { submission_index: None, timeout: Some(LOSS_WAIT) });
        }
        match self.lost().or(error) {
            Some(error) => Err(error),
            None => value,
        }
    }

    /// Blocks until all submitted work is done.
    ///
    /// # Errors
    /// If the device is lost, before or during the wait. In the latter case wgpu 30 panics, and the panic is caught:
    /// with `panic = "abort"` the process aborts.
    pub fn wait(&self) -> Result<(), GpuError> {
        self.turn(wgpu::PollType::wait_indefinitely())
    }

    fn turn(&self, how: wgpu::PollType) -> Result<(), GpuError> {
        // wgpu 30 panics if the device is lost during the wait.
        let polled = catch_unwind(AssertUnwindSafe(|| self.device.poll(how)));
        match polled {
            Ok(Ok(_)) => self.lost().map_or(Ok(()), Err),
            Ok(Err(e)) => Err(GpuError::Refused { reason: e.to_string() }),
            Err(_) => Err(GpuError::Lost { reason: "waiting for the device failed".into() }),
        }
    }
}

/// Runs `work` within scopes for all errors; returns its value, and the first error that they caught.
fn scoped<T>(device: &wgpu::Device, work: impl FnOnce() -> T) -> (T, Option<GpuError>) {
    let validation = device.push_error_scope(wgpu::ErrorFilter::Validation);
    let internal = device.push_error_scope(wgpu::ErrorFilter::Internal);
    let memory = device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    let value = work();
    // Scopes are closed in the reverse order of opening.
    let caught = [memory, internal, validation].map(|scope| pollster::block_on(scope.pop()));
    (value, caught.into_iter().flatten().next().map(typed))
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
