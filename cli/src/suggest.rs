//! "Did you mean": the names of clips and joints that resemble one that does not exist, as a question.

use super::text;
use phalanx::suggest::near;

/// The suggestion as a question, if any name is similar: `did you mean "Walk" or "Run"?`
pub fn did_you_mean<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let near = near(wanted, names);
    let quoted: Vec<String> = near.iter().map(|n| text::name(Some(n))).collect();
    phalanx::suggest::question(&quoted)
}
