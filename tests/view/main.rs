//! `phalanx view` in a window, on a display without a screen: what it shows, and what keys and the
//! mouse do to it.
//!
//! Trials are ignored without an adapter, Xvfb or xdotool, unless `PHALANX_REQUIRE_WINDOW=1`.

mod screen;

use image::{Rgb, RgbImage};
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use phalanx::gpu::{Gpu, GpuOptions};
use screen::Screen;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a window may take to show what it should: a software device on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// Small, so that a software device draws it in a moment.
const SIZE: (u32, u32) = (800, 450);

/// Where the picture lies: right of the clips, above the time, left of the graph.
const PICTURE: [u32; 4] = [216, 0, 800, 410];
const BESIDE_THE_GRAPH: [u32; 4] = [216, 60, 520, 400];

fn main() {
    let args = Arguments::from_args();
    let required = std::env::var("PHALANX_REQUIRE_WINDOW").is_ok_and(|v| v == "1");
    let reason = match screen::missing_tool() {
        Some(tool) => Some(format!("{tool} is not installed")),
        // On a thread that ends before the process: drivers keep data per thread.
        None => std::thread::spawn(|| Gpu::open(&GpuOptions::default()).map(drop).err())
            .join()
            .map_or(Some("looking for an adapter panicked".into()), |e| {
                e.map(|e| e.to_string())
            }),
    };
    let windowed = |name: &str, trial: fn() -> Result<(), Failed>| {
        let reason = reason.clone();
        Trial::ignorable_test(name, move || match reason {
            None => trial().map(|()| Completion::Completed),
            Some(reason) if required => Err(reason.into()),
            Some(reason) => Ok(Completion::ignored_with(reason)),
        })
    };
    let trials = vec![
        windowed("a_window_with_all_its_parts", a_window_with_all_its_parts),
        windowed("a_lost_device_is_opened_anew", a_lost_device_is_opened_anew),
        Trial::test("no_display_is_one_line", no_display_is_one_line),
    ];
    libtest_mimic::run(&args, trials).exit();
}

fn check(ok: bool, message: impl Into<String>) -> Result<(), Failed> {
    ok.then_some(()).ok_or_else(|| message.into().into())
}

/// A window under way; killed if a trial fails.
struct Window<'a> {
    screen: &'a Screen,
    process: Option<Child>,
    id: String,
}

impl<'a> Window<'a> {
    fn open(screen: &'a Screen, args: &[&str]) -> Result<Self, Failed> {
        let process = screen
            .command(env!("CARGO_BIN_EXE_phalanx"))
            .arg("view")
            .args(args)
            .args(["--size", &format!("{}x{}", SIZE.0, SIZE.1)])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut window = Self {
            screen,
            process: Some(process),
            id: String::new(),
        };
        window.id = window.wait_for("a window", |w| {
            let found = w.screen.hands(&["search", "--name", "phalanx$"]);
            Ok(found.ok().filter(|id| !id.is_empty()))
        })?;
        screen.hands(&["windowfocus", &window.id])?;
        Ok(window)
    }

