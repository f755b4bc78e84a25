//! `PhalanxRig`: a rig as an asset, from .glb, .gltf, .vrm and .phx.

use crate::rig_assets::Store;
use crate::{images, meshes};
use bevy::asset::io::Reader;
use bevy::asset::{Asset, AssetLoader, AssetPath, Handle, LoadContext, ReadAssetBytesError};
use bevy::image::{CompressedImageFormats, TextureError};
use bevy::mesh::Mesh;
use bevy::pbr::StandardMaterial;
use bevy::reflect::TypePath;
use phalanx::build::{BuildError, add_lod};
use phalanx::format::{Library, ReadError, RigOptions, is_phx};
use phalanx::import::{ImportError, ImportOptions, UpAxis, import_slice, read_slice};
use phalanx::mesh::ImageMode;
use phalanx::rig::Rig;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// A rig with its clips, and what Bevy draws of it.
#[derive(Asset, TypePath, Debug)]
pub struct PhalanxRig {
    /// The rig.
    pub rig: Arc<Rig>,
    /// One per primitive of its meshes.
    pub surfaces: Vec<RigSurface>,
}

impl PhalanxRig {
    /// A rig whose meshes, materials and images are stored.
    pub(crate) fn store(
        rig: Arc<Rig>,
        store: &mut impl Store,
        compressed: CompressedImageFormats,
    ) -> Result<Self, RigLoaderError> {
        let materials = images::materials(&rig, store, compressed)?;
        let surfaces = meshes::surfaces(&rig, &materials, store);
        Ok(Self { rig, surfaces })
    }
}

/// A primitive of a rig, as Bevy draws it.
#[derive(Clone, Debug)]
pub struct RigSurface {
    /// Index of the mesh in [`Rig::meshes`].
    pub mesh_index: usize,
    /// The mesh, with influences.
    pub mesh: Handle<Mesh>,
    /// Its material.
    pub material: Handle<StandardMaterial>,
    /// The rows of the rig's palette that its influences refer to.
    pub rows: Range<usize>,
    /// Level of detail, 0 for the finest.
    pub lod: usize,
    /// Morph targets of the mesh.
    pub targets: usize,
}

/// How a file is read; settings of Bevy's `load_with_settings`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RigSettings {
    /// Metres of one unit of the file; `None` for what the format says.
    pub unit: Option<f64>,
    /// True if the file's third axis points up.
    pub z_up: bool,
    /// True if what a clip's root travels is taken out of its pose, as root motion.
    pub root_motion: bool,
    /// Files with the coarser levels of detail, the finest first, relative to this one: their meshes on this skeleton.
    /// A .phx file has its levels inside.
    pub lods: Vec<String>,
}

/// Why a file is no rig.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RigLoaderError {
    /// The bytes could not be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A file beside it could not be read.
    #[error(transparent)]
    External(#[from] ReadAssetBytesError),
    /// The glTF file is refused.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A level of detail does not fit.
    #[error(transparent)]
    Lod(#[from] BuildError),
    /// The .phx file is refused.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// An image is refused.
    #[error("image {image}: {source}")]
    Image {
        /// Its index in the file.
        image: usize,
        /// Why.
        source: TextureError,
    },
    /// The file has another number of characters.
    #[error("{file}: {rigs} characters; an asset is one")]
    Rigs {
        /// The file.
        file: String,
        /// How many it has.
        rigs: usize,
    },
}

/// Loads [`PhalanxRig`]s. Files that Bevy's own loader reads, too, are loaded by type: `assets.load::<PhalanxRig>`.
#[derive(TypePath)]
pub struct RigLoader {
    /// Formats of compressed images that the device reads.
    pub(crate) compressed: CompressedImageFormats,
}

/// Bevy chooses by extension where a path has a label, and there .glb and .gltf are its own.
pub(crate) const EXTENSIONS: &[&str] = &["vrm", "phx"];

impl AssetLoader for RigLoader {
    type Asset = PhalanxRig;
    type Settings = RigSettings;
    type Error = RigLoaderError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        settings: &RigSettings,
        context: &mut LoadContext<'_>,
    ) -> Result<PhalanxRig, RigLoaderError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        let path = context.path().clone();
        let name = path.path().display().to_string();
        let rig = if is_phx(&bytes) {
            let library = Library::from_bytes(&bytes).map_err(|e| e.in_file(&name))?;
            library.rig(&RigOptions { images: ImageMode::Encoded, ..RigOptions::default() })?
        } else {
            let mut options =
                ImportOptions { images: ImageMode::Encoded, ..ImportOptions::default() };
            if let Some(unit) = settings.unit {
                options.unit = unit;
            }
            if settings.z_up {
                options.up_axis = UpAxis::Z;
            }
            options.root_motion = settings.root_motion.then(Default::default);
            let bytes = embedded(bytes, &path, context).await?;
            let imported = import_slice(&bytes, &name, None::<&Path>, &options)?;
            let count = imported.rigs.len();
            let mut rigs = imported.rigs.into_iter();
            let mut rig = match (rigs.next(), count) {
                (Some(rig), 1) => rig,
                _ => return Err(RigLoaderError::Rigs { file: name, rigs: count }),
            };
            for lod in &settings.lods {
                let path = path.resolve_embed(&AssetPath::from_path(Path::new(lod)));
                let bytes = context.read_asset_bytes(&path).await?;
                let bytes = embedded(bytes, &path, context).await?;
                let (scene, _) = read_slice(&bytes, lod, None::<&Path>, &options)?;
                add_lod(&mut rig, &scene)?;
            }
            rig
        };
        PhalanxRig::store(Arc::new(rig), context, self.compressed)
    }

    fn extensions(&self) -> &[&str] {
        EXTENSIONS
    }
}

