// Characters and their shadows: vertex stages for rigid meshes, 4 and 8 influences.

struct Mesh {
    place: array<vec4<f32>, 3>, // rows of the rigid placement
    base_color: vec4<f32>,
    uv: array<vec4<f32>, 2>, // rows of the transform of texture coordinates; w unused
    first_slot: u32,     // of the mesh's skin in an instance's rows
    first_weight: u32,   // of the mesh's morph weights in an instance's
    targets: u32,
    vertices: u32,
    tint: f32,           // 0: no tint, 1: the whole tint
    textured: f32,
    flat_shading: u32,   // the mesh has no normals
    double_sided: u32,
    alpha_cutoff: f32,   // the least alpha that is drawn of masked meshes, and that casts a shadow
    unlit: u32,          // the base colour is shown without light
    padding_a: u32,
    padding_b: u32,
}

@group(2) @binding(0) var<uniform> mesh: Mesh;
@group(2) @binding(1) var base_texture: texture_2d<f32>;
@group(2) @binding(2) var base_sampler: sampler;

struct Surface {
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
    @location(3) color: vec4<f32>,
}

struct Instance {
    @location(8) world_x: vec4<f32>,
    @location(9) world_y: vec4<f32>,
    @location(10) world_z: vec4<f32>,
    @location(11) tint: vec4<f32>,
    @location(12) numbers: vec3<u32>, // palette row, first morph weight, palette row at factor 1
    @location(13) size: vec2<f32>,    // radius of the bounds, factor between the two palettes
}

struct Fragment {
    @builtin(position) clip: vec4<f32>,
    @location(0) position: vec3<f32>,
    @location(1) normal: vec3<f32>,
    @location(2) uv: vec2<f32>,
    @location(3) color: vec4<f32>,
    @location(4) openness: f32,
    @location(5) side: f32, // 1: the rows keep the winding, -1: they mirror it
}

// Determinants this near to 0, of rows whose largest entry is 1, are no sign of a side.
const LEAST_VOLUME: f32 = 1e-4;

// The least amount of a side that decides. Between a mirrored and a plain vertex all but the corners are below it.
const SURE: f32 = 0.99;

// Whether rows keep the winding of triangles: 1, or mirror it: -1; between them where they are singular.
fn side(rows: Rows) -> f32 {
    let sizes = max(max(abs(rows.x.xyz), abs(rows.y.xyz)), abs(rows.z.xyz));
    let largest = max(max(sizes.x, sizes.y), sizes.z);
    if !(largest > 0.0) {
        return 0.0;
    }
    let volume = dot(rows.x.xyz / largest, cross(rows.y.xyz / largest, rows.z.xyz / largest));
    return clamp(volume / LEAST_VOLUME, -1.0, 1.0);
}

struct Placed {
    position: vec3<f32>,
    normal: vec3<f32>,
}

// The first morph weight of instances that are drawn without their targets.
const NO_WEIGHTS: u32 = 0xffffffffu;

fn placed(surface: Surface, instance: Instance, vertex: u32, rows: Rows) -> Placed {
    let base = Morphed(surface.position, surface.normal, vec3<f32>(0.0));
    let targets = select(mesh.targets, 0u, instance.numbers.y == NO_WEIGHTS);
    let m = morph(
        base, vertex, mesh.vertices, targets, instance.numbers.y + mesh.first_weight,
    );
    let world = Rows(instance.world_x, instance.world_y, instance.world_z);
    let position = transform_point(world, transform_point(rows, m.position));
    let normal = transform_normal(world, transform_normal(rows, m.normal));
    return Placed(position, normal);
}

fn texture_place(uv: vec2<f32>) -> vec2<f32> {
    let place = vec3<f32>(uv, 1.0);
    return vec2<f32>(dot(mesh.uv[0].xyz, place), dot(mesh.uv[1].xyz, place));
}

fn body(surface: Surface, instance: Instance, vertex: u32, rows: Rows) -> Fragment {
    let p = placed(surface, instance, vertex, rows);
    var out: Fragment;
    out.clip = view.clip * vec4<f32>(p.position, 1.0);
    out.position = p.position;
    out.normal = p.normal / max(length(p.normal), 1e-20);
    out.uv = texture_place(surface.uv);
    let tint = mix(vec3<f32>(1.0), instance.tint.rgb, mesh.tint);
    let color = mesh.base_color * surface.color;
    out.color = vec4<f32>(color.rgb * tint, color.a);
    out.openness = openness(p.position.y - view.ground.y, instance.size.x * view.ground.w);
    out.side = side(rows);
    return out;
}

