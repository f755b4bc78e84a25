//! Tiers in the window: colours of characters and the legend.

use crate::check;
use crate::look::{BESIDE_THE_GRAPH, Part, SIZE, count, near};
use crate::screen::Screen;
use crate::window::Window;
use image::{Rgb, RgbImage};
use libtest_mimic::Failed;
use std::fs;
use std::path::Path;

/// The area of the legend: the lower right corner of the picture.
const LEGEND: Part = [300, 200, 800, 410];

/// Colours of the first tiers in the legend.
const FIRST: [u8; 3] = [255, 244, 150];
const SECOND: [u8; 3] = [110, 225, 250];
/// Colours of characters with shared palettes and, below, with unshared ones.
const SHARED: [u8; 3] = [70, 110, 255];
const OWN: [u8; 3] = [255, 140, 50];

/// Whether the legend has squares of these colours, and not of others.
fn squares(picture: &RgbImage, with: &[[u8; 3]], without: &[[u8; 3]]) -> bool {
    let pixels = |&color: &[u8; 3]| count(picture, LEGEND, |p| p.0 == color);
    with.iter().all(|c| pixels(c) >= 60) && without.iter().all(|c| pixels(c) < 10)
}

/// Clothes of a colour, lit or in the shade: red, green and blue are as these say, one against another.
fn clothes(picture: &RgbImage, is: impl Fn([i32; 3]) -> bool) -> usize {
    let part = [BESIDE_THE_GRAPH[0], 60, 400, 200];
    count(picture, part, |p: &Rgb<u8>| is(p.0.map(i32::from)))
}

pub fn tiers_are_coloured() -> Result<(), Failed> {
    let screen = Screen::open("tiers", SIZE.0, SIZE.1)?;
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("window-tiers.json");
    // The front rows, and the others, who share.
    let tiers = r#"{"tiers": [{"height": 70}, {"height": 1, "rate": 2, "error": 0.05}]}"#;
    fs::write(&file, tiers)?;
    let file = file.display().to_string();
    let args = ["--count", "120", "--tiers", &file, "--budget", "1000"];
    let mut window = Window::open(&screen, &args)?;
    let blue = |[r, g, b]: [i32; 3]| b > r + 50 && b > g && b > 90;
    let yellow = |[r, g, b]: [i32; 3]| r > b + 40 && g > b + 40 && r > 110;
    window.wait_for_picture("two tiers", |p| {
        squares(p, &[FIRST, SECOND], &[OWN, SHARED]) && clothes(p, blue) + clothes(p, yellow) > 100
    })?;
    window.press(&["t"])?;
    window.wait_for_picture("rates", |p| squares(p, &[FIRST, SECOND], &[OWN, SHARED]))?;
    window.press(&["t"])?;
    window.wait_for_picture("sharing", |p| {
        squares(p, &[OWN, SHARED], &[FIRST, SECOND]) && clothes(p, blue) > 50
    })?;
    // Without tiers neither the legend nor its colours are there.
    window.press(&["t"])?;
    window.wait_for_picture("no tiers", |p| squares(p, &[], &[FIRST, SECOND, OWN, SHARED]))?;
    window.press(&["t"])?;
    let last = window.wait_for_picture("tiers again", |p| squares(p, &[FIRST, SECOND], &[]))?;
    // Text beside the squares.
    let text = count(&last, LEGEND, |p| near(p, [225, 228, 232]));
    check(text > 100, format!("{text} pixels of text in the legend"))?;
    window.press(&["Escape"])?;
    let said = window.end_well()?;
    check(said.contains("120 characters"), said)
}
