//! Meshes that a clip mirrors midway, by scales through zero: on a device as in heap memory.

use glam::Vec3;
use image::RgbaImage;
use libtest_mimic::Failed;
use phalanx::build::build_rig;
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions};
use phalanx::gpu::{GpuBoneBuffer, GpuBoneOptions, GpuOptions, PaletteBackend};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::import::{ImportOptions, import_path};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Influences, Mesh, Primitive};
use phalanx::rig::{Aabb, Rig};
use phalanx::skeleton::Trs;
use phalanx_render::{
    Backend, Camera, DrawDetail, DrawInstance, DrawModel, GpuRenderer, Look, Palette, PictureSize,
    Placement, RigShape, Scene, Winding, draw,
};
use std::sync::Arc;

use crate::scenes::{device_lock, differing, keep};
use phalanx_testkit::trials::needed;

const SQUARE: PictureSize = PictureSize { width: 200, height: 200 };

const WIDE: PictureSize = PictureSize { width: 640, height: 200 };

/// Limits on the difference of pictures of the same rows: share of pixels, and steps of 255.
const SAME: (f64, u8) = (0.001, 2);

/// The share of covered pixels that two ways of drawing may differ in. The most that was seen is 0.001 with
/// Mesa's Vulkan in software and 0.0111 with its GL, of a clip that takes scales through zero. On both, a
/// device that takes rows that mirror for rows that do not differs in 0.0575 of the same clip; one that
/// turns all such triangles in 0.8 of another.
const DRAWN: f64 = 0.025;

/// Positions of the joints of the two boxes of [`boxes`]. The clip mirrors the upper one.
const JOINTS: [Vec3; 2] = [Vec3::new(0.0, 2.0, 0.0), Vec3::new(0.0, -2.0, 0.0)];

/// Two boxes, red in front (+z) and blue on all other sides, in one mesh. A clip of a second takes the
/// x scale of the upper one's joint from 1 to -1.
fn boxes() -> Rig {
    let mut p = Primitive::default();
    for (joint, middle) in JOINTS.into_iter().enumerate() {
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let axes = [Vec3::X, Vec3::Y, Vec3::Z];
                let normal = axes[axis] * side;
                let (u, v) = (axes[(axis + 1) % 3], axes[(axis + 2) % 3] * side);
                let first = p.positions.len() as u32;
                p.indices.extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
                for corner in [-u - v, u - v, u + v, v - u] {
                    p.positions.push((middle + normal + corner).to_array());
                    p.normals.push(normal.to_array());
                    p.colors.push(if normal == Vec3::Z {
                        [1.0, 0.0, 0.0, 1.0]
                    } else {
                        [0.0, 0.0, 1.0, 1.0]
                    });
                    p.influences.joints.extend([joint as u16, 0, 0, 0]);
                    p.influences.weights.extend([1.0, 0.0, 0.0, 0.0]);
                }
            }
        }
    }
    p.influences = Influences { per_vertex: 4, ..p.influences };
    let joint = |j: usize| RawNode {
        source: j,
        name: Some(format!("joint{j}")),
        local: Trs { translation: JOINTS[j], ..Trs::IDENTITY },
        ..RawNode::default()
    };
    let drawn = RawNode { source: 2, mesh: Some(0), skin: Some(0), ..RawNode::default() };
    let at =
        |at: Vec3| Affine3x4::from_scale_rotation_translation(Vec3::ONE, Default::default(), at);
    let raw = RawScene {
        nodes: vec![joint(0), joint(1), drawn],
        skins: vec![RawSkin {
            name: None,
            joints: vec![0, 1],
            inverse_bind: JOINTS.map(|j| at(-j).to_cols_array()).to_vec(),
        }],
        meshes: vec![Mesh { primitives: vec![p], ..Mesh::default() }],
        clips: vec![RawClip {
            name: Some("turn".into()),
            duration: 1.0,
            tracks: vec![RawTrack {
                node: 0,
                channel: RawChannel::Scale,
                interpolation: Interpolation::Linear,
                times: vec![0.0, 1.0],
                values: vec![1.0, 1.0, 1.0, -1.0, 1.0, 1.0],
            }],
            ..RawClip::default()
        }],
        ..RawScene::default()
    };
    build_rig(raw, &Default::default()).expect("a sound scene")
}

