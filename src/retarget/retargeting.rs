//! `Retargeting`: two characters, prepared; and the transfer of clips between them.

use super::body::Tilts;
use super::error::RetargetError;
use super::feet::{least_work, plant};
use super::hips::Hips;
use super::humanoid::HumanoidMap;
use super::kept::{scaled, scales, translations};
use super::looks::{Looks, are_tilted};
use super::loose::carried;
use super::motion::Motion;
use super::options::RetargetOptions;
use super::pose::path;
use super::report::RetargetReport;
use super::scalars;
use super::setup::Setup;
use super::track::{Tracks, rotations};
use super::work::{Room, Work, tolerances};
use crate::build::clip_builder::{ClipBuilder, RESAMPLE_RATE, Target};
use crate::build::lengths::Lengths;
use crate::clip::{Channel, Clip};
use crate::error::BuildError;
use crate::raw::{RawChannel, RawClip};
use crate::skeleton::Skeleton;
use std::sync::Arc;

/// Limit on the rows of a resulting clip, bytes. An hour of 60 joints at 60 Hz takes 220 MB.
const MAX_CLIP_BYTES: usize = 1 << 30;

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
/// let (clip, report) = retargeting.retarget(&from.clips()[walk])?;
/// assert!(clip.fits(to.skeleton()));
/// println!("{} bones, hips scaled by {}", report.bones.len(), report.ratio);
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
) -> Result<(Clip, RetargetReport), RetargetError> {
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
        options.check()?;
        let (level, tilted) = Setup::all((source, target), &options)?;
        Ok(Self { targets: Target::of_joints(&level.target.skeleton), level, tilted, options })
    }

    /// Transfers a clip of the source, and reports what was transferred and what was left.
    ///
    /// # Errors
    /// If the clip is additive or of another skeleton, or the result exceeds a limit of clips.
    pub fn retarget(&self, clip: &Clip) -> Result<(Clip, RetargetReport), RetargetError> {
        RetargetError::check(clip, &self.level.source.skeleton)?;
        let (motion, raw) = Motion::of_clip(clip, &self.level.source.skeleton);
        let looks = Looks::new(&self.level.source, &motion, clip.duration());
        let setup = match &self.tilted {
            Some((setup, tilts)) if are_tilted(&self.level.source, tilts, &motion, &looks) => setup,
            _ => &self.level,
        };
        let mut hips = Hips::new(&setup.source, &setup.target, &setup.space, setup.one_body)?;
        let report = RetargetReport {
            clip: clip.name().to_owned(),
            ground: hips.stand(&looks, self.options.ground),
            heights: hips.heights,
            ratio: hips.ratio,
            root_motion: clip.root_motion().is_some(),
            ..setup.report()
        };
        if setup.same.is_none() {
            hips.check(&looks, clip.name())?;
        }
        let transfer = Transfer { of: self, setup, clip, motion, raw, hips, report };
        // The 16 joints of a block may have keys inserted at different times, which add up.
        for room in [Room::Half, Room::Block] {
            match transfer.run(room) {
                Ok((done, true)) => return Ok(done),
                Ok(_) | Err(RetargetError::Build(BuildError::KeyTimes { .. })) => {}
                Err(error) => return Err(error),
            }
        }
        transfer.run(Room::Nothing).map(|(done, _)| done)
    }
}

struct Transfer<'a> {
    of: &'a Retargeting,
    setup: &'a Setup,
    clip: &'a Clip,
    motion: Motion<'a>,
    raw: RawClip,
    hips: Hips<'a>,
    /// The part of the report that is known before tracks are made.
    report: RetargetReport,
}

