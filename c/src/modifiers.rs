//! What happens between a character's clips and its palette: modifiers, overrides, poses, hooks, watched joints.

mod arrays;
mod definitions;
mod inputs;
mod pose;
mod springs;
#[cfg(test)]
mod tests;
mod watch;

pub use arrays::*;
pub use definitions::*;
pub use inputs::*;
pub use pose::*;
pub use springs::*;
pub use watch::*;

use phalanx::glam::Vec3;
use std::cell::Cell;
use std::thread::LocalKey;

/// Lends an empty vector of this thread, which keeps its memory, so that a call in every frame allocates once.
fn scratch<T, R>(key: &'static LocalKey<Cell<Vec<T>>>, run: impl FnOnce(&mut Vec<T>) -> R) -> R {
    crate::border::scratch(key, |values| {
        values.clear();
        run(values)
    })
}

/// A direction for which (0, 0, 0) stands for the default.
fn direction(v: [f32; 3]) -> Option<Vec3> {
    (v != [0.0; 3]).then(|| Vec3::from_array(v))
}
