//! Names of clips of several files.

use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Names of clips that are taken.
#[derive(Default)]
pub struct TakenNames {
    taken: HashSet<String>,
    /// Next number to try per name, so that many clips of one name take linear time.
    counts: HashMap<String, usize>,
}

impl TakenNames {
    /// Takes a name; false if it was taken already.
    pub fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_owned())
    }

    /// Takes a name for a clip of a file whose name is taken: `FILE/NAME`, or `FILE/NAME 2` and so on.
    pub fn take_other(&mut self, file: &Path, name: &str) -> String {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let wanted = format!("{stem}/{name}");
        let next = self.counts.entry(wanted.clone()).or_insert(1);
        loop {
            let name = match *next {
                1 => wanted.clone(),
                n => format!("{wanted} {n}"),
            };
            if self.taken.insert(name.clone()) {
                return name;
            }
            *next += 1;
        }
    }
}

/// That a clip has another name than in its file.
pub fn renamed(old: &str, new: &str) -> String {
    format!("clip \"{old}\" is named \"{new}\": there is one of that name")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_given_once() {
        let mut names = TakenNames::default();
        let file = Path::new("anims/fast.glb");
        assert!(names.take("walk") && !names.take("walk"));
        assert!(names.take("fast/walk 2"));
        let given: Vec<String> = (0..3).map(|_| names.take_other(file, "walk")).collect();
        assert_eq!(given, ["fast/walk", "fast/walk 3", "fast/walk 4"]);
        assert_eq!(names.take_other(file, "run"), "fast/run");
        assert!(!names.take("fast/walk 4"));
    }
}
