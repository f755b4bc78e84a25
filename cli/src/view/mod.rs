//! `phalanx view`: a window that shows a model, one character or thousands.

mod app;
mod browser;
mod clip_list;
mod dialogs;
mod display;
mod graph;
mod handles;
mod history;
mod input;
mod interface;
mod keys;
mod notice;
mod opened;
mod orbit;
mod pad;
mod screen_joints;
mod skeletons;
mod tier_legend;
mod tiers;
mod time_line;
mod viewer;
mod viewer_crowd;

use super::clips::ClipArgs;
use super::crowd::picture_size;
use super::crowd::tiers_file::{self, BudgetArg};
use super::error::CliError;
use super::frame_renderer::PaletteArg;
use super::import_args::ImportArgs;
use super::model::Model;
use super::numbers::{whole, within};
use super::{output, quiet};
use app::{App, RunLimits};
use clap::Args;
use opened::Opened;
use phalanx_render::PictureSize;
use std::path::{Path, PathBuf};
use viewer::{LONGEST_FADE, Viewer};
use viewer_crowd::Playing;
use winit::error::EventLoopError;
use winit::event_loop::EventLoop;

/// Show a model in a window
///
/// With a list of clips to fade between, a time line to scrub, skeletons, handles that drag hands and feet, a wireframe,
/// one character or thousands, and the time each frame takes. A file that is dropped on the window is opened; if it has no
/// meshes, or Shift is held, its clips play on the model.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}\n\n{}", keys::help()))]
pub struct ViewArgs {
    /// A .gltf, .glb, .vrm, .bvh or .phx file; default: the built-in character
    file: Option<PathBuf>,
    /// First clip, by exact name or index; default: the first one
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// Initial number of characters
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        allow_negative_numbers = true,
        value_parser = whole::<u32>(1..=viewer::MOST as u64)
    )]
    count: u32,
    /// Duration of crossfades in seconds
    #[arg(
        long,
        value_name = "SECONDS",
        default_value = "0.3",
        allow_negative_numbers = true,
        value_parser = within("seconds", 0.0..=LONGEST_FADE)
    )]
    fade: f32,
    /// Size of the window in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = picture_size)]
    size: PictureSize,
    /// How shaders read palettes: auto picks the best that the device supports; any other choice fails if the
    /// device lacks it
    #[arg(long, value_name = "auto|storage|texture|uniform", default_value = "auto")]
    backend: PaletteArg,
    /// JSON file with the tiers of the crowd, as of crowd --tiers; default: those of the library. T turns tiers on and
    /// off. Details (level, leave_out) have no effect in the window
    #[arg(long, value_name = "FILE")]
    tiers: Option<PathBuf>,
    /// Budget of a frame with tiers: a number of palettes, as 500, beside those that must be evaluated; or a time, as 1.5ms
    /// or 800us, for schedule, evaluation and, in the window, the copy to the device
    #[arg(long, value_name = "PALETTES|TIME", allow_negative_numbers = true)]
    budget: Option<BudgetArg>,
    #[command(flatten)]
    clips: ClipArgs,
    #[command(flatten)]
    import: ImportArgs,
    /// Close the window after this many frames
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = whole::<u64>(1..=u64::MAX)
    )]
    frames: Option<u64>,
    /// Destroy the device at a frame, to test its recovery
    #[arg(long, value_name = "N", hide = true)]
    lose_device_at: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  phalanx view
  phalanx view fox.glb --clip Run
  phalanx view --count 2000 --backend texture
  phalanx view --count 5000 --budget 1.5ms";

/// Opens the window and runs until it is closed.
pub fn run(args: &ViewArgs) -> Result<(), CliError> {
    // Reported before a missing display.
    if let Some(missing) = args.file.as_deref().filter(|file| !file.exists()) {
        Model::load(Some(missing), false, args.import)?;
    }
    let mut tiers = args.tiers.as_deref().map(tiers_file::read).transpose()?;
    // The window draws all levels of detail with the full rig's palettes.
    let all = tiers.iter_mut().flat_map(|t| &mut t.tiers);
    let details = all.filter_map(|tier| tier.detail.take()).count();
    if let Some(file) = args.tiers.as_deref().filter(|_| details > 0) {
        output::tell(&format!(
            "warning: {}: level and leave_out have no effect in the window",
            file.display()
        ));
    }
    // Opened before the model: without a display, loading is wasted.
    let event_loop = quiet::during(EventLoop::new).map_err(refused)?;
    let model = Model::load_to_draw(args.file.as_deref(), args.import)?
        .with_clips(&args.clips, args.import)?;
    let playing = match &args.clip {
        Some(clip) => Playing::Clip(model.find_clip(clip)?),
        None if model.rig.clips().is_empty() => Playing::Rest,
        None => Playing::Clip(0),
    };
    let folder = args.file.as_deref().and_then(Path::parent);
    let folder = folder.map(Path::to_owned);
    let count = args.count as usize;
    let (opened, subject) = Opened::new(&model, folder, playing, count, args.backend)?;
    let mut viewer = Viewer::new(opened, args.fade);
    viewer.start_tiers(tiers, args.budget)?;
    let limits = RunLimits { frames: args.frames, lose_device_at: args.lose_device_at };
    let mut app = App::new(viewer, subject, args.size, limits);
    app.import = args.import;
    app.binding = args.clips.binding;
    let ran = event_loop.run_app(&mut app);
    app.close();
    ran.map_err(refused)?;
    match app.error.take() {
        Some(error) => Err(error),
        None => output::print(&summary(&app)),
    }
}

fn refused(error: EventLoopError) -> CliError {
    let said = error.to_string();
    // winit puts a line of its source code before the system's message.
    let reason = said.split_once(".rs:").and_then(|s| s.1.split_once(": "));
    CliError::Window { reason: reason.map_or(said.as_str(), |r| r.1).trim_end_matches('.').into() }
}

fn summary(app: &App) -> String {
    let lost = match app.lost {
        0 => String::new(),
        1 => ", 1 lost device reopened".to_owned(),
        n => format!(", {n} lost devices reopened"),
    };
    let mean = app.viewer.history.mean();
    let several = |n: u64, what| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    format!(
        "{}, {:.2} ms per frame at the end, {}, drawn by wgpu on {}, {}{lost}\n",
        several(app.frames, "frame"),
        mean.total,
        several(app.viewer.crowd.count() as u64, "character"),
        app.viewer.drawn_by,
        app.viewer.palettes,
    )
}
