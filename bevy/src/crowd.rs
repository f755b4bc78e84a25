//! `PhalanxCrowd`: the crowd of an app and what of it belongs to which asset and entity.

use crate::calls;
use crate::loader::PhalanxRig;
use crate::player::{Call, PhalanxPlayer};
use bevy::asset::{AssetId, Assets, Handle};
use bevy::ecs::entity::{Entity, EntityHashMap};
use bevy::ecs::error::Result;
use bevy::ecs::resource::Resource;
use phalanx::crowd::{
    BoneBuffer, Crowd, CrowdError, InstanceId, LayerOptions, ModifierId, Playing, RigId,
};
use phalanx::rig::Rig;
use std::collections::HashMap;
use std::sync::Arc;

pub use phalanx::crowd::{ActionState, Playable};

/// The crowd of an app.
///
/// Its [`Crowd`] is there for whatever components do not reach: instances are found by
/// [`PhalanxInstance`](crate::PhalanxInstance).
#[derive(Resource)]
pub struct PhalanxCrowd {
    /// The crowd. Instances of characters are spawned and despawned by the plugin.
    pub crowd: Crowd,
    pub(crate) bones: BoneBuffer,
    pub(crate) rigs: HashMap<AssetId<PhalanxRig>, LoadedRig>,
    pub(crate) setups: HashMap<AssetId<PhalanxRig>, RigSetup>,
    /// The instances of characters.
    pub(crate) instances: EntityHashMap<InstanceId>,
    pub(crate) entities: HashMap<InstanceId, Entity>,
    /// What characters go on with whose rig has changed.
    pub(crate) resumed: EntityHashMap<Resumed>,
    /// Rigs that cannot be set up, so that this is said once.
    refused: Vec<(AssetId<PhalanxRig>, Arc<Rig>)>,
    /// Rigs whose file has changed; they go with their last instance.
    replaced: Vec<RigId>,
}

impl Default for PhalanxCrowd {
    fn default() -> Self {
        Self {
            crowd: Crowd::new(),
            bones: BoneBuffer::new(),
            rigs: HashMap::new(),
            setups: HashMap::new(),
            instances: EntityHashMap::default(),
            entities: HashMap::new(),
            resumed: EntityHashMap::default(),
            refused: Vec::new(),
            replaced: Vec::new(),
        }
    }
}

/// What a character goes on with when it gets another rig.
#[derive(Default)]
pub(crate) struct Resumed {
    pub calls: Vec<Call>,
    /// Its children that the plugin has spawned.
    pub meshes: Vec<Entity>,
}

/// An asset's rig in the crowd.
#[derive(Debug)]
pub(crate) struct LoadedRig {
    pub id: RigId,
    pub rig: Arc<Rig>,
    pub names: Names,
}

/// The name of the springs that a rig's file has.
pub(crate) const SPRINGS: &str = "springs";

/// What a [`RigSetup`] has named: blend spaces and modifiers. Clips have the names of their file.
#[derive(Clone, Debug, Default)]
pub struct Names {
    playables: HashMap<String, Playable>,
    modifiers: HashMap<String, ModifierId>,
}

impl Names {
    /// Names a blend space or a clip, for [`PhalanxPlayer::play`](crate::PhalanxPlayer::play).
    pub fn playable(&mut self, name: &str, playable: impl Into<Playable>) {
        self.playables.insert(name.to_owned(), playable.into());
    }

    /// The name of a blend space, or of a clip that was named.
    pub(crate) fn name_of(&self, playable: Playable) -> Option<&str> {
        self.playables.iter().find(|(_, named)| **named == playable).map(|(name, _)| name.as_str())
    }

    /// Names a modifier.
    pub fn modifier(&mut self, name: &str, modifier: ModifierId) {
        self.modifiers.insert(name.to_owned(), modifier);
    }

    pub(crate) fn get_modifier(&self, name: &str) -> Option<ModifierId> {
        self.modifiers.get(name).copied()
    }
}

type Layers = Box<dyn Fn(&Rig) -> Result<Vec<LayerOptions>> + Send + Sync>;
type Setup = Box<dyn Fn(&mut Crowd, RigId, &mut Names) -> Result + Send + Sync>;

