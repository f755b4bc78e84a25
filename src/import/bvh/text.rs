//! `Text`: the words and lines of a BVH file, with their positions.

use super::error::{BvhPlace, Fault, ImportFault as Kind, invalid};

/// Number of characters of a word that an error shows.
const SHOWN: usize = 40;

/// A position in the bytes of a file. Copied to look ahead.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    line_start: usize,
}

/// Some bytes of a line, and their position. Without bytes: the end of the file.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    pub bytes: &'a [u8],
    pub place: BvhPlace,
}

impl<'a> Text<'a> {
    /// The text between a byte order mark and the end-of-file characters of DOS (0x1A), if there are any.
    pub fn new(bytes: &'a [u8]) -> Self {
        let bytes = without_dos_end(bytes);
        let at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        Self { bytes, at, line: 1, line_start: at }
    }

    /// Number of bytes that are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn place(&self) -> BvhPlace {
        BvhPlace { line: self.line, column: self.at - self.line_start + 1 }
    }

    /// Advances by one byte. A line ends with LF, CR LF, or CR alone.
    fn step(&mut self) {
        let ends = match self.bytes[self.at] {
            b'\n' => true,
            b'\r' => self.bytes.get(self.at + 1) != Some(&b'\n'),
            _ => false,
        };
        self.at += 1;
        if ends {
            self.line += 1;
            self.line_start = self.at;
        }
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.bytes.get(self.at).is_some_and(|&b| skipped(b)) {
            self.step();
        }
    }

    fn take(&mut self, taken: impl Fn(u8) -> bool) -> Word<'a> {
        let (place, rest) = (self.place(), &self.bytes[self.at..]);
        let length = rest.iter().position(|&b| !taken(b)).unwrap_or(rest.len());
        self.at += length;
        Word { bytes: &rest[..length], place }
    }

    /// The next word, on this line or a later one: a brace, a colon, or all characters up to the next of them or to white
    /// space. Empty at the end of the file.
    pub fn word(&mut self) -> Word<'a> {
        self.skip(is_space);
        match self.bytes.get(self.at) {
            Some(b) if is_sign(*b) => {
                let (place, at) = (self.place(), self.at);
                self.at += 1;
                Word { bytes: &self.bytes[at..self.at], place }
            }
            _ => self.take(|b| !is_space(b) && !is_sign(b)),
        }
    }

    /// The rest of the line up to a brace, without white space around it: a name. If nothing is left, the name is on the
    /// next line that is not blank.
    pub fn name(&mut self) -> Word<'a> {
        self.skip(is_space);
        let mut name = self.take(|b| !is_break(b) && b != b'{');
        name.bytes = name.bytes.trim_ascii_end();
        name
    }

    /// The next value of this line; empty at its end.
    pub fn value(&mut self) -> Word<'a> {
        self.skip(|b| is_space(b) && !is_break(b));
        self.take(|b| !is_space(b))
    }

    /// Goes to the next line that is not blank; false at the end of the file.
    pub fn next_line(&mut self) -> bool {
        self.skip(is_space);
        self.at < self.bytes.len()
    }

    /// Skips the rest of the line.
    pub fn skip_line(&mut self) {
        self.take(|b| !is_break(b));
    }

    /// The next number, on this line or a later one.
    pub fn number(&mut self, what: &'static str) -> Result<(f64, BvhPlace), Fault> {
        let word = self.word();
        Ok((word.number(what)?, word.place))
    }

    /// The next count, on this line or a later one. `limit` is its largest value, for the error of numbers that are negative,
    /// have a fraction, or exceed u64.
    pub fn count(&mut self, what: &'static str, limit: u64) -> Result<(u64, BvhPlace), Fault> {
        let word = self.word();
        let text = std::str::from_utf8(word.bytes).ok();
        if let Some(count) = text.and_then(|t| t.parse().ok()) {
            return Ok((count, word.place));
        }
        let value = word.number(what)?;
        let value = if value.abs() < 1e15 { value.to_string() } else { format!("{value:e}") };
        let words = format!("{what} is {value}, expected a whole number from 0 to {limit}");
        Err(word.fault(invalid(words)))
    }

    /// Skips a word that must come next.
    pub fn expect(&mut self, wanted: &str, what: &'static str) -> Result<Word<'a>, Fault> {
        let word = self.word();
        if word.is(wanted) { Ok(word) } else { Err(word.expected(what)) }
    }

    /// Skips a colon, if one comes next.
    pub fn skip_colon(&mut self) {
        let mut ahead = *self;
        if ahead.word().is(":") {
            *self = ahead;
        }
    }
}

impl Word<'_> {
    /// Whether the word is this keyword, in upper or lower case.
    pub fn is(&self, keyword: &str) -> bool {
        self.bytes.eq_ignore_ascii_case(keyword.as_bytes())
    }

    /// The word in quotes, shortened.
    pub fn quoted(&self) -> String {
        if self.bytes.is_empty() {
            return "the end".to_owned();
        }
        // A character has at most four bytes.
        let shown = &self.bytes[..self.bytes.len().min(4 * SHOWN)];
        let text = String::from_utf8_lossy(shown);
        let short: String = text.chars().take(SHOWN).collect();
        let more = match short.len() < text.len() || shown.len() < self.bytes.len() {
            true => "...",
            false => "",
        };
        format!("\"{}{more}\"", short.escape_debug())
    }

    /// A problem at this word.
    pub fn fault(&self, kind: Kind) -> Fault {
        self.place.fault(kind)
    }

    /// The fault that something else was expected at this word.
    pub fn expected(&self, what: &'static str) -> Fault {
        self.fault(invalid(format!("expected {what}, found {}", self.quoted())))
    }

    /// The word as a finite number.
    pub fn number(&self, what: &'static str) -> Result<f64, Fault> {
        let text = std::str::from_utf8(self.bytes).ok();
        match text.and_then(|t| t.parse::<f64>().ok()) {
            Some(value) if value.is_finite() => Ok(value),
            Some(value) => {
                Err(self.fault(invalid(format!("{what} is {value}, expected a finite number"))))
            }
            None => {
                let found = self.quoted();
                Err(self.fault(invalid(format!("{what} is {found}, expected a number"))))
            }
        }
    }
}

/// The bytes before the characters 0x1A that end a text in DOS and CP/M; white space may follow them.
fn without_dos_end(bytes: &[u8]) -> &[u8] {
    const DOS_END: u8 = 0x1a;
    let text = bytes.iter().rposition(|&b| b != DOS_END && !is_space(b));
    let end = text.map_or(0, |last| last + 1);
    // White space without 0x1A stays, since positions count it.
    match bytes[end..].iter().position(|&b| b == DOS_END) {
        Some(before) => &bytes[..end + before],
        None => bytes,
    }
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

fn is_break(b: u8) -> bool {
    matches!(b, b'\n' | b'\r')
}

fn is_sign(b: u8) -> bool {
    matches!(b, b'{' | b'}' | b':')
}
