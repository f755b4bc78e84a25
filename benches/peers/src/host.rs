//! What a host of ozz keeps per character: which clips play, at which times and weights. Fades follow the rules of
//! `phalanx::playback::Player::fade_to`, so that both sides sample the same clips.

use ozz_animation_rs::SamplingContext;

/// The most clips of a character, as of a layer of Phalanx.
pub const ACTIONS: usize = phalanx::playback::ACTIONS_PER_LAYER;

/// A linear change of a weight.
#[derive(Clone, Copy)]
struct Fade {
    from: f64,
    to: f64,
    elapsed: f64,
    seconds: f64,
}

/// A clip that plays.
pub struct Action {
    pub clip: usize,
    /// Seconds within the clip.
    pub time: f64,
    pub weight: f64,
    fade: Option<Fade>,
    pub context: SamplingContext,
}

/// A character's clips, oldest first.
#[derive(Default)]
pub struct Character {
    pub actions: Vec<Action>,
    /// Contexts of clips that have ended.
    spare: Vec<SamplingContext>,
}

impl Action {
    fn leaves(&self) -> bool {
        self.fade.is_some_and(|fade| fade.to == 0.0)
    }

    fn fade(&mut self, to: f64, seconds: f64) {
        self.fade = Some(Fade { from: self.weight, to, elapsed: 0.0, seconds });
    }
}

impl Character {
    /// Adds a clip. `tracks` is the number of joints.
    pub fn add(&mut self, clip: usize, time: f64, weight: f64, tracks: usize) {
        let context = self.spare.pop().unwrap_or_else(|| SamplingContext::new(tracks));
        self.actions.push(Action { clip, time, weight, fade: None, context });
    }

    fn remove(&mut self, action: usize) {
        let mut context = self.actions.remove(action).context;
        context.clear();
        self.spare.push(context);
    }

    /// Fades to a clip; the others fade out.
    pub fn fade_to(&mut self, clip: usize, time: f64, seconds: f64, tracks: usize) {
        for action in &mut self.actions {
            if action.clip != clip && !action.leaves() {
                action.fade(0.0, seconds);
            }
        }
        // A clip that began in this frame has no weight to fade from.
        while let Some(ends) = self.actions.iter().position(|a| a.leaves() && a.weight == 0.0) {
            self.remove(ends);
        }
        if let Some(plays) = self.actions.iter_mut().find(|a| a.clip == clip) {
            if plays.leaves() {
                plays.fade(1.0, seconds);
            }
            return;
        }
        if self.actions.len() == ACTIONS {
            let weights = self.actions.iter().map(|a| a.weight).enumerate();
            let least = weights.min_by(|a, b| a.1.total_cmp(&b.1));
            self.remove(least.map_or(0, |least| least.0));
        }
        self.add(clip, time, 0.0, tracks);
        if let Some(new) = self.actions.last_mut() {
            new.fade(1.0, seconds);
        }
    }

    /// Moves times and weights by a step; clips loop.
    pub fn advance(&mut self, seconds: f64, durations: &[f64]) {
        let mut ended = false;
        for action in &mut self.actions {
            action.time += seconds;
            let duration = durations[action.clip];
            if action.time >= duration {
                action.time %= duration;
            }
            if let Some(fade) = &mut action.fade {
                fade.elapsed += seconds;
                let share = (fade.elapsed / fade.seconds).min(1.0);
                action.weight = fade.from + (fade.to - fade.from) * share;
                if share >= 1.0 {
                    ended |= fade.to == 0.0;
                    action.fade = None;
                }
            }
        }
        while ended {
            match self.actions.iter().position(|a| a.weight == 0.0 && a.fade.is_none()) {
                Some(action) => self.remove(action),
                None => ended = false,
            }
        }
    }
}
