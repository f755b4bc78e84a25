//! `Palette`: where the rows of a picture's instances are.

use phalanx::gpu::GpuBoneBuffer;
use phalanx::math::Affine3x4;
use std::ops::Range;

/// Where the palette rows of a scene's instances are.
#[derive(Clone, Copy, Debug)]
pub enum Palette<'a> {
    /// In heap memory, as [`Crowd::evaluate`](phalanx::crowd::Crowd::evaluate) writes them.
    Heap(&'a [Affine3x4]),
    /// On a device, as [`GpuBoneBuffer::evaluate`] writes them: the renderer of that device draws them.
    Device(&'a GpuBoneBuffer),
}

impl<'a> Palette<'a> {
    /// The rows that can be read here: none of those on a device.
    pub(super) fn heap(self) -> &'a [Affine3x4] {
        match self {
            Self::Heap(rows) => rows,
            Self::Device(_) => &[],
        }
    }

    /// The same, but that there is always a page to bind.
    pub(super) fn bound(self) -> Self {
        match self {
            Self::Device(bones) if bones.page_count() == 0 => Self::Heap(&[]),
            some => some,
        }
    }

    /// How many rows there are.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Heap(rows) => rows.len(),
            Self::Device(bones) => bones.row_count(),
        }
    }

    /// Whether some rows are there, one after another.
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

/// On the device, or in heap memory if the device could not take the frame.
impl<'a> From<&'a GpuBoneBuffer> for Palette<'a> {
    fn from(bones: &'a GpuBoneBuffer) -> Self {
        match bones.heap() {
            Some(heap) => Self::Heap(heap.rows()),
            None => Self::Device(bones),
        }
    }
}
