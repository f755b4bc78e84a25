//! Meshes, materials and images of a rig, as views.

use crate::border::*;
use crate::convert::{none, small};
use crate::rig::{at, phx_rig, view};
use crate::types::*;
use phalanx::mesh::{AlphaMode, Filter, ImageData, Texture, Wrap};
use phalanx::rig::RigMesh;
use std::ptr::null;

/// A node of a rig's file. The views stay until this handle of the rig is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_node_info {
    /// The size of this struct.
    pub size: usize,
    /// The name; it may be empty.
    pub name: phx_text,
    /// The node above; PHX_NONE for a root.
    pub parent: u32,
    /// The joint that the node is; PHX_NONE: it is none, and stays as it is relative to the joint above.
    pub joint: u32,
    /// The rest transform, relative to the node above.
    pub local: phx_trs,
    /// The 16 numbers of the node's matrix, column after column, of which `local` is the decomposition; null: it has
    /// none.
    pub matrix: *const f32,
    /// The first scalar of the rig that is a morph weight of the node's mesh.
    pub first_morph: u32,
    /// The number of these scalars.
    pub morph_count: u32,
}

extensible!(phx_node_info);

/// Tells of a node.
///
/// PHX_ERROR_NOT_FOUND: there is no node of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_node(
    rig: *const phx_rig,
    node: u32,
    out: *mut phx_node_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(rig) }?;
        let node = at(state.rig.nodes(), node as usize, "node")?;
        let info = phx_node_info {
            size: 0,
            name: phx_text::of_option(node.name.as_deref()),
            parent: none(node.parent),
            joint: node.joint.map_or(PHX_NONE, u32::from),
            local: node.local.into(),
            matrix: node.matrix.as_ref().map_or(null(), |m| m.as_ptr()),
            first_morph: small(node.morphs.start),
            morph_count: small(node.morphs.len()),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// A mesh at a node. The views stay until this handle of the rig is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_mesh_info {
    /// The size of this struct.
    pub size: usize,
    /// The name; it may be empty.
    pub name: phx_text,
    /// The node that the mesh is at. In model space it lies where the skin, or the slot, puts it.
    pub node: u32,
    /// The skin whose slots its influences refer to.
    pub skin: u32,
    /// The slot of the skin that moves all of a rigid mesh; PHX_NONE: its vertices have influences.
    pub rigid_slot: u32,
    /// The level of detail; 0 is the finest.
    pub lod: u32,
    /// The number of primitives, for `phx_rig_primitive`.
    pub primitive_count: u32,
    /// The number of default weights.
    pub weight_count: u32,
    /// The default weights of the mesh's morph targets.
    pub weights: *const f32,
}

extensible!(phx_mesh_info);

/// Tells of a mesh. Meshes are listed in the order of their nodes, the finest level of detail first.
///
/// PHX_ERROR_NOT_FOUND: there is no mesh of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_mesh(
    rig: *const phx_rig,
    mesh: u32,
    out: *mut phx_mesh_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(rig) }?;
        let RigMesh { node, mesh, skin, rigid_slot, lod, .. } =
            at(state.rig.meshes(), mesh as usize, "mesh")?;
        let info = phx_mesh_info {
            size: 0,
            name: phx_text::of_option(mesh.name.as_deref()),
            node: small(*node),
            skin: small(*skin),
            rigid_slot: rigid_slot.map_or(PHX_NONE, u32::from),
            lod: small(*lod),
            primitive_count: small(mesh.primitives.len()),
            weight_count: small(mesh.weights.len()),
            weights: view(&mesh.weights),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// A part of a mesh that is drawn with one material, in mesh space: a stream of numbers per vertex each, null where
/// the file has none. The views stay until this handle of the rig is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_primitive_info {
    /// The size of this struct.
    pub size: usize,
    /// The number of vertices.
    pub vertex_count: u32,
    /// The number of indices, three per triangle; 0 for points and lines.
    pub index_count: u32,
    /// The number of influences of each vertex, a multiple of 4 in imported rigs; 0 in rigid meshes.
    pub influences: u32,
    /// The number of morph targets, for `phx_rig_morph_target`.
    pub target_count: u32,
    /// The material, for `phx_rig_material`; PHX_NONE: the default of glTF.
    pub material: u32,
    /// 3 per vertex.
    pub positions: *const f32,
    /// 3 per vertex: unit normals.
    pub normals: *const f32,
    /// 4 per vertex: unit tangents, and the sign of the bitangent.
    pub tangents: *const f32,
    /// 2 per vertex: the first set of texture coordinates.
    pub uvs: *const f32,
    /// 2 per vertex: the second set, if the material uses it.
    pub uvs1: *const f32,
    /// 4 per vertex: linear red, green, blue, alpha.
    pub colors: *const f32,
    /// Triangles.
    pub indices: *const u32,
    /// `influences` per vertex: slots of the mesh's skin.
    pub joints: *const u16,
    /// `influences` per vertex: the weight of each slot.
    pub joint_weights: *const f32,
}

