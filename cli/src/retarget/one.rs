//! One input onto the character, and the file that is written.

use super::super::bake::{BakeFault, Found, Input, Settings};
use super::super::error::CliError;
use super::super::findings::FileReport;
use super::applied::Applied;
use super::character::Character;
use super::map_file::MapFile;
use super::summary::{ClipSummary, FileSummary};
use super::{RetargetArgs, clips};
use indicatif::ProgressBar;
use phalanx::clip::Clip;
use phalanx::format::{ClipForm, LibraryWriter, Source, WriteError, save};
use phalanx::import::clip_name_from_file;
use phalanx::retarget::{RetargetOptions, RetargetReport, Retargeting};
use phalanx::rig::Rig;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The settings shared by all inputs.
pub struct Job<'a> {
    pub args: &'a RetargetArgs,
    /// The map of every input, if it is given.
    pub map: Option<&'a MapFile>,
    /// The character; each input's own if there is none.
    pub onto: Option<&'a Character>,
    pub options: RetargetOptions,
}

/// The clips of one input on the character.
pub struct Made {
    /// The input.
    file: String,
    path: PathBuf,
    /// Whether the file has one clip.
    only: bool,
    rig: Arc<Rig>,
    /// The import's report.
    pub import: FileReport,
    source: Source,
    applied: Applied,
    clips: Vec<(String, Clip, RetargetReport)>,
}

impl Job<'_> {
    /// Loads an input and retargets its clips.
    pub fn input(&self, found: &Found, bar: &ProgressBar) -> Result<Made, CliError> {
        let made = self.retarget(found);
        bar.inc(1);
        made
    }

    fn retarget(&self, found: &Found) -> Result<Made, CliError> {
        let from = match self.onto {
            // Its meshes are written.
            None => Character::to_write(&found.path, self.map, self.args.import)?,
            Some(_) => Character::new(&found.path, self.map, self.args.import)?,
        };
        let onto = self.onto.unwrap_or(&from);
        let wanted = clips(&from.model, &self.args.clip)?;
        let poses = [
            from.reference(self.args.reference.as_ref(), "source")?,
            onto.reference(self.args.onto_reference.as_ref(), "target")?,
        ];
        let [source_reference, target_reference] =
            [&poses[0], &poses[1]].map(|p| p.reference.clone());
        let options =
            RetargetOptions { source_reference, target_reference, ..self.options.clone() };
        let applied = Applied::new(self.args, &options, (&from, onto), &poses);
        // Either of them may be the cause.
        let file = match from.model.file == onto.model.file {
            true => from.model.file.clone(),
            false => format!("{} onto {}", from.model.file, onto.model.file),
        };
        let refused = |source| CliError::retarget(file.clone(), source);
        let (source, target) = (&from.model.rig, &onto.model.rig);
        let sides = ((source.skeleton(), &from.map), (target.skeleton(), &onto.map));
        let ready = Retargeting::new(sides.0, sides.1, options).map_err(refused)?;
        let clip = |clip: usize| {
            let (clip, report) = ready.retarget(&source.clips()[clip]).map_err(refused)?;
            Ok((clip.name().to_owned(), clip, report))
        };
        let made = wanted.into_iter().map(clip).collect::<Result<Vec<_>, CliError>>()?;
        let mut origin = Input::new(found.path.clone()).source(self.args.import)?;
        origin.settings = format!("retarget {}", applied.text());
        Ok(Made {
            file: from.model.file.clone(),
            path: found.path.clone(),
            only: source.clips().len() == 1,
            rig: target.clone(),
            import: from.import(),
            source: origin,
            applied,
            clips: made,
        })
    }

    /// Writes the character with the clips of inputs.
    pub fn write(&self, path: &Path, all: Vec<Made>) -> Result<FileSummary, CliError> {
        let rig = match all.first() {
            Some(first) => first.rig.clone(),
            None => return Ok(FileSummary::default()),
        };
        // In the file of an input's own character the clips have one skeleton; of several inputs they have not.
        for made in &all {
            if let Some(mismatch) = made.rig.skeleton().mismatch(rig.skeleton()) {
                return Err(CliError::Skeletons {
                    file: made.file.clone(),
                    first: all[0].file.clone(),
                    mismatch,
                });
            }
        }
        let sources = all.iter().map(|m| m.source.clone()).collect();
        // Without errors per clip: the clips were not measured against their sources.
        let provenance = Settings::provenance(sources, Vec::new());
        let file = path.display().to_string();
        let written = save(path, |out| {
            let mut writer = LibraryWriter::new(out, rig.skeleton())?;
            writer.add_rig(&rig)?;
            for (name, clip, _) in all.iter().flat_map(|m| &m.clips) {
                writer.add_clip(clip, name, ClipForm::default())?;
            }
            writer.finish(&provenance).map(|_| ())
        });
        written.map_err(|source: WriteError| match source {
            named @ WriteError::Save { .. } => CliError::from(named),
            source => BakeFault::Write { file: file.clone(), source: Box::new(source) }.into(),
        })?;
        let bytes = std::fs::metadata(path).map_or(0, |m| m.len());
        let clips = all.iter().flat_map(|m| {
            m.clips.iter().map(|(name, clip, report)| {
                ClipSummary::new((&m.source.name, name), clip, &m.applied, report)
            })
        });
        Ok(FileSummary { file, bytes, clips: clips.collect() })
    }
}

/// Gives the only clip of an input the file's name if its own says nothing, and names clips that several inputs have
/// `INPUT/CLIP`.
pub fn name_apart(all: &mut [Made]) {
    if all.len() < 2 {
        return;
    }
    for made in all.iter_mut().filter(|made| made.only) {
        for (name, _, _) in &mut made.clips {
            *name = clip_name_from_file(&made.path, name).into_owned();
        }
    }
    let mut counts: HashMap<String, HashSet<usize>> = HashMap::new();
    for (input, made) in all.iter().enumerate() {
        for (name, _, _) in &made.clips {
            counts.entry(name.clone()).or_default().insert(input);
        }
    }
    for made in all {
        let stem = made.path.file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy().into_owned();
        for (name, _, _) in &mut made.clips {
            if counts.get(name).is_some_and(|inputs| inputs.len() > 1) {
                *name = match name.is_empty() {
                    true => stem.clone(),
                    false => format!("{stem}/{name}"),
                };
            }
        }
    }
}
