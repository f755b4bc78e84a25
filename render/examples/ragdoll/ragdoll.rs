//! Walking characters are hit one after the other and fall: bodies of the physics engine Rapier, one per limb, start
//! where the animation is, and their result fades in as a whole pose.
//!
//! `cargo run --release -p phalanx-ragdoll --example ragdoll [picture.png]`

#[path = "../support/picture.rs"]
mod picture;

use glam::{Affine3A, Quat, Vec3};
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions, PoseSpace, PoseStage};
use phalanx::math::Affine3x4;
use phalanx::{import::mannequin, rig::LookupError, rig::Rig, skeleton::Trs};
use phalanx_render::PictureSize;
use picture::{Posed, draw_poses, out_file};
use rapier3d::prelude::*;
use std::{error::Error, sync::Arc};

const FRAME: f32 = 1.0 / 60.0;
const COUNT: usize = 6;
/// Frames before the first hit, between two, and from the last one to the picture.
const FRAMES: [usize; 3] = [60, 9, 10];

/// A limb: the joint of the limb above, the one that moves with the body, the one at its other end, the radius in metres,
/// and by which angles about x, y and z it may turn from the rest pose.
type Limb = (&'static str, &'static str, &'static str, f32, [[f32; 2]; 3]);
const SPINE: [[f32; 2]; 3] = [[-0.3, 0.5], [-0.3, 0.3], [-0.3, 0.3]];
const ARM: [[f32; 2]; 3] = [[-1.4, 1.4], [-1.0, 1.0], [-1.2, 1.2]];
const LEG: [[f32; 2]; 3] = [[-1.6, 0.4], [-0.3, 0.3], [-0.4, 0.4]];
const KNEE: [[f32; 2]; 3] = [[0.0, 2.2], [-0.05, 0.05], [-0.05, 0.05]];
const LIMBS: [Limb; 13] = [
    ("", "Hips", "Spine1", 0.12, SPINE),
    ("Hips", "Spine1", "Neck", 0.13, SPINE),
    ("Spine1", "Neck", "Head", 0.1, SPINE),
    ("Spine1", "LeftArm", "LeftForeArm", 0.05, ARM),
    ("LeftArm", "LeftForeArm", "LeftHand", 0.04, [[-1.6, 0.1], [-1.6, 0.1], [-0.2, 0.2]]),
    ("Spine1", "RightArm", "RightForeArm", 0.05, ARM),
    ("RightArm", "RightForeArm", "RightHand", 0.04, [[-1.6, 0.1], [-0.1, 1.6], [-0.2, 0.2]]),
    ("Hips", "LeftUpLeg", "LeftLeg", 0.075, LEG),
    ("LeftUpLeg", "LeftLeg", "LeftFoot", 0.055, KNEE),
    ("LeftLeg", "LeftFoot", "LeftToe", 0.035, SPINE),
    ("Hips", "RightUpLeg", "RightLeg", 0.075, LEG),
    ("RightUpLeg", "RightLeg", "RightFoot", 0.055, KNEE),
    ("RightLeg", "RightFoot", "RightToe", 0.035, SPINE),
];

/// By joint the body that it moves with; the others keep their rest pose below the next one that has a body.
type Bodies = Vec<Option<RigidBodyHandle>>;

fn main() -> Result<(), Box<dyn Error>> {
    let rig = Arc::new(mannequin()?);
    let joints: Vec<usize> = (0..rig.skeleton().len()).collect();
    let (mut crowd, mut bones, mut all) = (Crowd::new(), BoneBuffer::new(), Vec::new());
    let id = crowd.add_rig(rig.clone())?;
    let walk = crowd.clip_named(id, "Walk")?;
    crowd.spawn_many(id, COUNT, &mut all)?;
    for (n, &one) in all.iter().enumerate() {
        crowd.set_world(one, Affine3A::from_translation(Vec3::X * (1.1 * n as f32 - 2.75)))?;
        crowd.play(one, walk, &PlayOptions { time: 0.29 * n as f64, ..PlayOptions::default() })?;
    }

    let mut physics = PhysicsWorld { gravity: Vector::Y * -9.81, ..PhysicsWorld::default() };
    physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::new(SharedShape::halfspace(Vector::Y)));
    let mut fallen: Vec<Bodies> = Vec::new();
    for frame in 0..=FRAMES[0] + (COUNT - 2) * FRAMES[1] + FRAMES[2] {
        crowd.advance(FRAME.into())?;
        physics.step();
        let n = fallen.len();
        // All but the last are hit.
        let hit = n + 1 < COUNT && frame == FRAMES[0] + n * FRAMES[1];
        if hit {
            let mut models = vec![Affine3x4::IDENTITY; joints.len()];
            crowd.model_poses(id, &joints, &all[n..=n], PoseStage::After, &mut models)?;
            let world = Affine3A::from(*crowd.world(all[n])?);
            let at: Vec<_> = models.iter().map(|&model| world * Affine3A::from(model)).collect();
            fallen.push(bodies(&mut physics, &rig, &at)?);
        }
        let mut poses = Vec::new();
        fallen.iter().for_each(|bodies| pose(&physics, &rig, bodies, &mut poses));
        // No weights: those that fade go on.
        crowd.set_poses(id, &all[..fallen.len()], &poses, PoseSpace::World, &[])?;
        crowd.fade_poses(&all[n..fallen.len()], 1.0, 0.15)?;
        crowd.evaluate(&mut bones);
    }
    let head = crowd.model_matrix(all[0], "Head")?.translation().y;
    println!("the head of the first who fell is {head:.2} m above the ground");

    let mut poses = Vec::new();
    for (n, &one) in all.iter().enumerate() {
        let rows = crowd.palette_range(one).ok_or("an instance has no palette rows")?;
        let tint = if n < fallen.len() { [0.8, 0.3, 0.2] } else { [0.25, 0.45, 0.75] };
        poses.push(Posed { world: *crowd.world(one)?, palette: bones.rows()[rows].to_vec(), tint });
    }
    let camera = [Vec3::new(-0.3, 2.1, 5.8), Vec3::new(-0.3, 0.8, 0.4)];
    let size = PictureSize { width: 1200, height: 480 };
    draw_poses(&rig, &poses, &[], camera, size, &out_file("ragdoll.png")?)
}

