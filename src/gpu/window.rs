//! Opening a device that can show its pictures in a window.

use super::{Gpu, GpuError, GpuOptions};
use wgpu::rwh::{HasDisplayHandle, HasWindowHandle};

/// A window of any windowing crate: a cheap handle that keeps it alive, such as an `Arc` of it.
pub trait WindowHandle:
    HasWindowHandle + HasDisplayHandle + std::fmt::Debug + Clone + Send + Sync + 'static
{
}

impl<T> WindowHandle for T where
    T: HasWindowHandle + HasDisplayHandle + std::fmt::Debug + Clone + Send + Sync + 'static
{
}

/// A window's surface, and what the adapter of its device can do with it.
#[derive(Debug)]
pub struct WindowSurface {
    /// The surface.
    pub surface: wgpu::Surface<'static>,
    /// Formats, ways to present and to blend.
    pub capabilities: wgpu::SurfaceCapabilities,
}

impl Gpu {
    /// Opens a device for a window, and the window's surface: as [`Gpu::open`], among the adapters that
    /// can present there.
    ///
    /// A surface that was lost is opened anew the same way. Errors: those of [`Gpu::open`], or a
    /// window without a surface.
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
                    // Without an adapter there is no surface either, and that is what has to be known.
                    Err(error @ GpuError::NoAdapter { .. }) => error,
                    _ => GpuError::Surface {
                        reason: e.to_string(),
                    },
                })?;
            Self::request(&instance, Some(&surface), |adapter| {
                let capabilities = surface.get_capabilities(adapter);
                if capabilities.formats.is_empty() {
                    return Err(GpuError::Surface {
                        reason: "this adapter cannot present there".into(),
                    });
                }
                Ok((Self::on_adapter(adapter, options)?, capabilities))
            })
            .map(|(gpu, capabilities)| {
                let surface = WindowSurface {
                    surface,
                    capabilities,
                };
                (gpu, surface)
            })
        })
    }
}
