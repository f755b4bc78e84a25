//! WGSL sources, in pieces. A module is made by joining some of them, in any order.
//!
//! They use no camera and no light, so that engines can use them unchanged. `shaders/README.md` has their bindings and
//! byte layouts.

use super::PaletteBackend;

/// Blends 4 or 8 palette rows, of one palette or between two; transforms points, normals and tangents. Needs a
/// [`palette`].
pub const SKINNING: &str = include_str!("../../shaders/skinning.wgsl");

/// Skinning to a vertex buffer: `skin_vertices`. Needs [`pieces`].
pub const SKIN_COMPUTE: &str = include_str!("../../shaders/skin_compute.wgsl");

/// Morph targets. Needs one of the two tables.
const MORPH: &str = include_str!("../../shaders/morph.wgsl");

/// Defines `morph_weight` and `morph_delta` for storage buffers.
const MORPH_STORAGE: &str = include_str!("../../shaders/morph_storage.wgsl");

/// Defines `morph_weight` and `morph_delta` for textures.
const MORPH_TEXTURE: &str = include_str!("../../shaders/morph_texture.wgsl");

/// Defines `palette_rows(row)` for a backend, at group 1, binding 0. A window of the uniform backend has `PALETTE_ROWS`
/// rows.
fn palette_piece(backend: PaletteBackend) -> &'static str {
    match backend {
        PaletteBackend::Uniform => include_str!("../../shaders/palette_uniform.wgsl"),
        PaletteBackend::Texture => include_str!("../../shaders/palette_texture.wgsl"),
        PaletteBackend::Storage => include_str!("../../shaders/palette_storage.wgsl"),
    }
}

/// Defines `palette_rows(row)` for a backend. `window` is the number of rows in a window, used by the uniform backend:
/// [`Gpu::window_rows`](super::Gpu::window_rows).
pub fn palette(backend: PaletteBackend, window: u64) -> String {
    let piece = palette_piece(backend);
    match backend {
        PaletteBackend::Uniform => format!("const PALETTE_ROWS: u32 = {window}u;\n{piece}"),
        PaletteBackend::Texture | PaletteBackend::Storage => piece.into(),
    }
}

/// The palette of the previous frame, in addition to [`palette`]: `previous_rows(row)` at group 1, binding 2, for
/// motion vectors.
pub fn previous_palette(backend: PaletteBackend) -> String {
    palette_piece(backend).replace("palette", "previous").replace("@binding(0)", "@binding(2)")
}

/// Everything that a vertex stage needs to skin and morph: [`palette`], [`SKINNING`], morph targets and their weights
/// and displacements. With the storage backend these are storage buffers, with the others textures.
pub fn pieces(backend: PaletteBackend, window: u64) -> String {
    let tables = match backend {
        PaletteBackend::Storage => MORPH_STORAGE,
        PaletteBackend::Uniform | PaletteBackend::Texture => MORPH_TEXTURE,
    };
    [&palette(backend, window), SKINNING, MORPH, tables].join("\n")
}
