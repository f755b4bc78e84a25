//! `Crowd`: its rigs, clips and instances, and the evaluation of a frame.

use super::advance::Passages;
use super::bone_buffer::BoneBuffer;
use super::mirrors::Mirrors;
use super::parts::Frames;
use super::rigs::RigNumbers;
use super::schedule::{RowLayout, Schedule};
use super::scratches::Scratches;
use super::tiers::Tiering;
use crate::clip::Clip;
use crate::math::Affine3x4;
#[cfg(feature = "gpu")]
use crate::playback::hook::HookFn;
use crate::playback::library::Library;
use crate::playback::pool::Pool;
use crate::playback::{
    BlendSpace, BlendSpaceId, ClipId, InstanceId, LayerOptions, Parameter, Playable,
    PlaybackError as CrowdError, PoseMut, RigId, Unknown,
};
use crate::rig::Rig;
use crate::words::{plural, shorten};
use std::sync::Arc;

/// Many characters of one or more rigs, animated together.
///
/// A frame is [`advance`](Self::advance), then [`evaluate`](Self::evaluate). [`play`](Self::play) and
/// [`fade_to`](Self::fade_to) play on the first layer of an instance; [`player`](Self::player) has all other calls and
/// the table of what they do, [`playing`](Self::playing) reads. A call with a handle fails if the handle is
/// [unknown](Unknown): its value is gone, or of another crowd or rig. A call that fails changes nothing. Results do not
/// depend on the number of workers, nor on the crowd's [tag](Self::with_tag).
///
/// ```
/// use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions};
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut crowd = Crowd::new();
/// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let (walk, wave) = (crowd.clip_named(rig, "Walk")?, crowd.clip_named(rig, "Wave")?);
/// let instances = [crowd.spawn(rig)?, crowd.spawn(rig)?];
/// for instance in instances {
///     crowd.play(instance, walk, &PlayOptions::default())?;
/// }
/// crowd.player(instances[1])?.set_speed(0, walk, 1.5)?;
/// crowd.fade_to(instances[1], wave, 0.25, &PlayOptions::default())?;
/// let mut bones = BoneBuffer::new();
/// crowd.advance(0.1)?;
/// crowd.evaluate(&mut bones);
/// assert!(crowd.playing(instances[1])?.clips().eq([walk, wave]));
/// let palette = &bones.rows()[crowd.palette_range(instances[1]).ok_or("hidden")?];
/// assert_eq!(palette.len(), crowd.rig(rig)?.palette_len());
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Debug, Default)]
pub struct Crowd {
    /// The pool of each rig, by index; `None` for an index whose rig was removed.
    pub(crate) pools: Vec<Option<Pool>>,
    pub(super) rigs: RigNumbers,
    pub(crate) scratches: Scratches,
    pub(crate) mirrors: Mirrors,
    pub(super) passages: Passages,
    pub(super) frames: Frames,
    pub(crate) tiering: Tiering,
}

/// Counts of one evaluated frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameStats {
    /// Instances evaluated.
    pub instances: usize,
    /// Instances that were not scheduled and kept their rows of the last frame.
    pub carried: usize,
    /// Palette rows written.
    pub rows: usize,
    /// Bytes written.
    pub bytes: usize,
    /// True if the library was built with `opt-level = 0`: such a build is some 240 times slower. The README
    /// shows the profile lines that prevent it.
    pub unoptimized: bool,
}

impl Crowd {
    /// An empty crowd.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty crowd with a tag that the caller chose: for handles that are the same in every run, or that differ
    /// between processes which exchange handles.
    ///
    /// All handles of a crowd contain its tag, so that handles of another crowd are unknown here. Crowds made by
    /// [`new`](Self::new) count up from a random tag: the first 1,023 of a process have different tags.
    ///
    /// # Errors
    /// If the tag is not within 1 to [`MAX_TAG`](super::MAX_TAG).
    pub fn with_tag(tag: u16) -> Result<Self, CrowdError> {
        Ok(Self { rigs: RigNumbers::tagged(tag)?, ..Self::default() })
    }

