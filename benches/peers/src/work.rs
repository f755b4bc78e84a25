//! The workloads, played by both sides.

use crate::host::Character;
use crate::ozz::{Library, OzzCrowd};
use phalanx::build::raw_joints;
use phalanx::crowd::{ClipId, Crowd, InstanceId};
use phalanx::import::raw::RawScene;
use phalanx::rig::Rig;
use phalanx_workload::Workload;
use phalanx_workload::live::{Churn, FADE_SECONDS, FRAME, LiveError, Models, Playing, Scene};
use phalanx_workload::subject::{Subject, SubjectOptions};
use std::collections::HashMap;
use std::error::Error;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Clips of the library of variety and churn.
pub const CLIPS: usize = 300;

/// What every character plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// One of three clips.
    C1,
    /// Two of three clips, half and half.
    C2,
    /// One clip of a library each.
    Variety,
    /// The same, and two in a hundred begin a crossfade in each frame.
    Churn,
}

impl Kind {
    pub const ALL: [Self; 4] = [Self::C1, Self::C2, Self::Variety, Self::Churn];

    pub fn name(self) -> String {
        match self {
            Self::C1 => "C1, one clip each".into(),
            Self::C2 => "C2, two clips each".into(),
            Self::Variety => format!("variety, {CLIPS} clips"),
            Self::Churn => format!("churn, {CLIPS} clips"),
        }
    }

    fn of_library(self) -> bool {
        matches!(self, Self::Variety | Self::Churn)
    }
}

/// A rig in the forms that both sides and the oracle need.
#[derive(Clone)]
pub struct Assets {
    pub rig: Arc<Rig>,
    pub raw: Rc<RawScene>,
    pub library: Rc<Library>,
}

/// A model and its libraries.
pub struct Source {
    pub subject: Subject,
    models: Models,
    made: HashMap<bool, Assets>,
}

impl Source {
    /// # Errors
    /// If the file cannot be read.
    pub fn load(file: &Path) -> Result<Self, Box<dyn Error>> {
        let subject = Subject::load(Some(file), &SubjectOptions::default())?;
        let models = Models::new(&subject.rig, &subject.clips);
        Ok(Self { subject, models, made: HashMap::new() })
    }

    /// The rig of a workload. Keys are those of the file, or of the library that was made from it, on both sides.
    ///
    /// # Errors
    /// If a rig or an archive cannot be made.
    pub fn assets(&mut self, kind: Kind) -> Result<Assets, Box<dyn Error>> {
        if let Some(made) = self.made.get(&kind.of_library()) {
            return Ok(made.clone());
        }
        let (rig, raw) = match kind.of_library() {
            false => (self.subject.rig.clone(), self.subject.raw.clone()),
            true => {
                let rig = self.models.library(CLIPS)?;
                let raw = raw_joints(&rig);
                (rig, raw)
            }
        };
        let library = Rc::new(Library::new(&raw, &rig)?);
        let assets = Assets { rig, raw: Rc::new(raw), library };
        self.made.insert(kind.of_library(), assets.clone());
        Ok(assets)
    }
}

/// The crowd of Phalanx.
pub enum Ours {
    Steady(Playing),
    Churn(Churn),
}

/// One workload on both sides, with equal characters.
pub struct Pair {
    pub ours: Ours,
    pub ozz: OzzCrowd,
    /// The crowd's clips by index.
    pub clips: Vec<ClipId>,
    /// Number of crossfades that ozz's side has begun.
    begun: u64,
}

impl Pair {
    /// # Errors
    /// If a crowd cannot be made.
    pub fn new(kind: Kind, count: usize, source: &mut Source) -> Result<Self, Box<dyn Error>> {
        let Assets { rig, library, .. } = source.assets(kind)?;
        let clips = &source.subject.clips;
        let ours = match kind {
            Kind::C1 => Ours::Steady(Playing::workload(Workload::C1, rig, clips, count)?),
            Kind::C2 => Ours::Steady(Playing::workload(Workload::C2, rig, clips, count)?),
            Kind::Variety => Ours::Steady(Playing::variety(rig, count, false)?),
            Kind::Churn => Ours::Churn(Churn::new(rig, count)?),
        };
        let Playing { crowd, instances, .. } = ours.playing();
        let rig = instances[0].rig();
        let clips = (0..crowd.rig(rig)?.clips().len()).map(|i| crowd.clip_by_index(rig, i));
        let clips = clips.collect::<Option<Vec<ClipId>>>().ok_or("a clip without a handle")?;
        let mut characters = Vec::with_capacity(instances.len());
        for &instance in instances {
            let mut character = Character::default();
            for (clip, time, weight) in playing(crowd, instance, &clips)? {
                character.add(clip, time, weight, library.tracks());
            }
            characters.push(character);
        }
        Ok(Self { ozz: OzzCrowd::new(library, characters), ours, clips, begun: 0 })
    }

