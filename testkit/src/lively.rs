//! A crowd in which everything of playback happens, by calls that look random and are the same in every run.

use crate::{chain, ruler};
use phalanx::build::{AdditiveReference, BuildOptions, RootMotionOptions, build_additive_raw};
use phalanx::clip::Marker;
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, LayerOptions, RigId, Tier, TierDetail, Tiers};
use phalanx::import::raw::{RawChannel, RawTrack};
use phalanx::math::Affine3x4;
use phalanx::playback::{
    AtEnd, BlendSpace, BlendSpaceId, ClipId, CrossFade, FadeKind, Fill, LoopMode, PlayOptions,
    Playable, PlaybackError, Player, Sync,
};
use phalanx::rig::Rig;
use phalanx::skeleton::{ChannelValue, JointMask, UserChannel};
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

/// Numbers that look random.
#[derive(Clone, Debug)]
pub struct Dice(pub u32);

impl Dice {
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (self.0 >> 12) as usize % limit
    }

    pub fn among<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }
}

/// The layers of all rigs here: one below, one masked that fills from below, one additive.
pub fn layers(rig: &Rig) -> Vec<LayerOptions> {
    let last = rig.skeleton().len() - 1;
    let upper = LayerOptions {
        mask: Some(JointMask::subtree(rig.skeleton(), last).expect("the joint exists")),
        fill: Fill::Below,
        ..LayerOptions::default()
    };
    let added = LayerOptions { additive: true, ..LayerOptions::default() };
    vec![LayerOptions::default(), upper, added]
}

/// The layer of additive clips.
const ADDED: usize = 2;

/// A rig with root motion, markers, user channels, a clip of one pose and an additive clip, which is the last.
pub fn travelling() -> Arc<Rig> {
    let mut clips = vec![
        ruler::line("x", 1.0, [1.0, 0.0, 0.0]),
        ruler::line("y", 0.7, [0.0, 2.0, 0.0]),
        ruler::turn("turn", 0.0, 90.0),
        ruler::busy("busy"),
        ruler::line("still", 0.0, [0.1, 0.0, 0.0]),
    ];
    clips[4].tracks.iter_mut().for_each(|track| {
        track.times.truncate(1);
        track.values.truncate(3);
    });
    let options = BuildOptions {
        root_motion: Some(RootMotionOptions {
            joint: Some("base".into()),
            rotation: true,
            ..RootMotionOptions::default()
        }),
        ..BuildOptions::default()
    };
    let mut scene = ruler::scene(clips);
    let channel = |name: &str, rest| UserChannel { name: name.into(), rest };
    scene.channels = vec![
        channel("glow", ChannelValue::Float(0.25)),
        channel("tint", ChannelValue::Vec3([0.9, 0.1, 0.3])),
    ];
    let glow = ruler::track(RawChannel::Weights, 1.0, &[&[0.1], &[0.7], &[0.3]]);
    let tint = ruler::track(RawChannel::Weights, 0.7, &[&[0.3, 0.6, 0.1], &[0.7, 0.2, 0.9]]);
    scene.clips[0].user_tracks = vec![glow.clone(), RawTrack { node: 1, ..tint.clone() }];
    scene.clips[1].user_tracks = vec![RawTrack { node: 1, ..tint }];
    scene.clips[3].user_tracks = vec![glow];
    let mut rig = phalanx::build::build_rig(scene, &options).expect("it is valid");
    let markers = [0.0, 0.25, 0.7].map(|t| Marker::new("step", t));
    rig.set_markers(1, markers.to_vec()).expect("they lie within");
    Arc::new(rig)
}

/// The crowd and its handles.
#[derive(Debug)]
pub struct Lively {
    pub crowd: Crowd,
    pub rigs: Vec<RigId>,
    clips: Vec<Vec<ClipId>>,
    added: Vec<ClipId>,
    /// By rig a space on a line, and one in a plane whose parameter follows.
    spaces: Vec<[BlendSpaceId; 2]>,
}

