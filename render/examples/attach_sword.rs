//! Attachments: a sword made in code is attached to the hand of the built-in character through the scene
//! graph. If the folder of test models exists, the greenman holds its sword, shield and hat, too.
//!
//! `cargo run --release --example attach_sword [PICTURE.png]`

use glam::{Affine3A, Quat, Vec3};
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions};
use phalanx::import::{ImportOptions, import_path, mannequin};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Material, Primitive};
use phalanx::playback::LoopMode;
use phalanx::rig::Rig;
use phalanx::scene::{NodeId, SceneGraph};
use phalanx_render::{
    Backend, Camera, DrawDetail, DrawInstance, DrawMesh, DrawModel, Look, PictureSize, Placement,
    RigShape, Scene, draw,
};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let picture = std::env::args_os().nth(1);
    let picture = match picture {
        Some(path) => PathBuf::from(path),
        None => {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/examples");
            std::fs::create_dir_all(&folder)?;
            folder.join("attach_sword.png")
        }
    };
    let (mut crowd, mut scene) = (Crowd::new(), SceneGraph::new());

    // Four fighters at four times of an attack, each mirrored in the scene: its joints are nodes.
    let fighter = Arc::new(mannequin()?);
    let fighters = crowd.add_rig(fighter.clone())?;
    let mut swords: Vec<NodeId> = Vec::new();
    let mut cast: Vec<(usize, InstanceId)> = Vec::new();
    for (i, time) in [0.14, 0.3, 0.42, 0.62].into_iter().enumerate() {
        let place = Affine3A::from_translation(Vec3::X * (i as f32 - 1.5) * 1.35);
        let one = stand(&mut crowd, fighters, "Attack", time, place)?;
        let mirror = crowd.mirror(one, &mut scene, None)?;
        let sword = scene.add(None, Affine3x4::IDENTITY)?;
        scene.attach(sword, mirror, "RightHand", grip())?;
        swords.push(sword);
        cast.push((0, one));
    }

    // The greenman's items are separate files without joints; they are attached to its sockets.
    let mut rigs = vec![fighter];
    let assets = std::env::var_os("PHALANX_ASSETS").map(PathBuf::from);
    let assets =
        assets.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/assets"));
    if assets.join("greenman.glb").is_file() {
        let man = Arc::new(import(&assets.join("greenman.glb"))?);
        let id = crowd.add_rig(man.clone())?;
        // Scaled to the size of the fighters; the items inherit the scale from the node they are attached to.
        let small = Affine3A::from_scale_rotation_translation(
            Vec3::splat(0.36),
            Quat::IDENTITY,
            Vec3::new(0.0, 0.0, 1.0),
        );
        let one = stand(&mut crowd, id, "3_attack", 0.4, small)?;
        let mirror = crowd.mirror(one, &mut scene, None)?;
        cast.push((rigs.len(), one));
        rigs.push(man);
        for (file, socket) in [
            ("greenman_sword.glb", "socket_hand_R"),
            ("greenman_shield.glb", "socket_hand_L"),
            ("greenman_hat.glb", "socket_hat"),
        ] {
            let thing = Arc::new(import(&assets.join(file))?);
            let id = crowd.add_rig(thing.clone())?;
            let held = crowd.spawn(id)?;
            let root = crowd.mirror(held, &mut scene, None)?;
            scene.attach(root, mirror, socket, Affine3x4::IDENTITY)?;
            cast.push((rigs.len(), held));
            rigs.push(thing);
        }
    } else {
        println!("no greenman.glb in {}: drawn without it", assets.display());
    }

    // One frame: palettes, then the scene. Attached nodes follow their joints in the same frame.
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    let mirrored = crowd.update_scene(&mut scene).mirrored;
    println!("{mirrored} instances mirrored as {} nodes", scene.node_count());
    for &sword in &swords {
        let at = scene.world(sword)?.translation;
        println!("a sword at {:.3} {:.3} {:.3}", at.x, at.y, at.z);
    }

    // Draw the instances from the bone buffer, and the swords from their nodes.
    let shapes: Vec<RigShape> = rigs.iter().map(|r| RigShape::new(r)).collect();
    let mut meshes: Vec<Vec<DrawMesh>> = shapes.iter().map(|s| s.meshes(0)).collect();
    let parts = sword();
    meshes.push(parts.iter().map(|(p, m)| rigid(p, m)).collect());
    let details: Vec<[DrawDetail; 1]> =
        meshes.iter().map(|meshes| [DrawDetail { meshes, min_pixels: 0.0 }]).collect();
    let models: Vec<DrawModel> = details.iter().map(|details| DrawModel { details }).collect();
    let mut instances = Vec::new();
    for (model, one) in cast {
        let rows = crowd.palette_range(one).ok_or("an instance has no palette rows")?;
        instances.push(instance(model, *crowd.world(one)?, rows.start, shapes[model].has_tint()));
    }
    for &sword in &swords {
        instances.push(instance(rigs.len(), (*scene.world(sword)?).into(), 0, false));
    }
    let size = PictureSize { width: 960, height: 480 };
    let camera = Camera {
        eye: Vec3::new(1.3, 1.75, 6.6),
        target: Vec3::new(0.42, 0.98, 0.3),
        up: Vec3::Y,
        fov_y: 0.49,
        near: 0.1,
    };
    let drawn = draw(
        &Scene {
            models: &models,
            instances: &instances,
            palette: bones.rows().into(),
            morph_weights: &[],
            camera,
            look: Look::default(),
        },
        size,
        Backend::Auto,
    )?;
    image::DynamicImage::from(drawn.image).to_rgb8().save(&picture)?;
    println!("{}: drawn by {}", picture.display(), drawn.drawn_by);
    Ok(())
}

