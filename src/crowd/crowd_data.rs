//! `Crowd`: rigs, clips, instances, and the frame.

use super::bone_buffer::BoneBuffer;
use super::error::CrowdError;
use super::evaluate::{Task, Workers};
use super::ids::{ClipId, InstanceId, RigId};
use super::pool::{LayerOptions, MAX_LAYERS, Pool};
use crate::clip::{Clip, ClipKind};
use crate::math::{Affine3x4, SimdLevel};
use crate::rig::Rig;
use std::sync::Arc;

/// The largest time, time step and fade in seconds, either sign: thirty years, far beyond use, and
/// small enough that an f64 still resolves microseconds.
pub const MAX_TIME: f64 = 1.0e9;

/// Many characters of one or more rigs, animated together.
///
/// A frame is [`advance`](Self::advance), then [`evaluate`](Self::evaluate). Calls that refuse
/// something change nothing. Results do not depend on the number of workers.
#[derive(Debug, Default)]
pub struct Crowd {
    pub(crate) pools: Vec<Slot>,
    pub(crate) workers: Workers,
}

/// A place for a rig.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    pub generation: u16,
    pub pool: Option<Pool>,
}

/// What a frame's evaluation did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameStats {
    /// Instances evaluated.
    pub instances: usize,
    /// Palette rows written.
    pub rows: usize,
    /// Bytes written.
    pub bytes: usize,
}

impl Crowd {
    /// An empty crowd.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rig with one layer that blends.
    ///
    /// # Errors
    /// If there are too many rigs or clips.
    pub fn add_rig(&mut self, rig: Arc<Rig>) -> Result<RigId, CrowdError> {
        self.add_rig_with_layers(rig, vec![LayerOptions::default()])
    }

    /// Adds a rig whose instances have the given layers, lowest first.
    ///
    /// # Errors
    /// If there are no or too many layers, a mask was made for another skeleton, or there are too
    /// many rigs or clips.
    pub fn add_rig_with_layers(
        &mut self,
        rig: Arc<Rig>,
        layers: Vec<LayerOptions>,
    ) -> Result<RigId, CrowdError> {
        let limit = |what, count, limit| {
            if count > limit {
                Err(CrowdError::Limit { what, count, limit })
            } else {
                Ok(())
            }
        };
        limit("layers", layers.len(), MAX_LAYERS)?;
        if layers.is_empty() {
            return Err(CrowdError::UnknownLayer {
                layer: 0,
                layers: 0,
            });
        }
        for (layer, options) in layers.iter().enumerate() {
            let fits = |m: &crate::skeleton::JointMask| {
                m.layout_hash() == rig.skeleton().layout_hash()
                    && m.rows().len() == rig.skeleton().blocks()
            };
            if !options.mask.as_ref().is_none_or(fits) {
                return Err(CrowdError::Mask {
                    layer,
                    rig: rig.name().to_owned(),
                });
            }
        }
        limit("clips of one rig", rig.clips().len(), MAX_CLIPS)?;
        let index = match self.pools.iter().position(|s| s.pool.is_none()) {
            Some(index) => index,
            None => {
                limit("rigs", self.pools.len() + 1, usize::from(u16::MAX))?;
                self.pools.push(Slot::default());
                self.pools.len() - 1
            }
        };
        let slot = &mut self.pools[index];
        let id = RigId {
            index: index as u16,
            generation: slot.generation,
        };
        slot.pool = Some(Pool::new(id, rig, layers));
        Ok(id)
    }

    /// Removes a rig of which no instance is alive; its memory goes when no one else holds it.
    ///
    /// # Errors
    /// If the rig is unknown or still has instances.
    pub fn remove_rig(&mut self, rig: RigId) -> Result<Arc<Rig>, CrowdError> {
        let instances = self.pool(rig)?.alive();
        if instances > 0 {
            return Err(CrowdError::RigInUse { rig, instances });
        }
        let index = usize::from(rig.index);
        let slot = &mut self.pools[index];
        slot.generation = slot.generation.wrapping_add(1);
        self.workers.forget(index);
        match slot.pool.take() {
            Some(pool) => Ok(pool.rig),
            None => Err(CrowdError::UnknownRig { rig }),
        }
    }

    /// A rig of this crowd.
    ///
    /// # Errors
    /// If the rig is unknown.
    pub fn rig(&self, rig: RigId) -> Result<&Arc<Rig>, CrowdError> {
        Ok(&self.pool(rig)?.rig)
    }

