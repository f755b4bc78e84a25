//! `phalanx crowd --plaza`: a crowd all around the camera, with tiers.

use super::super::error::CliError;
use super::super::frame_renderer::{FrameRenderer, Shot};
use super::super::model::Model;
use super::super::output::{self, Output};
use super::super::{memory, png, text};
use super::figures::{PictureFigures, header};
use super::tiers_file::{self, BudgetArg};
use super::{CrowdArgs, cast, picture};
use glam::Vec3;
use phalanx::crowd::{BoneBuffer, BudgetController, ControllerOptions, TierFrame, Tiers};
use phalanx::rig::{Detail, Rig};
use phalanx::simd::SimdLevel;
use phalanx_render::{Camera, DrawDetail, DrawInstance, DrawModel, Look, PictureSize, RigShape};
use phalanx_workload::plaza::{self, Plaza, PlazaError, PlazaTimes};
use serde::Serialize;
use std::sync::Arc;
use std::time::Instant;

/// Frames before the measured ones: shared palettes are evaluated when they are first needed.
const WARM_UP: u32 = 240;

/// Bytes of a character's state and its place in a picture, with room for arrays that grow.
const STATE_BYTES: u64 = 600;
/// Characters of a plaza, as one in so many, that may have palettes of their own in a picture.
const OWN_PALETTES: u64 = 8;

impl From<PlazaError> for CliError {
    fn from(error: PlazaError) -> Self {
        match error {
            PlazaError::Crowd(error) => Self::Crowd(error),
            other => Self::Tiers(other.to_string()),
        }
    }
}

/// The document that `--json` writes.
#[derive(Debug, Serialize)]
struct Figures {
    version: &'static str,
    model: String,
    characters: usize,
    in_picture: usize,
    simd: &'static str,
    frames: u32,
    warm_up_frames: u32,
    /// False with `--full`: everybody is evaluated in every frame.
    tiers: bool,
    budget: Option<String>,
    runs: Vec<Run>,
    /// Of the last run, mean of its frames.
    by_tier: Vec<TierRow>,
    shared_palettes: usize,
    picture: Option<PictureFigures>,
}

/// Medians of one number of threads, in nanoseconds.
#[derive(Debug, Serialize)]
struct Run {
    threads: usize,
    median_ns: f64,
    p99_ns: f64,
    worst_ns: f64,
    advance_ns: f64,
    schedule_ns: f64,
    evaluate_ns: f64,
    evaluated_per_frame: f64,
}

/// A tier.
#[derive(Debug, Serialize)]
struct TierRow {
    tier: String,
    height: f32,
    rate: u8,
    interpolate: bool,
    sharing: String,
    detail: String,
    characters: usize,
    shared: usize,
    evaluated_per_frame: f64,
    held: usize,
    waiting: usize,
    oldest: u32,
    /// Summed over the workers.
    ns_per_frame: f64,
}

/// Whether the options ask for a plaza.
pub fn is_asked(args: &CrowdArgs) -> bool {
    args.plaza || args.full || args.details || args.tiers.is_some() || args.budget.is_some()
}

/// The median, the 99th percentile and the largest.
fn spread(mut all: Vec<f64>) -> [f64; 3] {
    all.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let place = (share * all.len() as f64).ceil() as usize;
        all.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
    };
    [at(0.5), at(0.99), at(1.0)]
}

