//! Checks of the indices of raw data.

use crate::error::{BuildError, MAX_SCALARS};
use crate::raw::RawScene;
use crate::rig::{CYCLE, is_forest};

/// Checks every index, the parents, the number of scalars and the primitives.
pub(super) fn check_indices(raw: &RawScene) -> Result<(), BuildError> {
    let nodes = raw.nodes.len();
    let check = |place: &dyn Fn() -> String, what, index, have| {
        if index < have {
            Ok(())
        } else {
            Err(BuildError::Index { place: place(), what, index, have })
        }
    };
    for (i, n) in raw.nodes.iter().enumerate() {
        let place = || format!("node {i}");
        check(&place, "parent", n.parent.unwrap_or(0), nodes)?;
        if let Some(mesh) = n.mesh {
            check(&place, "mesh", mesh, raw.meshes.len())?;
        }
        if let Some(skin) = n.skin {
            check(&place, "skin", skin, raw.skins.len())?;
        }
    }
    if !is_forest(&raw.nodes, |n| n.parent) {
        return Err(BuildError::invalid(CYCLE));
    }
    let weights: usize = raw.nodes.iter().map(|n| n.weights.len()).sum();
    let channels = raw.channels.iter().map(|c| c.rest.width());
    let scalars = weights.saturating_add(channels.sum());
    if scalars > MAX_SCALARS {
        let what = format!("{scalars} morph weights and numbers of user channels");
        return Err(BuildError::limit(what, scalars, MAX_SCALARS));
    }
    for (i, s) in raw.skins.iter().enumerate() {
        for (slot, &joint) in s.joints.iter().enumerate() {
            check(&|| format!("skin {i}, slot {slot}"), "node", joint, nodes)?;
        }
    }
    for (i, c) in raw.clips.iter().enumerate() {
        for (track, t) in c.tracks.iter().enumerate() {
            check(&|| format!("animation {i}, track {track}"), "node", t.node, nodes)?;
        }
        for (track, t) in c.user_tracks.iter().enumerate() {
            let place = || format!("animation {i}, user track {track}");
            check(&place, "user channel", t.node, raw.channels.len())?;
        }
    }
    for (i, roots) in raw.scenes.iter().enumerate() {
        for &root in roots {
            check(&|| format!("scene {i}"), "node", root, nodes)?;
        }
    }
    for (mesh, m) in raw.meshes.iter().enumerate() {
        for (primitive, p) in m.primitives.iter().enumerate() {
            let place = || format!("mesh {mesh}, primitive {primitive}");
            p.check().map_err(|source| source.within(place()))?;
        }
    }
    Ok(())
}
