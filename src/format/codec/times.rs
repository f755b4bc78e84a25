//! Key times: positions on an even grid between the first and the last time, and residuals.

use super::CodecError;
use super::model::{Bit, Number};
use super::range::Coder;
use super::residuals::signed;
use super::values::{in_order, ordered};
use crate::clip::MAX_KEYS;

/// Models of timelines.
pub(super) struct TimeModels {
    zero: Bit,
    whole: Bit,
    even: Bit,
    keys: Number,
    gaps: Number,
    off: Number,
}

/// The largest position on a grid.
const MAX_PLACES: u64 = 1 << 32;

/// The most positions on the grid of irregular times; finer grids are coded as residuals. Part of what an encoder
/// chooses, so that equal clips keep their bytes.
const MAX_GRID: f64 = 65_535.0;

impl TimeModels {
    pub fn new() -> Self {
        Self {
            zero: Bit::EVEN,
            whole: Bit::EVEN,
            even: Bit::EVEN,
            keys: Number::about(10),
            gaps: Number::about(0),
            off: Number::about(0),
        }
    }

    /// Codes the times of a timeline.
    pub fn code<C: Coder>(
        &mut self,
        c: &mut C,
        duration: f32,
        times: &mut Vec<f32>,
    ) -> Result<(), CodecError> {
        let keys = self.keys.code(c, times.len() as u64)?;
        if keys == 0 || keys > MAX_KEYS as u64 {
            return Err(c.limit("the number of keys", keys, MAX_KEYS as u64));
        }
        let keys = keys as usize;
        // Allocated here and again in the clip.
        c.charge(2 * keys * size_of::<f32>() + size_of::<Vec<f32>>())?;
        if C::READS {
            times.resize(keys, 0.0);
        }
        times[0] = self.end(c, false, 0.0, times[0])?;
        if keys == 1 {
            return Ok(());
        }
        let last = keys - 1;
        times[last] = self.end(c, true, duration, times[last])?;
        let (start, span) = (
            f64::from(times[0]),
            f64::from(times[last]) - f64::from(times[0]),
        );
        let found = if C::READS { None } else { places(times, span) };
        let mut parts = last as u64;
        let even = c.bit(&mut self.even, found.is_none())?;
        if !even {
            let more = found.as_ref().map_or(0, |f| f[last] - parts);
            parts += self.gaps.code(c, more)?;
        }
        let mut place = 0u64;
        for k in 1..last {
            let mut gap = 1;
            if !even {
                let wanted = found.as_ref().map_or(1, |f| f[k] - f[k - 1]);
                gap += self.gaps.code(c, wanted - 1)?;
            }
            place += gap;
            if place > MAX_PLACES {
                return Err(c.limit("the grid position of a key", place, MAX_PLACES));
            }
            let expected = ordered((start + span * (place as f64 / parts as f64)) as f32);
            let off = signed(c, &mut self.off, ordered(times[k]) - expected)?;
            times[k] = in_order(c, expected + off)?;
        }
        Ok(())
    }

    /// Codes the first or last time, which usually is that of the clip.
    fn end<C: Coder>(
        &mut self,
        c: &mut C,
        last: bool,
        expected: f32,
        time: f32,
    ) -> Result<f32, CodecError> {
        let model = if last {
            &mut self.whole
        } else {
            &mut self.zero
        };
        if c.bit(model, time.to_bits() == expected.to_bits())? {
            return Ok(expected);
        }
        Ok(f32::from_bits(c.raw(time.to_bits().into(), 32)? as u32))
    }
}

/// The positions of irregular times on the grid of their smallest gap. `None` if the times are even or fit
/// no grid.
fn places(times: &[f32], span: f64) -> Option<Vec<u64>> {
    let gaps = times.windows(2).map(|p| f64::from(p[1]) - f64::from(p[0]));
    let parts = (span / gaps.fold(f64::INFINITY, f64::min)).round();
    if !(parts >= times.len() as f64 && parts <= MAX_GRID) {
        return None;
    }
    let place = |t: &f32| ((f64::from(*t) - f64::from(times[0])) / span * parts).round() as u64;
    let places: Vec<u64> = times.iter().map(place).collect();
    places.windows(2).all(|p| p[0] < p[1]).then_some(places)
}
