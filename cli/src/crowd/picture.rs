//! Draws the picture of the last frame.

use super::super::error::CliError;
use super::super::frame_renderer::{FrameRenderer, Shot};
use super::super::model::Model;
use super::super::png;
use super::cast::{self, Draw};
use super::figures::PictureFigures;
use super::formation::Formation;
use glam::Affine3A;
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId};
use phalanx::runtime::BoundsJob;
use phalanx_render::{
    Camera, DrawCounts, DrawDetail, DrawInstance, DrawMesh, DrawModel, Look, PictureSize, RigShape,
    Sphere,
};
use std::path::Path;
use std::time::Instant;

/// Heights on screen, in pixels, from which each level of detail is used; further levels share the last.
const DETAIL_PIXELS: [f32; 3] = [110.0, 40.0, 0.0];

/// Enlarges bounds for morph weights outside 0 to 1.
const MORPH_MARGIN: f32 = 1.5;

/// Linear colours of the tunics: muted, so that thousands of them look calm.
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

/// A finished picture.
pub struct Picture {
    /// The PNG file's bytes.
    pub png: Vec<u8>,
    drawn_by: String,
    counts: DrawCounts,
    milliseconds: f64,
}

impl Picture {
    /// The picture's part of the figures.
    pub fn figures(&self, path: &Path, size: PictureSize) -> PictureFigures {
        PictureFigures {
            file: path.display().to_string(),
            width: size.width,
            height: size.height,
            drawn_by: self.drawn_by.clone(),
            characters: self.counts.instances,
            triangles: self.counts.triangles,
            milliseconds: self.milliseconds,
        }
    }
}

/// What a picture shows.
pub struct Subject<'a> {
    pub model: &'a Model,
    pub formation: &'a Formation,
    /// If true, every character is moved back to its position.
    pub travel: bool,
}

/// Draws the crowd. `buffer` holds its last frame, from which the characters' bounds are computed.
pub fn draw(
    subject: &Subject,
    crowd: &mut Crowd,
    buffer: &BoneBuffer,
    size: PictureSize,
    mut renderer: FrameRenderer,
) -> Result<Picture, CliError> {
    let rig = &subject.model.rig;
    let start = Instant::now();
    let shape = RigShape::new(rig);
    let details: Vec<Vec<DrawMesh>> = (0..rig.lod_count()).map(|lod| shape.meshes(lod)).collect();
    let details = levels(&details);
    let mut cast = instances(subject, crowd, buffer)?;
    let (min, max) = subject.formation.extent();
    let camera = Camera::overlooking(min, max, size.aspect());
    let shot = Shot {
        models: &[DrawModel { details: &details }],
        instances: &mut cast.instances,
        morph_weights: &cast.weights,
        camera,
        look: Look::over(min, max, camera.eye),
    };
    let (image, counts) = renderer.draw(crowd, &cast.ids, shot, size)?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let png = png::encode(image)?;
    Ok(Picture {
        png,
        drawn_by: renderer.name(),
        counts,
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

/// All instances by index, with their morph weights concatenated.
#[derive(Default)]
struct Everyone {
    ids: Vec<InstanceId>,
    instances: Vec<DrawInstance>,
    weights: Vec<f32>,
}

fn instances(subject: &Subject, crowd: &Crowd, buffer: &BoneBuffer) -> Result<Everyone, CliError> {
    let rig = &subject.model.rig;
    let morphs = !rig.morphs().is_empty();
    let mut all = Everyone::default();
    for (i, instance) in crowd.instances().enumerate() {
        let Some(range) = crowd.palette_range(instance) else {
            continue;
        };
        let morph_offset = all.weights.len() as u32;
        if morphs {
            all.weights.extend(crowd.scalars(instance)?);
        }
        let palette_offset = range.start as u32;
        let rows = buffer.rows().get(range).unwrap_or(&[]);
        let bounds = BoundsJob {
            slots: rig.slot_bounds(),
            palette: rows,
        }
        .run();
        let bounds = bounds.map_err(|source| CliError::Job {
            file: subject.model.file.clone(),
            source,
        })?;
        let radius = bounds.half_size().length() * if morphs { MORPH_MARGIN } else { 1.0 };
        let finite = !bounds.is_empty() && radius.is_finite() && bounds.center().is_finite();
        let mut world = *crowd.world(instance)?;
        if subject.travel && finite {
            let away = bounds.center().with_y(0.0);
            world = world.mul(&Affine3A::from_translation(-away).into());
        }
        all.ids.push(instance);
        all.instances.push(DrawInstance {
            model: 0,
            world,
            palette_offset,
            morph_offset,
            tint: tint(i),
            // Without bounds an instance is never culled.
            bounds: finite.then(|| Sphere {
                center: bounds.center().to_array(),
                radius,
            }),
        });
    }
    Ok(all)
}

/// Linear colour of a character's tunic.
pub fn tint(i: usize) -> [f32; 4] {
    let [r, g, b] = TINTS[(cast::draw(i, Draw::Tint) * TINTS.len() as f64) as usize % TINTS.len()];
    let shade = 0.75 + 0.5 * cast::draw(i, Draw::Shade) as f32;
    [r * shade, g * shade, b * shade, 1.0]
}
