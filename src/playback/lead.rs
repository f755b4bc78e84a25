//! Which clip of a layer leads at a moment within a step: of footsteps that clips in step have in common, one is heard.

use super::action::Action;
use super::event_sink::Clips;
use super::interval::TimeInterval;
use super::layer_state::ACTIONS_PER_LAYER;
use super::linear_fade::LinearFade;

/// Weights that are nearer count as equal. Clips in step pass the same marker at moments that differ by rounding, f32
/// of a time: less than a microsecond, in which the weights of a fade of 20 ms move apart by less than this.
const EVEN: f32 = 1.0 / 16_384.0;

/// An interval of an action's time, and how it was passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    pub interval: TimeInterval,
    /// The mean change of the action's time per second of the step.
    pub rate: f64,
    /// The warp of the speed as the step began, and the seconds of the step, if it ran.
    pub warp: Option<(LinearFade, f64)>,
}

/// An action of a layer as a step begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    pub action: Action,
    /// The seconds of the step after which it stops.
    pub until: f64,
    /// The seconds of the step after which it leads nothing, as it stands still: it is paused, has finished or stops.
    pub leads: f64,
}

/// A clip of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    First,
    /// The second clip of a blend space.
    Other,
}

/// The actions of a layer as a step begins, oldest first.
pub(crate) struct Contenders {
    list: [Contender; ACTIONS_PER_LAYER],
    count: usize,
}

impl Passage {
    /// The seconds of the step after which a distance was passed.
    pub fn moment(&self, distance: f64) -> f64 {
        let seconds = distance / self.rate.abs();
        match self.warp {
            None => seconds,
            Some((warp, all)) => warp.after_integral(seconds / all * warp.integral(all)),
        }
    }
}

impl Contender {
    /// An action that plays on.
    pub fn new(action: Action) -> Self {
        Self {
            action,
            until: f64::INFINITY,
            leads: f64::INFINITY,
        }
    }

    /// An action that stands still.
    pub fn standing(action: Action) -> Self {
        Self {
            leads: f64::NEG_INFINITY,
            ..Self::new(action)
        }
    }

    /// The weight of its leading clip, and which of its clips that is, `seconds` after the step began.
    fn at(&self, clips: &Clips, seconds: f64) -> Option<(f32, Member)> {
        let fade = &self.action.weight;
        let weight = fade.after(seconds).abs();
        if seconds > self.leads || weight == 0.0 && fade.left() <= seconds {
            return None;
        }
        let marked = |clip: u16| clips.get(clip).is_some_and(|c| !c.markers().is_empty());
        let (first, other) = self.action.members();
        let (other, mix) = other.unwrap_or((first, 0.0));
        match (marked(first) && mix < 1.0, marked(other) && mix > 0.0) {
            (true, false) => Some((weight * (1.0 - mix), Member::First)),
            (true, true) if mix <= 0.5 => Some((weight * (1.0 - mix), Member::First)),
            (_, true) => Some((weight * mix, Member::Other)),
            (false, false) => None,
        }
    }
}

impl Contenders {
    /// Of an empty layer.
    pub fn new() -> Self {
        Self {
            list: [Contender::new(Action::NOTHING); ACTIONS_PER_LAYER],
            count: 0,
        }
    }

    /// Adds a younger action. A layer has no more than there is room for.
    pub fn push(&mut self, contender: Contender) {
        if let Some(place) = self.list.get_mut(self.count) {
            *place = contender;
            self.count += 1;
        }
    }

    pub fn all(&self) -> &[Contender] {
        &self.list[..self.count]
    }
}

/// The action of a layer, and its clip, that lead it `seconds` after the step began.
pub(crate) fn leader(clips: &Clips, all: &[Contender], seconds: f64) -> Option<(usize, Member)> {
    let candidates = || {
        let each = all.iter().enumerate();
        each.filter_map(|(a, c)| c.at(clips, seconds).map(|found| (a, found)))
    };
    let most = candidates()
        .map(|(_, (weight, _))| weight)
        .reduce(f32::max)?;
    let mut even = candidates().filter(|(_, (weight, _))| *weight >= most - EVEN);
    even.next_back().map(|(a, (_, member))| (a, member))
}
