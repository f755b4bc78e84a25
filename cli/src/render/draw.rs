//! Draws all frames with one camera that covers the whole movement.

use super::super::error::CliError;
use super::super::frame_renderer::{FrameRenderer, Shot};
use super::beside::{Arranged, Sight, Unseen, arrange};
use super::framing::Framing;
use super::stage::{Posed, SampledFrame, Stage};
use glam::{Affine3A, Vec3};
use image::RgbaImage;
use indicatif::{ProgressBar, ProgressStyle};
use phalanx::math::Affine3x4;
use phalanx::rig::{Aabb, Rig};
use phalanx::runtime::SkinningJob;
use phalanx_render::{
    DrawDetail, DrawInstance, DrawMesh, DrawModel, Look, PictureSize, Placement, RenderError,
    RigShape,
};
use std::sync::Arc;

/// Sizes of a movement (longest side, in the file's units) that are drawn unscaled. Others are scaled to
/// [`COMMON_SIZE`], since haze and ground assume metres.
const USUAL_SIZES: std::ops::RangeInclusive<f32> = 0.2..=20.0;

/// Size to which unusual movements are scaled, in metres.
const COMMON_SIZE: f32 = 1.8;

/// Linear colour of materials that accept a tint.
const TINT: [f32; 4] = [0.055, 0.13, 0.36, 1.0];

/// The frames, and the background without a model.
pub struct Drawn {
    pub frames: Vec<RgbaImage>,
    /// Actors side by side that a frame does not show, frame by frame.
    pub unseen: Vec<Vec<(usize, Unseen)>>,
    pub background: Option<RgbaImage>,
}

/// Settings of all pictures of a command.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub size: PictureSize,
    /// Share of a picture's height that is kept free at the top.
    pub headroom: f32,
    /// True if the background is needed.
    pub background: bool,
    /// Number of actors at the end of the list that stand to the right of the others.
    pub beside: usize,
    /// True if each of these actors is scaled to the height of the first and stands on its ground.
    pub fit_each: bool,
}

impl Setup {
    /// Indices of the actors that stand side by side, if there are several; others are attached to the first.
    pub fn alone(&self, actors: usize) -> impl Iterator<Item = usize> {
        let first = actors.saturating_sub(self.beside);
        let main = 0..usize::from(self.beside > 0 && first > 0);
        main.chain(first..actors)
    }
}

