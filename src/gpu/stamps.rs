//! `Stamps`: device time of parts of the recorded work, from pairs of timestamps.

use super::{Gpu, GpuError};
use std::time::Duration;

/// Pairs of timestamps around parts of the recorded work, between passes and copies.
///
/// Record [`begin`](Self::begin) and [`end`](Self::end) of every part, submit, then [`read`](Self::read).
#[derive(Debug)]
pub struct Stamps {
    queries: wgpu::QuerySet,
    /// True for each part whose end has been recorded.
    noted: Vec<bool>,
}

/// Bytes of a timestamp.
const STAMP: usize = size_of::<u64>();

impl Stamps {
    /// Whether the device has timestamps between passes and copies.
    pub(super) fn are_there(gpu: &Gpu) -> bool {
        gpu.device.features().contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS)
    }

    /// Timestamps for `parts` parts; `None` if the device has no timestamps between passes and copies.
    pub fn new(gpu: &Gpu, parts: u32) -> Option<Self> {
        Self::are_there(gpu).then(|| Self {
            queries: gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("timestamps"),
                ty: wgpu::QueryType::Timestamp,
                count: 2 * parts,
            }),
            noted: vec![false; parts as usize],
        })
    }

    /// Marks the beginning of a part.
    pub fn begin(&mut self, encoder: &mut wgpu::CommandEncoder, part: u32) {
        encoder.write_timestamp(&self.queries, 2 * part);
    }

    /// Marks the end of a part.
    pub fn end(&mut self, encoder: &mut wgpu::CommandEncoder, part: u32) {
        encoder.write_timestamp(&self.queries, 2 * part + 1);
        if let Some(noted) = self.noted.get_mut(part as usize) {
            *noted = true;
        }
    }

    /// The device time of each part when it last ran; waits for the device. `None` until every part has been recorded.
    ///
    /// # Errors
    /// If the device fails.
    pub fn read(&self, gpu: &Gpu) -> Result<Option<Vec<Duration>>, GpuError> {
        if !self.noted.iter().all(|&noted| noted) {
            return Ok(None);
        }
        let count = self.queries.count();
        let resolved = gpu.checked(|| {
            let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
            let bytes = u64::from(count) * STAMP as u64;
            let resolved = gpu.empty_buffer("timestamps", bytes, usage)?;
            let mut encoder = gpu.device.create_command_encoder(&Default::default());
            encoder.resolve_query_set(&self.queries, 0..count, &resolved, 0);
            gpu.queue.submit([encoder.finish()]);
            Ok(resolved)
        })?;
        let bytes = gpu.read(resolved.slice(..))?;
        let stamps = bytes.as_chunks::<STAMP>().0;
        let period = f64::from(gpu.queue.get_timestamp_period());
        let part = |pair: &[[u8; STAMP]; 2]| {
            let [begin, end] = pair.map(u64::from_ne_bytes);
            Duration::from_nanos((end.saturating_sub(begin) as f64 * period) as u64)
        };
        Ok(Some(stamps.as_chunks::<2>().0.iter().map(part).collect()))
    }
}
