//! Nodes, meshes, materials and images.

use super::*;
use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::raw::{RawNode, RawScene};
use phalanx::mesh::{
    AlphaMode, Filter, Image, ImageData, Material, Mesh, MorphTarget, Primitive, Sampler, Texture,
    TextureTransform, Wrap,
};

/// A stream is a view of all its numbers, or null.
fn stream<T: PartialEq + std::fmt::Debug>(own: *const T, wanted: &[T]) {
    assert_eq!(own.is_null(), wanted.is_empty());
    assert_eq!(slice(own, wanted.len()), wanted);
}

fn compare_texture(own: phx_texture_info, texture: &Option<Texture>) {
    let Some(t) = texture else {
        return assert_eq!(own.image, PHX_NONE);
    };
    let wrap = |wrap| match wrap {
        Wrap::Repeat => PHX_WRAP_REPEAT,
        Wrap::ClampToEdge => PHX_WRAP_CLAMP,
        Wrap::MirroredRepeat => PHX_WRAP_MIRROR,
    };
    let filter = |filter| match filter {
        None => PHX_NONE,
        Some(Filter::Nearest) => PHX_FILTER_NEAREST,
        Some(Filter::Linear) => PHX_FILTER_LINEAR,
    };
    let wanted = phx_texture_info {
        image: t.image as u32,
        tex_coord: t.tex_coord,
        offset: t.transform.offset,
        rotation: t.transform.rotation,
        scale: t.transform.scale,
        wrap_u: wrap(t.sampler.wrap_u),
        wrap_v: wrap(t.sampler.wrap_v),
        mag_filter: filter(t.sampler.mag_filter),
        min_filter: filter(t.sampler.min_filter),
        mip_filter: filter(t.sampler.mip_filter),
    };
    assert_eq!(own, wanted);
}

fn compare_material(own: *const phx_rig, index: usize, m: &Material) {
    let o = described(|out| unsafe { phx_rig_material(own, index as u32, out) });
    assert_eq!(string(o.name), m.name.clone().unwrap_or_default());
    assert_eq!((o.base_color, o.emissive), (m.base_color, m.emissive));
    assert_eq!(
        [o.metallic, o.roughness, o.normal_scale, o.occlusion_strength, o.alpha_cutoff],
        [m.metallic, m.roughness, m.normal_scale, m.occlusion_strength, m.alpha_cutoff]
    );
    let mode = match m.alpha_mode {
        AlphaMode::Opaque => PHX_ALPHA_OPAQUE,
        AlphaMode::Mask => PHX_ALPHA_MASK,
        AlphaMode::Blend => PHX_ALPHA_BLEND,
    };
    assert_eq!(
        (o.alpha_mode, o.double_sided, o.unlit),
        (mode, m.double_sided.into(), m.unlit.into())
    );
    compare_texture(o.base_color_texture, &m.base_color_texture);
    compare_texture(o.metallic_roughness_texture, &m.metallic_roughness_texture);
    compare_texture(o.normal_texture, &m.normal_texture);
    compare_texture(o.occlusion_texture, &m.occlusion_texture);
    compare_texture(o.emissive_texture, &m.emissive_texture);
}

fn compare_primitive(own: *const phx_rig, mesh: u32, index: u32, p: &Primitive) {
    let o = described(|out| unsafe { phx_rig_primitive(own, mesh, index, out) });
    assert_eq!(o.vertex_count as usize, p.positions.len());
    assert_eq!(o.index_count as usize, p.indices.len());
    assert_eq!(o.influences as usize, p.influences.per_vertex);
    assert_eq!(o.target_count as usize, p.targets.len());
    assert_eq!(o.material, p.material.map_or(PHX_NONE, |m| m as u32));
    stream(o.positions, p.positions.as_flattened());
    stream(o.normals, p.normals.as_flattened());
    stream(o.tangents, p.tangents.as_flattened());
    stream(o.uvs, p.uvs.as_flattened());
    stream(o.uvs1, p.uvs1.as_flattened());
    stream(o.colors, p.colors.as_flattened());
    stream(o.indices, &p.indices);
    stream(o.joints, &p.influences.joints);
    stream(o.joint_weights, &p.influences.weights);
    for (target, t) in p.targets.iter().enumerate() {
        let target = target as u32;
        let o = described(|out| unsafe { phx_rig_morph_target(own, mesh, index, target, out) });
        stream(o.positions, t.positions.as_flattened());
        stream(o.normals, t.normals.as_flattened());
        stream(o.tangents, t.tangents.as_flattened());
    }
    let mut target: phx_morph_target_info = sized(size_of::<phx_morph_target_info>());
    let beyond = p.targets.len() as u32;
    let status = unsafe { phx_rig_morph_target(own, mesh, index, beyond, &raw mut target) };
    assert_eq!(status, PHX_ERROR_NOT_FOUND);
}

