//! `PoolIdentity`: the skeleton, layers and clips that a snapshot was taken with, as hashes and names.

use super::super::arena::Arena;
use super::super::ids::RigId;
use super::super::library::Library;
use super::super::options::{Fill, LayerOptions};
use crate::clip::{Clip, ClipKind};
use crate::math::Fnv1a;
use crate::words::{says, shorten};

/// The properties that a pool must have in order to be restored from a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PoolIdentity {
    pub structure: u64,
    pub layout: u64,
    pub layers: Vec<LayerIdentity>,
    pub clips: Arena<ClipIdentity>,
}

/// The options of a layer, with the hash of its mask.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LayerIdentity {
    pub additive: bool,
    pub fill: Fill,
    pub mask: Option<u64>,
}

/// The identity of a clip. The name is only for messages: clips of equal content are one clip.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClipIdentity {
    pub hash: u64,
    pub kind: ClipKind,
    /// Duration in seconds.
    pub duration: f32,
    pub name: String,
}

/// A difference between a crowd or mixer and the one that a snapshot was taken of.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SnapshotDiffers {
    /// Rigs were added, removed or reordered. The numbers are of the two rigs in the same slot; `None` for an empty
    /// slot.
    Rigs {
        /// Number of the crowd's rig, counted over the life of the crowd.
        here: Option<u32>,
        /// Number of the snapshot's rig.
        snapshot: Option<u32>,
    },
    /// The rig has another skeleton.
    Skeleton {
        /// Handle of the rig.
        rig: RigId,
        /// Name of the rig.
        name: String,
        /// Structure hash of the rig's skeleton.
        here: u64,
        /// Structure hash in the snapshot.
        snapshot: u64,
    },
    /// The rig has another lane order.
    LaneOrder {
        /// Handle of the rig.
        rig: RigId,
        /// Name of the rig.
        name: String,
        /// Layout hash of the rig's skeleton.
        here: u64,
        /// Layout hash in the snapshot.
        snapshot: u64,
    },
    /// The options of a layer differ, or only one of the two has the layer.
    Layers {
        /// Handle of the rig.
        rig: RigId,
        /// Name of the rig, cut short.
        name: String,
        /// Index of the first layer that differs.
        layer: usize,
    },
    /// A clip of the snapshot is not loaded under its handle, or has other content.
    Clip {
        /// Handle of the rig.
        rig: RigId,
        /// Name of the rig, cut short.
        rig_name: String,
        /// Index of the clip.
        clip: u16,
        /// Name of the clip in the snapshot, cut short.
        name: String,
        /// Content hash of the clip that has the handle now; `None` if none has.
        here: Option<u64>,
        /// Content hash in the snapshot.
        snapshot: u64,
    },
    /// A clip has the content of the snapshot's clip, but another kind or duration.
    ClipKind {
        /// Handle of the rig.
        rig: RigId,
        /// Name of the rig, cut short.
        rig_name: String,
        /// Index of the clip.
        clip: u16,
        /// Name of the clip in the snapshot, cut short.
        name: String,
        /// Present kind of the clip.
        here: ClipKind,
        /// Kind in the snapshot.
        snapshot: ClipKind,
    },
    /// A blend space of the snapshot was removed, or has other clips or values.
    Space {
        /// Handle of the rig.
        rig: RigId,
        /// Name of the rig, cut short.
        name: String,
        /// Index of the blend space.
        space: u16,
    },
    /// The overrides of an instance are on joints that the skeleton does not have, or exceed their limit down a chain.
    Overrides {
        /// Handle of the rig.
        rig: RigId,
        /// Name of the rig, cut short.
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
    here.map_or("been unloaded".into(), |hash| format!("the hash {hash:016x}"))
}

impl ClipIdentity {
    /// Whether content, kind and duration are equal, with any names.
    pub fn fits(&self, other: &Self) -> bool {
        let duration = self.duration.to_bits() == other.duration.to_bits();
        (self.hash, self.kind) == (other.hash, other.kind) && duration
    }

    /// Whether this is the identity of a clip, name included: among undone clips, the name tells which one was loaded.
    pub fn is_of(&self, clip: &Clip) -> bool {
        let duration = self.duration.to_bits() == clip.duration().to_bits();
        duration && self.name == clip.name() && (self.hash, self.kind) == clip.identity()
    }

    fn of(clip: &Clip) -> Self {
        let (hash, kind) = clip.identity();
        Self { hash, kind, duration: clip.duration(), name: clip.name().to_owned() }
    }
}

impl LayerIdentity {
    fn of(layer: &LayerOptions) -> Self {
        let hash = |mask: &crate::skeleton::JointMask| {
            let mut h = Fnv1a::default();
            mask.rows().iter().flat_map(|row| row.0).for_each(|weight| h.write_f32(weight));
            h.finish()
        };
        Self { additive: layer.additive, fill: layer.fill, mask: layer.mask.as_ref().map(hash) }
    }
}

impl PoolIdentity {
    /// Hashes all clips of a library.
    pub fn of(library: &Library) -> Self {
        let skeleton = library.rig().skeleton();
        Self {
            structure: skeleton.structure_hash(),
            layout: skeleton.layout_hash(),
            layers: library.layers().iter().map(LayerIdentity::of).collect(),
            clips: library.clips().map(|clip| ClipIdentity::of(clip)),
        }
    }

    /// The first difference between the snapshot's identity and that of a library.
    pub fn difference(&self, library: &Library) -> Option<SnapshotDiffers> {
        let (now, rig) = (library.identity(), library.owner().rig());
        let name = || shorten(library.rig().name());
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
            return Some(SnapshotDiffers::Layers { rig, name: name(), layer });
        }
        self.clips.iter().find_map(|(clip, then)| {
            let now = now.clips.find(clip, self.clips.generation(clip));
            let generation = self.clips.generation(clip);
            let undone = || library.clips().undone(clip, generation).any(|clip| then.is_of(clip));
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
