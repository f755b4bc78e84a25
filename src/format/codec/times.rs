//! Key times: positions on an even grid between the first and the last time, and residuals.

use super::ReadError;
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

/// Limit on the positions on the grid of irregular times; times of finer grids are coded as residuals. Only encoders use
/// it; changing it changes the bytes of equal clips.
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
    ) -> Result<(), ReadError> {
        let keys = self.keys.code(c, times.len() as u64)?;
        if keys == 0 || keys > MAX_KEYS as u64 {
            return Err(c.limit("the number of keys", keys, MAX_KEYS as u64));
        }
        let keys = keys as usize;
        // The memory is allocated here and again in the clip.
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
        let (start, span) = (f64::from(times[0]), f64::from(times[last]) - f64::from(times[0]));
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

    /// Codes the first or last time, which usually is the begin or end of the clip.
    fn end<C: Coder>(
        &mut self,
        c: &mut C,
        last: bool,
        expected: f32,
        time: f32,
    ) -> Result<f32, ReadError> {
        let model = if last { &mut self.whole } else { &mut self.zero };
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

#[cfg(test)]
mod tests {
    use super::super::range::{RangeDecoder, Writer};
    use super::*;

    /// A limit on memory that no test reaches.
    const MEMORY: usize = 1 << 20;

    /// The times of three keys, the second at this position on a grid of two parts.
    fn second_at(place: u64) -> Result<Vec<f32>, ReadError> {
        let (mut w, mut models) = (Writer::new(), TimeModels::new());
        models.keys.code(&mut w, 3)?;
        w.bit(&mut models.zero, true)?;
        w.bit(&mut models.whole, true)?;
        w.bit(&mut models.even, false)?;
        models.gaps.code(&mut w, 0)?;
        models.gaps.code(&mut w, place - 1)?;
        signed(&mut w, &mut models.off, 0)?;
        let (bytes, _) = w.finish();
        let mut times = Vec::new();
        let mut r = RangeDecoder::new(&bytes, 0, MEMORY)?;
        TimeModels::new().code(&mut r, 1.0, &mut times)?;
        Ok(times)
    }

    #[test]
    fn positions_beyond_the_largest_grid_are_refused() {
        assert_eq!(second_at(1).unwrap(), [0.0, 0.5, 1.0]);
        // The caller of the decoder checks that times ascend.
        assert_eq!(second_at(MAX_PLACES).unwrap()[1], 2f32.powi(31));
        for place in [MAX_PLACES + 1, 1 << 38] {
            let error = second_at(place).unwrap_err().to_string();
            let [found, limit] = [place, 1 << 32].map(|n| n.to_string());
            assert!(error.contains(&found) && error.contains(&limit), "{error}");
        }
    }
}
