//! The picture of the last frame.

use super::super::error::CliError;
use super::super::model::Model;
use super::super::png;
use super::cast::{self, Draw};
use super::figures::PictureFigures;
use super::formation::Formation;
use glam::Affine3A;
use phalanx::crowd::{BoneBuffer, Crowd};
use phalanx::render::{
    self, Backend, Camera, DrawDetail, DrawInstance, DrawMesh, DrawModel, DrawnBy, Look,
    PictureSize, RigShape, Scene, Sphere,
};
use phalanx::runtime::BoundsJob;
use std::path::Path;
use std::time::Instant;

/// Heights in pixels from which the levels of detail are used; those behind the list share its end.
const DETAIL_PIXELS: [f32; 3] = [110.0, 40.0, 0.0];

/// Margin of bounds for morph weights beyond 0 and 1.
const MORPH_MARGIN: f32 = 1.5;

/// Linear colours of the tunics: muted, so that thousands side by side stay calm.
const TINTS: [[f32; 3]; 8] = [
    [0.42, 0.055, 0.045],
    [0.055, 0.13, 0.36],
    [0.62, 0.40, 0.07],
    [0.07, 0.24, 0.11],
    [0.50, 0.47, 0.40],
    [0.16, 0.07, 0.24],
    [0.04, 0.22, 0.27],
    [0.45, 0.17, 0.05],
];

/// A finished picture as a file.
pub struct Picture {
    /// PNG.
    pub png: Vec<u8>,
    drawn_by: DrawnBy,
    characters: usize,
    triangles: u64,
    milliseconds: f64,
}

impl Picture {
    /// Its line in the figures.
    pub fn figures(&self, path: &Path, size: PictureSize) -> PictureFigures {
        PictureFigures {
            file: path.display().to_string(),
            width: size.width,
            height: size.height,
            drawn_by: self.drawn_by.to_string(),
            characters: self.characters,
            triangles: self.triangles,
            milliseconds: self.milliseconds,
        }
    }
}

/// Draws the crowd from its bone buffer. With `travel` everyone is brought back to its place.
pub fn draw(
    model: &Model,
    crowd: &Crowd,
    buffer: &BoneBuffer,
    formation: &Formation,
    travel: bool,
    size: PictureSize,
    backend: Backend,
) -> Result<Picture, CliError> {
    let rig = &model.rig;
    let start = Instant::now();
    let shape = RigShape::new(rig);
    let details: Vec<Vec<DrawMesh>> = (0..rig.lod_count()).map(|lod| shape.meshes(lod)).collect();
    let details = levels(&details);
    let (instances, morph_weights) = instances(model, crowd, buffer, travel)?;
    let (min, max) = formation.extent();
    let camera = Camera::overlooking(min, max, size.aspect());
    let scene = Scene {
        models: &[DrawModel { details: &details }],
        instances: &instances,
        palette: buffer.rows(),
        morph_weights: &morph_weights,
        camera,
        look: Look::over(min, max, camera.eye),
    };
    let picture = render::draw(&scene, size, backend)?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let png = png::encode(picture.image)?;
    Ok(Picture {
        png,
        drawn_by: picture.drawn_by,
        characters: picture.counts.instances,
        triangles: picture.counts.triangles,
        milliseconds,
    })
}

/// Levels of detail of a model from their meshes, finest first.
pub fn levels<'a>(meshes: &'a [Vec<DrawMesh<'a>>]) -> Vec<DrawDetail<'a>> {
    let level = |(lod, meshes): (usize, &'a Vec<_>)| DrawDetail {
        meshes,
        min_pixels: DETAIL_PIXELS.get(lod).copied().unwrap_or(0.0),
    };
    meshes.iter().enumerate().map(level).collect()
}

/// Everyone, and the morph weights of all one after another.
fn instances(
    model: &Model,
    crowd: &Crowd,
    buffer: &BoneBuffer,
    travel: bool,
) -> Result<(Vec<DrawInstance>, Vec<f32>), CliError> {
    let rig = &model.rig;
    let morphs = !rig.morphs().is_empty();
    let mut instances = Vec::with_capacity(crowd.len());
    let mut weights = Vec::new();
    for (i, instance) in crowd.instances().enumerate() {
        let Some(range) = crowd.palette_range(instance) else {
            continue;
        };
        let morph_offset = weights.len() as u32;
        if morphs {
            weights.extend(crowd.scalars(instance)?);
        }
        let palette_offset = range.start as u32;
        let rows = buffer.rows().get(range).unwrap_or(&[]);
        let bounds = BoundsJob {
            slots: rig.slot_bounds(),
            palette: rows,
        }
        .run();
        let bounds = bounds.map_err(|source| CliError::Job {
            file: model.file.clone(),
            source,
        })?;
        let radius = bounds.half_size().length() * if morphs { MORPH_MARGIN } else { 1.0 };
        let finite = !bounds.is_empty() && radius.is_finite() && bounds.center().is_finite();
        let mut world = *crowd.world(instance)?;
        if travel && finite {
            let away = bounds.center().with_y(0.0);
            world = world.mul(&Affine3A::from_translation(-away).into());
        }
        instances.push(DrawInstance {
            model: 0,
            world,
            palette_offset,
            morph_offset,
            tint: tint(i),
            // Without bounds it is never culled.
            bounds: finite.then(|| Sphere {
                center: bounds.center().to_array(),
                radius,
            }),
        });
    }
    Ok((instances, weights))
}

/// Linear colour of a character's tunic.
pub fn tint(i: usize) -> [f32; 4] {
    let [r, g, b] = TINTS[(cast::draw(i, Draw::Tint) * TINTS.len() as f64) as usize % TINTS.len()];
    let shade = 0.75 + 0.5 * cast::draw(i, Draw::Shade) as f32;
    [r * shade, g * shade, b * shade, 1.0]
}
