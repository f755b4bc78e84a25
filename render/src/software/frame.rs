//! `Framebuffer`: samples, depths and the shadow mask of a picture, drawn in bands of rows.

use glam::{Vec2, Vec3, Vec4};
use rayon::prelude::*;

use super::super::view::Eye;
use super::super::{PictureSize, RenderError};
use super::Chains;
use super::clip::clip_triangle;
use super::raster::{Corner, Hit, SAMPLES, area, triangle};
use super::shade::{backdrop, decode, encode, hazed, lit, sample};
use super::vertices::{Character, Projection, Shape, Vertex};
use phalanx::mesh::{AlphaMode, Image, Texture};

/// Rows per band, the unit of work of one worker.
const BAND: usize = 24;

/// The samples and the shadow mask of a picture.
pub(super) struct Framebuffer<'a> {
    eye: &'a Eye,
    size: PictureSize,
    samples: Vec<[Sample; SAMPLES]>,
    /// One bit per sample, set if it is in shadow.
    mask: Vec<u8>,
    /// The samples hold ground and sky, too.
    has_backdrop: bool,
}

/// One sample: the colour as 8-bit sRGB, as devices store it, and the depth; depth 0 is the backdrop.
#[derive(Clone, Copy, Default)]
struct Sample {
    depth: f32,
    color: [u8; 4],
}

impl<'a> Framebuffer<'a> {
    /// An empty picture of a validated size.
    ///
    /// # Errors
    /// If there is not enough memory for the samples.
    pub fn new(size: PictureSize, eye: &'a Eye) -> Result<Self, RenderError> {
        Ok(Self {
            eye,
            size,
            samples: filled(size, [Sample::default(); SAMPLES])?,
            mask: filled(size, 0)?,
            has_backdrop: false,
        })
    }

    /// Adds flattened characters to the shadow mask.
    pub fn cast(&mut self, characters: &[Character], chains: &Chains) {
        let (eye, width) = (self.eye, self.size.width as usize);
        let bands = self.mask.par_chunks_mut(width * BAND).enumerate();
        bands.for_each(|(band, mask)| {
            let rows = band * BAND..band * BAND + mask.len() / width;
            for_each_shape(characters, &rows, |character, shape| {
                let cutoff = shape.mesh.shadow_cutoff();
                let paint =
                    cutoff.map(|cutoff| (Paint::new(eye, character, shape, chains), cutoff));
                for_each_triangle(eye, shape, |three, corners| {
                    let paint = paint.as_ref().map(|(paint, cutoff)| {
                        let surface = paint.surface(three, corners);
                        move |hit: &Hit| paint.albedo(&surface, hit.share).w >= *cutoff
                    });
                    triangle(corners, width, rows.clone(), |hit| {
                        let at = (hit.y - rows.start) * width + hit.x;
                        if let Some(bits) = mask.get_mut(at)
                            && paint.as_ref().is_none_or(|casts| casts(&hit))
                        {
                            *bits |= hit.covered;
                        }
                    });
                });
            });
        });
    }

    /// Draws characters with depth test.
    pub fn paint(&mut self, characters: &[Character], chains: &Chains) {
        self.draw(characters, chains, |pixel, hit, shade| {
            cover(pixel, hit, || {
                let (color, visible) = shade();
                visible.then(|| color.truncate())
            });
        });
    }

    /// Blends characters with the pixels behind them, in order. They do not write depth.
    pub fn blend(&mut self, characters: &[Character], chains: &Chains) {
        self.draw(characters, chains, |pixel, hit, shade| {
            mix(pixel, hit, || {
                let (color, visible) = shade();
                if visible { color } else { Vec4::ZERO }
            });
        });
    }

