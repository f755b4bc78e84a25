//! Bakes all inputs, or one share of them, into one file.

use super::super::binding::BindingArgs;
use super::super::clip_names::{TakenNames, renamed};
use super::super::clips::ClipFile;
use super::super::error::CliError;
use super::super::findings::FileReport;
use super::super::import_args::ImportArgs;
use super::super::output;
use super::discover;
use super::inputs::{self, Input};
use super::one::{self, BIND, Layout};
use super::progress::Progress;
use super::proportion;
use super::settings::{Baked, Settings};
use super::summary::{FileSummary, Summary};
use super::{BakeArgs, BakeFault, Faults, Shard};
use phalanx::build::LaneScan;
use phalanx::clip::Clip;
use phalanx::format::{
    Library, LibraryWriter, Source, WriteError, hash_bytes, remove_leftovers, save,
};
use phalanx::import::raw::RawScene;
use phalanx::skeleton::{Skeleton, SkeletonMismatch};
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Inputs held in memory at once, per worker.
const AHEAD: usize = 4;

/// Bakes a library of all inputs. Any fault fails the whole library; faults of all inputs are collected.
pub fn bake(
    args: &BakeArgs,
    settings: &Settings,
    all: &[Input],
    mut faults: Faults,
) -> Result<Summary, CliError> {
    let path = place(args);
    remove_leftovers(&path);
    let range = args.shard.map_or(0..all.len(), |s| s.range(all.len()));
    let share = &all[range.clone()];
    // Inputs of other shares are needed only if they determine the lane order, or names of bound clips.
    let bound = all.iter().any(|input| input.bound);
    let needed = match args.layout.is_some() && !bound {
        true => share,
        false => all,
    };
    let read: Vec<_> = needed.par_iter().map(|i| i.source(args.import)).collect();
    let read = needed.iter().zip(read);
    // With faults the list is shorter than the inputs; nothing is written in that case.
    let sources: Vec<Source> = read.filter_map(|(i, s)| faults.sift(i, s)).collect();
    let mut own = match args.shard.filter(|_| needed.len() == all.len()) {
        Some(shard) => shard.share(&sources).to_vec(),
        None => sources.clone(),
    };
    let mut imports = Vec::new();
    let progress = Progress::new(share.len(), args.json, faults.events());
    let mut order = order_name(&sources, args.layout.as_deref(), args.import)?;
    let mut layout = None;
    if let Some(file) = &args.layout {
        let mut report = Vec::new();
        let found = Layout::load(file, args.up, args.import, &mut report)?;
        imports.push(FileReport::new(&found.file, &report));
        order = format!("{order}-{}", found.order());
        if bound && args.shard.is_some() {
            order = format!("{order}-{}", order_name(&sources, None, args.import)?);
        }
        layout = Some(found);
    }
    // Without faults there is a source per input.
    let owners = if own.len() == share.len() { share } else { all };
    for (source, input) in own.iter_mut().zip(owners) {
        source.settings = match input.bound {
            true => settings.text_bound(&order),
            false => settings.text(&order),
        };
    }
    if faults.is_empty() && Settings::is_done(&path, &own) {
        progress.finish();
        let file = FileSummary::skipped(&path, &Library::open(&path)?);
        return Ok(Summary::new(vec![file], &progress));
    }
    let Some(layout) = layout.or_else(|| scan(args, all, &mut faults)) else {
        faults.none()?;
        return Err(discover::nothing(&args.files.join(" "), &inputs::BAKED).into());
    };
    settings.check(layout.rig.skeleton(), &layout.file)?;
    let job = Job {
        settings,
        layout: &layout,
        lanes: layout.lanes(),
        prefix: args.prefix,
        several: all.iter().filter(|input| !input.bound).count() > 1,
        progress: &progress,
        notes: Mutex::default(),
    };
    // Clips of the share may have the names of clips before it.
    let before = match share.iter().any(|input| input.bound) {
        true => range.start,
        false => 0,
    };
    let inputs = (&all[range.start - before..range.end], before);
    if !faults.is_empty() {
        job.all(inputs, &mut faults, |_, _, _| Ok(()))?;
        progress.finish();
        faults.none()?;
    }
    let mut reports = Vec::new();
    let written = save(&path, |out| {
        let mut writer = LibraryWriter::new(out, layout.rig.skeleton()).map_err(at(&path))?;
        writer.add_rig(&layout.rig).map_err(at(&path))?;
        let mut origins = Vec::new();
        let read = job.all(inputs, &mut faults, |source, clip, b| {
            let added = writer.add_clip(&b.clip, &b.name, settings.form);
            added.map_err(at(&path))?;
            origins.push(settings.origin(source, clip, &b));
            reports.push(b.report);
            Ok(())
        })?;
        // The layout may be one of the inputs.
        let layout = imports.first().map(|layout| layout.file.clone());
        imports.extend(read.into_iter().filter(|r| Some(&r.file) != layout.as_ref()));
        faults.none()?;
        let provenance = Settings::provenance(own, origins);
        writer.finish(&provenance).map_err(at(&path))?;
        Ok::<(), CliError>(())
    });
    progress.finish();
    for line in job.notes.into_inner().unwrap_or_default() {
        output::tell(&line);
    }
    written?;
    let mut file = FileSummary::made(&path, &Library::open(&path)?, &reports);
    file.notes = proportion::notes(settings, &layout.file, &layout.rig);
    let summary = Summary::new(vec![file], &progress);
    Ok(Summary { imports, ..summary })
}