    /// Frames of ozz: times and weights, jobs and, if asked for, palettes. The beginning of crossfades is not counted,
    /// as with Phalanx.
    ///
    /// # Errors
    /// If a job fails.
    pub fn run_ozz(&mut self, frames: u32, palettes: bool) -> Result<Duration, Box<dyn Error>> {
        let mut counted = Duration::ZERO;
        let Ours::Churn(churn) = &self.ours else {
            let start = Instant::now();
            for _ in 0..frames {
                self.ozz.advance(FRAME);
                self.ozz.evaluate(palettes)?;
            }
            return Ok(start.elapsed());
        };
        for _ in 0..frames {
            let OzzCrowd { characters, library, .. } = &mut self.ozz;
            for _ in 0..churn.fades() {
                let fade = Churn::fade(self.begun, characters.len(), library.durations.len());
                self.begun += 1;
                let time = fade.phase * library.durations[fade.clip];
                let character = &mut characters[fade.character];
                character.fade_to(fade.clip, time, FADE_SECONDS.into(), library.tracks());
            }
            let start = Instant::now();
            self.ozz.advance(FRAME);
            self.ozz.evaluate(palettes)?;
            counted += start.elapsed();
        }
        Ok(counted)
    }

    /// Number of characters that do not play the same on both sides, after the same number of frames.
    ///
    /// # Errors
    /// If an instance is unknown.
    pub fn differences(&self) -> Result<usize, Box<dyn Error>> {
        let Playing { crowd, instances, .. } = self.ours.playing();
        let mut different = 0;
        for (&instance, character) in instances.iter().zip(&self.ozz.characters) {
            let ours = seen(playing(crowd, instance, &self.clips)?);
            let ozz = character.actions.iter().map(|a| (a.clip, a.time, a.weight));
            let ozz = seen(ozz.collect());
            let near = |a: f64, b: f64| (a - b).abs() < 1e-4;
            let same = |(a, b): (&State, &State)| a.0 == b.0 && near(a.1, b.1) && near(a.2, b.2);
            let all = ours.len() == ozz.len() && ours.iter().zip(&ozz).all(same);
            different += usize::from(!all);
        }
        Ok(different)
    }
}

impl Ours {
    pub fn playing(&self) -> &Playing {
        match self {
            Self::Steady(playing) => playing,
            Self::Churn(churn) => churn.crowd(),
        }
    }

    /// Runs frames on the current rayon pool. The time is of `advance` and `evaluate`.
    ///
    /// # Errors
    /// If a call fails.
    pub fn run(&mut self, frames: u32) -> Result<Duration, LiveError> {
        let mut counted = Duration::ZERO;
        match self {
            Self::Churn(churn) => {
                for _ in 0..frames {
                    let times = churn.timed_frame()?;
                    counted += times.advance + times.evaluate;
                }
            }
            Self::Steady(playing) => {
                let start = Instant::now();
                for _ in 0..frames {
                    playing.frame()?;
                }
                counted = start.elapsed();
            }
        }
        Ok(counted)
    }
}

/// Clip, time and weight of an action.
type State = (usize, f64, f64);

/// Clips that have a weight, in their order in the file. A fade may end a frame sooner on one side.
fn seen(mut all: Vec<State>) -> Vec<State> {
    all.retain(|action| action.2 > 1e-4);
    all.sort_by_key(|action| action.0);
    all
}

/// What an instance plays.
fn playing(
    crowd: &Crowd,
    instance: InstanceId,
    clips: &[ClipId],
) -> Result<Vec<State>, Box<dyn Error>> {
    let playing = crowd.playing(instance)?;
    let mut out = Vec::new();
    for id in playing.clips() {
        let clip = clips.iter().position(|&c| c == id).ok_or("an unknown clip")?;
        let state = playing.action(0, id)?;
        out.push((clip, state.time, f64::from(state.weight)));
    }
    Ok(out)
}
