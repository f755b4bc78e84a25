//! The spheres around instances, from what they play, against vertices posed one by one in f64: single clips, fades,
//! masked and additive layers, overrides.

use glam::{DVec3, Quat, Vec3};
use libtest_mimic::{Failed, Trial};
use phalanx::build::{AdditiveReference, build_additive};
use phalanx::crowd::{
    BoneBuffer, CrossFade, Crowd, FadeKind, InstanceId, LayerOptions, PlayOptions,
};
use phalanx::import::{ImportOptions, import_path};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx::skeleton::JointMask;
use phalanx_testkit::trials::{needed, trial};
use std::sync::Arc;

const MODELS: [&str; 9] = [
    "mannequin.glb",
    "pab.glb",
    "greenman.glb",
    "CesiumMan.glb",
    "Fox.glb",
    "MorphStressTest.gltf",
    "bl_humanoid.glb",
    "bl_morphbones.glb",
    "robot.glb",
];

/// Vertices that are posed of a primitive: every one of small ones.
const VERTICES: usize = 400;

pub fn trials() -> Vec<Trial> {
    let of = |model: &'static str| {
        trial(format!("spheres_{model}"), &[model], move || {
            let imported = import_path(&needed(model)?, &ImportOptions::default())?;
            imported.rigs.into_iter().try_for_each(|rig| held(Arc::new(rig)))
        })
    };
    MODELS.into_iter().map(of).collect()
}

struct Random(u32);

impl Random {
    /// In [0, 1).
    fn unit(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        (self.0 >> 8) as f32 / (1 << 24) as f32
    }

    fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f32) as usize
    }
}

/// The distance of the farthest vertex of an instance from a point, in f64.
fn farthest(rig: &Rig, rows: &[Affine3x4], weights: &[f32], center: DVec3) -> f64 {
    let mut most = 0.0f64;
    for m in rig.meshes().iter().filter(|m| m.lod == 0) {
        let first = rig.palette_offset(m.skin);
        let weights = &weights[rig.nodes()[m.node].morphs.clone()];
        for p in &m.mesh.primitives {
            let count = p.positions.len();
            for v in (0..count).step_by((count / VERTICES).max(1)) {
                let mut at = DVec3::from_array(p.positions[v].map(f64::from));
                for (target, &weight) in p.targets.iter().zip(weights) {
                    if let Some(&d) = target.positions.get(v) {
                        at += f64::from(weight) * DVec3::from_array(d.map(f64::from));
                    }
                }
                let through = |slot: usize| {
                    let rows = rows[first + slot].rows.map(|r| r.map(f64::from));
                    let [x, y, z] = rows.map(|[x, y, z, t]| x * at.x + y * at.y + z * at.z + t);
                    DVec3::new(x, y, z)
                };
                let posed = match m.rigid_slot {
                    Some(slot) => through(slot.into()),
                    None => {
                        let each = p.influences.per_vertex;
                        let used = v * each..(v + 1) * each;
                        let slots = &p.influences.joints[used.clone()];
                        let parts = slots.iter().zip(&p.influences.weights[used]);
                        parts.map(|(&s, &w)| through(s.into()) * f64::from(w)).sum()
                    }
                };
                most = most.max(posed.distance(center));
            }
        }
    }
    most
}

/// The farthest vertex of an instance as a share of the radius of its sphere, and the radius.
fn share(crowd: &mut Crowd, bones: &mut BoneBuffer, id: InstanceId) -> Result<[f64; 2], Failed> {
    let sphere = crowd.bounding_sphere(id)?.ok_or("the rig draws something")?;
    crowd.evaluate(bones);
    let range = crowd.palette_range(id).ok_or("a visible instance")?;
    let center = DVec3::from_array(sphere.center.map(f64::from));
    let mut weights = Vec::new();
    crowd.scalars(id, &mut weights)?;
    let far = farthest(crowd.rig(id.rig())?, &bones.rows()[range], &weights, center);
    Ok([far / f64::from(sphere.radius), f64::from(sphere.radius)])
}

