//! `HeapPages`: palette rows in heap memory, of which only those that are read go to the device.

use phalanx::gpu::{BoneRow, Gpu, GpuError, PaletteBackend, RowPages};
use phalanx::math::Affine3x4;
use phalanx::playback::PlaybackError;
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

/// Pages of the rows that visible instances read.
#[derive(Debug)]
pub(super) struct HeapPages {
    backend: PaletteBackend,
    pub pages: RowPages,
    /// Rows of each page on their way to the device.
    packed: Vec<Vec<Affine3x4>>,
}

impl HeapPages {
    pub fn new(backend: PaletteBackend) -> Self {
        Self { backend, pages: RowPages::new(backend), packed: Vec::new() }
    }

    /// Uploads the rows of all readers; returns the position of each reader's first row, in their order. A reader is a
    /// range of rows, such as those of one instance, or of both palettes of an interpolated one. Call inside
    /// [`Gpu::checked`].
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
        self.backend.check(gpu, longest.max(1), false)?;
        let (runs, firsts) = plan(readers, self.backend.align(), self.pages.max_rows(gpu));
        self.packed.resize(runs.last().map_or(0, |run| run.page + 1), Vec::new());
        for (page, runs) in self.packed.iter_mut().zip(runs.chunk_by(|a, b| a.page == b.page)) {
            page.clear();
            let end = runs.last().map_or(0, |run| run.at + run.rows.len());
            page.try_reserve(end).map_err(|_| {
                let bytes = (end * size_of::<Affine3x4>()) as u64;
                GpuError::HeapMemory(PlaybackError::RowMemory { rows: end, bytes })
            })?;
            for run in runs {
                let rows = palette.get(run.rows.clone()).ok_or(GpuError::Limit {
                    what: "a reader of palette rows",
                    needed: run.rows.end as u64,
                    limit: palette.len() as u64,
                })?;
                page.resize(run.at, Affine3x4::IDENTITY);
                page.extend_from_slice(rows);
            }
        }
        self.pages.upload(gpu, &self.packed)?;
        Ok(firsts)
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
    let mut places = vec![nowhere; readers.len()];
    for index in order {
        let rows = rows_of(index);
        let (place, run) = match runs.last_mut() {
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
        if let Some(to) = places.get_mut(index) {
            *to = BoneRow { page: place.0, row: u32::try_from(place.1).unwrap_or(u32::MAX) };
        }
    }
    (runs, places)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(page: usize, row: u32) -> BoneRow {
        BoneRow { page, row }
    }

    #[test]
    fn readers_that_overlap_share_a_run_and_unread_rows_are_left_out() {
        let (runs, places) = plan(&[10..20, 0..10, 30..40, 10..20], 1, 30);
        let run = |rows, at| Run { rows, page: 0, at };
        assert_eq!(runs, [run(0..20, 0), run(30..40, 20)]);
        assert_eq!(places, [rows(0, 10), rows(0, 0), rows(0, 20), rows(0, 10)]);
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
            let (runs, places) = plan(&readers, align, max);
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
            for (reader, place) in readers.iter().zip(&places) {
                let first = place.row as usize;
                assert_eq!(first % align, 0);
                let found = pages[place.page][first..first + reader.len()].iter().copied();
                assert!(found.eq(reader.clone().map(Some)), "{reader:?} at {place:?}");
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
