//! `Mixer`: one character that owns its palette and events.

use super::advance::Passed;
use super::blend_space::BlendSpace;
use super::error::PlaybackError;
use super::events::{Event, EventKinds, MAX_EVENTS_PER_ACTION};
use super::hook::{Calls, Framed, HookFn, PoseMut};
use super::ids::{BlendSpaceId, ClipId, ModifierId, Owner};
use super::library::Library;
use super::modifiers::Modifier;
use super::options::{LayerOptions, MAX_TIME, check};
use super::player::Player;
use super::playing::Playing;
use super::pool::Pool;
use super::snapshot::{MixerSnapshot, PoolSnapshot};
use super::springs::Swing;
use crate::clip::Clip;
use crate::evaluate::{Evaluated, Instances};
use crate::math::{Affine3x4, Rigid};
use crate::rig::Rig;
use crate::simd::SimdLevel;
use crate::skeleton::{ChannelHandle, ChannelValue, JointRef};
use std::sync::Arc;

/// One character of a rig. A frame is [`advance`](Self::advance), then [`evaluate`](Self::evaluate).
///
/// A mixer follows the rules of a crowd's instance and computes the same palette, bit for bit.
/// [`player`](Self::player) has all calls on what plays and the table of what they do, [`playing`](Self::playing) reads.
/// Calls that a [`Crowd`](crate::crowd::Crowd) has by the same name do the same. A call that fails changes nothing.
///
/// ```
/// use phalanx::playback::{Mixer, PlayOptions};
/// # #[cfg(feature = "gltf")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut mixer = Mixer::new(std::sync::Arc::new(phalanx::import::mannequin()?))?;
/// let (walk, run) = (mixer.clip_named("Walk")?, mixer.clip_named("Run")?);
/// mixer.player().play(0, walk, &PlayOptions::default())?;
/// for frame in 0..60 {
///     if frame == 30 {
///         mixer.player().fade_to(0, run, 0.25, &PlayOptions::default())?;
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
    pub(super) pool: Pool,
    palette: Vec<Affine3x4>,
    /// Key hints of the character, one per action and irregular timeline.
    hints: Vec<u16>,
    /// What the last advance returned.
    passed: Passed,
    /// Number of the evaluation.
    frame: u32,
}

/// Index of the only instance in a mixer's pool.
const ONLY: usize = 0;

impl Mixer {
    /// Makes a character in the rest pose, with one blending layer.
    ///
    /// # Errors
    /// As for [`Crowd::add_rig`](crate::crowd::Crowd::add_rig).
    pub fn new(rig: Arc<Rig>) -> Result<Self, PlaybackError> {
        Self::with_layers(rig, vec![LayerOptions::default()])
    }

    /// Makes a character in the rest pose, with the given layers, lowest first.
    ///
    /// # Errors
    /// As for [`Crowd::add_rig_with_layers`](crate::crowd::Crowd::add_rig_with_layers).
    pub fn with_layers(rig: Arc<Rig>, layers: Vec<LayerOptions>) -> Result<Self, PlaybackError> {
        Library::validate(&rig, &layers)?;
        // Clip handles are valid in all mixers of one skeleton and in no mixer of another.
        let owner = Owner::of_mixers(rig.skeleton().structure_hash());
        let palette = vec![Affine3x4::IDENTITY; rig.palette_len()];
        let mut passed = Passed::default();
        passed.events.reserve(MAX_EVENTS_PER_ACTION);
        let mut pool = Pool::new(owner, rig, layers);
        pool.spawn()?;
        Ok(Self { pool, palette, hints: Vec::new(), passed, frame: 0 })
    }

    /// The rig that the mixer plays.
    pub fn rig(&self) -> &Arc<Rig> {
        self.pool.rig()
    }

    /// The handle of a rig's clip by its index in the file, if it is loaded.
    pub fn clip_by_index(&self, clip: usize) -> Option<ClipId> {
        self.pool.library().clip_by_index(clip)
    }

    /// The handle of the first loaded clip with this name, or an error that suggests others.
    ///
    /// # Errors
    /// If no loaded clip has this name: [`PlaybackError::Lookup`].
    pub fn clip_named(&self, name: &str) -> Result<ClipId, PlaybackError> {
        self.pool.library().clip_named(name)
    }

