//! How far two clips carry the points of shells apart, in f64: what a file shows by the oracle, against model
//! matrices from anywhere. Nothing of the baker is called.

use crate::oracle::Scene;
use crate::oracle::math::Mat4;

/// Points around a joint: on its axes, and in directions between them.
const DIRECTIONS: [[f64; 3]; 10] = [
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [-1.0, 0.0, 0.0],
    [0.0, -1.0, 0.0],
    [0.0, 0.0, -1.0],
    [0.6, 0.8, 0.0],
    [0.0, -0.6, 0.8],
    [0.8, 0.0, -0.6],
    [0.36, 0.48, 0.8],
];
/// Of these the axes, which the stated error is about.
const AXES: usize = 3;

/// World matrices of all nodes of a file at a time.
pub fn file(scene: &Scene, clip: usize, time: f64) -> Vec<Mat4> {
    let shown = scene.evaluate(&scene.pose(clip, time));
    shown.world.into_iter().flatten().collect()
}

/// The largest distance between the points of a shell, in model space, on the axes of a joint and all around it.
/// `wanted` is the joint's matrix in the file, `shown` what is compared with it.
///
/// The points are `distance` metres from the joint in model space, in the directions of its axes: an offset in its own
/// units is the distance divided by the length of the axis. An axis shorter than `least` counts as that long.
pub fn apart(wanted: &Mat4, shown: &Mat4, distance: f64, least: [f64; 3]) -> [f64; 2] {
    let offset: [f64; 3] = std::array::from_fn(|k| {
        let square: f64 = (0..3).map(|r| wanted[k * 4 + r].powi(2)).sum();
        distance / square.sqrt().max(least[k])
    });
    let mut worst = [0.0f64; 2];
    for (i, direction) in DIRECTIONS.iter().enumerate() {
        let square: f64 = (0..3)
            .map(|r| {
                let moved = |m: &Mat4| -> f64 {
                    m[12 + r] + (0..3).map(|k| m[k * 4 + r] * direction[k] * offset[k]).sum::<f64>()
                };
                (moved(shown) - moved(wanted)).powi(2)
            })
            .sum();
        let far = square.sqrt();
        if i < AXES {
            worst[0] = worst[0].max(far);
        }
        worst[1] = worst[1].max(far);
    }
    worst
}
