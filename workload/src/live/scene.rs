//! `Scene`: something whose frames are timed part by part.

use super::crowds::Playing;
use phalanx::build::BuildError;
use phalanx::crowd::CrowdError;
use phalanx::runtime::JobError;
use phalanx::scene::SceneError;
use phalanx::skeleton::Skeleton;
use std::hint::black_box;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Duration of a frame, in seconds.
pub const FRAME: f64 = 1.0 / 60.0;

/// Errors of making or running a living crowd.
#[derive(Debug, Error)]
pub enum LiveError {
    /// A rig of derived clips cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A clip of the rig cannot be sampled.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A call of a crowd or mixer failed.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// A call of the scene graph failed.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The rig lacks a clip of the workloads.
    #[error("there is no clip {clip}: the rig has {clips} clips")]
    Clip {
        /// Index of the clip.
        clip: usize,
        /// Number of clips of the rig.
        clips: usize,
    },
    /// No thread pool can be made for a case.
    #[error("no thread pool has {threads} threads")]
    Threads {
        /// Threads of the case.
        threads: usize,
    },
}

/// The time of each part of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameTimes {
    /// Calls of the host before `advance`: fades that begin, overrides that are set.
    pub requests: Duration,
    /// `advance`.
    pub advance: Duration,
    /// `evaluate`.
    pub evaluate: Duration,
    /// Work after the evaluation: an update of the scene graph, reads of joints.
    pub update: Duration,
}

/// Characters whose frames are timed. A frame calls the four parts in order.
pub trait Scene: Send {
    /// Number of characters.
    fn characters(&self) -> usize;

    /// Makes the host's calls of this frame.
    ///
    /// # Errors
    /// If a call fails.
    fn requests(&mut self) -> Result<(), LiveError> {
        Ok(())
    }

    /// Advances by [`FRAME`].
    ///
    /// # Errors
    /// If the call fails.
    fn advance(&mut self) -> Result<(), LiveError>;

    /// Evaluates all characters, on the current rayon pool.
    ///
    /// # Errors
    /// If the call fails.
    fn evaluate(&mut self) -> Result<(), LiveError>;

    /// Runs the work after the evaluation.
    ///
    /// # Errors
    /// If a call fails.
    fn update(&mut self) -> Result<(), LiveError> {
        Ok(())
    }

    /// A hash of all that the last frame computed. Equal for any number of threads.
    fn hash(&self) -> u64;

    /// Runs a frame.
    ///
    /// # Errors
    /// Those of its parts.
    fn frame(&mut self) -> Result<(), LiveError> {
        self.requests()?;
        self.advance()?;
        self.evaluate()?;
        self.update()
    }

    /// Runs a frame and times its parts.
    ///
    /// # Errors
    /// Those of its parts.
    fn timed_frame(&mut self) -> Result<FrameTimes, LiveError> {
        let mut last = Instant::now();
        let mut lap = || {
            let now = Instant::now();
            now - std::mem::replace(&mut last, now)
        };
        self.requests()?;
        let requests = lap();
        self.advance()?;
        let advance = lap();
        self.evaluate()?;
        let evaluate = lap();
        self.update()?;
        Ok(FrameTimes { requests, advance, evaluate, update: lap() })
    }
}

/// A crowd that plays, and the host's work around it: a [`Scene`].
pub trait Around: Send {
    /// The crowd.
    fn playing(&self) -> &Playing;

    /// The crowd, to be advanced and evaluated.
    fn playing_mut(&mut self) -> &mut Playing;

    /// [`Scene::requests`].
    ///
    /// # Errors
    /// If a call fails.
    fn requests(&mut self) -> Result<(), LiveError> {
        Ok(())
    }

    /// [`Scene::evaluate`].
    fn evaluate(&mut self) {
        let Playing { crowd, buffer, .. } = self.playing_mut();
        crowd.evaluate(buffer);
    }

    /// [`Scene::update`].
    ///
    /// # Errors
    /// If a call fails.
    fn update(&mut self) -> Result<(), LiveError> {
        Ok(())
    }

    /// [`Scene::hash`]: by default the hash of the palettes.
    fn hash(&self) -> u64 {
        self.playing().buffer.hash()
    }
}

impl<A: Around> Scene for A {
    fn characters(&self) -> usize {
        self.playing().instances.len()
    }

    fn requests(&mut self) -> Result<(), LiveError> {
        Around::requests(self)
    }

    fn advance(&mut self) -> Result<(), LiveError> {
        Ok(self.playing_mut().crowd.advance(FRAME)?)
    }

    fn evaluate(&mut self) -> Result<(), LiveError> {
        Around::evaluate(self);
        black_box(&self.playing().buffer);
        Ok(())
    }

    fn update(&mut self) -> Result<(), LiveError> {
        Around::update(self)
    }

    fn hash(&self) -> u64 {
        Around::hash(self)
    }
}

/// The joint with the shortest name that contains one of `parts` (lower case, preferred first); else the last
/// joint.
pub fn find_joint(skeleton: &Skeleton, parts: &[&str]) -> usize {
    let names: Vec<String> = skeleton.names().iter().map(|n| n.to_lowercase()).collect();
    let with = |part: &&str| {
        let found = names.iter().enumerate().filter(|(_, n)| n.contains(*part));
        found.min_by_key(|(_, n)| n.len()).map(|(joint, _)| joint)
    };
    let found = parts.iter().find_map(with);
    found.unwrap_or_else(|| skeleton.len().saturating_sub(1))
}
