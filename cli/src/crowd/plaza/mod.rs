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
use phalanx::crowd::Tiers;
use phalanx::playback::EventKinds;
use phalanx_workload::plaza::{ASPECT, FRAME, LINES, Plaza, PlazaError};

/// Bytes of a character's state and its place in a picture, with room for arrays that grow.
const STATE_BYTES: u64 = 600;
/// Characters of a plaza, as one in so many, that may have palettes of their own in a picture.
const OWN_PALETTES: u64 = 8;

/// The events that are listened to: steps and whatever else has markers, and ends. Few hosts ask for loops.
const LISTENED: EventKinds = EventKinds {
    loops: false,
    ..EventKinds::ALL
};

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

/// The tiers that the options ask for.
fn tiers(args: &CrowdArgs, model: &Model) -> Result<Tiers, CliError> {
    let mut tiers = Tiers::default();
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

/// Simulates, draws and prints.
pub fn run(
    args: &CrowdArgs,
    model: &Model,
    (picture_file, json_file): (Output, Option<Output>),
) -> Result<(), CliError> {
    let rig = &model.rig;
    let full = args.full;
    let tiers = tiers(args, model)?;
    let rows = rig.palette_len() as u64 * 48;
    let scalars = rig.skeleton().scalars().len() as u64 * 4;
    let each = match full {
        true => 2 * (rows + scalars) + STATE_BYTES,
        false => rows / OWN_PALETTES + 2 * scalars + STATE_BYTES,
    };
    let count = memory::check(args.count, each)?;
    let choice = cast::choose_clips(model)?;
    let fit = match model.built_in {
        true => None,
        false => Some(on_a_square_metre(&size::measure(model, &choice)?)),
    };
    let make = || -> Result<Plaza, CliError> {
        let tiers = (!full).then(|| tiers.clone());
        let mut scene = Plaza::new(rig.clone(), &choice.clips, count, tiers)?;
        scene.listen(LISTENED)?;
        if let Some(fit) = fit {
            for instance in scene.instances().to_vec() {
                let world = scene.crowd().world(instance)?.mul(&fit.into());
                scene.crowd_mut().set_world(instance, world)?;
            }
        }
        Ok(scene)
    };
    let threads = args
        .threads
        .map_or_else(super::available_threads, usize::from);
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
        figures.picture = Some(PictureFigures {
            file: args.out.display().to_string(),
            ..picture
        });
        Ok(())
    });
    // The measurements are printed even if the picture failed.
    output::print(&figures.table(args.budget))?;
    written?;
    json_file.map_or(Ok(()), |file| file.write_json(&figures))
}
