//! The values of one lane: at their default, constant, multiples of a lattice step, or arbitrary f32 bits.

use super::ReadError;
use super::model::{Bit, Number};
use super::range::Coder;
use super::residuals::{Derived, MAX_WIDTH, Residuals, signed};
use crate::clip::lattice::{self, MAX_MULTIPLE, STEPS, multiple_of};

/// The range of a lane of integers: the least value of each component, then the step.
pub(super) struct Lane<'a> {
    pub range: &'a mut [f32],
    pub defaults: &'a [f32],
}

/// Models of the lanes of one channel.
pub(super) struct LaneModels {
    still: Bit,
    default: Bit,
    lattice: [Bit; 2],
    derived: Bit,
    regular: Bit,
    code: [Number; 2],
    /// Code of the last step used, for constant and for moving lanes.
    last: [u16; 2],
    multiples: [Residuals; 2],
    bits: [Residuals; 2],
    /// Divisor of the steps of the lane that is coded next.
    pub unit: f64,
}

impl LaneModels {
    pub fn new() -> Self {
        let residuals = || [Residuals::new(), Residuals::new()];
        Self {
            still: Bit::EVEN,
            default: Bit::EVEN,
            lattice: [Bit::EVEN; 2],
            derived: Bit::EVEN,
            regular: Bit::EVEN,
            code: [Number::about(4), Number::about(4)],
            last: [FIRST_CODE; 2],
            multiples: residuals(),
            bits: residuals(),
            unit: 1.0,
        }
    }

    /// Codes f32 values, key-major, with one component per default. A lane whose keys are all equal is stored
    /// once.
    pub fn floats<C: Coder>(
        &mut self,
        c: &mut C,
        defaults: &[f32],
        values: &mut [f32],
        numbers: &mut Vec<i64>,
    ) -> Result<(), ReadError> {
        let width = defaults.len();
        let (first, later) = values.split_at_mut(width);
        let mut still = true;
        if !later.is_empty() {
            let all = later.chunks_exact(width).all(|key| same(key, first));
            still = c.bit(&mut self.still, all)?;
        }
        if !still {
            return self.numbers(c, true, defaults, values, numbers);
        }
        self.constant(c, defaults, first, numbers)?;
        for key in later.chunks_exact_mut(width) {
            key.copy_from_slice(first);
        }
        Ok(())
    }

    /// Codes the value of a constant lane.
    pub fn constant<C: Coder>(
        &mut self,
        c: &mut C,
        defaults: &[f32],
        value: &mut [f32],
        numbers: &mut Vec<i64>,
    ) -> Result<(), ReadError> {
        if c.bit(&mut self.default, same(value, defaults))? {
            value.copy_from_slice(defaults);
            return Ok(());
        }
        self.numbers(c, false, defaults, value, numbers)
    }

    /// Codes values as integers: multiples of a step, or their bits mapped to an order-preserving integer.
    fn numbers<C: Coder>(
        &mut self,
        c: &mut C,
        moves: bool,
        defaults: &[f32],
        values: &mut [f32],
        numbers: &mut Vec<i64>,
    ) -> Result<(), ReadError> {
        let code = if C::READS { None } else { self.find(moves, values) };
        let on_lattice = c.bit(&mut self.lattice[usize::from(moves)], code.is_some())?;
        numbers.clear();
        if on_lattice {
            let code = self.code(c, moves, code.unwrap_or(0))?;
            let step = self.step(code);
            let multiples = values.iter().map(|&v| multiple_of(v, step).unwrap_or(0));
            numbers.extend(multiples.map(i64::from));
            self.multiples(c, moves, defaults, code, numbers)?;
            for (value, &k) in values.iter_mut().zip(numbers.iter()) {
                *value = (k as f64 * step) as f32;
            }
            return Ok(());
        }
        numbers.extend(values.iter().map(|&v| ordered(v)));
        let mut start = [0; MAX_WIDTH];
        for (start, &v) in start.iter_mut().zip(defaults) {
            *start = ordered(v);
        }
        let start = &start[..defaults.len()];
        self.bits[usize::from(moves)].code(c, start, None, numbers)?;
        for (value, &k) in values.iter_mut().zip(numbers.iter()) {
            *value = in_order(c, k)?;
        }
        Ok(())
    }

