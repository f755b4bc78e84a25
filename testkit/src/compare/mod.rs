//! Comparison of evaluated poses with golden files and with each other, at stated tolerances. It uses the
//! oracle's types and is independent of the library.

mod golden;
mod tally;

pub use golden::{check, golden_names, structure};
pub use tally::{Category, Tallies, Tally, Tolerance, readme_tolerance};

use crate::oracle::{Evaluated, Layer, LoopMode, Scene};

/// An evaluator of one file's poses: the library through an adapter, or the oracle.
pub trait Subject {
    /// The rest pose.
    fn rest(&self) -> Result<Evaluated, String>;

    /// One clip, by its index in the file, at `t` seconds, with the vertices of all mesh nodes.
    fn clip(&self, clip: usize, t: f64, mode: LoopMode) -> Result<Evaluated, String>;

    /// True if the subject gives local transforms; otherwise they are not compared.
    fn has_locals(&self) -> bool {
        true
    }

    /// Layers on top of the rest pose.
    fn mix(&self, layers: &[Layer]) -> Result<Evaluated, String>;
}

/// Compares everything in `expected`; local transforms only if the subject has them.
pub fn whole(
    place: &str,
    subject: &impl Subject,
    expected: &Evaluated,
    actual: &Evaluated,
    tally: &mut Tally,
) {
    for (n, local) in expected.local.iter().enumerate() {
        if let (Some(local), true) = (local, subject.has_locals()) {
            let actual = actual.local.get(n).copied().flatten();
            let actual = actual.as_ref().map_or(&[][..], |l| &l[..]);
            tally.local(&format!("{place}: node {n}"), local, actual);
        }
    }
    for (n, world) in expected.world.iter().enumerate() {
        if let Some(world) = world {
            let actual = actual.world.get(n).copied().flatten();
            let actual = actual.as_ref().map_or(&[][..], |w| &w[..]);
            let place = format!("{place}: world of node {n}");
            tally.array(Category::World, &place, world, actual);
        }
    }
    for (s, palette) in expected.palettes.iter().enumerate() {
        let actual = actual.palettes.get(s).map_or(&[][..], Vec::as_slice);
        let place = format!("{place}: palette of skin {s}");
        let (palette, actual) = (palette.as_flattened(), actual.as_flattened());
        tally.array(Category::Palette, &place, palette, actual);
    }
    for (node, weights) in &expected.morph {
        let actual = actual.morph.get(node).map_or(&[][..], Vec::as_slice);
        let place = format!("{place}: weights of node {node}");
        tally.array(Category::Morph, &place, weights, actual);
    }
    for (at, positions) in &expected.positions {
        let actual = actual.positions.get(at).map_or(&[][..], Vec::as_slice);
        let place = format!("{place}: primitive {} of node {}", at.1, at.0);
        let (positions, actual) = (positions.as_flattened(), actual.as_flattened());
        tally.array(Category::Position, &place, positions, actual);
    }
}

impl Subject for Scene {
    fn rest(&self) -> Result<Evaluated, String> {
        Ok(self.evaluate(&Scene::rest(self)))
    }

    fn clip(&self, clip: usize, t: f64, mode: LoopMode) -> Result<Evaluated, String> {
        let played = self.clips.get(clip).ok_or(format!("no clip {clip}"))?;
        Ok(self.evaluate(&self.pose(clip, mode.apply(t, played.duration))))
    }

    fn mix(&self, layers: &[Layer]) -> Result<Evaluated, String> {
        Ok(self.evaluate(&Scene::mix(self, layers)))
    }
}
