//! Bakes one input into one output.

use super::super::error::CliError;
use super::super::findings::FileReport;
use super::super::import_args::ImportArgs;
use super::super::model::Model;
use super::BakeFault;
use super::inputs::Input;
use super::progress::Progress;
use super::proportion;
use super::settings::{Baked, Settings};
use super::summary::FileSummary;
use phalanx::format::{Library, LibraryWriter, Source, WriteError, remove_leftovers, save};
use phalanx::import::raw::RawScene;
use phalanx::import::{ReportEntry, UpAxis};
use phalanx::rig::Rig;
use phalanx::skeleton::Skeleton;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How clips of another skeleton are baked.
pub const BIND: &str = "; --clips binds clips of other skeletons by the names of joints";

/// The rig that supplies lane order, skins and meshes.
#[derive(Debug)]
pub struct Layout {
    pub file: String,
    pub rig: Arc<Rig>,
}

impl Layout {
    /// Reads a .phx, .gltf, .glb or .bvh file; `report` receives the import report.
    pub fn load(
        path: &Path,
        up: UpAxis,
        import: ImportArgs,
        report: &mut Vec<ReportEntry>,
    ) -> Result<Self, CliError> {
        let file = path.display().to_string();
        if Model::is_phx(path) {
            let rig = Model::load(Some(path), true, ImportArgs::default())?.rig;
            return Ok(Self { file, rig });
        }
        let input = Input::new(path.to_owned());
        let (raw, read) = input.reported(up, import)?;
        *report = read;
        let rig = Arc::new(input.rig_reporting(raw, import, None, report)?);
        Ok(Self { file, rig })
    }

    /// The joint of every lane.
    pub fn lanes(&self) -> Vec<u16> {
        let skeleton = self.rig.skeleton();
        skeleton.joint_of()[..skeleton.len()].to_vec()
    }

    /// Fails if the skeleton of a file differs.
    pub fn check(&self, file: &str, skeleton: &Skeleton) -> Result<(), BakeFault> {
        BakeFault::same_skeleton((file, skeleton), (&self.file, self.rig.skeleton()), BIND)
    }

    /// The layout's hash as text, part of the settings of every output that uses it.
    pub fn order(&self) -> String {
        format!("{:016x}", self.rig.skeleton().layout_hash())
    }
}

/// Output path of an input in a folder.
pub fn place(input: &Input, folder: &Path) -> PathBuf {
    folder.join(format!("{}.phx", input.place))
}

/// Bakes an input into a file of a folder, with the import's report; or skips it if that file is up to date.
pub fn bake(
    input: &Input,
    folder: &Path,
    settings: &Settings,
    layout: Option<&Layout>,
    progress: &Progress,
) -> Result<(FileSummary, Option<FileReport>), CliError> {
    let path = place(input, folder);
    remove_leftovers(&path);
    let order = layout.map_or_else(|| "own".to_owned(), Layout::order);
    let mut source = input.source(settings.import)?;
    source.settings = settings.text(&order);
    let sources = vec![source];
    if Settings::is_done(&path, &sources) {
        let skipped = FileSummary::skipped(&path, &Library::open(&path)?);
        return Ok((skipped, None));
    }
    let (raw, mut report) = input.reported(settings.up, settings.import)?;
    let animations = animations(&raw);
    let rig = match layout {
        None => input.rig_reporting(raw, settings.import, None, &mut report)?,
        Some(layout) => {
            // A lane order fits only an identical skeleton.
            layout.check(&input.name(), &input.skeleton(&raw)?)?;
            input.rig_reporting(raw, settings.import, Some(layout.lanes()), &mut report)?
        }
    };
    let names: Vec<String> = rig.clips().iter().map(|c| c.name().to_owned()).collect();
    let baked = clips((input, &names), (&animations, &rig), settings, progress)?;
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    write(&path, &rig, &baked, settings, sources)?;
    let missed = proportion::missed(settings, &input.name(), rig.skeleton(), &baked);
    let reports: Vec<_> = baked.into_iter().map(|b| b.report).collect();
    let mut made = FileSummary::made(&path, &Library::open(&path)?, &reports);
    made.notes = proportion::notes(settings, &input.name(), &rig);
    made.notes.extend(missed);
    Ok((made, Some(FileReport::new(&input.name(), &report))))
}

/// Creates an output folder if it does not exist.
pub fn make_folder(folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)
        .map_err(|source| CliError::Write { path: folder.display().to_string(), source })
}

/// The nodes and animations of a scene, which becomes a rig.
pub fn animations(raw: &RawScene) -> RawScene {
    RawScene { nodes: raw.nodes.clone(), clips: raw.clips.clone(), ..RawScene::default() }
}

/// Bakes the clips of a rig under other names. The error that is stated is the larger of the baker's, and that against
/// the animations of the file, which building has changed, too.
pub fn clips(
    (input, names): (&Input, &[String]),
    (animations, rig): (&RawScene, &Rig),
    settings: &Settings,
    progress: &Progress,
) -> Result<Vec<Baked>, CliError> {
    let file = input.name();
    let all = rig.clips().par_iter().zip(names).enumerate();
    let built = all.map(|(at, (clip, name))| {
        let mut baked = settings.build(clip, rig.skeleton(), name.clone(), &file)?;
        let error = settings.measure_source((animations, at), &baked.clip, rig, &file)?;
        baked.report.max = baked.report.max.max(error);
        progress.clip(&file, &baked.name, &baked.report);
        Ok(baked)
    });
    built.collect()
}

fn write(
    path: &Path,
    rig: &Rig,
    baked: &[Baked],
    settings: &Settings,
    sources: Vec<Source>,
) -> Result<(), CliError> {
    let origins = baked.iter().enumerate();
    let origins = origins.map(|(clip, b)| settings.origin(0, clip, b));
    let provenance = Settings::provenance(sources, origins.collect());
    let written = save(path, |out| {
        let mut writer = LibraryWriter::new(out, rig.skeleton())?;
        writer.add_rig(rig)?;
        for b in baked {
            writer.add_clip(&b.clip, &b.name, settings.form)?;
        }
        writer.finish(&provenance).map(|_| ())
    });
    written.map_err(|source: WriteError| match source {
        named @ WriteError::Save { .. } => named.into(),
        source => {
            BakeFault::Write { file: path.display().to_string(), source: Box::new(source) }.into()
        }
    })
}
