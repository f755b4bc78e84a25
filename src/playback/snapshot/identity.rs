//! `PoolIdentity`: the skeleton, layers and clips that a snapshot was taken with, as hashes and names.

use super::super::arena::Arena;
use super::super::library::Library;
use super::super::options::{Fill, LayerOptions};
use crate::clip::{Clip, ClipKind};
use crate::math::Fnv1a;
use crate::words::shorten;

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

    /// The first difference between the snapshot's identity and that of a library: what differs, and how.
    pub fn difference(&self, library: &Library) -> Option<(&'static str, String)> {
        let (now, rig) = (library.identity(), library.rig_text());
        for (what, here, then) in
            [("skeleton", now.structure, self.structure), ("lane order", now.layout, self.layout)]
        {
            if here != then {
                let text =
                    format!("{rig} has a {what} of hash {here:016x}, in the snapshot {then:016x}");
                return Some(("rigs", text));
            }
        }
        if self.layers != now.layers {
            let same = self.layers.iter().zip(&now.layers);
            let layer = same.take_while(|(a, b)| a == b).count();
            let text = format!("layer {layer} of {rig} has other options than in the snapshot");
            return Some(("layers", text));
        }
        self.clips.iter().find_map(|(clip, then)| {
            let now = now.clips.find(clip, self.clips.generation(clip));
            let generation = self.clips.generation(clip);
            let undone = || library.clips().undone(clip, generation).any(|clip| then.is_of(clip));
            if now.is_some_and(|now| then.fits(now)) || undone() {
                return None;
            }
            let name = shorten(&then.name);
            let (here, then) = match now {
                Some(now) if now.hash == then.hash => {
                    (format!("is {}", now.kind), then.kind.to_string())
                }
                Some(now) => {
                    (format!("has the hash {:016x}", now.hash), format!("{:016x}", then.hash))
                }
                None => ("has been unloaded".into(), format!("{:016x}", then.hash)),
            };
            let text = format!("clip {clip} (\"{name}\") of {rig} {here}, in the snapshot {then}");
            Some(("clips", text))
        })
    }
}
