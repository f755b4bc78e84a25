//! Clips that were converted to a rig's lane order: each once, however many crowds and mixers play it.

use super::Rig;
use crate::clip::{Clip, reorder_lanes};
use crate::error::BuildError;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A clip that was converted to a rig's lane order.
#[derive(Debug)]
struct Layout {
    /// The clip that was converted, while something holds it.
    source: Weak<Clip>,
    /// The clip in the rig's lane order, while something holds it.
    clip: Weak<Clip>,
}

/// The clips that were converted for a rig, by the content hash of the originals. The hash may collide, so contents
/// are compared.
#[derive(Debug, Default)]
pub(crate) struct Layouts(Mutex<HashMap<u64, Vec<Layout>>>);

impl Clone for Layouts {
    /// A copy converts clips itself.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Rig {
    /// A clip in the rig's lane order: the clip itself if it fits, otherwise converted by [`reorder_lanes`] within
    /// [`Clip::reorder_limit`]. Equal clips share one layout while something holds it. While something also holds the
    /// original clip, the call only looks it up.
    ///
    /// Crowds and mixers call it for every clip that they are given. Threads do not wait for each other.
    ///
    /// # Errors
    /// If the clip is of another skeleton (it names the first joint that differs), or needs more memory or keys
    /// than allowed.
    pub fn lay_out(&self, clip: &Arc<Clip>) -> Result<Arc<Clip>, BuildError> {
        if clip.fits(self.skeleton()) {
            return Ok(clip.clone());
        }
        let hash = clip.content_hash();
        if let Some(known) = self.layouts.of_source(hash, clip) {
            return Ok(known);
        }
        let made = reorder_lanes(clip, self.skeleton(), clip.reorder_limit())?;
        Ok(self.layouts.keep(hash, clip, made))
    }
}

impl Layouts {
    /// The layouts. A poisoned map is still whole, since single calls change it.
    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Vec<Layout>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The layout of an equal clip, if something holds both. Contents are compared without the lock.
    fn of_source(&self, hash: u64, clip: &Arc<Clip>) -> Option<Arc<Clip>> {
        let all = self.all();
        let held = |l: &Layout| Some((l.source.upgrade()?, l.clip.upgrade()?));
        let known: Vec<_> = all.get(&hash)?.iter().filter_map(held).collect();
        drop(all);
        let same = |source: &Arc<Clip>| Arc::ptr_eq(source, clip) || source == clip;
        let mut known = known.into_iter();
        Some(known.find(|(source, _)| same(source))?.1)
    }

    /// Stores a converted clip, unless an equal layout exists: from another thread, or of an equal clip that was dropped.
    /// Returns the stored one.
    fn keep(&self, hash: u64, source: &Arc<Clip>, clip: Clip) -> Arc<Clip> {
        let mut all = self.all();
        for l in all.get_mut(&hash).into_iter().flatten() {
            if let Some(known) = l.clip.upgrade().filter(|known| **known == clip) {
                l.source = Arc::downgrade(source);
                return known;
            }
        }
        let clip = Arc::new(clip);
        // Entries of dropped clips are removed when the map would grow, so it does not outgrow what is held.
        if all.len() == all.capacity() {
            all.retain(|_, layouts| {
                layouts.retain(|l| l.clip.strong_count() > 0);
                !layouts.is_empty()
            });
        }
        let layouts = all.entry(hash).or_default();
        layouts.retain(|l| l.clip.strong_count() > 0);
        layouts.push(Layout { source: Arc::downgrade(source), clip: Arc::downgrade(&clip) });
        clip
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{BuildOptions, build_rig};
    use crate::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};

    /// A rig of two joints in a lane order, with a clip that moves them by `far` metres.
    fn rig(order: [u16; 2], far: f32) -> Rig {
        let track = |node| RawTrack {
            node,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![0.0, 0.0, 0.0, far, 0.0, 0.0],
        };
        let scene = RawScene {
            nodes: vec![RawNode::default(), RawNode::default()],
            clips: vec![RawClip {
                duration: 1.0,
                tracks: vec![track(0), track(1)],
                ..RawClip::default()
            }],
            ..RawScene::default()
        };
        let options = BuildOptions { lane_order: Some(order.to_vec()), ..BuildOptions::default() };
        build_rig(scene, &options).unwrap()
    }

    #[test]
    fn clips_whose_hashes_collide_get_distinct_layouts() {
        let here = rig([0, 1], 1.0);
        let [a, b] = [2.0, 3.0].map(|far| rig([1, 0], far).clips()[0].clone());
        let laid_b = here.lay_out(&b).unwrap();
        // The test acts as if both hashes were equal.
        let hash = a.content_hash();
        let layouts = here.layouts.all().remove(&b.content_hash()).unwrap();
        here.layouts.all().insert(hash, layouts);
        let laid_a = here.lay_out(&a).unwrap();
        assert_ne!(laid_a, laid_b);
        assert_eq!(*laid_a, rig([0, 1], 2.0).clips()[0].as_ref().clone());
        assert!(Arc::ptr_eq(&here.lay_out(&a).unwrap(), &laid_a));
        assert_eq!(here.layouts.all()[&hash].len(), 2);
    }

    #[test]
    fn one_of_two_layouts_made_at_once_is_kept() {
        let here = rig([0, 1], 1.0);
        let clip = rig([1, 0], 2.0).clips()[0].clone();
        let hash = clip.content_hash();
        let make = || reorder_lanes(&clip, here.skeleton(), usize::MAX).unwrap();
        let (first, second) = (make(), make());
        let first = here.layouts.keep(hash, &clip, first);
        let second = here.layouts.keep(hash, &clip, second);
        assert!(Arc::ptr_eq(&first, &second));
        assert!(Arc::ptr_eq(&first, &here.lay_out(&clip).unwrap()));
        // An equal clip gets it too when the original is dropped.
        let equal = Arc::new(Clip::clone(&clip));
        drop(clip);
        assert!(Arc::ptr_eq(&first, &here.lay_out(&equal).unwrap()));
        assert_eq!(here.layouts.all()[&hash].len(), 1);
        let weak = Arc::downgrade(&first);
        drop((first, second));
        assert!(weak.upgrade().is_none(), "layouts hold no clips");
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "there are no threads")]
    fn threads_get_one_layout() {
        let here = rig([0, 1], 1.0);
        let clip = rig([1, 0], 2.0).clips()[0].clone();
        let start = std::sync::Barrier::new(4);
        let made: Vec<Arc<Clip>> = std::thread::scope(|s| {
            let lay_out = || {
                start.wait();
                here.lay_out(&clip).unwrap()
            };
            let all: Vec<_> = (0..4).map(|_| s.spawn(lay_out)).collect();
            all.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!(made.iter().all(|m| Arc::ptr_eq(m, &made[0])));
    }
}
