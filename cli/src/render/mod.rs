//! `phalanx render`: draws a clip as a contact sheet or an animated GIF.

mod beside;
mod draw;
mod framing;
mod gif;
mod label;
mod sheet;
mod stage;
mod times;

use super::actions::ActionArgs;
use super::clips::ClipArgs;
use super::crowd::picture_size;
use super::error::CliError;
use super::files::Files;
use super::frame_renderer::{FrameRenderer, PaletteArg};
use super::import_args::ImportArgs;
use super::model::Model;
use super::numbers::{whole, within};
use super::output::{self, Output};
use super::text;
use beside::Unseen;
use clap::Args;
use draw::{Drawn, Setup};
use phalanx_render::{Backend, PictureSize};
use stage::Stage;
use std::path::PathBuf;
use std::str::FromStr;
use times::{Span, Times, Wanted};

/// Draw a clip: a contact sheet (.png) or an animated GIF
///
/// The camera is fixed and shows the whole movement. Frames are evenly spaced. Of a loop the end is left out, so
/// that a looping clip gives a looping GIF; other clips are shown from beginning to end. A clip is a loop if its last
/// pose is nearer to its first than a hundredth of its way. Every frame of a sheet has the clip's name and time on it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RenderArgs {
    /// A .gltf, .glb, .vrm, .bvh or .phx file; default: the built-in character
    file: Option<PathBuf>,
    #[command(flatten)]
    actions: ActionArgs,
    /// Play blended clips in step: each at the speed at which it lasts as long as the first
    #[arg(long)]
    in_step: bool,
    /// A file to attach to a joint, given by name, path or index; may be repeated. It plays its clip of the same
    /// name, or else its first clip, in step
    #[arg(long, value_name = "FILE@JOINT")]
    attach: Vec<AttachArg>,
    /// A model to show beside it, such as the same clip on another character; may be repeated. It plays its clip
    /// of the same name, or else its first clip, in step. All stand on one ground and have one scale. A model that is
    /// out of the picture, or too small, is marked there and named on standard error
    #[arg(long, value_name = "FILE")]
    beside: Vec<PathBuf>,
    /// Scale each model of --beside to the height of the first, and put it on the ground
    #[arg(long, requires = "beside")]
    fit_each: bool,
    /// Frames per second
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = within("frames per second", 0.1..=MAX_FPS)
    )]
    fps: Option<f64>,
    /// Number of frames; default: 8 for a sheet, 25 per second for a GIF
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = whole::<u32>(1..=MAX_FRAMES)
    )]
    frames: Option<u32>,
    /// Columns of a sheet; default: enough to make it wider than high
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = whole::<u32>(1..=MAX_FRAMES)
    )]
    columns: Option<u32>,
    /// Size of one frame in pixels
    #[arg(long, value_name = "WxH", default_value = "320x320", value_parser = picture_size)]
    size: PictureSize,
    /// Time or time range in seconds from the start of the clip; with --blend, from the time of each clip.
    /// Default: the whole clip
    #[arg(long, value_name = "S|A..B", allow_hyphen_values = true)]
    time: Option<Span>,
    /// Output file: a sheet if it ends in .png, an animation if it ends in .gif
    #[arg(long, value_name = "PNG|GIF")]
    out: OutPath,
    /// What draws the pictures: wgpu, the software rasteriser, or (auto) wgpu if available
    #[arg(long, value_name = "auto|gpu|software", default_value = "auto")]
    renderer: Backend,
    /// How shaders read palettes with wgpu: auto picks the best that the device supports; any other choice
    /// fails if the device lacks it
    #[arg(long, value_name = "auto|storage|texture|uniform", default_value = "auto")]
    backend: PaletteArg,
    #[command(flatten)]
    clips: ClipArgs,
    #[command(flatten)]
    import: ImportArgs,
}

const EXAMPLES: &str = "\
Examples:
  phalanx render --clip Walk --out walk.png
  phalanx render fox.glb --clip Run --out run.gif --size 480x320
  phalanx render --blend Walk:0:0.5 --blend Jog:0:0.5 --in-step --out mix.gif
  phalanx render man.glb --clip attack --attach sword.glb@hand_R --out attack.gif
  phalanx render walk.glb --clip Walk --beside hero_walk.phx --out both.png
  phalanx render walk.bvh --clip 0 --beside walk.glb --fit-each --out alike.png
  phalanx render --clip Attack --time 0.2..0.8 --frames 4 --out blow.png";