/// What a frame came to: hashes of its palettes and events.
pub type Frame = (u64, u64);

impl Default for Lively {
    fn default() -> Self {
        Self::new()
    }
}

impl Lively {
    /// Two rigs without instances, the first with root motion that moves its instances; between them the place of a
    /// third that was removed.
    pub fn new() -> Self {
        Self::with_tag(7)
    }

    pub fn with_tag(tag: u16) -> Self {
        let mut crowd = Crowd::with_tag(tag).expect("the tag is valid");
        let scene = ruler::scene(vec![ruler::turn("lean", 0.0, 30.0)]);
        let mut all = Self {
            rigs: Vec::new(),
            clips: Vec::new(),
            added: Vec::new(),
            spaces: Vec::new(),
            crowd: Crowd::new(),
        };
        let rigs = [travelling(), ruler::ruler(), chain::rig()];
        for (n, rig) in rigs.into_iter().enumerate() {
            let id = crowd.add_rig_with_layers(rig.clone(), layers(&rig));
            let id = id.expect("the rig fits");
            if n == 1 {
                crowd.remove_rig(id).expect("it has no instances");
                continue;
            }
            let count = rig.clips().len();
            let clips = (0..count).map(|c| crowd.clip_by_index(id, c).expect("it is loaded"));
            let clips: Vec<ClipId> = clips.collect();
            let scene = match n {
                0 => (&scene, 0),
                _ => (&chain::raw(), 0),
            };
            let added = build_additive_raw(&rig, scene, AdditiveReference::Rest);
            let added = Arc::new(added.expect("the clip is not additive"));
            all.added.push(crowd.add_clip(id, added).expect("it fits"));
            let points = [(0.0, clips[0]), (1.0, clips[1]), (2.5, clips[2])];
            let line = crowd.add_blend_space(id, &points).expect("they ascend");
            let at = [([0.0, 0.0], 0), ([1.0, 0.0], 1), ([0.2, 1.0], 2), ([-1.5, -0.5], 0)];
            let plane = BlendSpace::plane(&at.map(|(at, clip)| (at, clips[clip])));
            let plane = crowd.add_blend_space(id, plane.following(0.4));
            all.spaces.push([line, plane.expect("they form triangles")]);
            all.rigs.push(id);
            all.clips.push(clips);
        }
        crowd.apply_root_motion(all.rigs[0], true).expect("the rig is known");
        all.crowd = crowd;
        all
    }

    /// The names of all clips.
    pub fn clip_names(&self) -> Vec<String> {
        let clips = self.clips.iter().flatten().chain(&self.added);
        let named = clips.filter_map(|&clip| self.crowd.clip(clip).ok());
        named.map(|clip| clip.name().to_owned()).collect()
    }

    /// Takes over the handles of another crowd, after a restore of its snapshot.
    pub fn adopt(&mut self, other: &Self) {
        self.rigs.clone_from(&other.rigs);
        self.clips.clone_from(&other.clips);
        self.added.clone_from(&other.added);
        self.spaces.clone_from(&other.spaces);
    }

    fn options(dice: &mut Dice) -> PlayOptions {
        PlayOptions {
            speed: dice.among(&[1.0, 1.0, -0.7, 2.5, 0.0]),
            loop_mode: dice.among(&[LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong]),
            repetitions: dice.among(&[None, None, Some(1), Some(3)]),
            at_end: dice.among(&[AtEnd::Hold, AtEnd::Stop, AtEnd::FadeOut(0.2)]),
            time: dice.among(&[0.0, 0.0, 0.31, 5.7]),
            weight: dice.among(&[1.0, 0.5]),
            fade_in: dice.among(&[0.0, 0.3, 1.1]),
            parameter: [dice.among(&[-1.0, 0.4, 1.0, 2.2]), dice.among(&[0.0, 0.7])].into(),
        }
    }

