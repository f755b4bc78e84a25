//! The calls of a crowd that are about tiers, and its frame with them.

use super::Tiering;
use crate::crowd::Crowd;
use crate::crowd::tiers::bank::{BankKind, SHARED};
use crate::crowd::tiers::cells::OUT;
use crate::crowd::tiers::stats::TierFrame;
use crate::crowd::tiers::tier::{Tiers, refused};
use crate::crowd::tiers::view::View;
use crate::crowd::tiers::work::Request;
use crate::evaluate::Instances;
use crate::playback::changes::What;
use crate::playback::{InstanceId, PlaybackError as CrowdError, RigId};
use crate::rig::Rig;
use crate::words;
use std::ops::Range;
use std::sync::Arc;

/// The palette that an instance shows in the last frame, from [`Crowd::shown`]: `from + (to - from) · factor`, number
/// by number.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The rows of the earlier palette.
    pub from: Range<usize>,
    /// The rows of the later palette. They equal `from` unless the instance is interpolated.
    pub to: Range<usize>,
    /// The weight of the later palette, in [0, 1].
    pub factor: f32,
    /// Index of the detail whose rows these are, among the [`tier_details`](Crowd::tier_details) of the rig; `None` for
    /// the full rig.
    pub detail: Option<usize>,
    /// True if other instances may show the same palette: see [`Tier::shared_error`](crate::crowd::Tier::shared_error).
    pub shared: bool,
    /// True if the instance had these rows in the frame before, too. False if they are shared or interpolated. Useful for
    /// motion vectors, in memory that keeps two frames.
    pub stayed: bool,
}

/// # Tiers
///
/// With tiers a crowd decides by itself which instances a frame evaluates, and how often: by their height on screen, or by
/// importances that the host gives. Times, fades, events and root motion do not depend on them.
///
/// ```
/// use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions, Tiers, View};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[cfg(feature = "gltf")] {
/// let mut crowd = Crowd::new();
/// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let walk = crowd.clip_named(rig, "Walk")?;
/// let mut all = Vec::new();
/// crowd.spawn_many(rig, 1000, &mut all)?;
/// crowd.play_many(&all, 0, &[walk], &[PlayOptions::default()])?;
/// crowd.set_tiers(Some(Tiers::default()))?;
/// let mut bones = BoneBuffer::new();
/// // Per frame: the camera, then as without tiers.
/// let camera = glam::camera::rh::proj::directx::perspective_infinite_reverse(1.0, 16.0 / 9.0, 0.1);
/// crowd.set_views(&[View { clip_from_world: camera.to_cols_array_2d(), height: 1080.0, shadows: false }])?;
/// crowd.advance(1.0 / 60.0)?;
/// let stats = crowd.evaluate(&mut bones);
/// println!("{} palettes evaluated", stats.instances);
/// for tier in &crowd.tier_stats().ok_or("no tiers")?.tiers {
///     println!("{} instances, {} share palettes", tier.instances, tier.shared);
/// }
/// # }
/// # Ok(())
/// # }
/// ```
impl Crowd {
    /// Turns tiers on, changes them, or turns them off. The next frame evaluates whatever is in the picture.
    ///
    /// Without views and importances every visible instance is in the first tier. With tiers,
    /// [`set_scheduled`](Self::set_scheduled) holds palettes that are an instance's own; an interpolated one goes on to its
    /// later pose, and shared ones are not held. [Watched](Self::watch) joints of instances in the picture have the
    /// present pose; each instance whose palette has another pose costs one more evaluation.
    ///
    /// # Errors
    /// If a tier is refused: see [`Tiers::validate`]. The crowd is then unchanged.
    pub fn set_tiers(&mut self, tiers: Option<Tiers>) -> Result<(), CrowdError> {
        if let Some(tiers) = &tiers {
            tiers.validate()?;
        }
        self.settle_parts();
        self.frames.lose();
        for pool in self.pools.iter_mut().flatten() {
            pool.record_changes(tiers.is_some());
            match &tiers {
                Some(tiers) => tiers.prepare(pool),
                None => {
                    pool.need_speeds(false);
                    pool.clear_details();
                }
            }
        }
        self.tiering = std::mem::take(&mut self.tiering).restarted(tiers);
        Ok(())
    }

    /// Resets tiers whose last frame was cut short. Without tiers the next frame evaluates all palettes anyway.
    #[inline]
    pub(in crate::crowd) fn mend_tiers(&mut self) {
        if self.tiering.plan.progress.take_begun()
            && let Some(tiers) = self.tiers().cloned()
        {
            // They were checked before.
            let _ = self.set_tiers(Some(tiers));
        }
    }

