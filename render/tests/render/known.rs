//! Pictures of geometry whose place on the picture is worked out by hand.

use glam::{Quat, Vec3};
use image::RgbaImage;
use phalanx::math::Affine3x4;
use phalanx::mesh::{Influences, Material};
use phalanx::rig::Sphere;
use phalanx_render::{
    Backend, Camera, DrawDetail, DrawInstance, DrawMesh, DrawModel, Look, Palette, PictureSize,
    Placement, Scene, Winding, draw,
};

use crate::agree::quad;
use crate::model::tube;
use crate::scenes::{self, Crowd, SIZE, differing};

const SQUARE: PictureSize = PictureSize { width: 200, height: 200 };

fn camera(eye: Vec3) -> Camera {
    Camera {
        eye,
        target: eye - Vec3::Z,
        up: Vec3::Y,
        // The picture spans from -1 to 1 at distance 1.
        fov_y: std::f32::consts::FRAC_PI_2,
        near: 0.1,
    }
}

/// Columns and rows of the pixels that are nearly `color`: first and last of each.
fn extent(image: &RgbaImage, is: impl Fn([u8; 4]) -> bool) -> Option<[u32; 4]> {
    let mut out: Option<[u32; 4]> = None;
    for (x, y, pixel) in image.enumerate_pixels() {
        if is(pixel.0) {
            let e = out.get_or_insert([x, x, y, y]);
            *e = [e[0].min(x), e[1].max(x), e[2].min(y), e[3].max(y)];
        }
    }
    out
}

fn instance(world: Affine3x4, palette_offset: u32) -> DrawInstance {
    DrawInstance {
        model: 0,
        world,
        palette_offset,
        lerp: None,
        morph_offset: 0,
        tint: [1.0; 4],
        bounds: None,
    }
}

/// Variations of the square of [`square`].
#[derive(Clone, Copy)]
struct Square {
    origin: Vec3,
    /// Scale of its palette row, turn of its world transform, scale of its world transform.
    row_scale: Vec3,
    turn: f32,
    world_scale: Vec3,
    double_sided: bool,
    winding: Winding,
}

const PLAIN: Square = Square {
    origin: Vec3::ZERO,
    row_scale: Vec3::splat(0.5),
    turn: 0.0,
    world_scale: Vec3::ONE,
    double_sided: false,
    winding: Winding::ByRows,
};

/// Bounds of the square in the picture: first and last column, first and last row.
///
/// A square of side 2 follows its second slot: half as large, up by 2, then 10 away by its world.
fn square(backend: Backend, square: Square) -> Option<[u32; 4]> {
    let _one_at_a_time = (backend != Backend::Software).then(scenes::device_lock);
    let mut primitive = quad();
    primitive.influences = Influences {
        per_vertex: 4,
        joints: [1, 0, 0, 0].repeat(4),
        weights: [1.0, 0.0, 0.0, 0.0].repeat(4),
    };
    let red = Material {
        base_color: [1.0, 0.0, 0.0, 1.0],
        double_sided: square.double_sided,
        ..Material::default()
    };
    let meshes = [DrawMesh {
        primitive: &primitive,
        material: &red,
        image: None,
        tint: 0.0,
        placement: Placement::Skinned { first_slot: 1, winding: square.winding },
        first_weight: 0,
    }];
    let details = [DrawDetail { meshes: &meshes, min_pixels: 0.0 }];
    let models = [DrawModel { details: &details }];
    let moved = |scale: Vec3, turn: f32, at: Vec3| {
        Affine3x4::from_scale_rotation_translation(scale, Quat::from_rotation_y(turn), at)
    };
    // Row 0 belongs to no slot, rows 1 and 2 to other slots; each would show the square elsewhere.
    let elsewhere = moved(Vec3::ONE, 0.0, Vec3::new(-4.0, -4.0, 0.0));
    let row = moved(square.row_scale, 0.0, Vec3::Y * 2.0);
    let at = square.origin + Vec3::new(3.0, 0.0, -10.0);
    let scene = Scene {
        models: &models,
        instances: &[instance(moved(square.world_scale, square.turn, at), 1)],
        palette: Palette::Heap(&[elsewhere, elsewhere, elsewhere, row]),
        morph_weights: &[],
        camera: camera(square.origin),
        look: Look { ground: None, haze: f32::INFINITY, ..Look::default() },
    };
    let picture = draw(&scene, SQUARE, backend).expect("a picture");
    assert_eq!((picture.counts.instances, picture.counts.triangles), (1, 2));
    let red = |[r, g, b, a]: [u8; 4]| r / 2 > g && r / 2 > b && a == 255;
    extent(&picture.image, red)
}

