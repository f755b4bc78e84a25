//! `Scene`: borrowed models, instances and palette rows to draw.

use std::ops::Range;

use glam::Vec3;

use super::{Camera, Look, Palette, RenderError, Winding};
use phalanx::math::Affine3x4;
use phalanx::mesh::{AlphaMode, Image, Material, Primitive, Texture};
use phalanx::rig::Sphere;

/// Everything that a picture shows, borrowed.
///
/// Palette rows are in model space, as a crowd's bone buffer holds them; several rigs may share one buffer.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The models that instances refer to.
    pub models: &'a [DrawModel<'a>],
    /// The characters to draw.
    pub instances: &'a [DrawInstance],
    /// The bone buffer: the rows of all instances.
    pub palette: Palette<'a>,
    /// Morph weights of all instances; if empty, meshes are drawn without their morph targets.
    pub morph_weights: &'a [f32],
    /// The camera.
    pub camera: Camera,
    /// Light, haze and ground.
    pub look: Look,
}

/// The meshes of a character in one or several levels of detail.
///
/// All details read the same palette rows. A model without details draws nothing.
#[derive(Clone, Copy, Debug)]
pub struct DrawModel<'a> {
    /// Levels of detail, finest first.
    pub details: &'a [DrawDetail<'a>],
}

/// One level of detail.
#[derive(Clone, Copy, Debug)]
pub struct DrawDetail<'a> {
    /// The meshes of the level.
    pub meshes: &'a [DrawMesh<'a>],
    /// The level is used while the instance's bounds are at least this many pixels high. Below the last
    /// level's threshold the last level is used.
    pub min_pixels: f32,
}

/// How a mesh follows its character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placement {
    /// The influences of the mesh place it.
    Skinned {
        /// The row of the mesh's slot 0 within the instance's rows.
        first_slot: u32,
        /// Whether the rows mirror triangles; [`Winding::ByRows`] where that is not known.
        winding: Winding,
    },
    /// A transform from mesh space to model space places the whole mesh.
    Rigid(Affine3x4),
}

/// A primitive with its material and placement.
#[derive(Clone, Copy, Debug)]
pub struct DrawMesh<'a> {
    /// The geometry.
    pub primitive: &'a Primitive,
    /// Base colour, alpha mode, sidedness, and whether the surface is unlit. Meshes that blend are drawn back to
    /// front behind all others, as wholes. Masked meshes cast shadows where alpha reaches their cutoff, blended ones
    /// where it reaches 0.5. All else of the material is not shown.
    pub material: &'a Material,
    /// The image of the material's base colour texture, which says how it lies on the mesh. Its filters are not
    /// used: textures are linear, with mip levels.
    pub image: Option<&'a Image>,
    /// How much of the instance's tint multiplies the colour, 0 to 1; see [`tint_strength`].
    pub tint: f32,
    /// How the mesh follows its character. `Skinned` needs influences.
    pub placement: Placement,
    /// Index of the mesh's first weight within the instance's morph weights.
    pub first_weight: u32,
}

/// One character to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawInstance {
    /// Index of the model in the scene.
    pub model: u32,
    /// Transform from model space to world space.
    pub world: Affine3x4,
    /// Index of the instance's first row in the palette.
    pub palette_offset: u32,
    /// The second palette of an interpolated instance; `None` shows the rows at `palette_offset`.
    pub lerp: Option<PaletteLerp>,
    /// Index of the instance's first weight in the morph weights.
    pub morph_offset: u32,
    /// Linear colour that multiplies tinted meshes.
    pub tint: [f32; 4],
    /// Bounds of the instance, in model space. Without bounds it is never culled and has full detail.
    pub bounds: Option<Sphere>,
}

/// The second palette of an instance that is shown between two poses.
///
/// Each row is shown as `from + (to - from) × factor`, with `from` the row at
/// [`palette_offset`](DrawInstance::palette_offset), before it is blended by weights. The shaders do so on every
/// backend, the software rasteriser with [`LerpPaletteJob`](phalanx::runtime::LerpPaletteJob).
///
/// A vertex lies on the line between its two places, so bounds must contain both poses.
///
/// A renderer binds the rows from the first of one palette to the last of the other: keep them side by side. On a
/// device they must be in one page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PaletteLerp {
    /// Index of the second palette's first row in the scene's palette. Not read at factor 0.
    pub to_offset: u32,
    /// 0 shows the first palette, 1 the second.
    pub factor: f32,
}

/// The palettes that an instance reads: both are the same at the ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shown {
    pub row: u32,
    pub to_row: u32,
    pub factor: f32,
}

impl Shown {
    /// No rows.
    pub const NOTHING: Self = Self { row: 0, to_row: 0, factor: 0.0 };

    /// The rows that are read, if each palette has `count`.
    pub fn rows(&self, count: usize) -> Range<usize> {
        let first = self.row.min(self.to_row) as usize;
        let last = self.row.max(self.to_row) as usize;
        first..last.saturating_add(count)
    }
}

impl DrawInstance {
    /// The palettes that are read. A factor of 0 or 1 needs one of them.
    pub(super) fn shown(&self) -> Shown {
        let at = |row| Shown { row, to_row: row, factor: 0.0 };
        match self.lerp {
            Some(lerp) if lerp.factor == 1.0 => at(lerp.to_offset),
            Some(lerp) if lerp.factor != 0.0 => {
                Shown { row: self.palette_offset, to_row: lerp.to_offset, factor: lerp.factor }
            }
            _ => at(self.palette_offset),
        }
    }
}

/// Width and height of a picture in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureSize {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// The most pixels per side. Devices allow 8,192 or 16,384 and report a lower limit as a device error.
const MAX_SIDE: u32 = 16_384;

