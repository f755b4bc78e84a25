//! The contents of a model as data: the document that `--json` prints.

use super::super::clips::BoundFile;
use super::super::findings::ReportLine;
use super::super::model::Model;
use super::library::LibraryInfo;
use super::size::{self, Bounds, Travel};
use phalanx::clip::{Channel, Clip};
use phalanx::mesh::{Material, TextureTransform};
use phalanx::mesh::{Mesh, Primitive};
use phalanx::rig::{Rig, RigMesh};
use phalanx::skeleton::{HumanBone, SpringJoint};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A model. Indices of nodes, meshes, skins, materials and images count as in the file.
#[derive(Debug, Serialize)]
pub struct Document {
    pub file: String,
    /// `None` if there is neither mesh nor joint.
    pub bounds: Option<Bounds>,
    /// The unit that lengths seem to have, if it is not metres.
    pub unit_hint: Option<&'static str>,
    pub clips: Vec<ClipInfo>,
    pub levels_of_detail: usize,
    pub meshes: Vec<MeshInfo>,
    pub morphs: Vec<MorphInfo>,
    pub materials: Vec<MaterialInfo>,
    pub images: Vec<Option<ImageInfo>>,
    /// `None` of a .phx file, which holds none.
    pub report: Option<Vec<ReportLine>>,
    /// Files whose clips play on the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<BoundInfo>,
    /// Contents of a .phx file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub library: Option<LibraryInfo>,
    pub nodes: usize,
    pub skins: Vec<SkinInfo>,
    /// The human bones of the joints, if the file states them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub humanoid: Option<HumanoidInfo>,
    /// The springs, if the file states any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub springs: Option<SpringsInfo>,
    pub skeleton: SkeletonInfo,
}

#[derive(Debug, Serialize)]
pub struct SkeletonInfo {
    /// Palette rows per character, for all skins and rigid meshes.
    pub palette_rows: usize,
    pub joints: Vec<JointInfo>,
}

#[derive(Debug, Serialize)]
pub struct JointInfo {
    pub node: Option<usize>,
    pub name: String,
    /// Index in this list, or -1.
    pub parent: i64,
}

