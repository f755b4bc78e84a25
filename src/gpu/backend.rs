//! The three ways in which shaders read palette rows, and which of them a device supports.

use super::{Gpu, GpuError};
use crate::math::Affine3x4;

/// Bytes of a palette row on every backend.
pub(super) const ROW_BYTES: u64 = size_of::<Affine3x4>() as u64;

/// Bytes of palette rows.
pub(super) fn row_bytes(rows: usize) -> u64 {
    rows as u64 * ROW_BYTES
}

/// Windows of the uniform backend start at multiples of this many rows: 768 bytes, the smallest multiple
/// of both the 48-byte row and the 256-byte offset alignment that every device accepts.
const WINDOW_ALIGN: usize = 16;

/// The most bytes of a window. Some drivers allow gigabytes, but the shaders declare arrays of this size.
const MAX_WINDOW_BYTES: u64 = 64 << 10;

/// The most bytes of a page, since dynamic offsets and shader indices are 32 bits wide.
const MAX_PAGE_BYTES: u64 = u32::MAX as u64;

/// How shaders read palette rows. The bytes of a row are the same for all: 48.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PaletteBackend {
    /// Windows of a uniform buffer at dynamic offsets: the fewest requirements, but a draw per window.
    Uniform,
    /// An rgba32float texture read by `textureLoad`, three texels per row: available everywhere, with no practical
    /// limit on joints.
    Texture,
    /// A storage buffer: the least work per fetch.
    Storage,
}

impl PaletteBackend {
    /// All backends.
    pub const ALL: [Self; 3] = [Self::Uniform, Self::Texture, Self::Storage];

    /// The best backend of a device for palettes of up to `joints` rows: storage, else texture, else uniform.
    ///
    /// # Errors
    /// If no backend of the device holds such palettes; the error states both numbers.
    pub fn choose(gpu: &Gpu, joints: usize) -> Result<Self, GpuError> {
        let order = [Self::Storage, Self::Texture, Self::Uniform];
        let fits = order.into_iter().find(|b| b.check(gpu, joints).is_ok());
        // `rev`, so that the first of equal backends is in the error: `max_by_key` returns the last.
        let most = || order.into_iter().rev().max_by_key(|b| b.max_joints(gpu, false));
        let best = fits.or_else(most).unwrap_or(Self::Storage);
        best.check(gpu, joints).map(|()| best)
    }

    /// The most rows of one palette that the device holds; 0 if it lacks the backend.
    ///
    /// Interpolated instances have a `pair` of palettes: the second begins at the next multiple of
    /// [`align`](Self::align) behind the first. Both lie in one page, and with the uniform backend in one window: 165
    /// rows each in 16 KiB, 677 in 64 KiB.
    pub fn max_joints(self, gpu: &Gpu, pair: bool) -> u64 {
        let limits = gpu.palette_limits();
        let rows = match self {
            Self::Uniform => limits.window,
            Self::Texture => limits.texture,
            Self::Storage => limits.storage,
        };
        match pair {
            true => most_of_pair(rows.min(limits.page(self)), self.align() as u64),
            false => rows,
        }
    }

    /// Checks that a device can hold palettes of `joints` rows.
    ///
    /// # Errors
    /// If a palette has more rows than [`max_joints`](Self::max_joints); the error states both numbers.
    pub fn check(self, gpu: &Gpu, joints: usize) -> Result<(), GpuError> {
        let (needed, limit) = (joints as u64, self.max_joints(gpu, false));
        if limit == 0 || needed > limit {
            return Err(GpuError::Joints { backend: self, needed, limit });
        }
        Ok(())
    }

    /// The layout of a binding of palette rows. With the uniform backend the binding has a dynamic offset.
    pub fn layout_entry(
        self,
        binding: u32,
        visibility: wgpu::ShaderStages,
    ) -> wgpu::BindGroupLayoutEntry {
        wgpu::BindGroupLayoutEntry {
            binding,
            visibility,
            ty: match self {
                Self::Uniform => wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Uniform,
                    has_dynamic_offset: true,
                    min_binding_size: None,
                },
                Self::Texture => wgpu::BindingType::Texture {
                    sample_type: wgpu::TextureSampleType::Float { filterable: false },
                    view_dimension: wgpu::TextureViewDimension::D2,
                    multisampled: false,
                },
                Self::Storage => wgpu::BindingType::Buffer {
                    ty: wgpu::BufferBindingType::Storage { read_only: true },
                    has_dynamic_offset: false,
                    min_binding_size: None,
                },
            },
            count: None,
        }
    }

    /// The alignment of an instance's first row, in rows.
    pub fn align(self) -> usize {
        match self {
            Self::Uniform => WINDOW_ALIGN,
            Self::Texture | Self::Storage => 1,
        }
    }
}