impl Transfer<'_> {
    /// Makes the clip, with keys inserted as far as there is room. `false` if they did not fit into a timeline and evenly
    /// spaced keys replaced them.
    fn run(&self, room: Room) -> Result<((Clip, RetargetReport), bool), RetargetError> {
        let Self { setup, clip, motion, raw, hips, .. } = self;
        let options = &self.of.options;
        let (source, target) = (&setup.source, &setup.target);
        let mut report = self.report.clone();
        let mut work = Work::new(room);
        if options.plant_feet {
            work.check(least_work((source, target), motion, clip.duration()))?;
        }
        let mut tracks = match &setup.same {
            Some(joints) => setup.copy(joints, motion, raw, hips.joint, &mut report),
            None => setup.follow(motion, hips, options.keep_scales, &mut work, &mut report)?,
        };
        if options.plant_feet {
            let space = (&setup.space, setup.space.matrix() * hips.ratio);
            let sides = (motion, &mut tracks);
            report.feet = Some(plant(options, (source, target), space, sides, clip, &mut work)?);
        }
        // On the same body the hips are where the clip has them, unless legs were bent.
        let moved = setup.same.is_none() || report.feet.as_ref().is_some_and(|f| f.contacts > 0);
        for loose in target.loose.iter().filter(|_| moved) {
            let (carried, gap) = carried(loose, target, &setup.links, &tracks.motion, &mut work)?;
            report.between_keys = report.between_keys.max(gap);
            carried.into_iter().for_each(|t| tracks.set(t));
        }
        let skeletons: [&Skeleton; 2] = [&source.skeleton, &target.skeleton];
        let (weights, dropped) = scalars::tracks(raw, skeletons, || {
            scalars::by_name_or_index(skeletons[0], skeletons[1]).0
        });
        (report.scalars_kept, report.scalars_dropped) = (weights.len(), dropped);
        let mut tracks = tracks.list();
        report.keys = tracks.iter().map(|t| t.times.len()).sum();
        tracks.extend(weights);
        let result = RawClip {
            name: raw.name.clone(),
            duration: raw.duration,
            tracks,
            markers: raw.markers.clone(),
            ..RawClip::default()
        };
        let builder = ClipBuilder {
            skeleton: &target.skeleton,
            targets: &self.of.targets,
            lengths: &Lengths::of_joints(&target.skeleton, &result, false),
            max_bytes: MAX_CLIP_BYTES,
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
            builder.build_reporting(&result, None, root_motion, RESAMPLE_RATE)?;
        Ok(((built, report), resampled.is_empty()))
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
        report: &mut RetargetReport,
    ) -> Result<Tracks<'_>, RetargetError> {
        work.take_links(&self.links, motion)?;
        let mut tracks = Tracks::new(&self.target);
        let (keys, gap) = hips.keys(motion, work)?;
        let mut between = gap / self.target.height;
        tracks.set(keys.track(hips.target_joint, Channel::Translation));
        let tolerances = tolerances(&self.links, motion);
        // In model space deviations add up.
        let mut gaps = vec![0.0; self.links.len()];
        for (at, link) in self.links.iter().enumerate() {
            let (track, gap) = rotations(link, motion, &self.space, tolerances[at], work);
            gaps[at] = gap + link.above.map_or(0.0, |over| gaps[over]);
            between = between.max(gaps[at]);
            tracks.set(track);
        }
        report.between_keys = between;
        scales(self, motion, keeps, &mut tracks, report);
        let kept = translations(self, motion, hips.target_joint, &mut tracks);
        [report.translations_dropped, report.left] = self.unused(motion, hips.joint, &kept);
        report.translations_kept = self.names(kept.into_iter());
        Ok(tracks)
    }

    /// The unchanged tracks of all joints of the same body. `joints` holds the target's joints, `hips` is the source's.
    fn copy(
        &self,
        joints: &[u16],
        motion: &Motion<'_>,
        raw: &RawClip,
        hips: usize,
        report: &mut RetargetReport,
    ) -> Tracks<'_> {
        let mut tracks = Tracks::at_rest(&self.target);
        for track in raw.tracks.iter().filter(|t| t.channel != RawChannel::Weights) {
            let mut track = track.clone();
            track.node = joints[track.node].into();
            tracks.set(track);
        }
        let above = path(&self.source.skeleton, hips);
        let moving = (0..self.source.skeleton.len()).filter(|joint| {
            motion.curve(*joint, Channel::Translation).is_some() && !above.contains(joint)
        });
        report.translations_kept = self.names(moving);
        report.scales_kept = self.names(scaled(&self.source, motion));
        tracks
    }
}
