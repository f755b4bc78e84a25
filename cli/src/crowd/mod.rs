//! `phalanx crowd`: animates, measures and draws a crowd in formation.

pub mod cast;
mod figures;
pub mod floor;
pub mod formation;
mod measure;
pub mod picture;
mod plaza;
pub mod size;
pub mod tiers_file;

use super::clips::ClipArgs;
use super::error::CliError;
use super::files::Files;
use super::frame_renderer::{FrameRenderer, PaletteArg};
use super::import_args::ImportArgs;
use super::memory;
use super::model::Model;
use super::numbers::whole;
use super::output::{self, Output};
use cast::Cast;
use clap::Args;
use figures::Figures;
use formation::Formation;
use measure::Run;
use phalanx::crowd::BoneBuffer;
use phalanx_render::{Backend, PictureSize};
use std::path::PathBuf;
use tiers_file::BudgetArg;

/// Animate a crowd, measure it, and draw its last frame
///
/// The characters stand in formation with mixed clips, phases and speeds, and some are always fading to
/// another clip. A measured frame is what a game pays per frame: times advance, and every character is
/// evaluated into one bone buffer in heap memory. Only the picture's frame is evaluated again, into memory
/// of the device that draws it.
///
/// On a plaza (--plaza, and more than 500000 characters) they stand all around the camera, most of them far away or out
/// of the picture, and tiers decide whom a frame evaluates. A second table says what each tier costs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CrowdArgs {
    /// A .gltf, .glb, .vrm, .bvh or .phx file; default: the built-in character
    file: Option<PathBuf>,
    /// Number of characters
    #[arg(
        long,
        value_name = "N",
        default_value_t = 10_000,
        allow_negative_numbers = true,
        value_parser = whole::<u64>(1..=u64::MAX)
    )]
    count: u64,
    /// Number of frames to measure, 1/60 s each; 10 more, on a plaza 240, run before them as warm-up
    #[arg(
        long,
        value_name = "N",
        default_value_t = 300,
        allow_negative_numbers = true,
        value_parser = whole::<u32>(1..=MAX_FRAMES)
    )]
    frames: u32,
    /// Worker threads; default: one per core. One thread is always measured too
    #[arg(
        long,
        value_name = "N",
        allow_negative_numbers = true,
        value_parser = whole::<u16>(1..=super::MAX_THREADS)
    )]
    threads: Option<u16>,
    /// PNG file for the picture of the last frame
    #[arg(long, value_name = "PNG", default_value = "crowd.png", value_parser = png_path)]
    out: PathBuf,
    /// Also write all figures to this JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Size of the picture in pixels
    #[arg(long, value_name = "WxH", default_value = "1600x900", value_parser = picture_size)]
    size: PictureSize,
    /// What draws the picture: wgpu, the software rasteriser, or (auto) wgpu if available
    #[arg(long, value_name = "auto|gpu|software", default_value = "auto")]
    renderer: Backend,
    /// How shaders read palettes with wgpu: auto picks the best that the device supports; any other choice
    /// fails if the device lacks it
    #[arg(long, value_name = "auto|storage|texture|uniform", default_value = "auto")]
    backend: PaletteArg,
    /// Stand on a plaza all around the camera, as a game's crowd does, with tiers by height on screen. Markers and
    /// ends of clips are listened to. Frames are measured for a picture of 1920x1080, whatever --size is. More than 500000
    /// characters always stand on a plaza
    #[arg(long)]
    plaza: bool,
    /// JSON file with the tiers of a plaza (implies --plaza; default: the tiers of the library):
    /// {"tiers": [{"height": 40, "rate": 2, "interpolate": true, "error": 0.005, "level": 1}]}
    #[arg(long, value_name = "FILE", conflicts_with = "full")]
    tiers: Option<PathBuf>,
    /// Evaluate far characters of a plaza by the joints and palette rows that their level of detail needs (implies
    /// --plaza)
    #[arg(long, conflicts_with = "full")]
    details: bool,
    /// Budget of a plaza's frame (implies --plaza): a number of palettes, as 500, beside those that must be evaluated; or
    /// a time, as 1.5ms or 800us, for schedule and evaluation together, into which as many as possible are fitted
    #[arg(
        long,
        value_name = "PALETTES|TIME",
        allow_negative_numbers = true,
        conflicts_with = "full"
    )]
    budget: Option<BudgetArg>,
    /// A plaza without tiers, for comparison: everybody is evaluated in every frame (implies --plaza)
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    clips: ClipArgs,
    #[command(flatten)]
    import: ImportArgs,
}

