//! One channel of an animation as a track.

use super::super::accessor::Integers;
use super::super::buffers::at;
use super::super::document::{Channel, Sampler};
use super::super::error::{Fault, Within, count, invalid};
use super::super::nodes::ZERO_LENGTH;
use super::Clips;
use super::times::Span;
use crate::raw::{Interpolation, RawChannel, RawTrack};
use crate::words::{plural, were};
use ::gltf::json::accessor::Type;

impl Clips<'_, '_> {
    pub(super) fn track(
        &mut self,
        channel: &Channel,
        samplers: &[Sampler],
        (node, property): (usize, RawChannel),
        span: &Span,
        place: &str,
    ) -> Result<Option<RawTrack>, Fault> {
        let sampler = at(samplers, channel.sampler, "sampler")?;
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::CubicSpline,
            Some(_) => {
                let fault = "interpolation of the sampler has a value that glTF does not define";
                return Err(invalid(fault).into());
            }
        };
        let times = self.times(sampler.input)?;
        if times.times.is_empty() {
            self.notes.dropped(place, "has no keys");
            return Ok(None);
        }
        let (shapes, expected, width) = match property {
            RawChannel::Translation | RawChannel::Scale => ([Type::Vec3], "VEC3", 3),
            RawChannel::Rotation => ([Type::Vec4], "VEC4", 4),
            RawChannel::Weights => {
                let width = self.nodes.get(node).map_or(0, |n| n.weights.len());
                ([Type::Scalar], "SCALAR", width)
            }
        };
        let info = self.buffers.info_of(sampler.output, &shapes, expected)?;
        let parts = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        let per_key = parts * width / info.components();
        let wanted = times.times.len().saturating_mul(per_key);
        if info.count != wanted {
            return Err(count("values of the sampler's output", wanted as u64, info.count as u64))
                .within(|| format!("accessor {}", sampler.output));
        }
        // A quaternion of integers is meaningful only as fractions.
        let integers = match property {
            RawChannel::Rotation => Integers::Fractions,
            _ => Integers::AsDeclared,
        };
        let mut values = self.buffers.floats(sampler.output, integers)?;
        let row = parts * width;
        if let Some(index) = values.iter().position(|v| !v.is_finite()) {
            let words = format!("key {} is {}", index / row.max(1), values[index]);
            return Err(invalid(words)).within(|| format!("accessor {}", sampler.output));
        }
        // With equal times, the charge covers the distinct times and the indices of kept keys.
        let words = if times.equal == 0 { 1 } else { 5 };
        self.buffers.memory.charge_for::<f32>(words * times.times.len())?;
        let keys = times.keys(span, interpolation);
        if let Some(kept) = &keys.kept {
            self.buffers.memory.charge_for::<f32>(kept.len() * row)?;
            values = (kept.iter())
                .flat_map(|&key| &values[key * row..(key + 1) * row])
                .copied()
                .collect();
        }
        if property == RawChannel::Rotation {
            self.mend_rotations(&mut values, parts, place);
        }
        Ok(Some(RawTrack { node, channel: property, interpolation, times: keys.times, values }))
    }

    /// Replaces keys without a direction by the previous key, the first one by the identity. Normalises the keys of splines,
    /// since builders keep their lengths; their tangents stay.
    fn mend_rotations(&mut self, values: &mut [f32], parts: usize, place: &str) {
        let mut previous = [0.0, 0.0, 0.0, 1.0];
        let mut mended = 0usize;
        for key in values.chunks_exact_mut(4 * parts) {
            // In a cubic key the value is between its tangents.
            let at = if parts == 3 { 4 } else { 0 };
            let q = &mut key[at..at + 4];
            let length = q.iter().map(|&v| f64::from(v).powi(2)).sum::<f64>().sqrt();
            if length < ZERO_LENGTH {
                q.copy_from_slice(&previous);
                mended += 1;
            } else {
                if parts == 3 {
                    q.iter_mut().for_each(|v| *v = (f64::from(*v) / length) as f32);
                }
                previous.copy_from_slice(q);
            }
        }
        if mended > 0 {
            let message = format!(
                "{} of length 0 {} replaced by the previous key",
                plural(mended as u64, "rotation key"),
                were(mended as u64)
            );
            self.notes.repaired(place, message);
        }
    }
}