/// The most pixels of a picture: 64 Mi, for which the software rasteriser needs 2.5 GB.
const MAX_PIXELS: u64 = 1 << 26;

impl PictureSize {
    /// Width over height.
    pub fn aspect(self) -> f32 {
        self.width as f32 / self.height.max(1) as f32
    }

    pub(super) fn validate(self) -> Result<(), RenderError> {
        let Self { width, height } = self;
        if width == 0 || height == 0 {
            return Err(RenderError::EmptyPicture { width, height });
        }
        let limit = if width.max(height) > MAX_SIDE {
            MAX_SIDE.into()
        } else if u64::from(width) * u64::from(height) > MAX_PIXELS {
            MAX_PIXELS
        } else {
            return Ok(());
        };
        Err(RenderError::PictureTooLarge { width, height, limit })
    }
}

/// The tint strength of models without a material named `Tint`.
const SOFT_TINT: f32 = 0.35;

/// How much of the instance's tint a material receives, 0 to 1.
///
/// A material named `Tint` receives all of it. Other materials receive none if the model has a material
/// named `Tint`, else 0.35.
pub fn tint_strength(material: &Material, model_has_tint: bool) -> f32 {
    match (material.name.as_deref() == Some("Tint"), model_has_tint) {
        (true, _) => 1.0,
        (false, true) => 0.0,
        (false, false) => SOFT_TINT,
    }
}

/// The least alpha with which a blended surface casts a shadow.
const BLENDED_SHADOW: f32 = 0.5;

impl DrawMesh<'_> {
    /// The least alpha that casts a shadow; `None` if all of the mesh does.
    pub(super) fn shadow_cutoff(&self) -> Option<f32> {
        match self.material.alpha_mode {
            AlphaMode::Opaque => None,
            AlphaMode::Mask => Some(self.material.alpha_cutoff),
            AlphaMode::Blend => Some(BLENDED_SHADOW),
        }
    }

    /// Checks the arrays against each other. Returns the number of the instance's palette rows and of its
    /// morph weights that the mesh needs.
    pub(super) fn validate(&self) -> Result<(u64, u64), MeshFault> {
        let p = self.primitive;
        let vertices = p.positions.len() as u64;
        let same = |what, found: usize| {
            if found == 0 || found as u64 == vertices {
                Ok(())
            } else {
                Err(MeshFault(what, found as u64, "equal to", vertices))
            }
        };
        same("the number of normals", p.normals.len())?;
        same("the number of texture coordinates", p.uvs.len())?;
        same("the number of second texture coordinates", p.uvs1.len())?;
        same("the number of colours", p.colors.len())?;
        for target in &p.targets {
            same("the number of morphed positions", target.positions.len())?;
            same("the number of morphed normals", target.normals.len())?;
        }
        if let Some(&index) = p.indices.iter().find(|&&i| u64::from(i) >= vertices) {
            return Err(MeshFault("an index", index.into(), "below", vertices));
        }
        if let Some(image) = self.image {
            let texels = u64::from(image.width) * u64::from(image.height);
            if image.rgba.len() as u64 != texels * 4 || texels == 0 {
                let found = image.rgba.len() as u64;
                let expected = (texels * 4).max(4);
                return Err(MeshFault(
                    "the number of bytes of the image",
                    found,
                    "equal to",
                    expected,
                ));
            }
        }
        let rows = match self.placement {
            Placement::Rigid(_) => 0,
            Placement::Skinned { first_slot, .. } => {
                let i = &p.influences;
                let expected = vertices.saturating_mul(i.per_vertex as u64);
                let fault = |what, found, expected| MeshFault(what, found, "equal to", expected);
                if i.per_vertex == 0 && vertices > 0 {
                    return Err(MeshFault("the number of influences", 0, "above", 0));
                }
                let (joints, weights) = (i.joints.len() as u64, i.weights.len() as u64);
                if joints != expected {
                    return Err(fault("the number of joint indices", joints, expected));
                }
                if weights != expected {
                    return Err(fault("the number of weights", weights, expected));
                }
                let slots = i.joints.iter().max().map_or(0, |&j| u64::from(j) + 1);
                u64::from(first_slot) + slots
            }
        };
        let weights = match p.targets.len() as u64 {
            0 => 0,
            targets => u64::from(self.first_weight) + targets,
        };
        Ok((rows, weights))
    }

    /// How the image lies on the mesh.
    pub(super) fn texture(&self) -> Texture {
        self.material.base_color_texture.unwrap_or_default()
    }

    /// The texture coordinates of the image; empty if the mesh has none.
    pub(super) fn uvs(&self) -> &[[f32; 2]] {
        match self.texture().tex_coord {
            0 => &self.primitive.uvs,
            _ => &self.primitive.uvs1,
        }
    }

    /// Whether the placement mirrors triangles.
    pub(super) fn winding(&self) -> Winding {
        match self.placement {
            Placement::Rigid(place) if mirrors(&place) => Winding::Turned,
            Placement::Rigid(_) => Winding::Kept,
            Placement::Skinned { winding, .. } => winding,
        }
    }
}

/// An error of a mesh: which number, its value, the relation that it must have, and to what.
pub(super) struct MeshFault(pub &'static str, pub u64, pub &'static str, pub u64);

/// Whether a transform mirrors: its determinant is negative.
pub(super) fn mirrors(m: &Affine3x4) -> bool {
    let [x, y, z] = m.rows.map(|[a, b, c, _]| Vec3::new(a, b, c));
    x.dot(y.cross(z)) < 0.0
}
