//! `Speeds`: the measured speeds of a pool's clips.

use super::event_sink::Clips;
use crate::clip::{Clip, ClipKind};
use crate::rig::{ClipSpeed, Rig};
use crate::runtime::{ClipBoundsScratch, clip_speed};
use std::sync::{Arc, Weak};

/// The measured speed of a clip, for as long as that clip is loaded.
#[derive(Debug)]
struct Speed {
    clip: Weak<Clip>,
    speed: ClipSpeed,
}

/// The speeds of the clips that have played while they were needed.
#[derive(Debug, Default)]
pub(crate) struct Speeds {
    /// One entry per clip index.
    all: Vec<Option<Speed>>,
    /// True if a tier shares palettes; nothing else needs the speeds.
    pub needed: bool,
}

impl Speeds {
    /// The speed of a full clip, if the clip was [measured](Self::measure).
    pub fn of(&self, clip: u16, clips: &Clips) -> Option<ClipSpeed> {
        let speed = self.all.get(usize::from(clip))?.as_ref()?;
        let loaded = clips.get(clip)?;
        (Weak::as_ptr(&speed.clip) == Arc::as_ptr(loaded)).then_some(speed.speed)
    }

    /// Measures the speed of a full clip, unless it is known. The result is kept with the rig, for all its pools.
    /// Returns whether a speed has become known.
    pub fn measure(&mut self, clip: u16, rig: &Rig, clips: &Clips) -> bool {
        let Some(loaded) = clips.get(clip).filter(|loaded| loaded.kind() == ClipKind::Full) else {
            return false;
        };
        if self.of(clip, clips).is_some() {
            return false;
        }
        let measured = rig.measured(loaded);
        let measure = || clip_speed(rig, loaded, &mut ClipBoundsScratch::new(rig));
        let speed = *measured.speed.get_or_init(measure);
        let at = usize::from(clip);
        if self.all.len() <= at {
            self.all.resize_with(at + 1, || None);
        }
        self.all[at] = Some(Speed { clip: Arc::downgrade(loaded), speed });
        true
    }
}
