//! [`ImportArgs`]: how a command imports files.

use super::error::CliError;
use super::model::Model;
use super::output;
use super::unit;
use clap::Args;
use phalanx::import::bvh::{METRES, is_bvh_file};
use phalanx::import::gltf::{GltfError, GltfErrorKind};
use phalanx::import::{ImportError, ImportOptions};
use std::path::Path;

/// Options of all commands that read models. A .phx file is read as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Args)]
pub struct ImportArgs {
    /// Read glTF files that require extensions which are not supported, without what these change; `info` lists it
    #[arg(long)]
    pub lenient: bool,
    /// Cut clips of glTF files that begin late, so that their first key is at 0 s
    #[arg(long)]
    pub trim: bool,
    /// Unit of .bvh files: m, cm, or metres as a number; m is the default
    #[arg(long, value_name = "UNIT", allow_hyphen_values = true, value_parser = unit::parse)]
    pub unit: Option<f64>,
}

impl ImportArgs {
    /// The options of an import; the others are the defaults.
    pub fn options(self) -> ImportOptions {
        ImportOptions {
            lenient: self.lenient,
            trim: self.trim,
            unit: self.unit.unwrap_or(METRES),
            ..ImportOptions::default()
        }
    }

    /// The options for a model beside the first: none of a .phx file, for which [`Model::load`] would say that they do
    /// nothing.
    pub fn of_other(self, path: &Path) -> Self {
        match Model::is_phx(path) {
            true => Self::default(),
            false => self,
        }
    }

    /// Prints a warning if a unit is given and none of the files that a command reads is a .bvh file, or if options for
    /// glTF files are given and all are .bvh files. Of .phx files [`Model::load`] says it.
    pub fn check_files<'a>(self, files: impl IntoIterator<Item = &'a Path>) {
        let files: Vec<&Path> = files.into_iter().collect();
        let bvh = files.iter().filter(|file| is_bvh_file(file)).count();
        if self.unit.is_some() && bvh == 0 {
            output::tell("warning: --unit has no effect: no .bvh file is read");
        }
        let others = files.iter().any(|f| !is_bvh_file(f) && !Model::is_phx(f));
        if let Some(given) = self.given().filter(|_| bvh > 0 && !others) {
            output::tell(&format!("warning: {given} no effect: no glTF file is read"));
        }
    }

    /// The options that are given, and `has` or `have`, for a warning that they do nothing; `None` without any.
    pub fn given(self) -> Option<&'static str> {
        match (self.lenient, self.trim) {
            (false, false) => None,
            (true, false) => Some("--lenient has"),
            (false, true) => Some("--trim has"),
            (true, true) => Some("--lenient and --trim have"),
        }
    }
}

/// The error of an import; of one that `--lenient` would not have, with that option.
pub fn offer_lenient(error: ImportError) -> CliError {
    match error {
        ImportError::Gltf(GltfError {
            kind: GltfErrorKind::Extension { .. },
            ..
        }) => CliError::Extension(error),
        error => error.into(),
    }
}
