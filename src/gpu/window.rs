//! Opening a device that can present to a window.

use super::{Gpu, GpuError, GpuOptions};
use wgpu::rwh::{HasDisplayHandle, HasWindowHandle};

impl Gpu {
    /// Opens a device for a window, and the window's surface: as [`Gpu::open`], among the adapters that can present to
    /// the window. `window` is a cheap handle of any windowing crate that keeps the window alive, such as an `Arc`.
    ///
    /// Call it again for a surface that was lost. `surface.get_capabilities(&gpu.adapter)` gives its formats and modes.
    ///
    /// # Errors
    /// If the window has no surface, or for a reason that [`Gpu::open`] lists.
    pub fn open_for_window<W>(
        options: &GpuOptions,
        window: &W,
    ) -> Result<(Self, wgpu::Surface<'static>), GpuError>
    where
        W: HasWindowHandle + HasDisplayHandle + std::fmt::Debug + Clone + Send + Sync + 'static,
    {
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
            let gpu = Self::request(&instance, Some(&surface), |adapter| {
                if surface.get_capabilities(adapter).formats.is_empty() {
                    return Err(GpuError::Surface {
                        reason: "this adapter cannot present to the window".into(),
                    });
                }
                Self::on_adapter(adapter, options)
            })?;
            Ok((gpu, surface))
        })
    }
}
