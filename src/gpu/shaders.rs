//! WGSL sources. Each is a piece; a module is pieces put after one another in any order.
//!
//! The pieces of this folder's level (palette, skinning, morphing) name no camera and no light, so
//! that engines can take them as they are.

/// `palette_rows(row)` from a storage buffer of 48-byte rows: group 1, binding 0.
pub const PALETTE_STORAGE: &str = include_str!("../../shaders/palette_storage.wgsl");

/// Blending of 4 or 8 palette rows; points and normals through rows. Needs a `palette_rows`.
pub const SKINNING: &str = include_str!("../../shaders/skinning.wgsl");

/// Morph targets: weights at group 1, binding 1; displacements at group 2, binding 3.
pub const MORPH: &str = include_str!("../../shaders/morph.wgsl");
