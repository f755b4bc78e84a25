//! Memory over time: rounds that come back to where they began, and a soak of random calls.
//!
//! The soak runs for some seconds, or as long as `PHALANX_SOAK_SECONDS` says:
//! `PHALANX_SOAK_SECONDS=600 cargo test --release --test steady -- soak::run --nocapture`.
//! That of tiers runs for a number of character-seconds (`tiers.rs`).

mod life;
mod rounds;
mod run;
mod tiers;
