//! Bits at every SIMD level: one hash of the standard crowd, plans against the chain of jobs, baked keys, rigs
//! at the ends of their limits, stored snapshots. One trial at a time, since the level is the process's.

mod baked_crowd;
mod extreme;
mod hash;
mod held;
mod plans;
mod playback;
mod stored;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() {
    let mut arguments = Arguments::from_args();
    arguments.test_threads = Some(1);
    let plain: [(&str, fn()); 7] = [
        ("the_standard_crowd_has_one_hash", hash::the_standard_crowd_has_one_hash),
        ("plans_hold_at_every_level", plans::plans_hold_at_every_level),
        ("playback_has_one_hash_on_all_targets", playback::playback_has_one_hash_on_all_targets),
        ("stored_snapshots_go_on_at_every_level", stored::stored_snapshots_go_on_at_every_level),
        (
            "held_palettes_are_evaluated_at_another_level",
            held::held_palettes_are_evaluated_at_another_level,
        ),
        ("poses_are_the_same_at_all_levels", held::poses_are_the_same_at_all_levels),
        (
            "palettes_within_the_limits_are_finite_at_every_level",
            extreme::palettes_within_the_limits_are_finite_at_every_level,
        ),
    ];
    let plain = plain.map(|(name, test)| {
        Trial::test(name, move || -> Result<(), Failed> {
            test();
            Ok(())
        })
    });
    let mut trials = Vec::from(plain);
    trials.extend(baked_crowd::trials());
    libtest_mimic::run(&arguments, trials).exit();
}