    /// The clip that a handle names.
    pub fn clip(&self, clip: ClipId) -> Result<&Arc<Clip>, PlaybackError> {
        self.pool.library().loaded_clip(clip)
    }

    /// Adds a clip: one of another file, made at run time, or additive. If its lane order is not the rig's, it is
    /// converted ([`Rig::lay_out`]), once for all crowds and mixers of the rig.
    ///
    /// # Errors
    /// If the clip was built for another skeleton (the error names the first joint that differs), needs too much
    /// memory in the rig's lane order, there are too many clips, or their scales multiply beyond the limit.
    pub fn add_clip(&mut self, clip: Arc<Clip>) -> Result<ClipId, PlaybackError> {
        self.pool.add_clip(clip)
    }

    /// Unloads a clip that nothing plays; its handle becomes stale.
    ///
    /// # Errors
    /// If the clip is unknown, an action plays it, or a blend space holds it.
    pub fn unload_clip(&mut self, clip: ClipId) -> Result<Arc<Clip>, PlaybackError> {
        self.pool.unload_clip(clip)
    }

    /// Adds a blend space: a slice of ascending values with their clips, or any [`BlendSpace`].
    ///
    /// # Errors
    /// As for [`Crowd::add_blend_space`](crate::crowd::Crowd::add_blend_space).
    pub fn add_blend_space(
        &mut self,
        space: impl Into<BlendSpace>,
    ) -> Result<BlendSpaceId, PlaybackError> {
        self.pool.add_space(&space.into())
    }

    /// Removes a blend space that nothing plays; its handle becomes stale.
    ///
    /// # Errors
    /// If the blend space is unknown or an action plays it.
    pub fn remove_blend_space(&mut self, space: BlendSpaceId) -> Result<(), PlaybackError> {
        self.pool.remove_space(space)
    }

    /// Adds a modifier, which changes the pose after blending.
    ///
    /// # Errors
    /// As for [`Crowd::add_modifier`](crate::crowd::Crowd::add_modifier).
    pub fn add_modifier(
        &mut self,
        modifier: impl Into<Modifier>,
    ) -> Result<ModifierId, PlaybackError> {
        self.pool.add_modifier(&modifier.into())
    }

    /// Removes a modifier; its handle becomes stale.
    ///
    /// # Errors
    /// If the modifier is unknown.
    pub fn remove_modifier(&mut self, modifier: ModifierId) -> Result<(), PlaybackError> {
        self.pool.remove_modifier(modifier)
    }

    /// The positions of the feet of [`Feet`](super::Feet), without the modifier, in model space: as animated now. A
    /// mixer has no world transform. Evaluates the character, so that positions are not a frame old. `out` has one element
    /// per foot.
    ///
    /// # Errors
    /// If the modifier is unknown or has no feet, or `out` does not have one element per foot.
    pub fn foot_positions(
        &self,
        modifier: ModifierId,
        out: &mut [glam::Vec3],
    ) -> Result<(), PlaybackError> {
        self.pool.feet_of(ONLY, modifier, out)
    }

