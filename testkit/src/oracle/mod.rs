//! The reference: a scalar evaluator in f64, written from the glTF 2.0 specification and DESIGN's rules of
//! blending. It reads files itself and never calls the library, so that what it says about the library is
//! independent. Clarity before speed; no code of `phalanx` may be used here.
//!
//! Sections named in comments are those of the glTF 2.0 specification.

// Every test binary includes the whole module and uses its own part of it.
#![allow(dead_code, unused_imports)]

pub mod blend;
pub mod curve;
pub mod evaluate;
pub mod file;
pub mod math;
pub mod scene;

pub use blend::{Action, Additive, Layer, Missing, Reference};
pub use curve::LoopMode;
pub use evaluate::Evaluated;
pub use scene::{Pose, Scene};
