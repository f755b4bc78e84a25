//! Encodes frames as an animated GIF: one colour table for all, and only the changed pixels of each frame.

use super::super::error::CliError;
use super::times::Times;
use color_quant::NeuQuant;
use gif::{DisposalMethod, Encoder, Frame, Repeat};
use image::RgbaImage;
use std::borrow::Cow;

/// Colours in the table; the last index means "unchanged".
const COLORS: usize = 255;
const SAME: u8 = 255;

/// Largest number of pixels used to choose the colours: a tenth of a second of work.
const SAMPLES: usize = 1 << 17;

/// Dither amplitude in 1/255: about the distance between neighbouring colours of the table, which avoids
/// banding in skies.
const DITHER: f32 = 5.0;

/// Thresholds of ordered dithering, fixed in the image so that still pixels do not change.
const BAYER: [[u8; 4]; 4] = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]];

/// Encodes the frames as an endless loop.
pub fn encode(frames: &[RgbaImage], times: &Times) -> Result<Vec<u8>, CliError> {
    let (width, height) = frames.first().map_or((1, 1), |f| f.dimensions());
    let sides = u16::try_from(width).ok().zip(u16::try_from(height).ok());
    let (w, h) = sides.ok_or(CliError::GifSize { width, height })?;
    let quantizer = learn(frames);
    let mut table = quantizer.color_map_rgb();
    table.resize(256 * 3, 0);
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, w, h, &table)?;
    encoder.set_repeat(Repeat::Infinite)?;
    let mut before: Vec<u8> = Vec::new();
    for (k, frame) in frames.iter().enumerate() {
        let pixels = indices(&quantizer, frame);
        let mut encoded = difference(&before, &pixels, width as usize);
        encoded.delay = delay(k, times.shown);
        encoded.dispose = DisposalMethod::Keep;
        encoder.write_frame(&encoded)?;
        before = pixels;
    }
    drop(encoder);
    Ok(bytes)
}

/// Delay in hundredths of a second, rounded so that the sum stays exact.
fn delay(frame: usize, shown: f64) -> u16 {
    let at = |k: usize| (k as f64 * shown * 100.0).round();
    (at(frame + 1) - at(frame)).clamp(2.0, f64::from(u16::MAX)) as u16
}

fn learn(frames: &[RgbaImage]) -> NeuQuant {
    let pixels: usize = frames.iter().map(|f| f.pixels().len()).sum();
    // Odd, so that samples do not fall on the same columns in every row.
    let step = (pixels / SAMPLES) | 1;
    let all = frames.iter().flat_map(|f| f.pixels());
    let samples: Vec<u8> = all.step_by(step).flat_map(|p| p.0).collect();
    NeuQuant::new(1, COLORS, &samples)
}

fn indices(quantizer: &NeuQuant, frame: &RgbaImage) -> Vec<u8> {
    let pixels = frame.enumerate_pixels();
    let moved = pixels.map(|(x, y, p)| {
        let threshold = BAYER[y as usize % 4][x as usize % 4];
        let shift = ((f32::from(threshold) + 0.5) / 16.0 - 0.5) * DITHER;
        let [r, g, b, _] = p.0.map(|c| (f32::from(c) + shift).round().clamp(0.0, 255.0) as u8);
        quantizer.index_of(&[r, g, b, 255]) as u8
    });
    moved.collect()
}

/// The bounding rectangle of the changed pixels; unchanged pixels in it are transparent.
fn difference(before: &[u8], now: &[u8], width: usize) -> Frame<'static> {
    let height = now.len() / width.max(1);
    let changed = |x: usize, y: usize| before.get(y * width + x) != Some(&now[y * width + x]);
    let rows = (0..height).filter(|&y| (0..width).any(|x| changed(x, y)));
    let columns = (0..width).filter(|&x| (0..height).any(|y| changed(x, y)));
    let ends = |mut all: Vec<usize>| match (all.first().copied(), all.pop()) {
        (Some(first), Some(last)) => first..last + 1,
        // A frame has at least one pixel.
        _ => 0..1,
    };
    let (rows, columns) = (ends(rows.collect()), ends(columns.collect()));
    let mut buffer = Vec::with_capacity(rows.len() * columns.len());
    for y in rows.clone() {
        for x in columns.clone() {
            let same = !changed(x, y);
            buffer.push(if same { SAME } else { now[y * width + x] });
        }
    }
    Frame {
        // Both sides were checked to fit 16 bits.
        top: rows.start as u16,
        left: columns.start as u16,
        width: columns.len() as u16,
        height: rows.len() as u16,
        transparent: Some(SAME),
        buffer: Cow::Owned(buffer),
        ..Frame::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_stored() {
        let before = [1, 1, 1, 1, 1, 1];
        let first = difference(&[], &before, 3);
        assert_eq!((first.width, first.height), (3, 2));
        assert_eq!(*first.buffer, before);
        let frame = difference(&before, &[1, 2, 1, 1, 1, 3], 3);
        assert_eq!((frame.left, frame.top, frame.width, frame.height), (1, 0, 2, 2));
        assert_eq!(*frame.buffer, [2, SAME, SAME, 3]);
        let same = difference(&before, &before, 3);
        assert_eq!((same.width, same.height, &*same.buffer), (1, 1, &[SAME][..]));
    }

    #[test]
    fn delays_add_up() {
        let total: u32 = (0..30).map(|k| u32::from(delay(k, 1.0 / 30.0))).sum();
        assert_eq!(total, 100);
    }
}
