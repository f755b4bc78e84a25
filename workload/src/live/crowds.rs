//! Crowds of one rig: characters that play clips of a library, are read joint by joint, or have overrides.

use super::scene::{Around, LiveError, find_joint};
use crate::{Workload, WorkloadClips, hash01};
use glam::Quat;
use phalanx::crowd::{
    BlendSpace, BoneBuffer, ClipId, CrossFade, Crowd, FadeKind, InstanceId, PlayOptions, PoseSpace,
    PoseStage, RigId,
};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx::skeleton::Trs;
use std::hash::{DefaultHasher, Hasher};
use std::hint::black_box;
use std::sync::Arc;

/// A crowd and its bone buffer.
#[derive(Debug)]
pub struct Playing {
    /// The crowd.
    pub crowd: Crowd,
    /// The palettes of the crowd.
    pub buffer: BoneBuffer,
    /// All characters, in palette order.
    pub instances: Vec<InstanceId>,
}

impl Playing {
    /// A crowd with memory for its palettes.
    ///
    /// # Errors
    /// If there is no memory for the palettes.
    pub fn new(crowd: Crowd) -> Result<Self, LiveError> {
        let instances: Vec<InstanceId> = crowd.instances().collect();
        let mut rows = 0;
        for instance in &instances {
            rows += crowd.rig(instance.rig())?.palette_len();
        }
        let mut buffer = BoneBuffer::new();
        buffer.try_reserve(rows)?;
        Ok(Self { crowd, buffer, instances })
    }

    /// The crowd of [`Workload::crowd`].
    ///
    /// # Errors
    /// If the crowd rejects the rig or a clip.
    pub fn workload(
        workload: Workload,
        rig: Arc<Rig>,
        clips: &WorkloadClips,
        count: usize,
    ) -> Result<Self, LiveError> {
        Self::new(workload.crowd(rig, clips, count)?.0)
    }

    /// `count` characters that play one clip each, all in an inertial fade from another one. The fades last for ten
    /// minutes: what is left of an offset costs the same.
    ///
    /// # Errors
    /// If the crowd rejects the rig or a clip, or has no room for so many offsets.
    pub fn inertial(rig: Arc<Rig>, clips: &WorkloadClips, count: usize) -> Result<Self, LiveError> {
        let mut playing = Self::workload(Workload::C1, rig, clips, count)?;
        let Self { crowd, instances, .. } = &mut playing;
        crowd.advance(1.0 / 60.0)?;
        let fade = CrossFade { seconds: 600.0, kind: FadeKind::Inertial, ..CrossFade::default() };
        for (n, &i) in instances.iter().enumerate() {
            let from = crowd.playing(i)?.clips().next();
            let to = clips.clips[(n + 1) % clips.clips.len()];
            if let (Some(from), Some(to)) = (from, crowd.clip_by_index(i.rig(), to)) {
                let options = PlayOptions { time: hash01(n as u64), ..PlayOptions::default() };
                crowd.player(i)?.cross_fade(0, from, to, fade, &options)?;
            }
        }
        Ok(playing)
    }

    /// `count` characters of a library: each plays one clip, or with `two` a blend of two at half weight.
    /// Neighbours play different clips.
    ///
    /// # Errors
    /// If the crowd rejects the rig.
    pub fn variety(library: Arc<Rig>, count: usize, two: bool) -> Result<Self, LiveError> {
        let mut crowd = Crowd::new();
        let rig = crowd.add_rig(library)?;
        let clips = clips_of(&crowd, rig)?;
        for i in 0..count {
            let instance = crowd.spawn(rig)?;
            // A large prime takes the clips in an order in which neighbours are far apart.
            let first = i * 7_919 % clips.len();
            let second = (first + 1 + pick(i as u64 * 4 + 1, clips.len() - 1)) % clips.len();
            let both = [first, second];
            for (k, &clip) in both[..1 + usize::from(two)].iter().enumerate() {
                let (clip, duration) = clips[clip];
                let options = PlayOptions {
                    time: hash01(i as u64 * 4 + 2 + k as u64) * duration,
                    weight: if two { 0.5 } else { 1.0 },
                    ..PlayOptions::default()
                };
                // The second of two equal clips of a library of one would change the first.
                if k == 0 || first != second {
                    crowd.player(instance)?.add(0, clip, &options)?;
                }
            }
        }
        Self::new(crowd)
    }

