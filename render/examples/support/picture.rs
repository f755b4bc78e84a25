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

/// Draws poses of a rig whose meshes are all skinned, and writes a PNG. `eye` and `target` are in metres.
#[allow(dead_code)]
pub fn draw_poses(
    rig: &Rig,
    poses: &[Posed],
    camera: [Vec3; 2],
    size: PictureSize,
    out: &Path,
) -> Result<(), Box<dyn Error>> {
    let picture = picture(rig, poses, &[], camera, size)?;
    picture.image.save(out)?;
    println!("{} ({})", out.display(), picture.drawn_by);
    Ok(())
}

/// Draws poses of a rig whose meshes are all skinned, and lights at places.
pub fn picture(
    rig: &Rig,
    poses: &[Posed],
    lights: &[Vec3],
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
    let lights = lights.iter().map(|&at| {
        let world = Affine3x4::from_scale_rotation_translation(Vec3::ONE, Quat::IDENTITY, at);
        instance(1, world, 0, [1.0; 3])
    });
    let instances: Vec<DrawInstance> = instances.chain(lights).collect();
    let (light, glow) = (
        octahedron(0.12),
        Material {
            base_color: [0.0, 0.0, 0.0, 1.0],
            emissive: [1.0, 0.55, 0.1],
            ..Material::default()
        },
    );
    let light = [DrawMesh {
        primitive: &light,
        material: &glow,
        image: None,
        tint: 0.0,
        placement: Placement::Rigid(Affine3x4::IDENTITY),
        first_weight: 0,
    }];
    let details = [&meshes, &light[..]].map(|meshes| [DrawDetail { meshes, min_pixels: 0.0 }]);
    let palette: Vec<Affine3x4> = poses.iter().flat_map(|p| p.palette.clone()).collect();
    let scene = Scene {
        models: &details.each_ref().map(|details| DrawModel { details }),
        instances: &instances,
        palette: (&palette).into(),
        morph_weights: &[],
        camera: Camera { eye, target, up: Vec3::Y, fov_y: 0.62, near: 0.1 },
        look: Look::default(),
    };
    Ok(draw(&scene, size, Backend::Auto)?)
}

fn octahedron(radius: f32) -> Primitive {
    let mut out = Primitive::default();
    for octant in 0..8 {
        let [x, y, z] =
            [0, 1, 2].map(|axis| if octant >> axis & 1 == 1 { -radius } else { radius });
        let mut corners = [[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, z]];
        if x * y * z < 0.0 {
            corners.swap(1, 2);
        }
        let normal = Vec3::new(x, y, z).normalize().to_array();
        out.indices.extend((0..3).map(|i| out.positions.len() as u32 + i));
        out.positions.extend(corners);
        out.normals.extend([normal; 3]);
    }
    out
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
