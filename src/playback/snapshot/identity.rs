//! `PoolIdentity`: which skeleton, layers and clips a snapshot was taken with, by hashes and names.

use super::super::arena::Arena;
use super::super::ids::RigId;
use super::super::pool::{Fill, LayerOptions, Pool};
use crate::clip::{Clip, ClipKind};
use crate::math::Fnv1a;
use crate::words::{says, shorten};

/// What a pool has to have so that a snapshot fits it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PoolIdentity {
    pub structure: u64,
    pub layout: u64,
    pub layers: Vec<LayerIdentity>,
    pub clips: Arena<ClipIdentity>,
}

/// The options of a layer, the mask by its hash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LayerIdentity {
    pub additive: bool,
    pub fill: Fill,
    pub mask: Option<u64>,
}

/// A clip. Its name is for messages: clips of one content are one clip.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClipIdentity {
    pub hash: u64,
    pub kind: ClipKind,
    /// Seconds.
    pub duration: f32,
    pub name: String,
}

/// What of a crowd or mixer differs from what a snapshot was taken with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SnapshotDiffers {
    /// Rigs were added or removed, or in another order. The numbers are those of the rigs at one place, if it has one.
    Rigs {
        /// The number of the rig here, counted over the life of the crowd.
        here: Option<u32>,
        /// The number of the rig in the snapshot.
        snapshot: Option<u32>,
    },
    /// The rig has another skeleton.
    Skeleton {
        /// The rig.
        rig: RigId,
        /// Its name here.
        name: String,
        /// The structure hash here.
        here: u64,
        /// The structure hash in the snapshot.
        snapshot: u64,
    },
    /// The rig has another lane order.
    LaneOrder {
        /// The rig.
        rig: RigId,
        /// Its name here.
        name: String,
        /// The layout hash here.
        here: u64,
        /// The layout hash in the snapshot.
        snapshot: u64,
    },
    /// The options of a layer differ, or one of the two has no such layer.
    Layers {
        /// The rig.
        rig: RigId,
        /// Its name here, cut short.
        name: String,
        /// The first layer that differs.
        layer: usize,
    },
    /// A clip of the snapshot is not loaded under its handle, or has other content.
    Clip {
        /// The rig.
        rig: RigId,
        /// Its name here, cut short.
        rig_name: String,
        /// The index of the clip.
        clip: u16,
        /// Its name in the snapshot, cut short.
        name: String,
        /// The content hash here, if a clip has that handle.
        here: Option<u64>,
        /// The content hash in the snapshot.
        snapshot: u64,
    },
    /// A clip has the content of the snapshot's, but is of another kind or duration.
    ClipKind {
        /// The rig.
        rig: RigId,
        /// Its name here, cut short.
        rig_name: String,
        /// The index of the clip.
        clip: u16,
        /// The snapshot has this name, cut short.
        name: String,
        /// The kind here.
        here: ClipKind,
        /// The kind in the snapshot.
        snapshot: ClipKind,
    },
    /// A blend space of the snapshot was removed, or has other clips or values.
    Space {
        /// The rig.
        rig: RigId,
        /// Its name here, cut short.
        name: String,
        /// The index of the blend space.
        space: u16,
    },
    /// The overrides of an instance are on joints that the skeleton does not have, or multiply beyond their limit.
    Overrides {
        /// The rig.
        rig: RigId,
        /// Its name here, cut short.
        name: String,
    },
}

says! { SnapshotDiffers:
    Self::Rigs { here, snapshot } =>
        ("there is {} where the snapshot has {}", number(here), number(snapshot)),
    Self::Skeleton { rig, name, here, snapshot } =>
        ("{rig} (\"{name}\") has a skeleton of hash {here:016x}, in the snapshot {snapshot:016x}",
        name = shorten(name)),
    Self::LaneOrder { rig, name, here, snapshot } =>
        ("{rig} (\"{name}\") has a lane order of hash {here:016x}, in the snapshot {snapshot:016x}",
        name = shorten(name)),
    Self::Layers { rig, name, layer } =>
        ("layer {layer} of {rig} (\"{name}\") has other options than in the snapshot"),
    Self::Clip { rig, rig_name, clip, name, here, snapshot } =>
        ("clip {clip} (\"{name}\") of {rig} (\"{rig_name}\") has {}, in the snapshot {snapshot:016x}", hash(here)),
    Self::ClipKind { rig, rig_name, clip, name, here, snapshot } =>
        ("clip {clip} (\"{name}\") of {rig} (\"{rig_name}\") is {here}, in the snapshot {snapshot}"),
    Self::Space { rig, name, space } =>
        ("blend space {space} of {rig} (\"{name}\") is not that of the snapshot"),
    Self::Overrides { rig, name } =>
        ("overrides in the snapshot do not fit {rig} (\"{name}\")"),
}

