// The ground with its shadows, and the sky.

@group(1) @binding(0) var mask: texture_2d<f32>;

// Half the side of the ground's square, in metres: at eye height the edge lies on the horizon.
const REACH: f32 = 50000.0;

struct Corner {
    @builtin(position) clip: vec4<f32>,
}

@vertex
fn ground_corner(@builtin(vertex_index) index: u32) -> Corner {
    let x = select(-REACH, REACH, (index & 1u) != 0u);
    let z = select(-REACH, REACH, (index & 2u) != 0u);
    return Corner(view.clip * vec4<f32>(x, view.ground.y, z, 1.0));
}

// The ray through a point of the picture, of length 1 along the view axis.
fn ray(pixel: vec2<f32>) -> vec3<f32> {
    let x = pixel.x / view.right.w * 2.0 - 1.0;
    let y = 1.0 - pixel.y / view.up.w * 2.0;
    return view.forward.xyz + view.right.xyz * x + view.up.xyz * y;
}

// Where the ray through a point of the picture meets the ground, relative to the eye. Beyond the
// horizon it meets nothing; the clamp keeps neighbours of the last ground pixels finite.
fn ground_at(pixel: vec2<f32>) -> vec2<f32> {
    let r = ray(pixel);
    let down = view.ground.y * r.y;
    let t = select(REACH, min(view.ground.y / r.y, REACH), down > 0.0);
    return r.xz * t;
}

// The integral of a square wave of period 2.
fn triangle_wave(x: vec2<f32>) -> vec2<f32> {
    return abs(fract(x * 0.5) * 2.0 - 1.0);
}

// The share of light tiles in a footprint of `width` tiles around `at`.
fn tiles(at: vec2<f32>, width: vec2<f32>) -> f32 {
    let w = max(width, vec2<f32>(1e-4));
    let mean = (triangle_wave(at + w * 0.5) - triangle_wave(at - w * 0.5)) / w;
    return 0.5 + 0.5 * mean.x * mean.y;
}

@fragment
fn ground_color(in: Corner) -> @location(0) vec4<f32> {
    let at = ground_at(in.clip.xy);
    let step_x = abs(ground_at(in.clip.xy + vec2<f32>(1.0, 0.0)) - at);
    let step_y = abs(ground_at(in.clip.xy + vec2<f32>(0.0, 1.0)) - at);
    let side = view.tile_light.w;
    let share = tiles((at + view.ground.xz) / side, (step_x + step_y) / side);
    let albedo = mix(view.tile_dark.rgb, view.tile_light.rgb, share);
    let shade = textureLoad(mask, vec2<i32>(in.clip.xy), 0).r * view.sun.w;
    let up = vec3<f32>(0.0, 1.0, 0.0);
    let sun = view.sun.rgb * max(view.light.y, 0.0) * (1.0 - shade);
    let color = albedo * (sun + ambient(up) * (1.0 - 0.35 * shade));
    let distance = length(vec3<f32>(at.x, view.ground.y, at.y));
    return vec4<f32>(hazed(color, distance), 1.0);
}

@vertex
fn sky_corner(@builtin(vertex_index) index: u32) -> Corner {
    let x = select(-1.0, 3.0, index == 1u);
    let y = select(-1.0, 3.0, index == 2u);
    return Corner(vec4<f32>(x, y, 0.0, 1.0));
}

@fragment
fn sky_fragment(in: Corner) -> @location(0) vec4<f32> {
    return vec4<f32>(sky_color(normalize(ray(in.clip.xy))), 1.0);
}
