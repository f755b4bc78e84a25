//! Faults of glTF files on their way to the caller, and the names of places.

pub(super) use crate::import::ImportFault;
pub(super) use crate::import::error::{Fault, Lead};
pub(super) use crate::import::fault::{count, index, invalid};
pub(super) use crate::words::shorten;

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
