//! The order of blended meshes: back to front over all instances, after everything opaque.
//!
//! Meshes are sorted as wholes, by the centres of their boxes in the rest pose. Those that reach through each other
//! may be drawn in the wrong order, as in most renderers.

use glam::Vec3;

use super::draw_list::{Needs, Visible, relative};
use super::view::Eye;
use super::{DrawMesh, DrawModel, Placement, Scene};
use phalanx::mesh::AlphaMode;

/// A blended mesh of a visible instance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Blended {
    /// Index into the bodies of the picture.
    pub body: usize,
    /// Index into the meshes of the instance's detail.
    pub mesh: usize,
    /// Distance along the view axis.
    distance: f32,
}

/// The blended meshes of a detail, each with its centre in model space.
pub(super) type Centers = Vec<(usize, Vec3)>;

/// The blended meshes of every detail of a model.
pub(super) fn centers(model: &DrawModel) -> Vec<Centers> {
    let details = model.details.iter();
    let of = |meshes: &[DrawMesh]| {
        let meshes = meshes.iter().enumerate();
        let blended = meshes.filter(|(_, m)| m.material.alpha_mode == AlphaMode::Blend);
        blended.map(|(i, m)| (i, center(m))).collect()
    };
    details.map(|d| of(d.meshes)).collect()
}

fn center(mesh: &DrawMesh) -> Vec3 {
    let positions = mesh.primitive.positions.iter().copied();
    let points = positions.map(Vec3::from_array);
    let none = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    let (min, max) = points.fold(none, |(min, max), p| (min.min(p), max.max(p)));
    match mesh.placement {
        Placement::Rigid(place) => place.transform_point3((min + max) * 0.5),
        Placement::Skinned { .. } => (min + max) * 0.5,
    }
}

/// Lists the blended meshes of the visible instances, farthest first.
pub(super) fn order(
    eye: &Eye,
    scene: &Scene,
    needs: &Needs,
    bodies: &[Visible],
    out: &mut Vec<Blended>,
) {
    out.clear();
    for (body, visible) in bodies.iter().enumerate() {
        let centers = needs.blended(visible.model, visible.detail);
        let Some(instance) = scene.instances.get(visible.instance) else {
            continue;
        };
        let world = relative(&instance.world, eye.position);
        out.extend(centers.iter().map(|&(mesh, center)| Blended {
            body,
            mesh,
            distance: eye.forward.dot(world.transform_point3(center)),
        }));
    }
    out.sort_unstable_by(|a, b| {
        let far = b.distance.total_cmp(&a.distance);
        far.then(a.body.cmp(&b.body)).then(a.mesh.cmp(&b.mesh))
    });
}
