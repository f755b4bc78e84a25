//! `Retargeting`: two characters, prepared; and the transfer of clips between them.

use super::body::Body;
use super::closeness::{Room, above, tolerances};
use super::error::RetargetError;
use super::feet::{least_work, plant};
use super::hips::Hips;
use super::humanoid::HumanoidMap;
use super::looks::Looks;
use super::loose::carried;
use super::motion::{Motion, Property, path};
use super::options::RetargetOptions;
use super::report::RetargetReport;
use super::scalars;
use super::setup::Setup;
use super::shift::shifts;
use super::sole::{Tilts, are_tilted};
use super::stretch::{ScaleNames, scaled, scales};
use super::track::{rotations, track};
use super::tracks::Tracks;
use super::work::Work;
use crate::build::clip_builder::{ClipBuilder, RESAMPLE_RATE, Reference as Base, Target};
use crate::build::lengths::Lengths;
use crate::clip::{Clip, ClipFault};
use crate::error::BuildError;
use crate::raw::{RawChannel, RawClip};
use crate::skeleton::Skeleton;
use std::sync::Arc;

/// Transfers clips from one humanoid to another of other names, proportions and rest pose.
///
/// It owns both skeletons with their maps, and the constants of the transfer. Rotations are transferred in model space as
/// differences to reference poses, the motion of the hips is scaled by the ratio of heights, and the result is a clip of
/// the target with the source's key times. Joints without a bone keep the rest pose.
///
/// ```
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use phalanx::retarget::{HumanoidMap, RetargetOptions, Retargeting};
///
/// let (from, to) = (phalanx::import::mannequin()?, phalanx::import::mannequin()?);
/// let retargeting = Retargeting::new(
///     (from.skeleton(), &HumanoidMap::find(from.skeleton())?),
///     (to.skeleton(), &HumanoidMap::find(to.skeleton())?),
///     RetargetOptions::default(),
/// )?;
/// let walk = from.find_clip("Walk").ok_or("no clip Walk")?;
/// let result = retargeting.retarget(&from.clips()[walk])?;
/// assert!(result.clip.fits(to.skeleton()));
/// println!("{} bones, hips scaled by {}", result.report.bones.len(), result.report.ratio);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
///
/// Source: VRM 1.0, how to transform a humanoid pose. `docs/retargeting.md` of the repository lists the differences.
pub struct Retargeting {
    /// Setup with the source's soles level in its reference pose.
    level: Setup,
    /// Setup with soles that are turned along with spread legs.
    tilted: Option<(Setup, Tilts)>,
    options: RetargetOptions,
    targets: Vec<Target>,
}

/// The outcome of a clip's tracks. Joints are the source's.
#[derive(Default)]
struct Done {
    between: f64,
    scaled: ScaleNames,
    shifted: Vec<usize>,
    dropped: Vec<String>,
    left: Vec<String>,
}

/// A retargeted clip, and the report.
#[derive(Clone, Debug)]
pub struct Retargeted {
    /// A clip of the target.
    pub clip: Clip,
    /// Transferred and remaining parts.
    pub report: RetargetReport,
}

/// Swaps left and right of a clip, on its own skeleton.
///
/// The same as a retargeting onto itself with [`RetargetOptions::mirror`]. Markers keep their names.
///
/// # Errors
/// Those of [`Retargeting::new`] and [`Retargeting::retarget`].
pub fn mirror(
    clip: &Clip,
    skeleton: &Arc<Skeleton>,
    map: &HumanoidMap,
) -> Result<Retargeted, RetargetError> {
    let options = RetargetOptions { mirror: true, ..RetargetOptions::default() };
    Retargeting::new((skeleton, map), (skeleton, map), options)?.retarget(clip)
}

impl Retargeting {
    /// Prepares a transfer: reference poses, facings, and the constants of every bone.
    ///
    /// # Errors
    /// If a map is of another skeleton, a reference pose has another length, heights have no ratio, joints with bones below
    /// are mirrored by their scale, a threshold of feet is out of range, or feet are to be planted but neither leg is whole.
    pub fn new(
        source: (&Arc<Skeleton>, &HumanoidMap),
        target: (&Arc<Skeleton>, &HumanoidMap),
        options: RetargetOptions,
    ) -> Result<Self, RetargetError> {
        if let Some(feet) = &options.feet {
            feet.check()?;
        }
        let (level, tilted) = Setup::all((source, target), &options)?;
        Ok(Self { targets: Target::of_joints(&level.target.skeleton), level, tilted, options })
    }

