//! Draws the pictures of the examples: poses of one rig, each with a world transform.

use glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Material, Primitive};
use phalanx::rig::Rig;
use phalanx_render::{
    Backend, Camera, DrawDetail, DrawInstance, DrawMesh, DrawModel, Look, Picture, PictureSize,
    Placement, Scene, Winding, draw, tint_strength,
};
use std::error::Error;
use std::path::Path;

/// A pose to draw: its world transform, its palette and the tint of its shirt.
pub struct Posed {
    pub world: Affine3x4,
    pub palette: Vec<Affine3x4>,
    pub tint: [f32; 3],
}

/// A rigid thing to draw.
pub struct Shape {
    pub primitive: Primitive,
    pub color: [f32; 3],
    pub at: Vec3,
}

/// Draws poses and shapes, and writes a PNG: [`picture`].
#[allow(dead_code)]
pub fn draw_poses(
    rig: &Rig,
    poses: &[Posed],
    shapes: &[Shape],
    camera: [Vec3; 2],
    size: PictureSize,
    out: &Path,
) -> Result<(), Box<dyn Error>> {
    let picture = picture(rig, poses, shapes, camera, size)?;
    picture.image.save(out)?;
    println!("{} ({})", out.display(), picture.drawn_by);
    Ok(())
}

/// Draws poses of a rig whose meshes are all skinned, and rigid shapes. `eye` and `target` are in metres.
pub fn picture(
    rig: &Rig,
    poses: &[Posed],
    shapes: &[Shape],
    [eye, target]: [Vec3; 2],
    size: PictureSize,
) -> Result<Picture, Box<dyn Error>> {
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
    let instance = |model, world, palette_offset: usize, [r, g, b]: [f32; 3]| DrawInstance {
        model,
        world,
        palette_offset: palette_offset as u32,
        lerp: None,
        morph_offset: 0,
        tint: [r, g, b, 1.0],
        bounds: None,
    };
    let instances = (poses.iter().enumerate())
        .map(|(i, p)| instance(0, p.world, i * rig.palette_len(), p.tint));
    let shaped = shapes.iter().zip(1..).map(|(shape, model)| {
        let world = Affine3x4::from_scale_rotation_translation(Vec3::ONE, Quat::IDENTITY, shape.at);
        instance(model, world, 0, [1.0; 3])
    });
    let instances: Vec<DrawInstance> = instances.chain(shaped).collect();
    let materials: Vec<Material> = (shapes.iter())
        .map(|Shape { color: [r, g, b], .. }| Material {
            base_color: [*r, *g, *b, 1.0],
            ..Material::default()
        })
        .collect();
    let rigid = shapes.iter().zip(&materials).map(|(shape, material)| {
        vec![DrawMesh {
            primitive: &shape.primitive,
            material,
            image: None,
            tint: 0.0,
            placement: Placement::Rigid(Affine3x4::IDENTITY),
            first_weight: 0,
        }]
    });
    let meshes: Vec<Vec<DrawMesh>> = [meshes].into_iter().chain(rigid).collect();
    let details: Vec<_> =
        meshes.iter().map(|meshes| [DrawDetail { meshes, min_pixels: 0.0 }]).collect();
    let models: Vec<_> = details.iter().map(|details| DrawModel { details }).collect();
    let palette: Vec<Affine3x4> = poses.iter().flat_map(|p| p.palette.clone()).collect();
    let scene = Scene {
        models: &models,
        instances: &instances,
        palette: (&palette).into(),
        morph_weights: &[],
        camera: Camera { eye, target, up: Vec3::Y, fov_y: 0.62, near: 0.1 },
        look: Look::default(),
    };
    Ok(draw(&scene, size, Backend::Auto)?)
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
