//! Parsers for numbers in arguments, and their error messages.

use std::fmt::Display;
use std::num::IntErrorKind;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// Parses a whole number within a range. A range that ends at `u64::MAX` is reported without its end.
pub fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let parsed = text.parse::<u64>();
        if let Err(error) = &parsed
            && *error.kind() == IntErrorKind::PosOverflow
        {
            return Err("expected a whole number, no more than 18446744073709551615".into());
        }
        let number = parsed.ok().filter(|n| range.contains(n));
        let number = number.and_then(|n| T::try_from(n).ok());
        number.ok_or_else(|| match (range.start(), range.end()) {
            (least, &u64::MAX) => format!("expected a whole number of at least {least}"),
            (least, most) => format!("expected a whole number from {least} to {most}"),
        })
    }
}

/// Parses a number within a range; `what` names its unit in the error.
pub fn within<T: FromStr + PartialOrd + Display + Clone>(
    what: &'static str,
    range: RangeInclusive<T>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|n| range.contains(n));
        number.ok_or_else(|| format!("expected {what} from {} to {}", range.start(), range.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_explained_in_words() {
        let some = whole::<u16>(1..=1024);
        assert_eq!((some("1"), some("1024")), (Ok(1), Ok(1024)));
        let refused = || Err("expected a whole number from 1 to 1024".to_owned());
        for bad in ["0", "1025", "-1", "many", "", "1.5"] {
            assert_eq!(some(bad), refused(), "{bad}");
        }
        let any = whole::<u64>(1..=u64::MAX);
        assert_eq!(any("18446744073709551615"), Ok(u64::MAX));
        assert_eq!(any("0"), Err("expected a whole number of at least 1".into()));
        assert!(any("18446744073709551616").is_err_and(|e| e.contains("more than")));
    }

    #[test]
    fn no_number_is_in_no_range() {
        let fade = within("seconds", 0.0f32..=2.0);
        assert_eq!((fade("0"), fade("2")), (Ok(0.0), Ok(2.0)));
        for bad in ["-0.1", "2.1", "nan", "inf", "soon"] {
            assert_eq!(fade(bad), Err("expected seconds from 0 to 2".into()), "{bad}");
        }
    }
}
