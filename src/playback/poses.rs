//! Poses that hosts give whole, such as the result of a ragdoll: how they are converted and stored.

mod store;

pub(crate) use store::Poses;

use crate::evaluate::POSE_ROWS;
use crate::math::{LANES, Row};
use crate::skeleton::limits::{MAX_OVERRIDE_LENGTH, check_chain};
use crate::skeleton::{NO_JOINT, Skeleton, Trs};
use crate::words::shorten;
use glam::{DAffine3, DQuat, DVec3, Mat4, Vec3, Vec4};

use super::error::PlaybackError;

/// The space of the transforms of a pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PoseSpace {
    /// Relative to the parent joint.
    Local,
    /// Model space of the instance.
    Model,
    /// World space, by the instance's world transform at the time of the call.
    World,
}

/// The largest product, down a chain of joints, of the scales of a pose over those of the rest pose. Each joint counts
/// with at least 1, and a scale of the rest pose with at least 1.
const MAX_POSE_SCALE: f64 = 100.0;

/// The shortest rotation that has a direction.
const LEAST_ROTATION: f32 = 1e-6;

/// A pose as a host gives it.
#[derive(Clone, Copy)]
pub(crate) struct HostPose<'a> {
    pub skeleton: &'a Skeleton,
    /// A transform for every joint.
    pub joints: &'a [Trs],
    pub space: PoseSpace,
    /// The inverse of the instance's world transform, for poses in world space.
    pub to_model: DAffine3,
}

impl HostPose<'_> {
    /// Writes the local transforms by lane: for every 16 lanes their translations, rotations of length 1, and scales.
    /// Lanes without a joint have the identity. Returns whether all scales are 1.
    ///
    /// # Errors
    /// If a number is not finite or beyond its limit; the rows have any contents then.
    pub fn write(&self, rows: &mut [Row]) -> Result<bool, PlaybackError> {
        let (blocks, _) = rows.as_chunks_mut::<POSE_ROWS>();
        let (lanes, _) = self.skeleton.joint_of().as_chunks::<LANES>();
        let (mut product, mut even) = (1.0f32, true);
        for (rows, of_lane) in blocks.iter_mut().zip(lanes) {
            let checked = match self.space {
                PoseSpace::Local => {
                    let given = |joint| self.joints.get(usize::from(joint));
                    spread(rows, of_lane, |joint| *given(joint).unwrap_or(&Trs::IDENTITY))
                }
                _ => spread(rows, of_lane, |joint| match joint {
                    NO_JOINT => Trs::IDENTITY,
                    joint => self.local(joint.into()),
                }),
            };
            if !checked.within {
                return Err(self.refuse(of_lane));
            }
            if !checked.even {
                even = false;
                for (lane, &joint) in of_lane.iter().enumerate() {
                    let scale = rows[7..].iter().map(|r| r.0[lane].abs()).fold(0.0, f32::max);
                    if scale > 1.0 {
                        product *= self.wider(joint.into(), scale);
                    }
                }
            }
        }
        // Chains are walked only if the product over all joints can exceed the limit.
        if f64::from(product) > MAX_POSE_SCALE {
            self.check_scales(rows)?;
        }
        Ok(even)
    }

    /// The local transform of a joint. Its rotation has the length that was given.
    #[inline]
    fn local(&self, joint: usize) -> Trs {
        let given = &self.joints[joint];
        match self.space {
            PoseSpace::Local => *given,
            _ => match self.joints.get(usize::from(self.skeleton.parents()[joint])) {
                Some(parent) => relative(parent, given),
                None => self.root(given),
            },
        }
    }

    /// The error for the first of some joints whose numbers are not within the limits.
    #[cold]
    fn refuse(&self, joints: &[u16]) -> PlaybackError {
        let within = |&joint: &usize| {
            let mut one = [Row::default(); POSE_ROWS];
            spread(&mut one, &[0; LANES], |_| self.local(joint)).within
        };
        let joints = joints.iter().filter(|joint| **joint != NO_JOINT).map(|&joint| joint.into());
        let first = joints.clone().find(|joint| !within(joint)).or(joints.clone().next());
        let joint = first.unwrap_or_default();
        self.refused(joint, &self.local(joint))
    }

    /// The transform in model space of a root.
    fn root(&self, given: &Trs) -> Trs {
        if self.space != PoseSpace::World {
            return *given;
        }
        let (t, r, s) = (given.translation, given.rotation.as_dquat().normalize(), given.scale);
        narrow(s.as_dvec3(), |s| {
            self.to_model * DAffine3::from_scale_rotation_translation(s, r, t.as_dvec3())
        })
    }

    /// The largest number of a joint's scale over that of the rest pose, each counted with at least 1.
    fn wider(&self, joint: usize, scale: f32) -> f32 {
        (scale / self.skeleton.rest(joint).scale.abs().max_element().max(1.0)).max(1.0)
    }

    #[cold]
    fn check_scales(&self, rows: &[Row]) -> Result<(), PlaybackError> {
        let Self { skeleton, .. } = self;
        let factor = |joint: usize| {
            let lane = usize::from(skeleton.lane_of()[joint]);
            let scale = &rows[lane / LANES * POSE_ROWS + 7..][..3];
            let scale = scale.iter().map(|row| row.0[lane % LANES].abs()).fold(0.0, f32::max);
            f64::from(self.wider(joint, scale))
        };
        let most = check_chain(skeleton.parents(), MAX_POSE_SCALE, factor);
        most.map(|_| ()).map_err(|(joint, value)| {
            let what = "with those of the joints above it, its scale over that of the rest pose";
            self.error(joint, what, value, MAX_POSE_SCALE)
        })
    }

    /// The error for a joint that has these local numbers.
    #[cold]
    fn refused(&self, joint: usize, local: &Trs) -> PlaybackError {
        // In other spaces numbers of a parent show in the joints below it.
        let finite = |joint: &Trs| joint.to_array().iter().all(|v| v.is_finite());
        let whole = |joint: &Trs| finite(joint) && joint.rotation.length() >= LEAST_ROTATION;
        let own = self.joints.iter().position(|joint| !whole(joint));
        let relative = match (own, self.space) {
            (Some(_), _) | (_, PoseSpace::Local) => "",
            _ if usize::from(self.skeleton.parents()[joint]) < self.joints.len() => {
                "relative to the joint above it, "
            }
            _ => "in model space, ",
        };
        let (joint, local) = own.map_or((joint, local), |own| (own, &self.joints[own]));
        let far = |v: Vec3| {
            let all = v.to_array();
            let nan = all.iter().find(|v| v.is_nan());
            f64::from(*nan.unwrap_or(&v.abs().max_element()))
        };
        let length = f64::from(MAX_OVERRIDE_LENGTH);
        let rotation = f64::from(self.joints[joint].rotation.length());
        if rotation.is_nan() || rotation < f64::from(LEAST_ROTATION) || rotation.is_infinite() {
            let least = f64::from(LEAST_ROTATION);
            let PlaybackError::Pose { joint, name, .. } = self.error(joint, "", 0.0, 0.0) else {
                unreachable!("errors of poses are of this kind")
            };
            let what = format!("its rotation has the length {rotation:e}, the least is {least:e}");
            return PlaybackError::Pose { joint, name, what };
        }
        let moved = far(local.translation);
        let (what, value, limit) = match moved <= length {
            true => ("its scale", far(local.scale), f32::MAX.into()),
            false => ("its translation", moved, length),
        };
        self.error(joint, &format!("{relative}{what}"), value, limit)
    }

    fn error(&self, joint: usize, what: &str, value: f64, limit: f64) -> PlaybackError {
        PlaybackError::Pose {
            joint,
            name: shorten(&self.skeleton.names()[joint]),
            what: format!("{what} is {value:e}, beyond the limit of {limit:e}"),
        }
    }
}