    /// The handle of a rig's clip by its place in the file, if it is loaded.
    pub fn clip_by_index(&self, rig: RigId, clip: usize) -> Option<ClipId> {
        let (generation, loaded) = self.pool(rig).ok()?.clips.get(clip)?;
        loaded.as_ref().map(|_| ClipId {
            index: clip as u16,
            generation: *generation,
        })
    }

    /// The handle of a rig's clip by name: the first loaded one of that name.
    pub fn find_clip(&self, rig: RigId, name: &str) -> Option<ClipId> {
        let clips = &self.pool(rig).ok()?.clips;
        let index = clips
            .iter()
            .position(|c| c.1.as_ref().is_some_and(|c| c.name() == name))?;
        self.clip_by_index(rig, index)
    }

    /// Adds a clip to a rig of this crowd (one made at run time, or an additive one).
    ///
    /// # Errors
    /// If the rig is unknown, the clip was built for another skeleton, or there are too many.
    pub fn add_clip(&mut self, rig: RigId, clip: Arc<Clip>) -> Result<ClipId, CrowdError> {
        let pool = self.pool_mut(rig)?;
        if !clip.fits(pool.rig.skeleton()) {
            return Err(CrowdError::ClipSkeleton {
                clip: clip.name().to_owned(),
                rig: pool.rig.name().to_owned(),
            });
        }
        let index = match pool.clips.iter().position(|c| c.1.is_none()) {
            Some(index) => index,
            None if pool.clips.len() >= MAX_CLIPS => {
                return Err(CrowdError::Limit {
                    what: "clips of one rig",
                    count: pool.clips.len() + 1,
                    limit: MAX_CLIPS,
                });
            }
            None => {
                pool.clips.push((0, None));
                pool.clips.len() - 1
            }
        };
        pool.clips[index].1 = Some(clip);
        pool.fit_clips();
        Ok(ClipId {
            index: index as u16,
            generation: pool.clips[index].0,
        })
    }

    /// Unloads a clip that no action plays; its handle becomes stale.
    ///
    /// # Errors
    /// If the rig or clip is unknown, or the clip is still played.
    pub fn unload_clip(&mut self, rig: RigId, clip: ClipId) -> Result<Arc<Clip>, CrowdError> {
        let pool = self.pool_mut(rig)?;
        if pool.clip(clip).is_none() {
            return Err(CrowdError::UnknownClip { clip });
        }
        let playing = pool.state.actions.clip.iter().flatten();
        let actions = playing.filter(|&&c| c == clip).count();
        if actions > 0 {
            return Err(CrowdError::ClipInUse { clip, actions });
        }
        let slot = &mut pool.clips[usize::from(clip.index)];
        slot.0 = slot.0.wrapping_add(1);
        let taken = slot.1.take();
        pool.fit_clips();
        taken.ok_or(CrowdError::UnknownClip { clip })
    }

    /// A loaded clip.
    ///
    /// # Errors
    /// If the rig or clip is unknown.
    pub fn clip(&self, rig: RigId, clip: ClipId) -> Result<&Arc<Clip>, CrowdError> {
        let pool = self.pool(rig)?;
        pool.clip(clip).ok_or(CrowdError::UnknownClip { clip })
    }

    /// Adds an instance in the rest pose, at the origin, visible, at speed 1.
    ///
    /// # Errors
    /// If the rig is unknown or has too many instances.
    pub fn spawn(&mut self, rig: RigId) -> Result<InstanceId, CrowdError> {
        let pool = self.pool_mut(rig)?;
        let index = pool.spawn()?;
        Ok(InstanceId {
            rig,
            index,
            generation: pool.state.generation[index as usize],
        })
    }

    /// Removes an instance; its handle becomes stale.
    ///
    /// # Errors
    /// If the instance is unknown.
    pub fn despawn(&mut self, instance: InstanceId) -> Result<(), CrowdError> {
        let (pool, index) = self.instance_mut(instance)?;
        pool.despawn(index);
        Ok(())
    }

    /// Instances alive, over all rigs.
    pub fn len(&self) -> usize {
        self.pools().map(|(_, p)| p.alive()).sum()
    }

    /// Whether no instance is alive.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves all times on by `dt` seconds, and all fades by its size: a fade never runs backwards.
    ///
    /// # Errors
    /// If `dt` is not within ±[`MAX_TIME`].
    pub fn advance(&mut self, dt: f64) -> Result<(), CrowdError> {
        check("dt", dt, -MAX_TIME, MAX_TIME)?;
        for slot in &mut self.pools {
            if let Some(pool) = &mut slot.pool {
                pool.advance(dt);
            }
        }
        Ok(())
    }

