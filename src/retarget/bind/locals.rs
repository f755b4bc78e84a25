//! The values of a clip for the joints of the source, joint by joint.

use super::shown::Shown;
use crate::build::curve::Curve;
use crate::clip::{Channel, Clip, ClipKind, LaneCurve};
use crate::math::LANES;
use crate::raw::{RawClip, RawTrack};
use crate::retarget::pose::{Local, three, unit};
use crate::skeleton::{Skeleton, Trs};
use glam::{DAffine3, DQuat, DVec3};
use std::cell::Cell;

pub const T: Channel = Channel::Translation;
pub const R: Channel = Channel::Rotation;
pub const S: Channel = Channel::Scale;

/// The values of a clip for the joints of the source, as the clip itself gives them, not its converted tracks.
pub struct Locals<'a> {
    pub skeleton: &'a Skeleton,
    pub raw: &'a RawClip,
    pub additive: bool,
    /// For each joint, its tracks of translation, rotation and scale.
    tracks: Vec<[Option<Track<'a>>; 3]>,
}

struct Track<'a> {
    index: usize,
    curve: Curve,
    shown: LaneCurve<'a>,
    /// The interval of the last time that was read.
    near: Cell<usize>,
}

impl<'a> Locals<'a> {
    /// The values of a clip of the skeleton, given with its tracks.
    pub fn new(skeleton: &'a Skeleton, of: &Shown<'a>, raw: &'a RawClip) -> Self {
        let clip = of.clip();
        let mut tracks: Vec<[Option<Track<'a>>; 3]> = Vec::new();
        tracks.resize_with(skeleton.len(), Default::default);
        for (index, track) in raw.tracks.iter().enumerate() {
            let channel = track.channel.to_channel();
            let own = tracks.get_mut(track.node).filter(|_| channel != Channel::Scalar);
            if let Some(own) = own {
                let shown = shown(clip, channel, of.joint_of_clip(track.node));
                own[channel as usize] = shown.map(|shown| Track {
                    index,
                    curve: Curve::new(track, 0),
                    shown,
                    near: Cell::new(0),
                });
            }
        }
        Self { skeleton, raw, additive: clip.kind() == ClipKind::Additive, tracks }
    }

    fn own(&self, joint: u16, channel: Channel) -> Option<&Track<'a>> {
        self.tracks[usize::from(joint)][channel as usize].as_ref()
    }

    pub fn curve(&self, joint: u16, channel: Channel) -> Option<&Curve> {
        self.own(joint, channel).map(|t| &t.curve)
    }

    pub fn track(&self, joint: u16, channel: Channel) -> Option<&RawTrack> {
        self.own(joint, channel).map(|t| &self.raw.tracks[t.index])
    }

    /// Whether a channel of a joint has more than one key.
    pub fn moves(&self, joint: u16, channel: Channel) -> bool {
        self.curve(joint, channel).is_some_and(|c| c.times.len() > 1)
    }

    pub fn rest(&self, joint: u16) -> Trs {
        self.skeleton.rest(joint.into())
    }

    pub fn rest_rotation(&self, joint: u16) -> DQuat {
        Local::from(self.rest(joint)).rotation
    }

    pub fn value(&self, joint: u16, channel: Channel, time: f32) -> Option<[f64; 4]> {
        let track = self.own(joint, channel)?;
        let mut near = track.near.get();
        let value = track.shown.value(time, &mut near);
        track.near.set(near);
        Some(value)
    }

    /// The local rotation at a time: the rest if the clip stores none; the difference on top of the rest if additive.
    pub fn rotation(&self, joint: u16, time: f32) -> DQuat {
        let rest = self.rest_rotation(joint);
        match self.value(joint, R, time).map(DQuat::from_array) {
            Some(q) if self.additive => rest * unit(q),
            Some(q) => unit(q),
            None => rest,
        }
    }

    pub fn transform(&self, joint: u16, time: f32) -> DAffine3 {
        let vectors = [T, S].map(|channel| self.value(joint, channel, time).map(three));
        let rotation = self.value(joint, R, time).map(|q| unit(DQuat::from_array(q)));
        on_rest(self.rest(joint).into(), self.additive, vectors, rotation).to_affine()
    }
}

/// A local transform from a clip's translation, scale and rotation. An additive clip's are applied on top of the rest.
pub fn on_rest(
    rest: Local,
    additive: bool,
    [translation, scale]: [Option<DVec3>; 2],
    rotation: Option<DQuat>,
) -> Local {
    let of = |v: Option<DVec3>, rest: DVec3, sum: DVec3| match v {
        Some(_) if additive => sum,
        v => v.unwrap_or(rest),
    };
    let (t, s) = (translation.unwrap_or_default(), scale.unwrap_or(DVec3::ONE));
    Local {
        translation: of(translation, rest.translation, rest.translation + t),
        scale: of(scale, rest.scale, rest.scale * s),
        rotation: match rotation {
            Some(q) if additive => rest.rotation * q,
            q => q.unwrap_or(rest.rotation),
        },
    }
}

/// The curve of a joint in a clip of its skeleton; `None` if the clip stores none.
pub fn shown(clip: &Clip, channel: Channel, joint: usize) -> Option<LaneCurve<'_>> {
    let lane = usize::from(*clip.skeleton().lane_of().get(joint)?);
    let block = clip.block_at(channel, lane / LANES)?;
    Some(LaneCurve::new(clip, channel, block, lane % LANES))
}