    /// Codes a lane of integers, key-major: as multiples of its step if its range is on a lattice and as
    /// tight as its keys, otherwise unchanged.
    pub fn integers<C: Coder>(
        &mut self,
        c: &mut C,
        lane: Lane<'_>,
        integers: &mut [u16],
        numbers: &mut Vec<i64>,
    ) -> Result<(), ReadError> {
        let Lane { range, defaults } = lane;
        let width = defaults.len();
        let multiples = if C::READS { None } else { self.least_multiples(range, integers) };
        numbers.clear();
        if c.bit(&mut self.regular, multiples.is_some())? {
            let (code, least) = multiples.unwrap_or_default();
            let code = self.code(c, true, code)?;
            let least = |i: usize| least[i % width];
            let all = integers.iter().enumerate();
            numbers.extend(all.map(|(i, &k)| least(i) + i64::from(k)));
            self.multiples(c, true, defaults, code, numbers)?;
            return set_range(c, self.step(code), range, numbers, integers);
        }
        for value in range {
            *value = f32::from_bits(c.raw(value.to_bits().into(), 32)? as u32);
        }
        numbers.extend(integers.iter().map(|&k| i64::from(k)));
        self.bits[1].code(c, &[0; MAX_WIDTH][..width], None, numbers)?;
        for (integer, &k) in integers.iter_mut().zip(numbers.iter()) {
            *integer = integer_of(c, k)?;
        }
        Ok(())
    }

    /// Codes a lattice step, as a difference to the last one.
    fn code<C: Coder>(&mut self, c: &mut C, moves: bool, code: u16) -> Result<u16, ReadError> {
        let last = &mut self.last[usize::from(moves)];
        let (model, difference) = (&mut self.code[usize::from(moves)], i64::from(code));
        let code = i64::from(*last) + signed(c, model, difference - i64::from(*last))?;
        let limit = u64::from(STEPS) - 1;
        if code < 0 || code as u64 > limit {
            return Err(c.limit("the code of a step", code.unsigned_abs(), limit));
        }
        *last = code as u16;
        Ok(*last)
    }

    /// Codes multiples of a step. Four components are a rotation, one of which may be derived from the
    /// others.
    fn multiples<C: Coder>(
        &mut self,
        c: &mut C,
        moves: bool,
        defaults: &[f32],
        code: u16,
        keys: &mut [i64],
    ) -> Result<(), ReadError> {
        let step = self.step(code);
        let mut start = [0; MAX_WIDTH];
        for (start, &v) in start.iter_mut().zip(defaults) {
            let k = (f64::from(v) / step).round();
            *start = k.clamp(-MAX_MULTIPLE, MAX_MULTIPLE) as i64;
        }
        let mut derived = None;
        if defaults.len() == 4 {
            derived = self.derived(c, step, keys)?;
        }
        let start = &start[..defaults.len()];
        self.multiples[usize::from(moves)].code(c, start, derived, keys)
    }

    /// Chooses the derived component: the one with the largest minimum magnitude, if it keeps its sign.
    fn derived<C: Coder>(
        &mut self,
        c: &mut C,
        step: f64,
        keys: &[i64],
    ) -> Result<Option<Derived>, ReadError> {
        let least = |i: usize| keys.iter().skip(i).step_by(4).map(|k| k.abs()).min();
        let best = (0..4).max_by_key(|&i| least(i)).unwrap_or(0);
        let own = || keys.iter().skip(best).step_by(4);
        let negative = own().next().is_some_and(|&k| k < 0);
        let one_sign = own().all(|&k| (k < 0) == negative && k != 0);
        if !c.bit(&mut self.derived, one_sign)? {
            return Ok(None);
        }
        let choice = c.few(best as u32 | u32::from(negative) << 2, 3)?;
        Ok(Some(Derived { component: choice as usize & 3, negative: choice >> 2 == 1, step }))
    }