/// Largest number of frames: more than a minute of a GIF.
const MAX_FRAMES: u64 = 2_000;

/// Largest number of pixels of all frames together, which are held in memory.
const MAX_PIXELS: u64 = 1 << 26;

/// Largest frame rate: a GIF's delays are in hundredths of a second, and players show delays below two as
/// ten.
const MAX_FPS: f64 = 50.0;

/// An argument in the form `FILE@JOINT`.
#[derive(Clone, Debug, PartialEq)]
struct AttachArg {
    file: PathBuf,
    joint: String,
}

impl FromStr for AttachArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.rsplit_once('@') {
            Some((file, joint)) if !file.is_empty() && !joint.is_empty() => {
                Ok(Self { file: file.into(), joint: joint.to_owned() })
            }
            _ => Err("expected FILE@JOINT".into()),
        }
    }
}

/// Output path, and the format given by its extension.
#[derive(Clone, Debug)]
struct OutPath {
    path: PathBuf,
    gif: bool,
}

impl FromStr for OutPath {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let path = PathBuf::from(text);
        let extension = path.extension().and_then(|e| e.to_str());
        let gif = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("gif") => true,
            Some("png") => false,
            _ => return Err("the name must end in .png (a sheet) or .gif".into()),
        };
        Ok(Self { path, gif })
    }
}

/// Evaluates, draws and writes.
pub fn run(args: &RenderArgs) -> Result<(), CliError> {
    let mut files = Files::default();
    if let Some(file) = &args.file {
        files.reads_model("FILE", file);
    }
    for attached in &args.attach {
        files.reads_model("--attach", &attached.file);
    }
    for beside in &args.beside {
        files.reads_model("--beside", beside);
    }
    files.writes_other("--out", &args.out.path)?;
    let model = Model::load_to_draw(args.file.as_deref(), args.import)?
        .with_clips(&args.clips, args.import)?;
    let mut actions = args.actions.find(&model)?;
    actions.in_step = args.in_step;
    let attached = args.attach.iter().map(|a| {
        let model = Model::load_to_draw(Some(&a.file), args.import.of_other(&a.file))?;
        Ok((model, a.joint.as_str()))
    });
    let attached = attached.collect::<Result<Vec<_>, CliError>>()?;
    let beside =
        args.beside.iter().map(|file| Model::load_to_draw(Some(file), args.import.of_other(file)));
    let beside = beside.collect::<Result<Vec<_>, CliError>>()?;
    let others = args.attach.iter().map(|a| &a.file).chain(&args.beside);
    let models = args.file.iter().chain(others);
    args.clips.check_files(models, args.import)?;
    let mut stage = Stage::new(&model, actions.clone(), &attached, &beside)?;
    let span = args.time.unwrap_or(Span(0.0, actions.duration()));
    let round = actions.duration();
    let times = Times::new(&Wanted {
        span,
        loops: span.0 < span.1 && stage.is_loop(span, round)?,
        duration: round,
        frames: args.frames,
        fps: args.fps,
        gif: args.out.gif,
    });
    if actions.repeats() && times.aliases(round) {
        output::tell(&format!(
            "warning: the frames are {:.3} s apart and the clip repeats every {round:.3} s, so it seems to stand \
             still or to run backwards; give more --frames or a shorter --time",
            times.step
        ));
    }
    let pixels = u64::from(args.size.width) * u64::from(args.size.height);
    let pixels = pixels * times.count as u64;
    if pixels > MAX_PIXELS {
        return Err(CliError::TooManyPixels { frames: times.count, pixels, limit: MAX_PIXELS });
    }
    let columns = args
        .columns
        .map_or_else(|| sheet::columns(times.count, args.size), |c| c.min(times.count as u32));
    if !args.out.gif {
        sheet::size(times.count, columns, args.size)?;
    }
    // Opened before the work, so that a path that cannot be written fails early.
    let file = Output::open(&args.out.path)?;
    let joints = stage.rigs().map(|rig| rig.palette_len()).max();
    let mut renderer = FrameRenderer::new(args.renderer, args.backend, joints.unwrap_or(0))?;
    let mut frames = stage.play(&times)?;
    let setup = Setup {
        size: args.size,
        headroom: match args.out.gif {
            true => 0.0,
            false => label::height(args.size) as f32 / args.size.height as f32,
        },
        background: !args.out.gif && sheet::has_unused(times.count, columns),
        beside: beside.len(),
        fit_each: args.fit_each,
    };
    let mut drawn = draw::draw(&mut stage, &mut frames, setup, &mut renderer)?;
    let actors = 1 + attached.len() + beside.len();
    let named = std::iter::once(&model).chain(&beside).map(|m| file_name(&m.file));
    let named: Vec<(usize, &str)> = setup.alone(actors).zip(named).collect();
    mark_unseen(&mut drawn, &named, args.fit_each);
    let (bytes, form) = if args.out.gif {
        (gif::encode(&drawn.frames, &times)?, "GIF".to_owned())
    } else {
        for (picture, frame) in drawn.frames.iter_mut().zip(&frames) {
            label::write(picture, &actions.name(), actions.shown_time(frame.time));
        }
        let sheet = sheet::compose(&drawn.frames, drawn.background.as_ref(), columns)?;
        let form = format!("sheet of {} x {}", sheet.width(), sheet.height());
        (super::png::encode(sheet)?, form)
    };
    let size = bytes.len();
    file.write(&bytes)?;
    let summary = summary(args, &times, &form, size);
    let (clips, drawn_by) = (actions.name(), renderer.name());
    let shown = shown(frames.iter().filter_map(|f| actions.shown_time(f.time)));
    output::print(&format!("{summary}{clips}{shown}\ndrawn by {drawn_by}\n"))
}

