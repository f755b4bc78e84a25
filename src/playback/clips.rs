//! The clips of a pool: which are loaded, under which handles, and on which layers they fit.

use super::actions::ACTIONS_PER_LAYER;
use super::error::PlaybackError;
use super::ids::{ClipId, Motion};
use super::pool::{LayerOptions, MAX_LAYERS, Pool};
use crate::clip::{Clip, ClipKind};
use crate::rig::{Rig, check_scales};
use crate::skeleton::JointMask;
use std::sync::Arc;

/// The most clips of one rig: handles are 16 bits and the last value means "none".
const MAX_CLIPS: usize = u16::MAX as usize - 1;

impl Pool {
    /// Checks that a rig can be played with these layers.
    pub fn validate(rig: &Rig, layers: &[LayerOptions]) -> Result<(), PlaybackError> {
        let limit = |what, count, limit| {
            if count > limit {
                Err(PlaybackError::Limit { what, count, limit })
            } else {
                Ok(())
            }
        };
        limit("layers", layers.len(), MAX_LAYERS)?;
        if layers.is_empty() {
            return Err(PlaybackError::UnknownLayer {
                layer: 0,
                layers: 0,
            });
        }
        for (layer, options) in layers.iter().enumerate() {
            let fits =
                |m: &JointMask| m.fits(rig.skeleton()) && m.rows().len() == rig.skeleton().blocks();
            if !options.mask.as_ref().is_none_or(fits) {
                return Err(PlaybackError::Mask {
                    layer,
                    rig: rig.name().to_owned(),
                });
            }
        }
        limit("clips of one rig", rig.clips().len(), MAX_CLIPS)?;
        let clips = rig.clips().iter().map(|c| &**c);
        Self::check_scales(rig, layers, clips)
    }

    /// Checks that what may play at once stays within f32.
    fn check_scales<'c>(
        rig: &Rig,
        layers: &[LayerOptions],
        clips: impl Iterator<Item = &'c Clip>,
    ) -> Result<(), PlaybackError> {
        // An action of a blend space plays two clips.
        let additive = layers.iter().filter(|l| l.additive).count() * ACTIONS_PER_LAYER * 2;
        let checked = check_scales(rig.skeleton(), clips, additive);
        checked.map_err(|source| PlaybackError::Scales {
            rig: rig.name().to_owned(),
            source,
        })
    }

    pub fn clip_by_index(&self, clip: usize) -> Option<ClipId> {
        let (generation, loaded) = self.clips.get(clip)?;
        loaded.as_ref().map(|_| ClipId {
            rig: self.id,
            index: clip as u16,
            generation: *generation,
        })
    }

    pub fn find_clip(&self, name: &str) -> Option<ClipId> {
        let named = |c: &Arc<Clip>| c.name() == name;
        let index = self
            .clips
            .iter()
            .position(|c| c.1.as_ref().is_some_and(named))?;
        self.clip_by_index(index)
    }

    pub fn add_clip(&mut self, clip: Arc<Clip>) -> Result<ClipId, PlaybackError> {
        if !clip.fits(self.rig.skeleton()) {
            return Err(PlaybackError::ClipSkeleton {
                clip: clip.name().to_owned(),
                rig: self.rig.name().to_owned(),
            });
        }
        if !clip.scale_factors().is_empty() {
            let loaded = self.clips.iter().filter_map(|c| c.1.as_deref());
            let all = loaded.chain(std::iter::once(&*clip));
            Self::check_scales(&self.rig, &self.layers, all)?;
        }
        let index = match self.clips.iter().position(|c| c.1.is_none()) {
            Some(index) => index,
            None if self.clips.len() >= MAX_CLIPS => {
                return Err(PlaybackError::Limit {
                    what: "clips of one rig",
                    count: self.clips.len() + 1,
                    limit: MAX_CLIPS,
                });
            }
            None => {
                self.clips.push((0, None));
                self.clips.len() - 1
            }
        };
        self.clips[index].1 = Some(clip);
        self.fit_clips();
        Ok(ClipId {
            rig: self.id,
            index: index as u16,
            generation: self.clips[index].0,
        })
    }

    pub fn unload_clip(&mut self, clip: ClipId) -> Result<Arc<Clip>, PlaybackError> {
        if self.clip(clip).is_none() {
            return Err(PlaybackError::UnknownClip { clip });
        }
        let state = &self.state.actions;
        let playing = state.clip.iter().chain(&state.other).flatten();
        let spaces = self.spaces.iter().filter_map(|s| s.1.as_ref());
        let users = playing.filter(|&&c| c == clip).count()
            + spaces.filter(|space| space.holds(clip)).count();
        if users > 0 {
            return Err(PlaybackError::ClipInUse {
                clip,
                actions: users,
            });
        }
        let slot = &mut self.clips[usize::from(clip.index)];
        slot.0 = slot.0.wrapping_add(1);
        let taken = slot.1.take();
        self.fit_clips();
        taken.ok_or(PlaybackError::UnknownClip { clip })
    }

    /// Checks that a motion exists and may play on a layer.
    pub fn check_motion(&self, layer: usize, motion: Motion) -> Result<(), PlaybackError> {
        self.check_layer(layer)?;
        let clip = match motion {
            Motion::Clip(clip) => clip,
            Motion::Space(space) => match self.space(space) {
                Some(points) => points.any_clip(),
                None => return Err(PlaybackError::UnknownSpace { space }),
            },
        };
        let data = self.clip(clip).ok_or(PlaybackError::UnknownClip { clip })?;
        self.check_kind(layer, data)
    }

    fn check_kind(&self, layer: usize, clip: &Clip) -> Result<(), PlaybackError> {
        let needed = self.layers[layer].additive;
        let additive = clip.kind() == ClipKind::Additive;
        if additive == needed {
            return Ok(());
        }
        let name = |additive| if additive { "additive" } else { "full" };
        Err(PlaybackError::ClipKind {
            clip: clip.name().to_owned(),
            have: name(additive),
            layer,
            needed: name(needed),
        })
    }

    pub fn check_layer(&self, layer: usize) -> Result<(), PlaybackError> {
        let layers = self.layers.len();
        if layer < layers {
            Ok(())
        } else {
            Err(PlaybackError::UnknownLayer { layer, layers })
        }
    }
}
