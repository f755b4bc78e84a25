//! `Mixer`: one character with its palette, events and actions.

use super::advance::Passed;
use super::arena::Arena;
use super::error::PlaybackError;
use super::events::{EventKinds, Events, MAX_EVENTS_PER_ACTION};
use super::ids::{ActionId, BlendSpaceId, ClipId, Owner, Playable};
use super::lent::Lent;
use super::mixer_action::{ActionMut, Remembered};
use super::options::PlayOptions;
use super::player::Player;
use super::playing::Playing;
use super::pool::{LayerOptions, MAX_TIME, Pool, check};
use super::snapshot::{MixerSnapshot, PoolSnapshot};
use super::sync::CrossFade;
use crate::clip::{Clip, LaneDifference};
use crate::math::{Affine3x4, Rigid};
use crate::rig::Rig;
use crate::simd::SimdLevel;
use crate::skeleton::{ChannelHandle, ChannelValue, JointRef};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// One character of a rig. A frame is [`advance`](Self::advance), then [`evaluate`](Self::evaluate).
///
/// A mixer follows the rules of a crowd's instance and computes the same palette, bit for bit.
/// [`play`](Self::play) and [`fade_to`](Self::fade_to) play on the first layer; [`player`](Self::player) has all other
/// calls and the table of what they do, [`playing`](Self::playing) reads. A call that fails changes nothing.
///
/// ```
/// use phalanx::playback::{Mixer, PlayOptions};
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut mixer = Mixer::new(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let [walk, run] = ["Walk", "Run"].map(|name| mixer.find_clip(name).unwrap());
/// mixer.play(walk, &PlayOptions::default())?;
/// for frame in 0..60 {
///     if frame == 30 {
///         mixer.fade_to(run, 0.25, &PlayOptions::default())?;
///     }
///     mixer.advance(1.0 / 60.0)?;
///     let _palette = mixer.evaluate();
/// }
/// assert!(mixer.playing().clips().eq([run]));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "gltf"))]
/// # fn main() {}
/// ```
#[derive(Debug)]
pub struct Mixer {
    /// Differs from that of any other mixer of the process.
    pub(super) id: NonZeroU32,
    pub(super) pool: Pool,
    pub(super) actions: Arena<Remembered>,
    palette: Vec<Affine3x4>,
    events: Events,
}

/// The identity of the next mixer.
static NEXT_ID: AtomicU32 = AtomicU32::new(1);

/// The most action indices of one mixer: an index has 16 bits, and one value means "none".
pub(super) const MAX_ACTIONS: usize = u16::MAX as usize;

/// The only instance of a mixer's pool.
const ONLY: usize = 0;

impl Mixer {
    /// Makes a character in the rest pose, with one blending layer.
    ///
    /// # Errors
    /// If the rig has too many clips.
    pub fn new(rig: Arc<Rig>) -> Result<Self, PlaybackError> {
        Self::with_layers(rig, vec![LayerOptions::default()])
    }

    /// Makes a character in the rest pose, with the given layers, lowest first.
    ///
    /// # Errors
    /// If there are no layers, too many layers or clips, a mask was made for another skeleton, or the clips'
    /// scales multiply beyond their limit.
    pub fn with_layers(rig: Arc<Rig>, layers: Vec<LayerOptions>) -> Result<Self, PlaybackError> {
        Pool::validate(&rig, &layers)?;
        // Clip handles are valid in all mixers of one skeleton and in no mixer of another.
        let owner = Owner::of_mixers(rig.skeleton().structure_hash());
        let palette = vec![Affine3x4::IDENTITY; rig.palette_len()];
        let mut events = Events::default();
        events.reserve(MAX_EVENTS_PER_ACTION);
        let mut pool = Pool::new(owner, rig, layers);
        pool.spawn()?;
        Ok(Self {
            id: NonZeroU32::new(NEXT_ID.fetch_add(1, Ordering::Relaxed)).unwrap_or(NonZeroU32::MIN),
            pool,
            actions: Arena::default(),
            palette,
            events,
        })
    }

    /// The rig that the mixer plays.
    pub fn rig(&self) -> &Arc<Rig> {
        &self.pool.rig
    }

    /// The handle of a clip by its index in the rig, if it is loaded.
    pub fn clip_by_index(&self, clip: usize) -> Option<ClipId> {
        self.pool.clip_by_index(clip)
    }

    /// The handle of the first loaded clip with this name.
    pub fn find_clip(&self, name: &str) -> Option<ClipId> {
        self.pool.find_clip(name)
    }

    /// The handle of the first loaded clip with this name, or an error that suggests others.
    ///
    /// # Errors
    /// If no loaded clip has this name: [`PlaybackError::Lookup`].
    pub fn clip_named(&self, name: &str) -> Result<ClipId, PlaybackError> {
        self.pool.clip_named(name)
    }

    /// The clip of a handle.
    ///
    /// # Errors
    /// If the clip is unknown.
    pub fn clip(&self, clip: ClipId) -> Result<&Arc<Clip>, PlaybackError> {
        self.pool.loaded_clip(clip)
    }

    /// Adds a clip: one of another file, made at run time, or additive. If its lane order is not the rig's, it is
    /// converted to it ([`Rig::lay_out`]), once for all crowds and mixers of the rig;
    /// [`Mixer::layout_difference`] says what that changed.
    ///
    /// # Errors
    /// If the clip was built for another skeleton (the error names the first joint that differs), needs too much
    /// memory in the rig's lane order, there are too many clips, or their scales multiply beyond the limit.
    pub fn add_clip(&mut self, clip: Arc<Clip>) -> Result<ClipId, PlaybackError> {
        self.pool.add_clip(clip)
    }

    /// How far a clip is from what was added, because the rig has another lane order. Nothing for most clips.
    ///
    /// # Errors
    /// If the clip is unknown.
    pub fn layout_difference(&self, clip: ClipId) -> Result<LaneDifference, PlaybackError> {
        self.pool.layout_difference(clip)
    }

    /// Unloads a clip that nothing plays; its handle and those of its actions become stale.
    ///
    /// # Errors
    /// If the clip is unknown, an action plays it, or a blend space holds it.
    pub fn unload_clip(&mut self, clip: ClipId) -> Result<Arc<Clip>, PlaybackError> {
        let taken = self.pool.unload_clip(clip)?;
        self.forget(Playable::Clip(clip));
        Ok(taken)
    }

    fn forget(&mut self, motion: Playable) {
        // There is at most one action per layer.
        for layer in 0..self.pool.layers.len() {
            let same = |(_, a): &(u16, &Remembered)| (a.layer, a.motion) == (layer, motion);
            let index = self.actions.iter().find(same).map(|(index, _)| index);
            index.and_then(|index| self.actions.take(index));
        }
    }

    /// Makes a blend space of clips at ascending values of a parameter.
    ///
    /// # Errors
    /// If there are no clips, a clip is unknown, the clips are not of one kind, or the values do not ascend.
    pub fn add_blend_space(
        &mut self,
        points: &[(f32, ClipId)],
    ) -> Result<BlendSpaceId, PlaybackError> {
        self.pool.add_space(points)
    }

    /// Removes a blend space that nothing plays; its handle and those of its actions become stale.
    ///
    /// # Errors
    /// If the blend space is unknown or an action plays it.
    pub fn remove_blend_space(&mut self, space: BlendSpaceId) -> Result<(), PlaybackError> {
        self.pool.remove_space(space)?;
        self.forget(Playable::Space(space));
        Ok(())
    }

    /// The action of a clip or blend space on a layer. The same motion returns the same action.
    ///
    /// # Errors
    /// If the layer or clip is unknown, or the clip is additive and the layer is not, or the reverse.
    pub fn clip_action(
        &mut self,
        layer: usize,
        motion: impl Into<Playable>,
    ) -> Result<ActionId, PlaybackError> {
        let motion = motion.into();
        self.pool.check_motion(layer, motion)?;
        let same = |a: &Remembered| a.layer == layer && a.motion == motion;
        let known = self.actions.iter().find(|(_, a)| same(a));
        let index = match known.map(|(index, _)| index) {
            Some(index) => index,
            None => {
                let options = PlayOptions::default();
                let action = Remembered {
                    layer,
                    motion,
                    options,
                };
                let index = self
                    .actions
                    .add(action, "actions of one mixer", MAX_ACTIONS)?;
                // The action is part of the state, and so is what it plays.
                if self.pool.has_undone() {
                    let source = self.pool.source(motion)?;
                    self.pool.adopt(source);
                }
                index
            }
        };
        Ok(ActionId {
            mixer: self.id,
            index,
            generation: self.actions.generation(index),
        })
    }

    /// Access to an action, to play and stop it with options of its own. The calls chain.
    ///
    /// # Errors
    /// If the handle is stale or of another mixer.
    pub fn action(&mut self, action: ActionId) -> Result<ActionMut<'_>, PlaybackError> {
        self.remembered(action)?;
        Ok(ActionMut {
            mixer: self,
            id: action,
        })
    }

    /// [`Player::cross_fade`] from one action to another, with the options of the second.
    ///
    /// # Errors
    /// If a handle is stale or the actions are on different layers, and those of [`Player::cross_fade`].
    pub fn cross_fade<'f>(
        &mut self,
        from: ActionId,
        to: ActionId,
        fade: impl Into<CrossFade<'f>>,
    ) -> Result<(), PlaybackError> {
        let (from, to) = (self.remembered(from)?, self.remembered(to)?);
        if from.layer != to.layer {
            return Err(self.pool.not_playing(from.motion, to.layer));
        }
        self.player()
            .cross_fade(to.layer, from.motion, to.motion, fade, &to.options)
    }

    /// Plays a motion alone on the first layer: [`Player::play`].
    ///
    /// # Errors
    /// Those of [`Player::play`].
    pub fn play(
        &mut self,
        motion: impl Into<Playable>,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        self.player().play(0, motion, options)
    }

    /// Fades to a motion on the first layer over `seconds`: [`Player::fade_to`].
    ///
    /// # Errors
    /// Those of [`Player::fade_to`].
    pub fn fade_to(
        &mut self,
        motion: impl Into<Playable>,
        seconds: f32,
        options: &PlayOptions,
    ) -> Result<(), PlaybackError> {
        self.player().fade_to(0, motion, seconds, options)
    }

    /// All calls on layers and actions, those that instances of crowds have.
    pub fn player(&mut self) -> Player<'_> {
        Player {
            pool: &mut self.pool,
            index: ONLY,
        }
    }

    /// What the character plays.
    pub fn playing(&self) -> Playing<'_> {
        Playing {
            pool: &self.pool,
            index: ONLY,
        }
    }

    /// Advances all actions by `dt` seconds, and all fades by its absolute value.
    ///
    /// # Errors
    /// If `dt` is not within ±[`MAX_TIME`].
    pub fn advance(&mut self, dt: f64) -> Result<(), PlaybackError> {
        check("dt", dt, -MAX_TIME, MAX_TIME)?;
        let mut passed = Passed {
            events: std::mem::take(&mut self.events),
            moves: self.pool.take_moves(),
            ..Passed::default()
        };
        passed.events.clear();
        self.pool.advance(dt).run(&mut passed);
        self.events = passed.events;
        self.pool.settle(passed.moves);
        Ok(())
    }

    /// Sets which kinds of events are listened to. Default [`EventKinds::ALL`]. Others are not in
    /// [`events`](Self::events); times, fades and poses are the same bits, whatever is listened to. Snapshots do not
    /// contain it.
    pub fn set_event_filter(&mut self, kinds: EventKinds) {
        self.pool.set_event_filter(kinds);
    }

    /// Takes a snapshot, for replay and rollback.
    pub fn snapshot(&self) -> MixerSnapshot {
        MixerSnapshot {
            pool: PoolSnapshot::take(&self.pool),
            actions: self.actions.clone(),
        }
    }

    /// Returns to a snapshot: the same calls from here give the same bits and the same handles, every time. There
    /// are no events and no root motion until the next [`advance`](Self::advance).
    ///
    /// Clips and blend spaces that were added since stay, as with
    /// [`Crowd::restore`](crate::crowd::Crowd::restore). The snapshot may be another mixer's of the same rig, layers
    /// and clips; this mixer's action handles then refer to that mixer's actions in the order in which they were
    /// made.
    ///
    /// # Errors
    /// If the rig, the layers, the clips or the blend spaces are not those of the snapshot.
    pub fn restore(&mut self, snapshot: &MixerSnapshot) -> Result<(), PlaybackError> {
        snapshot.pool.check(&self.pool)?;
        snapshot.pool.restore(&mut self.pool, false);
        self.actions.clone_from(&snapshot.actions);
        self.events.clear();
        Ok(())
    }

    /// The events of the last [`advance`](Self::advance).
    pub fn events(&self) -> &Events {
        &self.events
    }

    /// Evaluates the character and returns its skinning palette: model matrix × inverse bind matrix.
    ///
    /// The palette holds the skins of the rig one after another. The call allocates only after clips have
    /// been added, and in a thread's first evaluation of a rig.
    pub fn evaluate(&mut self) -> &[Affine3x4] {
        let level = SimdLevel::current();
        self.pool.fit_level(level);
        let mut lent = Lent::new(&mut self.pool, |pool| &mut pool.hints);
        let (pool, hints) = lent.split();
        pool.evaluate_here(ONLY, level, hints, &mut self.palette);
        drop(lent);
        &self.palette
    }

    /// The palette of the last [`evaluate`](Self::evaluate).
    pub fn palette(&self) -> &[Affine3x4] {
        &self.palette
    }

    /// The current model matrices of all joints: joint space to model space. Re-evaluates, and allocates.
    pub fn model_matrices(&self) -> Vec<Affine3x4> {
        self.pool.model_matrices(ONLY)
    }

    /// The current model matrix of a joint, by name, path or index: joint space to model space.
    /// Re-evaluates, and allocates.
    ///
    /// # Errors
    /// If no joint matches, or several do.
    pub fn model_matrix<'a>(
        &self,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<Affine3x4, PlaybackError> {
        self.pool.model_matrix(ONLY, joint.into())
    }

    /// The current local matrices of all joints: joint space to the parent's space.
    ///
    /// [`SceneGraph::set_joint_locals`](crate::scene::SceneGraph::set_joint_locals) accepts them.
    /// Re-evaluates, and allocates.
    pub fn locals(&self) -> Vec<Affine3x4> {
        self.pool.locals(ONLY)
    }

    /// The current scalars in the skeleton's order: morph weights, then the numbers of user channels.
    /// Re-evaluates, and allocates.
    pub fn scalars(&self) -> Vec<f32> {
        let pose = self.pool.evaluate_scalars(ONLY);
        let count = self.pool.rig.skeleton().scalars().len();
        (0..count).map(|i| pose.scalar(i)).collect()
    }

    /// The current value of a user channel (see `Skeleton::channel`). Re-evaluates the scalars.
    ///
    /// # Errors
    /// If the channel belongs to another skeleton.
    pub fn channel(&self, channel: ChannelHandle) -> Result<ChannelValue, PlaybackError> {
        self.pool.channel(ONLY, channel)
    }

    /// How far the root moved in the last [`advance`](Self::advance), in the root's space before it.
    ///
    /// The motions of clips with root motion are blended as their poses are.
    pub fn root_motion(&self) -> Rigid {
        self.pool.moves().of_only()
    }

    /// Overrides the local matrix of a joint: [`Player::set_override`].
    ///
    /// # Errors
    /// Those of [`Player::set_override`].
    pub fn set_override<'a>(
        &mut self,
        joint: impl Into<JointRef<'a>>,
        local: impl Into<Affine3x4>,
    ) -> Result<(), PlaybackError> {
        self.player().set_override(joint, local)
    }

    /// Removes the override of a joint: [`Player::clear_override`].
    ///
    /// # Errors
    /// Those of [`Player::clear_override`].
    pub fn clear_override<'a>(
        &mut self,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<(), PlaybackError> {
        self.player().clear_override(joint)
    }

    /// Removes all overrides.
    pub fn clear_overrides(&mut self) {
        self.player().clear_overrides();
    }

    /// The joints that have overrides, with their local matrices, in ascending order of joints.
    pub fn overrides(&self) -> impl Iterator<Item = (usize, &Affine3x4)> {
        self.playing().overrides()
    }

    /// The number of actions evicted so far because their layer was full.
    pub fn evicted(&self) -> u64 {
        self.pool.state.evicted()
    }
}
