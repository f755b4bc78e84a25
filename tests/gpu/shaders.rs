//! Every combination of the pieces is valid WGSL, without capabilities beyond those of every device.

use phalanx::gpu::{PaletteBackend, SkinInstance, shaders};
use wgpu::naga;

const USER: &str = "
    @vertex fn skin4(
        @builtin(vertex_index) v: u32, @location(0) p: vec3<f32>, @location(1) n: vec3<f32>,
        @location(4) joints: vec4<u32>, @location(5) weights: vec4<f32>, @location(8) row: u32,
    ) -> @builtin(position) vec4<f32> {
        let m = morph(Morphed(p, n, n), v, 100u, 7u, 0u);
        let rows = blend4(row, joints, weights);
        let tangent = transform_direction(rows, m.tangent) * mirroring(rows);
        let sum = transform_point(rows, m.position) + unit_or(transform_normal(rows, m.normal), n);
        return vec4<f32>(sum + tangent, 1.0);
    }
    @vertex fn skin8(
        @location(0) p: vec3<f32>, @location(4) a: vec4<u32>, @location(5) b: vec4<f32>,
        @location(6) c: vec4<u32>, @location(7) d: vec4<f32>,
    ) -> @builtin(position) vec4<f32> {
        return vec4<f32>(transform_point(blend8(3u, a, b, c, d), p), 1.0);
    }
    @vertex fn between(
        @location(0) p: vec3<f32>, @location(4) a: vec4<u32>, @location(5) b: vec4<f32>,
        @location(6) c: vec4<u32>, @location(7) d: vec4<f32>, @location(8) factor: f32,
    ) -> @builtin(position) vec4<f32> {
        let pair = PalettePair(3u, 70u, factor);
        let sum = transform_point(blend4_between(pair, 1u, a, b), p)
            + transform_point(blend8_between(pair, 1u, a, b, c, d), p)
            + transform_point(palette_rows_between(pair, 2u), p);
        return vec4<f32>(sum, 1.0);
    }
";

/// The speed of a joint: what motion vectors are made of.
const MOVED: &str = "
    @vertex fn moved(@location(0) p: vec3<f32>) -> @builtin(position) vec4<f32> {
        let now = transform_point(palette_rows(1u), p);
        return vec4<f32>(now - transform_point(previous_rows(2u), p), 1.0);
    }
";

fn validate(source: &str, what: &str) -> naga::Module {
    let module = match naga::front::wgsl::parse_str(source) {
        Ok(module) => module,
        Err(e) => panic!("{what}: {}", e.emit_to_string(source)),
    };
    let mut validator = naga::valid::Validator::new(
        naga::valid::ValidationFlags::all(),
        naga::valid::Capabilities::empty(),
    );
    if let Err(e) = validator.validate(&module) {
        panic!("{what}: {}", e.emit_to_string(source));
    }
    module
}

/// The bytes of a structure.
fn size(module: &naga::Module, name: &str) -> usize {
    let mut types = module.types.iter();
    let found = types.find(|(_, t)| t.name.as_deref() == Some(name));
    match found.map(|(_, t)| &t.inner) {
        Some(naga::TypeInner::Struct { span, .. }) => *span as usize,
        other => panic!("{name}: {other:?}"),
    }
}

pub fn valid() {
    for backend in PaletteBackend::ALL {
        for window in [341, 1365] {
            let pieces = shaders::pieces(backend, window);
            validate(&pieces, "pieces alone");
            let vertex = validate(&[&pieces, USER].join("\n"), "vertex");
            assert_eq!(vertex.entry_points.len(), 3);
            let compute = validate(&[&pieces, shaders::SKIN_COMPUTE].join("\n"), "compute");
            assert_eq!(compute.entry_points[0].name, "skin_vertices");
            assert_eq!(size(&compute, "SkinInstance"), size_of::<SkinInstance>());
            let moved = [&pieces, &shaders::previous_palette(backend), MOVED].join("\n");
            let moved = validate(&moved, "moved");
            let bindings: Vec<_> = moved
                .global_variables
                .iter()
                .filter_map(|(_, g)| g.binding.as_ref().map(|b| (b.group, b.binding)))
                .collect();
            for expected in [(1, 0), (1, 1), (1, 2), (2, 3)] {
                assert!(bindings.contains(&expected), "{backend}: {bindings:?}");
            }
        }
    }
}
