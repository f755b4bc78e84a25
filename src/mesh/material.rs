//! `Material`: a surface for renderers, by the metallic-roughness model of glTF.

use super::{Texture, TextureTransform};
use crate::error::BuildError;
use crate::skeleton::MAX_LENGTH;

/// The number of texture coordinate sets that a primitive can keep.
pub const TEX_COORD_SETS: u32 = 2;

/// A material: factors, textures that multiply them, and how the surface is drawn.
///
/// Factors are linear. Base colour and emissive textures are sRGB, the others linear. The fields mean the same as in
/// glTF 2.0, section 3.9. [`Rig::new`](crate::rig::Rig::new) checks materials.
/// ```
/// use phalanx::mesh::{AlphaMode, Material, Texture};
///
/// let leaves = Material {
///     name: Some("leaves".into()),
///     base_color_texture: Some(Texture::default()),
///     alpha_mode: AlphaMode::Mask,
///     double_sided: true,
///     ..Material::default()
/// };
/// assert_eq!(leaves.alpha_cutoff, 0.5);
/// assert!(leaves.check().is_ok());
/// assert_eq!(leaves.textures().count(), 1);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name in the file, if any.
    pub name: Option<String>,
    /// Base colour factor, linear RGBA. Default: 1.
    pub base_color: [f32; 4],
    /// Texture that multiplies the base colour by its RGB and the alpha by its A.
    pub base_color_texture: Option<Texture>,
    /// Metallic factor, 0 to 1. Default: 1, as in glTF.
    pub metallic: f32,
    /// Roughness factor, 0 to 1. Default: 1.
    pub roughness: f32,
    /// Texture that multiplies metallic by its blue and roughness by its green channel.
    pub metallic_roughness_texture: Option<Texture>,
    /// Texture of normals in tangent space.
    pub normal_texture: Option<Texture>,
    /// Factor on the x and y of the texture's normals. Default: 1.
    pub normal_scale: f32,
    /// Texture whose red channel is the share of ambient light that arrives.
    pub occlusion_texture: Option<Texture>,
    /// Share of the occlusion that applies, 0 to 1. Default: 1.
    pub occlusion_strength: f32,
    /// Emitted light, linear RGB, not negative; the strength of `KHR_materials_emissive_strength` is
    /// multiplied in, so it may exceed 1. Default: 0.
    pub emissive: [f32; 3],
    /// Texture that multiplies the emitted light.
    pub emissive_texture: Option<Texture>,
    /// Use of the base colour's alpha. Default: [`AlphaMode::Opaque`].
    pub alpha_mode: AlphaMode,
    /// Smallest alpha that is drawn with [`AlphaMode::Mask`], not negative. Default: 0.5.
    pub alpha_cutoff: f32,
    /// Whether back faces are drawn. Default: no.
    pub double_sided: bool,
    /// Whether the base colour is shown without light (`KHR_materials_unlit`). Default: no.
    pub unlit: bool,
}

impl Material {
    /// The material of primitives that name none: the default of glTF.
    pub const DEFAULT: Self = Self {
        name: None,
        base_color: [1.0; 4],
        base_color_texture: None,
        metallic: 1.0,
        roughness: 1.0,
        metallic_roughness_texture: None,
        normal_texture: None,
        normal_scale: 1.0,
        occlusion_texture: None,
        occlusion_strength: 1.0,
        emissive: [0.0; 3],
        emissive_texture: None,
        alpha_mode: AlphaMode::Opaque,
        alpha_cutoff: 0.5,
        double_sided: false,
        unlit: false,
    };

    /// The textures in use, each with the name of its use.
    pub fn textures(&self) -> impl Iterator<Item = (&'static str, &Texture)> {
        let names = ["base colour", "metallic and roughness", "normal", "occlusion", "emissive"];
        let all = names.into_iter().zip(self.texture_slots());
        all.filter_map(|(name, t)| Some((name, t.as_ref()?)))
    }

    /// The textures by their use, in the order of their bits in files.
    pub(crate) fn texture_slots(&self) -> [&Option<Texture>; 5] {
        [
            &self.base_color_texture,
            &self.metallic_roughness_texture,
            &self.normal_texture,
            &self.occlusion_texture,
            &self.emissive_texture,
        ]
    }

    /// The textures in use, in the order of [`textures`](Self::textures), to change them.
    pub(crate) fn textures_mut(&mut self) -> impl Iterator<Item = &mut Texture> {
        let all = [
            &mut self.base_color_texture,
            &mut self.metallic_roughness_texture,
            &mut self.normal_texture,
            &mut self.occlusion_texture,
            &mut self.emissive_texture,
        ];
        all.into_iter().flatten()
    }

