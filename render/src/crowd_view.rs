//! `CrowdView`: the visible instances of a crowd, as a scene draws them.

use super::cull::{CullJob, Seen};
use super::view::Eye;
use super::{Camera, DrawInstance, Look, PaletteLerp, PictureSize, RenderError};
use glam::Mat4;
use phalanx::crowd::{Crowd, CrowdError, InstanceId, RigId, View};

/// A rig of the crowd, and the model of the scene that draws it.
#[derive(Debug)]
struct Member {
    rig: RigId,
    model: u32,
    /// Model index per detail of the rig.
    details: Vec<u32>,
    morphs: bool,
}

/// The part of a crowd that a camera sees, frame by frame.
///
/// A frame is [`look`](Self::look), then [`Crowd::evaluate`] or
/// [`GpuBoneBuffer::evaluate`](phalanx::gpu::GpuBoneBuffer::evaluate), then [`collect`](Self::collect).
/// It allocates only while the crowd grows. With tiers, [`set_views`](Self::set_views) comes before the evaluation, and
/// `look` schedules all: the crowd decides which instances it evaluates.
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
    /// A view without rigs.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rig of the crowd and the index of the model that draws it; other rigs are not drawn.
    ///
    /// A rig that was added before gets the new model. Rigs that the crowd has removed are dropped.
    ///
    /// # Errors
    /// If the rig is unknown.
    pub fn add_rig(&mut self, crowd: &Crowd, rig: RigId, model: u32) -> Result<(), ViewError> {
        let source = crowd.rig(rig)?;
        self.members.retain(|m| m.rig != rig && crowd.rig(m.rig).is_ok());
        self.members.push(Member {
            rig,
            model,
            details: Vec::new(),
            morphs: source.nodes().iter().any(|n| !n.morphs.is_empty()),
        });
        Ok(())
    }

    /// Sets the models that draw a rig's instances with palettes of details: one for each of
    /// [`Crowd::tier_details`], with the meshes of the detail's level from its [`RigShape`](super::RigShape). To be called
    /// after [`add_rig`](Self::add_rig), and after [`Crowd::set_tiers`].
    ///
    /// # Errors
    /// If the rig is unknown or was not added, or the number of models is another.
    pub fn set_details(
        &mut self,
        crowd: &Crowd,
        rig: RigId,
        models: &[u32],
    ) -> Result<(), ViewError> {
        let (found, needed) = (models.len(), crowd.tier_details(rig)?.len());
        if found != needed {
            return Err(ViewError::Details { found, needed });
        }
        let member = self.members.iter_mut().find(|m| m.rig == rig);
        let member = member.ok_or(ViewError::NotAdded { rig })?;
        member.details = models.to_vec();
        Ok(())
    }

    /// Culls the crowd's instances against the camera.
    ///
    /// With `skip`, only visible instances are scheduled in the crowd; the others keep their last palette
    /// rows and cost no evaluation. Without it, and with tiers, all are scheduled. Bounds are those of
    /// [`Crowd::bounding_sphere`].
    ///
    /// # Errors
    /// If the camera is invalid or the picture is empty.
    pub fn look(
        &mut self,
        crowd: &mut Crowd,
        camera: &Camera,
        look: &Look,
        size: PictureSize,
        skip: bool,
    ) -> Result<(), ViewError> {
        let Self { members, ids, all, .. } = self;
        ids.clear();
        all.clear();
        for id in crowd.instances() {
            let Some(member) = members.iter().find(|m| m.rig == id.rig()) else {
                continue;
            };
            let sphere = crowd.bounding_sphere(id)?;
            ids.push(id);
            all.push(DrawInstance {
                model: member.model,
                world: *crowd.world(id)?,
                palette_offset: 0,
                lerp: None,
                morph_offset: 0,
                tint: [1.0; 4],
                bounds: sphere,
            });
        }
        self.seen.clear();
        self.seen.resize(all.len(), Seen::default());
        CullJob { camera, look, size, instances: all, seen: &mut self.seen }.run()?;
        let skip = skip && crowd.tiers().is_none();
        for (&id, seen) in ids.iter().zip(&self.seen) {
            crowd.set_scheduled(id, !skip || seen.any())?;
        }
        Ok(())
    }

    /// Sets the views of a crowd with tiers ([`Crowd::set_views`]): the picture, and the shadows on its ground if there are
    /// any. Call it before the crowd's evaluation. A host with more pictures or maps of shadows sets all views itself.
    ///
    /// # Errors
    /// If the camera is invalid, the picture is empty, or the crowd has no tiers.
    pub fn set_views(
        crowd: &mut Crowd,
        camera: &Camera,
        look: &Look,
        size: PictureSize,
    ) -> Result<(), ViewError> {
        size.validate()?;
        let eye = Eye::new(camera, look, size)?;
        let view = |relative: Mat4, shadows| View {
            clip_from_world: (relative * Mat4::from_translation(-eye.position)).to_cols_array_2d(),
            height: size.height as f32,
            shadows,
        };
        let picture = view(eye.clip_matrix(), false);
        match eye.shadow_matrix() {
            Some(shadow) => {
                let shadows = view(eye.clip_matrix() * shadow, true);
                crowd.set_views(&[picture, shadows])?;
            }
            None => crowd.set_views(&[picture])?,
        }
        Ok(())
    }

    /// Collects the visible instances; call it after the crowd's evaluation.
    ///
    /// `tint` returns the linear colour for an instance's position in the order of [`seen`](Self::seen).
    ///
    /// # Errors
    /// If an instance was despawned since [`look`](Self::look), or has the palette of a detail that no model was
    /// [set](Self::set_details) for.
    pub fn collect(
        &mut self,
        crowd: &Crowd,
        tint: impl Fn(usize) -> [f32; 4],
    ) -> Result<(), ViewError> {
        self.drawn.clear();
        self.weights.clear();
        let all = self.ids.iter().zip(&self.all).zip(&self.seen).enumerate();
        for (place, ((&id, instance), _)) in all.filter(|(_, (_, seen))| seen.any()) {
            let Some(pair) = crowd.shown(id) else {
                continue;
            };
            let morph_offset = self.weights.len() as u32;
            let member = self.members.iter().find(|m| m.rig == id.rig());
            let model = match pair.detail {
                None => instance.model,
                Some(detail) => {
                    let models = member.map_or(&[][..], |m| &m.details);
                    let model = models.get(detail).copied();
                    model.ok_or(ViewError::NoModel { rig: id.rig(), detail })?
                }
            };
            if member.is_some_and(|m| m.morphs) {
                crowd.scalars(id, &mut self.weights)?;
            }
            self.drawn.push(DrawInstance {
                model,
                palette_offset: pair.from.start as u32,
                lerp: (pair.from != pair.to).then_some(PaletteLerp {
                    to_offset: pair.to.start as u32,
                    factor: pair.factor,
                }),
                morph_offset,
                tint: tint(place),
                ..*instance
            });
        }
        Ok(())
    }

    /// The visible instances, for a scene.
    pub fn instances(&self) -> &[DrawInstance] {
        &self.drawn
    }

    /// The morph weights of the instances, for a scene.
    pub fn morph_weights(&self) -> &[f32] {
        &self.weights
    }

    /// The visibility of each instance, in the crowd's order.
    pub fn seen(&self) -> impl Iterator<Item = (InstanceId, Seen)> {
        self.ids.iter().copied().zip(self.seen.iter().copied())
    }
}

/// An error of a [`CrowdView`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The crowd rejected a handle.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// The rig was not added to the view.
    #[error("{rig} was not added to the view")]
    NotAdded {
        /// The rig.
        rig: RigId,
    },
    /// The number of models differs from the rig's number of details.
    #[error("{found} models for {needed} details")]
    Details {
        /// The number of models.
        found: usize,
        /// The number of details.
        needed: usize,
    },
    /// An instance has the palette of a detail without a model.
    #[error("there is no model for detail {detail} of {rig}; CrowdView::set_details sets them")]
    NoModel {
        /// The rig.
        rig: RigId,
        /// The detail, among [`Crowd::tier_details`].
        detail: usize,
    },
    /// The camera or the picture size is invalid.
    #[error(transparent)]
    Render(#[from] RenderError),
}
