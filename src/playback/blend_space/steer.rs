//! `Steer`: a parameter on its way to an asked value; `Extra`: what few actions have, this among it.

use super::Parameter;
use super::space::Space;
use crate::math::hermite;
use crate::playback::action::Action;
use crate::playback::linear_fade::LinearFade;
use crate::playback::motions::Motions;
use crate::playback::options::MAX_PARAMETER;

/// The parts of the way between whose ends an action's pace is linear, so that it has one integral for any steps.
const PARTS: f64 = 16.0;

/// Seconds by which a fade outlasts the pass that it ends with.
const LITTLE: f64 = 1e-9;

/// The way of a parameter: a cubic in time that ends at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Steer {
    pub from: Parameter,
    /// The velocity at the start, times `total`.
    pub push: Parameter,
    pub to: Parameter,
    /// Seconds of the whole way; 0 if there is none.
    pub total: f64,
    /// Seconds left.
    pub left: f64,
}

/// The properties that few actions have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extra {
    /// The warp of the speed.
    pub warp: LinearFade,
    pub steer: Steer,
    /// Seconds before the end of the last pass at which the action fades out; 0 if it does not.
    pub fade_out: f32,
}

impl Steer {
    pub fn running(&self) -> bool {
        self.left > 0.0
    }

    /// The way from here to another value.
    fn turned(&self, now: Parameter, to: Parameter, seconds: f32) -> Self {
        let total = f64::from(seconds);
        let mut push = Parameter::default();
        if self.running() {
            let limit = MAX_PARAMETER as f32;
            let [x, y] = self.curve().map(|v| (v.1 / self.total * total) as f32);
            push = [x, y].map(|v| v.clamp(-limit, limit)).into();
        }
        Self { from: now, push, to, total, left: total }
    }

    /// Values and derivatives, per way.
    fn curve(&self) -> [(f64, f64); 2] {
        let u = 1.0 - self.left / self.total;
        let Self { from, push, to, .. } = *self;
        let each = [(from.x, push.x, to.x), (from.y, push.y, to.y)];
        each.map(|(from, push, to)| hermite((from.into(), push.into()), (to.into(), 0.0), u))
    }

    /// The present value.
    fn value(&self) -> Parameter {
        let limit = MAX_PARAMETER;
        let value = self.curve().map(|v| v.0.clamp(-limit, limit) as f32);
        if self.running() { value.into() } else { self.to }
    }

    fn with_left(&self, left: f64) -> Self {
        Self { left: left.max(0.0), ..*self }
    }
}

impl Extra {
    pub const NONE: Self = Self {
        warp: LinearFade::still(0.0),
        steer: Steer {
            from: Parameter { x: 0.0, y: 0.0 },
            push: Parameter { x: 0.0, y: 0.0 },
            to: Parameter { x: 0.0, y: 0.0 },
            total: 0.0,
            left: 0.0,
        },
        fade_out: 0.0,
    };

    /// Whether the action's rate changes in every step.
    pub fn moves(&self, action: &Action) -> bool {
        self.steer.running() || self.warp.running() && !action.paused()
    }

    /// The seconds until the action fades out because its last pass ends; infinite if it does not.
    pub fn until_fade_out(&self, action: &Action) -> f64 {
        if self.fade_out <= 0.0 || action.ending() {
            return f64::INFINITY;
        }
        (action.until_end() - f64::from(self.fade_out)).max(0.0)
    }

    /// Begins the fade of an action whose last pass ends at a rate, if it begins within the next `seconds`. If less is
    /// left of the pass, the fade begins now, and lasts as long all the same.
    pub fn begin_fade_out(&self, action: &mut Action, rate: f64, seconds: f64) {
        let mut moving = *action;
        moving.set_rate(rate);
        let from = self.until_fade_out(&moving);
        if from >= seconds {
            return;
        }
        // As long as the pass, whose end stops the action, and a little longer, for rounding. The fade begins within the
        // step: until then more is left than the whole.
        let total = f64::from(self.fade_out) + LITTLE;
        let weight = action.weight.after(from);
        action.weight = LinearFade::of_parts((weight, 0.0, total, from + total));
        action.set_ending(true);
    }