    /// `count` characters that play three of nine clips at equal weights: by a blend space in a plane, or with `apart`
    /// the same clips by three actions at the same times.
    ///
    /// # Errors
    /// If the crowd rejects the rig.
    pub fn thirds(library: Arc<Rig>, count: usize, apart: bool) -> Result<Self, LiveError> {
        let mut crowd = Crowd::new();
        let rig = crowd.add_rig(library)?;
        let clips = clips_of(&crowd, rig)?;
        let whole = |i: usize| i as f32 - 1.0;
        let points = clips.iter().enumerate();
        let points: Vec<_> =
            points.map(|(i, clip)| ([whole(i % 3), whole(i / 3)], clip.0)).collect();
        let space = crowd.add_blend_space(rig, BlendSpace::plane(&points))?;
        for i in 0..count {
            let instance = crowd.spawn(rig)?;
            let phase = hash01(i as u64 * 4 + 2);
            let parameter = middle(i).into();
            let options = PlayOptions { time: phase, parameter, ..PlayOptions::default() };
            crowd.play(instance, space, &options)?;
            if apart {
                let three: Vec<ClipId> = crowd.playing(instance)?.clips().collect();
                crowd.player(instance)?.stop_all(0.0)?;
                for clip in three {
                    let time = phase * f64::from(crowd.clip(clip)?.duration());
                    let options = PlayOptions { time, weight: 1.0 / 3.0, ..PlayOptions::default() };
                    crowd.player(instance)?.add(0, clip, &options)?;
                }
            }
        }
        Self::new(crowd)
    }
}

/// The parameter of a character in a plane of nine clips at whole numbers from -1 to 1: the middle of a triangle.
fn middle(i: usize) -> [f32; 2] {
    let corner = |k: u64| pick(i as u64 * 4 + k, 2) as f32 - 1.0;
    let aside = [1.0 / 3.0, 2.0 / 3.0][pick(i as u64 * 4 + 3, 2)];
    [corner(1) + aside, corner(2) + aside]
}

/// A rig's clips and their durations.
pub(super) fn clips_of(crowd: &Crowd, rig: RigId) -> Result<Vec<(ClipId, f64)>, LiveError> {
    let count = crowd.rig(rig)?.clips().len();
    let mut clips = Vec::with_capacity(count);
    for clip in 0..count {
        let id = crowd.clip_by_index(rig, clip);
        let id = id.ok_or(LiveError::Clip { clip, clips: count })?;
        clips.push((id, f64::from(crowd.clip(id)?.duration())));
    }
    Ok(clips)
}

/// A pseudo-random index below `count`; 0 if there is none.
pub(super) fn pick(seed: u64, count: usize) -> usize {
    ((hash01(seed) * count as f64) as usize).min(count.saturating_sub(1))
}

impl Around for Playing {
    fn playing(&self) -> &Playing {
        self
    }

    fn playing_mut(&mut self) -> &mut Playing {
        self
    }
}

/// A joint of the rig of the first character.
pub(super) fn joint_of(playing: &Playing, parts: &[&str]) -> Result<usize, LiveError> {
    let Some(first) = playing.instances.first() else {
        return Ok(0);
    };
    let rig = playing.crowd.rig(first.rig())?;
    Ok(find_joint(rig.skeleton(), parts))
}

/// A crowd of which hands and feet are watched, and read after each frame.
#[derive(Debug)]
pub struct WatchedJoints {
    playing: Playing,
}

