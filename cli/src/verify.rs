//! `phalanx verify`: checks that files are intact and within their stated error.

use super::bake::{BakeFault, Input, Settings, expand};
use super::binding::BindingArgs;
use super::clips::ClipFile;
use super::error::CliError;
use super::import_args::{AccessArgs, ImportArgs};
use super::kind;
use super::output;
use super::text;
use clap::Args;
use phalanx::clip::Clip;
use phalanx::format::{Fault, Library, Source};
use phalanx::import::raw::RawScene;
use phalanx::rig::Rig;
use phalanx::skeleton::{Skeleton, SkeletonMismatch};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Check .phx files: every checksum, count and value, and with --source also the error of the clips
///
/// Exits with status 1 if a file is damaged, or if a clip differs from its source by more than the file
/// states or cannot be measured. It is compared with the clip as it was built from the source, and, unless it
/// was bound to another skeleton, with the curves of the source itself. A file of another kind is reported as
/// such. For morph weights no error is stated; they may differ by what baking allows, a ten-thousandth of their
/// range or of 1.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// The .phx files, folders of them, or patterns
    #[arg(required = true)]
    files: Vec<String>,
    /// A file from which they were baked, to measure the error of its clips again; may be repeated. Each must
    /// be a source of at least one of the files
    #[arg(long, value_name = "FILE")]
    source: Vec<PathBuf>,
    #[command(flatten)]
    access: AccessArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  phalanx verify baked/
  phalanx verify pab.phx --source pab.glb
  phalanx verify library.phx --source walk.glb --source run.glb --json";

/// Relative tolerance on the stated error.
const TOLERANCE: f32 = 1e-3;
/// Additional tolerance relative to the skeleton's size: the source is now built in the file's lane order,
/// where f32 rounding may differ from the order in which the clip was baked.
const ROUNDING: f32 = 2e-7;
#[derive(Debug, Serialize)]
struct Verified {
    file: String,
    /// False if the file begins like no .phx file.
    is_phx: bool,
    /// True if the file could be read.
    readable: bool,
    /// True if sections and clips are known.
    #[serde(skip)]
    opened: bool,
    bytes: usize,
    sections: usize,
    clips: usize,
    /// Largest error stated in the file, in metres.
    stated_error: Option<f32>,
    /// Largest error measured now, in metres.
    measured_error: Option<f32>,
    /// Largest error measured now against the curves of the source, in metres.
    source_error: Option<f32>,
    measured_clips: usize,
    /// Largest error of a scalar measured now, relative to its range or to 1.
    measured_scalar_error: Option<f32>,
    fault: Option<String>,
}

impl Verified {
    /// Records a fault with the file's name, unless there is one already.
    fn add_fault(&mut self, fault: String) {
        if self.fault.is_none() {
            let named = fault.starts_with(&self.file);
            self.fault = Some(match named {
                true => fault,
                false => format!("{}: {fault}", self.file),
            });
        }
    }
}

/// Checks and prints.
pub fn run(args: &VerifyArgs) -> Result<(), CliError> {
    let files = expand(&args.files, &["phx"])?;
    let mut all = Vec::new();
    let given = args.source.iter();
    let mut sources: Vec<Given> = given.map(|s| Given::new(s, args.access)).collect();
    for file in &files {
        all.push(check(file, &mut sources)?);
    }
    let whole = all.iter().all(|v| v.fault.is_none());
    // A source of no file was given by mistake or has changed. Damaged files may hide their sources.
    if let Some(stranger) =
        sources.iter_mut().filter(|s| whole && !s.known).find_map(|s| s.stranger.take())
    {
        return Err(stranger.into());
    }
    if args.json {
        output::print_json(&all, true)?;
    } else if all.iter().any(|v| v.is_phx) {
        output::print(&table(&all, !sources.is_empty()))?;
    }
    let faults: Vec<String> = all.into_iter().filter_map(|v| v.fault).collect();
    match faults[..] {
        [] => Ok(()),
        _ => Err(CliError::Verify(faults)),
    }
}

/// A source given on the command line.
struct Given {
    input: Input,
    access: AccessArgs,
    /// True if one of the files was baked from it.
    known: bool,
    /// The fault of a source from which no file was baked. A source of the same name with other content is the best
    /// reason and is kept.
    stranger: Option<BakeFault>,
}

impl Given {
    fn new(path: &Path, access: AccessArgs) -> Self {
        Self { input: Input::new(path.to_owned()), access, known: false, stranger: None }
    }

    fn is_stranger(&mut self, why: BakeFault) {
        let explained = matches!(self.stranger, Some(BakeFault::OtherSource { .. }));
        if !explained {
            self.stranger = Some(why);
        }
    }
}

/// Largest distance of a joint from the origin in the rest pose, in metres.
fn size(skeleton: &Skeleton) -> f32 {
    let models = skeleton.rest_models();
    let far = models.iter().map(|m| m.translation.length());
    far.fold(0.0, f32::max)
}

