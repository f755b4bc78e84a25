//! `Case`: one thing that is measured, and how its scene is made.

use super::attachments::Swords;
use super::churn::Churn;
use super::crowds::{Overridden, Playing, WatchedJoints};
use super::many::{ManyRigs, Mixers};
use super::models::Models;
use super::posed::{Aimed, AllPoses, GivenPoses, Hooks, Standing};
use super::scene::{FrameTimes, LiveError, Scene};
use super::springs::swing;
use crate::{Workload, WorkloadClips};
use std::time::Duration;

/// The work of the characters of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A reference workload.
    Workload(Workload),
    /// One clip of a library each.
    OneClip,
    /// Two clips of a library each, half and half.
    TwoClips,
    /// Crossfades that begin in each frame.
    Churn,
    /// C1, of which `evaluate` alone is counted.
    Evaluate,
    /// C1 with a sword each, on mirrors of the hand alone: `evaluate` and `update_scene`.
    Swords,
    /// [`Swords`](Self::Swords) on mirrors of all joints.
    FullMirrors,
    /// C1 with watched joints: `evaluate`, and the reads of all that it kept.
    Watched,
    /// C1 with the override of one joint each, set in each frame.
    Overrides,
    /// [`Overrides`](Self::Overrides), all set by one call.
    OverrideBatch,
    /// C1 with both feet on targets, set in each frame.
    Legs,
    /// C1 with looks at targets over neck and head, set in each frame.
    LookAt,
    /// C1 with both feet on hilly ground: the positions of feet are read, grounds found and set in each frame.
    Feet,
    /// C1, and the model matrices of all joints.
    AllPoses,
    /// C1 with a hook that turns five joints of everyone.
    Hook,
    /// C1 with a whole pose for everyone at weight 0.5, set in each frame.
    SetPoses,
    /// Three of nine clips of a library each, at equal weights, by three actions.
    Thirds,
    /// [`Thirds`](Self::Thirds) by a blend space in a plane.
    Plane,
    /// C1 with chains of hair that swing with `true`, and are at rest otherwise.
    Springs(bool),
    /// C1, everyone in an inertial fade from another clip.
    Inertial,
    /// C1 with many rigs.
    Rigs,
    /// C1 by mixers.
    Mixers,
    /// One clip each in which all joints move. The number is its duration, seconds.
    AllJoints(u32),
    /// One cubic clip each; with `true` still tangents carry float noise.
    Cubic(bool),
}

/// The configuration that a row of figures measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Case {
    /// The work of the characters.
    pub kind: Kind,
    /// Number of characters.
    pub count: usize,
    /// Number of different clips that they play.
    pub clips: usize,
    /// Number of rigs.
    pub rigs: usize,
    /// Number of threads.
    pub threads: usize,
}

impl Case {
    /// A case of one rig and three clips on one thread.
    pub const fn new(kind: Kind, count: usize) -> Self {
        Self { kind, count, clips: 3, rigs: 1, threads: 1 }
    }

    /// The case's name in rows; with numbers of characters, clips, rigs and threads it is unique.
    pub fn name(&self) -> String {
        match self.kind {
            Kind::Workload(workload) => format!("{workload:?}"),
            Kind::OneClip => "one clip each".into(),
            Kind::TwoClips => "two clips each".into(),
            Kind::Churn => "churn".into(),
            Kind::Evaluate => "C1, evaluate alone".into(),
            Kind::Swords => "swords".into(),
            Kind::FullMirrors => "swords, full mirrors".into(),
            Kind::Watched => "watched joints".into(),
            Kind::Overrides => "overrides".into(),
            Kind::OverrideBatch => "overrides, one call".into(),
            Kind::Legs => "two legs by inverse kinematics".into(),
            Kind::LookAt => "look-at over neck and head".into(),
            Kind::Feet => "feet".into(),
            Kind::AllPoses => "model_poses of all joints".into(),
            Kind::Hook => "hook".into(),
            Kind::SetPoses => "set_poses".into(),
            Kind::Thirds => "three clips by thirds".into(),
            Kind::Plane => "blend space in a plane".into(),
            Kind::Springs(true) => "springs".into(),
            Kind::Springs(false) => "springs at rest".into(),
            Kind::Inertial => "inertial fade".into(),
            Kind::Rigs => "rigs".into(),
            Kind::Mixers => "mixers".into(),
            Kind::AllJoints(seconds) => format!("all joints, {seconds} s"),
            Kind::Cubic(false) => "cubic".into(),
            Kind::Cubic(true) => "cubic, noise".into(),
        }
    }