/// What [`spread`] finds.
struct Checked {
    /// Whether all numbers are within their limits.
    within: bool,
    /// Whether all scales are 1.
    even: bool,
}

/// Writes the transforms of 16 lanes, with rotations of unit length, and checks them: four lanes at a time, turned in
/// registers. The operations are the same for every instruction set, so that all give the same bits.
#[inline(always)]
fn spread(
    rows: &mut [Row; POSE_ROWS],
    joints: &[u16; LANES],
    local: impl Fn(u16) -> Trs,
) -> Checked {
    let (one, most) = (Vec4::ONE, Vec4::splat(MAX_OVERRIDE_LENGTH));
    let [least, finite] = [LEAST_ROTATION * LEAST_ROTATION, f32::MAX].map(Vec4::splat);
    let mut within = one.cmpeq(one);
    let mut even = within;
    let mut lane = 0;
    while lane < LANES {
        let mut q = [Vec4::ZERO; 4];
        let (mut a, mut b) = (q, q);
        let mut k = 0;
        while k < 4 {
            let Trs { translation: t, rotation, scale: s } = local(joints[lane + k]);
            q[k] = rotation.into();
            (a[k], b[k]) = (Vec4::new(t.x, t.y, t.z, s.x), Vec4::new(t.z, s.x, s.y, s.z));
            k += 1;
        }
        let [q, a, b] = [turned(q), turned(a), turned(b)];
        let [x, y, z, w] = q;
        let square = x * x + y * y + z * z + w * w;
        within &= square.cmpge(least) & square.cmple(finite);
        let [i, j, k, l] = square.to_array();
        let inverse = one / Vec4::new(i.sqrt(), j.sqrt(), k.sqrt(), l.sqrt());
        let ([tx, ty, tz, sx], [_, _, sy, sz]) = (a, b);
        within &= tx.abs().cmple(most) & ty.abs().cmple(most) & tz.abs().cmple(most);
        even &= sx.cmpeq(one) & sy.cmpeq(one) & sz.cmpeq(one);
        let all = [tx, ty, tz, x * inverse, y * inverse, z * inverse, w * inverse, sx, sy, sz];
        let mut row = 0;
        while row < POSE_ROWS {
            rows[row].0[lane..lane + 4].copy_from_slice(&all[row].to_array());
            row += 1;
        }
        lane += 4;
    }
    let even = even.all();
    let finite = || rows[7..].iter().flat_map(|row| &row.0).all(|v| v.is_finite());
    Checked { within: within.all() && (even || finite()), even }
}

