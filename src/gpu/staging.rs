//! A ring of mapped staging buffers, and the palette memory through which workers write to them.

use super::Gpu;
use super::backend::{ROW_BYTES, row_bytes};
use super::paging::Paging;
use crate::crowd::PaletteMemory;
use crate::math::Affine3x4;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// Staging buffers per page: one that workers fill, one that the device copies from, and one on its way back. If the
/// device is further behind, rows are sent from heap memory, which costs no further buffers.
pub const RING: usize = 3;

/// The number of rows of a new buffer: 50% more than needed, so that a growing crowd seldom needs new buffers, up to
/// `max`.
pub(super) fn roomy(rows: usize, max: usize) -> usize {
    (rows + rows / 2).min(max).max(rows)
}

/// The buffer to use for one part of the staged rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// The free buffer with this index.
    Fits(usize),
    /// A new buffer; the free buffer with this index is dropped.
    Instead(usize),
    /// A new buffer.
    New,
}

/// Chooses the smallest free buffer with room for the rows, so that larger ones are left for larger parts. If none has
/// room, a new buffer replaces the smallest, which is of least use to other parts. `None` if no buffer is free and
/// `out`, the number in use, has reached `most`.
fn choose(
    sizes: impl Iterator<Item = usize> + Clone,
    rows: usize,
    [out, most]: [usize; 2],
) -> Option<Choice> {
    let sizes = sizes.enumerate();
    let fits = sizes.clone().filter(|&(_, size)| size >= rows);
    let smallest = |(at, _): (usize, usize)| at;
    let fits = fits.min_by_key(|&(_, size)| size).map(smallest);
    let instead = || sizes.min_by_key(|&(_, size)| size).map(smallest);
    fits.map(Choice::Fits)
        .or_else(|| instead().map(Choice::Instead))
        .or_else(|| (out < most).then_some(Choice::New))
}

/// A mapped staging buffer, which workers can write.
#[derive(Debug)]
pub(super) struct Staging {
    pub buffer: wgpu::Buffer,
    rows: usize,
}

/// The free staging buffers, and a channel on which the device returns the others.
#[derive(Debug)]
pub(super) struct Ring {
    free: Vec<Staging>,
    /// Number of buffers that the device uses.
    away: usize,
    sender: Sender<Option<Staging>>,
    /// A mutex only to make the ring `Sync`; it is never contended.
    receiver: Mutex<Receiver<Option<Staging>>>,
}

impl Ring {
    pub fn new() -> Self {
        let (sender, receiver) = channel();
        Self { free: Vec::new(), away: 0, sender, receiver: Mutex::new(receiver) }
    }

    /// Collects the buffers that the device has returned. Does not wait.
    fn collect(&mut self) {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        while let Ok(back) = receiver.try_recv() {
            self.away -= 1;
            self.free.extend(back);
        }
    }

    /// Mapped buffers for parts of `parts` rows each; `None` if the device has not returned enough buffers yet. Call
    /// inside [`Gpu::checked`].
    pub fn take(&mut self, gpu: &Gpu, parts: &[usize], max: usize) -> Option<Vec<Staging>> {
        self.collect();
        let mut taken = Vec::with_capacity(parts.len());
        for &rows in parts {
            let sizes = self.free.iter().map(|s| s.rows);
            let out = self.away + taken.len();
            match choose(sizes, rows, [out, RING * parts.len()]) {
                Some(Choice::Fits(at)) => {
                    taken.push(self.free.swap_remove(at));
                    continue;
                }
                // No free buffer is large enough: the crowd has grown.
                Some(Choice::Instead(at)) => drop(self.free.swap_remove(at)),
                Some(Choice::New) => {}
                None => {
                    self.free.append(&mut taken);
                    return None;
                }
            }
            let rows = roomy(rows, max);
            taken.push(Staging {
                buffer: gpu.device.create_buffer(&wgpu::BufferDescriptor {
                    label: Some("palette staging"),
                    size: row_bytes(rows),
                    usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                    mapped_at_creation: true,
                }),
                rows,
            });
        }
        Some(taken)
    }

    /// Maps buffers again when the device has copied from them. Call after the submission.
    pub fn give_back(&mut self, buffers: Vec<Staging>) {
        for staging in buffers {
            let sender = self.sender.clone();
            let buffer = staging.buffer.clone();
            self.away += 1;
            buffer.map_async(wgpu::MapMode::Write, .., move |mapped| {
                // If the ring was dropped, sending fails and the buffer is dropped.
                let _ = sender.send(mapped.is_ok().then_some(staging));
            });
        }
    }