/// The results as a table; `measured` is set if sources were given.
fn table(all: &[Verified], measured: bool) -> String {
    let millimetres =
        |e: Option<f32>| e.map_or_else(|| "-".into(), |e| format!("{:.4} mm", e * 1e3));
    let rows = all.iter().map(|v| {
        vec![
            text::one_line(&v.file),
            match (&v.fault, v.readable) {
                _ if !v.is_phx => "no .phx",
                (None, _) => "intact",
                (Some(_), true) => "DAMAGED",
                (Some(_), false) => "unreadable",
            }
            .into(),
            text::bytes(v.bytes as f64),
            match v.opened {
                true => v.sections.to_string(),
                false => "-".into(),
            },
            match measured {
                _ if !v.opened => "-".into(),
                true => format!("{} of {}", v.measured_clips, v.clips),
                false => v.clips.to_string(),
            },
            millimetres(v.stated_error),
            millimetres(v.measured_error),
        ]
    });
    let header = [
        "file",
        "state",
        "bytes",
        "sections",
        if measured { "measured" } else { "clips" },
        "stated error",
        "measured error",
    ];
    let optional = ["stated error", "measured error", "bytes", "sections"];
    text::table_of(&header, rows.collect(), 2, &optional)
}

/// Bytes of a file; 0 if the system does not say.
fn length(file: &Path) -> usize {
    std::fs::metadata(file).map_or(0, |m| m.len() as usize)
}

fn check(file: &Path, sources: &mut [Given]) -> Result<Verified, CliError> {
    let mut verified = Verified {
        file: file.display().to_string(),
        is_phx: true,
        readable: true,
        opened: false,
        bytes: 0,
        sections: 0,
        clips: 0,
        stated_error: None,
        measured_error: None,
        source_error: None,
        measured_clips: 0,
        measured_scalar_error: None,
        fault: None,
    };
    if let Some(kind) = kind::other_than_phx(file) {
        verified.is_phx = false;
        verified.bytes = length(file);
        verified.add_fault(format!("this is not a .phx file: {kind}"));
        return Ok(verified);
    }
    let library = match Library::open(file) {
        Ok(library) => library,
        Err(error) => {
            verified.readable = !matches!(error.fault, Fault::Open { .. });
            let cut = matches!(error.fault, Fault::Short { .. });
            verified.bytes = length(file);
            verified.fault = Some(match cut {
                true => format!("{error}: the file is cut off"),
                false => error.to_string(),
            });
            return Ok(verified);
        }
    };
    verified.opened = true;
    verified.bytes = library.byte_len();
    verified.sections = library.sections().len();
    verified.clips = library.clip_count();
    let stated = library.provenance().clips.iter().map(|c| c.max_error);
    verified.stated_error = stated.filter(|e| !e.is_nan()).reduce(f32::max);
    if let Err(error) = library.verify() {
        verified.add_fault(error.to_string());
        return Ok(verified);
    }
    for source in sources {
        measure(file, &library, source, &mut verified)?;
    }
    Ok(verified)
}

/// Measures the clips that come from one source, if there are any.
fn measure(
    file: &Path,
    library: &Library,
    source: &mut Given,
    verified: &mut Verified,
) -> Result<(), CliError> {
    let p = library.provenance();
    let input = &source.input;
    let import = ImportArgs { access: source.access, ..ImportArgs::default() };
    let given = input.source(import)?;
    // A library may contain files of the same name from several folders, and the given path does not say
    // which.
    let named = p.sources.iter().filter(|s| {
        let name = s.name.rsplit('/').next();
        name == Some(&given.name)
    });
    // One file may have been baked with several settings, and the parts merged.
    let mut made_of: Vec<&Source> = Vec::new();
    for s in named.clone().filter(|s| s.hash == given.hash) {
        if !made_of.contains(&s) {
            made_of.push(s);
        }
    }
    if made_of.is_empty() {
        let (file, source_file) = (file.display().to_string(), input.name());
        source.is_stranger(match named.map(|s| s.hash).next() {
            Some(needed) => BakeFault::OtherSource {
                file,
                source_file,
                have: given.hash,
                needed,
                advice: match !source.access.allow_parent_folders && input.leaves_its_folder() {
                    true => "; --allow-parent-folders reads the files of other folders that it refers to",
                    false => "",
                },
            },
            None => BakeFault::NoSource { file, source_file },
        });
        return Ok(());
    };
    source.known = true;
    let before = verified.measured_clips;
    for made_of in made_of {
        if let Err(error) = measure_clips(file, library, (source, made_of), verified) {
            verified.add_fault(error.to_string());
        }
    }
    if verified.measured_clips == before && library.clip_count() > 0 && p.clips.is_empty() {
        verified.add_fault(format!(
            "its provenance does not state which of its {} come from {}, so none was measured",
            text::plural(library.clip_count(), "clip"),
            source.input.name()
        ));
    }
    Ok(())
}

