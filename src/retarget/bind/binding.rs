//! `Binding`: two skeletons and the routes between their joints; made once for all clips.

use super::measured;
use super::names::{BindMatch, is_hips, pairs};
use super::path::{Route, routes};
use super::report::BindReport;
use super::tracks::{self, Locals};
use crate::build::clip_builder::{ClipBuilder, Target};
use crate::build::lengths::Lengths;
use crate::build::rig::model_size;
use crate::build::{BuildOptions, RESAMPLE_RATE, raw_clip, take_quaternions};
use crate::clip::{Clip, ClipKind};
use crate::raw::RawClip;
use crate::retarget::error::RetargetError;
use crate::retarget::pose::{compose, rest, unit};
use crate::retarget::scalars;
use crate::skeleton::{MAX_LENGTH, Pose, Skeleton, SkeletonMismatch};
use crate::words::{plural, shorten};
use glam::{DAffine3, DQuat, DVec3};
use std::collections::HashSet;

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
/// are, each is driven. The translations of the root, down to the hips, are scaled by the ratio of hip heights. Those of
/// other joints are kept if both rest poses have the same offset, and otherwise come from the target ([`BindOptions`]).
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

/// A clip of the source, whose joints may have another order.
pub struct Shown<'a> {
    clip: &'a Clip,
    /// For each joint of the source the joint of the clip, if their orders differ.
    joints: Option<Vec<u16>>,
}

impl<'a> Shown<'a> {
    fn new(clip: &'a Clip, source: &Skeleton) -> Result<Self, RetargetError> {
        let joints = match clip.skeleton().mismatch(source) {
            Some(SkeletonMismatch::JointOrder) => clip.skeleton().joints_in(source),
            _ => None,
        };
        if joints.is_none() {
            is_of(clip, source)?;
        }
        Ok(Self { clip, joints })
    }

    pub fn clip(&self) -> &'a Clip {
        self.clip
    }

    /// The joint of the clip for a joint of the source.
    pub fn joint_of_clip(&self, joint: usize) -> usize {
        let joints = self.joints.as_ref();
        joints.map_or(joint, |of| of.get(joint).map_or(joint, |j| usize::from(*j)))
    }

    /// The joint of the source for a joint of the clip.
    fn joint_of_source(&self, joint: u16) -> u16 {
        let joints = self.joints.iter().flatten();
        let found = joints.copied().position(|j| j == joint);
        found.map_or(joint, |found| found as u16)
    }

    /// The clip's tracks, with the joints of the source.
    fn tracks(&self) -> RawClip {
        let mut raw = raw_clip(self.clip, self.clip.skeleton());
        if let Some(joints) = &self.joints {
            let mut of_clip = vec![0; joints.len()];
            for (own, joint) in joints.iter().enumerate() {
                of_clip[usize::from(*joint)] = own;
            }
            // Scalars come after the joints.
            for track in &mut raw.tracks {
                track.node = of_clip.get(track.node).copied().unwrap_or(track.node);
            }
        }
        raw
    }
}

/// Fails if a clip is not of a skeleton, in any lane order.
fn is_of(clip: &Clip, skeleton: &Skeleton) -> Result<(), RetargetError> {
    match clip.skeleton().mismatch(skeleton) {
        None | Some(SkeletonMismatch::LaneOrder) => Ok(()),
        Some(mismatch) => Err(RetargetError::Skeleton {
            clip: clip.name().to_owned(),
            skeleton: "the skeleton that was bound",
            mismatch,
        }),
    }
}

/// Bounds of the root's scale.
const LEAST_SCALE: f32 = 1e-6;
const MOST_SCALE: f32 = 1e6;

/// A pose whose subtraction changes nothing.
fn neutral_pose(skeleton: &Skeleton) -> Pose {
    let rest = skeleton.rest_pose();
    let mut pose = Pose::identity(skeleton.len(), skeleton.scalars().len());
    pose.quaternions.clone_from(&rest.quaternions);
    pose
}

