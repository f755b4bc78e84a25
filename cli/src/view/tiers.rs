//! [`WindowTiers`]: the tiers of the window's crowd, the colours that show them, and the budget.

use super::super::budget::Budget;
use super::super::crowd::tiers_file::BudgetArg;
use super::super::error::CliError;
use phalanx::crowd::{Crowd, CrowdError, InstanceId, RATES, TierFrame, Tiers};
use std::time::Duration;

/// The meaning of a character's colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColorBy {
    /// The tier of the character.
    Tier,
    /// How often its tier is updated.
    Rate,
    /// Whether it shares its palette.
    Sharing,
}

/// An sRGB colour.
pub type Color = [u8; 3];

/// Colours of tiers 0 to 7, of distinct hues and descending brightness; tiers 8 to 15 have darker ones.
const TIERS: [Color; 8] = [
    [255, 244, 150],
    [110, 225, 250],
    [90, 215, 90],
    [255, 140, 50],
    [225, 90, 200],
    [70, 110, 255],
    [190, 25, 40],
    [80, 40, 130],
];
/// Factor of the colours of tiers 8 to 15.
const DARKER: f32 = 0.55;

/// Colours of rates, in the order of [`RATES`].
const RATE_COLORS: [Color; 5] = [TIERS[0], TIERS[1], TIERS[2], TIERS[3], TIERS[5]];

const OWN: Color = TIERS[3];
const SHARED: Color = TIERS[5];

/// Number of palettes and time of a budget that is chosen without a number.
pub const PALETTES: usize = 500;
pub const MICROSECONDS: f64 = 2000.0;

/// The colour of a tier.
pub fn tier_color(tier: usize) -> Color {
    let color = TIERS[tier % TIERS.len()];
    if tier < TIERS.len() { color } else { color.map(|v| (f32::from(v) * DARKER) as u8) }
}

/// The colour of a rate.
pub fn rate_color(rate: u8) -> Color {
    let place = RATES.iter().position(|&r| r == rate);
    RATE_COLORS[place.unwrap_or(0)]
}

/// A rate in words.
pub fn rate_name(rate: u8) -> String {
    match rate {
        1 => "every frame".into(),
        n => format!("1/{n}"),
    }
}

impl ColorBy {
    pub const ALL: [Self; 3] = [Self::Tier, Self::Rate, Self::Sharing];

    pub fn name(self) -> &'static str {
        match self {
            Self::Tier => "tier",
            Self::Rate => "rate",
            Self::Sharing => "sharing",
        }
    }

    /// The next in the cycle: no tiers, colours by tier, by rate, by sharing.
    pub fn next(now: Option<Self>) -> Option<Self> {
        match now {
            None => Some(Self::Tier),
            Some(Self::Tier) => Some(Self::Rate),
            Some(Self::Rate) => Some(Self::Sharing),
            Some(Self::Sharing) => None,
        }
    }

    /// The colour of an instance in the last frame; `None` if it was out of the picture.
    pub fn color(self, crowd: &Crowd, instance: InstanceId) -> Option<Color> {
        let tier = crowd.tier(instance)?;
        Some(match self {
            Self::Tier => tier_color(tier),
            Self::Rate => rate_color(crowd.tiers()?.tiers.get(tier)?.rate),
            Self::Sharing if crowd.shown(instance).is_some_and(|s| s.shared) => SHARED,
            Self::Sharing => OWN,
        })
    }

    /// The colours with their meanings, except the colours of tiers, which have rows.
    pub fn legend(self, tiers: &Tiers) -> Vec<(Color, String)> {
        match self {
            Self::Tier => Vec::new(),
            Self::Rate => {
                let used = |rate: &&u8| tiers.tiers.iter().any(|t| t.rate == **rate);
                let rates = RATES.iter().filter(used);
                rates.map(|&r| (rate_color(r), rate_name(r))).collect()
            }
            Self::Sharing => {
                vec![(SHARED, "shared palette".into()), (OWN, "palette of its own".into())]
            }
        }
    }
}

/// The tint that gives a model this colour. `strength` is the strength of a tint on its materials.
pub fn tint(color: Color, strength: f32) -> [f32; 4] {
    // The strength is above 0: `tint_strength` of the materials that take tints.
    let [r, g, b] = color.map(|v| 1.0 + (linear(v) - 1.0) / strength);
    [r, g, b, 1.0]
}

