//! The bone buffer and meshes on the GPU through wgpu: devices, pages of palette rows, vertex
//! streams and the skinning shaders.
//!
//! Here lives what any renderer needs to draw crowds, ours or an engine's. No cameras, lights,
//! render targets or pictures: those are `render`'s.

mod backend;
mod bones;
mod device;
mod error;
mod faults;
mod influences;
mod mesh;
mod pages;
mod paging;
pub mod shaders;
mod skin;
mod staging;
mod stamps;
mod table;
mod target;
mod upload;
mod window;

pub use backend::{PaletteBackend, PaletteLimits, ROW_BYTES, WINDOW_ALIGN};
pub use bones::{BonePage, BonePlace, BoneUpload, GpuBoneBuffer, GpuBoneOptions, UploadWay};
pub use device::{AdapterName, Gpu, GpuOptions};
pub use error::GpuError;
pub use influences::{InfluenceCount, InfluenceFormat, JointFormat, WeightFormat};
pub use mesh::{Deltas, GpuMesh, SURFACE_LAYOUT, SurfaceVertex};
pub use pages::RowPages;
pub use skin::{
    ComputeSkinner, SKINNED_LAYOUT, SkinInstance, SkinRun, SkinnedVertex, SkinningMesh,
};
pub use stamps::Stamps;
pub use table::Table;
pub use window::{WindowHandle, WindowSurface};
