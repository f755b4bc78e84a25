//! Clips converted back to tracks: to make clips of other skeletons and additive clips from them, and for measurements.

use super::curve::Curve;
use crate::clip::{Block, BlockKind, Channel, Clip, ClipKind, Defaults, Part};
use crate::math::LANES;
use crate::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack};
use crate::rig::Rig;
use crate::skeleton::{NO_JOINT, Skeleton, UserChannel};

/// The part of a rig's raw data that can be recovered: nodes, skins, and the tracks of its joints. Without
/// morph weights, user channels, meshes and materials.
pub fn raw_joints(rig: &Rig) -> RawScene {
    let mut node_of = vec![0; rig.skeleton().len()];
    for (place, node) in rig.nodes().iter().enumerate() {
        if let Some(slot) = node.joint.and_then(|j| node_of.get_mut(usize::from(j))) {
            *slot = place;
        }
    }
    let nodes = rig.nodes().iter().map(|n| RawNode {
        source: n.source,
        name: n.name.clone(),
        parent: n.parent,
        local: n.local,
        matrix: n.matrix,
        ..RawNode::default()
    });
    let mut nodes: Vec<RawNode> = nodes.collect();
    for m in rig.meshes().iter().filter(|m| m.lod == 0) {
        nodes[m.node].mesh = Some(m.source);
        nodes[m.node].skin = m.rigid_slot.is_none().then_some(m.skin);
    }
    let slots = |joints: &[u16]| -> Vec<usize> {
        let of = |&j: &u16| node_of.get(usize::from(j)).copied().unwrap_or(0);
        joints.iter().map(of).collect()
    };
    let skins = rig.file_skins().iter().map(|s| RawSkin {
        name: s.name().map(str::to_owned),
        joints: slots(s.joints()),
        inverse_bind: s.inverse_bind().iter().map(|m| m.to_cols_array()).collect(),
    });
    let joints = rig.skeleton().len();
    let clips = rig.clips().iter().map(|clip| {
        let mut raw = raw_clip(clip, rig.skeleton());
        raw.tracks.retain(|t| t.node < joints);
        raw.tracks.iter_mut().for_each(|t| t.node = node_of[t.node]);
        raw
    });
    RawScene {
        name: rig.name().to_owned(),
        skins: skins.collect(),
        clips: clips.collect(),
        scenes: vec![rig.roots().to_vec()],
        default_scene: Some(0),
        nodes,
        springs: rig.springs().mapped(|joint| node_of.get(joint).copied(), |_| ()),
        ..RawScene::default()
    }
}

/// Joins the tracks of the numbers of quaternion channels, of a clip of this kind, to one user track per channel. Returns
/// the channels that these refer to.
pub(crate) fn take_quaternions(
    clip: &mut RawClip,
    skeleton: &Skeleton,
    kind: ClipKind,
) -> Vec<UserChannel> {
    let mut taken = Vec::new();
    for channel in skeleton.channels().filter(|c| c.rest.is_quaternion()) {
        let handle = skeleton.channel(&channel.name);
        let Some((_, first)) = handle.and_then(|h| skeleton.channel_at(h)) else { continue };
        let first = skeleton.len() + first;
        // The numbers of the quaternion while they have no track.
        let mut still = [0.0, 0.0, 0.0, 1.0];
        if kind == ClipKind::Full {
            let rest = channel.rest.as_slice().iter();
            still.iter_mut().zip(rest).for_each(|(s, r)| *s = *r);
        }
        let own = |t: &mut RawTrack| (first..first + 4).contains(&t.node);
        let tracks: Vec<RawTrack> = clip.tracks.extract_if(.., own).collect();
        if !tracks.is_empty() {
            clip.user_tracks.push(RawTrack { node: taken.len(), ..join(&tracks, first, still) });
            taken.push(channel.clone());
        }
    }
    taken
}

