//! Renders crowds with wgpu or, without an adapter, with a small software rasteriser of the same formulas.
//! Headless, or frame by frame into a window.
//!
//! Describe a [`Scene`] with a [`Camera`] and a [`Look`], then call [`draw`] for one picture. For many
//! frames keep a [`GpuRenderer`] with its [`GpuModels`] and a [`Canvas`]; a [`Screen`] shows canvases in a
//! window. [`RigShape`] makes the meshes of a rig, [`with_skeleton_mesh`] one for rigs that have none. [`CrowdView`] culls a crowd before it is evaluated.
//! Poses are input: plain slices of meshes, instances and palette rows.

mod blend;
mod camera;
mod crowd_view;
mod cull;
mod draw_list;
mod error;
mod hardware;
mod look;
mod palette;
mod scene;
mod shape;
mod skeleton_mesh;
mod software;
mod texture;
mod view;
mod winding;

pub use camera::{Camera, Projection};
pub use crowd_view::{CrowdView, ViewError};
pub use cull::{CullJob, Seen};
pub use draw_list::DrawCounts;
pub use error::RenderError;
pub use hardware::{Canvas, GpuModels, GpuRenderer, NextFrame, PassTimes, Screen};
pub use look::Look;
pub use palette::Palette;
pub use scene::{
    DrawDetail, DrawInstance, DrawMesh, DrawModel, PaletteLerp, PictureSize, Placement, Scene,
    tint_strength,
};
pub use shape::RigShape;
pub use skeleton_mesh::with_skeleton_mesh;
pub use winding::Winding;

use phalanx::gpu::GpuOptions;

/// The choice of a renderer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// wgpu where it works, else the software rasteriser.
    #[default]
    Auto,
    /// wgpu, or an error.
    Gpu,
    /// The software rasteriser.
    Software,
}

impl std::str::FromStr for Backend {
    type Err = RenderError;

    /// `auto`, `gpu` or `software`.
    fn from_str(s: &str) -> Result<Self, RenderError> {
        match s {
            "auto" => Ok(Self::Auto),
            "gpu" => Ok(Self::Gpu),
            "software" => Ok(Self::Software),
            _ => Err(RenderError::Backend { name: s.into() }),
        }
    }
}

/// The renderer that drew a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrawnBy {
    /// wgpu on the adapter with this name.
    Gpu(String),
    /// The software rasteriser.
    Software {
        /// The reason why wgpu failed, if it was tried first.
        instead: Option<String>,
    },
}

impl std::fmt::Display for DrawnBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gpu(adapter) => write!(f, "wgpu on {adapter}"),
            Self::Software { instead: None } => f.write_str("software rasteriser"),
            Self::Software { instead: Some(reason) } => {
                // The reasons of all backends are too long for a line; the first is enough.
                let reason = reason.split(';').next().unwrap_or_default();
                write!(f, "software rasteriser ({reason})")
            }
        }
    }
}

/// A finished picture.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The pixels: 8-bit sRGB, opaque.
    pub image: image::RgbaImage,
    /// The renderer that drew it.
    pub drawn_by: DrawnBy,
    /// Numbers of drawn and culled instances, and of triangles.
    pub counts: DrawCounts,
}

/// Draws one picture.
///
/// `Backend::Auto` falls back to software when there is no adapter or the device fails, and reports that in
/// [`Picture::drawn_by`].
///
/// # Errors
/// If the scene or the size is invalid, or, with `Backend::Gpu`, the device fails.
pub fn draw(scene: &Scene, size: PictureSize, backend: Backend) -> Result<Picture, RenderError> {
    draw_with(scene, size, backend, &GpuOptions::default())
}

/// [`draw`] with options for adapters and page sizes.
///
/// # Errors
/// Those of [`draw`].
pub fn draw_with(
    scene: &Scene,
    size: PictureSize,
    backend: Backend,
    options: &GpuOptions,
) -> Result<Picture, RenderError> {
    if matches!(scene.palette, Palette::Device(_)) {
        return Err(RenderError::OnDevice);
    }
    // Errors of the scene are the same for both backends and are reported before errors of a device.
    let draws = draw_list::DrawList::new(scene, size)?;
    let instead = if backend == Backend::Software {
        None
    } else {
        let drawn = GpuRenderer::open(options, draws.most_rows(scene), None)
            .and_then(|mut r| r.draw_listed(scene, size, &draws));
        match drawn {
            Err(RenderError::Gpu(error)) if backend == Backend::Auto => Some(error.to_string()),
            done => return done,
        }
    };
    Ok(Picture {
        image: software::draw(scene, size, &draws)?,
        drawn_by: DrawnBy::Software { instead },
        counts: draws.counts,
    })
}
