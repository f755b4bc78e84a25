//! The characters' positions: rows on the ground, facing +Z.

use super::cast::{Draw, draw};
use glam::{Affine3A, Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::rig::Aabb;
use std::ops::RangeInclusive;

/// Model sizes (longest side, in the file's units) that are drawn unscaled. Other models are scaled to
/// [`COMMON_SIZE`] in the picture, since camera, haze and ground assume metres.
const USUAL_SIZES: RangeInclusive<f32> = 0.2..=20.0;

/// Longest sides, in the file's units, of models that are drawn unscaled where each character has one square metre.
const SIZES_OF_PEOPLE: RangeInclusive<f32> = 0.5..=3.0;

/// Size to which unusual models are scaled, in metres.
const COMMON_SIZE: f32 = 1.8;

/// Spacing relative to the character's width and depth, and the minimum relative to its longest side:
/// slim characters need more than their width.
const ROOM: f32 = 1.12;
const LEAST_ROOM: f32 = 0.62;

/// Random offset from a position, relative to the spacing, and random turn in radians.
const OFFSET: f64 = 0.12;
const TURN: f64 = 0.14;

/// A formation of `count` characters of one size.
#[derive(Debug)]
pub struct Formation {
    count: usize,
    files: usize,
    ranks: usize,
    size: Aabb,
    scale: f32,
    spacing: [f32; 2],
}

impl Formation {
    /// Lays out a formation for a model size in the file's units.
    pub fn new(count: usize, size: Aabb) -> Self {
        let sides = size.max - size.min;
        let greatest = sides.max_element();
        let scale = scale(&size, USUAL_SIZES);
        let reach = if greatest.is_normal() { greatest * scale } else { COMMON_SIZE };
        let room = |side: f32| (side * scale * ROOM).max(reach * LEAST_ROOM);
        let spacing = [room(sides.x), room(sides.z)];
        // The ground is roughly square, so deeper characters stand in more files.
        let ratio = f64::from(spacing[1] / spacing[0]);
        let files = (count as f64 * ratio).sqrt().ceil().max(1.0) as usize;
        let files = files.min(count);
        Self { count, files, ranks: count.div_ceil(files.max(1)), size, scale, spacing }
    }

    /// Number of characters.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Transform of a character from model space to the picture's world space, with the ground at height 0.
    pub fn place(&self, i: usize) -> Affine3x4 {
        let (rank, file) = (i / self.files, i % self.files);
        // The last rank may be short; it is centred.
        let in_rank = self.files.min(self.count - rank * self.files);
        let [x, z] = self.spacing;
        let around = |what| ((draw(i, what) - 0.5) * 2.0 * OFFSET) as f32;
        let at = Vec3::new(
            (file as f32 - (in_rank as f32 - 1.0) * 0.5 + around(Draw::OffsetX)) * x,
            0.0,
            ((self.ranks as f32 - 1.0) * 0.5 - rank as f32 + around(Draw::OffsetZ)) * z,
        );
        let turn = ((draw(i, Draw::Heading) - 0.5) * 2.0 * TURN) as f32;
        let rotation = Quat::from_rotation_y(turn);
        let foot = foot(&self.size, self.scale);
        let scale = Vec3::splat(self.scale);
        Affine3A::from_scale_rotation_translation(scale, rotation, at - rotation * foot).into()
    }

    /// Corners of the formation's bounding box, in the picture's world space.
    pub fn extent(&self) -> (Vec3, Vec3) {
        let [x, z] = self.spacing;
        let half = Vec3::new(
            (self.files as f32 - 1.0) * 0.5 * x,
            0.0,
            (self.ranks as f32 - 1.0) * 0.5 * z,
        );
        let sides = (self.size.max - self.size.min) * self.scale;
        let around = Vec3::new(sides.x * 0.5, 0.0, sides.z * 0.5);
        let least = Vec3::splat(COMMON_SIZE * 1e-3);
        (-half - around - least.with_y(0.0), half + around + least + Vec3::Y * sides.y)
    }
}

/// The scale of a model in a picture: 1 if its longest side is among the usual sizes.
fn scale(size: &Aabb, usual: RangeInclusive<f32>) -> f32 {
    let greatest = (size.max - size.min).max_element();
    let wanted = COMMON_SIZE / greatest;
    // Sizes near the limits of f32 are not scaled.
    let usual = usual.contains(&greatest) || !wanted.is_normal();
    let usual = usual || !(size.center().abs().max_element() * wanted).is_finite();
    if usual { 1.0 } else { wanted }
}

/// The centre of the model's footprint at the height of its lowest point, scaled. This point is put on a position.
fn foot(size: &Aabb, scale: f32) -> Vec3 {
    size.center().with_y(size.min.y) * scale
}

/// Transform from model space to a square metre of ground at the origin. Models of other sizes than people are scaled.
pub fn on_a_square_metre(size: &Aabb) -> Affine3A {
    let scale = scale(size, SIZES_OF_PEOPLE);
    Affine3A::from_scale_rotation_translation(
        Vec3::splat(scale),
        Quat::IDENTITY,
        -foot(size, scale),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(x: f32, y: f32, z: f32) -> Aabb {
        Aabb { min: Vec3::new(10.0, -0.5 * y, 0.0), max: Vec3::new(10.0 + x, 0.5 * y, z) }
    }

    #[test]
    fn everyone_stands_on_the_ground_and_inside_the_extent() {
        let sizes = [(0.6, 1.8, 0.4), (0.006, 0.018, 0.004), (30.0, 80.0, 150.0), (0.0, 0.0, 0.0)];
        for (x, y, z) in sizes {
            let size = model(x, y, z);
            for count in [1, 2, 7, 1000] {
                let formation = Formation::new(count, size);
                let (min, max) = formation.extent();
                assert!((max - min).cmpgt(Vec3::ZERO).all(), "{min} {max}");
                let foot = size.center().with_y(size.min.y);
                let mut places: Vec<Vec3> =
                    (0..count).map(|i| formation.place(i).transform_point3(foot)).collect();
                let slack = Vec3::new(formation.spacing[0], 1e-3, formation.spacing[1]);
                for p in &places {
                    assert!(p.y.abs() < 1e-4, "{p}");
                    assert!(p.cmpgt(min - slack).all() && p.cmplt(max + slack).all(), "{p}");
                }
                places.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.z.total_cmp(&b.z)));
                let apart = places.windows(2).all(|p| p[0].distance(p[1]) > 0.1);
                assert!(apart, "{count} of {x} x {y} x {z}");
            }
        }
    }

    #[test]
    fn models_of_any_size_fit_on_a_square_metre() {
        for (model, height) in [
            (model(0.6, 1.8, 0.4), 1.8),
            (model(30.0, 80.0, 150.0), 0.96),
            (model(0.006, 0.018, 0.004), 1.8),
        ] {
            let fit = on_a_square_metre(&model);
            let (low, high) =
                (model.center().with_y(model.min.y), model.center().with_y(model.max.y));
            let (low, high) = (fit.transform_point3(low), fit.transform_point3(high));
            assert!(low.abs().max_element() < 1e-4, "{low}");
            assert!((high - Vec3::Y * height).abs().max_element() < 1e-3, "{high}");
        }
        assert!(on_a_square_metre(&model(f32::MAX, 1.0, 1.0)).is_finite());
    }

    #[test]
    fn numbers_out_of_range_give_a_finite_formation() {
        for size in [f32::MIN_POSITIVE, 1e-30, 1e30, f32::MAX * 0.25] {
            let formation = Formation::new(3, model(size, size, size));
            assert!((0..3).all(|i| formation.place(i).is_finite()), "{size}");
            let (min, max) = formation.extent();
            assert!(min.is_finite() && max.is_finite(), "{size}");
        }
    }
}
