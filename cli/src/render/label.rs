//! Writes a clip's name and time on a frame, and which models are not in it.

use font8x8::{BASIC_FONTS, GREEK_FONTS, LATIN_FONTS, UnicodeFonts};
use image::{Rgba, RgbaImage};
use phalanx_render::PictureSize;

/// Side of a letter in pixels, before scaling.
const LETTER: u32 = 8;

/// Height of a frame for each step of the scale.
const HEIGHT_PER_SCALE: u32 = 260;

/// Pixels around the text, before scaling.
const MARGIN: u32 = 2;

/// Share of the picture's colour that is left below the text, of 256.
const DIMMED: u32 = 120;

const TEXT: [u8; 3] = [255, 255, 255];

/// The fewest letters that say something; narrower frames are not labelled.
const LEAST_LETTERS: usize = 4;

/// Height of the label in frames of a size, in pixels; 0 if they are too small for one.
pub fn height(frame: PictureSize) -> u32 {
    let scale = scale(frame.width, frame.height);
    let room = (frame.width / scale).saturating_sub(2 * MARGIN) / LETTER;
    let height = (LETTER + 2 * MARGIN) * scale;
    match (room as usize) < LEAST_LETTERS || frame.height < 3 * height {
        true => 0,
        false => height,
    }
}

fn scale(width: u32, height: u32) -> u32 {
    (height.min(width) / HEIGHT_PER_SCALE).max(1)
}

/// Writes a name and a time at the upper left, on a darkened strip. If both are too long, the name is shortened. Frames
/// that are too small for either are unchanged.
pub fn write(frame: &mut RgbaImage, name: &str, time: Option<f64>) {
    let (width, height) = frame.dimensions();
    let strip = self::height(PictureSize { width, height });
    if strip == 0 {
        return;
    }
    let time = time.map_or_else(String::new, |t| format!("{t:.2} s"));
    line(frame, 0, name, &time);
}

/// Writes at the lower left what is the matter with models, given by name, on a line each. Lines that would reach
/// the upper half are left out.
pub fn write_below(frame: &mut RgbaImage, matters: &[(&str, &str)]) {
    let (width, height) = frame.dimensions();
    let strip = self::height(PictureSize { width, height });
    let tops = (1..).map(|k| height.saturating_sub(k * strip));
    let tops = tops.take_while(|&top| strip > 0 && top >= height / 2);
    for (&(name, matter), top) in matters.iter().zip(tops) {
        line(frame, top, name, matter);
    }
}

/// Writes a line whose upper edge is at `top`. The frame is large enough for one.
fn line(frame: &mut RgbaImage, top: u32, name: &str, rest: &str) {
    let (width, height) = frame.dimensions();
    let strip = self::height(PictureSize { width, height });
    let scale = scale(width, height);
    let room = (width / scale).saturating_sub(2 * MARGIN) / LETTER;
    let text = fitted(name, rest, room as usize);
    let end = (text.chars().count() as u32 * LETTER + 2 * MARGIN) * scale;
    for y in top..(top + strip).min(height) {
        for x in 0..end.min(width) {
            let pixel = frame.get_pixel_mut(x, y);
            let dim = |c: u8| (u32::from(c) * DIMMED / 256) as u8;
            pixel.0 = [dim(pixel.0[0]), dim(pixel.0[1]), dim(pixel.0[2]), pixel.0[3]];
        }
    }
    for (i, letter) in text.chars().enumerate() {
        let left = MARGIN + i as u32 * LETTER;
        for (row, bits) in (0..).zip(glyph(letter)) {
            for column in (0..LETTER).filter(|c| bits >> c & 1 == 1) {
                fill(frame, (left + column) * scale, top + (MARGIN + row) * scale, scale);
            }
        }
    }
}

/// The text, of at most `room` letters.
fn fitted(name: &str, rest: &str, room: usize) -> String {
    let beside = match rest.is_empty() {
        true => 0,
        false => rest.chars().count() + 1,
    };
    let name: Vec<char> = name.chars().collect();
    let left = room.saturating_sub(beside);
    let name: String = match name.len() <= left {
        true => name.iter().collect(),
        // A dot marks missing letters.
        false if left > 2 => name[..left - 1].iter().chain(&['.']).collect(),
        false => String::new(),
    };
    let text = match (name.is_empty(), rest.is_empty()) {
        (false, false) => format!("{name} {rest}"),
        _ => name + rest,
    };
    text.chars().take(room).collect()
}

