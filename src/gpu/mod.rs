//! Crowds on the GPU through wgpu: devices, palettes in device memory, vertex streams and skinning shaders.
//!
//! Start with [`Gpu::open`] or, in an engine, [`Gpu::adopt`]; then [`GpuBoneBuffer`] for the palettes and
//! [`GpuMesh`] for the meshes. [`shaders`] has the WGSL; [`ComputeSkinner`] skins to vertex buffers.
//! Cameras, lights and render targets are the caller's.

/// The version of wgpu in this interface.
pub use wgpu;

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

pub use backend::PaletteBackend;
pub use bones::{BoneRow, BoneUpload, GpuBoneBuffer, GpuBoneOptions};
pub use device::{Gpu, GpuOptions};
pub use error::GpuError;
pub use mesh::{GpuMesh, SURFACE_LAYOUT};
pub use pages::RowPages;
pub use skin::{
    ComputeSkinner, SKINNED_LAYOUT, SkinInstance, SkinRun, SkinnedVertex, SkinningMesh,
};
pub use stamps::Stamps;
pub use table::Table;
