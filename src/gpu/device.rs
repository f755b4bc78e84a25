//! `Gpu`: opening a device; its limits and buffers.

use super::GpuError;
use super::backend::PaletteLimits;
use super::faults::Faults;
use std::sync::atomic::{AtomicU64, Ordering};

/// How to open a device.
#[derive(Clone, Debug)]
pub struct GpuOptions {
    /// Backends to search for adapters. Default: all, or those that `WGPU_BACKEND` in the environment names.
    pub backends: wgpu::Backends,
    /// The most bytes of palette rows in one page; capped by the device's limits. Default: `u64::MAX`.
    pub page_bytes: u64,
    /// Upper bounds for the device's limits, to reproduce a less capable device. Default: unlimited.
    pub limits: wgpu::Limits,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            backends: wgpu::Backends::all().with_env(),
            page_bytes: u64::MAX,
            limits: wgpu::Limits::unlimited(),
        }
    }
}

/// An open device with its queue, limits and error state.
///
/// Run all work through [`Gpu::checked`], which turns the device's errors into typed ones. The library sets the
/// uncaptured-error handler and device-lost callback of a device that it opens; a device of an engine keeps the
/// engine's ([`Gpu::adopt`]). A loss during a wait ([`Gpu::wait`]) needs unwinding to become an error: with `panic =
/// "abort"` it aborts the process.
#[derive(Debug)]
pub struct Gpu {
    /// The device.
    pub device: wgpu::Device,
    /// The device's queue.
    pub queue: wgpu::Queue,
    /// The adapter that the device was opened on.
    pub adapter: wgpu::Adapter,
    palette: PaletteLimits,
    serial: u64,
    pub(super) faults: Faults,
}

/// Features that a device gets if its adapter has them.
const WELCOME: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

impl Gpu {
    /// Opens the first adapter that responds, hardware before software.
    ///
    /// # Errors
    /// If there is no adapter, or the device cannot be opened.
    pub fn open(options: &GpuOptions) -> Result<Self, GpuError> {
        Self::first_of(options, |backends| {
            let mut desc = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
            desc.backends = backends;
            let instance = wgpu::Instance::new(desc);
            Self::request(&instance, None, |adapter| Self::on_adapter(adapter, options))
        })
    }

    /// Tries the backends without GL, then GL.
    pub(super) fn first_of<T>(
        options: &GpuOptions,
        open_among: impl Fn(wgpu::Backends) -> Result<T, GpuError>,
    ) -> Result<T, GpuError> {
        if wgpu::Instance::enabled_backend_features().is_empty() {
            return Err(GpuError::NoAdapter {
                reason: "wgpu was built without a backend for this platform".into(),
            });
        }
        // GL is tried last and alone: searching for it makes some drivers write to standard error, and its libraries
        // free thread-local data when the process exits, which races with threads that end at that moment.
        let mut first = None;
        for gl in [false, true] {
            let backends = if gl {
                options.backends & wgpu::Backends::GL
            } else {
                options.backends - wgpu::Backends::GL
            };
            if backends.is_empty() {
                continue;
            }
            match open_among(backends) {
                Ok(opened) => return Ok(opened),
                // The first error is the more useful one, unless it only reports that there is no adapter.
                Err(error) => match first {
                    None | Some(GpuError::NoAdapter { .. }) => first = Some(error),
                    Some(_) => {}
                },
            }
        }
        Err(first
            .unwrap_or_else(|| GpuError::NoAdapter { reason: "no backend was requested".into() }))
    }

    /// Opens on the adapter that an instance returns, hardware before software. The first error is returned.
    pub(super) fn request<T>(
        instance: &wgpu::Instance,
        surface: Option<&wgpu::Surface<'_>>,
        open_on: impl Fn(&wgpu::Adapter) -> Result<T, GpuError>,
    ) -> Result<T, GpuError> {
        let open = |fallback: bool| {
            let adapter =
                pollster::block_on(instance.request_adapter(&wgpu::RequestAdapterOptions {
                    power_preference: wgpu::PowerPreference::HighPerformance,
                    force_fallback_adapter: fallback,
                    compatible_surface: surface,
                    apply_limit_buckets: false,
                }))
                .map_err(|e| GpuError::NoAdapter { reason: e.to_string() })?;
            open_on(&adapter)
        };
        open(false).or_else(|first| open(true).map_err(|_| first))
    }

