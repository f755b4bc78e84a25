//! `Library`: what a pool can play: its rig, clips and blend spaces with their handles, and the layers that accept them.

use super::action::Action;
use super::arena::Arena;
use super::blend_space::space::{MAX_MEMBERS, Space};
use super::error::PlaybackError;
use super::event_sink::Clips;
use super::ids::{ClipId, Owner, Playable, Source};
use super::layer_state::ACTIONS_PER_LAYER;
use super::modifiers::Definition;
use super::motions::Motions;
use super::options::{
    LayerOptions, MAX_LAYERS, PlayOptions, check, check_parameter, check_repetitions,
    check_seconds, check_speed, check_time,
};
use super::snapshot::identity::PoolIdentity;
use crate::clip::{Clip, ClipKind};
use crate::rig::{Rig, check_scales};
use crate::skeleton::JointMask;
use crate::suggest::LookupError;
use crate::words::shorten;
use std::sync::{Arc, OnceLock};

mod modifiers;
mod spaces;

/// The most clip indices of one rig: an index has 16 bits, and the last value means "none".
pub(crate) const MAX_CLIPS: usize = u16::MAX as usize - 1;

/// The most clips of one action on a line. Limits count them, whether there are blend spaces or not.
const ON_LINE: usize = 2;

/// The user of a handle in messages, unless the call names another.
const INSTANCE: &str = "this instance";

/// Clips and blend spaces that the instances of a pool can play.
#[derive(Debug)]
pub(crate) struct Library {
    /// The owner that handles of the clips, blend spaces and instances name.
    owner: Owner,
    rig: Arc<Rig>,
    motions: Motions,
    modifiers: Arena<Arc<Definition>>,
    layers: Vec<LayerOptions>,
    /// Hashes that snapshots refer to; made by the first snapshot after the loaded clips have changed.
    identity: OnceLock<Arc<PoolIdentity>>,
}

impl Library {
    pub fn new(owner: Owner, rig: Arc<Rig>, layers: Vec<LayerOptions>) -> Self {
        let clips = rig.clips().iter().cloned().collect();
        let motions = Motions { clips, spaces: Arena::default() };
        let (modifiers, identity) = (Arena::default(), OnceLock::new());
        Self { owner, rig, motions, modifiers, layers, identity }
    }

    pub fn owner(&self) -> Owner {
        self.owner
    }

    /// Names another owner in handles from now on.
    pub fn set_owner(&mut self, owner: Owner) {
        self.owner = owner;
    }

    #[inline(always)]
    pub fn rig(&self) -> &Arc<Rig> {
        &self.rig
    }

    #[inline(always)]
    pub fn layers(&self) -> &[LayerOptions] {
        &self.layers
    }

    #[inline(always)]
    pub fn motions(&self) -> &Motions {
        &self.motions
    }

    #[inline(always)]
    pub fn clips(&self) -> &Clips {
        &self.motions.clips
    }

    pub fn spaces(&self) -> &Arena<Space> {
        &self.motions.spaces
    }

    pub fn modifiers(&self) -> &Arena<Arc<Definition>> {
        &self.modifiers
    }

    /// The most clips of one action: several if there are blend spaces.
    pub fn clips_per_action(&self) -> usize {
        let plane = self.motions.spaces.iter().any(|(_, space)| space.kind.plane);
        match (self.motions.spaces.is_empty(), plane) {
            (true, _) => 1,
            (false, plane) => {
                if plane {
                    MAX_MEMBERS
                } else {
                    ON_LINE
                }
            }
        }
    }

    /// The hashes of skeleton, layers and clips, to which snapshots refer.
    pub fn identity(&self) -> &Arc<PoolIdentity> {
        self.identity.get_or_init(|| Arc::new(PoolIdentity::of(self)))
    }

