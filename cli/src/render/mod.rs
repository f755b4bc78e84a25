//! `phalanx render`: draws a clip as a contact sheet or an animated GIF.

mod draw;
mod gif;
mod sheet;
mod stage;
mod times;

use super::crowd::picture_size;
use super::error::CliError;
use super::files::Files;
use super::frame_renderer::{FrameRenderer, PaletteArg};
use super::model::Model;
use super::numbers::{whole, within};
use super::output::{self, Output};
use super::text;
use clap::Args;
use phalanx_render::{Backend, PictureSize};
use stage::Stage;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use times::{Span, Times};

/// Draw a clip: a contact sheet (.png) or an animated GIF
///
/// The camera is fixed and covers the whole movement. Frames are evenly spaced, and the last one is one
/// step before the end, so that a looping clip gives a looping GIF.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RenderArgs {
    /// A .gltf, .glb or .phx file; default: the built-in character
    file: Option<PathBuf>,
    /// Clip, by exact name or index; default: the rest pose
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// A clip to blend in, with its weight, synchronised with the first; may be repeated. The first clip gets
    /// the remaining weight up to 1
    #[arg(long, value_name = "NAME=WEIGHT", requires = "clip")]
    blend: Vec<BlendArg>,
    /// A file to attach to a joint, given by name or path; may be repeated. It plays its clip of the same
    /// name, or else its first clip, synchronised
    #[arg(long, value_name = "FILE@JOINT")]
    attach: Vec<AttachArg>,
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
    /// Time range in seconds; default: the whole clip. Times beyond its ends loop
    #[arg(long, value_name = "A..B", allow_hyphen_values = true)]
    time: Option<Span>,
    /// Output file: a sheet if it ends in .png, an animation if it ends in .gif
    #[arg(long, value_name = "PNG|GIF")]
    out: OutPath,
    /// What draws the pictures: wgpu, the software rasteriser, or (auto) wgpu if available
    #[arg(long, value_name = "auto|gpu|software", default_value = "auto")]
    renderer: Backend,
    /// How shaders read palettes with wgpu: auto picks the best that the device supports; any other choice
    /// fails if the device lacks it
    #[arg(
        long,
        value_name = "auto|storage|texture|uniform",
        default_value = "auto"
    )]
    backend: PaletteArg,
}

const EXAMPLES: &str = "\
Examples:
  phalanx render --clip Walk --out walk.png
  phalanx render fox.glb --clip Run --out run.gif --size 480x320
  phalanx render --clip Walk --blend Jog=0.5 --frames 12 --columns 6 --out mix.png
  phalanx render greenman.glb --clip 3_attack --attach sword.glb@socket_hand_R --out attack.gif
  phalanx render --clip Attack --time 0.2..0.8 --frames 4 --out blow.png";

/// Largest number of frames: more than a minute of a GIF.
const MAX_FRAMES: u64 = 2_000;

/// Largest number of pixels of all frames together, which are held in memory.
const MAX_PIXELS: u64 = 1 << 26;

/// Largest frame rate: a GIF's delays are in hundredths of a second, and players show delays below two as
/// ten.
const MAX_FPS: f64 = 50.0;

/// An argument in the form `NAME=WEIGHT`.
#[derive(Clone, Debug, PartialEq)]
struct BlendArg {
    clip: String,
    weight: f32,
}

impl FromStr for BlendArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (clip, weight) = text.rsplit_once('=').ok_or("expected NAME=WEIGHT")?;
        match weight.parse::<f32>() {
            Ok(weight) if (0.0..=1.0).contains(&weight) => Ok(Self {
                clip: clip.to_owned(),
                weight,
            }),
            _ => Err(format!(
                "the weight \"{}\" is not a number from 0 to 1",
                text::one_line(weight)
            )),
        }
    }
}

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
            Some((file, joint)) if !file.is_empty() && !joint.is_empty() => Ok(Self {
                file: file.into(),
                joint: joint.to_owned(),
            }),
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
    files.writes("--out".to_owned(), &args.out.path)?;
    let model = Model::load_to_draw(args.file.as_deref())?;
    let mut clips = Vec::new();
    if let Some(clip) = &args.clip {
        let blended: f32 = args.blend.iter().map(|b| b.weight).sum();
        clips.push((model.find_clip(clip)?, (1.0 - blended).max(0.0)));
    }
    for blend in &args.blend {
        clips.push((model.find_clip(&blend.clip)?, blend.weight));
    }
    let duration = clips.first().and_then(|c| model.rig.clips().get(c.0));
    let duration = f64::from(duration.map_or(0.0, |c| c.duration()));
    let times = Times::new(args, duration);
    let pixels = u64::from(args.size.width) * u64::from(args.size.height);
    let pixels = pixels * times.count as u64;
    if pixels > MAX_PIXELS {
        return Err(CliError::TooManyPixels {
            frames: times.count,
            pixels,
            limit: MAX_PIXELS,
        });
    }
    let columns = args.columns.map_or_else(
        || sheet::columns(times.count, args.size),
        |c| c.min(times.count as u32),
    );
    if !args.out.gif {
        sheet::size(times.count, columns, args.size)?;
    }
    let attached = args.attach.iter().map(|a| {
        let model = Model::load_to_draw(Some(&a.file))?;
        Ok((model, a.joint.as_str()))
    });
    let attached = attached.collect::<Result<Vec<_>, CliError>>()?;
    let mut stage = Stage::new(&model, &clips, &attached)?;
    // Opened before the work, so that a path that cannot be written fails early.
    let file = Output::open(&args.out.path)?;
    let joints = stage.rigs().map(|rig| rig.palette_len()).max();
    let mut renderer = FrameRenderer::new(args.renderer, args.backend, joints.unwrap_or(0))?;
    let frames = stage.play(&times)?;
    let pictures = draw::draw(&mut stage, &frames, args.size, &mut renderer)?;
    let (bytes, form) = if args.out.gif {
        (gif::encode(&pictures, &times)?, "GIF".to_owned())
    } else {
        let sheet = sheet::compose(&pictures, columns)?;
        let form = format!("sheet of {} x {}", sheet.width(), sheet.height());
        (super::png::encode(sheet)?, form)
    };
    let size = bytes.len();
    file.write(&bytes)?;
    output::print(&summary(args, &times, &form, size, &renderer.name()))
}

fn summary(args: &RenderArgs, times: &Times, form: &str, bytes: usize, drawn_by: &str) -> String {
    let name = |path: &Path| text::one_line(&path.display().to_string());
    let clip = args.clip.as_ref();
    let clip = clip.map_or("rest pose".into(), |c| {
        format!("clip {}", text::name(Some(c)))
    });
    let frames = match times.count {
        1 => "1 frame".to_owned(),
        n => format!("{n} frames"),
    };
    let PictureSize { width, height } = args.size;
    format!(
        "{}: {form}, {frames} of {width} x {height}, {}\n{clip} from {:.3} to {:.3} s, drawn by {drawn_by}\n",
        name(&args.out.path),
        text::bytes(bytes as f64),
        times.first,
        times.first + times.step * times.count as f64,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_from_the_right() {
        let blend: BlendArg = "a=b=0.5".parse().unwrap();
        assert_eq!((blend.clip.as_str(), blend.weight), ("a=b", 0.5));
        for bad in ["", "Walk", "Walk=", "Walk=-1", "Walk=nan", "Walk=2"] {
            assert!(bad.parse::<BlendArg>().is_err(), "{bad}");
        }
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
