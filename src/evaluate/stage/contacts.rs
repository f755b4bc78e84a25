//! When feet are on the ground, by the markers of clips.

use super::PoseMut;
use crate::math::LANES;

/// Seconds before a foot is put down and after it is lifted in which its contact fades.
pub(crate) const CONTACT_FADE: f32 = 0.1;

/// The times at which the feet of a modifier are on the ground.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Contacts {
    /// Number of feet.
    feet: usize,
    /// First and last times on the ground, by clip and foot; `None` for a clip without markers. Empty if no clip has any.
    spans: Vec<Option<Box<[[f32; 2]]>>>,
}

impl Contacts {
    /// Contacts of feet; `of` gives those of a clip.
    pub fn new(
        feet: usize,
        clips: usize,
        of: impl Fn(usize, usize) -> Option<Box<[[f32; 2]]>>,
    ) -> Self {
        let all = (0..clips).flat_map(|clip| (0..feet).map(move |foot| (clip, foot)));
        let mut spans: Vec<_> = all.map(|(clip, foot)| of(clip, foot)).collect();
        if spans.iter().all(Option::is_none) {
            spans = Vec::new();
        }
        Self { feet, spans }
    }

    /// The share of a foot's contact with the ground, in [0, 1], given its ankle. Clips count by their weights at the ankle;
    /// `other` is the share for those without markers, for the rest pose, and for the pose that the host has given with
    /// the weight `given`.
    pub fn share(
        &self,
        pose: &PoseMut<'_>,
        (foot, ankle): (usize, usize),
        given: f32,
        other: impl FnOnce() -> f32,
    ) -> f32 {
        if self.spans.is_empty() {
            return other();
        }
        let lane = pose.lane(ankle);
        let (mut share, mut known) = (0.0, 0.0);
        for layer in pose.layers.iter().filter(|layer| !layer.additive) {
            let mask = pose.sources.masks.get(layer.layer).and_then(|mask| mask.mask.as_ref());
            let mask = mask.and_then(|mask| mask.rows().get(lane / LANES));
            let over = layer.weight * mask.map_or(1.0, |row| row.0[lane % LANES]);
            share *= 1.0 - over;
            known *= 1.0 - over;
            for action in &pose.actions[layer.actions.clone()] {
                let at = usize::from(action.clip) * self.feet + foot;
                if let Some(Some(spans)) = self.spans.get(at) {
                    share += over * action.weight * contact(spans, action.time);
                    known += over * action.weight;
                }
            }
        }
        (share, known) = (share * (1.0 - given), known * (1.0 - given));
        match known < 1.0 {
            true => (share + (1.0 - known) * other()).clamp(0.0, 1.0),
            false => share.clamp(0.0, 1.0),
        }
    }
}

/// 1 within a span; it falls to 0 over [`CONTACT_FADE`] beside it.
fn contact(spans: &[[f32; 2]], time: f32) -> f32 {
    let beside = |[first, last]: &[f32; 2]| (first - time).max(time - last).max(0.0);
    let nearest = spans.iter().map(beside).fold(CONTACT_FADE, f32::min);
    1.0 - nearest / CONTACT_FADE
}
