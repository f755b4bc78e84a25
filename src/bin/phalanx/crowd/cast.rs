//! Who plays what: clips, phases and speeds by hash, and fades to other clips while time passes.

use super::super::error::CliError;
use super::super::model::Model;
use super::formation::Formation;
use glam::Vec3;
use phalanx::crowd::{ClipId, Crowd, InstanceId, PlayOptions, RigId};
use phalanx::playback::PoseAction;
use std::ops::Range;

/// The built-in character's clips that look well in a formation, in place and without an end.
const PARADE: [&str; 8] = [
    "Idle",
    "Walk",
    "Jog",
    "Run",
    "Wave",
    "Cheer",
    "Clap",
    "LookAround",
];

/// A clip counts as a loop in place if no joint ends further from where it began than this share of
/// the model's size. Loops of the test models stay below 0.02; a stride or a fall is above 0.2.
const LOOP_TOLERANCE: f32 = 0.08;

/// Seconds of a crossfade, and of one frame.
const FADE: f32 = 0.4;
pub const FRAME: f64 = 1.0 / 60.0;

/// Frames between the crossfades of one character: at any moment every ninth is fading.
const FADE_EVERY: Range<u64> = 140..300;

/// Speeds, relative to the clips' own.
const SPEEDS: Range<f32> = 0.85..1.15;

/// The clips to be played: all that loop in place, or if none does all that have a length.
pub fn choose_clips(model: &Model) -> Result<Vec<usize>, CliError> {
    let clips = model.rig.clips();
    if model.built_in {
        let found = PARADE.iter().filter_map(|name| model.rig.find_clip(name));
        return Ok(found.collect());
    }
    let moving: Vec<usize> = (0..clips.len())
        .filter(|&c| clips[c].duration() > 0.0)
        .collect();
    let mut loops = Vec::new();
    for &clip in &moving {
        if ends_where_it_began(model, clip)? {
            loops.push(clip);
        }
    }
    Ok(if loops.is_empty() { moving } else { loops })
}

fn ends_where_it_began(model: &Model, clip: usize) -> Result<bool, CliError> {
    let rig = &model.rig;
    let at = |time| {
        model.pose(&[PoseAction {
            clip,
            time,
            weight: 1.0,
        }])
    };
    let (first, last) = (at(0.0)?, at(rig.clips()[clip].duration())?);
    let place = |m: &phalanx::math::Affine3x4| m.transform_point3(Vec3::ZERO);
    let mut size = phalanx::rig::Aabb::EMPTY;
    let mut gap = 0.0f32;
    let pairs = first.worlds.iter().zip(&last.worlds).zip(rig.nodes());
    for ((a, b), _) in pairs.filter(|(_, node)| node.joint.is_some()) {
        size.add(place(a));
        gap = gap.max(place(a).distance(place(b)));
    }
    Ok(gap <= LOOP_TOLERANCE * 2.0 * size.half_size().length())
}

/// The characters of a crowd and what they play.
#[derive(Debug)]
pub struct Cast {
    instances: Vec<InstanceId>,
    clips: Vec<ClipId>,
    durations: Vec<f32>,
    /// The place in `clips` of what each plays or fades to.
    playing: Vec<u32>,
    frame: u64,
    /// Crossfades begun so far.
    pub fades: u64,
}

impl Cast {
    /// Spawns a character for every place of the formation, each playing a clip.
    pub fn new(
        crowd: &mut Crowd,
        rig: RigId,
        clips: &[usize],
        formation: &Formation,
    ) -> Result<Self, CliError> {
        let ids = clips.iter().filter_map(|&c| crowd.clip_by_index(rig, c));
        let clips: Vec<ClipId> = ids.collect();
        let durations = clips.iter().map(|&c| Ok(crowd.clip(rig, c)?.duration()));
        let durations = durations.collect::<Result<Vec<f32>, CliError>>()?;
        let count = formation.count();
        let mut cast = Self {
            instances: Vec::with_capacity(count),
            clips,
            durations,
            playing: vec![0; count],
            frame: 0,
            fades: 0,
        };
        for i in 0..count {
            let instance = crowd.spawn(rig)?;
            crowd.set_world(instance, formation.place(i))?;
            let pace = uniform(i, Draw::Speed) as f32;
            crowd.set_speed(instance, SPEEDS.start + (SPEEDS.end - SPEEDS.start) * pace)?;
            cast.instances.push(instance);
            let chosen = cast.first_clip(i);
            if let Some(&clip) = cast.clips.get(chosen) {
                let options = PlayOptions {
                    time: uniform(i, Draw::Phase) * f64::from(cast.durations[chosen]),
                    ..PlayOptions::default()
                };
                crowd.play(instance, clip, &options)?;
            }
        }
        cast.restart();
        Ok(cast)
    }

    /// Back to the first frame, for a crowd that was put back to it.
    pub fn restart(&mut self) {
        self.frame = 0;
        self.fades = 0;
        for i in 0..self.playing.len() {
            self.playing[i] = self.first_clip(i) as u32;
        }
    }

    /// Begins the crossfades of the next frame. Allocates nothing.
    pub fn direct(&mut self, crowd: &mut Crowd) -> Result<(), CliError> {
        self.frame += 1;
        let clips = self.clips.len();
        if clips < 2 {
            return Ok(());
        }
        for (i, &instance) in self.instances.iter().enumerate() {
            let span = FADE_EVERY.end - FADE_EVERY.start;
            let every = FADE_EVERY.start + hash(i, Draw::Pace) % span;
            let turn = self.frame + hash(i, Draw::Turn) % every;
            if !turn.is_multiple_of(every) {
                continue;
            }
            // Any clip but the one that plays.
            let step = 1 + (hash(i, Draw::Next(turn / every)) % (clips as u64 - 1)) as usize;
            let next = (self.playing[i] as usize + step) % clips;
            self.playing[i] = next as u32;
            crowd.fade_to(instance, self.clips[next], FADE, &PlayOptions::default())?;
            self.fades += 1;
        }
        Ok(())
    }

    fn first_clip(&self, i: usize) -> usize {
        (hash(i, Draw::Clip) % self.clips.len().max(1) as u64) as usize
    }
}

/// What a number is drawn for.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    Clip,
    Phase,
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

impl Draw {
    fn key(self) -> u64 {
        match self {
            Self::Clip => 1,
            Self::Phase => 2,
            Self::Speed => 3,
            Self::Pace => 4,
            Self::Turn => 5,
            Self::OffsetX => 6,
            Self::OffsetZ => 7,
            Self::Heading => 8,
            Self::Tint => 9,
            Self::Shade => 10,
            Self::Next(n) => 11u64.wrapping_add(n),
        }
    }
}

/// A number that looks random and is the same in every run (SplitMix64's output function).
pub fn hash(character: usize, draw: Draw) -> u64 {
    let mut z = (character as u64 + 1)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(draw.key().wrapping_mul(0xd1b5_4a32_d192_ed03));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The same as a number in [0, 1).
pub fn uniform(character: usize, draw: Draw) -> f64 {
    (hash(character, draw) >> 11) as f64 / (1u64 << 53) as f64
}
