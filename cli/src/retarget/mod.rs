//! `phalanx retarget`: clips of one humanoid onto another.

mod applied;
mod character;
mod map_file;
mod one;
mod summary;

use super::bake::{self, Faults, Found, phx_or_folder};
use super::error::CliError;
use super::files::Files;
use super::findings::{FileReport, print_dropped};
use super::import_args::ImportArgs;
use super::model::Model;
use super::output;
use applied::PlantArgs;
use character::{Character, Pose};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use map_file::MapFile;
use one::{Job, Made};
use phalanx::retarget::{Alignment, Ground, RetargetOptions};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use summary::Summary;

/// Put clips of one humanoid onto another: other names, proportions and rest poses
///
/// Joints are matched as the bones of VRM's humanoid: by a map that you give, else by what a VRM file states,
/// else by tables of names (Mixamo, CMU, LAFAN1, VRM, VRoid, Unreal, Rigify, Biped, Poser and others), else by the
/// shape of the rest pose. Rotations are taken over
/// in space, hips are scaled by the ratio of heights, and an A-pose is aligned with a T-pose. The result is a .phx
/// file of the target with the clips of the source.
///
/// If the output is a folder, every input becomes one file in it; if its name ends in .phx, all inputs become one.
/// Every input that fails is reported on one line; the others are still written, and the exit status is 1.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RetargetArgs {
    /// .gltf, .glb, .vrm, .vrma, .bvh and .phx files with clips, folders of them, or patterns such as "clips/**/*.glb"
    #[arg(required = true)]
    files: Vec<String>,
    /// The character to put the clips onto; default with --mirror: each file's own
    #[arg(long, value_name = "FILE", required_unless_present_any = ["mirror", "print_map"])]
    onto: Option<PathBuf>,
    /// Output: a folder, or a name that ends in .phx
    #[arg(long, value_name = "DIR|FILE", required_unless_present = "print_map")]
    out: Option<PathBuf>,
    /// Clip, by exact name or index; may be repeated. Default: all clips
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Vec<String>,
    /// The humanoid of the files, as JSON: {"hips": "Pelvis", "leftUpperLeg": "Thigh_L", ...}
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,
    /// The humanoid of the character, in the same form
    #[arg(long, value_name = "FILE", requires = "onto")]
    onto_map: Option<PathBuf>,
    /// Print the humanoid of the first file as JSON, to be edited and given with --map; null stands for bones that
    /// are missing
    #[arg(long, conflicts_with_all = ["onto", "out", "json"])]
    print_map: bool,
    /// Swap left and right
    #[arg(long)]
    mirror: bool,
    #[command(flatten)]
    plant: PlantArgs,
    /// Bones of the character that are turned where those of the source point in the rest pose
    #[arg(long, value_name = "BONES", default_value = "limbs")]
    align: Align,
    /// A pose of the source in which it stands as the character does: a clip and seconds within it, rest, or bind (the
    /// pose of its inverse bind matrices). Default: the rest pose if it stands
    #[arg(long, value_name = "CLIP:TIME|rest|bind")]
    reference: Option<Pose>,
    /// The same for the character
    #[arg(long, value_name = "CLIP:TIME|rest|bind")]
    onto_reference: Option<Pose>,
    /// Where the feet of the source stand
    #[arg(long, value_name = "WHERE", default_value = "auto")]
    ground: GroundArg,
    /// Drop animated scales, which are kept otherwise
    #[arg(long)]
    drop_scale: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    import: ImportArgs,
}

impl RetargetArgs {
    /// Refuses an output that is neither a .phx file nor looks like a folder.
    pub fn check(&self, command: &mut clap::Command) -> Result<(), clap::Error> {
        let out = self.out.as_deref();
        out.map_or(Ok(()), |out| phx_or_folder(out, command))
    }

    /// The maps of the files and of the character.
    fn maps(&self) -> Result<[Option<MapFile>; 2], CliError> {
        let read = |path: &Option<PathBuf>| path.as_deref().map(MapFile::read).transpose();
        Ok([read(&self.map)?, read(&self.onto_map)?])
    }
}

