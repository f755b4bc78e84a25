//! Cuts the rows of a frame into pages between palettes: no instance lies in two pages.

use crate::crowd::RowSpan;
use std::ops::Range;

/// The page boundaries: page `p` holds the rows `starts[p]..starts[p + 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Paging {
    starts: Vec<usize>,
}

impl Paging {
    /// Cuts consecutive spans into pages of at most `max_rows` rows. Callers reject a larger stride; here its
    /// instances would get one page each.
    pub fn cut(&mut self, spans: impl Iterator<Item = RowSpan>, max_rows: usize) {
        self.starts.clear();
        let mut page = 0;
        let mut end = 0;
        for span in spans {
            if self.starts.is_empty() {
                self.starts.push(span.first);
                page = span.first;
            }
            let mut left = span.instances;
            let mut first = span.first;
            while left > 0 {
                let fits = (page + max_rows).saturating_sub(first) / span.stride;
                if fits == 0 && first > page {
                    self.starts.push(first);
                    page = first;
                    continue;
                }
                let taken = fits.clamp(1, left);
                first += taken * span.stride;
                left -= taken;
            }
            end = first;
        }
        if !self.starts.is_empty() {
            self.starts.push(end);
        }
    }

    /// The number of pages.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The rows of a page.
    pub fn rows(&self, page: usize) -> Range<usize> {
        match (self.starts.get(page), self.starts.get(page + 1)) {
            (Some(&start), Some(&end)) => start..end,
            _ => 0..0,
        }
    }

    /// The page of a row, and the row's index in the page.
    pub fn locate(&self, row: usize) -> Option<(usize, usize)> {
        let after = self.starts.partition_point(|&s| s <= row);
        if after == 0 || after >= self.starts.len() {
            return None;
        }
        Some((after - 1, row - self.starts.get(after - 1)?))
    }

    /// A range of rows split at page boundaries: index of the page, first row in the page, number of rows.
    pub fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let mut row = rows.start;
        std::iter::from_fn(move || {
            if row >= rows.end {
                return None;
            }
            let (page, at) = self.locate(row)?;
            let count = self.rows(page).end.min(rows.end) - row;
            row += count;
            Some((page, at, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(spans: &[(usize, usize)], max: usize) -> Paging {
        let mut first = 0;
        let spans: Vec<_> = spans
            .iter()
            .map(|&(stride, instances)| {
                let span = RowSpan { first, stride, palette: stride, instances };
                first += stride * instances;
                span
            })
            .collect();
        let mut paging = Paging::default();
        paging.cut(spans.into_iter(), max);
        paging
    }

    #[test]
    fn pages_end_between_instances() {
        let p = cut(&[(10, 7), (7, 3), (10, 1)], 25);
        assert_eq!(p.starts, [0, 20, 40, 60, 84, 101]);
        assert_eq!(p.locate(83), Some((3, 23)));
        assert_eq!(p.locate(84), Some((4, 0)));
        assert_eq!(p.locate(101), None);
        let parts: Vec<_> = p.parts(15..70).collect();
        assert_eq!(parts, [(0, 15, 5), (1, 0, 20), (2, 0, 20), (3, 0, 10)]);
    }

    #[test]
    fn one_page_if_it_holds_all_and_none_for_nothing() {
        assert_eq!(cut(&[(10, 7), (7, 3)], 91).starts, [0, 91]);
        let none = cut(&[], 91);
        assert_eq!((none.len(), none.locate(0), none.rows(0)), (0, None, 0..0));
    }
}
