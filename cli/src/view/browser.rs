//! [`Browser`]: folders and models to choose a file from.
//!
//! A file dialog of the desktop (`rfd`) was not taken: it needs a portal service on D-Bus and up to 39 more
//! crates, and would not work where the window does.

use super::super::model::Model;
use super::super::text::one_line;
use std::io;
use std::path::{Path, PathBuf};

/// A folder or a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
    pub is_folder: bool,
    path: PathBuf,
}

/// A folder's content, and what is typed and selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Browser {
    pub folder: PathBuf,
    /// A part of a name, which selects entries, or a path.
    pub text: String,
    /// Index of the selected entry among those that match.
    pub selected: usize,
    /// The last failure.
    pub error: Option<String>,
    entries: Vec<Entry>,
}

/// Actions of the user in a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Browse {
    Text(String),
    /// Moves the selection.
    Select(isize),
    /// Opens what is typed or selected.
    Enter,
    /// Opens an entry by its index among those that match.
    Click(usize),
    /// Shows the folder above.
    Up,
}

impl Browser {
    /// A browser of a folder, or of the current one.
    pub fn new(folder: Option<&Path>) -> Self {
        let folder = folder.filter(|f| !f.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let mut browser = Self::default();
        // An absolute path can be left upwards.
        browser.show(&std::path::absolute(folder).unwrap_or(folder.to_owned()));
        browser
    }

    /// The entries whose names contain what is typed, with their indices.
    pub fn matching(&self) -> Vec<&Entry> {
        let wanted = self.text.to_lowercase();
        let entries = self.entries.iter();
        entries.filter(|e| e.name.to_lowercase().contains(&wanted)).collect()
    }

    /// Does something; returns the file to open, if one is chosen.
    pub fn apply(&mut self, command: Browse) -> Option<PathBuf> {
        match command {
            Browse::Text(text) => {
                self.text = text;
                self.selected = 0;
                self.error = None;
                None
            }
            Browse::Select(by) => {
                let last = self.matching().len().saturating_sub(1);
                self.selected = self.selected.saturating_add_signed(by).min(last);
                None
            }
            Browse::Enter => self.enter(),
            Browse::Click(index) => {
                let path = self.matching().get(index)?.path.clone();
                self.go(path)
            }
            Browse::Up => {
                let above = self.folder.parent()?.to_owned();
                self.go(above)
            }
        }
    }

    fn enter(&mut self) -> Option<PathBuf> {
        let typed = self.folder.join(expanded(self.text.trim()));
        let is_path = !self.text.trim().is_empty() && typed.exists();
        let selected = self.matching().get(self.selected).map(|e| e.path.clone());
        match selected {
            _ if is_path => self.go(typed),
            Some(path) => self.go(path),
            None => {
                let typed = one_line(&typed.display().to_string());
                self.error = Some(format!("{typed} does not exist"));
                None
            }
        }
    }

    /// Shows a folder, or returns a file.
    fn go(&mut self, path: PathBuf) -> Option<PathBuf> {
        if path.is_dir() {
            self.show(&path);
            None
        } else {
            Some(path)
        }
    }

    /// Shows a folder; one that cannot be read leaves what was shown.
    fn show(&mut self, folder: &Path) {
        match list(folder) {
            Ok(entries) => {
                *self = Self { folder: folder.to_owned(), entries, ..Self::default() };
            }
            Err(error) => {
                let name = one_line(&folder.display().to_string());
                self.error = Some(format!("{name}: {error}"));
            }
        }
    }
}

/// A path with `~` for the home folder.
fn expanded(text: &str) -> PathBuf {
    let home = text.strip_prefix('~').zip(std::env::home_dir());
    match home {
        Some(("", home)) => home,
        Some((rest, home)) if rest.starts_with('/') => home.join(&rest[1..]),
        _ => PathBuf::from(text),
    }
}

/// The folders and then the models of a folder, by name, with the folder above first. Names that begin with a
/// dot are left out.
fn list(folder: &Path) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with('.') {
            continue;
        }
        // Follows links.
        let is_folder = path.is_dir();
        if is_folder || Model::extension(&path).is_some() {
            entries.push(Entry { name: one_line(&name), is_folder, path });
        }
    }
    entries.sort_by_cached_key(|e| (!e.is_folder, e.name.to_lowercase()));
    let above = folder.parent().map(|above| Entry {
        name: "..".into(),
        is_folder: true,
        path: above.to_owned(),
    });
    entries.splice(0..0, above);
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A folder with a folder and some files.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("phalanx-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("Models")).unwrap();
        let files = ["Fox.glb", "apple.PHX", "tree.gltf", "zoo.bvh", "notes.txt", ".b.glb"];
        for file in files {
            fs::write(folder.join(file), b"").unwrap();
        }
        fs::write(folder.join("Models/deep.glb"), b"").unwrap();
        folder
    }

    fn names(browser: &Browser) -> Vec<&str> {
        browser.matching().iter().map(|e| e.name.as_str()).collect()
    }

    #[test]
    fn models_are_found_by_typing_and_by_walking() {
        let root = folder("browser");
        let mut browser = Browser::new(Some(&root));
        let all = ["..", "Models", "apple.PHX", "Fox.glb", "tree.gltf", "zoo.bvh"];
        assert_eq!(names(&browser), all);
        browser.apply(Browse::Text("GL".into()));
        assert_eq!(names(&browser), ["Fox.glb", "tree.gltf"]);
        browser.apply(Browse::Select(1));
        assert_eq!(browser.apply(Browse::Enter), Some(root.join("tree.gltf")));
        browser.apply(Browse::Select(-9));
        browser.apply(Browse::Select(9));
        assert_eq!(browser.selected, 1);
        // Into a folder, by a click, and out of it again.
        browser.apply(Browse::Text(String::new()));
        assert_eq!(browser.apply(Browse::Click(1)), None);
        assert_eq!(browser.folder, root.join("Models"));
        assert_eq!(names(&browser), ["..", "deep.glb"]);
        assert_eq!(browser.apply(Browse::Up), None);
        assert_eq!(browser.folder, root);
        // A path that is typed.
        browser.apply(Browse::Text("Models/deep.glb".into()));
        let deep = root.join("Models/deep.glb");
        assert_eq!(browser.apply(Browse::Enter), Some(deep));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn failures_are_reported_and_change_nothing() {
        let root = folder("faults");
        let mut browser = Browser::new(Some(&root));
        browser.apply(Browse::Text("no such thing".into()));
        assert_eq!(browser.apply(Browse::Enter), None);
        let error = browser.error.clone().unwrap();
        assert!(error.ends_with("no such thing does not exist"), "{error}");
        // A folder that is gone.
        browser.apply(Browse::Text(String::new()));
        assert_eq!(browser.error, None);
        let before = browser.clone();
        browser.show(&root.join("gone"));
        assert!(browser.error.take().unwrap().contains("gone"));
        assert_eq!(browser, before);
        fs::remove_dir_all(root).unwrap();
    }
}