/// The rows of a matrix of four columns.
#[inline(always)]
fn turned([a, b, c, d]: [Vec4; 4]) -> [Vec4; 4] {
    let m = Mat4::from_cols(a, b, c, d).transpose();
    [m.x_axis, m.y_axis, m.z_axis, m.w_axis]
}

/// A transform relative to another one of the same space.
fn relative(parent: &Trs, child: &Trs) -> Trs {
    let scale = parent.scale;
    if scale.x != scale.y || scale.y != scale.z {
        return relative_wide(parent, child);
    }
    let inverse = parent.rotation.normalize().conjugate();
    // The difference first: far from the origin products are rounded more.
    let translation = inverse * (child.translation - parent.translation) / scale.x;
    Trs { translation, rotation: inverse * child.rotation, scale: child.scale / scale.x }
}

/// [`relative`] to an uneven scale, which leaves shear; that is dropped.
fn relative_wide(parent: &Trs, child: &Trs) -> Trs {
    let inverse = parent.rotation.as_dquat().normalize().conjugate();
    let away = inverse * (child.translation.as_dvec3() - parent.translation.as_dvec3());
    let turn: DQuat = inverse * child.rotation.as_dquat().normalize();
    narrow(child.scale.as_dvec3(), |scale| {
        let child = DAffine3::from_scale_rotation_translation(scale, turn, away);
        DAffine3::from_scale(1.0 / parent.scale.as_dvec3()) * child
    })
}

/// Translation, rotation and scale of the transform `of` scales. An axis with a scale of 0 is where it is with 1.
fn narrow(scale: DVec3, of: impl FnOnce(DVec3) -> DAffine3) -> Trs {
    let flat = scale.cmpeq(DVec3::ZERO);
    let m = of(DVec3::select(flat, DVec3::ONE, scale));
    let (scale, rotation, translation) = m.to_scale_rotation_translation();
    let scale = DVec3::select(flat, DVec3::ZERO, scale);
    Trs { translation: translation.as_vec3(), rotation: rotation.as_quat(), scale: scale.as_vec3() }
}

/// Whether a stored pose is one of a skeleton: its numbers are within the limits.
pub(crate) fn fits(pose: &[Row], skeleton: &Skeleton) -> bool {
    let lane = |joint: usize| usize::from(skeleton.lane_of()[joint]);
    if pose.len() != skeleton.joint_of().len().div_ceil(LANES) * POSE_ROWS {
        return false;
    }
    let joints: Vec<Trs> = (0..skeleton.len())
        .map(|joint| {
            let rows = &pose[lane(joint) / LANES * POSE_ROWS..][..POSE_ROWS];
            let [tx, ty, tz, x, y, z, w, sx, sy, sz] =
                std::array::from_fn(|row| rows[row].0[lane(joint) % LANES]);
            Trs {
                translation: Vec3::new(tx, ty, tz),
                rotation: glam::Quat::from_xyzw(x, y, z, w),
                scale: Vec3::new(sx, sy, sz),
            }
        })
        .collect();
    let mut rows = vec![Row::default(); pose.len()];
    let of_length_1 = |joint: &Trs| (joint.rotation.length_squared() - 1.0).abs() < 1e-3;
    let to_model = DAffine3::IDENTITY;
    let given = HostPose { skeleton, joints: &joints, space: PoseSpace::Local, to_model };
    let padding = skeleton.joint_of().iter().enumerate().filter(|l| *l.1 == NO_JOINT);
    let identity = |lane: usize| {
        let rows = &pose[lane / LANES * POSE_ROWS..][..POSE_ROWS];
        rows.iter().zip(Trs::IDENTITY.to_array()).all(|(row, v)| row.0[lane % LANES] == v)
    };
    joints.iter().all(of_length_1)
        && padding.map(|l| l.0).all(identity)
        && given.write(&mut rows).is_ok()
}
