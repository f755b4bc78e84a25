//! The workloads C1 to C3 that benchmarks compare: one clip; two clips of equal weight; three clips of equal
//! weight with an additive layer.

use crate::hash01;
use phalanx::clip::Clip;
use phalanx::crowd::{Crowd, CrowdError, LayerOptions, PlayOptions, RigId};
use phalanx::rig::Rig;
use phalanx::skeleton::JointMask;
use std::sync::Arc;

/// The actions that every character of a workload plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Workload {
    /// One clip.
    C1,
    /// Two clips, each at weight 1/2.
    C2,
    /// Three clips, each at weight 1/3, and a masked additive layer at weight 1.
    C3,
}

/// The clips of a workload.
#[derive(Clone, Debug)]
pub struct WorkloadClips {
    /// Three clips of the rig, by index; action k of character i plays clip (i + k) mod 3 of them.
    pub clips: [usize; 3],
    /// The additive clip of C3.
    pub additive: Option<Arc<Clip>>,
    /// The mask of the additive layer.
    pub mask: Option<JointMask>,
}

impl Workload {
    /// All workloads.
    pub const ALL: [Self; 3] = [Self::C1, Self::C2, Self::C3];

    /// Number of clips that a character plays on its first layer.
    pub const fn actions(self) -> usize {
        self as usize + 1
    }

    /// Makes a crowd of `count` characters that play the workload, each at different phases.
    ///
    /// # Errors
    /// If the crowd rejects the rig, a clip or the mask, or no clip has a given index.
    pub fn crowd(
        self,
        rig: Arc<Rig>,
        clips: &WorkloadClips,
        count: usize,
    ) -> Result<(Crowd, RigId), CrowdError> {
        let mut layers = vec![LayerOptions::default()];
        if self == Self::C3 {
            layers.push(LayerOptions {
                additive: true,
                mask: clips.mask.clone(),
                ..LayerOptions::default()
            });
        }
        let mut crowd = Crowd::new();
        let id = crowd.add_rig_with_layers(rig, layers)?;
        let additive = match &clips.additive {
            Some(clip) if self == Self::C3 => Some(crowd.add_clip(id, clip.clone())?),
            _ => None,
        };
        let clips_of = clips.clips.map(|index| crowd.clip_by_index(id, index));
        let mut crowd_clips = Vec::with_capacity(3);
        for (clip, index) in clips_of.into_iter().zip(clips.clips) {
            crowd_clips.push(clip.ok_or(CrowdError::Limit {
                what: "index of a clip",
                count: index,
                limit: crowd.rig(id)?.clips().len(),
            })?);
        }
        for i in 0..count {
            let instance = crowd.spawn(id)?;
            let mut play = |layer: usize, clip, k: u64, weight: f32| {
                let duration = f64::from(crowd.clip(clip)?.duration());
                let options = PlayOptions {
                    time: hash01(i as u64 * 4 + k) * duration,
                    weight,
                    ..PlayOptions::default()
                };
                crowd.player(instance)?.add(layer, clip, &options)
            };
            for k in 0..self.actions() {
                let clip = crowd_clips[(i + k) % 3];
                play(0, clip, k as u64, 1.0 / self.actions() as f32)?;
            }
            if let Some(clip) = additive {
                play(1, clip, 3, 1.0)?;
            }
        }
        Ok((crowd, id))
    }
}
