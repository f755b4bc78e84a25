// The palette as windows of a uniform buffer: three vec4 rows per joint, 48 bytes, row-major. A line
// `const PALETTE_ROWS: u32 = …;` goes before: 341 rows in 16 KiB, 1365 in 64 KiB.

@group(1) @binding(0) var<uniform> palette: array<vec4<f32>, PALETTE_ROWS * 3u>;

// Row `row` of the window, which starts at the dynamic offset of the binding.
fn palette_rows(row: u32) -> Rows {
    let first = row * 3u;
    return Rows(palette[first], palette[first + 1u], palette[first + 2u]);
}
