// A finished picture onto a part of a window's surface, pixel by pixel.

@group(0) @binding(0) var picture: texture_2d<f32>;

struct Corner {
    @builtin(position) clip: vec4<f32>,
    @location(0) at: vec2<f32>, // share of the picture's width and height
}

@vertex
fn show_corner(@builtin(vertex_index) index: u32) -> Corner {
    let x = select(-1.0, 3.0, index == 1u);
    let y = select(-1.0, 3.0, index == 2u);
    return Corner(vec4<f32>(x, y, 0.0, 1.0), vec2<f32>(x, -y) * 0.5 + 0.5);
}

fn linear_color(at: vec2<f32>) -> vec3<f32> {
    let size = vec2<f32>(textureDimensions(picture));
    return textureLoad(picture, vec2<i32>(at * size), 0).rgb;
}

// For surfaces that store what is written as sRGB.
@fragment
fn show_linear(in: Corner) -> @location(0) vec4<f32> {
    return vec4<f32>(linear_color(in.at), 1.0);
}

// For surfaces that store what is written as it is.
@fragment
fn show_encoded(in: Corner) -> @location(0) vec4<f32> {
    let c = linear_color(in.at);
    let low = c * 12.92;
    let high = 1.055 * pow(c, vec3<f32>(1.0 / 2.4)) - 0.055;
    return vec4<f32>(select(high, low, c <= vec3<f32>(0.0031308)), 1.0);
}
