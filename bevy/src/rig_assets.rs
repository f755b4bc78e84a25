//! Rigs made in code as assets.

use crate::loader::{PhalanxRig, RigLoaderError};
use bevy::asset::{Assets, Handle, LoadContext};
use bevy::ecs::system::{Res, ResMut, SystemParam};
use bevy::image::{CompressedImageFormatSupport, CompressedImageFormats, Image};
use bevy::mesh::Mesh;
use bevy::pbr::StandardMaterial;
use phalanx::rig::Rig;
use std::sync::Arc;

/// Where meshes, materials and images of a rig go.
pub trait Store {
    fn mesh(&mut self, label: String, mesh: Mesh) -> Handle<Mesh>;
    fn material(&mut self, label: String, material: StandardMaterial) -> Handle<StandardMaterial>;
    fn image(&mut self, label: String, image: Image) -> Handle<Image>;
}

impl Store for LoadContext<'_> {
    fn mesh(&mut self, label: String, mesh: Mesh) -> Handle<Mesh> {
        self.add_labeled_asset(label, mesh)
    }

    fn material(&mut self, label: String, material: StandardMaterial) -> Handle<StandardMaterial> {
        self.add_labeled_asset(label, material)
    }

    fn image(&mut self, label: String, image: Image) -> Handle<Image> {
        self.add_labeled_asset(label, image)
    }
}

/// A parameter of systems that makes rigs of code into assets.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_phalanx::{PhalanxCharacter, RigAssets, phalanx};
///
/// fn spawn(mut commands: Commands, mut assets: RigAssets) -> Result {
///     let rig = assets.add(phalanx::import::mannequin()?)?;
///     commands.spawn(PhalanxCharacter(rig));
///     Ok(())
/// }
/// # let _ = spawn;
/// ```
#[derive(SystemParam)]
pub struct RigAssets<'w> {
    /// Rigs.
    pub rigs: ResMut<'w, Assets<PhalanxRig>>,
    /// Meshes: a system has them once, so take them from here.
    pub meshes: ResMut<'w, Assets<Mesh>>,
    /// Materials.
    pub materials: ResMut<'w, Assets<StandardMaterial>>,
    /// Images.
    pub images: ResMut<'w, Assets<Image>>,
    compressed: Option<Res<'w, CompressedImageFormatSupport>>,
}

impl RigAssets<'_> {
    /// Adds a rig with its meshes, materials and images.
    ///
    /// # Errors
    /// If an image is refused.
    pub fn add(&mut self, rig: impl Into<Arc<Rig>>) -> Result<Handle<PhalanxRig>, RigLoaderError> {
        let compressed = self.compressed.as_ref().map_or(CompressedImageFormats::NONE, |all| all.0);
        let rig = PhalanxRig::store(rig.into(), self, compressed)?;
        Ok(self.rigs.add(rig))
    }
}

impl Store for RigAssets<'_> {
    fn mesh(&mut self, _: String, mesh: Mesh) -> Handle<Mesh> {
        self.meshes.add(mesh)
    }

    fn material(&mut self, _: String, material: StandardMaterial) -> Handle<StandardMaterial> {
        self.materials.add(material)
    }

    fn image(&mut self, _: String, image: Image) -> Handle<Image> {
        self.images.add(image)
    }
}