/// Simulates, draws and prints.
pub fn run(
    args: &CrowdArgs,
    model: &Model,
    (picture_file, json_file): (Output, Option<Output>),
) -> Result<(), CliError> {
    let rig = &model.rig;
    let tiers = match &args.tiers {
        Some(file) => tiers_file::read(file)?,
        None => Tiers::default(),
    };
    let tiers = match args.details {
        true => tiers.with_levels(&picture::DETAIL_PIXELS),
        false => tiers,
    };
    let rows = rig.palette_len() as u64 * 48;
    let each = match args.full {
        true => 2 * rows + STATE_BYTES,
        false => rows / OWN_PALETTES + STATE_BYTES,
    };
    let count = memory::check(args.count, each)?;
    let choice = cast::choose_clips(model)?;
    let full = args.full;
    let make = || {
        Plaza::new(
            rig.clone(),
            &choice.clips,
            count,
            (!full).then(|| tiers.clone()),
        )
    };
    let threads = args
        .threads
        .map_or_else(super::available_threads, usize::from);
    let mut list = vec![threads];
    if threads > 1 {
        list.push(1);
    }
    let progress = super::measure::progress(args.frames + WARM_UP, list.len() as u64);
    let mut runs = Vec::new();
    let mut last = None;
    let mut all = TierFrame::default();
    for &threads in list.iter().rev() {
        let mut scene = make()?;
        let (run, frame) = measure(args, threads, &mut scene, &progress)?;
        all = frame;
        runs.insert(0, run);
        last = Some(scene);
    }
    progress.finish_and_clear();
    let Some(mut scene) = last else {
        return Ok(());
    };
    let stats = scene.crowd().tier_stats().cloned().unwrap_or_default();
    let frames = f64::from(args.frames);
    let by_tier = (tiers.tiers.iter().zip(&stats.tiers).zip(&all.tiers))
        .enumerate()
        .map(|(number, ((tier, now), sum))| TierRow {
            tier: number.to_string(),
            height: tier.height,
            rate: tier.rate,
            interpolate: tier.interpolate && tier.rate > 1,
            sharing: tiers_file::sharing(tier.sharing),
            detail: tiers_file::detail(tier.detail.as_ref()),
            characters: now.instances,
            shared: now.shared,
            evaluated_per_frame: sum.evaluated as f64 / frames,
            held: now.held,
            waiting: now.waiting,
            oldest: now.oldest,
            ns_per_frame: sum.nanoseconds as f64 / frames,
        });
    let mut by_tier: Vec<TierRow> = by_tier.collect();
    if !full {
        by_tier.push(TierRow {
            tier: "shared palettes".into(),
            height: 0.0,
            rate: 1,
            interpolate: false,
            sharing: String::new(),
            detail: String::new(),
            characters: stats.tiers.iter().map(|t| t.shared).sum(),
            shared: stats.shared_palettes,
            evaluated_per_frame: all.shared_evaluated as f64 / frames,
            held: 0,
            waiting: 0,
            oldest: 0,
            ns_per_frame: all.shared_nanoseconds as f64 / frames,
        });
    }
    let mut figures = Figures {
        version: env!("CARGO_PKG_VERSION"),
        model: model.file.clone(),
        characters: count,
        in_picture: if full { count } else { count - stats.out },
        simd: SimdLevel::current().name(),
        frames: args.frames,
        warm_up_frames: WARM_UP,
        tiers: !full,
        budget: args.budget.map(|b| b.to_string()),
        runs,
        by_tier,
        shared_palettes: stats.shared_palettes,
        picture: None,
    };
    // An interpolated instance reads two palettes, one behind the other.
    let pairs = tiers.tiers.iter().any(|t| t.interpolate && t.rate > 1) && !full;
    let rows = rig.palette_len() * (1 + usize::from(pairs));
    let renderer = FrameRenderer::new(args.renderer, args.backend, rows);
    let drawn = renderer.and_then(|r| draw(model, &mut scene, args.size, r));
    let written = drawn.and_then(|(bytes, picture)| {
        picture_file.write(&bytes)?;
        figures.picture = Some(PictureFigures {
            file: args.out.display().to_string(),
            ..picture
        });
        Ok(())
    });
    output::print(&table(&figures))?;
    written?;
    json_file.map_or(Ok(()), |file| file.write_json(&figures))
}

