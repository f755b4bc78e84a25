//! The effect of the mouse on the panels, with clicks and drags that are over within a frame.

use crate::check;
use crate::look::{BESIDE_THE_GRAPH, PICTURE, SIZE, bone, count, differing, vivid};
use crate::screen::Screen;
use crate::window::Window;
use image::RgbImage;
use libtest_mimic::Failed;

/// Positions in a window of this size.
const WAVE: [u32; 2] = [30, 423];
const SKELETONS: [u32; 2] = [15, 139];
const CHARACTERS_HALFWAY: [u32; 2] = [58, 75];
const PLAY: [u32; 2] = [247, 433];
/// The middle of the speeds is none; the right half goes up to four times.
const SPEED_NONE: [u32; 2] = [648, 433];
const SPEED_TWICE: [u32; 2] = [669, 433];

/// A place on the slider for the time.
const fn time(x: u32) -> [u32; 2] {
    [x, 433]
}

/// The position of the slider's handle: the middle of the light pixels on its rail.
fn handle(picture: &RgbImage) -> Option<u32> {
    let light = |x: u32| {
        let column = [x, 424, x + 1, 443];
        count(picture, column, |p| p.0.iter().all(|&v| v > 140)) > 0
    };
    let light: Vec<u32> = (276..468).filter(|&x| light(x)).collect();
    Some((light.first()? + light.last()?) / 2)
}

pub fn panels_obey_the_mouse() -> Result<(), Failed> {
    let screen = Screen::open("panels", SIZE.0, SIZE.1)?;
    let mut window = Window::open(&screen, &["--clip", "Cheer", "--fade", "1"])?;
    window.wait_for_picture("a character", |p| count(p, BESIDE_THE_GRAPH, vivid) > 400)?;
    // At no speed time stands still, though nothing is paused.
    window.click(SPEED_NONE)?;
    let cheer = window.wait_for_rest()?;
    // What is chosen is faded to, and a fade takes time: at first nothing jumps.
    window.click(WAVE)?;
    window.wait_for_clip("Wave")?;
    let chosen = window.wait_for_rest()?;
    let jumped = differing(&chosen, &cheer, BESIDE_THE_GRAPH);
    check(jumped == 0, format!("{jumped} pixels jumped"))?;
    window.click(SPEED_TWICE)?;
    window.wait_for_picture("the other clip", |p| differing(p, &cheer, BESIDE_THE_GRAPH) > 400)?;
    // A click on the time line pauses and sets the time at the pointer.
    let scrub = |window: &mut Window<'_>, x: u32| -> Result<RgbImage, Failed> {
        window.click(time(x))?;
        let what = format!("the handle at {x}");
        window.wait_for_picture(&what, |p| handle(p).is_some_and(|h| h.abs_diff(x) <= 2))?;
        let still = window.wait_for_rest()?;
        let now = handle(&still);
        check(now.is_some_and(|h| h.abs_diff(x) <= 2), format!("{what} is at {now:?}"))?;
        Ok(still)
    };
    let early = scrub(&mut window, 310)?;
    let late = scrub(&mut window, 420)?;
    let moved = differing(&early, &late, BESIDE_THE_GRAPH);
    check(moved > 100, format!("{moved} pixels moved"))?;
    let again = scrub(&mut window, 310)?;
    check(differing(&early, &again, BESIDE_THE_GRAPH) == 0, "the same time, another picture")?;
    window.drag(time(330), time(420))?;
    window.wait_for_picture("the end of a drag", |p| differing(p, &late, BESIDE_THE_GRAPH) == 0)?;
    // Its skeleton over it, and away again.
    window.click(SKELETONS)?;
    window.wait_for_picture("a skeleton", |p| count(p, BESIDE_THE_GRAPH, bone) > 100)?;
    window.click(SKELETONS)?;
    window.wait_for_picture("no skeleton", |p| differing(p, &late, BESIDE_THE_GRAPH) == 0)?;
    // Time goes on from where it was put.
    window.click(PLAY)?;
    window.wait_for_picture("a movement", |p| differing(p, &late, BESIDE_THE_GRAPH) > 50)?;
    // Half the way of the slider is the root of the most: each step of it is a factor.
    window.click(CHARACTERS_HALFWAY)?;
    window.wait_for_picture("a crowd", |p| {
        let hue = |channel: usize| {
            let strongest = |p: &image::Rgb<u8>| p.0.iter().max() == p.0.get(channel);
            count(p, BESIDE_THE_GRAPH, |p| vivid(p) && strongest(p))
        };
        hue(0) > 300 && hue(2) > 300 && differing(p, &late, PICTURE) > 5_000
    })?;
    window.press(&["Escape"])?;
    let said = window.end_well()?;
    let count = said.split(", ").find_map(|s| s.strip_suffix(" characters"));
    let count: usize = count.ok_or("no characters")?.parse()?;
    check((100..200).contains(&count), said)
}
