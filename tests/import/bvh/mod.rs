//! BVH: texts made here, against rotations and places computed in f64 by matrices.

mod long;
mod reading;
mod refusals;

use phalanx::import::ImportOptions;
use phalanx::import::bvh::read_slice;
use phalanx::import::raw::RawScene;

/// A hip with a leg: six channels, and three in another order.
pub const PAIR: &str = "\
HIERARCHY
ROOT Hips
{
\tOFFSET 0.5 1 0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT Leg
\t{
\t\tOFFSET 0 -0.5 0.25
\t\tCHANNELS 3 Yrotation Zrotation Xrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 -0.25 0
\t\t}
\t}
}
MOTION
Frames: 2
Frame Time: 0.25
0 1 0 10 20 30 5 6 7
0.5 1 0.25 -10 40 -30 50 -60 70
";

/// A file that must be read without a word in its report.
pub fn sound(text: &str) -> RawScene {
    let (scene, report) = read_slice(text.as_bytes(), "take.bvh", &ImportOptions::default())
        .unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(report, [], "{text}");
    scene
}

pub type Matrix = [[f64; 3]; 3];

/// The rotation about an axis, in degrees, as a matrix for column vectors.
pub fn about(axis: char, degrees: f64) -> Matrix {
    let (s, c) = (degrees * std::f64::consts::PI / 180.0).sin_cos();
    match axis {
        'X' => [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]],
        'Y' => [[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]],
        _ => [[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]],
    }
}

pub fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

pub fn turned(m: &Matrix, v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| (0..3).map(|k| m[i][k] * v[k]).sum())
}

/// The matrix of a unit quaternion xyzw.
pub fn matrix(q: &[f32]) -> Matrix {
    let [x, y, z, w] = [q[0], q[1], q[2], q[3]].map(f64::from);
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

pub fn close(a: &[f64], b: &[f64], within: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= within)
}
