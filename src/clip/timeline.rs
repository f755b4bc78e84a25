//! Timelines: sorted key times shared by blocks, and the search for the interval of a time.

/// Limit on the keys of a timeline: beyond it, f32 can no longer count the keys of an evenly spaced one. 38 hours at
/// 120 Hz.
pub const MAX_KEYS: usize = 1 << 24;

/// Limit on the keys of a timeline that is not evenly spaced: key hints are 16 bits.
pub const MAX_IRREGULAR_KEYS: usize = u16::MAX as usize;

/// Key times count as evenly spaced if each is this close to its even position, in intervals. If f32 times are farther
/// apart than half an interval, the one nearest to the even position counts too: up to half an interval off.
///
/// The search corrects its guess, so it is exact for any tolerance. Exporters that round times to f32 were measured to
/// stay below 0.01. Rounding alone reaches 0.25 between 2^22 and 2^23 keys, 9.7 to 19.4 hours at 120 Hz.
pub const REGULAR_TOLERANCE: f64 = 0.25;

/// A sorted array of key times: a range of the clip's times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timeline {
    /// Index of the first time in the clip's array.
    pub first: u32,
    /// Number of keys, at least 2.
    pub len: u32,
    /// Keys per second if the times are evenly spaced, otherwise 0.
    pub rate: f32,
    /// Index of the timeline's key hint; `None` if the times are evenly spaced.
    pub hint: Option<u16>,
}

/// The position of a time on a timeline: between keys `key` and `key + 1`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cursor {
    /// The key at or before the time.
    pub key: u32,
    /// Fraction of the interval to the next key, in [0, 1].
    pub alpha: f32,
}

/// Keys per second if `times` are evenly spaced within [`REGULAR_TOLERANCE`], otherwise 0.
pub(crate) fn regular_rate(times: &[f32]) -> f32 {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return 0.0;
    };
    let rate = (times.len() - 1) as f64 / (f64::from(last) - f64::from(first));
    let even = times.iter().enumerate().all(|(k, &t)| {
        let place = (f64::from(t) - f64::from(first)) * rate;
        (place - k as f64).abs() <= REGULAR_TOLERANCE
    });
    let rate = match even {
        true => rate,
        false => rounded_rate(times),
    };
    if rate.is_finite() && (rate as f32).is_normal() { rate as f32 } else { 0.0 }
}

/// Keys per second of even times that f32 rounds by more than [`REGULAR_TOLERANCE`]; 0 if there is no such rate.
///
/// The last time is rounded like the others, so the mean interval is not the even one. Each key bounds the even
/// interval from both sides, by its time and half the distance of f32 there; any interval within all bounds will do.
fn rounded_rate(times: &[f32]) -> f64 {
    let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
        return 0.0;
    };
    let mean = (f64::from(last) - f64::from(first)) / (times.len() - 1) as f64;
    let rounding = |t: f32| 0.5 * (f64::from(t.next_up()) - f64::from(t));
    // Times ascend, and their rounding with them. NaN counts as too small.
    let rounded = rounding(last) > REGULAR_TOLERANCE * mean;
    if !rounded {
        return 0.0;
    }
    let (mut least, mut most) = (0.0_f64, f64::INFINITY);
    for (k, &t) in times.iter().enumerate().skip(1) {
        let off = (REGULAR_TOLERANCE * mean).max(rounding(t).min(0.5 * mean)) * (1.0 + 1e-9);
        let way = f64::from(t) - f64::from(first);
        least = least.max((way - off) / k as f64);
        most = most.min((way + off) / k as f64);
    }
    match least <= most {
        true => 2.0 / (least + most),
        false => 0.0,
    }
}

/// Finds the interval of `time` in evenly spaced `times` (at least 2): a guess by arithmetic, corrected against
/// the times. The guess is off by one interval at most; near [`MAX_KEYS`], where the rounding of the three f32 numbers
/// adds up, by up to three.
#[inline(always)]
pub(crate) fn locate_regular(times: &[f32], rate: f32, time: f32) -> Cursor {
    let last = times.len() - 2;
    // `as` saturates and maps NaN to 0, so any time gives a valid key.
    let place = ((time - times[0]) * rate) as i32;
    let mut key = place.max(0).min(last as i32) as usize;
    let (a, b) = (times[key], times[key + 1]);
    if time < a && key > 0 {
        key -= 1;
        while key > 0 && time < times[key] {
            key -= 1;
        }
        return finish(times, key, time);
    }
    if time >= b && key < last {
        key += 1;
        while key < last && time >= times[key + 1] {
            key += 1;
        }
        return finish(times, key, time);
    }
    between(a, b, key, time)
}

/// Finds the interval of `time` in any `times` (at least 2): the hinted interval, the one after it, then
/// a binary search. Updates the hint.
#[inline(always)]
pub(crate) fn locate_hinted(times: &[f32], hint: &mut u16, time: f32) -> Cursor {
    let last = times.len() - 2;
    let mut key = usize::from(*hint).min(last);
    let inside = |k: usize| times[k] <= time && (time < times[k + 1] || k == last);
    if !inside(key) {
        if key < last && inside(key + 1) {
            key += 1;
        } else {
            key = times.partition_point(|&t| t <= time).saturating_sub(1).min(last);
        }
        *hint = key as u16;
    }
    finish(times, key, time)
}

