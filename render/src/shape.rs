//! `RigShape`: the meshes of a rig in the form that scenes draw.

use super::scene::{DrawMesh, Placement, tint_strength};
use super::winding::Sides;
use phalanx::clip::Clip;
use phalanx::math::Affine3x4;
use phalanx::mesh::{ImageData, Influences, Material, Primitive};
use phalanx::playback::evaluate_pose;
use phalanx::rig::{Rig, RigMesh};
use std::sync::Arc;

/// The meshes of a rig in the form that scenes draw.
///
/// An instance's rows are its whole palette, and its morph weights all its scalars, as a crowd returns them.
///
/// A [detail](Rig::detail) of a rig has a shape of its own, with the meshes of its level alone, and draws instances
/// whose rows are the detail's: in a [`DrawModel`](super::DrawModel) of its own.
#[derive(Clone, Debug)]
pub struct RigShape<'a> {
    rig: Source<'a>,
    /// The primitives of rigid meshes, with the mesh's slot as the only influence of every vertex, so that
    /// they follow the palette like skinned ones. Empty for skinned meshes.
    rigid: Vec<Vec<Primitive>>,
    /// Placements per mesh and primitive.
    placements: Vec<Vec<Placement>>,
}

/// A rig that is borrowed, or kept alive.
#[derive(Clone, Debug)]
enum Source<'a> {
    Borrowed(&'a Rig),
    Shared(Arc<Rig>),
}

impl Source<'_> {
    fn rig(&self) -> &Rig {
        match self {
            Self::Borrowed(rig) => rig,
            Self::Shared(rig) => rig,
        }
    }
}

impl RigShape<'static> {
    /// As [`new`](Self::new), for a rig that it keeps alive: for models that are replaced while pictures are
    /// drawn.
    pub fn shared(rig: Arc<Rig>) -> Self {
        Self::of(Source::Shared(rig), &[])
    }
}

impl<'a> RigShape<'a> {
    /// Prepares a rig's meshes for the clips of the rig.
    pub fn new(rig: &'a Rig) -> Self {
        Self::with_clips(rig, &[])
    }

    /// As [`new`](Self::new), for further clips, too.
    ///
    /// If joint overrides mirror, set the [`Winding`](super::Winding) of the meshes to `ByRows`.
    pub fn with_clips(rig: &'a Rig, clips: &[Arc<Clip>]) -> Self {
        Self::of(Source::Borrowed(rig), clips)
    }

    fn of(source: Source<'a>, clips: &[Arc<Clip>]) -> Self {
        let rig = source.rig();
        let follow = |p: &Primitive, slot: u16| {
            let vertices = p.positions.len();
            Primitive {
                influences: Influences {
                    per_vertex: 4,
                    joints: [slot, 0, 0, 0].repeat(vertices),
                    weights: [1.0, 0.0, 0.0, 0.0].repeat(vertices),
                },
                ..p.clone()
            }
        };
        let meshes = rig.meshes().iter();
        let rigid = meshes.map(|m| match m.rigid_slot {
            None => Vec::new(),
            Some(slot) => m.mesh.primitives.iter().map(|p| follow(p, slot)).collect(),
        });
        let rigid: Vec<Vec<Primitive>> = rigid.collect();
        // The rest pose needs no clip, so this does not fail.
        let pose = evaluate_pose(rig, &[]);
        let (rest, rows) = pose.map_or_else(
            |_| (Vec::new(), Vec::new()),
            |pose| (pose.worlds, pose.palettes.concat()),
        );
        let sides = Sides::new(rig, &rows, rig.clips().iter().chain(clips).map(Arc::as_ref));
        let meshes = rig.meshes().iter().zip(&rigid);
        let placements = meshes.map(|(mesh, rigid)| {
            let primitives = drawn(mesh, rigid).iter();
            let place = |p: &Primitive| placement(rig, mesh, p, &rest, &sides);
            primitives.map(place).collect()
        });
        Self { placements: placements.collect(), rigid, rig: source }
    }

    /// The meshes of a level of detail that have triangles.
    pub fn meshes(&self, lod: usize) -> Vec<DrawMesh<'_>> {
        static PLAIN: Material = Material::DEFAULT;
        let rig = self.rig.rig();
        let has_tint = self.has_tint();
        let mut out = Vec::new();
        let meshes = rig.meshes().iter().zip(&self.rigid).zip(&self.placements);
        for ((mesh, rigid), placements) in meshes.filter(|((m, _), _)| m.lod == lod) {
            let primitives = drawn(mesh, rigid).iter().zip(placements);
            for (primitive, &placement) in primitives.filter(|(p, _)| !p.indices.is_empty()) {
                let material = primitive.material.and_then(|m| rig.materials().get(m));
                let material = material.unwrap_or(&PLAIN);
                let texture = material.base_color_texture.as_ref();
                let image = texture.and_then(|t| rig.images().get(t.image));
                out.push(DrawMesh {
                    primitive,
                    material,
                    image: image.and_then(Option::as_ref).and_then(ImageData::decoded),
                    tint: tint_strength(material, has_tint),
                    placement,
                    first_weight: rig.nodes()[mesh.node].morphs.start as u32,
                });
            }
        }
        out
    }

    /// True if a material is named `Tint`: the instance's tint then applies to it alone.
    pub fn has_tint(&self) -> bool {
        let mut materials = self.rig.rig().materials().iter();
        materials.any(|m| m.name.as_deref() == Some("Tint"))
    }
}

/// The primitives that are drawn of a mesh.
fn drawn<'a>(mesh: &'a RigMesh, rigid: &'a [Primitive]) -> &'a [Primitive] {
    if rigid.is_empty() { &mesh.mesh.primitives } else { rigid }
}

fn placement(
    rig: &Rig,
    mesh: &RigMesh,
    primitive: &Primitive,
    rest: &[Affine3x4],
    sides: &Sides,
) -> Placement {
    if primitive.influences.is_empty() {
        // A primitive without influences on a mesh with a skin stays at its node.
        return Placement::Rigid(rest.get(mesh.node).copied().unwrap_or_default());
    }
    let first = rig.palette_offset(mesh.skin);
    Placement::Skinned {
        first_slot: first as u32,
        winding: sides.winding(first, &primitive.influences),
    }
}