    /// A call on a player.
    fn play(
        mut player: Player<'_>,
        (layer, one, two): (usize, Playable, Playable),
        dice: &mut Dice,
    ) -> Result<(), PlaybackError> {
        let options = Self::options(dice);
        let seconds = dice.among(&[0.0, 0.2, 0.9]);
        match dice.below(20) {
            0..4 => player.play(layer, one, &options),
            4 => player.restart(layer, one, &options),
            5 => player.add(layer, one, &options),
            6 | 7 => player.fade_to(layer, one, seconds, &options),
            8 | 9 => {
                let fade = CrossFade {
                    seconds: 0.8,
                    kind: if options.fade_in > 1.0 { FadeKind::Inertial } else { FadeKind::Blend },
                    warp: dice.below(2) == 0,
                    sync: dice.among(&[Sync::No, Sync::Phase]),
                };
                player.cross_fade(layer, one, two, fade, &options)
            }
            10 => player.fade(layer, one, dice.among(&[0.0, 0.3, 1.0]), seconds),
            11 => player.stop(layer, one, seconds),
            12 => player.set_paused(layer, one, dice.below(2) == 0),
            13 => player.set_speed(layer, one, options.speed),
            14 => player.set_loop(layer, one, options.loop_mode, options.repetitions),
            15 => player.set_time(layer, one, options.time),
            16 => match one {
                Playable::Space(space) => player.set_parameter(layer, space, options.parameter),
                Playable::Clip(_) => player.set_at_end(layer, one, options.at_end),
            },
            17 => player.fade_layer(layer, dice.among(&[0.2, 0.7, 1.0]), seconds),
            18 => player.set_layer_speed(layer, dice.among(&[1.0, 0.5, -1.0])),
            _ => player.set_character_speed(dice.among(&[1.0, 1.3, -1.0])),
        }
    }

    /// A call on an instance or the crowd. Calls that are refused are part of it.
    pub fn call(&mut self, dice: &mut Dice) {
        let n = dice.below(2);
        let all: Vec<InstanceId> =
            self.crowd.view(self.rigs[n]).map_or(Vec::new(), |v| v.instances().collect());
        let crowd = &mut self.crowd;
        if all.len() < 3 || all.len() < 40 && dice.below(12) == 0 {
            let _ = crowd.spawn(self.rigs[n]);
            return;
        }
        let instance = dice.among(&all);
        let place = Affine3x4::from_cols_array(&[
            1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.1, -0.4, 1e6, 1.0,
        ]);
        let _ = match dice.below(24) {
            0 => crowd.despawn(instance),
            1 => crowd.set_visible(instance, dice.below(3) > 0),
            2 => crowd.set_scheduled(instance, dice.below(3) > 0),
            3 => crowd.set_world(instance, place),
            4 => {
                let joint = dice.below(2);
                crowd.player(instance).and_then(|mut p| p.set_override(joint, ruler::shift(0.3)))
            }
            5 => crowd.player(instance).map(|mut p| p.clear_overrides()),
            _ => {
                let clips = &self.clips[n];
                let motion = |dice: &mut Dice| match dice.below(clips.len() + 2) {
                    c if c < clips.len() => Playable::Clip(clips[c]),
                    c => Playable::Space(self.spaces[n][c - clips.len()]),
                };
                let (mut one, mut two) = (motion(dice), motion(dice));
                let layer = dice.among(&[0, 0, 1, ADDED]);
                if layer == ADDED {
                    (one, two) = (self.added[n].into(), self.added[n].into());
                }
                match crowd.player(instance) {
                    Ok(player) => Self::play(player, (layer, one, two), dice),
                    Err(_) => Ok(()),
                }
            }
        };
    }

    /// A step of time, most often by a frame; now and then backwards, by much or by nothing.
    pub fn step(&mut self, dice: &mut Dice) {
        let dt = match dice.below(40) {
            0 => -0.4,
            1 => 0.0,
            2 => 17.3,
            3 => 5000.0,
            _ => 1.0 / 60.0,
        };
        self.crowd.advance(dt).expect("the step is valid");
    }