fn import(path: &Path) -> Result<Rig, Box<dyn Error>> {
    Ok(import_path(path, &ImportOptions::default())?.rigs.remove(0))
}

/// Spawns an instance at a time of a clip.
fn stand(
    crowd: &mut Crowd,
    rig: phalanx::crowd::RigId,
    clip: &str,
    time: f64,
    place: Affine3A,
) -> Result<InstanceId, Box<dyn Error>> {
    let clip = crowd.clip_named(rig, clip)?;
    let one = crowd.spawn(rig)?;
    crowd.set_world(one, place)?;
    let options = PlayOptions { time, loop_mode: LoopMode::Once, ..PlayOptions::default() };
    crowd.play(one, clip, &options)?;
    Ok(one)
}

/// The sword's grip in the hand's space: in the closed fingers, the blade leaving the fist at the index
/// finger. (The character's joints have the axes of its rest pose, an A-pose.)
fn grip() -> Affine3A {
    let fingers = Vec3::new(-1.0, -1.0, 0.2).normalize();
    let palm = Vec3::new(1.0, -1.0, 0.0).normalize();
    Affine3A::from_rotation_translation(
        Quat::from_rotation_x(1.45),
        fingers * 0.085 + palm * 0.03 + Vec3::Z * 0.01,
    )
}

/// The parts of a sword along +Y, its grip at the origin.
fn sword() -> Vec<(Primitive, Material)> {
    let material = |base_color| Material { base_color, ..Material::default() };
    let steel = material([0.62, 0.66, 0.72, 1.0]);
    let brass = material([0.55, 0.36, 0.08, 1.0]);
    let leather = material([0.09, 0.045, 0.025, 1.0]);
    vec![
        (spindle(-0.09, 0.09, [0.016, 0.016], 1.0), leather),
        (spindle(-0.125, -0.09, [0.024, 0.024], 1.0), brass.clone()),
        (spindle(0.09, 0.115, [0.11, 0.02], 1.0), brass),
        (spindle(0.115, 0.95, [0.032, 0.009], 0.15), steel),
    ]
}

/// A bar of rhombic section from height `y0` to `y1`, with half-widths `half`; its far end is scaled.
fn spindle(y0: f32, y1: f32, half: [f32; 2], taper: f32) -> Primitive {
    let ring = |y: f32, scale: f32| {
        let [x, z] = half.map(|h| h * scale);
        [[x, y, 0.0], [0.0, y, z], [-x, y, 0.0], [0.0, y, -z]].map(Vec3::from)
    };
    let (low, high) = (ring(y0, 1.0), ring(y1, taper));
    let mut out = Primitive::default();
    let mut face = |corners: [Vec3; 4]| {
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]);
        let first = out.positions.len() as u32;
        out.positions.extend(corners.map(|c| c.to_array()));
        out.normals.extend([normal.normalize().to_array(); 4]);
        out.indices.extend([0, 1, 2, 0, 2, 3].map(|i| first + i));
    };
    for i in 0..4 {
        let next = (i + 1) % 4;
        face([low[i], high[i], high[next], low[next]]);
    }
    face([low[0], low[1], low[2], low[3]]);
    face([high[3], high[2], high[1], high[0]]);
    out
}

fn rigid<'a>(primitive: &'a Primitive, material: &'a Material) -> DrawMesh<'a> {
    DrawMesh {
        primitive,
        material,
        image: None,
        tint: 0.0,
        placement: Placement::Rigid(Affine3x4::IDENTITY),
        first_weight: 0,
    }
}

fn instance(model: usize, world: Affine3x4, first_row: usize, tinted: bool) -> DrawInstance {
    DrawInstance {
        model: model as u32,
        world,
        palette_offset: first_row as u32,
        lerp: None,
        morph_offset: 0,
        tint: if tinted { [0.35, 0.05, 0.04, 1.0] } else { [1.0; 4] },
        bounds: None,
    }
}