// The same geometry flattened along the light onto the ground.
fn shadow(surface: Surface, instance: Instance, vertex: u32, rows: Rows) -> vec4<f32> {
    let p = placed(surface, instance, vertex, rows).position;
    let height = max(p.y - view.ground.y, 0.0);
    let flat_point = p - view.light.xyz * (height / view.light.y);
    return view.clip * vec4<f32>(flat_point.x, view.ground.y, flat_point.z, 1.0);
}

fn rigid_rows() -> Rows {
    return Rows(mesh.place[0], mesh.place[1], mesh.place[2]);
}

fn pair_of(instance: Instance) -> PalettePair {
    return PalettePair(instance.numbers.x, instance.numbers.z, instance.size.y);
}

fn skin4_rows(instance: Instance, joints: vec4<u32>, weights: vec4<f32>) -> Rows {
    return blend4_between(pair_of(instance), mesh.first_slot, joints, weights);
}

fn skin8_rows(
    instance: Instance,
    joints_a: vec4<u32>,
    weights_a: vec4<f32>,
    joints_b: vec4<u32>,
    weights_b: vec4<f32>,
) -> Rows {
    return blend8_between(
        pair_of(instance), mesh.first_slot, joints_a, weights_a, joints_b, weights_b,
    );
}

@vertex
fn body_rigid(s: Surface, i: Instance, @builtin(vertex_index) v: u32) -> Fragment {
    return body(s, i, v, rigid_rows());
}

@vertex
fn body_skin4(
    s: Surface, i: Instance, @builtin(vertex_index) v: u32,
    @location(4) joints: vec4<u32>, @location(5) weights: vec4<f32>,
) -> Fragment {
    return body(s, i, v, skin4_rows(i, joints, weights));
}

@vertex
fn body_skin8(
    s: Surface, i: Instance, @builtin(vertex_index) v: u32,
    @location(4) joints_a: vec4<u32>, @location(5) weights_a: vec4<f32>,
    @location(6) joints_b: vec4<u32>, @location(7) weights_b: vec4<f32>,
) -> Fragment {
    return body(s, i, v, skin8_rows(i, joints_a, weights_a, joints_b, weights_b));
}

@vertex
fn shadow_rigid(s: Surface, i: Instance, @builtin(vertex_index) v: u32) -> @builtin(position) vec4<f32> {
    return shadow(s, i, v, rigid_rows());
}

@vertex
fn shadow_skin4(
    s: Surface, i: Instance, @builtin(vertex_index) v: u32,
    @location(4) joints: vec4<u32>, @location(5) weights: vec4<f32>,
) -> @builtin(position) vec4<f32> {
    return shadow(s, i, v, skin4_rows(i, joints, weights));
}

@vertex
fn shadow_skin8(
    s: Surface, i: Instance, @builtin(vertex_index) v: u32,
    @location(4) joints_a: vec4<u32>, @location(5) weights_a: vec4<f32>,
    @location(6) joints_b: vec4<u32>, @location(7) weights_b: vec4<f32>,
) -> @builtin(position) vec4<f32> {
    return shadow(s, i, v, skin8_rows(i, joints_a, weights_a, joints_b, weights_b));
}

// Shadows of meshes whose alpha decides where they are.
struct ShadowFragment {
    @builtin(position) clip: vec4<f32>,
    @location(0) uv: vec2<f32>,
    @location(1) alpha: f32,
}

fn cut_shadow(surface: Surface, clip: vec4<f32>) -> ShadowFragment {
    return ShadowFragment(clip, texture_place(surface.uv), mesh.base_color.a * surface.color.a);
}

@vertex
fn cut_shadow_rigid(s: Surface, i: Instance, @builtin(vertex_index) v: u32) -> ShadowFragment {
    return cut_shadow(s, shadow(s, i, v, rigid_rows()));
}

@vertex
fn cut_shadow_skin4(
    s: Surface, i: Instance, @builtin(vertex_index) v: u32,
    @location(4) joints: vec4<u32>, @location(5) weights: vec4<f32>,
) -> ShadowFragment {
    return cut_shadow(s, shadow(s, i, v, skin4_rows(i, joints, weights)));
}

