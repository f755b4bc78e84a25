//! Draws the picture of the last frame.

use super::super::error::CliError;
use super::super::frame_renderer::{FrameRenderer, Shot};
use super::super::model::Model;
use super::super::png;
use super::cast::{self, Choice, Draw};
use super::figures::PictureFigures;
use super::floor::{Floors, on_ground};
use super::formation::Formation;
use glam::Affine3A;
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId};
use phalanx::rig::Sphere;
use phalanx::runtime::palette_bounds;
use phalanx_render::{
    Camera, DrawCounts, DrawDetail, DrawInstance, DrawMesh, DrawModel, Look, PictureSize, RigShape,
};
use std::path::Path;
use std::time::Instant;

/// Heights on screen, in pixels, from which each level of detail is used; further levels share the last.
pub const DETAIL_PIXELS: [f32; 3] = [110.0, 40.0, 0.0];

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

/// The content of a picture.
pub struct Subject<'a> {
    pub model: &'a Model,
    pub formation: &'a Formation,
    /// The clips that the crowd plays. If they travel, every character is moved back to its position.
    pub choice: &'a Choice,
    /// The height that the formation puts on the ground, in model space.
    pub floor: f32,
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
    let cast = instances(subject, crowd, buffer)?;
    let (min, max) = subject.formation.extent();
    let camera = Camera::overlooking(min, max, size.aspect());
    let shot = Shot {
        models: &[DrawModel { details: &details }],
        instances: &cast.instances,
        morph_weights: &cast.weights,
        camera,
        look: Look::over(min, max, camera.eye),
    };
    let (image, counts) = renderer.draw(crowd, &cast.ids, shot, size)?;
    let milliseconds = start.elapsed().as_secs_f64() * 1e3;
    let png = png::encode(image)?;
    Ok(Picture { png, drawn_by: renderer.name(), counts, milliseconds })
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
    let morphs = rig.nodes().iter().any(|n| !n.morphs.is_empty());
    let mut floors = Floors::new(subject.floor);
    let clips = subject.choice.clips.iter().copied().map(Some);
    let measured = floors.measure(rig, clips.chain([None]));
    measured.map_err(|source| CliError::Pose {
        file: subject.model.file.clone(),
        source: Box::new(source),
    })?;
    let mut all = Everyone::default();
    for (i, instance) in crowd.instances().enumerate() {
        let Some(range) = crowd.palette_range(instance) else {
            continue;
        };
        let morph_offset = all.weights.len() as u32;
        if morphs {
            crowd.scalars(instance, &mut all.weights)?;
        }
        let palette_offset = range.start as u32;
        let rows = buffer.rows().get(range).unwrap_or(&[]);
        let bounds = palette_bounds(rig.slot_bounds(), rows);
        let bounds =
            bounds.map_err(|source| CliError::Job { file: subject.model.file.clone(), source })?;
        let radius = bounds.half_size().length() * if morphs { MORPH_MARGIN } else { 1.0 };
        let finite = !bounds.is_empty() && radius.is_finite() && bounds.center().is_finite();
        let mut world = on_ground(*crowd.world(instance)?, floors.below(crowd, instance)?.0);
        if subject.choice.travel && finite {
            let away = bounds.center().with_y(0.0);
            world = world * Affine3A::from_translation(-away).into();
        }
        all.ids.push(instance);
        all.instances.push(DrawInstance {
            model: 0,
            world,
            palette_offset,
            lerp: None,
            morph_offset,
            tint: tint(i),
            // Without bounds an instance is never culled.
            bounds: finite.then(|| Sphere { center: bounds.center().to_array(), radius }),
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

#[cfg(test)]
mod tests {
    use super::super::cast::Cast;
    use super::super::size;
    use super::*;
    use phalanx::playback::PoseAction;
    use phalanx_testkit::trials;

    /// The fox runs deeper than it looks around.
    #[test]
    fn everyone_stands_on_the_floor_of_its_clip() {
        let Some(fox) = trials::model("Fox.glb") else {
            return;
        };
        let model = Model::load(Some(&fox), false, Default::default()).unwrap();
        let choice = cast::choose_clips(&model).unwrap();
        let size = size::measure(&model, &choice).unwrap();
        let formation = Formation::new(24, size);
        let (_, mut crowd) = Cast::new(&model.rig, &choice.clips, &formation).unwrap();
        let mut buffer = BoneBuffer::new();
        crowd.evaluate(&mut buffer);
        let subject =
            Subject { model: &model, formation: &formation, choice: &choice, floor: size.min.y };
        let all = instances(&subject, &crowd, &buffer).unwrap();
        let mut clips = Vec::new();
        for (&id, instance) in all.ids.iter().zip(&all.instances) {
            let playing: Vec<_> = crowd.playing(id).unwrap().clips().collect();
            let &[clip] = &playing[..] else { continue };
            let clip = clip.index();
            let duration = model.rig.clips()[clip].duration();
            let lowest = (0..48).map(|step| {
                let action =
                    PoseAction { clip, time: duration * (step as f32 + 0.5) / 48.0, weight: 1.0 };
                let pose = size::pose_size(&model, &model.pose(&[action]).unwrap()).unwrap();
                instance.world.transform_point3(pose.min).y
            });
            let lowest = lowest.fold(f32::INFINITY, f32::min);
            let height = (size.max.y - size.min.y) * instance.world.rows[1][1];
            assert!(lowest.abs() < 0.01 * height, "clip {clip}: {lowest} of {height}");
            clips.push(clip);
        }
        clips.sort_unstable();
        clips.dedup();
        assert_eq!(clips.len(), choice.clips.len());
    }
}
