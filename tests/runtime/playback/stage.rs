//! A small rig made in code, and mixers that play its clips.

use glam::{Quat, Vec3};
use phalanx::build::build_rig;
use phalanx::clip::Marker;
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::Affine3x4;
use phalanx::playback::{ClipId, Event, EventKind, Mixer};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use std::sync::{Arc, OnceLock};

pub const JOINTS: usize = 12;

/// A chain of joints; clips "a" of 1 s, "b" of 0.7 s, "c" of 2 s, and "pose" without length.
pub fn raw() -> RawScene {
    let nodes = (0..JOINTS).map(|i| RawNode {
        name: Some(format!("joint{i}")),
        parent: i.checked_sub(1),
        local: Trs { translation: Vec3::new(0.0, 0.1, 0.0), ..Trs::IDENTITY },
        ..RawNode::default()
    });
    let clip = |name: &str, duration: f32, turn: f32| RawClip {
        name: Some(name.into()),
        duration,
        tracks: (0..JOINTS)
            .map(|node| {
                let keys = if duration > 0.0 { 5 } else { 1 };
                let value = |k: usize| {
                    let a = turn * ((k * 7 + node * 3) % 5) as f32;
                    Quat::from_rotation_x(a).to_array()
                };
                RawTrack {
                    node,
                    channel: RawChannel::Rotation,
                    interpolation: Interpolation::Linear,
                    times: (0..keys).map(|k| duration * k as f32 / 4.0).collect(),
                    values: (0..keys).flat_map(value).collect(),
                }
            })
            .collect(),
        ..RawClip::default()
    };
    RawScene {
        name: "chain".into(),
        nodes: nodes.collect(),
        skins: vec![RawSkin {
            name: None,
            joints: (0..JOINTS).collect(),
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); JOINTS],
        }],
        clips: vec![
            clip("a", 1.0, 0.1),
            clip("b", 0.7, -0.07),
            clip("c", 2.0, 0.05),
            clip("pose", 0.0, 0.2),
        ],
        ..RawScene::default()
    }
}

pub fn rig() -> Arc<Rig> {
    static RIG: OnceLock<Arc<Rig>> = OnceLock::new();
    RIG.get_or_init(|| Arc::new(build_rig(raw(), &Default::default()).unwrap())).clone()
}

/// A mixer, and the named clip with markers at these times ("0", "1", …).
pub fn marked(name: &str, times: &[f32]) -> (Mixer, ClipId) {
    let mut mixer = Mixer::new(rig()).unwrap();
    let clip = mixer.clip_named(name).unwrap();
    let clip = mixer.clip(clip).unwrap().as_ref().clone();
    let markers = times.iter().enumerate();
    let markers = markers.map(|(i, &t)| Marker::new(i.to_string(), t));
    let clip = clip.with_markers(markers.collect()).unwrap();
    let clip = mixer.add_clip(Arc::new(clip)).unwrap();
    (mixer, clip)
}

/// What happened, as (kind, marker).
pub fn fired(events: &[Event]) -> Vec<(EventKind, usize)> {
    events.iter().map(|e| (e.kind, e.marker.into())).collect()
}
