//! Opening a device; its limits and buffers.

use super::faults::{Faults, watch};
use super::{GpuError, PaletteLimits};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// How to open a device.
#[derive(Clone, Debug)]
pub struct GpuOptions {
    /// Backends to look for adapters on; `WGPU_BACKEND` in the environment narrows the default.
    pub backends: wgpu::Backends,
    /// The most bytes of palette rows in one page; the device's limits if they are less.
    pub page_bytes: u64,
    /// Limits that the device is not to exceed, though its adapter may: to see how a lesser one does.
    pub limits: wgpu::Limits,
    /// Storage buffers that the vertex stage must be able to bind. Adapters with fewer are refused.
    pub vertex_storage_buffers: u32,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            backends: wgpu::Backends::all().with_env(),
            page_bytes: u64::MAX,
            limits: wgpu::Limits::unlimited(),
            vertex_storage_buffers: 0,
        }
    }
}

/// Which adapter a device was opened on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdapterName {
    /// The adapter's name, such as `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// The interface it is driven through, such as `vulkan`.
    pub api: String,
    /// Whether the adapter computes on the CPU.
    pub software: bool,
}

impl AdapterName {
    fn of(info: &wgpu::AdapterInfo) -> Self {
        Self {
            name: info.name.clone(),
            api: info.backend.to_string(),
            software: info.device_type == wgpu::DeviceType::Cpu,
        }
    }
}

impl std::fmt::Display for AdapterName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.name, self.api)
    }
}

/// An open device with its queue, limits and error state.
///
/// All work goes through [`Gpu::checked`], which turns the device's errors into typed ones; an
/// uncaptured-error handler and a device-lost callback are always installed. A loss during a wait
/// ([`Gpu::wait`]) needs unwinding to become an error: with `panic = "abort"` it ends the process.
#[derive(Debug)]
pub struct Gpu {
    /// The device.
    pub device: wgpu::Device,
    /// Its queue.
    pub queue: wgpu::Queue,
    adapter: AdapterName,
    samples: u32,
    palette: PaletteLimits,
    vertex_storage_buffers: u32,
    serial: u64,
    pub(super) faults: Arc<Mutex<Faults>>,
}

/// Formats of pictures, shadow masks and depth: all three must agree on a number of samples.
const TARGET_FORMATS: [wgpu::TextureFormat; 3] = [
    wgpu::TextureFormat::Rgba8UnormSrgb,
    wgpu::TextureFormat::R8Unorm,
    wgpu::TextureFormat::Depth32Float,
];

/// Features that are asked for where an adapter has them.
const WELCOME: wgpu::Features =
    wgpu::Features::TIMESTAMP_QUERY.union(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS);

impl Gpu {
    /// Opens the first adapter that answers, hardware before software.
    ///
    /// Errors: no adapter, and those of [`Gpu::on_adapter`].
    pub fn open(options: &GpuOptions) -> Result<Self, GpuError> {
        Self::first_of(options, |backends| {
            let mut desc = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
            desc.backends = backends;
            let instance = wgpu::Instance::new(desc);
            Self::request(&instance, None, |adapter| {
                Self::on_adapter(adapter, options)
            })
        })
    }