    /// Adds a rig with one blending layer.
    ///
    /// # Errors
    /// If the crowd has as many rigs as are allowed, the rig has too many clips, their scales multiply beyond the
    /// limit, or the crowd was given 262,143 rigs in its life.
    pub fn add_rig(&mut self, rig: Arc<Rig>) -> Result<RigId, CrowdError> {
        self.add_rig_with_layers(rig, vec![LayerOptions::default()])
    }

    /// Adds a rig whose instances have the given layers, lowest first.
    ///
    /// # Errors
    /// If there are no layers or too many, a mask was made for another skeleton, or for a reason that
    /// [`add_rig`](Self::add_rig) lists.
    pub fn add_rig_with_layers(
        &mut self,
        rig: Arc<Rig>,
        layers: Vec<LayerOptions>,
    ) -> Result<RigId, CrowdError> {
        Library::validate(&rig, &layers)?;
        let index = match self.pools.iter().position(Option::is_none) {
            Some(index) => index,
            None => {
                let (count, limit) = (self.pools.len() + 1, usize::from(u16::MAX));
                if count > limit {
                    return Err(CrowdError::Limit { what: "rigs", count, limit });
                }
                self.pools.len()
            }
        };
        let owner = self.rigs.add(index)?;
        if index == self.pools.len() {
            self.pools.push(None);
        }
        let mut pool = Pool::new(owner, rig, layers);
        pool.record_changes(self.tiers().is_some());
        if let Some(tiers) = self.tiers() {
            tiers.prepare(&mut pool);
        }
        self.pools[index] = Some(pool);
        Ok(owner.rig())
    }

    /// Removes a rig of which no instance is alive. Its memory is freed with the last `Arc`.
    ///
    /// # Errors
    /// If the rig is unknown or still has instances.
    pub fn remove_rig(&mut self, rig: RigId) -> Result<Arc<Rig>, CrowdError> {
        let pool = self.pool(rig)?;
        let instances = pool.state().count_alive();
        if instances > 0 {
            let users = plural(instances as u64, "instance");
            return Err(CrowdError::InUse { name: pool.library().rig_text(), users });
        }
        let removed = pool.rig().clone();
        if let Some(index) = self.rigs.index(rig) {
            self.pools[index] = None;
            self.tiering.remove(index);
        }
        self.rigs.remove(rig);
        Ok(removed)
    }

    /// A rig of this crowd.
    pub fn rig(&self, rig: RigId) -> Result<&Arc<Rig>, CrowdError> {
        Ok(self.pool(rig)?.rig())
    }

    /// The handle of a rig's clip by its index in the file, if it is loaded.
    pub fn clip_by_index(&self, rig: RigId, clip: usize) -> Option<ClipId> {
        self.pool(rig).ok()?.library().clip_by_index(clip)
    }

    /// The handle of a rig's clip by name: the first loaded one of that name, or an error that suggests others.
    ///
    /// # Errors
    /// If the rig is unknown, or no loaded clip has this name: [`CrowdError::Lookup`].
    pub fn clip_named(&self, rig: RigId, name: &str) -> Result<ClipId, CrowdError> {
        self.pool(rig)?.library().clip_named(name)
    }

    /// Adds a clip to a rig: one of another file, made at run time, or additive. If its lane order is not the rig's, it
    /// is converted to it ([`Rig::lay_out`]), once for all crowds and mixers of the rig.
    ///
    /// # Errors
    /// If the rig is unknown, the clip was built for another skeleton (the error names the first joint that differs) or
    /// needs too much memory in the rig's lane order, there are too many clips, or their scales multiply beyond the
    /// limit.
    pub fn add_clip(&mut self, rig: RigId, clip: Arc<Clip>) -> Result<ClipId, CrowdError> {
        self.pool_mut(rig)?.add_clip(clip)
    }

    /// Unloads a clip that nothing plays; its handle becomes stale.
    ///
    /// # Errors
    /// If the clip is unknown, an action plays it, or a blend space holds it.
    pub fn unload_clip(&mut self, clip: ClipId) -> Result<Arc<Clip>, CrowdError> {
        let rig = self.rig_of(clip.into())?;
        let taken = self.pool_mut(rig)?.unload_clip(clip)?;
        if let Some(index) = self.rigs.index(rig) {
            self.tiering.unload(index, clip.index);
        }
        Ok(taken)
    }

