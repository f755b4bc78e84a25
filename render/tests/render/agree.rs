//! wgpu's picture against the software rasteriser's.

use glam::{Quat, Vec3};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Image, Material, MorphTarget, Primitive};
use phalanx_render::{Backend, DrawDetail, DrawMesh, DrawModel, Placement, Scene, Winding, draw};

use crate::model::{Model, mannequin, tube};
use crate::scenes::{
    Crowd, SIZE, device_lock, differing, keep, mean_difference, overlap, silhouette,
};

/// Mean difference of the values of two pictures, of 255; 0.36 is the most that was seen.
const MEAN: f64 = 0.5;
/// Share of pixels that may differ visibly; 0.017 is the most that was seen: textures, which devices
/// filter between levels. Others stay below 0.005, at edges.
const SHARE: f64 = 0.025;
/// Overlap of the silhouettes without ground; 0.998 is the least that was seen.
const OVERLAP: f64 = 0.99;

fn check(name: &str, crowd: &mut Crowd) {
    let (gpu, software) = (crowd.gpu(u64::MAX), crowd.software());
    assert_eq!(gpu.counts, software.counts);
    keep(&gpu.image, &format!("{name} by wgpu"));
    keep(&software.image, &format!("{name} in software"));
    let mean = mean_difference(&gpu.image, &software.image);
    let share = differing(&gpu.image, &software.image, 12);
    crowd.look.ground = None;
    let (gpu, software) = (crowd.gpu(u64::MAX).image, crowd.software().image);
    let instances = std::mem::take(&mut crowd.instances);
    let empty = crowd.software().image;
    let empty_gpu = crowd.gpu(u64::MAX).image;
    crowd.instances = instances;
    assert!(mean_difference(&empty, &empty_gpu) < 0.3, "{name}: the sky differs");
    let (a, b) = (silhouette(&gpu, &empty), silhouette(&software, &empty));
    let covered = a.iter().filter(|&&v| v).count() as f64 / a.len() as f64;
    let overlap = overlap(&a, &b);
    println!(
        "{name}: mean {mean:.3}, differing {share:.4}, overlap {overlap:.4}, covered {covered:.3}"
    );
    assert!(covered > 0.02, "{name}: only {covered} of the picture is covered");
    assert!(mean < MEAN, "{name}: mean difference {mean}");
    assert!(share < SHARE, "{name}: {share} of the pixels differ");
    assert!(overlap > OVERLAP, "{name}: silhouettes overlap by {overlap}");
}

fn bend(i: usize, joint: &str) -> Quat {
    match joint {
        "joint0" => Quat::IDENTITY,
        _ => Quat::from_rotation_x(0.25 + 0.05 * i as f32) * Quat::from_rotation_y(0.2),
    }
}

pub fn tubes_look_alike() {
    let short = vec![(tube(3, 1.1, 0.25, 4), 0.0)];
    let mut crowd = Crowd::new(vec![vec![(tube(5, 1.7, 0.16, 4), 0.0)], short], 7, bend);
    check("tubes", &mut crowd);
}

pub fn eight_influences_look_alike() {
    // The tube's two real influences stand last of eight, and of twelve, which the device reduces.
    for per_vertex in [8, 12] {
        let mut crowd = Crowd::new(vec![vec![(tube(5, 1.7, 0.2, per_vertex), 0.0)]], 4, bend);
        check(&format!("{per_vertex} influences"), &mut crowd);
    }
}

pub fn morphs_look_alike() {
    let mut model = tube(4, 1.6, 0.15, 4);
    let p = &mut model.parts[0].0;
    let wide = |scale: f32| MorphTarget {
        positions: p.normals.iter().map(|n| n.map(|v| v * scale)).collect(),
        ..Default::default()
    };
    let lean = MorphTarget {
        positions: p.positions.iter().map(|v| [v[1] * v[1] * 0.3, 0.0, 0.0]).collect(),
        normals: p.normals.iter().map(|n| [0.0, -n[0] * 0.5, 0.0]).collect(),
        ..Default::default()
    };
    p.targets = vec![wide(0.2), lean];
    let mut crowd = Crowd::new(vec![vec![(model, 0.0)]], 4, bend);
    let still = crowd.software().image;
    for (i, instance) in crowd.instances.iter_mut().enumerate() {
        instance.morph_offset = i as u32 * 2;
        crowd.weights.extend([i as f32 * 0.4, 1.0 - i as f32 * 0.4]);
    }
    check("morphs", &mut crowd);
    crowd.look.ground = Some(0.0);
    assert!(differing(&crowd.software().image, &still, 12) > 0.02, "weights do nothing");
}