/// The largest `n` for which `n` rows and, from the next multiple of `align` on, another `n` rows take at most `rows`.
fn most_of_pair(rows: u64, align: u64) -> u64 {
    let whole = rows / 2 / align * align;
    let next = whole + align;
    whole.max(rows.saturating_sub(next).min(next))
}

impl std::fmt::Display for PaletteBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Uniform => "uniform",
            Self::Texture => "texture",
            Self::Storage => "storage",
        })
    }
}

/// The most palette rows that each backend of a device holds; 0 if it lacks the backend.
#[derive(Clone, Copy, Debug)]
pub(super) struct PaletteLimits {
    /// Rows of a window of the uniform backend: 341 in 16 KiB, 1365 in 64 KiB.
    pub window: u64,
    /// Rows of a page of the uniform backend: a buffer minus the window that pads its end.
    pub uniform: u64,
    /// Rows of a page of the texture backend.
    pub texture: u64,
    /// Palette rows per line of texels in a page of the texture backend.
    pub line: u64,
    /// Rows of a page of the storage backend.
    pub storage: u64,
}

impl PaletteLimits {
    /// The limits that follow from a device's. `page_bytes` caps the size of a page.
    pub fn new(limits: &wgpu::Limits, page_bytes: u64, storage: bool, texture: bool) -> Self {
        let page_bytes = page_bytes.min(MAX_PAGE_BYTES);
        let buffer = limits.max_buffer_size.min(page_bytes.max(ROW_BYTES));
        let window = limits.max_uniform_buffer_binding_size.min(MAX_WINDOW_BYTES) / ROW_BYTES;
        // Three texels per row, and lines in multiples of 256 bytes for copies.
        let line = u64::from(limits.max_texture_dimension_2d) / 48 * 16;
        let lines = u64::from(limits.max_texture_dimension_2d);
        let whole_lines = (limits.max_buffer_size / ROW_BYTES).checked_div(line).unwrap_or(0);
        let storage_bytes = limits.max_storage_buffer_binding_size.min(buffer);
        let uniform_bytes = (limits.max_buffer_size).saturating_sub(window * ROW_BYTES);
        let texture_rows = (line * lines.min(whole_lines)).min(page_bytes / ROW_BYTES);
        Self {
            window,
            uniform: uniform_bytes.min(page_bytes) / ROW_BYTES,
            texture: if texture { texture_rows } else { 0 },
            line,
            storage: if storage { storage_bytes / ROW_BYTES } else { 0 },
        }
    }

    /// The most rows of a page.
    pub fn page(&self, backend: PaletteBackend) -> u64 {
        match backend {
            PaletteBackend::Uniform => self.uniform,
            PaletteBackend::Texture => self.texture,
            PaletteBackend::Storage => self.storage,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_of_known_devices() {
        let webgl = wgpu::Limits::downlevel_webgl2_defaults();
        let l = PaletteLimits::new(&webgl, u64::MAX, false, true);
        assert_eq!((l.window, l.storage, l.line), (341, 0, 672));
        assert_eq!(l.texture, 672 * 2048);
        let l = PaletteLimits::new(&wgpu::Limits::default(), u64::MAX, true, true);
        assert_eq!((l.window, l.storage), (1365, (128 << 20) / 48));
        // 128 MiB hold more than 34,000 instances of 67 joints.
        assert!(l.storage / 67 > 34_000);
        let l = PaletteLimits::new(&wgpu::Limits::default(), 4800, true, false);
        assert_eq!((l.storage, l.texture, l.uniform), (100, 0, 100));
    }

    #[test]
    fn pairs_fill_windows_and_pages() {
        for align in [1, 16] {
            for rows in 0..2000u64 {
                let fits = |n: &u64| n.next_multiple_of(align) + n <= rows;
                let most = (0..=rows).rev().find(fits).unwrap();
                assert_eq!(most_of_pair(rows, align), most, "{rows} rows by {align}");
            }
        }
        assert_eq!([341, 1365].map(|rows| most_of_pair(rows, 16)), [165, 677]);
    }

    #[test]
    fn pages_of_large_devices_end_where_offsets_do() {
        let large = wgpu::Limits {
            max_buffer_size: 1 << 40,
            max_storage_buffer_binding_size: 1 << 40,
            max_texture_dimension_2d: 1 << 16,
            ..wgpu::Limits::default()
        };
        let l = PaletteLimits::new(&large, u64::MAX, true, true);
        for backend in PaletteBackend::ALL {
            let rows = l.page(backend);
            assert_eq!(rows, 89_478_485, "{backend}: 4 GiB hold {rows} rows");
            // The last row of a page has a distinct offset.
            let at = |row: u64| crate::gpu::BoneRow {
                page: 0,
                row: u32::try_from(row).expect("rows are counted in 32 bits"),
            };
            assert_eq!(u64::from(at(rows - 1).offset()), (rows - 1) * ROW_BYTES);
            assert!(at(rows - 2).offset() < at(rows - 1).offset());
        }
    }
}
