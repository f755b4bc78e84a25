//! Device memory for the rows of a frame: pages of buffers and, for the texture backend, of textures.

use super::backend::{PaletteBackend, PaletteLimits, ROW_BYTES};
use super::paging::Paging;
use super::staging::roomy;
use super::{Gpu, GpuError};
use crate::crowd::{FrameId, RowSpan};

/// One page: a buffer and, with the texture backend, a texture of the same rows.
#[derive(Debug)]
pub(super) struct Page {
    pub buffer: wgpu::Buffer,
    texture: Option<(wgpu::Texture, wgpu::TextureView)>,
    /// Number of rows that the page has room for.
    rows: usize,
}

/// The pages of one frame.
#[derive(Debug, Default)]
pub(super) struct Target {
    pub pages: Vec<Page>,
    pub paging: Paging,
    /// Page boundaries of the frame before.
    pub before: Paging,
    /// The frame whose rows the pages hold; `None` if they hold none.
    pub frame: Option<FrameId>,
}

/// The pages that [`fit`] has created.
#[derive(Debug, Default)]
pub(super) struct Fitted {
    /// True if any page was created; bind groups have to be recreated then.
    pub any: bool,
    /// Pages that were too small, with their indices; their contents are still to be copied.
    pub replaced: Vec<(usize, Page)>,
}

impl Target {
    /// Cuts the rows of a frame into pages.
    pub fn cut(&mut self, spans: impl Iterator<Item = RowSpan>, max: usize) {
        std::mem::swap(&mut self.paging, &mut self.before);
        self.paging.cut(spans, max);
    }

    /// Creates pages for the paging's rows where they are missing or too small. Call inside [`Gpu::checked`].
    pub fn fit(&mut self, gpu: &Gpu, backend: PaletteBackend) -> Result<Fitted, GpuError> {
        let rows = (0..self.paging.len()).map(|page| self.paging.rows(page).len());
        fit(&mut self.pages, rows, gpu, backend)
    }

    /// Copies the rows of the frame before from replaced pages to the larger ones. Returns the number of copies and of
    /// bytes.
    pub fn keep(&self, encoder: &mut wgpu::CommandEncoder, fitted: &Fitted) -> (u32, u64) {
        let mut done = (0, 0);
        for (number, old) in &fitted.replaced {
            let rows = self.before.rows(*number).len().min(old.rows);
            if let Some(new) = self.pages.get(*number).filter(|_| rows > 0) {
                let bytes = rows as u64 * ROW_BYTES;
                encoder.copy_buffer_to_buffer(&old.buffer, 0, &new.buffer, 0, bytes);
                done = (done.0 + 1, done.1 + bytes);
            }
        }
        done
    }
}

/// Creates pages of at least `rows` rows each where they are missing or too small. Call inside [`Gpu::checked`].
pub(super) fn fit(
    pages: &mut Vec<Page>,
    rows: impl Iterator<Item = usize>,
    gpu: &Gpu,
    backend: PaletteBackend,
) -> Result<Fitted, GpuError> {
    let limits = gpu.palette_limits();
    let mut fitted = Fitted::default();
    for (page, needed) in rows.enumerate() {
        if pages.get(page).is_some_and(|p| p.rows >= needed) {
            continue;
        }
        let max = usize::try_from(limits.page(backend)).unwrap_or(usize::MAX);
        let new = Page::new(gpu, backend, limits, roomy(needed, max))?;
        match pages.get_mut(page) {
            Some(old) => fitted.replaced.push((page, std::mem::replace(old, new))),
            None => pages.push(new),
        }
        fitted.any = true;
    }
    Ok(fitted)
}

impl Page {
    fn new(
        gpu: &Gpu,
        backend: PaletteBackend,
        limits: &PaletteLimits,
        rows: usize,
    ) -> Result<Self, GpuError> {
        let mut usage = wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC;
        if limits.storage > 0 {
            usage |= wgpu::BufferUsages::STORAGE;
        }
        let mut bytes = rows as u64 * ROW_BYTES;
        let mut texture = None;
        match backend {
            PaletteBackend::Uniform => {
                usage |= wgpu::BufferUsages::UNIFORM;
                // A window that starts at the last palette extends beyond it.
                bytes += limits.window * ROW_BYTES;
            }
            PaletteBackend::Storage => {}
            PaletteBackend::Texture => {
                let lines = (rows as u64).div_ceil(limits.line.max(1)).max(1);
                bytes = lines * limits.line * ROW_BYTES;
                let size = [limits.line * 3, lines].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
                let rows = gpu.texture("palette rows", wgpu::TextureFormat::Rgba32Float, size);
                let view = rows.create_view(&Default::default());
                texture = Some((rows, view));
            }
        }
        let buffer = gpu.empty_buffer("a page of palette rows, in bytes,", bytes, usage)?;
        Ok(Self { buffer, texture, rows })
    }

    /// Copies the first `rows` rows to the texture in whole lines; returns false if there is no texture.
    pub fn copy_to_texture(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        limits: &PaletteLimits,
        rows: usize,
    ) -> bool {
        let Some((texture, _)) = &self.texture else {
            return false;
        };
        let width = u32::try_from(limits.line * 3).unwrap_or(u32::MAX);
        let lines = (rows as u64).div_ceil(limits.line.max(1));
        encoder.copy_buffer_to_texture(
            wgpu::TexelCopyBufferInfo {
                buffer: &self.buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(width * 16),
                    rows_per_image: None,
                },
            },
            texture.as_image_copy(),
            wgpu::Extent3d {
                width,
                height: u32::try_from(lines).unwrap_or(u32::MAX),
                depth_or_array_layers: 1,
            },
        );
        true
    }

    /// The resource that shaders bind.
    pub fn binding(
        &self,
        backend: PaletteBackend,
        limits: &PaletteLimits,
    ) -> wgpu::BindingResource<'_> {
        match (&self.texture, backend) {
            (Some((_, view)), _) => wgpu::BindingResource::TextureView(view),
            (None, PaletteBackend::Uniform) => wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                buffer: &self.buffer,
                offset: 0,
                size: wgpu::BufferSize::new(limits.window * ROW_BYTES),
            }),
            (None, _) => self.buffer.as_entire_binding(),
        }
    }
}
