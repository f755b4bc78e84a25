//! `Affine3x4`: the 48-byte matrix of palettes and inverse binds.

use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, BVec4A, DAffine3, DMat3, DVec3, Mat4, Quat, Vec3, Vec4};
use std::ops::Mul;

/// An affine transform as three rows of four: `p' = (dot(row_i, (p, 1)))`.
///
/// 48 bytes, row-major, column vectors; the fourth row (0, 0, 0, 1) is implied. A palette slot has these bytes on the
/// CPU and on the GPU.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Affine3x4 {
    /// Rows x, y and z: the linear part, then the translation.
    pub rows: [[f32; 4]; 3],
}

impl Default for Affine3x4 {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Affine3x4 {
    /// The identity transform.
    pub const IDENTITY: Self =
        Self { rows: [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]] };

    /// Takes the 16 column-major floats of a glTF matrix; the last row is dropped.
    pub fn from_cols_array(m: &[f32; 16]) -> Self {
        Self {
            rows: [
                [m[0], m[4], m[8], m[12]],
                [m[1], m[5], m[9], m[13]],
                [m[2], m[6], m[10], m[14]],
            ],
        }
    }

    /// The 16 column-major floats of the 4×4 matrix (glTF's and glam's order).
    pub fn to_cols_array(&self) -> [f32; 16] {
        let [x, y, z] = self.rows;
        [x[0], y[0], z[0], 0.0, x[1], y[1], z[1], 0.0, x[2], y[2], z[2], 0.0, x[3], y[3], z[3], 1.0]
    }

    /// The matrix translation × rotation × scale. The quaternion must be normalised.
    #[inline]
    pub fn from_scale_rotation_translation(scale: Vec3, rotation: Quat, translation: Vec3) -> Self {
        Affine3A::from_scale_rotation_translation(scale, rotation, translation).into()
    }

    /// Transforms the point `p`: the linear part, then the translation.
    pub fn transform_point3(&self, p: Vec3) -> Vec3 {
        let p = p.extend(1.0);
        let row = |i: usize| Vec4::from_array(self.rows[i]).dot(p);
        Vec3::new(row(0), row(1), row(2))
    }

    /// Transforms the direction `v` by the linear part only.
    pub fn transform_vector3(&self, v: Vec3) -> Vec3 {
        let v = v.extend(0.0);
        let row = |i: usize| Vec4::from_array(self.rows[i]).dot(v);
        Vec3::new(row(0), row(1), row(2))
    }

    /// The translation column.
    #[inline]
    pub fn translation(&self) -> Vec3 {
        Vec3::new(self.rows[0][3], self.rows[1][3], self.rows[2][3])
    }

    /// The largest factor by which the linear part stretches a direction: its largest singular value.
    ///
    /// The root of the largest eigenvalue of MᵀM, by Smith's trigonometric formula (CACM 4, 1961).
    pub(crate) fn stretch(&self) -> f64 {
        let m = DAffine3::from(*self).matrix3;
        let square = m.transpose() * m;
        let (x, y, z) = (square.x_axis, square.y_axis, square.z_axis);
        let mean = (x.x + y.y + z.z) / 3.0;
        let aside = y.x * y.x + z.x * z.x + z.y * z.y;
        let along = (x.x - mean).powi(2) + (y.y - mean).powi(2) + (z.z - mean).powi(2);
        let spread = ((along + 2.0 * aside) / 6.0).sqrt();
        // The stretch is the same in all directions, as for a rotation, or the matrix is not finite.
        if spread.is_nan() || spread <= 0.0 {
            return mean.max(0.0).sqrt();
        }
        let normal = (square - DMat3::from_diagonal(DVec3::splat(mean))) * (1.0 / spread);
        let angle = (normal.determinant() / 2.0).clamp(-1.0, 1.0).acos() / 3.0;
        (mean + 2.0 * spread * angle.cos()).max(0.0).sqrt()
    }

    /// An upper bound of [`stretch`](Self::stretch): the root of the largest row sum of |MᵀM| (Gershgorin). It is equal
    /// except for rounding if the linear part is a rotation times a scale along the axes.
    pub(crate) fn stretch_bound(&self) -> f64 {
        let [a, b, c] = self.rows.map(|row| row.map(f64::from));
        let product = |i: usize, j: usize| a[i] * a[j] + b[i] * b[j] + c[i] * c[j];
        let aside = [product(0, 1), product(1, 2), product(2, 0)].map(f64::abs);
        let x = product(0, 0) + aside[0] + aside[2];
        let y = product(1, 1) + aside[0] + aside[1];
        let z = product(2, 2) + aside[1] + aside[2];
        // Finite elements of f32 have finite products in f64.
        x.max(y).max(z).sqrt()
    }

    /// Whether every element is finite.
    #[inline]
    pub fn is_finite(&self) -> bool {
        self.rows.iter().all(|&row| Vec4::from_array(row).is_finite())
    }
}

/// Applies first the right transform, then the left one.
impl Mul for Affine3x4 {
    type Output = Self;

    #[inline]
    fn mul(self, right: Self) -> Self {
        let [x, y, z] = right.rows.map(Vec4::from_array);
        let last = BVec4A::new(false, false, false, true);
        let row = |a: [f32; 4]| {
            // A register of its own: an element that is changed in memory holds up whoever reads the row.
            let translation = Vec4::select(last, Vec4::from_array(a), Vec4::ZERO);
            (x * a[0] + y * a[1] + z * a[2] + translation).to_array()
        };
        Self { rows: self.rows.map(row) }
    }
}