    /// The last lattice if it holds the values exactly, otherwise the coarsest that does.
    fn find(&self, moves: bool, values: &[f32]) -> Option<u16> {
        let holds = |code: u16| {
            let step = self.step(code);
            values.iter().all(|&v| multiple_of(v, step).is_some())
        };
        let last = self.last[usize::from(moves)];
        if holds(last) {
            return Some(last);
        }
        (0..STEPS).rev().find(|&code| holds(code))
    }

    /// The step of a code, in the lane's unit.
    fn step(&self, code: u16) -> f64 {
        lattice::step(code) / self.unit
    }

    /// The code of a range's step and its least multiples. `None` if the range is not on a lattice, or its
    /// lowest integer is not 0.
    fn least_multiples(&self, range: &[f32], integers: &[u16]) -> Option<(u16, [i64; 4])> {
        let (&stored, least) = range.split_last()?;
        // The step may have been rounded down to f32.
        let code =
            lattice::code_below(f64::from(stored) * self.unit * (1.0 + f64::from(f32::EPSILON)));
        let step = self.step(code);
        if (step as f32).to_bits() != stored.to_bits() {
            return None;
        }
        let mut multiples = [0; 4];
        for (i, (multiple, &value)) in multiples.iter_mut().zip(least).enumerate() {
            let k = multiple_of(value, step)?;
            let lowest = integers.iter().skip(i).step_by(least.len()).min();
            if lowest != Some(&0) {
                return None;
            }
            *multiple = k.into();
        }
        Some((code, multiples))
    }
}

/// Computes the range of multiples, and the integers relative to it.
fn set_range<C: Coder>(
    c: &C,
    step: f64,
    range: &mut [f32],
    numbers: &[i64],
    integers: &mut [u16],
) -> Result<(), ReadError> {
    let width = range.len() - 1;
    range[width] = step as f32;
    for (i, place) in range[..width].iter_mut().enumerate() {
        let own = numbers.iter().skip(i).step_by(width);
        let least = own.clone().copied().min().unwrap_or(0);
        if least.unsigned_abs() as f64 >= MAX_MULTIPLE {
            let limit = MAX_MULTIPLE as u64 - 1;
            return Err(c.limit("the least multiple of a range", least.unsigned_abs(), limit));
        }
        *place = (least as f64 * step) as f32;
        for (integer, &k) in integers.iter_mut().skip(i).step_by(width).zip(own) {
            *integer = integer_of(c, k - least)?;
        }
    }
    Ok(())
}

fn integer_of<C: Coder>(c: &C, number: i64) -> Result<u16, ReadError> {
    let limit = u64::from(u16::MAX);
    u16::try_from(number).map_err(|_| c.limit("an integer of a key", number.unsigned_abs(), limit))
}

/// Code of a step of about 1e-5.
const FIRST_CODE: u16 = 370;

/// True if the values have the same bits.
fn same(a: &[f32], b: &[f32]) -> bool {
    a.iter().map(|v| v.to_bits()).eq(b.iter().map(|v| v.to_bits()))
}

/// Maps the bits of an f32 to an integer with the same order.
pub(super) fn ordered(v: f32) -> i64 {
    let bits = v.to_bits() as i32;
    i64::from(if bits < 0 { i32::MIN ^ !bits } else { bits })
}

/// The inverse of [`ordered`].
pub(super) fn in_order<C: Coder>(c: &C, number: i64) -> Result<f32, ReadError> {
    let Ok(bits) = i32::try_from(number) else {
        let limit = i32::MAX as u64;
        return Err(c.limit("the integer of an f32", number.unsigned_abs(), limit));
    };
    let bits = if bits < 0 { !(i32::MIN ^ bits) } else { bits };
    Ok(f32::from_bits(bits as u32))
}
