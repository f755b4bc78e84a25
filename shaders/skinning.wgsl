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

// The rows of an instance that is shown between two poses. At factor 0 the rows at `to_row` are not read.
struct PalettePair {
    row: u32,    // its first row at factor 0
    to_row: u32, // its first row at factor 1
    factor: f32, // 0 to 1
}

fn lerp_rows(a: Rows, b: Rows, factor: f32) -> Rows {
    return Rows(
        a.x + (b.x - a.x) * factor,
        a.y + (b.y - a.y) * factor,
        a.z + (b.z - a.z) * factor,
    );
}

// One slot between two poses.
fn palette_rows_between(pair: PalettePair, slot: u32) -> Rows {
    let rows = palette_rows(pair.row + slot);
    if pair.factor == 0.0 {
        return rows;
    }
    return lerp_rows(rows, palette_rows(pair.to_row + slot), pair.factor);
}

// `blend4` between two poses. The blend of lerped rows is the lerp of blended rows: both are linear.
fn blend4_between(
    pair: PalettePair,
    first_slot: u32,
    joints: vec4<u32>,
    weights: vec4<f32>,
) -> Rows {
    let rows = blend4(pair.row + first_slot, joints, weights);
    if pair.factor == 0.0 {
        return rows;
    }
    return lerp_rows(rows, blend4(pair.to_row + first_slot, joints, weights), pair.factor);
}

// `blend8` between two poses.
fn blend8_between(
    pair: PalettePair,
    first_slot: u32,
    joints_a: vec4<u32>,
    weights_a: vec4<f32>,
    joints_b: vec4<u32>,
    weights_b: vec4<f32>,
) -> Rows {
    let rows = blend8(pair.row + first_slot, joints_a, weights_a, joints_b, weights_b);
    if pair.factor == 0.0 {
        return rows;
    }
    let to_first = pair.to_row + first_slot;
    return lerp_rows(
        rows, blend8(to_first, joints_a, weights_a, joints_b, weights_b), pair.factor,
    );
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
