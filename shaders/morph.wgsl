// Morph targets, any number: displacements are target-major, three vec4 (position, normal, tangent) a
// vertex. A piece that defines `morph_weight` and `morph_delta` goes with it.

struct Morphed {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
}

// `vertices`: of the mesh, the stride of a target. `first_weight`: of this instance and mesh.
fn morph(
    base: Morphed,
    vertex: u32,
    vertices: u32,
    targets: u32,
    first_weight: u32,
) -> Morphed {
    var sum = base;
    for (var t = 0u; t < targets; t++) {
        let weight = morph_weight(first_weight + t);
        if weight != 0.0 {
            let at = (t * vertices + vertex) * 3u;
            sum.position += morph_delta(at) * weight;
            sum.normal += morph_delta(at + 1u) * weight;
            sum.tangent += morph_delta(at + 2u) * weight;
        }
    }
    return sum;
}
