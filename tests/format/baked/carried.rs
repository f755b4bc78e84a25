//! Stated errors are bounds: points carried in f64 as the file animates them, against what baked clips show, at keys
//! and at any times between; over all models.

use super::Random;
use libtest_mimic::{Completion, Failed};
use phalanx::bake::{BakeOptions, bake, measure_source};
use phalanx::build::{BuildOptions, build_rig};
use phalanx::clip::Clip;
use phalanx::import::raw::{RawChannel, RawScene};
use phalanx::import::read_path;
use phalanx::import::{ImportOptions, ReportEntry};
use phalanx::math::{Affine3x4, Row};
use phalanx::rig::Rig;
use phalanx::runtime::LocalToModelJob;
use phalanx::skeleton::Skeleton;
use phalanx_testkit::oracle::Scene;
use phalanx_testkit::oracle::math::Mat4;
use phalanx_testkit::sample::sample;
use phalanx_testkit::{baked, carried, raw_pose, trials};
use std::path::{Path, PathBuf};

/// Files of the reports that need not be read: their numbers have a form, or their keys an order, that a reader may
/// refuse. Whoever reads them keeps the bound.
const MAY_BE_REFUSED: [&str; 2] = ["c06_component_type_only.gltf", "c10_dup_key.gltf"];
/// Rounding of what is measured: poses are sampled in f32 before they are compared in f64, relative to the model.
const SAMPLED: f64 = 1e-6;
/// What building may change beside the file's tracks, relative to the model.
const BUILT: f64 = 2e-5;

/// Random times of a clip at which it is compared.
const TIMES: usize = 100;
/// Key times of a clip at which it is compared, at most.
const KEYS: usize = 60;
/// Axes below this share of their greatest length in a clip count as that long, as the baker states.
const LEAST: f64 = 0.01;

/// The model matrices that a frame computes, in f32.
pub fn frame(clip: &Clip, skeleton: &Skeleton, time: f32) -> Result<Vec<Mat4>, Failed> {
    let mut models = vec![Affine3x4::IDENTITY; skeleton.len()];
    LocalToModelJob {
        skeleton,
        pose: &sample(clip, skeleton, time)?,
        locals: &mut vec![[Row::splat(0.0); 12]; skeleton.blocks()],
        output: &mut models,
    }
    .run()?;
    let wide = |m: &Affine3x4| m.to_cols_array().map(f64::from);
    Ok(models.iter().map(wide).collect())
}

/// Keys and times between them.
fn times(clip: &Clip) -> Vec<f64> {
    let keys = baked::times(clip, &[&[]]);
    let step = keys.len().div_ceil(KEYS);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut times: Vec<f64> = keys.into_iter().step_by(step).collect();
    for _ in 0..TIMES {
        let part = random.below(1 << 20) as f64 / f64::from(1 << 20);
        // A time that f32 holds, so that all evaluate the same.
        times.push(f64::from((part * f64::from(clip.duration())) as f32));
    }
    times
}

/// What a file says, evaluated in f64.
pub enum Source {
    /// By the oracle, which reads the file by itself.
    Oracle(Scene),
    /// From the tracks that the importer has read: .bvh files, and extensions that the oracle does not know.
    Tracks(Box<RawScene>),
}

impl Source {
    fn new(path: &Path, raw: &RawScene) -> Self {
        match Scene::load(path) {
            Ok(scene) => Self::Oracle(scene),
            Err(_) => {
                let mut raw = raw.clone();
                // Only nodes are compared.
                raw.nodes.iter_mut().for_each(|n| n.mesh = None);
                raw.skins.clear();
                Self::Tracks(raw.into())
            }
        }
    }

    fn clips(&self) -> usize {
        match self {
            Self::Oracle(scene) => scene.clips.len(),
            Self::Tracks(raw) => raw.clips.len(),
        }
    }

    /// The position here of a node of the file.
    fn node(&self, source: usize) -> Option<usize> {
        match self {
            Self::Oracle(_) => Some(source),
            Self::Tracks(raw) => raw.nodes.iter().position(|n| n.source == source),
        }
    }

