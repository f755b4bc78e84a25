//! Rigs and clips at the ends of what is allowed: what plays of them is finite.

use glam::Quat;
use phalanx::crowd::{BoneBuffer, Crowd, LayerOptions, PlayOptions};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::Rig;
use phalanx::simd::SimdLevel;
use phalanx::skeleton::{MAX_CHAIN_SCALE, MAX_LENGTH, Trs};
use phalanx_testkit::rigs::{built, finite};
use phalanx_workload::hash01;
use std::sync::Arc;

/// Numbers from a seed, the same on every machine.
struct Random(u64);

impl Random {
    /// In [0, 1).
    fn unit(&mut self) -> f64 {
        self.0 += 1;
        hash01(self.0)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }

    /// Mostly at the ends of ±`limit`.
    fn extreme(&mut self, limit: f64) -> f32 {
        let size = match self.below(4) {
            0 => self.unit() * limit,
            1 => self.unit(),
            _ => limit,
        };
        (if self.unit() < 0.5 { -size } else { size }) as f32
    }

    fn turn(&mut self) -> Quat {
        let q = [0; 4].map(|_| self.unit() as f32 - 0.5);
        Quat::from_array(q).normalize()
    }
}

/// A rig at the ends of what is allowed: long chains, scales that multiply to the limit, lengths at it.
fn extreme(seed: u64) -> RawScene {
    let mut r = Random(seed * 1_000_003);
    let joints = 3 + r.below(40);
    let chain = r.unit() < 0.7;
    let parents: Vec<Option<usize>> = (0..joints)
        .map(|j| match j {
            0 => None,
            j if chain => Some(j - 1),
            j => Some(r.below(j)),
        })
        .collect();
    // What each joint may scale by: the logarithms sum to just below the limit's down the longest chain.
    let shares: Vec<f64> = (0..joints).map(|_| r.unit()).collect();
    let total: f64 = shares.iter().sum();
    let most = MAX_CHAIN_SCALE.ln() * 0.999_999;
    let factors: Vec<f64> = shares.iter().map(|s| (most * s / total).exp()).collect();
    let scale = |r: &mut Random, j: usize| [0; 3].map(|_| r.extreme(factors[j] * 0.999_999));
    let lengths = |r: &mut Random| [0; 3].map(|_| r.extreme(f64::from(MAX_LENGTH)));
    let mut nodes = Vec::new();
    for (j, &parent) in parents.iter().enumerate() {
        nodes.push(RawNode {
            name: Some(format!("joint{j}")),
            parent,
            local: Trs {
                translation: lengths(&mut r).into(),
                rotation: r.turn(),
                scale: scale(&mut r, j).into(),
            },
            ..RawNode::default()
        });
    }
    let mut clips = Vec::new();
    for clip in 0..4 {
        let mut tracks = Vec::new();
        for j in 0..joints {
            // Splines share their times: knots between keys would have tangents of their own.
            let keys = if clip == 3 { 3 } else { 2 + r.below(4) };
            let times: Vec<f32> = (0..keys).map(|k| k as f32 / (keys - 1) as f32).collect();
            let step = r.unit() < 0.3;
            let mode = if step { Interpolation::Step } else { Interpolation::Linear };
            for channel in [RawChannel::Translation, RawChannel::Rotation, RawChannel::Scale] {
                if r.unit() < 0.3 {
                    continue;
                }
                // Every value between tangents of zero stays between its keys.
                let cubic = clip == 3 && !step;
                let mut values = Vec::new();
                for _ in 0..keys {
                    let value: Vec<f32> = match channel {
                        RawChannel::Translation => lengths(&mut r).to_vec(),
                        RawChannel::Rotation => r.turn().to_array().to_vec(),
                        _ => scale(&mut r, j).to_vec(),
                    };
                    let zeros = vec![0.0; if cubic { value.len() } else { 0 }];
                    values.extend([&zeros[..], &value, &zeros].concat());
                }
                tracks.push(RawTrack {
                    node: j,
                    channel,
                    interpolation: if cubic { Interpolation::CubicSpline } else { mode },
                    times: times.clone(),
                    values,
                });
            }
        }
        clips.push(RawClip {
            name: Some(format!("clip{clip}")),
            duration: 1.0,
            tracks,
            ..RawClip::default()
        });
    }
    let inverse_bind = (0..joints).map(|_| {
        let mut m = [0.0; 16].map(|_: f32| r.extreme(f64::from(MAX_LENGTH)));
        (m[3], m[7], m[11], m[15]) = (0.0, 0.0, 0.0, 1.0);
        m
    });
    RawScene {
        name: format!("extreme {seed}"),
        skins: vec![RawSkin {
            inverse_bind: inverse_bind.collect(),
            joints: (0..joints).collect(),
            name: None,
        }],
        nodes,
        clips,
        ..RawScene::default()
    }
}

/// Poses of single clips and of convex blends, by the jobs and by a crowd.
fn play(rig: &Arc<Rig>, seed: u64, level: SimdLevel) {
    let mut r = Random(seed * 77_003 + 5);
    let what = |how: &str| format!("{} at {level}, {how}", rig.name());
    for _ in 0..12 {
        let count = r.below(4);
        let weights: Vec<f64> = (0..count).map(|_| r.unit() + 1e-3).collect();
        // Whatever is left to 1 is the rest pose's.
        let sum = weights.iter().sum::<f64>() + if r.unit() < 0.5 { r.unit() } else { 0.0 };
        let actions = weights.iter().map(|w| PoseAction {
            clip: r.below(4),
            time: r.unit() as f32,
            weight: (w / sum) as f32,
        });
        let actions: Vec<PoseAction> = actions.collect();
        let pose = evaluate_pose(rig, &actions).expect("clips of the rig");
        finite(&pose.palettes.concat(), &what("by jobs"));
        finite(&pose.worlds, &what("worlds"));
        pose.check_finite(rig).expect("all of it");
    }
    let mut crowd = Crowd::new();
    let layers = vec![LayerOptions::default(), LayerOptions::default()];
    let id = crowd.add_rig_with_layers(rig.clone(), layers).unwrap();
    let clips = [0, 1, 2, 3].map(|c| crowd.clip_by_index(id, c).unwrap());
    for n in 0..24 {
        let i = crowd.spawn(id).unwrap();
        let options = PlayOptions { time: r.unit(), ..PlayOptions::default() };
        crowd.play(i, clips[n % 4], &options).unwrap();
        if n >= 4 {
            crowd.fade_to(i, clips[r.below(4)], 0.8, &options).unwrap();
            let mut player = crowd.player(i).unwrap();
            player.play(1, clips[r.below(4)], &options).unwrap();
            player.set_layer_weight(1, r.unit() as f32).unwrap();
        }
    }
    let mut buffer = BoneBuffer::new();
    for _ in 0..6 {
        crowd.evaluate(&mut buffer);
        finite(buffer.rows(), &what("in a crowd"));
        crowd.advance(0.13).unwrap();
    }
}

pub fn palettes_within_the_limits_are_finite_at_every_level() {
    let current = SimdLevel::current();
    for level in SimdLevel::supported() {
        level.set().unwrap();
        for seed in 0..40 {
            play(&built(extreme(seed)), seed, level);
        }
    }
    current.set().unwrap();
}
