//! A mesh for rigs that have none: an octahedron from every joint to each of its children.
//!
//! ```text
//!         ring                     joints without a child get a small octahedron around them
//!       .-'|`-.
//! joint <  |    `-------> child
//!       `-.|.-'
//! ```

use glam::Vec3;
use phalanx::build::BuildError;
use phalanx::math::Affine3x4;
use phalanx::mesh::{Material, Mesh, Primitive};
use phalanx::playback::{PoseAction, evaluate_pose};
use phalanx::rig::{Rig, RigMesh, RigParts};
use phalanx::skeleton::Skin;
use std::sync::Arc;

/// Distance of an octahedron's ring from its start and, below, the radius of the ring, as shares of the length.
const RING: f32 = 0.14;
const RADIUS: f32 = 0.075;

/// The least radius as a share of the longest bone, so that spines and fingers are seen; and the largest as a
/// share of the length.
const LEAST_RADIUS: f32 = 0.045;
const MOST_RADIUS: f32 = 0.25;

/// Size of the octahedron of a joint without children, as a share of its distance from its parent.
const LEAF: f32 = 0.16;

/// The least size of such an octahedron, as a share of the longest bone.
const LEAST: f32 = 0.04;

/// A longer bone than this many times the median is the way to a place far from the origin, and no measure of other
/// bones. A thigh has 12 times the length of a finger's bone.
const FAR: f32 = 32.0;

/// Offsets below this share of the longest are rounding, and no bones.
const ROUNDING: f32 = 1e-6;

/// Base colour of bones, linear.
const COLOR: [f32; 4] = [0.74, 0.68, 0.55, 1.0];

/// The rig with a mesh that shows its skeleton, for drawing only: skeleton, clips and nodes are the same, but the
/// palette has one slot per joint, in joint order. `None` if the rig has meshes, or no joints.
///
/// Every joint has an octahedron to each of its children, and to the nodes fixed below it, as End Sites of BVH
/// files are. All vertices follow one joint, so lengths are those of the rest pose; of the first clip's first pose
/// if all joints are in one place at rest.
///
/// # Errors
/// If the rig is rejected with the mesh, as a rig that was accepted is not expected to be.
pub fn with_skeleton_mesh(rig: &Rig) -> Result<Option<Rig>, BuildError> {
    let joints = rig.skeleton().len();
    if !rig.meshes().is_empty() || joints == 0 {
        return Ok(None);
    }
    let mut primitive = Primitive { material: Some(0), ..Primitive::default() };
    for (joint, shape) in shapes(rig) {
        add(&mut primitive, joint, shape);
    }
    primitive.influences.per_vertex = 4;
    let mesh =
        Mesh { name: Some("skeleton".into()), primitives: vec![primitive], weights: Vec::new() };
    // Vertices are in the space of their joint: a slot has the matrix of its joint.
    let binds = vec![Affine3x4::default(); joints];
    let slots = (0..joints).map(|j| j as u16).collect();
    let Ok(skin) = Skin::new(Some("skeleton".into()), slots, binds, joints) else {
        return Ok(None);
    };
    let joint_node = rig.nodes().iter().position(|n| n.joint.is_some());
    let parts = RigParts {
        name: rig.name().to_owned(),
        skeleton: rig.skeleton().clone(),
        skins: vec![skin],
        file_skins: 1,
        clips: rig.clips().to_vec(),
        nodes: rig.nodes().to_vec(),
        roots: rig.roots().to_vec(),
        meshes: vec![RigMesh {
            node: joint_node.unwrap_or(0),
            source: 0,
            mesh: Arc::new(mesh),
            skin: 0,
            rigid_slot: None,
            lod: 0,
        }],
        materials: vec![Material {
            name: Some("skeleton".into()),
            base_color: COLOR,
            ..Material::default()
        }],
        images: Vec::new(),
    };
    Rig::new(parts).map(Some)
}

/// The mesh of a joint, in the joint's space.
#[derive(Clone, Copy)]
enum Shape {
    /// To a child at this place, with this radius.
    Bone(Vec3, f32),
    /// Around the joint, with this radius.
    Leaf(f32),
}

