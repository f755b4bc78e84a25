//! Text output: readable numbers.

use std::fmt::Write;

pub use super::escape::{lines, one_line, write_json};
pub use super::table::{has_column, paragraphs, shorten, table, table_of, table_of_words};

/// The longest name on a line, and the longest message of a reader, in columns.
const NAME: usize = 80;
const MESSAGE: usize = 300;

/// A name of a file's on one line, cut short.
pub fn short(name: &str) -> String {
    shorten(&one_line(name), NAME)
}

/// A message of a reader, which may repeat what it read, on one line, cut short.
pub fn brief(message: &impl std::fmt::Display) -> String {
    shorten(&one_line(&message.to_string()), MESSAGE)
}

/// A name in quotes, cut short, or a dash if there is none.
pub fn name(name: Option<&str>) -> String {
    name.map_or_else(|| "-".into(), |n| format!("\"{}\"", short(n)))
}

/// A whole number with thousands separators.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A count with its noun: "1 file", "2 files".
pub fn plural(n: usize, thing: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{n} {thing}{ending}")
}

/// A number of bytes in a suitable decimal unit.
pub fn bytes(n: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let (mut n, mut unit) = (n, 0);
    while n >= 999.5 && unit + 1 < units.len() {
        n /= 1000.0;
        unit += 1;
    }
    if unit == 0 { format!("{n:.0} B") } else { format!("{} {}", digits(n), units[unit]) }
}

/// A time in nanoseconds, shown in a suitable unit.
pub fn duration(ns: f64) -> String {
    let units = ["ns", "µs", "ms", "s"];
    let (mut n, mut unit) = (ns, 0);
    while n >= 999.5 && unit + 1 < units.len() {
        n /= 1000.0;
        unit += 1;
    }
    format!("{} {}", digits(n), units[unit])
}

/// Three significant digits, and all digits before the point.
fn digits(n: f64) -> String {
    let places = match n {
        n if n < 9.995 => 2,
        n if n < 99.95 => 1,
        _ => 0,
    };
    format!("{n:.places$}")
}

/// Appends a line. Writing to a string cannot fail.
pub fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!([0, 999, 1000, 1234567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(999.6), "1.00 kB");
        assert_eq!(bytes(22_560_000.0), "22.6 MB");
        assert_eq!(duration(372.4), "372 ns");
        assert_eq!(duration(3_925_000.0), "3.92 ms");
        assert_eq!(duration(9_996.0), "10.0 µs");
    }

    #[test]
    fn names_are_quoted() {
        assert_eq!(name(Some("Größe 体")), "\"Größe 体\"");
        assert_eq!(name(Some("a\u{202e}b")), "\"a\\u{202e}b\"");
        assert_eq!(name(None), "-");
    }
}
