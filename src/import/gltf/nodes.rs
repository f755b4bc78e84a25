//! Nodes, scenes and skins.

use super::buffers::{Buffers, at};
use super::error::{
    Fault, ImportFault as Kind, Within, count, index as index_fault, invalid, label,
};
use super::limits::{MAX_SKIN_JOINTS, Notes};
use super::matrix::{SHEAR_TOLERANCE, decompose};
use crate::mesh::Mesh;
use crate::raw::{RawNode, RawSkin};
use crate::skeleton::Trs;
use crate::words::plural;
use ::gltf::json;
use glam::{Mat4, Quat, Vec3};
use json::accessor::Type;
use std::collections::HashSet;

/// Difference of a rest rotation's length from 1 beyond which it is reported; exporters' rounding is 1e-6.
const REPORTED_LENGTH: f64 = 1e-3;

/// Difference of a rest rotation's length from 1 up to which it keeps the file's bits.
const KEPT_LENGTH: f64 = 1e-6;

/// Quaternions shorter than this have no direction.
pub(super) const ZERO_LENGTH: f64 = 1e-6;

/// Rejects NaN and infinities.
pub(super) fn finite(what: &'static str, values: &[f32]) -> Result<(), Kind> {
    match values.iter().position(|v| !v.is_finite()) {
        Some(at) => Err(invalid(format!("{what} {at} is {}", values[at]))),
        None => Ok(()),
    }
}

