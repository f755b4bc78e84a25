//! Root motion: the motion of a clip's root joint, extracted from the raw tracks before clips are built.

use super::clip_builder::{Variation, variation};
use super::lengths::Lengths;
use crate::clip::RootMotionParts;
use crate::error::{BuildError, MAX_ROOT_STEPS};
use crate::raw::{RawChannel, RawClip, RawScene, UpAxis};
use crate::skeleton::Skeleton;
use std::collections::HashMap;

mod root;

use root::Root;

/// Settings of the extraction of root motion from clips.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RootMotionOptions {
    /// The joint that carries the motion: a name or a path or, if no joint has it, an index. Default: `None`, the first joint,
    /// parents first, whose end in some clip differs from its start; only the clips in which it differs have root motion.
    pub joint: Option<String>,
    /// The axes of model space to extract, x, y and z. Default: `None`, the two horizontal axes.
    pub axes: Option<[bool; 3]>,
    /// Whether rotation about the up axis is extracted too. The tracks of the joint are then sampled, so that motion and
    /// pose together stay within 1e-3 of the clip, in radians and as a share of the model's size. Default: no.
    pub rotation: bool,
    /// The up axis; importers set it to theirs. Default: Y.
    pub up: UpAxis,
}

/// Extracts the root motion from the clips of a scene. `order` holds the node of every joint of the skeleton, parents
/// first. Returns one entry per clip. The tracks then keep the joint in place, in the pose of
/// its first frame.
pub(crate) fn extract(
    raw: &mut RawScene,
    skeleton: &Skeleton,
    order: &[usize],
    lengths: &Lengths,
    options: &RootMotionOptions,
) -> Result<Vec<Option<RootMotionParts>>, BuildError> {
    let mut out = vec![None; raw.clips.len()];
    let mut steps = Steps::default();
    let Some(joint) = find_joint(raw, skeleton, order, lengths, options, &mut steps)? else {
        return Ok(out);
    };
    let depth = up(raw, Some(order[joint])).count() as u64;
    steps.take(depth.saturating_mul(raw.clips.len() as u64))?;
    let mut clips = std::mem::take(&mut raw.clips);
    let done = clips.iter_mut().zip(&mut out).try_for_each(|(clip, out)| {
        let tracks = by_node(clip);
        let root = Root::new(raw, order[joint], (clip, &tracks), lengths, options)?;
        let auto = options.joint.is_none();
        if auto && !root.travels(lengths.model, options.rotation) {
            return Ok(());
        }
        *out = root.take(clip, joint as u16, lengths, options.rotation)?;
        Ok(())
    });
    raw.clips = clips;
    done.map(|()| out)
}

fn find_joint(
    raw: &RawScene,
    skeleton: &Skeleton,
    order: &[usize],
    lengths: &Lengths,
    options: &RootMotionOptions,
    steps: &mut Steps,
) -> Result<Option<usize>, BuildError> {
    match &options.joint {
        Some(wanted) => {
            let found = skeleton.joint_of_text(wanted);
            Ok(Some(found.map_err(|e| BuildError::from(e).within("root motion"))?))
        }
        None => {
            let mut first: Option<usize> = None;
            let depths = depths(raw, order);
            for clip in &raw.clips {
                steps.take(raw.nodes.len() as u64)?;
                let tracks = by_node(clip);
                let moving = moving(raw, clip, lengths)?;
                // A joint below an animated one cannot be the root, so it is not examined.
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
                    steps.take(depths[node])?;
                    let root = match Root::new(raw, node, (clip, &tracks), lengths, options) {
                        Ok(root) => root,
                        Err(BuildError::RootMotion(_)) => continue,
                        Err(fault) => return Err(fault),
                    };
                    if root.travels(lengths.model, options.rotation) {
                        first = Some(joint);
                    }
                }
            }
            Ok(first)
        }
    }
}

/// Steps of the search so far.
#[derive(Default)]
struct Steps(u64);

impl Steps {
    fn take(&mut self, steps: u64) -> Result<(), BuildError> {
        self.0 = self.0.saturating_add(steps);
        match self.0 {
            needed if needed > MAX_ROOT_STEPS => {
                let what = format!("root motion: the search takes {needed} steps");
                Err(BuildError::Limit { what, needed, limit: MAX_ROOT_STEPS })
            }
            _ => Ok(()),
        }
    }
}

/// The number of nodes at and above each joint's node; `order` is parents first.
fn depths(raw: &RawScene, order: &[usize]) -> Vec<u64> {
    let mut depths = vec![0; raw.nodes.len()];
    for &node in order {
        depths[node] = 1 + raw.nodes[node].parent.map_or(0, |p| depths[p]);
    }
    depths
}

