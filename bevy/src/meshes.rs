//! Meshes of a rig as Bevy's.

use crate::loader::RigSurface;
use crate::rig_assets::Store;
use bevy::asset::{Handle, RenderAssetUsages};
use bevy::math::Vec3;
use bevy::mesh::morph::{MAX_MORPH_WEIGHTS, MorphAttributes};
use bevy::mesh::{Indices, Mesh, PrimitiveTopology, VertexAttributeValues};
use bevy::pbr::StandardMaterial;
use phalanx::mesh::Primitive;
use phalanx::rig::{Rig, RigMesh};
use tracing::warn;

/// Influences of a vertex that Bevy's skinning reads.
const PER_VERTEX: usize = 4;

/// The meshes of a rig, a surface per primitive.
pub fn surfaces(
    rig: &Rig,
    materials: &[Handle<StandardMaterial>],
    store: &mut impl Store,
) -> Vec<RigSurface> {
    let mut surfaces = Vec::new();
    for (index, rig_mesh) in rig.meshes().iter().enumerate() {
        let offset = rig.palette_offset(rig_mesh.skin);
        let rows = match rig_mesh.rigid_slot {
            Some(slot) => offset + usize::from(slot)..offset + usize::from(slot) + 1,
            None => offset..offset + rig.skins()[rig_mesh.skin].len(),
        };
        for (number, primitive) in rig_mesh.mesh.primitives.iter().enumerate() {
            let normals_mapped =
                primitive.material.is_some_and(|m| rig.materials()[m].normal_texture.is_some());
            let mesh = mesh(rig_mesh, primitive, normals_mapped);
            let material = primitive.material.unwrap_or(materials.len() - 1);
            surfaces.push(RigSurface {
                mesh_index: index,
                // Bevy's loader labels assets of the same file, too.
                mesh: store.mesh(format!("Phalanx/Mesh{index}/Primitive{number}"), mesh),
                material: materials[material].clone(),
                rows: rows.clone(),
                lod: rig_mesh.lod,
                targets: Some(primitive.targets.len())
                    .filter(|&n| n <= MAX_MORPH_WEIGHTS)
                    .unwrap_or(0),
            });
        }
    }
    surfaces
}

fn mesh(rig_mesh: &RigMesh, primitive: &Primitive, normals_mapped: bool) -> Mesh {
    let vertices = primitive.positions.len();
    let mut mesh = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default());
    mesh.insert_attribute(Mesh::ATTRIBUTE_POSITION, primitive.positions.clone());
    if !primitive.uvs.is_empty() {
        mesh.insert_attribute(Mesh::ATTRIBUTE_UV_0, primitive.uvs.clone());
    }
    if !primitive.uvs1.is_empty() {
        mesh.insert_attribute(Mesh::ATTRIBUTE_UV_1, primitive.uvs1.clone());
    }
    if !primitive.colors.is_empty() {
        mesh.insert_attribute(Mesh::ATTRIBUTE_COLOR, primitive.colors.clone());
    }
    let (joints, weights) = match rig_mesh.rigid_slot {
        Some(_) => (vec![[0; PER_VERTEX]; vertices], vec![[1.0, 0.0, 0.0, 0.0]; vertices]),
        None => influences(primitive),
    };
    mesh.insert_attribute(Mesh::ATTRIBUTE_JOINT_INDEX, VertexAttributeValues::Uint16x4(joints));
    mesh.insert_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, weights);
    mesh.insert_indices(Indices::U32(primitive.indices.clone()));
    let mut targets = targets(primitive);
    if primitive.normals.is_empty() {
        // glTF asks for flat normals, which need vertices of their own for each triangle.
        mesh.duplicate_vertices();
        for target in &mut targets {
            *target = primitive.indices.iter().map(|&i| target[i as usize]).collect();
        }
        mesh.compute_flat_normals();
    } else {
        mesh.insert_attribute(Mesh::ATTRIBUTE_NORMAL, primitive.normals.clone());
        if !primitive.tangents.is_empty() {
            mesh.insert_attribute(Mesh::ATTRIBUTE_TANGENT, primitive.tangents.clone());
        }
    }
    match targets.len() {
        0 => {}
        1..=MAX_MORPH_WEIGHTS => mesh.set_morph_targets(targets.concat()),
        more => warn!("a mesh of {more} morph targets has none: Bevy draws {MAX_MORPH_WEIGHTS}"),
    }
    if normals_mapped && !mesh.contains_attribute(Mesh::ATTRIBUTE_TANGENT) {
        // Without coordinates of a texture there are none; the map is then not used.
        let _ = mesh.generate_tangents();
    }
    mesh
}

/// What each morph target adds to each vertex.
fn targets(primitive: &Primitive) -> Vec<Vec<MorphAttributes>> {
    let of =
        |values: &[[f32; 3]], vertex: usize| values.get(vertex).map_or(Vec3::ZERO, |&v| v.into());
    let targets = primitive.targets.iter();
    targets
        .map(|target| {
            let vertex = |v| {
                MorphAttributes::new(
                    of(&target.positions, v),
                    of(&target.normals, v),
                    of(&target.tangents, v),
                )
            };
            (0..primitive.positions.len()).map(vertex).collect()
        })
        .collect()
}

/// The four largest influences of each vertex, in the form that Bevy's skinning reads.
fn influences(primitive: &Primitive) -> (Vec<[u16; PER_VERTEX]>, Vec<[f32; PER_VERTEX]>) {
    let (largest, _) = primitive.influences.largest(PER_VERTEX);
    let width = largest.per_vertex;
    let vertices = primitive.positions.len();
    let mut joints = vec![[0; PER_VERTEX]; vertices];
    let mut weights = vec![[0.0; PER_VERTEX]; vertices];
    for vertex in 0..vertices {
        for i in 0..width.min(PER_VERTEX) {
            joints[vertex][i] = largest.joints[vertex * width + i];
            weights[vertex][i] = largest.weights[vertex * width + i];
        }
    }
    (joints, weights)
}
