//! Models for pictures: read straight through the `gltf` crate, or made of tubes. Independent of the
//! library's importer, so that the test of a picture does not depend on it.

use glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Influences, Material, Primitive};
use phalanx_testkit::trials;

/// A skinned model: primitives with their materials, and its skin's rest pose.
pub struct Model {
    pub parts: Vec<(Primitive, Material)>,
    /// Parent slot and rest position of every slot, parents first.
    pub joints: Vec<(Option<usize>, Vec3)>,
    pub names: Vec<String>,
}

/// A mannequin file, if the test models are there.
pub fn mannequin(name: &str) -> Option<Model> {
    let bytes = std::fs::read(trials::asset(name)?).ok()?;
    let gltf = gltf::Gltf::from_slice(&bytes).expect("a model of ours");
    let blob = gltf.blob.as_deref();
    let skin = gltf.skins().next().expect("a skin");
    let nodes: Vec<usize> = skin.joints().map(|j| j.index()).collect();
    let mut joints = vec![(None, Vec3::ZERO); nodes.len()];
    // Every rest rotation of the mannequin is the identity and every scale 1.
    for (slot, joint) in skin.joints().enumerate() {
        let at = Vec3::from_array(joint.transform().decomposed().0);
        joints[slot].1 += at;
        for child in joint.children() {
            if let Some(child) = nodes.iter().position(|&n| n == child.index()) {
                assert!(child > slot, "parents come first");
                joints[child] = (Some(slot), joints[slot].1);
            }
        }
    }
    let mut parts = Vec::new();
    for mesh in gltf.meshes() {
        for p in mesh.primitives() {
            let reader = p.reader(|_| blob);
            let set = reader.read_joints(0).expect("joints").into_u16();
            let material = p.material();
            let primitive = Primitive {
                positions: reader.read_positions().expect("positions").collect(),
                normals: reader.read_normals().expect("normals").collect(),
                indices: reader.read_indices().expect("indices").into_u32().collect(),
                influences: Influences {
                    per_vertex: 4,
                    joints: set.flatten().collect(),
                    weights: reader
                        .read_weights(0)
                        .expect("weights")
                        .into_f32()
                        .flatten()
                        .collect(),
                },
                ..Default::default()
            };
            let material = Material {
                name: material.name().map(Into::into),
                base_color: material.pbr_metallic_roughness().base_color_factor(),
                double_sided: material.double_sided(),
                ..Material::DEFAULT
            };
            parts.push((primitive, material));
        }
    }
    Some(Model {
        parts,
        joints,
        names: skin.joints().map(|j| j.name().unwrap_or("").to_owned()).collect(),
    })
}

impl Model {
    /// Palette rows of a pose: rotations by slot, about the rest positions.
    pub fn palette(&self, turn: impl Fn(&str) -> Quat) -> Vec<Affine3x4> {
        let mut world: Vec<Affine3x4> = Vec::new();
        for (slot, &(parent, at)) in self.joints.iter().enumerate() {
            let from = parent.map_or(Vec3::ZERO, |p| self.joints[p].1);
            let local = Affine3x4::from_scale_rotation_translation(
                Vec3::ONE,
                turn(&self.names[slot]),
                at - from,
            );
            world.push(parent.map_or(local, |p| world[p] * local));
        }
        let rest =
            |at: Vec3| Affine3x4::from_scale_rotation_translation(Vec3::ONE, Quat::IDENTITY, -at);
        world.iter().zip(&self.joints).map(|(w, &(_, at))| *w * rest(at)).collect()
    }
}

/// An upright tube of `joints` joints, closed at both ends, with smooth weights.
///
/// `per_vertex` influences each; those beyond the two that count are zero.
pub fn tube(joints: usize, height: f32, radius: f32, per_vertex: usize) -> Model {
    const SIDES: usize = 24;
    let rings = joints * 6;
    let mut p = Primitive::default();
    p.influences.per_vertex = per_vertex;
    let push = |p: &mut Primitive, at: Vec3, normal: Vec3| {
        p.positions.push(at.to_array());
        p.normals.push(normal.to_array());
        let along = (at.y / height * joints as f32 - 0.5).clamp(0.0, joints as f32 - 1.0);
        let (low, part) = (along.floor() as usize, along.fract());
        for k in 0..per_vertex {
            // The two that count come last, so that a reduction has to look for them.
            let from_end = per_vertex - 1 - k;
            p.influences.joints.push((low + usize::from(from_end == 1)).min(joints - 1) as u16);
            p.influences.weights.push(match from_end {
                0 => 1.0 - part,
                1 => part,
                _ => 0.0,
            });
        }
        p.positions.len() as u32 - 1
    };
    for ring in 0..=rings {
        for side in 0..SIDES {
            let angle = side as f32 / SIDES as f32 * std::f32::consts::TAU;
            let out = Vec3::new(angle.sin(), 0.0, angle.cos());
            let y = height * ring as f32 / rings as f32;
            push(&mut p, out * radius + Vec3::Y * y, out);
        }
    }
    let at = |ring: usize, side: usize| (ring * SIDES + side % SIDES) as u32;
    for ring in 0..rings {
        for side in 0..SIDES {
            let (a, b) = (at(ring, side), at(ring, side + 1));
            let (c, d) = (at(ring + 1, side), at(ring + 1, side + 1));
            p.indices.extend([a, b, d, a, d, c]);
        }
    }
    for (ring, y, normal) in [(0, 0.0, Vec3::NEG_Y), (rings, height, Vec3::Y)] {
        let middle = push(&mut p, Vec3::Y * y, normal);
        for side in 0..SIDES {
            let rim = [side, side + 1].map(|s| {
                let at = Vec3::from_array(p.positions[at(ring, s) as usize]);
                push(&mut p, at, normal)
            });
            p.indices.extend(if normal.y > 0.0 {
                [middle, rim[0], rim[1]]
            } else {
                [middle, rim[1], rim[0]]
            });
        }
    }
    Model {
        parts: vec![(p, Material::default())],
        joints: (0..joints)
            .map(|j| {
                let at = Vec3::Y * (height * j as f32 / joints as f32);
                (j.checked_sub(1), at)
            })
            .collect(),
        names: (0..joints).map(|j| format!("joint{j}")).collect(),
    }
}
