//! Numbers for tests: the same for each seed.

use crate::math::Affine3x4;

/// Numbers from -1 to 1.
pub fn numbers(seed: u64) -> impl FnMut() -> f32 {
    let mut next = seed * 1_000_003;
    move || {
        next += 1;
        phalanx_workload::hash01(next) as f32 * 2.0 - 1.0
    }
}

/// Matrices of elements from -2 to 2.
pub fn matrices(count: usize, seed: u64) -> Vec<Affine3x4> {
    let mut number = numbers(seed);
    let mut matrix = || Affine3x4::from([[(); 4]; 3].map(|row| row.map(|()| number() * 2.0)));
    (0..count).map(|_| matrix()).collect()
}
