//! Files that are opened while the window goes on: dropped, or chosen in its dialog. Dialogs and the wireframe.

use crate::check;
use crate::look::{BESIDE_THE_GRAPH, Part, SIZE, count, differing, near, vivid};
use crate::screen::Screen;
use crate::window::Window;
use image::Rgb;
use libtest_mimic::Failed;
use std::fs;
use std::path::Path;

/// The area of notices, left of the graph.
const NOTICE: Part = [216, 0, 540, 60];

/// The colour of notices.
fn notice(p: &Rgb<u8>) -> bool {
    near(p, [255, 128, 128])
}

pub fn files_are_opened() -> Result<(), Failed> {
    let screen = Screen::open("files", SIZE.0, SIZE.1)?;
    let mut window = Window::open(&screen, &["--clip", "Wave"])?;
    window.wait_for_picture("a character", |p| count(p, BESIDE_THE_GRAPH, vivid) > 400)?;
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets");
    window.drop_file(&assets.join("mannequin_lod1.glb"))?;
    window.wait_for_title("mannequin_lod1.glb")?;
    // A file that is no model is an error; the present model stays and can be used.
    let broken = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken.glb");
    fs::write(&broken, "no model")?;
    window.drop_file(&broken)?;
    window.wait_for_picture("a notice", |p| count(p, NOTICE, notice) > 30)?;
    check(window.title()?.contains("mannequin_lod1.glb"), window.title()?)?;
    window.wait_for_picture("no notice", |p| count(p, NOTICE, notice) == 0)?;
    // The folder of the last file is listed; a part of a name is enough.
    window.press(&["o"])?;
    screen.hands(&["type", "--delay", "150", "LOD2"])?;
    window.press(&["Return"])?;
    window.wait_for_title("mannequin_lod2.glb")?;
    // Without clips nothing moves: the picture changes by what is asked for.
    let still = window.wait_for_rest()?;
    window.press(&["w"])?;
    let edges =
        window.wait_for_picture("a wireframe", |p| differing(p, &still, BESIDE_THE_GRAPH) > 400)?;
    let [before, after] = [&still, &edges].map(|p| count(p, BESIDE_THE_GRAPH, vivid));
    check(
        after < before / 2,
        format!("{after} of {before} vivid pixels are left of the surfaces"),
    )?;
    window.press(&["w"])?;
    window.wait_for_picture("surfaces", |p| differing(p, &still, BESIDE_THE_GRAPH) == 0)?;
    // The keys, over a darker window; Escape closes them first.
    window.press(&["question"])?;
    window.wait_for_picture("the keys", |p| differing(p, &still, BESIDE_THE_GRAPH) > 20_000)?;
    window.press(&["Escape"])?;
    window.wait_for_picture("no keys", |p| differing(p, &still, BESIDE_THE_GRAPH) == 0)?;
    window.press(&["Escape"])?;
    window.end_well().map(drop)
}
