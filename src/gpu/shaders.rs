//! WGSL sources, in pieces. A module is made by joining some of them, in any order.
//!
//! The pieces for palettes, skinning and morphing use no camera and no light, so that engines can use them unchanged.
//! `shaders/README.md` has their bindings and byte layouts.

use super::PaletteBackend;

/// Defines `palette_rows(row)` for a storage buffer of 48-byte rows: group 1, binding 0.
pub const PALETTE_STORAGE: &str = include_str!("../../shaders/palette_storage.wgsl");

/// Defines `palette_rows(row)` for an rgba32float texture: group 1, binding 0.
pub const PALETTE_TEXTURE: &str = include_str!("../../shaders/palette_texture.wgsl");

/// Defines `palette_rows(row)` for a window of `PALETTE_ROWS` rows of a uniform buffer: group 1, binding 0.
pub const PALETTE_UNIFORM: &str = include_str!("../../shaders/palette_uniform.wgsl");

/// Blends 4 or 8 palette rows, of one palette or between two; transforms points, normals and tangents. Needs one of the
/// palettes.
pub const SKINNING: &str = include_str!("../../shaders/skinning.wgsl");

/// Morph targets. Needs [`MORPH_STORAGE`] or [`MORPH_TEXTURE`].
pub const MORPH: &str = include_str!("../../shaders/morph.wgsl");

/// Defines `morph_weight` and `morph_delta` for storage buffers: weights at group 1, binding 1, displacements at group
/// 2, binding 3.
pub const MORPH_STORAGE: &str = include_str!("../../shaders/morph_storage.wgsl");

/// Defines `morph_weight` and `morph_delta` for textures: weights at group 1, binding 1, displacements at group 2,
/// binding 3.
pub const MORPH_TEXTURE: &str = include_str!("../../shaders/morph_texture.wgsl");

/// Skinning to a vertex buffer: `skin_vertices`. Needs [`pieces`].
pub const SKIN_COMPUTE: &str = include_str!("../../shaders/skin_compute.wgsl");

/// The view of `phalanx-render`: its camera, lights and shadows, in group 0.
pub const VIEW: &str = include_str!("../../shaders/view.wgsl");

/// The stages of `phalanx-render` that draw characters. Needs [`VIEW`] and [`pieces`].
pub const CHARACTER: &str = include_str!("../../shaders/character.wgsl");

/// The stages of `phalanx-render` that draw ground and sky. Needs [`VIEW`].
pub const BACKGROUND: &str = include_str!("../../shaders/background.wgsl");

/// The stages of `phalanx-render` that show a finished image in a window.
pub const SHOW: &str = include_str!("../../shaders/show.wgsl");

/// The source of `palette_rows` for a backend. `window` is the number of rows in a window, used by the uniform backend.
pub fn palette(backend: PaletteBackend, window: u64) -> String {
    match backend {
        PaletteBackend::Uniform => {
            format!("const PALETTE_ROWS: u32 = {window}u;\n{PALETTE_UNIFORM}")
        }
        PaletteBackend::Texture => PALETTE_TEXTURE.into(),
        PaletteBackend::Storage => PALETTE_STORAGE.into(),
    }
}

/// The palette of the previous frame, in addition to [`palette`]: `previous_rows(row)` at group 1, binding 2, for
/// motion vectors.
pub fn previous_palette(backend: PaletteBackend) -> String {
    let source = match backend {
        PaletteBackend::Uniform => PALETTE_UNIFORM,
        PaletteBackend::Texture => PALETTE_TEXTURE,
        PaletteBackend::Storage => PALETTE_STORAGE,
    };
    source.replace("palette", "previous").replace("@binding(0)", "@binding(2)")
}

/// Everything that a vertex stage needs to skin and morph: [`palette`], [`SKINNING`], [`MORPH`] and its tables. With
/// the storage backend the tables are storage buffers, with the others textures.
pub fn pieces(backend: PaletteBackend, window: u64) -> String {
    let tables = match backend {
        PaletteBackend::Storage => MORPH_STORAGE,
        PaletteBackend::Uniform | PaletteBackend::Texture => MORPH_TEXTURE,
    };
    [&palette(backend, window), SKINNING, MORPH, tables].join("\n")
}