/// What a crowd is told about a rig when its file has loaded, and again when the file has changed.
///
/// ```
/// use bevy_phalanx::RigSetup;
/// use phalanx::crowd::{Aim, BlendSpace};
///
/// let setup = RigSetup::new(|crowd, rig, names| {
///     let [idle, walk, run] = ["Idle", "Walk", "Run"].map(|name| crowd.clip_named(rig, name));
///     let gait = BlendSpace::line(&[(0.0, idle?), (1.4, walk?), (3.2, run?)]);
///     names.playable("gait", crowd.add_blend_space(rig, gait)?);
///     let head = crowd.rig(rig)?.skeleton().joint("Head")?;
///     names.modifier("look", crowd.add_modifier(rig, Aim::new(head))?);
///     Ok(())
/// });
/// # let _ = setup;
/// ```
#[derive(Default)]
pub struct RigSetup {
    layers: Option<Layers>,
    setup: Option<Setup>,
}

impl RigSetup {
    /// A setup that adds blend spaces, modifiers and filters of events.
    pub fn new(
        setup: impl Fn(&mut Crowd, RigId, &mut Names) -> Result + Send + Sync + 'static,
    ) -> Self {
        Self { layers: None, setup: Some(Box::new(setup)) }
    }

    /// The layers of the rig's instances; one full layer without it.
    pub fn with_layers(
        mut self,
        layers: impl Fn(&Rig) -> Result<Vec<LayerOptions>> + Send + Sync + 'static,
    ) -> Self {
        self.layers = Some(Box::new(layers));
        self
    }
}

impl PhalanxCrowd {
    /// Sets what is done with a rig when it loads. Call it before the first character of the rig is spawned; later, it
    /// holds from the next change of the file on. It goes with the asset, once no handle of that is left.
    pub fn set_up(&mut self, rig: &Handle<PhalanxRig>, setup: RigSetup) {
        self.setups.insert(rig.id(), setup);
    }

    /// The instance of a character; `None` while its rig has not loaded.
    pub fn instance(&self, character: Entity) -> Option<InstanceId> {
        self.instances.get(&character).copied()
    }

    /// The character of an instance.
    pub fn entity(&self, instance: InstanceId) -> Option<Entity> {
        self.entities.get(&instance).copied()
    }

    /// The rig of an asset in the crowd; `None` while none of its characters has been bound.
    pub fn rig(&self, rig: &Handle<PhalanxRig>) -> Option<RigId> {
        self.rigs.get(&rig.id()).map(|loaded| loaded.id)
    }

    /// What is played under a name: a blend space of the rig's setup, or a clip of its file.
    ///
    /// # Errors
    /// If there is none; the message names the nearest.
    pub fn playable(&self, rig: RigId, name: &str) -> Result<Playable, CrowdError> {
        let named = self.names(rig).and_then(|names| names.playables.get(name).copied());
        named.map_or_else(|| self.crowd.clip_named(rig, name).map(Playable::Clip), Ok)
    }

    /// The modifier of a rig under the name that its setup gave it.
    pub fn modifier(&self, rig: RigId, name: &str) -> Option<ModifierId> {
        self.names(rig)?.get_modifier(name)
    }

    fn names(&self, rig: RigId) -> Option<&Names> {
        self.rigs.values().find(|loaded| loaded.id == rig).map(|loaded| &loaded.names)
    }

