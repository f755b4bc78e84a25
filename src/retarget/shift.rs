//! Translations of joints other than the hips: kept if both characters have the same bone.

use super::body::Body;
use super::link::Link;
use super::motion::{Motion, Property, path};
use super::space::Space;
use super::track::{constant, mapped_with, track};
use crate::raw::RawTrack;
use crate::skeleton::NO_JOINT;
use glam::{DMat3, DVec3};
use std::collections::HashMap;

/// Offsets of reference poses that differ by less than this share of their length count as equal: rounding of files.
const SAME: f64 = 1e-4;

/// A translation that differs from the reference by less than this share of its length counts as equal to it.
const STILL: f64 = 1e-6;

/// The tracks of translations that are kept, and the joints of the source that have them.
#[derive(Default)]
pub(super) struct Shifts {
    pub tracks: Vec<RawTrack>,
    pub kept: Vec<usize>,
}

/// Transfers the translation of a joint if source and target have it below the same bone, at the same offset in the
/// reference pose, in model space: they then have one unit of length. `hips` is the target's joint, whose translation is
/// scaled elsewhere.
pub(super) fn shifts(
    (source, target): (&Body, &Body),
    (links, space): (&[Link], &Space),
    motion: &Motion<'_>,
    hips: usize,
) -> Shifts {
    let followed: HashMap<usize, usize> = links.iter().map(|l| (l.target, l.source)).collect();
    let parent = |body: &Body, joint: usize| {
        let parent = body.skeleton.parents()[joint];
        (parent != NO_JOINT).then_some(usize::from(parent))
    };
    let mut out = Shifts::default();
    for link in links {
        let loose = target.loose.iter().any(|l| l.joint == link.target);
        let (Some(from), Some(to)) = (parent(source, link.source), parent(target, link.target))
        else {
            continue;
        };
        if loose || link.target == hips || followed.get(&to) != Some(&from) {
            continue;
        }
        let (own, base) =
            (source.locals[link.source].translation, target.locals[link.target].translation);
        // The frames of both bones above may have other units.
        let unit = frame_scale(source, from) / frame_scale(target, to);
        let there = DMat3::from_quat(target.worlds[to].conjugate())
            * (space.matrix() * unit)
            * DMat3::from_quat(source.worlds[from]);
        let size = (there * own).length().max(base.length());
        let sound = unit > 0.0 && unit.is_finite();
        if !sound || (there * own - base).length() > SAME * size {
            continue;
        }
        let curve = motion.curve(link.source, Property::Translation);
        let still = motion.local(link.source, 0.0).translation;
        let vector = |v: &[f64]| DVec3::from_slice(v);
        let value = |v: &[f64]| (base + there * (vector(v) - own)).to_array().to_vec();
        let keys = match curve {
            Some(curve) => {
                let tangent = |v: &[f64]| (there * vector(v)).to_array().to_vec();
                mapped_with(curve, value, tangent)
            }
            None if (still - own).length() > STILL * own.length().max(base.length() / unit) => {
                constant((base + there * (still - own)).to_array())
            }
            None => continue,
        };
        out.tracks.push(track(link.target, Property::Translation, keys));
        out.kept.push(link.source);
    }
    out
}

/// The length in model space of a length of 1 below a joint: the mean of the axes' scales, multiplied down to it. Exactly
/// 1 if nothing is scaled.
fn frame_scale(body: &Body, joint: usize) -> f64 {
    let scale = |j: usize| {
        let scale = body.locals[j].scale;
        (scale.x * scale.y * scale.z).abs().cbrt()
    };
    path(&body.skeleton, joint).into_iter().map(scale).product()
}