/// Runs the frames of a plaza. Returns the times, and the sums of its statistics.
fn measure(
    args: &CrowdArgs,
    threads: usize,
    scene: &mut Plaza,
    progress: &indicatif::ProgressBar,
) -> Result<(Run, TierFrame), CliError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|source| CliError::Threads { threads, source })?;
    let mut controller = match args.budget {
        Some(BudgetArg::Microseconds(microseconds)) => {
            let options = ControllerOptions {
                microseconds,
                ..ControllerOptions::default()
            };
            let made = BudgetController::new(&options);
            Some(made.map_err(|e| CliError::Tiers(e.to_string()))?)
        }
        _ => None,
    };
    let mut times: Vec<PlazaTimes> = Vec::with_capacity(args.frames as usize);
    let mut sums = TierFrame::default();
    let mut evaluated = 0;
    pool.install(|| -> Result<(), CliError> {
        let mut bones = BoneBuffer::new();
        for frame in 0..WARM_UP + args.frames {
            let budget = match args.budget {
                Some(BudgetArg::Characters(n)) => Some(n),
                Some(BudgetArg::Microseconds(_)) => controller.as_ref().map(|c| c.budget()),
                None => None,
            };
            if args.budget.is_some() && !args.full {
                let set = scene.crowd_mut().set_budget(budget);
                set.map_err(|e| CliError::Tiers(e.to_string()))?;
            }
            scene.direct()?;
            let now = scene.frame(&mut bones)?;
            if let (Some(controller), Some(stats)) = (&mut controller, scene.crowd().tier_stats()) {
                controller.observe_frame(stats, now.evaluate / 1e3);
            }
            if frame >= WARM_UP {
                times.push(now);
                if let Some(stats) = scene.crowd().tier_stats() {
                    evaluated += add(&mut sums, stats);
                } else {
                    evaluated += scene.crowd().len();
                }
            }
            progress.inc(1);
        }
        Ok(())
    })?;
    let of = |part: &dyn Fn(&PlazaTimes) -> f64| spread(times.iter().map(part).collect());
    let [median, p99, worst] = of(&PlazaTimes::total);
    let run = Run {
        threads,
        median_ns: median,
        p99_ns: p99,
        worst_ns: worst,
        advance_ns: of(&|t| t.advance)[0],
        schedule_ns: of(&|t| t.schedule)[0],
        evaluate_ns: of(&|t| t.evaluate)[0],
        evaluated_per_frame: evaluated as f64 / times.len().max(1) as f64,
    };
    Ok((run, sums))
}

/// Adds the statistics of a frame; returns the palettes that it evaluated.
fn add(sums: &mut TierFrame, frame: &TierFrame) -> usize {
    sums.tiers.resize(frame.tiers.len(), Default::default());
    let mut evaluated = frame.shared_evaluated;
    for (sum, now) in sums.tiers.iter_mut().zip(&frame.tiers) {
        sum.evaluated += now.evaluated;
        sum.nanoseconds += now.nanoseconds;
        evaluated += now.evaluated;
    }
    sums.shared_evaluated += frame.shared_evaluated;
    sums.shared_nanoseconds += frame.shared_nanoseconds;
    evaluated
}

