// The palette as a read-only storage buffer: three vec4 rows per joint, 48 bytes, row-major.

@group(1) @binding(0) var<storage, read> palette: array<vec4<f32>>;

// Row `row` of the page: the rows of an instance start at its palette offset, in slot order.
fn palette_rows(row: u32) -> Rows {
    let first = row * 3u;
    return Rows(palette[first], palette[first + 1u], palette[first + 2u]);
}