    /// Opens among the backends without GL, then on GL.
    pub(super) fn first_of<T>(
        options: &GpuOptions,
        open_among: impl Fn(wgpu::Backends) -> Result<T, GpuError>,
    ) -> Result<T, GpuError> {
        if wgpu::Instance::enabled_backend_features().is_empty() {
            return Err(GpuError::NoAdapter {
                reason: "wgpu was built without a backend for this platform".into(),
            });
        }
        // GL on its own and last: merely looking for it makes some drivers write to standard error,
        // and its libraries free thread-local data when the process exits, which races with threads
        // that end at that moment.
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
                // The first error says more, unless it only says that nothing is there.
                Err(error) => match first {
                    None | Some(GpuError::NoAdapter { .. }) => first = Some(error),
                    Some(_) => {}
                },
            }
        }
        Err(first.unwrap_or_else(|| GpuError::NoAdapter {
            reason: "no backend was asked for".into(),
        }))
    }

    /// Opens on the adapter that an instance gives, hardware before software.
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
                .map_err(|e| GpuError::NoAdapter {
                    reason: e.to_string(),
                })?;
            open_on(&adapter)
        };
        open(false).or_else(|first| open(true).map_err(|_| first))
    }

    /// Opens a device on an adapter of the caller's choice, one that presents to a window, say.
    ///
    /// The device gets the adapter's limits, as far as `options` allow them. Errors: an adapter with
    /// fewer storage buffers in the vertex stage than are wanted, a device that cannot be opened.
    pub fn on_adapter(adapter: &wgpu::Adapter, options: &GpuOptions) -> Result<Self, GpuError> {
        let name = AdapterName::of(&adapter.get_info());
        let limits = adapter.limits().or_worse_values_from(&options.limits);
        let storage = vertex_storage(adapter, &limits);
        if storage < options.vertex_storage_buffers {
            return Err(GpuError::Unsupported {
                adapter: name.to_string(),
                what: "the number of storage buffers in the vertex stage",
                found: storage.into(),
                needed: options.vertex_storage_buffers.into(),
            });
        }
        let (device, queue) = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("phalanx"),
            required_features: adapter.features() & WELCOME,
            required_limits: limits,
            ..Default::default()
        }))
        .map_err(|e| GpuError::NoDevice {
            adapter: name.to_string(),
            reason: e.to_string(),
        })?;
        Ok(Self::adopt(adapter, device, queue, options.page_bytes))
    }

    /// Works on a device that an engine has opened. Replaces its uncaptured-error handler and its
    /// device-lost callback: errors come back from the calls that caused them.
    pub fn adopt(
        adapter: &wgpu::Adapter,
        device: wgpu::Device,
        queue: wgpu::Queue,
        page_bytes: u64,
    ) -> Self {
        static DEVICES: AtomicU64 = AtomicU64::new(0);
        let limits = device.limits();
        let formats = |format| adapter.get_texture_format_features(format);
        let four = TARGET_FORMATS
            .iter()
            .all(|&f| formats(f).flags.sample_count_supported(4));
        let storage = vertex_storage(adapter, &limits);
        let wanted = wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST;
        let rows = formats(wgpu::TextureFormat::Rgba32Float).allowed_usages;
        Self {
            adapter: AdapterName::of(&adapter.get_info()),
            samples: if four { 4 } else { 1 },
            palette: PaletteLimits::new(&limits, page_bytes, storage > 0, rows.contains(wanted)),
            vertex_storage_buffers: storage,
            serial: DEVICES.fetch_add(1, Ordering::Relaxed),
            faults: watch(&device),
            device,
            queue,
        }
    }

    /// A number that no other device of the process has. wgpu's own identities repeat from instance to
    /// instance, and it panics where it finds none.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The adapter that the device was opened on.
    pub fn adapter(&self) -> &AdapterName {
        &self.adapter
    }

    /// Samples per pixel that all render targets support: 4, or 1.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Storage buffers that the vertex stage can bind.
    pub fn vertex_storage_buffers(&self) -> u32 {
        self.vertex_storage_buffers
    }

    /// What of a palette the device holds, by backend.
    pub fn palette_limits(&self) -> &PaletteLimits {
        &self.palette
    }

    /// The most palette rows that one storage binding holds.
    pub fn page_rows(&self) -> u32 {
        u32::try_from(self.palette.storage).unwrap_or(u32::MAX)
    }

    /// Refuses a buffer that the device cannot make or bind.
    ///
    /// A too large buffer is a validation error in wgpu; asking first keeps both numbers.
    pub fn check_buffer(&self, what: &'static str, bytes: u64) -> Result<(), GpuError> {
        let limits = self.device.limits();
        let limit = limits.max_buffer_size;
        if bytes > limit {
            return Err(GpuError::Limit {
                what,
                needed: bytes,
                limit,
            });
        }
        Ok(())
    }

    /// A buffer with `contents`, padded to whole words and never empty.
    ///
    /// Errors: larger than the device's limit. Out of memory is reported by [`Gpu::checked`].
    pub fn buffer(
        &self,
        what: &'static str,
        contents: &[u8],
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, GpuError> {
        let size = (contents.len() as u64).next_multiple_of(16).max(16);
        self.check_buffer(what, size)?;
        // Not `create_buffer_init`: that one panics when the device has no memory left.
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(what),
            size,
            usage: usage | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let whole = contents.len() & !3;
        let (head, tail) = contents.split_at(whole);
        if !head.is_empty() {
            self.queue.write_buffer(&buffer, 0, head);
        }
        if !tail.is_empty() {
            let mut word = [0u8; 4];
            for (to, from) in word.iter_mut().zip(tail) {
                *to = *from;
            }
            self.queue.write_buffer(&buffer, whole as u64, &word);
        }
        Ok(buffer)
    }

    /// Copies a mappable buffer's bytes to the CPU, after all submitted work is done.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>, GpuError> {
        let (sender, receiver) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver may be gone when the device is lost; nobody waits then.
            let _ = sender.send(result);
        });
        self.wait()?;
        let refused = |reason: String| GpuError::Refused { reason };
        receiver
            .try_recv()
            .map_err(|e| refused(format!("the buffer was not mapped: {e}")))?
            .map_err(|e| refused(format!("the buffer was not mapped: {e}")))?;
        let view = buffer
            .get_mapped_range(..)
            .map_err(|e| refused(e.to_string()))?;
        let bytes = view.to_vec();
        drop(view);
        buffer.unmap();
        Ok(bytes)
    }

    /// A bind group of resources at bindings 0, 1, 2, … of a layout of this device. What wgpu refuses goes to
    /// the error scope or handler in force.
    pub fn bind(
        &self,
        layout: &wgpu::BindGroupLayout,
        resources: &[wgpu::BindingResource<'_>],
    ) -> wgpu::BindGroup {
        let entries: Vec<_> = (0u32..)
            .zip(resources)
            .map(|(binding, resource)| wgpu::BindGroupEntry {
                binding,
                resource: resource.clone(),
            })
            .collect();
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout,
            entries: &entries,
        })
    }
}

/// Storage buffers that the vertex stage can bind under some limits.
fn vertex_storage(adapter: &wgpu::Adapter, limits: &wgpu::Limits) -> u32 {
    let flags = adapter.get_downlevel_capabilities().flags;
    if flags.contains(wgpu::DownlevelFlags::VERTEX_STORAGE) {
        limits.max_storage_buffers_per_shader_stage
    } else {
        0
    }
}
