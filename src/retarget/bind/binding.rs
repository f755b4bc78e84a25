//! `Binding`: two skeletons and the routes between their joints; made once for all clips.

use super::locals::Locals;
use super::measured;
use super::names::{BindMatch, pairs};
use super::path::{Route, routes};
use super::report::BindReport;
use super::rests::{
    LEAST_SCALE, MOST_SCALE, compare, heights, lengths, roots, same_offset, scales, units,
};
use super::shown::{Shown, is_of};
use super::tracks;
use crate::build::clip_builder::{ClipBuilder, Target};
use crate::build::lengths::Lengths;
use crate::build::rig::model_size;
use crate::build::{BuildOptions, RESAMPLE_RATE, take_quaternions};
use crate::clip::{Clip, ClipKind};
use crate::raw::RawClip;
use crate::retarget::error::RetargetError;
use crate::retarget::scalars;
use crate::skeleton::{Pose, Skeleton};
use crate::words::{plural, shorten};

/// The source of translations of joints below the hips. The root's come from the clip, scaled.
///
/// A joint that the clip does not move has the target's rest pose in every mode. So has a joint whose keys all equal the
/// rest pose of the clip's own skeleton, since clips do not store those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TranslationMode {
    /// From the clip if the joint has the same offset from its parent in both rest poses, within 1e-4 of its length;
    /// otherwise from the rest pose of the target.
    #[default]
    SameOffset,
    /// From the rest pose of the target: bones keep their lengths.
    Skeleton,
    /// From the clip, unscaled.
    Animation,
    /// From the clip, scaled by the ratio of the joint's distances to its parent in both rest poses.
    AnimationScaled,
    /// From the rest pose of the target, moved as the clip moves the joint from its own rest pose.
    AnimationRelative,
}

/// Settings of a [`Binding`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BindOptions {
    /// Translations of joints other than the root. Default: from the clip where both have the same offset.
    pub translations: TranslationMode,
    /// The scale of the root's translations. Default: the ratio of the heights of the hips.
    pub root_scale: Option<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Carry {
    /// Dropped: the target keeps its rest pose.
    Rest,
    Scaled(f64),
    /// Scaled as differences to the source's rest pose, and added to the target's.
    Relative(f64),
}

/// A clip that was bound.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundClip {
    /// The clip, of the target's skeleton.
    pub clip: Clip,
    /// Number of joints whose translation, or that of joints folded into them, the clip animates but the target takes from
    /// its rest pose.
    pub translations_left: usize,
    /// The largest distance that the clip moves one of these joints from its rest, metres of model space.
    pub farthest_left: f64,
    /// Number of joints whose keys are samples, because several moving joints are folded into one.
    pub sampled: usize,
    /// The largest difference between these keys and the sampled motion, radians.
    pub sampled_rotation: f64,
    /// The largest difference of translations between these keys and the sampled motion, metres.
    pub sampled_translation: f64,
    /// The largest differences of a bound joint's rotation (radians), translation (metres) and scale from the original clip,
    /// measured at keys and between them.
    pub error: [f64; 3],
    /// Number of joints whose scales move. The scales are kept, relative to the rest pose.
    pub scales_kept: usize,
    /// Number of blocks that were resampled, as their key times are too many for an irregular timeline, and the largest
    /// difference of one of their numbers.
    pub resampled: (usize, f64),
    /// Number of folded joints whose scales move; these scales are lost.
    pub scales_left: usize,
    /// Names of the scalars that the target lacks.
    pub scalars_left: Vec<String>,
}

/// Two skeletons with joints of the same names, prepared to play clips of the first on the second.
///
/// Rotations in model space are the source's. A joint that the source lacks keeps its rest pose; the motion of a joint
/// that the target lacks is folded into the joints below it. If the target has several copies of the source, as outfits
/// are, each is driven. The translations of the root, down to the hips, are scaled by the ratio of hip heights.
/// Translations of other joints are kept if both rest poses have the same offset, and otherwise come from the target
/// ([`BindOptions`]).
/// Joints without names are bound by index if the hierarchies are equal. Skeletons that differ only in the order of their
/// joints are one skeleton: all keys are kept.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use phalanx::retarget::{BindOptions, Binding};
///
/// let hero = phalanx::import::mannequin()?;
/// let other = phalanx::import::mannequin()?;
/// let binding = Binding::new(other.skeleton(), hero.skeleton(), &BindOptions::default())?;
/// println!("{}", binding.report());
/// for clip in other.clips() {
///     let bound = binding.clip(clip)?;
///     assert!(bound.clip.fits(hero.skeleton()));
/// }
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct Binding {
    pub(super) source: Skeleton,
    pub(super) target: Skeleton,
    pub(super) routes: Vec<(Route, Carry)>,
    /// For each scalar of the source, the scalars of the target.
    scalars: Vec<Vec<usize>>,
    /// For each joint of the source and of the target, the scale of its frame in model space, at rest.
    pub(super) scales: [Vec<f64>; 2],
    /// Size of the target in model space; 1 if all of its joints are in one place.
    pub(super) size: f64,
    root_scale: f64,
    report: BindReport,
}

