//! The public surface of a crate as text, listed from its sources with all features on.
//!
//! [`read`] takes the files of a folder, [`page`] makes the page. An item belongs to the surface if a path of public
//! modules and public `use`s leads to it. Macros are not expanded: a `macro_rules!` that makes public functions or types
//! fails the listing, and traits that macros implement are not listed.

mod entries;
mod print;
mod sources;
#[cfg(test)]
mod tests;

pub use sources::{Files, read};

use entries::{Class, Entry, entries};
use sources::{Marks, Sources};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Longest line of the page; longer ones go on in the next, indented.
const COLUMNS: usize = 200;

/// Numbers of one room: public types, those among them that are errors, methods, functions and constants.
#[derive(Default)]
struct Counts([usize; 5]);

impl Counts {
    fn add(&mut self, entry: &Entry) {
        let methods = entry.members.iter().filter(|m| m.is_method).count();
        let is = |class| usize::from(entry.class == class);
        let constants = is(Class::Constant) + entry.members.len() - methods;
        let errors = usize::from(entry.is_error);
        let more = [is(Class::Type), errors, methods, is(Class::Function), constants];
        self.0.iter_mut().zip(more).for_each(|(sum, n)| *sum += n);
    }

    fn row(&self, room: &str) -> String {
        let cells: String = self.0.iter().map(|n| format!(" {n} |")).collect();
        format!("| {room} |{cells}\n")
    }
}

/// The page of the crate `name`. `renewal` is the command that writes it.
pub fn page(name: &str, renewal: &str, files: &Files) -> String {
    let mut rooms: BTreeMap<Option<String>, Vec<Entry>> = BTreeMap::new();
    for entry in entries(&Sources::new(files)) {
        let (_, modules) = entry.paths[0].split_last().expect("a name");
        let room = modules.first().cloned();
        rooms.entry(room).or_default().push(entry);
    }
    let mut total = Counts::default();
    let mut table = String::new();
    let mut listings = String::new();
    for (room, mut entries) in rooms {
        entries.sort_by_cached_key(|e| (e.class, e.paths.clone()));
        let marks = entries.iter().map(|e| e.marks.clone());
        let shared = marks.reduce(|a, b| &a & &b).unwrap_or_default();
        let room = room.as_deref().unwrap_or(name);
        let mut counts = Counts::default();
        let _ = write!(listings, "\n## {room}{}\n\n```text\n", marked(&shared));
        for entry in &entries {
            counts.add(entry);
            total.add(entry);
            list(entry, &shared, &mut listings);
        }
        listings += "```\n";
        table += &counts.row(room);
    }
    table += &total.row("in all");
    format!(
        "# The public surface of `{name}`\n\n\
         Written by `{renewal}`. One line per public item with all features on.\n\
         An item stands in the room of its shortest path; `also` gives its other paths.\n\
         A feature that it needs stands in brackets.\n\
         `..` stands for private fields, and for fields and variants that may be added.\n\
         `impl` lists the traits implemented by hand, not by a derive or another macro.\n\n\
         | room | types | of these errors | methods | functions | constants |\n\
         |---|---|---|---|---|---|\n\
         {table}{listings}"
    )
}

/// The first lines that one of two pages has alone.
pub fn difference(stored: &str, listed: &str) -> Option<String> {
    let mut said = String::new();
    for (sign, page, other) in [('-', stored, listed), ('+', listed, stored)] {
        let other: BTreeSet<_> = other.lines().collect();
        for line in page.lines().filter(|l| !other.contains(l)).take(12) {
            let _ = writeln!(said, "{sign} {line}");
        }
    }
    if said.is_empty() && stored != listed {
        said = "the same lines in another order".into();
    }
    (!said.is_empty()).then_some(said)
}

fn list(entry: &Entry, shared: &Marks, out: &mut String) {
    let mut line = entry.text.clone() + &marked(&(&entry.marks - shared));
    for (i, path) in entry.paths[1..].iter().enumerate() {
        line += if i == 0 { " also " } else { ", " };
        line += &path.join("::");
    }
    wrap(&line, "", out);
    for member in &entry.members {
        wrap(&(member.text.clone() + &marked(&member.marks)), "    ", out);
    }
    if !entry.traits.is_empty() {
        let traits: Vec<_> = entry.traits.iter().map(String::as_str).collect();
        wrap(&format!("impl {}", traits.join(", ")), "    ", out);
    }
}

/// `[name]` of each condition.
fn marked(marks: &Marks) -> String {
    marks.iter().map(|mark| format!(" [{mark}]")).collect()
}

/// Breaks at spaces.
fn wrap(line: &str, indent: &str, out: &mut String) {
    let mut current = indent.to_owned();
    for word in line.split(' ') {
        if current.len() + word.len() > COLUMNS {
            *out += current.trim_end();
            current = format!("\n{indent}        ");
        }
        current += word;
        current.push(' ');
    }
    *out += current.trim_end_matches(' ');
    out.push('\n');
}
