//! What is measured: a model and the clips of its workloads.

use crate::WorkloadClips;
use phalanx::build::{BuildError, BuildOptions, build_additive, build_additive_of, build_rig};
use phalanx::import::MANNEQUIN;
use phalanx::import::gltf::{GltfError, ImportOptions, read_path, read_slice};
use phalanx::import::raw::RawScene;
use phalanx::playback::{PoseAction, PoseError, evaluate_pose};
use phalanx::rig::Rig;
use phalanx::skeleton::{JointMask, MaskError};
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// What the built-in character is called where a file's name would stand.
pub const BUILT_IN: &str = "built-in character";

/// Clips that are taken by name, in any case, where a model has all three.
const GAITS: [&str; 3] = ["walk", "jog", "run"];
/// Clips that are made additive, best first, where a model has one.
const ADDITIVE: [&str; 2] = ["atlas", "wave"];
/// Parts of names of the joint that the mask begins at, best first.
const MASK: [&str; 3] = ["spine1", "spine", "chest"];

/// What a caller wants instead of the defaults. Clips by name, else by index; joints by name.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// One to three clips; fewer than three are repeated.
    pub clips: Vec<String>,
    /// The clip that is made additive.
    pub additive: Option<String>,
    /// The joint at which the additive layer's mask begins.
    pub mask: Option<String>,
}

/// A model, as the importer read it and as a rig, and the clips of its workloads.
#[derive(Debug)]
pub struct Subject {
    /// The file's name, or that of the built-in character.
    pub name: String,
    /// What the textbook pipeline is made from.
    pub raw: RawScene,
    /// What crowds are made from.
    pub rig: Arc<Rig>,
    /// The clips; the additive one is a difference to its first frame.
    pub clips: WorkloadClips,
    /// The clip of the rig that the additive one was made from.
    pub additive: usize,
    /// The node at which the mask begins; none: the additive layer moves all joints.
    pub mask_node: Option<usize>,
}

/// Why a model cannot be measured.
#[derive(Debug, Error)]
pub enum SubjectError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] GltfError),
    /// What was read makes no rig, or a clip makes no additive one.
    #[error("{file}: {source}")]
    Build {
        /// The model.
        file: String,
        /// Why.
        source: BuildError,
    },
    /// There is nothing to play.
    #[error("{file}: has no clips, and a workload plays some")]
    NoClips {
        /// The model.
        file: String,
    },
    /// A clip that the model does not have.
    #[error("{file}: there is no clip \"{wanted}\"; it has {available}")]
    UnknownClip {
        /// The model.
        file: String,
        /// What was asked for.
        wanted: String,
        /// What there is instead.
        available: String,
    },
    /// A joint that the model does not have.
    #[error("{file}: there is no joint \"{wanted}\" among its {joints}")]
    UnknownJoint {
        /// The model.
        file: String,
        /// What was asked for.
        wanted: String,
        /// Joints of its skeleton.
        joints: usize,
    },
    /// The reference frame could not be evaluated.
    #[error("{file}: {source}")]
    Pose {
        /// The model.
        file: String,
        /// Why.
        source: PoseError,
    },
    /// The mask could not be made.
    #[error("{file}: {source}")]
    Mask {
        /// The model.
        file: String,
        /// Why.
        source: MaskError,
    },
}

impl Subject {
    /// Reads a file, or takes the built-in character.
    pub fn load(file: Option<&Path>, choice: &Choice) -> Result<Self, SubjectError> {
        let options = ImportOptions {
            images: phalanx::mesh::ImageMode::Skip,
            ..ImportOptions::default()
        };
        match file {
            Some(path) => {
                let (raw, _) = read_path(path, &options)?;
                let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
                let name = name.unwrap_or_else(|| raw.name.clone());
                Self::new(name, raw, choice)
            }
            None => {
                let (name, bytes) = MANNEQUIN[0];
                let (raw, _) = read_slice(bytes, name, None, &options)?;
                Self::new(BUILT_IN.into(), raw, choice)
            }
        }
    }

