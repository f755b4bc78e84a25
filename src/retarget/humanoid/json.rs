//! The JSON of a map: an object with a member per bone, its joint by name, path or index, or `null` for none.

use super::map::{HumanoidMap, MapOrigin};
use crate::retarget::error::RetargetError;
use crate::skeleton::{HumanBone, JointRef, Skeleton};
use crate::words::without_place;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;

/// A joint as a map's file names it.
enum Named {
    Path(String),
    Index(usize),
    /// `null`: the bone is missing.
    Missing,
}

// An untagged derive would lose the line of an error and the value found.
impl<'de> serde::Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Named;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a joint's name, path or index, or null")
            }
            fn visit_str<E>(self, v: &str) -> Result<Named, E> {
                Ok(Named::Path(v.to_owned()))
            }
            fn visit_u64<E>(self, v: u64) -> Result<Named, E> {
                Ok(Named::Index(usize::try_from(v).unwrap_or(usize::MAX)))
            }
            fn visit_unit<E>(self) -> Result<Named, E> {
                Ok(Named::Missing)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

/// The members in the order of the file; names that occur twice are kept.
struct Members(Vec<(String, Named)>);

impl<'de> serde::Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of bones and joints")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl HumanoidMap {
    /// Limit on the text of a map, bytes: 1 MiB. 55 bones with paths of a thousand characters each fit.
    pub const MAX_JSON_BYTES: usize = 1 << 20;

    /// Reads a map from JSON: `{ "hips": "Hips", "leftUpperLeg": "Hips/LeftUpLeg", "head": 7, … }`. Joints are
    /// given as to [`Skeleton::joint`]; a bone whose joint is `null` is missing. A byte-order mark is skipped.
    ///
    /// # Errors
    /// If the text is not such an object or longer than [`HumanoidMap::MAX_JSON_BYTES`], or [`HumanoidMap::new`] refuses the
    /// map.
    pub fn from_json(text: &str, skeleton: &Skeleton) -> Result<Self, RetargetError> {
        let (have, limit) = (text.len(), Self::MAX_JSON_BYTES);
        if have > limit {
            return Err(RetargetError::MapTooLong { have, limit });
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let members: Members = serde_json::from_str(text).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            RetargetError::MapJson { line, column, message: without_place(&error) }
        })?;
        let mut pairs = Vec::new();
        for (name, named) in &members.0 {
            let name = name.as_str();
            let bone = HumanBone::named(name).ok_or_else(|| RetargetError::UnknownBone {
                name: name.chars().take(100).collect(),
            })?;
            let joint = match named {
                Named::Path(path) => JointRef::Name(path),
                Named::Index(index) => JointRef::Index(*index),
                Named::Missing => continue,
            };
            let joint = skeleton.joint(joint);
            let joint = joint.map_err(|source| RetargetError::BoneJoint { bone, source })?;
            pairs.push((bone, joint));
        }
        Self::new(skeleton, &pairs, MapOrigin::Given)
    }

    /// Writes the map in the form that [`HumanoidMap::from_json`] reads: one bone a line, joints by name if it is unique,
    /// else by path, else by index; `null` for the bones that VRM 1.0 requires and that are missing.
    pub fn to_json(&self, skeleton: &Skeleton) -> String {
        let joint = |joint: usize| {
            let own = |text: &str| skeleton.joint(text) == Ok(joint);
            let name = skeleton.names().get(joint).cloned().unwrap_or_default();
            [name, skeleton.path(joint)]
                .into_iter()
                .find(|text| own(text))
                .map_or_else(|| joint.into(), serde_json::Value::from)
        };
        let line = |bone: HumanBone| match self.joint(bone) {
            Some(at) => Some(format!("  \"{bone}\": {}", joint(at))),
            None => bone.required().then(|| format!("  \"{bone}\": null")),
        };
        let lines: Vec<String> = HumanBone::all().filter_map(line).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}
