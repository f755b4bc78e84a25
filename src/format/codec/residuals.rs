//! Sequences of integers: each is predicted from the previous ones, and the residual is coded.

use super::ReadError;
use super::model::Number;
use super::range::Coder;
use crate::clip::lattice;

/// The largest number of components of a key: two tangents and the value of a cubic rotation.
pub(super) const MAX_WIDTH: usize = 12;
/// Limit on the magnitude of numbers; below it predictions are exact in f64.
pub(super) const MAX_NUMBER: i64 = 1 << 40;
/// Number of contexts: two per octave of the expected residual.
const SIZES: usize = 24;
/// Fractional bits of the expected residual.
const PLACES: u32 = 4;
/// The initial expected residual.
const FIRST_SIZE: u64 = 64;

/// A component that is predicted from the other three of a unit quaternion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Derived {
    pub component: usize,
    pub negative: bool,
    /// The lattice step: one unit of the numbers.
    pub step: f64,
}

impl Derived {
    /// Predicts the component from the others of a key.
    fn follows(&self, key: &[i64]) -> i64 {
        let mut others = [0; 3];
        let all = key.iter().enumerate().filter(|(i, _)| *i != self.component);
        for (other, (_, &k)) in others.iter_mut().zip(all) {
            *other = k.clamp(-MAX_DERIVED, MAX_DERIVED) as i32;
        }
        lattice::fourth(others, self.step, self.negative).into()
    }
}

/// Components are clamped to this before the prediction.
const MAX_DERIVED: i64 = 1 << 24;

/// Models of the residuals of one kind of sequence.
pub(super) struct Residuals {
    first: Number,
    sizes: [Number; SIZES],
    derived: Number,
}

impl Residuals {
    pub fn new() -> Self {
        Self {
            first: Number::about(16),
            sizes: std::array::from_fn(|half| Number::about(half.saturating_sub(2))),
            derived: Number::about(0),
        }
    }

    /// Codes `keys`, key-major. `start` predicts the first key; its length is the number of components of every key.
    pub fn code<C: Coder>(
        &mut self,
        c: &mut C,
        start: &[i64],
        derived: Option<Derived>,
        keys: &mut [i64],
    ) -> Result<(), ReadError> {
        let mut past = [Past::NEW; MAX_WIDTH];
        for (k, key) in keys.chunks_exact_mut(start.len()).enumerate() {
            for i in 0..start.len() {
                if derived.is_some_and(|d| d.component == i) {
                    continue;
                }
                let (expected, model) = match k {
                    0 => (start[i], &mut self.first),
                    _ => (past[i].predict(), &mut self.sizes[past[i].context()]),
                };
                let difference = signed(c, model, key[i] - expected)?;
                key[i] = within(c, expected + difference)?;
                past[i].push(key[i], difference.unsigned_abs());
            }
            if let Some(d) = derived {
                let expected = d.follows(key);
                let difference = signed(c, &mut self.derived, key[d.component] - expected)?;
                key[d.component] = within(c, expected + difference)?;
            }
        }
        Ok(())
    }
}

fn within<C: Coder>(c: &C, number: i64) -> Result<i64, ReadError> {
    if number.abs() >= MAX_NUMBER {
        let (found, limit) = (number.unsigned_abs(), MAX_NUMBER as u64 - 1);
        return Err(c.limit("a number of a key", found, limit));
    }
    Ok(number)
}

/// Codes a signed number: magnitude, then sign.
pub(super) fn signed<C: Coder>(
    c: &mut C,
    model: &mut Number,
    value: i64,
) -> Result<i64, ReadError> {
    let size = model.code(c, value.unsigned_abs())? as i64;
    if size != 0 && c.few(u32::from(value < 0), 1)? == 1 {
        return Ok(-size);
    }
    Ok(size)
}

