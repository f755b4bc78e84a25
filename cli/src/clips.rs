//! `--clips`: clips of other files on a model, by the names of its joints.

use super::bake::{BakeFault, Faults, expand};
use super::binding::BindingArgs;
use super::clip_names::{TakenNames, renamed};
use super::error::CliError;
use super::findings::{self, print_dropped};
use super::import_args::ImportArgs;
use super::kind;
use super::model::Model;
use super::output;
use super::text::{plural, shorten};
use clap::Args;
use phalanx::build::{BuildError, with_clips};
use phalanx::clip::{Clip, reorder_lanes};
use phalanx::format::Library;
use phalanx::import::{self, ImportOptions, ReportEntry, UpAxis, clip_name_from_file};
use phalanx::mesh::ImageMode;
use phalanx::retarget::{BindOptions, BindReport, Binding, BoundClip, RetargetError};
use phalanx::rig::Rig;
use phalanx::skeleton::{Skeleton, SkeletonMismatch};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// File extensions of clips.
pub const WITH_CLIPS: [&str; 6] = ["gltf", "glb", "vrm", "vrma", "bvh", "phx"];

/// Option of all commands that play, draw or measure clips.
#[derive(Clone, Debug, Default, Args)]
pub struct ClipArgs {
    /// File (.glb, .gltf, .vrm, .vrma, .bvh or .phx), folder or pattern in quotes ("anims/*.glb") whose clips play on the model,
    /// bound by the names of their joints, without names by index; of a name that is taken a clip becomes FILE/NAME;
    /// repeatable
    #[arg(id = "clips", long = "clips", value_name = "FILE")]
    pub files: Vec<String>,
    #[command(flatten)]
    pub binding: BindingArgs,
}

/// Reasons why the clips of a file cannot play on a model.
#[derive(Debug, Error)]
pub enum ClipsFault {
    /// The joints have other names.
    #[error("{file}: {source}")]
    Bind {
        /// The file.
        file: String,
        /// The cause.
        source: RetargetError,
    },
    /// The file has no clips.
    #[error("{file}: contains no clips")]
    None {
        /// The file.
        file: String,
    },
    /// The rig cannot take the clips.
    #[error("{file}: {source}")]
    Rig {
        /// The model's file.
        file: String,
        /// The cause.
        source: Box<BuildError>,
    },
}

/// The clips of a file, on the skeleton of that file.
pub struct ClipFile {
    pub file: String,
    pub clips: Vec<Arc<Clip>>,
    skeleton: Arc<Skeleton>,
    /// The report of the import of the file.
    pub report: Vec<ReportEntry>,
}

/// The clips of a file on a model.
#[derive(Clone, Debug)]
pub struct BoundFile {
    /// The file.
    pub file: String,
    /// The names of the clips in the model.
    pub clips: Vec<String>,
    /// How joints and channels were bound; `None` if the skeletons are equal.
    pub binding: Option<Binding>,
    /// Other remarks, one line each.
    pub notes: Vec<String>,
}

impl ClipFile {
    /// Reads a file.
    pub fn read(path: &Path, up: UpAxis, import: ImportArgs) -> Result<Self, CliError> {
        let file = path.display().to_string();
        let (clips, skeleton) = if Model::is_phx(path) {
            let library = Library::open(path)?;
            let clips = library.clips().map_err(|error| error.in_file(&file))?;
            (clips, library.skeleton().clone())
        } else {
            let options =
                ImportOptions { images: ImageMode::Skip, up_axis: up, ..import.options() };
            let imported = import::import_path(path, &options);
            let imported = imported.map_err(|error| kind::explain(path, error))?;
            let rig = imported.rigs.into_iter().next();
            let rig = rig.ok_or_else(|| CliError::NoRig { file: file.clone() })?;
            let (clips, skeleton) = (rig.clips().to_vec(), rig.skeleton().clone());
            return Self::named(path, clips, skeleton, imported.report);
        };
        Self::named(path, clips, skeleton, Vec::new())
    }