/// Measures the clips baked from a file with the same settings.
fn measure_clips(
    file: &Path,
    library: &Library,
    (given, made_of): (&Given, &Source),
    verified: &mut Verified,
) -> Result<(), CliError> {
    let input = &given.input;
    let p = library.provenance();
    let skeleton = library.skeleton();
    let lanes = skeleton.joint_of()[..skeleton.len()].to_vec();
    let mut made_with = Settings::of_text(&made_of.settings, 0.0);
    made_with.import.access = given.access;
    // As they were when the file was baked: bound, or in the file's lane order.
    let mut read: Option<(RawScene, Rig)> = None;
    let (exact, bound): (Vec<Arc<Clip>>, _) = match Settings::is_bound(&made_of.settings) {
        false => {
            let raw = input.raw(made_with.up, made_with.import)?;
            let same = input.skeleton(&raw)?.mismatch(skeleton);
            match same == Some(SkeletonMismatch::JointOrder) {
                false => {
                    let rig = input.rig(raw.clone(), made_with.import, Some(lanes))?;
                    let clips = rig.clips().to_vec();
                    read = Some((raw, rig));
                    (clips, None)
                }
                true => {
                    let read = ClipFile::read(&input.path, made_with.up, made_with.import)?;
                    let (clips, bound) = read.lay_out(skeleton, BindingArgs::default())?;
                    let clips = clips.into_iter().map(Arc::new).collect();
                    (clips, Some((read, bound)))
                }
            }
        }
        true => {
            let read = ClipFile::read(&input.path, made_with.up, made_with.import)?;
            let (clips, bound) = read.lay_out(skeleton, made_with.binding)?;
            (clips.into_iter().map(Arc::new).collect(), Some((read, bound)))
        }
    };
    let rounding = ROUNDING * size(skeleton);
    for (clip, origin) in p.clips.iter().enumerate() {
        let from = &p.sources[origin.source as usize];
        if from != made_of {
            continue;
        }
        let name = text::one_line(library.clip_info(clip).map_or("", |info| info.name));
        let Some(exact) = exact.get(origin.clip as usize) else {
            verified.add_fault(format!(
                "clip \"{name}\" is stated to be clip {} of {}, which has {}",
                origin.clip,
                input.name(),
                text::plural(exact.len(), "clip"),
            ));
            continue;
        };
        let built = library.clip(clip).map_err(|source| BakeFault::Format {
            file: file.display().to_string(),
            source: Box::new(source),
        })?;
        let settings = Settings::of_text(&from.settings, origin.shell);
        let report = match settings.measure(exact, &built, skeleton, &input.name()) {
            Ok(report) => report,
            Err(error) => {
                verified.add_fault(error.to_string());
                continue;
            }
        };
        let off = match &bound {
            Some((read, bound)) => {
                read.distance(bound, origin.clip as usize, &built, origin.shell)?
            }
            None => 0.0,
        };
        let (error, scalars) = (report.max.max(off), report.scalar_relative);
        let worse = |known: Option<f32>, e: f32| Some(known.map_or(e, |k| k.max(e)));
        verified.measured_clips += 1;
        verified.measured_error = worse(verified.measured_error, error);
        verified.measured_scalar_error = worse(verified.measured_scalar_error, scalars);
        // The error was measured in the same way when the clip was baked. NaN counts as a fault.
        let as_stated = error <= origin.max_error * (1.0 + TOLERANCE) + rounding;
        if !as_stated {
            verified.add_fault(format!(
                "clip \"{name}\" differs from {} by {error} m; the file states {} m",
                input.name(),
                origin.max_error
            ));
        }
        if let Some((raw, rig)) = &read {
            let source = (raw, origin.clip as usize);
            let error = match settings.measure_source(source, &built, rig, &input.name()) {
                Ok(error) => error,
                Err(error) => {
                    verified.add_fault(error.to_string());
                    continue;
                }
            };
            verified.source_error = worse(verified.source_error, error);
            let allowed = origin.max_error * (1.0 + TOLERANCE) + rounding;
            let as_the_source = error <= allowed;
            if !as_the_source {
                verified.add_fault(format!(
                    "clip \"{name}\" differs from the curves of {} by {error} m; the file states {} m",
                    input.name(),
                    origin.max_error
                ));
            }
        }
        let allowed = settings.scalar_error() * (1.0 + TOLERANCE);
        let as_allowed = scalars <= allowed;
        if !as_allowed {
            verified.add_fault(format!(
                "a scalar of clip \"{name}\" differs from {} by {scalars} (of its range, or of 1), limit {}",
                input.name(),
                settings.scalar_error()
            ));
        }
    }
    Ok(())
}