    /// A loaded clip.
    pub fn clip(&self, clip: ClipId) -> Result<&Arc<Clip>, CrowdError> {
        let rig = self.rig_of(clip.into())?;
        self.pool(rig)?.library().loaded_clip(clip)
    }

    /// Adds a blend space of a rig's clips: a slice of ascending values with their clips, or any
    /// [`BlendSpace`](super::BlendSpace). Every instance of the rig can play it at its own value:
    /// [`Player::set_parameter`](crate::playback::Player::set_parameter), [`set_parameters`](Self::set_parameters).
    ///
    /// # Errors
    /// If the rig or a clip is unknown, there are no clips, they are not of one kind, values of a line do not ascend,
    /// points of a plane coincide or lie on one line, a number is out of range, or speeds are asked for of clips that last
    /// no time or do not travel.
    pub fn add_blend_space(
        &mut self,
        rig: RigId,
        space: impl Into<BlendSpace>,
    ) -> Result<BlendSpaceId, CrowdError> {
        self.pool_mut(rig)?.add_space(&space.into())
    }

    /// Removes a blend space that no action plays; its handle becomes stale.
    ///
    /// # Errors
    /// If the blend space is unknown or an action plays it.
    pub fn remove_blend_space(&mut self, space: BlendSpaceId) -> Result<(), CrowdError> {
        let rig = self.rig_of(space.into())?;
        self.pool_mut(rig)?.remove_space(space)
    }

    /// The clips of a blend space, each with its value of the parameter; on a line in ascending order.
    pub fn blend_space(
        &self,
        space: BlendSpaceId,
    ) -> Result<impl Iterator<Item = (Parameter, ClipId)>, CrowdError> {
        let rig = self.rig_of(space.into())?;
        self.pool(rig)?.library().points(space)
    }

    /// Adds an instance in the rest pose, at the origin, visible, at speed 1.
    ///
    /// # Errors
    /// If the rig is unknown or already has [`MAX_INSTANCES`](super::MAX_INSTANCES).
    pub fn spawn(&mut self, rig: RigId) -> Result<InstanceId, CrowdError> {
        let pool = self.pool_mut(rig)?;
        let index = pool.spawn()?;
        Ok(pool.instance_id(index))
    }

