//! Inputs of a bake: their files, the names derived from them, and their source hashes.

use super::super::clips::WITH_CLIPS;
use super::super::error::CliError;
use super::super::import_args::ImportArgs;
use super::super::kind;
use super::super::model::Model;
use super::discover::{self, Found};
use super::{BakeFault, Faults};
use phalanx::build::{BuildOptions, skeleton_of};
use phalanx::format::{Source, hash_bytes};
use phalanx::import::external_files;
use phalanx::import::raw::RawScene;
use phalanx::import::{
    ImportOptions, ReportEntry, UpAxis, add_markers, build_path, clip_name_from_file, marker_file,
    read_markers, read_path,
};
use phalanx::rig::Rig;
use phalanx::skeleton::Skeleton;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file to bake.
#[derive(Clone, Debug)]
pub struct Input {
    pub path: PathBuf,
    /// Path below the given folder, with slashes and without extension (`a/walk`): the output's path and
    /// the prefix of clip names. For a file given by name, only its name (`walk`).
    pub place: String,
    /// Whether its clips are bound to the library's skeleton, by the names of joints.
    pub bound: bool,
}

impl Input {
    /// For a file given by name.
    pub fn new(path: PathBuf) -> Self {
        let below = path.file_name().map(PathBuf::from).unwrap_or_default();
        Self::found(Found { path, below })
    }

    fn found(found: Found) -> Self {
        let Found { path, below } = found;
        let place = below.with_extension("");
        let names = place.iter().map(|name| name.to_string_lossy());
        let place = names.collect::<Vec<_>>().join("/");
        Self { path, place, bound: false }
    }

    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Identity of the input: a hash over the file, its markers and the files that it refers to, as far as these are
    /// read.
    pub fn source(&self, import: ImportArgs) -> Result<Source, CliError> {
        let bytes = read(&self.path)?;
        let mut hashes = vec![hash_bytes(&bytes)];
        let mut total = bytes.len() as u64;
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let beside = external_files(&bytes, folder, &import.options()).into_iter();
        for file in beside.chain([marker_file(&self.path)]) {
            // Missing files are reported by the import, or are optional.
            if let Some(bytes) = file.is_file().then(|| fs::read(&file).ok()).flatten() {
                total += bytes.len() as u64;
                hashes.push(hash_bytes(&bytes));
            }
        }
        let extension = self.path.extension().map(|e| e.to_string_lossy());
        Ok(Source {
            name: extension.map_or_else(|| self.place.clone(), |e| format!("{}.{e}", self.place)),
            settings: String::new(),
            bytes: total,
            hash: hash_bytes(bytemuck::cast_slice(&hashes)),
        })
    }

    /// Whether it refers to files of parent folders.
    pub fn leaves_its_folder(&self) -> bool {
        let (bytes, folder) = (read(&self.path), self.path.parent());
        let [within, all] = [false, true].map(|parent_folders| {
            let options = ImportOptions { parent_folders, ..ImportOptions::default() };
            let bytes = bytes.as_deref().unwrap_or_default();
            external_files(bytes, folder.unwrap_or(Path::new("")), &options).len()
        });
        all > within
    }

    /// Reads the file. Clips that are trimmed know by how much.
    pub fn raw(&self, up: UpAxis, import: ImportArgs) -> Result<RawScene, CliError> {
        self.reported(up, import).map(|(raw, _)| raw)
    }

    /// Reads the file, with the import's report.
    pub fn reported(
        &self,
        up: UpAxis,
        import: ImportArgs,
    ) -> Result<(RawScene, Vec<ReportEntry>), CliError> {
        let options = ImportOptions { up_axis: up, ..import.options() };
        let read = read_path(&self.path, &options);
        read.map_err(|error| kind::explain(&self.path, error))
    }

    /// The skeleton of the rig, in any lane order.
    pub fn skeleton(&self, raw: &RawScene) -> Result<Skeleton, BakeFault> {
        skeleton_of(raw)
            .map_err(|source| BakeFault::Build { file: self.name(), source: Box::new(source) })
    }