    /// Whether an action fades out for longer than `seconds`, after which its last pass ends: it stays on its last pose until
    /// then.
    pub fn outlasts(&self, action: &Action, seconds: f64) -> bool {
        self.fade_out > 0.0 && action.ending() && action.weight.left() > seconds + 2.0 * LITTLE
    }

    /// The present value of an action's parameter.
    pub fn parameter(&self, space: &Space, action: &Action) -> Parameter {
        if self.steer.running() { self.steer.value() } else { space.value(action.place()) }
    }

    /// Puts an action where its parameter is `seconds` later or, if they are negative, was before; not before its way began.
    pub fn shift(&self, space: &Space, action: &mut Action, seconds: f64) {
        let Steer { left, total, .. } = self.steer;
        if self.steer.running() {
            let steer = self.steer.with_left((left - seconds).min(total));
            action.set_place(space.place(steer.value()));
        }
    }

    /// Sends an action's parameter to a value. One that goes there already goes on.
    pub fn steer_to(&mut self, to: Parameter, space: &Space, action: &mut Action) {
        let rests = !self.steer.running();
        if rests && space.place(to) == action.place() || !rests && self.steer.to == to {
            return;
        }
        if !action.begun() || space.seconds <= 0.0 {
            self.steer = Self::NONE.steer;
            action.set_place(space.place(to));
        } else {
            self.steer = self.steer.turned(self.parameter(space, action), to, space.seconds);
        }
    }

    /// The mean change of an action's time per second in the next `seconds`, without factors. Advances its warp and its
    /// parameter.
    pub fn advance(&mut self, motions: &Motions, action: &mut Action, seconds: f64) -> f64 {
        let space = action.space().and_then(|space| motions.spaces.get(space));
        let mean = match space.filter(|_| self.steer.running()) {
            Some(space) => self.integral(motions, space, action, seconds),
            None => self.warp.integral(seconds) * motions.pace(action),
        } / seconds.max(f64::MIN_POSITIVE);
        if self.warp.running() && !action.paused() {
            self.warp.advance(seconds);
            action.warp_to(self.warp.value());
        }
        if let Some(space) = space.filter(|_| self.steer.running()) {
            self.steer = self.steer.with_left(self.steer.left - seconds);
            action.set_place(space.place(self.steer.value()));
            if !self.steer.running() {
                self.steer = Self::NONE.steer;
            }
        }
        mean
    }

    /// The integral of speed times pace. Both are linear between the ends of a part and of the warp.
    fn integral(&self, motions: &Motions, space: &Space, action: &Action, seconds: f64) -> f64 {
        let Self { steer, warp, .. } = self;
        let part = steer.total / PARTS;
        let gone = steer.total - steer.left;
        let pace_at = |k: f64| {
            let at = steer.with_left(steer.total - k * part).value();
            space.pace(space.place(at), |clip| motions.duration(clip))
        };
        let speed = |s: f64| match warp.running() {
            true => warp.exact(s),
            false => f64::from(action.speed()),
        };
        let (mut s, mut sum) = (0.0, 0.0);
        let mut k = (gone / part).floor().min(PARTS);
        while s < seconds && k < PARTS {
            let (low, high) = (pace_at(k), pace_at(k + 1.0));
            let pace = |s: f64| low + (high - low) * ((gone + s) / part - k);
            let until = seconds.min((k + 1.0) * part - gone);
            while s < until {
                let bend = warp.left();
                let end = if bend > s { until.min(bend) } else { until };
                let (p, q, v, w) = (pace(s), pace(end), speed(s), speed(end));
                sum += (end - s) / 6.0 * (2.0 * p * v + 2.0 * q * w + p * w + q * v);
                s = end;
            }
            k += 1.0;
        }
        if s < seconds {
            let end = space.pace(space.place(steer.to), |clip| motions.duration(clip));
            let rest = match warp.running() {
                true => warp.integral(seconds) - warp.integral(s),
                false => speed(s) * (seconds - s),
            };
            sum += end * rest;
        }
        sum
    }
}
