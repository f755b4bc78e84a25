// Linear blend skinning. A piece that defines `palette_rows(row: u32) -> Rows` goes with it.

// An affine transform: x, y and z rows, the translation in w.
struct Rows {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

fn add_rows(sum: Rows, joint: u32, weight: f32) -> Rows {
    let rows = palette_rows(joint);
    return Rows(sum.x + rows.x * weight, sum.y + rows.y * weight, sum.z + rows.z * weight);
}

fn no_rows() -> Rows {
    return Rows(vec4<f32>(0.0), vec4<f32>(0.0), vec4<f32>(0.0));
}

// The blend of four slots of the instance whose rows start at `first`.
fn blend4(first: u32, joints: vec4<u32>, weights: vec4<f32>) -> Rows {
    var sum = no_rows();
    for (var i = 0u; i < 4u; i++) {
        sum = add_rows(sum, first + joints[i], weights[i]);
    }
    return sum;
}

// The blend of eight slots of the instance whose rows start at `first`.
fn blend8(
    first: u32,
    joints_a: vec4<u32>,
    weights_a: vec4<f32>,
    joints_b: vec4<u32>,
    weights_b: vec4<f32>,
) -> Rows {
    var sum = blend4(first, joints_a, weights_a);
    for (var i = 0u; i < 4u; i++) {
        sum = add_rows(sum, first + joints_b[i], weights_b[i]);
    }
    return sum;
}

fn transform_point(rows: Rows, point: vec3<f32>) -> vec3<f32> {
    let p = vec4<f32>(point, 1.0);
    return vec3<f32>(dot(rows.x, p), dot(rows.y, p), dot(rows.z, p));
}

// A normal through the inverse transpose, up to a positive factor: the cofactor matrix, turned
// round where the transform mirrors. Right under non-uniform scale and never a division.
fn transform_normal(rows: Rows, normal: vec3<f32>) -> vec3<f32> {
    let yz = cross(rows.y.xyz, rows.z.xyz);
    let zx = cross(rows.z.xyz, rows.x.xyz);
    let xy = cross(rows.x.xyz, rows.y.xyz);
    let turned = vec3<f32>(dot(yz, normal), dot(zx, normal), dot(xy, normal));
    return select(turned, -turned, dot(rows.x.xyz, yz) < 0.0);
}

// A direction within the surface, such as a tangent: by the linear part.
fn transform_direction(rows: Rows, direction: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(
        dot(rows.x.xyz, direction),
        dot(rows.y.xyz, direction),
        dot(rows.z.xyz, direction),
    );
}

// -1 where the transform mirrors, else 1: the factor of a tangent's w, the bitangent's side.
fn mirroring(rows: Rows) -> f32 {
    let volume = dot(rows.x.xyz, cross(rows.y.xyz, rows.z.xyz));
    return select(1.0, -1.0, volume < 0.0);
}

// `v` at length 1, or `other` if it has no direction. Large and small ones are scaled first.
fn unit_or(v: vec3<f32>, other: vec3<f32>) -> vec3<f32> {
    let largest = max(max(abs(v.x), abs(v.y)), abs(v.z));
    if largest == 0.0 {
        return other;
    }
    return normalize(v / largest);
}