/// The position of a route's joint in the target's rest pose, relative to the bound joint above it.
fn target_rest(target: &Skeleton, route: &Route) -> DVec3 {
    let own = target.rest(route.target.into()).translation.as_dvec3();
    route.between.transform_point3(own)
}

/// Offsets of rest poses that differ by less than this share of their length count as equal: rounding of files. The same
/// value holds for retargeting.
const SAME: f64 = 1e-4;

/// Whether a joint is below the same joint at the same offset in both rest poses, with no joint between.
fn same_offset(source: &Skeleton, target: &Skeleton, route: &Route, unit: f64) -> bool {
    let direct = route.between == DAffine3::IDENTITY
        && matches!(route.steps.as_slice(), [step] if !step.inverse);
    let (a, b) = (route.at_rest(source).translation * unit, target_rest(target, route));
    direct && a.distance(b) <= SAME * a.length().max(b.length())
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

/// The ratio of the distances to the joint above, target to source; the `unit` if there is no ratio.
fn lengths(source: &Skeleton, target: &Skeleton, route: &Route, unit: f64) -> f64 {
    let from = route.at_rest(source).translation.length() * unit;
    ratio(target_rest(target, route).length(), from) * unit
}

fn ratio(target: f64, source: f64) -> f64 {
    let ratio = target / source;
    let sound = f64::from(LEAST_SCALE)..=f64::from(MOST_SCALE);
    if sound.contains(&ratio) { ratio } else { 1.0 }
}

/// For each route whether it belongs to the root, down to the hips; and the route of the hips.
fn roots(source: &Skeleton, target: &Skeleton, routes: &[Route]) -> (Vec<bool>, usize) {
    if routes.is_empty() {
        return (Vec::new(), 0);
    }
    let mut root: Vec<bool> = routes.iter().map(|r| r.above.is_none()).collect();
    let named = |r: &Route| {
        is_hips(&target.names()[usize::from(r.target)])
            || is_hips(&source.names()[usize::from(r.source)])
    };
    let mut children = vec![0usize; routes.len()];
    let mut only = vec![0usize; routes.len()];
    for (at, route) in routes.iter().enumerate() {
        if let Some(above) = route.above {
            children[above] += 1;
            only[above] = at;
        }
    }
    let hips = routes.iter().position(named).unwrap_or_else(|| {
        // Without a named one, the hips are the first joint with several joints below it; a chain has none.
        let mut at = 0;
        while children[at] == 1 {
            at = only[at];
        }
        if children[at] == 0 { 0 } else { at }
    });
    let mut at = Some(hips);
    while let Some(route) = at {
        root[route] = true;
        at = routes[route].above;
    }
    // Copies of the source move like the first of them.
    let carried = routes.iter().zip(&root).filter(|(_, root)| **root);
    let carried: HashSet<u16> = carried.map(|(r, _)| r.source).collect();
    for (root, route) in root.iter_mut().zip(routes) {
        *root |= carried.contains(&route.source);
    }
    (root, hips)
}

/// For each joint, the scale of its frame in model space, at rest: the mean of its axes.
fn scales(skeleton: &Skeleton) -> Vec<f64> {
    let models = skeleton.rest_models();
    let volume = |m: &glam::Affine3A| f64::from(m.matrix3.determinant().abs());
    // A product of scales beyond f32 counts as 1.
    let scale = |m| Some(volume(m).cbrt()).filter(|s| s.is_finite());
    models.iter().map(|m| scale(m).unwrap_or(1.0)).collect()
}

/// The scale of the frame of a joint's translation, from the scales of all joints.
pub(super) fn frame_scale(skeleton: &Skeleton, scales: &[f64], joint: u16) -> f64 {
    let parent = skeleton.parents()[usize::from(joint)];
    scales.get(usize::from(parent)).copied().unwrap_or(1.0)
}

/// For each route, the unit of the source's frame in that of the target: the quotient of the scales of the bound joints
/// above. An armature may have scale 0.01 in one file and 1 in the other.
fn units(routes: &[Route], scales: &[Vec<f64>; 2]) -> Vec<f64> {
    let units = routes.iter().map(|route| above(routes, route, scales));
    units.map(|[from, to]| ratio(from, to)).collect()
}

/// The scales of the bound joints above a route's, in source and target.
fn above(routes: &[Route], route: &Route, [from, to]: &[Vec<f64>; 2]) -> [f64; 2] {
    let above = route.above.map(|above| &routes[above]);
    above.map_or([1.0; 2], |r| [from[usize::from(r.source)], to[usize::from(r.target)]])
}

/// The heights of the hips of source and target above the lowest bound joint, in the rest poses: along y, or along the
/// axis in which the hips are highest if that is four times as much (Z-up files).
///
/// A rest pose need not stand: in motion captures all bones may lie along one axis. If the ratio of the heights differs
/// from that of the bone lengths by a factor of two or more, the source's height follows from the target's by the latter;
/// the second result is then true.
fn heights(
    source: &Skeleton,
    target: &Skeleton,
    routes: &[Route],
    hips: usize,
) -> Option<([f64; 2], bool)> {
    routes.get(hips)?;
    // The hips above the lowest joint, and the lengths of the bones below them together.
    let measure = |skeleton: &Skeleton, joint: fn(&Route) -> u16| -> (DVec3, f64) {
        let models = skeleton.rest_models();
        let place = |r: &Route| models[usize::from(joint(r))].translation.as_dvec3();
        let lowest = routes.iter().map(place).fold(DVec3::INFINITY, DVec3::min);
        let bone = |r: &Route| Some(place(r).distance(place(&routes[r.above?])));
        let below = routes.iter().filter(|r| r.above >= Some(hips));
        (place(&routes[hips]) - lowest, below.filter_map(bone).sum())
    };
    let (there, size) = measure(source, |r| r.source);
    let (here, own_size) = measure(target, |r| r.target);
    let highest = (0..3).max_by(|&a, &b| here[a].total_cmp(&here[b]))?;
    let axis = if here.y * 4.0 >= here[highest] { 1 } else { highest };
    let usable = |h: f64| h > f64::from(LEAST_SCALE) && h < f64::from(MAX_LENGTH);
    let size = own_size / size;
    let off = size * there[axis] / here[axis];
    let by_lengths = size.is_finite() && size > 0.0 && !(0.5..2.0).contains(&off);
    let height = if by_lengths { here[axis] / size } else { there[axis] };
    let sound = usable(here[axis]) && usable(height);
    let found = ([height, here[axis]], by_lengths);
    (sound && ratio(here[axis], height) == here[axis] / height).then_some(found)
}

/// Finds the largest differences of the rest poses.
fn compare(
    (source, target): (&Skeleton, &Skeleton),
    routes: &[Route],
    scales: &[Vec<f64>; 2],
    report: &mut BindReport,
) {
    let (from, to) = (model_rotations(source), model_rotations(target));
    let mut worst = [f64::NEG_INFINITY; 2];
    for route in routes {
        let name = &target.names()[usize::from(route.target)];
        // Lengths are compared in metres: the frames of both joints above may have other units.
        let units = above(routes, route, scales);
        let a = route.at_rest(source).translation * units[0];
        let b = target_rest(target, route) * units[1];
        let distance = a.distance(b);
        if distance > worst[0] {
            worst[0] = distance;
            report.translation_joint.clone_from(name);
            report.translations = [a, b].map(|v| v.as_vec3().to_array());
            report.translation_distance = distance;
        }
        let (a, b) = (from[usize::from(route.source)], to[usize::from(route.target)]);
        let angle = a.angle_between(b).min(a.angle_between(-b));
        if angle > worst[1] {
            worst[1] = angle;
            report.rotation_joint.clone_from(name);
            report.rotations = [a, b].map(|q| q.as_quat().to_array());
            report.rotation_angle = angle;
        }
    }
}

fn model_rotations(skeleton: &Skeleton) -> Vec<DQuat> {
    let rest = rest(skeleton);
    let mut all = compose(skeleton, |joint| rest[joint].rotation);
    all.iter_mut().for_each(|q| *q = unit(*q));
    all
}