extensible!(phx_primitive_info);

/// Tells of a primitive of a mesh.
///
/// PHX_ERROR_NOT_FOUND: there is no mesh or primitive of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_primitive(
    rig: *const phx_rig,
    mesh: u32,
    primitive: u32,
    out: *mut phx_primitive_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(rig) }?;
        let mesh = &at(state.rig.meshes(), mesh as usize, "mesh")?.mesh;
        let p = at(&mesh.primitives, primitive as usize, "primitive")?;
        let info = phx_primitive_info {
            size: 0,
            vertex_count: small(p.positions.len()),
            index_count: small(p.indices.len()),
            influences: small(p.influences.per_vertex),
            target_count: small(p.targets.len()),
            material: none(p.material),
            positions: view(p.positions.as_flattened()),
            normals: view(p.normals.as_flattened()),
            tangents: view(p.tangents.as_flattened()),
            uvs: view(p.uvs.as_flattened()),
            uvs1: view(p.uvs1.as_flattened()),
            colors: view(p.colors.as_flattened()),
            indices: view(&p.indices),
            joints: view(&p.influences.joints),
            joint_weights: view(&p.influences.weights),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// What a morph target adds to each vertex, times its weight. The views stay until this handle of the rig is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_morph_target_info {
    /// The size of this struct.
    pub size: usize,
    /// 3 per vertex, or null: positions do not change.
    pub positions: *const f32,
    /// 3 per vertex, or null: normals do not change.
    pub normals: *const f32,
    /// 3 per vertex, or null: tangents do not change.
    pub tangents: *const f32,
}

extensible!(phx_morph_target_info);

/// Tells of a morph target of a primitive.
///
/// PHX_ERROR_NOT_FOUND: there is no mesh, primitive or target of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_morph_target(
    rig: *const phx_rig,
    mesh: u32,
    primitive: u32,
    target: u32,
    out: *mut phx_morph_target_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(rig) }?;
        let mesh = &at(state.rig.meshes(), mesh as usize, "mesh")?.mesh;
        let primitive = at(&mesh.primitives, primitive as usize, "primitive")?;
        let target = at(&primitive.targets, target as usize, "morph target")?;
        let info = phx_morph_target_info {
            size: 0,
            positions: view(target.positions.as_flattened()),
            normals: view(target.normals.as_flattened()),
            tangents: view(target.tangents.as_flattened()),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// How a texture continues beyond 0 to 1.
pub type phx_wrap = u32;
/// It is repeated.
pub const PHX_WRAP_REPEAT: phx_wrap = 0;
/// The texels of the edge go on.
pub const PHX_WRAP_CLAMP: phx_wrap = 1;
/// It and its mirror image take turns.
pub const PHX_WRAP_MIRROR: phx_wrap = 2;

/// A filter between texels or mip levels. PHX_NONE: the renderer chooses; of mip levels, there are none.
pub type phx_filter = u32;
/// The nearest.
pub const PHX_FILTER_NEAREST: phx_filter = 0;
/// Linear between the nearest.
pub const PHX_FILTER_LINEAR: phx_filter = 1;

/// The use of an image by a material.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_texture_info {
    /// The image, for `phx_rig_image`; PHX_NONE: no texture, and the rest has no meaning.
    pub image: u32,
    /// The set of texture coordinates: 0 for `uvs`, 1 for `uvs1`.
    pub tex_coord: u32,
    /// Moves the coordinates, last.
    pub offset: [f32; 2],
    /// Turns them, after the scale: radians, counter-clockwise in the image.
    pub rotation: f32,
    /// Scales them, first.
    pub scale: [f32; 2],
    /// Beyond 0 to 1 along u.
    pub wrap_u: phx_wrap,
    /// Beyond 0 to 1 along v.
    pub wrap_v: phx_wrap,
    /// The filter where a texel covers several pixels.
    pub mag_filter: phx_filter,
    /// The filter where a pixel covers several texels.
    pub min_filter: phx_filter,
    /// The filter between mip levels.
    pub mip_filter: phx_filter,
}

fn filter(filter: Option<Filter>) -> phx_filter {
    match filter {
        None => PHX_NONE,
        Some(Filter::Nearest) => PHX_FILTER_NEAREST,
        Some(Filter::Linear) => PHX_FILTER_LINEAR,
    }
}

fn wrap(wrap: Wrap) -> phx_wrap {
    match wrap {
        Wrap::Repeat => PHX_WRAP_REPEAT,
        Wrap::ClampToEdge => PHX_WRAP_CLAMP,
        Wrap::MirroredRepeat => PHX_WRAP_MIRROR,
    }
}

fn texture(texture: &Option<Texture>) -> phx_texture_info {
    let t = texture.unwrap_or_default();
    phx_texture_info {
        image: none(texture.map(|t| t.image)),
        tex_coord: t.tex_coord,
        offset: t.transform.offset,
        rotation: t.transform.rotation,
        scale: t.transform.scale,
        wrap_u: wrap(t.sampler.wrap_u),
        wrap_v: wrap(t.sampler.wrap_v),
        mag_filter: filter(t.sampler.mag_filter),
        min_filter: filter(t.sampler.min_filter),
        mip_filter: filter(t.sampler.mip_filter),
    }
}