    /// The setup of a clip, chosen by its feet while they stand.
    fn setup(&self, motion: &Motion<'_>, looks: &Looks) -> &Setup {
        match &self.tilted {
            Some((setup, tilts)) if are_tilted(&self.level.source, tilts, motion, looks) => setup,
            _ => &self.level,
        }
    }

    /// Transfers a clip of the source.
    ///
    /// # Errors
    /// If the clip is additive or of another skeleton, or the result exceeds a limit of clips.
    pub fn retarget(&self, clip: &Clip) -> Result<Retargeted, RetargetError> {
        RetargetError::check(clip, &self.level.source.skeleton)?;
        // The 16 joints of a block may have keys inserted at different times, which add up.
        for room in [Room::Half, Room::Block] {
            match self.transfer(clip, room) {
                Ok((done, true)) => return Ok(done),
                Ok(_)
                | Err(RetargetError::Build(BuildError::Clip(ClipFault::TooManyKeys { .. }))) => {}
                Err(error) => return Err(error),
            }
        }
        self.transfer(clip, Room::Nothing).map(|(done, _)| done)
    }

    /// Transfers a clip of the source, with keys inserted as far as there is room. `false` if they did not fit into a timeline
    /// and evenly spaced keys replaced them.
    fn transfer(&self, clip: &Clip, room: Room) -> Result<(Retargeted, bool), RetargetError> {
        let (motion, raw) = Motion::of_clip(clip, &self.level.source.skeleton);
        let looks = Looks::new(&self.level.source, &motion, clip.duration());
        let setup = self.setup(&motion, &looks);
        let (source, target) = (&setup.source, &setup.target);
        let mut hips = Hips::new(source, target, &setup.space, setup.one_body)?;
        let ground = hips.stand(&looks, self.options.ground);
        if setup.same.is_none() {
            hips.check(&looks, clip.name())?;
        }
        let mut work = Work::new(room);
        if self.options.feet.is_some() {
            work.check(least_work((source, target), &motion, clip.duration()))?;
        }
        let (mut tracks, mut done) = match &setup.same {
            Some(joints) => setup.copy(joints, &motion, &raw, &hips),
            None => setup.follow(&motion, &hips, self.options.keep_scales, &mut work)?,
        };
        let feet = match &self.options.feet {
            None => None,
            Some(options) => {
                let scale = setup.space.matrix() * hips.ratio;
                let space = (&setup.space, scale);
                let sides = (&motion, &mut tracks);
                Some(plant(options, (source, target), space, sides, clip, &mut work)?)
            }
        };
        // On the same body the hips are where the clip has them, unless legs were bent.
        let moved = setup.same.is_none() || feet.as_ref().is_some_and(|f| f.contacts > 0);
        for loose in target.loose.iter().filter(|_| moved) {
            let (carried, gap) = carried(loose, target, &setup.links, &tracks.motion, &mut work)?;
            done.between = done.between.max(gap);
            carried.into_iter().for_each(|t| tracks.set(t));
        }
        let skeletons: [&Skeleton; 2] = [&source.skeleton, &target.skeleton];
        let (weights, scalars_dropped) = scalars::tracks(&raw, skeletons, || {
            scalars::by_name_or_index(skeletons[0], skeletons[1]).0
        });
        let scalars_kept = weights.len();
        let mut tracks = tracks.list();
        let keys = tracks.iter().map(|t| t.times.len()).sum();
        tracks.extend(weights);
        let result = RawClip {
            name: Some(clip.name().to_owned()),
            duration: clip.duration(),
            tracks,
            markers: clip.markers().to_vec(),
            ..RawClip::default()
        };
        let builder = ClipBuilder {
            skeleton: &target.skeleton,
            targets: &self.targets,
            lengths: &Lengths::of_joints(&target.skeleton, &result, false),
            max_bytes: self.options.max_clip_bytes,
            channels: &[],
        };
        let root_motion = clip.root_motion().map(|m| match &setup.same {
            Some(joints) => {
                let mut parts = m.parts().clone();
                parts.joint = joints[usize::from(parts.joint)];
                parts
            }
            None => hips.root_motion(m),
        });
        let (built, resampled) =
            builder.build_reporting((0, &result), Base::None, root_motion, RESAMPLE_RATE)?;
        let report = RetargetReport {
            clip: clip.name().to_owned(),
            maps: [source.map.origin(), target.map.origin()],
            bones: setup.bones(),
            by_name: setup.by_name(),
            passed_on: setup.passed_on(),
            kept: setup.kept(),
            aligned: setup.aligned.turned.clone(),
            not_aligned: setup.aligned.refused.clone(),
            carried: (target.loose.iter()).filter_map(|l| target.map.bone(l.joint)).collect(),
            tilted: setup.tilted,
            swapped: [source, target].map(Body::is_swapped),
            lying: [source, target].map(Body::is_lying),
            heights: hips.heights,
            ratio: hips.ratio,
            ground,
            keys,
            between_keys: done.between,
            left: done.left,
            translations_kept: setup.names(&done.shifted),
            translations_dropped: done.dropped,
            scales_kept: done.scaled.kept,
            scales_approximated: done.scaled.approximated,
            scales_dropped: done.scaled.dropped,
            scalars_kept,
            scalars_dropped,
            root_motion: clip.root_motion().is_some(),
            feet,
        };
        let done = Retargeted { clip: built, report };
        Ok((done, resampled.is_empty()))
    }
}

