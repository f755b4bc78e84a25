//! Phalanx in an engine with its own files and renderer: rig and clips come from code, and the bone buffer's
//! bytes go to "the renderer", which here only counts them.
//!
//! `cargo run --release --no-default-features --example custom_engine`: no glTF, no GPU, no images.

use glam::{Affine3A, Quat, Vec3};
use phalanx::build::build_rig;
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx::scene::SceneGraph;
use phalanx::simd::SimdLevel;
use phalanx::skeleton::Trs;
use std::error::Error;
use std::f32::consts::TAU;
use std::sync::Arc;

const JOINTS: usize = 24;
const LENGTH: f32 = 0.1;

/// Stands for what the engine has loaded from its own files: an eel that swims slowly or fast.
fn eel() -> Result<Rig, Box<dyn Error>> {
    let nodes = (0..JOINTS).map(|j| RawNode {
        source: j,
        name: Some(format!("vertebra{j}")),
        parent: j.checked_sub(1),
        local: Trs { translation: Vec3::Z * if j == 0 { 0.0 } else { -LENGTH }, ..Trs::IDENTITY },
        ..RawNode::default()
    });
    // The inverse bind matrices undo each joint's rest pose.
    let bind = |j: usize| Affine3A::from_translation(Vec3::Z * LENGTH * j as f32);
    let skin = RawSkin {
        name: Some("eel".into()),
        joints: (0..JOINTS).collect(),
        inverse_bind: (0..JOINTS).map(|j| Affine3x4::from(bind(j)).to_cols_array()).collect(),
    };
    let raw = RawScene {
        name: "eel".into(),
        nodes: nodes.collect(),
        skins: vec![skin],
        clips: vec![swim("Glide", 2.0, 0.05), swim("Dart", 0.6, 0.16)],
        ..RawScene::default()
    };
    Ok(build_rig(raw, &Default::default())?)
}

/// A wave that travels down the body once per `duration` seconds.
fn swim(name: &str, duration: f32, bend: f32) -> RawClip {
    const KEYS: usize = 17;
    let tracks = (0..JOINTS).map(|node| {
        let phase = |k: usize| k as f32 / (KEYS - 1) as f32;
        let angle = |k: usize| bend * (TAU * (phase(k) - node as f32 / JOINTS as f32)).sin();
        RawTrack {
            node,
            channel: RawChannel::Rotation,
            interpolation: Interpolation::Linear,
            times: (0..KEYS).map(|k| duration * phase(k)).collect(),
            values: (0..KEYS).flat_map(|k| Quat::from_rotation_y(angle(k)).to_array()).collect(),
        }
    });
    RawClip { name: Some(name.into()), duration, tracks: tracks.collect(), ..RawClip::default() }
}

/// The engine's side: it receives 48 bytes per matrix, and a world transform per instance.
#[derive(Default)]
struct Renderer {
    frames: usize,
    bytes: usize,
    draws: usize,
}

impl Renderer {
    fn upload(&mut self, bones: &[u8]) {
        self.frames += 1;
        self.bytes += bones.len();
    }

    fn draw(&mut self, _world: &Affine3x4, first_bone: usize, bones: usize) {
        assert_eq!(bones, JOINTS);
        assert!(first_bone.is_multiple_of(JOINTS));
        self.draws += 1;
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut crowd = Crowd::new();
    let rig = crowd.add_rig(Arc::new(eel()?))?;
    let (glide, dart) = (crowd.clip_named(rig, "Glide")?, crowd.clip_named(rig, "Dart")?);
    let mut eels: Vec<InstanceId> = Vec::new();
    for i in 0..1_000 {
        let eel = crowd.spawn(rig)?;
        let place = Vec3::new((i % 40) as f32, 0.0, (i / 40) as f32 * 3.0);
        crowd.set_world(eel, Affine3A::from_translation(place))?;
        let options = PlayOptions { time: f64::from(i) * 0.037, ..PlayOptions::default() };
        crowd.play(eel, glide, &options)?;
        eels.push(eel);
    }
    // One of the engine's objects is attached to the first eel's head.
    let mut scene = SceneGraph::new();
    let mirror = crowd.mirror(eels[0], &mut scene, None)?;
    let lamp = scene.add(None, Affine3x4::IDENTITY)?;
    scene.attach(lamp, mirror, "vertebra0", Affine3A::from_translation(Vec3::Y))?;

    let (mut bones, mut renderer) = (BoneBuffer::new(), Renderer::default());
    for frame in 0..120 {
        if frame == 60 {
            for &eel in eels.iter().step_by(3) {
                crowd.fade_to(eel, dart, 0.3, &PlayOptions::default())?;
            }
        }
        crowd.advance(1.0 / 60.0)?;
        crowd.evaluate(&mut bones);
        crowd.update_scene(&mut scene);
        renderer.upload(bones.bytes());
        for &eel in &eels {
            let range = crowd.palette_range(eel).ok_or("an eel is hidden")?;
            renderer.draw(crowd.world(eel)?, range.start, range.len());
        }
    }
    let tip = crowd.model_matrix(eels[0], JOINTS - 1)?.translation();
    println!("{} eels of {JOINTS} joints, SIMD level {}", eels.len(), SimdLevel::current());
    println!(
        "{} frames, {} draws, {} bytes of bones",
        renderer.frames, renderer.draws, renderer.bytes
    );
    println!("the first one's tail is at {:.3} {:.3} {:.3}", tip.x, tip.y, tip.z);
    println!("its lamp is at {:.3}", scene.world(lamp)?.translation);
    println!("last frame's bones: {:016x}", bones.hash());
    Ok(())
}
