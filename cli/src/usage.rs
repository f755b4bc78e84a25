//! What clap says of arguments that it refuses: it repeats them, and they can hold any character.

use super::text::{lines, one_line};
use clap::Error;
use clap::error::{ContextKind, ContextValue};
use std::ffi::OsStr;
use std::io::Write;

/// Shows help, the version or a usage error, and ends the program.
pub fn exit(error: Error) -> ! {
    let harmless = |argument: &OsStr| argument.to_str().is_some_and(|a| one_line(a) == a);
    if !error.use_stderr() || std::env::args_os().skip(1).all(|a| harmless(&a)) {
        error.exit();
    }
    // Nothing is left to do if standard error is closed.
    let _ = write!(std::io::stderr(), "{}", text(error));
    std::process::exit(2)
}

/// The error without colours, and with escapes for what is not seen.
fn text(mut error: Error) -> String {
    let escaped = |(kind, value): (ContextKind, &ContextValue)| {
        let value = match value {
            // Of several lines, and without arguments.
            _ if kind == ContextKind::Usage => return None,
            ContextValue::String(s) => ContextValue::String(one_line(s)),
            ContextValue::Strings(all) => {
                ContextValue::Strings(all.iter().map(|s| one_line(s)).collect())
            }
            _ => return None,
        };
        Some((kind, value))
    };
    let all: Vec<_> = error.context().filter_map(escaped).collect();
    for (kind, value) in all {
        error.insert(kind, value);
    }
    // Repeats an argument between colours, which cannot be told from the argument's own.
    error.remove(ContextKind::Suggested);
    lines(&error.render().to_string())
}