/// Reads all nodes and checks that they form a forest.
pub(super) fn nodes(
    list: Vec<json::Node>,
    meshes: &[Mesh],
    skins: usize,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Vec<RawNode>, Fault> {
    buffers.memory.charge_for::<RawNode>(list.len())?;
    let parents = parents(&list)?;
    let mut out = Vec::with_capacity(list.len());
    for (index, (node, parent)) in list.into_iter().zip(parents).enumerate() {
        let place = label("node", index, node.name.as_deref());
        // Each node repeats the weights of its mesh, even if nodes share the mesh.
        let targets = node.mesh.and_then(|m| meshes.get(m.value()));
        let weights = targets.map_or(0, |m| m.weights.len());
        (buffers.memory.charge_for::<f32>(weights)).within(|| place.clone())?;
        let raw = node_of(index, node, parent, meshes, skins, &place, notes);
        out.push(raw.within(|| place)?);
    }
    Ok(out)
}

fn parents(list: &[json::Node]) -> Result<Vec<Option<usize>>, Fault> {
    let place = |index: usize| {
        let name = list.get(index).and_then(|n| n.name.as_deref());
        label("node", index, name)
    };
    let mut parents: Vec<Option<usize>> = vec![None; list.len()];
    for (parent, node) in list.iter().enumerate() {
        for child in node.children.iter().flatten().map(|c| c.value()) {
            at(list, child, "child node").within(|| place(parent))?;
            if let Some(first) = parents[child].filter(|&first| first != parent) {
                let words = format!("is a child of node {first} and of node {parent}");
                return Err(invalid(words)).within(|| place(child));
            }
            parents[child] = Some(parent);
        }
    }
    // Each node has at most one parent: a walk upwards ends at a root, meets the trail of an earlier walk, or
    // meets its own.
    let mut trail: Vec<Option<usize>> = vec![None; list.len()];
    for start in 0..list.len() {
        let mut next = Some(start);
        while let Some(node) = next {
            match trail[node] {
                Some(walk) if walk == start => {
                    return Err(invalid("is its own ancestor")).within(|| place(node));
                }
                Some(_) => break,
                None => trail[node] = Some(start),
            }
            next = parents[node];
        }
    }
    Ok(parents)
}

fn node_of(
    index: usize,
    node: json::Node,
    parent: Option<usize>,
    meshes: &[Mesh],
    skins: usize,
    place: &str,
    notes: &mut Notes,
) -> Result<RawNode, Fault> {
    let mesh = match node.mesh.map(|m| m.value()) {
        Some(mesh) => Some((mesh, at(meshes, mesh, "mesh")?)),
        None => None,
    };
    let skin = node.skin.map(|s| s.value());
    if let Some(skin) = skin.filter(|&skin| skin >= skins) {
        return Err(index_fault("skin", skin, skins).into());
    }
    let weights = default_weights(node.weights, mesh.map(|m| m.1), place, notes)?;
    let (local, matrix) = match node.matrix {
        Some(matrix) => {
            if node.translation.is_some() || node.rotation.is_some() || node.scale.is_some() {
                let message = "translation, rotation and scale beside a matrix are ignored";
                notes.dropped(place, message);
            }
            let matrix = affine(matrix, place, notes)?;
            let parts = decompose(&matrix);
            if parts.residual > SHEAR_TOLERANCE {
                let message = format!(
                    "the matrix has shear: translation, rotation and scale differ from it by {:.3e}",
                    parts.residual
                );
                notes.repaired(place, message);
            }
            (parts.local, Some(matrix))
        }
        None => {
            let translation = node.translation.unwrap_or([0.0; 3]);
            let rotation = node.rotation.unwrap_or_default().0;
            let scale = node.scale.unwrap_or([1.0; 3]);
            finite("translation", &translation)?;
            finite("rotation", &rotation)?;
            finite("scale", &scale)?;
            let local = Trs {
                translation: Vec3::from_array(translation),
                rotation: unit_quaternion(rotation, place, notes),
                scale: Vec3::from_array(scale),
            };
            (local, None)
        }
    };
    Ok(RawNode {
        source: index,
        name: node.name,
        parent,
        local,
        matrix,
        mesh: mesh.map(|m| m.0),
        skin,
        weights,
    })
}

fn unit_quaternion(q: [f32; 4], place: &str, notes: &mut Notes) -> Quat {
    let wide = q.map(f64::from);
    let length = wide.iter().map(|v| v * v).sum::<f64>().sqrt();
    let off = (length - 1.0).abs();
    if off <= KEPT_LENGTH {
        return Quat::from_array(q);
    }
    if length < ZERO_LENGTH {
        notes.repaired(place, "a rotation of length 0 was replaced by the identity");
        return Quat::IDENTITY;
    }
    if off > REPORTED_LENGTH {
        let message = format!("a rotation of length {length} was normalised");
        notes.repaired(place, message);
    }
    Quat::from_array(wide.map(|v| (v / length) as f32))
}

/// Checks a matrix and repairs its last row.
fn affine(mut matrix: [f32; 16], place: &str, notes: &mut Notes) -> Result<[f32; 16], Kind> {
    finite("matrix", &matrix)?;
    let last = [matrix[3], matrix[7], matrix[11], matrix[15]];
    if last != [0.0, 0.0, 0.0, 1.0] {
        (matrix[3], matrix[7], matrix[11], matrix[15]) = (0.0, 0.0, 0.0, 1.0);
        let worst =
            (last[0].abs().max(last[1].abs())).max(last[2].abs()).max((last[3] - 1.0).abs());
        let message = format!("the matrix's last row differed from 0 0 0 1 by {worst:e}");
        notes.repaired(place, message);
    }
    Ok(matrix)
}

/// The node's weights, or the mesh's, or zeros; one per morph target.
fn default_weights(
    own: Option<Vec<f32>>,
    mesh: Option<&Mesh>,
    place: &str,
    notes: &mut Notes,
) -> Result<Vec<f32>, Fault> {
    let targets = mesh.map_or(0, |m| m.weights.len());
    let Some(own) = own.filter(|own| !own.is_empty()) else {
        return Ok(mesh.map_or_else(Vec::new, |m| m.weights.clone()));
    };
    finite("weight", &own)?;
    Ok(fit(own, targets, place, notes))
}

/// `weights` truncated or padded with zeros to one per target.
pub(super) fn fit(
    mut weights: Vec<f32>,
    targets: usize,
    place: &str,
    notes: &mut Notes,
) -> Vec<f32> {
    if weights.len() != targets {
        let message = format!(
            "{} for {}",
            plural(weights.len() as u64, "weight"),
            plural(targets as u64, "morph target")
        );
        notes.repaired(place, message);
        weights.resize(targets, 0.0);
        weights.shrink_to_fit();
    }
    weights
}

/// Reads the skins.
pub(super) fn skins(
    list: Vec<json::Skin>,
    nodes: usize,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Vec<RawSkin>, Fault> {
    let mut out = Vec::with_capacity(list.len());
    for (index, skin) in list.into_iter().enumerate() {
        let place = label("skin", index, skin.name.as_deref());
        out.push(skin_of(skin, nodes, &place, buffers, notes).within(|| place)?);
    }
    Ok(out)
}

fn skin_of(
    skin: json::Skin,
    nodes: usize,
    place: &str,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<RawSkin, Fault> {
    let slots = skin.joints.len();
    if slots > MAX_SKIN_JOINTS {
        return Err(Kind::Limit {
            what: "joints of a skin",
            needed: slots as u64,
            limit: MAX_SKIN_JOINTS as u64,
        }
        .into());
    }
    buffers.memory.charge_for::<(usize, [f32; 16])>(slots)?;
    let mut seen = HashSet::new();
    let mut joints = Vec::with_capacity(slots);
    for (slot, joint) in skin.joints.iter().map(|j| j.value()).enumerate() {
        if joint >= nodes {
            return Err(index_fault("joint node", joint, nodes)).within(|| format!("joint {slot}"));
        }
        if !seen.insert(joint) {
            notes.note(place, format!("node {joint} is a joint more than once"));
        }
        joints.push(joint);
    }
    if joints.is_empty() {
        notes.note(place, "has no joints");
    }
    let inverse_bind = match skin.inverse_bind_matrices.map(|a| a.value()) {
        None => vec![Mat4::IDENTITY.to_cols_array(); slots],
        Some(accessor) => inverse_binds(accessor, slots, place, buffers, notes)?,
    };
    Ok(RawSkin { name: skin.name, joints, inverse_bind })
}

fn inverse_binds(
    accessor: usize,
    slots: usize,
    place: &str,
    buffers: &mut Buffers,
    notes: &mut Notes,
) -> Result<Vec<[f32; 16]>, Fault> {
    let expected = "MAT4 of FLOAT";
    let info = buffers.info_of(accessor, &[Type::Mat4], expected)?;
    if !info.is_float() {
        return Err(info.refused(expected)).within(|| format!("accessor {accessor}"));
    }
    if info.count < slots {
        let (needed, found) = (slots as u64, info.count as u64);
        return Err(count("inverse bind matrices, at least", needed, found))
            .within(|| format!("accessor {accessor}"));
    }
    let mut matrices = buffers.rows::<16>(accessor, super::accessor::Integers::AsDeclared)?;
    matrices.truncate(slots);
    matrices.shrink_to_fit();
    for (slot, matrix) in matrices.iter_mut().enumerate() {
        let here = format!("{place}, inverse bind matrix {slot}");
        *matrix = affine(*matrix, &here, notes).within(|| format!("inverse bind matrix {slot}"))?;
    }
    Ok(matrices)
}
