//! The box of an animated instance, eight palette rows at a time.

use super::check::{JobError, exact};
use crate::math::Affine3x4;
use crate::rig::Aabb;
use glam::Vec3;
use ultraviolet::{Vec3x8, f32x8};

/// The box of the deformed meshes of an instance, in model space. Empty if no slot moves a vertex.
///
/// `slots` are [`Rig::slot_bounds`](crate::rig::Rig::slot_bounds), each transformed by its row of `palette` through its
/// centre and half size (Arvo, Graphics Gems, 1990). The box contains every vertex for weights that sum to 1 and morph
/// weights in [0, 1]; it is not the smallest one.
///
/// # Errors
/// If the palette has not one matrix per slot box.
pub fn palette_bounds(slots: &[Aabb], palette: &[Affine3x4]) -> Result<Aabb, JobError> {
    exact("palette_bounds", "palette", palette.len(), slots.len())?;
    let mut low = Vec3x8::broadcast(f32x8::splat(f32::INFINITY));
    let mut high = Vec3x8::broadcast(f32x8::splat(f32::NEG_INFINITY));
    let boxes = slots.chunks(8);
    for (boxes, rows) in boxes.zip(palette.chunks(8)) {
        // Lanes without vertices repeat one that has some, so that they add nothing.
        let Some(filled) = boxes.iter().position(|b| !b.is_empty()) else {
            continue;
        };
        let lane = |i: usize| match boxes.get(i) {
            Some(b) if !b.is_empty() => i,
            _ => filled,
        };
        let gather = |f: &dyn Fn(usize) -> f32| f32x8::new(std::array::from_fn(|i| f(lane(i))));
        let vector = |f: &dyn Fn(usize) -> Vec3| {
            Vec3x8::new(gather(&|i| f(i).x), gather(&|i| f(i).y), gather(&|i| f(i).z))
        };
        let center = vector(&|i| boxes[i].center());
        let half = vector(&|i| boxes[i].half_size());
        let axis = |r: usize| {
            let m: [f32x8; 4] = std::array::from_fn(|c| gather(&|i| rows[i].rows[r][c]));
            let middle = m[0] * center.x + m[1] * center.y + m[2] * center.z + m[3];
            let reach = m[0].abs() * half.x + m[1].abs() * half.y + m[2].abs() * half.z;
            (middle - reach, middle + reach)
        };
        let (x, y, z) = (axis(0), axis(1), axis(2));
        low = low.min_by_component(Vec3x8::new(x.0, y.0, z.0));
        high = high.max_by_component(Vec3x8::new(x.1, y.1, z.1));
    }
    let least = |v: f32x8| v.to_array().into_iter().fold(f32::INFINITY, f32::min);
    let most = |v: f32x8| v.to_array().into_iter().fold(f32::NEG_INFINITY, f32::max);
    Ok(Aabb {
        min: Vec3::new(least(low.x), least(low.y), least(low.z)),
        max: Vec3::new(most(high.x), most(high.y), most(high.z)),
    })
}
