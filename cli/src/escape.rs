//! Escapes for invisible characters and terminal control codes: file names and names inside files can
//! contain any character.

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};
use std::fmt::Write as _;
use std::io::{self, Write};

/// True if a character is shown as an escape: control characters (C0, DEL, C1), line and paragraph
/// separators, and characters that Unicode classes as format characters or default-ignorable: direction
/// marks and overrides, joiners, zero-width spaces, variation selectors, tags. Thus names that look the
/// same are the same.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{600}'..='\u{605}'
                | '\u{61c}'
                | '\u{6dd}'
                | '\u{70f}'
                | '\u{890}'..='\u{891}'
                | '\u{8e2}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{fffe}'..='\u{ffff}'
                | '\u{110bd}'
                | '\u{110cd}'
                | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}'
                | '\u{1d173}'..='\u{1d17a}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// The text on one line, with invisible characters escaped: `\n`, `\u{202e}`.
pub fn one_line(text: &str) -> String {
    escaped(text, is_hidden)
}

/// Like [`one_line`], but keeps line breaks.
pub fn lines(text: &str) -> String {
    escaped(text, |c| c != '\n' && is_hidden(c))
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if hidden(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// Writes a value as JSON and a newline; `pretty` indents it. Invisible characters in strings are escaped
/// (`\u202e`) and read back unchanged.
pub fn write_json(out: &mut impl Write, value: &impl Serialize, pretty: bool) -> io::Result<()> {
    if pretty {
        let form = Escaping(PrettyFormatter::new());
        value.serialize(&mut Serializer::with_formatter(&mut *out, form))?;
    } else {
        let form = Escaping(CompactFormatter);
        value.serialize(&mut Serializer::with_formatter(&mut *out, form))?;
    }
    out.write_all(b"\n")?;
    out.flush()
}

/// A JSON formatter that escapes invisible characters in strings.
struct Escaping<F>(F);

/// Forwards calls unchanged.
macro_rules! same {
    ($($name:ident($($argument:ident: $kind:ty),*);)*) => {
        $(fn $name<W: ?Sized + Write>(&mut self, out: &mut W, $($argument: $kind),*) -> io::Result<()> {
            self.0.$name(out, $($argument),*)
        })*
    };
}

impl<F: Formatter> Formatter for Escaping<F> {
    same! {
        begin_array();
        end_array();
        begin_array_value(first: bool);
        end_array_value();
        begin_object();
        end_object();
        begin_object_key(first: bool);
        end_object_key();
        begin_object_value();
        end_object_value();
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if !fragment.contains(is_hidden) {
            return out.write_all(fragment.as_bytes());
        }
        let mut escaped = String::with_capacity(2 * fragment.len());
        for c in fragment.chars() {
            if is_hidden(c) {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(escaped, "\\u{unit:04x}");
                }
            } else {
                escaped.push(c);
            }
        }
        out.write_all(escaped.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    /// Characters from each range, including its ends.
    const HIDDEN: &[char] = &[
        '\0',
        '\n',
        '\r',
        '\t',
        '\u{1b}',
        '\u{7f}',
        '\u{80}',
        '\u{9b}',
        '\u{9f}',
        '\u{ad}',
        '\u{61c}',
        '\u{200b}',
        '\u{200d}',
        '\u{200e}',
        '\u{200f}',
        '\u{2028}',
        '\u{2029}',
        '\u{202a}',
        '\u{202e}',
        '\u{2060}',
        '\u{2066}',
        '\u{2069}',
        '\u{206f}',
        '\u{fe0f}',
        '\u{feff}',
        '\u{fffb}',
        '\u{e0041}',
    ];

    /// Names in several scripts, which stay unchanged.
    const SEEN: &str = "Größe 体 手_左 Рука ذراع יד हाथ 🦊 e\u{301} \u{a0}~\\\"'";

    #[test]
    fn what_is_not_seen_is_escaped() {
        for &c in HIDDEN {
            let text = one_line(&format!("a{c}b"));
            assert!(text.is_ascii() && text.len() > 3, "{text:?}");
            assert!(text.starts_with("a\\") && text.ends_with('b'), "{text:?}");
            assert_eq!(one_line(&text), text, "escapes stay unchanged");
        }
        assert_eq!(one_line("a\nb\u{1b}[2J\u{202e}"), "a\\nb\\u{1b}[2J\\u{202e}");
        assert_eq!(one_line(SEEN), SEEN);
        assert_eq!(lines("a\nb\r\u{2028}"), "a\nb\\r\\u{2028}");
    }

    #[test]
    fn json_holds_no_hidden_character_and_reads_back() {
        let all: String = HIDDEN.iter().collect();
        let value = BTreeMap::from([
            (format!("key {all}"), vec![format!("{all}\"{SEEN}"), String::new()]),
            ("empty".to_owned(), Vec::new()),
        ]);
        for pretty in [false, true] {
            let mut bytes = Vec::new();
            write_json(&mut bytes, &value, pretty).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            let body = text.strip_suffix('\n').unwrap();
            let hidden = |c: char| is_hidden(c) && !(pretty && c == '\n');
            assert!(!body.contains(hidden), "{body:?}");
            assert!(body.contains("\\u202e") && body.contains("\\udb40\\udc41"), "{body}");
            let read: BTreeMap<String, Vec<String>> = serde_json::from_str(body).unwrap();
            assert_eq!(read, value);
            // Without such characters the output equals serde_json's.
            let plain = BTreeMap::from([(SEEN, [1.5, -0.0])]);
            let mut own = Vec::new();
            write_json(&mut own, &plain, pretty).unwrap();
            let theirs = match pretty {
                true => serde_json::to_string_pretty(&plain),
                false => serde_json::to_string(&plain),
            };
            assert_eq!(String::from_utf8(own).unwrap(), theirs.unwrap() + "\n");
        }
    }
}