/// Draws all frames; shows a progress bar if standard error is a terminal.
pub fn draw(
    stage: &mut Stage,
    frames: &mut [SampledFrame],
    setup: Setup,
    renderer: &mut FrameRenderer,
) -> Result<Drawn, CliError> {
    let size = setup.size;
    let rigs: Vec<Arc<Rig>> = stage.rigs().cloned().collect();
    let shapes: Vec<RigShape> = rigs.iter().map(|rig| RigShape::new(rig)).collect();
    let meshes: Vec<Vec<DrawMesh>> = shapes.iter().map(|s| s.meshes(0)).collect();
    let details: Vec<[DrawDetail; 1]> =
        meshes.iter().map(|meshes| [DrawDetail { meshes, min_pixels: 0.0 }]).collect();
    let models: Vec<DrawModel> = details.iter().map(|details| DrawModel { details }).collect();
    let Arranged { shown, ground } = arrange(&meshes, frames, setup)?;
    let frames = &*frames;
    let mut framing = Framing::new(size.aspect(), setup.headroom);
    for (actor, shown) in shown.iter().enumerate() {
        let add = |p: Vec3| {
            if p.clamp(shown.min, shown.max) == p {
                framing.add(p);
            }
        };
        vertices(&meshes, frames, actor..actor + 1, add)?;
    }
    let (place, min, max) = place(framing.extent());
    let camera = framing.camera(&place, min, max);
    let mut look = Look::over(min, max, camera.eye);
    if let Some(ground) = ground {
        look.ground = Some(place.transform_point3(Vec3::Y * ground).y);
    }
    let sight = Sight::new(&place, &camera, &look, size)?;
    let tint = |model: usize| {
        if shapes[model].has_tint() { TINT } else { [1.0; 4] }
    };

    let bar = bar(frames.len());
    let mut pictures = Vec::with_capacity(frames.len());
    let mut unseen = Vec::with_capacity(frames.len());
    for frame in frames {
        let mut missing = Vec::new();
        for actor in setup.alone(meshes.len()) {
            let why = sight.misses(&meshes, frame, actor)?;
            missing.extend(why.map(|why| (actor, why)));
        }
        let outside = |actor: &usize| missing.contains(&(*actor, Unseen::Outside));
        let drawn: Vec<usize> = (0..meshes.len()).filter(|actor| !outside(actor)).collect();
        let actors = drawn.iter().filter_map(|&a| Some((a, frame.actors.get(a)?)));
        let instance = |(model, actor): (usize, &Posed)| DrawInstance {
            model: model as u32,
            world: place * actor.world,
            palette_offset: actor.first_row as u32,
            lerp: None,
            morph_offset: actor.first_weight as u32,
            tint: tint(model),
            bounds: None,
        };
        let instances: Vec<DrawInstance> = actors.map(instance).collect();
        let shot = Shot {
            models: &models,
            instances: &instances,
            morph_weights: &frame.weights,
            camera,
            look,
        };
        let (crowd, ids) = stage.at(frame.time)?;
        let ids: Vec<_> = drawn.iter().filter_map(|&a| ids.get(a).copied()).collect();
        pictures.push(renderer.draw(crowd, &ids, shot, size)?.0);
        unseen.push(missing);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let mut background = None;
    if let Some(frame) = frames.first().filter(|_| setup.background) {
        let shot = Shot { models: &models, instances: &[], morph_weights: &[], camera, look };
        let (crowd, _) = stage.at(frame.time)?;
        background = Some(renderer.draw(crowd, &[], shot, size)?.0);
    }
    Ok(Drawn { frames: pictures, unseen, background })
}

fn bar(frames: usize) -> ProgressBar {
    let bar = ProgressBar::new(frames as u64);
    match ProgressStyle::with_template("drawing {wide_bar} {pos}/{len} frames, {eta} left") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Visits all vertices of some actors in all frames.
pub fn vertices(
    meshes: &[Vec<DrawMesh>],
    frames: &[SampledFrame],
    actors: std::ops::Range<usize>,
    mut visit: impl FnMut(Vec3),
) -> Result<(), CliError> {
    let mut positions = Vec::new();
    for frame in frames {
        let all = frame.actors.iter().zip(meshes);
        for (actor, meshes) in all.skip(actors.start).take(actors.len()) {
            for mesh in meshes {
                let (first_slot, rigid) = match mesh.placement {
                    Placement::Skinned { first_slot, .. } => (first_slot, Affine3x4::IDENTITY),
                    Placement::Rigid(place) => (0, place),
                };
                let rows = actor.first_row + first_slot as usize;
                let weights = actor.first_weight + mesh.first_weight as usize;
                positions.clear();
                positions.resize(mesh.primitive.positions.len(), [0.0; 3]);
                SkinningJob {
                    primitive: mesh.primitive,
                    palette: frame.palette.get(rows..).unwrap_or_default(),
                    rigid,
                    morph_weights: match mesh.primitive.targets.len() {
                        0 => &[],
                        _ => frame.weights.get(weights..).unwrap_or_default(),
                    },
                    positions: &mut positions,
                    normals: &mut [],
                    tangents: &mut [],
                }
                .run()
                .map_err(RenderError::from)?;
                for &p in &positions {
                    visit(actor.world.transform_point3(p.into()));
                }
            }
        }
    }
    Ok(())
}

/// Transform that moves the centre of the movement's footprint to the origin, in metres, and the bounding box
/// after it.
fn place(extent: Aabb) -> (Affine3x4, Vec3, Vec3) {
    let finite = extent.min.is_finite() && extent.max.is_finite();
    if extent.is_empty() || !finite {
        let half = Vec3::splat(COMMON_SIZE * 0.5);
        return (Affine3x4::IDENTITY, -half, half);
    }
    let sides = extent.max - extent.min;
    let greatest = sides.max_element();
    let wanted = COMMON_SIZE / greatest;
    let usual = USUAL_SIZES.contains(&greatest) || !wanted.is_normal();
    let scale = if usual { 1.0 } else { wanted };
    let foot = extent.center().with_y(extent.min.y);
    let place = Affine3A::from_scale(Vec3::splat(scale)) * Affine3A::from_translation(-foot);
    let half = sides.with_y(0.0) * (scale * 0.5);
    let top = half + Vec3::Y * (sides.y * scale);
    (place.into(), -half, top)
}
