// A finished picture onto a window's surface, pixel by pixel.

@group(0) @binding(0) var picture: texture_2d<f32>;

@vertex
fn show_corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4<f32> {
    let x = select(-1.0, 3.0, index == 1u);
    let y = select(-1.0, 3.0, index == 2u);
    return vec4<f32>(x, y, 0.0, 1.0);
}

// While a window changes its size, picture and surface may differ: the picture's edge is repeated.
fn linear_color(position: vec2<f32>) -> vec3<f32> {
    let last = vec2<i32>(textureDimensions(picture)) - 1;
    return textureLoad(picture, min(vec2<i32>(position), last), 0).rgb;
}

// For surfaces that store what is written as sRGB.
@fragment
fn show_linear(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    return vec4<f32>(linear_color(position.xy), 1.0);
}

// For surfaces that store what is written as it is.
@fragment
fn show_encoded(@builtin(position) position: vec4<f32>) -> @location(0) vec4<f32> {
    let c = linear_color(position.xy);
    let low = c * 12.92;
    let high = 1.055 * pow(c, vec3<f32>(1.0 / 2.4)) - 0.055;
    return vec4<f32>(select(high, low, c <= vec3<f32>(0.0031308)), 1.0);
}
