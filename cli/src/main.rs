//! The `phalanx` command: arguments, one line per error, exit codes. Each subcommand has a file or folder.
#![deny(unsafe_code)]

mod actions;
mod bake;
mod bench;
mod binding;
mod bounded;
mod budget;
mod clip_names;
mod clips;
mod crowd;
mod error;
mod escape;
mod files;
mod findings;
mod frame_renderer;
mod import_args;
mod info;
mod kind;
#[allow(unsafe_code)] // One call of `Library::open_mapped`; the reason is stated there.
mod mapped;
mod memory;
mod merge;
mod model;
mod numbers;
mod object;
mod output;
mod png;
mod pose;
mod quiet;
mod render;
mod retarget;
mod suggest;
mod table;
mod text;
mod textures;
mod unit;
mod usage;
mod verify;
#[cfg(feature = "view")]
mod view;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use error::CliError;
use phalanx::simd::SimdLevel;
use std::process::ExitCode;

/// Skeletal animation for crowds: inspect and bake glTF rigs, evaluate poses, draw clips, measure and draw
/// crowds.
#[derive(Debug, Parser)]
#[command(name = "phalanx", version, propagate_version = true, after_help = EXAMPLES)]
struct Cli {
    /// Instruction set of the kernels; default: the best this machine supports. The environment
    /// variable PHALANX_SIMD does the same.
    #[arg(long, global = true, value_name = "LEVEL", value_parser = simd_level(), display_order = 1000)]
    simd: Option<SimdLevel>,
    /// Show all columns of tables and break no lines; default: what fits the terminal, else 80 columns
    #[arg(long, global = true, display_order = 1000)]
    wide: bool,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  phalanx crowd                     10,000 built-in characters in crowd.png
  phalanx crowd fox.glb --count 400 the same of a model of yours
  phalanx info fox.glb              size, clips, skins, meshes, joints
  phalanx pose fox.glb --clip Walk --time 0.5 --json
  phalanx render fox.glb --clip Walk --out walk.gif
  phalanx bake fox.glb --out fox.phx
  phalanx bake walk.bvh --unit cm --out walk.phx
  phalanx retarget walk.glb --onto hero.glb --out hero_walk.phx
  phalanx view fox.glb --count 500
  phalanx bench fox.glb --baseline last.json

Models are .glb, .gltf, .vrm, .bvh and .phx files. Without FILE, crowd, info, pose, render, view and bench use the \
built-in character.

An error prints one line to standard error (one per file if several fail) and exits with status 1; a usage \
error exits with status 2.";

/// What `phalanx view` is given where there is no window.
#[cfg(not(feature = "view"))]
#[derive(Debug, clap::Args)]
struct NoWindow {
    /// Everything that the window would accept
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<std::ffi::OsString>,
}

/// Largest width of help, in columns.
const MAX_HELP_WIDTH: usize = 100;

/// Largest number of threads: more than the cores of any machine, few enough to start.
const MAX_THREADS: u64 = 1024;

#[derive(Debug, Subcommand)]
enum Command {
    Bake(bake::BakeArgs),
    Bench(bench::BenchArgs),
    Crowd(crowd::CrowdArgs),
    Info(info::InfoArgs),
    Merge(merge::MergeArgs),
    Pose(pose::PoseArgs),
    Render(render::RenderArgs),
    Retarget(retarget::RetargetArgs),
    Verify(verify::VerifyArgs),
    #[cfg(feature = "view")]
    View(view::ViewArgs),
    /// Show a model in a window; not in this build: it needs the feature `view`
    #[cfg(not(feature = "view"))]
    View(NoWindow),
}

fn simd_level() -> impl TypedValueParser<Value = SimdLevel> {
    PossibleValuesParser::new(SimdLevel::ALL.map(SimdLevel::name))
        .try_map(|name| name.parse::<SimdLevel>())
}

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => usage::exit(error),
    };
    match run(cli) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of the output has closed it; that is not an error.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            for line in error.lines() {
                output::tell(&line);
            }
            ExitCode::FAILURE
        }
    }
}

/// Parses the arguments; help and errors are as wide as the terminal, up to a width that reads well.
fn parse() -> Result<Cli, clap::Error> {
    let mut command = Cli::command().term_width(table::columns().min(MAX_HELP_WIDTH));
    let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
    let cli = Cli::from_arg_matches_mut(&mut matches).map_err(|e| e.format(&mut command))?;
    if let Command::Bake(args) = &cli.command {
        args.check(&mut command)?;
    }
    if let Command::Bench(args) = &cli.command {
        args.check(&mut command)?;
    }
    if let Command::Merge(args) = &cli.command {
        args.check(&mut command)?;
    }
    if let Command::Retarget(args) = &cli.command {
        args.check(&mut command)?;
    }
    Ok(cli)
}

fn run(cli: Cli) -> Result<(), CliError> {
    if cli.wide {
        table::set_wide();
    }
    match cli.simd {
        Some(level) => level.set()?,
        None => {
            SimdLevel::from_env()?;
        }
    }
    match cli.command {
        Command::Bake(args) => bake::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Crowd(args) => crowd::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Pose(args) => pose::run(&args),
        Command::Render(args) => render::run(&args),
        Command::Retarget(args) => retarget::run(&args),
        Command::Verify(args) => verify::run(&args),
        #[cfg(feature = "view")]
        Command::View(args) => view::run(&args),
        #[cfg(not(feature = "view"))]
        Command::View(_) => Err(CliError::NoWindow),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }
}
