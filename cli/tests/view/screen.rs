//! A display without a screen, what a window shows on it, and hands that press its keys.

use image::RgbImage;
use libtest_mimic::Failed;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

/// Programs that the trials need: a display without a screen, and hands.
pub const TOOLS: [&str; 2] = ["Xvfb", "xdotool"];

/// A tool that is not installed.
pub fn missing_tool() -> Option<&'static str> {
    TOOLS.into_iter().find(|tool| {
        let mut asked = Command::new(tool);
        asked.arg("-version").stdout(Stdio::null()).stderr(Stdio::null());
        asked.status().is_err()
    })
}

/// A separate X server, stopped when dropped.
pub struct Screen {
    server: Child,
    display: String,
    folder: PathBuf,
}

impl Screen {
    /// A screen of some size; `name` names its folder.
    pub fn open(name: &str, width: u32, height: u32) -> Result<Self, Failed> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("view-{name}"));
        fs::create_dir_all(&folder)?;
        // By default a server resets when its last client leaves, and refuses clients meanwhile.
        let mut server = Command::new("Xvfb")
            .args(["-noreset", "-displayfd", "1", "-nolisten", "tcp", "-screen", "0"])
            .arg(format!("{width}x{height}x24"))
            .arg("-fbdir")
            .arg(&folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let out = server.stdout.take().ok_or("no pipe")?;
        let mut number = String::new();
        BufReader::new(out).read_line(&mut number)?;
        Ok(Self { server, display: format!(":{}", number.trim()), folder })
    }

    /// The display name by which programs find it.
    pub fn display(&self) -> &str {
        &self.display
    }

    /// A program with this display.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("DISPLAY", &self.display).env_remove("WAYLAND_DISPLAY");
        // Mesa prints a line of its own to standard error without this folder.
        command.env("XDG_RUNTIME_DIR", &self.folder);
        command.current_dir(&self.folder);
        command
    }

    /// The contents of the screen, from the X window dump that the server keeps.
    pub fn picture(&self) -> Result<RgbImage, Failed> {
        let dump = fs::read(self.folder.join("Xvfb_screen0"))?;
        let word = |i: usize| -> Result<usize, Failed> {
            let bytes = dump.get(i * 4..i * 4 + 4).ok_or("the dump has no header")?;
            Ok(u32::from_be_bytes(bytes.try_into()?) as usize)
        };
        let (header, width, height) = (word(0)?, word(4)?, word(5)?);
        let (stride, colors) = (word(12)?, word(19)?);
        let pixels = dump.get(header + colors * 12..).ok_or("the dump has no pixels")?;
        let mut picture = RgbImage::new(width as u32, height as u32);
        for (y, row) in pixels.chunks(stride).take(height).enumerate() {
            for (x, pixel) in row.chunks_exact(4).take(width).enumerate() {
                picture.put_pixel(x as u32, y as u32, [pixel[2], pixel[1], pixel[0]].into());
            }
        }
        if let Some(to) = std::env::var_os("PHALANX_PICTURES") {
            let name = self.folder.file_name().unwrap_or_default();
            picture.save(PathBuf::from(to).join(name).with_extension("png"))?;
        }
        Ok(picture)
    }

    /// Has hands do something: what `xdotool` prints.
    pub fn hands(&self, args: &[&str]) -> Result<String, Failed> {
        let out = self.command("xdotool").args(args).output()?;
        if !out.status.success() {
            let error = String::from_utf8_lossy(&out.stderr).into_owned();
            return Err(format!("xdotool {args:?}: {error}").into());
        }
        Ok(String::from_utf8(out.stdout)?.trim().to_owned())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // It may be gone already; nothing is left to do then.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
