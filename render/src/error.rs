//! `RenderError`: errors of scenes and of drawing.

use phalanx::gpu::{GpuError, PaletteBackend};
use phalanx::runtime::JobError;

/// An error of a scene or of drawing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The picture has no pixels.
    #[error("a picture of {width} x {height} has no pixels")]
    EmptyPicture {
        /// The requested width.
        width: u32,
        /// The requested height.
        height: u32,
    },
    /// The picture is too large.
    #[error(
        "a picture of {width} x {height} exceeds the limit of {limit} pixels on one side or in total"
    )]
    PictureTooLarge {
        /// The requested width.
        width: u32,
        /// The requested height.
        height: u32,
        /// The limit that was exceeded, in pixels.
        limit: u64,
    },
    /// There is not enough memory to draw the picture in software.
    #[error(
        "a picture of {width} x {height} needs {needed} bytes, more than this machine can provide"
    )]
    OutOfMemory {
        /// The requested width.
        width: u32,
        /// The requested height.
        height: u32,
        /// Bytes of the allocation that failed.
        needed: u64,
    },
    /// No backend has this name.
    #[error("unknown renderer \"{name}\": expected auto, gpu or software")]
    Backend {
        /// The name.
        name: String,
    },
    /// A number of the camera or the look is invalid.
    #[error("the {what} is {value}, which is not valid")]
    View {
        /// Name of the number.
        what: &'static str,
        /// The value of the number.
        value: f32,
    },
    /// The arrays of a mesh do not fit each other.
    #[error(
        "model {model}, detail {detail}, mesh {mesh}: {what} is {found}; it must be {relation} {expected}"
    )]
    Mesh {
        /// Index of the model in the scene.
        model: usize,
        /// Index of the detail in the model.
        detail: usize,
        /// Index of the mesh in the detail.
        mesh: usize,
        /// Name of the number.
        what: &'static str,
        /// The value of the number.
        found: u64,
        /// `equal to`, `below` or `above`.
        relation: &'static str,
        /// The number that it is compared with.
        expected: u64,
    },
    /// `CullJob::seen` does not have one entry per instance.
    #[error("`seen` has {found} entries for {expected} instances")]
    Seen {
        /// Number of entries.
        found: usize,
        /// Number of instances.
        expected: usize,
    },
    /// The models on the device differ from the models of the scene.
    #[error("the scene has {found} models, but {expected} are loaded")]
    Loaded {
        /// Number of models in the scene.
        found: usize,
        /// Number of models on the device.
        expected: usize,
    },
    /// The palette rows are laid out for another backend than the renderer's.
    #[error("the palette is laid out for the {found} backend; the renderer reads {expected}")]
    PaletteBackend {
        /// Backend of the bone buffer.
        found: PaletteBackend,
        /// Backend of the renderer.
        expected: PaletteBackend,
    },
    /// The palette rows are on a device that is not the renderer's.
    #[error("the palette is on a graphics device; only a renderer on that device can draw it")]
    OnDevice,
    /// An object belongs to another device than the renderer's, for example to one that was lost.
    #[error("the {what} belongs to another graphics device than the renderer")]
    OtherDevice {
        /// The kind of object.
        what: &'static str,
    },
    /// An instance refers to a model that the scene does not have.
    #[error("instance {instance} refers to model {model}; the scene has {models} models")]
    Model {
        /// Index of the instance.
        instance: usize,
        /// Index of the model.
        model: u32,
        /// Number of models.
        models: usize,
    },
    /// The palette rows of an instance reach past the end, or across two pages of a device.
    #[error("instance {instance} needs palette rows up to {needed}; the palette has {rows}")]
    Palette {
        /// Index of the instance.
        instance: usize,
        /// The row after the last it reads.
        needed: u64,
        /// Number of rows.
        rows: usize,
    },
    /// The factor between an instance's palettes is not a number from 0 to 1.
    #[error("instance {instance} is at {factor} between its palettes; it must be from 0 to 1")]
    Factor {
        /// Index of the instance.
        instance: usize,
        /// The factor.
        factor: f32,
    },
    /// The two palettes of an instance lie too far apart for a window or a page of the renderer's backend.
    #[error(
        "instance {instance} reads two palettes across {needed} rows; the {backend} backend holds {limit} \
         in one piece"
    )]
    Apart {
        /// Index of the instance.
        instance: usize,
        /// Backend of the renderer.
        backend: PaletteBackend,
        /// The rows from the first of one palette to the last of the other.
        needed: u64,
        /// The most rows that the backend binds at once.
        limit: u64,
    },
    /// The morph weights of an instance reach past the end.
    #[error("instance {instance} needs morph weights up to {needed}; the scene has {weights}")]
    MorphWeights {
        /// Index of the instance.
        instance: usize,
        /// The weight after the last it reads.
        needed: u64,
        /// Number of weights.
        weights: usize,
    },
    /// The world transform, tint, bounds or morph weights of an instance contain NaN or an infinity.
    #[error("instance {instance} has a {what} that is not finite")]
    NotFinite {
        /// Index of the instance.
        instance: usize,
        /// Name of the value.
        what: &'static str,
    },
    /// An error of the CPU skinning job.
    #[error(transparent)]
    Skinning(#[from] JobError),
    /// An error of the device.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}
