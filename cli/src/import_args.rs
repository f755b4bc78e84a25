//! [`ImportArgs`]: how a command imports files.

use super::error::CliError;
use super::model::Model;
use super::output;
use super::unit;
use clap::Args;
use phalanx::import::bvh::is_bvh_file;
use phalanx::import::{ImportError, ImportFault, ImportOptions};
use std::path::Path;

/// What an import may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Args)]
pub struct AccessArgs {
    /// Read files that glTF files refer to by "../"; without it all must be in the folder of the file or below
    #[arg(long)]
    pub allow_parent_folders: bool,
    /// Memory that the import of a file may take, and the rows of its clips: bytes, or a number with K, M or G;
    /// default: 64 for each byte of the file and 64M, for rows 24 and 16M
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<u64>,
}

/// Options of all commands that read models. A .phx file is read as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Args)]
pub struct ImportArgs {
    /// Read glTF files that require extensions which are not supported, without what these change; `info` lists it
    #[arg(long)]
    pub lenient: bool,
    /// Cut clips of glTF files that begin late, so that their first key is at 0 s, and move those that begin before
    #[arg(long)]
    pub trim: bool,
    #[command(flatten)]
    pub access: AccessArgs,
    /// Unit of .bvh files: m, cm, or metres as a number; m is the default
    #[arg(long, value_name = "UNIT", allow_hyphen_values = true, value_parser = unit::parse)]
    pub unit: Option<f64>,
}

impl ImportArgs {
    /// The options of an import; the others are the defaults.
    pub fn options(self) -> ImportOptions {
        let defaults = ImportOptions::default();
        ImportOptions {
            lenient: self.lenient,
            trim: self.trim,
            parent_folders: self.access.allow_parent_folders,
            memory_limit: self.access.memory_limit,
            unit: self.unit.unwrap_or(defaults.unit),
            ..defaults
        }
    }

    /// The options for another model beside the first. A .phx file gets none, since [`Model::load`] warns of options
    /// without effect.
    pub fn of_other(self, path: &Path) -> Self {
        match Model::is_phx(path) {
            true => Self::default(),
            false => self,
        }
    }

    /// Prints a warning if a unit is given and none of the files that a command reads is a .bvh file, or if options for
    /// glTF files are given and all are .bvh files. [`Model::load`] warns of options for .phx files.
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

    /// The options for glTF files that are given, and `has` or `have`, for a warning that they do nothing; `None`
    /// without any.
    pub fn given(self) -> Option<String> {
        let all = [
            (self.lenient, "--lenient"),
            (self.trim, "--trim"),
            (self.access.allow_parent_folders, "--allow-parent-folders"),
        ];
        let given: Vec<&str> = all.iter().filter(|g| g.0).map(|g| g.1).collect();
        match &given[..] {
            [] => None,
            [one] => Some(format!("{one} has")),
            [others @ .., last] => Some(format!("{} and {last} have", others.join(", "))),
        }
    }
}

/// Bytes: a whole number, or one with K, M or G for its multiples of 1024.
fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = match text.as_bytes().last().map(u8::to_ascii_uppercase) {
        Some(b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M') => (&text[..text.len() - 1], 1 << 20),
        Some(b'G') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let number = number.parse::<u64>().ok().filter(|&n| n > 0);
    let bytes = number.and_then(|n| n.checked_mul(unit));
    bytes.ok_or_else(|| "expected a whole number of bytes above 0, or one with K, M or G".into())
}

/// The error of an import; of one that an option avoids, with that option.
pub fn advise(error: ImportError) -> CliError {
    let advice = match &error {
        ImportError::ClipBytes { .. } => RAISES,
        ImportError::Fault { fault, .. } => match fault {
            ImportFault::Extension { .. } => "--lenient reads the file without it",
            ImportFault::ParentFolder { .. } => "--allow-parent-folders follows it",
            ImportFault::Memory { .. } => RAISES,
            _ => return error.into(),
        },
        _ => return error.into(),
    };
    CliError::Advised { error: Box::new(error), advice }
}

const RAISES: &str = "--memory-limit SIZE raises the limit";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        let sizes = ["1", "3k", "2M", "4G"].map(|text| size(text).ok());
        assert_eq!(sizes, [Some(1), Some(3 << 10), Some(2 << 20), Some(4 << 30)]);
        for bad in ["", "0", "G", "-1", "1.5G", "1T", "99999999999G", "1 G", "1é"] {
            assert!(size(bad).is_err(), "{bad}");
        }
    }
}
