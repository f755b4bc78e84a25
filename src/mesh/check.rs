//! Checks of a primitive's streams.

use super::Primitive;
use crate::error::BuildError;
use crate::math::{all_within, within};
use crate::skeleton::MAX_LENGTH;
use crate::words::plural;

impl Primitive {
    /// Checks the lengths of all streams, the limits of positions, and the vertex indices.
    ///
    /// Optional streams must be empty or match the number of vertices. Positions and displacements must be
    /// within [`MAX_LENGTH`].
    ///
    /// # Errors
    /// With the first stream or index that fails.
    pub(crate) fn check(&self) -> Result<(), BuildError> {
        let vertices = self.positions.len();
        let influences = vertices.saturating_mul(self.influences.per_vertex);
        let (joints, weights) = (&self.influences.joints, &self.influences.weights);
        let exact = |stream: &str, have: usize, needed: usize| {
            if have == needed {
                return Ok(());
            }
            let have = plural(have as u64, "element");
            Err(BuildError::invalid(format!("{stream} holds {have}, expected {needed}")))
        };
        let optional = |stream, have, needed| match have {
            0 => Ok(()),
            have => exact(stream, have, needed),
        };
        optional("normals", self.normals.len(), vertices)?;
        optional("tangents", self.tangents.len(), vertices)?;
        optional("uvs", self.uvs.len(), vertices)?;
        optional("uvs1", self.uvs1.len(), vertices)?;
        optional("colors", self.colors.len(), vertices)?;
        optional("influences.joints", joints.len(), influences)?;
        // Joints and weights come in pairs.
        exact("influences.weights", weights.len(), joints.len())?;
        let lengths = |stream: &str, all: &[[f32; 3]]| {
            let values = all.as_flattened();
            if all_within(values, MAX_LENGTH) {
                return Ok(());
            }
            let bad = values.iter().position(|&v| !within(v, MAX_LENGTH));
            let at = bad.unwrap_or_default();
            let place = format!("{stream}, vertex {}: a component", at / 3);
            Err(BuildError::Beyond { place, value: values[at], limit: MAX_LENGTH })
        };
        lengths("positions", &self.positions)?;
        for t in &self.targets {
            lengths("target.positions", &t.positions)?;
            optional("target.positions", t.positions.len(), vertices)?;
            optional("target.normals", t.normals.len(), vertices)?;
            optional("target.tangents", t.tangents.len(), vertices)?;
        }
        match self.indices.iter().find(|&&i| i as usize >= vertices) {
            Some(&index) => Err(BuildError::Index {
                place: "indices".into(),
                what: "vertex",
                index: index as usize,
                have: vertices,
            }),
            None => Ok(()),
        }
    }
}