    /// What a character plays, to be read; `None` while its rig has not loaded. Calls of a
    /// [`PhalanxPlayer`](crate::PhalanxPlayer) show after [`PhalanxSystems::Bind`](crate::PhalanxSystems::Bind).
    pub fn playing(&self, character: Entity) -> Option<Playing<'_>> {
        self.crowd.playing(self.instance(character)?).ok()
    }

    /// The state of a clip or blend space that a character plays: time, weight, passes, whether it is paused or has
    /// finished; of the lowest layer that plays it. `None` if it does not play.
    ///
    /// ```
    /// use bevy::prelude::*;
    /// use bevy_phalanx::PhalanxCrowd;
    ///
    /// fn landed(crowd: Res<PhalanxCrowd>, hero: Single<Entity, With<Name>>) {
    ///     if crowd.state(*hero, "Land").is_some_and(|land| land.finished) {
    ///         println!("down");
    ///     }
    /// }
    /// # let _ = landed;
    /// ```
    pub fn state(&self, character: Entity, name: &str) -> Option<ActionState> {
        let instance = self.instance(character)?;
        let what = self.playable(instance.rig(), name).ok()?;
        let playing = self.crowd.playing(instance).ok()?;
        (0..playing.layers()).find_map(|layer| playing.action(layer, what).ok())
    }

    /// True if a character plays a clip or blend space that is neither paused nor finished.
    pub fn is_playing(&self, character: Entity, name: &str) -> bool {
        self.state(character, name).is_some_and(|state| !state.paused && !state.finished)
    }

    /// A player whose calls make another character play what this one does; `None` while its rig has not loaded. What a
    /// character plays is in the crowd: a scene that is to be saved takes it from here.
    pub fn player_of(&self, character: Entity) -> Option<PhalanxPlayer> {
        let instance = self.instance(character)?;
        Some(PhalanxPlayer {
            calls: calls::resume(&self.crowd, self.names(instance.rig())?, instance),
        })
    }

    /// The rig of an asset, added if it is new.
    pub(crate) fn load(&mut self, asset: AssetId<PhalanxRig>, rig: &Arc<Rig>) -> Result<RigId> {
        if let Some(loaded) = self.rigs.get(&asset).filter(|loaded| Arc::ptr_eq(&loaded.rig, rig)) {
            return Ok(loaded.id);
        }
        let setup = self.setups.get(&asset);
        let id = match setup.and_then(|setup| setup.layers.as_ref()) {
            Some(layers) => self.crowd.add_rig_with_layers(rig.clone(), layers(rig)?)?,
            None => self.crowd.add_rig(rig.clone())?,
        };
        let mut names = Names::default();
        if let Some(setup) = setup.and_then(|setup| setup.setup.as_ref())
            && let Err(error) = setup(&mut self.crowd, id, &mut names)
        {
            // A rig that is half set up would be refused for ever.
            self.crowd.remove_rig(id)?;
            return Err(error);
        }
        if !rig.springs().is_empty() && !names.modifiers.contains_key(SPRINGS) {
            names.modifier(SPRINGS, self.crowd.add_modifier(id, rig.springs().clone())?);
        }
        if let Some(before) = self.rigs.insert(asset, LoadedRig { id, rig: rig.clone(), names }) {
            // It has instances until they are bound again.
            self.replaced.push(before.id);
        }
        Ok(id)
    }

    /// Assets whose file has changed since characters were bound to it.
    pub(crate) fn changed_rigs(
        &self,
        assets: &Assets<PhalanxRig>,
    ) -> Vec<(AssetId<PhalanxRig>, Arc<Rig>)> {
        let changed = self.rigs.iter().filter_map(|(&asset, loaded)| {
            let now = &assets.get(asset)?.rig;
            let known = Arc::ptr_eq(now, &loaded.rig) || self.is_refused(asset, now);
            (!known).then(|| (asset, now.clone()))
        });
        changed.collect()
    }

    /// Puts a changed rig in the place of the one before; returns the names of that.
    pub(crate) fn replace(&mut self, asset: AssetId<PhalanxRig>, rig: &Arc<Rig>) -> Result<Names> {
        let names = self.rigs.get(&asset).map(|loaded| loaded.names.clone()).unwrap_or_default();
        if let Err(error) = self.load(asset, rig) {
            self.refuse(asset, rig);
            return Err(error);
        }
        Ok(names)
    }

    pub(crate) fn is_refused(&self, asset: AssetId<PhalanxRig>, rig: &Arc<Rig>) -> bool {
        self.refused.iter().any(|(id, refused)| *id == asset && Arc::ptr_eq(refused, rig))
    }

    pub(crate) fn refuse(&mut self, asset: AssetId<PhalanxRig>, rig: &Arc<Rig>) {
        self.refused.push((asset, rig.clone()));
    }

    /// Removes rigs that no character can have any more: of changed files, and of assets that are gone.
    pub(crate) fn drop_rigs(&mut self, assets: &Assets<PhalanxRig>) {
        let Self { crowd, rigs, setups, refused, replaced, .. } = self;
        // One that has instances is refused, and stays.
        replaced.retain(|&id| crowd.remove_rig(id).is_err());
        rigs.retain(|&asset, loaded| {
            let gone = !assets.contains(asset) && crowd.remove_rig(loaded.id).is_ok();
            if gone {
                setups.remove(&asset);
            }
            !gone
        });
        refused.retain(|(asset, rig)| {
            assets.get(*asset).is_some_and(|now| Arc::ptr_eq(&now.rig, rig))
        });
    }
}