/// A rig's instances in a row along x, each at its own time of a clip, and how they are drawn.
struct Row {
    rig: Arc<Rig>,
    crowd: Crowd,
    instances: Vec<(InstanceId, Affine3x4)>,
    camera: Camera,
    size: PictureSize,
}

impl Row {
    /// Instances of `clip` at `times`, at a distance of `step` units.
    fn new(rig: Rig, clip: usize, times: &[f64], step: f32, view: (Camera, PictureSize)) -> Self {
        let (camera, size) = view;
        let rig = Arc::new(rig);
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig.clone()).expect("a sound rig");
        let clip = crowd.clip_by_index(id, clip).expect("a clip of the rig");
        let first = -0.5 * step * (times.len() - 1) as f32;
        let instances = times.iter().enumerate().map(|(i, &time)| {
            let instance = crowd.spawn(id).expect("room");
            let options = PlayOptions { time, ..PlayOptions::default() };
            crowd.play(instance, clip, &options).expect("it plays");
            let at = Vec3::X * (first + step * i as f32);
            let world =
                Affine3x4::from_scale_rotation_translation(Vec3::ONE, Default::default(), at);
            (instance, world)
        });
        let instances = instances.collect();
        Self { rig, crowd, instances, camera, size }
    }

    fn picture<T>(&self, palette: Palette, draw: impl FnOnce(&Scene) -> T) -> T {
        let shape = RigShape::new(&self.rig);
        let meshes = shape.meshes(0);
        let details = [DrawDetail { meshes: &meshes, min_pixels: 0.0 }];
        let (mut instances, mut weights) = (Vec::new(), Vec::new());
        for (id, world) in &self.instances {
            let rows = self.crowd.palette_range(*id).expect("it is evaluated");
            instances.push(DrawInstance {
                model: 0,
                world: *world,
                palette_offset: rows.start as u32,
                lerp: None,
                morph_offset: weights.len() as u32,
                tint: [1.0; 4],
                bounds: None,
            });
            self.crowd.scalars(*id, &mut weights).expect("it is there");
        }
        draw(&Scene {
            models: &[DrawModel { details: &details }],
            instances: &instances,
            palette,
            morph_weights: &weights,
            camera: self.camera,
            look: Look { ground: None, haze: f32::INFINITY, ..Look::default() },
        })
    }

    fn software(&mut self) -> RgbaImage {
        let mut heap = BoneBuffer::new();
        self.crowd.evaluate(&mut heap);
        self.picture(heap.rows().into(), |s| {
            draw(s, self.size, Backend::Software).expect("a picture").image
        })
    }

    /// Pictures from rows on the device, and from the same rows in heap memory.
    fn on_device(&mut self, backend: PaletteBackend) -> [RgbaImage; 2] {
        let _one_at_a_time = device_lock();
        let joints = self.rig.palette_len();
        let options = GpuOptions::default();
        let mut renderer = GpuRenderer::open(&options, joints, Some(backend)).expect("the backend");
        let mut bones = GpuBoneBuffer::new(renderer.gpu(), backend, &GpuBoneOptions::default())
            .expect("the backend");
        bones.evaluate(&mut self.crowd, renderer.gpu()).expect("room");
        let palette = Palette::from(&bones);
        assert!(matches!(palette, Palette::Device(_)));
        let device =
            self.picture(palette, |s| renderer.draw(s, self.size).expect("a picture").image);
        let mut heap = BoneBuffer::new();
        self.crowd.evaluate(&mut heap);
        let palette = heap.rows().into();
        let heap = self.picture(palette, |s| renderer.draw(s, self.size).expect("a picture").image);
        [device, heap]
    }
}

