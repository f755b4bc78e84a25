//! Tables that fit the width of the terminal: columns are left out, words are never split.
//!
//! ```text
//! columns by importance      name  seconds | joints  keys  bytes | translations ...
//!                            always kept     added while the table fits
//! ```

use super::escape::one_line;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use std::sync::OnceLock;
use terminal_size::{Width, terminal_size_of};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns if neither the terminal nor `COLUMNS` states a number.
const USUAL_WIDTH: usize = 80;

/// The narrowest width that is laid out for; narrower terminals wrap.
const LEAST_WIDTH: usize = 40;

/// Share of the width to which a column of text is reduced before another column is left out, and the width
/// below which no column is reduced.
const TEXT_SHARE: usize = 3;
const LEAST_COLUMN: usize = 7;

static WIDTH: OnceLock<usize> = OnceLock::new();

/// `--wide`: every column is shown, and no line is broken.
pub fn set_wide() {
    // A second call has the same value.
    let _ = WIDTH.set(usize::MAX);
}

/// The width that text is laid out for: without limit after [`set_wide`], else [`columns`].
pub fn width() -> usize {
    *WIDTH.get_or_init(columns)
}

/// Columns of the output: `COLUMNS`, else the terminal's, else 80.
pub fn columns() -> usize {
    let given = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    let terminal = || terminal_size_of(std::io::stdout()).map(|(Width(w), _)| w.into());
    let width = given.filter(|&w: &usize| w > 0).or_else(terminal);
    width.unwrap_or(USUAL_WIDTH).max(LEAST_WIDTH)
}

/// A table of all columns; columns from index `right` on are right-aligned.
pub fn table(header: &[&str], rows: Vec<Vec<String>>, right: usize) -> String {
    layout(header, &rows, right, (&[], TEXT_SHARE), width())
}

/// A table whose `optional` columns, most important first, are shown if there is room. Columns that are
/// joined by `+` are shown together or not at all. A line below the table names the others.
pub fn table_of(
    header: &[&str],
    rows: Vec<Vec<String>>,
    right: usize,
    optional: &[&str],
) -> String {
    layout(header, &rows, right, (optional, TEXT_SHARE), width())
}

/// [`table_of`] for texts that are words of the program: columns are left out before a text is shortened.
pub fn table_of_words(
    header: &[&str],
    rows: Vec<Vec<String>>,
    right: usize,
    optional: &[&str],
) -> String {
    layout(header, &rows, right, (optional, 1), width())
}

/// True if a table shows a column.
pub fn has_column(table: &str, name: &str) -> bool {
    let header = table.lines().nth(1).unwrap_or_default();
    header.split(['│', '┆']).any(|cell| cell.trim() == name)
}

fn layout(
    header: &[&str],
    rows: &[Vec<String>],
    right: usize,
    (optional, share): (&[&str], usize),
    width: usize,
) -> String {
    let header: Vec<String> = header.iter().map(|h| one_line(h)).collect();
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| one_line(cell)).collect()).collect();
    let count = rows.iter().chain([&header]).map(Vec::len).max();
    let mut widths = vec![0; count.unwrap_or(0)];
    for row in rows.iter().chain([&header]) {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = cell.width().max(*widest);
        }
    }
    let kept = kept(&header, &widths, (right, width / share), optional, width);
    let shortened = shrink(&mut widths, &kept, right, width);

    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED.with_rounded_corners())
        .set_content_arrangement(ContentArrangement::Disabled);
    let cells = |row: &[String]| -> Vec<String> {
        let cell = |&c: &usize| row.get(c).map_or_else(String::new, |cell| fit(cell, widths[c]));
        kept.iter().map(cell).collect()
    };
    if !header.is_empty() {
        table.set_header(cells(&header));
    }
    for row in &rows {
        table.add_row(cells(row));
    }
    for (column, &c) in table.column_iter_mut().zip(&kept) {
        if c >= right {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut out = table.trim_fmt() + "\n";
    let left: Vec<&str> =
        (0..widths.len()).filter(|c| !kept.contains(c)).map(|c| header[c].as_str()).collect();
    if !left.is_empty() {
        let note = format!("Left out: {}; --wide shows all columns.", left.join(", "));
        out += &wrap(&note, width);
        out.push('\n');
    } else if shortened && out.contains('…') {
        out += "Names with … are shortened; --wide shows them whole.\n";
    }
    out
}

/// Width of a table: a space on both sides of every cell, and lines between and around them.
fn total(widths: impl Iterator<Item = usize>) -> usize {
    widths.map(|w| w + 3).sum::<usize>() + 1
}

/// Indices of the columns to show, in order.
fn kept(
    header: &[String],
    widths: &[usize],
    (right, most): (usize, usize),
    optional: &[&str],
    width: usize,
) -> Vec<usize> {
    let rank = |c: &usize| {
        let name = header.get(*c).map_or("", String::as_str);
        optional.iter().position(|o| o.split('+').any(|o| o == name))
    };
    let mut kept: Vec<usize> = (0..widths.len()).filter(|c| rank(c).is_none()).collect();
    let mut candidates: Vec<usize> = (0..widths.len()).filter(|c| rank(c).is_some()).collect();
    candidates.sort_by_key(rank);
    // Long texts can be shortened.
    let needed = |&c: &usize| match c < right {
        true => widths[c].min(most),
        false => widths[c],
    };
    for group in candidates.chunk_by(|a, b| rank(a) == rank(b)) {
        kept.extend(group);
        if total(kept.iter().map(needed)) > width {
            kept.truncate(kept.len() - group.len());
        }
    }
    kept.sort_unstable();
    kept
}

/// Narrows the widest columns, texts before numbers, until the table fits. Returns whether any was.
fn shrink(widths: &mut [usize], kept: &[usize], right: usize, width: usize) -> bool {
    let mut shrunk = false;
    loop {
        let excess = total(kept.iter().map(|&c| widths[c])).saturating_sub(width);
        let wide = |c: &&usize| widths[**c] > LEAST_COLUMN;
        let widest = |texts: bool| {
            let all = kept.iter().filter(wide).filter(|&&c| !texts || c < right);
            all.copied().max_by_key(|&c| widths[c])
        };
        let Some(column) = widest(true).or_else(|| widest(false)).filter(|_| excess > 0) else {
            return shrunk;
        };
        // Down to the next column's width at most, so that equal columns share the loss.
        let next = kept.iter().filter(|&&c| c != column && c < right);
        let next = next.map(|&c| widths[c]).filter(|&w| w < widths[column]).max();
        let least = next.unwrap_or(0).max(LEAST_COLUMN);
        widths[column] =
            (widths[column] - excess.min(widths[column])).max(least).min(widths[column] - 1);
        shrunk = true;
    }
}

/// A cell in a column: names in quotes are shortened; other text is broken at spaces, with an ellipsis in words
/// that are longer than the column.
fn fit(cell: &str, width: usize) -> String {
    if cell.width() <= width {
        return cell.to_owned();
    }
    if cell.starts_with('"') {
        return shorten(cell, width);
    }
    let words: Vec<String> = cell.split(' ').map(|word| shorten(word, width)).collect();
    wrap(&words.join(" "), width)
}

/// A text of at most `width` columns: its beginning and its end.
pub fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let room = width.saturating_sub(1);
    let take = |chars: &mut dyn Iterator<Item = char>, room: usize| {
        let mut used = 0;
        let fits = |c: &char| {
            used += c.width().unwrap_or(0);
            used <= room
        };
        chars.take_while(fits).collect::<String>()
    };
    let head = take(&mut text.chars(), room.div_ceil(2));
    let tail = take(&mut text.chars().rev(), room / 2);
    format!("{head}…{}", tail.chars().rev().collect::<String>())
}

