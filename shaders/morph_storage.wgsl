// Morph weights and displacements as storage buffers.

@group(1) @binding(1) var<storage, read> morph_weights: array<f32>;
@group(2) @binding(3) var<storage, read> morph_deltas: array<vec4<f32>>;

fn morph_weight(index: u32) -> f32 {
    return morph_weights[index];
}

fn morph_delta(index: u32) -> vec3<f32> {
    return morph_deltas[index].xyz;
}
