//! Queries of one instance's present pose: model matrices and scalars. Each costs the evaluation of one character.

use super::Pool;
use crate::evaluate::{Evaluated, Instances, Own, PoseStage, Scratch, WATCHED_CHUNK, WatchedRow};
use crate::math::Affine3x4;
use crate::playback::PlaybackError;
use crate::playback::ids::Source;
use crate::runtime::{ScalarBlend, ScalarScratch};
use crate::skeleton::{ChannelHandle, ChannelValue, JointRef, Pose};
use crate::words::shorten;
use std::cell::RefCell;

thread_local! {
    static SCALARS: RefCell<(Scratch, ScalarScratch)> = RefCell::default();
}

impl Pool {
    /// Whether an instance plays a motion; a clip also as a part of a blend space, whatever its weight.
    pub fn plays(&self, index: usize, motion: Source) -> bool {
        let motions = self.library.motions();
        let has = |source: Source| match motion {
            Source::Clip(clip) => motions.all_clips(source).any(|other| other == clip),
            Source::Space(_) => source == motion,
        };
        self.actions_of(index).any(|action| has(action.source()))
    }

    /// Evaluates the watched joints of an instance, if it has changed since their last evaluation. Returns whether it
    /// had.
    pub fn refresh_watched(&mut self, index: usize) -> bool {
        let settled = |row: WatchedRow<'_>| row.current || row.joints.is_empty();
        if self.watched.row(index).is_none_or(settled) {
            return false;
        }
        let mut watched = std::mem::take(&mut self.watched);
        Evaluated::watch(self, index, &mut watched.outside_frames());
        self.watched = watched;
        true
    }

    /// Lays out the entries of watched joints. `own` lists instances that watch further joints.
    pub fn lay_out_watched(&mut self, own: &[Own]) {
        self.watched.lay_out(self.state.len(), own);
        self.tables.watch_before(self.watched.before());
    }

    /// Evaluates the watched joints of instances that are scheduled and `shown`, if the frame has not stored them: with
    /// tiers, palettes are not always those of the present poses. Uses rayon's workers, or only this thread.
    pub fn evaluate_watched(&mut self, workers: bool, shown: impl Fn(usize) -> bool + Sync) {
        let mut watched = std::mem::take(&mut self.watched);
        let chunk = if workers { WATCHED_CHUNK } else { usize::MAX };
        let scheduled = self.scheduled.all();
        let due = |index: usize| scheduled[index] && shown(index);
        Evaluated::watch_all(self, 0..self.state.len(), watched.frame(), (chunk, &due));
        self.watched = watched;
    }

    pub fn model_matrix(
        &self,
        index: usize,
        joint: JointRef<'_>,
    ) -> Result<Affine3x4, PlaybackError> {
        let joint = self.rig().skeleton().joint(joint)?;
        Ok(Evaluated::read(self, index, |e| e.model(joint)))
    }

    pub fn model_matrices(&self, index: usize) -> Vec<Affine3x4> {
        let joints: Vec<usize> = (0..self.rig().skeleton().len()).collect();
        let mut out = vec![Affine3x4::IDENTITY; joints.len()];
        Evaluated::models(self, (std::iter::once(index), PoseStage::After), &joints, &mut out);
        out
    }

    /// Evaluates the scalars of an instance, and calls `read` with a pose without joints. A thread keeps its scratch.
    pub fn with_scalars<R>(&self, index: usize, read: impl FnOnce(&Pose) -> R) -> R {
        SCALARS.with_borrow_mut(|(scratch, scalars)| {
            scratch.reserve(&self.needs());
            self.gather(index, scratch);
            self.scalars_of(scratch).run(self.tables.level(), scalars);
            read(&scalars.pose)
        })
    }

    /// The blend of the scalars of what a scratch has gathered.
    pub(super) fn scalars_of<'a>(&'a self, scratch: &'a Scratch) -> ScalarBlend<'a> {
        ScalarBlend {
            sources: self.tables.sources(),
            layers: &scratch.layers,
            actions: &scratch.actions,
            offsets: self.state.offsets(),
        }
    }

    /// The present value of a user channel of an instance.
    pub fn channel(
        &self,
        index: usize,
        channel: ChannelHandle,
    ) -> Result<ChannelValue, PlaybackError> {
        let found = self.rig().skeleton().channel_at(channel);
        let (user, first) = found.ok_or_else(|| PlaybackError::UnknownChannel {
            channel,
            rig: shorten(self.rig().name()),
        })?;
        Ok(self.with_scalars(index, |pose| user.rest.with(|i| pose.scalar(first + i))))
    }
}