/// The last part of a path.
fn file_name(path: &str) -> &str {
    let name = std::path::Path::new(path).file_name();
    name.and_then(|name| name.to_str()).unwrap_or(path)
}

/// Marks in the frames which actors are not seen there, and says it once of each.
fn mark_unseen(drawn: &mut Drawn, named: &[(usize, &str)], fit_each: bool) {
    for (picture, unseen) in drawn.frames.iter_mut().zip(&drawn.unseen) {
        let matters = named.iter().flat_map(|&(actor, name)| {
            let unseen = unseen.iter().filter(move |(a, _)| *a == actor);
            unseen.map(move |(_, why)| (name, why.words()))
        });
        label::write_below(picture, &matters.collect::<Vec<_>>());
    }
    let all = drawn.unseen.len();
    for &(actor, name) in named {
        for why in [Unseen::Outside, Unseen::Small] {
            let frames = drawn.unseen.iter();
            let count = frames.filter(|f| f.contains(&(actor, why))).count();
            if count > 0 {
                let hint = match fit_each {
                    true => "",
                    false => "; --fit-each scales each model to the height of the first",
                };
                output::tell(&format!(
                    "warning: {name} {} in {count} of {}{hint}",
                    why.words(),
                    text::plural(all, "frame")
                ));
            }
        }
    }
}

/// The times on the cells: from the least to the greatest, in seconds. None for the rest pose.
fn shown(times: impl Iterator<Item = f64> + Clone) -> String {
    let least = times.clone().reduce(f64::min);
    let Some((least, greatest)) = least.zip(times.reduce(f64::max)) else {
        return String::new();
    };
    let (least, greatest) = (format!("{least:.3}"), format!("{greatest:.3}"));
    match least == greatest {
        true => format!(", {least} s"),
        false => format!(", {least} to {greatest} s"),
    }
}

fn summary(args: &RenderArgs, times: &Times, form: &str, bytes: usize) -> String {
    let PictureSize { width, height } = args.size;
    format!(
        "{}: {form}, {} of {width} x {height}, {}\n",
        text::one_line(&args.out.path.display().to_string()),
        text::plural(times.count, "frame"),
        text::bytes(bytes as f64),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn times_are_those_of_the_cells() {
        let shown = |times: &[f64]| shown(times.iter().copied());
        assert_eq!(shown(&[]), "");
        assert_eq!(shown(&[1.0, 1.0]), ", 1.000 s");
        assert_eq!(shown(&[0.5, 0.0, 0.25]), ", 0.000 to 0.500 s");
    }

    #[test]
    fn arguments_are_split_from_the_right() {
        let attach: AttachArg = "a@b/sword.glb@Left/Hand".parse().unwrap();
        assert_eq!(attach.file, Path::new("a@b/sword.glb"));
        assert_eq!(attach.joint, "Left/Hand");
        for bad in ["", "sword.glb", "sword.glb@", "@Hand"] {
            assert!(bad.parse::<AttachArg>().is_err(), "{bad}");
        }
        assert!("a.GIF".parse::<OutPath>().unwrap().gif);
        for bad in ["a", "png", "a.bmp", "a.gif.txt", ""] {
            assert!(bad.parse::<OutPath>().is_err(), "{bad}");
        }
    }
}
