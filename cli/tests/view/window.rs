//! A window under way, and hands on it.

use crate::check;
use crate::drag;
use crate::look::{BESIDE_THE_GRAPH, GRAPH, SIZE, differing};
use crate::screen::Screen;
use image::RgbImage;
use libtest_mimic::Failed;
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

/// How long a window may take to show what it should: a software device on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// Frames that a picture stands still for.
const FRAMES: u32 = 5;

/// A window under way; killed if a trial fails.
pub struct Window<'a> {
    screen: &'a Screen,
    process: Option<Child>,
    /// The id by which input tools find it.
    pub id: String,
}

impl<'a> Window<'a> {
    pub fn open(screen: &'a Screen, args: &[&str]) -> Result<Self, Failed> {
        let process = screen
            .command(env!("CARGO_BIN_EXE_phalanx"))
            .arg("view")
            .args(args)
            .args(["--size", &format!("{}x{}", SIZE.0, SIZE.1)])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut window = Self { screen, process: Some(process), id: String::new() };
        window.id = window.wait_for("a window", |w| {
            let found = w.screen.hands(&["search", "--name", "phalanx$"]);
            Ok(found.ok().filter(|id| !id.is_empty()))
        })?;
        screen.hands(&["windowfocus", &window.id])?;
        Ok(window)
    }

    /// Waits until something is there, as long as the window lives.
    pub fn wait_for<T>(
        &mut self,
        what: &str,
        mut look: impl FnMut(&Self) -> Result<Option<T>, Failed>,
    ) -> Result<T, Failed> {
        let start = Instant::now();
        loop {
            if let Some(found) = look(self)? {
                return Ok(found);
            }
            let ended = self.process.as_mut().is_none_or(|p| !matches!(p.try_wait(), Ok(None)));
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

    pub fn wait_for_picture(
        &mut self,
        what: &str,
        is_there: impl Fn(&RgbImage) -> bool,
    ) -> Result<RgbImage, Failed> {
        self.wait_for(what, |w| Ok(Some(w.screen.picture()?).filter(&is_there)))
    }

    /// Waits until the picture stands still, through frames however seldom they come.
    pub fn wait_for_rest(&mut self) -> Result<RgbImage, Failed> {
        let mut before = self.screen.picture()?;
        loop {
            let now = self.wait_for_frames()?;
            if differing(&now, &before, BESIDE_THE_GRAPH) == 0 {
                return Ok(now);
            }
            before = now;
        }
    }

    /// Waits for [`FRAMES`] more frames at least, and a moment; the last of them.
    pub fn wait_for_frames(&mut self) -> Result<RgbImage, Failed> {
        let mut last = self.screen.picture()?;
        let mut frames = 0;
        self.wait_for("another frame", |w| {
            std::thread::sleep(Duration::from_millis(300));
            let now = w.screen.picture()?;
            frames += u32::from(differing(&now, &last, GRAPH) > 0);
            last = now;
            Ok((frames >= FRAMES).then(|| last.clone()))
        })
    }

    pub fn press(&self, keys: &[&str]) -> Result<(), Failed> {
        self.screen.hands(&[&["key", "--delay", "150"], keys].concat()).map(drop)
    }

    /// A click that begins and ends at once, within a frame of a slow device.
    pub fn click(&self, [x, y]: [u32; 2]) -> Result<(), Failed> {
        let (x, y) = (x.to_string(), y.to_string());
        let hands = ["mousemove", &x, &y, "mousedown", "1", "mouseup", "1"];
        self.screen.hands(&hands).map(drop)
    }

    /// A drag that begins and ends at once.
    pub fn drag(&self, from: [u32; 2], to: [u32; 2]) -> Result<(), Failed> {
        let [a, b, c, d] = [from[0], from[1], to[0], to[1]].map(|v| v.to_string());
        let hands = ["mousemove", &a, &b, "mousedown", "1"];
        let more = ["mousemove", &c, &d, "mouseup", "1"];
        self.screen.hands(&[hands, more].concat()).map(drop)
    }

    /// Drops a file on it.
    pub fn drop_file(&self, file: &Path) -> Result<(), Failed> {
        drag::drop_file(self.screen.display(), self.id.parse()?, file)
    }

    /// Waits until its title contains something.
    pub fn wait_for_title(&mut self, part: &str) -> Result<(), Failed> {
        self.wait_for(part, |w| Ok(w.title()?.contains(part).then_some(())))
    }

    /// Waits until a clip is the one that plays.
    pub fn wait_for_clip(&mut self, name: &str) -> Result<(), Failed> {
        let begin = format!("{name} - ");
        self.wait_for(name, |w| Ok(w.title()?.starts_with(&begin).then_some(())))
    }

    pub fn title(&self) -> Result<String, Failed> {
        self.screen.hands(&["getwindowname", &self.id])
    }

    /// Waits for the end without an error, and returns the messages.
    pub fn end_well(&mut self) -> Result<String, Failed> {
        let out = self.end()?;
        let error = String::from_utf8(out.stderr)?;
        check(out.status.success() && error.is_empty(), format!("{:?}: {error}", out.status))?;
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
