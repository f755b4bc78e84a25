//! `phalanx merge`: joins the parts of a library.

use super::bake::{BakeFault, Settings, is_other_type};
use super::clips::order_distance;
use super::error::CliError;
use super::files::Files;
use super::kind;
use super::mapped;
use super::output;
use super::text;
use clap::Args;
use clap::error::ErrorKind;
use phalanx::bake::{BakeError, BakeOptions, measure_error};
use phalanx::clip::Clip;
use phalanx::format::{
    ClipOrigin, Library, LibraryWriter, Provenance, ReadError, RigOptions, Section, Source,
    WriteError, save,
};
use phalanx::skeleton::{Skeleton, SkeletonMismatch};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Join .phx files of one skeleton into a library
///
/// Skeleton, skins and meshes come from the first file; clips follow in the order of the files. Files of a
/// folder or a pattern are sorted by name. Parts of a sharded bake are sorted by number and placed where
/// the first of them stands. Clips of a file with another order of lanes or joints are converted, and the error of
/// the conversion, if any, is added to their stated error. Rejected are: files with a different skeleton, clips
/// with the same name in two files, and parts of a sharded bake that are incomplete or from different bakes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MergeArgs {
    /// The .phx files, folders of them, or patterns
    #[arg(required = true)]
    files: Vec<String>,
    /// The library to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl MergeArgs {
    /// Refuses an output whose name has the extension of another type.
    pub fn check(&self, command: &mut clap::Command) -> Result<(), clap::Error> {
        if !is_other_type(&self.out) {
            return Ok(());
        }
        let message = format!(
            "--out {}: only .phx files are written; the output is a name that ends in .phx",
            self.out.display()
        );
        Err(command.error(ErrorKind::ValueValidation, message))
    }
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
    /// Number of clips converted to the library's lane order. The first part sets that order.
    clips_converted: usize,
    /// Largest error of converting a clip, in metres; included in the stated errors.
    conversion_error: f32,
}

/// Joins and prints.
pub fn run(args: &MergeArgs) -> Result<(), CliError> {
    let files = in_order(super::bake::expand(&args.files, &["phx"])?);
    let mut known = Files::default();
    for file in &files {
        known.reads("FILES", file);
    }
    known.writes("--out".to_owned(), &args.out)?;
    check_shards(&files)?;
    for file in &files {
        if let Some(kind) = kind::other_than_phx(file) {
            let file = file.display().to_string();
            return Err(CliError::NotPhx { file, kind });
        }
    }
    // Mapped, as thousands of files may be joined and an open file each is more than systems allow.
    let parts = files.iter().map(|f| mapped::open(f));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    check_bakes(&files, &parts)?;
    let all: Vec<(&Path, &Library)> = files.iter().map(PathBuf::as_path).zip(&parts).collect();
    let Some(&(first, base)) = all.first() else {
        return Err(super::bake::nothing(&args.files.join(" "), &["phx"]).into());
    };
    check(first, base, &all)?;
    let mut converted = Vec::new();
    save(&args.out, |out| write(out, &args.out, &all, &mut converted))?;
    let merged = Library::open(&args.out)?;
    let report = Merged {
        file: args.out.display().to_string(),
        bytes: merged.byte_len(),
        parts: all.len(),
        clips: merged.clip_count(),
        clips_converted: converted.len(),
        conversion_error: converted.iter().copied().fold(0.0, f32::max),
    };
    if args.json {
        return output::print_json(&report, true);
    }
    let converted = match report.clips_converted {
        0 => String::new(),
        count => format!(
            ", {} converted to another lane order, moved by up to {:.4} mm",
            text::plural(count, "clip"),
            report.conversion_error * 1e3
        ),
    };
    output::print(&format!(
        "{}: {} of {}, {}{converted}\n",
        text::one_line(&report.file),
        text::plural(report.clips, "clip"),
        text::plural(report.parts, "file"),
        text::bytes(report.bytes as f64)
    ))
}

/// How clips of another skeleton are joined.
const BIND: &str =
    "; `phalanx bake MODEL --clips FILE` binds clips of other skeletons by the names of joints";