pub fn textures_and_colours_look_alike() {
    let mut model = tube(3, 1.7, 0.4, 4);
    let p = &mut model.parts[0].0;
    p.uvs = p.positions.iter().map(|v| [v[0].atan2(v[2]) * 2.0, v[1] * 1.5]).collect();
    p.colors = p.positions.iter().map(|v| [1.0, v[1] / 1.7, 0.6, 1.0]).collect();
    let mut crowd = Crowd::new(vec![vec![(model, 0.0)]], 3, bend);
    let texel = |x: u32, y: u32| [x as u8 * 30, 255 - y as u8 * 25, 90, 255];
    crowd.image = Some(Image {
        width: 8,
        height: 10,
        rgba: (0..80).flat_map(|i| texel(i % 8, i / 8)).collect(),
    });
    check("texture", &mut crowd);
}

/// Rigid, mirrored, double-sided meshes, and one without normals, on one skeleton of two joints.
pub fn odd_meshes_look_alike() {
    let mut open = tube(1, 0.8, 0.3, 4).parts.remove(0).0;
    // Without its upper cap: the inside is seen from above.
    let sides = open.indices.len() - 24 * 3;
    open.indices.truncate(sides);
    let mut faceted = tube(1, 0.6, 0.3, 4).parts.remove(0).0;
    faceted.normals.clear();
    let post = tube(2, 1.0, 0.1, 4);
    let one = Material { base_color: [0.8, 0.4, 0.2, 1.0], ..Material::default() };
    let both = Material { double_sided: true, ..one.clone() };
    let moved = |scale: Vec3, at: Vec3| {
        let q = Quat::from_rotation_z(0.3);
        Placement::Rigid(Affine3x4::from_scale_rotation_translation(scale, q, at))
    };
    let mesh = |primitive, material, placement| DrawMesh {
        primitive,
        material,
        image: None,
        tint: 0.5,
        placement,
        first_weight: 0,
    };
    let skinned = Placement::Skinned { first_slot: 1, winding: Winding::ByRows };
    let mirrored = moved(Vec3::new(-1.0, 0.7, 1.2), Vec3::new(-0.6, 0.2, 0.0));
    let meshes = [
        mesh(&open, &both, moved(Vec3::ONE, Vec3::new(0.6, 0.3, 0.0))),
        mesh(&open, &one, mirrored),
        mesh(&faceted, &one, moved(Vec3::ONE, Vec3::Y * 1.1)),
        mesh(&post.parts[0].0, &one, skinned),
    ];
    let details = [DrawDetail { meshes: &meshes, min_pixels: 0.0 }];
    let models = [DrawModel { details: &details }];
    let mut crowd = Crowd::new(vec![vec![(tube(3, 1.0, 0.1, 4), 0.0)]], 4, bend);
    // One of them mirrored as a whole, one with mirrored rows.
    crowd.instances[1].world.rows[0] = crowd.instances[1].world.rows[0].map(|v| -v);
    crowd.instances[1].world.rows[0][3] *= -1.0;
    let rows = crowd.instances[2].palette_offset as usize;
    for row in &mut crowd.palette[rows..rows + 3] {
        row.rows[2] = row.rows[2].map(|v| -v);
    }
    let picture = |backend| {
        let _one_at_a_time = device_lock();
        crowd.with(|s| {
            let scene = Scene { models: &models, ..s.clone() };
            draw(&scene, SIZE, backend).expect("a picture").image
        })
    };
    let (gpu, software) = (picture(Backend::Gpu), picture(Backend::Software));
    keep(&gpu, "odd meshes by wgpu");
    keep(&software, "odd meshes in software");
    let (mean, share) = (mean_difference(&gpu, &software), differing(&gpu, &software, 12));
    println!("odd meshes: mean {mean:.3}, differing {share:.4}");
    assert!(mean < MEAN && share < SHARE, "mean {mean}, differing {share}");
}

