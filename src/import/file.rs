//! Model file to rigs: reading, splitting and building in one call.

use super::error::{Fault, ImportError};
use super::fault::invalid;
use super::gltf::{self, external_files};
use super::markers::{add_markers, marker_file, read_markers};
use super::read_file::{MAX_FILE_BYTES, read_file};
use super::travel;
use super::{ImportOptions, bvh};
use crate::build::rig::{BuildOptions, build_rig_reporting};
use crate::build::root_motion::RootMotionOptions;
use crate::raw::{RawScene, ReportEntry};
use crate::rig::Rig;
use crate::words::shorten;
use std::path::Path;

/// The result of an import.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The rigs of the file: one, or more if the options split it.
    pub rigs: Vec<Rig>,
    /// Attachments between the rigs.
    pub links: Vec<RigLink>,
    /// Report of what was repaired, dropped or not used.
    pub report: Vec<ReportEntry>,
}

/// A rig that is attached to a node of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigLink {
    /// Index of the attached rig.
    pub child: usize,
    /// Index of the rig that it is attached to.
    pub parent: usize,
    /// Index of the node in the parent rig's nodes; `None` if the rig was at the root.
    pub node: Option<usize>,
}

/// Bytes of clip rows allowed per byte of a file. A file of dense tracks was observed to need 2; one
/// whose tracks share no key times, 13.
pub(super) const CLIP_BYTES_PER_FILE_BYTE: usize = 24;
/// Bytes of clip rows allowed for any file.
pub(super) const CLIP_BYTES_BASE: usize = 16 << 20;

/// The bytes of a file and of the files that it refers to.
fn bytes_of(path: &Path, options: &ImportOptions) -> usize {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |m| m.len());
    let named = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("gltf"));
    let mut bytes = size(path);
    if named && let Ok(text) = read_file(path, bytes) {
        let parts = external_files(&text, path.parent().unwrap_or(Path::new("")), options);
        bytes = parts.iter().fold(bytes, |sum, part| sum.saturating_add(size(part)));
    }
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Limit on the rows of a file's clips, bytes, and whether [`ImportOptions::memory_limit`] sets it.
fn clip_bytes(file_bytes: usize, options: &ImportOptions) -> (usize, bool) {
    match options.memory_limit {
        Some(limit) => (usize::try_from(limit).unwrap_or(usize::MAX), true),
        None => {
            let rows = file_bytes.saturating_mul(CLIP_BYTES_PER_FILE_BYTE);
            (rows.saturating_add(CLIP_BYTES_BASE), false)
        }
    }
}

/// Builds the rig of a file that [`read_path`] has read with the same import options, within the same memory limit as
/// [`import_path`].
///
/// # Errors
/// If the clips need more ([`ImportError::ClipBytes`]), or the data is invalid.
pub fn build_path(
    path: &Path,
    raw: RawScene,
    import: &ImportOptions,
    options: BuildOptions,
) -> Result<(Rig, Vec<ReportEntry>), ImportError> {
    let file_bytes = bytes_of(path, import);
    let (most, given) = clip_bytes(file_bytes, import);
    let options = BuildOptions { max_clip_bytes: options.max_clip_bytes.min(most), ..options };
    let built = build_rig_reporting(raw, &options);
    let file = path.display().to_string();
    built.map_err(|source| ImportError::of_build(&file, (file_bytes, given), source))
}

/// Reads a .gltf, .glb or .bvh file into raw data, without building rigs. A file is BVH if it is named .bvh or
/// begins with HIERARCHY.
///
/// # Errors
/// If the file cannot be read, or has an error that cannot be repaired: [`ImportError::Fault`].
pub fn read_path(
    path: &Path,
    options: &ImportOptions,
) -> Result<(RawScene, Vec<ReportEntry>), ImportError> {
    let name = path.display().to_string();
    let read = read_file(path, MAX_FILE_BYTES);
    let bytes = read.map_err(|fault| Fault::from(fault).in_file(&name))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    read_slice(&bytes, &name, Some(folder.unwrap_or(Path::new("."))), options)
}

/// The same as [`read_path`], from memory. `name` is used in messages and, with BVH, names the clip. External files are
/// read from `base`, and are an error without it.
///
/// # Errors
/// Those of [`read_path`].
pub fn read_slice(
    bytes: &[u8],
    name: &str,
    base: Option<&Path>,
    options: &ImportOptions,
) -> Result<(RawScene, Vec<ReportEntry>), ImportError> {
    let is_bvh = bvh::is_named(Path::new(name)) || bvh::is_bvh(bytes);
    let (scene, mut report) = match is_bvh {
        true => bvh::read_slice(bytes, name, options)?,
        false => gltf::read_slice(bytes, name, base, options)?,
    };
    if options.root_motion.is_none() {
        travel::note(&scene, options.up_axis, &mut report);
    }
    Ok((scene, report))
}

