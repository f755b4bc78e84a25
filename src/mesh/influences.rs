//! Skin influences with any number per vertex, and their reduction to the largest.

use crate::math::Affine3x4;

/// Slots and weights of a primitive: `per_vertex` of each per vertex, vertex-major.
///
/// Weights are as in the file, with normalised integers as fractions. Import rescales them if their sum is not 1.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Influences {
    /// Influences per vertex; 0 for a rigid primitive. Imported primitives have a multiple of 4.
    pub per_vertex: usize,
    /// Slots of the primitive's skin, `per_vertex × vertices`.
    pub joints: Vec<u16>,
    /// Weights, `per_vertex × vertices`.
    pub weights: Vec<f32>,
}

impl Influences {
    /// The weighted sum of the palette rows of a vertex, in the order of its influences.
    ///
    /// Influences whose slot is outside the palette are skipped. `None` if the vertex has no influences.
    pub fn blended_row(&self, palette: &[Affine3x4], vertex: usize) -> Option<Affine3x4> {
        let first = vertex.checked_mul(self.per_vertex)?;
        let range = first..first.checked_add(self.per_vertex)?;
        let joints = self.joints.get(range.clone())?;
        let mut sum = Affine3x4 { rows: [[0.0; 4]; 3] };
        for (&joint, &weight) in joints.iter().zip(self.weights.get(range)?) {
            let Some(m) = palette.get(usize::from(joint)).filter(|_| weight != 0.0) else {
                continue;
            };
            for (sum, m) in sum.rows.iter_mut().flatten().zip(m.rows.iter().flatten()) {
                *sum += weight * m;
            }
        }
        Some(sum)
    }

    /// Number of vertices with influences.
    pub(crate) fn vertex_count(&self) -> usize {
        self.joints.len().checked_div(self.per_vertex).unwrap_or(0)
    }

    /// True if there are no influences.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// Changes the slots of influences with a weight; all others, and those without a new slot, refer to slot 0.
    pub(crate) fn move_slots(&mut self, new: impl Fn(usize) -> Option<u16>) {
        for (slot, &weight) in self.joints.iter_mut().zip(&self.weights) {
            *slot = new(usize::from(*slot)).filter(|_| weight != 0.0).unwrap_or(0);
        }
    }

    /// Keeps the `count` largest influences of each vertex. Returns them with the largest sum of weights
    /// dropped from one vertex.
    ///
    /// The weights of a vertex are rescaled to their sum before dropping. Missing influences are filled with
    /// zero weights.
    pub fn largest(&self, count: usize) -> (Influences, f32) {
        let vertices = self.vertex_count();
        let mut out = Influences {
            per_vertex: count,
            joints: Vec::with_capacity(vertices * count),
            weights: Vec::with_capacity(vertices * count),
        };
        if count == 0 || self.per_vertex == 0 {
            return (Influences::default(), 0.0);
        }
        let mut worst = 0.0f32;
        let mut order: Vec<usize> = Vec::with_capacity(self.per_vertex);
        for v in 0..vertices {
            let range = v * self.per_vertex..(v + 1) * self.per_vertex;
            let (joints, weights) = (&self.joints[range.clone()], &self.weights[range]);
            order.clear();
            order.extend(0..self.per_vertex);
            order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
            let kept: f32 = order.iter().take(count).map(|&i| weights[i]).sum();
            let dropped: f32 = order.iter().skip(count).map(|&i| weights[i]).sum();
            worst = worst.max(dropped);
            let scale = if kept > 0.0 { (kept + dropped) / kept } else { 1.0 };
            for k in 0..count {
                let (joint, weight) =
                    order.get(k).map_or((0, 0.0), |&i| (joints[i], weights[i] * scale));
                out.joints.push(joint);
                out.weights.push(weight);
            }
        }
        (out, worst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_blended_for_vertices_that_exist() {
        let influences = Influences {
            per_vertex: 4,
            joints: vec![0, 1, 9, 0, 1, 0, 0, 0],
            weights: vec![0.25, 0.5, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        };
        let palette = [2.0, 8.0].map(|v| Affine3x4 { rows: [[v; 4]; 3] });
        let row = |vertex| influences.blended_row(&palette, vertex).map(|m| m.rows[2][3]);
        // Slot 9 is not in the palette and adds nothing.
        assert_eq!([row(0), row(1)], [Some(4.5), Some(8.0)]);
        assert_eq!([row(2), row(usize::MAX)], [None, None]);
    }

    #[test]
    fn largest_keeps_the_sum_and_reports_what_was_dropped() {
        let influences = Influences {
            per_vertex: 8,
            joints: vec![0, 1, 2, 3, 4, 5, 6, 7],
            weights: vec![0.1, 0.2, 0.05, 0.05, 0.3, 0.1, 0.15, 0.05],
        };
        let (four, dropped) = influences.largest(4);
        assert_eq!(four.joints, vec![4, 1, 6, 0]);
        assert!((four.weights.iter().sum::<f32>() - 1.0).abs() < 1e-6);
        assert!((dropped - 0.25).abs() < 1e-6);
        let (twelve, none) = influences.largest(12);
        assert_eq!((twelve.per_vertex, twelve.weights[11], none), (12, 0.0, 0.0));
    }
}