fn check(first: &Path, base: &Library, all: &[(&Path, &Library)]) -> Result<(), BakeFault> {
    let name = |path: &Path| path.display().to_string();
    let mut seen: HashMap<&str, &Path> = HashMap::new();
    for &(path, part) in all {
        // Clips of one part may share a long name; each stored name is compared once.
        let mut own: HashSet<*const str> = HashSet::new();
        let (skeleton, needed) = (part.skeleton(), base.skeleton());
        if skeleton.mismatch(needed) != Some(SkeletonMismatch::JointOrder) {
            BakeFault::same_skeleton((&name(path), skeleton), (&name(first), needed), BIND)?;
        }
        for clip in (0..part.clip_count()).filter_map(|c| Some(part.clip_info(c)?.name)) {
            if !own.insert(clip) {
                continue;
            }
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
    converted: &mut Vec<f32>,
) -> Result<(), CliError> {
    let failed = |source: WriteError| -> CliError {
        let file = path.display().to_string();
        BakeFault::Write { file, source: Box::new(source) }.into()
    };
    let broken = |part: &Path, source: ReadError| -> CliError {
        let file = part.display().to_string();
        BakeFault::Format { file, source: Box::new(source) }.into()
    };
    let Some(&(first, base)) = all.first() else {
        return Ok(());
    };
    let skeleton = base.skeleton();
    let rig = base.rig(&RigOptions { clips: false, ..RigOptions::default() });
    let mut writer = LibraryWriter::new(out, skeleton).map_err(failed)?;
    let rig = rig.map_err(|e| broken(first, e))?;
    writer.add_rig(&rig).map_err(failed)?;
    let mut joined = Provenance::default();
    for &(path, part) in all {
        let clips = part.sections().filter(|s| s.section == Section::Clip);
        let mut moved = vec![0.0; part.clip_count()];
        for ((clip, section), moved) in clips.enumerate().zip(&mut moved) {
            let read = part.clip_for(clip, skeleton).map_err(|e| broken(path, e))?;
            let form = section.form.unwrap_or_default();
            writer.add_clip(&read, read.name(), form).map_err(failed)?;
            if part.skeleton().layout_hash() != skeleton.layout_hash() {
                *moved = distance(path, part, clip, (&read, skeleton))?;
                converted.push(*moved);
            }
        }
        join(&mut joined, part, &moved);
    }
    writer.finish(&joined).map_err(failed)?;
    Ok(())
}

/// Largest error of a clip converted to another order of lanes or joints, in metres, on the clip's own shell.
fn distance(
    path: &Path,
    part: &Library,
    clip: usize,
    moved: (&Clip, &Skeleton),
) -> Result<f32, CliError> {
    let file = path.display().to_string();
    let was = part
        .clip(clip)
        .map_err(|source| BakeFault::Format { file: file.clone(), source: Box::new(source) })?;
    let mut settings = BakeOptions::default();
    let origin = part.provenance().clips.get(clip);
    if let Some(shell) = origin.map(|o| o.shell).filter(|s| *s > 0.0) {
        settings.shell = shell;
    }
    if part.skeleton().mismatch(moved.1) == Some(SkeletonMismatch::JointOrder) {
        return order_distance(&file, &was, moved.0, settings.shell);
    }
    match measure_error(&was, moved.0, part.skeleton(), &settings) {
        Ok(report) => Ok(report.max),
        // A clip too long to be measured was not measured by the bake either.
        Err(BakeError::TooLarge { .. }) => Ok(f32::NAN),
        Err(source) => Err(BakeFault::Error { file, source: Box::new(source) }.into()),
    }
}

/// Appends a part's provenance. `moved` holds, for each of its clips, what the conversion may add to the error.
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
    // A part without provenance of its clips gets an empty source.
    if p.clips.len() != part.clip_count() {
        joined.sources.push(Source::default());
    }
    let unknown =
        ClipOrigin { source: p.sources.len() as u32, max_error: f32::NAN, ..ClipOrigin::default() };
    joined.clips.extend((0..part.clip_count()).map(|clip| {
        let origin = p.clips.get(clip).copied().unwrap_or(unknown);
        let error = origin.max_error + moved.get(clip).copied().unwrap_or_default();
        ClipOrigin {
            source: origin.source + before,
            // A sum beyond f32's range counts as not measured.
            max_error: if error.is_finite() { error } else { f32::NAN },
            ..origin
        }
    }));
}

/// A sharded library, identified by the names that `bake --shard` gives its parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Whole {
    /// The library's name. Its parts may be in several folders.
    name: String,
    of: usize,
}

/// The library that a file is part of, and the part's index.
fn shard(path: &Path) -> Option<(Whole, usize)> {
    let stem = path.file_stem()?.to_str()?;
    let (name, part) = stem.rsplit_once(".part-")?;
    let (index, of) = part.split_once("-of-")?;
    let (index, of) = (index.parse().ok()?, of.parse().ok()?);
    let name = name.to_owned();
    Some((Whole { name, of }, index))
}

/// Moves all parts of a library to the position of the first one, in the order of their indices; a shell
/// sorts part 10 before part 9.
fn in_order(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut first: HashMap<Whole, usize> = HashMap::new();
    let place = |(at, file): (usize, PathBuf)| {
        let key = match shard(&file) {
            Some((whole, index)) => (*first.entry(whole).or_insert(at), index),
            None => (at, 0),
        };
        (key, file)
    };
    let mut placed: Vec<_> = files.into_iter().enumerate().map(place).collect();
    placed.sort_by_key(|(key, _)| *key);
    placed.into_iter().map(|(_, file)| file).collect()
}

