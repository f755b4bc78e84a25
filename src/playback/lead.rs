//! Which clip of a layer leads at a moment within a step: when clips in step pass the same footstep, one of them is
//! heard.

use super::action::Action;
use super::interval::TimeInterval;
use super::layer_state::ACTIONS_PER_LAYER;
use super::linear_fade::LinearFade;
use super::motions::Motions;

/// Weights that differ by less count as equal. Clips in step pass the same marker at moments that differ by the
/// rounding of an f32 time, less than a microsecond; in that time the weights of a fade of 20 ms change by less than
/// this.
const EVEN: f32 = 1.0 / 16_384.0;

/// The interval of an action's time in a step, and the rate at which it was passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    pub interval: TimeInterval,
    /// The mean change of the action's time per second of the step.
    pub rate: f64,
    /// The warp of the speed when the step began, and the seconds of the step; `None` if no warp ran.
    pub warp: Option<(LinearFade, f64)>,
}

/// The state of an action when a step begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contender {
    pub action: Action,
    /// Seconds of the step after which the action stops; infinite if it does not.
    pub until: f64,
    /// Seconds of the step after which the action leads nothing, since it is paused, has finished or stops.
    pub leads: f64,
}

/// The actions of a layer when a step begins, oldest first.
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
    /// An action that moves to the end of the step.
    pub fn new(action: Action) -> Self {
        Self { action, until: f64::INFINITY, leads: f64::INFINITY }
    }

    /// An action that stands still, and so leads nothing.
    pub fn standing(action: Action) -> Self {
        Self { leads: f64::NEG_INFINITY, ..Self::new(action) }
    }

    /// The weight of the action's leading clip, and the number of that member, `seconds` after the step began.
    fn at(&self, motions: &Motions, seconds: f64) -> Option<(f32, usize)> {
        let fade = &self.action.weight;
        let weight = fade.after(seconds).abs();
        if seconds > self.leads || weight == 0.0 && fade.left() <= seconds {
            return None;
        }
        let marked = |clip: u16| motions.clips.get(clip).is_some_and(|c| !c.markers().is_empty());
        let members = motions.members(&self.action);
        let mut best: Option<(f32, usize)> = None;
        for (member, &(clip, share)) in members.all().iter().enumerate() {
            if best.is_none_or(|(most, _)| share > most) && marked(clip) {
                best = Some((share, member));
            }
        }
        best.map(|(share, member)| (weight * share, member))
    }
}

impl Contenders {
    /// The contenders of an empty layer.
    pub fn new() -> Self {
        Self { list: [Contender::new(Action::NOTHING); ACTIONS_PER_LAYER], count: 0 }
    }

    /// Adds a younger action. The list has room for all actions of a layer.
    pub fn push(&mut self, contender: Contender) {
        if let Some(next) = self.list.get_mut(self.count) {
            *next = contender;
            self.count += 1;
        }
    }

    pub fn all(&self) -> &[Contender] {
        &self.list[..self.count]
    }
}

/// The action that leads a layer `seconds` after the step began, and which of its clips leads.
pub(crate) fn leader(motions: &Motions, all: &[Contender], seconds: f64) -> Option<(usize, usize)> {
    let mut found = [None; ACTIONS_PER_LAYER];
    for (found, contender) in found.iter_mut().zip(all) {
        *found = contender.at(motions, seconds);
    }
    let most = found.iter().flatten().map(|(weight, _)| *weight).reduce(f32::max)?;
    let mut even = found.iter().enumerate().rev().filter_map(|(a, found)| Some((a, (*found)?)));
    even.find(|(_, (weight, _))| *weight >= most - EVEN).map(|(a, (_, member))| (a, member))
}
