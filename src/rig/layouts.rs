//! Clips of other lane orders, laid out for a rig: each once, however many crowds and mixers play it.

use super::Rig;
use crate::clip::{Clip, ClipKind, RelaneDifference, RelaneError, Relaned, relane};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A clip that was laid out for a rig.
#[derive(Debug)]
struct Layout {
    name: String,
    kind: ClipKind,
    /// The clip in the rig's lane order, while something holds it.
    clip: Weak<Clip>,
    difference: RelaneDifference,
}

/// The clips that were laid out for a rig, by the content hash of what was laid out.
#[derive(Debug, Default)]
pub(crate) struct Layouts(Mutex<HashMap<u64, Vec<Layout>>>);

impl Clone for Layouts {
    /// A copy makes its own.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Rig {
    /// A clip in the rig's lane order: the clip itself if it fits, otherwise [`relane`]d within
    /// [`Clip::relane_limit`]. Equal clips have one layout while something holds it.
    ///
    /// Crowds and mixers call it for every clip that they are given.
    ///
    /// # Errors
    /// If the clip is of another skeleton (it names the first joint that differs), or needs more memory or keys
    /// than allowed.
    pub fn lay_out(&self, clip: &Arc<Clip>) -> Result<Arc<Clip>, RelaneError> {
        if clip.fits(self.skeleton()) {
            return Ok(clip.clone());
        }
        let hash = clip.content_hash();
        let mut all = self.layouts.all();
        let same = |l: &Layout| l.name == clip.name() && l.kind == clip.kind();
        let known = all.get(&hash).into_iter().flatten().find(|l| same(l));
        if let Some(known) = known.and_then(|l| l.clip.upgrade()) {
            return Ok(known);
        }
        let Relaned {
            clip: new,
            difference,
        } = relane(clip, self.skeleton(), clip.relane_limit())?;
        let new = Arc::new(new);
        // The list does not outgrow what is held: it is swept when it would be reallocated.
        if all.len() == all.capacity() {
            all.retain(|_, layouts| {
                layouts.retain(|l| l.clip.strong_count() > 0);
                !layouts.is_empty()
            });
        }
        let layouts = all.entry(hash).or_default();
        layouts.retain(|l| l.clip.strong_count() > 0);
        layouts.push(Layout {
            name: clip.name().to_owned(),
            kind: clip.kind(),
            clip: Arc::downgrade(&new),
            difference,
        });
        Ok(new)
    }

    /// What laying out changed of a clip that [`Rig::lay_out`] returned. Nothing for other clips.
    pub fn layout_difference(&self, clip: &Arc<Clip>) -> RelaneDifference {
        let all = self.layouts.all();
        let mut layouts = all.values().flatten();
        let found = layouts.find(|l| std::ptr::eq(l.clip.as_ptr(), Arc::as_ptr(clip)));
        found.map(|l| l.difference).unwrap_or_default()
    }
}

impl Layouts {
    /// A poisoned map is whole: it is changed by single calls.
    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Vec<Layout>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
