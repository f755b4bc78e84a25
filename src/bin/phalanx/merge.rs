//! `phalanx merge`: parts of a library become one.

use super::bake::BakeFault;
use super::error::CliError;
use super::output;
use super::text;
use clap::Args;
use phalanx::clip::Clip;
use phalanx::format::{
    ClipOrigin, FormatError, Library, LibraryWriter, Provenance, RigOptions, Section, Source,
    WriteError, save,
};
use phalanx::offline::{BakeError, BakeSettings, measure_error_across};
use phalanx::skeleton::Skeleton;
use serde::Serialize;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Join .phx files of one skeleton into a library
///
/// Skeleton, skins and meshes are those of the first file; clips follow in the order of the files.
/// Clips of a file with another lane order are laid out anew; how far that carries them, if at all, is
/// added to the error that is stated of them. Files of another skeleton, clips of one
/// name in two files, and parts of a sharded bake without the others, are refused.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MergeArgs {
    /// The .phx files, folders of them, or patterns
    #[arg(required = true)]
    files: Vec<String>,
    /// The library
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  phalanx merge library.part-*.phx --out library.phx
  phalanx merge baked/ --out library.phx --json";

#[derive(Debug, Serialize)]
struct Merged {
    file: String,
    bytes: usize,
    parts: usize,
    clips: usize,
    /// Clips of another lane order than the first part's.
    clips_laid_out_anew: usize,
    /// The largest distance that this carries one of them, metres; it is within the stated errors.
    laid_out_anew_error: f32,
}

/// Joins and reports.
pub fn run(args: &MergeArgs) -> Result<(), CliError> {
    let mut files = super::bake::expand(&args.files, &["phx"])?;
    files.sort_by_key(|file| natural(file));
    check_shards(&files)?;
    let parts = files.iter().map(|f| Library::open(f));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let all: Vec<(&Path, &Library)> = files.iter().map(PathBuf::as_path).zip(&parts).collect();
    let Some(&(first, base)) = all.first() else {
        return Err(super::bake::nothing(&args.files.join(" "), &["phx"]).into());
    };
    check(first, base, &all)?;
    let mut anew = Vec::new();
    save(&args.out, |out| write(out, &args.out, &all, &mut anew))?;
    let merged = Library::open(&args.out)?;
    let report = Merged {
        file: args.out.display().to_string(),
        bytes: merged.byte_len(),
        parts: all.len(),
        clips: merged.len(),
        clips_laid_out_anew: anew.len(),
        laid_out_anew_error: anew.iter().copied().fold(0.0, f32::max),
    };
    if args.json {
        return output::print_json(&report, true);
    }
    let anew = match report.clips_laid_out_anew {
        0 => String::new(),
        count => format!(
            ", {} laid out anew, by up to {:.4} mm",
            text::plural(count, "clip"),
            report.laid_out_anew_error * 1e3
        ),
    };
    output::print(&format!(
        "{}: {} of {}, {}{anew}\n",
        text::one_line(&report.file),
        text::plural(report.clips, "clip"),
        text::plural(report.parts, "file"),
        text::bytes(report.bytes as f64)
    ))
}

/// Part 10 stands behind part 9: digits are compared as numbers.
fn natural(path: &Path) -> Vec<(String, u128)> {
    let text = path.to_string_lossy();
    let mut pieces = Vec::new();
    let mut rest = &*text;
    while !rest.is_empty() {
        let word = rest
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(rest.len());
        let (before, digits) = rest.split_at(word);
        let end = digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len());
        let (number, after) = digits.split_at(end);
        pieces.push((before.to_owned(), number.parse().unwrap_or(u128::MAX)));
        rest = after;
    }
    pieces
}

fn check(first: &Path, base: &Library, all: &[(&Path, &Library)]) -> Result<(), BakeFault> {
    let name = |path: &Path| path.display().to_string();
    let needed = base.skeleton().structure_hash();
    let mut seen: HashMap<&str, &Path> = HashMap::new();
    for &(path, part) in all {
        let have = part.skeleton().structure_hash();
        if have != needed {
            return Err(BakeFault::Structure {
                file: name(path),
                first: name(first),
                have,
                needed,
            });
        }
        for clip in (0..part.len()).filter_map(|c| part.clip_name(c)) {
            match seen.insert(clip, path) {
                Some(other) if other != path => {
                    return Err(BakeFault::JoinedTwice {
                        file: name(path),
                        clip: clip.to_owned(),
                        other: name(other),
                    });
                }
                _ => {}
            }
        }
    }
    Ok(())
}