/// A line broken at spaces. Words that are longer than the width stay whole; further lines are indented
/// by as much as the first.
pub fn wrap(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let text = line.trim_start_matches(' ');
    let indent = " ".repeat(line.len() - text.len());
    let (mut out, mut used) = (indent.clone(), 0);
    for (i, word) in text.split(' ').enumerate() {
        let wide = word.width();
        if i > 0 && indent.len() + used + 1 + wide > width {
            out.push('\n');
            out.push_str(&indent);
            used = 0;
        } else if i > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += wide;
    }
    out
}

/// Breaks all lines of a text at spaces, except the lines of tables and trees, which are already laid out.
pub fn paragraphs(text: &str) -> String {
    let width = width();
    let drawn = |line: &str| line.trim_start().starts_with(['│', '╭', '╰', '╞', '├', '└']);
    let lines = text.split('\n').map(|line| match drawn(line) {
        true => line.to_owned(),
        false => wrap(line, width),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(rows: &[&[&str]]) -> Vec<Vec<String>> {
        let row = |row: &&[&str]| row.iter().map(|c| (*c).to_owned()).collect();
        rows.iter().map(row).collect()
    }

    #[test]
    fn cells_with_characters_that_are_not_seen_are_as_wide_as_they_look() {
        let cells = ["plain", "体", "\u{202e}", "a\u{200b}b\nc"];
        let cells: Vec<Vec<String>> = cells.map(|n| vec![n.to_owned(), "1".to_owned()]).to_vec();
        let table = layout(&["na\u{7f}me", "n"], &cells, 1, (&[], TEXT_SHARE), 80);
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

    #[test]
    fn columns_are_left_out_by_importance() {
        let header = ["name", "first", "second", "third"];
        let all = rows(&[&["Walk", "1111111111", "22222", "3"]]);
        let shown =
            |width| layout(&header, &all, 1, (&["third", "second", "first"], TEXT_SHARE), width);
        assert!(!shown(80).contains("Left out"));
        let table = shown(30);
        assert!(table.contains("second") && table.contains("third"), "{table}");
        assert!(!table.contains("1111"), "{table}");
        assert!(table.contains("Left out: first; --wide"), "{table}");
        // A less important column that fits is shown.
        let table = layout(&header, &all, 1, (&["first", "third", "second"], TEXT_SHARE), 20);
        assert!(table.contains("third") && !table.contains("2222"), "{table}");
        assert!(table.contains("Left out: first,\nsecond;"), "{table}");
    }

    #[test]
    fn words_are_shortened_and_never_split() {
        let long = format!("\"{}_end\"", "very_".repeat(30));
        let cells = rows(&[&[&long, "1,234"], &["two words or more of prose", "5"]]);
        let table = layout(&["name", "number"], &cells, 1, (&["number"], TEXT_SHARE), 40);
        assert!(table.lines().all(|l| l.width() <= 53), "{table}");
        let drawn = table.lines().filter(|l| l.starts_with(['│', '╭']));
        assert!(drawn.clone().all(|l| l.width() == 40), "{table}");
        assert!(table.contains("very_very") && table.contains("_end\""), "{table}");
        assert!(table.contains("1,234") && table.contains("are shortened"), "{table}");
        for word in ["two", "words", "more", "prose"] {
            assert!(table.contains(word), "{table}");
        }
        assert_eq!(shorten("abcdefghij", 5), "ab…ij");
        assert_eq!(shorten("体体体体", 5), "体…体");
    }

    #[test]
    fn prose_is_broken_at_spaces() {
        assert_eq!(wrap("  one two three", 10), "  one two\n  three");
        assert_eq!(wrap("one /a/long/path two", 8), "one\n/a/long/path\ntwo");
        assert_eq!(wrap("short", 8), "short");
    }
}
