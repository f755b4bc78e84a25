//! The pose in which a rig's skins were bound, from their inverse bind matrices.

use super::pose::{Local, models, parent, rest, unit};
use super::stance::axes;
use crate::rig::Rig;
use crate::skeleton::Skin;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Scales of one space differ by at most this share.
const SAME: f64 = 0.01;

/// Local transforms in joint order; `None` without a skin that has joints. `stands` decides whether a pose stands; spaces
/// of the body's skin whose pose does not are excluded.
pub(super) fn bind_pose(rig: &Rig, stands: impl Fn(&[Local]) -> bool) -> Option<Vec<Local>> {
    let own = rest(rig.skeleton());
    let models = models(rig.skeleton(), &own);
    let mut skins: Vec<Bound> = rig
        .file_skins()
        .iter()
        .enumerate()
        .filter_map(|(index, skin)| Bound::new(index, skin))
        .collect();
    // The largest skin is the body's; it comes before those of clothes.
    skins.sort_by_key(|skin| std::cmp::Reverse(skin.binds.len()));
    let mut bound: Vec<Option<DAffine3>> = vec![None; own.len()];
    for (rank, skin) in skins.iter().enumerate() {
        let exact = skin.exact(&models);
        let alone = |space: &DAffine3| {
            let mut bound = vec![None; own.len()];
            skin.put(*space, &mut bound);
            pose(rig, &bound)
        };
        let mut spaces = spaces(rig, skin, &models, exact);
        // The skin of clothes need not show whether a body stands.
        spaces.retain(|space| rank > 0 || stands(&alone(space)));
        let turned = |space: &DAffine3| rotation(exact).angle_between(rotation(*space));
        let nearest = spaces.into_iter().min_by(|a, b| turned(a).total_cmp(&turned(b)));
        skin.put(nearest.unwrap_or(exact), &mut bound);
    }
    bound.iter().any(Option::is_some).then(|| pose(rig, &bound))
}

/// A skin whose joints have bind matrices.
struct Bound {
    index: usize,
    /// Joints with their transforms in the space of the skin's meshes.
    binds: Vec<(usize, DAffine3)>,
    top: (usize, DAffine3),
}

impl Bound {
    fn new(index: usize, skin: &Skin) -> Option<Self> {
        let binds = skin.joints().iter().zip(skin.inverse_bind());
        let binds = binds.map(|(&joint, matrix)| {
            let column = |c: usize| DVec3::from_array(matrix.rows.map(|row| f64::from(row[c])));
            let linear = DMat3::from_cols(column(0), column(1), column(2));
            let inverse = DAffine3::from_mat3_translation(linear, column(3));
            (usize::from(joint), inverse.inverse())
        });
        let binds: Vec<_> = binds.filter(|(_, bind)| bind.is_finite()).collect();
        // Parents come before their children.
        let top = *binds.iter().min_by_key(|bind| bind.0)?;
        Some(Self { index, binds, top })
    }

    /// The space in which the topmost joint is at its rest transform.
    fn exact(&self, models: &[DAffine3]) -> DAffine3 {
        models[self.top.0] * self.top.1.inverse()
    }

    /// Sets the model transforms of the skin's joints that have none yet.
    fn put(&self, space: DAffine3, bound: &mut [Option<DAffine3>]) {
        for &(joint, bind) in self.binds.iter().filter(|_| space.is_finite()) {
            bound[joint].get_or_insert(space * bind);
        }
    }
}

/// The pose with joints at their bind transforms; other joints rest below the joint above.
fn pose(rig: &Rig, bound: &[Option<DAffine3>]) -> Vec<Local> {
    let skeleton = rig.skeleton();
    let mut locals = rest(skeleton);
    let mut models: Vec<DAffine3> = Vec::with_capacity(locals.len());
    for (joint, local) in locals.iter_mut().enumerate() {
        let above = parent(skeleton, joint).map_or(DAffine3::IDENTITY, |p| models[p]);
        let there = bound[joint].map(|model| above.inverse() * model);
        if let Some(there) = there.filter(|t| t.is_finite() && size(*t) > 0.0) {
            let (scale, rotation, translation) = there.to_scale_rotation_translation();
            *local = Local { translation, rotation: unit(rotation), scale };
        }
        models.push(above * local.to_affine());
    }
    locals
}

/// Spaces in which the meshes of a skin may have been bound: model space, the space of their node, and the space of the
/// joint above the skin's joints, each if it has the scale of the rest pose. If none has, quarter turns that leave the
/// topmost joint at its rest position.
fn spaces(rig: &Rig, skin: &Bound, models: &[DAffine3], exact: DAffine3) -> Vec<DAffine3> {
    let mut meshes = rig.meshes().iter().filter(|mesh| mesh.skin == skin.index);
    let node = meshes.next().map(|mesh| {
        let nodes = rig.nodes();
        let up = std::iter::successors(Some(mesh.node), |&node| nodes[node].parent);
        let locals = up.map(|node| Local::from(nodes[node].local).to_affine());
        locals.fold(DAffine3::IDENTITY, |below, local| local * below)
    });
    let above = parent(rig.skeleton(), skin.top.0).map(|p| models[p]);
    let alike = |space: &DAffine3| {
        let scale = (size(*space) / size(exact)).cbrt();
        (scale - 1.0).abs() <= SAME
    };
    let known = [Some(DAffine3::IDENTITY), node, above];
    let mut spaces: Vec<DAffine3> = known.into_iter().flatten().filter(alike).collect();
    if spaces.is_empty() {
        let scale = size(exact).cbrt();
        let place = models[skin.top.0].translation;
        spaces.extend(quarter_turns().map(|turn| {
            let turn = turn * scale;
            DAffine3::from_mat3_translation(turn, place - turn * skin.top.1.translation)
        }));
    }
    spaces
}

/// The 24 rotations that map axes to axes.
fn quarter_turns() -> impl Iterator<Item = DMat3> {
    axes().flat_map(|x| {
        let others = axes().filter(move |y| y.dot(x) == 0.0);
        others.map(move |y| DMat3::from_cols(x, y, x.cross(y)))
    })
}

fn size(space: DAffine3) -> f64 {
    space.matrix3.determinant().abs()
}

fn rotation(space: DAffine3) -> DQuat {
    if size(space) > 0.0 { unit(space.to_scale_rotation_translation().1) } else { DQuat::IDENTITY }
}
