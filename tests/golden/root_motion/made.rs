//! A clip that walks a part of a circle, made in code, and rigs built of it.

use glam::{DMat4, DQuat, DVec3};
use phalanx::build::{BuildError, BuildOptions, RootMotionOptions, build_rig};
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;

/// A clip that walks a part of a circle, with keys at uneven times: radius, angle in all, seconds.
pub struct Arc {
    pub radius: f64,
    pub angle: f64,
    pub seconds: f64,
}

pub const ARC: Arc = Arc { radius: 2.0, angle: 0.7, seconds: 1.25 };

impl Arc {
    pub const KEYS: usize = 48;

    fn time(k: usize) -> f32 {
        let u = k as f64 / (Self::KEYS - 1) as f64;
        (ARC.seconds * u * (0.8 + 0.2 * u)) as f32
    }

    /// Where the joint is at a key: on the circle, looking along it, bobbing.
    pub fn place(&self, time: f64) -> DMat4 {
        let a = self.angle * time / self.seconds;
        let at = DVec3::new(
            self.radius * (1.0 - a.cos()),
            1.0 + 0.05 * (9.0 * a).sin(),
            self.radius * a.sin(),
        );
        DMat4::from_rotation_translation(DQuat::from_rotation_y(a), at)
    }

    pub fn scene(&self, above: Option<Trs>) -> RawScene {
        let times: Vec<f32> = (0..Self::KEYS).map(Self::time).collect();
        let down = above.map_or(DMat4::IDENTITY, |t| {
            DMat4::from_scale_rotation_translation(
                t.scale.as_dvec3(),
                t.rotation.as_dquat(),
                t.translation.as_dvec3(),
            )
            .inverse()
        });
        let (mut moves, mut turns) = (Vec::new(), Vec::new());
        for &t in &times {
            let (_, r, p) = (down * self.place(f64::from(t))).to_scale_rotation_translation();
            moves.extend(p.as_vec3().to_array());
            turns.extend(r.as_quat().to_array());
        }
        let mut nodes = vec![RawNode { name: Some("walker".into()), ..RawNode::default() }];
        if let Some(local) = above {
            nodes.insert(0, RawNode { name: Some("armature".into()), local, ..RawNode::default() });
            nodes[1].parent = Some(0);
        }
        let node = nodes.len() - 1;
        let track = |channel, values| RawTrack {
            node,
            channel,
            interpolation: Interpolation::Linear,
            times: times.clone(),
            values,
        };
        RawScene {
            nodes,
            clips: vec![RawClip {
                name: Some("arc".into()),
                duration: ARC.seconds as f32,
                tracks: vec![
                    track(RawChannel::Translation, moves),
                    track(RawChannel::Rotation, turns),
                ],
                ..RawClip::default()
            }],
            ..RawScene::default()
        }
    }
}

pub fn build(raw: RawScene, wanted: RootMotionOptions) -> Result<Rig, BuildError> {
    let options = BuildOptions { root_motion: Some(wanted), ..BuildOptions::default() };
    build_rig(raw, &options)
}

pub fn with_turns() -> RootMotionOptions {
    RootMotionOptions { rotation: true, ..RootMotionOptions::default() }
}
