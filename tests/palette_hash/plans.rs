//! Plans against the chain that has none, and against the oracle: random calls on a crowd, and after every
//! frame the palette of every instance beside its model matrices × inverse bind, and that of one beside the
//! oracle's in f64, at changing SIMD levels.

use glam::{Quat, Vec3};
use phalanx::build::{AdditiveReference, BuildOptions, build_additive_raw, build_rig};
use phalanx::clip::{Clip, ClipKind};
use phalanx::crowd::{
    BoneBuffer, ClipId, Crowd, CrowdSnapshot, InstanceId, LayerOptions, PlayOptions, RigId,
};
use phalanx::import::ImportOptions;
use phalanx::import::MANNEQUIN;
use phalanx::import::raw::{RawChannel, RawScene};
use phalanx::import::read_slice;
use phalanx::playback::{AtEnd, BlendSpaceId, CrossFade, Fill, LoopMode};
use phalanx::rig::Rig;
use phalanx::simd::SimdLevel;
use phalanx::skeleton::JointMask;
use phalanx_testkit::oracle::Reference;
use phalanx_testkit::reference::{self, Beside};
use phalanx_workload::hash01;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// The two ways round otherwise; elements are below 2.
const TOLERANCE: f32 = 1e-4;
/// Palette elements and the oracle's.
const EXACT: f64 = 1e-4;
const LAYERS: usize = 5;
/// The layer whose clips are additive.
const ADDITIVE: usize = 3;
const FRAMES: usize = 150;
const CALLS_PER_FRAME: usize = 6;
/// The clip that is loaded again and again.
const SPARE: usize = 2;

struct Random(u64);

impl Random {
    fn unit(&mut self) -> f32 {
        self.0 += 1;
        hash01(self.0) as f32
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f32) as usize).min(n - 1)
    }

    /// Weights: often the ones at which plans change.
    fn weight(&mut self) -> f32 {
        match self.below(5) {
            0 => 0.0,
            1 => 1.0,
            2 => 0.5,
            3 => f32::MIN_POSITIVE / 64.0,
            _ => self.unit(),
        }
    }

    fn seconds(&mut self) -> f32 {
        if self.below(2) == 0 { 0.0 } else { 0.2 * self.unit() }
    }

    fn options(&mut self) -> PlayOptions {
        PlayOptions {
            speed: 4.0 * self.unit() - 1.0,
            weight: self.weight(),
            fade_in: self.seconds(),
            time: f64::from(self.unit()),
            loop_mode: if self.below(4) == 0 { LoopMode::Once } else { LoopMode::Repeat },
            at_end: if self.below(2) == 0 { AtEnd::Stop } else { AtEnd::Hold },
            parameter: (2.0 * self.unit()).into(),
            ..PlayOptions::default()
        }
    }
}

struct Snapshot {
    crowd: CrowdSnapshot,
    instances: Vec<InstanceId>,
    parameters: HashMap<(InstanceId, usize), f32>,
    loaded: usize,
}

struct Play {
    random: Random,
    crowd: Crowd,
    rig: RigId,
    clips: Vec<ClipId>,
    additive: Vec<ClipId>,
    space: BlendSpaceId,
    spare: Arc<Clip>,
    instances: Vec<InstanceId>,
    snapshot: Option<Snapshot>,
    /// What the oracle knows of the rig, and the parameters of the blend space, by instance and layer.
    beside: Beside,
    parameters: HashMap<(InstanceId, usize), f32>,
    /// Clips loaded and unloaded so far.
    loaded: usize,
}

