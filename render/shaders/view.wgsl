// The camera, the light and the air. Positions are relative to the eye, in world axes.
// `src/view.rs` fills the structure, `src/software/shade.rs` computes the same colours.

struct View {
    clip: mat4x4<f32>,     // to clip space: depth is reversed, the far plane infinitely far
    right: vec4<f32>,      // xyz: right * tan(half the horizontal angle); w: width in pixels
    up: vec4<f32>,         // xyz: up * tan(half the vertical angle); w: height in pixels
    forward: vec4<f32>,    // xyz: forward; w: near distance
    ground: vec4<f32>,     // x, z: eye modulo the pattern's period; y: ground's height over the eye; w: 1 if there is ground
    light: vec4<f32>,      // xyz: towards the light; w: haze distance
    sun: vec4<f32>,        // rgb: light from that direction; w: shadow's strength
    sky: vec4<f32>,        // rgb: light from above; w: rim light
    bounce: vec4<f32>,     // rgb: light from below; w: openness of the crowd's floor
    horizon: vec4<f32>,    // rgb: the air far away
    zenith: vec4<f32>,     // rgb: the sky overhead
    tile_light: vec4<f32>, // rgb: the ground's light tiles; w: side of a tile in metres
    tile_dark: vec4<f32>,  // rgb: the ground's dark tiles
}

@group(0) @binding(0) var<uniform> view: View;

fn sky_color(direction: vec3<f32>) -> vec3<f32> {
    let height = clamp(direction.y, 0.0, 1.0);
    return mix(view.horizon.rgb, view.zenith.rgb, 1.0 - (1.0 - height) * (1.0 - height) * (1.0 - height));
}

// A colour seen through `distance` of air.
fn hazed(color: vec3<f32>, distance: f32) -> vec3<f32> {
    let depth = distance / view.light.w;
    return mix(view.horizon.rgb, color, exp(-depth * depth));
}

// What the light from above and below gives a surface that faces `normal`.
fn ambient(normal: vec3<f32>) -> vec3<f32> {
    return mix(view.bounce.rgb, view.sky.rgb, normal.y * 0.5 + 0.5);
}

// A matt surface; `openness` is the share of the surroundings' light that reaches it.
fn lit(albedo: vec3<f32>, normal: vec3<f32>, position: vec3<f32>, openness: f32) -> vec3<f32> {
    let sun = max(dot(normal, view.light.xyz), 0.0);
    let facing = clamp(dot(normal, normalize(-position)), 0.0, 1.0);
    let rim = (1.0 - facing) * (1.0 - facing) * (1.0 - facing) * view.sky.w;
    let around = ambient(normal) * openness;
    return albedo * (view.sun.rgb * sun + around) + around * rim;
}

// How open a point is that stands `height` over the ground among others of `size`.
fn openness(height: f32, size: f32) -> f32 {
    if size <= 0.0 {
        return 1.0;
    }
    return mix(view.bounce.w, 1.0, smoothstep(0.0, 1.0, height / size));
}
