//! The clips that characters play: the standard crowd at first, then crossfades over time.

use super::super::error::CliError;
use super::super::model::Model;
use super::formation::Formation;
use glam::Vec3;
use phalanx::crowd::{ClipId, Crowd, InstanceId, PlayOptions};
use phalanx::playback::PoseAction;
use phalanx::rig::{Aabb, Rig};
use phalanx_workload::{PARADE, hash01, standard_crowd};
use std::ops::Range;
use std::sync::Arc;

/// Largest distance between a joint's first and last position, relative to the model's size, for a clip
/// to count as a loop. Loops of the test models stay below 0.02; a stride or a fall is above 0.2.
const LOOP_TOLERANCE: f32 = 0.08;

/// Largest horizontal drift of the joints' centre, relative to the model's size, for a clip to count as in
/// place. A dance stays below 0.2; a walk across a room is above 0.5.
const PLACE_TOLERANCE: f32 = 0.3;

/// Number of times at which the position is sampled.
const MOMENTS: usize = 8;

/// Duration of a crossfade, and of one frame, in seconds.
const FADE: f32 = 0.4;
pub const FRAME: f64 = 1.0 / 60.0;

/// Frames between crossfades of one character; about one character in nine is fading at any time.
const FADE_EVERY: Range<u64> = 140..300;

/// Range of playback speeds after a fade, as in the standard crowd.
const SPEEDS: Range<f32> = 0.8..1.2;

/// The clips to play.
#[derive(Debug)]
pub struct Choice {
    /// Clip indices.
    pub clips: Vec<usize>,
    /// True if the clips travel; the picture then moves every character back to its position.
    pub travel: bool,
}

/// All clips that loop in place; if there are none, all clips longer than 0 s.
pub fn choose_clips(model: &Model) -> Result<Choice, CliError> {
    let clips = model.rig.clips();
    if model.built_in {
        let found = PARADE.iter().filter_map(|name| model.rig.find_clip(name));
        return Ok(Choice { clips: found.collect(), travel: false });
    }
    let moving: Vec<usize> = (0..clips.len()).filter(|&c| clips[c].duration() > 0.0).collect();
    let mut loops = Vec::new();
    for &clip in &moving {
        if loops_in_place(model, clip)? {
            loops.push(clip);
        }
    }
    let travel = loops.is_empty() && !moving.is_empty();
    let clips = if travel { moving } else { loops };
    Ok(Choice { clips, travel })
}

fn loops_in_place(model: &Model, clip: usize) -> Result<bool, CliError> {
    let duration = model.rig.clips()[clip].duration();
    let joints = |time| -> Result<Vec<Vec3>, CliError> {
        let pose = model.pose(&[PoseAction { clip, time, weight: 1.0 }])?;
        let joints = model.rig.nodes().iter().zip(&pose.worlds);
        let joints = joints.filter(|(node, _)| node.joint.is_some());
        Ok(joints.map(|(_, world)| world.transform_point3(Vec3::ZERO)).collect())
    };
    let middle = |joints: &[Vec3]| joints.iter().sum::<Vec3>() / joints.len().max(1) as f32;
    let first = joints(0.0)?;
    let mut size = Aabb::EMPTY;
    first.iter().for_each(|&p| size.add(p));
    let size = 2.0 * size.half_size().length();
    let pairs = first.iter().zip(joints(duration)?);
    let gap = pairs.fold(0.0f32, |gap, (&a, b)| gap.max(a.distance(b)));
    let mut wandered = 0.0f32;
    for moment in 1..MOMENTS {
        let joints = joints(duration * moment as f32 / MOMENTS as f32)?;
        let way = middle(&joints) - middle(&first);
        wandered = wandered.max(way.with_y(0.0).length());
    }
    Ok(gap <= LOOP_TOLERANCE * size && wandered <= PLACE_TOLERANCE * size)
}