    /// Calls `put` for every pixel that a triangle touches, with a function for the colour and whether there is any.
    fn draw(
        &mut self,
        characters: &[Character],
        chains: &Chains,
        put: impl Fn(&mut [Sample; SAMPLES], &Hit, &dyn Fn() -> (Vec4, bool)) + Sync,
    ) {
        let (eye, width) = (self.eye, self.size.width as usize);
        let bands = self.samples.par_chunks_mut(width * BAND).enumerate();
        bands.for_each(|(band, samples)| {
            let rows = band * BAND..band * BAND + samples.len() / width;
            for_each_shape(characters, &rows, |character, shape| {
                let paint = Paint::new(eye, character, shape, chains);
                for_each_triangle(eye, shape, |three, corners| {
                    let facing = (area(corners) > 0) != shape.mirrored;
                    let sides = three.map(|(v, _)| shape.sides.get(v).copied().unwrap_or(1.0));
                    let one_side = sides.iter().all(|side| *side == sides[0]);
                    if one_side && paint.hides(Seen::new(facing, sides[0])) {
                        return;
                    }
                    let surface = Surface {
                        facing,
                        sides: Vec3::from_array(sides),
                        ..paint.surface(three, corners)
                    };
                    triangle(corners, width, rows.clone(), |hit| {
                        let at = (hit.y - rows.start) * width + hit.x;
                        if let Some(pixel) = samples.get_mut(at) {
                            put(pixel, &hit, &|| paint.color(&surface, hit.share));
                        }
                    });
                });
            });
        });
    }

    /// Puts ground and sky into the samples that nothing covers, so that blended surfaces mix with them.
    pub fn put_backdrop_behind(&mut self) {
        let (eye, width) = (self.eye, self.size.width as usize);
        let mask = &self.mask;
        let rows = self.samples.par_chunks_mut(width).enumerate();
        rows.for_each(|(y, row)| {
            for (x, pixel) in row.iter_mut().enumerate() {
                let bits = mask.get(y * width + x).copied().unwrap_or(0);
                let behind = backdrop(eye, x, y, share(bits));
                for sample in pixel.iter_mut().filter(|s| s.depth <= behind.depth) {
                    *sample = Sample { depth: behind.depth, color: encode(behind.color) };
                }
            }
        });
        self.has_backdrop = true;
    }

    /// Averages the samples over ground and sky.
    ///
    /// # Errors
    /// If there is not enough memory for the pixels.
    pub fn resolve(self) -> Result<image::RgbaImage, RenderError> {
        let PictureSize { width, height } = self.size;
        let mut pixels = filled(self.size, [0; 4])?;
        pixels.par_chunks_mut(width as usize).enumerate().for_each(|(y, row)| {
            for (x, out) in row.iter_mut().enumerate() {
                let at = y * width as usize + x;
                let Some(pixel) = self.samples.get(at) else {
                    continue;
                };
                let bits = self.mask.get(at).copied().unwrap_or(0);
                let sum: Vec3 = if self.has_backdrop {
                    pixel.iter().map(|s| decode(s.color)).sum()
                } else {
                    let behind = backdrop(self.eye, x, y, share(bits));
                    let samples = pixel.iter().map(|s| {
                        if s.depth > behind.depth { decode(s.color) } else { behind.color }
                    });
                    samples.sum()
                };
                *out = encode(sum / SAMPLES as f32);
            }
        });
        let bytes = pixels.into_flattened();
        Ok(image::RgbaImage::from_raw(width, height, bytes).unwrap_or_default())
    }
}

/// One value for every pixel. The caller decides the size of the picture, so the allocation may fail.
fn filled<T: Clone + Send + Sync>(size: PictureSize, value: T) -> Result<Vec<T>, RenderError> {
    let pixels = size.width as usize * size.height as usize;
    let mut all = Vec::new();
    all.try_reserve_exact(pixels).map_err(|_| RenderError::OutOfMemory {
        width: size.width,
        height: size.height,
        needed: pixels as u64 * size_of::<T>() as u64,
    })?;
    // In parallel, because the system maps pages on the first write.
    rayon::iter::repeat_n(value, pixels).collect_into_vec(&mut all);
    Ok(all)
}

/// The share of a pixel's samples whose bits are set.
fn share(bits: u8) -> f32 {
    bits.count_ones() as f32 / SAMPLES as f32
}

/// The covered samples of a pixel that are nearer than the present ones, a bit each.
fn nearer(pixel: &[Sample; SAMPLES], hit: &Hit) -> u8 {
    let mut nearer = hit.covered;
    for (s, (sample, depth)) in pixel.iter().zip(hit.depth).enumerate() {
        if depth <= sample.depth {
            nearer &= !(1 << s);
        }
    }
    nearer
}