    /// Turns tiers on: interpolated, held and shared palettes, some by a detail, and a budget.
    pub fn rank(&mut self) {
        let tier = |height, rate, interpolate, shared_error, leave_out: &[&str]| Tier {
            height,
            rate,
            interpolate,
            shared_error,
            detail: (!leave_out.is_empty()).then(|| TierDetail {
                level: 0,
                leave_out: leave_out.iter().map(|&name| name.into()).collect(),
            }),
            springs: rate < 8,
        };
        let tiers = Tiers {
            tiers: vec![
                tier(60.0, 1, false, None, &[]),
                tier(50.0, 2, true, None, &[]),
                tier(40.0, 8, false, None, &["tip", "joint7"]),
                tier(30.0, 1, false, Some(0.1), &[]),
                tier(20.0, 4, false, Some(0.1), &["tip", "joint7"]),
            ],
            max_age: 9,
            ..Tiers::default()
        };
        self.crowd.set_tiers(Some(tiers)).expect("they are valid");
    }

    /// Gives all instances other heights, and frames another budget, if the crowd has tiers.
    pub fn heights(&mut self, dice: &mut Dice) {
        if self.crowd.tiers().is_none() {
            return;
        }
        for &rig in &self.rigs {
            // After a restore the crowd may have another tag.
            let Ok(places) = self.crowd.view(rig).map(|view| view.alive.len()) else {
                continue;
            };
            let heights: Vec<f32> = (0..places).map(|_| dice.below(70) as f32).collect();
            let given = self.crowd.set_importances(rig, &heights);
            given.expect("they are as many as the instances");
        }
        let budget = dice.among(&[3, 10, 1000]);
        let set = self.crowd.set_budget(Some(budget));
        set.expect("there are tiers");
    }

    /// Evaluates a frame.
    pub fn frame(&mut self, buffer: &mut BoneBuffer) -> Frame {
        self.crowd.evaluate(buffer);
        let mut events = DefaultHasher::new();
        for event in self.crowd.events() {
            events.write(format!("{event:?}").as_bytes());
        }
        for &rig in &self.rigs {
            if let Ok(view) = self.crowd.view(rig) {
                for instance in view.instances() {
                    events.write_u64(instance.to_bits());
                    let world = &view.worlds[instance.index()];
                    let rows = world.rows.as_flattened();
                    rows.iter().for_each(|v| events.write(&v.to_le_bytes()));
                }
            }
        }
        (palettes_hash(&self.crowd, buffer), events.finish())
    }

    /// Some calls, a step and a frame.
    pub fn round(&mut self, dice: &mut Dice, buffer: &mut BoneBuffer) -> Frame {
        for _ in 0..dice.below(6) {
            self.call(dice);
        }
        self.step(dice);
        self.frame(buffer)
    }
}

/// A hash of the palettes of all instances, in their order: equal wherever their rows lie.
pub fn palettes_hash(crowd: &Crowd, buffer: &BoneBuffer) -> u64 {
    let mut hash = DefaultHasher::new();
    for instance in crowd.instances() {
        hash.write_u64(instance.to_bits());
        let Some(pair) = crowd.shown(instance) else {
            continue;
        };
        for rows in [pair.from, pair.to] {
            let rows = buffer.rows()[rows].iter();
            let numbers = rows.flat_map(|row| row.rows.as_flattened());
            numbers.for_each(|v| hash.write(&v.to_le_bytes()));
        }
    }
    hash.finish()
}

/// States the length and the checksum of a stored snapshot whose bytes were changed.
pub fn seal_snapshot(bytes: &mut [u8]) {
    if bytes.len() < 32 {
        return;
    }
    let length = (bytes.len() as u64).to_le_bytes();
    bytes[16..24].copy_from_slice(&length);
    // FNV-1a of all other bytes, as FORMAT.md states it.
    let fold = |h: u64, &b: &u8| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    let sum = bytes[..24].iter().chain(&bytes[32..]).fold(0xcbf2_9ce4_8422_2325, fold);
    bytes[24..32].copy_from_slice(&sum.to_le_bytes());
}