fn number(rig: &Option<u32>) -> String {
    rig.map_or("no rig".into(), |number| format!("rig {number}"))
}

fn hash(here: &Option<u64>) -> String {
    here.map_or("been unloaded".into(), |hash| {
        format!("the hash {hash:016x}")
    })
}

impl ClipIdentity {
    /// Whether content and kind are equal, whatever the names.
    pub fn fits(&self, other: &Self) -> bool {
        let duration = self.duration.to_bits() == other.duration.to_bits();
        (self.hash, self.kind) == (other.hash, other.kind) && duration
    }

    /// Whether it is the identity of a clip, and has its name: of those that have stayed, the one that was there.
    pub fn is_of(&self, clip: &Clip) -> bool {
        let duration = self.duration.to_bits() == clip.duration().to_bits();
        duration && self.name == clip.name() && (self.hash, self.kind) == clip.identity()
    }

    fn of(clip: &Clip) -> Self {
        let (hash, kind) = clip.identity();
        Self {
            hash,
            kind,
            duration: clip.duration(),
            name: clip.name().to_owned(),
        }
    }
}

impl LayerIdentity {
    fn of(layer: &LayerOptions) -> Self {
        let hash = |mask: &crate::skeleton::JointMask| {
            let mut h = Fnv1a::default();
            mask.rows()
                .iter()
                .flat_map(|row| row.0)
                .for_each(|weight| h.write_f32(weight));
            h.finish()
        };
        Self {
            additive: layer.additive,
            fill: layer.fill,
            mask: layer.mask.as_ref().map(hash),
        }
    }
}

impl PoolIdentity {
    /// Hashes all clips of a pool.
    pub fn of(pool: &Pool) -> Self {
        let skeleton = pool.rig.skeleton();
        Self {
            structure: skeleton.structure_hash(),
            layout: skeleton.layout_hash(),
            layers: pool.layers.iter().map(LayerIdentity::of).collect(),
            clips: pool.clips.map(|clip| ClipIdentity::of(clip)),
        }
    }

    pub fn clips(&self) -> &Arena<ClipIdentity> {
        &self.clips
    }

    /// What a pool of the identity `now` lacks or has otherwise.
    pub fn difference(&self, now: &Self, pool: &Pool) -> Option<SnapshotDiffers> {
        let rig = pool.owner.rig();
        let name = || shorten(pool.rig.name());
        if self.structure != now.structure {
            return Some(SnapshotDiffers::Skeleton {
                rig,
                name: name(),
                here: now.structure,
                snapshot: self.structure,
            });
        }
        if self.layout != now.layout {
            return Some(SnapshotDiffers::LaneOrder {
                rig,
                name: name(),
                here: now.layout,
                snapshot: self.layout,
            });
        }
        if self.layers != now.layers {
            let same = self.layers.iter().zip(&now.layers);
            let layer = same.take_while(|(a, b)| a == b).count();
            return Some(SnapshotDiffers::Layers {
                rig,
                name: name(),
                layer,
            });
        }
        self.clips.iter().find_map(|(clip, then)| {
            let now = now.clips.find(clip, self.clips.generation(clip));
            let generation = self.clips.generation(clip);
            let undone = || {
                pool.clips
                    .undone(clip, generation)
                    .any(|clip| then.is_of(clip))
            };
            if now.is_some_and(|now| then.fits(now)) || undone() {
                return None;
            }
            let (rig_name, name) = (name(), shorten(&then.name));
            Some(match now {
                Some(now) if now.hash == then.hash => SnapshotDiffers::ClipKind {
                    rig,
                    rig_name,
                    clip,
                    name,
                    here: now.kind,
                    snapshot: then.kind,
                },
                now => SnapshotDiffers::Clip {
                    rig,
                    rig_name,
                    clip,
                    name,
                    here: now.map(|now| now.hash),
                    snapshot: then.hash,
                },
            })
        })
    }
}
