//! Deltas over wraps and directions, and a thousand loops of them.

use super::made::{ARC, build, with_turns};
use super::support::{clip_motion, matrix, options};
use glam::{DMat4, DVec3};
use libtest_mimic::Failed;
use phalanx::import::mannequin_with;

fn apart(a: &DMat4, b: &DMat4) -> f64 {
    let (a, b) = (a.to_cols_array(), b.to_cols_array());
    a.iter().zip(&b).fold(0.0, |m, (a, b)| m.max((a - b).abs()))
}

/// Unbounded time as clip time and loops.
fn unroll(time: f64, duration: f64) -> (f64, i64) {
    let loops = (time / duration).floor();
    (time - loops * duration, loops as i64)
}

pub fn deltas_compose() -> Result<(), Failed> {
    let rig = build(ARC.scene(None), with_turns())?;
    let (motion, duration) = clip_motion(&rig, "arc")?;
    // The oracle: the loop's own matrix as often as needed, then the place within the loop.
    let lap = ARC.place(0.0).inverse() * ARC.place(duration);
    let at = |time: f64| {
        let (within, loops) = unroll(time, duration);
        let step = if loops < 0 { lap.inverse() } else { lap };
        let laps = (0..loops.abs()).fold(DMat4::IDENTITY, |m, _| m * step);
        // Height stays in the pose.
        let mut m = ARC.place(0.0).inverse() * ARC.place(within);
        m.w_axis.y = 0.0;
        let mut laps = laps;
        laps.w_axis.y = 0.0;
        (laps, m)
    };
    for (from, to) in [
        (0.0, 0.3),
        (0.3, 0.1),
        (0.2, 1.24),
        (1.2, 1.3),
        (1.3, 1.2),
        (0.5, 9.77),
        (9.77, 0.5),
        (-3.3, 4.1),
        (4.1, -3.3),
        (1.25, 2.5),
        (0.7, 0.7),
    ] {
        let ((a, la), (b, lb)) = (unroll(from, duration), unroll(to, duration));
        let actual = motion.delta(a, b, lb - la);
        // Times on keys would be exact; between them the chord of 48 keys leaves 1e-5.
        let ((l0, m0), (l1, m1)) = (at(from), at(to));
        let expected = (l0 * m0).inverse() * (l1 * m1);
        let error = apart(&matrix(&actual), &expected);
        assert!(error < 2e-4, "{from} to {to}: {error:e}");
        // In pieces, to rounding: whatever lies between.
        let middle = 0.37 * from + 0.63 * to;
        let (c, lc) = unroll(middle, duration);
        let pieces = motion.delta(a, c, lc - la) * motion.delta(c, b, lb - lc);
        let error = apart(&matrix(&actual), &matrix(&pieces));
        assert!(error < 1e-12, "{from} to {to} in pieces: {error:e}");
    }
    // A step of any size returns at once, with numbers.
    for wraps in [i64::MAX, i64::MIN, 1 << 40] {
        let far = motion.delta(0.1, 0.2, wraps);
        assert!(far.translation.is_finite() && far.rotation.is_finite());
        // The arc closes on itself: its distance from the start stays that of a circle.
        assert!(far.translation.length() < 2.1 * ARC.radius, "{far:?}");
    }
    for time in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -5.0, 1e300] {
        assert!(motion.at(time).translation.is_finite());
    }
    Ok(())
}

/// A thousand loops in uneven frames, added up in f64 from deltas rounded to f32 as a crowd hands them
/// out: below 1e-3 of the way (and of the circle).
pub fn drift() -> Result<(), Failed> {
    let mannequin = mannequin_with(&options(false))?;
    let arc = build(ARC.scene(None), with_turns())?;
    for (rig, name, lap) in [
        (&mannequin, "Walk_RootMotion", DMat4::from_translation(DVec3::new(0.0, 0.0, 1.4))),
        (&arc, "arc", {
            let mut lap = ARC.place(0.0).inverse() * ARC.place(ARC.seconds);
            lap.w_axis.y = 0.0;
            lap
        }),
    ] {
        let (motion, duration) = clip_motion(rig, name)?;
        let mut sum = DMat4::IDENTITY;
        let (mut time, mut frame) = (0.0f64, 0u64);
        while time < 1000.0 * duration {
            frame += 1;
            let step = 1.0 / 60.0 + 0.004 * ((frame * 7919 % 1000) as f64 / 1000.0 - 0.5);
            let next = (time + step).min(1000.0 * duration);
            let ((a, la), (b, lb)) = (unroll(time, duration), unroll(next, duration));
            let delta = motion.delta(a, b, lb - la);
            let rounded = DMat4::from_rotation_translation(
                delta.rotation.as_quat().as_dquat().normalize(),
                delta.translation.as_vec3().as_dvec3(),
            );
            sum *= rounded;
            time = next;
        }
        let expected = (0..1000).fold(DMat4::IDENTITY, |m, _| m * lap);
        let way = 1000.0 * lap.w_axis.truncate().length();
        let error = (sum.w_axis - expected.w_axis).truncate().length();
        println!("{name}: {frame} frames, {error:.3e} m off after {way:.0} m");
        // 1e-3 is asked for; the rounding of 60,000 deltas was observed to leave 2e-8.
        assert!(error < 1e-6 * way, "{error} {way}");
    }
    Ok(())
}
