//! The box of an animated instance.

use super::check::{JobError, exact};
use crate::math::Affine3x4;
use crate::rig::Aabb;
use glam::{Mat4, Vec4};

/// The box of the deformed meshes of an instance, in model space. Empty if no slot moves a vertex.
///
/// `slots` are [`Rig::slot_bounds`](crate::rig::Rig::slot_bounds), each transformed by its row of `palette`, axis by axis
/// (Arvo, Graphics Gems, 1990). The box contains every vertex for weights that sum to 1 and morph
/// weights in [0, 1]; it is not the smallest one.
///
/// # Errors
/// If the palette has not one matrix per slot box.
pub fn palette_bounds(slots: &[Aabb], palette: &[Affine3x4]) -> Result<Aabb, JobError> {
    exact("palette_bounds", "palette", palette.len(), slots.len())?;
    let (mut low, mut high) = (Vec4::INFINITY, Vec4::NEG_INFINITY);
    for (slot, row) in slots.iter().zip(palette).filter(|(slot, _)| !slot.is_empty()) {
        let [x, y, z] = row.rows.map(Vec4::from);
        let columns = Mat4::from_cols(x, y, z, Vec4::W).transpose();
        let (mut least, mut most) = (columns.w_axis, columns.w_axis);
        for (axis, column) in [columns.x_axis, columns.y_axis, columns.z_axis].iter().enumerate() {
            let (a, b) = (column * slot.min[axis], column * slot.max[axis]);
            least += a.min(b);
            most += a.max(b);
        }
        low = low.min(least);
        high = high.max(most);
    }
    Ok(Aabb { min: low.truncate(), max: high.truncate() })
}
