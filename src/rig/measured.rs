//! `Measured`: measurements of clips on a rig, each made once, however many crowds and mixers play the clips.

use super::{ClipBounds, Rig};
use crate::clip::Clip;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// A bound on how far vertices of a rig move while a clip plays, in model space: [`speed`](Self::speed) times the time,
/// plus one [`jump`](Self::jump).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClipSpeed {
    /// Metres per second. Infinite if the clip could not be measured.
    pub speed: f32,
    /// The largest jump at the time of a step key, metres.
    pub jump: f32,
}

impl ClipSpeed {
    /// The speed of a clip that could not be measured.
    pub const UNKNOWN: Self = Self { speed: f32::INFINITY, jump: 0.0 };
}

/// Measurements of a clip, or of the rest pose.
#[derive(Debug, Default)]
pub(crate) struct Measured {
    /// Bounds; `None` if the clip is additive, or too long to be measured.
    pub bounds: OnceLock<Option<ClipBounds>>,
    pub speed: OnceLock<ClipSpeed>,
}

/// A clip, and what was measured of it.
type Entry = (Weak<Clip>, Arc<Measured>);

/// Measurements of the clips of a rig. An entry holds its clip weakly, so no other clip gets its address while the entry
/// exists.
#[derive(Debug, Default)]
pub(crate) struct Measures {
    rest: OnceLock<Option<ClipBounds>>,
    /// Entries by the address of the clip.
    clips: Mutex<HashMap<usize, Entry>>,
}

impl Clone for Measures {
    /// A copy measures again, since its meshes may be changed.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Rig {
    /// The bounds of the rest pose, empty until they are measured.
    pub(crate) fn rest_bounds(&self) -> &OnceLock<Option<ClipBounds>> {
        &self.measures.rest
    }

    /// The measurements of a clip on the rig. Threads wait for each other only if they measure the same clip.
    pub(crate) fn measured(&self, clip: &Arc<Clip>) -> Arc<Measured> {
        // A poisoned map is still whole, since single calls change it.
        let all = &self.measures.clips;
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        // Entries of dropped clips are removed when the map would grow, so it does not outgrow what is held.
        let address = Arc::as_ptr(clip).addr();
        if all.len() == all.capacity() && !all.contains_key(&address) {
            all.retain(|_, (clip, _)| clip.strong_count() > 0);
        }
        let entry = all.entry(address);
        let (_, measured) = entry.or_insert_with(|| (Arc::downgrade(clip), Arc::default()));
        measured.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::build_rig;
    use crate::raw::{RawClip, RawNode, RawScene};

    fn rig() -> Rig {
        let scene = RawScene {
            nodes: vec![RawNode::default()],
            clips: vec![RawClip::default()],
            ..RawScene::default()
        };
        build_rig(scene, &Default::default()).unwrap()
    }

    #[test]
    fn a_clip_is_measured_once_and_dropped_clips_leave_no_entries() {
        let rig = rig();
        let held = rig.clips()[0].clone();
        let measured = rig.measured(&held);
        for _ in 0..1000 {
            let passing = Arc::new(held.as_ref().clone());
            assert!(!Arc::ptr_eq(&rig.measured(&passing), &measured));
        }
        assert!(Arc::ptr_eq(&rig.measured(&held), &measured));
        let all = rig.measures.clips.lock().unwrap();
        assert!(all.capacity() < 100, "{}", all.capacity());
    }
}
