//! `LayerState`: one layer of one instance with its actions, as calls and steps change it.

use super::action::Action;
use super::blend_space::Parameter;
use super::blend_space::steer::Extra;
use super::ids::Source;
use super::inertia::Inertia;
use super::interval::Loop;
use super::library::Library;
use super::linear_fade::LinearFade;
use super::options::{AtEnd, PlayOptions};

/// The largest number of actions of a layer.
pub const ACTIONS_PER_LAYER: usize = 4;

/// The state of a layer at one moment of the clock. It is a copy, which the caller stores after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LayerState {
    pub weight: LinearFade,
    /// Factor on the speed of the actions.
    pub speed: f32,
    /// The offset of the layer's pose, if one decays.
    pub offset: Option<Inertia>,
    count: u8,
    /// The actions, oldest first; the first `count` play.
    actions: [Action; ACTIONS_PER_LAYER],
    /// Extras, by action; few actions have some.
    extras: [Extra; ACTIONS_PER_LAYER],
}

/// Whether a motion that plays already keeps its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Entrance {
    /// It keeps its time, unless it has finished.
    Continue,
    /// It starts at the time of the options.
    Restart,
}

impl LayerState {
    /// A layer without actions.
    pub fn new(weight: LinearFade, speed: f32) -> Self {
        Self {
            weight,
            speed,
            offset: None,
            count: 0,
            actions: [Action::NOTHING; ACTIONS_PER_LAYER],
            extras: [Extra::NONE; ACTIONS_PER_LAYER],
        }
    }

    pub fn actions(&self) -> &[Action] {
        &self.actions[..usize::from(self.count)]
    }

    pub fn len(&self) -> usize {
        usize::from(self.count)
    }

    pub fn action(&self, a: usize) -> &Action {
        &self.actions[a]
    }

    pub fn action_mut(&mut self, a: usize) -> &mut Action {
        &mut self.actions[a]
    }

    /// An action and its extras, to be changed or advanced.
    pub fn moving(&mut self, a: usize) -> (&mut Action, &mut Extra) {
        (&mut self.actions[a], &mut self.extras[a])
    }

    /// The extras of an action: warp, parameter on its way, fade before its end.
    pub fn extra(&self, a: usize) -> &Extra {
        &self.extras[a]
    }

    /// The warp of an action's speed, if one runs.
    pub fn warp(&self, a: usize) -> Option<&LinearFade> {
        Some(&self.extras[a].warp).filter(|warp| warp.running())
    }

    /// Whether an action has extras.
    pub fn has_extras(&self) -> bool {
        self.extras.iter().any(|extra| *extra != Extra::NONE)
    }

    /// Sets the warp of an action's speed. A warp that does not run ends the action's warp.
    pub fn set_warp(&mut self, a: usize, warp: LinearFade) {
        self.extras[a].warp = if warp.running() { warp } else { LinearFade::still(0.0) };
    }

    pub fn set_at_end(&mut self, a: usize, at_end: AtEnd) {
        self.actions[a].set_at_end(at_end);
        self.extras[a].fade_out = at_end.fade_out();
    }

    /// Sends the parameter of an action that plays a blend space to a value.
    pub fn steer(&mut self, a: usize, library: &Library, value: Parameter) {
        let (action, extra) = self.moving(a);
        if let Some(space) = action.space().and_then(|space| library.spaces().get(space)) {
            extra.steer_to(value, space, action);
        }
    }

    /// The behaviour of an action after its last pass.
    pub fn at_end(&self, a: usize) -> AtEnd {
        match (self.actions[a].stops_at_end(), self.extras[a].fade_out) {
            (false, _) => AtEnd::Hold,
            (true, 0.0) => AtEnd::Stop,
            (true, seconds) => AtEnd::FadeOut(seconds),
        }
    }

    /// The action that plays a clip or blend space, if any.
    pub fn find(&self, source: Source) -> Option<usize> {
        self.actions().iter().position(|a| a.source() == source)
    }

    /// Appends an action. If the layer is full, the action with the lowest weight is evicted; of equal weights, the
    /// oldest. Returns the action's index and whether one was evicted.
    pub fn push(&mut self, action: Action) -> (usize, bool) {
        let evicts = self.len() == ACTIONS_PER_LAYER;
        if evicts {
            let weight = |a: usize| self.actions[a].weight.value().abs();
            let lower = |least, a| if weight(a) < weight(least) { a } else { least };
            self.remove((1..ACTIONS_PER_LAYER).fold(0, lower));
        }
        let a = self.len();
        self.actions[a] = action;
        self.count += 1;
        (a, evicts)
    }

    pub fn remove(&mut self, a: usize) {
        let end = self.len();
        self.actions[a..end].rotate_left(1);
        self.extras[a..end].rotate_left(1);
        self.count -= 1;
        self.actions[end - 1] = Action::NOTHING;
        self.extras[end - 1] = Extra::NONE;
        if self.count == 0 {
            // There is no pose that it could be an offset of.
            self.offset = None;
        }
    }

    /// Lets the youngest action begin at the weight that an eviction took away, so that the layer covers as much as before.
    pub fn take_over(&mut self, before: &Self) {
        let sum = |layer: &Self| layer.actions().iter().map(|a| a.weight.value()).sum::<f32>();
        let lost = sum(before) - sum(self);
        if let Some(youngest) = self.actions[..usize::from(self.count)].last_mut() {
            let weight = youngest.weight;
            youngest.weight = LinearFade::new(weight.value() + lost, weight.end(), weight.left());
        }
    }