impl Play {
    fn new(raw: &RawScene, rig: &Arc<Rig>, seed: u64) -> Self {
        let skeleton = rig.skeleton();
        let weights: Vec<f32> = (0..skeleton.len()).map(|j| (j % 5) as f32 / 4.0).collect();
        let layer = |fill, mask| LayerOptions { fill, mask, ..LayerOptions::default() };
        let subtree = JointMask::subtree(skeleton, "Spine1").unwrap();
        let spine = skeleton.joint("Spine1").unwrap();
        let mut below = vec![0.0; skeleton.len()];
        for joint in spine..skeleton.len() {
            let parent = usize::from(skeleton.parents()[joint]);
            let under = below.get(parent).is_some_and(|&w| w == 1.0);
            below[joint] = f32::from(u8::from(joint == spine || under));
        }
        let layers = vec![
            layer(Fill::Rest, None),
            layer(Fill::Below, None),
            layer(Fill::Rest, Some(subtree.clone())),
            LayerOptions { additive: true, mask: Some(subtree), ..LayerOptions::default() },
            layer(Fill::Below, Some(JointMask::from_weights(skeleton, &weights).unwrap())),
        ];
        assert_eq!(layers.len(), LAYERS);
        let masks = [None, None, Some(below.clone()), Some(below), Some(weights)];
        let mut beside = Beside::new(raw, rig, layers.clone().into_iter().zip(masks));
        let mut crowd = Crowd::new();
        let id = crowd.add_rig_with_layers(rig.clone(), layers).unwrap();
        let clips: Vec<ClipId> = (0..rig.clips().len())
            .filter(|&c| rig.clips()[c].kind() != ClipKind::Additive)
            .map(|c| crowd.clip_by_index(id, c).unwrap())
            .collect();
        for c in 0..rig.clips().len() {
            beside.clip(crowd.clip_by_index(id, c).unwrap(), c);
        }
        let mut add = |name| {
            let clip = rig.find_clip(name).unwrap();
            let first = AdditiveReference::Frame(clip, 0.0);
            let made = build_additive_raw(rig, (raw, clip), first).unwrap();
            let made = crowd.add_clip(id, Arc::new(made)).unwrap();
            beside.additive(made, clip, Reference::Time(0.0));
            made
        };
        let additive = vec![add("Wave"), add("Run")];
        let points = [(0.0, clips[0]), (1.0, clips[1]), (2.0, clips[3])];
        let space = crowd.add_blend_space(id, &points).unwrap();
        beside.space(space);
        let spare = rig.clips()[SPARE].clone();
        let instances = (0..6).map(|_| crowd.spawn(id).unwrap()).collect();
        Self {
            random: Random(seed << 32),
            crowd,
            rig: id,
            clips,
            additive,
            space,
            spare,
            instances,
            snapshot: None,
            beside,
            parameters: HashMap::new(),
            loaded: 0,
        }
    }

    /// One call; what a player refuses (what does not play) changes nothing.
    fn call(&mut self) {
        let r = &mut self.random;
        let at = r.below(self.instances.len());
        let layer = r.below(LAYERS);
        let of = if layer == ADDITIVE { &self.additive } else { &self.clips };
        let (clip, other) = (of[r.below(of.len())], of[r.below(of.len())]);
        let (options, seconds, weight) = (r.options(), r.seconds(), r.weight());
        let signed = if layer == ADDITIVE && r.below(2) == 0 { -weight } else { weight };
        let parameter = 3.0 * r.unit() - 0.5;
        let kind = r.below(20);
        match kind {
            0 => {
                self.crowd.despawn(self.instances[at]).unwrap();
                self.instances[at] = self.crowd.spawn(self.rig).unwrap();
                return;
            }
            1 => {
                self.instances.push(self.crowd.spawn(self.rig).unwrap());
                return;
            }
            2 if self.instances.len() > 3 => {
                let gone = self.instances.swap_remove(at);
                return self.crowd.despawn(gone).unwrap();
            }
            3 => {
                let shown = self.random.below(3) > 0;
                return self.crowd.set_visible(self.instances[at], shown).unwrap();
            }
            4 => {
                self.snapshot = Some(Snapshot {
                    crowd: self.crowd.snapshot(),
                    instances: self.instances.clone(),
                    parameters: self.parameters.clone(),
                    loaded: self.loaded,
                });
                return;
            }
            5 => {
                // A snapshot of other clips is refused.
                if let Some(snapshot) = &self.snapshot
                    && snapshot.loaded == self.loaded
                {
                    self.crowd.restore(&snapshot.crowd).unwrap();
                    self.instances.clone_from(&snapshot.instances);
                    self.parameters.clone_from(&snapshot.parameters);
                }
                return;
            }
            6 => {
                // The place of an unloaded clip is taken by another: no plan may remember.
                self.loaded += 1;
                let last = self.clips.pop().unwrap();
                if self.crowd.unload_clip(last).is_err() {
                    self.clips.push(last);
                }
                let id = self.crowd.add_clip(self.rig, self.spare.clone()).unwrap();
                self.beside.clip(id, SPARE);
                if self.clips.len() < 12 {
                    self.clips.push(id);
                } else {
                    self.crowd.unload_clip(id).unwrap();
                }
                return;
            }
            _ => {}
        }
        let instance = self.instances[at];
        let mut player = self.crowd.player(instance).unwrap();
        let space = self.space;
        let refused = match kind {
            7 => player.play(layer, clip, &options),
            8 => player.fade_to(layer, clip, seconds, &options),
            9 => player.restart(layer, clip, &options),
            10 => player.add(layer, clip, &options),
            11 => player.fade(layer, clip, signed, seconds),
            12 => player.set_weight(layer, clip, signed),
            13 => player.stop(layer, clip, seconds),
            14 => player.stop_layer(layer, seconds),
            15 => player.set_layer_weight(layer, signed),
            16 => player.fade_layer(layer, signed, seconds),
            // What plays already keeps its parameter: it is set, so that it is known.
            17 => player
                .add(layer, space, &options)
                .and_then(|()| player.set_parameter(layer, space, options.parameter)),
            18 => player.set_parameter(layer, space, parameter),
            _ => player.cross_fade(layer, clip, other, CrossFade::from(seconds), &options),
        };
        match kind {
            17 if refused.is_ok() => self.parameters.insert((instance, layer), options.parameter.x),
            18 if refused.is_ok() => self.parameters.insert((instance, layer), parameter),
            _ => None,
        };
    }

