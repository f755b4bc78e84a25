//! Animated scales: kept as factors, or dropped.

use super::body::Body;
use super::link::Link;
use super::motion::{Motion, Property};
use super::options::ScaleMode;
use super::space::Space;
use super::track::{constant, mapped_with, track};
use crate::import::raw::RawTrack;
use glam::DVec3;
use std::collections::HashMap;

/// A scale that differs from the reference by less is the reference.
const SAME: f64 = 1e-6;

/// What became of scales, by the names of the source's joints.
#[derive(Default)]
pub(super) struct ScaleNames {
    pub kept: Vec<String>,
    pub dropped: Vec<String>,
}

#[derive(Default)]
pub(super) struct Scales {
    pub tracks: Vec<RawTrack>,
    pub names: ScaleNames,
}

/// The joints whose scale moves or differs from the reference.
pub(super) fn scaled(source: &Body, motion: &Motion<'_>) -> impl Iterator<Item = usize> {
    (0..source.skeleton.len()).filter(|&joint| {
        let apart = motion.local(joint, 0.0).scale - source.locals[joint].scale;
        motion.curve(joint, Property::Scale).is_some() || apart.abs().max_element() > SAME
    })
}

pub(super) fn scales(
    (source, target): (&Body, &Body),
    (links, space): (&[Link], &Space),
    motion: &Motion<'_>,
    mode: ScaleMode,
) -> Scales {
    let mut out = Scales::default();
    let links: HashMap<usize, &Link> = links.iter().map(|l| (l.source, l)).collect();
    for joint in scaled(source, motion) {
        let reference = source.locals[joint].scale;
        let curve = motion.curve(joint, Property::Scale);
        let still = motion.local(joint, 0.0).scale;
        let name = source.skeleton.names()[joint].clone();
        let sound = reference.to_array().iter().all(|v| *v != 0.0);
        let (Some(link), true, ScaleMode::Keep) = (links.get(&joint), sound, mode) else {
            out.names.dropped.push(name);
            continue;
        };
        // For every axis of the target's joint the nearest of the source's.
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let own = target.worlds[link.target].conjugate();
        let turned = axes.map(|a| own * space.direction(source.worlds[joint] * a));
        let nearest: [usize; 3] = std::array::from_fn(|c| {
            let size = |axis: usize| turned[axis][c].abs();
            if size(0) >= size(1) && size(0) >= size(2) {
                0
            } else if size(1) >= size(2) {
                1
            } else {
                2
            }
        });
        let base = target.locals[link.target].scale;
        let map = |v: &[f64]| {
            let scaled = (0..3).map(|c| base[c] * v[nearest[c]] / reference[nearest[c]]);
            scaled.collect::<Vec<f64>>()
        };
        let keys = match curve {
            Some(curve) => mapped_with(curve, map, map),
            None => constant::<3>(std::array::from_fn(|c| map(&still.to_array())[c])),
        };
        out.tracks.push(track(link.target, Property::Scale, keys));
        out.names.kept.push(name);
    }
    out
}
