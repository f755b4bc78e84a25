//! Which instance has which mirror, found in constant time from both sides.

use crate::playback::InstanceId;
use crate::scene::{MirrorId, SceneGraph};
use std::collections::HashMap;
use std::sync::{Arc, Weak};

/// The mirrors of a crowd's instances, at most one per instance and scene.
#[derive(Debug, Default)]
pub(crate) struct Mirrors {
    of: Vec<Mirrored>,
    /// Places in `of`.
    by_instance: HashMap<(InstanceId, u32), usize>,
    by_mirror: HashMap<MirrorId, usize>,
    /// Mirrors whose instance a restore has undone: its handle may then identify another one.
    undone: Vec<Mirrored>,
    /// At this number those of dropped scenes are looked for.
    sweep_at: usize,
    /// True if mirrors came or went since the watched joints were laid out.
    pub changed: bool,
}

/// An instance and its mirror.
#[derive(Clone, Debug)]
pub(crate) struct Mirrored {
    pub instance: InstanceId,
    pub mirror: MirrorId,
    /// The joints that have nodes, ascending; `None`: all.
    pub joints: Option<Arc<[u16]>>,
    /// The scene's number, which its clones share.
    pub scene: u32,
    /// The scene, which may be dropped before the crowd.
    pub alive: Weak<()>,
}

/// Below this number of mirrors those of dropped scenes wait for the next update of a scene.
const SWEEP: usize = 64;

impl Mirrors {
    /// All mirrors, but those of undone instances.
    pub fn all(&self) -> &[Mirrored] {
        &self.of
    }

    /// The mirrors of undone instances.
    pub fn undone(&self) -> &[Mirrored] {
        &self.undone
    }

    /// Adds a mirror. A scene that was replaced by an earlier clone returns the same handles again: what was mirrored
    /// by this one is forgotten.
    pub fn add(&mut self, new: Mirrored) {
        self.remove(new.mirror);
        self.undone.retain(|m| m.mirror != new.mirror);
        if let Some(&at) = self.by_instance.get(&(new.instance, new.scene)) {
            // It was removed from the scene.
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

    /// What is mirrored in a scene.
    pub fn find(&self, instance: InstanceId, scene: &SceneGraph) -> Option<&Mirrored> {
        let &at = self.by_instance.get(&(instance, scene.id()))?;
        let found = self.of.get(at)?;
        scene.skeleton(found.mirror).is_ok().then_some(found)
    }

    /// The instance of a mirror.
    pub fn instance_of(&self, mirror: MirrorId) -> Option<InstanceId> {
        let &at = self.by_mirror.get(&mirror)?;
        Some(self.of.get(at)?.instance)
    }

    /// Forgets a mirror.
    pub fn remove(&mut self, mirror: MirrorId) {
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

    /// Sets the mirrors of instances aside that a restored state does not have.
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

    /// Removes the mirror at a place; the last one takes it.
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
