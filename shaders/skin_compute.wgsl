// Skinning to a vertex buffer: skin once, draw in several passes. Goes with a palette, the skinning and
// the morph pieces. One invocation per vertex and instance.

struct SkinJob {
    vertices: u32,
    instances: u32,
    first_slot: u32,    // of the mesh's skin in an instance's rows
    first_weight: u32,  // of the mesh's morph weights in an instance's
    targets: u32,
    padding_a: u32,
    padding_b: u32,
    padding_c: u32,
}

struct SkinInstance {
    row: u32,           // the first palette row
    first_weight: u32,  // the first morph weight
    to_row: u32,        // the first palette row at factor 1, not read at factor 0
    factor: f32,
}

@group(2) @binding(0) var<uniform> job: SkinJob;
// Ten floats a vertex: position, normal, tangent with the side in w.
@group(2) @binding(1) var<storage, read> source: array<f32>;
// A vertex's joints, then its weights, as in the file; four of each, or eight.
@group(2) @binding(2) var<storage, read> influences: array<u32>;
@group(2) @binding(4) var<storage, read> instances: array<SkinInstance>;
// Ten floats a vertex as in `source`, in model space, instance after instance.
@group(2) @binding(5) var<storage, read_write> skinned: array<f32>;

// Fours of influences: 0 (the mesh moves with its first slot), 1 or 2.
override FOURS: u32 = 1u;
// Bytes of a joint index (1, 2) and of a weight (1, 2: fractions of 255, 65535; 4: a float).
override JOINT_BYTES: u32 = 2u;
override WEIGHT_BYTES: u32 = 4u;

fn stored_joints(vertex: u32, four: u32) -> vec4<u32> {
    let first = vertex * FOURS * (JOINT_BYTES + WEIGHT_BYTES) + four * JOINT_BYTES;
    let a = influences[first];
    if JOINT_BYTES == 1u {
        return (vec4<u32>(a) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(0xffu);
    }
    let b = influences[first + 1u];
    return vec4<u32>(a & 0xffffu, a >> 16u, b & 0xffffu, b >> 16u);
}

fn stored_weights(vertex: u32, four: u32) -> vec4<f32> {
    let first = (vertex * (JOINT_BYTES + WEIGHT_BYTES) + JOINT_BYTES) * FOURS + four * WEIGHT_BYTES;
    let a = influences[first];
    if WEIGHT_BYTES == 1u {
        return unpack4x8unorm(a);
    }
    let b = influences[first + 1u];
    if WEIGHT_BYTES == 2u {
        return vec4<f32>(unpack2x16unorm(a), unpack2x16unorm(b));
    }
    return bitcast<vec4<f32>>(vec4<u32>(a, b, influences[first + 2u], influences[first + 3u]));
}

fn stored_rows(vertex: u32, pair: PalettePair) -> Rows {
    if FOURS == 0u {
        return palette_rows_between(pair, job.first_slot);
    }
    let joints = stored_joints(vertex, 0u);
    let weights = stored_weights(vertex, 0u);
    if FOURS == 1u {
        return blend4_between(pair, job.first_slot, joints, weights);
    }
    return blend8_between(
        pair, job.first_slot, joints, weights, stored_joints(vertex, 1u), stored_weights(vertex, 1u),
    );
}

fn source_vector(at: u32) -> vec3<f32> {
    return vec3<f32>(source[at], source[at + 1u], source[at + 2u]);
}

fn store_vector(at: u32, v: vec3<f32>) {
    skinned[at] = v.x;
    skinned[at + 1u] = v.y;
    skinned[at + 2u] = v.z;
}

@compute @workgroup_size(64)
fn skin_vertices(@builtin(global_invocation_id) id: vec3<u32>) {
    let vertex = id.x;
    if vertex >= job.vertices || id.y >= job.instances {
        return;
    }
    let instance = instances[id.y];
    let first = vertex * 10u;
    let base = Morphed(source_vector(first), source_vector(first + 3u), source_vector(first + 6u));
    let m = morph(base, vertex, job.vertices, job.targets, instance.first_weight + job.first_weight);
    let rows = stored_rows(vertex, PalettePair(instance.row, instance.to_row, instance.factor));
    let to = (id.y * job.vertices + vertex) * 10u;
    store_vector(to, transform_point(rows, m.position));
    store_vector(to + 3u, unit_or(transform_normal(rows, m.normal), m.normal));
    store_vector(to + 6u, unit_or(transform_direction(rows, m.tangent), m.tangent));
    skinned[to + 9u] = source[first + 9u] * mirroring(rows);
}
