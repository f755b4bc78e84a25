//! [`Length`]: an error or a shell, in metres or in per cent of the model's size.

use super::{BakeFault, MAX_METRES};
use phalanx::bake::model_size;
use phalanx::skeleton::Skeleton;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Largest accepted per cent; a hundred times the model's size.
const MAX_PERCENT: f32 = 1e4;

/// A length above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Length {
    Metres(f32),
    /// A share of [`model_size`], per cent.
    Percent(f32),
}

impl Length {
    /// Metres for a skeleton; fails for a share of a skeleton without extent.
    pub fn metres(self, skeleton: &Skeleton, file: &str) -> Result<f32, BakeFault> {
        let percent = match self {
            Self::Metres(metres) => return Ok(metres),
            Self::Percent(percent) => percent,
        };
        let metres = percent / 100.0 * model_size(skeleton);
        match metres > 0.0 && metres.is_finite() {
            true => Ok(metres),
            false => Err(BakeFault::NoSize { file: file.to_owned(), length: self }),
        }
    }

    fn number(self) -> Option<Self> {
        let (value, most) = match self {
            Self::Metres(v) => (v, MAX_METRES),
            Self::Percent(v) => (v, MAX_PERCENT),
        };
        (value > 0.0 && value <= most).then_some(self)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Metres(metres) => write!(f, "{metres}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = match text.strip_suffix('%') {
            Some(percent) => percent.trim_end().parse::<f32>().map(Self::Percent),
            None => text.parse::<f32>().map(Self::Metres),
        };
        let read = read.ok().and_then(Self::number);
        read.ok_or_else(|| {
            format!(
                "expected metres above 0 and at most {MAX_METRES}, or per cent of the model's size, such as 0.005%"
            )
        })
    }
}

impl Serialize for Length {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Metres(metres) => to.serialize_f32(*metres),
            Self::Percent(_) => to.collect_str(self),
        }
    }
}

/// A number of metres, or a text as on the command line.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(f32),
    Text(String),
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = Written::deserialize(from)
            .map_err(|_| D::Error::custom("expected metres, or per cent as \"2%\""))?;
        let text = match written {
            Written::Number(metres) => metres.to_string(),
            Written::Text(text) => text,
        };
        text.parse().map_err(|e| D::Error::custom(format_args!("{text}: {e}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metres_and_per_cent() {
        for (text, length) in [
            ("0.0001", Length::Metres(1e-4)),
            ("0.005%", Length::Percent(5e-3)),
            ("2 %", Length::Percent(2.0)),
        ] {
            assert_eq!(text.parse(), Ok(length));
            assert_eq!(length.to_string().parse(), Ok(length));
        }
        for bad in ["", "%", "0", "0%", "-1%", "nan%", "inf", "1e9%", "2e6", "2%%", "2 cm"] {
            assert!(bad.parse::<Length>().is_err(), "{bad}");
        }
    }
}
