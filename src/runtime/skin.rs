//! `SkinningJob`: linear blend skinning with morph targets on the CPU, the reference of the GPU paths.

use super::check::{JobError, exact, in_range};
use crate::math::Affine3x4;
use crate::mesh::Primitive;
use glam::{Affine3A, Mat3, Vec3};

/// Deforms a primitive: morph targets first, then every influence.
///
/// Positions and normals are in the space of the palette (model space), or of `rigid` for primitives without influences.
/// Normals are transformed by the inverse transpose, tangents by the linear part; both are normalised. Weights count as
/// stored. Source: glTF 2.0, section 3.7.3.
#[derive(Debug)]
pub struct SkinningJob<'a> {
    /// The primitive.
    pub primitive: &'a Primitive,
    /// Palette of the primitive's skin; empty if it has no skin (influences then do not count).
    pub palette: &'a [Affine3x4],
    /// Model matrix of the node of a primitive without skin or influences.
    pub rigid: Affine3x4,
    /// Weights of the morph targets; may be shorter than the targets, the rest count as 0.
    pub morph_weights: &'a [f32],
    /// One position per vertex.
    pub positions: &'a mut [[f32; 3]],
    /// One normal per vertex, or empty to leave normals out.
    pub normals: &'a mut [[f32; 3]],
    /// One tangent per vertex, or empty to leave tangents out.
    pub tangents: &'a mut [[f32; 4]],
}

impl SkinningJob<'_> {
    /// Checks sizes and joint indices.
    fn validate(&self) -> Result<(), JobError> {
        const NAME: &str = "SkinningJob";
        let p = self.primitive;
        let vertices = p.positions.len();
        exact(NAME, "positions", self.positions.len(), vertices)?;
        let optional = |name, have: usize, stream: &'static str, len: usize| {
            if have == 0 {
                return Ok(());
            }
            exact(NAME, stream, len, vertices)?;
            exact(NAME, name, have, vertices)
        };
        optional("normals", self.normals.len(), "primitive.normals", p.normals.len())?;
        optional("tangents", self.tangents.len(), "primitive.tangents", p.tangents.len())?;
        for target in &p.targets {
            let streams = [
                ("target.positions", target.positions.len()),
                ("target.normals", target.normals.len()),
                ("target.tangents", target.tangents.len()),
            ];
            for (name, len) in streams {
                if len > 0 {
                    exact(NAME, name, len, vertices)?;
                }
            }
        }
        for &w in self.morph_weights {
            in_range(NAME, "morph weight", w, f32::MIN, f32::MAX)?;
        }
        let influences = &p.influences;
        if self.is_rigid() {
            return Ok(());
        }
        let needed = vertices * influences.per_vertex;
        exact(NAME, "influences.joints", influences.joints.len(), needed)?;
        exact(NAME, "influences.weights", influences.weights.len(), needed)?;
        let pairs = influences.joints.iter().zip(&influences.weights);
        for (place, (&joint, &weight)) in pairs.enumerate() {
            if weight != 0.0 && usize::from(joint) >= self.palette.len() {
                return Err(JobError::Index {
                    job: NAME,
                    what: "slot",
                    index: usize::from(joint),
                    place,
                    have: self.palette.len(),
                });
            }
        }
        Ok(())
    }

    /// Checks the inputs, then deforms.
    ///
    /// # Errors
    /// If an output has not one element per vertex, a stream of the primitive is too short, or an
    /// influence with a weight names a slot beyond the palette.
    pub fn run(self) -> Result<(), JobError> {
        self.validate()?;
        let p = self.primitive;
        for v in 0..p.positions.len() {
            let matrix = self.matrix(v);
            let position = self.morphed(v, p.positions[v], |t| &t.positions);
            self.positions[v] = matrix.transform_point3(position).to_array();
            if self.normals.is_empty() && self.tangents.is_empty() {
                continue;
            }
            let linear = Mat3::from(Affine3A::from(matrix).matrix3);
            if !self.normals.is_empty() {
                let normal = self.morphed(v, p.normals[v], |t| &t.normals);
                let turned = cofactor(&linear) * normal;
                self.normals[v] = turned.normalize_or(normal).to_array();
            }
            if !self.tangents.is_empty() {
                let [x, y, z, w] = p.tangents[v];
                let tangent = self.morphed(v, [x, y, z], |t| &t.tangents);
                let turned = (linear * tangent).normalize_or(tangent);
                // A mirroring matrix flips the sign of the bitangent.
                let side = if linear.determinant() < 0.0 { -w } else { w };
                self.tangents[v] = turned.extend(side).to_array();
            }
        }
        Ok(())
    }

    fn is_rigid(&self) -> bool {
        self.palette.is_empty() || self.primitive.influences.is_empty()
    }

    fn morphed(
        &self,
        v: usize,
        base: [f32; 3],
        stream: impl Fn(&crate::mesh::MorphTarget) -> &Vec<[f32; 3]>,
    ) -> Vec3 {
        let mut out = Vec3::from(base);
        for (target, &weight) in self.primitive.targets.iter().zip(self.morph_weights) {
            if let Some(&delta) = stream(target).get(v)
                && weight != 0.0
            {
                out += weight * Vec3::from(delta);
            }
        }
        out
    }

    fn matrix(&self, v: usize) -> Affine3x4 {
        if self.is_rigid() {
            return self.rigid;
        }
        let row = self.primitive.influences.blended_row(self.palette, v);
        // `validate` has made sure that there is a row.
        row.unwrap_or(Affine3x4::IDENTITY)
    }
}

/// The cofactor matrix with the sign of the determinant: the inverse transpose up to a positive
/// factor, defined for singular matrices too.
fn cofactor(m: &Mat3) -> Mat3 {
    let c = Mat3::from_cols(
        m.y_axis.cross(m.z_axis),
        m.z_axis.cross(m.x_axis),
        m.x_axis.cross(m.y_axis),
    );
    if m.determinant() < 0.0 { c * -1.0 } else { c }
}

#[cfg(test)]
mod tests;
