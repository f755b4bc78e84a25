//! Checks of a primitive's streams.

use super::{Primitive, TEX_COORD_SETS};
use crate::error::{BuildError, MeshFault};
use crate::math::{all_within, within};
use crate::skeleton::MAX_LENGTH;
use crate::words::{are, plural, says};

says! { MeshFault:
    Self::Stream { stream, have, needed } => ("{stream} holds {}, expected {needed}", plural(*have as u64, "element")),
    Self::Vertex { index, have } =>
        ("vertex {index} is out of range, there {} {}", are(*have as u64), plural(*have as u64, "vertex")),
    Self::Beyond { stream, vertex, value } =>
        ("{stream}, vertex {vertex}: {value:e} is beyond the limit of {MAX_LENGTH:e}"),
    Self::MaterialNumber { what, value, least, most } => ("the {what} is {value:e}, allowed is {least:e} to {most:e}"),
    Self::TexCoord { texture, tex_coord } =>
        ("the {texture} texture uses texture coordinates {tex_coord}, there are {TEX_COORD_SETS} sets"),
    Self::ImageDecode { mime, reason } => ("image of type {mime}: {reason}"),
    Self::ImageMemory { mime, needed, limit } =>
        ("image of type {mime}: decoding needs {needed} bytes, the limit is {limit}"),
}

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
        let optional = |stream, have: usize, needed| {
            if have == 0 || have == needed {
                return Ok(());
            }
            Err(BuildError::Mesh(MeshFault::Stream { stream, have, needed }))
        };
        optional("normals", self.normals.len(), vertices)?;
        optional("tangents", self.tangents.len(), vertices)?;
        optional("uvs", self.uvs.len(), vertices)?;
        optional("uvs1", self.uvs1.len(), vertices)?;
        optional("colors", self.colors.len(), vertices)?;
        optional("influences.joints", joints.len(), influences)?;
        // Joints and weights come in pairs.
        if weights.len() != joints.len() {
            return Err(BuildError::Mesh(MeshFault::Stream {
                stream: "influences.weights",
                have: weights.len(),
                needed: joints.len(),
            }));
        }
        let lengths = |stream, all: &[[f32; 3]]| {
            let values = all.as_flattened();
            if all_within(values, MAX_LENGTH) {
                return Ok(());
            }
            let bad = values.iter().position(|&v| !within(v, MAX_LENGTH));
            let at = bad.unwrap_or_default();
            Err(BuildError::Mesh(MeshFault::Beyond { stream, vertex: at / 3, value: values[at] }))
        };
        lengths("positions", &self.positions)?;
        for t in &self.targets {
            lengths("target.positions", &t.positions)?;
            optional("target.positions", t.positions.len(), vertices)?;
            optional("target.normals", t.normals.len(), vertices)?;
            optional("target.tangents", t.tangents.len(), vertices)?;
        }
        match self.indices.iter().find(|&&i| i as usize >= vertices) {
            Some(&index) => {
                Err(BuildError::Mesh(MeshFault::Vertex { index: index as usize, have: vertices }))
            }
            None => Ok(()),
        }
    }
}