    /// Opens a device on a given adapter, with the adapter's limits, capped by `options`.
    ///
    /// # Errors
    /// If the device cannot be opened.
    pub(super) fn on_adapter(
        adapter: &wgpu::Adapter,
        options: &GpuOptions,
    ) -> Result<Self, GpuError> {
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("phalanx"),
            required_features: adapter.features() & WELCOME,
            required_limits: adapter.limits().or_worse_values_from(&options.limits),
            ..Default::default()
        }))
        .map_err(|e| GpuError::NoDevice { adapter: name(adapter), reason: e.to_string() })?;
        let faults = Faults::report(&device);
        Ok(Self::of(adapter, device, queue, options.page_bytes, faults))
    }

    /// Wraps a device that an engine has opened.
    ///
    /// Errors are returned from the calls that caused them: wgpu's error scopes catch the errors of
    /// [`GpuBoneBuffer`](super::GpuBoneBuffer) and of [`Gpu::checked`] on the calling thread. Outside of it, errors of
    /// [`Gpu::buffer`], [`Gpu::bind`], uploads of meshes and the like go to the device's uncaptured-error handler.
    ///
    /// That handler and the device-lost callback stay the engine's.
    pub fn adopt(adapter: &wgpu::Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let faults = Faults::probe(&device);
        Self::of(adapter, device, queue, u64::MAX, faults)
    }

    fn of(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        page_bytes: u64,
        faults: Faults,
    ) -> Self {
        static DEVICES: AtomicU64 = AtomicU64::new(0);
        let limits = device.limits();
        let flags = adapter.get_downlevel_capabilities().flags;
        let storage = flags.contains(wgpu::DownlevelFlags::VERTEX_STORAGE)
            && limits.max_storage_buffers_per_shader_stage > 0;
        let wanted = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        let rows = adapter.get_texture_format_features(wgpu::TextureFormat::Rgba32Float);
        let texture = rows.allowed_usages.contains(wanted);
        Self {
            palette: PaletteLimits::new(&limits, page_bytes, storage, texture),
            serial: DEVICES.fetch_add(1, Ordering::Relaxed),
            faults,
            adapter: adapter.clone(),
            device,
            queue,
        }
    }

    /// A number that no other device of the process has. wgpu's own ids are not used: they repeat between instances.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The adapter's name and the graphics API that drives it, such as `llvmpipe (LLVM 15.0.6, 256 bits) (vulkan)`.
    pub fn adapter_name(&self) -> String {
        name(&self.adapter)
    }

    /// Palette rows in a window of the uniform backend: 341 in 16 KiB, 1365 in 64 KiB.
    pub fn window_rows(&self) -> u64 {
        self.palette.window
    }

    pub(super) fn palette_limits(&self) -> &PaletteLimits {
        &self.palette
    }

    /// Creates an unmapped buffer with unspecified contents. `what` is its label, and its name in the error.
    ///
    /// # Errors
    /// If `size` is above the device's limit: wgpu's own error lacks the numbers.
    pub fn empty_buffer(
        &self,
        what: &'static str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        let limit = self.device.limits().max_buffer_size;
        if size > limit {
            return Err(GpuError::Limit { what, needed: size, limit });
        }
        // Not `create_buffer_init`: that one panics when the device has no memory left.
        Ok(self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(what),
            size,
            usage,
            mapped_at_creation: false,
        }))
    }

    /// A texture of one layer for shaders to read, and for copies into it.
    pub(super) fn texture(
        &self,
        label: &str,
        format: wgpu::TextureFormat,
        [width, height]: [u32; 2],
    ) -> wgpu::Texture {
        self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some(label),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        })
    }

    /// A buffer with `contents`, zero-padded to a multiple of 16 bytes and never empty.
    ///
    /// # Errors
    /// If the buffer is above the device's limit. [`Gpu::checked`] reports a lack of memory.
    pub fn buffer(
        &self,
        what: &'static str,
        contents: &[u8],
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        let size = (contents.len() as u64).next_multiple_of(16).max(16);
        let buffer = self.empty_buffer(what, size, usage | wgpu::BufferUsages::COPY_DST)?;
        let whole = contents.len() & !3;
        let (head, tail) = contents.split_at(whole);
        if !head.is_empty() {
            self.queue.write_buffer(&buffer, 0, head);
        }
        if !tail.is_empty() {
            let mut word = [0u8; 4];
            word[..tail.len()].copy_from_slice(tail);
            self.queue.write_buffer(&buffer, whole as u64, &word);
        }
        Ok(buffer)
    }

    /// Reads bytes of a buffer back to the CPU, after all submitted work is done. The buffer needs `MAP_READ`, or
    /// `COPY_SRC`: its bytes are then copied to one that is mapped.
    ///
    /// # Errors
    /// If the device fails or refuses to copy or map the buffer.
    pub fn read(&self, bytes: wgpu::BufferSlice<'_>) -> Result<Vec<u8>, GpuError> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let (from, offset, size) = (bytes.buffer(), bytes.offset(), bytes.size());
        let (mapped, range) = self.checked(|| {
            let (mapped, first) = if from.usage().contains(wgpu::BufferUsages::MAP_READ) {
                (from.clone(), offset)
            } else {
                let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
                let copy = self.empty_buffer("bytes to read back", size, usage)?;
                let mut encoder = self.device.create_command_encoder(&Default::default());
                encoder.copy_buffer_to_buffer(from, offset, &copy, 0, size);
                self.queue.submit([encoder.finish()]);
                (copy, 0)
            };
            let range = first..first + size;
            mapped.map_async(wgpu::MapMode::Read, range.clone(), move |result| {
                // The receiver is gone if the wait failed, as with a lost device.
                let _ = sender.send(result);
            });
            self.wait()?;
            Ok((mapped, range))
        })?;
        let refused = |e: &dyn std::fmt::Display| GpuError::Refused {
            reason: format!("the buffer was not mapped: {e}"),
        };
        receiver.try_recv().map_err(|e| refused(&e))?.map_err(|e| refused(&e))?;
        let bytes = mapped.get_mapped_range(range).map_err(|e| refused(&e))?.to_vec();
        mapped.unmap();
        Ok(bytes)
    }

    /// A bind group with `resources` at bindings 0, 1, 2, … of a layout of this device. wgpu reports errors to the
    /// error scope or handler in force.
    pub fn bind(
        &self,
        layout: &wgpu::BindGroupLayout,
        resources: &[wgpu::BindingResource<'_>],
    ) -> wgpu::BindGroup {
        let entries: Vec<_> = (0u32..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry { binding, resource: resource.clone() })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout,
            entries: &entries,
        })
    }
}

fn name(adapter: &wgpu::Adapter) -> String {
    let info = adapter.get_info();
    format!("{} ({})", info.name, info.backend)
}
