//! Words of messages: counts with their nouns, and texts of files cut short.

/// The most characters of a name or URI that a message quotes.
const QUOTED: usize = 40;

/// Text shortened for a one-line message: at most 40 characters.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A count with its noun: `1 joint`, `2 joints`.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// The verb of a count.
pub(crate) fn are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let name = "é".repeat(40);
        assert_eq!(shorten(&name), name);
        assert_eq!(shorten(&format!("{name}é")), format!("{name}…"));
    }

    #[test]
    fn one_is_singular() {
        let counts = [0, 1, 2].map(|n| plural(n, "joint"));
        assert_eq!(counts, ["0 joints", "1 joint", "2 joints"]);
    }
}