    /// Compares all rows of one instance with the oracle's; returns how many, and how many are left out: those
    /// that depend on which action of a layer was started first, which the crowd does not say.
    fn compare_exact(
        &mut self,
        buffer: &BoneBuffer,
        instance: InstanceId,
        place: &str,
    ) -> [usize; 2] {
        let Some(range) = self.crowd.palette_range(instance) else {
            return [0, 0];
        };
        let parameter = |layer| self.parameters[&(instance, layer)];
        let Some(layers) = self.beside.playing(&self.crowd, instance, parameter) else {
            return [0, range.len()];
        };
        let scene = &self.beside.scene;
        let wanted = reference::palette(scene, &layers);
        let otherwise = reference::palette(scene, &reference::reversed(&layers));
        let found = reference::wide(&buffer.rows()[range]);
        let (mut compared, mut left_out) = (0, 0);
        // Rows of rigid meshes follow those of the file's skins.
        for (k, (wanted, otherwise)) in wanted.iter().zip(&otherwise).enumerate() {
            if reference::apart(wanted, otherwise) > 1e-9 {
                left_out += 1;
                continue;
            }
            let off = reference::apart(&found[k], wanted);
            assert!(
                off <= EXACT,
                "{place}, {instance:?}, row {k}: {:?}, not {wanted:?}, off by {off:e}",
                found[k]
            );
            compared += 1;
        }
        [compared, left_out]
    }

    /// Compares some rows of every palette.
    fn compare(&mut self, buffer: &BoneBuffer, place: &str) -> usize {
        let rig = self.crowd.rig(self.rig).unwrap().clone();
        let mut compared = 0;
        for &instance in &self.instances {
            let Some(range) = self.crowd.palette_range(instance) else {
                continue;
            };
            let rows = &buffer.rows()[range];
            for (s, skin) in rig.skins().iter().enumerate() {
                for _ in 0..4 {
                    let k = self.random.below(skin.joints().len());
                    let joint = usize::from(skin.joints()[k]);
                    let Ok(model) = self.crowd.model_matrix(instance, joint) else {
                        continue;
                    };
                    let expected = (model * skin.inverse_bind()[k]).to_cols_array();
                    let row = rows[rig.palette_offset(s) + k].to_cols_array();
                    for (a, b) in row.into_iter().zip(expected) {
                        assert!(
                            (a - b).abs() <= TOLERANCE,
                            "{place}, {instance:?}, joint {joint}: {row:?}, not {expected:?}"
                        );
                    }
                    compared += 1;
                }
            }
        }
        compared
    }
}

/// One test, since the level is the process's.
pub fn plans_hold_at_every_level() {
    for level in SimdLevel::supported() {
        level.set().unwrap();
        rows_stored_past_the_caches_have_the_same_bits();
    }
    settled_frames_follow_the_level();
    plans_follow_every_call();
}

