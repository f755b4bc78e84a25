//! The picture of a plaza: its last frame from the plaza's camera, as wide as the picture is.

use super::super::super::error::CliError;
use super::super::super::frame_renderer::{FrameRenderer, Shot};
use super::super::super::model::Model;
use super::super::super::png;
use super::super::figures::PictureFigures;
use super::super::picture::{levels, tint};
use glam::Vec3;
use phalanx::rig::Rig;
use phalanx_render::{
    Camera, CrowdView, DrawDetail, DrawInstance, DrawModel, Look, PictureSize, RigShape, ViewError,
};
use phalanx_workload::plaza::{self, Plaza};
use std::sync::Arc;
use std::time::Instant;

/// A refusal of the crowd's views, as an error of the program.
fn refused(error: ViewError) -> CliError {
    match error {
        ViewError::Render(error) => CliError::Render(error),
        other => CliError::Tiers(other.to_string()),
    }
}

/// Draws the last frame. It is evaluated again, for the picture's own view and the shadows on its ground: a picture that
/// is wider than the measured one shows more characters.
pub fn draw(
    model: &Model,
    scene: &mut Plaza,
    size: PictureSize,
    mut renderer: FrameRenderer,
) -> Result<(Vec<u8>, PictureFigures), CliError> {
    let rig = &model.rig;
    let start = Instant::now();
    let shape = RigShape::new(rig);
    let meshes: Vec<_> = (0..rig.lod_count()).map(|lod| shape.meshes(lod)).collect();
    let levels = levels(&meshes);
    // A model for each detail follows the rig's model.
    let id = scene.instances().first().map(|i| i.rig());
    let of_tiers = id.map(|id| scene.crowd().tier_details(id)).transpose()?;
    let of_tiers: Vec<Arc<Rig>> = of_tiers.into_iter().flatten().cloned().collect();
    let shapes: Vec<RigShape> = of_tiers.iter().map(|rig| RigShape::new(rig)).collect();
    let far = of_tiers.iter().zip(&shapes);
    let far: Vec<_> = far.map(|(rig, shape)| shape.meshes(rig.detail_level())).collect();
    let far = far.iter().map(|meshes| [DrawDetail { meshes, min_pixels: 0.0 }]);
    let far: Vec<_> = far.collect();
    let mut models = vec![DrawModel { details: &levels }];
    models.extend(far.iter().map(|details| DrawModel { details }));

    let (height, fov_y) = plaza::eye();
    let eye = Vec3::Y * height;
    let reach = plaza::radius(scene.crowd().instance_count()) as f32;
    let side = Vec3::new(reach, 0.0, reach);
    let camera = Camera { eye, target: eye + Vec3::NEG_Z, up: Vec3::Y, fov_y, near: 0.1 };
    let look = Look::over(-side, side + Vec3::Y * 1.8, eye);
    if scene.crowd().tiers().is_some() {
        CrowdView::set_views(scene.crowd_mut(), &camera, &look, size).map_err(refused)?;
    }
    let morphs = rig.nodes().iter().any(|n| !n.morphs.is_empty());
    let mut weights = Vec::new();
    let ids: Vec<_> = scene.crowd().instances().collect();
    let mut instances = Vec::with_capacity(ids.len());
    for (i, &id) in ids.iter().enumerate() {
        let morph_offset = weights.len() as u32;
        if morphs {
            scene.crowd().scalars(id, &mut weights)?;
        }
        instances.push(DrawInstance {
            model: 0,
            world: *scene.crowd().world(id)?,
            palette_offset: 0,
            morph_offset,
            tint: tint(i),
            bounds: scene.crowd().bounding_sphere(id)?,
            lerp: None,
        });
    }
    let shot =
        Shot { models: &models, instances: &instances, morph_weights: &weights, camera, look };
    let (image, counts) = renderer.draw(scene.crowd_mut(), &ids, shot, size)?;
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
