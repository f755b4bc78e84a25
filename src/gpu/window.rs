//! Opening a device that can present to a window.

use super::{Gpu, GpuError, GpuOptions};
use wgpu::rwh::{HasDisplayHandle, HasWindowHandle};

/// A window of any windowing crate: a cheap handle that keeps it alive, such as an `Arc`.
pub trait WindowHandle:
    HasWindowHandle + HasDisplayHandle + std::fmt::Debug + Clone + Send + Sync + 'static
{
}

impl<T> WindowHandle for T where
    T: HasWindowHandle + HasDisplayHandle + std::fmt::Debug + Clone + Send + Sync + 'static
{
}

/// A window's surface, and the surface's capabilities on the adapter of the device.
#[derive(Debug)]
pub struct WindowSurface {
    /// The surface.
    pub surface: wgpu::Surface<'static>,
    /// Formats, present modes and alpha modes that the surface supports.
    pub capabilities: wgpu::SurfaceCapabilities,
}

impl Gpu {
    /// Opens a device for a window, and the window's surface: as [`Gpu::open`], among the adapters that can present to
    /// the window.
    ///
    /// Call it again for a surface that was lost.
    ///
    /// # Errors
    /// If the window has no surface, or for a reason that [`Gpu::open`] lists.
    pub fn open_for_window(
        options: &GpuOptions,
        window: &impl WindowHandle,
    ) -> Result<(Self, WindowSurface), GpuError> {
        Self::first_of(options, |backends| {
            let display = Box::new(window.clone());
            let mut desc = wgpu::InstanceDescriptor::new_with_display_handle_from_env(display);
            desc.backends = backends;
            let instance = wgpu::Instance::new(desc);
            let surface = instance.create_surface(window.clone());
            let surface =
                surface.map_err(|e| match Self::request(&instance, None, |_| Ok(())) {
                    // Without an adapter there is no surface; the missing adapter is the cause to report.
                    Err(error @ GpuError::NoAdapter { .. }) => error,
                    _ => GpuError::Surface { reason: e.to_string() },
                })?;
            Self::request(&instance, Some(&surface), |adapter| {
                let capabilities = surface.get_capabilities(adapter);
                if capabilities.formats.is_empty() {
                    return Err(GpuError::Surface {
                        reason: "this adapter cannot present to the window".into(),
                    });
                }
                Ok((Self::on_adapter(adapter, options)?, capabilities))
            })
            .map(|(gpu, capabilities)| {
                let surface = WindowSurface { surface, capabilities };
                (gpu, surface)
            })
        })
    }
}
