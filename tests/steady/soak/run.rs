//! The soak: cycles of random calls on one crowd and one scene, each of which ends where the crowd began.

use super::life::Life;
use phalanx_testkit::alloc;
use std::time::{Duration, Instant};

/// Calls and frames of a cycle.
const STEPS: usize = 400;

/// Cycles before the first count: tables reach the sizes that the limits on the population allow.
const WARM: usize = 12;

/// What the live bytes at the ends of cycles may differ by.
const FLAT: i64 = 1 << 20;

/// `PHALANX_SOAK_SECONDS`, or enough for a few cycles after the warm-up.
fn duration() -> Duration {
    let seconds = std::env::var("PHALANX_SOAK_SECONDS").ok();
    let seconds = seconds.map(|s| s.parse().expect("PHALANX_SOAK_SECONDS is a number"));
    Duration::from_secs(seconds.unwrap_or(3))
}

#[test]
fn soak() {
    let _alone = alloc::alone();
    let (started, duration) = (Instant::now(), duration());
    let mut life = Life::new();
    let (mut cycles, mut first) = (0, 0);
    let (mut least, mut most) = (i64::MAX, i64::MIN);
    // The clock says how many cycles there are, never what happens in one.
    while cycles < WARM + 4 || started.elapsed() < duration {
        (0..STEPS).for_each(|_| life.step());
        life.end();
        cycles += 1;
        let now = alloc::live();
        if cycles == WARM {
            first = now;
        }
        if cycles >= WARM {
            (least, most) = (least.min(now), most.max(now));
            assert!(
                (now - first).abs() < FLAT,
                "{now} bytes are live after {cycles} cycles, {first} after {WARM}"
            );
        }
    }
    println!(
        "{:.0} s, {cycles} cycles, {life}; live bytes after {WARM} cycles: {first}, since then {least} to {most}",
        started.elapsed().as_secs_f64(),
    );
    life.assert_all_happened();
}