/// Mixes a colour with the covered samples of a pixel that are farther, by its alpha; depths stay.
fn mix(pixel: &mut [Sample; SAMPLES], hit: &Hit, color: impl FnOnce() -> Vec4) {
    let nearer = nearer(pixel, hit);
    if nearer == 0 {
        return;
    }
    // As devices do before they blend; NaN counts as 0.
    let color = color().max(Vec4::ZERO).min(Vec4::ONE);
    for (s, sample) in pixel.iter_mut().enumerate() {
        if nearer >> s & 1 != 0 {
            sample.color = encode(decode(sample.color).lerp(color.truncate(), color.w));
        }
    }
}

/// Writes the covered samples of a pixel that are nearer than the present ones; shades once per pixel. Without a
/// colour nothing is written.
fn cover(pixel: &mut [Sample; SAMPLES], hit: &Hit, color: impl FnOnce() -> Option<Vec3>) {
    let nearer = nearer(pixel, hit);
    if nearer == 0 {
        return;
    }
    let Some(color) = color().map(encode) else {
        return;
    };
    for (s, (sample, depth)) in pixel.iter_mut().zip(hit.depth).enumerate() {
        if nearer >> s & 1 != 0 {
            *sample = Sample { depth, color };
        }
    }
}

fn for_each_shape<'c, 's>(
    characters: &'c [Character<'s>],
    rows: &std::ops::Range<usize>,
    mut work: impl FnMut(&'c Character<'s>, &'c Shape<'s>),
) {
    for character in characters {
        if character.rows.start < rows.end && rows.start < character.rows.end {
            for shape in &character.shapes {
                work(character, shape);
            }
        }
    }
}

/// Calls `work` with the indices and vertices of every triangle, and its corners after clipping.
fn for_each_triangle(
    eye: &Eye,
    shape: &Shape,
    mut work: impl FnMut([(usize, &Vertex); 3], &[Corner; 3]),
) {
    for &indices in shape.mesh.primitive.indices.as_chunks::<3>().0 {
        let [a, b, c] = indices.map(|i| i as usize);
        let (Some(va), Some(vb), Some(vc)) =
            (shape.vertices.get(a), shape.vertices.get(b), shape.vertices.get(c))
        else {
            continue;
        };
        let three = [(a, va), (b, vb), (c, vc)];
        match [va.place, vb.place, vc.place] {
            [
                Projection::Picture(mut p),
                Projection::Picture(mut q),
                Projection::Picture(mut r),
            ] => {
                (p.share, q.share, r.share) = (Vec3::X, Vec3::Y, Vec3::Z);
                work(three, &[p, q, r]);
            }
            [Projection::Nowhere, _, _]
            | [_, Projection::Nowhere, _]
            | [_, _, Projection::Nowhere] => {}
            _ => clip_triangle(eye.size, eye.near, [va.clip, vb.clip, vc.clip], |corners| {
                work(three, corners);
            }),
        }
    }
}

/// Shades the triangles of a shape.
struct Paint<'a> {
    eye: &'a Eye,
    shape: &'a Shape<'a>,
    color: Vec4,
    chain: Option<&'a [Image]>,
    texture: Texture,
}

/// The least amount of a side that decides, as in `shaders/character.wgsl`.
const SURE: f32 = 0.99;

/// The visible side of a surface, as in `shaders/character.wgsl`.
#[derive(Clone, Copy)]
enum Seen {
    Front,
    Back,
    /// Neither side, between mirrored and plain vertices: both are drawn, with the normal of the triangle.
    Between,
}

impl Seen {
    fn new(facing: bool, side: f32) -> Self {
        match facing == (side > 0.0) {
            _ if side.abs() < SURE => Self::Between,
            true => Self::Front,
            false => Self::Back,
        }
    }
}

/// The values to interpolate over one triangle.
struct Surface {
    positions: [Vec3; 3],
    normals: [Vec3; 3],
    /// The normal of the triangle, towards the eye.
    face: Vec3,
    /// The triangle is counter-clockwise in the picture, or clockwise in a mirrored shape.
    facing: bool,
    /// The vertices' sides.
    sides: Vec3,
    openness: Vec3,
    colors: [Vec4; 3],
    uvs: [Vec2; 3],
    /// The mip level of the texture.
    level: usize,
}

