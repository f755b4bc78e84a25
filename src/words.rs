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

/// A count with its noun: `1 joint`, `2 joints`, `3 vertices`, `0 meshes`, `2 entries`.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    if count == 1 {
        return format!("1 {noun}");
    }
    for (one, several) in [
        ("ex", "ices"),
        ("ix", "ices"),
        ("sh", "shes"),
        ("ry", "ries"),
    ] {
        if let Some(stem) = noun.strip_suffix(one) {
            return format!("{count} {stem}{several}");
        }
    }
    format!("{count} {noun}s")
}

/// The verb of a count in the past.
#[cfg(feature = "gltf")]
pub(crate) fn were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
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
        let nouns = ["vertex", "bind matrix", "mesh", "entry", "key"];
        let one = nouns.map(|noun| plural(1, noun));
        assert_eq!(
            one,
            ["1 vertex", "1 bind matrix", "1 mesh", "1 entry", "1 key"]
        );
        let two = nouns.map(|noun| plural(2, noun));
        assert_eq!(
            two,
            [
                "2 vertices",
                "2 bind matrices",
                "2 meshes",
                "2 entries",
                "2 keys"
            ]
        );
    }
}
