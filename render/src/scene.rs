//! What to draw: borrowed meshes, instances and palette rows.

use glam::Vec3;

use super::{Camera, Look, Palette, RenderError, Winding};
use phalanx::math::Affine3x4;
use phalanx::mesh::{Image, Material, Primitive};

/// Everything that a picture shows; all borrowed.
///
/// Palette rows are in model space, as a crowd's bone buffer holds them; several rigs may share one.
#[derive(Clone, Debug)]
pub struct Scene<'a> {
    /// The characters' shapes.
    pub models: &'a [DrawModel<'a>],
    /// The characters.
    pub instances: &'a [DrawInstance],
    /// The bone buffer: the rows of all instances.
    pub palette: Palette<'a>,
    /// Morph weights of all instances; empty draws every mesh without its targets.
    pub morph_weights: &'a [f32],
    /// Where the picture is taken from.
    pub camera: Camera,
    /// Light, air and ground.
    pub look: Look,
}

/// A character's shape in one or several levels of detail, finest first.
///
/// All details read the same palette rows. Without details nothing is drawn.
#[derive(Clone, Copy, Debug)]
pub struct DrawModel<'a> {
    /// Levels of detail, finest first.
    pub details: &'a [DrawDetail<'a>],
}

/// One level of detail.
#[derive(Clone, Copy, Debug)]
pub struct DrawDetail<'a> {
    /// Its meshes.
    pub meshes: &'a [DrawMesh<'a>],
    /// Used while the instance's bounds are at least so many pixels high; the last detail is also
    /// used for all that is smaller.
    pub min_pixels: f32,
}

/// How a mesh follows its character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Placement {
    /// By its influences; slot 0 is this row of the instance's rows.
    Skinned {
        /// First row of the mesh's skin within the instance's rows.
        first_slot: u32,
        /// Which way the rows turn triangles; [`Winding::ByRows`] where that is not known.
        winding: Winding,
    },
    /// As a whole, by a transform from mesh space to model space.
    Rigid(Affine3x4),
}

/// A primitive with its material and its place.
#[derive(Clone, Copy, Debug)]
pub struct DrawMesh<'a> {
    /// Geometry.
    pub primitive: &'a Primitive,
    /// Base colour and sidedness.
    pub material: &'a Material,
    /// Base colour texture, repeated; its alpha is ignored.
    pub image: Option<&'a Image>,
    /// How much of the instance's tint multiplies the colour, 0 to 1; see [`tint_strength`].
    pub tint: f32,
    /// How it follows its character. `Skinned` needs influences.
    pub placement: Placement,
    /// First weight of the mesh's targets within the instance's morph weights.
    pub first_weight: u32,
}

/// A sphere in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Centre.
    pub center: [f32; 3],
    /// Radius.
    pub radius: f32,
}

/// One character.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawInstance {
    /// Index into the scene's models.
    pub model: u32,
    /// From model space to world space.
    pub world: Affine3x4,
    /// Its first row in the palette.
    pub palette_offset: u32,
    /// Its first weight in the morph weights.
    pub morph_offset: u32,
    /// Linear colour that tinted meshes are multiplied with.
    pub tint: [f32; 4],
    /// What it never leaves, in model space. None: never culled, always in full detail.
    pub bounds: Option<Sphere>,
}

/// Width and height of a picture in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PictureSize {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

/// The most pixels of a side. Devices stop at 8,192 or 16,384 and have their own error.
const MAX_SIDE: u32 = 16_384;

/// The most pixels of a picture: 64 Mi, 2.5 GB of samples and depths on the way.
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
        Err(RenderError::PictureTooLarge {
            width,
            height,
            limit,
        })
    }
}

/// How strongly a model without a material of the name `Tint` takes its instance's tint.
const SOFT_TINT: f32 = 0.35;

/// How much of the instance's tint a material takes: all if it is named `Tint`, none if another of
/// the model's materials is, else a little.
pub fn tint_strength(material: &Material, model_has_tint: bool) -> f32 {
    match (material.name.as_deref() == Some("Tint"), model_has_tint) {
        (true, _) => 1.0,
        (false, true) => 0.0,
        (false, false) => SOFT_TINT,
    }
}

impl DrawMesh<'_> {
    /// Checks the arrays against each other; returns how many rows of an instance's and how many of
    /// its morph weights the mesh reads.
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

    /// Which way the placement turns triangles.
    pub(super) fn winding(&self) -> Winding {
        match self.placement {
            Placement::Rigid(place) if mirrors(&place) => Winding::Turned,
            Placement::Rigid(_) => Winding::Kept,
            Placement::Skinned { winding, .. } => winding,
        }
    }
}

/// What is wrong with a mesh: which number, its value, the relation that fails, with what.
pub(super) struct MeshFault(pub &'static str, pub u64, pub &'static str, pub u64);

/// Whether a transform turns left hands into right ones.
pub(super) fn mirrors(m: &Affine3x4) -> bool {
    let [x, y, z] = m.rows.map(|[a, b, c, _]| Vec3::new(a, b, c));
    x.dot(y.cross(z)) < 0.0
}
