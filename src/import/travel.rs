//! Clips that end at another place than they begin: each loop jumps back, unless root motion is extracted from them.

use super::repeated::{LISTED, list};
use crate::raw::{Interpolation, RawChannel, RawScene, RawTrack, ReportEntry, Severity, UpAxis};
use crate::words::shorten;
use glam::{DAffine3, DVec3};

/// Share of the model's size beyond which the motion of its body counts as travel. Feet of clips that loop in place come
/// back to within a few hundredths; the shortest step is a third of a body.
const TRAVELS: f64 = 0.1;

/// A joint carries the body if the joints at or below it are at least one in this many of the joints of its tree.
const BODY: usize = 2;

/// Adds a note on the clips that travel: the horizontal distance between the first and the last key of a joint that
/// carries at least half of the joints of its body, in model space.
pub(super) fn note(scene: &RawScene, up: UpAxis, report: &mut Vec<ReportEntry>) {
    let Some(rest) = Rest::of(scene) else { return };
    let items: Vec<String> = (scene.clips.iter().enumerate())
        .filter_map(|(index, clip)| {
            let far = clip.tracks.iter().filter(|t| rest.carries(t.node));
            let far = far.filter_map(|t| rest.distance(t, up)).reduce(f64::max)?;
            let name = clip.name.as_deref().map(|name| format!("{:?}", shorten(name)));
            let name = name.unwrap_or_else(|| index.to_string());
            (far > TRAVELS * rest.size).then(|| format!("{name} by {far:.3} m"))
        })
        .collect();
    if items.is_empty() {
        return;
    }
    let shown = list(&items[..items.len().min(LISTED)], items.len());
    let message = format!(
        "those that travel end away from where they begin: {shown}; each loop jumps back, unless root motion is taken out"
    );
    report.push(ReportEntry::new(Severity::Note, "clips", message));
    if let Some(last) = report.last_mut().filter(|_| items.len() > 1) {
        last.items = items;
    }
}

/// The rest pose, with one entry per node.
struct Rest<'s> {
    scene: &'s RawScene,
    models: Vec<DAffine3>,
    /// Number of joints at or below each node.
    below: Vec<usize>,
    /// The root above each node.
    roots: Vec<usize>,
    /// The longest side of the box around all joints, metres.
    size: f64,
}

impl<'s> Rest<'s> {
    /// The rest pose of a scene; `None` without joints.
    fn of(scene: &'s RawScene) -> Option<Self> {
        let nodes = &scene.nodes;
        let mut below = vec![0; nodes.len()];
        let skinned = scene.skins.iter().flat_map(|s| &s.joints).copied();
        let moved = scene.clips.iter().flat_map(|c| &c.tracks);
        let moved = moved.filter(|t| t.channel != RawChannel::Weights);
        for node in skinned.chain(moved.map(|t| t.node)) {
            *below.get_mut(node)? = 1;
        }
        // Parents come before their children in `order`.
        let (mut order, mut done) = (Vec::with_capacity(nodes.len()), vec![false; nodes.len()]);
        let mut models = vec![DAffine3::IDENTITY; nodes.len()];
        let mut roots: Vec<usize> = (0..nodes.len()).collect();
        let mut way = Vec::new();
        for node in 0..nodes.len() {
            let mut next = Some(node);
            while let Some(n) = next.filter(|&n| !done[n]) {
                done[n] = true;
                way.push(n);
                next = nodes[n].parent;
            }
            while let Some(n) = way.pop() {
                let local = &nodes[n].local;
                let own = DAffine3::from_scale_rotation_translation(
                    local.scale.as_dvec3(),
                    local.rotation.as_dquat(),
                    local.translation.as_dvec3(),
                );
                models[n] = nodes[n].parent.map_or(own, |p| models[p] * own);
                roots[n] = nodes[n].parent.map_or(n, |p| roots[p]);
                order.push(n);
            }
        }
        let at = models.iter().zip(&below).filter(|(_, joint)| **joint > 0);
        let ends = at.map(|(m, _)| (m.translation, m.translation));
        let (low, high) = ends.reduce(|(a, b), (p, q)| (a.min(p), b.max(q)))?;
        for &n in order.iter().rev() {
            if let Some(parent) = nodes[n].parent {
                below[parent] += below[n];
            }
        }
        Some(Self { scene, models, below, roots, size: (high - low).max_element() })
    }

    fn carries(&self, node: usize) -> bool {
        self.below[node] * BODY >= self.below[self.roots[node]]
    }

    /// The distance along the ground between a track's first and last keys.
    fn distance(&self, track: &RawTrack, up: UpAxis) -> Option<f64> {
        if track.channel != RawChannel::Translation {
            return None;
        }
        let (row, at) = match track.interpolation {
            Interpolation::CubicSpline => (9, 3),
            _ => (3, 0),
        };
        let key = |start: usize| {
            let v = track.values.get(start + at..start + at + 3)?;
            Some(DVec3::new(v[0].into(), v[1].into(), v[2].into()))
        };
        let moved = key(track.values.len().checked_sub(row)?)? - key(0)?;
        let parent = self.scene.nodes[track.node].parent;
        let moved = parent.map_or(moved, |p| self.models[p].transform_vector3(moved));
        let along = match up {
            UpAxis::Y => DVec3::new(moved.x, 0.0, moved.z),
            UpAxis::Z => DVec3::new(moved.x, moved.y, 0.0),
        };
        Some(along.length())
    }
}
