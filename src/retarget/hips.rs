//! The motion of the hips, scaled by the ratio of heights.

use super::body::Body;
use super::error::RetargetError;
use super::looks::Looks;
use super::motion::{CHANNELS, Motion};
use super::options::Ground;
use super::pose::{Chain, parent, path, steps, unit};
use super::sampler::evaluations;
use super::space::Space;
use super::track::{Keys, constant, mapped_vectors};
use super::work::{BETWEEN, Work};
use crate::build::curve::Curve;
use crate::clip::{Channel, RootMotion, RootMotionParts};
use glam::{DAffine3, DMat3, DQuat, DVec3};

/// Bounds of the ratio of heights: a model in millimetres on one in kilometres.
const RATIOS: [f64; 2] = [1e-6, 1e6];

/// Largest difference of the soles' height between a rest pose on the origin and the clip, as a share of the hips' height:
/// of toes, and of ankles, which rise with the heel.
const SOLES: [f64; 2] = [0.02, 0.1];

/// Number of leg lengths: hips that are nearer to the ground in the source must be so in the target.
const FAR: f64 = 3.0;

/// The map from the source's hips to the target's.
pub(super) struct Hips<'a> {
    source: &'a Body,
    target: &'a Body,
    space: &'a Space,
    /// Whether both are one body in one reference pose.
    one_body: bool,
    pub heights: [f64; 2],
    /// Height of the target's hips divided by the height of the source's hips.
    pub ratio: f64,
    /// Joints of the hips of source and target.
    pub joint: usize,
    pub target_joint: usize,
    /// Model transform of the joint above the target's hips.
    above: DAffine3,
    below: DAffine3,
    /// Heights of the ground in source and target, along their up directions.
    grounds: [f64; 2],
}

impl<'a> Hips<'a> {
    pub fn new(
        source: &'a Body,
        target: &'a Body,
        space: &'a Space,
        one_body: bool,
    ) -> Result<Self, RetargetError> {
        let (joint, target_joint) = (source.hips(), target.hips());
        let ratio = target.height / source.height;
        let [least, most] = RATIOS;
        let sound = source.height > 0.0 && (least..=most).contains(&ratio);
        let above = target.model_above(target_joint);
        let below = above.inverse();
        if !below.is_finite() || !sound {
            flat(target, target_joint, "target")?;
        }
        if !sound {
            flat(source, joint, "source")?;
            return Err(RetargetError::Height {
                source_height: source.height,
                target_height: target.height,
                least,
                most,
            });
        }
        if !below.is_finite() {
            return Err(singular(target, target_joint, "target"));
        }
        Ok(Self {
            source,
            target,
            space,
            one_body,
            heights: [source.height, target.height],
            ratio,
            joint,
            target_joint,
            above,
            below,
            grounds: [0.0; 2],
        })
    }

    /// The map of distances from the source's model space to the target's.
    fn scaled(&self) -> DMat3 {
        self.space.matrix() * self.ratio
    }

    /// The target's translation, relative to the joint above, for a position of the source's hips.
    fn place(&self, hips: DVec3) -> DVec3 {
        let (from, to) =
            (self.source.position(self.joint), self.target.position(self.target_joint));
        let (own, up) = (from.dot(self.source.up()), self.target.up());
        let [ground, there] = self.grounds;
        let height = there + self.ratio * (own - ground);
        let place = to + self.scaled() * (hips - from) + up * (height - to.dot(up));
        self.below.transform_point3(place)
    }

    /// Determines the ground on which the source stands, and returns it.
    pub fn stand(&mut self, looks: &Looks, wanted: Ground) -> Ground {
        let (source, target) = (self.source, self.target);
        let soles = looks.soles(source.height);
        // The source's rest pose may be sunk or lifted relative to the ground of its clip.
        let sole = if source.on_toes { SOLES[0] } else { SOLES[1] };
        let apart = |soles: f64| (soles - source.low[0]).abs() > sole * source.height;
        let stands = source.stands && (self.one_body || !soles.is_some_and(apart));
        if !stands && source.stands && target.stands {
            self.heights = [source, target].map(|body| body.height - body.low[0]);
            self.ratio = self.heights[1] / self.heights[0];
        }
        // The source's legs may be straight in the clip and spread in the pose.
        let low = looks.low();
        let [own, straight] = source.low;
        let nearer = (low - straight).abs() < (low - own).abs();
        let own = if nearer { straight } else { own };
        let ground = match wanted {
            Ground::Auto if !stands && !self.one_body && looks.on_origin(own, source.height) => {
                Ground::Origin
            }
            Ground::Auto => Ground::Reference,
            given => given,
        };
        let there = target.low[0];
        self.grounds = match ground {
            _ if stands && target.stands => [0.0; 2],
            Ground::Origin if !stands => match target.stands {
                // Thinner soles must not make feet sink.
                true => {
                    let soles = soles.map(|soles| there - self.ratio * soles.max(0.0));
                    [0.0, soles.map_or(0.0, |lift| lift.max(0.0))]
                }
                false => [soles.unwrap_or(0.0).max(0.0), there],
            },
            _ if stands => [source.low[0], there],
            _ => [own, there],
        };
        ground
    }