impl WatchedJoints {
    /// Watches two hands and two feet of every character.
    ///
    /// # Errors
    /// If a character is unknown.
    pub fn new(mut playing: Playing) -> Result<Self, LiveError> {
        if let Some(first) = playing.instances.first() {
            let rig = first.rig();
            let names: [&[&str]; 4] = [
                &["righthand", "hand"],
                &["lefthand", "hand"],
                &["rightfoot", "foot"],
                &["leftfoot", "foot"],
            ];
            let mut joints = Vec::with_capacity(names.len());
            for parts in names {
                joints.push(joint_of(&playing, parts)?);
            }
            playing.crowd.watch(rig, &joints, PoseStage::After)?;
        }
        Ok(Self { playing })
    }
}

impl Around for WatchedJoints {
    fn playing(&self) -> &Playing {
        &self.playing
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.playing
    }

    fn update(&mut self) -> Result<(), LiveError> {
        for &instance in &self.playing.instances {
            let watched = self.playing.crowd.watched(instance, PoseStage::After)?;
            for model in watched.models {
                black_box(model.translation());
            }
        }
        Ok(())
    }

    fn hash(&self) -> u64 {
        let mut hash = DefaultHasher::new();
        hash.write_u64(self.playing.buffer.hash());
        for &instance in &self.playing.instances {
            let watched = self.playing.crowd.watched(instance, PoseStage::After);
            for model in watched.iter().flat_map(|w| w.models) {
                for number in model.rows.as_flattened() {
                    hash.write_u64(number.to_bits().into());
                }
            }
        }
        hash.finish()
    }
}

/// A crowd whose every character has the override of one joint, a new one in each frame, as a look-at or inverse
/// kinematics set it.
#[derive(Debug)]
pub struct Overridden {
    playing: Playing,
    joint: usize,
    /// Local matrices, made in advance: their cost is not counted.
    turns: Vec<Affine3x4>,
    frame: usize,
    /// The matrices of a frame, if they are set by one call.
    batch: Option<Vec<Affine3x4>>,
}

/// Number of matrices that characters take in turn. It shares no factor with the numbers of characters.
const TURNS: usize = 61;

impl Overridden {
    /// Overrides the head of every character: by a call each, or with `batch` by one call.
    ///
    /// # Errors
    /// If a character is unknown.
    pub fn new(playing: Playing, batch: bool) -> Result<Self, LiveError> {
        let joint = joint_of(&playing, &["head"])?;
        let rest = match playing.instances.first() {
            Some(first) => playing.crowd.rig(first.rig())?.skeleton().rest(joint),
            None => Trs::IDENTITY,
        };
        let turns = (0..TURNS).map(|i| {
            let angle = 0.4 * (i as f32 / TURNS as f32 * std::f32::consts::TAU).sin();
            let turned = Trs { rotation: Quat::from_rotation_y(angle) * rest.rotation, ..rest };
            phalanx::math::Affine3x4::from(turned)
        });
        Ok(Self { playing, joint, turns: turns.collect(), frame: 0, batch: batch.then(Vec::new) })
    }
}

impl Around for Overridden {
    fn playing(&self) -> &Playing {
        &self.playing
    }

    fn playing_mut(&mut self) -> &mut Playing {
        &mut self.playing
    }

    fn requests(&mut self) -> Result<(), LiveError> {
        let first = self.frame;
        self.frame += 1;
        let Playing { crowd, instances, .. } = &mut self.playing;
        let turn = |i: usize| self.turns[(first + i) % TURNS];
        if let Some(locals) = &mut self.batch {
            locals.clear();
            locals.extend((0..instances.len()).map(turn));
            if let Some(one) = instances.first() {
                crowd.set_overrides(
                    one.rig(),
                    &[self.joint],
                    instances,
                    locals,
                    PoseSpace::Local,
                    &[1.0],
                )?;
            }
            return Ok(());
        }
        for (i, &instance) in instances.iter().enumerate() {
            crowd.player(instance)?.set_override(self.joint, turn(i))?;
        }
        Ok(())
    }
}