/// Joins the tracks of a quaternion's numbers to one track with all their key times. A number without a track keeps its
/// value in `still`.
fn join(tracks: &[RawTrack], first: usize, still: [f32; 4]) -> RawTrack {
    let curves: Vec<Option<Curve>> = (first..first + 4)
        .map(|node| tracks.iter().find(|t| t.node == node))
        .map(|track| track.map(|t| Curve::new(t, 0)))
        .collect();
    let mut times: Vec<f32> = tracks.iter().flat_map(|t| t.times.clone()).collect();
    times.sort_by(f32::total_cmp);
    times.dedup();
    // Numbers that move have one interpolation, as they come from one track.
    let moving = tracks.iter().find(|t| t.times.len() > 1);
    let interpolation = moving.map_or(Interpolation::Linear, |t| t.interpolation);
    let mut values = Vec::new();
    for &time in &times {
        let mut key = [[0.0; 4]; 3];
        for (c, curve) in curves.iter().enumerate() {
            key[1][c] = still[c];
            if let Some(curve) = curve {
                let knot = curve.at(time);
                (key[0][c], key[2][c]) = (knot.before[0] as f32, knot.after[0] as f32);
                key[1][c] = knot.value[0] as f32;
            }
        }
        match interpolation {
            Interpolation::CubicSpline => values.extend_from_slice(key.as_flattened()),
            _ => values.extend_from_slice(&key[1]),
        }
    }
    RawTrack { node: 0, channel: RawChannel::Rotation, interpolation, times, values }
}

/// A clip's tracks. A track's node is its joint; for a scalar, the number of joints plus its index. A lane that stays at
/// its default has no track: its block may be stored for other lanes, and elsewhere the default differs.
pub(crate) fn raw_clip(clip: &Clip, skeleton: &Skeleton) -> RawClip {
    let mut tracks = Vec::new();
    let defaults = Defaults::new(skeleton, clip.kind());
    for channel in Channel::ALL {
        for b in clip.blocks(channel) {
            for l in 0..LANES {
                let lane = usize::from(b.block) * LANES + l;
                let node = match channel {
                    Channel::Scalar => {
                        (lane < skeleton.scalars().len()).then_some(skeleton.len() + lane)
                    }
                    _ => {
                        let joint = skeleton.joint_of().get(lane);
                        joint.filter(|&&j| j != NO_JOINT).map(|&j| usize::from(j))
                    }
                };
                let width = channel.components();
                let default = defaults.value(channel, lane);
                let is_default =
                    !b.moves(l) && clip.constant(channel, b, l)[..width] == default[..width];
                let node = node.filter(|_| !is_default);
                tracks.extend(node.map(|node| track(clip, channel, b, l, node)));
            }
        }
    }
    RawClip {
        name: Some(clip.name().to_owned()),
        duration: clip.duration(),
        tracks,
        markers: clip.markers().to_vec(),
        ..RawClip::default()
    }
}

/// One lane of a block as a track.
fn track(clip: &Clip, channel: Channel, b: &Block, lane: usize, node: usize) -> RawTrack {
    let width = channel.components();
    let still = !b.moves(lane);
    let times = if still { &[0.0] } else { clip.times_of(b) };
    let held = b.holds(lane);
    let spline = b.kind == BlockKind::Cubic && !still && !held;
    let keys = clip.keys(channel, b);
    let mut values = Vec::new();
    for k in 0..times.len() {
        let mut put = |part: Part, scale: f32| {
            let numbers = keys.get(k, part, lane);
            values.extend(numbers[..width].iter().map(|v| v * scale));
        };
        if spline {
            // Tangents are stored per interval; those beyond the first and last key are never read.
            let gap = |a: usize, b: usize| match (times.get(a), times.get(b)) {
                (Some(a), Some(b)) if b > a => 1.0 / (b - a),
                _ => 0.0,
            };
            put(Part::In, gap(k.wrapping_sub(1), k));
            put(Part::Value, 1.0);
            put(Part::Out, gap(k, k + 1));
        } else {
            put(Part::Value, 1.0);
        }
    }
    RawTrack {
        node,
        channel: RawChannel::from_channel(channel),
        interpolation: match (spline, held) {
            (true, _) => Interpolation::CubicSpline,
            (_, true) => Interpolation::Step,
            _ => Interpolation::Linear,
        },
        times: times.to_vec(),
        values,
    }
}