@vertex
fn cut_shadow_skin8(
    s: Surface, i: Instance, @builtin(vertex_index) v: u32,
    @location(4) joints_a: vec4<u32>, @location(5) weights_a: vec4<f32>,
    @location(6) joints_b: vec4<u32>, @location(7) weights_b: vec4<f32>,
) -> ShadowFragment {
    return cut_shadow(s, shadow(s, i, v, skin8_rows(i, joints_a, weights_a, joints_b, weights_b)));
}

// What is seen of a surface. Between mirrored and plain vertices there is no front: both sides are drawn, with the
// normal of the triangle.
struct Seen {
    front: bool,
    between: bool,
}

// The colour of what is seen, and the alpha of the base colour.
fn seen_color(in: Fragment, seen: Seen) -> vec4<f32> {
    // Outside of any branch: derivatives need uniform control flow.
    let face = cross(dpdxFine(in.position), dpdyFine(in.position));
    let texel = textureSample(base_texture, base_sampler, in.uv);
    var normal = normalize(in.normal);
    if mesh.flat_shading != 0u || seen.between {
        // The eye is the origin, so the side that is seen faces against the position.
        normal = normalize(select(face, -face, dot(face, in.position) > 0.0));
    } else if !seen.front {
        normal = -normal;
    }
    let albedo = in.color * mix(vec4<f32>(1.0), texel, mesh.textured);
    var color = albedo.rgb;
    if mesh.unlit == 0u {
        color = lit(albedo.rgb, normal, in.position, in.openness);
    }
    return vec4<f32>(hazed(color, length(in.position)), albedo.a);
}

// Of meshes whose rows all have one side.
fn side_color(in: Fragment, front: bool) -> vec4<f32> {
    return seen_color(in, Seen(front, false));
}

// Of meshes whose rows may mirror: which side is the front is known only here.
fn seen_by_rows(in: Fragment, facing: bool) -> Seen {
    return Seen(facing == (in.side > 0.0), abs(in.side) < SURE);
}

fn hidden(seen: Seen) -> bool {
    return !seen.front && !seen.between && mesh.double_sided == 0u;
}

@fragment
fn body_color(in: Fragment, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    return vec4<f32>(side_color(in, front).rgb, 1.0);
}

@fragment
fn body_color_by_rows(in: Fragment, @builtin(front_facing) facing: bool) -> @location(0) vec4<f32> {
    let seen = seen_by_rows(in, facing);
    let color = seen_color(in, seen);
    if hidden(seen) {
        discard;
    }
    return vec4<f32>(color.rgb, 1.0);
}

// Of meshes with the alpha mode MASK: drawn where alpha is at least the cutoff.
@fragment
fn body_masked(in: Fragment, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    let color = side_color(in, front);
    if color.a < mesh.alpha_cutoff {
        discard;
    }
    return vec4<f32>(color.rgb, 1.0);
}

@fragment
fn body_masked_by_rows(in: Fragment, @builtin(front_facing) facing: bool) -> @location(0) vec4<f32> {
    let seen = seen_by_rows(in, facing);
    let color = seen_color(in, seen);
    if hidden(seen) || color.a < mesh.alpha_cutoff {
        discard;
    }
    return vec4<f32>(color.rgb, 1.0);
}

// Of meshes with the alpha mode BLEND: mixed with what is behind them, by alpha.
@fragment
fn body_blended(in: Fragment, @builtin(front_facing) front: bool) -> @location(0) vec4<f32> {
    return saturate(side_color(in, front));
}

@fragment
fn body_blended_by_rows(in: Fragment, @builtin(front_facing) facing: bool) -> @location(0) vec4<f32> {
    let seen = seen_by_rows(in, facing);
    let color = seen_color(in, seen);
    if hidden(seen) {
        discard;
    }
    return saturate(color);
}

// Edges of triangles, in place of surfaces. They have no side to light; dark lines are seen before sky and ground.
@fragment
fn edge_color(in: Fragment) -> @location(0) vec4<f32> {
    return vec4<f32>(hazed(in.color.rgb * 0.05, length(in.position)), 1.0);
}

@fragment
fn shadow_mask() -> @location(0) vec4<f32> {
    return vec4<f32>(1.0);
}

@fragment
fn cut_shadow_mask(in: ShadowFragment) -> @location(0) vec4<f32> {
    let texel = textureSample(base_texture, base_sampler, in.uv);
    if in.alpha * mix(1.0, texel.a, mesh.textured) < mesh.alpha_cutoff {
        discard;
    }
    return vec4<f32>(1.0);
}
