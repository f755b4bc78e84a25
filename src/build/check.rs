//! `BuildError`: why raw data cannot become a rig, and the checks of its indices.

use super::clip_builder::ClipBuildError;
use super::root_motion::RootMotionError;
use crate::clip::RelaneError;
use crate::import::raw::RawScene;
use crate::mesh::{Primitive, PrimitiveError};
use crate::rig::{RigError, is_forest};
use crate::runtime::JobError;
use crate::skeleton::{SkeletonError, SkinError};
use crate::words::{are, shorten};
use thiserror::Error;

/// The most scalars (morph weights of all nodes and numbers of user channels) of a skeleton.
pub const MAX_SCALARS: usize = 1 << 16;

/// Why raw data cannot become a rig.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BuildError {
    /// The parents of the nodes form a cycle.
    #[error("the parents of the nodes form a cycle")]
    Cycle,
    /// More scalars than 16-bit block indices can address.
    #[error("{count} morph weights and numbers of user channels, the limit is {MAX_SCALARS}")]
    TooManyScalars {
        /// How many there are.
        count: usize,
    },
    /// A clip does not fit the skeleton, or not into memory in its lane order.
    #[error(transparent)]
    Relane(#[from] RelaneError),
    /// An index is out of range.
    #[error("{place}: {what} {index} is out of range, there {} {have}", are(*.have as u64))]
    Index {
        /// Where the index occurs.
        place: String,
        /// What it refers to.
        what: &'static str,
        /// The index.
        index: usize,
        /// How many there are.
        have: usize,
    },
    /// The joints do not form a skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// A skin is not usable.
    #[error("skin {skin}: {source}")]
    Skin {
        /// The skin.
        skin: usize,
        /// The cause.
        source: SkinError,
    },
    /// The parts do not fit each other.
    #[error(transparent)]
    Rig(#[from] RigError),
    /// Root motion cannot be extracted as requested.
    #[error(transparent)]
    RootMotion(#[from] RootMotionError),
    /// The frame that an additive clip refers to cannot be sampled.
    #[error("additive reference: {0}")]
    Reference(JobError),
    /// A clip cannot be built.
    #[error("animation {clip}: {source}")]
    Clip {
        /// The clip.
        clip: usize,
        /// The cause.
        source: ClipBuildError,
    },
    /// A stream of a primitive does not have one element per vertex.
    #[error("mesh {mesh}, primitive {primitive}: {stream} has {have} elements, needs {needed}")]
    Stream {
        /// The mesh.
        mesh: usize,
        /// The primitive.
        primitive: usize,
        /// The stream.
        stream: &'static str,
        /// Its length.
        have: usize,
        /// The length needed.
        needed: usize,
    },
    /// A primitive holds a number beyond its limit.
    #[error("mesh {mesh}, primitive {primitive}: {source}")]
    Primitive {
        /// The mesh.
        mesh: usize,
        /// The primitive.
        primitive: usize,
        /// The cause.
        source: PrimitiveError,
    },
}

/// Checks every index, the parents, the number of scalars and the primitives.
pub(super) fn check_indices(raw: &RawScene) -> Result<(), BuildError> {
    let nodes = raw.nodes.len();
    let check = |place: &dyn Fn() -> String, what, index, have| {
        if index < have {
            Ok(())
        } else {
            Err(BuildError::Index {
                place: place(),
                what,
                index,
                have,
            })
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
        return Err(BuildError::Cycle);
    }
    let weights: usize = raw.nodes.iter().map(|n| n.weights.len()).sum();
    let channels = raw.channels.iter().map(|c| c.channel.rest.width());
    let scalars = weights.saturating_add(channels.sum());
    if scalars > MAX_SCALARS {
        return Err(BuildError::TooManyScalars { count: scalars });
    }
    for (i, s) in raw.skins.iter().enumerate() {
        for (slot, &joint) in s.joints.iter().enumerate() {
            check(&|| format!("skin {i}, slot {slot}"), "node", joint, nodes)?;
        }
    }
    for (i, c) in raw.clips.iter().enumerate() {
        for (track, t) in c.tracks.iter().enumerate() {
            check(
                &|| format!("animation {i}, track {track}"),
                "node",
                t.node,
                nodes,
            )?;
        }
    }
    for c in &raw.channels {
        for t in &c.tracks {
            let place = || format!("user channel \"{}\"", shorten(&c.channel.name));
            check(&place, "clip", t.clip, raw.clips.len())?;
        }
    }
    for (i, roots) in raw.scenes.iter().enumerate() {
        for &root in roots {
            check(&|| format!("scene {i}"), "node", root, nodes)?;
        }
    }
    for (mesh, m) in raw.meshes.iter().enumerate() {
        for (primitive, p) in m.primitives.iter().enumerate() {
            check_primitive(mesh, primitive, p)?;
        }
    }
    Ok(())
}

fn check_primitive(mesh: usize, primitive: usize, p: &Primitive) -> Result<(), BuildError> {
    p.check().map_err(|error| match error {
        PrimitiveError::Stream {
            stream,
            have,
            needed,
        } => BuildError::Stream {
            mesh,
            primitive,
            stream,
            have,
            needed,
        },
        PrimitiveError::Vertex { index, have } => BuildError::Index {
            place: format!("mesh {mesh}, primitive {primitive}, indices"),
            what: "vertex",
            index,
            have,
        },
        source @ PrimitiveError::Beyond { .. } => BuildError::Primitive {
            mesh,
            primitive,
            source,
        },
    })
}