#[derive(Debug, Serialize)]
pub struct HumanoidInfo {
    pub bones: Vec<BoneInfo>,
    /// Bones that VRM 1.0 requires and that are not stated.
    pub lacking: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
pub struct SpringsInfo {
    pub chains: usize,
    /// Joints that swing, of all chains.
    pub joints: usize,
    pub colliders: usize,
}

#[derive(Debug, Serialize)]
pub struct BoneInfo {
    /// Name in VRM 1.0.
    pub bone: &'static str,
    /// Index in the list of joints.
    pub joint: u16,
}

#[derive(Debug, Serialize)]
pub struct SkinInfo {
    pub skin: usize,
    pub name: Option<String>,
    pub slots: usize,
}

#[derive(Debug, Serialize)]
pub struct ClipInfo {
    pub clip: usize,
    pub name: String,
    /// Seconds.
    pub duration: f32,
    /// Joints of which a track changes over time.
    pub moving_joints: usize,
    pub root_motion: Option<Travel>,
    pub markers: Vec<MarkerInfo>,
    pub timelines: Timelines,
    pub tracks: Tracks,
    pub keys: usize,
    pub bytes: usize,
}

#[derive(Debug, Serialize)]
pub struct MarkerInfo {
    pub name: String,
    /// Seconds from the start of the clip.
    pub time: f32,
}

#[derive(Debug, Serialize)]
pub struct Timelines {
    pub regular: usize,
    pub irregular: usize,
}

#[derive(Debug, Serialize)]
pub struct Tracks {
    pub translation: Counts,
    pub rotation: Counts,
    pub scale: Counts,
    pub scalar: Counts,
}

/// Number of animated tracks, and of constant tracks that differ from the rest pose.
#[derive(Debug, Serialize)]
pub struct Counts {
    pub animated: usize,
    pub constant: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct MeshInfo {
    pub mesh: usize,
    pub name: Option<String>,
    pub node: usize,
    pub level_of_detail: usize,
    pub skin: Option<usize>,
    pub primitives: usize,
    pub vertices: usize,
    pub triangles: usize,
    pub morph_targets: usize,
    /// Largest number of influences with nonzero weight on a vertex.
    pub influences: usize,
    pub dropped_weight: DroppedWeight,
}

/// Largest weight that a vertex loses if only four or eight influences are kept.
#[derive(Clone, Debug, Serialize)]
pub struct DroppedWeight {
    pub four: f32,
    pub eight: f32,
}

#[derive(Debug, Serialize)]
pub struct MorphInfo {
    pub node: usize,
    pub name: Option<String>,
    pub rest_weights: Vec<f32>,
}

#[derive(Debug, Serialize)]
pub struct MaterialInfo {
    pub material: usize,
    pub name: Option<String>,
    pub base_color: [f32; 4],
    /// Image of the base colour.
    pub image: Option<usize>,
    pub double_sided: bool,
    /// `OPAQUE`, `MASK` or `BLEND`.
    pub alpha_mode: String,
    pub alpha_cutoff: f32,
    pub unlit: bool,
    pub metallic: f32,
    pub roughness: f32,
    pub emissive: [f32; 3],
    /// All textures.
    pub textures: Vec<TextureInfo>,
}

#[derive(Debug, Serialize)]
pub struct TextureInfo {
    /// The use of the texture, as `Material::textures` names it.
    #[serde(rename = "use")]
    pub used_as: &'static str,
    pub image: usize,
    pub texture_coordinates: u32,
    pub transformed: bool,
    /// Whether pictures show it.
    pub drawn: bool,
}

#[derive(Debug, Serialize)]
pub struct ImageInfo {
    pub width: u32,
    pub height: u32,
}

/// The clips of another file.
#[derive(Debug, Serialize)]
pub struct BoundInfo {
    pub file: String,
    pub clips: Vec<String>,
    /// A summary of the binding, one line each.
    pub report: Vec<String>,
}

fn bound_info(bound: &BoundFile) -> BoundInfo {
    BoundInfo { file: bound.file.clone(), clips: bound.clips.clone(), report: bound.findings() }
}

impl Document {
    /// Collects everything.
    pub fn new(model: &Model) -> Self {
        let rig = &model.rig;
        let skins = rig.file_skins().iter().enumerate();
        let materials = rig.materials().iter().enumerate();
        let images = rig.images().iter();
        let bounds = Bounds::of(model);
        let travels = size::travels(model, bounds.as_ref());
        Self {
            file: model.file.clone(),
            // The report of a BVH file has its hint.
            unit_hint: bounds.as_ref().and_then(Bounds::unit_hint).filter(|_| !model.is_bvh()),
            bounds,
            nodes: rig.nodes().len(),
            humanoid: humanoid(rig),
            springs: springs(rig),
            skeleton: skeleton(rig),
            skins: skins
                .map(|(skin, s)| SkinInfo {
                    skin,
                    name: s.name().map(str::to_owned),
                    slots: s.len(),
                })
                .collect(),
            clips: rig.clips().iter().zip(travels).enumerate().map(clip).collect(),
            levels_of_detail: rig.lod_count(),
            meshes: meshes(rig),
            morphs: morphs(rig),
            materials: materials
                .map(|(material, m)| MaterialInfo {
                    material,
                    name: m.name.clone(),
                    base_color: m.base_color,
                    image: m.base_color_texture.map(|t| t.image),
                    double_sided: m.double_sided,
                    alpha_mode: m.alpha_mode.to_string(),
                    alpha_cutoff: m.alpha_cutoff,
                    unlit: m.unlit,
                    metallic: m.metallic,
                    roughness: m.roughness,
                    emissive: m.emissive,
                    textures: textures(m),
                })
                .collect(),
            images: images
                .map(|i| {
                    let decoded = i.as_ref().and_then(|i| i.decoded());
                    decoded.map(|i| ImageInfo { width: i.width, height: i.height })
                })
                .collect(),
            report: model.library.is_none().then(|| report(model)),
            bound: model.bound.iter().map(bound_info).collect(),
            library: model.library.as_ref().map(LibraryInfo::new),
        }
    }
}

fn report(model: &Model) -> Vec<ReportLine> {
    let entries = model.report.iter();
    entries.map(ReportLine::from).collect()
}

fn humanoid(rig: &Rig) -> Option<HumanoidInfo> {
    let bones = rig.humanoid();
    let stated = |bone: &HumanBone| bones.iter().any(|b| b.0 == *bone);
    let lacking = HumanBone::all().filter(|bone| bone.required() && !stated(bone));
    (!bones.is_empty()).then(|| HumanoidInfo {
        lacking: lacking.map(HumanBone::name).collect(),
        bones: (bones.iter()).map(|&(bone, joint)| BoneInfo { bone: bone.name(), joint }).collect(),
    })
}

fn springs(rig: &Rig) -> Option<SpringsInfo> {
    let springs = rig.springs();
    let swing = |joints: &[SpringJoint]| {
        joints.len() - usize::from(joints.last().is_some_and(|last| last.tail.is_none()))
    };
    (!springs.is_empty()).then(|| SpringsInfo {
        chains: springs.chains.len(),
        joints: springs.chains.iter().map(|chain| swing(&chain.joints)).sum(),
        colliders: springs.colliders.len(),
    })
}

fn textures(material: &Material) -> Vec<TextureInfo> {
    let drawn = material.base_color_texture.as_ref();
    let all = material.textures();
    all.map(|(used_as, t)| TextureInfo {
        used_as,
        image: t.image,
        texture_coordinates: t.tex_coord,
        transformed: t.transform != TextureTransform::default(),
        drawn: drawn.is_some_and(|d| std::ptr::eq(d, t)),
    })
    .collect()
}

fn skeleton(rig: &Rig) -> SkeletonInfo {
    let skeleton = rig.skeleton();
    let mut node_of = vec![None; skeleton.len()];
    for node in rig.nodes() {
        if let Some(slot) = node.joint.and_then(|j| node_of.get_mut(usize::from(j))) {
            *slot = Some(node.source);
        }
    }
    let joints = skeleton.names().iter().zip(skeleton.parents()).zip(node_of);
    SkeletonInfo {
        palette_rows: rig.palette_len(),
        joints: joints
            .map(|((name, &parent), node)| JointInfo {
                node,
                name: name.clone(),
                parent: if usize::from(parent) < skeleton.len() { i64::from(parent) } else { -1 },
            })
            .collect(),
    }
}

fn clip((clip, (c, root_motion)): (usize, (&Arc<Clip>, Option<Travel>))) -> ClipInfo {
    let irregular = c.hint_count();
    let counts = |channel| {
        let [animated, constant] = c.tracks(channel);
        Counts { animated, constant }
    };
    ClipInfo {
        clip,
        name: c.name().to_owned(),
        duration: c.duration(),
        moving_joints: moving_joints(c),
        root_motion,
        markers: c
            .markers()
            .iter()
            .map(|m| MarkerInfo { name: m.name.clone(), time: m.time })
            .collect(),
        timelines: Timelines { regular: c.timelines().len() - irregular, irregular },
        tracks: Tracks {
            translation: counts(Channel::Translation),
            rotation: counts(Channel::Rotation),
            scale: counts(Channel::Scale),
            scalar: counts(Channel::Scalar),
        },
        keys: c.key_count(),
        bytes: c.bytes(),
    }
}

fn moving_joints(clip: &Clip) -> usize {
    let mut moving: BTreeMap<u16, u16> = BTreeMap::new();
    for channel in [Channel::Translation, Channel::Rotation, Channel::Scale] {
        for block in clip.blocks(channel) {
            *moving.entry(block.block).or_default() |= block.moving;
        }
    }
    moving.values().map(|lanes| lanes.count_ones() as usize).sum()
}

/// Entries of all meshes; a mesh drawn by several nodes is analysed once.
fn meshes(rig: &Rig) -> Vec<MeshInfo> {
    let mut known: HashMap<*const Mesh, MeshInfo> = HashMap::new();
    let place = |m: &RigMesh| {
        let counted = known.entry(Arc::as_ptr(&m.mesh));
        let counted = counted.or_insert_with(|| mesh(rig, m));
        MeshInfo {
            mesh: m.source,
            node: rig.nodes()[m.node].source,
            level_of_detail: m.lod,
            skin: m.rigid_slot.is_none().then_some(m.skin),
            ..counted.clone()
        }
    };
    rig.meshes().iter().map(place).collect()
}

fn mesh(rig: &Rig, m: &RigMesh) -> MeshInfo {
    let primitives = &m.mesh.primitives;
    let sum = |f: &dyn Fn(&Primitive) -> usize| primitives.iter().map(f).sum::<usize>();
    let most = |f: &dyn Fn(&Primitive) -> usize| primitives.iter().map(f).max().unwrap_or(0);
    let dropped = |count| {
        let worst = primitives.iter().map(|p| p.influences.largest(count).1);
        worst.fold(0.0, f32::max)
    };
    MeshInfo {
        mesh: m.source,
        name: m.mesh.name.clone(),
        node: rig.nodes()[m.node].source,
        level_of_detail: m.lod,
        skin: m.rigid_slot.is_none().then_some(m.skin),
        primitives: primitives.len(),
        vertices: sum(&|p| p.positions.len()),
        triangles: sum(&|p| p.indices.len() / 3),
        morph_targets: most(&|p| p.targets.len()),
        influences: most(&influences),
        dropped_weight: DroppedWeight { four: dropped(4), eight: dropped(8) },
    }
}

fn influences(p: &Primitive) -> usize {
    let i = &p.influences;
    let vertices = i.weights.chunks(i.per_vertex.max(1));
    let counts = vertices.map(|w| w.iter().filter(|&&w| w != 0.0).count());
    counts.max().unwrap_or(0)
}

fn morphs(rig: &Rig) -> Vec<MorphInfo> {
    let scalars = rig.skeleton().scalars();
    let morphs = rig.nodes().iter().filter(|n| !n.morphs.is_empty());
    morphs
        .map(|node| {
            let weights = scalars.get(node.morphs.clone()).unwrap_or(&[]);
            MorphInfo {
                node: node.source,
                name: node.name.clone(),
                rest_weights: weights.iter().map(|s| s.rest).collect(),
            }
        })
        .collect()
}