    /// The clips of a model that is loaded.
    #[cfg_attr(not(feature = "view"), allow(dead_code))]
    pub fn of(model: &Model, path: &Path) -> Result<Self, CliError> {
        let rig = &model.rig;
        let (clips, skeleton) = (rig.clips().to_vec(), rig.skeleton().clone());
        Self::named(path, clips, skeleton, model.report.clone())
    }

    /// Creates the clips of a file. A single clip with a meaningless name takes the name of the file.
    fn named(
        path: &Path,
        mut clips: Vec<Arc<Clip>>,
        skeleton: Arc<Skeleton>,
        report: Vec<ReportEntry>,
    ) -> Result<Self, CliError> {
        let file = path.display().to_string();
        if clips.is_empty() {
            // They may have been left out.
            print_dropped(&file, &report);
            return Err(ClipsFault::None { file }.into());
        }
        if let [only] = &mut clips[..] {
            let name = clip_name_from_file(path, only.name()).into_owned();
            if name != only.name() {
                *only = Arc::new(only.as_ref().clone().with_name(name));
            }
        }
        Ok(Self { file, clips, skeleton, report })
    }

    /// Binds the clips to a skeleton. Clips are unchanged if the skeletons are equal and no option is given. They are
    /// laid out again if only the order of the joints differs. Otherwise they are bound by name.
    pub fn bind(
        &self,
        target: &Skeleton,
        options: BindingArgs,
    ) -> Result<(Vec<Clip>, BoundFile), CliError> {
        let mut bound = BoundFile {
            file: self.file.clone(),
            clips: Vec::new(),
            binding: None,
            notes: findings::lines(self.report.iter()),
        };
        let mismatch = self.skeleton.mismatch(target);
        let equal = !matches!(mismatch, Some(SkeletonMismatch::Structure(_)));
        if equal && options == BindingArgs::default() {
            let clips = self.clips.iter().map(|clip| match mismatch {
                Some(SkeletonMismatch::JointOrder) => laid_out(&self.file, clip, target),
                _ => Ok(clip.as_ref().clone()),
            });
            return Ok((clips.collect::<Result<_, _>>()?, bound));
        }
        let fault = |source| ClipsFault::Bind { file: self.file.clone(), source };
        let binding = Binding::new(&self.skeleton, target, &options.options()).map_err(fault)?;
        let mut clips = Vec::with_capacity(self.clips.len());
        for clip in &self.clips {
            let made = binding.clip(clip).map_err(fault)?;
            bound.notes.extend(notes(&made));
            clips.push(made.clip);
        }
        bound.binding = Some(binding);
        Ok((clips, bound))
    }

    /// [`ClipFile::bind`], with the clips in the target's lane order.
    pub fn lay_out(
        &self,
        target: &Skeleton,
        options: BindingArgs,
    ) -> Result<(Vec<Clip>, BoundFile), CliError> {
        let (clips, bound) = self.bind(target, options)?;
        let laid = clips.par_iter().map(|clip| laid_out(&self.file, clip, target));
        Ok((laid.collect::<Result<_, _>>()?, bound))
    }

    /// How far what was made of a clip is from the file's, metres: 0 if it was neither bound nor are its joints in
    /// another order.
    pub fn distance(
        &self,
        bound: &BoundFile,
        clip: usize,
        made: &Clip,
        shell: f32,
    ) -> Result<f32, CliError> {
        let Some(from) = self.clips.get(clip) else {
            return Ok(0.0);
        };
        match &bound.binding {
            Some(binding) => distance(&self.file, binding, from, made, shell),
            None => order_distance(&self.file, from, made, shell),
        }
    }
}

/// A clip of a file in the order of lanes and joints of a skeleton.
pub fn laid_out(file: &str, clip: &Clip, target: &Skeleton) -> Result<Clip, CliError> {
    let laid = reorder_lanes(clip, target, clip.reorder_limit());
    let laid =
        laid.map_err(|source| BakeFault::Build { file: file.to_owned(), source: Box::new(source) });
    Ok(laid?)
}

