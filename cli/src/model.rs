//! The model a command works on: a file, or the built-in character.

use super::clips::BoundFile;
use super::error::CliError;
use super::findings::print_dropped;
use super::import_args::ImportArgs;
use super::kind;
use super::mapped;
use super::suggest::did_you_mean;
use super::text::one_line;
use super::{output, textures};
use phalanx::format::{self, Library, RigOptions};
use phalanx::import;
use phalanx::import::bvh::is_bvh_file;
use phalanx::import::{ImportError, ImportOptions, ReportEntry};
use phalanx::mesh::ImageMode;
use phalanx::playback::{EvaluatedPose, PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx::skeleton::{LookupError, Skeleton};
use phalanx_render::with_skeleton_mesh;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Name of the built-in character in place of a file name.
const BUILT_IN: &str = "built-in character";

/// Largest number of clips listed in an error.
const LISTED_CLIPS: usize = 40;

/// A rig and its origin.
#[derive(Debug)]
pub struct Model {
    /// The file's path as given, for messages.
    pub file: String,
    /// True for the built-in character.
    pub built_in: bool,
    /// The rig.
    pub rig: Arc<Rig>,
    /// The repairs, losses and unused data of the import.
    pub report: Vec<ReportEntry>,
    /// The file, if it is a .phx file.
    pub library: Option<Library>,
    /// Files whose clips it was given.
    pub bound: Vec<BoundFile>,
}

impl Model {
    /// Imports or opens a file; `None` loads the built-in character. Prints a warning if options of the import
    /// are given for a .phx file.
    pub fn load(file: Option<&Path>, images: bool, import: ImportArgs) -> Result<Self, CliError> {
        let Some(path) = file else {
            return Ok(Self {
                file: BUILT_IN.into(),
                built_in: true,
                rig: Arc::new(import::mannequin()?),
                report: Vec::new(),
                library: None,
                bound: Vec::new(),
            });
        };
        if Self::is_phx(path) {
            if let Some(given) = import.given() {
                let file = path.display();
                output::tell(&format!("warning: {file}: {given} no effect on a .phx file"));
            }
            return Self::open(path, images);
        }
        let file = path.display().to_string();
        let options = ImportOptions { images: image_mode(images), ..import.options() };
        let imported = import::import_path(path, &options);
        let imported = imported.map_err(|error| kind::explain(path, error))?;
        let rig = imported.rigs.into_iter().next();
        Ok(Self {
            rig: Arc::new(rig.ok_or_else(|| CliError::NoRig { file: file.clone() })?),
            file,
            built_in: false,
            report: imported.report,
            library: None,
            bound: Vec::new(),
        })
    }

    /// Loads a model to play or measure; prints what the import dropped.
    pub fn load_to_play(file: Option<&Path>, import: ImportArgs) -> Result<Self, CliError> {
        let model = Self::load(file, false, import)?;
        print_dropped(&model.file, &model.report);
        Ok(model)
    }

    /// Loads a model to draw; prints what the import dropped, and a warning if textures are missing.
    pub fn load_to_draw(file: Option<&Path>, import: ImportArgs) -> Result<Self, CliError> {
        let model = Self::load(file, true, import)?.with_shape()?;
        print_dropped(&model.file, &model.report);
        if let Some(what) = textures::missing(&model) {
            output::tell(&format!("warning: {what}"));
        }
        Ok(model)
    }

    /// The model; if it has no meshes, with one that shows its skeleton.
    pub fn with_shape(mut self) -> Result<Self, CliError> {
        let shown = with_skeleton_mesh(&self.rig).map_err(|source| ImportError::Build {
            file: self.file.clone(),
            source: Box::new(source),
        })?;
        if let Some(rig) = shown {
            self.rig = Arc::new(rig);
        }
        Ok(self)
    }

    /// The extension of a name that ends like a model's, in lower case.
    pub fn extension(path: &Path) -> Option<String> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        ["glb", "gltf", "vrm", "vrma", "bvh", "phx"]
            .contains(&extension.as_str())
            .then_some(extension)
    }

    /// True if a file begins like a .phx file. A file that cannot be read is reported by the import.
    pub fn is_phx(path: &Path) -> bool {
        // Opening a pipe would block until a writer appears.
        if !path.is_file() {
            return false;
        }
        let mut head = [0; 8];
        let read = File::open(path).and_then(|mut f| f.read_exact(&mut head));
        read.is_ok() && format::is_phx(&head)
    }

    fn open(path: &Path, images: bool) -> Result<Self, CliError> {
        let library = mapped::open_to_play(path)?;
        let file = path.display().to_string();
        let options = RigOptions { images: image_mode(images), ..RigOptions::default() };
        let rig = library.rig(&options).map_err(|error| error.in_file(&file))?;
        Ok(Self {
            file,
            built_in: false,
            rig: Arc::new(rig),
            report: Vec::new(),
            library: Some(library),
            bound: Vec::new(),
        })
    }

    /// True if the file was read as BVH, in a unit that was given.
    pub fn is_bvh(&self) -> bool {
        !self.built_in && self.library.is_none() && is_bvh_file(Path::new(&self.file))
    }

    /// Finds a clip by exact name, then by index.
    pub fn find_clip(&self, wanted: &str) -> Result<usize, CliError> {
        let clips = self.rig.clips();
        let by_index = || wanted.parse().ok().filter(|&i: &usize| i < clips.len());
        let found = self.rig.find_clip(wanted).or_else(by_index);
        found.ok_or_else(|| CliError::UnknownClip {
            file: self.file.clone(),
            wanted: wanted.to_owned(),
            available: self.available_clips(wanted),
        })
    }

    /// Similar names, if there are any, and the clips.
    fn available_clips(&self, wanted: &str) -> String {
        let clips = self.rig.clips();
        if clips.is_empty() {
            return "it has no clips".into();
        }
        let near = did_you_mean(wanted, clips.iter().map(|c| c.name()));
        let (near, its) = match near {
            Some(near) => (near + " ", "Its"),
            None => (String::new(), "its"),
        };
        let listed = clips.iter().enumerate().take(LISTED_CLIPS);
        let names: Vec<String> =
            listed.map(|(i, c)| format!("{i} \"{}\"", one_line(c.name()))).collect();
        let more = match clips.len().saturating_sub(LISTED_CLIPS) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        format!("{near}{its} clips are {}{more}", names.join(", "))
    }

    /// Finds a joint by name, path or index.
    pub fn find_joint(&self, wanted: &str) -> Result<usize, CliError> {
        let found = self.rig.skeleton().joint_of_text(wanted);
        found.map_err(|source| self.no_joint(wanted, source))
    }

    /// The error for a joint that was not found.
    fn no_joint(&self, wanted: &str, source: LookupError) -> CliError {
        let file = self.file.clone();
        match source {
            LookupError::NoJoint { .. } => CliError::UnknownJoint {
                file,
                wanted: wanted.to_owned(),
                near: near_joints(self.rig.skeleton(), wanted),
            },
            source => CliError::Joint { file, source },
        }
    }

    /// The rig's pose at the given clip times.
    pub fn pose(&self, actions: &[PoseAction]) -> Result<EvaluatedPose, CliError> {
        evaluate_pose(&self.rig, actions)
            .map_err(|source| CliError::Pose { file: self.file.clone(), source: Box::new(source) })
    }
}

/// Joints with similar names, or what else there is to say.
pub fn near_joints(skeleton: &Skeleton, wanted: &str) -> String {
    let names = skeleton.names().iter().map(String::as_str);
    if names.clone().all(str::is_empty) {
        return "it has no named joints".into();
    }
    did_you_mean(wanted, names).unwrap_or_else(|| match skeleton.len() {
        1 => "`phalanx info` names its only joint".into(),
        n => format!("`phalanx info` lists its {n} joints"),
    })
}

/// Images are decoded or skipped.
fn image_mode(wanted: bool) -> ImageMode {
    if wanted { ImageMode::Decoded } else { ImageMode::Skip }
}
