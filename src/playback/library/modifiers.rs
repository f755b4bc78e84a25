//! The modifiers of a library.

use super::{INSTANCE, Library};
use crate::evaluate::Feet;
use crate::playback::error::PlaybackError;
use crate::playback::ids::ModifierId;
use crate::playback::modifiers::{Definition, MAX_MODIFIERS};
use crate::words::shorten;
use std::sync::Arc;

impl Library {
    pub fn add_modifier(&mut self, definition: Definition) -> Result<ModifierId, PlaybackError> {
        let what = "modifiers of one rig";
        if definition.is_hook() && self.modifiers.iter().any(|(_, other)| other.is_hook()) {
            let what = format!("{} has a hook already", self.rig_text());
            return Err(PlaybackError::Modifier { what });
        }
        let index = self.modifiers.add(Arc::new(definition), what, MAX_MODIFIERS)?;
        Ok(ModifierId::new(self.owner, index, self.modifiers.generation(index)))
    }

    /// The index of a modifier.
    pub fn modifier(&self, id: ModifierId) -> Result<u8, PlaybackError> {
        let known =
            id.owner == self.owner && self.modifiers.find(id.index, id.generation).is_some();
        // There are at most 64.
        known.then_some(id.index as u8).ok_or_else(|| self.unknown_modifier(id))
    }

    fn unknown_modifier(&self, id: ModifierId) -> PlaybackError {
        let why = id.owner.unknown_to(self.owner, INSTANCE);
        PlaybackError::UnknownModifier { modifier: id, why, rig: shorten(self.rig.name()) }
    }

    /// Removes a modifier. Returns its index and definition.
    pub fn take_modifier(
        &mut self,
        id: ModifierId,
    ) -> Result<(u8, Arc<Definition>), PlaybackError> {
        let index = self.modifier(id)?;
        let taken = self.modifiers.take(id.index);
        taken.map(|definition| (index, definition)).ok_or_else(|| self.unknown_modifier(id))
    }

    /// The index of a modifier that takes targets.
    pub fn target_modifier(&self, id: ModifierId) -> Result<u8, PlaybackError> {
        let index = self.modifier(id)?;
        let feet = self.modifiers.get(id.index).is_some_and(|d| d.feet().is_some());
        let what = || format!("modifier {index} puts feet on grounds; it takes no targets");
        if feet { Err(PlaybackError::Modifier { what: what() }) } else { Ok(index) }
    }

    /// The index and definition of a modifier with feet, and their number.
    pub fn feet(&self, id: ModifierId) -> Result<(u8, &Feet), PlaybackError> {
        let index = self.modifier(id)?;
        let feet = self.modifiers.get(id.index).and_then(|d| d.feet());
        let what = || format!("modifier {index} has no feet; it takes no grounds");
        feet.map(|feet| (index, feet)).ok_or_else(|| PlaybackError::Modifier { what: what() })
    }
}