fn compare(own: *const phx_rig, rig: &Rig) {
    for (index, node) in rig.nodes().iter().enumerate() {
        let o = described(|out| unsafe { phx_rig_node(own, index as u32, out) });
        assert_eq!(string(o.name), node.name.clone().unwrap_or_default());
        assert_eq!(o.parent, node.parent.map_or(PHX_NONE, |p| p as u32));
        assert_eq!(o.joint, node.joint.map_or(PHX_NONE, u32::from));
        assert_eq!(o.local.translation, node.local.translation.to_array());
        assert_eq!(o.local.rotation, node.local.rotation.to_array());
        assert_eq!(o.local.scale, node.local.scale.to_array());
        stream(o.matrix, node.matrix.as_ref().map_or(&[], |m| &m[..]));
        let morphs = o.first_morph as usize..(o.first_morph + o.morph_count) as usize;
        assert_eq!(morphs, node.morphs);
    }
    for (index, m) in rig.meshes().iter().enumerate() {
        let o = described(|out| unsafe { phx_rig_mesh(own, index as u32, out) });
        assert_eq!(string(o.name), m.mesh.name.clone().unwrap_or_default());
        assert_eq!(
            [o.node, o.skin, o.lod].map(|v| v as usize),
            [m.node, m.skin, m.lod],
            "mesh {index}"
        );
        assert_eq!(o.rigid_slot, m.rigid_slot.map_or(PHX_NONE, u32::from));
        assert_eq!(o.primitive_count as usize, m.mesh.primitives.len());
        assert_eq!(o.weight_count as usize, m.mesh.weights.len());
        stream(o.weights, &m.mesh.weights);
        for (primitive, p) in m.mesh.primitives.iter().enumerate() {
            compare_primitive(own, index as u32, primitive as u32, p);
        }
        let mut primitive: phx_primitive_info = sized(size_of::<phx_primitive_info>());
        let beyond = m.mesh.primitives.len() as u32;
        let status = unsafe { phx_rig_primitive(own, index as u32, beyond, &raw mut primitive) };
        assert_eq!(status, PHX_ERROR_NOT_FOUND);
    }
    for (index, m) in rig.materials().iter().enumerate() {
        compare_material(own, index, m);
    }
    for (index, image) in rig.images().iter().enumerate() {
        let o = described(|out| unsafe { phx_rig_image(own, index as u32, out) });
        let (mime, bytes, size) = match image {
            None => ("", &[][..], [0, 0]),
            Some(ImageData::Encoded { mime, bytes }) => (mime.as_str(), &bytes[..], [0, 0]),
            Some(ImageData::Decoded(i)) => ("", &i.rgba[..], [i.width, i.height]),
        };
        assert_eq!(string(o.mime), mime);
        assert_eq!((o.size_bytes, [o.width, o.height]), (bytes.len(), size));
        stream(o.data, bytes);
    }
    let beyond = rig.nodes().len() as u32;
    let mut node: phx_node_info = sized(size_of::<phx_node_info>());
    assert_eq!(unsafe { phx_rig_node(own, beyond, &raw mut node) }, PHX_ERROR_NOT_FOUND);
    let mut mesh: phx_mesh_info = sized(size_of::<phx_mesh_info>());
    let beyond = rig.meshes().len() as u32;
    assert_eq!(unsafe { phx_rig_mesh(own, beyond, &raw mut mesh) }, PHX_ERROR_NOT_FOUND);
    let mut material: phx_material_info = sized(size_of::<phx_material_info>());
    let beyond = rig.materials().len() as u32;
    assert_eq!(unsafe { phx_rig_material(own, beyond, &raw mut material) }, PHX_ERROR_NOT_FOUND);
    let mut image: phx_image_info = sized(size_of::<phx_image_info>());
    let beyond = rig.images().len() as u32;
    assert_eq!(unsafe { phx_rig_image(own, beyond, &raw mut image) }, PHX_ERROR_NOT_FOUND);
}

