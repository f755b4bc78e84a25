//! `phalanx pose`: evaluates one rig at given clip times, node by node.

mod document;
mod show;

use super::actions::{ActionArgs, seconds};
use super::clips::ClipArgs;
use super::error::CliError;
use super::import_args::ImportArgs;
use super::model::Model;
use super::output;
use clap::Args;
use document::{BlendEntry, Document};
use std::path::PathBuf;

/// Evaluate a pose: local transforms, world matrices, skinning palettes, morph weights
///
/// Evaluated by the public jobs, which follow the same rules as crowds. All values are in the file's space
/// and units.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PoseArgs {
    /// A .gltf, .glb, .vrm, .bvh or .phx file; default: the built-in character
    file: Option<PathBuf>,
    #[command(flatten)]
    actions: ActionArgs,
    /// Time in seconds from the start of the clip; with --blend, from the time of each clip
    #[arg(
        long,
        value_name = "S",
        default_value = "0",
        allow_negative_numbers = true,
        value_parser = seconds
    )]
    time: f64,
    /// Also deform the meshes and output every vertex position
    #[arg(long)]
    vertices: bool,
    /// Print JSON; every f32 reads back exactly
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    clips: ClipArgs,
    #[command(flatten)]
    import: ImportArgs,
}

const EXAMPLES: &str = "\
Examples:
  phalanx pose                                        rest pose of the built-in character
  phalanx pose --clip Walk --time 0.25
  phalanx pose fox.glb --clip 2 --time 7.5 --loop repeat --vertices --json
  phalanx pose pab.glb --blend walk:0.4:0.75 --blend jog:0.2:0.25 --json

If weights sum to less than 1, the rest pose gets the remainder; if to more, they are divided by the sum.

JSON: clip, index, time (within the clip) and duration, each null unless a single clip is shown; blend; \
nodes, skins, morph, and with --vertices primitives. Indices are those of the file.";

/// Evaluates and prints.
pub fn run(args: &PoseArgs) -> Result<(), CliError> {
    let model = Model::load_to_play(args.file.as_deref(), args.import)?
        .with_clips(&args.clips, args.import)?;
    args.clips.check_files(&args.file, args.import)?;
    let actions = args.actions.find(&model)?.at(args.time);
    let pose = model.pose(&actions)?;
    let entries = actions.iter().map(|a| BlendEntry::new(&model.rig, a));
    let document = Document::new(&model, entries.collect(), &pose, args.vertices)?;
    if args.json {
        output::print_json(&document, false)
    } else {
        output::print(&show::text(&model, &document))
    }
}
