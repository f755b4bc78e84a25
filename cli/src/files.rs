//! [`Files`]: the files a command reads, which it must not overwrite.

use super::model::Model;
use phalanx::import::ImportOptions;
use phalanx::import::external_files;
use phalanx::import::marker_file;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An output that is refused.
#[derive(Debug, Error)]
pub enum Clash {
    /// The command reads the file.
    #[error("{file}: {output} would overwrite it, but {input} reads it{how}")]
    Read {
        /// The output as given.
        file: String,
        /// The option that names the output.
        output: String,
        /// The argument that names the input.
        input: &'static str,
        /// The input's name if it differs, or the model that the file is part of.
        how: String,
    },
    /// An output that is not a model has a name that ends like a model's.
    #[error("{file}: {output} writes no model, but the name ends in .{extension}, as models do")]
    Model {
        /// The output as given.
        file: String,
        /// The option that names the output.
        output: String,
        /// The extension in lower case.
        extension: String,
    },
    /// Two outputs are the same file.
    #[error("{file}: {first} and {second} would both write it")]
    Written {
        /// The output as given.
        file: String,
        /// The first option.
        first: String,
        /// The second option.
        second: String,
    },
}

/// A command's files by identity, independent of names and links.
#[derive(Debug, Default)]
pub struct Files {
    read: HashMap<Identity, Input>,
    /// Models whose parts have not been added yet.
    models: Vec<(&'static str, PathBuf)>,
    /// The option that writes each output.
    written: HashMap<Identity, String>,
}

#[derive(Debug)]
struct Input {
    argument: &'static str,
    path: PathBuf,
    /// The model that the file is part of.
    part_of: Option<PathBuf>,
}

/// Identity of a file. Pipes and devices have none, since writing to one destroys nothing.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// Device and inode number of an existing file.
    #[cfg(unix)]
    Node(u64, u64),
    /// Path with a resolved folder.
    Place(PathBuf),
}

impl Files {
    /// Adds a file named by an argument.
    pub fn reads(&mut self, argument: &'static str, path: &Path) {
        self.add(argument, path, None);
    }

    /// Adds a model, the files that it refers to, and its marker file.
    pub fn reads_model(&mut self, argument: &'static str, path: &Path) {
        self.add(argument, path, None);
        self.models.push((argument, path.to_owned()));
    }

    /// Adds an output. Fails if it would overwrite an input or another output.
    pub fn writes(&mut self, output: String, path: &Path) -> Result<(), Clash> {
        let Some(identity) = Identity::of_output(path) else {
            return Ok(());
        };
        // A file that does not exist is not an input, and a .phx file is never part of a model.
        if path.is_file() && !Model::is_phx(path) {
            self.find_parts();
        }
        let file = path.display().to_string();
        if let Some(input) = self.read.get(&identity) {
            return Err(Clash::Read {
                file,
                output,
                input: input.argument,
                how: match &input.part_of {
                    Some(model) => format!(" as part of {}", model.display()),
                    None if input.path == path => String::new(),
                    None => format!(" as {}", input.path.display()),
                },
            });
        }
        match self.written.get(&identity) {
            Some(first) => Err(Clash::Written { file, first: first.clone(), second: output }),
            None => {
                self.written.insert(identity, output);
                Ok(())
            }
        }
    }

    /// Adds an output that is not a model. Fails also if its name ends like a model's: a model whose name was given as
    /// the value of an option would be overwritten.
    pub fn writes_other(&mut self, output: &str, path: &Path) -> Result<(), Clash> {
        self.writes(output.to_owned(), path)?;
        match Model::extension(path) {
            Some(extension) => Err(Clash::Model {
                file: path.display().to_string(),
                output: output.to_owned(),
                extension,
            }),
            None => Ok(()),
        }
    }

    fn find_parts(&mut self) {
        for (argument, model) in std::mem::take(&mut self.models) {
            if Model::is_phx(&model) {
                continue;
            }
            self.add(argument, &marker_file(&model), Some(&model));
            let folder = model.parent().unwrap_or(Path::new(""));
            // A model that cannot be read is reported by the import.
            let bytes = model.is_file().then(|| fs::read(&model).unwrap_or_default());
            // Also those in other folders, whether they are read or not.
            let options = ImportOptions { parent_folders: true, ..ImportOptions::default() };
            for part in external_files(&bytes.unwrap_or_default(), folder, &options) {
                self.add(argument, &part, Some(&model));
            }
        }
    }

    fn add(&mut self, argument: &'static str, path: &Path, part_of: Option<&Path>) {
        if let Some(identity) = Identity::of_file(path) {
            self.read.entry(identity).or_insert_with(|| Input {
                argument,
                path: path.to_owned(),
                part_of: part_of.map(Path::to_owned),
            });
        }
    }
}

impl Identity {
    /// Identity of an existing regular file.
    fn of_file(path: &Path) -> Option<Self> {
        let there = fs::metadata(path).ok()?;
        there.is_file().then(|| Self::of_node(path, &there))
    }

    #[cfg(unix)]
    fn of_node(_: &Path, there: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self::Node(there.dev(), there.ino())
    }

    /// The canonical path. A second hard link has another one, but writing replaces only that link.
    #[cfg(not(unix))]
    fn of_node(path: &Path, _: &fs::Metadata) -> Self {
        Self::Place(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    }

    /// Identity of a regular file that exists or will be created.
    fn of_output(path: &Path) -> Option<Self> {
        if fs::metadata(path).is_ok() {
            return Self::of_file(path);
        }
        let place = behind_links(path);
        let name = place.file_name()?;
        let folder = match place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let known = folder.canonicalize();
        let folder = known.or_else(|_| std::path::absolute(folder)).ok()?;
        Some(Self::Place(match takes_any_case(&folder) {
            true => folder.join(name.to_string_lossy().to_lowercase()),
            false => folder.join(name),
        }))
    }
}

/// Follows links whose target does not exist yet.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // A cycle of links is reported when the file is written.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => break,
        }
    }
    path
}

/// True if the file system ignores case, tested by looking up the folder itself with flipped case.
fn takes_any_case(folder: &Path) -> bool {
    let other = |name: &str| -> String {
        let flip = |c: char| match c.is_ascii_uppercase() {
            true => c.to_ascii_lowercase(),
            false => c.to_ascii_uppercase(),
        };
        name.chars().map(flip).collect()
    };
    let Some(name) = folder.file_name().and_then(|n| n.to_str()) else {
        return false;
    };
    let flipped = folder.with_file_name(other(name));
    flipped != folder && is_same_folder(folder, &flipped)
}

#[cfg(unix)]
fn is_same_folder(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let node = |path: &Path| fs::metadata(path).ok().map(|m| (m.dev(), m.ino()));
    node(a).is_some_and(|a| node(b) == Some(a))
}

#[cfg(not(unix))]
fn is_same_folder(a: &Path, b: &Path) -> bool {
    let place = |path: &Path| path.canonicalize().ok();
    place(a).is_some_and(|a| place(b) == Some(a))
}
