//! Names that several clips, joints or meshes of a file have, for the import report.

use crate::words::shorten;

/// Number of names or indices that a message lists; it counts the rest.
pub(super) const LISTED: usize = 4;

/// A name with the indices that have it, at least two.
#[derive(Debug)]
struct Group<'n> {
    name: &'n str,
    indices: Vec<usize>,
}

/// The names that occur more than once, in the order of the file.
#[derive(Debug)]
pub(super) struct Repeated<'n> {
    groups: Vec<Group<'n>>,
    /// Whether two joints with one name share their parent or are both roots: their paths, and those below, are equal.
    siblings: bool,
}

impl<'n> Repeated<'n> {
    /// Finds repeated names; each comes with the parent of its owner. Missing and empty names do not count.
    pub fn of(names: impl Iterator<Item = (Option<&'n str>, Option<usize>)>) -> Self {
        let named = names.enumerate();
        let named = named.filter_map(|(i, (name, parent))| {
            let name = name.filter(|name| !name.is_empty())?;
            Some((name, i, parent))
        });
        let mut named: Vec<(&str, usize, Option<usize>)> = named.collect();
        named.sort_unstable();
        let groups = named.chunk_by(|a, b| a.0 == b.0).filter(|g| g.len() > 1);
        let mut groups: Vec<Group<'n>> = groups
            .map(|g| Group { name: g[0].0, indices: g.iter().map(|n| n.1).collect() })
            .collect();
        groups.sort_unstable_by_key(|g| g.indices[0]);
        named.sort_unstable_by_key(|&(name, i, parent)| (name, parent, i));
        let siblings = named.windows(2).any(|two| two[0].0 == two[1].0 && two[0].2 == two[1].2);
        Self { groups, siblings }
    }

    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The number of names, and the number of all their indices.
    #[cfg(feature = "gltf")]
    pub fn counts(&self) -> (usize, usize) {
        let indices = self.groups.iter().map(|g| g.indices.len());
        (self.groups.len(), indices.sum())
    }

    /// All names with all indices: `"Hand" (nodes 3 and 4)`, where `what` is `nodes`.
    pub fn items(&self, what: &str) -> Vec<String> {
        let items = self.groups.iter();
        items.map(|g| text(g, what, usize::MAX)).collect()
    }

    /// The message of an entry: the first names and indices, and how to refer to each.
    pub fn message(&self, what: &str, how: &str) -> String {
        let shown = self.groups.iter().take(LISTED);
        let shown: Vec<String> = shown.map(|g| text(g, what, LISTED)).collect();
        let names = list(&shown, self.groups.len());
        format!("names that occur more than once: {names}; {how}")
    }

    /// The message of joints.
    pub fn joints_message(&self, what: &str) -> String {
        let how = match self.siblings {
            false => {
                "a path (PARENT/NAME) or the index of the joint finds each, the name alone none"
            }
            true => {
                "the index of the joint finds each; a path (PARENT/NAME) does not, as some of one name have one \
                 parent; the name alone finds none"
            }
        };
        self.message(what, how)
    }
}

fn text(group: &Group<'_>, what: &str, shown: usize) -> String {
    let shown = group.indices.iter().take(shown);
    let shown: Vec<String> = shown.map(usize::to_string).collect();
    let indices = list(&shown, group.indices.len());
    format!("{:?} ({what} {indices})", shorten(group.name))
}

/// `a`, `a and b`, or `a, b, c, d and 5 more` of `count` items of which the first are shown.
pub(super) fn list(shown: &[String], count: usize) -> String {
    match (shown, count.saturating_sub(shown.len())) {
        ([], _) => String::new(),
        ([one], 0) => one.clone(),
        ([others @ .., last], 0) => format!("{} and {last}", others.join(", ")),
        (shown, more) => format!("{} and {more} more", shown.join(", ")),
    }
}