impl Binding {
    /// Finds the joints of the same names.
    ///
    /// # Errors
    /// If no name of a joint or a scalar is common and indices cannot bind them, the scale is not a positive number up to
    /// 10^6, or there are more than 2^20 joints between bound ones.
    pub fn new(
        source: &Skeleton,
        target: &Skeleton,
        options: &BindOptions,
    ) -> Result<Self, RetargetError> {
        if let Some(value) = options.root_scale
            && !(LEAST_SCALE..=MOST_SCALE).contains(&value)
        {
            return Err(RetargetError::Option {
                option: "root_scale",
                value: value.into(),
                allowed: "1e-6 to 1e6",
            });
        }
        let mut report = BindReport::default();
        let pairs = pairs(source, target, &mut report.ambiguous);
        let routes = routes(source, target, &pairs)?;
        let scalars = scalars::by_name_or_index(source, target);
        report.scalars_by_index = scalars.1;
        if routes.is_empty() && scalars.0.iter().all(Vec::is_empty) {
            return Err(nothing((source, target), &report.ambiguous));
        }
        let mut used = vec![false; source.len()];
        for (joint, pair) in pairs.iter().enumerate() {
            match *pair {
                Some((source, how)) => {
                    used[usize::from(source)] = true;
                    report.bound.push((source, joint as u16));
                    match how {
                        BindMatch::Exact => {}
                        BindMatch::WithoutPrefix => report.without_prefix += 1,
                        BindMatch::WithoutCase => report.without_case += 1,
                        BindMatch::Index => report.by_index += 1,
                    }
                }
                None => report.target_left.push(target.names()[joint].clone()),
            }
        }
        let left = source.names().iter().zip(&used).filter(|(_, used)| !**used);
        report.source_left = left.map(|(name, _)| name.clone()).collect();
        let (roots, hips) = roots(source, target, &routes);
        let ratio = match heights(source, target, &routes, hips) {
            Some((heights, by_lengths)) => {
                report.hips = Some(target.names()[usize::from(routes[hips].target)].clone());
                (report.hip_heights, report.hips_by_lengths) = (heights, by_lengths);
                heights[1] / heights[0]
            }
            None => 1.0,
        };
        let root_scale = options.root_scale.map_or(ratio, f64::from);
        report.root_scale = root_scale;
        let scales = [scales(source), scales(target)];
        compare((source, target), &routes, &scales, &mut report);
        let units = units(&routes, &scales);
        let carried = routes.into_iter().zip(roots).zip(units);
        let carried = carried.map(|((route, root), unit)| {
            let carry = match options.translations {
                _ if root => Carry::Scaled(root_scale * unit),
                TranslationMode::SameOffset if same_offset(source, target, &route, unit) => {
                    Carry::Scaled(unit)
                }
                TranslationMode::SameOffset | TranslationMode::Skeleton => Carry::Rest,
                TranslationMode::Animation => Carry::Scaled(unit),
                TranslationMode::AnimationScaled => {
                    Carry::Scaled(lengths(source, target, &route, unit))
                }
                TranslationMode::AnimationRelative => Carry::Relative(unit),
            };
            (route, carry)
        });
        Ok(Self {
            routes: carried.collect(),
            scalars: scalars.0,
            source: source.clone(),
            target: target.clone(),
            scales,
            size: Some(model_size(target)).filter(|s| *s > 0.0).unwrap_or(1.0),
            root_scale,
            report,
        })
    }

    /// The bound joints, and what was left.
    pub fn report(&self) -> &BindReport {
        &self.report
    }