    /// The tiers, if they are on.
    pub fn tiers(&self) -> Option<&Tiers> {
        self.tiering.plan.on.then_some(&self.tiering.plan.tiers)
    }

    /// The details of a rig that tiers request by [`Tier::detail`](crate::crowd::Tier::detail), each once. A detail
    /// that leaves out nothing is not listed. Empty without tiers. They are made by [`set_tiers`](Self::set_tiers) and
    /// [`add_rig`](Self::add_rig), and made again, with the same rows, when other joints are [watched](Self::watch).
    ///
    /// A rig that refuses a detail (see [`Rig::detail`](crate::rig::Rig::detail)) has full palettes in that tier.
    pub fn tier_details(
        &self,
        rig: RigId,
    ) -> Result<impl ExactSizeIterator<Item = &Arc<Rig>>, CrowdError> {
        Ok(self.pool(rig)?.tables().details().rigs())
    }

    /// Sets the views of the next frames. An instance has the greatest of its heights in the views that are pictures.
    /// Maps of shadows ([`View::shadows`]) count for an instance that no picture gives a tier, because it is outside
    /// all pictures or too small in them: it has the greatest of its heights in the maps, see [`Tiers::shadows`]. An
    /// instance that has a tier in the pictures keeps that tier, however large its shadow is. With an empty slice no
    /// instance is in a picture.
    ///
    /// An instance is seen by a sphere around its meshes ([`bounding_sphere`](Self::bounding_sphere)). An instance of a
    /// rig that draws nothing, whose meshes an engine has, is seen by a sphere around its joints in every pose of what
    /// it plays, wider by a quarter of the longest side of the rest pose.
    ///
    /// # Errors
    /// If there are no tiers, a number of a matrix is not finite, or a height is not above 0. Nothing has changed then.
    pub fn set_views(&mut self, views: &[View]) -> Result<(), CrowdError> {
        for (number, view) in views.iter().enumerate() {
            view.validate(number)?;
        }
        let tiering = self.tiering_on()?;
        tiering.views.clear();
        tiering.views.extend_from_slice(views);
        tiering.viewed = true;
        Ok(())
    }

    /// Takes all views back: without importances every visible instance is in the picture, as before the first
    /// [`set_views`](Self::set_views).
    ///
    /// # Errors
    /// If there are no tiers.
    pub fn clear_views(&mut self) -> Result<(), CrowdError> {
        let tiering = self.tiering_on()?;
        tiering.views.clear();
        tiering.viewed = false;
        Ok(())
    }

    /// Sets the importances of a rig's instances in the next frames, by [`InstanceId::index`]. An importance is a
    /// height in pixels; the greater of it and of the height in the views decides. 0 leaves an instance to the views;
    /// an empty slice takes all importances back.
    ///
    /// Before [`set_views`](Self::set_views), and without importances, every visible instance is in the picture.
    /// Importances alone end that for the whole crowd: without views, instances of rigs that have no importances are out
    /// of the picture, and so are instances that were spawned after the call, at indices beyond the slice, until
    /// importances are given for them.
    ///
    /// # Errors
    /// If there are no tiers, the rig is unknown, an importance is NaN or negative, or the slice has neither length 0
    /// nor the length of the arrays of a [`RigView`](crate::crowd::RigView). Nothing has changed then.
    pub fn set_importances(&mut self, rig: RigId, importances: &[f32]) -> Result<(), CrowdError> {
        let needed = self.pool(rig)?.state().len();
        let number = self.rigs.index(rig).unwrap_or(usize::MAX);
        let found = importances.len();
        if found != needed && found > 0 {
            let found = words::plural(found as u64, "importance");
            return Err(refused(format!("{found} for a rig whose arrays have length {needed}")));
        }
        let bad = importances.iter().position(|&i| i.is_nan() || i < 0.0);
        if let Some(index) = bad {
            let value = words::number(importances[index].into());
            let least = "importances are at least 0";
            return Err(refused(format!("importance {index} is {value}; {least}")));
        }
        let tiering = self.tiering_on()?;
        tiering.fit_pools(number + 1);
        tiering.pools[number].importances.set(rig.number(), importances);
        Ok(())
    }

    /// Sets how many palettes a frame evaluates at most; `None` for all that are due. What a frame must evaluate comes
    /// first, whatever the budget is: instances that are new in the picture, that a call has changed, or that have waited
    /// for [`Tiers::max_age`] frames. Of the others those with the largest product of height on screen and age are
    /// evaluated; the rest wait. Shared palettes count when they are evaluated, interpolated ones once. In the first frame
    /// of a budget all palettes that were updated in every frame are evaluated once more.
    ///
    /// # Errors
    /// If there are no tiers.
    pub fn set_budget(&mut self, palettes: Option<usize>) -> Result<(), CrowdError> {
        self.tiering_on()?.budget = palettes;
        Ok(())
    }