/// The shapes of all joints.
fn shapes(rig: &Rig) -> Vec<(u16, Shape)> {
    let offsets = offsets(rig);
    let nodes = || rig.nodes().iter().zip(&offsets).enumerate();
    let bones: Vec<(usize, u16, Vec3)> = nodes()
        .filter_map(|(_, (node, &offset))| {
            let parent = node.parent?;
            let joint = rig.nodes().get(parent)?.joint?;
            Some((parent, joint, offset))
        })
        .collect();
    let longest = longest(bones.iter().map(|(_, _, offset)| offset.length()).collect());
    let mut shapes = Vec::new();
    let mut has_bone = vec![false; rig.nodes().len()];
    for (parent, joint, offset) in bones {
        let length = offset.length();
        if length > 1e-4 * longest {
            has_bone[parent] = true;
            let radius = (RADIUS * length).clamp(LEAST_RADIUS * longest, RADIUS * longest);
            let radius = radius.min(MOST_RADIUS * length);
            shapes.push((joint, Shape::Bone(offset, radius)));
        }
    }
    for (n, (node, offset)) in nodes() {
        if let Some(joint) = node.joint.filter(|_| !has_bone[n]) {
            let near = node.parent.map_or(0.0, |_| LEAF * offset.length());
            let size = near.clamp(LEAST * longest, LEAF * longest);
            shapes.push((joint, Shape::Leaf(size)));
        }
    }
    shapes
}

/// The longest of lengths that is not far above the others; 1 m if there is none.
fn longest(mut lengths: Vec<f32>) -> f32 {
    let most = lengths.iter().copied().fold(0.0, f32::max);
    lengths.retain(|&length| length > ROUNDING * most);
    lengths.sort_by(f32::total_cmp);
    let median = lengths.get(lengths.len().saturating_sub(1) / 2).copied();
    let most = FAR * median.unwrap_or(0.0);
    let usual = lengths.into_iter().rfind(|&length| length <= most);
    usual.unwrap_or(1.0)
}

/// Every node's place in the space of its parent.
fn offsets(rig: &Rig) -> Vec<Vec3> {
    let rest: Vec<Vec3> = rig.nodes().iter().map(|n| n.local.translation).collect();
    let apart = |n: usize| rig.nodes()[n].parent.is_some() && rest[n] != Vec3::ZERO;
    if (0..rest.len()).any(apart) || rig.clips().is_empty() {
        return rest;
    }
    // Files whose clips move all joints to their places.
    let first = PoseAction { clip: 0, time: 0.0, weight: 1.0 };
    match evaluate_pose(rig, &[first]) {
        Ok(pose) => pose.locals.iter().map(|l| l.translation).collect(),
        Err(_) => rest,
    }
}

