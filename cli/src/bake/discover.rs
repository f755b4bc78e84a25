//! Expands arguments to files: file names, folders searched recursively, and glob patterns.

use super::super::error::CliError;
use super::{BakeFault, Faults};
use glob::Pattern;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// A file found for an argument.
#[derive(Clone, Debug)]
pub struct Found {
    pub path: PathBuf,
    /// Path relative to the given folder, or to the folder in which a pattern begins.
    pub below: PathBuf,
}

/// Files of the arguments, in argument order and sorted within each argument, without duplicates.
pub fn files(arguments: &[String], extensions: &[&str], faults: &mut Faults) -> Vec<Found> {
    let mut found = Vec::new();
    for argument in arguments {
        let path = Path::new(argument);
        let pattern = argument.contains(['*', '?', '[']) && !path.exists();
        if !pattern && !path.is_dir() {
            let below = path.file_name().map(PathBuf::from).unwrap_or_default();
            found.push(Found { path: path.to_owned(), below });
            continue;
        }
        let (base, parts) = match parts(argument, pattern) {
            Ok(parts) => parts,
            Err(fault) => {
                faults.add(argument.clone(), &fault);
                continue;
            }
        };
        let mut search = Search { extensions, ..Search::default() };
        search.folder(&base, &parts);
        if search.files.is_empty() && search.unread.is_empty() {
            faults.add(argument.clone(), &nothing(argument, extensions));
        }
        for (folder, source) in search.unread {
            let file = folder.display().to_string();
            faults.add(file.clone(), &BakeFault::Read { file, source });
        }
        search.files.sort();
        found.extend(
            search.files.into_iter().map(|path| Found { below: below(&path, &base), path }),
        );
    }
    let mut seen = HashSet::new();
    found.retain(|f| seen.insert(identity(&f.path)));
    found
}

/// Files of the arguments; fails if any argument has a fault.
pub fn expand(arguments: &[String], extensions: &[&str]) -> Result<Vec<PathBuf>, CliError> {
    let mut faults = Faults::default();
    let found = files(arguments, extensions, &mut faults);
    faults.none()?;
    Ok(found.into_iter().map(|f| f.path).collect())
}

/// The fault for a folder or pattern that matches no file with these extensions.
pub fn nothing(place: &str, extensions: &[&str]) -> BakeFault {
    let wanted: Vec<String> = extensions.iter().map(|e| format!(".{e}")).collect();
    let wanted = match wanted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    };
    BakeFault::Nothing { place: place.to_owned(), wanted }
}

/// One component of a pattern's path.
enum Part {
    /// Any number of folders.
    AnyDepth,
    /// This exact name; its parent folder need not be listable.
    Named(PathBuf),
    Like(Pattern),
}

/// Splits an argument into the folder where the search begins and the components matched below it.
fn parts(argument: &str, pattern: bool) -> Result<(PathBuf, Vec<Part>), BakeFault> {
    let like = |name: &str| match Pattern::new(name) {
        Ok(like) => Ok(Part::Like(like)),
        Err(source) => Err(BakeFault::Pattern { pattern: argument.to_owned(), source }),
    };
    let (mut base, mut parts) = (PathBuf::new(), Vec::new());
    for component in Path::new(argument).components() {
        let name = component.as_os_str();
        let text = name.to_string_lossy();
        if text == "**" && pattern {
            if !matches!(parts.last(), Some(Part::AnyDepth)) {
                parts.push(Part::AnyDepth);
            }
        } else if text.contains(['*', '?', '[']) && pattern {
            parts.push(like(&text)?);
        } else if parts.is_empty() {
            base.push(name);
        } else {
            parts.push(Part::Named(name.into()));
        }
    }
    // A folder stands for everything below it; so does a pattern that ends with `**`.
    if parts.is_empty() {
        parts.push(Part::AnyDepth);
    }
    if let Some(Part::AnyDepth) = parts.last() {
        parts.push(like("*")?);
    }
    Ok((base, parts))
}

/// Files found, and folders that could not be read.
#[derive(Default)]
struct Search<'a> {
    extensions: &'a [&'a str],
    files: Vec<PathBuf>,
    unread: Vec<(PathBuf, io::Error)>,
}

impl Search<'_> {
    fn folder(&mut self, folder: &Path, parts: &[Part]) {
        match parts {
            [] => {}
            [Part::Named(name), rest @ ..] => self.step(folder.join(name), rest),
            [Part::Like(like), rest @ ..] => {
                for (path, _) in self.entries(folder) {
                    // Names that are not UTF-8 are matched too; the caller decides what to do with them.
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    if like.matches(&name) {
                        self.step(path, rest);
                    }
                }
            }
            [Part::AnyDepth, rest @ ..] => {
                self.folder(folder, rest);
                for (path, is_folder) in self.entries(folder) {
                    if is_folder {
                        self.folder(&path, parts);
                    }
                }
            }
        }
    }

    fn step(&mut self, path: PathBuf, rest: &[Part]) {
        if !rest.is_empty() {
            if path.is_dir() {
                self.folder(&path, rest);
            }
            return;
        }
        let extension = path.extension().map(|e| e.to_ascii_lowercase());
        if extension.is_some_and(|e| self.extensions.iter().any(|x| e == **x)) && path.is_file() {
            self.files.push(path);
        }
    }

    /// Entries of a folder, each with whether it is a folder. A link to a folder counts as a file, since
    /// following links might never end.
    fn entries(&mut self, folder: &Path) -> Vec<(PathBuf, bool)> {
        let place = or_here(folder);
        let entry = |entry: io::Result<fs::DirEntry>| {
            let entry = entry?;
            Ok((folder.join(entry.file_name()), entry.file_type()?.is_dir()))
        };
        let listed = fs::read_dir(place).and_then(|all| all.map(entry).collect());
        listed.unwrap_or_else(|source| {
            if self.unread.iter().all(|(known, _)| known != place) {
                self.unread.push((place.to_owned(), source));
            }
            Vec::new()
        })
    }
}

/// Path of a file relative to a folder; only its file name if the relative path would lead upward.
fn below(path: &Path, base: &Path) -> PathBuf {
    let below = path.strip_prefix(base).unwrap_or(path);
    let down = |c: Component<'_>| matches!(c, Component::Normal(_));
    match below.components().all(down) {
        true => below.to_owned(),
        false => path.file_name().map(PathBuf::from).unwrap_or_default(),
    }
}

/// The folder, or `.` for an empty path, which the system does not accept.
fn or_here(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

/// A canonical path for detecting duplicates: the folder is resolved, a link to a file is not.
fn identity(path: &Path) -> PathBuf {
    let folder = path.parent().map(or_here);
    match (folder.and_then(|f| f.canonicalize().ok()), path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}