/// Indices of a clip's tracks, per node.
type TracksOf = HashMap<usize, Vec<usize>>;

fn by_node(clip: &RawClip) -> TracksOf {
    let mut tracks = TracksOf::new();
    for (index, track) in clip.tracks.iter().enumerate() {
        tracks.entry(track.node).or_default().push(index);
    }
    tracks
}

/// For each node, whether a clip animates it.
fn moving(raw: &RawScene, clip: &RawClip, lengths: &Lengths) -> Result<Vec<bool>, BuildError> {
    let mut moving = vec![false; raw.nodes.len()];
    for (index, track) in clip.tracks.iter().enumerate() {
        if track.channel != RawChannel::Weights {
            moving[track.node] |= variation(clip, index, lengths)? == Variation::Animated;
        }
    }
    Ok(moving)
}

/// A node and its ancestors, upwards.
fn up(raw: &RawScene, node: Option<usize>) -> impl Iterator<Item = usize> + '_ {
    std::iter::successors(node, |&n| raw.nodes[n].parent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::skeleton_of;
    use crate::raw::{Interpolation, RawNode, RawTrack};
    use crate::skeleton::{Joint, Trs};

    /// A requested joint needs no search, but the joints above it are visited for every clip.
    #[test]
    fn the_way_above_a_joint_is_counted_for_every_clip() {
        const DEPTH: usize = 40_000;
        const CLIPS: usize = 7_000;
        let node = |n: usize| RawNode { parent: n.checked_sub(1), ..RawNode::default() };
        let mut raw = RawScene {
            nodes: (0..DEPTH).map(node).collect(),
            clips: vec![RawClip::default(); CLIPS],
            ..RawScene::default()
        };
        let order: Vec<usize> = (0..DEPTH).collect();
        let options = RootMotionOptions {
            joint: Some((DEPTH - 1).to_string()),
            ..RootMotionOptions::default()
        };
        let needed = (DEPTH * CLIPS) as u64;
        assert!(needed > MAX_ROOT_STEPS);
        let joint =
            |n: usize| Joint { name: String::new(), parent: n.checked_sub(1), rest: Trs::IDENTITY };
        let joints: Vec<Joint> = (0..DEPTH).map(joint).collect();
        let skeleton = Skeleton::new(&joints, None, Vec::new()).unwrap();
        let refused = extract(&mut raw, &skeleton, &order, &Lengths::unscaled(1.0), &options);
        assert!(matches!(refused, Err(BuildError::Limit { needed: n, .. }) if n == needed));
        assert_eq!(raw.clips.len(), CLIPS);
    }

    #[test]
    fn searches_that_would_take_too_long_are_refused() {
        // Every leaf is animated and none travels, so each is examined with all its ancestors.
        let scene = |depth: usize, leaves: usize| {
            let node = |parent: Option<usize>| RawNode { parent, ..RawNode::default() };
            let mut nodes: Vec<RawNode> = (0..depth).map(|i| node(i.checked_sub(1))).collect();
            nodes.extend((0..leaves).map(|_| node(Some(depth - 1))));
            let track = |node: usize| RawTrack {
                node,
                channel: RawChannel::Translation,
                interpolation: Interpolation::Linear,
                times: vec![0.0, 0.5, 1.0],
                values: vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            };
            let clip = RawClip {
                duration: 1.0,
                tracks: (depth..depth + leaves).map(track).collect(),
                ..RawClip::default()
            };
            RawScene { nodes, clips: vec![clip], ..RawScene::default() }
        };
        let search = |depth, leaves| {
            let mut raw = scene(depth, leaves);
            let order: Vec<usize> = (0..raw.nodes.len()).collect();
            let mut steps = Steps::default();
            let lengths = Lengths::unscaled(1.0);
            let options = RootMotionOptions::default();
            let skeleton = skeleton_of(&raw).unwrap();
            let found = find_joint(&raw, &skeleton, &order, &lengths, &options, &mut steps);
            raw.clips.clear();
            (found, steps.0)
        };
        // The search visits each node once, and for every leaf its chain to the root.
        assert_eq!(search(10, 20), (Ok(None), 30 + 20 * 11));
        let mut steps = Steps(MAX_ROOT_STEPS - 5);
        assert_eq!(steps.take(5), Ok(()));
        let needed = MAX_ROOT_STEPS + 1;
        let refused = steps.take(1);
        assert!(matches!(refused, Err(BuildError::Limit { needed: n, .. }) if n == needed));
    }
}