    /// Checks the numbers. The base colour and rotations must be finite. Metallic, roughness and the strength of occlusion
    /// lie within 0 and 1. All others lie within [`MAX_LENGTH`]; emitted light and cutoff are not negative.
    ///
    /// # Errors
    /// With the first number that fails.
    pub fn check(&self) -> Result<(), BuildError> {
        const SIZE: (f32, f32) = (-MAX_LENGTH, MAX_LENGTH);
        const AMOUNT: (f32, f32) = (0.0, MAX_LENGTH);
        const SHARE: (f32, f32) = (0.0, 1.0);
        const FINITE: (f32, f32) = (f32::MIN, f32::MAX);
        let number = |what: &str, value: f32, (least, most): (f32, f32)| {
            if value >= least && value <= most {
                return Ok(());
            }
            Err(BuildError::invalid(format!(
                "the {what} is {value:e}, allowed is {least:e} to {most:e}"
            )))
        };
        for value in self.base_color {
            number("base colour", value, FINITE)?;
        }
        number("metallic factor", self.metallic, SHARE)?;
        number("roughness factor", self.roughness, SHARE)?;
        number("scale of the normals", self.normal_scale, SIZE)?;
        number("strength of the occlusion", self.occlusion_strength, SHARE)?;
        for value in self.emissive {
            number("emitted light", value, AMOUNT)?;
        }
        number("alpha cutoff", self.alpha_cutoff, AMOUNT)?;
        for (texture, t) in self.textures() {
            if t.tex_coord >= TEX_COORD_SETS {
                let tex_coord = t.tex_coord;
                return Err(BuildError::invalid(format!(
                    "the {texture} texture uses texture coordinates {tex_coord}, there are {TEX_COORD_SETS} sets"
                )));
            }
            let TextureTransform { offset, rotation, scale } = t.transform;
            for value in offset.into_iter().chain(scale) {
                number("offset or scale of a texture", value, SIZE)?;
            }
            number("rotation of a texture", rotation, FINITE)?;
        }
        Ok(())
    }
}

impl Default for Material {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// The use of the base colour's alpha.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AlphaMode {
    /// Alpha is ignored: the surface is opaque.
    #[default]
    Opaque,
    /// The surface is drawn, opaque, where alpha is at least the cutoff.
    Mask,
    /// The surface is blended over what lies behind it, by its alpha.
    Blend,
}

impl AlphaMode {
    /// All values, in the order of their numbers in files.
    #[cfg(any(feature = "gltf", feature = "phx"))]
    pub(crate) const ALL: [Self; 3] = [Self::Opaque, Self::Mask, Self::Blend];

    /// The mode of a name in glTF files.
    #[cfg(feature = "gltf")]
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.to_string() == name)
    }
}

/// The name in glTF files.
impl std::fmt::Display for AlphaMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Opaque => "OPAQUE",
            Self::Mask => "MASK",
            Self::Blend => "BLEND",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_checked_with_their_names() {
        let refused = |change: fn(&mut Material), words: &str| {
            let mut material =
                Material { normal_texture: Some(Texture::default()), ..Material::DEFAULT };
            assert_eq!(material.check(), Ok(()));
            change(&mut material);
            let line = material.check().expect_err(words).to_string();
            assert!(line.contains(words), "{line}");
        };
        refused(|m| m.base_color[3] = f32::NAN, "base colour is NaN");
        refused(|m| m.metallic = 1.5, "metallic factor is 1.5e0");
        refused(|m| m.roughness = -0.5, "roughness factor is -5e-1");
        refused(|m| m.occlusion_strength = 2.0, "occlusion is 2e0");
        refused(|m| m.emissive[1] = -1.0, "emitted light is -1e0");
        refused(|m| m.alpha_cutoff = f32::INFINITY, "cutoff is inf");
        refused(|m| m.normal_scale = 1e13, "normals is 1e13");
        fn of(m: &mut Material) -> &mut Texture {
            m.normal_texture.as_mut().expect("it was just set")
        }
        refused(|m| of(m).tex_coord = 2, "normal texture uses texture coordinates 2");
        refused(|m| of(m).transform.offset[0] = f32::NAN, "texture is NaN");
        refused(|m| of(m).transform.rotation = f32::INFINITY, "rotation of a texture");
        let all = TextureTransform { rotation: 1e30, ..Default::default() };
        let mut turned = Material::DEFAULT;
        turned.emissive_texture = Some(Texture { transform: all, ..Default::default() });
        assert_eq!(turned.check(), Ok(()));
    }
}