    /// Fails if the target's hips are farther from the ground than [`FAR`] although the source's are not.
    pub fn check(&self, looks: &Looks, clip: &str) -> Result<(), RetargetError> {
        let legs = [self.source, self.target].map(|body| body.stance(&body.models).leg());
        let [Some(leg), Some(there)] = legs else { return Ok(()) };
        for look in looks.iter() {
            let height = look.hips - self.grounds[0];
            let [own, result] = [height / leg, height * self.ratio / there];
            if own.abs() <= FAR && result.abs() > FAR {
                return Err(RetargetError::Far {
                    clip: clip.to_owned(),
                    time: look.time,
                    source_height: own,
                    target_height: result,
                });
            }
        }
        Ok(())
    }

    /// The keys of the target's hips, and their largest deviation between keys, in the target's model space.
    pub fn keys(&self, motion: &Motion<'_>, work: &mut Work) -> Result<(Keys, f64), RetargetError> {
        // The hips' own rotation and scale do not move them.
        let counts = |&(j, c): &(usize, Channel)| {
            (j != self.joint || c == Channel::Translation) && motion.curve(j, c).is_some()
        };
        let way = steps(motion.skeleton, None, self.joint as u16, usize::MAX).unwrap_or_default();
        let all = way.iter().flat_map(|step| CHANNELS.map(|c| (usize::from(step.joint), c)));
        let moving: Vec<(usize, Channel)> = all.filter(counts).collect();
        let curves = moving.iter().filter_map(|&(j, c)| motion.curve(j, c));
        let curves: Vec<&Curve> = curves.collect();
        work.take(evaluations(&curves), moving.len())?;
        let local = |joint: u16, time: f32| motion.local(joint.into(), time).to_affine();
        let moves = |joint: u16| CHANNELS.iter().any(|&c| counts(&(joint.into(), c)));
        let chain = Chain::new(&way, moves, |joint| local(joint, 0.0));
        let at = |time: f32| self.place(chain.at(|joint| local(joint, time)).translation);
        Ok(match (&curves[..], &moving[..]) {
            ([], _) => (constant(at(0.0).to_array()), 0.0),
            ([curve], [(joint, Channel::Translation)]) => (self.moved(motion, *joint, curve), 0.0),
            _ => {
                // A length in the frame of the joint above is this much longer in model space.
                let size = self.above.matrix3.determinant().abs().cbrt();
                let tolerance = BETWEEN * self.target.height / size;
                let (keys, left) = work.sample(&curves, moving.len(), tolerance, at);
                (keys, left * size)
            }
        })
    }

    /// The keys if only the translation of one joint moves the hips.
    fn moved(&self, motion: &Motion<'_>, joint: usize, curve: &Curve) -> Keys {
        let over = parent(motion.skeleton, joint);
        let over = over.map_or(DAffine3::IDENTITY, |j| motion.model(j, 0.0));
        // The constant transform between the moving joint and the hips.
        let own = motion.model(joint, 0.0).inverse() * motion.model(self.joint, 0.0);
        let own = motion.local(joint, 0.0).to_affine().matrix3 * own.translation;
        let linear = self.below.matrix3 * self.scaled() * over.matrix3;
        mapped_vectors(curve, |v| self.place(over.transform_point3(v + own)), |v| linear * v)
    }

    /// Root motion of the source, scaled, for the target's hips.
    pub fn root_motion(&self, motion: &RootMotion) -> RootMotionParts {
        let parts = motion.parts();
        let moves = parts.translations.iter().map(|t| {
            let t = DVec3::from_array(t.map(f64::from));
            (self.scaled() * t).to_array().map(|v| v as f32)
        });
        let turns = parts.rotations.iter().map(|q| {
            let q = unit(DQuat::from_array(q.map(f64::from)));
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

/// Fails if a joint down to the hips has a scale of zero.
fn flat(body: &Body, hips: usize, side: &'static str) -> Result<(), RetargetError> {
    let zero = path(&body.skeleton, hips).into_iter().any(|j| size(body, j) == 0.0);
    if zero { Err(singular(body, hips, side)) } else { Ok(()) }
}

fn size(body: &Body, joint: usize) -> f64 {
    body.locals[joint].scale.element_product().abs()
}

/// The error of the joint down to the hips whose scales have the least product.
fn singular(body: &Body, hips: usize, side: &'static str) -> RetargetError {
    let least = |a: &usize, b: &usize| size(body, *a).total_cmp(&size(body, *b));
    let joint = path(&body.skeleton, hips).into_iter().min_by(least).unwrap_or(hips);
    body.scale_error(joint, side, "; the hips and what is below them have no place")
}