const EXAMPLES: &str = "\
Examples:
  phalanx retarget walk.glb --onto hero.glb --out hero_walk.phx
  phalanx retarget \"mocap/**/*.glb\" --onto hero.glb --out hero/ --plant-feet
  phalanx retarget odd.glb --print-map > odd.json
  phalanx retarget odd.glb --map odd.json --onto hero.glb --out hero_odd.phx
  phalanx retarget hero.glb --clip WaveLeft --mirror --out hero_wave_right.phx
  phalanx render walk.glb --clip Walk --beside hero_walk.phx --out both.png";

/// Bones that are aligned.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Align {
    /// None: both rest poses are alike
    None,
    /// Upper and lower arms and legs
    Limbs,
    /// Arms, legs and fingers
    Fingers,
}

impl From<Align> for Alignment {
    fn from(align: Align) -> Self {
        match align {
            Align::None => Self::None,
            Align::Limbs => Self::Limbs,
            Align::Fingers => Self::LimbsAndFingers,
        }
    }
}

/// Position of the source.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum GroundArg {
    /// On the origin if its lowest foot in the clip is nearer to it than to that of the reference pose
    Auto,
    /// Where the reference pose stands
    Reference,
    /// On height 0
    Origin,
}

impl From<GroundArg> for Ground {
    fn from(ground: GroundArg) -> Self {
        match ground {
            GroundArg::Auto => Self::Auto,
            GroundArg::Reference => Self::Reference,
            GroundArg::Origin => Self::Origin,
        }
    }
}

/// Extensions of files with clips.
const SOURCES: [&str; 6] = ["gltf", "glb", "vrm", "vrma", "bvh", "phx"];

/// Retargets and prints the summary, or prints a map.
pub fn run(args: &RetargetArgs) -> Result<(), CliError> {
    let mut faults = Faults::default();
    let found = bake::files(&args.files, &SOURCES, &mut faults);
    if args.print_map {
        faults.none()?;
        return print_map(args, &found);
    }
    let Some(out) = &args.out else {
        return Ok(());
    };
    let mut files = Files::default();
    for input in &found {
        files.reads_model("FILES", &input.path);
    }
    let texts = [("--map", &args.map), ("--onto-map", &args.onto_map)];
    for (option, file) in texts {
        if let Some(file) = file {
            files.reads(option, file);
        }
    }
    if let Some(onto) = &args.onto {
        files.reads_model("--onto", onto);
    }
    let [map, onto_map] = args.maps()?;
    let onto = args.onto.as_deref();
    let onto = onto
        .map(|f| Character::to_write(f, onto_map.as_ref(), args.import.of_other(f)))
        .transpose()?;
    let read = found.iter().map(|input| &*input.path);
    args.import.check_files(read.chain(args.onto.as_deref()));
    let job = Job { args, map: map.as_ref(), onto: onto.as_ref(), options: options(args) };
    let mut summary = match is_file(out) {
        true => {
            files.writes("--out".to_owned(), out)?;
            together(&job, &found, out, faults)?
        }
        false => apart(&job, &found, out, files, faults)?,
    };
    let character = onto.iter().map(Character::import);
    drop(summary.imports.splice(0..0, character));
    summary.imports.iter().for_each(FileReport::print);
    if args.json {
        output::print_json(&summary, true)?;
    } else if !summary.files.is_empty() {
        output::print(&summary.text())?;
    }
    summary.faults.none()
}

/// True if the output is one file.
fn is_file(out: &Path) -> bool {
    let named = out.extension().is_some_and(|e| e.eq_ignore_ascii_case("phx"));
    named && !out.is_dir()
}

fn options(args: &RetargetArgs) -> RetargetOptions {
    args.plant.apply(RetargetOptions {
        alignment: args.align.into(),
        keep_scales: !args.drop_scale,
        ground: args.ground.into(),
        mirror: args.mirror,
        ..RetargetOptions::default()
    })
}