    /// Binds a clip of the source's skeleton, in any order of lanes and joints. Name, duration, kind and markers are kept. If
    /// nothing is folded into a joint, its keys and their interpolation are kept, unless the key times of joints in one block
    /// are too many for an irregular timeline: they are then resampled, and the result says so.
    ///
    /// # Errors
    /// If the clip is of another skeleton, folding needs more samples than allowed, or the resulting clip exceeds a limit.
    pub fn clip(&self, clip: &Clip) -> Result<BoundClip, RetargetError> {
        let (source, target) = (&self.source, &self.target);
        let shown = Shown::new(clip, source)?;
        let mut raw = shown.tracks();
        let additive = clip.kind() == ClipKind::Additive;
        // The difference of two quaternions is not the difference of their numbers.
        let mut channels = match additive {
            true => take_quaternions(&mut raw, source, clip.kind()),
            false => Vec::new(),
        };
        let mut user_tracks = std::mem::take(&mut raw.user_tracks);
        let mut scalars_left = scalars::channels(&mut channels, &mut user_tracks, target);
        let pairs = || self.scalars.clone();
        let (scalar_tracks, more) = scalars::tracks(&raw, [source, target], pairs);
        scalars_left.extend(more);
        let locals = Locals::new(source, &shown, &raw);
        let mut made = tracks::tracks(self, &locals)?;
        let mut out = RawClip {
            name: raw.name.clone(),
            duration: raw.duration,
            tracks: std::mem::take(&mut made.tracks),
            user_tracks,
            markers: raw.markers.clone(),
            ..RawClip::default()
        };
        out.tracks.extend(scalar_tracks);
        // The tracks of an additive clip hold differences already: subtract the neutral pose.
        let neutral = additive.then(|| neutral_pose(target));
        let builder = ClipBuilder {
            skeleton: target,
            targets: &Target::of_joints(target),
            lengths: &Lengths::of_joints(target, &out, additive),
            max_bytes: BuildOptions::default().max_clip_bytes,
            channels: &channels,
        };
        let motion = clip.root_motion().map(|motion| {
            let mut parts = motion.parts().clone();
            let joint = shown.joint_of_source(parts.joint);
            let own = self.routes.iter().find(|(r, _)| r.source == joint);
            // The motion is in model space: the joint only says where it was taken from.
            parts.joint = own.or(self.routes.first()).map_or(0, |(r, _)| r.target);
            for v in parts.translations.iter_mut().flatten() {
                *v = (f64::from(*v) * self.root_scale) as f32;
            }
            parts
        });
        let built = builder.build_reporting(&out, neutral.as_ref(), motion, RESAMPLE_RATE)?;
        let (clip, grids) = built;
        let worst = grids.iter().map(|g| g.error).fold(0.0, f64::max);
        let resampled = (grids.len(), worst);
        Ok(BoundClip {
            error: measured::error(self, &locals, &out.tracks, &clip),
            clip,
            translations_left: made.translations_left,
            farthest_left: made.farthest_left,
            sampled: made.sampled,
            sampled_rotation: made.sampled_rotation,
            sampled_translation: made.sampled_translation,
            scales_kept: made.scales_kept,
            resampled,
            scales_left: made.scales_left,
            scalars_left,
        })
    }

    /// Measures a bound clip: the largest distance in model space of points around joints from their positions in the
    /// original clip, in metres, at the key times of both clips and at two times between them. `from` is a clip of the source, `to` the
    /// bound and perhaps baked clip of the target. The points are the joint itself and three at `shell` metres from it in its
    /// rest pose. Additive clips are measured on top of the rest pose. Evaluated in f64. If clips need more than 2^26 local
    /// transforms, only evenly spread intervals are compared.
    ///
    /// Translations that binding takes from the target's rest pose do not count as errors.
    ///
    /// # Errors
    /// If a clip is of another skeleton, or `to` has its joints in another order.
    pub fn measure(&self, from: &Clip, to: &Clip, shell: f32) -> Result<f64, RetargetError> {
        let shown = Shown::new(from, &self.source)?;
        is_of(to, &self.target)?;
        let raw = shown.tracks();
        let locals = Locals::new(&self.source, &shown, &raw);
        Ok(measured::distance(self, &locals, (from, to), shell.into()))
    }
}

/// A pose whose subtraction changes nothing.
fn neutral_pose(skeleton: &Skeleton) -> Pose {
    let rest = skeleton.rest_pose();
    let mut pose = Pose::identity(skeleton.len(), skeleton.scalars().len());
    pose.quaternions.clone_from(&rest.quaternions);
    pose
}

/// The reason why nothing of two skeletons can be bound.
fn nothing((source, target): (&Skeleton, &Skeleton), ambiguous: &[String]) -> RetargetError {
    let first = |s: &Skeleton| shorten(s.names().first().map_or("", String::as_str));
    let joints = |s: &Skeleton| plural(s.len() as u64, "joint");
    let nameless = |s: &Skeleton| !s.is_empty() && s.names().iter().all(String::is_empty);
    if let Some(name) = ambiguous.first() {
        return RetargetError::Ambiguous { name: name.clone(), names: ambiguous.len() };
    }
    let reason = if source.is_empty() || target.is_empty() {
        let weights = |s: &Skeleton| plural(s.scalars().len() as u64, "weight");
        format!(
            "nothing can be bound: no joint and no morph weight of the clips' skeleton ({}, the first \"{}\") has the \
             name of one of the target's ({}), and by index they are bound where each has one node with morph weights, of \
             as many",
            weights(source),
            shorten(source.scalars().first().map_or("", |s| s.name.as_str())),
            weights(target)
        )
    } else if nameless(source) || nameless(target) {
        let of = if nameless(source) { "the clips' skeleton" } else { "the target" };
        let mut parents = source.parents().iter().zip(target.parents());
        let differs = parents.position(|(a, b)| a != b);
        let differs = differs.filter(|_| source.len() == target.len());
        let differs = differs.map(|joint| format!(": joint {joint} has another joint above it"));
        format!(
            "no joint can be bound: {of} has no names ({} in the clips' skeleton, {} in the target), and without names \
             joints are bound by index, which needs equal hierarchies{}",
            joints(source),
            joints(target),
            differs.unwrap_or_default()
        )
    } else {
        format!(
            "no joint of the clips' skeleton ({}, the first \"{}\") has the name of a joint of the target ({}, the first \
             \"{}\")",
            joints(source),
            first(source),
            joints(target),
            first(target)
        )
    };
    RetargetError::NothingInCommon { reason }
}
