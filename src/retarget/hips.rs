//! The way of the hips: scaled by the ratio of heights.

use super::body::Body;
use super::error::RetargetError;
use super::humanoid::HumanBone;
use super::motion::{Motion, Property, all_step, union};
use super::options::Ground;
use super::space::Space;
use super::track::{BETWEEN, HALVINGS, Keys, constant, mapped_with, middle_gap, sampled};
use super::work::Work;
use crate::clip::{RootMotion, RootMotionParts};
use crate::skeleton::NO_JOINT;
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Bounds of the ratio of heights: a model in millimetres on one in kilometres.
pub(super) const RATIOS: [f64; 2] = [1e-6, 1e6];

/// Hips nearer to the origin than this share of their height are in the origin.
const IN_ORIGIN: f64 = 0.1;

/// A clip lifts hips that are in the origin if they are on average higher than this share of their height.
const LIFTED: f64 = 0.5;

/// Times at which the height of hips is looked at.
const LOOKS: usize = 64;

/// The target's hips from those of the source.
pub(super) struct Hips<'a> {
    source: &'a Body,
    target: &'a Body,
    space: &'a Space,
    /// Height of the target's hips by that of the source's.
    pub ratio: f64,
    joint: usize,
    pub target_joint: usize,
    /// Of the joint above the target's hips.
    above: DAffine3,
    below: DAffine3,
}

impl<'a> Hips<'a> {
    pub fn new(
        source: &'a Body,
        target: &'a Body,
        space: &'a Space,
    ) -> Result<Self, RetargetError> {
        // Every map has hips.
        let joint = source.map.joint(HumanBone::Hips).unwrap_or(0);
        let target_joint = target.map.joint(HumanBone::Hips).unwrap_or(0);
        let ratio = target.height / source.height;
        let [least, most] = RATIOS;
        let sound = source.height > 0.0 && (least..=most).contains(&ratio);
        if !sound {
            return Err(RetargetError::Height {
                source_height: source.height,
                target_height: target.height,
                least,
                most,
            });
        }
        let above = match target.skeleton.parents()[target_joint] {
            NO_JOINT => DAffine3::IDENTITY,
            p => target.models[usize::from(p)],
        };
        let below = above.inverse();
        if !below.is_finite() {
            return Err(RetargetError::Singular {
                joint: target_joint,
                name: target.skeleton.names()[target_joint].clone(),
                product: above.matrix3.determinant().abs(),
            });
        }
        Ok(Self {
            source,
            target,
            space,
            ratio,
            joint,
            target_joint,
            above,
            below,
        })
    }

    /// The joint of the source's hips.
    pub fn joint(&self) -> usize {
        self.joint
    }

    /// From the source's model space to the target's, for distances.
    fn scaled(&self) -> DMat3 {
        self.space.matrix() * self.ratio
    }

    /// The target's place, in the space of the joint above, of a place of the source's hips.
    fn place(&self, hips: DVec3, ground: Ground) -> DVec3 {
        let (from, to) = (
            self.source.position(self.joint),
            self.target.position(self.target_joint),
        );
        let mut place = to + self.scaled() * (hips - from);
        if ground == Ground::Origin {
            let up = self.target.up();
            let height = self.target.ground + self.ratio * from.dot(self.source.up());
            place += up * (height - to.dot(up));
        }
        self.below.transform_point3(place)
    }

    /// Decides where the source stands.
    pub fn ground(&self, motion: &Motion<'_>, wanted: Ground, duration: f32) -> Ground {
        if wanted != Ground::Auto {
            return wanted;
        }
        let up = self.source.up();
        let rest = self.source.position(self.joint).dot(up);
        let height = self.source.height;
        let looks = (0..LOOKS).map(|i| duration * (i as f32 / LOOKS as f32));
        let heights = looks.map(|t| motion.model(self.joint, t).translation.dot(up));
        let mean = heights.sum::<f64>() / LOOKS as f64;
        match rest.abs() <= IN_ORIGIN * height && mean >= LIFTED * height {
            true => Ground::Origin,
            false => Ground::Reference,
        }
    }

