//! `RowPages`: palette rows in heap memory on their way to the device.

use super::target::{Page, fit};
use super::{Gpu, GpuError, PaletteBackend};
use crate::math::Affine3x4;

/// Pages of palette rows that were evaluated into heap memory. Use [`GpuBoneBuffer`](super::GpuBoneBuffer) for rows
/// that only the device needs.
#[derive(Debug)]
pub struct RowPages {
    backend: PaletteBackend,
    pages: Vec<Page>,
    used: usize,
}

impl RowPages {
    /// No pages yet.
    pub fn new(backend: PaletteBackend) -> Self {
        Self { backend, pages: Vec::new(), used: 0 }
    }

    /// The most rows of a page, unless a single palette has more.
    pub fn max_rows(&self, gpu: &Gpu) -> usize {
        usize::try_from(gpu.palette_limits().page(self.backend)).unwrap_or(usize::MAX)
    }

    /// Uploads the rows of each page. There is always a page to bind. Call inside [`Gpu::checked`].
    ///
    /// # Errors
    /// If a page is above the device's limit, or the device fails.
    pub fn upload(&mut self, gpu: &Gpu, pages: &[Vec<Affine3x4>]) -> Result<(), GpuError> {
        self.used = pages.len().max(1);
        let rows = |page: usize| pages.get(page).map_or(1, |rows| rows.len().max(1));
        fit(&mut self.pages, (0..self.used).map(rows), gpu, self.backend)?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for (page, rows) in self.pages.iter().zip(pages) {
            gpu.queue.write_buffer(&page.buffer, 0, bytemuck::cast_slice(rows));
            page.copy_to_texture(&mut encoder, gpu.palette_limits(), rows.len().max(1));
        }
        if self.backend == PaletteBackend::Texture {
            gpu.queue.submit([encoder.finish()]);
        }
        Ok(())
    }

    /// The resources that shaders bind, one per page.
    pub fn bindings<'a>(
        &'a self,
        gpu: &'a Gpu,
    ) -> impl Iterator<Item = wgpu::BindingResource<'a>> + 'a {
        let pages = self.pages.iter().take(self.used);
        pages.map(|page| page.binding(self.backend, gpu.palette_limits()))
    }
}