/// How far a clip is from one of the same joints in another order, metres: 0 if the order is the same.
pub fn order_distance(file: &str, from: &Clip, made: &Clip, shell: f32) -> Result<f32, CliError> {
    let (source, target) = (from.skeleton(), made.skeleton());
    if source.mismatch(target) != Some(SkeletonMismatch::JointOrder) {
        return Ok(0.0);
    }
    let binding = Binding::new(source, target, &BindOptions::default());
    let binding = binding.map_err(|source| ClipsFault::Bind { file: file.to_owned(), source })?;
    distance(file, &binding, from, made, shell)
}

fn distance(
    file: &str,
    binding: &Binding,
    from: &Clip,
    made: &Clip,
    shell: f32,
) -> Result<f32, CliError> {
    let found = binding.measure(from, made, shell);
    let found = found.map_err(|source| ClipsFault::Bind { file: file.to_owned(), source })?;
    Ok(found as f32)
}

/// Remarks on the channels that binding left out of a clip, one line each.
fn notes(made: &BoundClip) -> Vec<String> {
    let name = made.clip.name();
    let mut notes = Vec::new();
    // Exporters write every translation, and most of them are the rest pose's.
    if made.farthest_left > LEFT_OUT {
        notes.push(format!(
            "clip \"{name}\": translations of {} come from the model's rest pose; one moves by {:.3} m in the file",
            plural(made.translations_left, "joint"),
            made.farthest_left
        ));
    }
    if made.scales_left > 0 {
        notes.push(format!(
            "clip \"{name}\": scales of {} are lost, as they are not in the model",
            plural(made.scales_left, "joint")
        ));
    }
    let (nameless, named): (Vec<&String>, _) =
        (made.scalars_left.iter()).partition(|name| name.starts_with(".weights["));
    if let Some(first) = named.first() {
        notes.push(format!(
            "clip \"{name}\": morph weights and user channels whose names are not in the model: {}, such as \"{}\"",
            named.len(),
            shorten(first, SHOWN)
        ));
    }
    if !nameless.is_empty() {
        notes.push(format!(
            "clip \"{name}\": {} of meshes without names, which are bound if clip and model have one mesh with as many",
            plural(nameless.len(), "morph weight")
        ));
    }
    if made.sampled > 0 {
        notes.push(format!(
            "clip \"{name}\": joints that several are folded into are sampled: {}, at most {:.1e} degrees and {:.1e} m off",
            made.sampled,
            made.sampled_rotation.to_degrees(),
            made.sampled_translation
        ));
    }
    if made.error.iter().any(|error| *error > OFF) {
        notes.push(format!(
            "clip \"{name}\": bound keys are at most {:.1e} degrees, {:.1e} m and {:.1e} of scale off, as measured between \
             them",
            made.error[0].to_degrees(),
            made.error[1],
            made.error[2]
        ));
    }
    if made.scales_kept > 0 {
        notes.push(format!(
            "clip \"{name}\": scales that move are kept, relative to the rest pose: {}",
            plural(made.scales_kept, "joint")
        ));
    }
    if made.resampled.0 > 0 {
        notes.push(format!(
            "clip \"{name}\": {} resampled at {} keys per second, as the key times are too many; at most {:.1e} off",
            plural(made.resampled.0, "channel"),
            phalanx::build::RESAMPLE_RATE,
            made.resampled.1
        ));
    }
    notes
}

/// The most characters of a name in a note.
const SHOWN: usize = 40;

/// Bound keys that are off by more than this are worth a note: radians, metres and scale. Rounding to f32 is less.
const OFF: f64 = 1e-5;

/// Translations that are left out are worth a note from here, metres.
const LEFT_OUT: f64 = 0.005;

/// Angle between rest rotations above which joints have different axes, radians. A-poses and T-poses differ by 50
/// degrees.
const OTHER_AXES: f64 = 1.2;

/// Renames clips whose names are taken, and adds a note for each.
fn name_apart(clips: &mut [Clip], bound: &mut BoundFile, taken: &mut TakenNames) {
    for clip in clips {
        if !taken.take(clip.name()) {
            let name = taken.take_other(Path::new(&bound.file), clip.name());
            bound.notes.push(renamed(clip.name(), &name));
            *clip = clip.clone().with_name(name);
        }
        bound.clips.push(clip.name().to_owned());
    }
}

