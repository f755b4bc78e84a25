//! Whether a primitive's streams fit each other.

use super::Primitive;
use crate::math::{all_within, within};
use crate::skeleton::MAX_LENGTH;
use thiserror::Error;

/// Why the streams of a primitive are not usable.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum PrimitiveError {
    /// A stream has not one element per vertex.
    #[error("{stream} holds {have}, needed are {needed}")]
    Stream {
        /// The stream.
        stream: &'static str,
        /// Its length.
        have: usize,
        /// The length needed.
        needed: usize,
    },
    /// An index names a vertex that is not there.
    #[error("vertex {index}, there are {have}")]
    Vertex {
        /// The index.
        index: usize,
        /// Vertices.
        have: usize,
    },
    /// A position is NaN, or beyond its limit.
    #[error("{stream}, vertex {vertex}: {value:e} is beyond the limit of {MAX_LENGTH:e}")]
    Beyond {
        /// The stream.
        stream: &'static str,
        /// The vertex.
        vertex: usize,
        /// The number.
        value: f32,
    },
}

impl Primitive {
    /// Checks that every stream is empty or as long as needed, positions are within [`MAX_LENGTH`], and every
    /// index names a vertex.
    ///
    /// # Errors
    /// With the first stream or index that does not fit.
    pub fn check(&self) -> Result<(), PrimitiveError> {
        let vertices = self.positions.len();
        let influences = vertices.saturating_mul(self.influences.per_vertex);
        let (joints, weights) = (&self.influences.joints, &self.influences.weights);
        let optional = |stream, have: usize, needed| {
            if have == 0 || have == needed {
                return Ok(());
            }
            Err(PrimitiveError::Stream {
                stream,
                have,
                needed,
            })
        };
        optional("normals", self.normals.len(), vertices)?;
        optional("tangents", self.tangents.len(), vertices)?;
        optional("uvs", self.uvs.len(), vertices)?;
        optional("colors", self.colors.len(), vertices)?;
        optional("influences.joints", joints.len(), influences)?;
        // Weights may be missing only where the joints are.
        if weights.len() != joints.len() {
            return Err(PrimitiveError::Stream {
                stream: "influences.weights",
                have: weights.len(),
                needed: joints.len(),
            });
        }
        let lengths = |stream, all: &[[f32; 3]]| {
            let values = all.as_flattened();
            if all_within(values, MAX_LENGTH) {
                return Ok(());
            }
            let bad = values.iter().position(|&v| !within(v, MAX_LENGTH));
            let at = bad.unwrap_or_default();
            Err(PrimitiveError::Beyond {
                stream,
                vertex: at / 3,
                value: values[at],
            })
        };
        lengths("positions", &self.positions)?;
        for t in &self.targets {
            lengths("target.positions", &t.positions)?;
            optional("target.positions", t.positions.len(), vertices)?;
            optional("target.normals", t.normals.len(), vertices)?;
            optional("target.tangents", t.tangents.len(), vertices)?;
        }
        match self.indices.iter().find(|&&i| i as usize >= vertices) {
            Some(&index) => Err(PrimitiveError::Vertex {
                index: index as usize,
                have: vertices,
            }),
            None => Ok(()),
        }
    }
}
