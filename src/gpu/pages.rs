//! `RowPages`: palette rows in heap memory, of which only those that are read go to the device.

use super::target::{Page, fit};
use super::{BoneRow, Gpu, GpuError, PaletteBackend};
use crate::crowd::reserve_rows;
use crate::math::Affine3x4;
use std::ops::Range;

/// Palette rows that are contiguous in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    /// Rows of the palette.
    rows: Range<usize>,
    page: usize,
    /// Position of the first row in the page.
    at: usize,
}

/// Pages of palette rows that were evaluated into heap memory.
///
/// A reader is a range of rows, such as those of one instance, or of both palettes of an interpolated one. All its rows
/// are in one page, and readers of the same rows share them. Use [`GpuBoneBuffer`](super::GpuBoneBuffer) for rows that
/// only the device needs.
#[derive(Debug)]
pub struct RowPages {
    backend: PaletteBackend,
    pages: Vec<Page>,
    used: usize,
    /// Rows on their way to the device by `write_buffer`.
    spill: Vec<Affine3x4>,
}

impl RowPages {
    /// No pages yet.
    pub fn new(backend: PaletteBackend) -> Self {
        Self { backend, pages: Vec::new(), used: 0, spill: Vec::new() }
    }

    /// Uploads the rows of all readers; returns the position of each reader's first row, in their order.
    /// There is always a page to bind. Call inside [`Gpu::checked`].
    ///
    /// # Errors
    /// If a reader has more rows than the backend holds or is outside the palette, or the device fails.
    pub fn upload(
        &mut self,
        gpu: &Gpu,
        readers: &[Range<usize>],
        palette: &[Affine3x4],
    ) -> Result<Vec<BoneRow>, GpuError> {
        let longest = readers.iter().map(Range::len).max().unwrap_or(0);
        self.backend.check(gpu, longest.max(1))?;
        let max = usize::try_from(gpu.palette_limits().page(self.backend)).unwrap_or(usize::MAX);
        let (runs, firsts) = plan(readers, self.backend.align(), max);
        self.used = runs.last().map_or(1, |run| run.page + 1);
        let ends = (0..self.used).map(|page| {
            let last = runs.iter().rev().find(|run| run.page == page);
            last.map_or(1, |run| (run.at + run.rows.len()).max(1))
        });
        let ends: Vec<usize> = ends.collect();
        fit(&mut self.pages, ends.iter().copied(), gpu, self.backend)?;
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for (index, (page, &end)) in self.pages.iter().zip(&ends).enumerate() {
            self.spill.clear();
            reserve_rows(&mut self.spill, end).map_err(GpuError::HeapMemory)?;
            let first = runs.partition_point(|run| run.page < index);
            for run in runs.iter().skip(first).take_while(|run| run.page == index) {
                let rows = palette.get(run.rows.clone()).ok_or(GpuError::Limit {
                    what: "a reader of palette rows",
                    needed: run.rows.end as u64,
                    limit: palette.len() as u64,
                })?;
                self.spill.resize(run.at, Affine3x4::IDENTITY);
                self.spill.extend_from_slice(rows);
            }
            let bytes = bytemuck::cast_slice(&self.spill);
            gpu.queue.write_buffer(&page.buffer, 0, bytes);
            page.copy_to_texture(&mut encoder, gpu.palette_limits(), end);
        }
        if self.backend == PaletteBackend::Texture {
            gpu.queue.submit([encoder.finish()]);
        }
        Ok(firsts)
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

/// Packs the readers' rows into pages of at most `max` rows, greedily in the order of their first rows.
///
/// All rows of a reader are in one page, and readers of the same rows share them. Readers and runs begin at multiples of
/// `align` in their pages.
fn plan(readers: &[Range<usize>], align: usize, max: usize) -> (Vec<Run>, Vec<BoneRow>) {
    let mut order: Vec<usize> = (0..readers.len()).collect();
    let rows_of = |i: usize| readers.get(i).cloned().unwrap_or(0..0);
    order.sort_by_key(|&i| (rows_of(i).start, rows_of(i).end));
    let mut runs: Vec<Run> = Vec::new();
    let nowhere = BoneRow { page: 0, row: 0 };
    let mut firsts = vec![nowhere; readers.len()];
    for index in order {
        let rows = rows_of(index);
        let (first, run) = match runs.last_mut() {
            // Extends the last run if the reader is then aligned and within the page.
            Some(run)
                if rows.start <= run.rows.end
                    && (rows.start - run.rows.start).is_multiple_of(align)
                    && run.at + (rows.end.max(run.rows.end) - run.rows.start) <= max =>
            {
                run.rows.end = run.rows.end.max(rows.end);
                ((run.page, run.at + (rows.start - run.rows.start)), None)
            }
            last => {
                let (page, at) = last.map_or((0, 0), |run| {
                    let at = (run.at + run.rows.len()).next_multiple_of(align);
                    match at + rows.len() <= max {
                        true => (run.page, at),
                        false => (run.page + 1, 0),
                    }
                });
                ((page, at), Some(Run { rows, page, at }))
            }
        };
        runs.extend(run);
        if let Some(to) = firsts.get_mut(index) {
            *to = BoneRow { page: first.0, row: u32::try_from(first.1).unwrap_or(u32::MAX) };
        }
    }
    (runs, firsts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(page: usize, row: u32) -> BoneRow {
        BoneRow { page, row }
    }

    #[test]
    fn readers_that_overlap_share_a_run_and_unread_rows_are_left_out() {
        let (runs, firsts) = plan(&[10..20, 0..10, 30..40, 10..20], 1, 30);
        let run = |rows, at| Run { rows, page: 0, at };
        assert_eq!(runs, [run(0..20, 0), run(30..40, 20)]);
        assert_eq!(firsts, [rows(0, 10), rows(0, 0), rows(0, 20), rows(0, 10)]);
    }

    #[test]
    fn every_reader_is_whole_and_aligned_in_its_page() {
        let readers: Vec<_> = (0..100usize)
            .map(|i| {
                let start = (i * 37) % 101 * 5;
                start..start + 3 + i % 9
            })
            .collect();
        for (align, max) in [(1, 40), (16, 40), (16, 1000), (1, 1000)] {
            let (runs, firsts) = plan(&readers, align, max);
            let mut pages: Vec<Vec<Option<usize>>> = Vec::new();
            for run in &runs {
                pages.resize(pages.len().max(run.page + 1), Vec::new());
                let page = &mut pages[run.page];
                assert!(run.at >= page.len(), "runs do not overlap");
                page.resize(run.at, None);
                page.extend(run.rows.clone().map(Some));
                assert!(page.len() <= max);
            }
            assert!(max > 40 || pages.len() > 10);
            for (reader, to) in readers.iter().zip(&firsts) {
                let first = to.row as usize;
                assert_eq!(first % align, 0);
                let found = pages[to.page][first..first + reader.len()].iter().copied();
                assert!(found.eq(reader.clone().map(Some)), "{reader:?} at {to:?}");
            }
        }
    }

    #[test]
    fn no_readers_need_no_rows() {
        assert_eq!(plan(&[], 16, 8), (Vec::new(), Vec::new()));
        // Rigid meshes read no rows.
        assert_eq!(plan(&[0..0, 0..0], 1, 8).1, [rows(0, 0), rows(0, 0)]);
    }
}
