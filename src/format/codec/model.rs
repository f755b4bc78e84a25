//! Adaptive models of bits, and of non-negative integers made of such bits.

use super::ReadError;
use super::range::Coder;

/// Number of learning rates. The last one applies to all later bits: about 1/28 of the error per bit.
const SLOWEST: usize = 28;
/// Learning rate of the n-th bit, in units of 2^-16.
const RATES: [u32; SLOWEST] = {
    let mut rates = [0; SLOWEST];
    let mut n = 0;
    while n < SLOWEST {
        rates[n] = (2 << 16) / (2 * n as u32 + 5);
        n += 1;
    }
    rates
};

/// The adaptive probability of a bit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bit {
    /// Probability of 0, in units of 2^-16.
    zero: u16,
    seen: u8,
}

impl Bit {
    /// Both values are equally likely.
    pub const EVEN: Self = Self::new(1 << 15);

    /// A model with a given probability of 0, in units of 2^-16.
    pub const fn new(zero: u16) -> Self {
        Self { zero, seen: 0 }
    }

    /// Probability of 0 in units of 2^-12, from 1 to 4095.
    pub fn zero(&self) -> u32 {
        (u32::from(self.zero) >> 4).clamp(1, 4095)
    }

    pub fn learn(&mut self, bit: bool) {
        let rate = RATES[usize::from(self.seen)];
        let target = if bit { 0 } else { 65_535 };
        let way = (i64::from(target) - i64::from(self.zero)) * i64::from(rate);
        self.zero = (i64::from(self.zero) + (way >> 16)) as u16;
        self.seen = (self.seen + 1).min(SLOWEST as u8 - 1);
    }
}

/// Limit on the exponent: numbers are below 2^40 − 1.
pub(super) const MAX_DIGITS: usize = 40;
/// Numbers with an exponent below this have separate models for the two digits after the leading one.
const KNOWN_DIGITS: usize = 12;

/// Model of non-negative integers, coded as Elias gamma: the exponent of the number plus 1 in unary, then
/// the digits after the leading one. The exponent and the first two digits are modelled.
#[derive(Clone, Debug)]
pub(super) struct Number {
    more: [Bit; MAX_DIGITS],
    second: [Bit; KNOWN_DIGITS],
    third: [[Bit; 2]; KNOWN_DIGITS],
}

/// exp(−2^(k/2)) in units of 2^-16, for k from −10.
const SURVIVAL: [u16; 18] = [
    63_520, 62_703, 61_565, 59_992, 57_835, 54_917, 51_039, 46_019, 39_750, 32_314, 24_109, 15_933,
    8_869, 3_874, 1_200, 229, 22, 1,
];

impl Number {
    /// All bits are equally likely.
    pub const EVEN: Self = Self {
        more: [Bit::EVEN; MAX_DIGITS],
        second: [Bit::EVEN; KNOWN_DIGITS],
        third: [[Bit::EVEN; 2]; KNOWN_DIGITS],
    };

    /// A model of exponentially distributed numbers with a mean of about 2^(half / 2).
    pub fn about(half: usize) -> Self {
        let mut number = Self::EVEN;
        for (i, more) in number.more.iter_mut().enumerate() {
            let at = (2 * i + 10).saturating_sub(half).min(SURVIVAL.len() - 1);
            *more = Bit::new(65_535 - SURVIVAL[at].clamp(600, 64_900));
        }
        number
    }

    /// Codes one number.
    pub fn code<C: Coder>(&mut self, c: &mut C, value: u64) -> Result<u64, ReadError> {
        let value = value + 1;
        let wanted = value.ilog2() as usize;
        let mut digits = 0;
        while c.bit(&mut self.more[digits], digits < wanted)? {
            digits += 1;
            if digits == MAX_DIGITS {
                return Err(c.limit("digits of a number", digits as u64, MAX_DIGITS as u64 - 1));
            }
        }
        let (mut read, mut left) = (1, digits as u32);
        if (1..KNOWN_DIGITS).contains(&digits) {
            left -= 1;
            let second = c.bit(&mut self.second[digits], value >> left & 1 == 1)?;
            read = 2 | u64::from(second);
            if left > 0 {
                left -= 1;
                let third = &mut self.third[digits][usize::from(second)];
                read = read << 1 | u64::from(c.bit(third, value >> left & 1 == 1)?);
            }
        }
        let low = value & ((1u64 << left) - 1);
        Ok((read << left | c.raw(low, left)?) - 1)
    }
}
