//! [`ImportArgs`]: how a command imports glTF files.

use super::error::CliError;
use clap::Args;
use phalanx::import::gltf::{GltfError, GltfErrorKind};
use phalanx::import::{ImportError, ImportOptions};

/// Options of all commands that read glTF files. Files of other kinds are read as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Args)]
pub struct ImportArgs {
    /// Read glTF files that require extensions which are not supported, without what these change; `info` lists it
    #[arg(long)]
    pub lenient: bool,
    /// Cut clips of glTF files that begin late, so that their first key is at 0 s
    #[arg(long)]
    pub trim: bool,
}

impl ImportArgs {
    /// The options of an import; the others are the defaults.
    pub fn options(self) -> ImportOptions {
        ImportOptions {
            lenient: self.lenient,
            trim: self.trim,
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
