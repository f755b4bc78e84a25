//! `phalanx crowd --plaza`: a crowd all around the camera, with tiers.

mod figures;
mod measure;
mod picture;

use super::super::error::CliError;
use super::super::frame_renderer::FrameRenderer;
use super::super::memory;
use super::super::model::Model;
use super::super::output::{self, Output};
use super::figures::{PictureFigures, Setup};
use super::formation::on_a_square_metre;
use super::{CrowdArgs, FORMATION, cast, size, tiers_file};
use figures::Figures;
use measure::WARM_UP;
use phalanx::crowd::{Tier, Tiers};
use phalanx::playback::EventKinds;
use phalanx_workload::plaza::{self, ANGLE, AREA, ASPECT, FRAME, LINES, Plaza, PlazaError};

/// Bytes of a character's state and its place in a picture, with room for arrays that grow.
const STATE_BYTES: u64 = 600;
/// Share of the characters of a plaza that may have unshared palettes although their tiers share: those that fade. The
/// shared palettes of the built-in clips are fewer.
const OWN_PALETTES: f64 = 1.0 / 8.0;
/// The largest share of the characters that the camera sees: those whose spheres reach into its angle are counted.
const IN_VIEW: f64 = 1.1 * ANGLE as f64 / std::f64::consts::TAU;
/// Palettes per character that fit in the heap of the picture: twice as many pairs as were measured.
const PICTURE_PALETTES: f64 = 4.0;
/// Clips need more than the 4,096 phases that are shared to keep smaller errors than this, in metres.
const LEAST_ERROR: f32 = 0.001;
/// The longest side of a character, and the radius of its sphere, in metres: larger models are scaled.
const LARGEST: f64 = 3.0;

/// The kinds of events that the plaza reads: markers (such as steps) and finishes. Few hosts read loops.
const LISTENED: EventKinds = EventKinds { loops: false, stops: false, ..EventKinds::ALL };

impl From<PlazaError> for CliError {
    fn from(error: PlazaError) -> Self {
        match error {
            PlazaError::Crowd(error) => Self::Crowd(error),
            other => Self::Tiers(other.to_string()),
        }
    }
}

/// Whether the crowd stands on a plaza: an option says so, or it is too large for a formation.
pub fn is_asked(args: &CrowdArgs) -> bool {
    let tiers = args.tiers.is_some() || args.budget.is_some();
    args.plaza || args.full || args.details || tiers || args.count > FORMATION
}

/// The tiers set by the options. `side` is the longest side of a model other than the built-in character.
fn tiers(args: &CrowdArgs, model: &Model, side: Option<f32>) -> Result<Tiers, CliError> {
    let mut tiers = Tiers::default();
    if let Some(side) = side {
        tiers = tiers.for_size(side);
    }
    if let Some(file) = &args.tiers {
        tiers = tiers_file::read(file)?;
        for warning in tiers_file::check(file, &tiers, model)? {
            output::tell(&format!("warning: {warning}"));
        }
    }
    Ok(match args.details {
        true => tiers.with_levels(&super::picture::DETAIL_PIXELS),
        false => tiers,
    })
}

/// Bytes per character of a plaza with tiers. `rows` and `scalars` are the bytes of one character.
fn bytes_with_tiers(tiers: &Tiers, count: u64, rows: u64, scalars: u64) -> u64 {
    let own = |t: &&Tier| t.shared_error.is_none_or(|error| error < LEAST_ERROR);
    let own = || tiers.tiers.iter().filter(own);
    // Infinite if all tiers share: then no character is as near.
    let least = own().fold(f32::INFINITY, |least, t| least.min(t.height));
    let least = f64::from(least) * f64::from(1.0 - tiers.hysteresis);
    let pairs = own().any(|t| t.interpolate && t.rate > 1);
    let palettes = PICTURE_PALETTES + if pairs { 2.0 } else { 1.0 };
    // Characters up to this distance along the view have at least the height of the tier: a triangle of the ground.
    let (_, fov) = plaza::eye();
    let pixels_at_1_m = 0.5 * f64::from(LINES) / f64::from(0.5 * fov).tan();
    let reach = LARGEST * pixels_at_1_m / least + LARGEST;
    let near = reach * reach * f64::from(0.5 * ANGLE).tan() / AREA;
    let own = IN_VIEW.min(near / count as f64) * palettes;
    (rows as f64 * own.max(OWN_PALETTES)).ceil() as u64 + 2 * scalars + STATE_BYTES
}

