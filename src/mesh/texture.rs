//! `Texture`: the use of an image by a material: coordinates, their transform, wrapping and filters.

/// Use of an image by a [`Material`](super::Material).
///
/// The default is image 0 with the first texture coordinates, not transformed, repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Texture {
    /// Index into the images of the rig.
    pub image: usize,
    /// Set of texture coordinates of the primitive: 0 for [`Primitive::uvs`](super::Primitive::uvs), 1 for
    /// [`Primitive::uvs1`](super::Primitive::uvs1). An override by `KHR_texture_transform` is applied already.
    pub tex_coord: u32,
    /// Transform of the texture coordinates.
    pub transform: TextureTransform,
    /// Wrapping and filters.
    pub sampler: Sampler,
}

/// A transform of texture coordinates, as in `KHR_texture_transform`.
///
/// Coordinates begin at the image's upper left corner, v downwards. They are scaled, rotated, then moved:
/// ```
/// use phalanx::mesh::TextureTransform;
///
/// let transform = TextureTransform {
///     offset: [0.5, 0.0],
///     rotation: std::f32::consts::FRAC_PI_2,
///     scale: [2.0, 2.0],
/// };
/// let [u, v] = transform.apply([0.25, 0.0]);
/// // To the right becomes upwards, a quarter turn against the clock.
/// assert!((u - 0.5).abs() < 1e-6 && (v + 0.5).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureTransform {
    /// Offset, added last; 1 is the width or the height of the image. Default: 0.
    pub offset: [f32; 2],
    /// Counter-clockwise rotation, radians. Default: 0.
    pub rotation: f32,
    /// Factors, applied first. Default: 1.
    pub scale: [f32; 2],
}

impl Default for TextureTransform {
    fn default() -> Self {
        Self { offset: [0.0; 2], rotation: 0.0, scale: [1.0; 2] }
    }
}

impl TextureTransform {
    /// The rows of the 2×3 matrix by which coordinates `(u, v, 1)` are multiplied.
    ///
    /// The sense of rotation follows the extension's text and its test model. The matrix on the extension's page rotates
    /// the other way, which is a known mistake (KhronosGroup/glTF issue 1563).
    pub fn rows(&self) -> [[f32; 3]; 2] {
        let (sin, cos) = self.rotation.sin_cos();
        let ([x, y], [u, v]) = (self.scale, self.offset);
        [[cos * x, sin * y, u], [-sin * x, cos * y, v]]
    }

    /// Transforms texture coordinates.
    pub fn apply(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        self.rows().map(|[a, b, c]| a * u + b * v + c)
    }
}

/// Addressing of a texture outside 0 to 1, and filters between texels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sampler {
    /// Wrapping along u. Default: repeated.
    pub wrap_u: Wrap,
    /// Wrapping along v. Default: repeated.
    pub wrap_v: Wrap,
    /// Filter where a texel covers several pixels; `None` leaves it to the renderer.
    pub mag_filter: Option<Filter>,
    /// Filter where a pixel covers several texels; `None` leaves it to the renderer.
    pub min_filter: Option<Filter>,
    /// Filter between mip levels; `None` uses the image alone. Without `min_filter` it is left to the renderer too.
    pub mip_filter: Option<Filter>,
}

/// Values of a texture outside its image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Wrap {
    /// The image is repeated.
    #[default]
    Repeat,
    /// The nearest texel of the edge is used.
    ClampToEdge,
    /// The image and its mirror image alternate.
    MirroredRepeat,
}

/// Filter between texels, or between mip levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The nearest texel or level.
    Nearest,
    /// Linear between texels or levels.
    Linear,
}

impl Wrap {
    /// All values, in the order of their numbers in files.
    pub const ALL: [Self; 3] = [Self::Repeat, Self::ClampToEdge, Self::MirroredRepeat];
}

#[cfg(any(feature = "gltf", feature = "phx"))]
impl Filter {
    /// Filters of enlarged textures, in the order of their numbers in files.
    pub(crate) const MAG: [Self; 2] = [Self::Nearest, Self::Linear];

    /// Filters of reduced textures within and between mip levels, in the order of their numbers in files.
    pub(crate) const MIN: [(Self, Option<Self>); 6] = [
        (Self::Nearest, None),
        (Self::Linear, None),
        (Self::Nearest, Some(Self::Nearest)),
        (Self::Linear, Some(Self::Nearest)),
        (Self::Nearest, Some(Self::Linear)),
        (Self::Linear, Some(Self::Linear)),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_scaled_then_turned_then_moved() {
        let near = |a: [f32; 2], b: [f32; 2]| (a[0] - b[0]).abs() + (a[1] - b[1]).abs() < 1e-6;
        let transform = TextureTransform {
            offset: [0.25, -1.0],
            rotation: std::f32::consts::FRAC_PI_2,
            scale: [3.0, 0.5],
        };
        // (u, v) → (3 u, v / 2) → (v / 2, −3 u) → + offset.
        assert!(near(transform.apply([1.0, 0.0]), [0.25, -4.0]));
        assert!(near(transform.apply([0.0, 1.0]), [0.75, -1.0]));
        assert_eq!(TextureTransform::default().apply([0.3, 7.0]), [0.3, 7.0]);
    }
}