impl Setup {
    /// The tracks of bones that follow the source's bones.
    fn follow(
        &self,
        motion: &Motion<'_>,
        hips: &Hips<'_>,
        keeps: bool,
        work: &mut Work,
    ) -> Result<(Tracks<'_>, Done), RetargetError> {
        work.take_links(&self.links, motion)?;
        let way = hips.way(motion);
        way.take(motion, work)?;
        let mut tracks = Tracks::new(&self.target);
        let (keys, gap) = hips.keys(motion, &way, work);
        let mut between = gap / self.target.height;
        tracks.set(track(hips.target_joint, Property::Translation, keys));
        let above = above(&self.links, &self.target.skeleton);
        let tolerances = tolerances(&self.links, &above, motion);
        // In model space deviations add up.
        let mut gaps = vec![0.0; self.links.len()];
        for (at, link) in self.links.iter().enumerate() {
            let (track, gap) = rotations(link, motion, &self.space, tolerances[at], work);
            gaps[at] = gap + above[at].map_or(0.0, |over| gaps[over]);
            between = between.max(gaps[at]);
            tracks.set(track);
        }
        let (bodies, links) = ((&self.source, &self.target), (&self.links[..], &self.space));
        let scaled = scales(bodies, links, motion, keeps);
        let shifted = shifts(bodies, links, motion, hips.target_joint);
        let (dropped, left) = self.unused(motion, hips, &shifted.kept);
        let all = scaled.tracks.into_iter().chain(shifted.tracks);
        all.for_each(|t| tracks.set(t));
        let done = Done { between, scaled: scaled.names, shifted: shifted.kept, dropped, left };
        Ok((tracks, done))
    }

    /// The unchanged tracks of all joints of the same body. `joints` holds the target's joints.
    fn copy(
        &self,
        joints: &[u16],
        motion: &Motion<'_>,
        raw: &RawClip,
        hips: &Hips<'_>,
    ) -> (Tracks<'_>, Done) {
        let mut tracks = Tracks::at_rest(&self.target);
        let own = raw.tracks.iter().filter(|t| t.channel != RawChannel::Weights);
        own.for_each(|t| {
            let mut track = t.clone();
            track.node = joints[t.node].into();
            tracks.set(track);
        });
        let above = path(&self.source.skeleton, hips.joint());
        let shifted = (0..self.source.skeleton.len()).filter(|joint| {
            motion.curve(*joint, Property::Translation).is_some() && !above.contains(joint)
        });
        let done = Done {
            scaled: ScaleNames {
                kept: scaled(&self.source, motion)
                    .map(|j| self.source.skeleton.names()[j].clone())
                    .collect(),
                ..ScaleNames::default()
            },
            shifted: shifted.collect(),
            ..Done::default()
        };
        (tracks, done)
    }
}
