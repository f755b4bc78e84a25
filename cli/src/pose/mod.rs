//! `phalanx pose`: evaluates one rig at given clip times, node by node.

mod document;
mod show;

use super::error::CliError;
use super::model::Model;
use super::output;
use super::text::one_line;
use clap::{Args, ValueEnum};
use document::{BlendEntry, Document};
use phalanx::playback::{LoopMode, PoseAction};
use std::path::PathBuf;
use std::str::FromStr;

/// Evaluate a pose: local transforms, world matrices, skinning palettes, morph weights
///
/// Evaluated by the public jobs, which follow the same rules as crowds. All values are in the file's space
/// and units.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PoseArgs {
    /// A .gltf, .glb or .phx file; default: the built-in character
    file: Option<PathBuf>,
    /// Clip, by exact name or index; default: the rest pose
    #[arg(long, value_name = "NAME|INDEX")]
    clip: Option<String>,
    /// Time in seconds from the start of the clip
    #[arg(
        long,
        value_name = "S",
        default_value = "0",
        allow_negative_numbers = true,
        value_parser = seconds
    )]
    time: f64,
    /// What happens beyond the clip's ends
    #[arg(long = "loop", value_name = "MODE", default_value = "once")]
    loop_mode: Loop,
    /// A clip at a time with a weight; repeat it to blend several on one layer. The last two colons separate,
    /// so the clip's name may contain colons
    #[arg(
        long,
        value_name = "CLIP:TIME:WEIGHT",
        conflicts_with_all = ["clip", "time"]
    )]
    blend: Vec<BlendArg>,
    /// Also deform the meshes and output every vertex position
    #[arg(long)]
    vertices: bool,
    /// Print JSON; every f32 reads back exactly
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  phalanx pose                                        rest pose of the built-in character
  phalanx pose --clip Walk --time 0.25
  phalanx pose fox.glb --clip 2 --time 7.5 --loop repeat --vertices --json
  phalanx pose pab.glb --blend walk:0.4:0.75 --blend jog:0.2:0.25 --json

If weights sum to less than 1, the rest pose gets the remainder; if to more, they are divided by the sum.
JSON: clip, index, time (within the clip) and duration, each null unless a single clip is shown; blend;
nodes, skins, morph, and with --vertices primitives. Indices are those of the file.";

/// Loop modes by their command-line names.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Loop {
    /// Hold the first or last pose
    Once,
    /// Start over: time modulo duration
    Repeat,
    /// Play forth and back
    Pingpong,
}

impl From<Loop> for LoopMode {
    fn from(mode: Loop) -> Self {
        match mode {
            Loop::Once => Self::Once,
            Loop::Repeat => Self::Repeat,
            Loop::Pingpong => Self::PingPong,
        }
    }
}

/// An argument in the form `CLIP:TIME:WEIGHT`.
#[derive(Clone, Debug, PartialEq)]
struct BlendArg {
    clip: String,
    time: f64,
    weight: f32,
}

impl FromStr for BlendArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.rsplitn(3, ':');
        let (Some(weight), Some(time), Some(clip)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err("expected CLIP:TIME:WEIGHT".into());
        };
        let value: f32 = weight
            .parse()
            .map_err(|_| format!("\"{}\" is not a weight", one_line(weight)))?;
        let most = phalanx::runtime::MAX_ACTION_WEIGHT;
        if !(0.0..=most).contains(&value) {
            return Err(format!(
                "the weight {weight} is not a number from 0 to {most}"
            ));
        }
        Ok(Self {
            clip: clip.to_owned(),
            time: seconds(time)?,
            weight: value,
        })
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(time) if time.is_finite() => Ok(time),
        _ => Err(format!(
            "\"{}\" is not a finite number of seconds",
            one_line(text)
        )),
    }
}

/// Evaluates and prints.
pub fn run(args: &PoseArgs) -> Result<(), CliError> {
    let model = Model::load(args.file.as_deref(), false)?;
    let mode = args.loop_mode.into();
    let single = args.clip.as_ref().map(|clip| BlendArg {
        clip: clip.clone(),
        time: args.time,
        weight: 1.0,
    });
    let wanted = single.iter().chain(&args.blend);
    let actions = wanted
        .map(|arg| action(&model, arg, mode))
        .collect::<Result<Vec<_>, _>>()?;
    let pose = model.pose(&actions)?;
    let entries = actions.iter().map(|a| BlendEntry::new(&model.rig, a));
    let document = Document::new(&model, entries.collect(), &pose, args.vertices)?;
    if args.json {
        output::print_json(&document, false)
    } else {
        output::print(&show::text(&model, &document))
    }
}

fn action(model: &Model, arg: &BlendArg, mode: LoopMode) -> Result<PoseAction, CliError> {
    let clip = model.find_clip(&arg.clip)?;
    let duration = model.rig.clips().get(clip).map_or(0.0, |c| c.duration());
    Ok(PoseAction {
        clip,
        time: mode.clip_time(arg.time, f64::from(duration)) as f32,
        weight: arg.weight,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blend_is_split_from_the_right() {
        let parse = |text: &str| text.parse::<BlendArg>();
        let blend = parse("a:b: c:0.5:1").unwrap();
        assert_eq!(
            (blend.clip.as_str(), blend.time, blend.weight),
            ("a:b: c", 0.5, 1.0)
        );
        assert_eq!(parse(":0:0").unwrap().clip, "");
        assert_eq!(parse("x:-1:0.25").unwrap().time, -1.0);
        for bad in [
            "", "x", "x:1", "x:1:", "x::1", "x:1:-1", "x:1:nan", "x:inf:1", "x:1:1e99",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