/// At distance 10 a metre is 10 pixels: the square's half side of 0.5 m is 5 pixels, its middle lies
/// 2 m up and 3 m right of the picture's middle.
const PLACE: Option<[u32; 4]> = Some([125, 134, 75, 84]);

/// Mirrors keep the front, half a turn shows the back, which only double-sided materials have.
fn places(backend: Backend) {
    assert_eq!(square(backend, PLAIN), PLACE);
    let mirror = Vec3::new(-1.0, 1.0, 1.0);
    let world = Square { world_scale: mirror, ..PLAIN };
    let row = Square { row_scale: mirror * 0.5, ..PLAIN };
    let both = Square { world_scale: mirror, ..row };
    let wound = |square: Square, winding| Square { winding, ..square };
    for mirrored in [
        world,
        row,
        both,
        wound(world, Winding::Kept),
        wound(row, Winding::Turned),
        wound(both, Winding::Turned),
    ] {
        assert_eq!(square(backend, mirrored), PLACE);
        let away = Square { turn: std::f32::consts::PI, ..mirrored };
        assert_eq!(square(backend, away), None);
        let double_sided = Square { double_sided: true, ..away };
        assert_eq!(square(backend, double_sided), PLACE);
    }
    // A stated winding is used without a test of the rows.
    assert_eq!(square(backend, wound(row, Winding::Kept)), None);
    assert_eq!(square(backend, wound(PLAIN, Winding::Turned)), None);
}

pub fn places_on_the_gpu() {
    places(Backend::Gpu);
}

pub fn places_in_software() {
    places(Backend::Software);
}

/// A hundred kilometres away a float steps by 8 mm, a tenth of a pixel here.
const AWAY: Square = Square { origin: Vec3::new(100_000.0, 0.0, -60_000.0), ..PLAIN };

pub fn far_from_the_origin_on_the_gpu() {
    assert_eq!(square(Backend::Gpu, AWAY), PLACE);
}

pub fn far_from_the_origin_in_software() {
    assert_eq!(square(Backend::Software, AWAY), PLACE);
}

fn empty_scene(backend: Backend) {
    let _one_at_a_time = (backend != Backend::Software).then(scenes::device_lock);
    let scene = Scene {
        models: &[],
        instances: &[],
        palette: Palette::Heap(&[]),
        morph_weights: &[],
        camera: camera(Vec3::Y),
        look: Look::default(),
    };
    let picture = draw(&scene, SQUARE, backend).expect("a picture");
    assert_eq!(picture.counts.instances, 0);
    // Sky above, ground below the horizon in the middle, all of it opaque.
    let at = |y| picture.image.get_pixel(100, y).0;
    assert!(at(5)[2] > at(5)[0] + 30, "sky {:?}", at(5));
    assert!(at(190)[2] <= at(190)[0], "ground {:?}", at(190));
    assert!(picture.image.pixels().all(|p| p.0[3] == 255));
}

pub fn empty_scene_on_the_gpu() {
    empty_scene(Backend::Gpu);
}

pub fn empty_scene_in_software() {
    empty_scene(Backend::Software);
}