/// Fronts stay fronts, before and after the moment, next to a box that is never mirrored.
pub fn boxes_keep_their_fronts() {
    let camera = Camera {
        eye: Vec3::Z * 11.0,
        target: Vec3::ZERO,
        up: Vec3::Y,
        // At the fronts' distance of 10 a metre is 10 pixels.
        fov_y: std::f32::consts::FRAC_PI_2,
        near: 0.1,
    };
    // A time at which the upper box is a tenth as wide, on both sides of zero, and others.
    let times = [0.0, 0.2, 0.45, 0.55, 0.8, 0.999];
    let mut row = Row::new(boxes(), 0, &times, 3.0, (camera, SQUARE));
    let mut pictures = vec![("software".to_owned(), row.software())];
    for backend in PaletteBackend::ALL {
        let [device, heap] = row.on_device(backend);
        let share = differing(&device, &heap, SAME.1);
        assert!(share <= SAME.0, "{backend}: {share} of the pixels differ");
        pictures.push((format!("{backend}"), device));
        pictures.push((format!("{backend}, heap"), heap));
    }
    for (name, picture) in &pictures {
        keep(picture, &format!("boxes by {name}"));
        for (i, time) in times.iter().enumerate() {
            for y in [80, 120] {
                let x = 25 + 30 * i as u32;
                let [r, _, b, _] = picture.get_pixel(x, y).0.map(u32::from);
                assert!(r > 2 * b, "{name}: the box at {x}, {y} at {time} s: {r}, {b}");
            }
        }
    }
}

/// `RigShape` finds from the clips which meshes can change their winding; the others keep their culling.
pub fn only_what_can_turn_asks_its_rows() -> Result<(), Failed> {
    let windings = |rig: &Rig| -> Vec<Winding> {
        let shape = RigShape::new(rig);
        let winding = |m: phalanx_render::DrawMesh| match m.placement {
            Placement::Skinned { winding, .. } => Some(winding),
            Placement::Rigid(_) => None,
        };
        shape.meshes(0).into_iter().filter_map(winding).collect()
    };
    assert_eq!(windings(&boxes()), [Winding::ByRows]);
    // Mirrored nodes at rest, and clips that never change that.
    let of_file = |name| -> Result<_, Failed> {
        let rigs = import_path(&needed(name)?, &ImportOptions::default())?.rigs;
        Ok(rigs.iter().flat_map(windings).collect::<Vec<_>>())
    };
    for file in ["pab.glb", "mannequin.glb"] {
        let all = of_file(file)?;
        assert!(!all.is_empty());
        assert!(all.iter().all(|&w| w == Winding::Kept), "{file}: {all:?}");
    }
    let corners = of_file("bl_corners.glb")?;
    assert!(corners.contains(&Winding::ByRows), "{corners:?}");
    Ok(())
}

/// A file whose clips take scales through zero: a device against the software rasteriser.
pub fn corners_look_alike() -> Result<(), Failed> {
    let path = needed("bl_corners.glb")?;
    let rig = || -> Result<Rig, Failed> {
        Ok(import_path(&path, &ImportOptions::default())?.rigs.remove(0))
    };
    let clips = rig()?.clips().len();
    let mut asked = 0;
    for clip in 0..clips {
        let rig = rig()?;
        let duration = f64::from(rig.clips()[clip].duration());
        let times = [0.1, 0.35, 0.6, 0.85].map(|share| share * duration);
        let bounds = rig.slot_bounds().iter();
        let size = bounds.filter(|b| !b.is_empty()).map(Aabb::half_size);
        let size = size.fold(1.0f32, |all, half| all.max(half.length()));
        let half = Vec3::new(2.4, 0.6, 0.6) * size;
        let camera = Camera::around(-half, half, WIDE.aspect());
        let name = rig.clips()[clip].name().to_owned();
        let mut row = Row::new(rig, clip, &times, 1.3 * size, (camera, WIDE));
        let software = row.software();
        let [device, heap] = row.on_device(PaletteBackend::Storage);
        keep(&software, &format!("corners {name} in software"));
        keep(&device, &format!("corners {name}"));
        let share = differing(&device, &heap, SAME.1);
        assert!(share <= SAME.0, "{name}: {share} of the pixels differ");
        row.instances.clear();
        let covered = differing(&software, &row.software(), 12);
        let share = differing(&device, &software, 12) / covered;
        println!("{name}: {share:.4} of what is covered differs, {covered:.4} of the picture");
        assert!(covered > 0.02, "{name}: {covered} is covered");
        assert!(share < DRAWN, "{name}: {share} of what is covered differs");
        asked += 1;
    }
    assert!(asked > 0);
    Ok(())
}
