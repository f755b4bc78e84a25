//! Draws the pictures of the examples: poses of one rig, each with a world transform.

use glam::Vec3;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx_render::{
    Backend, Camera, DrawDetail, DrawInstance, DrawMesh, DrawModel, Look, PictureSize, Placement,
    Scene, Winding, draw, tint_strength,
};
use std::error::Error;
use std::path::Path;

/// A pose to draw: its world transform, its palette and the tint of its shirt.
pub struct Posed {
    pub world: Affine3x4,
    pub palette: Vec<Affine3x4>,
    pub tint: [f32; 3],
}

/// Draws poses of a rig whose meshes are all skinned, and writes a PNG. `eye` and `target` are in metres.
pub fn draw_poses(
    rig: &Rig,
    poses: &[Posed],
    [eye, target]: [Vec3; 2],
    size: PictureSize,
    out: &Path,
) -> Result<(), Box<dyn Error>> {
    let mut meshes = Vec::new();
    for mesh in rig.meshes().iter().filter(|m| m.lod == 0) {
        for primitive in &mesh.mesh.primitives {
            let material = primitive.material.and_then(|m| rig.materials().get(m));
            let material = material.ok_or("a primitive has no material")?;
            meshes.push(DrawMesh {
                primitive,
                material,
                image: None,
                tint: tint_strength(material, true),
                placement: Placement::Skinned {
                    first_slot: rig.palette_offset(mesh.skin) as u32,
                    winding: Winding::Kept,
                },
                first_weight: 0,
            });
        }
    }
    let instances: Vec<DrawInstance> = (poses.iter().enumerate())
        .map(|(i, p)| DrawInstance {
            model: 0,
            world: p.world,
            palette_offset: (i * rig.palette_len()) as u32,
            lerp: None,
            morph_offset: 0,
            tint: [p.tint[0], p.tint[1], p.tint[2], 1.0],
            bounds: None,
        })
        .collect();
    let palette: Vec<Affine3x4> = poses.iter().flat_map(|p| p.palette.clone()).collect();
    let scene = Scene {
        models: &[DrawModel { details: &[DrawDetail { meshes: &meshes, min_pixels: 0.0 }] }],
        instances: &instances,
        palette: (&palette).into(),
        morph_weights: &[],
        camera: Camera { eye, target, up: Vec3::Y, fov_y: 0.62, near: 0.1 },
        look: Look::default(),
    };
    let picture = draw(&scene, size, Backend::Auto)?;
    picture.image.save(out)?;
    println!("{} ({})", out.display(), picture.drawn_by);
    Ok(())
}

/// The file that an example writes: its first argument, or `name` in the target folder.
pub fn out_file(name: &str) -> Result<std::path::PathBuf, Box<dyn Error>> {
    if let Some(path) = std::env::args_os().nth(1) {
        return Ok(path.into());
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/examples");
    std::fs::create_dir_all(&folder)?;
    Ok(folder.join(name))
}