fn tubes(count: usize) -> Crowd {
    Crowd::new(vec![vec![(tube(4, 1.7, 0.2, 4), 0.0)]], count, |i, _| {
        Quat::from_rotation_x(0.1 * i as f32)
    })
}

pub fn workers_change_nothing() {
    let crowd = tubes(30);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a pool").install(|| crowd.software().image)
    };
    let one = with(1);
    for threads in [2, 5] {
        assert_eq!(differing(&one, &with(threads), 0), 0.0);
    }
}

pub fn details_follow_size() {
    let fine = tube(8, 1.7, 0.2, 4);
    let coarse = tube(4, 1.7, 0.2, 4);
    let triangles = |m: &crate::model::Model| m.parts[0].0.indices.len() as u64 / 3;
    let sizes = (triangles(&fine), triangles(&coarse));
    let mut crowd = Crowd::new(vec![vec![(fine, 40.0), (coarse, 10.0)]], 1, |_, _| Quat::IDENTITY);
    let at = |crowd: &mut Crowd, distance: f32| {
        crowd.camera = camera(Vec3::new(0.0, 0.9, distance));
        crowd.software().counts.triangles
    };
    // Bounds of radius 1.3 are 40 pixels high at distance 6.5, and 200 pixels of picture at 1.3.
    assert_eq!(at(&mut crowd, 6.3), sizes.0);
    assert_eq!(at(&mut crowd, 6.7), sizes.1);
    // Also below the last threshold: nothing vanishes.
    assert_eq!(at(&mut crowd, 500.0), sizes.1);
    crowd.instances[0].bounds = None;
    assert_eq!(at(&mut crowd, 500.0), sizes.0);
}

pub fn instances_outside_are_culled() {
    let mut crowd = tubes(25);
    let all = crowd.software();
    let at = crowd.instances[0];
    for (x, y, z) in [(0.0, 0.0, 500.0), (900.0, 0.0, 0.0), (0.0, 300.0, 0.0)] {
        let mut outside = at;
        let move_by = [x, y, z];
        for (row, by) in outside.world.rows.iter_mut().zip(move_by) {
            row[3] += by;
        }
        crowd.instances.push(outside);
    }
    let more = crowd.software();
    assert_eq!((all.counts.instances, all.counts.culled), (25, 0));
    assert_eq!((more.counts.instances, more.counts.culled), (25, 3));
    assert_eq!(differing(&all.image, &more.image, 0), 0.0);
    for instance in &mut crowd.instances {
        // A sphere that says less than the truth is believed.
        instance.bounds = Some(Sphere { center: [0.0, -9999.0, 0.0], radius: 0.1 });
    }
    assert_eq!(crowd.software().counts.culled, 28);
}

pub fn shadows_lie_away_from_the_light() {
    let mut crowd = tubes(1);
    crowd.camera = camera(Vec3::new(0.0, 3.0, 4.0));
    crowd.camera.target = Vec3::ZERO;
    // Pixels that the character darkens, left and right of the middle; its own are on both.
    let darker = |crowd: &mut Crowd, light: Vec3| {
        crowd.look.light = light;
        let with = crowd.software().image;
        let instances = std::mem::take(&mut crowd.instances);
        let empty = crowd.software().image;
        crowd.instances = instances;
        let brightness = |p: &image::Rgba<u8>| p.0.iter().map(|&v| u32::from(v)).sum::<u32>();
        let mut sides = [0u32; 2];
        for ((x, _, pixel), before) in with.enumerate_pixels().zip(empty.pixels()) {
            let dark = brightness(pixel) + 60 < brightness(before);
            sides[usize::from(x > SIZE.width / 2)] += u32::from(dark);
        }
        sides
    };
    let [left, right] = darker(&mut crowd, Vec3::new(-1.0, 1.0, 0.2));
    assert!(right > left + 200, "light from the left: {left}, {right}");
    let [left, right] = darker(&mut crowd, Vec3::new(1.0, 1.0, 0.2));
    assert!(left > right + 200, "light from the right: {left}, {right}");
}
