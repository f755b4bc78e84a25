//! Section MATL: all materials.
//!
//! ```text
//! [count] then each [numbers, 60 bytes] [texture, 32 bytes] …, those that its bits name
//! ```

use super::error::{Fault, ReadError};
use super::names::{NameTable, Names};
use super::read::SectionReader;
use super::write::{Bytes, bit, code_of};
use crate::mesh::{AlphaMode, Filter, Material, Sampler, Texture, TextureTransform, Wrap};
use bytemuck::{Pod, Zeroable};

/// Bits of the flags. The two bits of `ALPHA_MODE` hold the alpha mode.
const DOUBLE_SIDED: u32 = 1;
const UNLIT: u32 = 2;
const ALPHA_MODE: u32 = 12;
const ALPHA_MODE_SHIFT: u32 = 2;

/// Number of textures of a material.
const TEXTURES: usize = 5;

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct Head {
    name: u32,
    base_color: [f32; 4],
    metallic: f32,
    roughness: f32,
    normal_scale: f32,
    occlusion_strength: f32,
    emissive: [f32; 3],
    alpha_cutoff: f32,
    flags: u32,
    /// Bits of the textures that follow, in the order of [`Material::texture_slots`].
    textures: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
struct StoredTexture {
    image: u32,
    tex_coord: u32,
    offset: [f32; 2],
    rotation: f32,
    scale: [f32; 2],
    wrap: [u8; 2],
    /// 0 if the file does not state one.
    mag_filter: u8,
    min_filter: u8,
}

pub(super) fn write(materials: &[Material], names: &mut NameTable) -> Vec<u8> {
    let mut out = Bytes::default();
    out.count(materials.len());
    for m in materials {
        let textures = m.texture_slots();
        let bits = textures.iter().enumerate();
        let bits = bits.map(|(bit, t)| u32::from(t.is_some()) << bit).sum();
        let alpha_mode = code_of(&AlphaMode::ALL, m.alpha_mode) as u32;
        out.one(Head {
            name: names.add(m.name.as_deref()),
            base_color: m.base_color,
            metallic: m.metallic,
            roughness: m.roughness,
            normal_scale: m.normal_scale,
            occlusion_strength: m.occlusion_strength,
            emissive: m.emissive,
            alpha_cutoff: m.alpha_cutoff,
            flags: bit(m.double_sided, DOUBLE_SIDED)
                | bit(m.unlit, UNLIT)
                | (alpha_mode << ALPHA_MODE_SHIFT),
            textures: bits,
        });
        for t in textures.into_iter().flatten() {
            out.one(stored(t));
        }
    }
    out.0
}

fn stored(t: &Texture) -> StoredTexture {
    let Sampler { wrap_u, wrap_v, mag_filter, min_filter, mip_filter } = t.sampler;
    StoredTexture {
        // An index that does not fit becomes one that readers reject, as with `Bytes::index`.
        image: u32::try_from(t.image).unwrap_or(u32::MAX),
        tex_coord: t.tex_coord,
        offset: t.transform.offset,
        rotation: t.transform.rotation,
        scale: t.transform.scale,
        wrap: [wrap_u, wrap_v].map(|w| code_of(&Wrap::ALL, w) as u8),
        mag_filter: mag_filter.map_or(0, |f| code_of(&Filter::MAG, f) as u8 + 1),
        min_filter: min_filter.map_or(0, |f| code_of(&Filter::MIN, (f, mip_filter)) as u8 + 1),
    }
}

/// Reads the materials. [`Rig::new`](crate::rig::Rig::new) checks ranges and images.
pub(super) fn read(mut r: SectionReader<'_>, names: &Names) -> Result<Vec<Material>, ReadError> {
    let count = r.count("the number of materials", size_of::<Head>())?;
    let mut out = Vec::new();
    for _ in 0..count {
        r.charge(size_of::<Material>())?;
        out.push(material(&mut r, names)?);
    }
    r.finish()?;
    Ok(out)
}

fn material(r: &mut SectionReader<'_>, names: &Names) -> Result<Material, ReadError> {
    let head: Head = r.one("a material")?;
    let name = r.name(names, head.name)?;
    let numbers = [
        &head.base_color[..],
        &[head.metallic, head.roughness],
        &[head.normal_scale, head.occlusion_strength],
        &head.emissive,
        &[head.alpha_cutoff],
    ];
    finite(r, "numbers of a material", numbers.into_iter().flatten())?;
    let known = DOUBLE_SIDED | UNLIT | ALPHA_MODE;
    r.bits("the flags of a material", head.flags, known)?;
    let alpha_mode = (head.flags & ALPHA_MODE) >> ALPHA_MODE_SHIFT;
    let what = "the alpha mode of a material";
    let alpha_mode = pick(r, what, &AlphaMode::ALL, alpha_mode)?;
    let known = (1 << TEXTURES) - 1;
    r.bits("the bit set of textures", head.textures, known)?;
    let mut textures: [Option<Texture>; TEXTURES] = [None; TEXTURES];
    for (bit, place) in textures.iter_mut().enumerate() {
        if (head.textures >> bit) & 1 != 0 {
            *place = Some(texture(r)?);
        }
    }
    let [base_color, metallic_roughness, normal, occlusion, emissive] = textures;
    Ok(Material {
        name,
        base_color: head.base_color,
        base_color_texture: base_color,
        metallic: head.metallic,
        roughness: head.roughness,
        metallic_roughness_texture: metallic_roughness,
        normal_texture: normal,
        normal_scale: head.normal_scale,
        occlusion_texture: occlusion,
        occlusion_strength: head.occlusion_strength,
        emissive: head.emissive,
        emissive_texture: emissive,
        alpha_mode,
        alpha_cutoff: head.alpha_cutoff,
        double_sided: head.flags & DOUBLE_SIDED != 0,
        unlit: head.flags & UNLIT != 0,
    })
}

fn texture(r: &mut SectionReader<'_>) -> Result<Texture, ReadError> {
    let t: StoredTexture = r.one("a texture")?;
    let numbers = [&t.offset[..], &[t.rotation], &t.scale];
    finite(r, "numbers of a texture", numbers.into_iter().flatten())?;
    let [wrap_u, wrap_v] = t.wrap;
    let wrap = |wrap: u8| pick(r, "the wrapping of a texture", &Wrap::ALL, wrap.into());
    let min_filter = filter(r, &Filter::MIN, t.min_filter)?;
    Ok(Texture {
        image: t.image as usize,
        tex_coord: t.tex_coord,
        transform: TextureTransform { offset: t.offset, rotation: t.rotation, scale: t.scale },
        sampler: Sampler {
            wrap_u: wrap(wrap_u)?,
            wrap_v: wrap(wrap_v)?,
            mag_filter: filter(r, &Filter::MAG, t.mag_filter)?,
            min_filter: min_filter.map(|f| f.0),
            mip_filter: min_filter.and_then(|f| f.1),
        },
    })
}

fn finite<'v>(
    r: &SectionReader<'_>,
    what: &'static str,
    mut values: impl Iterator<Item = &'v f32>,
) -> Result<(), ReadError> {
    match values.position(|v| !v.is_finite()) {
        Some(index) => Err(r.fault(Fault::NotFinite { what, index })),
        None => Ok(()),
    }
}

/// The value of a number.
fn pick<T: Copy>(
    r: &SectionReader<'_>,
    what: &'static str,
    all: &[T],
    number: u32,
) -> Result<T, ReadError> {
    Ok(all[r.index(what, number, all.len())?])
}

/// The filter of a number; 0 is none.
fn filter<T: Copy>(r: &SectionReader<'_>, all: &[T], number: u8) -> Result<Option<T>, ReadError> {
    let what = "the filter of a texture";
    let number = r.index(what, number.into(), all.len() + 1)?;
    Ok(number.checked_sub(1).and_then(|place| all.get(place)).copied())
}
