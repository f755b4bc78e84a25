//! The pose in which a rig's skins were bound, from their inverse bind matrices.

use super::body::rest;
use super::motion::Local;
use super::stance::{axes, compose};
use crate::rig::Rig;
use crate::skeleton::{NO_JOINT, Skin};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// The topmost joint of a skin is turned by less between bind and rest pose, unless its mesh is in another space. Radians.
const TURNED: f64 = std::f64::consts::FRAC_PI_4;

/// Scales of one space differ by at most this share.
const SAME: f64 = 0.01;

/// Local transforms in joint order; `None` without a skin of joints.
pub(super) fn bind_pose(rig: &Rig) -> Option<Vec<Local>> {
    let skeleton = rig.skeleton();
    let own = rest(skeleton);
    let models = compose(skeleton, &own);
    let mut skins: Vec<(usize, &Skin)> = rig.file_skins().iter().enumerate().collect();
    // The body's comes before those of what it wears.
    skins.sort_by_key(|(_, skin)| std::cmp::Reverse(skin.joints().len()));
    let mut bound: Vec<Option<DAffine3>> = vec![None; skeleton.len()];
    for (index, skin) in skins {
        let matrices = skin.inverse_bind().iter();
        let binds = skin.joints().iter().zip(matrices).map(|(&joint, matrix)| {
            let [x, y, z] = matrix.rows.map(|row| row.map(f64::from));
            let rows = DMat3::from_cols_array_2d(&[
                [x[0], x[1], x[2]],
                [y[0], y[1], y[2]],
                [z[0], z[1], z[2]],
            ]);
            let place = DVec3::new(x[3], y[3], z[3]);
            let inverse = DAffine3::from_mat3_translation(rows.transpose(), place);
            (usize::from(joint), inverse.inverse())
        });
        let binds: Vec<_> = binds.filter(|(_, bind)| bind.is_finite()).collect();
        // Parents come first.
        let Some(&(top, bind)) = binds.iter().min_by_key(|b| b.0) else {
            continue;
        };
        let space = space(rig, index, models[top], bind);
        for (joint, bind) in binds.into_iter().filter(|_| space.is_finite()) {
            bound[joint].get_or_insert(space * bind);
        }
    }
    bound.iter().any(Option::is_some).then(|| {
        let mut models: Vec<DAffine3> = Vec::with_capacity(own.len());
        let mut locals = own;
        for (joint, local) in locals.iter_mut().enumerate() {
            let above = match skeleton.parents()[joint] {
                NO_JOINT => DAffine3::IDENTITY,
                parent => models[usize::from(parent)],
            };
            let there = bound[joint].map(|model| above.inverse() * model);
            if let Some(there) = there.filter(|t| t.is_finite() && size(*t) > 0.0) {
                let (scale, rotation, translation) = there.to_scale_rotation_translation();
                *local = Local {
                    translation,
                    rotation: super::motion::unit(rotation),
                    scale,
                };
            }
            models.push(above * local.to_affine());
        }
        locals
    })
}

/// From the space of a skin's meshes to model space: as their node stands, or as they are, or, if the skin's topmost joint
/// would be turned or scaled far from its rest pose there, by the quarter turns that bring it near to that.
fn space(rig: &Rig, skin: usize, rest: DAffine3, bind: DAffine3) -> DAffine3 {
    let exact = rest * bind.inverse();
    let meshes = rig.meshes().iter().filter(|mesh| mesh.skin == skin);
    let nodes = meshes.take(1).map(|mesh| {
        let nodes = rig.nodes();
        let up = std::iter::successors(Some(mesh.node), |&node| nodes[node].parent);
        let locals = up.map(|node| Local::from(nodes[node].local).to_affine());
        locals.fold(DAffine3::IDENTITY, |below, local| local * below)
    });
    let near = |space: &DAffine3| {
        let rest = size(exact);
        let turn = rotation(exact).conjugate() * rotation(*space);
        let alike = (size(*space) / rest).cbrt() - 1.0;
        alike.abs() <= SAME && turn.angle_between(DQuat::IDENTITY) < TURNED
    };
    let mut spaces = nodes.chain([DAffine3::IDENTITY]);
    spaces.find(near).unwrap_or_else(|| {
        let axis = |v: DVec3| axes().find(|axis| axis.dot(v) > TURNED.cos());
        let turn = rotation(exact);
        let turned = [turn * DVec3::X, turn * DVec3::Y].map(axis);
        let [Some(x), Some(y)] = turned else {
            return exact;
        };
        let turn = DMat3::from_cols(x, y, x.cross(y)) * size(exact).cbrt();
        let place = rest.translation - turn * bind.translation;
        DAffine3::from_mat3_translation(turn, place)
    })
}

fn size(space: DAffine3) -> f64 {
    space.matrix3.determinant().abs()
}

fn rotation(space: DAffine3) -> DQuat {
    match size(space) > 0.0 {
        true => super::motion::unit(space.to_scale_rotation_translation().1),
        false => DQuat::IDENTITY,
    }
}
