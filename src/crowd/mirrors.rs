//! Which instance has which mirror, found in constant time from both sides.

use crate::playback::InstanceId;
use crate::scene::{NodeId, SceneGraph};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// The mirrors of a crowd's instances: at most one per instance and scene.
#[derive(Debug, Default)]
pub(crate) struct Mirrors {
    of: Vec<Mirrored>,
    /// Index in `of`, by instance and the number of the scene.
    by_instance: HashMap<(InstanceId, u32), usize>,
    by_mirror: HashMap<NodeId, usize>,
    /// Mirrors whose instance a restore has undone: the instance's handle may be given to another instance.
    undone: Vec<Mirrored>,
    /// The length of `of` at which the next `add` drops the mirrors of dropped scenes.
    sweep_at: usize,
    /// True if mirrors were added or removed since the watched joints were laid out.
    pub changed: bool,
}

/// An instance and its mirror.
#[derive(Clone, Debug)]
pub(crate) struct Mirrored {
    pub instance: InstanceId,
    /// The mirror's root.
    pub mirror: NodeId,
    /// The joints that have nodes, ascending. They are watched as long as the mirror is listed.
    pub joints: Arc<[u16]>,
    /// The scene's number, equal in its clones.
    pub scene: u32,
    /// Dead once the scene is dropped, which may be before the crowd.
    pub alive: Weak<()>,
}

/// Below this number of mirrors, the mirrors of dropped scenes stay until the next update of a scene.
const SWEEP: usize = 64;

impl Mirrors {
    /// All mirrors except those of undone instances.
    pub fn all(&self) -> &[Mirrored] {
        &self.of
    }

    pub fn undone(&self) -> &[Mirrored] {
        &self.undone
    }

    /// Adds a mirror. A scene that was replaced by an earlier clone of itself returns the same handles again: an older
    /// entry with this handle is removed.
    pub fn add(&mut self, new: Mirrored) {
        self.remove(new.mirror);
        self.undone.retain(|m| m.mirror != new.mirror);
        if let Some(&at) = self.by_instance.get(&(new.instance, new.scene)) {
            // The scene has removed that mirror, or `find` would have returned it.
            self.remove_at(at);
        }
        if self.of.len() >= self.sweep_at.max(SWEEP) {
            self.retain(|m| m.alive.strong_count() > 0);
            self.sweep_at = self.of.len() * 2;
        }
        let at = self.of.len();
        self.by_instance.insert((new.instance, new.scene), at);
        self.by_mirror.insert(new.mirror, at);
        self.of.push(new);
        self.changed = true;
    }

    /// The mirror of an instance in a scene, unless the scene has removed it.
    pub fn find(&self, instance: InstanceId, scene: &SceneGraph) -> Option<&Mirrored> {
        let &at = self.by_instance.get(&(instance, scene.id()))?;
        let found = self.of.get(at)?;
        scene.has(found.mirror).then_some(found)
    }

    /// The instance of a mirror.
    pub fn instance_of(&self, mirror: NodeId) -> Option<InstanceId> {
        let &at = self.by_mirror.get(&mirror)?;
        Some(self.of.get(at)?.instance)
    }

    /// Removes a mirror, if there is one with this handle.
    pub fn remove(&mut self, mirror: NodeId) {
        if let Some(&at) = self.by_mirror.get(&mirror) {
            self.remove_at(at);
        }
    }

    /// Drops the mirrors of scenes that were dropped, and those that this scene has removed.
    pub fn forget_removed(&mut self, scene: &SceneGraph) {
        let stays = |m: &Mirrored| m.alive.strong_count() > 0 && !scene.has_removed(m.mirror);
        self.retain(stays);
        self.undone.retain(stays);
    }

    /// Moves the mirrors of instances that a restored state does not have to `undone`.
    pub fn undo(&mut self, gone: impl Fn(InstanceId) -> bool) {
        for at in (0..self.of.len()).rev() {
            if gone(self.of[at].instance) {
                let undone = self.remove_at(at);
                self.undone.push(undone);
            }
        }
    }

    fn retain(&mut self, stays: impl Fn(&Mirrored) -> bool) {
        for at in (0..self.of.len()).rev() {
            if !stays(&self.of[at]) {
                self.remove_at(at);
            }
        }
    }

    /// Removes the mirror at an index; the last mirror gets its index.
    fn remove_at(&mut self, at: usize) -> Mirrored {
        self.changed = true;
        let gone = self.of.swap_remove(at);
        self.by_instance.remove(&(gone.instance, gone.scene));
        self.by_mirror.remove(&gone.mirror);
        if let Some(moved) = self.of.get(at) {
            self.by_instance.insert((moved.instance, moved.scene), at);
            self.by_mirror.insert(moved.mirror, at);
        }
        gone
    }
}
