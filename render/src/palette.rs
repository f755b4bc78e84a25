//! `Palette`: the palette rows of a scene, in heap memory or on a device.

use phalanx::gpu::GpuBoneBuffer;
use phalanx::math::Affine3x4;
use std::ops::Range;

/// The palette rows of a scene's instances, in heap memory or on a device.
#[derive(Clone, Copy, Debug)]
pub enum Palette<'a> {
    /// In heap memory, as [`Crowd::evaluate`](phalanx::crowd::Crowd::evaluate) writes them.
    Heap(&'a [Affine3x4]),
    /// On a device, as [`GpuBoneBuffer::evaluate`] writes them. Only a renderer on that device can draw them.
    Device(&'a GpuBoneBuffer),
}

impl<'a> Palette<'a> {
    /// The rows in heap memory; empty for a palette on a device.
    pub(super) fn heap(self) -> &'a [Affine3x4] {
        match self {
            Self::Heap(rows) => rows,
            Self::Device(_) => &[],
        }
    }

    /// The same palette, with an empty heap palette for a device without pages, so that a page can be bound.
    pub(super) fn bound(self) -> Self {
        match self {
            Self::Device(bones) if bones.page_count() == 0 => Self::Heap(&[]),
            some => some,
        }
    }

    /// The number of rows.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Heap(rows) => rows.len(),
            Self::Device(bones) => bones.row_count(),
        }
    }

    /// Whether the rows exist and are contiguous.
    pub(super) fn holds(self, rows: Range<usize>) -> bool {
        match self {
            Self::Heap(all) => rows.end <= all.len(),
            Self::Device(bones) => {
                let last = rows.end.saturating_sub(1).max(rows.start)..rows.end;
                let places = bones.locate(&rows).zip(bones.locate(&last));
                places.is_some_and(|(first, last)| first.page == last.page)
            }
        }
    }
}

impl<'a> From<&'a [Affine3x4]> for Palette<'a> {
    fn from(rows: &'a [Affine3x4]) -> Self {
        Self::Heap(rows)
    }
}

impl<'a> From<&'a Vec<Affine3x4>> for Palette<'a> {
    fn from(rows: &'a Vec<Affine3x4>) -> Self {
        Self::Heap(rows)
    }
}

/// The rows on the device, or in heap memory if the device could not hold the frame.
impl<'a> From<&'a GpuBoneBuffer> for Palette<'a> {
    fn from(bones: &'a GpuBoneBuffer) -> Self {
        match bones.heap() {
            Some(heap) => Self::Heap(heap.rows()),
            None => Self::Device(bones),
        }
    }
}
