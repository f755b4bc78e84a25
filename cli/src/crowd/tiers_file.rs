//! `--tiers FILE` and `--budget`.
//!
//! ```text
//! {"tiers": [{"height": 100},
//!            {"height": 0.5, "rate": 2, "interpolate": true,     updates
//!             "error": 0.005,                                    shared palettes
//!             "level": 1, "leave_out": ["LeftHandIndex1"]}],     detail
//!  "hysteresis": 0.1, "max_age": 32, "shadows": 1}
//! ```

use super::super::bounded;
use super::super::error::CliError;
use super::super::model::{Model, near_joints};
use super::super::object::Object;
use super::super::text;
use phalanx::crowd::{RATES, Tier, TierDetail, Tiers};
use phalanx::skeleton::LookupError;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

/// `--budget`: a number of palettes, or a time from which the controller finds that number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BudgetArg {
    Palettes(usize),
    Microseconds(f64),
}

impl fmt::Display for BudgetArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Palettes(n) => write!(f, "{n}"),
            Self::Microseconds(us) => write!(f, "{us}us"),
        }
    }
}

impl FromStr for BudgetArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let microseconds = |(number, unit): (&str, f64)| {
            let time = unit * number.parse::<f64>().ok()?;
            let fits = (1.0..=1e9).contains(&time);
            fits.then_some(Self::Microseconds(time))
        };
        let us = text.strip_suffix("us").map(|number| (number, 1.0));
        let time = us.or_else(|| text.strip_suffix("ms").map(|number| (number, 1e3)));
        let budget = match time {
            Some(time) => microseconds(time),
            None => text.parse().ok().map(Self::Palettes),
        };
        let expected =
            "expected a number of palettes (500), or a time from 1us to 1000000ms (800us, 1.5ms)";
        budget.ok_or_else(|| expected.to_owned())
    }
}

/// The form of the file. Values are checked one by one, so that a message names the tier.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TiersFile {
    tiers: Vec<Object<TierEntry>>,
    hysteresis: Option<Value>,
    max_age: Option<Value>,
    shadows: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TierEntry {
    height: Value,
    rate: Option<Value>,
    interpolate: Option<Value>,
    springs: Option<Value>,
    error: Option<Value>,
    level: Option<Value>,
    leave_out: Option<Value>,
}

/// The most bytes of a file of tiers.
const MAX_BYTES: u64 = 1 << 20;

/// U+FEFF in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The longest value that is shown whole, in columns.
const VALUE: usize = 40;

/// Reads tiers.
pub fn read(file: &Path) -> Result<Tiers, CliError> {
    let fault = |reason: String| {
        let reason = text::brief(&reason);
        CliError::Tiers(format!("{}: {reason}", file.display()))
    };
    let bytes = bounded::read(file, MAX_BYTES).map_err(|e| fault(e.to_string()))?;
    let bytes = bytes.ok_or_else(|| fault(format!("it has more than {MAX_BYTES} bytes")))?;
    parse(&bytes).map_err(fault)
}

fn parse(bytes: &[u8]) -> Result<Tiers, String> {
    // Some editors begin files of UTF-8 with a byte order mark, which JSON readers may ignore (RFC 8259, section 8.1).
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let Object(read): Object<TiersFile> =
        serde_json::from_slice(text).map_err(|e| e.to_string())?;
    let tiers = read.tiers.into_iter().enumerate();
    let tiers = tiers.map(|(number, Object(entry))| tier(&format!("tier {number}: "), entry));
    let defaults = Tiers::default();
    let max_age = whole("max_age", read.max_age, 1..=u32::MAX.into())?;
    let tiers = Tiers {
        tiers: tiers.collect::<Result<_, _>>()?,
        hysteresis: number("hysteresis", read.hysteresis)?.unwrap_or(defaults.hysteresis),
        max_age: max_age.unwrap_or(defaults.max_age),
        shadows: whole("shadows", read.shadows, 0..=u64::MAX)?,
    };
    tiers.validate().map_err(|e| e.to_string())?;
    Ok(tiers)
}

