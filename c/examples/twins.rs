//! The crowds of the examples in C and C++, made with the Rust library: prints what each of them is to print.

use phalanx::clip::Marker;
use phalanx::crowd::{
    Aim, BlendSpace, BoneBuffer, Crowd, EventKind, Feet, Ground, InstanceId, LoopMode, Parameter,
    PlayOptions, RigId, Target,
};
use phalanx::glam::{Affine3A, Vec3};
use phalanx::rig::Rig;
use std::error::Error;
use std::sync::Arc;

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Five hundred characters that play all clips of a rig for a second.
fn crowd(rig: &Arc<Rig>) -> Result<String, Box<dyn Error>> {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone())?;
    let mut all = Vec::new();
    crowd.spawn_many(id, 500, &mut all)?;
    for (i, &one) in all.iter().enumerate() {
        let clip = crowd.clip_by_index(id, i % rig.clips().len()).ok_or("no clip")?;
        crowd.play(one, clip, &PlayOptions { time: i as f64 * 0.125, ..PlayOptions::default() })?;
    }
    let mut bones = BoneBuffer::new();
    for _ in 0..60 {
        crowd.advance(1.0 / 60.0)?;
        crowd.evaluate(&mut bones);
    }
    let (joints, rows) = (rig.skeleton().len(), bones.rows().len());
    Ok(format!(
        "{} characters of {joints} joints, {rows} rows, hash {:016x}",
        all.len(),
        hash(bones.bytes())
    ))
}

/// Characters of a game: gaits by speed with footsteps, a look at a passing point, feet on a step, a sword in a hand.
fn game(rig: &Arc<Rig>) -> Result<String, Box<dyn Error>> {
    const COUNT: usize = 24;
    const FRAMES: usize = 240;
    let mut crowd = Crowd::new();
    let id: RigId = crowd.add_rig(rig.clone())?;
    let mut gaits = vec![(0.0, crowd.clip_named(id, "Idle")?)];
    for (name, speed, steps) in [("Walk", 1.4, [0.25, 0.75]), ("Run", 3.5, [0.15, 0.45])] {
        let clip = crowd.clip(crowd.clip_named(id, name)?)?.as_ref().clone();
        let clip = clip.with_markers(steps.map(|time| Marker::new("step", time)).to_vec())?;
        gaits.push((speed, crowd.add_clip(id, Arc::new(clip))?));
    }
    let gait = crowd.add_blend_space(id, BlendSpace::line(&gaits).following(0.25))?;
    let joint = |name: &str| rig.skeleton().joint(name);
    let (neck, head, hand) = (joint("Neck")?, joint("Head")?, joint("RightHand")?);
    let look =
        crowd.add_modifier(id, Aim { limit: 1.25, ..Aim::chain([(neck, 1.0), (head, 2.0)]) })?;
    let feet = crowd
        .add_modifier(id, Feet::new(joint("Hips")?, &[joint("LeftFoot")?, joint("RightFoot")?]))?;

    let mut all: Vec<InstanceId> = Vec::new();
    crowd.spawn_many(id, COUNT, &mut all)?;
    for (i, &one) in all.iter().enumerate() {
        let place = Vec3::new((i % 6) as f32 * 1.5, 0.0, (i / 6) as f32 * 1.5);
        crowd.set_world(one, Affine3A::from_translation(place))?;
        let time = i as f64 * 0.125;
        crowd.play(
            one,
            gait,
            &PlayOptions { time, loop_mode: LoopMode::Repeat, ..PlayOptions::default() },
        )?;
    }

    let (mut bones, mut at, mut footsteps) = (BoneBuffer::new(), [Vec3::ZERO; 2 * COUNT], 0);
    for frame in 0..FRAMES {
        let speed = |i: usize| Parameter { x: ((frame / 60 + i) % 4) as f32 * 1.25, y: 0.0 };
        let speeds: [Parameter; COUNT] = std::array::from_fn(speed);
        crowd.set_parameters(&all, 0, &[gait], &speeds)?;
        let point = Vec3::new(frame as f32 * 0.0625 - 3.0, 1.75, 8.0);
        crowd.set_targets(look, &all, &[Target::world(point)], &[1.0])?;
        crowd.advance(1.0 / 60.0)?;
        footsteps +=
            crowd.events().iter().filter(|e| e.kind == EventKind::Marker && e.leading).count();
        crowd.foot_positions(feet, &all, &mut at)?;
        let grounds = at.map(|at| Ground::level(if at.x > 3.0 { 0.125 } else { 0.0 }));
        crowd.set_grounds(feet, &all, &grounds, &[1.0])?;
        crowd.evaluate(&mut bones);
    }
    let sword = (*crowd.world(all[0])? * crowd.model_matrix(all[0], hand)?).translation();
    let (x, y, z) = (sword.x, sword.y, sword.z);
    Ok(format!(
        "{footsteps} footsteps, the sword at ({x:.3}, {y:.3}, {z:.3}), hash {:016x}",
        hash(bones.bytes())
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    let rig = Arc::new(phalanx::import::mannequin()?);
    let plain = crowd(&rig)?;
    println!("crowd: {plain}\njobs: {plain}\ngame: {}", game(&rig)?);
    Ok(())
}