    /// Checks that a rig and its clips fit these layers and the limits.
    pub fn validate(rig: &Rig, layers: &[LayerOptions]) -> Result<(), PlaybackError> {
        let limit = |what, count, limit| {
            if count > limit { Err(PlaybackError::Limit { what, count, limit }) } else { Ok(()) }
        };
        limit("layers", layers.len(), MAX_LAYERS)?;
        if layers.is_empty() {
            return Err(PlaybackError::UnknownLayer {
                layer: 0,
                layers: 0,
                rig: shorten(rig.name()),
            });
        }
        for (layer, options) in layers.iter().enumerate() {
            let fits =
                |m: &JointMask| m.fits(rig.skeleton()) && m.rows().len() == rig.skeleton().blocks();
            if !options.mask.as_ref().is_none_or(fits) {
                return Err(PlaybackError::Mask { layer, rig: rig.name().to_owned() });
            }
        }
        limit("clips of one rig", rig.clips().len(), MAX_CLIPS)?;
        let clips = rig.clips().iter().map(|c| &**c);
        Self::check_scales(rig, layers, clips, ON_LINE)
    }

    /// Checks that scales stay within f32 for any clips that may play together, of which an action has so many.
    fn check_scales<'c>(
        rig: &Rig,
        layers: &[LayerOptions],
        clips: impl Iterator<Item = &'c Clip>,
        per_action: usize,
    ) -> Result<(), PlaybackError> {
        let additive = layers.iter().filter(|l| l.additive).count() * ACTIONS_PER_LAYER;
        let additive = additive * per_action;
        let checked = check_scales(rig.skeleton(), clips, additive);
        checked.map_err(|source| PlaybackError::Scales {
            rig: rig.name().to_owned(),
            source: Box::new(source),
        })
    }

    pub fn clip_by_index(&self, clip: usize) -> Option<ClipId> {
        let index = u16::try_from(clip).ok()?;
        let (_, loaded) = self.motions.clips.values.get(clip)?;
        loaded.as_ref().map(|_| self.clip_id(index))
    }

    pub fn find_clip(&self, name: &str) -> Option<ClipId> {
        let found = self.motions.clips.iter().find(|(_, c)| c.name() == name);
        found.map(|(index, _)| self.clip_id(index))
    }

    pub fn clip_named(&self, name: &str) -> Result<ClipId, PlaybackError> {
        self.find_clip(name).ok_or_else(|| {
            let names = self.motions.clips.iter().map(|(_, clip)| clip.name());
            LookupError::no_clip(self.rig.name(), name, names).into()
        })
    }

    pub fn add_clip(&mut self, clip: Arc<Clip>) -> Result<ClipId, PlaybackError> {
        let clip = self.rig.lay_out(&clip).map_err(|source| PlaybackError::ClipLayout {
            rig: self.rig.name().to_owned(),
            source: Box::new(source),
        })?;
        if !clip.scale_factors().is_empty() {
            let loaded = self.motions.clips.iter().map(|(_, clip)| &**clip);
            let all = loaded.chain(std::iter::once(&*clip));
            let per_action = self.clips_per_action().max(ON_LINE);
            Self::check_scales(&self.rig, &self.layers, all, per_action)?;
            // With this clip, undone clips may be beyond the limit; adding them again checks that.
            self.motions.clips.disown(|undone| !undone.scale_factors().is_empty());
            self.motions.spaces.disown(|_| true);
        }
        let same = |a: &Arc<Clip>, b: &Arc<Clip>| {
            Arc::ptr_eq(a, b) || a.name() == b.name() && a.identity() == b.identity()
        };
        let what = "clips of one rig";
        let (index, again) = self.motions.clips.add_again(clip, same, what, MAX_CLIPS)?;
        if !again {
            self.motions.spaces.disown(|space| space.holds(index));
        }
        self.identity = OnceLock::new();
        Ok(self.clip_id(index))
    }

    /// Returns an undone clip or blend space to the state, because it is used. Returns whether that changed the clips.
    pub fn adopt(&mut self, source: Source) -> bool {
        match source {
            Source::Clip(clip) => self.adopt_clips([clip]),
            // The clips of a blend space that is in the state are in the state, too.
            Source::Space(space) if self.motions.spaces.adopt(space) => {
                let clips: Vec<u16> = self.motions.all_clips(source).collect();
                self.adopt_clips(clips)
            }
            Source::Space(_) => false,
        }
    }

    /// As [`adopt`](Self::adopt), for clips.
    fn adopt_clips(&mut self, clips: impl IntoIterator<Item = u16>) -> bool {
        let adopted =
            clips.into_iter().fold(false, |any, clip| self.motions.clips.adopt(clip) | any);
        if adopted {
            self.identity = OnceLock::new();
        }
        adopted
    }

    /// Whether a clip or blend space is undone: see [`Arena`](super::arena::Arena).
    pub fn has_undone(&self) -> bool {
        self.motions.clips.has_undone() || self.motions.spaces.has_undone()
    }

    /// Unloads a clip. `playing` are the actions of all instances.
    pub fn unload_clip<'p>(
        &mut self,
        clip: ClipId,
        playing: impl Iterator<Item = &'p Action>,
    ) -> Result<Arc<Clip>, PlaybackError> {
        let index = self.clip_index(clip, INSTANCE)?;
        let uses = |a: &&Action| self.motions.clips_of(a).any(|clip| clip == index);
        let users = playing.filter(uses).count()
            + self.motions.spaces.iter().filter(|(_, space)| space.holds(index)).count();
        if users > 0 {
            let users = match users {
                1 => "1 action or blend space".into(),
                n => format!("{n} actions or blend spaces"),
            };
            return Err(PlaybackError::InUse { name: self.name_of(clip.into()), users });
        }
        let taken = self.motions.clips.take(index);
        self.motions.spaces.disown(|space| space.holds(index));
        self.identity = OnceLock::new();
        taken.ok_or_else(|| self.unknown_clip(clip, INSTANCE))
    }

    pub fn clip(&self, id: ClipId) -> Option<&Arc<Clip>> {
        let found = self.motions.clips.find(id.index, id.generation);
        found.filter(|_| id.owner == self.owner)
    }

    pub fn clip_id(&self, index: u16) -> ClipId {
        ClipId::new(self.owner, index, self.motions.clips.generation(index))
    }

    /// The text that names the rig in messages.
    pub fn rig_text(&self) -> String {
        format!("{} (\"{}\")", self.owner.rig(), shorten(self.rig.name()))
    }

    /// The text that names a clip or blend space of this pool in messages.
    pub fn name_of(&self, motion: Playable) -> String {
        let rig = shorten(self.rig.name());
        let rig = match motion.rig() {
            Some(id) => format!("{id} (\"{rig}\")"),
            None => format!("a mixer (\"{rig}\")"),
        };
        match motion {
            Playable::Clip(clip) => {
                let name = self.clip(clip).map_or("", |c| c.name());
                format!("clip {} (\"{}\") of {rig}", clip.index(), shorten(name))
            }
            Playable::Space(space) => format!("blend space {} of {rig}", space.index()),
        }
    }

    /// The index of a clip. `user` names, for messages, what the clip is used with.
    fn clip_index(&self, clip: ClipId, user: &'static str) -> Result<u16, PlaybackError> {
        let found = self.clip(clip).map(|_| clip.index);
        found.ok_or_else(|| self.unknown_clip(clip, user))
    }

    pub fn loaded_clip(&self, clip: ClipId) -> Result<&Arc<Clip>, PlaybackError> {
        self.clip(clip).ok_or_else(|| self.unknown_clip(clip, INSTANCE))
    }

    /// The error for a clip that this pool does not have.
    pub fn unknown_clip(&self, clip: ClipId, user: &'static str) -> PlaybackError {
        let why = clip.owner.unknown_to(self.owner, user);
        let rig = shorten(self.rig.name());
        PlaybackError::UnknownClip { clip, why, rig }
    }

    /// Resolves a motion to its index in this pool.
    pub fn source(&self, motion: Playable) -> Result<Source, PlaybackError> {
        match motion {
            Playable::Clip(clip) => self.clip_index(clip, INSTANCE).map(Source::Clip),
            Playable::Space(space) => self.space_index(space).map(Source::Space),
        }
    }

    /// Resolves a motion and checks that its kind (full or additive) matches the layer's.
    pub fn check_motion(&self, layer: usize, motion: Playable) -> Result<Source, PlaybackError> {
        self.check_layer(layer)?;
        let source = self.source(motion)?;
        // All clips of a blend space are of one kind.
        let clip = self.motions.all_clips(source).next();
        if let Some(data) = clip.and_then(|clip| self.motions.clips.get(clip)) {
            self.check_kind(layer, data)?;
        }
        Ok(source)
    }

    fn check_kind(&self, layer: usize, clip: &Clip) -> Result<(), PlaybackError> {
        let needed = self.layers[layer].additive;
        let additive = clip.kind() == ClipKind::Additive;
        if additive == needed {
            return Ok(());
        }
        let name = |additive| if additive { "additive" } else { "full" };
        Err(PlaybackError::ClipKind {
            clip: shorten(clip.name()),
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
            let rig = shorten(self.rig.name());
            Err(PlaybackError::UnknownLayer { layer, layers, rig })
        }
    }

    pub fn check_play(
        &self,
        layer: usize,
        motion: Playable,
        options: &PlayOptions,
    ) -> Result<Source, PlaybackError> {
        let source = self.check_motion(layer, motion)?;
        self.check_options(layer, options)?;
        Ok(source)
    }

    pub fn check_options(&self, layer: usize, options: &PlayOptions) -> Result<(), PlaybackError> {
        check_speed(options.speed)?;
        check_time(options.time)?;
        check_seconds("fade_in", options.fade_in)?;
        check_repetitions(options.repetitions)?;
        check_parameter(options.parameter)?;
        options.at_end.check()?;
        self.check_weight("weight", layer, options.weight)
    }

    pub fn check_weight(
        &self,
        what: &'static str,
        layer: usize,
        weight: f32,
    ) -> Result<(), PlaybackError> {
        let low = if self.layers[layer].additive { -1.0 } else { 0.0 };
        check(what, f64::from(weight), low, 1.0)
    }

    pub fn not_playing(&self, motion: Playable, layer: usize) -> PlaybackError {
        PlaybackError::NotPlaying { motion, name: self.name_of(motion), layer }
    }

    /// Goes back to the clips and blend spaces of a snapshot. Returns the indices whose clip is another one than
    /// before.
    pub fn rewind(&mut self, identity: &PoolIdentity, spaces: &Arena<Space>) -> Vec<u16> {
        let now = self.identity().clone();
        let loaded = |clips: &Clips| -> Vec<_> {
            (0..clips.extent()).map(|clip| clips.get(clip).map(Arc::as_ptr)).collect()
        };
        let before = loaded(&self.motions.clips);
        self.motions.clips.rewind(&identity.clips, |then, clip, index| {
            let known = index.and_then(|index| now.clips.get(index));
            known.map_or_else(|| then.is_of(clip), |now| then.fits(now))
        });
        self.motions.spaces.rewind(spaces, |a, b, _| a == b);
        self.identity = OnceLock::new();
        let after = loaded(&self.motions.clips);
        let clip = |all: &[Option<_>], index: u16| all.get(usize::from(index)).copied().flatten();
        let changed = |index: u16| clip(&before, index) != clip(&after, index);
        self.motions.spaces.disown(|space| space.points().iter().any(|p| changed(p.clip)));
        let others = (0..).zip(&before).filter(|&(index, _)| changed(index));
        others.map(|(index, _)| index).collect()
    }
}
