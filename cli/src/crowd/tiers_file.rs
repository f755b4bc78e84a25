//! `--tiers FILE` and `--budget`.

use super::super::bounded;
use super::super::error::CliError;
use phalanx::crowd::{Sharing, Tier, TierDetail, Tiers};
use serde::Deserialize;
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// `--budget`: palettes, or microseconds for the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BudgetArg {
    Characters(usize),
    Microseconds(f64),
}

impl fmt::Display for BudgetArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Characters(n) => write!(f, "{n}"),
            Self::Microseconds(us) => write!(f, "{us}us"),
        }
    }
}

impl FromStr for BudgetArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected a number of characters, or a time as 1500us or 1.5ms";
        let time = |number: &str, unit: f64| {
            let value: f64 = number.parse().map_err(|_| expected.to_owned())?;
            let microseconds = value * unit;
            if (1.0..=1e9).contains(&microseconds) {
                Ok(Self::Microseconds(microseconds))
            } else {
                let range = "a budget of time is from 1us to 1000000ms";
                Err(format!("{microseconds} microseconds; {range}"))
            }
        };
        if let Some(number) = text.strip_suffix("us") {
            return time(number, 1.0);
        }
        if let Some(number) = text.strip_suffix("ms") {
            return time(number, 1e3);
        }
        let count = text.parse().map(Self::Characters);
        count.map_err(|_| expected.to_owned())
    }
}

/// The form of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TiersFile {
    tiers: Vec<TierEntry>,
    hysteresis: Option<f32>,
    max_age: Option<u32>,
    shadows: Option<usize>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TierEntry {
    height: f32,
    rate: Option<u8>,
    #[serde(default)]
    interpolate: bool,
    phases: Option<u16>,
    error: Option<f32>,
    level: Option<usize>,
    leave_out: Option<Vec<String>>,
}

/// The most bytes of a file of tiers.
const MAX_BYTES: u64 = 1 << 20;

/// Reads tiers.
pub fn read(file: &Path) -> Result<Tiers, CliError> {
    let fault = |reason: String| CliError::Tiers(format!("{}: {reason}", file.display()));
    let bytes = bounded::read(file, MAX_BYTES).map_err(|e| fault(e.to_string()))?;
    let bytes = bytes.ok_or_else(|| fault(format!("it has more than {MAX_BYTES} bytes")))?;
    let read: TiersFile = serde_json::from_slice(&bytes).map_err(|e| fault(e.to_string()))?;
    let defaults = Tiers::default();
    let mut tiers = Vec::new();
    for (number, entry) in read.tiers.into_iter().enumerate() {
        let sharing = match (entry.phases, entry.error) {
            (None, None) => Sharing::None,
            (Some(phases), None) => Sharing::Phases(phases),
            (None, Some(error)) => Sharing::Error(error),
            _ => {
                return Err(fault(format!(
                    "tier {number} has phases and an error; a tier has one of them"
                )));
            }
        };
        tiers.push(Tier {
            height: entry.height,
            rate: entry.rate.unwrap_or(1),
            interpolate: entry.interpolate,
            sharing,
            detail: (entry.level.is_some() || entry.leave_out.is_some()).then(|| TierDetail {
                level: entry.level.unwrap_or(0),
                leave_out: entry.leave_out.unwrap_or_default(),
            }),
        });
    }
    let tiers = Tiers {
        tiers,
        hysteresis: read.hysteresis.unwrap_or(defaults.hysteresis),
        max_age: read.max_age.unwrap_or(defaults.max_age),
        shadows: read.shadows,
    };
    tiers.validate().map_err(|e| fault(e.to_string()))?;
    Ok(tiers)
}

/// How often a tier is updated, in words.
pub fn rate(rate: u8, interpolate: bool) -> String {
    match (rate, interpolate) {
        (1, _) => "1".into(),
        (n, false) => format!("1/{n}, held"),
        (n, true) => format!("1/{n}, interpolated"),
    }
}

/// The detail of a tier, in words.
pub fn detail(detail: Option<&TierDetail>) -> String {
    match detail {
        None => "-".into(),
        Some(d) if d.leave_out.is_empty() => format!("level {}", d.level),
        Some(d) => format!("level {}, {} left out", d.level, d.leave_out.len()),
    }
}

/// How a tier shares, in words.
pub fn sharing(sharing: Sharing) -> String {
    match sharing {
        Sharing::None => "-".into(),
        Sharing::Phases(n) => format!("{n} phases"),
        Sharing::Error(error) => format!("{} mm", error * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_characters_or_times() {
        assert_eq!("5000".parse(), Ok(BudgetArg::Characters(5000)));
        assert_eq!("1.5ms".parse(), Ok(BudgetArg::Microseconds(1500.0)));
        assert_eq!("800us".parse(), Ok(BudgetArg::Microseconds(800.0)));
        for bad in ["", "ms", "-1", "1s", "NaNms", "0us", "1e99ms"] {
            assert!(bad.parse::<BudgetArg>().is_err(), "{bad}");
        }
    }
}