/// A frame that asks what the last one asked keeps its plans, which are made for one register width.
fn settled_frames_follow_the_level() {
    let rig = Arc::new(phalanx::import::mannequin().unwrap());
    let crowd = || {
        let (mut crowd, _) = phalanx_workload::standard_crowd(rig.clone(), &[], SOME).unwrap();
        crowd.advance(0.1).unwrap();
        crowd
    };
    let levels: Vec<SimdLevel> = SimdLevel::supported().collect();
    for before in &levels {
        for after in &levels {
            before.set().unwrap();
            let (mut settled, mut rows) = (crowd(), BoneBuffer::new());
            for _ in 0..4 {
                settled.evaluate(&mut rows);
            }
            after.set().unwrap();
            settled.evaluate(&mut rows);
            let mut wanted = BoneBuffer::new();
            crowd().evaluate(&mut wanted);
            assert!(rows.rows() == wanted.rows(), "from {before} to {after}");
        }
    }
}

/// Has some joints stand still in every clip, each time otherwise: some of them close to each other or
/// to the negative, which is the same rotation, and some far apart.
fn stand_still(raw: &mut RawScene) -> usize {
    let mut stands = 0;
    for (c, clip) in raw.clips.iter_mut().enumerate() {
        for track in &mut clip.tracks {
            let angle = match track.node % 3 {
                0 => 0.3,
                1 => 2.5,
                _ => continue,
            } * c as f32;
            if track.channel == RawChannel::Rotation {
                let sign = if c % 2 == 0 { 1.0 } else { -1.0 };
                let q = Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), angle) * sign;
                track.values.as_chunks_mut().0.fill(q.to_array());
                stands += 1;
            }
        }
    }
    stands
}

fn plans_follow_every_call() {
    let (name, bytes) = MANNEQUIN[0];
    let (mut raw, _) = read_slice(bytes, name, None, &ImportOptions::default()).unwrap();
    follow_every_call(&raw, 1..=3);
    assert!(stand_still(&mut raw) > 100);
    follow_every_call(&raw, 4..=5);
}

fn follow_every_call(raw: &RawScene, seeds: RangeInclusive<u64>) {
    let rig = Arc::new(build_rig(raw.clone(), &BuildOptions::default()).unwrap());
    let levels: Vec<SimdLevel> = SimdLevel::supported().collect();
    let mut compared = 0;
    let mut exact = [0, 0];
    let mut buffer = BoneBuffer::new();
    for seed in seeds {
        let mut play = Play::new(raw, &rig, seed);
        for frame in 0..FRAMES {
            for _ in 0..CALLS_PER_FRAME {
                play.call();
            }
            if play.random.below(3) > 0 {
                let dt = f64::from(play.random.unit()) * 0.1 - 0.02;
                play.crowd.advance(dt).unwrap();
            }
            if play.random.below(4) == 0 {
                levels[play.random.below(levels.len())].set().unwrap();
            }
            play.crowd.evaluate(&mut buffer);
            let level = SimdLevel::current();
            let place = format!("seed {seed}, frame {frame}, {level}");
            compared += play.compare(&buffer, &place);
            let instance = play.instances[frame % play.instances.len()];
            let rows = play.compare_exact(&buffer, instance, &place);
            exact = [exact[0] + rows[0], exact[1] + rows[1]];
        }
    }
    println!("{exact:?} rows compared with the oracle's and left out");
    assert!(exact[0] > exact[1], "{exact:?} rows compared and left out");
    assert!(compared > 1000, "{compared} rows compared");
}

/// Characters of the built-in model whose palettes are stored past the caches, and some that are
/// compared with plain stores.
const MANY: usize = 11_200;
const SOME: usize = 40;

fn rows_stored_past_the_caches_have_the_same_bits() {
    let rig = Arc::new(phalanx::import::mannequin().unwrap());
    let (mut crowd, _) = phalanx_workload::standard_crowd(rig, &[], MANY).unwrap();
    crowd.advance(0.1).unwrap();
    let instances: Vec<InstanceId> = crowd.instances().collect();
    let (mut all, mut few) = (BoneBuffer::new(), BoneBuffer::new());
    let stats = crowd.evaluate(&mut all);
    assert!(stats.bytes > 24 << 20, "{} bytes are stored plainly", stats.bytes);
    let rows = stats.rows / MANY * SOME;
    for &instance in &instances[SOME..] {
        crowd.set_visible(instance, false).unwrap();
    }
    assert_eq!(crowd.evaluate(&mut few).rows, rows);
    // They stay where they are, and the rest of their bank with them.
    assert_eq!(few.rows()[..rows], all.rows()[..rows]);
}
