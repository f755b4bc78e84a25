//! `Motions`: the clips and blend spaces of a pool, and the clips that an action plays. A clip is a space of one.

use super::action::Action;
use super::arena::Arena;
use super::blend_space::space::{Members, Space, pace_by};
use super::event_sink::Clips;
use super::ids::Source;

/// The clips and blend spaces that a pool can play, by index.
#[derive(Debug, Default)]
pub(crate) struct Motions {
    pub clips: Clips,
    pub spaces: Arena<Space>,
}

impl Motions {
    /// The clips of an action that have a weight, with their weights.
    #[inline(always)]
    pub fn members(&self, action: &Action) -> Members {
        match action.source() {
            Source::Clip(clip) => Members::alone(clip),
            Source::Space(space) => {
                let space = self.spaces.get(space);
                space.map_or(Members::NOTHING, |space| space.members(action.place()))
            }
        }
    }

    /// The clips of an action that have a weight.
    pub fn clips_of(&self, action: &Action) -> impl Iterator<Item = u16> + use<> {
        let members = self.members(action);
        (0..members.all().len()).map(move |i| members.all()[i].0)
    }

    /// All clips of a motion.
    pub fn all_clips(&self, source: Source) -> impl Iterator<Item = u16> {
        let (clip, space) = match source {
            Source::Clip(clip) => (Some(clip), None),
            Source::Space(space) => (None, self.spaces.get(space)),
        };
        let points = space.into_iter().flat_map(Space::points);
        clip.into_iter().chain(points.map(|p| p.clip))
    }

    /// Seconds of a clip.
    pub fn duration(&self, clip: u16) -> f64 {
        self.clips.get(clip).map_or(0.0, |c| c.duration().into())
    }

    /// The change of an action's time per second at speed 1: one second, or passes.
    pub fn pace(&self, action: &Action) -> f64 {
        pace_by(&self.spaces, action, |clip| self.duration(clip))
    }
}