const EXAMPLES: &str = "\
Examples:
  phalanx crowd
  phalanx crowd --count 50000 --threads 4 --json figures.json
  phalanx crowd fox.glb --count 400 --out foxes.png --size 1920x1080
  phalanx crowd --plaza --count 100000 --budget 2ms
  phalanx crowd --plaza --count 100000 --full
  phalanx crowd --count 1000000
  phalanx --simd portable crowd --frames 60";

/// The most characters that stand in formation; more stand on a plaza.
const FORMATION: u64 = 500_000;

/// Largest number of frames: ten hours of simulated time. Every frame's time is kept.
const MAX_FRAMES: u64 = 1 << 21;

/// Largest side and area of a picture, in pixels: the renderers' limits.
const MAX_SIDE: u32 = 16_384;
const MAX_PIXELS: u64 = 1 << 26;

/// Bytes per character besides its palette: its state twice, since the start of the run is kept, and its
/// share of the picture. 700 to 900 bytes were measured.
const STATE_BYTES: u64 = 1_024;

pub fn picture_size(text: &str) -> Result<PictureSize, String> {
    let parse = |s: &str| s.parse().ok().filter(|&n| (1..=MAX_SIDE).contains(&n));
    let sides = text.split_once(['x', 'X']);
    let Some((Some(width), Some(height))) = sides.map(|(w, h)| (parse(w), parse(h))) else {
        return Err(format!("expected WIDTHxHEIGHT, each from 1 to {MAX_SIDE}"));
    };
    let pixels = u64::from(width) * u64::from(height);
    if pixels > MAX_PIXELS {
        return Err(format!("{pixels} pixels exceed the limit of {MAX_PIXELS}"));
    }
    Ok(PictureSize { width, height })
}

/// Accepts a path that ends in .png or has no extension.
fn png_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension() {
        Some(e) if !e.eq_ignore_ascii_case("png") => Err("the name must end in .png".into()),
        _ => Ok(path),
    }
}