fn write<W: std::io::Write + std::io::Seek>(
    out: W,
    path: &Path,
    all: &[(&Path, &Library)],
    anew: &mut Vec<f32>,
) -> Result<(), CliError> {
    let failed = |source: WriteError| -> CliError {
        let file = path.display().to_string();
        BakeFault::Write {
            file,
            source: Box::new(source),
        }
        .into()
    };
    let broken = |part: &Path, source: FormatError| -> CliError {
        let file = part.display().to_string();
        BakeFault::Format {
            file,
            source: Box::new(source),
        }
        .into()
    };
    let Some(&(first, base)) = all.first() else {
        return Ok(());
    };
    let bones = base.skeleton();
    let rig = base.rig(RigOptions {
        clips: false,
        ..RigOptions::default()
    });
    let mut writer = LibraryWriter::new(out, bones).map_err(failed)?;
    let rig = rig.map_err(|e| broken(first, e))?;
    writer.add_rig(&rig).map_err(failed)?;
    let mut joined = Provenance::default();
    for &(path, part) in all {
        let clips = part.sections().filter(|s| s.section == Section::Clip);
        let mut moved = vec![0.0; part.len()];
        for ((clip, section), moved) in clips.enumerate().zip(&mut moved) {
            let read = part.clip_for(clip, bones).map_err(|e| broken(path, e))?;
            let form = section.form.unwrap_or_default();
            writer.add_clip(&read, read.name(), form).map_err(failed)?;
            if part.skeleton().layout_hash() != bones.layout_hash() {
                *moved = distance(path, part, clip, (&read, bones))?;
                anew.push(*moved);
            }
        }
        join(&mut joined, part, &moved);
    }
    writer.finish(&joined).map_err(failed)?;
    Ok(())
}

/// How far a clip that was laid out anew lies from what it was, metres, on the clip's own shell.
fn distance(
    path: &Path,
    part: &Library,
    clip: usize,
    moved: (&Clip, &Skeleton),
) -> Result<f32, BakeFault> {
    let file = path.display().to_string();
    let was = part.clip(clip).map_err(|source| BakeFault::Format {
        file: file.clone(),
        source: Box::new(source),
    })?;
    let mut settings = BakeSettings::default();
    let origin = part.provenance().clips.get(clip);
    if let Some(shell) = origin.map(|o| o.shell).filter(|s| *s > 0.0) {
        settings.shell = shell;
    }
    match measure_error_across((&was, part.skeleton()), moved, &settings) {
        Ok(report) => Ok(report.max),
        // What is too long to be measured was not measured when it was made.
        Err(BakeError::TooLarge { .. }) => Ok(f32::NAN),
        Err(source) => Err(BakeFault::Error { file, source }),
    }
}

/// Adds where a part comes from to where the others do. `moved` is what laying its clips out anew may add
/// to their errors.
fn join(joined: &mut Provenance, part: &Library, moved: &[f32]) {
    let p = part.provenance();
    if joined.tool.is_empty() {
        joined.tool.clone_from(&p.tool);
    } else if !joined.tool.split("; ").any(|known| known == p.tool) {
        joined.tool.push_str("; ");
        joined.tool.push_str(&p.tool);
    }
    let before = joined.sources.len() as u32;
    joined.sources.extend_from_slice(&p.sources);
    // A part that does not say where its clips come from gets a source that says as much.
    if p.clips.len() != part.len() {
        joined.sources.push(Source::default());
    }
    let unknown = ClipOrigin {
        source: p.sources.len() as u32,
        max_error: f32::NAN,
        ..ClipOrigin::default()
    };
    joined.clips.extend((0..part.len()).map(|clip| {
        let origin = p.clips.get(clip).copied().unwrap_or(unknown);
        ClipOrigin {
            source: origin.source + before,
            max_error: origin.max_error + moved.get(clip).copied().unwrap_or_default(),
            ..origin
        }
    }));
}

/// The number of a part and how many there are, as `bake --shard` names its outputs.
fn shard(path: &Path) -> Option<(usize, usize)> {
    let stem = path.file_stem()?.to_str()?;
    let (_, part) = stem.rsplit_once(".part-")?;
    let (index, of) = part.split_once("-of-")?;
    Some((index.parse().ok()?, of.parse().ok()?))
}

/// Refuses parts of a library when one is missing: the rest would pass for the whole.
fn check_shards(files: &[PathBuf]) -> Result<(), BakeFault> {
    let shards: Vec<(usize, usize)> = files.iter().filter_map(|f| shard(f)).collect();
    for file in files {
        let Some((_, of)) = shard(file) else {
            continue;
        };
        let there = |&i: &usize| shards.contains(&(i, of));
        // Of so many parts at least one is missing, and of fewer the search is short.
        if let Some(missing) = (0..of).take(shards.len() + 1).find(|i| !there(i)) {
            return Err(BakeFault::MissingPart {
                file: file.display().to_string(),
                missing,
                of,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_in_the_order_of_their_numbers() {
        let mut parts = [
            "a.part-10-of-12.phx",
            "a.part-9-of-12.phx",
            "a.phx",
            "A.phx",
        ];
        parts.sort_by_key(|p| natural(Path::new(p)));
        let order = [
            "A.phx",
            "a.part-9-of-12.phx",
            "a.part-10-of-12.phx",
            "a.phx",
        ];
        assert_eq!(parts, order);
    }

    #[test]
    fn parts_are_joined_with_all_others_of_theirs() {
        let files = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let whole = files(&["a.part-0-of-2.phx", "a.part-1-of-2.phx", "b.phx"]);
        assert!(check_shards(&whole).is_ok());
        assert!(check_shards(&files(&["part-1-of-2.phx", "b.phx"])).is_ok());
        let missing = check_shards(&files(&["x/a.part-0-of-3.phx", "x/a.part-2-of-3.phx"]));
        let Err(BakeFault::MissingPart { missing, of, .. }) = missing else {
            panic!("{missing:?}");
        };
        assert_eq!((missing, of), (1, 3));
        assert!(check_shards(&files(&["a.part-5-of-18446744073709551615.phx"])).is_err());
    }
}