    /// Builds the rig and chooses the clips. By default walk, jog and run where the model has them, else
    /// its first clips; additive becomes `atlas` or `wave`, else the clip after those, else the last.
    pub fn new(name: String, raw: RawScene, choice: &Choice) -> Result<Self, SubjectError> {
        let rig = build_rig(raw.clone(), &BuildOptions::default());
        let rig = rig.map_err(|source| SubjectError::Build {
            file: name.clone(),
            source,
        })?;
        Self::of_rig(name, raw, rig, choice)
    }

    /// Chooses the clips of a rig that was built before.
    pub fn of_rig(
        name: String,
        raw: RawScene,
        rig: Rig,
        choice: &Choice,
    ) -> Result<Self, SubjectError> {
        let (clips, additive) = choose_clips(&name, &rig, choice)?;
        let first = PoseAction {
            clip: additive,
            time: 0.0,
            weight: 1.0,
        };
        let first = evaluate_pose(&rig, &[first]).map_err(|source| SubjectError::Pose {
            file: name.clone(),
            source,
        })?;
        // Raw data that come from a rig have no scalars: its own clip has all.
        let difference = match raw.meshes.is_empty() {
            true => build_additive_of(&rig, additive, &first.pose),
            false => build_additive(&raw, additive, &rig, &first.pose),
        };
        let difference = difference.map_err(|source| SubjectError::Build {
            file: name.clone(),
            source,
        })?;
        let joint = choose_mask(&name, &rig, choice.mask.as_deref())?;
        let mask = joint.map(|joint| JointMask::subtree(rig.skeleton(), joint));
        let mask = mask.transpose().map_err(|source| SubjectError::Mask {
            file: name.clone(),
            source,
        })?;
        let of_joint = |joint| {
            let mut nodes = rig.nodes().iter();
            nodes.position(|n| n.joint.map(usize::from) == Some(joint))
        };
        Ok(Self {
            mask_node: joint.and_then(of_joint),
            clips: WorkloadClips {
                clips,
                additive: Some(Arc::new(difference)),
                mask,
            },
            name,
            raw,
            rig: Arc::new(rig),
            additive,
        })
    }

    /// The three clips' names.
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

/// Three clips, and the one that becomes additive.
fn choose_clips(
    file: &str,
    rig: &Rig,
    choice: &Choice,
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
    let mut chosen = choice
        .clips
        .iter()
        .map(find)
        .collect::<Result<Vec<usize>, _>>()?;
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
    let additive = match &choice.additive {
        Some(wanted) => find(wanted)?,
        None => ADDITIVE
            .into_iter()
            .find_map(named)
            .or_else(|| (0..clips.len()).find(|c| !chosen.contains(c)))
            .unwrap_or(last),
    };
    Ok((std::array::from_fn(|k| chosen[k % chosen.len()]), additive))
}

/// Clips that an error lists before it says how many more there are.
const LISTED_CLIPS: usize = 40;

fn clip_list(rig: &Rig) -> String {
    let listed = rig.clips().iter().enumerate().take(LISTED_CLIPS);
    let names: Vec<String> = listed
        .map(|(i, c)| format!("{i} \"{}\"", c.name()))
        .collect();
    match rig.clips().len().saturating_sub(LISTED_CLIPS) {
        0 => names.join(", "),
        n => format!("{} and {n} more", names.join(", ")),
    }
}

/// The joint at which the mask begins.
fn choose_mask(file: &str, rig: &Rig, wanted: Option<&str>) -> Result<Option<usize>, SubjectError> {
    let skeleton = rig.skeleton();
    if let Some(wanted) = wanted {
        let found = skeleton.find(wanted);
        return found.map(Some).ok_or_else(|| SubjectError::UnknownJoint {
            file: file.into(),
            wanted: wanted.into(),
            joints: skeleton.len(),
        });
    }
    let names: Vec<String> = skeleton.names().iter().map(|n| n.to_lowercase()).collect();
    Ok(MASK
        .iter()
        .find_map(|part| names.iter().position(|n| n.contains(part))))
}
