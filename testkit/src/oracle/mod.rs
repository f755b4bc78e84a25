//! The reference: a scalar evaluator in f64, written from the glTF 2.0 specification and Phalanx's blending
//! rules. It reads files itself and never calls the library, so that its results are independent. Clarity
//! comes before speed; no code of `phalanx` may be used here.
//!
//! Sections named in comments are those of the glTF 2.0 specification.

pub mod aim;
pub mod blend;
pub mod blend_space;
pub mod curve;
pub mod evaluate;
pub mod feet;
pub mod file;
pub mod ik;
pub mod inertia;
pub mod math;
pub mod pose;
pub mod scene;
pub mod springs;

pub use blend::{Action, Additive, Layer, Missing, Reference};
pub use curve::LoopMode;
pub use evaluate::Evaluated;
pub use scene::{Pose, Scene};