    /// Fades an action to a weight: see [`Action::fade`].
    pub fn fade(&mut self, a: usize, target: f32, seconds: f32) {
        self.actions[a].fade(target, seconds);
    }

    /// Fades an action out over `seconds`, from its present weight, and then stops it. A running fade to 0 that ends
    /// sooner continues. An action of weight 0 is removed at once.
    pub fn end(&mut self, a: usize, seconds: f32) {
        let action = &mut self.actions[a];
        if action.ending() && action.weight.gets_to(0.0, f64::from(seconds)) {
            return;
        }
        if seconds > 0.0 && action.weight.value() != 0.0 {
            action.fade(0.0, seconds);
            action.set_ending(true);
        } else {
            self.remove(a);
        }
    }

    /// [Ends](Self::end) all actions that a condition selects.
    pub fn end_all(&mut self, seconds: f32, which: impl Fn(&Action) -> bool) {
        // From the last one on, since the actions behind a removed one move up.
        for a in (0..self.len()).rev() {
            if which(&self.actions[a]) {
                self.end(a, seconds);
            }
        }
    }

    /// Plays a motion alone, over `seconds`: the rule of play, whose table is on the page of
    /// [`Player`](super::Player). Returns whether an action was evicted.
    pub(super) fn play(
        &mut self,
        library: &Library,
        source: Source,
        seconds: f32,
        options: &PlayOptions,
        entrance: Entrance,
    ) -> bool {
        let own = self.find(source).map(|a| self.action(a));
        let goes_on = entrance == Entrance::Continue && own.is_some_and(Action::is_target);
        // While the target plays, actions that fade out keep their fades, even if the call is repeated.
        self.end_all(seconds, |a| a.source() != source && !(goes_on && a.ending()));
        if seconds <= 0.0 && !goes_on {
            self.offset = None;
        }
        self.enter(library, source, seconds, options, entrance).1
    }

    /// Plays a motion in addition to the other actions. Returns the index of its action, and whether another one was
    /// evicted.
    pub(super) fn enter(
        &mut self,
        library: &Library,
        source: Source,
        seconds: f32,
        options: &PlayOptions,
        entrance: Entrance,
    ) -> (usize, bool) {
        let own = self.find(source);
        let goes_on = |&a: &usize| entrance == Entrance::Continue && !self.action(a).finished();
        let (a, evicted) = match own.filter(goes_on) {
            Some(a) => {
                self.adopt(a, options);
                (a, false)
            }
            None => {
                let place = library.place_of(source, options.parameter);
                let mut action = Action::new(source, place, options);
                if let Some(a) = own {
                    // The action keeps its weight and its fade, and becomes the youngest.
                    action.weight = self.action(a).weight;
                    action.set_ending(self.action(a).ending());
                    self.remove(a);
                }
                let pushed = self.push(action);
                self.set_at_end(pushed.0, options.at_end);
                pushed
            }
        };
        self.action_mut(a).aim(options.weight, seconds);
        (a, evicted)
    }

    /// Applies the options to an action that keeps its time: all but time, weight, fade and parameter.
    fn adopt(&mut self, a: usize, options: &PlayOptions) {
        let speed = options.speed;
        // A warp that leads to this speed continues.
        if self.warp(a).is_none_or(|warp| warp.end() != speed) {
            self.action_mut(a).warp_to(speed);
            self.set_warp(a, LinearFade::still(speed));
        }
        self.set_at_end(a, options.at_end);
        let action = self.action_mut(a);
        action.set_paused(false);
        let length = action.course().length;
        action.set_course(&Loop::new(options.loop_mode, options.repetitions, length));
    }

    /// The seconds for which only times and weights change, as functions of time: until a fade or the last pass of an
    /// action ends.
    pub fn steady(&self) -> f64 {
        let mut steady = self.weight.wait();
        steady = self.offset.map_or(steady, |offset| steady.min(offset.left().max(0.0)));
        for (action, extra) in self.actions().iter().zip(&self.extras) {
            if extra.moves(action) {
                return 0.0;
            }
            steady = steady.min(action.steady()).min(extra.until_fade_out(action));
        }
        steady
    }

    /// Advances the offset by `seconds`, and drops it if it has decayed. Returns the one that was dropped.
    pub fn advance_offset(&mut self, seconds: f64) -> Option<Inertia> {
        let offset = self.offset?.after(seconds);
        let decays = offset.left() > 0.0;
        self.offset = Some(offset).filter(|_| decays);
        Some(offset).filter(|_| !decays)
    }

    /// What the layer shows `seconds` later or, if they are negative, has shown before, with its full weight: actions move
    /// at their `rates`, and none goes back past its start; parameters go on their way.
    pub fn moved(&self, library: &Library, seconds: f64, rate: impl Fn(&Action) -> f64) -> Self {
        let mut moved = *self;
        moved.weight = LinearFade::still(1.0);
        moved.offset = self.offset.map(|offset| offset.after(seconds));
        for (action, extra) in moved.actions[..usize::from(self.count)].iter_mut().zip(&self.extras)
        {
            action.shift(seconds, rate(action));
            if let Some(space) = action.space().and_then(|space| library.spaces().get(space)) {
                extra.shift(space, action, seconds);
            }
        }
        moved
    }

    /// Moves all actions and the layer's weight to where they are in `seconds`, within the entry's wait.
    pub fn glide(&mut self, seconds: f64) {
        self.weight.advance(seconds);
        self.offset = self.offset.map(|offset| offset.after(seconds));
        for action in &mut self.actions[..usize::from(self.count)] {
            action.glide(seconds);
        }
    }
}
