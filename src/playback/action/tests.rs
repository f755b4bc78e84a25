use super::*;

/// The clip time that a frame reads has the bits of the playhead's, in any pass.
#[test]
fn clip_times_are_those_of_playheads() {
    use crate::playback::LoopMode;
    let mut state = 1u32;
    let mut random = |low: f64, high: f64| {
        state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        low + (high - low) * f64::from(state >> 8) / f64::from(1 << 24)
    };
    let place = Place::default();
    let mut beyond = 0;
    for n in 0..30_000 {
        let modes = [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong];
        let options = PlayOptions {
            loop_mode: modes[n % 3],
            repetitions: [None, None, Some(1), Some(50)][n % 4],
            time: random(-3.0, 3.0),
            ..PlayOptions::default()
        };
        let length = f64::from(random(0.0, 2.0) as f32) * f64::from(u8::from(n % 50 > 0));
        let mut action = Action::new(Source::Clip(0), (place, length), &options);
        // Only passes without an end may be so many.
        if n % 70 == 69 && action.passes == 0 {
            action.set_playhead(Playhead { pass: random(0.0, 1e17).floor(), time: 0.5 * length });
        }
        action.set_rate(random(-2.0, 2.0) * f64::from(u8::from(n % 30 > 0)));
        let seconds = [0.0, random(0.0, 1.0), random(0.0, 9000.0)][n / 3 % 3];
        let time = action.clip_time_after(seconds);
        let mut moved = action;
        moved.glide(seconds);
        assert_eq!(moved.clip_time().to_bits(), time.to_bits(), "{action:?}");
        assert!((0.0..=length).contains(&time));
        assert_eq!(moved.playhead(), action.playhead_after(seconds));
        beyond += usize::from(moved.playhead().pass != action.playhead().pass);
    }
    assert!(beyond > 5000, "{beyond}");
}

#[test]
fn an_action_is_small() {
    assert!(size_of::<Action>() <= 72);
}
