//! The SIMD level of an input.

use phalanx::simd::SimdLevel;

/// Chooses one of the machine's levels by a number: lanes are unsafe at each of them, not at the best one alone.
pub fn choose(n: usize) {
    let levels: Vec<SimdLevel> = SimdLevel::supported().collect();
    levels[n % levels.len()].set().expect("the machine has the level");
}
