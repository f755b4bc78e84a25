//! Humanoid maps as files: read, and printed for editing.

use super::super::bounded;
use super::super::error::CliError;
use super::super::model::Model;
use super::super::output;
use phalanx::retarget::{HumanoidMap, MapOrigin, RetargetError};
use phalanx::skeleton::Skeleton;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::io;
use std::path::Path;

/// The text of a map. It is read once, since it may come from a pipe.
pub struct MapFile {
    file: String,
    text: String,
}

impl MapFile {
    /// Reads a file of at most [`HumanoidMap::MAX_JSON_BYTES`].
    pub fn read(path: &Path) -> Result<Self, CliError> {
        let file = path.display().to_string();
        let limit = HumanoidMap::MAX_JSON_BYTES;
        let fault = |source| CliError::ReadText { file: file.clone(), source };
        let Some(bytes) = bounded::read(path, limit as u64).map_err(fault)? else {
            return Err(match std::fs::metadata(path) {
                Ok(there) if there.is_file() => {
                    let have = usize::try_from(there.len()).unwrap_or(usize::MAX);
                    CliError::retarget(file, RetargetError::MapTooLong { have, limit })
                }
                _ => fault(io::Error::other(format!(
                    "it is longer than {limit} bytes, the limit of a map"
                ))),
            });
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            // Some shells write their output so.
            let wide = [[0xff, 0xfe], [0xfe, 0xff]];
            let wide = wide.iter().any(|mark| error.as_bytes().starts_with(mark));
            fault(io::Error::other(match wide {
                true => "it is UTF-16 text; save it as UTF-8",
                false => "it is not UTF-8 text",
            }))
        })?;
        Ok(Self { file, text })
    }

    /// The map on a skeleton.
    pub fn of(&self, skeleton: &Skeleton) -> Result<HumanoidMap, CliError> {
        let map = HumanoidMap::from_json(&self.text, skeleton);
        map.map_err(|source| CliError::retarget(self.file.clone(), source))
    }
}

/// Prints the map of a model, or what is known of it; names what is missing on standard error.
pub fn print(model: &Model, map: Option<&MapFile>) -> Result<(), CliError> {
    let skeleton = model.rig.skeleton();
    let (draft, fault) = match map {
        Some(map) => (map.of(skeleton)?, None),
        None => match HumanoidMap::of_rig(&model.rig) {
            Ok(map) => (map, None),
            Err(fault) => (HumanoidMap::draft(&model.rig), Some(fault)),
        },
    };
    output::print_json(&Members::new(&draft, skeleton), true)?;
    let lacking: Vec<&str> = draft.lacking().map(|bone| bone.name()).collect();
    let lacking = match lacking.is_empty() {
        true => None,
        false => Some(format!("missing bones are null: {}", lacking.join(", "))),
    };
    let fault = fault.map(|fault| match fault {
        // What it lacks follows.
        RetargetError::NoHumanoid { .. } => {
            "no humanoid is known by the names or the shape of these joints".to_owned()
        }
        fault => format!("{fault} (--map would refuse this map as it is)"),
    });
    let shape = match draft.origin() {
        MapOrigin::Shape(_) => Some(format!("found by {}; check left and right", draft.origin())),
        _ => None,
    };
    let parts = [fault, shape, lacking];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if !parts.is_empty() {
        output::tell(&format!("{}: {}", model.file, parts.join("; ")));
    }
    Ok(())
}

/// The members of a map's object, in the order of the bones.
struct Members(Vec<(&'static str, Value)>);

impl Members {
    fn new(draft: &HumanoidMap, skeleton: &Skeleton) -> Self {
        let joints: Value = serde_json::from_str(&draft.to_json(skeleton)).unwrap_or_default();
        let mut bones: Vec<_> = draft.bones().map(|b| b.0).chain(draft.lacking()).collect();
        bones.sort();
        let names = bones.into_iter().map(|bone| bone.name());
        Self(names.map(|name| (name, joints[name].clone())).collect())
    }
}

impl Serialize for Members {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(bone, joint)| (bone, joint)))
    }
}
