// Morph weights (r32float) and displacements (rgba32float) as textures, line after line.

@group(1) @binding(1) var morph_weights: texture_2d<f32>;
@group(2) @binding(3) var morph_deltas: texture_2d<f32>;

fn morph_weight(index: u32) -> f32 {
    let width = textureDimensions(morph_weights).x;
    return textureLoad(morph_weights, vec2<u32>(index % width, index / width), 0).x;
}

fn morph_delta(index: u32) -> vec3<f32> {
    let width = textureDimensions(morph_deltas).x;
    return textureLoad(morph_deltas, vec2<u32>(index % width, index / width), 0).xyz;
}