#[inline(always)]
fn finish(times: &[f32], key: usize, time: f32) -> Cursor {
    between(times[key], times[key + 1], key, time)
}

#[inline(always)]
fn between(a: f32, b: f32, key: usize, time: f32) -> Cursor {
    let way = (time - a) / (b - a);
    // A comparison with NaN is false, so NaN becomes 0.
    let alpha = if way > 0.0 { way.min(1.0) } else { 0.0 };
    Cursor { key: key as u32, alpha }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(times: &[f32], time: f32) -> (u32, f32) {
        let last = times.len() - 2;
        let key = (0..=last).rev().find(|&k| times[k] <= time).unwrap_or(0);
        let alpha = ((time - times[key]) / (times[key + 1] - times[key])).clamp(0.0, 1.0);
        (key as u32, alpha)
    }

    #[test]
    fn regular_and_hinted_searches_agree_with_a_linear_scan() {
        let even: Vec<f32> = (0..41).map(|k| 0.1 + k as f32 / 30.0).collect();
        let rate = regular_rate(&even);
        assert!((rate - 30.0).abs() < 1e-3);
        let odd: Vec<f32> = vec![0.0, 0.01, 0.5, 0.55, 0.6, 2.0, 2.5];
        assert_eq!(regular_rate(&odd), 0.0);
        let mut probes: Vec<f32> = (0..2000).map(|i| -0.2 + i as f32 * 0.0015).collect();
        probes.extend(even.iter().chain(&odd));
        probes.extend(even.iter().map(|t| t.next_down()));
        probes.extend([f32::NEG_INFINITY, f32::INFINITY]);
        let mut hint = 0;
        for &t in probes.iter().chain(probes.iter().rev()) {
            let r = locate_regular(&even, rate, t);
            assert_eq!((r.key, r.alpha), scalar(&even, t), "{t}");
            let h = locate_hinted(&odd, &mut hint, t);
            assert_eq!((h.key, h.alpha), scalar(&odd, t), "{t}");
        }
        for hint in [0u16, 3, 5, 6, 900] {
            let mut hint = hint;
            let nan = locate_hinted(&odd, &mut hint, f32::NAN);
            assert_eq!(nan.alpha, 0.0);
            assert_eq!(locate_regular(&even, rate, f32::NAN).alpha, 0.0);
        }
    }

    #[test]
    fn the_longest_regular_timelines_are_searched_exactly() {
        // Whole seconds are exact up to 2^24; tenths round, at a quarter of the keys up to the tolerance.
        for (keys, rate) in [(MAX_KEYS, 1.0), (MAX_KEYS / 4, 10.0), (72_000, 120.0)] {
            let times: Vec<f32> = (0..keys).map(|k| (k as f64 / rate) as f32).collect();
            let found = regular_rate(&times);
            assert!((f64::from(found) / rate - 1.0).abs() < 1e-6, "{keys}: {found}");
            let places = [0, 1, keys / 3, keys / 2, keys - 3, keys - 2].into_iter();
            for k in places.chain((0..1000).map(|i| keys - 2 - i * (keys / 1001))) {
                let middle = ((k as f64 + 0.5) / rate) as f32;
                for time in [times[k], times[k].next_up(), middle, times[k + 1].next_down()] {
                    let key = times.partition_point(|&t| t <= time).saturating_sub(1);
                    let at = locate_regular(&times, found, time);
                    assert_eq!(at.key as usize, key.min(keys - 2), "{keys} keys, {time}");
                }
            }
        }
        // With an interval below the distance of f32 values, two keys have one time.
        let times: Vec<f32> =
            (0..MAX_KEYS / 8 * 7).map(|k| (f64::from(k as u32) / 9.7) as f32).collect();
        assert_eq!(regular_rate(&times), 0.0);
    }

    /// Rounding moves these times by up to half an interval; the mean interval is not the even one.
    #[test]
    fn even_times_that_f32_rounds_are_regular() {
        // The last seconds in which f32 tells frames of 120 Hz and of 131 Hz apart; an interval just below two steps of f32.
        for (keys, interval) in [
            (15_728_000, 0.008_333_3),
            (8_585_000, 1.0 / 131.0),
            (4_300_000, 131_073.0 / 4_200_000.0),
        ] {
            let times: Vec<f32> = (0..keys).map(|k| (k as f64 * interval) as f32).collect();
            assert!(times.windows(2).all(|t| t[0] < t[1]));
            let off = |(k, &t): (usize, &f32)| (f64::from(t) / interval - k as f64).abs();
            let worst = times.iter().enumerate().map(off).fold(0.0, f64::max);
            assert!(worst > REGULAR_TOLERANCE && worst <= 0.5, "{worst}");
            let rate = regular_rate(&times);
            assert!((f64::from(rate) * interval - 1.0).abs() < 1e-6, "{rate}");
            for k in (0..keys - 2).step_by(997).chain(keys - 999..keys - 2) {
                for time in [times[k], times[k].next_up(), times[k + 1].next_down()] {
                    let key = times.partition_point(|&t| t <= time) - 1;
                    let at = locate_regular(&times, rate, time);
                    assert_eq!(at.key as usize, key, "{keys} keys, {time}");
                }
            }
            // One time is not the f32 nearest to its position.
            let mut odd = times;
            odd.remove(keys / 2);
            assert_eq!(regular_rate(&odd), 0.0, "{keys}");
        }
    }
}