fn at(path: &Path) -> impl Fn(WriteError) -> CliError + '_ {
    move |source| {
        let file = path.display().to_string();
        BakeFault::Write { file, source: Box::new(source) }.into()
    }
}

/// Identifies what determines the lane order: the layout's file, or all inputs together.
fn order_name(
    sources: &[Source],
    layout: Option<&Path>,
    import: ImportArgs,
) -> Result<String, CliError> {
    if let Some(path) = layout {
        let source = Input::new(path.to_owned()).source(import)?;
        return Ok(format!("layout-{:016x}", source.hash));
    }
    let hashes: Vec<u64> = sources.iter().map(|s| s.hash).collect();
    Ok(format!("scan-{:016x}", hash_bytes(bytemuck::cast_slice(&hashes))))
}

/// Output path of a library, or of one part of it.
pub fn place(args: &BakeArgs) -> PathBuf {
    match args.shard {
        None => args.out.clone(),
        Some(shard) => part(&args.out, shard),
    }
}

/// Path of the part that a share is written to.
fn part(out: &Path, shard: Shard) -> PathBuf {
    let Shard { index, of } = shard;
    out.with_extension(format!("part-{index}-of-{of}.phx"))
}

/// The first input's rig, in the lane order that suits the clips of all inputs; `None` if no input can
/// be read.
fn scan(args: &BakeArgs, all: &[Input], faults: &mut Faults) -> Option<Layout> {
    let mut scan = LaneScan::default();
    let mut first: Option<(&Input, RawScene, Skeleton)> = None;
    for input in all {
        if faults.has(input) {
            continue;
        }
        if input.bound {
            if let Some((.., skeleton)) = &first {
                let read = scan_bound(args, args.clips.binding, input, skeleton, &mut scan);
                faults.sift(input, read);
            }
            continue;
        }
        let read = input.raw(args.up, args.import).and_then(|raw| {
            let skeleton = input.skeleton(&raw)?;
            scan.add(&raw).map_err(|source| BakeFault::Build {
                file: input.name(),
                source: Box::new(source),
            })?;
            Ok((raw, skeleton))
        });
        let Some((raw, skeleton)) = faults.sift(input, read) else {
            continue;
        };
        match &first {
            None => first = Some((input, raw, skeleton)),
            Some((first, _, needed)) => {
                let (file, first) = (input.name(), first.name());
                let same = match is_in_another_order(&skeleton, needed) {
                    true => scan_bound(args, BindingArgs::default(), input, needed, &mut scan),
                    false => BakeFault::same_skeleton((&file, &skeleton), (&first, needed), BIND)
                        .map_err(CliError::from),
                };
                faults.sift(input, same);
            }
        }
    }
    let (input, raw, _) = first?;
    let rig = faults.sift(input, input.rig(raw, args.import, Some(scan.order())))?;
    Some(Layout { file: input.name(), rig: Arc::new(rig) })
}

/// Whether a skeleton has the needed joints in another order, as exports do. Its clips are then laid out again.
fn is_in_another_order(skeleton: &Skeleton, needed: &Skeleton) -> bool {
    skeleton.mismatch(needed) == Some(SkeletonMismatch::JointOrder)
}