/// Fails if a part of a library is missing, since the rest would pass for the whole.
fn check_shards(files: &[PathBuf]) -> Result<(), BakeFault> {
    let mut there: HashMap<Whole, HashSet<usize>> = HashMap::new();
    for (whole, index) in files.iter().filter_map(|f| shard(f)) {
        there.entry(whole).or_default().insert(index);
    }
    for file in files {
        let Some((whole, _)) = shard(file) else {
            continue;
        };
        let parts = &there[&whole];
        // At least one of the first n + 1 indices is missing from n parts, which bounds the search.
        let mut some = (0..whole.of).take(parts.len() + 1);
        if let Some(missing) = some.find(|i| !parts.contains(i)) {
            return Err(BakeFault::MissingPart {
                file: file.display().to_string(),
                missing,
                of: whole.of,
            });
        }
    }
    Ok(())
}

/// Fails if parts of one library come from different bakes, since clips would be missing unnoticed. The
/// settings include a hash of all inputs, or of the layout's file. Parts without sources are not checked.
fn check_bakes(files: &[PathBuf], parts: &[Library]) -> Result<(), BakeFault> {
    // Inputs whose clips are bound have settings that the others lack.
    let mut known: HashMap<(Whole, bool), (&Path, &str)> = HashMap::new();
    let mut shared: HashMap<Whole, (&Path, &str)> = HashMap::new();
    for (file, part) in files.iter().zip(parts) {
        let Some((whole, _)) = shard(file) else {
            continue;
        };
        for source in &part.provenance().sources {
            let have = &*source.settings;
            let alike = (whole.clone(), Settings::is_bound(have));
            let &mut first = known.entry(alike).or_insert((file, have));
            let &mut any = shared.entry(whole.clone()).or_insert((file, have));
            let differs = have != first.1;
            if differs || Settings::shared(have) != Settings::shared(any.1) {
                let (other, needed) = if differs { first } else { any };
                return Err(BakeFault::OtherBake {
                    file: file.display().to_string(),
                    have: have.to_owned(),
                    other: other.display().to_string(),
                    needed: needed.to_owned(),
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::format::ClipForm;
    use std::io::Cursor;

    fn files(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn files_stay_where_they_stand_and_parts_follow_their_numbers() {
        let given = files(&[
            "z.phx",
            "x/a.part-10-of-11.phx",
            "m.phx",
            "y/a.part-9-of-11.phx",
            "a.part-2-of-3.phx",
            "A.phx",
            "a.part-1-of-3.phx",
        ]);
        let order = files(&[
            "z.phx",
            "y/a.part-9-of-11.phx",
            "x/a.part-10-of-11.phx",
            "m.phx",
            "a.part-1-of-3.phx",
            "a.part-2-of-3.phx",
            "A.phx",
        ]);
        assert_eq!(in_order(given), order);
    }

    #[test]
    fn parts_are_joined_with_all_others_of_theirs() {
        let missing = |names: &[&str]| match check_shards(&files(names)) {
            Ok(()) => None,
            Err(BakeFault::MissingPart { missing, of, .. }) => Some((missing, of)),
            Err(other) => panic!("{other:?}"),
        };
        let whole = ["a.part-0-of-2.phx", "a.part-1-of-2.phx", "b.phx"];
        assert_eq!(missing(&whole), None);
        assert_eq!(missing(&["part-1-of-2.phx", "b.phx"]), None);
        let two = ["x/a.part-0-of-3.phx", "x/a.part-2-of-3.phx"];
        assert_eq!(missing(&two), Some((1, 3)));
        // A part of another library does not count.
        let other = ["a.part-0-of-2.phx", "b.part-1-of-2.phx"];
        assert_eq!(missing(&other), Some((1, 2)));
        let endless = ["a.part-5-of-18446744073709551615.phx"];
        assert_eq!(missing(&endless), Some((0, usize::MAX)));
    }
    #[test]
    fn conversion_adds_to_the_errors_stated() {
        let rig = phalanx::import::mannequin().unwrap();
        let mut writer = LibraryWriter::new(Cursor::new(Vec::new()), rig.skeleton()).unwrap();
        for clip in &rig.clips()[..4] {
            let form = ClipForm::default();
            writer.add_clip(clip, clip.name(), form).unwrap();
        }
        let origin = |max_error| ClipOrigin { max_error, ..ClipOrigin::default() };
        let stated = Provenance {
            sources: vec![Source::default()],
            clips: [0.5, 0.25, f32::NAN, f32::MAX].map(origin).to_vec(),
            ..Provenance::default()
        };
        let bytes = writer.finish(&stated).unwrap().into_inner();
        let part = Library::from_bytes(&bytes).unwrap();
        let mut joined = Provenance::default();
        join(&mut joined, &part, &[0.125, 0.0, 0.125, f32::MAX]);
        let errors: Vec<f32> = joined.clips.iter().map(|c| c.max_error).collect();
        assert_eq!(errors[..2], [0.625, 0.25]);
        // An unknown error, and one beyond f32's range.
        assert!(errors[2..].iter().all(|e| e.is_nan()), "{errors:?}");
    }
}
