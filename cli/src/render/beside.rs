//! Models side by side: on one ground and at one scale, unless each is to be fitted, and which of them a frame misses.

use super::super::error::CliError;
use super::draw::{Setup, vertices};
use super::stage::SampledFrame;
use glam::{Affine3A, Vec2, Vec3};
use phalanx::math::Affine3x4;
use phalanx::rig::Aabb;
use phalanx_render::{Camera, DrawMesh, Look, PictureSize, Projection};

/// Gap between models side by side, relative to the height of the first.
const GAP: f32 = 0.15;

/// Distance around its place up to which another model is shown, relative to the longest side of the first model's
/// movement. If more were shown, the first model would be small.
const REACH: f32 = 4.0;

/// Least size of a model that is seen, as a share of the picture's height.
const SMALL: f32 = 0.02;

/// How deep a model may stand in the ground and be seen, relative to its height.
const SUNK: f32 = 0.01;

/// Reasons why an actor is not seen in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// More than half of it is outside of the picture, or below the ground; it is not drawn.
    Outside,
    /// It is smaller than [`SMALL`].
    Small,
}

impl Unseen {
    /// The reason as the end of a sentence about the model.
    pub fn words(self) -> &'static str {
        match self {
            Self::Outside => "is out of the picture",
            Self::Small => "is too small to be seen",
        }
    }
}

/// The places of actors.
pub struct Arranged {
    /// Per actor, the space whose vertices the picture shows.
    pub shown: Vec<Aabb>,
    /// The lowest point of the first model; `None` without other models.
    pub ground: Option<f32>,
}

/// Moves the last actors to the right of those before them.
pub fn arrange(
    meshes: &[Vec<DrawMesh>],
    frames: &mut [SampledFrame],
    setup: Setup,
) -> Result<Arranged, CliError> {
    let first = meshes.len().saturating_sub(setup.beside);
    let all = Aabb { min: Vec3::NEG_INFINITY, max: Vec3::INFINITY };
    let mut arranged = Arranged { shown: vec![all; meshes.len()], ground: None };
    if setup.beside == 0 {
        return Ok(arranged);
    }
    let mut main = Aabb::EMPTY;
    vertices(meshes, frames, 0..first, |p| main.add(p))?;
    if main.is_empty() {
        return Ok(arranged);
    }
    arranged.ground = Some(main.min.y);
    let height = main.max.y - main.min.y;
    let reach = REACH * (main.max - main.min).max_element();
    let mut end = main.max.x;
    for actor in first..meshes.len() {
        let mut extent = Aabb::EMPTY;
        vertices(meshes, frames, actor..actor + 1, |p| extent.add(p))?;
        if extent.is_empty() {
            continue;
        }
        let ratio = height / (extent.max.y - extent.min.y);
        let (scale, up) = match setup.fit_each {
            true if ratio.is_normal() => (ratio, main.min.y - ratio * extent.min.y),
            true => (1.0, main.min.y - extent.min.y),
            false => (1.0, 0.0),
        };
        let left = end + GAP * height;
        let ahead = main.center().z - scale * extent.center().z;
        let moved = Affine3A::from_translation(Vec3::new(left - scale * extent.min.x, up, ahead))
            * Affine3A::from_scale(Vec3::splat(scale));
        let moved = Affine3x4::from(moved);
        for posed in frames.iter_mut().filter_map(|f| f.actors.get_mut(actor)) {
            posed.world = moved * posed.world;
        }
        let width = (scale * (extent.max.x - extent.min.x)).min(reach);
        end = left + width;
        if reach.is_normal() {
            arranged.shown[actor] = Aabb {
                min: Vec3::new(left, main.min.y, main.center().z) - reach,
                max: Vec3::new(end, main.max.y, main.center().z) + reach,
            };
        }
    }
    Ok(arranged)
}

/// The view of a picture, for tests of visibility.
pub struct Sight<'a> {
    place: &'a Affine3x4,
    projection: Projection,
    ground: f32,
    size: Vec2,
}

impl<'a> Sight<'a> {
    /// For frames of a size, of vertices moved by `place`.
    pub fn new(
        place: &'a Affine3x4,
        camera: &Camera,
        look: &Look,
        size: PictureSize,
    ) -> Result<Self, CliError> {
        Ok(Self {
            place,
            projection: camera.projection(size)?,
            ground: look.ground.unwrap_or(f32::NEG_INFINITY),
            size: Vec2::new(size.width as f32, size.height as f32),
        })
    }

    /// The reason why an actor is not seen in a frame; `None` if it is seen or has no vertices.
    pub fn misses(
        &self,
        meshes: &[Vec<DrawMesh>],
        frame: &SampledFrame,
        actor: usize,
    ) -> Result<Option<Unseen>, CliError> {
        let mut points = Vec::new();
        let frames = std::slice::from_ref(frame);
        vertices(meshes, frames, actor..actor + 1, |p| {
            points.push(self.place.transform_point3(p))
        })?;
        let (mut low, mut high) = (f32::INFINITY, f32::NEG_INFINITY);
        points.iter().for_each(|p| (low, high) = (low.min(p.y), high.max(p.y)));
        let floor = self.ground - SUNK * (high - low);
        let mut seen = 0;
        let (mut from, mut to) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        for &p in points.iter().filter(|p| p.y >= floor) {
            let Some([at, _]) = self.projection.line(p, p) else {
                continue;
            };
            if at.clamp(Vec2::ZERO, self.size) == at {
                seen += 1;
                (from, to) = (from.min(at), to.max(at));
            }
        }
        Ok(match points.len() {
            0 => None,
            all if 2 * seen < all => Some(Unseen::Outside),
            _ => ((to - from).max_element() < SMALL * self.size.y).then_some(Unseen::Small),
        })
    }
}