impl<'a> Paint<'a> {
    fn new(eye: &'a Eye, character: &Character, shape: &'a Shape<'a>, chains: &'a Chains) -> Self {
        let mesh = shape.mesh;
        let tint = Vec4::from_array(character.tint).with_w(1.0);
        let tint = Vec4::ONE.lerp(tint, mesh.tint);
        Self {
            eye,
            shape,
            color: Vec4::from_array(mesh.material.base_color) * tint,
            texture: mesh.texture(),
            chain: mesh
                .image
                .and_then(|i| chains.get(&std::ptr::from_ref(i).addr()))
                .map(Vec::as_slice),
        }
    }

    fn hides(&self, seen: Seen) -> bool {
        matches!(seen, Seen::Back) && !self.shape.mesh.material.double_sided
    }

    fn surface(&self, three: [(usize, &Vertex); 3], corners: &[Corner; 3]) -> Surface {
        let p = self.shape.mesh.primitive;
        let positions = three.map(|(_, v)| v.position);
        let [a, b, c] = positions;
        let face = (b - a).cross(c - a).normalize_or_zero();
        let colors = three.map(|(i, _)| {
            let color = p.colors.get(i);
            color.map_or(Vec4::ONE, |&color| Vec4::from_array(color))
        });
        let (set, transform) = (self.shape.mesh.uvs(), self.texture.transform);
        let uvs = three.map(|(i, _)| {
            let uv = set.get(i).copied().unwrap_or([0.0; 2]);
            Vec2::from_array(transform.apply(uv))
        });
        Surface {
            positions,
            normals: three.map(|(_, v)| v.normal),
            face: if face.dot(a) > 0.0 { -face } else { face },
            facing: true,
            sides: Vec3::ONE,
            openness: Vec3::from_array(three.map(|(_, v)| v.openness)),
            colors,
            uvs,
            level: self.level(&uvs, corners),
        }
    }

    /// The mip level at which a texel is about as large as a pixel.
    fn level(&self, uvs: &[Vec2; 3], corners: &[Corner; 3]) -> usize {
        let Some(finest) = self.chain.and_then(<[Image]>::first) else {
            return 0;
        };
        let [a, b, c] = uvs;
        let texels = (*b - *a).perp_dot(*c - *a).abs() * finest.width as f32 * finest.height as f32;
        let pixels = area(corners).unsigned_abs() as f32 / (256.0 * 256.0);
        let level = 0.5 * (texels / pixels.max(1e-6)).max(1.0).log2();
        level.round() as usize
    }

    /// The base colour with its alpha, of factor, vertices and texture.
    fn albedo(&self, s: &Surface, share: Vec3) -> Vec4 {
        let [a, b, c] = s.colors;
        let mut albedo = self.color * (a * share.x + b * share.y + c * share.z);
        if let Some(chain) = self.chain {
            let [a, b, c] = s.uvs;
            let at = a * share.x + b * share.y + c * share.z;
            albedo *= sample(chain, &self.texture.sampler, at, s.level);
        }
        albedo
    }

    /// The colour with its alpha, and whether the surface is there: a masked one may not be, and back faces are not.
    fn color(&self, s: &Surface, share: Vec3) -> (Vec4, bool) {
        let mix = |v: &[Vec3; 3]| v[0] * share.x + v[1] * share.y + v[2] * share.z;
        let albedo = self.albedo(s, share);
        let (p, material) = (self.shape.mesh.primitive, self.shape.mesh.material);
        let cut = material.alpha_mode == AlphaMode::Mask && albedo.w < material.alpha_cutoff;
        let seen = Seen::new(s.facing, s.sides.dot(share));
        if cut || self.hides(seen) {
            return (albedo, false);
        }
        let (rgb, position) = (albedo.truncate(), mix(&s.positions));
        let color = if material.unlit {
            hazed(self.eye, rgb, position.length())
        } else {
            let normal = match seen {
                _ if p.normals.is_empty() => s.face,
                Seen::Front => mix(&s.normals).normalize_or_zero(),
                Seen::Back => -mix(&s.normals).normalize_or_zero(),
                Seen::Between => s.face,
            };
            lit(self.eye, rgb, normal, position, s.openness.dot(share))
        };
        (color.extend(albedo.w), true)
    }
}
