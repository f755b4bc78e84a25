//! The model a command works on: a file, or the built-in character.

use super::error::CliError;
use super::text::one_line;
use super::{output, textures};
use phalanx::format::{self, Library, OpenError, RigOptions};
use phalanx::import;
use phalanx::import::{ImportOptions, ImportReport};
use phalanx::mesh::ImageMode;
use phalanx::playback::{EvaluatedPose, PoseAction, evaluate_pose};
use phalanx::rig::Rig;
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
    /// What the import repaired or dropped.
    pub report: ImportReport,
    /// The file, if it is a .phx file.
    pub library: Option<Library>,
}

impl Model {
    /// Imports or opens a file; `None` loads the built-in character.
    pub fn load(file: Option<&Path>, images: bool) -> Result<Self, CliError> {
        let Some(path) = file else {
            return Ok(Self {
                file: BUILT_IN.into(),
                built_in: true,
                rig: Arc::new(import::mannequin()?),
                report: ImportReport::default(),
                library: None,
            });
        };
        if Self::is_phx(path) {
            return Self::open(path, images);
        }
        let file = path.display().to_string();
        let options = ImportOptions {
            images: image_mode(images),
            ..ImportOptions::default()
        };
        let imported = import::import_path(path, &options)?;
        let rig = imported.rigs.into_iter().next();
        Ok(Self {
            rig: Arc::new(rig.ok_or_else(|| CliError::NoRig { file: file.clone() })?),
            file,
            built_in: false,
            report: imported.report,
            library: None,
        })
    }

    /// Loads a model to draw; prints a warning if textures are missing.
    pub fn load_to_draw(file: Option<&Path>) -> Result<Self, CliError> {
        let model = Self::load(file, true)?;
        if let Some(what) = textures::missing(&model) {
            output::tell(&format!("warning: {what}"));
        }
        Ok(model)
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
        let library = Library::open(path)?;
        let file = path.display().to_string();
        let options = RigOptions {
            images: image_mode(images),
            ..RigOptions::default()
        };
        let rig = library.rig(options).map_err(|source| OpenError::Format {
            file: file.clone(),
            source: Box::new(source),
        })?;
        Ok(Self {
            file,
            built_in: false,
            rig: Arc::new(rig),
            report: ImportReport::default(),
            library: Some(library),
        })
    }

    /// Finds a clip by exact name, then by index.
    pub fn find_clip(&self, wanted: &str) -> Result<usize, CliError> {
        let clips = self.rig.clips();
        let by_index = || wanted.parse().ok().filter(|&i: &usize| i < clips.len());
        let found = self.rig.find_clip(wanted).or_else(by_index);
        found.ok_or_else(|| CliError::UnknownClip {
            file: self.file.clone(),
            wanted: wanted.to_owned(),
            available: self.clip_list(),
        })
    }

    fn clip_list(&self) -> String {
        let clips = self.rig.clips();
        if clips.is_empty() {
            return "it has no clips".into();
        }
        let listed = clips.iter().enumerate().take(LISTED_CLIPS);
        let names: Vec<String> = listed
            .map(|(i, c)| format!("{i} \"{}\"", one_line(c.name())))
            .collect();
        let more = match clips.len().saturating_sub(LISTED_CLIPS) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        format!("its clips are {}{more}", names.join(", "))
    }

    /// The rig's pose at the given clip times.
    pub fn pose(&self, actions: &[PoseAction]) -> Result<EvaluatedPose, CliError> {
        evaluate_pose(&self.rig, actions).map_err(|source| CliError::Pose {
            file: self.file.clone(),
            source,
        })
    }
}

/// Images are decoded or skipped.
fn image_mode(wanted: bool) -> ImageMode {
    if wanted {
        ImageMode::Decoded
    } else {
        ImageMode::Skip
    }
}