/// Adds the clips of an input, bound to the skeleton of the first one.
fn scan_bound(
    args: &BakeArgs,
    binding: BindingArgs,
    input: &Input,
    skeleton: &Skeleton,
    scan: &mut LaneScan,
) -> Result<(), CliError> {
    let (clips, _) = ClipFile::read(&input.path, args.up, args.import)?.bind(skeleton, binding)?;
    for clip in &clips {
        scan.add_clip(clip);
    }
    Ok(())
}

struct Job<'a> {
    settings: &'a Settings,
    layout: &'a Layout,
    lanes: Vec<u16>,
    prefix: bool,
    /// Whether there are several inputs that are not bound.
    several: bool,
    progress: &'a Progress,
    /// Changes made by binding, one line each, in the order of the inputs.
    notes: Mutex<Vec<String>>,
}

/// The names of a library's clips.
#[derive(Default)]
struct Seen {
    /// The input of every name.
    inputs: HashMap<String, usize>,
    names: TakenNames,
}

/// Clips of one input.
struct Made {
    names: Vec<String>,
    /// Empty if a fault has already been found.
    baked: Vec<Baked>,
    /// Changes made by binding, one line each.
    notes: Vec<String>,
    /// Report of the import; `None` for an input of which only the names are needed.
    import: Option<FileReport>,
}

