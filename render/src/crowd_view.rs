//! `CrowdView`: the instances of a crowd as pictures want them, and only those that a camera sees.

use super::clip_bounds::ClipBounds;
use super::cull::{CullJob, Seen};
use super::{Camera, DrawInstance, Look, PictureSize, RenderError, Sphere};
use phalanx::clip::ClipKind;
use phalanx::crowd::{ClipId, Crowd, CrowdError, InstanceId, RigId};
use phalanx::playback::PoseError;
use std::ops::Range;
use std::sync::Arc;

/// A rig of the crowd: which model of the scene draws it, and where its clips can bring it.
#[derive(Debug)]
struct Member {
    rig: RigId,
    model: u32,
    bounds: ClipBounds,
    morphs: bool,
}

/// What a camera sees of a crowd, from frame to frame.
///
/// A frame is [`look`](Self::look), then [`Crowd::evaluate`] or
/// [`GpuBoneBuffer::evaluate`](phalanx::gpu::GpuBoneBuffer::evaluate), then [`collect`](Self::collect).
/// Nothing is allocated once the crowd has stopped growing.
#[derive(Debug, Default)]
pub struct CrowdView {
    members: Vec<Member>,
    ids: Vec<InstanceId>,
    all: Vec<DrawInstance>,
    seen: Vec<Seen>,
    drawn: Vec<DrawInstance>,
    weights: Vec<f32>,
}

impl CrowdView {
    /// A view of no rigs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rig of the crowd, drawn by a model of the scene; instances of other rigs are not drawn. A rig
    /// that was added before gets the new model, and rigs that the crowd has removed are forgotten.
    ///
    /// # Errors
    /// If the rig is unknown or its clips cannot be evaluated.
    pub fn add_rig(&mut self, crowd: &Crowd, rig: RigId, model: u32) -> Result<(), ViewError> {
        let source = crowd.rig(rig)?;
        let bounds = ClipBounds::measure(source)?;
        self.members
            .retain(|m| m.rig != rig && crowd.rig(m.rig).is_ok());
        self.members.push(Member {
            rig,
            model,
            bounds,
            morphs: !source.morphs().is_empty(),
        });
        Ok(())
    }

    /// Finds out who is in the picture. With `skip` the others are not due in the crowd, so that they
    /// keep their last rows and cost no evaluation; without, everyone is. Those with overrides,
    /// additive layers or clips that did not come with their rig count as seen.
    ///
    /// # Errors
    /// If the camera sees nothing or the picture is empty.
    pub fn look(
        &mut self,
        crowd: &mut Crowd,
        camera: &Camera,
        look: &Look,
        size: PictureSize,
        skip: bool,
    ) -> Result<(), ViewError> {
        let Self {
            members, ids, all, ..
        } = self;
        ids.clear();
        all.clear();
        for id in crowd.instances() {
            let Some(member) = members.iter().find(|m| m.rig == id.rig()) else {
                continue;
            };
            let sphere = sphere(crowd, id, &member.bounds)?;
            ids.push(id);
            all.push(DrawInstance {
                model: member.model,
                world: *crowd.world(id)?,
                palette_offset: 0,
                morph_offset: 0,
                tint: [1.0; 4],
                bounds: sphere,
            });
        }
        self.seen.clear();
        self.seen.resize(all.len(), Seen::default());
        CullJob {
            camera,
            look,
            size,
            instances: all,
            seen: &mut self.seen,
        }
        .run()?;
        for (&id, seen) in ids.iter().zip(&self.seen) {
            crowd.set_scheduled(id, !skip || seen.any())?;
        }
        Ok(())
    }

    /// Gathers those who were seen, after the crowd's evaluation; `tint` gives linear colours by an
    /// instance's place in the crowd.
    ///
    /// # Errors
    /// If an instance has gone since [`look`](Self::look).
    pub fn collect(
        &mut self,
        crowd: &Crowd,
        tint: impl Fn(usize) -> [f32; 4],
    ) -> Result<(), ViewError> {
        self.drawn.clear();
        self.weights.clear();
        let all = self.ids.iter().zip(&self.all).zip(&self.seen).enumerate();
        for (place, ((&id, instance), _)) in all.filter(|(_, (_, seen))| seen.any()) {
            let Some(Range { start, .. }) = crowd.palette_range(id) else {
                continue;
            };
            let morph_offset = self.weights.len() as u32;
            let member = self.members.iter().find(|m| m.rig == id.rig());
            if member.is_some_and(|m| m.morphs) {
                self.weights.extend(crowd.scalars(id)?);
            }
            self.drawn.push(DrawInstance {
                palette_offset: start as u32,
                morph_offset,
                tint: tint(place),
                ..*instance
            });
        }
        Ok(())
    }

    /// Those who were seen, for a scene.
    pub fn instances(&self) -> &[DrawInstance] {
        &self.drawn
    }

    /// Their morph weights, for a scene.
    pub fn morph_weights(&self) -> &[f32] {
        &self.weights
    }

    /// What was seen of each instance of the crowd, in its order.
    pub fn seen(&self) -> impl Iterator<Item = (InstanceId, Seen)> {
        self.ids.iter().copied().zip(self.seen.iter().copied())
    }
}

/// Why a crowd cannot be looked at.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The crowd refused a handle.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// A clip cannot be measured.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// The camera or the picture.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// The sphere around whatever an instance's clips show; none if they do not say where its meshes are:
/// overrides, additive layers and clips that did not come with the rig bring them anywhere.
fn sphere(crowd: &Crowd, id: InstanceId, bounds: &ClipBounds) -> Result<Option<Sphere>, ViewError> {
    if crowd.overrides(id)?.next().is_some() {
        return Ok(None);
    }
    let mut known = true;
    let places = crowd.playing(id)?.map_while(|clip| {
        let place = measured(crowd, id.rig(), clip);
        known &= place.is_some();
        place
    });
    let sphere = bounds.sphere(places);
    Ok(sphere.filter(|_| known))
}

/// The place in its rig of a full clip that came with it. A clip that came later may have the place of
/// one that was unloaded.
fn measured(crowd: &Crowd, rig: RigId, clip: ClipId) -> Option<usize> {
    let place = clip.index();
    let own = crowd.rig(rig).ok()?.clips().get(place)?;
    let same = Arc::ptr_eq(crowd.clip(rig, clip).ok()?, own);
    (same && own.kind() == ClipKind::Full).then_some(place)
}