/// Number of predictors: extrapolations by polynomials of degree 0 to 4 through the last numbers.
const ORDERS: usize = 5;
const POLYNOMIALS: [[i64; ORDERS]; ORDERS] =
    [[1, 0, 0, 0, 0], [2, -1, 0, 0, 0], [3, -3, 1, 0, 0], [4, -6, 4, -1, 0], [5, -10, 10, -5, 1]];
/// Weight of the latest error in the running mean.
const FORGET: f64 = 0.25;

/// The last numbers of a sequence, and the running error of each predictor. All arithmetic is f64 without
/// fused operations, so it is bit-identical on every machine.
#[derive(Clone, Copy)]
struct Past {
    /// The last numbers, the latest first.
    numbers: [i64; ORDERS],
    seen: usize,
    guesses: [f64; ORDERS],
    errors: [f64; ORDERS],
    /// Running mean of the residual's magnitude, with [`PLACES`] fractional bits.
    size: u64,
}

impl Past {
    const NEW: Self = Self {
        numbers: [0; ORDERS],
        seen: 0,
        guesses: [0.0; ORDERS],
        errors: [1.0; ORDERS],
        size: FIRST_SIZE << PLACES,
    };

    /// The mean of the predictions, weighted by the inverse fourth power of their errors.
    fn predict(&mut self) -> i64 {
        let (mut weights, mut sum) = (0.0, 0.0);
        let fitted = POLYNOMIALS.iter().zip(&self.errors).zip(&mut self.guesses);
        for ((polynomial, error), place) in fitted.take(self.seen) {
            let terms = polynomial.iter().zip(&self.numbers);
            let guess = terms.map(|(a, b)| a * b).sum::<i64>() as f64;
            *place = guess;
            let square = error * error + 0.1;
            let weight = 1.0 / (square * square);
            weights += weight;
            sum += weight * guess;
        }
        let mean = (sum / weights).round() as i64;
        mean.clamp(1 - MAX_NUMBER, MAX_NUMBER - 1)
    }

    fn context(&self) -> usize {
        let size = self.size + 5;
        let digits = size.ilog2();
        let half = size >> (digits - 1) & 1;
        ((2 * digits as usize + half as usize).saturating_sub(4)).min(SIZES - 1)
    }

    fn push(&mut self, number: i64, difference: u64) {
        for order in 0..self.seen.min(ORDERS) {
            let error = (number as f64 - self.guesses[order]).abs();
            let before = self.errors[order];
            self.errors[order] = match self.seen == order + 1 {
                true => error,
                false => before + (error - before) * FORGET,
            };
        }
        if self.seen > 0 {
            let size = difference << PLACES;
            self.size = match self.seen {
                ..4 => size.max(self.size / 4),
                _ => (3 * self.size + size) / 4,
            };
        }
        self.numbers.copy_within(0..ORDERS - 1, 1);
        self.numbers[0] = number;
        self.seen += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fourth component of a unit quaternion in steps of 2^-15, from keys of any size.
    #[test]
    fn a_component_follows_from_keys_of_any_size() {
        let follows = |key: [i64; 4], component, negative| {
            Derived { component, negative, step: 1.0 / 32_768.0 }.follows(&key)
        };
        assert_eq!(follows([0; 4], 3, false), 32_768);
        assert_eq!(follows([7, 0, 0, 0], 0, true), -32_768);
        // 0.6² + 0.8² = 1.
        assert_eq!(follows([0, 19_661, 9, 0], 2, false), 26_214);
        // 2^30 - 19,661² - 26,214² = 13,107, the square of 114.49.
        assert_eq!(follows([19_661, 26_214, 0, 5], 3, false), 114);
        // Components beyond 1 leave 0, also where their squares exceed 32 bits.
        for bits in [16, 24, 31, 32, 33, 39] {
            for k in [1 << bits, -(1 << bits)] {
                for at in 0..3 {
                    let mut key = [0; 4];
                    key[at] = k;
                    assert_eq!(follows(key, 3, false), 0, "{k}");
                }
            }
        }
    }
}
