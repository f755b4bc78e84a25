//! All inputs, or a share of them, as one file.

use super::super::error::CliError;
use super::inputs::{self, Input};
use super::one::{self, Layout};
use super::progress::Progress;
use super::settings::{Baked, Settings};
use super::summary::{FileSummary, Summary};
use super::{BakeArgs, BakeFault, Shard};
use phalanx::format::{Library, LibraryWriter, Source, WriteError, hash_bytes, save};
use phalanx::offline::LaneScan;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Inputs that are in memory at once, per worker.
const AHEAD: usize = 4;

/// Bakes a library.
pub fn bake(args: &BakeArgs, settings: &Settings, all: &[Input]) -> Result<Summary, CliError> {
    let path = args
        .shard
        .map_or_else(|| args.out.clone(), |s| part(&args.out, s));
    let share = args.shard.map_or(all, |s| s.share(all));
    // The inputs of other shares count only where they decide the lane order.
    let needed = if args.layout.is_some() { share } else { all };
    let sources: Result<Vec<Source>, CliError> = needed.par_iter().map(Input::source).collect();
    let sources = sources?;
    let mut own = match args.shard.filter(|_| args.layout.is_none()) {
        Some(shard) => shard.share(&sources).to_vec(),
        None => sources.clone(),
    };
    let progress = Progress::new(share.len(), args.json);
    let mut order = order_name(&sources, args.layout.as_deref())?;
    let mut layout = None;
    if let Some(file) = &args.layout {
        let found = Layout::load(file, args.up)?;
        order = format!("{order}-{}", found.order());
        layout = Some(found);
    }
    for source in &mut own {
        source.settings = settings.text(&order);
    }
    if Settings::is_done(&path, &own) {
        progress.finish();
        let file = FileSummary::skipped(&path, &Library::open(&path)?);
        return Ok(Summary::new(vec![file], &progress));
    }
    let layout = match layout {
        Some(layout) => layout,
        None => scan(args, all)?,
    };
    let job = Job {
        settings,
        layout: &layout,
        lanes: layout.lanes(),
        prefix: args.prefix,
        progress: &progress,
    };
    let mut reports = Vec::new();
    let written = save(&path, |out| {
        let mut writer = LibraryWriter::new(out, layout.rig.skeleton()).map_err(at(&path))?;
        writer.add_rig(&layout.rig).map_err(at(&path))?;
        let mut origins = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        let ahead = AHEAD * rayon::current_num_threads();
        for (chunk, inputs) in share.chunks(ahead).enumerate() {
            let baked: Result<Vec<Vec<Baked>>, CliError> =
                inputs.par_iter().map(|i| job.input(i)).collect();
            for (place, clips) in baked?.into_iter().enumerate() {
                let source = chunk * ahead + place;
                for (clip, b) in clips.into_iter().enumerate() {
                    job.check_name(share, &mut seen, source, &b.name)?;
                    let added = writer.add_clip(&b.clip, &b.name, settings.form);
                    added.map_err(at(&path))?;
                    origins.push(settings.origin(source, clip, &b));
                    reports.push(b.report);
                }
            }
        }
        let provenance = Settings::provenance(own, origins);
        writer.finish(&provenance).map_err(at(&path))?;
        Ok::<(), CliError>(())
    });
    progress.finish();
    written?;
    let file = FileSummary::made(&path, &Library::open(&path)?, &reports);
    Ok(Summary::new(vec![file], &progress))
}

fn at(path: &Path) -> impl Fn(WriteError) -> CliError + '_ {
    move |source| {
        let file = path.display().to_string();
        BakeFault::Write {
            file,
            source: Box::new(source),
        }
        .into()
    }
}

/// What decides the lane order: the layout's file, or all inputs together.
fn order_name(sources: &[Source], layout: Option<&Path>) -> Result<String, CliError> {
    if let Some(path) = layout {
        let source = Input::new(path.to_owned()).source()?;
        return Ok(format!("layout-{:016x}", source.hash));
    }
    let hashes: Vec<u64> = sources.iter().map(|s| s.hash).collect();
    Ok(format!(
        "scan-{:016x}",
        hash_bytes(bytemuck::cast_slice(&hashes))
    ))
}

/// The part of a library that a share becomes.
fn part(out: &Path, shard: Shard) -> PathBuf {
    let Shard { index, of } = shard;
    out.with_extension(format!("part-{index}-of-{of}.phx"))
}

/// The first input's rig, in the lane order that serves the clips of all.
fn scan(args: &BakeArgs, all: &[Input]) -> Result<Layout, CliError> {
    let mut scan = LaneScan::default();
    let mut first = None;
    for input in all {
        let raw = input.raw(args.up)?;
        let file = input.name();
        let have = scan.add(&raw).map_err(|source| BakeFault::Build {
            file: file.clone(),
            source,
        })?;
        let (_, _, needed, first_file) = first.get_or_insert((input, raw, have, file.clone()));
        if have != *needed {
            let fault = BakeFault::Structure {
                file,
                first: first_file.clone(),
                have,
                needed: *needed,
            };
            return Err(fault.into());
        }
    }
    let Some((input, raw, _, file)) = first else {
        return Err(inputs::nothing(&args.files.join(" "), &inputs::BAKED).into());
    };
    let rig = input.rig(raw, Some(scan.order()))?;
    let rig = Arc::new(rig);
    Ok(Layout { file, rig })
}

struct Job<'a> {
    settings: &'a Settings,
    layout: &'a Layout,
    lanes: Vec<u16>,
    prefix: bool,
    progress: &'a Progress,
}

impl Job<'_> {
    fn input(&self, input: &Input) -> Result<Vec<Baked>, CliError> {
        let raw = input.raw(self.settings.up)?;
        let structure = LaneScan::default().add(&raw);
        let have = structure.map_err(|source| BakeFault::Build {
            file: input.name(),
            source,
        })?;
        let needed = self.layout.rig.skeleton().structure_hash();
        if have != needed {
            let fault = BakeFault::Structure {
                file: input.name(),
                first: self.layout.file.clone(),
                have,
                needed,
            };
            return Err(fault.into());
        }
        let rig = input.rig(raw, Some(self.lanes.clone()))?;
        let clips = one::clips(input, &rig, self.settings, self.prefix, self.progress)?;
        self.progress.file();
        Ok(clips)
    }

    /// Refuses a clip with the name of one of another input.
    fn check_name(
        &self,
        inputs: &[Input],
        seen: &mut HashMap<String, usize>,
        source: usize,
        name: &str,
    ) -> Result<(), BakeFault> {
        match seen.insert(name.to_owned(), source) {
            Some(other) if other != source => Err(BakeFault::SameClip {
                file: inputs[source].name(),
                clip: name.to_owned(),
                other: inputs[other].name(),
                advice: match self.prefix {
                    true => "",
                    false => "; --prefix names clips by their files",
                },
            }),
            _ => Ok(()),
        }
    }
}
