//! [`Quality`]: errors and shells of single joints, read from a JSON file.

use super::super::bounded;
use super::super::error::CliError;
use super::super::model::near_joints;
use super::super::object::Object;
use super::{BakeFault, Length};
use phalanx::bake::BakeOptions;
use phalanx::skeleton::{LookupError, Skeleton};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

/// Largest file accepted, in bytes: enough for 65,535 joints with long paths.
const MAX_BYTES: u64 = 64 << 20;

/// Settings keyed by joint name or path.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Quality(BTreeMap<String, OfJoint>);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OfJoint {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_error: Option<Length>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shell: Option<Length>,
}

impl<'de> Deserialize<'de> for Quality {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(Joints)
    }
}

/// Reads joints and rejects duplicates, of which a map would silently keep the last.
struct Joints;

impl<'de> Visitor<'de> for Joints {
    type Value = Quality;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with one entry per joint")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Quality, A::Error> {
        let mut all = BTreeMap::new();
        while let Some(name) = from.next_key::<String>()? {
            let Object(of) = from.next_value()?;
            if all.contains_key(&name) {
                return Err(A::Error::custom(format_args!("joint \"{name}\" is given twice")));
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
            let long = || io::Error::other(format!("larger than {MAX_BYTES} bytes"));
            text.ok_or_else(long)
        });
        let text = text.map_err(|source| BakeFault::Read { file: file.clone(), source })?;
        let read = serde_json::from_slice(&text);
        Ok(read.map_err(|source| BakeFault::Quality { file, source })?)
    }

    /// Parses the text written by [`Quality::text`].
    pub fn of_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The settings as one line of JSON.
    pub fn text(&self) -> String {
        // Strings and numbers always serialize.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the settings to the settings of a skeleton. An unknown joint is an error, so that a typo is noticed.
    pub fn add_to(
        &self,
        options: &mut BakeOptions,
        skeleton: &Skeleton,
        file: &str,
    ) -> Result<(), BakeFault> {
        let mut known: BTreeMap<u16, &String> = BTreeMap::new();
        for (name, of) in &self.0 {
            let joint = skeleton.joint_of_text(name);
            let joint = joint.map_err(|source| BakeFault::Joint {
                file: file.to_owned(),
                near: match &source {
                    LookupError::NoJoint { near, .. } if near.is_empty() => {
                        format!("; {}", near_joints(skeleton, name))
                    }
                    _ => String::new(),
                },
                source: Box::new(source),
            })?;
            // A skeleton has at most 65,535 joints.
            let joint = joint as u16;
            if let Some(other) = known.insert(joint, name) {
                return Err(BakeFault::JointTwice {
                    file: file.to_owned(),
                    name: name.clone(),
                    other: other.clone(),
                });
            }
            if let Some(length) = of.max_error {
                options.joint_errors.push((joint, length.metres(skeleton, file)?));
            }
            if let Some(length) = of.shell {
                options.joint_shells.push((joint, length.metres(skeleton, file)?));
            }
        }
        Ok(())
    }
}
