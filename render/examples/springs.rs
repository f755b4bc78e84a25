//! Hair and a tail that swing on a model made in code: four moments of a turn, from left to right.
//!
//! `cargo run --release -p phalanx-render --example springs [picture.png]`

#[path = "support/picture.rs"]
mod picture;

use glam::{Affine3A, Quat, Vec3};
use phalanx::build::{BuildOptions, build_rig};
use phalanx::crowd::{BoneBuffer, Crowd};
use phalanx::import::raw::{RawNode, RawScene, RawSkin};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Influences, Material, Mesh, Primitive};
use phalanx::skeleton::{
    ColliderShape, SpringBones, SpringChain, SpringCollider, SpringJoint, Trs,
};
use phalanx_render::PictureSize;
use picture::{Posed, draw_poses, out_file};
use std::error::Error;
use std::f32::consts::PI;
use std::sync::Arc;

/// Frames per second, on purpose another number than that of the steps of springs.
const RATE: f32 = 100.0;
/// Seconds of the half turn.
const TURN: f32 = 0.5;
const STRANDS: usize = 11;
const HEAD: usize = 1;

fn main() -> Result<(), Box<dyn Error>> {
    let (raw, springs) = model();
    let rig = Arc::new(build_rig(raw, &BuildOptions::default())?);
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone())?;
    let swing = crowd.add_modifier(id, springs)?;
    let one = crowd.spawn(id)?;
    crowd.player(one)?.fade_modifier(swing, 1.0, 0.0)?;
    let tip = rig.skeleton().joint("tail 6")?;

    let mut bones = BoneBuffer::new();
    let mut poses = Vec::new();
    for frame in 0..=250 {
        // A second to come to rest, then the turn.
        let time = frame as f32 / RATE - 1.0;
        let share = (time / TURN).clamp(0.0, 1.0);
        let turn = Quat::from_rotation_y(-0.6 + PI * share * share * (3.0 - 2.0 * share));
        if frame > 0 {
            crowd.advance((1.0 / RATE).into())?;
        }
        crowd.set_world(one, Affine3A::from_quat(turn))?;
        crowd.evaluate(&mut bones);
        let Some(moment) = [100, 128, 152, 185].iter().position(|&at| at == frame) else {
            continue;
        };
        let place = Vec3::X * (moment as f32 - 1.5) * 1.15;
        let world = Affine3A::from_rotation_translation(turn, place);
        let rows = crowd.palette_range(one).ok_or("the instance has no palette rows")?;
        let palette = bones.rows()[rows].to_vec();
        poses.push(Posed { world: world.into(), palette, tint: [1.0; 3] });
        let at = turn * crowd.model_matrix(one, tip)?.translation();
        println!("{time:.2} s: the tip of the tail is at {at:.2}");
    }
    let camera = [Vec3::new(0.4, 1.7, 4.6), Vec3::new(0.0, 0.82, 0.0)];
    let size = PictureSize { width: 1200, height: 480 };
    draw_poses(&rig, &poses, &[], camera, size, &out_file("springs.png")?)
}

/// A body of two joints with hair around the head and a tail, and what of it swings.
fn model() -> (RawScene, SpringBones) {
    let mut made = Made::default();
    let hips = made.joint("hips", None, Vec3::new(0.0, 0.75, 0.0));
    let head = made.joint("head", Some(hips), Vec3::new(0.0, 0.62, 0.0));
    assert_eq!(head, HEAD);
    let mut springs = SpringBones::default();
    let mut hair = Part::default();
    for strand in 0..STRANDS {
        // All around but for the face.
        let angle = (strand as f32 / (STRANDS - 1) as f32 - 0.5) * 1.35 * PI + PI;
        let out = Quat::from_rotation_y(angle) * Vec3::Z;
        let first = Vec3::Y * 0.17 + out * 0.13;
        let next = Vec3::NEG_Y * 0.12 + out * 0.015;
        springs.chains.push(made.chain(&mut hair, (head, "hair"), (first, next), (5, 0.045)));
    }
    let mut tail = made.chain(
        &mut hair,
        (hips, "tail"),
        (Vec3::new(0.0, 0.0, -0.12), Vec3::new(0.0, -0.03, -0.13)),
        (7, 0.06),
    );
    for joint in &mut tail.joints {
        (joint.stiffness, joint.drag) = (1.2, 0.25);
    }
    tail.colliders = vec![1];
    springs.chains.push(tail);
    let body = ColliderShape::Capsule {
        ends: [Vec3::NEG_Y * 0.6, Vec3::Y * 0.45],
        radius: 0.17,
        inside: false,
    };
    springs.colliders = vec![
        SpringCollider { joint: head, shape: ColliderShape::sphere(Vec3::Y * 0.06, 0.16) },
        SpringCollider { joint: hips, shape: body },
    ];

    let mut parts = [Part::default(), hair];
    let body = &mut parts[0];
    body.bone([Vec3::new(0.0, 0.7, 0.0), Vec3::new(0.0, 1.28, 0.0)], [0.16, 0.12], hips as u16);
    for side in [-1.0, 1.0] {
        let foot = Vec3::new(side * 0.1, 0.0, 0.03);
        body.bone([Vec3::new(side * 0.08, 0.76, 0.0), foot], [0.085, 0.06], hips as u16);
        let shoulder = Vec3::new(side * 0.15, 1.22, 0.0);
        body.bone([shoulder, Vec3::new(side * 0.32, 0.85, 0.08)], [0.05, 0.035], hips as u16);
    }
    body.bone([Vec3::new(0.0, 1.3, 0.0), Vec3::new(0.0, 1.58, 0.0)], [0.12, 0.1], head as u16);
    body.bone([Vec3::new(0.0, 1.42, 0.1), Vec3::new(0.0, 1.4, 0.17)], [0.03, 0.01], head as u16);
    made.scene(parts, springs)
}