    /// Waits until something is there, as long as the window lives.
    fn wait_for<T>(
        &mut self,
        what: &str,
        mut look: impl FnMut(&Self) -> Result<Option<T>, Failed>,
    ) -> Result<T, Failed> {
        let start = Instant::now();
        loop {
            if let Some(found) = look(self)? {
                return Ok(found);
            }
            let ended = self
                .process
                .as_mut()
                .is_none_or(|p| !matches!(p.try_wait(), Ok(None)));
            if ended {
                let error = String::from_utf8(self.end()?.stderr)?;
                return Err(format!("the window closed before {what} was there: {error}").into());
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("{what} is not there after {PATIENCE:?}").into());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn wait_for_picture(
        &mut self,
        what: &str,
        is_there: impl Fn(&RgbImage) -> bool,
    ) -> Result<RgbImage, Failed> {
        self.wait_for(what, |w| Ok(Some(w.screen.picture()?).filter(&is_there)))
    }

    /// Waits until the picture stands still.
    fn wait_for_rest(&mut self) -> Result<RgbImage, Failed> {
        let mut last = self.screen.picture()?;
        self.wait_for("a picture that stands still", |w| {
            std::thread::sleep(Duration::from_secs(2));
            let now = w.screen.picture()?;
            let same = differing(&now, &last, BESIDE_THE_GRAPH) == 0;
            last = now;
            Ok(same.then(|| last.clone()))
        })
    }

    fn press(&self, keys: &[&str]) -> Result<(), Failed> {
        self.screen
            .hands(&[&["key", "--delay", "150"], keys].concat())
            .map(drop)
    }

    fn title(&self) -> Result<String, Failed> {
        self.screen.hands(&["getwindowname", &self.id])
    }

    /// What it says at its end, without an error.
    fn end_well(&mut self) -> Result<String, Failed> {
        let out = self.end()?;
        let error = String::from_utf8(out.stderr)?;
        check(
            out.status.success() && error.is_empty(),
            format!("{:?}: {error}", out.status),
        )?;
        Ok(String::from_utf8(out.stdout)?)
    }

    fn end(&mut self) -> Result<Output, Failed> {
        let process = self.process.take().ok_or("it has ended before")?;
        Ok(process.wait_with_output()?)
    }
}

impl Drop for Window<'_> {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            // It may have ended meanwhile.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}

/// Pixels of a part of a picture for which something holds.
fn count(
    picture: &RgbImage,
    [left, top, right, bottom]: [u32; 4],
    is: impl Fn(&Rgb<u8>) -> bool,
) -> usize {
    let inside = |x: u32, y: u32| (left..right).contains(&x) && (top..bottom).contains(&y);
    let pixels = picture.enumerate_pixels().filter(|&(x, y, _)| inside(x, y));
    pixels.filter(|(_, _, p)| is(p)).count()
}

/// Colours of clothes: neither sky nor ground nor panels have any so strong.
fn vivid(p: &Rgb<u8>) -> bool {
    let [r, g, b] = p.0;
    let (most, least) = (r.max(g).max(b), r.min(g).min(b));
    most > 60 && most - least > most / 2
}

/// The colour of joints and what lies between them.
fn bone(p: &Rgb<u8>) -> bool {
    let [r, g, b] = p.0;
    r > 200 && g < 60 && b > 170
}

fn differing(a: &RgbImage, b: &RgbImage, part: [u32; 4]) -> usize {
    let [left, top, right, bottom] = part;
    let places = (top..bottom).flat_map(|y| (left..right).map(move |x| (x, y)));
    let far = |a: &Rgb<u8>, b: &Rgb<u8>| a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 24);
    places
        .filter(|&(x, y)| far(a.get_pixel(x, y), b.get_pixel(x, y)))
        .count()
}

fn a_window_with_all_its_parts() -> Result<(), Failed> {
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
    let graph = count(&first, [550, 12, 785, 180], |p| {
        p.0.iter().all(|&v| v < 110)
    });
    check(graph > 15_000, format!("{graph} dark pixels of the graph"))?;
    let sky = count(&first, [216, 0, 500, 20], |p| {
        p.0[2] > 180 && p.0[2] > p.0[0]
    });
    check(sky > 2_000, format!("{sky} pixels of sky"))?;
    check(window.title()?.starts_with("Wave - "), window.title()?)?;
    // It moves by itself.
    window.wait_for_picture("a movement", |p| {
        differing(p, &first, BESIDE_THE_GRAPH) > 50
    })?;
    // The next clip of the list, faded to.
    window.press(&["Down"])?;
    window.wait_for("the next clip", |w| {
        Ok(w.title()?.starts_with("Cheer - ").then_some(()))
    })?;
    // Paused, at rest: from here on pictures only change by what hands do.
    window.press(&["space"])?;
    for _ in 0..7 {
        window.press(&["Up"])?;
    }
    window.wait_for("the first clips", |w| {
        Ok(w.title()?.starts_with("(rest pose) - ").then_some(()))
    })?;
    let still = window.wait_for_rest()?;
    check(
        count(&still, PICTURE, bone) == 0,
        "bones before they were asked for",
    )?;
    // Its skeleton over it.
    window.press(&["s"])?;
    window.wait_for_picture("a skeleton", |p| count(p, BESIDE_THE_GRAPH, bone) > 100)?;
    window.press(&["s"])?;
    window.wait_for_picture("no skeleton", |p| {
        differing(p, &still, BESIDE_THE_GRAPH) == 0
    })?;
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
    window.wait_for_picture("another side", |p| {
        differing(p, &still, BESIDE_THE_GRAPH) > 200
    })?;
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
    // The keys are not all heard in one frame.
    let crowd = window.wait_for_rest()?;
    check(
        differing(&crowd, &still, PICTURE) > 5_000,
        "the crowd looks like one",
    )?;
    // A hidden window goes on, and is there again.
    screen.hands(&["windowunmap", &window.id])?;
    std::thread::sleep(Duration::from_millis(500));
    screen.hands(&["windowmap", "--sync", &window.id])?;
    window.wait_for_picture("the crowd again", |p| {
        differing(p, &crowd, BESIDE_THE_GRAPH) < 50
    })?;
    screen.hands(&["windowfocus", &window.id])?;
    // Another size of the window.
    screen.hands(&["windowsize", &window.id, "700", "400"])?;
    window.wait_for_picture("a smaller window", |p| {
        count(p, [216, 0, 430, 360], vivid) > 200 && count(p, [705, 0, 800, 450], vivid) == 0
    })?;
    window.press(&["Escape"])?;
    let said = window.end_well()?;
    check(
        said.contains("64 characters") && said.contains("drawn by wgpu on"),
        said,
    )
}

fn a_lost_device_is_opened_anew() -> Result<(), Failed> {
    let screen = Screen::open("loss", SIZE.0, SIZE.1)?;
    let args = ["--count", "30", "--lose-device-at", "3", "--frames", "8"];
    let mut window = Window::open(&screen, &args)?;
    window.wait_for_picture("a crowd", |p| count(p, BESIDE_THE_GRAPH, vivid) > 400)?;
    let said = window.end_well()?;
    check(
        said.contains("1 lost device opened anew") && said.starts_with("8 frames"),
        said,
    )
}

fn no_display_is_one_line() -> Result<(), Failed> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phalanx"));
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(name);
    }
    let out = command.arg("view").output()?;
    let error = String::from_utf8(out.stderr)?;
    check(out.status.code() == Some(1), format!("{:?}", out.status))?;
    check(
        error.starts_with("phalanx: ")
            && error.lines().count() == 1
            && error.contains("DISPLAY")
            && !error.contains(".rs"),
        error,
    )
}
