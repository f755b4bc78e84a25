//! `Subject`: a model to measure, with the clips of its workloads.

use crate::WorkloadClips;
use phalanx::build::{BuildError, BuildOptions, build_additive, build_additive_raw, build_rig};
use phalanx::import::raw::RawScene;
use phalanx::import::{ImportError, ImportOptions, MANNEQUIN, ReportEntry, read_path, read_slice};
use phalanx::playback::{PlaybackError, PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx::skeleton::{JointMask, LookupError};
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// The built-in character's name in place of a file name.
pub const BUILT_IN: &str = "built-in character";

/// Names of the default clips, case-insensitive, if a model has all three.
const GAITS: [&str; 3] = ["walk", "jog", "run"];
/// Names of the clip to make additive, preferred first.
const ADDITIVE: [&str; 2] = ["atlas", "wave"];
/// Parts of the name of the joint at which the mask begins, preferred first.
const MASK: [&str; 3] = ["spine1", "spine", "chest"];

/// Choices of a [`Subject`]. Clips are given by name or index, joints by name or path.
#[derive(Clone, Debug, Default)]
pub struct SubjectOptions {
    /// One to three clips; fewer than three are repeated. Default: walk, jog and run, or the first clips.
    pub clips: Vec<String>,
    /// The clip to make additive. Default: `None`, one with a known name, or the last.
    pub additive: Option<String>,
    /// The joint at which the additive layer's mask begins. Default: `None`, the spine, if there is one.
    pub mask: Option<String>,
    /// How a file is imported; images are skipped. Default: [`ImportOptions::default`].
    pub import: ImportOptions,
}

/// A model, as raw scene and as rig, and the clips of its workloads.
#[derive(Debug)]
pub struct Subject {
    /// The name of the file or of the built-in character.
    pub name: String,
    /// The scene as the importer read it, for the textbook pipeline.
    pub raw: RawScene,
    /// The repairs, losses and unused data of the import; empty for a rig that was built before.
    pub report: Vec<ReportEntry>,
    /// The rig, for crowds.
    pub rig: Arc<Rig>,
    /// The clips; the additive one holds differences to its first frame.
    pub clips: WorkloadClips,
    /// Index of the rig's clip that the additive one was made from.
    pub additive: usize,
    /// The node at which the mask begins; without it, the additive layer moves all joints.
    pub mask_node: Option<usize>,
}

/// An error of loading a [`Subject`].
#[derive(Debug, Error)]
pub enum SubjectError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(Box<ImportError>),
    /// The rig, the additive clip or the mask could not be built.
    #[error("{file}: {source}")]
    Build {
        /// The model.
        file: String,
        /// The cause.
        source: Box<BuildError>,
    },
    /// The model has no clips.
    #[error("{file}: has no clips; a workload needs at least one")]
    NoClips {
        /// The model.
        file: String,
    },
    /// The model does not have the clip.
    #[error("{file}: there is no clip \"{wanted}\"; it has {available}")]
    UnknownClip {
        /// The model.
        file: String,
        /// The requested clip.
        wanted: String,
        /// The model's clips.
        available: String,
    },
    /// The model does not have the joint, or several that match.
    #[error("{file}: {source}")]
    Joint {
        /// The model.
        file: String,
        /// The look-up's error.
        source: LookupError,
    },
    /// The reference frame could not be evaluated.
    #[error("{file}: {source}")]
    Pose {
        /// The model.
        file: String,
        /// The cause.
        source: Box<PlaybackError>,
    },
}

impl SubjectError {
    fn build(file: &str, source: BuildError) -> Self {
        Self::Build { file: file.into(), source: Box::new(source) }
    }
}

impl From<ImportError> for SubjectError {
    fn from(error: ImportError) -> Self {
        // Boxed: results of the callers stay small.
        Self::Read(Box::new(error))
    }
}

impl Subject {
    /// Loads a file or, without one, the built-in character.
    ///
    /// # Errors
    /// If the file cannot be read, and those of [`Subject::new`].
    pub fn load(file: Option<&Path>, options: &SubjectOptions) -> Result<Self, SubjectError> {
        let import =
            ImportOptions { images: phalanx::mesh::ImageMode::Skip, ..options.import.clone() };
        match file {
            Some(path) => {
                let (raw, report) = read_path(path, &import)?;
                let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
                let name = name.unwrap_or_else(|| raw.name.clone());
                let subject = Self::new(name, raw, options)?;
                Ok(Self { report, ..subject })
            }
            None => {
                let (name, bytes) = MANNEQUIN[0];
                let (raw, _) = read_slice(bytes, name, None, &import)?;
                Self::new(BUILT_IN.into(), raw, options)
            }
        }
    }

    /// Builds the rig and chooses the clips.
    ///
    /// The default clips are walk, jog and run if the model has all three, else the first three that have a
    /// duration. The default additive clip is `atlas` or `wave`, else the first clip not chosen, else the
    /// last.
    ///
    /// # Errors
    /// If the rig or the additive clip cannot be built, there are no clips, or a chosen clip or joint does
    /// not exist.
    pub fn new(
        name: String,
        raw: RawScene,
        options: &SubjectOptions,
    ) -> Result<Self, SubjectError> {
        let rig = build_rig(raw.clone(), &BuildOptions::default());
        let rig = rig.map_err(|source| SubjectError::build(&name, source))?;
        Self::of_rig(name, raw, rig, options)
    }