/// How a material uses the alpha of its base colour.
pub type phx_alpha_mode = u32;
/// Not at all: it is opaque.
pub const PHX_ALPHA_OPAQUE: phx_alpha_mode = 0;
/// It is drawn, opaque, where alpha is at least the cutoff.
pub const PHX_ALPHA_MASK: phx_alpha_mode = 1;
/// It is blended over what lies behind.
pub const PHX_ALPHA_BLEND: phx_alpha_mode = 2;

/// A material by the metallic-roughness model of glTF 2.0. Factors are linear; base colour and emissive textures are
/// sRGB, the others linear. The name stays until this handle of the rig is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_material_info {
    /// The size of this struct.
    pub size: usize,
    /// The name; it may be empty.
    pub name: phx_text,
    /// Red, green, blue, alpha.
    pub base_color: [f32; 4],
    /// Emitted red, green, blue, from 0 on; it may exceed 1.
    pub emissive: [f32; 3],
    /// 0 to 1.
    pub metallic: f32,
    /// 0 to 1.
    pub roughness: f32,
    /// The factor of the x and y of normals of the texture.
    pub normal_scale: f32,
    /// The share of the occlusion that applies, 0 to 1.
    pub occlusion_strength: f32,
    /// The use of alpha.
    pub alpha_mode: phx_alpha_mode,
    /// With PHX_ALPHA_MASK: the least alpha that is drawn.
    pub alpha_cutoff: f32,
    /// Flag: back faces are drawn.
    pub double_sided: u32,
    /// Flag: the base colour is shown without light.
    pub unlit: u32,
    /// Multiplies the base colour.
    pub base_color_texture: phx_texture_info,
    /// Multiplies metallic by its blue and roughness by its green.
    pub metallic_roughness_texture: phx_texture_info,
    /// Normals in tangent space.
    pub normal_texture: phx_texture_info,
    /// The share of ambient light that arrives, in its red.
    pub occlusion_texture: phx_texture_info,
    /// Multiplies the emitted light.
    pub emissive_texture: phx_texture_info,
}

extensible!(phx_material_info);

/// Tells of a material.
///
/// PHX_ERROR_NOT_FOUND: there is no material of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_material(
    rig: *const phx_rig,
    material: u32,
    out: *mut phx_material_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(rig) }?;
        let m = at(state.rig.materials(), material as usize, "material")?;
        let info = phx_material_info {
            size: 0,
            name: phx_text::of_option(m.name.as_deref()),
            base_color: m.base_color,
            emissive: m.emissive,
            metallic: m.metallic,
            roughness: m.roughness,
            normal_scale: m.normal_scale,
            occlusion_strength: m.occlusion_strength,
            alpha_mode: match m.alpha_mode {
                AlphaMode::Opaque => PHX_ALPHA_OPAQUE,
                AlphaMode::Mask => PHX_ALPHA_MASK,
                AlphaMode::Blend => PHX_ALPHA_BLEND,
            },
            alpha_cutoff: m.alpha_cutoff,
            double_sided: m.double_sided.into(),
            unlit: m.unlit.into(),
            base_color_texture: texture(&m.base_color_texture),
            metallic_roughness_texture: texture(&m.metallic_roughness_texture),
            normal_texture: texture(&m.normal_texture),
            occlusion_texture: texture(&m.occlusion_texture),
            emissive_texture: texture(&m.emissive_texture),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// An image. The views stay until this handle of the rig is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_image_info {
    /// The size of this struct.
    pub size: usize,
    /// The type of the bytes, such as image/png; empty for pixels, and for an image that was left out.
    pub mime: phx_text,
    /// The bytes of the image's file; of pixels, red, green, blue and alpha with 8 bits each, from the top row down.
    /// Null for an image that was left out.
    pub data: *const u8,
    /// The number of bytes.
    pub size_bytes: usize,
    /// The width of pixels; 0 for the bytes of a file.
    pub width: u32,
    /// The height of pixels; 0 for the bytes of a file.
    pub height: u32,
}

extensible!(phx_image_info);

/// Tells of an image. Images keep their index even where the import has left them out.
///
/// PHX_ERROR_NOT_FOUND: there is no image of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_image(
    rig: *const phx_rig,
    image: u32,
    out: *mut phx_image_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(rig) }?;
        let image = at(state.rig.images(), image as usize, "image")?;
        let (mime, data, [width, height]) = match image {
            None => ("", &[][..], [0, 0]),
            Some(ImageData::Encoded { mime, bytes }) => (mime.as_str(), &bytes[..], [0, 0]),
            Some(ImageData::Decoded(i)) => ("", &i.rgba[..], [i.width, i.height]),
        };
        let info = phx_image_info {
            size: 0,
            mime: phx_text::of(mime),
            data: view(data),
            size_bytes: data.len(),
            width,
            height,
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}