impl From<Affine3A> for Affine3x4 {
    #[inline]
    fn from(a: Affine3A) -> Self {
        Mat4::from(a).into()
    }
}

impl From<Mat4> for Affine3x4 {
    /// Drops the last row, which is (0, 0, 0, 1) for affine transforms.
    #[inline]
    fn from(m: Mat4) -> Self {
        // Rows are stored whole: who reads one after four elements were stored has to wait.
        let m = m.transpose();
        Self { rows: [m.x_axis.to_array(), m.y_axis.to_array(), m.z_axis.to_array()] }
    }
}

impl From<[[f32; 4]; 3]> for Affine3x4 {
    /// Takes the rows: the bytes of a bone buffer, and the way in for users of another version of glam.
    fn from(rows: [[f32; 4]; 3]) -> Self {
        Self { rows }
    }
}

impl From<Affine3x4> for [[f32; 4]; 3] {
    fn from(a: Affine3x4) -> Self {
        a.rows
    }
}

impl From<Affine3x4> for Affine3A {
    #[inline]
    fn from(a: Affine3x4) -> Self {
        Affine3A::from_mat4(a.into())
    }
}

impl From<Affine3x4> for Mat4 {
    #[inline]
    fn from(a: Affine3x4) -> Self {
        let [x, y, z] = a.rows.map(Vec4::from_array);
        Mat4::from_cols(x, y, z, Vec4::W).transpose()
    }
}

impl From<Affine3x4> for DAffine3 {
    fn from(a: Affine3x4) -> Self {
        let [x, y, z] = a.rows.map(|row| row.map(f64::from));
        let column = |c: usize| DVec3::new(x[c], y[c], z[c]);
        DAffine3 {
            matrix3: DMat3::from_cols(column(0), column(1), column(2)),
            translation: column(3),
        }
    }
}

impl From<DAffine3> for Affine3x4 {
    /// Rounds to f32; values beyond its range become infinite.
    fn from(a: DAffine3) -> Self {
        let (m, t) = (a.matrix3.as_mat3().transpose(), a.translation.as_vec3());
        let row = |axis: Vec3, t: f32| axis.extend(t).to_array();
        Self { rows: [row(m.x_axis, t.x), row(m.y_axis, t.y), row(m.z_axis, t.z)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_keep_every_element() {
        let rows = [[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]];
        let m = Affine3x4::from(rows);
        assert_eq!(<[[f32; 4]; 3]>::from(m), rows);
        assert_eq!(Affine3x4::from(Mat4::from(m)), m);
        assert_eq!(Affine3x4::from(Affine3A::from(m)), m);
        let point = Mat4::from(m).transform_point3(Vec3::new(1.0, 0.0, 0.0));
        assert_eq!(point.to_array(), [5.0, 13.0, 21.0]);
    }

    #[test]
    fn stretch_is_that_of_the_longest_axis() {
        let turns = [
            Quat::IDENTITY,
            Quat::from_rotation_y(0.7) * Quat::from_rotation_x(2.1),
            Quat::from_xyzw(0.5, -0.5, 0.5, 0.5),
        ];
        let scales = [[1.0f32; 3], [2.0, 2.0, 2.0], [3.0, -0.5, 0.0], [1.0, 40.0, 39.0], [0.0; 3]];
        for (a, b) in turns.iter().flat_map(|a| turns.map(|b| (*a, b))) {
            for scale in scales {
                let scaled = Affine3x4::from_scale_rotation_translation(scale.into(), a, Vec3::ONE);
                let turned = Affine3x4::from(Affine3A::from_quat(b)) * scaled;
                let wanted = scale.iter().fold(0.0f32, |m, s| m.max(s.abs()));
                let found = turned.stretch();
                assert!(
                    (found - f64::from(wanted)).abs() <= 1e-5 * f64::from(wanted),
                    "{scale:?} {found}"
                );
            }
        }
        // The largest singular value of a unit shear is the golden ratio.
        let mut shear = Affine3x4::IDENTITY;
        shear.rows[0][1] = 1.0;
        assert!((shear.stretch() - (1.0 + 5.0f64.sqrt()) / 2.0).abs() < 1e-12);
        shear.rows[2][0] = 1e12;
        assert!((shear.stretch() / 1e12 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn product_follows_the_column_vector_convention() {
        let a = Affine3A::from_scale_rotation_translation(
            Vec3::new(1.0, -2.0, 3.0),
            Quat::from_rotation_y(0.7),
            Vec3::new(4.0, 5.0, 6.0),
        );
        let b = Affine3A::from_rotation_translation(Quat::from_rotation_x(-1.1), Vec3::X);
        let p = Vec3::new(0.3, -0.4, 0.5);
        let product = Affine3x4::from(a) * Affine3x4::from(b);
        let expected = a.transform_point3(b.transform_point3(p));
        assert!((product.transform_point3(p) - expected).length() < 1e-5);
        let back = Affine3x4::from_cols_array(&product.to_cols_array());
        assert_eq!(back, product);
        assert_eq!(std::mem::size_of::<Affine3x4>(), 48);
    }
}