fn print_map(args: &RetargetArgs, found: &[Found]) -> Result<(), CliError> {
    let Some(first) = found.first() else {
        return Ok(());
    };
    let [map, _] = args.maps()?;
    let model = Model::load(Some(&first.path), false, args.import)?;
    map_file::print(&model, map.as_ref())
}

/// All inputs into one file.
fn together(
    job: &Job<'_>,
    found: &[Found],
    out: &Path,
    mut faults: Faults,
) -> Result<Summary, CliError> {
    let bar = bar(found.len(), job.args.json);
    let made: Vec<Result<Made, CliError>> = found.par_iter().map(|f| job.input(f, &bar)).collect();
    bar.finish_and_clear();
    let mut all = Vec::new();
    for (input, made) in found.iter().zip(made) {
        match made {
            Ok(made) => all.push(made),
            Err(error) => faults.put(input.path.display().to_string(), error.to_string()),
        }
    }
    let mut summary = Summary {
        files: Vec::new(),
        faults,
        imports: all.iter().map(|made| made.import.clone()).collect(),
    };
    // A file with holes would look like a whole one.
    if summary.faults.is_empty() && !all.is_empty() {
        one::name_apart(&mut all);
        summary.files.push(job.write(out, all)?);
    }
    Ok(summary)
}

/// Writes a file per input.
fn apart(
    job: &Job<'_>,
    found: &[Found],
    out: &Path,
    mut files: Files,
    mut faults: Faults,
) -> Result<Summary, CliError> {
    let mut share = Vec::new();
    for input in found {
        let place = out.join(input.below.with_extension("phx"));
        let name = input.path.display().to_string();
        match files.writes(format!("--out for {name}"), &place) {
            Ok(()) => share.push((input, place)),
            Err(clash) => faults.put(name, clash.to_string()),
        }
    }
    let bar = bar(share.len(), job.args.json);
    let made: Vec<_> = share
        .par_iter()
        .map(|(input, place)| {
            let made = job.input(input, &bar)?;
            make_folder(place)?;
            let import = made.import.clone();
            Ok::<_, CliError>((job.write(place, vec![made])?, import))
        })
        .collect();
    bar.finish_and_clear();
    let mut summary = Summary { files: Vec::new(), faults, imports: Vec::new() };
    for ((input, _), made) in share.iter().zip(made) {
        match made {
            Ok((file, import)) => {
                summary.files.push(file);
                summary.imports.push(import);
            }
            Err(error) => (summary.faults).put(input.path.display().to_string(), error.to_string()),
        }
    }
    Ok(summary)
}

fn make_folder(file: &Path) -> Result<(), CliError> {
    let folder = file.parent().unwrap_or(Path::new(""));
    std::fs::create_dir_all(folder)
        .map_err(|source| CliError::Write { path: folder.display().to_string(), source })
}

/// A bar over the inputs; hidden if standard error is not a terminal or the output is JSON.
fn bar(inputs: usize, quiet: bool) -> ProgressBar {
    let bar = ProgressBar::new(inputs as u64);
    if quiet || inputs < 2 {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    match ProgressStyle::with_template("retargeting {wide_bar} {pos}/{len} files, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// The clips that are asked for, by index.
fn clips(model: &Model, wanted: &[String]) -> Result<Vec<usize>, CliError> {
    let all = model.rig.clips().len();
    let mut clips = match wanted {
        [] => (0..all).collect(),
        names => {
            let found: Result<Vec<usize>, CliError> =
                names.iter().map(|n| model.find_clip(n)).collect();
            found?
        }
    };
    let mut seen = std::collections::HashSet::new();
    clips.retain(|c| seen.insert(*c));
    match clips.is_empty() {
        true => {
            // They may have been left out.
            print_dropped(&model.file, &model.report);
            let file = model.file.clone();
            Err(CliError::NoClips { file })
        }
        false => Ok(clips),
    }
}
