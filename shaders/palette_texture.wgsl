// The palette as an rgba32float texture: three texels per joint, no joint in two lines.

@group(1) @binding(0) var palette: texture_2d<f32>;

// Row `row` of the page: the rows of an instance start at its palette offset, in slot order.
fn palette_rows(row: u32) -> Rows {
    let line = textureDimensions(palette).x / 3u;
    let x = row % line * 3u;
    let y = row / line;
    return Rows(
        textureLoad(palette, vec2<u32>(x, y), 0),
        textureLoad(palette, vec2<u32>(x + 1u, y), 0),
        textureLoad(palette, vec2<u32>(x + 2u, y), 0),
    );
}