/// Collects the results of all files; if several failed, returns their errors, one line each.
fn each<T>(made: Vec<(&str, Result<T, CliError>)>) -> Result<Vec<T>, CliError> {
    let failed = made.iter().filter(|(_, made)| made.is_err()).count();
    let mut faults = Faults::default();
    let mut all = Vec::with_capacity(made.len());
    for (file, made) in made {
        match made {
            Ok(made) => all.push(made),
            Err(error) if failed == 1 => return Err(error),
            Err(error) => faults.put(file.to_owned(), error.to_string()),
        }
    }
    faults.none().map(|()| all)
}

/// The clips of files on a rig.
pub fn on_rig(
    rig: &Rig,
    file: &str,
    sources: &[ClipFile],
    options: BindingArgs,
) -> Result<(Rig, Vec<BoundFile>), CliError> {
    let mut taken = TakenNames::default();
    for clip in rig.clips() {
        taken.take(clip.name());
    }
    let (mut all, mut bound) = (Vec::new(), Vec::new());
    let made = sources.iter();
    let made = made.map(|source| (&*source.file, source.bind(rig.skeleton(), options)));
    for (mut clips, mut one) in each(made.collect())? {
        name_apart(&mut clips, &mut one, &mut taken);
        all.extend(clips);
        bound.push(one);
    }
    let rig = with_clips(rig, all)
        .map_err(|source| ClipsFault::Rig { file: file.to_owned(), source: Box::new(source) })?;
    Ok((rig, bound))
}

impl ClipArgs {
    /// The files that are given, found by their patterns.
    pub fn found(&self) -> Result<Vec<PathBuf>, CliError> {
        if self.files.is_empty() {
            return Ok(Vec::new());
        }
        expand(&self.files, &WITH_CLIPS)
    }

    /// [`ImportArgs::check_files`] for models and the files of clips.
    pub fn check_files<'a>(
        &self,
        models: impl IntoIterator<Item = &'a PathBuf>,
        import: ImportArgs,
    ) -> Result<(), CliError> {
        let clips = self.found()?;
        let models: Vec<&PathBuf> = models.into_iter().collect();
        import.check_files(models.into_iter().chain(&clips).map(PathBuf::as_path));
        Ok(())
    }
}

impl Model {
    /// The model with the clips of other files; prints what binding changed.
    pub fn with_clips(self, args: &ClipArgs, import: ImportArgs) -> Result<Self, CliError> {
        let mut model = self;
        model.add_clips(args, import)?;
        for line in model.bound.iter().flat_map(BoundFile::lines) {
            output::tell(&line);
        }
        Ok(model)
    }

    /// Adds the clips of other files.
    pub fn add_clips(&mut self, args: &ClipArgs, import: ImportArgs) -> Result<(), CliError> {
        let files = args.found()?;
        if files.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
        let read = names.iter().zip(&files);
        let read = read.map(|(name, path)| (&**name, ClipFile::read(path, UpAxis::Y, import)));
        let sources = each(read.collect())?;
        let (rig, bound) = on_rig(&self.rig, &self.file, &sources, args.binding)?;
        self.rig = Arc::new(rig);
        self.bound.extend(bound);
        Ok(())
    }
}

impl BoundFile {
    /// A summary of the binding, of its remarks and of what was left out, one line each.
    pub fn findings(&self) -> Vec<String> {
        let report = self.binding.as_ref().map(Binding::report);
        let turned = report.filter(|r| r.rotation_angle > OTHER_AXES);
        let report = report.map(BindReport::to_string).unwrap_or_default();
        let advice = turned.map(|r| {
            format!(
                "the axes of joints differ, \"{}\" by {:.0} degrees, and binding keeps those of the clips; \
                 `phalanx retarget` is for such skeletons",
                shorten(&r.rotation_joint, SHOWN),
                r.rotation_angle.to_degrees()
            )
        });
        let lines = report.lines().map(str::to_owned).chain(advice);
        lines.chain(self.notes.iter().cloned()).collect()
    }

    /// The findings with the file's name, for standard error.
    pub fn lines(&self) -> Vec<String> {
        let findings = self.findings().into_iter();
        findings.map(|line| format!("{}: {line}", self.file)).collect()
    }
}
