//! Composes frames into one contact sheet.

use super::super::error::CliError;
use image::{Rgba, RgbaImage};
use phalanx_render::PictureSize;

/// Largest side of a sheet in pixels, as accepted by viewers and renderers.
const MAX_SIDE: u32 = 16_384;

/// Colour between frames.
const GAP: Rgba<u8> = Rgba([24, 26, 30, 255]);

/// Number of columns that makes a sheet wider than high with the fewest unused cells.
pub fn columns(frames: usize, size: PictureSize) -> u32 {
    let frames = frames.max(1) as u32;
    let fits = |columns: &u32| {
        let rows = frames.div_ceil(*columns);
        let (width, height) = (columns * size.width, rows * size.height);
        width >= height && width <= height.saturating_mul(3).max(size.width)
    };
    let empty = |columns: &u32| frames.div_ceil(*columns) * columns - frames;
    let all = 1..=frames.min(MAX_SIDE / size.width.max(1)).max(1);
    let best = all.clone().filter(fits).min_by_key(empty);
    best.unwrap_or_else(|| all.end().to_owned().min(4))
}

/// Size of the sheet in pixels.
///
/// # Errors
/// If a side exceeds the limit.
pub fn size(frames: usize, columns: u32, frame: PictureSize) -> Result<(u32, u32), CliError> {
    let rows = (frames as u32).div_ceil(columns);
    let sides = (frame.width.checked_mul(columns)).zip(frame.height.checked_mul(rows));
    sides.filter(|&(w, h)| w.max(h) <= MAX_SIDE).ok_or(CliError::SheetTooLarge {
        columns,
        rows,
        limit: MAX_SIDE,
    })
}

/// True if some cells of the sheet hold no frame.
pub fn has_unused(frames: usize, columns: u32) -> bool {
    !(frames as u32).is_multiple_of(columns.max(1))
}

/// Composes the frames; unused cells show the background. A line of one pixel at the right and lower edges of
/// each frame separates them, so the sheet is exactly columns times the frame's width.
pub fn compose(
    frames: &[RgbaImage],
    background: Option<&RgbaImage>,
    columns: u32,
) -> Result<RgbaImage, CliError> {
    let (width, height) = frames.first().map_or((1, 1), |f| f.dimensions());
    let (w, h) = size(frames.len(), columns, PictureSize { width, height })?;
    let rows = h / height.max(1);
    let mut sheet = RgbaImage::from_pixel(w, h, GAP);
    let unused = (columns * rows) as usize - frames.len();
    let unused = background.into_iter().cycle().take(unused);
    for (i, frame) in frames.iter().chain(unused).enumerate() {
        let (column, row) = (i as u32 % columns, i as u32 / columns);
        let last = (column + 1 == columns, row + 1 == rows);
        for (x, y, pixel) in frame.enumerate_pixels() {
            let edge = (x + 1 == width && !last.0) || (y + 1 == height && !last.1);
            if !edge {
                sheet.put_pixel(column * width + x, row * height + y, *pixel);
            }
        }
    }
    Ok(sheet)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sheets_are_wider_than_high_and_full() {
        let size = |width, height| PictureSize { width, height };
        assert_eq!(columns(8, size(320, 320)), 4);
        assert_eq!(columns(12, size(320, 320)), 4);
        assert_eq!(columns(1, size(320, 320)), 1);
        assert_eq!(columns(6, size(200, 400)), 6);
        let frames = vec![RgbaImage::from_pixel(4, 3, Rgba([9; 4])); 5];
        let background = RgbaImage::from_pixel(4, 3, Rgba([5; 4]));
        let sheet = compose(&frames, Some(&background), 3).unwrap();
        assert!(has_unused(5, 3) && !has_unused(6, 3));
        assert_eq!(sheet.dimensions(), (12, 6));
        assert_eq!(sheet.get_pixel(11, 5), &Rgba([5; 4]));
        assert_eq!(sheet.get_pixel(3, 0), &GAP);
        assert_eq!(sheet.get_pixel(4, 0), &Rgba([9; 4]));
        assert!(compose(&vec![RgbaImage::new(9000, 1); 2], None, 2).is_err());
    }
}