    /// Drops all buffers; does not wait for those that the device uses.
    pub fn clear(&mut self) {
        *self = Self::new();
    }
}

/// The rows that a frame writes, in mapped buffers. Workers split it.
#[derive(Debug)]
pub(super) struct MappedRows<'a> {
    paging: &'a Paging,
    buffers: &'a [Staging],
    /// Set if a view could not be mapped; rows are then missing and the upload is repeated from heap memory.
    failed: &'a AtomicBool,
    rows: Range<usize>,
    /// The view that is being filled, and the range of rows that it covers.
    view: Option<(wgpu::BufferViewMut, Range<usize>)>,
}

impl<'a> MappedRows<'a> {
    pub fn new(
        paging: &'a Paging,
        buffers: &'a [Staging],
        written: usize,
        failed: &'a AtomicBool,
    ) -> Self {
        Self { paging, buffers, failed, rows: 0..written, view: None }
    }

    /// Maps this worker's part of the page that holds a row.
    fn open(&mut self, row: usize) -> Option<()> {
        self.view = None;
        let (page, _) = self.paging.locate(row)?;
        let of_page = self.paging.rows(page);
        let start = of_page.start.max(self.rows.start);
        let end = of_page.end.min(self.rows.end);
        let (at, count) = (start - of_page.start, end - start);
        let staging = self.buffers.get(page)?;
        if at + count > staging.rows {
            return None;
        }
        let view =
            staging.buffer.get_mapped_range_mut(row_bytes(at)..row_bytes(at + count)).ok()?;
        self.view = Some((view, start..end));
        Some(())
    }

    fn put(&mut self, row: usize, palette: &[Affine3x4]) -> Option<()> {
        let row = self.rows.start + row;
        let open = self.view.as_ref();
        if open.is_none_or(|(_, rows)| !rows.contains(&row)) {
            self.open(row)?;
        }
        let (view, rows) = self.view.as_mut()?;
        let first = (row - rows.start) * ROW_BYTES as usize;
        let bytes: &[u8] = bytemuck::cast_slice(palette);
        if first + bytes.len() > view.len() {
            return None;
        }
        view.slice(first..first + bytes.len()).copy_from_slice(bytes);
        Some(())
    }
}

impl PaletteMemory for MappedRows<'_> {
    fn split_at(self, rows: usize) -> (Self, Self) {
        let middle = (self.rows.start + rows).min(self.rows.end);
        let part = |rows| Self { rows, view: None, ..self };
        (part(self.rows.start..middle), part(middle..self.rows.end))
    }

    fn write(&mut self, row: usize, palette: &[Affine3x4]) {
        if self.put(row, palette).is_none() {
            self.failed.store(true, Ordering::Relaxed);
        }
    }
}

/// Rows of a frame in heap memory, in the order of [`MappedRows`].
#[derive(Debug)]
pub(super) struct HeapRows<'a>(pub &'a mut [Affine3x4]);

impl PaletteMemory for HeapRows<'_> {
    fn split_at(self, rows: usize) -> (Self, Self) {
        let (now, later) = self.0.split_at_mut(rows.min(self.0.len()));
        (Self(now), Self(later))
    }

    fn write(&mut self, row: usize, palette: &[Affine3x4]) {
        if let Some(rows) = self.0.get_mut(row..row + palette.len()) {
            rows.copy_from_slice(palette);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_take_the_smallest_buffer_with_room() {
        let choose = |sizes: &[usize], rows| choose(sizes.iter().copied(), rows, [3, 3]);
        assert_eq!(choose(&[900, 100, 300, 120], 110), Some(Choice::Fits(3)));
        assert_eq!(choose(&[900, 100, 300, 120], 100), Some(Choice::Fits(1)));
        assert_eq!(choose(&[900, 100, 300, 120], 301), Some(Choice::Fits(0)));
        assert_eq!(choose(&[900, 100, 300], 901), Some(Choice::Instead(1)));
    }

    #[test]
    fn a_ring_whose_buffers_are_all_away_has_none_to_give() {
        let choose = |out| choose([].into_iter(), 1, [out, 3]);
        assert_eq!(choose(0), Some(Choice::New));
        assert_eq!(choose(2), Some(Choice::New));
        assert_eq!(choose(3), None);
        assert_eq!(choose(4), None);
    }

    #[test]
    fn new_buffers_have_room_to_grow_up_to_a_page() {
        assert_eq!([roomy(100, 1000), roomy(900, 1000)], [150, 1000]);
        // One instance larger than a page.
        assert_eq!(roomy(1200, 1000), 1200);
    }
}