    /// World matrices of all nodes.
    fn world(&self, clip: usize, time: f64) -> Vec<Mat4> {
        match self {
            Self::Oracle(scene) => carried::file(scene, clip, time),
            Self::Tracks(raw) => {
                let rows = raw_pose::evaluate(raw, Some(clip), time).world;
                let columns = |m: raw_pose::Matrix| std::array::from_fn(|i| m[i % 4][i / 4]);
                rows.into_iter().map(columns).collect()
            }
        }
    }
}

/// The largest error on the axes and all around, of keys in f64 and of frames in f32.
#[derive(Default)]
pub struct Found {
    /// On the axes, of keys in f64.
    pub keys: f64,
    /// On the axes, of both.
    pub axes: f64,
    /// In all directions, of both.
    pub around: f64,
    /// How far a joint is from the origin.
    pub size: f64,
}

/// Carries the points of all joints as the file's animation and as a clip move them.
pub fn found(
    (source, at): (&Source, usize),
    clip: &Clip,
    rig: &Rig,
    shell: f64,
) -> Result<Found, Failed> {
    let skeleton = rig.skeleton();
    let joints = rig.nodes().iter();
    let joints: Vec<(usize, usize)> =
        joints.filter_map(|n| Some((usize::from(n.joint?), source.node(n.source)?))).collect();
    if joints.len() != skeleton.len() {
        return Err(format!("{} of {} joints are nodes", joints.len(), skeleton.len()).into());
    }
    let times = times(clip);
    let wanted: Vec<Vec<Mat4>> = times.iter().map(|&t| source.world(at, t)).collect();
    let mut least = vec![[0.0f64; 3]; wanted[0].len()];
    for (node, least) in least.iter_mut().enumerate() {
        for (axis, least) in least.iter_mut().enumerate() {
            let length = |m: &Vec<Mat4>| (0..3).map(|r| m[node][axis * 4 + r].powi(2)).sum::<f64>();
            *least = LEAST * wanted.iter().map(length).fold(0.0, f64::max).sqrt();
        }
    }
    let mut found = Found::default();
    for (wanted, &t) in wanted.iter().zip(&times) {
        let exact = baked::models(clip, skeleton, t);
        let frame = frame(clip, skeleton, t as f32)?;
        for &(joint, node) in &joints {
            let apart =
                |shown: &[Mat4]| carried::apart(&wanted[node], &shown[joint], shell, least[node]);
            let (keys, frames) = (apart(&exact), apart(&frame));
            let place = &wanted[node][12..15];
            let far = place.iter().map(|v| v * v).sum::<f64>().sqrt();
            found.keys = found.keys.max(keys[0]);
            found.axes = found.axes.max(keys[0]).max(frames[0]);
            found.around = found.around.max(keys[1]).max(frames[1]);
            found.size = found.size.max(far);
        }
    }
    Ok(found)
}

fn read(path: &Path) -> Result<(RawScene, Vec<ReportEntry>), String> {
    read_path(path, &ImportOptions::default()).map_err(|e| e.to_string())
}

