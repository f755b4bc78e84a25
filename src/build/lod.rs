//! Levels of detail: meshes of other files on a rig's skeleton, matched by joint name.

use super::rig::measure_bounds;
use crate::error::BuildError;
use crate::mesh::Mesh;
use crate::raw::RawScene;
use crate::rig::{Rig, RigMesh, measure_slots};
use crate::words::shorten;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Largest difference of a level's inverse bind matrices from the rig's: of directions relative to the largest, of
/// positions relative to the size of the rig. Exporters write the same pose in f32 with a few roundings.
const BIND_TOLERANCE: f32 = 1e-4;

/// Adds the skinned meshes of `scene` as the rig's next level of detail. Its joints are matched by
/// name, and its bind pose must equal the rig's.
///
/// # Errors
/// If there is no skinned mesh, a joint is missing, the bind pose differs, or a mesh is invalid. The rig
/// is then unchanged.
pub fn add_lod(rig: &mut Rig, scene: &RawScene) -> Result<(), BuildError> {
    add(rig, scene).map_err(|source| source.within(&*scene.name))
}

fn add(rig: &mut Rig, scene: &RawScene) -> Result<(), BuildError> {
    let lod = rig.lod_count();
    let first_material = rig.materials.len();
    let mut added = Vec::new();
    // Nodes with the same skin share the match; nodes with the same mesh and skin share the new mesh.
    let mut matched: HashMap<usize, (usize, Vec<u16>)> = HashMap::new();
    let mut moved: HashMap<(usize, usize), Arc<Mesh>> = HashMap::new();
    for node in &scene.nodes {
        let (Some(mesh), Some(skin)) = (node.mesh, node.skin) else { continue };
        let (Some(data), Some(joints)) = (scene.meshes.get(mesh), scene.skins.get(skin)) else {
            continue;
        };
        let (target, slots) = match matched.entry(skin) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(match_skin(rig, scene, joints)?),
        };
        let shared = match moved.get(&(mesh, skin)) {
            Some(shared) => shared.clone(),
            None => {
                let made = Arc::new(on_slots(data, slots, first_material));
                for (primitive, p) in made.primitives.iter().enumerate() {
                    let place = || format!("mesh {mesh}, primitive {primitive}");
                    p.check().map_err(|source| source.within(place()))?;
                }
                moved.insert((mesh, skin), made.clone());
                made
            }
        };
        added.push(RigMesh {
            node: rig.meshes.first().map_or(0, |m| m.node),
            source: mesh,
            mesh: shared,
            skin: *target,
            rigid_slot: None,
            lod,
        });
    }
    if added.is_empty() {
        return Err(BuildError::invalid("there is no skinned mesh"));
    }
    let mut meshes = rig.meshes.clone();
    meshes.extend(added);
    let slot_bounds = measure_slots(&rig.skins, &rig.palette_offsets, &meshes)?;
    for (material, m) in scene.materials.iter().enumerate() {
        m.check().map_err(|source| source.within(format!("material {material}")))?;
    }
    let first_image = rig.images.len();
    Arc::make_mut(&mut rig.images).extend(scene.images.iter().cloned());
    rig.materials.extend(scene.materials.iter().map(|m| {
        let mut m = m.clone();
        m.textures_mut().for_each(|t| t.image = t.image.saturating_add(first_image));
        m
    }));
    rig.set_meshes(meshes, slot_bounds);
    measure_bounds(rig);
    Ok(())
}

/// A mesh whose influences refer to the rig's slots.
fn on_slots(mesh: &Mesh, slots: &[u16], first_material: usize) -> Mesh {
    let mut moved = mesh.clone();
    for p in &mut moved.primitives {
        // Importers reject weighted influences beyond the skin.
        p.influences.move_slots(|slot| slots.get(slot).copied());
        p.material = p.material.map(|m| m + first_material);
    }
    moved
}

/// Whether two inverse bind matrices of a mesh are equal except for rounding; `size` is the mesh's. Translations are in
/// the unit of the joint; the largest direction converts a unit of the mesh to it.
fn is_same(ours: &[f32; 16], theirs: &[f32; 16], size: f32) -> bool {
    let largest = |all: &[f32]| all.iter().fold(0.0f32, |most, v| most.max(v.abs()));
    let unit = largest(&ours[..12]);
    let place = largest(&ours[12..15]).max(unit * size);
    let near = |from: usize, to: usize, size: f32| {
        let mut pairs = ours[from..to].iter().zip(&theirs[from..to]);
        pairs.all(|(a, b)| (a - b).abs() <= BIND_TOLERANCE * size)
    };
    near(0, 12, unit) && near(12, 16, place)
}

/// The rig's skin that has all joints of `skin`, and its slot for each of them.
fn match_skin(
    rig: &Rig,
    scene: &RawScene,
    skin: &crate::raw::RawSkin,
) -> Result<(usize, Vec<u16>), BuildError> {
    let names = rig.skeleton.names();
    let name = |slot: usize| {
        let node = scene.nodes.get(skin.joints[slot]);
        node.and_then(|n| n.name.as_deref()).unwrap_or_default()
    };
    let boxes = rig.slot_bounds().iter().filter(|b| !b.is_empty());
    let size = boxes.fold(0.0f32, |size, b| size.max(b.min.abs().max(b.max.abs()).max_element()));
    // Without vertices there is nothing to measure.
    let size = if size > 0.0 { size } else { 1.0 };
    let mut missing = 0;
    for (index, candidate) in rig.file_skins().iter().enumerate() {
        let mut places: HashMap<&str, usize> = HashMap::with_capacity(candidate.len());
        for (slot, &joint) in candidate.joints().iter().enumerate() {
            if let Some(name) = names.get(usize::from(joint)) {
                places.entry(name.as_str()).or_insert(slot);
            }
        }
        let find = |slot: usize| places.get(name(slot)).copied();
        let found: Vec<Option<usize>> = (0..skin.joints.len()).map(find).collect();
        let Some(slots) = found.iter().copied().collect::<Option<Vec<usize>>>() else {
            missing = found.iter().position(Option::is_none).unwrap_or(0);
            continue;
        };
        for (slot, (&target, bind)) in slots.iter().zip(&skin.inverse_bind).enumerate() {
            let ours = candidate.inverse_bind()[target].to_cols_array();
            if !is_same(&ours, bind, size) {
                let (joint, rig) = (shorten(name(slot)), shorten(&rig.name));
                return Err(BuildError::invalid(format!(
                    "joint \"{joint}\" has a different bind pose than in \"{rig}\""
                )));
            }
        }
        return Ok((index, slots.into_iter().map(|s| s as u16).collect()));
    }
    let (rig, joint) = (shorten(&rig.name), shorten(name(missing)));
    Err(BuildError::invalid(format!("no skin of \"{rig}\" has the joint \"{joint}\"")))
}