/// Makes the bodies of a character whose joints have these world transforms, and pushes it. The mannequin's joints have
/// no rotation in the rest pose; for others, turn the differences of places into the spaces of the joints.
fn bodies(physics: &mut PhysicsWorld, rig: &Rig, at: &[Affine3A]) -> Result<Bodies, LookupError> {
    let (skeleton, rest) = (rig.skeleton(), rig.skeleton().rest_models());
    let between = |from: usize, to: usize| {
        Vector::from((rest[to].translation - rest[from].translation).to_array())
    };
    let mut bodies: Bodies = vec![None; skeleton.len()];
    for (above, name, end, radius, limits) in LIMBS {
        let (joint, end) = (skeleton.joint(name)?, skeleton.joint(end)?);
        let (_, turn, place) = at[joint].to_scale_rotation_translation();
        let turn = Rotation::from_array(turn.to_array());
        let place = Pose::from_parts(place.to_array().into(), turn);
        let push = if name == "Spine1" { 4.0 } else { 1.3 };
        let body = RigidBodyBuilder::dynamic().pose(place).linvel(Vector::Z * push);
        let (from, to) = (Vector::ZERO, between(joint, end));
        let capsule = ColliderBuilder::capsule_from_endpoints(from, to, radius);
        let (body, _) = physics.insert(body.angular_damping(2.0), capsule.density(1000.0));
        bodies[joint] = Some(body);
        if let Ok(above) = skeleton.joint(above)
            && let Some(parent) = bodies[above]
        {
            let mut link = SphericalJointBuilder::new().local_anchor1(between(above, joint));
            let axes = [JointAxis::AngX, JointAxis::AngY, JointAxis::AngZ];
            for (axis, limits) in axes.into_iter().zip(limits) {
                link = link.limits(axis, limits);
            }
            physics.insert_impulse_joint(parent, body, link.contacts_enabled(false));
        }
    }
    Ok(bodies)
}

/// Appends the whole pose of a character in world space.
fn pose(physics: &PhysicsWorld, rig: &Rig, bodies: &Bodies, out: &mut Vec<Trs>) {
    let (skeleton, first) = (rig.skeleton(), out.len());
    for (joint, body) in bodies.iter().enumerate() {
        let (rest, parent) = (skeleton.rest(joint), usize::from(skeleton.parents()[joint]));
        let (translation, rotation) = match body {
            Some(body) => {
                let at = physics.bodies[*body].position();
                (at.translation.to_array().into(), Quat::from_array(at.rotation.to_array()))
            }
            None if parent < joint => {
                let Trs { translation, rotation, .. } = out[first + parent];
                (translation + rotation * rest.translation, rotation * rest.rotation)
            }
            None => (rest.translation, rest.rotation),
        };
        out.push(Trs { translation, rotation, scale: Vec3::ONE });
    }
}