/// Imports a .gltf, .glb or .bvh file, and the [markers](marker_file) beside it if that file exists. Times of markers
/// are relative to the clips in the file, even if clips are [trimmed](ImportOptions::trim).
///
/// # Errors
/// If the file cannot be read, split as requested, or built.
pub fn import_path(path: &Path, options: &ImportOptions) -> Result<Imported, ImportError> {
    let size = bytes_of(path, options);
    let (raw, report) = read_path(path, options)?;
    let trimmed: Vec<f32> = raw.clips.iter().map(|c| c.trimmed).collect();
    let mut imported = finish(raw, report, options, size)?;
    let beside = marker_file(path);
    if beside.exists() {
        let markers = read_markers(&beside)?;
        let file = beside.display().to_string();
        add_markers(&mut imported.rigs, &trimmed, &markers, &file)?;
    }
    Ok(imported)
}

/// Imports the rig of a .gltf, .glb or .bvh file, with the default [`ImportOptions`]: [`import_path`] for the common
/// case. A file becomes one rig, whatever it holds. [`import_path`] can split it ([`ImportOptions::split`]) and returns
/// the report of repairs.
///
/// # Errors
/// Those of [`import_path`].
pub fn import_rig(path: impl AsRef<Path>) -> Result<Rig, ImportError> {
    let options = ImportOptions::default();
    debug_assert!(options.split.is_empty(), "a file is one rig");
    Ok(import_path(path.as_ref(), &options)?.rigs.remove(0))
}

/// Imports a .gltf, .glb or .bvh file from memory. `name` is used in messages and, with BVH, names the clip.
/// External files are read from `base`, and are an error without it.
///
/// # Errors
/// If the file cannot be read, split as requested, or built.
pub fn import_slice(
    bytes: &[u8],
    name: &str,
    base: Option<&Path>,
    options: &ImportOptions,
) -> Result<Imported, ImportError> {
    let (raw, report) = read_slice(bytes, name, base, options)?;
    finish(raw, report, options, bytes.len())
}

fn finish(
    raw: RawScene,
    mut report: Vec<ReportEntry>,
    options: &ImportOptions,
    file_bytes: usize,
) -> Result<Imported, ImportError> {
    let file = raw.name.clone();
    let (scenes, links) = split(raw, &options.split)?;
    let (mut left, given) = clip_bytes(file_bytes, options);
    let mut rigs = Vec::with_capacity(scenes.len());
    for scene in scenes {
        let options = BuildOptions {
            max_clip_bytes: left,
            root_motion: options
                .root_motion
                .clone()
                .map(|r| RootMotionOptions { up: options.up_axis, ..r }),
            ..BuildOptions::default()
        };
        let (rig, built) = build_rig_reporting(scene, &options)
            .map_err(|source| ImportError::of_build(&file, (file_bytes, given), source))?;
        report.extend(built);
        left -= left.min(rig.clips().iter().map(|c| c.bytes()).sum());
        rigs.push(rig);
    }
    let links = links
        .into_iter()
        .map(|(child, parent, source)| RigLink {
            child,
            parent,
            node: rigs[parent].nodes().iter().position(|n| n.source == source),
        })
        .collect();
    Ok(Imported { rigs, links, report })
}

/// Child and parent scene, and the file index of the node between them.
type SourceLink = (usize, usize, usize);

/// Splits a scene at every named node.
fn split(raw: RawScene, nodes: &[String]) -> Result<(Vec<RawScene>, Vec<SourceLink>), ImportError> {
    let mut scenes = vec![raw];
    let mut links: Vec<SourceLink> = Vec::new();
    for wanted in nodes {
        let by_index = wanted.parse::<usize>().ok();
        let found = scenes.iter().enumerate().find_map(|(s, scene)| {
            let named = scene.nodes.iter().position(|n| n.name.as_ref() == Some(wanted));
            let indexed = || scene.nodes.iter().position(|n| Some(n.source) == by_index);
            named.or_else(indexed).map(|node| (s, node))
        });
        let Some((parent, node)) = found else {
            let words = format!("there is no node \"{}\"", shorten(wanted));
            return Err(Fault::from(invalid(words)).in_file(&scenes[0].name));
        };
        let child = scenes.len();
        let parts = std::mem::take(&mut scenes[parent]).split_at(node)?;
        // Rigs attached to nodes that moved to the branch are now attached to the branch.
        for link in links.iter_mut().filter(|l| l.1 == parent) {
            if parts.branch.nodes.iter().any(|n| n.source == link.2) {
                link.1 = child;
            }
        }
        links.push((child, parent, parts.base.nodes[parts.attach_node].source));
        scenes[parent] = parts.base;
        scenes.push(parts.branch);
    }
    Ok((scenes, links))
}