/// The characters of a crowd and their clips.
#[derive(Debug)]
pub struct Cast {
    instances: Vec<InstanceId>,
    clips: Vec<ClipId>,
    /// Index in `clips` that each character plays or fades to.
    playing: Vec<u32>,
    frame: u64,
    /// Number of crossfades started so far; the standard crowd's are not counted.
    pub fades: u64,
}

impl Cast {
    /// The standard crowd of a rig in formation.
    pub fn new(
        rig: &Arc<Rig>,
        clips: &[usize],
        formation: &Formation,
    ) -> Result<(Self, Crowd), CliError> {
        let count = formation.count();
        let (mut crowd, instances) = standard_crowd(rig.clone(), clips, count)?;
        // Neighbours in the crowd play successive clips; shuffled positions hide the pattern.
        let mut places: Vec<u32> = (0..count as u32).collect();
        places.sort_by_cached_key(|&i| draw(i as usize, Draw::Place).to_bits());
        for (&instance, &place) in instances.iter().zip(&places) {
            crowd.set_world(instance, formation.place(place as usize))?;
        }
        let rig = instances.first().map(|i| i.rig());
        let clips = clips.iter().filter_map(|&c| crowd.clip_by_index(rig?, c));
        let mut cast = Self {
            clips: clips.collect(),
            playing: vec![0; instances.len()],
            instances,
            frame: 0,
            fades: 0,
        };
        cast.restart();
        Ok((cast, crowd))
    }

    /// Resets to the first frame, for a crowd that was restored to it.
    pub fn restart(&mut self) {
        self.frame = 0;
        self.fades = 0;
        for (i, playing) in self.playing.iter_mut().enumerate() {
            // As in the standard crowd: successive clips, and every fourth character fades to the next one.
            let clip = i + usize::from(i % 4 == 3);
            *playing = (clip % self.clips.len().max(1)) as u32;
        }
    }

    /// Starts the crossfades of the next frame. Does not allocate.
    pub fn direct(&mut self, crowd: &mut Crowd) -> Result<(), CliError> {
        self.frame += 1;
        let clips = self.clips.len();
        if clips < 2 {
            return Ok(());
        }
        for (i, &instance) in self.instances.iter().enumerate() {
            let span = (FADE_EVERY.end - FADE_EVERY.start) as f64;
            let every = FADE_EVERY.start + (draw(i, Draw::Pace) * span) as u64;
            let turn = self.frame + (draw(i, Draw::Turn) * every as f64) as u64;
            if !turn.is_multiple_of(every) {
                continue;
            }
            // Any clip but the one playing.
            let step = 1 + (draw(i, Draw::Next(turn / every)) * (clips - 1) as f64) as usize;
            let next = (self.playing[i] as usize + step) % clips;
            self.playing[i] = next as u32;
            let options = PlayOptions {
                speed: SPEEDS.start + (SPEEDS.end - SPEEDS.start) * draw(i, Draw::Speed) as f32,
                ..PlayOptions::default()
            };
            crowd.fade_to(instance, self.clips[next], FADE, &options)?;
            self.fades += 1;
        }
        Ok(())
    }
}

/// Purpose of a random number.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    Place,
    Speed,
    Pace,
    Turn,
    Next(u64),
    OffsetX,
    OffsetZ,
    Heading,
    Tint,
    Shade,
}

/// A pseudo-random number in [0, 1), the same in every run.
pub fn draw(character: usize, draw: Draw) -> f64 {
    let key = match draw {
        Draw::Place => 0,
        Draw::Speed => 1,
        Draw::Pace => 2,
        Draw::Turn => 3,
        Draw::OffsetX => 4,
        Draw::OffsetZ => 5,
        Draw::Heading => 6,
        Draw::Tint => 7,
        Draw::Shade => 8,
        Draw::Next(n) => 9 + n,
    };
    // Disjoint from the standard crowd's seeds, which count from 0.
    hash01((character as u64) << 24 ^ key << 1 ^ 1 << 63)
}
