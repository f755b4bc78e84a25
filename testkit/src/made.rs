//! A small rig with every kind of content that a .phx file can store.

use glam::{Quat, Vec3};
use phalanx::bake::{BakeOptions, bake};
use phalanx::build::{BuildOptions, RootMotionOptions, build_additive_raw, build_rig};
use phalanx::clip::{Clip, Marker};
use phalanx::format::{ClipForm, ClipOrigin, Library, LibraryWriter, Provenance, Source};
use phalanx::import::raw::{
    Interpolation, RawChannel, RawClip, RawNode, RawScene, RawSkin, RawTrack,
};
use phalanx::mesh::{
    AlphaMode, Filter, Image, ImageData, Influences, Material, Mesh, MorphTarget, Primitive,
    Sampler, Texture, TextureTransform, Wrap,
};
use phalanx::rig::Rig;
use phalanx::skeleton::{
    ChannelValue, ColliderShape, HumanBone, SpringBones, SpringChain, SpringCollider, SpringJoint,
    Trs, UserChannel,
};
use std::io::Cursor;
use std::sync::Arc;

const IDENTITY: [f32; 16] =
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

fn node(source: usize, name: &str, parent: Option<usize>, x: f32) -> RawNode {
    RawNode {
        source,
        name: (!name.is_empty()).then(|| name.to_owned()),
        parent,
        local: Trs {
            translation: Vec3::new(x, 0.25 * x, 0.0),
            rotation: Quat::from_rotation_z(0.3 * x),
            scale: Vec3::ONE,
        },
        ..RawNode::default()
    }
}

fn turn(angle: f32) -> [f32; 4] {
    [0.0, (angle / 2.0).sin(), 0.0, (angle / 2.0).cos()]
}

fn track(
    node: usize,
    channel: RawChannel,
    interpolation: Interpolation,
    times: &[f32],
    values: Vec<f32>,
) -> RawTrack {
    RawTrack { node, channel, interpolation, times: times.to_vec(), values }
}

/// Clips for a chain of joints, each joint animated by a different kind of track.
fn clips() -> Vec<RawClip> {
    use Interpolation::{CubicSpline, Linear, Step};
    let even: Vec<f32> = (0..9).map(|k| k as f32 / 8.0).collect();
    let odd = [0.0, 0.1, 0.45, 1.0];
    let turns = |times: &[f32], rate: f32| -> Vec<f32> {
        times.iter().flat_map(|t| turn(rate * t)).collect()
    };
    let slides =
        |times: &[f32]| -> Vec<f32> { times.iter().flat_map(|t| [t * 2.0, 0.5, -t]).collect() };
    let spline: Vec<f32> =
        odd.iter().flat_map(|t| [0.5, 0.0, 0.1, t * t, 1.0, 0.0, 0.25, 0.0, 0.3]).collect();
    let walk = RawClip {
        name: Some("walk".into()),
        duration: 1.0,
        tracks: vec![
            track(1, RawChannel::Translation, Linear, &even, slides(&even)),
            track(1, RawChannel::Rotation, Linear, &even, turns(&even, 1.0)),
            track(2, RawChannel::Rotation, Linear, &odd, turns(&odd, 2.5)),
            track(3, RawChannel::Rotation, Step, &odd, turns(&odd, 1.5)),
            track(18, RawChannel::Translation, CubicSpline, &odd, spline),
            track(4, RawChannel::Scale, Linear, &[0.0], vec![1.0, 2.0, 1.0]),
            track(
                20,
                RawChannel::Weights,
                Linear,
                &odd,
                odd.iter().flat_map(|t| [*t, 1.0 - t]).collect(),
            ),
        ],
        markers: vec![
            Marker::new("strike", 0.75),
            Marker::new("step", 0.0),
            Marker::new("step", 0.5),
        ],
        ..RawClip::default()
    };
    let nod = RawClip {
        name: Some("nod".into()),
        duration: 1.0,
        tracks: vec![track(17, RawChannel::Rotation, Linear, &even, turns(&even, 0.8))],
        ..RawClip::default()
    };
    vec![walk, nod, RawClip::default()]
}

fn mesh() -> Mesh {
    let positions = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    Mesh {
        name: Some("body".into()),
        primitives: vec![Primitive {
            normals: vec![[0.0, 0.0, 1.0]; 4],
            tangents: vec![[1.0, 0.0, 0.0, -1.0]; 4],
            uvs: vec![[0.25, 0.5]; 4],
            uvs1: vec![[0.75, -0.5]; 4],
            colors: vec![[1.0, 0.5, 0.25, 1.0]; 4],
            indices: vec![0, 1, 2, 1, 2, 3],
            influences: Influences {
                per_vertex: 4,
                joints: [[0, 1, 2, 0]; 4].concat(),
                weights: [[0.5, 0.25, 0.25, 0.0]; 4].concat(),
            },
            targets: vec![
                MorphTarget { positions: vec![[0.0, 0.1, 0.0]; 4], ..MorphTarget::default() },
                MorphTarget {
                    normals: vec![[0.0, 0.1, 0.0]; 4],
                    tangents: vec![[0.0, 0.0, 0.1]; 4],
                    ..MorphTarget::default()
                },
            ],
            material: Some(1),
            positions,
        }],
        weights: vec![0.0, 0.5],
    }
}

