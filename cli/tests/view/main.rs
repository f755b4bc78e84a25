//! `phalanx view` in a window, on a display without a screen: what it shows, and what keys and the
//! mouse do to it.
//!
//! Trials are ignored without an adapter, Xvfb or xdotool, unless `PHALANX_REQUIRE_WINDOW=1`.

mod drag;
mod look;
mod opening;
mod panels;
mod parts;
mod screen;
mod tiers;
mod window;

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use look::{BESIDE_THE_GRAPH, SIZE, count, vivid};
use phalanx::gpu::{Gpu, GpuOptions};
use screen::Screen;
use std::process::Command;
use window::Window;

fn main() {
    let args = Arguments::from_args();
    let required = std::env::var("PHALANX_REQUIRE_WINDOW").is_ok_and(|v| v == "1");
    let reason = match screen::missing_tool() {
        Some(tool) => Some(format!("{tool} is not installed")),
        // On a thread that ends before the process: drivers keep data per thread.
        None => std::thread::spawn(|| Gpu::open(&GpuOptions::default()).map(drop).err())
            .join()
            .map_or(Some("looking for an adapter panicked".into()), |e| e.map(|e| e.to_string())),
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
        windowed("a_window_with_all_its_parts", parts::a_window_with_all_its_parts),
        windowed("panels_obey_the_mouse", panels::panels_obey_the_mouse),
        windowed("tiers_are_coloured", tiers::tiers_are_coloured),
        windowed("files_are_opened", opening::files_are_opened),
        windowed("a_lost_device_is_reopened", a_lost_device_is_reopened),
        windowed("no_adapter_is_said", no_adapter_is_said),
        Trial::test("no_display_is_one_line", no_display_is_one_line),
    ];
    libtest_mimic::run(&args, trials).exit();
}

fn check(ok: bool, message: impl Into<String>) -> Result<(), Failed> {
    ok.then_some(()).ok_or_else(|| message.into().into())
}

fn a_lost_device_is_reopened() -> Result<(), Failed> {
    let screen = Screen::open("loss", SIZE.0, SIZE.1)?;
    let args = ["--count", "30", "--lose-device-at", "3"];
    let mut window = Window::open(&screen, &args)?;
    // Every change of the graph is a frame at least: the third is over.
    window.wait_for_frames()?;
    window.wait_for_picture("a crowd", |p| count(p, BESIDE_THE_GRAPH, vivid) > 400)?;
    window.press(&["Escape"])?;
    // Lines are broken to the width of the terminal.
    let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let said = one_line(window.end_well()?);
    check(said.contains("1 lost device reopened"), said)?;
    // To its end, which may come before anyone has looked.
    let mut command = screen.command(env!("CARGO_BIN_EXE_phalanx"));
    let out = command
        .arg("view")
        .args(args)
        .args(["--frames", "8"])
        .env_remove("XDG_RUNTIME_DIR")
        .output()?;
    // What drivers look for and do not find is not shown.
    let error = String::from_utf8_lossy(&out.stderr).into_owned();
    check(error.is_empty(), error)?;
    let said = one_line(String::from_utf8(out.stdout)?);
    check(said.contains("1 lost device reopened") && said.starts_with("8 frames"), said)
}

/// A display, but nothing that could draw on it.
fn no_adapter_is_said() -> Result<(), Failed> {
    let screen = Screen::open("none", SIZE.0, SIZE.1)?;
    let mut command = screen.command(env!("CARGO_BIN_EXE_phalanx"));
    command.args(["view", "--frames", "1"]).env("WGPU_BACKEND", "vulkan");
    for name in ["VK_ICD_FILENAMES", "VK_DRIVER_FILES"] {
        command.env(name, "/nonexistent.json");
    }
    let out = command.output()?;
    let error = String::from_utf8(out.stderr)?;
    check(out.status.code() == Some(1), format!("{:?}", out.status))?;
    check(
        error.starts_with("phalanx: cannot open a window: no graphics adapter")
            && error.lines().count() == 1,
        error,
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
    )?;
    // A file that is missing is reported first.
    let out = command.arg("nofile.glb").output()?;
    let error = String::from_utf8(out.stderr)?;
    check(error.starts_with("phalanx: nofile.glb: ") && error.lines().count() == 1, error)
}
