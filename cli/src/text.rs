//! Text output: readable numbers, and tables with escaped cells.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use std::fmt::Write;

pub use super::escape::{lines, one_line, write_json};

/// A name in quotes, or a dash if there is none.
pub fn name(name: Option<&str>) -> String {
    name.map_or_else(|| "-".into(), |n| format!("\"{}\"", one_line(n)))
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
    if unit == 0 {
        format!("{n:.0} B")
    } else {
        format!("{} {}", digits(n), units[unit])
    }
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

/// A table without lines between rows; columns from index `right` on are right-aligned.
pub fn table(header: &[&str], rows: Vec<Vec<String>>, right: usize) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED.with_rounded_corners())
        // Wraps cells on a narrow terminal; without a terminal nothing is wrapped.
        .set_content_arrangement(ContentArrangement::Dynamic);
    if !header.is_empty() {
        table.set_header(header.iter().map(|h| one_line(h)).collect::<Vec<_>>());
    }
    for row in rows {
        table.add_row(row.iter().map(|cell| one_line(cell)).collect::<Vec<_>>());
    }
    for column in table.column_iter_mut().skip(right) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt() + "\n"
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
    fn names_are_quoted() {
        assert_eq!(name(Some("Größe 体")), "\"Größe 体\"");
        assert_eq!(name(Some("a\u{202e}b")), "\"a\\u{202e}b\"");
        assert_eq!(name(None), "-");
    }

    #[test]
    fn cells_with_characters_that_are_not_seen_are_as_wide_as_they_look() {
        let rows = ["plain", "体", "\u{202e}", "a\u{200b}b\nc"];
        let rows = rows.map(|name| vec![name.to_owned(), "1".to_owned()]);
        let table = table(&["na\u{7f}me", "n"], rows.to_vec(), 1);
        let expected = "\
╭───────────────┬───╮
│ na\\u{7f}me    ┆ n │
╞═══════════════╪═══╡
│ plain         ┆ 1 │
│ 体            ┆ 1 │
│ \\u{202e}      ┆ 1 │
│ a\\u{200b}b\\nc ┆ 1 │
╰───────────────┴───╯
";
        assert_eq!(table, expected);
    }
}
