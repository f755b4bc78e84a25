//! A ring of mapped staging buffers, and the palette memory that workers write through.

use super::Gpu;
use super::backend::ROW_BYTES;
use super::paging::Paging;
use crate::crowd::PaletteMemory;
use crate::math::Affine3x4;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

/// Staging buffers per page: one that workers fill, one that the device copies from, and one that comes
/// back. A device that is further behind gets plain writes instead of more memory.
pub const RING: usize = 3;

/// Buffers with room for half as much again as is needed: a crowd that grows makes new ones seldom.
pub(super) fn roomy(rows: usize, max: usize) -> usize {
    (rows + rows / 2).min(max).max(rows)
}

/// The buffer that a part of a page takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// This one of the free ones.
    Fits(usize),
    /// A new one; this one of the free ones is given up for it.
    Instead(usize),
    /// A new one.
    New,
}

/// The smallest buffer with room for some rows, so that larger ones are left for larger parts; else a new
/// one instead of the smallest of all, which is of the least use to the others. `None` if none is free and
/// the ring has `out` of its `most` buffers.
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

/// A staging buffer that is mapped: its part of a page can be written.
#[derive(Debug)]
pub(super) struct Staging {
    pub buffer: wgpu::Buffer,
    rows: usize,
}

/// Staging buffers that are free, and those on their way back from the device.
#[derive(Debug)]
pub(super) struct Ring {
    free: Vec<Staging>,
    away: usize,
    sender: Sender<Option<Staging>>,
    /// Behind a lock only to be shared between threads; nobody waits for it.
    receiver: Mutex<Receiver<Option<Staging>>>,
}

impl Ring {
    pub fn new() -> Self {
        let (sender, receiver) = channel();
        Self {
            free: Vec::new(),
            away: 0,
            sender,
            receiver: Mutex::new(receiver),
        }
    }

    /// Takes back what the device is done with. Does not wait.
    fn collect(&mut self) {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner);
        while let Ok(back) = receiver.try_recv() {
            self.away -= 1;
            self.free.extend(back);
        }
    }

    /// Mapped buffers for parts of pages with that many rows each; `None` if the device has not given
    /// enough of them back yet. Call inside [`Gpu::checked`].
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
                // What is too small gives way: the crowd has grown.
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
                    size: rows as u64 * ROW_BYTES,
                    usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                    mapped_at_creation: true,
                }),
                rows,
            });
        }
        Some(taken)
    }

    /// Has buffers mapped again once the device has copied from them. Call after the submission.
    pub fn give_back(&mut self, buffers: Vec<Staging>) {
        for staging in buffers {
            let sender = self.sender.clone();
            let buffer = staging.buffer.clone();
            self.away += 1;
            buffer.map_async(wgpu::MapMode::Write, .., move |mapped| {
                // The ring may be gone by then, and the buffer goes with it.
                let _ = sender.send(mapped.is_ok().then_some(staging));
            });
        }
    }

    /// Forgets everything: what is away is not waited for.
    pub fn clear(&mut self) {
        *self = Self::new();
    }
}

/// The rows that a frame writes, in the mapped buffers of its pages. Workers split it.
#[derive(Debug)]
pub(super) struct MappedRows<'a> {
    paging: &'a Paging,
    buffers: &'a [Staging],
    /// Whether a view could not be had: rows were lost.
    failed: &'a AtomicBool,
    rows: Range<usize>,
    /// The view that is being filled, its first row and the row after its last.
    view: Option<(wgpu::BufferViewMut, Range<usize>)>,
}

impl<'a> MappedRows<'a> {
    pub fn new(
        paging: &'a Paging,
        buffers: &'a [Staging],
        written: usize,
        failed: &'a AtomicBool,
    ) -> Self {
        Self {
            paging,
            buffers,
            failed,
            rows: 0..written,
            view: None,
        }
    }

    /// Opens the part of the next page that is this worker's.
    fn open(&mut self) -> Option<()> {
        self.view = None;
        let (page, at) = self.paging.locate(self.rows.start)?;
        let end = self.paging.rows(page).end.min(self.rows.end);
        let count = end - self.rows.start;
        let bytes = |rows: usize| rows as u64 * ROW_BYTES;
        let staging = self.buffers.get(page)?;
        if at + count > staging.rows {
            return None;
        }
        let view = staging
            .buffer
            .get_mapped_range_mut(bytes(at)..bytes(at + count))
            .ok()?;
        self.view = Some((view, self.rows.start..end));
        Some(())
    }

    fn put(&mut self, palette: &[Affine3x4]) -> Option<()> {
        let start = self.rows.start;
        if self.view.as_ref().is_none_or(|(_, rows)| rows.end <= start) {
            self.open()?;
        }
        let (view, rows) = self.view.as_mut()?;
        let first = (start - rows.start) * ROW_BYTES as usize;
        let bytes: &[u8] = bytemuck::cast_slice(palette);
        if first + bytes.len() > view.len() {
            return None;
        }
        view.slice(first..first + bytes.len())
            .copy_from_slice(bytes);
        Some(())
    }
}

impl PaletteMemory for MappedRows<'_> {
    fn split_at(self, rows: usize) -> (Self, Self) {
        let middle = (self.rows.start + rows).min(self.rows.end);
        let part = |rows| Self {
            rows,
            view: None,
            ..self
        };
        (part(self.rows.start..middle), part(middle..self.rows.end))
    }

    fn write(&mut self, palette: &[Affine3x4], stride: usize) {
        if self.put(palette).is_none() {
            self.failed.store(true, Ordering::Relaxed);
        }
        self.skip(stride);
    }

    fn skip(&mut self, stride: usize) {
        self.rows.start = (self.rows.start + stride).min(self.rows.end);
    }
}

/// Rows of a frame in heap memory, as they will lie on the device.
#[derive(Debug)]
pub(super) struct HeapRows<'a>(pub &'a mut [Affine3x4]);

impl PaletteMemory for HeapRows<'_> {
    fn split_at(self, rows: usize) -> (Self, Self) {
        let (now, later) = self.0.split_at_mut(rows.min(self.0.len()));
        (Self(now), Self(later))
    }

    fn write(&mut self, palette: &[Affine3x4], stride: usize) {
        if let Some(rows) = self.0.get_mut(..palette.len()) {
            rows.copy_from_slice(palette);
        }
        self.skip(stride);
    }

    fn skip(&mut self, stride: usize) {
        let rest = std::mem::take(&mut self.0);
        self.0 = rest.get_mut(stride..).unwrap_or_default();
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
        // One instance above the page's rows.
        assert_eq!(roomy(1200, 1000), 1200);
    }
}