    /// The part of a frame that the figure is of.
    pub fn counted(&self, times: &FrameTimes) -> Duration {
        match self.kind {
            Kind::Evaluate | Kind::Swords | Kind::FullMirrors | Kind::Watched => {
                times.evaluate + times.update
            }
            Kind::AllPoses => times.advance + times.evaluate + times.update,
            Kind::Overrides
            | Kind::OverrideBatch
            | Kind::Legs
            | Kind::LookAt
            | Kind::Feet
            | Kind::SetPoses => times.requests + times.advance + times.evaluate,
            _ => times.advance + times.evaluate,
        }
    }

    /// Whether the host makes calls before `advance` in each frame.
    pub fn requests(&self) -> bool {
        matches!(
            self.kind,
            Kind::Churn
                | Kind::Overrides
                | Kind::OverrideBatch
                | Kind::Legs
                | Kind::LookAt
                | Kind::Feet
                | Kind::SetPoses
        )
    }

    /// Makes the scene.
    ///
    /// # Errors
    /// If a rig cannot be made or a crowd rejects it.
    pub fn scene(&self, models: &mut Models) -> Result<Box<dyn Scene>, LiveError> {
        let count = self.count;
        let c1 = |models: &Models| {
            let rig = models.rig().clone();
            Playing::workload(Workload::C1, rig, models.clips(), count)
        };
        // Rigs of three clips, in order.
        let own = WorkloadClips { clips: [0, 1, 2], additive: None, mask: None };
        Ok(match self.kind {
            Kind::Workload(workload) => {
                let rig = models.rig().clone();
                Box::new(Playing::workload(workload, rig, models.clips(), count)?)
            }
            Kind::OneClip | Kind::TwoClips => {
                let two = self.kind == Kind::TwoClips;
                Box::new(Playing::variety(models.library(self.clips)?, count, two)?)
            }
            Kind::Churn => Box::new(Churn::new(models.library(self.clips)?, count)?),
            Kind::Evaluate => Box::new(c1(models)?),
            Kind::Swords => Box::new(Swords::new(c1(models)?, false)?),
            Kind::FullMirrors => Box::new(Swords::new(c1(models)?, true)?),
            Kind::Watched => Box::new(WatchedJoints::new(c1(models)?)?),
            Kind::Overrides => Box::new(Overridden::new(c1(models)?, false)?),
            Kind::OverrideBatch => Box::new(Overridden::new(c1(models)?, true)?),
            Kind::Legs => Box::new(Aimed::legs(c1(models)?)?),
            Kind::LookAt => Box::new(Aimed::look(c1(models)?)?),
            Kind::Feet => Box::new(Standing::new(c1(models)?)?),
            Kind::AllPoses => Box::new(AllPoses::new(c1(models)?)?),
            Kind::Hook => Box::new(Hooks::new(c1(models)?)?),
            Kind::SetPoses => Box::new(GivenPoses::new(c1(models)?)?),
            Kind::Thirds | Kind::Plane => {
                let apart = self.kind == Kind::Thirds;
                Box::new(Playing::thirds(models.library(self.clips)?, count, apart)?)
            }
            Kind::Springs(swings) => {
                let rig = models.haired()?;
                let playing = Playing::workload(Workload::C1, rig, models.clips(), count)?;
                Box::new(swing(playing, if swings { 1.0 } else { 0.0 })?)
            }
            Kind::Inertial => {
                let rig = models.rig().clone();
                Box::new(Playing::inertial(rig, models.clips(), count)?)
            }
            Kind::Rigs => {
                let rigs = models.copies(self.rigs)?;
                Box::new(ManyRigs::new(&rigs, count / self.rigs)?)
            }
            Kind::Mixers => Box::new(Mixers::new(models.rig(), models.clips().clips, count)?),
            Kind::AllJoints(seconds) => {
                let rig = models.long(seconds)?;
                Box::new(Playing::workload(Workload::C1, rig, &own, count)?)
            }
            Kind::Cubic(noise) => {
                let rig = models.cubic(noise)?;
                Box::new(Playing::workload(Workload::C1, rig, &own, count)?)
            }
        })
    }
}

/// The case in words: kind, characters, clips or rigs, and threads.
impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.name(), grouped(self.count))?;
        if matches!(
            self.kind,
            Kind::OneClip | Kind::TwoClips | Kind::Churn | Kind::Thirds | Kind::Plane
        ) {
            write!(f, ", {} clips", grouped(self.clips))?;
        }
        if self.kind == Kind::Rigs {
            let plural = if self.rigs == 1 { "" } else { "s" };
            write!(f, ", {} rig{plural}", grouped(self.rigs))?;
        }
        match self.threads {
            1 => Ok(()),
            threads => write!(f, ", {threads} threads"),
        }
    }
}

/// A number with thousands separators.
fn grouped(n: usize) -> String {
    match n {
        0..1_000 => n.to_string(),
        _ => format!("{},{:03}", grouped(n / 1_000), n % 1_000),
    }
}