/// Simulates, draws and prints.
pub fn run(
    args: &CrowdArgs,
    model: &Model,
    (picture_file, json_file): (Output, Option<Output>),
) -> Result<(), CliError> {
    let rig = &model.rig;
    let full = args.full;
    let choice = cast::choose_clips(model)?;
    let size = match model.built_in {
        true => None,
        false => Some(size::measure(model, &choice)?),
    };
    let tiers = tiers(args, model, size.as_ref().map(size::longest_side))?;
    let rows = rig.palette_len() as u64 * 48;
    let scalars = rig.skeleton().scalars().len() as u64 * 4;
    let each = match full {
        true => 2 * (rows + scalars) + STATE_BYTES,
        false => bytes_with_tiers(&tiers, args.count, rows, scalars),
    };
    let count = memory::check(args.count, each)?;
    let fit = size.as_ref().map(on_a_square_metre);
    let make = || -> Result<Plaza, CliError> {
        let tiers = (!full).then(|| tiers.clone());
        let mut scene = Plaza::new(rig.clone(), &choice.clips, count, tiers)?;
        scene.set_event_filter(LISTENED)?;
        if let Some(fit) = fit {
            for instance in scene.instances().to_vec() {
                let world = *scene.crowd().world(instance)? * fit.into();
                scene.crowd_mut().set_world(instance, world)?;
            }
        }
        Ok(scene)
    };
    let threads = args.threads.map_or_else(super::available_threads, usize::from);
    // One thread first, so that the picture is of the crowd of all threads.
    let list: &[usize] = match threads {
        1 => &[1],
        _ => &[1, threads],
    };
    let progress = super::measure::progress(args.frames + WARM_UP, list.len() as u64);
    let mut runs = Vec::new();
    let mut last = None;
    for &threads in list {
        // Only one crowd is in memory at a time.
        drop(last.take());
        progress.set_message(super::figures::threads(threads));
        let scene = last.insert(make()?);
        runs.insert(0, measure::run(args, threads, scene, &progress)?);
    }
    progress.finish_and_clear();
    let Some(mut scene) = last else {
        return Ok(());
    };
    let frames = (WARM_UP, args.frames);
    let mut figures = Figures {
        setup: Setup::new(model, &choice.clips, count, frames, FRAME),
        camera_width: (LINES * ASPECT) as u32,
        camera_height: LINES as u32,
        tiers: !full,
        budget: args.budget.map(|b| b.to_string()),
        runs,
        picture: None,
    };
    // An interpolated instance reads two palettes, one behind the other.
    let pairs = tiers.tiers.iter().any(|t| t.interpolate && t.rate > 1) && !full;
    let rows = rig.palette_len() * (1 + usize::from(pairs));
    let renderer = FrameRenderer::new(args.renderer, args.backend, rows);
    let drawn = renderer.and_then(|r| picture::draw(model, &mut scene, args.size, r));
    let written = drawn.and_then(|(bytes, picture)| {
        picture_file.write(&bytes)?;
        figures.picture = Some(PictureFigures { file: args.out.display().to_string(), ..picture });
        Ok(())
    });
    // The measurements are printed even if the picture failed.
    output::print(&figures.table(args.budget))?;
    written?;
    json_file.map_or(Ok(()), |file| file.write_json(&figures))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 47 rows, of the built-in character.
    const ROWS: u64 = 47 * 48;

    fn each(tiers: &[Tier], count: u64) -> f64 {
        let tiers = Tiers { tiers: tiers.to_vec(), ..Tiers::default() };
        (bytes_with_tiers(&tiers, count, ROWS, 0) - STATE_BYTES) as f64 / ROWS as f64
    }

    fn tier(height: f32, shared_error: Option<f32>) -> Tier {
        Tier { height, shared_error, ..Tier::default() }
    }

    /// Palettes per character: in the bone buffer, and in the picture's.
    #[test]
    fn memory_is_reckoned_with_the_tiers_that_share() {
        let shared = Some(0.03);
        assert_eq!(each(&Tiers::default().tiers, 1_000_000), 0.125);
        assert_eq!(each(&[tier(0.0, shared)], 1_000_000), 0.125);
        // All that are in the picture: 30% of all.
        for error in [None, Some(1e-6)] {
            let own = each(&[tier(0.0, error)], 1_000_000);
            assert!((1.5..1.8).contains(&own), "{own}");
            let own = each(&[tier(240.0, shared), tier(0.5, error)], 10_000);
            assert!((1.5..1.8).contains(&own), "{own}");
        }
        let mut pair = tier(0.0, None);
        (pair.rate, pair.interpolate) = (4, true);
        let pairs = each(&[pair], 1_000_000);
        assert!((1.8..2.2).contains(&pairs), "{pairs}");
        // From 40 pixels on they are within some 60 m, of 560.
        let near = [tier(40.0, None), tier(0.5, shared)];
        let (few, many) = (each(&near, 5_000), each(&near, 1_000_000));
        assert!(few > 1.5 && many < 0.2, "{few} {many}");
    }
}
