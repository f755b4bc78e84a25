//! Limits on the numbers of rigs and clips: within them every palette is finite, at every SIMD level;
//! beyond them nothing is taken.

mod counted;
mod parts;
mod refused;
