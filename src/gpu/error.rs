//! `GpuError`: failures of devices and uploads.

use super::PaletteBackend;
use crate::playback::PlaybackError;

/// Errors of devices and of uploads to them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No adapter responds on any enabled backend.
    #[error("no graphics adapter: {reason}")]
    NoAdapter {
        /// The message of wgpu.
        reason: String,
    },
    /// The adapter lacks something that drawing needs.
    #[error("adapter {adapter} cannot draw crowds: {what} is {found}, at least {needed} is needed")]
    Unsupported {
        /// The adapter's name.
        adapter: String,
        /// Name of the limit or capability.
        what: &'static str,
        /// Value of the adapter.
        found: u64,
        /// Least value needed.
        needed: u64,
    },
    /// The adapter did not open a device.
    #[error("adapter {adapter} did not open a device: {reason}")]
    NoDevice {
        /// The adapter's name.
        adapter: String,
        /// The message of wgpu.
        reason: String,
    },
    /// The window cannot be drawn to.
    #[error("the window cannot be drawn to: {reason}")]
    Surface {
        /// The message of wgpu.
        reason: String,
    },
    /// More is requested than one binding, buffer or texture of this device can hold.
    #[error("{what} takes {needed}, the device allows {limit}")]
    Limit {
        /// Name of what is too large, with its unit.
        what: &'static str,
        /// The size requested.
        needed: u64,
        /// The device's limit.
        limit: u64,
    },
    /// A palette has more rows than a backend of this device holds.
    #[error(
        "the palette of one instance has {needed} joints, the {backend} backend of this device holds {limit}"
    )]
    Joints {
        /// The backend.
        backend: PaletteBackend,
        /// Number of rows of the palette.
        needed: u64,
        /// The most rows that the backend holds; 0 if the device lacks it.
        limit: u64,
    },
    /// An instance reads rows that do not lie in the window of the uniform backend that is bound for it.
    #[error(
        "instance {instance} reads {needed} rows from its window's start on, a window holds {limit}"
    )]
    Window {
        /// Index of the instance in the list that is skinned or drawn.
        instance: usize,
        /// Number of rows from the window's start to the last row that the instance reads.
        needed: u64,
        /// Number of rows of a window.
        limit: u64,
    },
    /// The factor of an interpolated instance is not a number from 0 to 1.
    #[error("the factor of instance {instance} is not a number from 0 to 1")]
    Factor {
        /// Index of the instance in the list that is skinned.
        instance: usize,
    },
    /// The device has no memory left.
    #[error("the graphics device is out of memory")]
    OutOfMemory,
    /// There is no heap memory for palette rows, neither on their way to the device nor instead of it.
    #[error("{0}")]
    HeapMemory(PlaybackError),
    /// The device was lost: removed, reset or destroyed. A program built with `panic = "abort"` aborts
    /// instead if that happens during a wait (`Gpu::wait`).
    #[error("the graphics device was lost: {reason}")]
    Lost {
        /// The message of the driver.
        reason: String,
    },
    /// The device refused a command; a defect of this library or of the driver.
    #[error("the graphics device refused a command: {reason}")]
    Refused {
        /// The message of wgpu.
        reason: String,
    },
}
