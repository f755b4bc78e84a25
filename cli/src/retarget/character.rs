//! A humanoid of a file: its model and its map.

use super::super::actions::seconds;
use super::super::bake::Input;
use super::super::error::CliError;
use super::super::findings::FileReport;
use super::super::import_args::ImportArgs;
use super::super::model::Model;
use super::map_file::MapFile;
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
            None => HumanoidMap::of_rig(&model.rig)
                .map_err(|e| CliError::retarget(model.file.clone(), e))?,
        };
        Ok(Self { model, map })
    }

    /// The import's report.
    pub fn import(&self) -> FileReport {
        FileReport::new(&self.model.file, &self.model.report)
    }

    /// The pose that is asked for, else the one that is found. `side`: `source` or `target`.
    pub fn reference(&self, pose: Option<&Pose>, side: &'static str) -> Result<Chosen, CliError> {
        let rig = &self.model.rig;
        let given = |reference| Chosen {
            reference,
            name: pose.map_or_else(String::new, Pose::to_string),
            given: true,
            bind_angle: 0.0,
        };
        let chosen = match pose {
            None => Reference::find(rig, &self.map, side).map(|(reference, bind_angle)| Chosen {
                name: match &reference {
                    Reference::Bind(_) => "bind".to_owned(),
                    Reference::Frame { clip, time, .. } => format!("{clip}:{time}"),
                    Reference::Rest | Reference::Pose(_) => "rest".to_owned(),
                },
                reference,
                given: false,
                bind_angle,
            }),
            Some(Pose::Rest) => {
                let skeleton = rig.skeleton();
                let rest = (0..skeleton.len()).map(|joint| skeleton.rest(joint));
                Ok(given(Reference::Pose(rest.collect())))
            }
            Some(Pose::Bind) => Reference::bind(rig, &self.map).map(given),
            Some(Pose::Clip { clip, time }) => {
                let clip = &rig.clips()[self.model.find_clip(clip)?];
                Reference::of_clip(clip, rig.skeleton(), *time as f32).map(given)
            }
        };
        chosen.map_err(|source| CliError::retarget(self.model.file.clone(), source))
    }
}

/// A reference pose.
pub struct Chosen {
    pub reference: Reference,
    /// The name of the pose in the option.
    pub name: String,
    /// Whether it was asked for.
    pub given: bool,
    /// The largest angle of a bone between the rest pose and a bind pose that was not chosen, radians.
    pub bind_angle: f64,
}

/// An argument in the form `CLIP:TIME`, of which the last colon separates, `rest` or `bind`.
#[derive(Clone, Debug, PartialEq)]
pub enum Pose {
    Rest,
    Bind,
    Clip { clip: String, time: f64 },
}

impl fmt::Display for Pose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rest => f.write_str("rest"),
            Self::Bind => f.write_str("bind"),
            Self::Clip { clip, time } => write!(f, "{clip}:{time}"),
        }
    }
}

impl FromStr for Pose {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.rsplit_once(':')) {
            ("rest", _) => Ok(Self::Rest),
            ("bind", _) => Ok(Self::Bind),
            (_, Some((clip, time))) if !clip.is_empty() => {
                Ok(Self::Clip { clip: clip.to_owned(), time: seconds(time)? })
            }
            _ => Err("expected CLIP:TIME, of which the last colon separates, rest or bind".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poses_are_split_from_the_right() {
        let (clip, time) = ("a:b".to_owned(), 1.5);
        assert_eq!("a:b:1.5".parse(), Ok(Pose::Clip { clip, time }));
        assert_eq!("bind".parse(), Ok(Pose::Bind));
        for bad in ["", "Walk", ":1", "Walk:", "Walk:x", "Walk:nan"] {
            assert!(bad.parse::<Pose>().is_err(), "{bad}");
        }
    }
}