/// The JSON of a .gltf or .glb file, and the chunks that follow it in a .glb file.
fn json_and_chunks(bytes: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    if !bytes.starts_with(b"glTF") {
        return Some((bytes, None));
    }
    let word = |at: usize| Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?) as usize);
    let (json, chunks) = bytes.get(GLB_JSON..word(8)?)?.split_at_checked(word(12)?)?;
    Some((json, Some(chunks)))
}

/// Bytes of a .glb file before its JSON: magic, version and length of the file, length and kind of the chunk.
const GLB_JSON: usize = 20;

/// A .gltf or .glb file with the files beside it inside, so that any source of assets will do and a change of theirs
/// reloads it.
async fn embedded(
    bytes: Vec<u8>,
    path: &AssetPath<'static>,
    context: &mut LoadContext<'_>,
) -> Result<Vec<u8>, RigLoaderError> {
    use base64::Engine;
    // The importer says what is wrong with a file that is no JSON.
    let Some((json, chunks)) = json_and_chunks(&bytes) else { return Ok(bytes) };
    let Ok(mut file) = serde_json::from_slice::<serde_json::Value>(json) else {
        return Ok(bytes);
    };
    let mut changed = false;
    for list in ["buffers", "images"] {
        for item in file.get_mut(list).and_then(|v| v.as_array_mut()).into_iter().flatten() {
            let Some(uri) = item.get("uri").and_then(|v| v.as_str()) else { continue };
            if uri.starts_with("data:") {
                continue;
            }
            let decoded =
                percent_encoding::percent_decode_str(uri).decode_utf8_lossy().into_owned();
            // Not by its text, in which a `#` would begin a label.
            let other = path.resolve_embed(&AssetPath::from_path(Path::new(&decoded)));
            let data = context.read_asset_bytes(other).await?;
            let text = base64::engine::general_purpose::STANDARD.encode(data);
            let kind = match (list, Path::new(&decoded).extension().and_then(|e| e.to_str())) {
                ("buffers", _) => "application/octet-stream",
                (_, Some("png")) => "image/png",
                (_, Some("webp")) => "image/webp",
                (_, Some("ktx2")) => "image/ktx2",
                _ => "image/jpeg",
            };
            item["uri"] = format!("data:{kind};base64,{text}").into();
            changed = true;
        }
    }
    if !changed {
        return Ok(bytes);
    }
    let mut json = file.to_string().into_bytes();
    let Some(chunks) = chunks else { return Ok(json) };
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut glb = [&bytes[..GLB_JSON], &json, chunks].concat();
    for (at, length) in [(8, glb.len()), (12, json.len())] {
        let length = u32::try_from(length).map_err(std::io::Error::other)?;
        glb[at..at + 4].copy_from_slice(&length.to_le_bytes());
    }
    Ok(glb)
}
