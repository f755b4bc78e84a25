//! Faults of glTF files on their way to the caller, and the names of places.

use crate::import::ImportError;
pub(super) use crate::import::ImportFault;
use crate::import::error::Lead;
pub(super) use crate::words::shorten;

/// An error on its way to the caller: each level prepends its place.
#[derive(Debug)]
pub(super) struct Fault {
    place: String,
    kind: ImportFault,
}

impl From<ImportFault> for Fault {
    fn from(kind: ImportFault) -> Self {
        let place = String::new();
        Fault { place, kind }
    }
}

impl Fault {
    /// The public error.
    pub fn in_file(self, file: &str) -> ImportError {
        ImportError::Gltf { file: file.to_owned(), place: self.place, kind: self.kind }
    }

    /// The place and the problem.
    pub fn text(&self) -> String {
        format!("{}{}", Lead(&self.place), self.kind)
    }

    /// Whether key times are what is wrong.
    pub fn is_of_times(&self) -> bool {
        let kind = &self.kind;
        matches!(kind, ImportFault::TimeOrder { .. } | ImportFault::NotFinite { what: "time", .. })
    }

    /// The problem.
    pub fn kind(&self) -> &ImportFault {
        &self.kind
    }
}

/// Adds a place to an error.
pub(super) trait Within<T> {
    /// Prepends `place` to the error's place.
    fn within(self, place: impl FnOnce() -> String) -> Result<T, Fault>;
}

impl<T, E: Into<Fault>> Within<T> for Result<T, E> {
    fn within(self, place: impl FnOnce() -> String) -> Result<T, Fault> {
        self.map_err(|error| {
            let mut fault: Fault = error.into();
            let outer = place();
            fault.place = match fault.place.is_empty() {
                true => outer,
                false => format!("{outer}, {}", fault.place),
            };
            fault
        })
    }
}

/// `node 3 "Hips"`, or `node 3` without a name.
pub(super) fn label(kind: &str, index: usize, name: Option<&str>) -> String {
    match name {
        Some(name) => format!("{kind} {index} {:?}", shorten(name)),
        None => format!("{kind} {index}"),
    }
}
