//! Memory over time: rounds that come back to where they began, and a soak of random calls.
//!
//! The soak runs for some seconds, or as long as `PHALANX_SOAK_SECONDS` says:
//! `PHALANX_SOAK_SECONDS=600 cargo test --release --test soak -- soak --nocapture`.

mod life;
mod live;
#[allow(dead_code)] // The rig alone is of use here.
#[path = "../crowd/model.rs"]
mod model;
mod rounds;
mod soak;
