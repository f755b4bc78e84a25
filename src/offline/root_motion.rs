//! Root motion: what a clip's root joint travels, taken out of the raw tracks before clips are built.

use super::clip_builder::{ClipBuildError, Motion, check_track, classify};
use super::curve::Curve;
use super::raw::{RawChannel, RawClip, RawScene};
use super::up_axis::UpAxis;
use crate::clip::{MAX_KEYS, RootMotionParts};
use thiserror::Error;

mod root;

use root::Root;

/// Which joint carries the motion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum RootJoint {
    /// The first joint, parents first, that some clip leaves elsewhere than it found it. Of such a
    /// rig only the clips that do so have root motion.
    #[default]
    Travelling,
    /// A joint of the skeleton.
    Index(usize),
    /// A joint by its name, or by its path from the root with `/` between names.
    Named(String),
}

/// What is taken out of clips as root motion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootMotionOptions {
    /// The joint.
    pub joint: RootJoint,
    /// Which of x, y and z of model space; `None`: the two horizontal ones.
    pub axes: Option<[bool; 3]>,
    /// Whether turns about the up axis are taken out, too.
    pub rotation: bool,
    /// The axis that points up; importers put their own here.
    pub up: UpAxis,
}

/// Why root motion cannot be taken out.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RootMotionError {
    /// There is no joint of that name, path or index.
    #[error("root motion: there is no joint {joint}")]
    UnknownJoint {
        /// The joint asked for.
        joint: String,
    },
    /// Several joints have the name; a path tells them apart.
    #[error("root motion: {count} joints are called \"{name}\", give one's path")]
    Ambiguous {
        /// The name.
        name: String,
        /// How many bear it.
        count: usize,
    },
    /// A joint above moves, too, so that the motion is not the joint's own.
    #[error("root motion of clip \"{clip}\": joint \"{above}\" above \"{joint}\" moves, too")]
    MovingAncestor {
        /// The clip.
        clip: String,
        /// The joint of the motion.
        joint: String,
        /// The joint above that moves.
        above: String,
    },
    /// The joints above scale unevenly or by zero, so that motion does not pass through them.
    #[error("root motion: the joints above \"{joint}\" scale unevenly or by zero")]
    Scale {
        /// The joint of the motion.
        joint: String,
    },
    /// The motion needs more keys than a timeline holds.
    #[error("root motion of clip \"{clip}\" needs {keys} keys, the limit is {MAX_KEYS}")]
    TooManyKeys {
        /// The clip.
        clip: String,
        /// Keys needed.
        keys: usize,
    },
    /// A track is not usable.
    #[error(transparent)]
    Track(#[from] ClipBuildError),
}

/// Takes the root motion out of the clips of a scene. `order` holds the node of every joint,
/// parents first. Returns one entry per clip; the tracks then keep the joint in place, in the pose of
/// its first frame.
pub(crate) fn extract(
    raw: &mut RawScene,
    order: &[usize],
    model_size: f64,
    options: &RootMotionOptions,
) -> Result<Vec<Option<RootMotionParts>>, RootMotionError> {
    let mut out = vec![None; raw.clips.len()];
    let Some(joint) = find_joint(raw, order, model_size, options)? else {
        return Ok(out);
    };
    let mut clips = std::mem::take(&mut raw.clips);
    let done = clips.iter_mut().zip(&mut out).try_for_each(|(clip, out)| {
        let root = Root::new(raw, order[joint], clip, model_size, options)?;
        let auto = options.joint == RootJoint::Travelling;
        if auto && !root.travels(model_size, options.rotation) {
            return Ok(());
        }
        *out = root.take(clip, joint as u16, model_size, options.rotation)?;
        Ok(())
    });
    raw.clips = clips;
    done.map(|()| out)
}

fn find_joint(
    raw: &RawScene,
    order: &[usize],
    model_size: f64,
    options: &RootMotionOptions,
) -> Result<Option<usize>, RootMotionError> {
    let unknown = |joint: &dyn ToString| RootMotionError::UnknownJoint {
        joint: joint.to_string(),
    };
    match &options.joint {
        RootJoint::Index(joint) if *joint < order.len() => Ok(Some(*joint)),
        RootJoint::Index(joint) => Err(unknown(joint)),
        RootJoint::Named(wanted) => {
            if let Some(joint) = order.iter().position(|&n| path(raw, n) == *wanted) {
                return Ok(Some(joint));
            }
            let named = |n: usize| raw.nodes[n].name.as_ref() == Some(wanted);
            match order.iter().filter(|&&n| named(n)).count() {
                0 => Err(unknown(&format!("\"{wanted}\""))),
                1 => Ok(order.iter().position(|&n| named(n))),
                count => Err(RootMotionError::Ambiguous {
                    name: wanted.clone(),
                    count,
                }),
            }
        }
        RootJoint::Travelling => {
            let mut first: Option<usize> = None;
            for clip in &raw.clips {
                let moving = moving(raw, clip, model_size)?;
                // A joint below one that moves is no root; what it does is not looked at.
                let mut below = vec![false; raw.nodes.len()];
                for (joint, &node) in order.iter().enumerate() {
                    if first.is_some_and(|first| first <= joint) {
                        break;
                    }
                    let above = raw.nodes[node].parent;
                    below[node] = above.is_some_and(|p| below[p] || moving[p]);
                    if below[node] || !moving[node] {
                        continue;
                    }
                    let root = match Root::new(raw, node, clip, model_size, options) {
                        Ok(root) => root,
                        Err(RootMotionError::Track(fault)) => return Err(fault.into()),
                        Err(_) => continue,
                    };
                    if root.travels(model_size, options.rotation) {
                        first = Some(joint);
                    }
                }
            }
            Ok(first)
        }
    }
}

/// Which nodes a clip moves.
fn moving(raw: &RawScene, clip: &RawClip, model_size: f64) -> Result<Vec<bool>, RootMotionError> {
    let mut moving = vec![false; raw.nodes.len()];
    let name = clip.name.as_deref().unwrap_or_default();
    for (index, track) in clip.tracks.iter().enumerate() {
        if track.channel != RawChannel::Weights {
            check_track(name, index, track, 1)?;
            let motion = classify(&Curve::new(track, 0), track.channel, model_size);
            moving[track.node] |= motion == Motion::Moving;
        }
    }
    Ok(moving)
}

/// Names from the root down, `/` between them; as a skeleton gives the path of a joint.
fn path(raw: &RawScene, node: usize) -> String {
    let mut names: Vec<&str> = up(raw, Some(node))
        .map(|n| raw.nodes[n].name.as_deref().unwrap_or_default())
        .collect();
    names.reverse();
    names.join("/")
}

/// A node and all above it.
fn up(raw: &RawScene, node: Option<usize>) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(node, |&n| raw.nodes[n].parent)
}