    /// Evaluates every visible instance into the bone buffer: rigs in the order they were added,
    /// instances in the order of their slots. Runs on the current rayon pool.
    ///
    /// Allocates only when the crowd, its clips or the number of workers has grown, or a set of clips
    /// plays together for the first time.
    pub fn evaluate(&mut self, buffer: &mut BoneBuffer) -> FrameStats {
        let Self { pools, workers } = self;
        let level = SimdLevel::current();
        let width = level.width();
        let mut rows = 0;
        let mut instances = 0;
        for pool in pools.iter_mut().filter_map(|s| s.pool.as_mut()) {
            pool.find_plans(width);
            rows += pool.schedule(rows);
            instances += pool.rank.last().map_or(0, |&n| n as usize);
        }
        let with_index = pools.iter().enumerate();
        workers.prepare(with_index.filter_map(|(i, s)| Some((i, s.pool.as_ref()?))));
        let mut rest = buffer.resize(rows);
        for (pool_index, slot) in pools.iter_mut().enumerate() {
            let Some(pool) = slot.pool.as_mut() else {
                continue;
            };
            let mut hints = std::mem::take(&mut pool.hints);
            let count = pool.state.alive.len();
            let palettes = pool.rank[count] as usize;
            let (now, later) = rest.split_at_mut(palettes * pool.rig.palette_len());
            Task {
                pool,
                pool_index,
                workers,
                level,
                first: 0,
                end: count,
                hints: &mut hints,
                rows: now,
            }
            .run();
            pool.hints = hints;
            rest = later;
        }
        FrameStats {
            instances,
            rows,
            bytes: rows * size_of::<Affine3x4>(),
        }
    }

    pub(crate) fn pools(&self) -> impl Iterator<Item = (usize, &Pool)> {
        let slots = self.pools.iter().enumerate();
        slots.filter_map(|(i, s)| Some((i, s.pool.as_ref()?)))
    }

    pub(crate) fn pool(&self, rig: RigId) -> Result<&Pool, CrowdError> {
        match self.pools.get(usize::from(rig.index)) {
            Some(s) if s.generation == rig.generation => s.pool.as_ref(),
            _ => None,
        }
        .ok_or(CrowdError::UnknownRig { rig })
    }

    pub(crate) fn pool_mut(&mut self, rig: RigId) -> Result<&mut Pool, CrowdError> {
        match self.pools.get_mut(usize::from(rig.index)) {
            Some(s) if s.generation == rig.generation => s.pool.as_mut(),
            _ => None,
        }
        .ok_or(CrowdError::UnknownRig { rig })
    }

    pub(crate) fn instance(&self, id: InstanceId) -> Result<(&Pool, usize), CrowdError> {
        let unknown = CrowdError::UnknownInstance { instance: id };
        let pool = self.pool(id.rig).map_err(|_| unknown.clone())?;
        let index = id.index as usize;
        let alive = pool.state.alive.get(index) == Some(&true)
            && pool.state.generation[index] == id.generation;
        alive.then_some((pool, index)).ok_or(unknown)
    }

    pub(crate) fn instance_mut(
        &mut self,
        id: InstanceId,
    ) -> Result<(&mut Pool, usize), CrowdError> {
        self.instance(id)?;
        let (pool, index) = (self.pool_mut(id.rig)?, id.index as usize);
        // Whatever is changed may change which clips take part.
        if let Some(dirty) = pool.plans.dirty.get_mut(index) {
            *dirty = true;
        }
        Ok((pool, index))
    }

    pub(crate) fn check_clip(pool: &Pool, layer: usize, clip: ClipId) -> Result<f32, CrowdError> {
        let options = pool.layers.get(layer).ok_or(CrowdError::UnknownLayer {
            layer,
            layers: pool.layers.len(),
        })?;
        let data = pool.clip(clip).ok_or(CrowdError::UnknownClip { clip })?;
        let additive = data.kind() == ClipKind::Additive;
        if additive != options.additive {
            let name = |additive| if additive { "additive" } else { "full" };
            return Err(CrowdError::ClipKind {
                clip: data.name().to_owned(),
                have: name(additive),
                layer,
                needed: name(options.additive),
            });
        }
        Ok(data.duration())
    }
}

/// The most clips of one rig: handles are 16 bits and the last value means "none".
const MAX_CLIPS: usize = u16::MAX as usize - 1;

pub(crate) fn check(what: &'static str, value: f64, low: f64, high: f64) -> Result<(), CrowdError> {
    if value >= low && value <= high {
        Ok(())
    } else {
        Err(CrowdError::Value {
            what,
            value,
            low,
            high,
        })
    }
}