    /// All calls on layers and actions, the same as for instances of crowds.
    pub fn player(&mut self) -> Player<'_> {
        Player { pool: &mut self.pool, index: ONLY }
    }

    /// Reads what the character plays.
    pub fn playing(&self) -> Playing<'_> {
        Playing { pool: &self.pool, index: ONLY }
    }

    /// Advances all actions by `dt` seconds, within ±[`MAX_TIME`], and all fades by its absolute value.
    ///
    /// # Errors
    /// If `dt` is not within ±[`MAX_TIME`].
    pub fn advance(&mut self, dt: f64) -> Result<(), PlaybackError> {
        check("dt", dt, -MAX_TIME, MAX_TIME)?;
        self.passed.clear();
        self.passed.moves = self.pool.roots_mut().take_moves();
        self.pool.advance(dt).run(&mut self.passed);
        self.pool.end_offsets(&self.passed.ended);
        self.pool.follow(dt);
        self.pool.roots_mut().moves = std::mem::take(&mut self.passed.moves);
        Ok(())
    }

    /// Sets which kinds of events [`events`](Self::events) collects. Default [`EventKinds::ALL`]. Times, fades and
    /// poses have the same bits with every filter. Snapshots do not contain this setting.
    pub fn set_event_filter(&mut self, kinds: EventKinds) {
        self.pool.set_event_filter(kinds);
    }

    /// Takes a snapshot, for replay and rollback.
    pub fn snapshot(&self) -> MixerSnapshot {
        MixerSnapshot { pool: PoolSnapshot::take(&self.pool) }
    }

    /// Returns to a snapshot, of this or another mixer with the same rig, layers and clips: the same calls from there on
    /// give the same bits and the same handles, every time. There are no events and no root motion until the next
    /// [`advance`](Self::advance).
    ///
    /// # Errors
    /// If the rig, the layers, the clips, the blend spaces or the modifiers differ from the snapshot's.
    pub fn restore(&mut self, snapshot: &MixerSnapshot) -> Result<(), PlaybackError> {
        snapshot.pool.check(&self.pool)?;
        self.pool.restore(&snapshot.pool, false);
        self.passed.events.clear();
        Ok(())
    }

    /// The events of the last [`advance`](Self::advance), by layer, then by age of the action, oldest first, then by time.
    pub fn events(&self) -> &[Event] {
        &self.passed.events.all
    }

    /// The number of events that the last [`advance`](Self::advance) left out, because their action had fired
    /// [`MAX_EVENTS_PER_ACTION`](crate::playback::MAX_EVENTS_PER_ACTION).
    pub fn dropped_events(&self) -> u64 {
        self.passed.events.dropped
    }

    /// Evaluates the character and returns its skinning palette: model matrix × inverse bind matrix.
    ///
    /// The palette holds the slots of the rig's skins, one skin after another. The call allocates only after clips have
    /// been added, and in a thread's first evaluation of a rig.
    pub fn evaluate(&mut self) -> &[Affine3x4] {
        self.evaluate_by(None)
    }

    /// [`evaluate`](Self::evaluate) with a [hook](super::Hook), which is called if its weight is above 0.
    pub fn evaluate_with(
        &mut self,
        hook: &(impl Fn(&mut PoseMut<'_>, f64) + Sync),
    ) -> &[Affine3x4] {
        self.evaluate_by(Some(&|_, pose, seconds| hook(pose, seconds)))
    }

    fn evaluate_by(&mut self, hook: Option<&HookFn<'_>>) -> &[Affine3x4] {
        let level = SimdLevel::current();
        self.pool.fit_level(level);
        self.hints.resize(self.pool.hints_per_instance(), 0);
        self.frame = self.frame.wrapping_add(1);
        let pool = &self.pool;
        let calls = hook.map(|hook| Calls { hook, frame: self.frame });
        let framed = Framed { pool, calls, swing: Swing::Step };
        let stage = pool.stage_by(ONLY, || (&framed, true));
        Evaluated::write(pool, (ONLY, stage), level, &mut self.hints, &mut self.palette);
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

    /// The current model matrix of a joint, by name, path or index: joint space to model space. Re-evaluates.
    ///
    /// # Errors
    /// If no joint matches, or several do.
    pub fn model_matrix<'a>(
        &self,
        joint: impl Into<JointRef<'a>>,
    ) -> Result<Affine3x4, PlaybackError> {
        self.pool.model_matrix(ONLY, joint.into())
    }

    /// The current value of a user channel (see `Skeleton::channel`). Re-evaluates the scalars.
    ///
    /// # Errors
    /// If the channel belongs to another skeleton.
    pub fn channel(&self, channel: ChannelHandle) -> Result<ChannelValue, PlaybackError> {
        self.pool.channel(ONLY, channel)
    }

    /// The movement of the root in the last [`advance`](Self::advance), in the root's space before it.
    ///
    /// Root motions of clips are blended with the weights of their poses.
    pub fn root_motion(&self) -> Rigid {
        self.pool.roots().moves.of_only()
    }

    /// The number of actions evicted so far because their layer was full.
    pub fn evicted(&self) -> u64 {
        self.pool.state().evicted()
    }
}