/// Adds an octahedron that follows a joint.
fn add(to: &mut Primitive, joint: u16, shape: Shape) {
    let (tip, tail, ring, radius) = match shape {
        Shape::Bone(offset, radius) => (offset, Vec3::ZERO, RING * offset, radius),
        Shape::Leaf(size) => (Vec3::Y * size, Vec3::NEG_Y * size, Vec3::ZERO, size),
    };
    let along = (tip - tail).normalize_or(Vec3::Y);
    let (side, up) = along.any_orthonormal_pair();
    let corner = |i: usize| match i % 4 {
        0 => ring + side * radius,
        1 => ring + up * radius,
        2 => ring - side * radius,
        _ => ring - up * radius,
    };
    for i in 0..4 {
        // Counter-clockwise as seen from outside.
        for [a, b, c] in [[corner(i), corner(i + 1), tip], [corner(i + 1), corner(i), tail]] {
            let normal = (b - a).cross(c - a).normalize_or(along).to_array();
            let first = to.positions.len() as u32;
            to.positions.extend([a, b, c].map(|p| p.to_array()));
            to.normals.extend([normal; 3]);
            to.indices.extend(first..first + 3);
            for _ in 0..3 {
                to.influences.joints.extend([joint, 0, 0, 0]);
                to.influences.weights.extend([1.0, 0.0, 0.0, 0.0]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phalanx::build::{BuildOptions, build_rig};
    use phalanx::import::raw::{RawNode, RawScene, RawSkin};
    use phalanx::skeleton::Trs;

    fn node(name: &str, parent: Option<usize>, x: f32) -> RawNode {
        RawNode {
            name: Some(name.into()),
            parent,
            local: Trs { translation: Vec3::new(x, 0.0, 0.0), ..Trs::default() },
            ..RawNode::default()
        }
    }

    /// A chain of two joints that ends in a node that is not a joint, and a second root.
    fn rig(length: f32) -> Rig {
        let mut nodes = vec![
            node("hip", None, 5.0),
            node("knee", Some(0), length),
            node("end", Some(1), 0.5 * length),
            node("prop", None, 0.0),
        ];
        for (source, node) in nodes.iter_mut().enumerate() {
            node.source = source;
        }
        let identity = glam::Mat4::IDENTITY.to_cols_array();
        let raw = RawScene {
            nodes,
            skins: vec![RawSkin {
                name: None,
                joints: vec![0, 1, 3],
                inverse_bind: vec![identity; 3],
            }],
            ..RawScene::default()
        };
        build_rig(raw, &BuildOptions::default()).unwrap()
    }

    #[test]
    fn bones_reach_from_joint_to_child_and_ends_are_small() {
        let shown = with_skeleton_mesh(&rig(2.0)).unwrap().unwrap();
        assert_eq!(shown.palette_len(), 3);
        let mesh = &shown.meshes()[0].mesh.primitives[0];
        // Two bones and the root that has no children, of eight triangles each.
        assert_eq!(mesh.indices.len(), 3 * 8 * 3);
        let reach = |joint: u16| {
            let of = mesh.influences.joints.chunks(4).zip(&mesh.positions);
            let of = of.filter(|(slot, _)| slot[0] == joint).map(|(_, p)| p[0]);
            of.fold((f32::MAX, f32::MIN), |(a, b), x| (a.min(x), b.max(x)))
        };
        assert_eq!(reach(0), (0.0, 2.0));
        assert_eq!(reach(1), (0.0, 1.0));
        let prop = reach(2);
        assert!(prop.1 > 0.0 && prop.1 < 0.2 && prop.0 == -prop.1, "{prop:?}");
        // Normals point away from the axis of their bone.
        for (corners, normals) in mesh.positions.chunks(3).zip(mesh.normals.chunks(3)) {
            let middle = corners.iter().map(|p| Vec3::from(*p)).sum::<Vec3>() / 3.0;
            let away = middle.with_x(0.0).dot(Vec3::from(normals[0]));
            assert!(away > 0.0, "{corners:?}");
        }
        assert!(with_skeleton_mesh(&shown).unwrap().is_none());
    }

    /// The greatest extent of what follows a joint.
    fn size(rig: &Rig, joint: u16) -> f32 {
        let shown = with_skeleton_mesh(rig).unwrap().unwrap();
        let mesh = &shown.meshes()[0].mesh.primitives[0];
        let of = mesh.influences.joints.chunks(4).zip(&mesh.positions);
        let of = of.filter(|(slot, _)| slot[0] == joint);
        of.flat_map(|(_, p)| *p).fold(0.0, |a, v| a.max(v.abs()))
    }

    #[test]
    fn ends_far_from_the_origin_are_small() {
        // The root is far away: its offset is not a bone.
        assert!(size(&placed(&[500.0, 0.4, 0.3, 0.0]), 3) < 0.1);
        // A joint at the origin has the whole character far away as its child.
        let far = placed(&[0.0, 500.0, 0.4, 0.3, 0.0]);
        assert!(size(&far, 4) < 0.1, "{}", size(&far, 4));
        assert_eq!(size(&far, 2), 0.3);
        // The end itself is far away, on its own.
        assert!(size(&placed(&[0.0, 0.4, 0.3, 500.0]), 3) < 0.1);
        assert!(size(&placed(&[500.0]), 0) < 0.1);
    }

    /// A chain of joints, each this far from the one before.
    fn placed(offsets: &[f32]) -> Rig {
        let at = |(i, &x): (usize, &f32)| RawNode {
            source: i,
            ..node(&format!("joint{i}"), i.checked_sub(1), x)
        };
        let joints = 0..offsets.len();
        let raw = RawScene {
            nodes: offsets.iter().enumerate().map(at).collect(),
            skins: vec![RawSkin {
                name: None,
                inverse_bind: vec![glam::Mat4::IDENTITY.to_cols_array(); joints.len()],
                joints: joints.collect(),
            }],
            ..RawScene::default()
        };
        build_rig(raw, &BuildOptions::default()).unwrap()
    }

    #[test]
    fn joints_in_one_place_are_no_fault() {
        let shown = with_skeleton_mesh(&rig(0.0)).unwrap().unwrap();
        let mesh = &shown.meshes()[0].mesh.primitives[0];
        assert!(mesh.positions.iter().flatten().all(|v| v.is_finite()));
    }
}
