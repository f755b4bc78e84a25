//! `Quality`: errors and shells of single joints, as a JSON file gives them.

use super::super::bounded;
use super::super::error::CliError;
use super::BakeFault;
use phalanx::bake::JointQuality;
use phalanx::skeleton::Skeleton;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

/// The largest file: 65,535 joints with long paths.
const MAX_BYTES: u64 = 64 << 20;

/// Settings by the name or the path of a joint.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Quality(BTreeMap<String, OfJoint>);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfJoint {
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "metres"
    )]
    max_error: Option<f32>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "metres"
    )]
    shell: Option<f32>,
}

/// A length as `--max-error` and `--shell` take it.
fn metres<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f32>, D::Error> {
    let value = Option::<f32>::deserialize(from)?;
    match value.filter(|&v| !super::is_length(v)) {
        None => Ok(value),
        Some(v) => Err(D::Error::custom(format_args!(
            "{v} where metres above 0 are expected, {} at most",
            super::MAX_METRES
        ))),
    }
}

impl<'de> Deserialize<'de> for Quality {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Joints)
    }
}

/// Reads joints, none of them twice: a map would take the last one without a word.
struct Joints;

impl<'de> Visitor<'de> for Joints {
    type Value = Quality;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of joints")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Quality, A::Error> {
        let mut all = BTreeMap::new();
        while let Some(name) = from.next_key::<String>()? {
            let of = from.next_value()?;
            if all.contains_key(&name) {
                return Err(A::Error::custom(format_args!(
                    "joint {name:?} stands there twice"
                )));
            }
            all.insert(name, of);
        }
        Ok(Quality(all))
    }
}

impl Quality {
    /// Reads `{"Head": {"max_error": 0.00005, "shell": 0.1}, …}`.
    pub fn load(path: &Path) -> Result<Self, CliError> {
        let file = path.display().to_string();
        let text = bounded::read(path, MAX_BYTES).and_then(|text| {
            let long = || io::Error::other(format!("more than {MAX_BYTES} bytes of settings"));
            text.ok_or_else(long)
        });
        let text = text.map_err(|source| BakeFault::Read {
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
        let mut known: BTreeMap<usize, &String> = BTreeMap::new();
        let mut joints = Vec::with_capacity(self.0.len());
        for (name, of) in &self.0 {
            let joint = skeleton.joint(name).map_err(|source| BakeFault::Joint {
                file: file.to_owned(),
                source,
            })?;
            if let Some(other) = known.insert(joint, name) {
                return Err(BakeFault::JointTwice {
                    file: file.to_owned(),
                    name: name.clone(),
                    other: other.clone(),
                });
            }
            joints.push(JointQuality {
                joint: joint as u16,
                max_error: of.max_error,
                shell: of.shell,
            });
        }
        Ok(joints)
    }
}
