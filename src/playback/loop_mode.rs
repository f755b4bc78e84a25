//! Loop modes: map unbounded time to clip time.

/// The way in which an action continues at its clip's ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LoopMode {
    /// Plays once and stays on the last pose (on the first, when played backwards).
    Once,
    /// Starts over: time modulo the duration. The duration itself shows the first pose.
    #[default]
    Repeat,
    /// Plays forwards, then backwards, and so on.
    PingPong,
}

impl LoopMode {
    /// The clip time in [0, `duration`] for any time in seconds; 0 if the duration is not positive or the
    /// time is not finite.
    pub fn clip_time(self, time: f64, duration: f64) -> f64 {
        // Negated so that NaN is caught, too.
        if !(duration > 0.0 && time.is_finite()) {
            return 0.0;
        }
        match self {
            Self::Once => time.clamp(0.0, duration),
            Self::Repeat => wrap(time, duration),
            Self::PingPong => fold(wrap(time, 2.0 * duration), duration),
        }
    }
}

/// `time` modulo `period`, in [0, `period`).
fn wrap(time: f64, period: f64) -> f64 {
    let t = time.rem_euclid(period);
    // A tiny negative time rounds up to the period itself.
    if t < period { t } else { 0.0 }
}

/// Reflects the second half of a ping-pong period.
fn fold(time: f64, duration: f64) -> f64 {
    if time <= duration { time } else { (2.0 * duration - time).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_signs() {
        let t = |mode: LoopMode, time| mode.clip_time(time, 2.0);
        assert_eq!(t(LoopMode::Once, 5.0), 2.0);
        assert_eq!(t(LoopMode::Once, -5.0), 0.0);
        assert_eq!(t(LoopMode::Repeat, 2.0), 0.0);
        assert_eq!(t(LoopMode::Repeat, 7.5), 1.5);
        assert_eq!(t(LoopMode::Repeat, -0.5), 1.5);
        assert_eq!(t(LoopMode::Repeat, -1e-300), 0.0);
        assert_eq!(t(LoopMode::PingPong, 2.0), 2.0);
        assert_eq!(t(LoopMode::PingPong, 3.5), 0.5);
        assert_eq!(t(LoopMode::PingPong, 4.5), 0.5);
        assert_eq!(t(LoopMode::PingPong, -0.5), 0.5);
        for mode in [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong] {
            assert_eq!(mode.clip_time(3.0, 0.0), 0.0);
            assert_eq!(mode.clip_time(f64::NAN, 1.0), 0.0);
            assert_eq!(mode.clip_time(f64::INFINITY, 1.0), 0.0);
        }
    }
}