    /// Removes an instance; its handle becomes stale.
    pub fn despawn(&mut self, instance: InstanceId) -> Result<(), CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        pool.despawn(index);
        Ok(())
    }

    /// Instances alive, over all rigs.
    pub fn instance_count(&self) -> usize {
        self.pools().map(|(_, p)| p.state().count_alive()).sum()
    }

    /// Evaluates every visible instance into the bone buffer. Runs on the current rayon pool.
    ///
    /// The rows of an instance stay where they are while it is visible and, with [tiers](Self::set_tiers), in the
    /// picture. New instances get rows in the order of rigs and instances; freed rows are taken first, and free rows at
    /// the end are given back. An instance that is not [scheduled](Self::set_scheduled) keeps its rows, if the buffer
    /// holds the crowd's last frame. Without tiers it allocates only when the crowd, its clips or the number of workers
    /// has grown, or watched joints or mirrors have changed. If memory for the rows may be short, call
    /// [`BoneBuffer::try_reserve`] first: it returns an error.
    pub fn evaluate(&mut self, buffer: &mut BoneBuffer) -> FrameStats {
        let (mut schedule, rows) = self.schedule_into(buffer);
        schedule.write(rows)
    }

    /// [`evaluate`](Self::evaluate) with a [hook](super::Hook), which is called for every evaluated instance whose weight
    /// of it is above 0.
    pub fn evaluate_with(
        &mut self,
        buffer: &mut BoneBuffer,
        hook: &(impl Fn(InstanceId, &mut PoseMut<'_>, f64) + Sync),
    ) -> FrameStats {
        let (mut schedule, rows) = self.schedule_into(buffer);
        schedule.write_with(rows, hook)
    }

    /// [`schedule`](Self::schedule) for a bone buffer: the frame is written in place, to the buffer's rows. Used with
    /// [`Schedule::parts`]; [`evaluate`](Self::evaluate) does all in one call. Until the frame is written, the rows of
    /// evaluated instances are out of date.
    pub fn schedule_into<'c, 'b>(
        &'c mut self,
        buffer: &'b mut BoneBuffer,
    ) -> (Schedule<'c>, &'b mut [Affine3x4]) {
        let schedule = self.schedule(&in_place(buffer));
        let rows = buffer.prepare(&schedule);
        (schedule, rows)
    }

    /// [`evaluate`](Self::evaluate) that reports a lack of memory.
    ///
    /// # Errors
    /// If there is no memory for the rows. The buffer keeps its frame, and the next frame evaluates every instance.
    #[cfg(feature = "gpu")]
    pub(crate) fn try_evaluate(
        &mut self,
        buffer: &mut BoneBuffer,
        hook: Option<&HookFn<'_>>,
    ) -> Result<FrameStats, CrowdError> {
        let mut schedule = self.schedule(&in_place(buffer));
        let rows = buffer.try_prepare(&schedule)?;
        Ok(schedule.write_by(rows, hook))
    }

    pub(crate) fn pools(&self) -> impl Iterator<Item = (usize, &Pool)> {
        let all = self.pools.iter().enumerate();
        all.filter_map(|(i, s)| Some((i, s.as_ref()?)))
    }

    pub(crate) fn pool(&self, rig: RigId) -> Result<&Pool, CrowdError> {
        let pool = self.rigs.index(rig).and_then(|i| self.pools.get(i));
        let pool = pool.and_then(Option::as_ref);
        pool.ok_or_else(|| self.unknown_rig(rig))
    }

    pub(crate) fn pool_mut(&mut self, rig: RigId) -> Result<&mut Pool, CrowdError> {
        self.settle_parts();
        let unknown = self.unknown_rig(rig);
        let pool = self.rigs.index(rig).and_then(|i| self.pools.get_mut(i));
        let pool = pool.and_then(Option::as_mut);
        pool.ok_or(unknown)
    }

    fn unknown_rig(&self, rig: RigId) -> CrowdError {
        let why = self.rigs.why_unknown(rig);
        CrowdError::UnknownRig { rig, why }
    }

    /// The rig of a clip or blend space, if the crowd has it.
    pub(super) fn rig_of(&self, motion: Playable) -> Result<RigId, CrowdError> {
        let rig = String::new();
        self.known_rig(motion.rig()).map_err(|why| match motion {
            Playable::Clip(clip) => CrowdError::UnknownClip { clip, why, rig },
            Playable::Space(space) => CrowdError::UnknownSpace { space, why, rig },
        })
    }

    /// The rig that a handle names, if the crowd has it; `None` is the rig of a mixer.
    pub(super) fn known_rig(&self, rig: Option<RigId>) -> Result<RigId, Unknown> {
        match rig {
            Some(rig) if self.rigs.index(rig).is_some() => Ok(rig),
            Some(rig) => Err(self.rigs.why_unknown(rig)),
            None => Err(Unknown::OfMixer),
        }
    }

    pub(crate) fn instance(&self, id: InstanceId) -> Result<(&Pool, usize), CrowdError> {
        let pool = self.rigs.index(id.rig()).and_then(|i| self.pools.get(i));
        let pool = pool.and_then(Option::as_ref);
        match pool.filter(|pool| pool.state().knows(id)) {
            Some(pool) => Ok((pool, id.index())),
            None => Err(self.unknown_instance(id)),
        }
    }

    #[cold]
    fn unknown_instance(&self, id: InstanceId) -> CrowdError {
        CrowdError::UnknownInstance {
            instance: id,
            why: self.rigs.why_unknown(id.rig()),
            rig: self.rig_name(id),
        }
    }

    /// The name of an instance's rig for messages; empty if the rig is unknown.
    pub(super) fn rig_name(&self, id: InstanceId) -> String {
        let pool = self.pool(id.rig());
        pool.map_or_else(|_| String::new(), |pool| shorten(pool.rig().name()))
    }

    pub(crate) fn instance_mut(
        &mut self,
        id: InstanceId,
    ) -> Result<(&mut Pool, usize), CrowdError> {
        self.instance(id)?;
        Ok((self.pool_mut(id.rig())?, id.index()))
    }
}

/// The layout of a frame that is written in place into a bone buffer.
fn in_place(buffer: &BoneBuffer) -> RowLayout {
    RowLayout { align: 1, compact: false, holds: buffer.frame() }
}