fn held(rig: Arc<Rig>) -> Result<(), Failed> {
    let skeleton = rig.skeleton().clone();
    let mut random = Random(7);
    let half: Vec<f32> = (0..skeleton.len()).map(|j| (j % 3) as f32 * 0.5).collect();
    let layers = vec![
        LayerOptions::default(),
        LayerOptions {
            mask: Some(JointMask::from_weights(&skeleton, &half)?),
            ..LayerOptions::default()
        },
        LayerOptions { additive: true, ..LayerOptions::default() },
    ];
    let mut crowd = Crowd::new();
    let owner = crowd.add_rig_with_layers(rig.clone(), layers)?;
    let full: Vec<_> = (0..rig.clips().len()).map(|c| crowd.clip_by_index(owner, c)).collect();
    let full: Vec<_> = full.into_iter().flatten().collect();
    let mut bones = BoneBuffer::new();
    let id = crowd.spawn(owner)?;
    let [rest, alone_radius] = share(&mut crowd, &mut bones, id)?;
    let (mut tightest, mut widest) = (rest, alone_radius);
    let mut check = |crowd: &mut Crowd, bones: &mut BoneBuffer, what: &str| {
        let [share, radius] = self::share(crowd, bones, id)?;
        widest = widest.max(radius);
        match share <= 1.0 {
            true => Ok(share),
            false => {
                Err(Failed::from(format!("{what}: a vertex is at {share} of the radius {radius}")))
            }
        }
    };
    check(&mut crowd, &mut bones, "at rest")?;
    // Each clip by itself, at times that are not those at which it was measured.
    for (c, &clip) in full.iter().enumerate() {
        for phase in [0.113, 0.379, 0.617, 0.871] {
            let time = f64::from(rig.clips()[c].duration() * phase);
            let options = PlayOptions { time, ..PlayOptions::default() };
            crowd.player(id)?.restart(0, clip, &options)?;
            crowd.advance(0.0)?;
            let share = check(&mut crowd, &mut bones, &format!("clip {c} at {time}"))?;
            tightest = tightest.max(share);
        }
    }
    if !full.is_empty() && tightest < 0.5 {
        return Err(format!("spheres of single clips are too wide: {tightest}").into());
    }
    let mut additive = Vec::new();
    for clip in 0..rig.clips().len().min(3) {
        let made = build_additive(&rig, clip, AdditiveReference::Rest)?;
        additive.push(crowd.add_clip(owner, Arc::new(made))?);
    }
    for step in 0..300 {
        if full.is_empty() {
            break;
        }
        let options =
            PlayOptions { time: f64::from(random.unit() * 3.0), ..PlayOptions::default() };
        let seconds = random.unit();
        let clip = full[random.below(full.len())];
        match random.below(9) {
            0 => {
                let playing = crowd.playing(id)?.actions(0)?.next();
                let kind = FadeKind::Inertial;
                let fade = CrossFade { seconds, kind, ..CrossFade::default() };
                if let Some((from, _)) = playing {
                    crowd.player(id)?.cross_fade(0, from, clip, fade, &options)?;
                }
            }
            1 | 2 => crowd.player(id)?.fade_to(0, clip, seconds, &options)?,
            3 => crowd.player(id)?.fade_to(1, clip, seconds, &options)?,
            4 => {
                let clip = additive[random.below(additive.len())];
                crowd.player(id)?.fade_to(2, clip, seconds, &options)?;
            }
            5 if !skeleton.is_empty() => {
                let joint = random.below(skeleton.len());
                let turn = Quat::from_euler(
                    glam::EulerRot::XYZ,
                    random.unit() * 6.0,
                    random.unit() * 6.0,
                    1.0,
                );
                let offset = Vec3::splat(random.unit() - 0.5);
                let scale = Vec3::splat(0.5 + random.unit());
                let local = Affine3x4::from_scale_rotation_translation(scale, turn, offset);
                crowd.player(id)?.set_override(joint, local)?;
            }
            6 => crowd.player(id)?.clear_overrides(),
            7 => crowd.player(id)?.stop_layer(random.below(3), seconds)?,
            _ => {}
        }
        for _ in 0..2 {
            crowd.advance(f64::from(random.unit()) * 0.4)?;
            check(&mut crowd, &mut bones, &format!("step {step}"))?;
        }
    }
    println!(
        "at rest {alone_radius:.2}, widest {widest:.2}, anchor {:?}",
        rig.anchor().map(|a| skeleton.path(a.into()))
    );
    Ok(())
}