    /// The tiering, if tiers are on.
    fn tiering_on(&mut self) -> Result<&mut Tiering, CrowdError> {
        let tiering = &mut self.tiering;
        tiering.plan.on.then_some(tiering).ok_or(CrowdError::NoTiers)
    }

    /// Counts of the last scheduled frame; `None` without tiers.
    pub fn tier_stats(&self) -> Option<&TierFrame> {
        self.tiering.plan.on.then_some(&self.tiering.stats)
    }

    /// The tier of an instance in the last frame; `None` if it was out of the picture, unknown, or the crowd has no tiers.
    pub fn tier(&self, instance: InstanceId) -> Option<usize> {
        let (number, index) = self.ranked(instance)?;
        let tier = self.tiering.pools[number].cells.tier(index);
        (tier != OUT && self.tiering.plan.on).then_some(tier.into())
    }

    /// The rows of an instance in the bone buffer of the last frame, with the pair of an interpolated instance and the
    /// detail that they are of. `None` if it was hidden, out of the picture, or did not exist then. Valid until the next
    /// frame is scheduled.
    ///
    /// ```
    /// use phalanx::crowd::{BoneBuffer, Crowd, Tier, TierDetail, Tiers};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # #[cfg(feature = "gltf")] {
    /// let mut crowd = Crowd::new();
    /// let rig = crowd.add_rig(std::sync::Arc::new(phalanx::import::mannequin()?))?;
    /// let character = crowd.spawn(rig)?;
    /// let detail = TierDetail { level: 2, ..TierDetail::default() };
    /// let tier = Tier { detail: Some(detail), ..Tier::default() };
    /// crowd.set_tiers(Some(Tiers { tiers: vec![tier], ..Tiers::default() }))?;
    /// crowd.evaluate(&mut BoneBuffer::new());
    /// // Its rows are for the meshes of the detail.
    /// let shown = crowd.shown(character).ok_or("hidden")?;
    /// let number = shown.detail.ok_or("the full rig")?;
    /// let detail = crowd.tier_details(rig)?.nth(number).ok_or("no such detail")?;
    /// assert_eq!(shown.from.len(), detail.palette_len());
    /// # }
    /// # Ok(())
    /// # }
    /// ```
    pub fn shown(&self, instance: InstanceId) -> Option<Shown> {
        let (cell, [from, to], factor) = self.palettes_of(instance)?;
        let BankKind { tier, detail, .. } = *self.tiering.banks.of_cell(cell).0.kind();
        let shared = tier == SHARED;
        let stayed = !shared && from == to && !self.tiering.banks.is_new(cell);
        let detail = usize::from(detail).checked_sub(1);
        Some(Shown { from, to, factor, detail, shared, stayed })
    }

    /// The cell that an instance shows, the rows of its earlier and its later palette, and the factor between them.
    pub(in crate::crowd) fn palettes_of(
        &self,
        instance: InstanceId,
    ) -> Option<(u32, [Range<usize>; 2], f32)> {
        let (number, index) = self.ranked(instance)?;
        let cell = self.tiering.cell(number, index)?;
        let (bank, place) = self.tiering.banks.of_cell(cell);
        let rows = bank.kind().rows as usize;
        let [from, to] = bank.rows_of(place).map(|first| first..first + rows);
        let now = self.tiering.plan.clock.time();
        let factor = match bank.times(place) {
            _ if from == to => 0.0,
            // The earlier pose may lie ahead of now, where steps have become shorter.
            Some([start, end]) if now < end => {
                ((now - start) / (end - start)).clamp(0.0, 1.0) as f32
            }
            Some(_) => 1.0,
            None => 0.0,
        };
        Some((cell, [from, to], factor))
    }

    /// The numbers of an instance's pool and of itself, if the last frame knew it: it may have the index of one that is
    /// gone.
    fn ranked(&self, instance: InstanceId) -> Option<(usize, usize)> {
        let (pool, index) = self.instance(instance).ok()?;
        let number = self.rigs.index(instance.rig())?;
        let known = self.tiering.pools.get(number)?.is_of(instance.rig().number());
        (known && !pool.changes().of(index).has(What::NEW)).then_some((number, index))
    }

    /// Finds out which instances are in the picture, gives them cells, and chooses those that a frame evaluates.
    #[inline(never)]
    pub(in crate::crowd) fn select_cells(&mut self, request: Request) {
        self.lay_out_watched();
        let Self { pools, tiering, scratches, .. } = self;
        for pool in pools.iter_mut().flatten() {
            pool.fit_level(request.level);
            scratches.reserve(pool);
        }
        tiering.assign(pools, request.align);
        tiering.select(pools, request);
    }
}
