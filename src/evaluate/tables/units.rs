//! Sets of groups of lanes, as bits.

use super::{CHANNELS, ROTATION, SCALE, TRANSLATION};

/// How a skeleton's lanes are divided: groups of a register's width, and units of one or more groups, at most 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Units {
    /// Lanes of a register.
    pub width: usize,
    /// Number of groups of the skeleton.
    pub groups: usize,
    /// The binary logarithm of the number of groups in a unit.
    pub shift: u32,
}

/// Sets of units, one per channel (bit u: unit u).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnitSet(pub [u64; 3]);

impl Units {
    /// Divides `lanes` lanes, in registers of `width`.
    pub fn new(lanes: usize, width: usize) -> Self {
        let groups = lanes / width;
        let mut shift = 0;
        while groups.div_ceil(1 << shift) > 64 {
            shift += 1;
        }
        Self { width, groups, shift }
    }

    pub fn lanes(&self) -> usize {
        self.groups * self.width
    }

    pub fn of_lane(&self, lane: usize) -> u32 {
        (lane / self.width) as u32 >> self.shift
    }

    /// All units of all channels.
    pub fn all(&self) -> UnitSet {
        let count = self.groups.div_ceil(1 << self.shift);
        let bits = if count < 64 { (1 << count) - 1 } else { u64::MAX };
        UnitSet([bits; CHANNELS.len()])
    }

    pub fn groups_of(&self, unit: u32) -> std::ops::Range<usize> {
        let first = (unit as usize) << self.shift;
        first..(first + (1 << self.shift)).min(self.groups)
    }

    /// The first float of a group in a pose. A pose has ten registers per group.
    #[inline(always)]
    pub fn offset(&self, channel: usize, group: usize) -> usize {
        self.register(channel, group) * self.width
    }

    /// The first register of a group in a pose.
    #[inline(always)]
    pub fn register(&self, channel: usize, group: usize) -> usize {
        match channel {
            ROTATION => group * 4,
            TRANSLATION => self.groups * 4 + group * 3,
            _ => self.groups * 7 + group * 3,
        }
    }
}

impl UnitSet {
    #[inline(always)]
    pub fn join(&mut self, other: &Self) {
        for channel in [TRANSLATION, ROTATION, SCALE] {
            self.0[channel] |= other.0[channel];
        }
    }

    #[inline(always)]
    pub fn and(&self, other: &Self) -> Self {
        let mut both = *self;
        for channel in [TRANSLATION, ROTATION, SCALE] {
            both.0[channel] &= other.0[channel];
        }
        both
    }

    pub fn insert(&mut self, channel: usize, unit: u32) {
        self.0[channel] |= 1 << unit;
    }

    #[inline(always)]
    pub fn contains(&self, channel: usize, unit: u32) -> bool {
        self.0[channel] >> unit & 1 == 1
    }

    /// All units of all channels.
    pub const ALL: Self = Self([u64::MAX; CHANNELS.len()]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_at_most_64_units_and_they_cover_every_group() {
        for lanes in [0, 16, 80, 512, 528, 1024, 1040, 4096, 65_536] {
            for width in [4, 8, 16] {
                let units = Units::new(lanes, width);
                let count = lanes.div_ceil(width << units.shift) as u32;
                assert!(count <= 64, "{lanes} lanes, {width} wide");
                assert!((0..count).flat_map(|u| units.groups_of(u)).eq(0..units.groups));
                for lane in 0..lanes {
                    let unit = units.of_lane(lane);
                    assert!(units.groups_of(unit).contains(&(lane / width)));
                }
            }
        }
    }
}