fn texture(image: usize) -> Texture {
    Texture {
        image,
        tex_coord: 1,
        transform: TextureTransform { offset: [0.25, -0.5], rotation: 0.75, scale: [2.0, -4.0] },
        sampler: Sampler {
            wrap_u: Wrap::ClampToEdge,
            wrap_v: Wrap::MirroredRepeat,
            mag_filter: Some(Filter::Nearest),
            min_filter: Some(Filter::Linear),
            mip_filter: Some(Filter::Nearest),
        },
    }
}

pub fn raw() -> RawScene {
    let mut nodes: Vec<RawNode> = vec![node(7, "root", None, 0.0)];
    nodes.extend((1..20).map(|i| node(7 + i, &format!("joint {i}"), Some(i - 1), 0.1 * i as f32)));
    let mut body = node(40, "body", Some(0), 0.0);
    body.mesh = Some(0);
    body.skin = Some(0);
    body.weights = vec![0.0, 0.5];
    nodes.push(body);
    let mut hat = node(41, "", Some(19), 0.5);
    hat.mesh = Some(1);
    hat.matrix = Some(IDENTITY);
    nodes.push(hat);
    let hat = Mesh {
        primitives: vec![Primitive {
            positions: vec![[0.0; 3]; 3],
            indices: vec![0, 1, 2],
            material: Some(0),
            ..Primitive::default()
        }],
        ..Mesh::default()
    };
    let mut clips = clips();
    let mut channels = Vec::new();
    let mut channel = |name: &str, rest, values: Vec<f32>| {
        clips[0].user_tracks.push(RawTrack {
            node: channels.len(),
            channel: RawChannel::Weights,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values,
        });
        channels.push(UserChannel { name: name.into(), rest });
    };
    channel("grip", ChannelValue::Float(0.25), vec![0.0, 1.0]);
    channel(
        "look",
        ChannelValue::Quaternion([0.3, 0.1, 0.7, 0.9]),
        [turn(0.0), turn(1.0)].concat(),
    );
    RawScene {
        name: "made.glb".into(),
        skins: vec![RawSkin {
            name: Some("skin".into()),
            joints: (1..20).collect(),
            inverse_bind: (1..20)
                .map(|i| {
                    let mut m = IDENTITY;
                    m[12] = -0.1 * i as f32;
                    m
                })
                .collect(),
        }],
        clips,
        meshes: vec![mesh(), hat],
        materials: vec![
            Material::default(),
            Material {
                name: Some("cloth".into()),
                base_color: [0.5, 0.25, 1.0, 1.0],
                base_color_texture: Some(texture(0)),
                metallic: 0.25,
                roughness: 0.75,
                metallic_roughness_texture: Some(texture(2)),
                normal_texture: Some(texture(2)),
                normal_scale: -0.5,
                occlusion_texture: Some(Texture::default()),
                occlusion_strength: 0.125,
                emissive: [0.0, 2.0, 4.0],
                emissive_texture: Some(Texture {
                    transform: TextureTransform::default(),
                    ..texture(0)
                }),
                alpha_mode: AlphaMode::Blend,
                alpha_cutoff: 0.375,
                double_sided: true,
                unlit: true,
            },
        ],
        images: vec![
            Some(ImageData::Decoded(Image {
                width: 8,
                height: 4,
                rgba: (0..128).map(|i| (i * 7) as u8).collect(),
            })),
            None,
            // An image that PNG compresses.
            Some(ImageData::Decoded(Image { width: 64, height: 64, rgba: vec![200; 64 * 64 * 4] })),
        ],
        channels,
        scenes: vec![vec![0]],
        default_scene: Some(0),
        // Out of the order of the bones, as files state them by name.
        humanoid: vec![(HumanBone::Head, 19), (HumanBone::Hips, 1), (HumanBone::Spine, 2)],
        springs: springs(),
        nodes,
    }
}

/// Two chains, the second with an end, and a collider of each kind.
fn springs() -> SpringBones {
    let joint = |joint| SpringJoint { gravity: Vec3::NEG_Y, ..SpringJoint::new(joint) };
    let tail = Some(Vec3::new(0.0, 0.1, 0.0));
    let chains = vec![
        SpringChain {
            joints: vec![joint(10), SpringJoint { tail, radius: 0.5, ..joint(12) }],
            colliders: vec![2, 0],
            center: Some(3),
        },
        SpringChain { joints: [14, 15, 16].map(joint).to_vec(), ..SpringChain::default() },
    ];
    let ends = [Vec3::ONE, Vec3::NEG_ONE];
    let shapes = [
        ColliderShape::sphere(Vec3::Y, 0.25),
        ColliderShape::Capsule { ends, radius: 0.5, inside: true },
        ColliderShape::Plane { point: Vec3::ONE, normal: Vec3::Y },
    ];
    let colliders = shapes.map(|shape| SpringCollider { joint: 5, shape }).to_vec();
    SpringBones { chains, colliders, teleport: 3.0 }
}