    /// Builds the rig with exact clips; `None` derives the lane order from the clips.
    pub fn rig(
        &self,
        raw: RawScene,
        import: ImportArgs,
        lane_order: Option<Vec<u16>>,
    ) -> Result<Rig, CliError> {
        self.rig_reporting(raw, import, lane_order, &mut Vec::new())
    }

    /// [`Input::rig`]; adds to a report what building changed.
    pub fn rig_reporting(
        &self,
        raw: RawScene,
        import: ImportArgs,
        lane_order: Option<Vec<u16>>,
        report: &mut Vec<ReportEntry>,
    ) -> Result<Rig, CliError> {
        let options = BuildOptions { lane_order, ..BuildOptions::default() };
        let trimmed: Vec<f32> = raw.clips.iter().map(|c| c.trimmed).collect();
        let built = build_path(&self.path, raw, &import.options(), options);
        let (mut rig, built) = built.map_err(|error| kind::explain(&self.path, error))?;
        report.extend(built);
        let beside = marker_file(&self.path);
        if beside.exists() {
            let markers = read_markers(&beside)?;
            let file = beside.display().to_string();
            let rigs = std::slice::from_mut(&mut rig);
            add_markers(rigs, &trimmed, &markers, &file)?;
        }
        Ok(rig)
    }
}

fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let read = || {
        // Checked before opening: opening a pipe would block until a writer appears.
        let kind = fs::metadata(path)?;
        if !kind.is_file() && !kind.is_dir() {
            return Err(io::Error::other("not a regular file"));
        }
        fs::read(path)
    };
    let read =
        read().map_err(|source| BakeFault::Read { file: path.display().to_string(), source });
    Ok(read?)
}

/// File extensions of bake inputs.
pub const BAKED: [&str; 5] = ["gltf", "glb", "vrm", "vrma", "bvh"];

/// Finds the inputs of a bake.
pub fn find(arguments: &[String], faults: &mut Faults) -> Vec<Input> {
    let mut inputs = Vec::new();
    for found in discover::files(arguments, &BAKED, faults) {
        if found.path.to_str().is_none() {
            let file = found.path.display().to_string();
            faults.add(file.clone(), &BakeFault::Name { file });
            continue;
        }
        if Model::is_phx(&found.path) {
            let file = found.path.display().to_string();
            faults.add(file.clone(), &BakeFault::Baked { file });
            continue;
        }
        inputs.push(Input::found(found));
    }
    inputs
}

/// Finds the files whose clips are bound.
pub fn find_clips(arguments: &[String], faults: &mut Faults) -> Vec<Input> {
    let found = discover::files(arguments, &WITH_CLIPS, faults).into_iter();
    let bound = found.map(|found| Input { bound: true, ..Input::found(found) });
    bound.collect()
}

/// Removes every group of inputs that would be written to one output, and records the fault.
pub fn no_place_twice(all: Vec<Input>, faults: &mut Faults) -> Vec<Input> {
    let mut seen: HashMap<&str, &Input> = HashMap::new();
    let mut twice = HashSet::new();
    for input in &all {
        let Some(&first) = seen.get(&*input.place) else {
            seen.insert(&input.place, input);
            continue;
        };
        let fault = BakeFault::SameOutput {
            file: input.name(),
            other: first.name(),
            output: format!("{}.phx", input.place),
        };
        faults.add(input.name(), &fault);
        twice.insert(input.place.clone());
    }
    let once = |input: &Input| !twice.contains(&input.place);
    all.into_iter().filter(once).collect()
}

/// Names of an input's clips in a library of several inputs: the only clip of a file takes the file's name if its own
/// is meaningless. With `prefix` all names have the file's name already.
pub fn clip_names(input: &Input, clips: &[&str], prefix: bool) -> Vec<String> {
    match clips {
        [only] if !prefix => vec![clip_name_from_file(&input.path, only).into_owned()],
        _ => clips.iter().map(|c| clip_name(input, c, prefix)).collect(),
    }
}

/// Name of a clip in a library.
pub fn clip_name(input: &Input, clip: &str, prefix: bool) -> String {
    match (prefix, clip) {
        (true, "") => input.place.clone(),
        (true, name) => format!("{}/{name}", input.place),
        (false, name) => name.to_owned(),
    }
}
