//! `Files`: what a command reads, and so may not write.

use super::model::Model;
use phalanx::import::gltf::external_files;
use phalanx::import::marker_file;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An output that would destroy something.
#[derive(Debug, Error)]
pub enum Clash {
    /// The command reads it.
    #[error("{file}: {output} cannot write it, {input} reads it{how}")]
    Read {
        /// The output as it is given.
        file: String,
        /// The option that names it.
        output: String,
        /// The argument that names the input.
        input: &'static str,
        /// As which file, if not by the same name, or as a part of which.
        how: String,
    },
    /// Another output is the same file.
    #[error("{file}: {first} and {second} cannot both write it")]
    Written {
        /// The output as it is given.
        file: String,
        /// The option that was there first.
        first: String,
        /// The other.
        second: String,
    },
}

/// Files of a command by what they are, whatever names and links lead to them.
#[derive(Debug, Default)]
pub struct Files {
    read: HashMap<Identity, Input>,
    /// Models whose parts are not among the files yet.
    models: Vec<(&'static str, PathBuf)>,
    /// The options that write them.
    written: HashMap<Identity, String>,
}

#[derive(Debug)]
struct Input {
    argument: &'static str,
    path: PathBuf,
    /// The model that it is a part of.
    part_of: Option<PathBuf>,
}

/// Which file it is. Pipes and devices have none: writing to one destroys nothing.
#[derive(Debug, PartialEq, Eq, Hash)]
enum Identity {
    /// Device and number of a file that is there.
    #[cfg(unix)]
    Node(u64, u64),
    /// Its place in a folder.
    Place(PathBuf),
}

impl Files {
    /// Adds a file that an argument names.
    pub fn reads(&mut self, argument: &'static str, path: &Path) {
        self.add(argument, path, None);
    }

    /// Adds a model, the files that it refers to, and its markers.
    pub fn reads_model(&mut self, argument: &'static str, path: &Path) {
        self.add(argument, path, None);
        self.models.push((argument, path.to_owned()));
    }

    /// Adds an output, unless that would overwrite an input or another output.
    pub fn writes(&mut self, output: String, path: &Path) -> Result<(), Clash> {
        let Some(identity) = Identity::of_output(path) else {
            return Ok(());
        };
        // What is not there yet is no input, and a .phx file no part of one.
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
                    Some(model) => format!(" with {}", model.display()),
                    None if input.path == path => String::new(),
                    None => format!(" as {}", input.path.display()),
                },
            });
        }
        match self.written.get(&identity) {
            Some(first) => Err(Clash::Written {
                file,
                first: first.clone(),
                second: output,
            }),
            None => {
                self.written.insert(identity, output);
                Ok(())
            }
        }
    }

    fn find_parts(&mut self) {
        for (argument, model) in std::mem::take(&mut self.models) {
            if Model::is_phx(&model) {
                continue;
            }
            self.add(argument, &marker_file(&model), Some(&model));
            let folder = model.parent().unwrap_or(Path::new(""));
            // One that cannot be read is the import's to tell.
            let bytes = model
                .is_file()
                .then(|| fs::read(&model).unwrap_or_default());
            for part in external_files(&bytes.unwrap_or_default(), folder) {
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
    /// Of a regular file that is there.
    fn of_file(path: &Path) -> Option<Self> {
        let there = fs::metadata(path).ok()?;
        there.is_file().then(|| Self::of_node(path, &there))
    }

    #[cfg(unix)]
    fn of_node(_: &Path, there: &fs::Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self::Node(there.dev(), there.ino())
    }

    /// Its true name: a second one of the same file is replaced without harm to the first.
    #[cfg(not(unix))]
    fn of_node(path: &Path, _: &fs::Metadata) -> Self {
        Self::Place(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
    }

    /// Of a regular file that is or will be there.
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

/// Where a link leads that leads to nothing yet.
fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // A circle of links is the writer's to tell.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = path.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => break,
        }
    }
    path
}

/// Whether names that differ by case alone are one: so it is if the folder itself is found by such a name.
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