/// Every clip of a file: at no time more than the report states.
pub fn model(path: &Path) -> Result<(), Failed> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let raw = match read(path) {
        Ok((raw, _)) => raw,
        Err(error) if MAY_BE_REFUSED.contains(&&*name) => {
            println!("refused: {error}");
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    };
    let source = Source::new(path, &raw);
    let rig = build_rig(raw.clone(), &BuildOptions::default())?;
    let scene = raw;
    if rig.clips().len() != source.clips() {
        return Err(format!("{} clips of {}", rig.clips().len(), source.clips()).into());
    }
    let by = match source {
        Source::Oracle(_) => "oracle",
        Source::Tracks(_) => "tracks",
    };
    let mut worst = String::new();
    for (at, raw) in rig.clips().iter().enumerate() {
        let settings = BakeOptions::default();
        let (built, report) = bake(raw, rig.skeleton(), &settings)?;
        let found = found((&source, at), &built, &rig, settings.shell.into())?;
        let against = measure_source((&scene, at), &built, &rig, &settings)?;
        let against = f64::from(against);
        let (measured, stated) = (f64::from(report.measured), f64::from(report.max));
        println!(
            "{name} {} ({by}): measured {measured:.3e} states {stated:.3e} keys {:.3e} ({:+.2}%) found {:.3e} around \
             {:.3e}, rounding {:.2e} of {:.3e}, {} of {} bytes",
            raw.name(),
            found.keys,
            (found.keys / measured - 1.0) * 100.0,
            found.axes,
            found.around,
            stated - 1.02 * measured,
            found.size,
            built.bytes(),
            raw.bytes()
        );
        // The same is found against the tracks, by the library.
        if found.axes > against || against > stated + BUILT * found.size {
            worst += &format!(
                "{}: {} found, {against} against the tracks, {stated} stated\n",
                raw.name(),
                found.axes
            );
        }
        if found.axes > stated {
            worst += &format!("{}: {} found, {stated} stated\n", raw.name(), found.axes);
        }
        // The allowance for times between those measured is kept by itself.
        if found.keys > 1.02 * measured + SAMPLED * (found.size + f64::from(settings.shell)) {
            worst += &format!("{}: {} found, {measured} measured\n", raw.name(), found.keys);
        }
    }
    match worst.is_empty() {
        true => Ok(()),
        false => Err(worst.into()),
    }
}

/// All models with animations among the shared ones, and all files of the reports.
pub fn files() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in folders().into_iter().flatten() {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        let paths = entries.filter_map(|e| Some(e.ok()?.path()));
        let read = |p: &PathBuf| {
            let ending = p.extension();
            ending.is_some_and(|e| e == "glb" || e == "gltf" || e == "vrm" || e == "bvh")
        };
        files.extend(paths.filter(read));
    }
    files.sort();
    files
}

/// The folders of models and of reports, if they are there.
fn folders() -> [Option<PathBuf>; 2] {
    let models = trials::asset_folders().into_iter().find(|f| f.is_dir());
    let reports = models.as_ref().map(|f| f.join("../reports"));
    [models, reports.filter(|f| f.is_dir())]
}

/// Nothing is left out without a word.
pub fn complete() -> Result<Completion, Failed> {
    match folders() {
        [Some(_), Some(_)] => Ok(Completion::Completed),
        _ if trials::assets_required() => Err("no folder of models, or none of reports".into()),
        _ => Ok(Completion::ignored_with("no folder of models, or none of reports")),
    }
}

/// A clip is measured against the file that is given, not against what was built from another.
pub fn other_curves() -> Result<(), Failed> {
    let (scene, _) = read_path(&trials::needed("mannequin.glb")?, &ImportOptions::default())?;
    let rig = build_rig(scene.clone(), &BuildOptions::default())?;
    let (clip, settings) = (&rig.clips()[1], BakeOptions::default());
    let same = measure_source((&scene, 1), clip, &rig, &settings)?;
    assert!(same < 1e-5, "{same}");
    for (channel, change, wanted) in [
        (RawChannel::Translation, 0.002, 0.002..0.0021),
        // An angle of 0.02 radians at a shell of 3 cm, at least.
        (RawChannel::Rotation, 0.01, 0.0003..0.1),
    ] {
        let mut other = scene.clone();
        let tracks = other.clips[1].tracks.iter_mut();
        let track = tracks.filter(|t| t.channel == channel).max_by_key(|t| t.times.len());
        let track = track.ok_or("no track")?;
        let width = track.values.len() / track.times.len();
        let middle = track.times.len() / 2 * width;
        track.values[middle] += change;
        let error = measure_source((&other, 1), clip, &rig, &settings)?;
        assert!(wanted.contains(&error), "{channel}: {error}");
    }
    assert!(measure_source((&scene, 99), clip, &rig, &settings).is_err());
    Ok(())
}
