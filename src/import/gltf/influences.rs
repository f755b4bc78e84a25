//! JOINTS_n and WEIGHTS_n of a primitive, all sets combined.

use super::accessor::Integers;
use super::buffers::Buffers;
use super::error::{Fault, Within, count, invalid};
use super::limits::{MAX_SKIN_JOINTS, Notes, WEIGHT_SUM_TOLERANCE};
use crate::mesh::Influences;
use crate::words::{plural, were};
use ::gltf::json;
use json::accessor::Type;
use json::mesh::Semantic;
use json::validation::Checked;
use std::collections::BTreeMap;

type Attributes = BTreeMap<Checked<Semantic>, json::Index<json::Accessor>>;

/// The accessors of joints and weights, by set.
fn sets(attributes: &Attributes, place: &str, notes: &mut Notes) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for (semantic, joints) in attributes {
        let Checked::Valid(Semantic::Joints(set)) = semantic else { continue };
        match attributes.get(&Checked::Valid(Semantic::Weights(*set))) {
            Some(weights) => out.push((joints.value(), weights.value())),
            None => notes.dropped(place, format!("JOINTS_{set} has no WEIGHTS_{set}")),
        }
    }
    for semantic in attributes.keys() {
        if let Checked::Valid(Semantic::Weights(set)) = semantic
            && !attributes.contains_key(&Checked::Valid(Semantic::Joints(*set)))
        {
            notes.dropped(place, format!("WEIGHTS_{set} has no JOINTS_{set}"));
        }
    }
    out
}

/// Reads the influences. `slots` is the number of joints that they may refer to; without a skin, any
/// 16-bit index is accepted.
pub(super) fn influences(
    attributes: &Attributes,
    vertices: usize,
    slots: Option<usize>,
    place: &str,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Influences, Fault> {
    let sets = sets(attributes, place, notes);
    if sets.is_empty() || vertices == 0 {
        return Ok(Influences::default());
    }
    let per_vertex = sets.len() * 4;
    let total = per_vertex.saturating_mul(vertices);
    buffers.memory.charge_for::<(u16, f32)>(total)?;
    let mut out = Influences { per_vertex, joints: vec![0; total], weights: vec![0.0; total] };
    let mut mend = Mend::default();
    let limit = slots.unwrap_or(MAX_SKIN_JOINTS);
    for (set, &(joints, weights)) in sets.iter().enumerate() {
        for (accessor, name) in [(joints, "JOINTS"), (weights, "WEIGHTS")] {
            let place = || format!("{name}, accessor {accessor}");
            let info = (buffers.info_of(accessor, &[Type::Vec4], "VEC4")).within(|| name.into())?;
            if info.count != vertices {
                return Err(count("vertices", vertices as u64, info.count as u64)).within(place);
            }
        }
        let joint_place = || format!("JOINTS, accessor {joints}");
        let indices = buffers.numbers(joints, |v| v).within(|| "JOINTS".into())?;
        let values = (buffers.floats(weights, Integers::Fractions)).within(|| "WEIGHTS".into())?;
        for vertex in 0..vertices {
            for k in 0..4 {
                let (from, to) = (vertex * 4 + k, vertex * per_vertex + set * 4 + k);
                let weight = mend.weight(values[from]);
                let joint = indices[from];
                // This form is false for NaN, unlike `joint >= limit`.
                let known = joint >= 0.0 && joint < limit as f64;
                if !known && weight != 0.0 {
                    let (joint, have) = (joint as u64, plural(limit as u64, "joint"));
                    let words = format!(
                        "vertex {vertex} uses joint {joint} with weight {weight}, the skin has {have}"
                    );
                    return Err(invalid(words)).within(joint_place);
                }
                mend.joints += usize::from(!known && joint != 0.0);
                out.joints[to] = if known { joint as u16 } else { 0 };
                out.weights[to] = weight;
            }
        }
        buffers.memory.release((vertices * 4 * (8 + 4)) as u64);
    }
    mend.sums(&mut out);
    mend.report(place, notes);
    Ok(out)
}

/// Counts of the repairs.
#[derive(Default)]
struct Mend {
    weights: usize,
    joints: usize,
    scaled: usize,
    worst: f32,
    zero: usize,
}

impl Mend {
    fn weight(&mut self, weight: f32) -> f32 {
        if weight.is_finite() && weight >= 0.0 {
            return weight;
        }
        self.weights += 1;
        0.0
    }

    /// Rescales sums that differ from 1; sums of zero are left.
    fn sums(&mut self, out: &mut Influences) {
        for weights in out.weights.chunks_exact_mut(out.per_vertex.max(1)) {
            let sum: f32 = weights.iter().sum();
            let off = (sum - 1.0).abs();
            if sum == 0.0 {
                self.zero += 1;
            } else if off > WEIGHT_SUM_TOLERANCE || !off.is_finite() {
                self.scaled += 1;
                self.worst = self.worst.max(off);
                rescale(weights);
            }
        }
    }

    fn report(&self, place: &str, notes: &mut Notes) {
        if self.weights > 0 {
            let message = format!(
                "{} {were} negative or not finite and {were} set to 0",
                plural(self.weights as u64, "weight"),
                were = were(self.weights as u64)
            );
            notes.repaired(place, message);
        }
        if self.joints > 0 {
            let message = format!(
                "{} of weight 0 beyond the skin {} set to 0",
                plural(self.joints as u64, "joint index"),
                were(self.joints as u64)
            );
            notes.repaired(place, message);
        }
        if self.scaled > 0 {
            let message = format!(
                "weights of {} were rescaled, their sum differed from 1 by up to {:.3e}",
                plural(self.scaled as u64, "vertex"),
                self.worst
            );
            notes.repaired(place, message);
        }
        if self.zero > 0 {
            let message = format!("{} without weights above 0", plural(self.zero as u64, "vertex"));
            notes.note(place, message);
        }
    }
}

/// Divides by the sum; first by the largest weight, so that huge weights do not overflow.
fn rescale(weights: &mut [f32]) {
    let largest = weights.iter().fold(0.0f32, |m, &w| m.max(w));
    for weight in &mut *weights {
        *weight = (f64::from(*weight) / f64::from(largest)) as f32;
    }
    let sum: f64 = weights.iter().map(|&w| f64::from(w)).sum();
    for weight in weights {
        *weight = (f64::from(*weight) / sum) as f32;
    }
}
