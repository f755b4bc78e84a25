//! What is baked: files, folders and patterns, in a fixed order; and what a file is made of.

use super::super::error::CliError;
use super::BakeFault;
use phalanx::clip::Clip;
use phalanx::format::{Source, hash_bytes};
use phalanx::offline::gltf::read_path;
use phalanx::offline::raw::RawScene;
use phalanx::offline::{
    BuildOptions, ImportOptions, UpAxis, add_markers, build_rig, marker_file, read_markers,
};
use phalanx::rig::Rig;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A file to be baked.
#[derive(Clone, Debug)]
pub struct Input {
    pub path: PathBuf,
    /// Its name without folders and extension.
    pub stem: String,
}

impl Input {
    pub fn new(path: PathBuf) -> Self {
        let stem = path.file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy().into_owned();
        Self { path, stem }
    }

    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// What the input is: a hash of the file, its markers, and the files that it refers to.
    pub fn source(&self) -> Result<Source, CliError> {
        let bytes = read(&self.path)?;
        let mut hashes = vec![hash_bytes(&bytes)];
        let mut total = bytes.len() as u64;
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let beside = referred(&bytes).into_iter().map(|name| folder.join(name));
        for file in beside.chain([marker_file(&self.path)]) {
            // One that is missing is the import's to tell, or not needed.
            if let Ok(bytes) = fs::read(&file) {
                total += bytes.len() as u64;
                hashes.push(hash_bytes(&bytes));
            }
        }
        let name = self.path.file_name().unwrap_or_default();
        Ok(Source {
            name: name.to_string_lossy().into_owned(),
            settings: String::new(),
            bytes: total,
            hash: hash_bytes(bytemuck::cast_slice(&hashes)),
        })
    }

    pub fn raw(&self, up: UpAxis) -> Result<RawScene, CliError> {
        let options = ImportOptions {
            up_axis: up,
            ..ImportOptions::default()
        };
        let (raw, _) =
            read_path(&self.path, &options).map_err(phalanx::offline::ImportError::from)?;
        Ok(raw)
    }

    /// The file as a rig with exact clips, in a lane order of its own or another.
    pub fn rig(&self, raw: RawScene, lane_order: Option<Vec<u16>>) -> Result<Rig, CliError> {
        let mut options = BuildOptions::default();
        options.lane_order = lane_order;
        let mut rig = build_rig(raw, &options).map_err(|source| BakeFault::Build {
            file: self.name(),
            source,
        })?;
        let beside = marker_file(&self.path);
        if beside.exists() {
            let markers = read_markers(&beside).map_err(phalanx::offline::ImportError::from)?;
            let file = beside.display().to_string();
            let rigs = std::slice::from_mut(&mut rig);
            add_markers(rigs, &markers, &file).map_err(phalanx::offline::ImportError::from)?;
        }
        Ok(rig)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let read = fs::read(path).map_err(|source| BakeFault::Read {
        file: path.display().to_string(),
        source,
    });
    Ok(read?)
}

/// Files that a .gltf file refers to. A .glb that refers to others is not looked into: its own bytes
/// change with what exporters write.
fn referred(bytes: &[u8]) -> Vec<String> {
    let Ok(json) = serde_json::from_slice::<Value>(bytes) else {
        return Vec::new();
    };
    let lists = ["buffers", "images"].into_iter();
    let entries = lists.filter_map(|l| json.get(l)?.as_array()).flatten();
    let uris = entries.filter_map(|e| e.get("uri")?.as_str());
    uris.filter(|uri| !uri.starts_with("data:"))
        .map(|uri| {
            percent_encoding::percent_decode_str(uri)
                .decode_utf8_lossy()
                .into_owned()
        })
        .collect()
}

/// That a folder or a pattern holds no such file.
pub fn nothing(place: &str, extensions: &[&str]) -> BakeFault {
    let wanted: Vec<String> = extensions.iter().map(|e| format!(".{e}")).collect();
    BakeFault::Nothing {
        place: place.to_owned(),
        wanted: wanted.join(" or "),
    }
}

/// The files of arguments: files as they are, folders with all below them, patterns.
pub fn expand(arguments: &[String], extensions: &[&str]) -> Result<Vec<PathBuf>, CliError> {
    let mut found = Vec::new();
    for argument in arguments {
        let path = Path::new(argument);
        let pattern = if path.is_dir() {
            let folder = glob::Pattern::escape(argument);
            Path::new(&folder)
                .join("**/*")
                .to_string_lossy()
                .into_owned()
        } else if path.exists() || !argument.contains(['*', '?', '[']) {
            found.push(path.to_owned());
            continue;
        } else {
            argument.clone()
        };
        let wanted = |p: &PathBuf| {
            let extension = p.extension().map(|e| e.to_ascii_lowercase());
            extension.is_some_and(|e| extensions.iter().any(|x| e == **x)) && p.is_file()
        };
        let matches = glob::glob(&pattern).map_err(|source| BakeFault::Pattern {
            pattern: argument.clone(),
            source,
        })?;
        let matches = matches
            .collect::<Result<Vec<_>, _>>()
            .map_err(BakeFault::from)?;
        let before = found.len();
        found.extend(matches.into_iter().filter(wanted));
        if found.len() == before {
            return Err(nothing(argument, extensions).into());
        }
    }
    let mut seen = std::collections::HashSet::new();
    found.retain(|p| seen.insert(p.clone()));
    Ok(found)
}

/// Extensions of what is baked.
pub const BAKED: [&str; 2] = ["gltf", "glb"];

/// The inputs of a bake.
pub fn find(arguments: &[String]) -> Result<Vec<Input>, CliError> {
    let files = expand(arguments, &BAKED)?;
    Ok(files.into_iter().map(Input::new).collect())
}

/// Refuses inputs that would become the same file.
pub fn no_name_twice(all: &[Input]) -> Result<(), CliError> {
    let mut seen: HashMap<&str, &Input> = HashMap::new();
    for input in all {
        if let Some(other) = seen.insert(&input.stem, input) {
            let fault = BakeFault::SameOutput {
                file: input.name(),
                other: other.name(),
                output: format!("{}.phx", input.stem),
            };
            return Err(fault.into());
        }
    }
    Ok(())
}

/// What a clip is called in a library.
pub fn clip_name(input: &Input, clip: &Clip, prefix: bool) -> String {
    match (prefix, clip.name()) {
        (true, "") => input.stem.clone(),
        (true, name) => format!("{}/{name}", input.stem),
        (false, name) => name.to_owned(),
    }
}
