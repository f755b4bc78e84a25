//! The contents of a picture of the window.

use image::{Rgb, RgbImage};

/// Small, so that a software device draws it in a moment.
pub const SIZE: (u32, u32) = (800, 450);

/// Left, top, right and bottom of a part of the window, pixels.
pub type Part = [u32; 4];

/// The area of the picture: right of the clips, above the time, left of the graph.
pub const PICTURE: Part = [216, 0, 800, 410];
pub const BESIDE_THE_GRAPH: Part = [216, 60, 520, 400];
/// The graph of the last frames' times: every frame changes it.
pub const GRAPH: Part = [550, 12, 785, 180];

/// Pixels of a part of a picture for which something holds.
pub fn count(
    picture: &RgbImage,
    [left, top, right, bottom]: Part,
    is: impl Fn(&Rgb<u8>) -> bool,
) -> usize {
    let inside = |x: u32, y: u32| (left..right).contains(&x) && (top..bottom).contains(&y);
    let pixels = picture.enumerate_pixels().filter(|&(x, y, _)| inside(x, y));
    pixels.filter(|(_, _, p)| is(p)).count()
}

/// Colours of clothes: neither sky nor ground nor panels have any so strong.
pub fn vivid(p: &Rgb<u8>) -> bool {
    let [r, g, b] = p.0;
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    most > 60 && most - least > most / 2
}

/// The colour of joints and what lies between them.
pub fn bone(p: &Rgb<u8>) -> bool {
    let [r, g, b] = p.0;
    r > 200 && g < 60 && b > 170
}

/// A colour, but for what the blending of edges does to it.
pub fn near(p: &Rgb<u8>, color: [u8; 3]) -> bool {
    p.0.iter().zip(color).all(|(a, b)| a.abs_diff(b) < 14)
}

/// Pixels that are not alike.
pub fn differing(a: &RgbImage, b: &RgbImage, part: Part) -> usize {
    let [left, top, right, bottom] = part;
    let places = (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y)));
    let far = |a: &Rgb<u8>, b: &Rgb<u8>| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 24);
    places.filter(|&(x, y)| far(a.get_pixel(x, y), b.get_pixel(x, y))).count()
}
