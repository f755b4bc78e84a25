//! How long the device takes for the copies of a frame: two timestamps.

use super::{Gpu, GpuError};
use std::time::Duration;

/// Timestamps before and after what is recorded between [`begin`](Self::begin) and [`end`](Self::end).
#[derive(Debug)]
pub(super) struct Stamps {
    queries: wgpu::QuerySet,
    /// Whether both have been recorded.
    noted: bool,
}

/// Bytes of a timestamp.
const STAMP: usize = size_of::<u64>();

impl Stamps {
    /// `None` if the device cannot note its time between copies.
    pub fn new(gpu: &Gpu) -> Option<Self> {
        let needed = wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS;
        gpu.device.features().contains(needed).then(|| Self {
            queries: gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("palette copies"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            }),
            noted: false,
        })
    }

    pub fn begin(&mut self, encoder: &mut wgpu::CommandEncoder) {
        encoder.write_timestamp(&self.queries, 0);
    }

    pub fn end(&mut self, encoder: &mut wgpu::CommandEncoder) {
        encoder.write_timestamp(&self.queries, 1);
        self.noted = true;
    }

    /// The time between them, waiting for the device; `None` if nothing has been recorded.
    pub fn read(&self, gpu: &Gpu) -> Result<Option<Duration>, GpuError> {
        if !self.noted {
            return Ok(None);
        }
        let bytes = gpu.checked(|| {
            let buffer = |usage| {
                gpu.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("timestamps"),
                    size: 2 * STAMP as u64,
                    usage,
                    mapped_at_creation: false,
                })
            };
            let resolved = buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC);
            let read = buffer(wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST);
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            encoder.resolve_query_set(&self.queries, 0..2, &resolved, 0);
            encoder.copy_buffer_to_buffer(&resolved, 0, &read, 0, read.size());
            gpu.queue.submit([encoder.finish()]);
            Ok(read)
        })?;
        let bytes = gpu.read(&bytes)?;
        let stamp = |i: usize| {
            let bytes = bytes.get(i * STAMP..(i + 1) * STAMP);
            let bytes = bytes.and_then(|b| b.try_into().ok());
            bytes.map_or(0, u64::from_ne_bytes)
        };
        let ticks = stamp(1).saturating_sub(stamp(0)) as f64;
        let nanos = ticks * f64::from(gpu.queue.get_timestamp_period());
        Ok(Some(Duration::from_nanos(nanos as u64)))
    }
}
