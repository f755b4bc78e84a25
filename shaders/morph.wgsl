// Morph targets, any number: displacements are target-major, two vec4 (position, normal) a vertex.

@group(1) @binding(1) var<storage, read> morph_weights: array<f32>;
@group(2) @binding(3) var<storage, read> morph_deltas: array<vec4<f32>>;

struct Morphed {
    position: vec3<f32>,
    normal: vec3<f32>,
}

// `first_weight`: of this instance and mesh. `vertices`: of the mesh, the stride of a target.
fn morph(
    position: vec3<f32>,
    normal: vec3<f32>,
    vertex: u32,
    vertices: u32,
    targets: u32,
    first_weight: u32,
) -> Morphed {
    var sum = Morphed(position, normal);
    for (var t = 0u; t < targets; t++) {
        let weight = morph_weights[first_weight + t];
        if weight != 0.0 {
            let at = (t * vertices + vertex) * 2u;
            sum.position += morph_deltas[at].xyz * weight;
            sum.normal += morph_deltas[at + 1u].xyz * weight;
        }
    }
    return sum;
}