/// Simulates, draws and prints.
pub fn run(args: &CrowdArgs) -> Result<(), CliError> {
    let mut files = Files::default();
    if let Some(file) = &args.file {
        files.reads_model("FILE", file);
    }
    if let Some(file) = &args.tiers {
        files.reads("--tiers", file);
    }
    files.writes_other("--out", &args.out)?;
    if let Some(file) = &args.json {
        files.writes_other("--json", file)?;
    }
    let model = Model::load_to_draw(args.file.as_deref(), args.import)?
        .with_clips(&args.clips, args.import)?;
    args.clips.check_files(&args.file, args.import)?;
    let rig = &model.rig;
    if plaza::is_asked(args) {
        let picture_file = Output::open(&args.out)?;
        let json_file = args.json.as_deref().map(Output::open).transpose()?;
        return plaza::run(args, &model, (picture_file, json_file));
    }
    let count = check_memory(args.count, rig.palette_len(), rig.skeleton().scalars().len())?;
    let mut buffer = BoneBuffer::new();
    buffer.try_reserve(count * rig.palette_len())?;
    // Opened before the work, so that a path that cannot be written fails early.
    let picture_file = Output::open(&args.out)?;
    let json_file = args.json.as_deref().map(Output::open).transpose()?;

    let choice = cast::choose_clips(&model)?;
    let clips = &choice.clips;
    let size = size::measure(&model, &choice)?;
    let formation = Formation::new(count, size);
    let (mut cast, mut crowd) = Cast::new(rig, clips, &formation)?;
    let start = crowd.snapshot();

    let threads = args.threads.map_or_else(available_threads, usize::from);
    let runs = if threads > 1 { 2 } else { 1 };
    let progress = measure::progress(args.frames + measure::WARM_UP, runs);
    let one = (threads > 1)
        .then(|| {
            let run = Run::measure(1, args.frames, &mut crowd, &mut cast, &mut buffer, &progress)?;
            crowd.restore(&start)?;
            cast.restart();
            Ok::<_, CliError>(run)
        })
        .transpose()?;
    let many = Run::measure(threads, args.frames, &mut crowd, &mut cast, &mut buffer, &progress)?;
    progress.finish_and_clear();
    if let Some(one) = one.as_ref().filter(|one| one.palette_hash != many.palette_hash) {
        return Err(CliError::NotDeterministic {
            threads,
            many: many.palette_hash,
            one: one.palette_hash,
        });
    }

    let runs = [Some(many), one].into_iter().flatten().collect();
    let mut figures = Figures::new(&model, clips, count, args.frames, runs);
    let subject = picture::Subject {
        model: &model,
        formation: &formation,
        choice: &choice,
        floor: size.min.y,
    };
    let renderer = FrameRenderer::new(args.renderer, args.backend, rig.palette_len());
    let drawn = renderer.and_then(|b| picture::draw(&subject, &mut crowd, &buffer, args.size, b));
    let written = drawn.and_then(|picture| {
        picture_file.write(&picture.png)?;
        figures.picture = Some(picture.figures(&args.out, args.size));
        Ok(())
    });
    // The measurements are printed even if the picture failed.
    output::print(&figures.table())?;
    written?;
    json_file.map_or(Ok(()), |file| file.write_json(&figures))
}

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get().min(super::MAX_THREADS as usize))
}

/// Rejects crowds that would not fit into memory; returns the count.
fn check_memory(count: u64, rows: usize, scalars: usize) -> Result<usize, CliError> {
    // The palette is stored in the bone buffer, in mapped memory and in the device's pages; the last two
    // are over-allocated by half.
    let palette = 4 * rows as u64 * 48;
    let each = palette + 2 * scalars as u64 * 4 + STATE_BYTES;
    memory::check(count, each)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        crowd: CrowdArgs,
    }

    #[test]
    fn large_crowds_and_options_of_tiers_ask_for_a_plaza() {
        let asked = |options: &[&str]| {
            let line = Line::try_parse_from([&["crowd"], options].concat());
            plaza::is_asked(&line.map_err(|e| e.to_string()).unwrap().crowd)
        };
        for plain in [&[][..], &["--count", "500000"], &["--threads", "1"]] {
            assert!(!asked(plain), "{plain:?}");
        }
        for options in [
            &["--count", "500001"][..],
            &["--plaza"],
            &["--full"],
            &["--details"],
            &["--budget", "0"],
            &["--tiers", "a.json"],
        ] {
            assert!(asked(options), "{options:?}");
        }
    }

    #[test]
    fn sizes_have_two_sides_and_limits() {
        assert!(matches!(picture_size("64x32"), Ok(PictureSize { width: 64, height: 32 })));
        for bad in ["", "64", "x", "0x5", "64x-1", "20000x1", "16384x16384", "1x1x1"] {
            assert!(picture_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn memory_is_checked_before_it_is_needed() {
        assert!(matches!(check_memory(10_000, 47, 0), Ok(10_000)));
        let error = check_memory(1_000_000_000, 47, 0).unwrap_err();
        let CliError::CrowdTooLarge { needed, limit, most, .. } = error else {
            panic!("{error}");
        };
        assert!(needed > u128::from(limit) && most > 500_000);
        // Whether the machine has that much memory is checked separately.
        let most_of_all = check_memory(most, 47, 0);
        assert!(matches!(most_of_all, Ok(_) | Err(CliError::OutOfMemory { .. })));
        assert!(check_memory(most + 1, 47, 0).is_err());
        assert!(check_memory(u64::MAX, usize::from(u16::MAX), 1 << 16).is_err());
    }
}