fn glyph(letter: char) -> [u8; 8] {
    let found = BASIC_FONTS.get(letter);
    let found = found.or_else(|| LATIN_FONTS.get(letter));
    let found = found.or_else(|| GREEK_FONTS.get(letter));
    found.or_else(|| BASIC_FONTS.get('?')).unwrap_or_default()
}

fn fill(frame: &mut RgbaImage, x: u32, y: u32, side: u32) {
    let [r, g, b] = TEXT;
    for (x, y) in (y..y + side).flat_map(|y| (x..x + side).map(move |x| (x, y))) {
        if x < frame.width() && y < frame.height() {
            frame.put_pixel(x, y, Rgba([r, g, b, 255]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labelled(size: (u32, u32), name: &str, time: f64) -> RgbaImage {
        let mut frame = RgbaImage::from_pixel(size.0, size.1, Rgba([100, 100, 100, 255]));
        write(&mut frame, name, Some(time));
        frame
    }

    #[test]
    fn names_and_times_are_written_at_the_top() {
        let plain = RgbaImage::from_pixel(200, 100, Rgba([100, 100, 100, 255]));
        let walk = labelled((200, 100), "Walk", 0.125);
        assert_ne!(walk, labelled((200, 100), "Jog", 0.125));
        assert_ne!(walk, labelled((200, 100), "Walk", 0.25));
        let white = walk.enumerate_pixels().filter(|(_, _, p)| p.0[..3] == TEXT);
        assert!(white.clone().count() > 100);
        assert!(white.clone().all(|(x, y, _)| x < 11 * 8 + 4 && y < 12));
        let below = |i: &RgbaImage| i.rows().skip(12).flatten().copied().collect::<Vec<_>>();
        assert_eq!(below(&walk), below(&plain));
        // Twice the size, twice the letters.
        let large = labelled((600, 600), "Walk", 0.125);
        assert!(large.rows().take(24).flatten().any(|p| p.0[..3] == TEXT));
        assert!(large.get_pixel(2 * 90, 23).0[0] < 100);
        // Too small for a label.
        assert_eq!(labelled((24, 24), "W", 0.5).get_pixel(0, 0).0[0], 100);
    }

    #[test]
    fn long_names_give_way_to_the_time() {
        assert_eq!(fitted("Walk", "1.00 s", 20), "Walk 1.00 s");
        assert_eq!(fitted("Walk_RootMotion", "0.50 s", 12), "Walk. 0.50 s");
        assert_eq!(fitted("Walk_RootMotion", "0.50 s", 7), "0.50 s");
        assert_eq!(fitted("rest pose", "", 20), "rest pose");
        assert_eq!(fitted("rest pose", "", 5), "rest.");
        assert_eq!(fitted("", "123.46 s", 4), "123.");
    }

    #[test]
    fn matters_are_written_below_one_another_in_the_lower_half() {
        let plain = RgbaImage::from_pixel(240, 100, Rgba([100, 100, 100, 255]));
        let rows = |matters: &[(&str, &str)]| {
            let mut frame = plain.clone();
            write_below(&mut frame, matters);
            let changed = |y: &u32| frame.rows().nth(*y as usize).unwrap().any(|p| p.0[0] != 100);
            (0..100).filter(changed).collect::<Vec<u32>>()
        };
        assert!(rows(&[]).is_empty());
        assert_eq!(rows(&[("a.phx", OUT)]), (88..100).collect::<Vec<_>>());
        assert_eq!(rows(&[("a.phx", OUT); 2]), (76..100).collect::<Vec<_>>());
        assert_eq!(rows(&[("a.phx", OUT); 99]), (52..100).collect::<Vec<_>>());
        write_below(&mut RgbaImage::new(8, 8), &[("a.phx", OUT)]);
    }

    const OUT: &str = "is out of the picture";

    #[test]
    fn every_character_has_a_glyph() {
        assert_ne!(glyph('W'), glyph('?'));
        assert_ne!(glyph('ö'), glyph('?'));
        assert_ne!(glyph('Ω'), glyph('?'));
        assert_eq!(glyph('体'), glyph('?'));
        assert_eq!(glyph(' '), [0; 8]);
    }
}