/// A rigid mesh that has every stream, and a material whose fields all differ from their defaults.
fn full() -> Rig {
    let texture = |image, wrap_u, mag_filter| Texture {
        image,
        tex_coord: 1,
        transform: TextureTransform { offset: [0.5, 0.25], rotation: 0.75, scale: [2.0, 3.0] },
        sampler: Sampler {
            wrap_u,
            wrap_v: Wrap::MirroredRepeat,
            mag_filter,
            min_filter: Some(Filter::Linear),
            mip_filter: Some(Filter::Nearest),
        },
    };
    let target = MorphTarget {
        positions: vec![[0.0, 1.0, 0.0]; 3],
        normals: vec![[0.5, 0.0, 0.0]; 3],
        tangents: vec![[0.0, 0.0, 0.25]; 3],
    };
    let primitive = Primitive {
        positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]],
        normals: vec![[0.0, 0.0, 1.0]; 3],
        tangents: vec![[1.0, 0.0, 0.0, -1.0]; 3],
        uvs: vec![[0.0, 0.5]; 3],
        uvs1: vec![[0.25, 0.75]; 3],
        colors: vec![[0.1, 0.2, 0.3, 0.4]; 3],
        indices: vec![0, 1, 2],
        targets: vec![target, MorphTarget::default()],
        material: Some(0),
        ..Primitive::default()
    };
    let material = Material {
        name: Some("all".into()),
        base_color: [0.1, 0.2, 0.3, 0.4],
        base_color_texture: Some(texture(0, Wrap::ClampToEdge, None)),
        metallic: 0.5,
        roughness: 0.25,
        metallic_roughness_texture: Some(texture(1, Wrap::Repeat, Some(Filter::Nearest))),
        normal_texture: Some(texture(2, Wrap::MirroredRepeat, Some(Filter::Linear))),
        normal_scale: 0.75,
        occlusion_texture: Some(texture(0, Wrap::Repeat, None)),
        occlusion_strength: 0.125,
        emissive: [1.0, 2.0, 3.0],
        emissive_texture: Some(texture(1, Wrap::ClampToEdge, None)),
        alpha_mode: AlphaMode::Blend,
        alpha_cutoff: 0.375,
        double_sided: true,
        unlit: true,
    };
    let pixels = Image { width: 2, height: 1, rgba: (0..8).collect() };
    let scene = RawScene {
        nodes: vec![RawNode {
            name: Some("box".into()),
            mesh: Some(0),
            weights: vec![0.5, 0.0],
            ..RawNode::default()
        }],
        meshes: vec![Mesh {
            name: Some("triangle".into()),
            primitives: vec![primitive],
            weights: vec![0.5, 0.0],
        }],
        materials: vec![material, Material { alpha_mode: AlphaMode::Mask, ..Material::default() }],
        images: vec![
            Some(ImageData::Decoded(pixels)),
            Some(ImageData::from_encoded(b"\x89PNG\r\n\x1a\n and so on".to_vec(), None)),
            None,
        ],
        scenes: vec![vec![0]],
        default_scene: Some(0),
        ..RawScene::default()
    };
    build_rig(scene, &BuildOptions::default()).unwrap()
}

#[test]
fn meshes_materials_and_images_are_those_of_the_rig() {
    let rig = full();
    let own = rig_memory(&phx(&rig, ClipForm::Rows), "full", null());
    compare(own, &rig);
    free_rig(own);
    let own = mannequin();
    compare(own, &mannequin_rig());
    free_rig(own);
    for name in ["Fox.glb", "CesiumMan.glb", "bl_morphbones.glb", "robot.glb"] {
        let Some(path) = asset(name) else { continue };
        let rig = import::import_path(path.as_ref(), &encoded()).unwrap().rigs.remove(0);
        let own = rig_file(&path, null());
        compare(own, &rig);
        free_rig(own);
    }
}

#[test]
fn views_of_a_freed_rig_are_refused() {
    let own = mannequin();
    free_rig(own);
    for (rig, status) in [(own.cast_const(), PHX_ERROR_HANDLE), (null(), PHX_ERROR_NULL)] {
        let mut node: phx_node_info = sized(size_of::<phx_node_info>());
        let mut mesh: phx_mesh_info = sized(size_of::<phx_mesh_info>());
        let mut primitive: phx_primitive_info = sized(size_of::<phx_primitive_info>());
        let mut target: phx_morph_target_info = sized(size_of::<phx_morph_target_info>());
        let mut material: phx_material_info = sized(size_of::<phx_material_info>());
        let mut image: phx_image_info = sized(size_of::<phx_image_info>());
        let all = unsafe {
            [
                phx_rig_node(rig, 0, &raw mut node),
                phx_rig_mesh(rig, 0, &raw mut mesh),
                phx_rig_primitive(rig, 0, 0, &raw mut primitive),
                phx_rig_morph_target(rig, 0, 0, 0, &raw mut target),
                phx_rig_material(rig, 0, &raw mut material),
                phx_rig_image(rig, 0, &raw mut image),
            ]
        };
        assert_eq!(all, [status; 6]);
    }
}