/// A tier of the file; `of` begins messages about it.
fn tier(of: &str, entry: TierEntry) -> Result<Tier, String> {
    let name = |field: &str| format!("{of}{field}");
    let height = number(&name("height"), Some(entry.height))?;
    let shared_error = number(&name("error"), entry.error)?;
    let rate = match entry.rate {
        None => 1,
        Some(rate) => {
            let known = RATES.into_iter().find(|&r| rate.as_u64() == Some(r.into()));
            known.ok_or_else(|| refused(&name("rate"), &rate, "1, 2, 4, 8 or 16"))?
        }
    };
    let interpolate = match entry.interpolate {
        None => false,
        Some(Value::Bool(interpolate)) => interpolate,
        Some(other) => return Err(refused(&name("interpolate"), &other, "true or false")),
    };
    let springs = match entry.springs {
        None => true,
        Some(Value::Bool(springs)) => springs,
        Some(other) => return Err(refused(&name("springs"), &other, "true or false")),
    };
    let level: Option<usize> = whole(&name("level"), entry.level, 0..=u16::MAX.into())?;
    let leave_out = match entry.leave_out {
        None => None,
        Some(Value::Array(names)) => {
            let names = names.into_iter().map(|joint| match joint {
                Value::String(joint) => Ok(joint),
                other => Err(refused(&name("a joint of leave_out"), &other, "a name or path")),
            });
            Some(names.collect::<Result<Vec<_>, _>>()?)
        }
        Some(other) => {
            let expected = "a list of names or paths of joints";
            return Err(refused(&name("leave_out"), &other, expected));
        }
    };
    let detail = (level.is_some() || leave_out.is_some()).then(|| TierDetail {
        level: level.unwrap_or(0),
        leave_out: leave_out.unwrap_or_default(),
    });
    Ok(Tier {
        height: height.unwrap_or_default(),
        rate,
        interpolate,
        shared_error,
        detail,
        springs,
    })
}

fn refused(name: &str, value: &Value, expected: &str) -> String {
    let value = text::shorten(&text::one_line(&value.to_string()), VALUE);
    format!("{name} is {value}; expected {expected}")
}

/// A number; its range is the library's.
fn number(name: &str, value: Option<Value>) -> Result<Option<f32>, String> {
    let Some(value) = value else { return Ok(None) };
    let number = value.as_f64().map(|number| number as f32);
    match number.filter(|number| number.is_finite()) {
        Some(number) => Ok(Some(number)),
        None if number.is_some() => Err(refused(name, &value, "a number of 32 bits")),
        None => Err(refused(name, &value, "a number")),
    }
}

