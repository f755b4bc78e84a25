//! Text for people: names from files made harmless, numbers made readable, tables.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use std::fmt::Write;

/// The text without line breaks and other control characters, which are escaped: file names and
/// names inside files can hold any.
pub fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// A name in quotes, or a dash if there is none.
pub fn name(name: Option<&str>) -> String {
    name.map_or_else(|| "-".into(), |n| format!("\"{}\"", one_line(n)))
}

/// A whole number with commas.
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

/// How many of a thing: "1 file", "2 files".
pub fn plural(n: usize, thing: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{n} {thing}{ending}")
}

/// A number of bytes in a fitting decimal unit.
pub fn bytes(n: f64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let (mut n, mut unit) = (n, 0);
    while n >= 999.5 && unit + 1 < units.len() {
        n /= 1000.0;
        unit += 1;
    }
    if unit == 0 {
        format!("{n:.0} B")
    } else {
        format!("{} {}", digits(n), units[unit])
    }
}

/// A time in nanoseconds in a fitting unit.
pub fn duration(ns: f64) -> String {
    let units = ["ns", "µs", "ms", "s"];
    let (mut n, mut unit) = (ns, 0);
    while n >= 999.5 && unit + 1 < units.len() {
        n /= 1000.0;
        unit += 1;
    }
    format!("{} {}", digits(n), units[unit])
}

/// Three significant digits, and all before the point.
fn digits(n: f64) -> String {
    let places = match n {
        n if n < 9.995 => 2,
        n if n < 99.95 => 1,
        _ => 0,
    };
    format!("{n:.places$}")
}

/// A table without rules between its rows; columns from `right` on are aligned to the right.
pub fn table(header: &[&str], rows: Vec<Vec<String>>, right: usize) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED.with_rounded_corners())
        // Wraps cells on a narrow terminal, and nothing where there is none.
        .set_content_arrangement(ContentArrangement::Dynamic);
    if !header.is_empty() {
        table.set_header(header.iter().map(|h| h.to_string()).collect::<Vec<_>>());
    }
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(right) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt() + "\n"
}

/// Adds a line to a text. Writing to a string cannot fail.
pub fn line(text: &mut String, line: std::fmt::Arguments<'_>) {
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(
            [0, 999, 1000, 1234567].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(999.6), "1.00 kB");
        assert_eq!(bytes(22_560_000.0), "22.6 MB");
        assert_eq!(duration(372.4), "372 ns");
        assert_eq!(duration(3_925_000.0), "3.92 ms");
        assert_eq!(duration(9_996.0), "10.0 µs");
    }

    #[test]
    fn hostile_names_stay_on_one_line() {
        assert_eq!(one_line("a\nb\u{1b}[2J"), "a\\nb\\u{1b}[2J");
        assert_eq!(name(Some("Größe 体")), "\"Größe 体\"");
        assert_eq!(name(None), "-");
    }
}
