//! Words of messages: counts with their nouns, and texts of files cut short; names without numbers of copies.

/// `Display` of an enum that is data of an error: of each variant, its pattern and its text.
macro_rules! says {
    ($name:ident: $($variant:pat => ($($text:tt)+)),+ $(,)?) => {
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $($variant => write!(f, $($text)+),)+
                }
            }
        }
    };
}
pub(crate) use says;

/// The most characters of a name or URI that a message quotes.
const QUOTED: usize = 40;

/// Text shortened for a one-line message: at most 40 characters.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Limit on the message of another parser, such as that of JSON, characters.
#[cfg(feature = "gltf")]
const MESSAGE: usize = 300;

/// A message of another reader, which may repeat what it read whole.
#[cfg(feature = "gltf")]
pub(crate) fn brief(message: &impl std::fmt::Display) -> String {
    let message = message.to_string();
    match message.char_indices().nth(MESSAGE) {
        // Its end says where.
        Some(_) => {
            let tail = message.char_indices().rev().nth(QUOTED - 1);
            let (end, _) = message.char_indices().nth(MESSAGE - QUOTED - 1).unwrap_or_default();
            let tail = tail.map_or(0, |(at, _)| at);
            format!("{}…{}", &message[..end], &message[tail..])
        }
        None => message,
    }
}

/// The message of a JSON parser on one line, without the place at its end.
#[cfg(feature = "gltf")]
pub(crate) fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let end = message.rfind(" at line ").unwrap_or(message.len());
    // The parser quotes the text, including line breaks.
    brief(&message[..end].replace(['\n', '\r'], " "))
}

/// The decimal exponents between which a number is shown without one.
const PLAIN: std::ops::Range<f64> = 1e-5..1e16;

/// A number as short as it is exact: `0.25`, `1e-320`. Numbers of f32 have its digits: `0.1`.
pub(crate) fn number(value: f64) -> String {
    let narrow = value as f32;
    let plain = value == 0.0 || !value.is_finite() || PLAIN.contains(&value.abs());
    match (f64::from(narrow) == value, plain) {
        (true, true) => narrow.to_string(),
        (true, false) => format!("{narrow:e}"),
        (false, true) => value.to_string(),
        (false, false) => format!("{value:e}"),
    }
}

/// A count with its noun: `1 joint`, `2 joints`, `3 vertices`, `0 meshes`, `2 entries`.
pub(crate) fn plural(count: u64, noun: &str) -> String {
    if count == 1 {
        return format!("1 {noun}");
    }
    for (one, several) in [("ex", "ices"), ("ix", "ices"), ("sh", "shes"), ("ry", "ries")] {
        if let Some(stem) = noun.strip_suffix(one) {
            return format!("{count} {stem}{several}");
        }
    }
    format!("{count} {noun}s")
}

/// A name without the number behind its last separator, if the number has one of these lengths.
pub(crate) fn without_number(
    name: &str,
    separator: char,
    lengths: std::ops::RangeInclusive<usize>,
) -> &str {
    match name.rsplit_once(separator) {
        Some((stem, number))
            if !stem.is_empty()
                && lengths.contains(&number.len())
                && number.bytes().all(|b| b.is_ascii_digit()) =>
        {
            stem
        }
        _ => name,
    }
}

/// A name without the number that Blender gives to copies (`.001`).
pub(crate) fn unnumbered(name: &str) -> &str {
    without_number(name, '.', 3..=3)
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

    #[cfg(feature = "gltf")]
    #[test]
    fn messages_keep_their_ends() {
        assert_eq!(brief(&"é".repeat(300)), "é".repeat(300));
        let long = brief(&format!("unknown field `{}` at line 7", "é".repeat(1 << 20)));
        assert_eq!(long.chars().count(), 300);
        assert!(long.starts_with("unknown field `é") && long.ends_with("é` at line 7"));
    }

    #[test]
    fn numbers_have_an_exponent_where_they_are_tiny_or_huge() {
        let values = [0.0, -0.25, 1e-5, 9.9e-6, -5e-324, 1e15, 1e16, f64::INFINITY];
        let shown =
            ["0", "-0.25", "0.00001", "9.9e-6", "-5e-324", "1000000000000000", "1e16", "inf"];
        assert_eq!(values.map(number), shown);
    }

    #[test]
    fn one_is_singular() {
        let counts = [0, 1, 2].map(|n| plural(n, "joint"));
        assert_eq!(counts, ["0 joints", "1 joint", "2 joints"]);
        let nouns = ["vertex", "bind matrix", "mesh", "entry", "key"];
        let one = nouns.map(|noun| plural(1, noun));
        assert_eq!(one, ["1 vertex", "1 bind matrix", "1 mesh", "1 entry", "1 key"]);
        let two = nouns.map(|noun| plural(2, noun));
        assert_eq!(two, ["2 vertices", "2 bind matrices", "2 meshes", "2 entries", "2 keys"]);
    }
}
