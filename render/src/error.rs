//! What can be wrong with a scene or a picture.

use phalanx::gpu::{GpuError, PaletteBackend};
use phalanx::runtime::JobError;

/// Errors of drawing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// A picture without pixels.
    #[error("a picture of {width} x {height} has no pixels")]
    EmptyPicture {
        /// Width asked for.
        width: u32,
        /// Height asked for.
        height: u32,
    },
    /// A picture too large to draw.
    #[error("a picture of {width} x {height} is larger than {limit} on one side or in all")]
    PictureTooLarge {
        /// Width asked for.
        width: u32,
        /// Height asked for.
        height: u32,
        /// The limit that was exceeded, in pixels.
        limit: u64,
    },
    /// A picture that the machine has no memory for, drawn in software.
    #[error(
        "a picture of {width} x {height} needs {needed} bytes, which this machine does not give"
    )]
    OutOfMemory {
        /// Width asked for.
        width: u32,
        /// Height asked for.
        height: u32,
        /// Bytes of the allocation that was refused.
        needed: u64,
    },
    /// No backend of that name.
    #[error("unknown renderer {name:?}: auto, gpu or software")]
    Backend {
        /// The name given.
        name: String,
    },
    /// A camera that sees nothing, or a light without a direction.
    #[error("the {what} is {value}, which is not usable")]
    View {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f32,
    },
    /// A mesh whose arrays do not fit each other.
    #[error(
        "model {model}, detail {detail}, mesh {mesh}: {what} is {found}, it must be {relation} {expected}"
    )]
    Mesh {
        /// Index of the model in the scene.
        model: usize,
        /// Index of the detail in the model.
        detail: usize,
        /// Index of the mesh in the detail.
        mesh: usize,
        /// Which number is wrong.
        what: &'static str,
        /// Its value.
        found: u64,
        /// `equal to` or `below`.
        relation: &'static str,
        /// What it is compared with.
        expected: u64,
    },
    /// A list of what is seen that has not one entry per instance.
    #[error("there are {found} places for what is seen of {expected} instances")]
    Seen {
        /// Places.
        found: usize,
        /// Instances.
        expected: usize,
    },
    /// Models on the device that are not those of the scene.
    #[error("the scene has {found} models, {expected} were loaded")]
    Loaded {
        /// Models of the scene.
        found: usize,
        /// Models on the device.
        expected: usize,
    },
    /// Rows on a device that are not laid out for its renderer.
    #[error("the palette is laid out for the {found} backend, the renderer reads {expected}")]
    PaletteBackend {
        /// Of the bone buffer.
        found: PaletteBackend,
        /// Of the renderer.
        expected: PaletteBackend,
    },
    /// Rows on a device, without the renderer of that device.
    #[error("the palette is on a graphics device: only a renderer on that device can draw it")]
    OnDevice,
    /// Something that was made on another device than the renderer's: one that was lost, say.
    #[error("the {what} belongs to another graphics device than the renderer")]
    OtherDevice {
        /// What.
        what: &'static str,
    },
    /// An instance of a model that the scene does not have.
    #[error("instance {instance} is of model {model}, the scene has {models}")]
    Model {
        /// Index of the instance.
        instance: usize,
        /// The model it names.
        model: u32,
        /// Number of models.
        models: usize,
    },
    /// An instance whose palette rows reach past the end.
    #[error("instance {instance} needs palette rows up to {needed}, the palette has {rows}")]
    Palette {
        /// Index of the instance.
        instance: usize,
        /// The row after the last it reads.
        needed: u64,
        /// Number of rows.
        rows: usize,
    },
    /// An instance whose morph weights reach past the end.
    #[error("instance {instance} needs morph weights up to {needed}, the scene has {weights}")]
    MorphWeights {
        /// Index of the instance.
        instance: usize,
        /// The weight after the last it reads.
        needed: u64,
        /// Number of weights.
        weights: usize,
    },
    /// An instance whose world transform, tint, bounds or morph weights hold a NaN or an infinity.
    #[error("instance {instance} has a {what} that is not finite")]
    NotFinite {
        /// Index of the instance.
        instance: usize,
        /// Which value.
        what: &'static str,
    },
    /// The CPU skinning job's errors.
    #[error(transparent)]
    Skinning(#[from] JobError),
    /// The device's errors.
    #[error(transparent)]
    Gpu(#[from] GpuError),
}
