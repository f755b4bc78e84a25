//! A humanoid of a file: its model and its map.

use super::super::actions::seconds;
use super::super::bake::Input;
use super::super::error::CliError;
use super::super::findings::FileReport;
use super::super::import_args::ImportArgs;
use super::super::model::Model;
use super::map_file::{MapFile, refused};
use phalanx::import::UpAxis;
use phalanx::retarget::{HumanoidMap, Reference};
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

/// A model with its humanoid.
pub struct Character {
    pub model: Model,
    pub map: HumanoidMap,
}

impl Character {
    /// Loads a model, and its map: from a file, else as the model states or its names tell.
    pub fn new(path: &Path, map: Option<&MapFile>, import: ImportArgs) -> Result<Self, CliError> {
        Self::of_model(Model::load(Some(path), false, import)?, map)
    }

    /// Loads a model whose meshes and images are written again, as `bake` reads them.
    pub fn to_write(
        path: &Path,
        map: Option<&MapFile>,
        import: ImportArgs,
    ) -> Result<Self, CliError> {
        if Model::is_phx(path) {
            return Self::of_model(Model::load(Some(path), true, ImportArgs::default())?, map);
        }
        let mut model = Model::load(Some(path), false, import)?;
        let input = Input::new(path.to_owned());
        let (raw, mut report) = input.reported(UpAxis::Y, import)?;
        model.rig = Arc::new(input.rig_reporting(raw, import, None, &mut report)?);
        model.report = report;
        Self::of_model(model, map)
    }

    fn of_model(model: Model, map: Option<&MapFile>) -> Result<Self, CliError> {
        let map = match map {
            Some(map) => map.of(model.rig.skeleton())?,
            None => HumanoidMap::of_rig(&model.rig).map_err(|e| refused(model.file.clone(), e))?,
        };
        Ok(Self { model, map })
    }

    /// The import's report.
    pub fn import(&self) -> FileReport {
        FileReport::new(&self.model.file, &self.model.report)
    }

    /// The pose of a clip at a time, or the rest pose.
    pub fn reference(&self, pose: Option<&Pose>) -> Result<Reference, CliError> {
        let Some(pose) = pose else {
            return Ok(Reference::Rest);
        };
        let clip = self.model.find_clip(&pose.clip)?;
        let (rig, time) = (&self.model.rig, pose.time as f32);
        Reference::of_clip(&rig.clips()[clip], rig.skeleton(), time).map_err(|source| {
            CliError::Retarget {
                file: self.model.file.clone(),
                source: Box::new(source),
            }
        })
    }
}

/// An argument in the form `CLIP:TIME`; the last colon separates.
#[derive(Clone, Debug, PartialEq)]
pub struct Pose {
    clip: String,
    time: f64,
}

impl fmt::Display for Pose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.clip, self.time)
    }
}

impl FromStr for Pose {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.rsplit_once(':') {
            Some((clip, time)) if !clip.is_empty() => Ok(Self {
                clip: clip.to_owned(),
                time: seconds(time)?,
            }),
            _ => Err("expected CLIP:TIME, of which the last colon separates".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_are_split_from_the_right() {
        let pose: Pose = "a:b:1.5".parse().unwrap();
        assert_eq!((pose.clip.as_str(), pose.time), ("a:b", 1.5));
        for bad in ["", "Walk", ":1", "Walk:", "Walk:x", "Walk:nan"] {
            assert!(bad.parse::<Pose>().is_err(), "{bad}");
        }
    }
}