pub fn rig() -> Rig {
    build_rig(raw(), &BuildOptions::default()).expect("the scene is valid")
}

/// The same character in a different lane order.
pub fn rig_in_order(lanes: Vec<u16>) -> Rig {
    let options = BuildOptions { lane_order: Some(lanes), ..BuildOptions::default() };
    build_rig(raw(), &options).expect("the order contains every joint once")
}

/// The same character with root motion extracted from its clips, translation and rotation.
pub fn travelling() -> Rig {
    let options = BuildOptions {
        root_motion: Some(RootMotionOptions {
            joint: Some("joint 1".into()),
            rotation: true,
            ..RootMotionOptions::default()
        }),
        ..BuildOptions::default()
    };
    build_rig(raw(), &options).expect("the joint is there")
}

pub fn additive(rig: &Rig) -> Clip {
    build_additive_raw(rig, (&raw(), 0), rig.skeleton().rest_pose())
        .expect("the clip is not additive")
}

pub fn provenance(clips: usize) -> Provenance {
    Provenance {
        tool: "tests".into(),
        sources: vec![Source {
            name: "made.glb".into(),
            settings: "none".into(),
            bytes: 123,
            hash: 0x0123_4567_89ab_cdef,
        }],
        clips: (0..clips as u32)
            .map(|clip| ClipOrigin { source: 0, clip, max_error: 0.5, shell: 0.03 })
            .collect(),
    }
}

/// Bytes at the start of a clip's section that identify its skeleton (kind, duration, hashes); 0 if coded.
pub fn head_bytes(form: ClipForm) -> usize {
    match form {
        ClipForm::Rows => 24,
        ClipForm::Coded => 0,
    }
}

/// The same character with baked clips.
pub fn baked() -> Rig {
    let rig = travelling();
    let library = library_of(&rig, &baked_clips(&rig), ClipForm::Rows);
    let library = Library::from_bytes(&library).expect("the file was just written");
    library.rig(&Default::default()).expect("the file was just written")
}

fn baked_clips(rig: &Rig) -> Vec<Arc<Clip>> {
    let settings = BakeOptions::default();
    let baked = |clip: &Arc<Clip>| bake(clip, rig.skeleton(), &settings).expect("the clips fit").0;
    rig.clips().iter().map(baked).map(Arc::new).collect()
}

/// Libraries that together contain every kind of section in every form.
pub fn files() -> Vec<Vec<u8>> {
    let mut all = vec![library(&rig())];
    for form in ClipForm::ALL {
        all.push(library_in(&travelling(), form));
        all.push(library_in(&baked(), form));
    }
    all
}

/// A library with one of everything: exact and baked clips, each in every form, and an additive clip.
pub fn of_all_kinds() -> Vec<u8> {
    let rig = travelling();
    let baked = baked_clips(&rig);
    let mut clips: Vec<(Arc<Clip>, ClipForm)> = Vec::new();
    for form in ClipForm::ALL {
        let all = rig.clips()[..1].iter().chain(&baked[..2]);
        clips.extend(all.map(|c| (c.clone(), form)));
    }
    clips.push((Arc::new(additive(&rig)), ClipForm::Rows));
    written(&rig, &clips)
}

/// The bytes of a rig's library.
pub fn library(rig: &Rig) -> Vec<u8> {
    library_in(rig, ClipForm::Rows)
}

/// Like [`library`], with the clips in the given form.
pub fn library_in(rig: &Rig, form: ClipForm) -> Vec<u8> {
    library_of(rig, rig.clips(), form)
}

fn library_of(rig: &Rig, clips: &[Arc<Clip>], form: ClipForm) -> Vec<u8> {
    let clips: Vec<_> = clips.iter().map(|clip| (clip.clone(), form)).collect();
    written(rig, &clips)
}

fn written(rig: &Rig, clips: &[(Arc<Clip>, ClipForm)]) -> Vec<u8> {
    let out = Cursor::new(Vec::new());
    let mut writer = LibraryWriter::new(out, rig.skeleton()).expect("writing to memory succeeds");
    writer.add_rig(rig).expect("the rig has this skeleton");
    for (clip, form) in clips {
        let added = writer.add_clip(clip, clip.name(), *form);
        added.expect("the clip has this skeleton");
    }
    let out = writer.finish(&provenance(clips.len()));
    out.expect("writing to memory succeeds").into_inner()
}
