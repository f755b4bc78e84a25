//! What can go wrong between this library and a graphics device.

use super::PaletteBackend;
use crate::crowd::RowMemoryError;

/// Errors of devices and uploads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// No adapter answers on any enabled backend.
    #[error("no graphics adapter: {reason}")]
    NoAdapter {
        /// What wgpu said.
        reason: String,
    },
    /// The adapter lacks something that drawing needs.
    #[error("adapter {adapter} cannot draw crowds: {what} is {found}, at least {needed} is needed")]
    Unsupported {
        /// The adapter's name.
        adapter: String,
        /// The limit or capability.
        what: &'static str,
        /// What the adapter has.
        found: u64,
        /// What is needed.
        needed: u64,
    },
    /// The adapter refused to open a device.
    #[error("adapter {adapter} gave no device: {reason}")]
    NoDevice {
        /// The adapter's name.
        adapter: String,
        /// What wgpu said.
        reason: String,
    },
    /// A window that cannot be drawn to.
    #[error("the window cannot be drawn to: {reason}")]
    Surface {
        /// What wgpu said.
        reason: String,
    },
    /// More is asked for than one binding, buffer or texture of this device can hold.
    #[error("{what} takes {needed}, the device allows {limit}")]
    Limit {
        /// What is too large, with its unit.
        what: &'static str,
        /// The size asked for.
        needed: u64,
        /// The device's limit.
        limit: u64,
    },
    /// A palette has more rows than a backend of this device holds; 0 if it lacks the backend.
    #[error(
        "the palette of one instance has {needed} joints, the {backend} backend of this device \
         holds {limit}"
    )]
    Joints {
        /// The backend.
        backend: PaletteBackend,
        /// The palette's rows.
        needed: u64,
        /// What the backend holds.
        limit: u64,
    },
    /// The device has no memory left.
    #[error("the graphics device is out of memory")]
    OutOfMemory,
    /// The system has no heap memory left for palette rows on their way to the device, or in its place.
    #[error("{0}")]
    HeapMemory(RowMemoryError),
    /// The device was lost: removed, reset or destroyed. Programs built with `panic = "abort"` end
    /// instead where it happens during a wait (`Gpu::wait`).
    #[error("the graphics device was lost: {reason}")]
    Lost {
        /// What the driver said.
        reason: String,
    },
    /// The device refused a command; a defect of this library or of the driver.
    #[error("the graphics device refused a command: {reason}")]
    Refused {
        /// What wgpu said.
        reason: String,
    },
}
