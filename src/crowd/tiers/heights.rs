//! `Heights`: the tier of an instance by its height on screen, with hysteresis.

use super::cells::OUT;
use super::tier::{MAX_TIERS, Tiers};

/// The minimum heights of tiers: without hysteresis, and with the hysteresis above and below.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heights {
    count: usize,
    at: [f32; MAX_TIERS],
    /// Heights at which an instance comes to a finer tier.
    up: [f32; MAX_TIERS],
    /// Heights at which it stays in its tier.
    down: [f32; MAX_TIERS],
    /// The finest tier that maps of shadows give.
    shadows: u8,
}

impl Heights {
    pub fn new(tiers: &Tiers) -> Self {
        let mut heights = Self {
            count: tiers.tiers.len(),
            at: [0.0; MAX_TIERS],
            up: [0.0; MAX_TIERS],
            down: [0.0; MAX_TIERS],
            // A tier is below 16.
            shadows: tiers.shadows.unwrap_or(0) as u8,
        };
        for (i, tier) in tiers.tiers.iter().enumerate() {
            heights.at[i] = tier.height;
            heights.up[i] = tier.height * (1.0 + tiers.hysteresis);
            heights.down[i] = tier.height * (1.0 - tiers.hysteresis);
        }
        heights
    }

    /// Whether the height in pictures alone keeps an instance in its tier, as it does most.
    #[inline(always)]
    fn stays(&self, old: u8, main: f32) -> bool {
        let tier = usize::from(old) % MAX_TIERS;
        let above = tier.checked_sub(1).map_or(f32::INFINITY, |t| self.up[t]);
        old != OUT && main > 0.0 && main >= self.down[tier] && (main < above || tier == 0)
    }

    #[inline(always)]
    fn first(&self, least: &[f32; MAX_TIERS], height: f32) -> u8 {
        let found = least[..self.count].iter().position(|&l| height >= l);
        // Below 16.
        found.map_or(OUT, |tier| tier as u8)
    }

    /// The tier by one height of an instance that was in `old`; [`OUT`] for a height of 0.
    #[inline(always)]
    fn by_height(&self, old: u8, height: f32) -> u8 {
        if height <= 0.0 {
            return OUT;
        }
        if old == OUT {
            return self.first(&self.at, height);
        }
        let (finest, coarsest) = (self.first(&self.up, height), self.first(&self.down, height));
        if old < coarsest { coarsest } else { old.min(finest) }
    }

    /// The tier of an instance that was in `old`: `main` is its height in pictures, `shadow` that in maps of shadows; 0
    /// if it is in none. The shadow counts if the pictures give no tier.
    #[inline(always)]
    pub fn tier(&self, old: u8, main: f32, shadow: f32) -> u8 {
        if self.stays(old, main) {
            return old;
        }
        let seen = self.by_height(old, main);
        // One that had a finer tier may have it for its shadow. The tier of the pictures takes over where it begins, and
        // ends below that: so the two do not alternate.
        let begins = self.count > 0 && main >= self.at[self.count - 1];
        if seen != OUT && (begins || old >= seen) {
            return seen;
        }
        match self.by_height(old, shadow) {
            OUT => seen,
            tier => tier.max(self.shadows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tier;
    use super::*;

    #[test]
    fn tiers_follow_heights_with_hysteresis() {
        let tier = |height| Tier { height, ..Tier::default() };
        let heights = Heights::new(&Tiers {
            tiers: vec![tier(100.0), tier(50.0), tier(10.0)],
            hysteresis: 0.1,
            shadows: Some(1),
            ..Tiers::default()
        });
        let from = |old: u8| {
            [0.0, 8.9, 9.5, 10.5, 44.0, 46.0, 54.0, 56.0, 89.0, 91.0, 109.0, 111.0]
                .map(|h| heights.tier(old, h, 0.0))
        };
        let o = OUT;
        assert_eq!(from(o), [o, o, o, 2, 2, 2, 1, 1, 1, 1, 0, 0]);
        assert_eq!(from(0), [o, o, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0]);
        assert_eq!(from(1), [o, o, 2, 2, 2, 1, 1, 1, 1, 1, 1, 0]);
        assert_eq!(from(2), [o, o, 2, 2, 2, 2, 2, 1, 1, 1, 1, 0]);
        // A shadow alone: in the tier of shadows, or a coarser one.
        assert_eq!(heights.tier(OUT, 0.0, 500.0), 1);
        assert_eq!(heights.tier(OUT, 0.0, 20.0), 2);
        assert_eq!(heights.tier(OUT, 500.0, 20.0), 0);
    }

    #[test]
    fn shadows_count_where_pictures_give_no_tier() {
        let tier = |height| Tier { height, ..Tier::default() };
        let mut tiers = Tiers {
            tiers: vec![tier(100.0), tier(50.0), tier(10.0)],
            hysteresis: 0.1,
            ..Tiers::default()
        };
        let heights = Heights::new(&tiers);
        // An instance that is too small in the picture has the tier of the map. If both heights are too small, it has
        // none.
        for old in [OUT, 0, 1, 2] {
            for shadow in [0.0, 8.0, 20.0, 60.0, 500.0] {
                let alone = heights.tier(old, 0.0, shadow);
                assert_eq!(heights.tier(old, 5.0, shadow), alone, "{old} {shadow}");
            }
        }
        assert_eq!(heights.tier(OUT, 5.0, 500.0), 0);
        assert_eq!(heights.tier(OUT, 5.0, 5.0), OUT);
        // A tier of the picture counts, however large the shadow is.
        assert_eq!(heights.tier(OUT, 20.0, 500.0), 2);
        // While the height falls past that of the last tier, the tier changes once; while it rises again, once.
        let walk = |old: &mut u8, mains: &[f32]| {
            let step = |&main: &f32| {
                *old = heights.tier(*old, main, 500.0);
                *old
            };
            mains.iter().map(step).collect::<Vec<u8>>()
        };
        let mut old = 2;
        assert_eq!(walk(&mut old, &[10.5, 9.5, 9.1, 8.9, 8.0]), [2, 2, 2, 0, 0]);
        assert_eq!(walk(&mut old, &[8.9, 9.1, 9.5, 9.9, 10.1]), [0, 0, 0, 0, 2]);
        assert_eq!(walk(&mut old, &[9.1, 10.1, 9.1, 8.9, 9.1]), [2, 2, 2, 0, 0]);
        // Without a shadow the picture decides alone.
        assert_eq!(heights.tier(0, 9.5, 0.0), 2);
        // The tier of shadows is the finest that they give.
        tiers.shadows = Some(1);
        let heights = Heights::new(&tiers);
        assert_eq!(heights.tier(OUT, 5.0, 500.0), 1);
        assert_eq!(heights.tier(1, 9.5, 500.0), 1);
        assert_eq!(heights.tier(2, 9.5, 500.0), 2);
    }
}
