//! clap's usage errors, with escapes: they repeat arguments, which can contain any character.

use super::error::CliError;
use super::output;
use super::text::{lines, one_line, shorten};
use clap::Error;
use clap::error::{ContextKind, ContextValue};
use std::ffi::OsStr;
use std::io::Write;

/// Prints help, the version or a usage error, and ends the program.
pub fn exit(error: Error) -> ! {
    let fits = |a: &str| a.len() <= LONGEST_ARGUMENT && one_line(a) == a;
    let harmless = |argument: &OsStr| argument.to_str().is_some_and(fits);
    if !error.use_stderr() {
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        match printed {
            Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
                output::tell(&CliError::Stdout(e).to_string());
                std::process::exit(1)
            }
            _ => std::process::exit(0),
        }
    }
    if std::env::args_os().skip(1).all(|a| harmless(&a)) {
        error.exit();
    }
    // Nothing can be done if standard error is closed.
    let _ = write!(std::io::stderr(), "{}", text(error));
    std::process::exit(2)
}

/// Length of the longest argument that a message repeats in full, bytes.
const LONGEST_ARGUMENT: usize = 1000;

fn shown(argument: &str) -> String {
    shorten(&one_line(argument), LONGEST_ARGUMENT)
}

/// The error without colours, with invisible characters escaped.
fn text(mut error: Error) -> String {
    let escaped = |(kind, value): (ContextKind, &ContextValue)| {
        let value = match value {
            // Spans several lines and contains no arguments.
            _ if kind == ContextKind::Usage => return None,
            ContextValue::String(s) => ContextValue::String(shown(s)),
            ContextValue::Strings(all) => {
                ContextValue::Strings(all.iter().map(|s| shown(s)).collect())
            }
            _ => return None,
        };
        Some((kind, value))
    };
    let all: Vec<_> = error.context().filter_map(escaped).collect();
    for (kind, value) in all {
        error.insert(kind, value);
    }
    // Contains an argument between colour codes, which cannot be separated from the argument's own codes.
    error.remove(ContextKind::Suggested);
    lines(&error.render().to_string())
}