/// A whole number within a range.
fn whole<T: TryFrom<u64>>(
    name: &str,
    value: Option<Value>,
    range: RangeInclusive<u64>,
) -> Result<Option<T>, String> {
    let Some(value) = value else { return Ok(None) };
    let number = value.as_u64().filter(|number| range.contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.map(Some).ok_or_else(|| {
        let expected = match (range.start(), range.end()) {
            (least, &u64::MAX) => format!("a whole number of at least {least}"),
            (least, most) => format!("a whole number from {least} to {most}"),
        };
        refused(name, &value, &expected)
    })
}

/// Refuses joints to leave out that the model lacks, and returns a warning for each tier whose level it lacks.
pub fn check(file: &Path, tiers: &Tiers, model: &Model) -> Result<Vec<String>, CliError> {
    let (rig, file) = (&model.rig, file.display());
    let levels = rig.lod_count();
    let mut warnings = Vec::new();
    for (number, tier) in tiers.tiers.iter().enumerate() {
        let Some(detail) = &tier.detail else { continue };
        for joint in &detail.leave_out {
            let Err(error) = rig.skeleton().joint(joint.as_str()) else {
                continue;
            };
            let error = match error {
                LookupError::NoJoint { .. } => format!(
                    "{} has no joint {}; {}",
                    model.file,
                    text::name(Some(&text::shorten(joint, VALUE))),
                    near_joints(rig.skeleton(), joint)
                ),
                other => other.to_string(),
            };
            return Err(CliError::Tiers(format!("{file}: tier {number}: leave_out: {error}")));
        }
        if detail.level >= levels {
            let has = text::plural(levels, "level");
            warnings.push(format!(
                "{file}: tier {number}: level is {}; {} has {has} of detail, and the last is taken",
                detail.level, model.file
            ));
        }
    }
    Ok(warnings)
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

/// The error within which a tier shares, in millimetres for a model in metres.
pub fn sharing(error: Option<f32>) -> String {
    error.map_or("-".into(), |error| format!("{} mm", three_digits(error * 1e3)))
}

/// A positive number to three significant digits, or to the whole.
fn three_digits(value: f32) -> f32 {
    let digits = (2.0 - value.log10().floor()).clamp(0.0, 30.0);
    let unit = 10f64.powf(digits.into());
    let rounded = ((f64::from(value) * unit).round() / unit) as f32;
    if rounded.is_finite() { rounded } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_shown_to_three_digits() {
        for (error, text) in [
            (0.003, "3 mm"),
            (0.03, "30 mm"),
            (0.003 * 0.08 / 1.8, "0.133 mm"),
            (0.006 * 155.5 / 1.8, "518 mm"),
            (1234.5678, "1234568 mm"),
        ] {
            assert_eq!(sharing(Some(error)), text);
        }
        for error in [f32::MIN_POSITIVE, f32::MAX] {
            assert!(sharing(Some(error)).ends_with(" mm"));
        }
    }

    #[test]
    fn budgets_are_palettes_or_times() {
        assert_eq!("5000".parse(), Ok(BudgetArg::Palettes(5000)));
        assert_eq!("0".parse(), Ok(BudgetArg::Palettes(0)));
        assert_eq!("1.5ms".parse(), Ok(BudgetArg::Microseconds(1500.0)));
        assert_eq!("800us".parse(), Ok(BudgetArg::Microseconds(800.0)));
        for bad in ["", "ms", "-1", "1.5", "1s", "NaNms", "0us", "-2ms", "1e99ms", "infus"] {
            let error = bad.parse::<BudgetArg>().unwrap_err();
            assert!(error.contains("a number of palettes"), "{bad}: {error}");
        }
    }

    #[test]
    fn all_fields_are_read() {
        let text = r#"{"tiers": [{"height": 100, "rate": null}, {"height": 20, "rate": 2, "interpolate": true},
            {"height": 0.5, "rate": 16, "error": 0.005, "level": 1, "leave_out": ["Arm/Hand"]}],
            "hysteresis": 0, "max_age": 4294967295, "shadows": 1}"#;
        let tiers = parse(text.as_bytes()).unwrap();
        let tier =
            |height, rate, shared_error| Tier { height, rate, shared_error, ..Tier::default() };
        let expected = [
            tier(100.0, 1, None),
            Tier { interpolate: true, ..tier(20.0, 2, None) },
            Tier {
                detail: Some(TierDetail { level: 1, leave_out: vec!["Arm/Hand".into()] }),
                ..tier(0.5, 16, Some(0.005))
            },
        ];
        assert_eq!(tiers.tiers, expected);
        let others = (tiers.hysteresis, tiers.max_age, tiers.shadows);
        assert_eq!(others, (0.0, u32::MAX, Some(1)));
        // What is not given is the library's default.
        let tiers = parse(br#"{"tiers": [{"height": 1, "leave_out": []}]}"#).unwrap();
        let default = Tiers::default();
        assert_eq!((tiers.hysteresis, tiers.max_age), (default.hysteresis, default.max_age));
        assert_eq!(tiers.tiers[0].detail, Some(TierDetail::default()));
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        let plain = r#"{"tiers": [{"height": 9}]}"#;
        let marked = format!("\u{feff}{plain}");
        assert_eq!(parse(marked.as_bytes()), parse(plain.as_bytes()));
        let twice = parse(format!("\u{feff}{marked}").as_bytes()).unwrap_err();
        assert!(twice.starts_with("expected value at line 1"), "{twice}");
    }

    /// Each message is one line, which names the tier and the field, or the place in the file.
    #[test]
    fn what_is_refused_is_named() {
        let of_tier = [
            (r#""height": -1"#, "tier 0: the height is -1, outside 0 to 1000000"),
            (r#""height": 1e7"#, "tier 0: the height is 10000000, outside 0 to 1000000"),
            (r#""height": 1e300"#, "tier 0: height is 1e+300; expected a number of 32 bits"),
            (r#""height": "40""#, r#"tier 0: height is "40"; expected a number"#),
            (r#""height": null"#, "tier 0: height is null; expected a number"),
            (r#""height": NaN"#, "expected value at line 1 column"),
            (r#""height": 1e999"#, "number out of range at line 1 column"),
            (r#""rate": 2"#, "missing field `height` at line 1 column"),
            (
                r#""height": 1, "hight": 1"#,
                "unknown field `hight`, expected one of `height`, `rate`",
            ),
            (r#""height": 1, "height": 2"#, "duplicate field `height`"),
            (r#""height": 1, "rate": 3"#, "tier 0: rate is 3; expected 1, 2, 4, 8 or 16"),
            (r#""height": 1, "rate": 300"#, "tier 0: rate is 300; expected 1, 2"),
            (r#""height": 1, "rate": 0.5"#, "tier 0: rate is 0.5; expected 1, 2"),
            (
                r#""height": 1, "interpolate": 1"#,
                "tier 0: interpolate is 1; expected true or false",
            ),
            (r#""height": 1, "error": 0"#, "tier 0: the error of sharing is 0, outside"),
            (r#""height": 1, "error": -1e-3"#, "tier 0: the error of sharing is -0.001"),
            (r#""height": 1, "error": []"#, "tier 0: error is []; expected a number"),
            (
                r#""height": 1, "level": -1"#,
                "tier 0: level is -1; expected a whole number from 0 to 65535",
            ),
            (
                r#""height": 1, "leave_out": "Hand""#,
                r#"tier 0: leave_out is "Hand"; expected a list"#,
            ),
            (
                r#""height": 1, "leave_out": [5]"#,
                "tier 0: a joint of leave_out is 5; expected a name",
            ),
        ];
        let of_all = [
            ("", "EOF while parsing a value"),
            ("5", "invalid type: integer `5`, expected an object"),
            ("[[]]", "invalid type: sequence, expected an object"),
            ("{}", "missing field `tiers`"),
            (r#"{"tiers": {}}"#, "invalid type: map, expected a sequence"),
            (r#"{"tiers": []}"#, "0 tiers; a crowd has 1 to 16"),
            (r#"{"tiers": [[1]]}"#, "invalid type: sequence, expected an object"),
            (r#"{"tiers": [{"height": 1}]} x"#, "trailing characters"),
            (
                r#"{"tiers": [{"height": 1}, {"height": 1}]}"#,
                "tier 1 begins at 1 pixel, which is not below",
            ),
            (r#"{"tiers": [{"height": 1}, {"height": "a"}]}"#, "tier 1: height is \"a\""),
            (
                r#"{"tiers": [{"height": 1}], "hysteresis": 2}"#,
                "the hysteresis is 2, outside 0 to 1",
            ),
            (
                r#"{"tiers": [{"height": 1}], "hysteresis": "a"}"#,
                "hysteresis is \"a\"; expected a number",
            ),
            (
                r#"{"tiers": [{"height": 1}], "max_age": 0}"#,
                "max_age is 0; expected a whole number from 1 to 4294967295",
            ),
            (r#"{"tiers": [{"height": 1}], "max_age": 1e20}"#, "max_age is 1e+20; expected"),
            (
                r#"{"tiers": [{"height": 1}], "shadows": 1}"#,
                "the tier of shadows is 1; there is 1 tier",
            ),
            (
                r#"{"tiers": [{"height": 1}], "shadows": -1}"#,
                "shadows is -1; expected a whole number of at least 0",
            ),
            (r#"{"tiers": [{"height": 1}], "shadow": 1}"#, "unknown field `shadow`"),
        ];
        let of_tier =
            of_tier.map(|(fields, part)| (format!(r#"{{"tiers": [{{{fields}}}]}}"#), part));
        let of_all = of_all.map(|(text, part)| (text.to_owned(), part));
        for (text, part) in of_tier.iter().chain(&of_all) {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(error.starts_with(part), "{text}: {error}");
            assert!(!error.contains('\n') && error.len() < 200, "{error}");
        }
        let many = vec![r#"{"height": 1}"#; 17].join(",");
        let error = parse(format!(r#"{{"tiers": [{many}]}}"#).as_bytes()).unwrap_err();
        assert_eq!(error, "17 tiers; a crowd has 1 to 16");
        let deep = "[".repeat(100_000);
        let error = parse(format!(r#"{{"tiers": [{{"height": {deep}"#).as_bytes()).unwrap_err();
        assert!(error.starts_with("recursion limit exceeded"), "{error}");
    }

    #[test]
    fn long_values_are_shortened() {
        let long = "x".repeat(100_000);
        let text = format!(r#"{{"tiers": [{{"height": "{long}"}}]}}"#);
        let error = parse(text.as_bytes()).unwrap_err();
        assert!(error.len() < 100 && error.ends_with("; expected a number"), "{error}");
    }

    #[test]
    fn joints_and_levels_are_looked_up_in_the_model() {
        let model = Model::load(None, false, Default::default()).unwrap();
        let read = |fields: &str| {
            let text = format!(r#"{{"tiers": [{{"height": 9}}, {{"height": 1, {fields}}}]}}"#);
            check(Path::new("far.json"), &parse(text.as_bytes()).unwrap(), &model)
        };
        let fine = read(r#""level": 2, "leave_out": ["LeftHand", "LeftArm/LeftForeArm"]"#);
        assert!(fine.is_ok_and(|warnings| warnings.is_empty()));
        let error = read(r#""leave_out": ["RightHand", "LeftHnad"]"#).unwrap_err().to_string();
        let start = r#"far.json: tier 1: leave_out: built-in character has no joint "LeftHnad"; did you mean "LeftHand""#;
        assert!(error.starts_with(start), "{error}");
        let warnings = read(r#""level": 7"#).unwrap();
        let warning = "far.json: tier 1: level is 7; built-in character has 3 levels of detail, and the last is taken";
        assert_eq!(warnings, [warning]);
    }
}
