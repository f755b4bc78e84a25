//! The box of an animated instance.

use super::check::{JobError, exact};
use crate::math::Affine3x4;
use crate::rig::Aabb;

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
    let mut all = Aabb::EMPTY;
    for (slot, row) in slots.iter().zip(palette).filter(|(slot, _)| !slot.is_empty()) {
        let (center, half) = (slot.center(), slot.half_size());
        for (axis, m) in row.rows.iter().enumerate() {
            let middle = m[0] * center.x + m[1] * center.y + m[2] * center.z + m[3];
            let reach = m[0].abs() * half.x + m[1].abs() * half.y + m[2].abs() * half.z;
            all.min[axis] = all.min[axis].min(middle - reach);
            all.max[axis] = all.max[axis].max(middle + reach);
        }
    }
    Ok(all)
}
