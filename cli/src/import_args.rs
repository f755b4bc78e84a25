//! [`ImportArgs`]: how a command imports files.

use super::error::CliError;
use super::unit;
use clap::Args;
use phalanx::import::bvh::METRES;
use phalanx::import::gltf::{GltfError, GltfErrorKind};
use phalanx::import::{ImportError, ImportOptions};

/// Options of all commands that read models. A .phx file is read as it is.
#[derive(Clone, Copy, Debug, PartialEq, Args)]
pub struct ImportArgs {
    /// Read glTF files that require extensions which are not supported, without what these change; `info` lists it
    #[arg(long)]
    pub lenient: bool,
    /// Cut clips of glTF files that begin late, so that their first key is at 0 s
    #[arg(long)]
    pub trim: bool,
    /// Unit of .bvh files: m, cm, or metres as a number
    #[arg(long, value_name = "UNIT", value_parser = unit::parse, default_value = "m")]
    pub unit: f64,
}

impl Default for ImportArgs {
    fn default() -> Self {
        Self {
            lenient: false,
            trim: false,
            unit: METRES,
        }
    }
}

impl ImportArgs {
    /// The options of an import; the others are the defaults.
    pub fn options(self) -> ImportOptions {
        ImportOptions {
            lenient: self.lenient,
            trim: self.trim,
            unit: self.unit,
            ..ImportOptions::default()
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