impl Job<'_> {
    /// Bakes inputs and passes their clips to `add`, in order, with the index of the input. Of the first `before`
    /// inputs only the names are read. After the first fault no clip is passed on, and the other inputs are read only
    /// to find their faults. Returns the import reports.
    fn all(
        &self,
        (inputs, before): (&[Input], usize),
        faults: &mut Faults,
        mut add: impl FnMut(usize, usize, Baked) -> Result<(), CliError>,
    ) -> Result<Vec<FileReport>, CliError> {
        let mut seen = Seen::default();
        let mut imports = Vec::new();
        let ahead = AHEAD * rayon::current_num_threads();
        for (chunk, some) in inputs.chunks(ahead).enumerate() {
            let known = &*faults;
            let make = |(place, input): (usize, &Input)| {
                let named = chunk * ahead + place < before;
                (!known.has(input)).then(|| match named {
                    true => self.named(input),
                    false => self.input(input, known),
                })
            };
            let made: Vec<_> = some.par_iter().enumerate().map(make).collect();
            for (place, made) in made.into_iter().enumerate() {
                let source = chunk * ahead + place;
                let made = made.and_then(|made| faults.sift(&inputs[source], made));
                let Some(mut made) = made else {
                    continue;
                };
                let names = self.take_names(inputs, &mut seen, source, &mut made);
                let names = faults.sift(&inputs[source], names);
                let Some(own) = source.checked_sub(before) else {
                    continue;
                };
                self.note(made.notes);
                self.note(names.into_iter().flatten());
                imports.extend(made.import);
                if !faults.is_empty() {
                    continue;
                }
                for (clip, baked) in made.baked.into_iter().enumerate() {
                    add(own, clip, baked)?;
                }
            }
        }
        Ok(imports)
    }

    /// The names of an input's clips alone.
    fn named(&self, input: &Input) -> Result<Made, CliError> {
        let (up, import) = (self.settings.up, self.settings.import);
        let names = match input.bound {
            true => {
                let read = ClipFile::read(&input.path, up, import)?;
                let clips = read.clips.iter();
                let name = |clip: &Arc<Clip>| inputs::clip_name(input, clip.name(), self.prefix);
                clips.map(name).collect()
            }
            false => {
                let raw = input.raw(up, import)?;
                let clips = raw.clips.iter();
                let clips = clips.map(|clip| clip.name.as_deref().unwrap_or_default());
                self.names(input, &clips.collect::<Vec<&str>>())
            }
        };
        Ok(Made { names, baked: Vec::new(), notes: Vec::new(), import: None })
    }

    /// The names of clips that are not bound.
    fn names(&self, input: &Input, clips: &[&str]) -> Vec<String> {
        match self.several {
            true => inputs::clip_names(input, clips, self.prefix),
            false => {
                let clips = clips.iter();
                clips.map(|clip| inputs::clip_name(input, clip, self.prefix)).collect()
            }
        }
    }

    /// The clips of an input, bound to the library's skeleton, or laid out for it.
    fn bound(&self, input: &Input, faults: &Faults) -> Result<Made, CliError> {
        let skeleton = self.layout.rig.skeleton();
        let read = ClipFile::read(&input.path, self.settings.up, self.settings.import)?;
        let binding = match input.bound {
            true => self.settings.binding,
            false => BindingArgs::default(),
        };
        let (clips, bound) = read.lay_out(skeleton, binding)?;
        let names = clips.iter().map(Clip::name);
        let names: Vec<String> = match input.bound {
            true => names.map(|name| inputs::clip_name(input, name, self.prefix)).collect(),
            false => self.names(input, &names.collect::<Vec<_>>()),
        };
        let mut baked = Vec::new();
        if faults.is_empty() {
            let file = input.name();
            let all = clips.par_iter().zip(&names).enumerate();
            let all = all.map(|(at, (clip, name))| {
                let mut made = self.settings.build(clip, skeleton, name.clone(), &file)?;
                // The error is that against the file's clip, as binding changes it, too.
                let off = read.distance(&bound, at, &made.clip, made.shell)?;
                made.report.max = made.report.max.max(off);
                self.progress.clip(&file, &made.name, &made.report);
                Ok(made)
            });
            baked = all.collect::<Result<Vec<Baked>, CliError>>()?;
        }
        self.progress.file();
        let missed = proportion::missed(self.settings, &input.name(), skeleton, &baked);
        Ok(Made {
            names,
            baked,
            notes: bound.lines().into_iter().chain(missed).collect(),
            // The lines are the import report.
            import: Some(FileReport::quiet(&input.name(), &read.report)),
        })
    }

    /// Adds to what is printed when the bake is done.
    fn note(&self, lines: impl IntoIterator<Item = String>) {
        if let Ok(mut notes) = self.notes.lock() {
            notes.extend(lines);
        }
    }

    fn input(&self, input: &Input, faults: &Faults) -> Result<Made, CliError> {
        if input.bound {
            return self.bound(input, faults);
        }
        let (raw, mut report) = input.reported(self.settings.up, self.settings.import)?;
        let skeleton = input.skeleton(&raw)?;
        if is_in_another_order(&skeleton, self.layout.rig.skeleton()) {
            return self.bound(input, faults);
        }
        self.layout.check(&input.name(), &skeleton)?;
        let animations = one::animations(&raw);
        let rig = input.rig_reporting(
            raw,
            self.settings.import,
            Some(self.lanes.clone()),
            &mut report,
        )?;
        let clips: Vec<&str> = rig.clips().iter().map(|clip| clip.name()).collect();
        let names = self.names(input, &clips);
        let baked = match faults.is_empty() {
            true => one::clips((input, &names), (&animations, &rig), self.settings, self.progress)?,
            false => Vec::new(),
        };
        self.progress.file();
        let missed = proportion::missed(self.settings, &input.name(), rig.skeleton(), &baked);
        Ok(Made {
            names,
            baked,
            notes: missed.into_iter().collect(),
            import: Some(FileReport::new(&input.name(), &report)),
        })
    }

    /// Takes the names of an input's clips. A bound clip whose name is that of another input's clip gets another one,
    /// of which a line says so.
    ///
    /// # Errors
    /// If a clip that is not bound has the name of a clip of another input.
    fn take_names(
        &self,
        inputs: &[Input],
        seen: &mut Seen,
        source: usize,
        made: &mut Made,
    ) -> Result<Vec<String>, CliError> {
        let input = &inputs[source];
        let mut notes = Vec::new();
        for (clip, name) in made.names.iter().enumerate() {
            let other = *seen.inputs.entry(name.clone()).or_insert(source);
            if other == source {
                seen.names.take(name);
                continue;
            }
            if !input.bound {
                let fault = BakeFault::SameClip {
                    file: input.name(),
                    clip: name.clone(),
                    other: inputs[other].name(),
                    advice: match self.prefix {
                        true => "",
                        false => "; use --prefix to put the file's name before each clip's",
                    },
                };
                return Err(fault.into());
            }
            let new = seen.names.take_other(&input.path, name);
            seen.inputs.insert(new.clone(), source);
            notes.push(format!("{}: {}", input.name(), renamed(name, &new)));
            if let Some(baked) = made.baked.get_mut(clip) {
                baked.name = new;
            }
        }
        Ok(notes)
    }
}