/// The linear value of an sRGB one.
fn linear(value: u8) -> f32 {
    let v = f32::from(value) / 255.0;
    if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

/// The tiers that the window's crowd gets, and its budget.
#[derive(Debug)]
pub struct WindowTiers {
    /// The meaning of colours; `None` if the crowd has no tiers.
    pub color_by: Option<ColorBy>,
    /// The largest palette, in rows, of which the device holds pairs: others are held between updates.
    pub most_pair_rows: u64,
    /// The tiers of `--tiers`; `None` for the model's default tiers.
    tiers: Option<Tiers>,
    budget: Budget,
    /// The time of the last schedule and evaluation.
    taken: Duration,
}

impl Default for WindowTiers {
    fn default() -> Self {
        Self {
            color_by: None,
            most_pair_rows: u64::MAX,
            tiers: None,
            budget: Budget::default(),
            taken: Duration::ZERO,
        }
    }
}

impl WindowTiers {
    /// The tiers of `--tiers` and the budget of `--budget`; either turns tiers on.
    pub fn set(&mut self, tiers: Option<Tiers>, budget: Option<BudgetArg>) {
        if tiers.is_some() || budget.is_some() {
            self.color_by = Some(ColorBy::Tier);
        }
        if tiers.is_some() {
            self.tiers = tiers;
        }
        self.set_budget(budget);
    }

    /// The budget as it was set.
    pub fn budget(&self) -> Option<BudgetArg> {
        self.budget.asked()
    }

    pub fn set_budget(&mut self, budget: Option<BudgetArg>) {
        self.budget = Budget::new(budget);
    }

    /// The palettes of the next frame.
    pub fn palettes(&self) -> Option<usize> {
        self.budget.palettes()
    }

    /// Takes what a frame did, and the time of its schedule and evaluation, with the copy to the device.
    pub fn observe(&mut self, frame: &TierFrame, time: Duration) {
        self.taken = time;
        self.budget.observe(frame, time.as_secs_f64() * 1e6);
    }

    /// The time of the last schedule and evaluation, with the copy to the device.
    pub fn taken(&self) -> Duration {
        self.taken
    }

    /// The tiers for a crowd with these default ones, whose palettes have this many rows; `None` if they are off. Where
    /// the device holds no pairs of such palettes, they are held between updates.
    pub fn of(&self, default: &Tiers, rows: usize) -> Option<Tiers> {
        self.color_by?;
        let mut tiers = self.tiers.as_ref().unwrap_or(default).clone();
        if !self.has_pairs(rows) {
            tiers.tiers.iter_mut().for_each(|t| t.interpolate = false);
        }
        Some(tiers)
    }

    fn has_pairs(&self, rows: usize) -> bool {
        rows as u64 <= self.most_pair_rows
    }

    /// A warning if a tier is interpolated and the device holds no pairs of palettes of `rows` rows.
    pub fn without_pairs(&self, default: &Tiers, rows: usize) -> Option<String> {
        let interpolated = |t: &phalanx::crowd::Tier| t.interpolate && t.rate > 1;
        let tiers = self.tiers.as_ref().unwrap_or(default);
        let asked = self.color_by.is_some() && tiers.tiers.iter().any(interpolated);
        (asked && !self.has_pairs(rows)).then(|| {
            format!(
                "The device holds pairs of palettes of up to {} rows, this model has {rows}: \
                 palettes are held between updates",
                self.most_pair_rows
            )
        })
    }
}

/// Converts a crowd's error about tiers.
pub fn refused(error: CrowdError) -> CliError {
    CliError::Tiers(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::crowd::{MAX_TIERS, Tier};

    /// Relative luminance, as contrasts are measured.
    fn brightness(color: Color) -> f32 {
        let [r, g, b] = color.map(linear);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    #[test]
    fn colors_differ_and_so_does_their_brightness() {
        let tiers: Vec<Color> = (0..MAX_TIERS).map(tier_color).collect();
        for (n, a) in tiers.iter().enumerate() {
            for b in &tiers[..n] {
                let apart: u32 = (0..3).map(|c| u32::from(a[c].abs_diff(b[c]))).sum();
                assert!(apart >= 60, "{a:?} {b:?}");
            }
        }
        let seen = [&TIERS[..], &RATE_COLORS, &[OWN, SHARED]];
        for colors in seen {
            for pair in colors.windows(2) {
                let [a, b] = [brightness(pair[0]), brightness(pair[1])];
                // The contrast of two colours: (a + 0.05) / (b + 0.05).
                assert!((a + 0.05) / (b + 0.05) > 1.2, "{pair:?}: {a} {b}");
            }
        }
    }

    #[test]
    fn tints_give_a_model_the_color_whatever_its_strength() {
        for strength in [1.0, 0.35] {
            let tint = tint([255, 0, 188], strength);
            let seen = tint.map(|t| 1.0 + (t - 1.0) * strength);
            for (seen, wanted) in seen.iter().zip([1.0, 0.0, 0.5029, 1.0]) {
                assert!((seen - wanted).abs() < 1e-3, "{seen} {wanted}");
            }
        }
    }

    #[test]
    fn pairs_that_the_device_does_not_hold_are_not_asked_for() {
        let mut window = WindowTiers::default();
        let default = Tiers::default();
        assert_eq!(window.of(&default, 100), None);
        let tiers = Tiers {
            tiers: vec![Tier { rate: 4, interpolate: true, ..Tier::default() }],
            ..Tiers::default()
        };
        window.set(Some(tiers.clone()), None);
        assert_eq!(window.of(&default, 100), Some(tiers));
        assert_eq!(window.without_pairs(&default, 100), None);
        window.most_pair_rows = 99;
        let held = window.of(&default, 100).unwrap().tiers[0].clone();
        assert!(!held.interpolate && held.rate == 4);
        let said = window.without_pairs(&default, 100).unwrap();
        assert!(said.contains("99 rows, this model has 100"), "{said}");
        window.color_by = None;
        assert_eq!(window.without_pairs(&default, 100), None);
    }

    #[test]
    fn budgets_of_time_follow_what_frames_take() {
        let mut window = WindowTiers::default();
        window.set(None, None);
        assert_eq!((window.color_by, window.palettes()), (None, None));
        let budget = Some(BudgetArg::Palettes(70));
        window.set(None, budget);
        let state = (window.color_by, window.palettes());
        assert_eq!(state, (Some(ColorBy::Tier), Some(70)));
        window.set_budget(Some(BudgetArg::Microseconds(1000.0)));
        let first = window.palettes().unwrap();
        // Two microseconds for a shared palette.
        let frame = TierFrame { shared_evaluated: 500, ..TierFrame::default() };
        (0..200).for_each(|_| window.observe(&frame, Duration::from_millis(1)));
        let now = window.palettes().unwrap();
        assert!(first > 1500 && now.abs_diff(500) < 20, "{first} {now}");
    }
}