/// Draws the last frame from the plaza's camera.
fn draw(
    model: &Model,
    scene: &mut Plaza,
    size: PictureSize,
    mut renderer: FrameRenderer,
) -> Result<(Vec<u8>, PictureFigures), CliError> {
    let rig = &model.rig;
    let start = Instant::now();
    let shape = RigShape::new(rig);
    let meshes: Vec<_> = (0..rig.lod_count()).map(|lod| shape.meshes(lod)).collect();
    let levels = picture::levels(&meshes);
    // A model for each detail follows that of the rig.
    let id = scene.instances().first().map(|i| i.rig());
    let of_tiers = id.map(|id| scene.crowd().tier_details(id)).transpose()?;
    let of_tiers: Vec<Arc<Rig>> = of_tiers.into_iter().flatten().cloned().collect();
    let shapes: Vec<RigShape> = of_tiers.iter().map(|rig| RigShape::new(rig)).collect();
    let level = |rig: &Rig| rig.as_detail().map_or(0, Detail::level);
    let far = of_tiers.iter().zip(&shapes);
    let far: Vec<_> = far.map(|(rig, shape)| shape.meshes(level(rig))).collect();
    let far = far.iter().map(|meshes| {
        [DrawDetail {
            meshes,
            min_pixels: 0.0,
        }]
    });
    let far: Vec<_> = far.collect();
    let mut models = vec![DrawModel { details: &levels }];
    models.extend(far.iter().map(|details| DrawModel { details }));
    let morphs = !rig.morphs().is_empty();
    let mut weights = Vec::new();
    let ids: Vec<_> = scene.crowd().instances().collect();
    let tiers = scene.crowd().tiers().is_some();
    let shown = |&(_, id): &(usize, _)| !tiers || scene.crowd().tier(id).is_some();
    let drawn: Vec<_> = ids.iter().copied().enumerate().filter(shown).collect();
    let mut instances = Vec::with_capacity(drawn.len());
    for &(i, id) in &drawn {
        let morph_offset = weights.len() as u32;
        if morphs {
            weights.extend(scene.crowd().scalars(id)?);
        }
        instances.push(DrawInstance {
            model: 0,
            world: *scene.crowd().world(id)?,
            palette_offset: 0,
            morph_offset,
            tint: picture::tint(i),
            bounds: scene.crowd().bounding_sphere(id)?,
            lerp: None,
        });
    }
    let drawn: Vec<_> = drawn.into_iter().map(|(_, id)| id).collect();
    let (height, fov_y) = plaza::eye();
    let eye = Vec3::Y * height;
    let reach = plaza::radius(ids.len()) as f32;
    let side = Vec3::new(reach, 0.0, reach);
    let camera = Camera {
        eye,
        target: eye + Vec3::NEG_Z,
        up: Vec3::Y,
        fov_y,
        near: 0.1,
    };
    let shot = Shot {
        models: &models,
        instances: &mut instances,
        morph_weights: &weights,
        camera,
        look: Look::over(-side, side + Vec3::Y * 1.8, eye),
    };
    let (image, counts) = renderer.draw(scene.crowd_mut(), &drawn, shot, size)?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    Ok((
        png::encode(image)?,
        PictureFigures {
            file: String::new(),
            width: size.width,
            height: size.height,
            drawn_by: renderer.name(),
            characters: counts.instances,
            triangles: counts.triangles,
            milliseconds,
        },
    ))
}

/// The figures as tables.
fn table(figures: &Figures) -> String {
    let run = |name: &str, value: &dyn Fn(&Run) -> String| {
        let mut row = vec![name.to_owned()];
        row.extend(figures.runs.iter().map(value));
        row
    };
    let same = |name: &str, value: String| run(name, &|_| value.clone());
    let rows = vec![
        same("characters", text::count(figures.characters as u64)),
        same("in the picture", text::count(figures.in_picture as u64)),
        same("instruction set", figures.simd.to_owned()),
        same("frames", text::count(figures.frames.into())),
        run("evaluated per frame", &|r| {
            text::count(r.evaluated_per_frame as u64)
        }),
        run("median frame", &|r| text::duration(r.median_ns)),
        run("  advance", &|r| text::duration(r.advance_ns)),
        run("  schedule", &|r| text::duration(r.schedule_ns)),
        run("  evaluate", &|r| text::duration(r.evaluate_ns)),
        run("p99 frame", &|r| text::duration(r.p99_ns)),
        run("worst frame", &|r| text::duration(r.worst_ns)),
    ];
    let name = if figures.tiers {
        "plaza"
    } else {
        "plaza at full rate"
    };
    let header = header(name, figures.runs.iter().map(|r| r.threads));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut out = text::table(&header, rows, 1);
    if !figures.by_tier.is_empty() {
        let rows = figures.by_tier.iter().map(|t| {
            vec![
                t.tier.clone(),
                format!("{}", t.height),
                tiers_file::rate(t.rate, t.interpolate),
                t.sharing.clone(),
                t.detail.clone(),
                text::count(t.characters as u64),
                text::count(t.shared as u64),
                format!("{:.1}", t.evaluated_per_frame),
                text::count(t.held as u64),
                t.oldest.to_string(),
                text::duration(t.ns_per_frame),
            ]
        });
        let header = [
            "tier",
            "from pixels",
            "rate",
            "sharing",
            "detail",
            "characters",
            "shared",
            "evaluated",
            "held",
            "oldest",
            "time",
        ];
        out += &text::table(&header, rows.collect(), 1);
    }
    if let Some(p) = &figures.picture {
        out += &p.table();
    }
    out
}
