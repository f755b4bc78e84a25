//! Node matrices, decomposed into translation, rotation and scale.

use crate::skeleton::Trs;
use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

/// Residuals below this fraction of the matrix's largest entry are rounding: matrices that
/// exporters compute from f32 factors show up to 3e-7.
pub(super) const SHEAR_TOLERANCE: f64 = 1e-5;

/// A decomposed matrix.
pub(super) struct Decomposed {
    pub local: Trs,
    /// Largest difference between the matrix and the product of its parts, relative to its largest linear entry: only
    /// rounding, unless there is shear.
    pub residual: f64,
}

/// Decomposes a column-major affine matrix of finite numbers, in f64.
///
/// A mirrored matrix gets one negative scale, on the axis that needs the least rotation. Columns of
/// zero length get scale 0. Shear is lost: the axes are made orthogonal, x first.
pub(super) fn decompose(m: &[f32; 16]) -> Decomposed {
    let m64 = m.map(f64::from);
    let column = |c: usize| DVec3::new(m64[c * 4], m64[c * 4 + 1], m64[c * 4 + 2]);
    let columns = [column(0), column(1), column(2)];
    let mut scale = columns.map(DVec3::length);
    let mut axes = orthonormal(columns);
    if DMat3::from_cols(axes[0], axes[1], axes[2]).determinant() < 0.0 {
        // Flipping axis i changes the trace, and so the rotation's angle, by its diagonal element.
        let diagonal = [axes[0].x, axes[1].y, axes[2].z];
        let flip = (0..3).fold(0, |best, i| if diagonal[i] < diagonal[best] { i } else { best });
        axes[flip] = -axes[flip];
        scale[flip] = -scale[flip];
    }
    let rotation = DQuat::from_mat3(&DMat3::from_cols(axes[0], axes[1], axes[2])).normalize();
    let rotation =
        Quat::from_xyzw(rotation.x as f32, rotation.y as f32, rotation.z as f32, rotation.w as f32);
    let local = Trs {
        translation: Vec3::new(m[12], m[13], m[14]),
        rotation: if rotation.is_finite() { rotation } else { Quat::IDENTITY },
        scale: Vec3::new(scale[0] as f32, scale[1] as f32, scale[2] as f32),
    };
    let (rotation, scale) = (local.rotation.as_dquat(), local.scale.as_dvec3());
    let product = DMat3::from_quat(rotation) * DMat3::from_diagonal(scale);
    let (mut worst, mut largest) = (0.0f64, 0.0f64);
    for (i, column) in columns.iter().enumerate() {
        worst = worst.max((product.col(i) - *column).abs().max_element());
        largest = largest.max(column.abs().max_element());
    }
    let residual = if largest > 0.0 { worst / largest } else { 0.0 };
    Decomposed { local, residual }
}

/// Orthonormal axes, as close to the columns as x, then y allow; keeps the handedness.
fn orthonormal(columns: [DVec3; 3]) -> [DVec3; 3] {
    let tiny = 1e-12 * columns.iter().fold(0.0, |m: f64, c| m.max(c.length()));
    let unit = |v: DVec3| (v.length() > tiny && v.length() > 0.0).then(|| v.normalize());
    let given = columns.map(unit);
    let reject = |v: Option<DVec3>, axis: DVec3| {
        let rest = v? - axis * v?.dot(axis);
        (rest.length() > 1e-9).then(|| rest.normalize())
    };
    match given {
        [Some(x), y, z] => {
            let y = reject(y, x);
            let y = y.or_else(|| reject(z, x).map(|z| z.cross(x)));
            let y = y.unwrap_or_else(|| x.any_orthonormal_vector());
            let right = x.cross(y);
            let mirrored = z.is_some_and(|z| z.dot(right) < 0.0);
            [x, y, if mirrored { -right } else { right }]
        }
        [None, Some(y), z] => {
            let z = reject(z, y).unwrap_or_else(|| y.any_orthonormal_vector());
            [y.cross(z), y, z]
        }
        [None, None, Some(z)] => {
            let x = z.any_orthonormal_vector();
            [x, z.cross(x), z]
        }
        [None, None, None] => [DVec3::X, DVec3::Y, DVec3::Z],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Mat4;

    fn matrix(scale: Vec3, rotation: Quat) -> [f32; 16] {
        Mat4::from_scale_rotation_translation(scale, rotation, Vec3::new(1.0, -2.0, 3.5))
            .to_cols_array()
    }

    #[test]
    fn products_come_apart_and_together_again() {
        let turns = [
            Quat::IDENTITY,
            Quat::from_xyzw(0.5, -0.5, 0.5, 0.5),
            Quat::from_axis_angle(Vec3::new(0.6, 0.0, 0.8), 3.1),
        ];
        let scales = [
            Vec3::ONE,
            Vec3::new(0.01, 2.0, 300.0),
            Vec3::new(1.0, -1.0, 1.0),
            Vec3::new(-2.0, -0.5, -1.0),
            Vec3::new(0.0, 1.0, 2.0),
            Vec3::new(3.0, 0.0, 2.0),
            Vec3::new(3.0, 0.5, 0.0),
            Vec3::new(0.0, 0.0, -2.0),
            Vec3::ZERO,
        ];
        for turn in turns {
            for scale in scales {
                let m = matrix(scale, turn);
                let parts = decompose(&m);
                assert!(parts.residual < 1e-6, "{scale} {turn}: {}", parts.residual);
                let again = Mat4::from_scale_rotation_translation(
                    parts.local.scale,
                    parts.local.rotation,
                    parts.local.translation,
                )
                .to_cols_array();
                let size = scale.abs().max_element().max(1.0);
                for (a, b) in again.iter().zip(&m) {
                    assert!((a - b).abs() <= 2e-6 * size, "{scale} {turn}: {again:?}");
                }
            }
        }
    }

    #[test]
    fn a_mirror_stays_on_its_axis_and_exact() {
        for scale in
            [Vec3::new(1.0, -1.0, 1.0), Vec3::new(1.0, 1.0, -3.0), Vec3::new(-0.5, 1.0, 1.0)]
        {
            let parts = decompose(&matrix(scale, Quat::IDENTITY));
            assert_eq!(parts.local.scale, scale);
            assert_eq!(parts.local.rotation, Quat::IDENTITY);
            assert_eq!(parts.residual, 0.0);
        }
    }

    #[test]
    fn shear_shows_in_the_residual() {
        let mut m = matrix(Vec3::ONE, Quat::IDENTITY);
        m[4] = 0.5;
        assert!(decompose(&m).residual > 0.1);
    }
}
