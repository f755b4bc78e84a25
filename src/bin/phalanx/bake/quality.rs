//! `Quality`: errors and shells of single joints, as a JSON file gives them.

use super::super::error::CliError;
use super::BakeFault;
use phalanx::offline::JointQuality;
use phalanx::skeleton::Skeleton;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Settings by the name or the path of a joint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Quality(BTreeMap<String, OfJoint>);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfJoint {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_error: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shell: Option<f32>,
}

impl Quality {
    /// Reads `{"Head": {"max_error": 0.00005, "shell": 0.1}, …}`.
    pub fn load(path: &Path) -> Result<Self, CliError> {
        let file = path.display().to_string();
        let text = std::fs::read(path).map_err(|source| BakeFault::Read {
            file: file.clone(),
            source,
        })?;
        let read = serde_json::from_slice(&text);
        Ok(read.map_err(|source| BakeFault::Quality { file, source })?)
    }

    /// From the text that [`Quality::text`] made.
    pub fn of_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// As one line.
    pub fn text(&self) -> String {
        // Names and numbers: there is nothing that JSON cannot hold.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// For the joints of a skeleton; a name that it lacks is an error, or a slip would go unnoticed.
    pub fn joints(&self, skeleton: &Skeleton, file: &str) -> Result<Vec<JointQuality>, BakeFault> {
        let joint = |(name, of): (&String, &OfJoint)| {
            let joint = skeleton.joint(name).map_err(|source| BakeFault::Joint {
                file: file.to_owned(),
                source,
            })?;
            Ok(JointQuality {
                joint: joint as u16,
                max_error: of.max_error,
                shell: of.shell,
            })
        };
        self.0.iter().map(joint).collect()
    }
}
