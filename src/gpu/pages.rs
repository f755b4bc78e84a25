//! Palette rows larger than one storage binding: pages.

use std::ops::Range;

use super::{Gpu, GpuError};
use crate::math::Affine3x4;

/// Which rows of a palette go into which buffer, and which page each reader uses.
///
/// Rows of 48 bytes. A reader is a range of rows, such as those of one instance, and always finds
/// all of them in one page; rows that readers of two pages share are in both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// The rows of each page, in the order of their first row.
    pub rows: Vec<Range<u32>>,
    /// The page of each reader, in the readers' order.
    pub of_reader: Vec<u32>,
}

impl Pages {
    /// Packs the readers' rows into as few pages of at most `max_rows` as a pass in the order of
    /// their first rows finds.
    ///
    /// Errors: a reader with more rows than one page holds.
    pub fn plan(readers: &[Range<u32>], max_rows: u32) -> Result<Self, GpuError> {
        let mut order: Vec<usize> = (0..readers.len()).collect();
        order.sort_by_key(|&i| readers.get(i).map_or((0, 0), |r| (r.start, r.end)));
        let mut pages = Self {
            rows: Vec::new(),
            of_reader: vec![0; readers.len()],
        };
        for index in order {
            let Some(reader) = readers.get(index) else {
                continue;
            };
            let needed = reader.end.saturating_sub(reader.start);
            if needed > max_rows {
                return Err(GpuError::Limit {
                    what: "the palette of one instance, in rows of 48 bytes,",
                    needed: needed.into(),
                    limit: max_rows.into(),
                });
            }
            match pages.rows.last_mut() {
                Some(page) if reader.end.saturating_sub(page.start) <= max_rows => {
                    page.end = page.end.max(reader.end);
                }
                _ => pages.rows.push(reader.start..reader.end.max(reader.start)),
            }
            if let Some(page) = pages.of_reader.get_mut(index) {
                *page = u32::try_from(pages.rows.len() - 1).unwrap_or(u32::MAX);
            }
        }
        Ok(pages)
    }

    /// One storage buffer per page with its rows of `palette`.
    ///
    /// Errors: a page outside the palette, or larger than the device's limit. Call inside
    /// [`Gpu::checked`].
    pub fn upload(&self, gpu: &Gpu, palette: &[Affine3x4]) -> Result<Vec<wgpu::Buffer>, GpuError> {
        self.rows
            .iter()
            .map(|rows| {
                let slice =
                    palette
                        .get(rows.start as usize..rows.end as usize)
                        .ok_or(GpuError::Limit {
                            what: "a page of palette rows",
                            needed: rows.end.into(),
                            limit: palette.len() as u64,
                        })?;
                gpu.buffer(
                    "palette page",
                    bytemuck::cast_slice(slice),
                    wgpu::BufferUsages::STORAGE,
                )
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_page_holds_all_that_fits() {
        let readers = [10..20, 0..10, 20..30];
        let pages = Pages::plan(&readers, 30).unwrap();
        assert_eq!(pages.rows, vec![0..30]);
        assert_eq!(pages.of_reader, vec![0, 0, 0]);
    }

    #[test]
    fn every_reader_lies_whole_in_its_page() {
        let readers: Vec<_> = (0..100u32)
            .map(|i| {
                let start = (i * 37) % 101 * 5;
                start..start + 3 + i % 9
            })
            .collect();
        let pages = Pages::plan(&readers, 40).unwrap();
        assert!(pages.rows.len() > 10);
        for (reader, &page) in readers.iter().zip(&pages.of_reader) {
            let page = &pages.rows[page as usize];
            assert!(page.start <= reader.start && reader.end <= page.end);
            assert!(page.end - page.start <= 40);
        }
    }

    #[test]
    fn a_reader_larger_than_a_page_is_refused_with_both_numbers() {
        let error = Pages::plan(&[0..67, 67..267], 100).unwrap_err();
        let GpuError::Limit { needed, limit, .. } = error else {
            panic!("{error}");
        };
        assert_eq!((needed, limit), (200, 100));
    }

    #[test]
    fn no_readers_need_no_page() {
        assert_eq!(Pages::plan(&[], 8).unwrap(), Pages::default());
    }
}