    /// The keys of the target's hips, and their largest deviation between keys, in the target's model space.
    pub fn keys(
        &self,
        motion: &Motion<'_>,
        ground: Ground,
        work: &mut Work,
    ) -> Result<(Keys, f64), RetargetError> {
        let path = motion.path(self.joint);
        let properties = |&joint: &usize| {
            // The hips' own rotation and scale do not move them.
            let all = Property::ALL.into_iter();
            all.filter(move |p| joint != self.joint || *p == Property::Translation)
                .map(move |p| (joint, p))
        };
        let moving: Vec<(usize, Property)> = path
            .iter()
            .flat_map(properties)
            .filter(|&(j, p)| motion.curve(j, p).is_some())
            .collect();
        // Neighbours that stand still are one factor.
        let mut factors: Vec<(Option<usize>, DAffine3)> = Vec::new();
        for &joint in &path {
            let own = motion.local(joint, 0.0).to_affine();
            let moves = moving.iter().any(|m| m.0 == joint);
            match factors.last_mut() {
                _ if moves => factors.push((Some(joint), own)),
                Some((None, product)) => *product *= own,
                _ => factors.push((None, own)),
            }
        }
        let at = |time: f32| {
            let model =
                factors
                    .iter()
                    .fold(DAffine3::IDENTITY, |all, (joint, still)| match joint {
                        Some(joint) => all * motion.local(*joint, time).to_affine(),
                        None => all * *still,
                    });
            self.place(model.translation, ground).to_array()
        };
        Ok(match moving.as_slice() {
            [] => (constant(at(0.0)), 0.0),
            [(joint, Property::Translation)] => {
                let Some(curve) = motion.curve(*joint, Property::Translation) else {
                    return Ok((constant(at(0.0)), 0.0));
                };
                let over = path.iter().rev().skip_while(|j| *j != joint).nth(1);
                let over = over.map_or(DAffine3::IDENTITY, |&j| motion.model(j, 0.0));
                // What stands between the moving joint and the hips.
                let own = motion.model(*joint, 0.0).inverse() * motion.model(self.joint, 0.0);
                let own = motion.local(*joint, 0.0).to_affine().matrix3 * own.translation;
                let vector = |v: &[f64]| DVec3::from_slice(v);
                let value = |v: &[f64]| {
                    let hips = over.transform_point3(vector(v) + own);
                    self.place(hips, ground).to_array().to_vec()
                };
                let linear = self.below.matrix3 * self.scaled() * over.matrix3;
                let tangent = |v: &[f64]| (linear * vector(v)).to_array().to_vec();
                (mapped_with(curve, value, tangent), 0.0)
            }
            moving => {
                let curves = || moving.iter().filter_map(|&(j, p)| motion.curve(j, p));
                let gap = |a: &[f64; 3], b: &[f64; 3], exact: &[f64; 3]| {
                    let size = self.above.matrix3.determinant().abs().cbrt();
                    middle_gap(a, b, exact) * size
                };
                let tolerance = BETWEEN * self.target.height;
                let times = union(curves());
                work.take(times.len() << HALVINGS, moving.len())?;
                let accuracy = (tolerance, work.refine);
                sampled(times, all_step(curves()), accuracy, &at, &gap)
            }
        })
    }

    /// Root motion of the source, scaled, for the target's hips.
    pub fn root_motion(&self, motion: &RootMotion) -> RootMotionParts {
        let parts = motion.parts();
        let moves = parts.translations.iter().map(|t| {
            let t = DVec3::from_array(t.map(f64::from));
            (self.scaled() * t).to_array().map(|v| v as f32)
        });
        let turns = parts.rotations.iter().map(|q| {
            let q = super::motion::unit(DQuat::from_array(q.map(f64::from)));
            self.space.rotation(q).to_array().map(|v| v as f32)
        });
        RootMotionParts {
            joint: self.target_joint as u16,
            times: parts.times.clone(),
            translations: moves.collect(),
            rotations: turns.collect(),
        }
    }
}
