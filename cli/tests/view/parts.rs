//! A window with all its parts, and what keys and the mouse do to the picture.

use crate::check;
use crate::look::{BESIDE_THE_GRAPH, GRAPH, PICTURE, SIZE, bone, count, differing, near, vivid};
use crate::screen::Screen;
use crate::window::Window;
use image::Rgb;
use libtest_mimic::Failed;
use std::time::Duration;

pub fn a_window_with_all_its_parts() -> Result<(), Failed> {
    let screen = Screen::open("parts", SIZE.0, SIZE.1)?;
    let mut window = Window::open(&screen, &["--clip", "Wave"])?;
    // One character before sky and ground, a dark panel at the left, a graph in the corner.
    let first =
        window.wait_for_picture("a character", |p| count(p, BESIDE_THE_GRAPH, vivid) > 400)?;
    let dark = |p: &Rgb<u8>| p.0.iter().all(|&v| v < 60);
    let panel = count(&first, [0, 0, 200, 450], dark);
    check(panel > 65_000, format!("{panel} dark pixels in the panel"))?;
    let text = count(&first, [0, 0, 200, 450], |p| p.0.iter().all(|&v| v > 130));
    check(text > 300, format!("{text} pixels of text"))?;
    let graph = count(&first, GRAPH, |p| p.0.iter().all(|&v| v < 110));
    check(graph > 15_000, format!("{graph} dark pixels of the graph"))?;
    let waiting = count(&first, [540, 75, 790, 225], |p| near(p, [150, 160, 174]));
    check(waiting > 40, format!("{waiting} pixels of the word for waiting"))?;
    let sky = count(&first, [216, 0, 500, 20], |p| p.0[2] > 180 && p.0[2] > p.0[0]);
    check(sky > 2_000, format!("{sky} pixels of sky"))?;
    check(window.title()?.starts_with("Wave - "), window.title()?)?;
    // It moves by itself.
    window.wait_for_picture("a movement", |p| differing(p, &first, BESIDE_THE_GRAPH) > 50)?;
    // The next clip of the list, faded to.
    window.press(&["Down"])?;
    window.wait_for_clip("Cheer")?;
    // Paused, at rest: from here on pictures only change by what hands do.
    window.press(&["space"])?;
    for _ in 0..8 {
        window.press(&["Up"])?;
    }
    window.wait_for_clip("(rest pose)")?;
    let still = window.wait_for_rest()?;
    check(count(&still, PICTURE, bone) == 0, "bones before they were asked for")?;
    // Its skeleton over it.
    window.press(&["s"])?;
    window.wait_for_picture("a skeleton", |p| count(p, BESIDE_THE_GRAPH, bone) > 100)?;
    window.press(&["s"])?;
    window.wait_for_picture("no skeleton", |p| differing(p, &still, BESIDE_THE_GRAPH) == 0)?;
    // A handle is dragged with its hand, which goes back.
    let handle = |p: &Rgb<u8>| near(p, [255, 190, 40]);
    window.press(&["h"])?;
    let handles =
        window.wait_for_picture("handles", |p| count(p, BESIDE_THE_GRAPH, handle) > 20)?;
    let mut rings = handles.enumerate_pixels().filter(|(x, _, p)| *x > 216 && handle(p));
    let at = rings.next().map(|(x, y, _)| [x, y + 6]).ok_or("no ring")?;
    window.drag(at, [at[0] - 30, at[1] - 20])?;
    screen.hands(&["mousemove", "300", "380"])?;
    window.wait_for_picture("a hand that was dragged", |p| {
        differing(p, &handles, BESIDE_THE_GRAPH) > 200
    })?;
    window.press(&["x", "h"])?;
    window.wait_for_picture("no handles", |p| differing(p, &still, BESIDE_THE_GRAPH) == 0)?;
    window.press(&["g"])?;
    window.wait_for_picture("no graph", |p| {
        count(p, [550, 12, 785, 60], |p| p.0.iter().all(|&v| v < 110)) < 500
    })?;
    window.press(&["g"])?;
    // The mouse turns the camera.
    screen.hands(&["mousemove", "300", "300", "mousedown", "1"])?;
    for x in [310, 330, 350, 370, 390] {
        screen.hands(&["mousemove", &x.to_string(), "300"])?;
        std::thread::sleep(Duration::from_millis(300));
    }
    screen.hands(&["mouseup", "1"])?;
    window.wait_for_picture("another side", |p| differing(p, &still, BESIDE_THE_GRAPH) > 200)?;
    // A crowd: 64 of them, and the camera where it sees them all.
    window.press(&["plus", "plus", "plus", "plus", "plus", "plus", "r"])?;
    window.wait_for_picture("a crowd", |p| {
        // Clothes of many colours: reds and blues beside each other.
        let hue = |channel: usize| {
            count(p, BESIDE_THE_GRAPH, |p| {
                vivid(p) && p.0[channel] == *p.0.iter().max().unwrap_or(&0)
            })
        };
        hue(0) > 300 && hue(2) > 300
    })?;
    // Every press is heard, however many there are in a frame.
    let crowd = window.wait_for_rest()?;
    check(differing(&crowd, &still, PICTURE) > 5_000, "the crowd looks like one")?;
    // A hidden window goes on, and is there again.
    screen.hands(&["windowunmap", &window.id])?;
    std::thread::sleep(Duration::from_millis(500));
    screen.hands(&["windowmap", "--sync", &window.id])?;
    window.wait_for_picture("the crowd again", |p| differing(p, &crowd, BESIDE_THE_GRAPH) < 50)?;
    screen.hands(&["windowfocus", &window.id])?;
    // Another size of the window.
    screen.hands(&["windowsize", &window.id, "700", "400"])?;
    window.wait_for_picture("a smaller window", |p| {
        count(p, [216, 0, 430, 360], vivid) > 200 && count(p, [705, 0, 800, 450], vivid) == 0
    })?;
    window.press(&["Escape"])?;
    let said = window.end_well()?;
    check(said.contains("64 characters") && said.contains("drawn by wgpu on"), said)
}