    /// Chooses the clips of a built rig.
    ///
    /// # Errors
    /// Those of [`Subject::new`].
    pub fn of_rig(
        name: String,
        raw: RawScene,
        rig: Rig,
        options: &SubjectOptions,
    ) -> Result<Self, SubjectError> {
        let (clips, additive) = choose_clips(&name, &rig, options)?;
        let first = PoseAction { clip: additive, time: 0.0, weight: 1.0 };
        let first = evaluate_pose(&rig, &[first]).map_err(|source| SubjectError::Pose {
            file: name.clone(),
            source: Box::new(source),
        })?;
        // Raw scenes that were made from a rig have no scalars; the clip of the rig has them.
        let difference = match raw.meshes.is_empty() {
            true => build_additive(&rig, additive, &first.pose),
            false => build_additive_raw(&rig, (&raw, additive), &first.pose),
        };
        let difference = difference.map_err(|source| SubjectError::build(&name, source))?;
        let joint = choose_mask(&name, &rig, options.mask.as_deref())?;
        let mask = joint.map(|joint| JointMask::subtree(rig.skeleton(), joint));
        let mask = mask.transpose().map_err(|source| SubjectError::build(&name, source))?;
        let of_joint = |joint| {
            let mut nodes = rig.nodes().iter();
            nodes.position(|n| n.joint.map(usize::from) == Some(joint))
        };
        Ok(Self {
            mask_node: joint.and_then(of_joint),
            clips: WorkloadClips { clips, additive: Some(Arc::new(difference)), mask },
            name,
            raw,
            report: Vec::new(),
            rig: Arc::new(rig),
            additive,
        })
    }

    /// The names of the three clips.
    pub fn clip_names(&self) -> [&str; 3] {
        self.clips.clips.map(|clip| self.rig.clips()[clip].name())
    }

    /// The name of the clip that was made additive.
    pub fn additive_name(&self) -> &str {
        self.rig.clips()[self.additive].name()
    }

    /// The name of the joint at which the mask begins.
    pub fn mask_name(&self) -> Option<&str> {
        let joint = self.rig.nodes()[self.mask_node?].joint?;
        Some(&self.rig.skeleton().names()[usize::from(joint)])
    }
}

/// Chooses the three clips and the clip to make additive.
fn choose_clips(
    file: &str,
    rig: &Rig,
    options: &SubjectOptions,
) -> Result<([usize; 3], usize), SubjectError> {
    let clips = rig.clips();
    let last = clips.len().checked_sub(1);
    let last = last.ok_or_else(|| SubjectError::NoClips { file: file.into() })?;
    let find = |wanted: &String| {
        let by_index = || wanted.parse().ok().filter(|&i: &usize| i <= last);
        let found = rig.find_clip(wanted).or_else(by_index);
        found.ok_or_else(|| SubjectError::UnknownClip {
            file: file.into(),
            wanted: wanted.clone(),
            available: clip_list(rig),
        })
    };
    let named = |name: &str| {
        let mut names = clips.iter().map(|c| c.name());
        names.position(|n| n.eq_ignore_ascii_case(name))
    };
    let mut chosen = options.clips.iter().map(find).collect::<Result<Vec<usize>, _>>()?;
    if chosen.is_empty() {
        let gaits: Option<Vec<usize>> = GAITS.into_iter().map(named).collect();
        chosen = gaits.unwrap_or_else(|| {
            let moving = (0..clips.len()).filter(|&c| clips[c].duration() > 0.0);
            moving.take(3).collect()
        });
    }
    if chosen.is_empty() {
        chosen.push(0);
    }
    let additive = match &options.additive {
        Some(wanted) => find(wanted)?,
        None => ADDITIVE
            .into_iter()
            .find_map(named)
            .or_else(|| (0..clips.len()).find(|c| !chosen.contains(c)))
            .unwrap_or(last),
    };
    Ok((std::array::from_fn(|k| chosen[k % chosen.len()]), additive))
}

/// The most clips that an error lists; it counts the others.
const LISTED_CLIPS: usize = 40;

fn clip_list(rig: &Rig) -> String {
    let listed = rig.clips().iter().enumerate().take(LISTED_CLIPS);
    let names: Vec<String> = listed.map(|(i, c)| format!("{i} \"{}\"", c.name())).collect();
    match rig.clips().len().saturating_sub(LISTED_CLIPS) {
        0 => names.join(", "),
        n => format!("{} and {n} more", names.join(", ")),
    }
}

/// Chooses the joint at which the mask begins.
fn choose_mask(file: &str, rig: &Rig, wanted: Option<&str>) -> Result<Option<usize>, SubjectError> {
    let skeleton = rig.skeleton();
    if let Some(wanted) = wanted {
        let found = skeleton
            .joint_of_text(wanted)
            .map_err(|source| SubjectError::Joint { file: file.into(), source });
        return found.map(Some);
    }
    let names: Vec<String> = skeleton.names().iter().map(|n| n.to_lowercase()).collect();
    Ok(MASK.iter().find_map(|part| names.iter().position(|n| n.contains(part))))
}