/// Tubes whose joints mirror in turn. In the left ones the weights change smoothly, so that rows between two joints are
/// singular; in the right ones every vertex follows one joint, so that triangles lie between two. Each triangle begins
/// with the vertex `first`.
fn mirrored_in_turn(first: usize) -> Crowd {
    let smooth = tube(5, 1.7, 0.3, 4);
    let mut sharp = tube(5, 1.7, 0.3, 4);
    let weights = &mut sharp.parts[0].0.influences.weights;
    weights.iter_mut().for_each(|w| *w = w.round());
    let mut models = [smooth, sharp];
    for model in &mut models {
        let triangles = model.parts[0].0.indices.chunks_mut(3);
        triangles.for_each(|t| t.rotate_left(first));
    }
    let models = models.map(|model| vec![(model, 0.0)]).into();
    let mut crowd = Crowd::new(models, 4, |_, _| Quat::IDENTITY);
    // A reflection at an upright plane through the axis, which keeps the tube's outline.
    let turn = Quat::from_rotation_y(0.7);
    let across = Affine3x4::from_scale_rotation_translation(Vec3::ONE, turn, Vec3::ZERO);
    let back = Affine3x4::from_scale_rotation_translation(Vec3::ONE, turn.inverse(), Vec3::ZERO);
    let flip = Vec3::new(-1.0, 1.0, 1.0);
    let flip = Affine3x4::from_scale_rotation_translation(flip, Quat::IDENTITY, Vec3::ZERO);
    let mirror = across * flip * back;
    for (i, row) in crowd.palette.iter_mut().enumerate() {
        if i % 5 % 2 == 1 {
            *row = mirror * *row;
        }
    }
    crowd
}

/// On all devices, whichever vertex of a triangle they take flat values from: GL takes the last, Vulkan the first.
pub fn triangles_between_mirrored_and_plain_joints_look_alike() {
    check("mirrored beside plain", &mut mirrored_in_turn(0));
}

/// No vertex of a triangle decides alone which side is its front.
pub fn the_first_vertex_decides_nothing() {
    let pictures = [0, 1, 2].map(|first| mirrored_in_turn(first).software().image);
    for other in &pictures[1..] {
        let share = differing(&pictures[0], other, 2);
        assert!(share < 0.001, "{share} of the pixels differ");
    }
}

pub fn pages_change_nothing() {
    let long = vec![(tube(5, 1.7, 0.16, 4), 0.0)];
    let short = vec![(tube(3, 1.1, 0.25, 4), 0.0)];
    let crowd = Crowd::new(vec![long, short], 9, bend);
    let whole = crowd.gpu(u64::MAX).image;
    // Five rows a page: one instance of five joints or one of three.
    assert_eq!(differing(&whole, &crowd.gpu(5 * 48).image, 0), 0.0);
    assert_eq!(differing(&whole, &crowd.gpu(12 * 48 + 47).image, 0), 0.0);
}

pub fn mannequins_look_alike() {
    let load = |name: &str| mannequin(name).expect("a model that exists");
    let details: Vec<(Model, f32)> = vec![
        (load("mannequin.glb"), 60.0),
        (load("mannequin_lod1.glb"), 35.0),
        (load("mannequin_lod2.glb"), 0.0),
    ];
    let mut crowd = Crowd::new(vec![details], 40, |i, joint| match joint {
        "LeftUpLeg" => Quat::from_rotation_x((i as f32).sin() * 0.6),
        "RightUpLeg" => Quat::from_rotation_x(-(i as f32).sin() * 0.6),
        "LeftLeg" | "RightLeg" => Quat::from_rotation_x(0.5),
        "LeftArm" => Quat::from_rotation_z(0.9),
        "RightForeArm" => Quat::from_rotation_y(1.2),
        "Spine1" | "Neck" => Quat::from_rotation_y(0.3),
        _ => Quat::IDENTITY,
    });
    check("mannequins", &mut crowd);
}

/// A primitive whose picture is known: see `known`.
pub fn quad() -> Primitive {
    Primitive {
        positions: vec![[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]],
        normals: vec![[0.0, 0.0, 1.0]; 4],
        indices: vec![0, 1, 2, 0, 2, 3],
        ..Default::default()
    }
}