/// Joints without rotations, and where they are.
#[derive(Default)]
struct Made {
    nodes: Vec<RawNode>,
    places: Vec<Vec3>,
}

/// Triangles of one colour.
#[derive(Default)]
struct Part(Primitive);

impl Made {
    fn joint(&mut self, name: &str, parent: Option<usize>, at: Vec3) -> usize {
        let above = parent.map_or(Vec3::ZERO, |parent| self.places[parent]);
        let local = Trs { translation: at, ..Trs::IDENTITY };
        let name = Some(name.to_owned());
        let source = self.nodes.len();
        self.nodes.push(RawNode { source, name, parent, local, ..RawNode::default() });
        self.places.push(above + at);
        self.places.len() - 1
    }

    /// A chain that hangs on a joint, each joint with its mesh.
    fn chain(
        &mut self,
        part: &mut Part,
        (parent, name): (usize, &str),
        (first, next): (Vec3, Vec3),
        (count, radius): (usize, f32),
    ) -> SpringChain {
        let (mut at, mut above, mut chain) = (first, parent, SpringChain::default());
        for n in 0..count {
            let name = if name == "tail" { format!("tail {n}") } else { String::new() };
            above = self.joint(&name, Some(above), at);
            at = next;
            let joint = SpringJoint {
                radius: 0.03,
                stiffness: 0.5,
                gravity: Vec3::NEG_Y * 0.35,
                drag: 0.2,
                ..SpringJoint::new(above)
            };
            chain.joints.push(joint);
            if n + 1 < count {
                let from = self.places[above];
                let thin = |n: usize| radius * (1.0 - 0.8 * n as f32 / count as f32);
                part.bone([from, from + next], [thin(n), thin(n + 1)], above as u16);
            }
        }
        SpringChain { colliders: vec![0, 1], ..chain }
    }

    fn scene(mut self, parts: [Part; 2], springs: SpringBones) -> (RawScene, SpringBones) {
        let colors = [[0.75, 0.62, 0.5, 1.0], [0.45, 0.12, 0.05, 1.0]];
        let material = |base_color| Material { base_color, ..Material::default() };
        let joints = self.nodes.len();
        let primitives = parts.into_iter().enumerate();
        let primitives =
            primitives.map(|(n, Part(primitive))| Primitive { material: Some(n), ..primitive });
        let mesh = Mesh { primitives: primitives.collect(), ..Mesh::default() };
        self.nodes.push(RawNode { mesh: Some(0), skin: Some(0), ..RawNode::default() });
        let bind = |at: &Vec3| Affine3x4::from(Affine3A::from_translation(-*at)).to_cols_array();
        let skin = RawSkin {
            joints: (0..joints).collect(),
            inverse_bind: self.places.iter().map(bind).collect(),
            ..RawSkin::default()
        };
        let scene = RawScene {
            name: "made in code".into(),
            nodes: self.nodes,
            skins: vec![skin],
            meshes: vec![mesh],
            materials: colors.map(material).into(),
            ..RawScene::default()
        };
        (scene, springs)
    }
}

impl Part {
    /// A square beam between two points, of other widths at its ends, that follows a joint.
    fn bone(&mut self, [from, to]: [Vec3; 2], radii: [f32; 2], joint: u16) {
        let along = (to - from).normalize();
        let (x, y) = along.any_orthonormal_pair();
        let corner = |end: usize, n: usize| {
            let (sin, cos) = (n as f32 * 0.5 * PI).sin_cos();
            [from, to][end] + (x * cos + y * sin) * radii[end] * 1.2
        };
        let mut faces = vec![
            [corner(0, 3), corner(0, 2), corner(0, 1), corner(0, 0)],
            [corner(1, 0), corner(1, 1), corner(1, 2), corner(1, 3)],
        ];
        faces.extend(
            (0..4).map(|n| [corner(0, n), corner(0, n + 1), corner(1, n + 1), corner(1, n)]),
        );
        let Self(out) = self;
        for [a, b, c, d] in faces {
            let normal = (b - a).cross(c - a).normalize();
            let first = out.positions.len() as u32;
            out.indices.extend([0, 1, 2, 0, 2, 3].map(|n| first + n));
            out.positions.extend([a, b, c, d].map(|v| v.to_array()));
            out.normals.extend([normal.to_array(); 4]);
            out.influences.per_vertex = 1;
            out.influences.joints.extend([joint; 4]);
            out.influences.weights.extend([1.0; 4]);
        }
        let _: &Influences = &out.influences;
    }
}
