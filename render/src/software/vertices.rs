//! Skins a character's vertices and projects them into the picture.

use std::borrow::Cow;

use glam::{Vec3, Vec4};

use super::super::draw_list::{DrawList, Visible, largest_scale, relative};
use super::super::view::Eye;
use super::super::{DrawMesh, PictureSize, Scene, Winding};
use super::raster::{Corner, SUBPIXELS};
use super::shade::openness;
use super::skin::{skin_vertices, transform_normal, vertex_sides};
use phalanx::math::Affine3x4;
use phalanx::mesh::AlphaMode;
use phalanx::runtime::{JobError, LerpPaletteJob};

/// Triangles with vertices beyond this many half pictures from the centre are clipped before rasterisation,
/// which keeps fixed-point coordinates below 2^26.
pub(super) const GUARD: f32 = 16.0;

/// One vertex: in clip space, relative to the eye, and in the picture if it needs no clipping.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub clip: Vec4,
    pub position: Vec3,
    /// Unit length, or zero if the mesh has no normals.
    pub normal: Vec3,
    pub openness: f32,
    pub place: Projection,
}

/// Position of a vertex relative to the picture.
#[derive(Clone, Copy, Debug)]
pub(super) enum Projection {
    /// In front of the camera and not far outside.
    Picture(Corner),
    /// Triangles with this vertex are clipped.
    Outside,
    /// Not finite: triangles with this vertex are dropped.
    Nowhere,
}

/// One mesh of a character.
#[derive(Debug)]
pub(super) struct Shape<'a> {
    pub mesh: &'a DrawMesh<'a>,
    pub vertices: Vec<Vertex>,
    /// Front faces are clockwise, except where `sides` inverts this.
    pub mirrored: bool,
    /// Side per vertex: 1, or -1 if its rows mirror; between them if they are singular. Empty if no row mirrors.
    pub sides: Vec<f32>,
}

/// A skinned character, with the pixel rows that it can touch.
#[derive(Debug)]
pub(super) struct Character<'a> {
    pub shapes: Vec<Shape<'a>>,
    pub tint: [f32; 4],
    pub rows: std::ops::Range<usize>,
}

impl<'a> Character<'a> {
    /// The character itself, without what is blended.
    pub fn body(scene: &Scene<'a>, draws: &DrawList, visible: &Visible) -> Result<Self, JobError> {
        let opaque = |_, mode| mode != AlphaMode::Blend;
        Self::new(scene, draws, visible, opaque, |p| p)
    }

    /// One mesh of the character, by its index, to be blended with the pixels behind it.
    pub fn blended(
        scene: &Scene<'a>,
        draws: &DrawList,
        visible: &Visible,
        mesh: usize,
    ) -> Result<Self, JobError> {
        Self::new(scene, draws, visible, |index, _| index == mesh, |p| p)
    }

    /// The character's shadow: flattened along the light onto the ground.
    pub fn shadow(
        scene: &Scene<'a>,
        draws: &DrawList,
        visible: &Visible,
    ) -> Result<Self, JobError> {
        let light = draws.eye.light;
        let ground = draws.eye.ground.unwrap_or(0.0);
        let all = |_, _| true;
        Self::new(scene, draws, visible, all, |p| {
            let height = (p.y - ground).max(0.0);
            let flat = p - light * (height / light.y);
            Vec3::new(flat.x, ground, flat.z)
        })
    }

    fn new(
        scene: &Scene<'a>,
        draws: &DrawList,
        visible: &Visible,
        wanted: impl Fn(usize, AlphaMode) -> bool,
        moved: impl Fn(Vec3) -> Vec3,
    ) -> Result<Self, JobError> {
        let mut out = Self { shapes: Vec::new(), tint: [1.0; 4], rows: 0..0 };
        let Some(instance) = scene.instances.get(visible.instance) else {
            return Ok(out);
        };
        out.tint = instance.tint;
        let world = relative(&instance.world, draws.eye.position);
        let size = instance
            .bounds
            .filter(|_| draws.eye.ground.is_some())
            .map_or(0.0, |s| s.radius * largest_scale(&world));
        let rows = shown_rows(scene, draws, visible)?;
        let weights = tail(scene.morph_weights, instance.morph_offset);
        let mut height = (f32::INFINITY, f32::NEG_INFINITY);
        for (index, mesh) in visible.meshes(scene).iter().enumerate() {
            if !wanted(index, mesh.material.alpha_mode) {
                continue;
            }
            let skinned = skin_vertices(mesh, &rows, tail(weights, mesh.first_weight))?;
            let normals = skinned.normals.iter().copied();
            let vertices: Vec<Vertex> = skinned
                .positions
                .iter()
                .zip(normals.chain(std::iter::repeat([0.0; 3])))
                .map(|(&position, normal)| {
                    let position = moved(world.transform_point3(Vec3::from_array(position)));
                    let normal = transform_normal(&world, Vec3::from_array(normal));
                    let up = position.y - draws.eye.ground.unwrap_or(0.0);
                    Vertex {
                        clip: draws.eye.clip(position),
                        position,
                        normal: normal.normalize_or_zero(),
                        openness: openness(up, size),
                        place: place(&draws.eye, position),
                    }
                })
                .collect();
            for vertex in &vertices {
                match vertex.place {
                    Projection::Picture(corner) => {
                        let y = corner.y as f32 / SUBPIXELS as f32;
                        height = (height.0.min(y), height.1.max(y));
                    }
                    Projection::Outside => height = (f32::NEG_INFINITY, f32::INFINITY),
                    Projection::Nowhere => {}
                }
            }
            out.shapes.push(Shape {
                mesh,
                vertices,
                mirrored: visible.world_mirrors ^ (mesh.winding() == Winding::Turned),
                sides: vertex_sides(mesh, &rows),
            });
        }
        // Casts from floats saturate, at zero and at the largest `usize`.
        out.rows = (height.0 - 1.0) as usize..(height.1 + 2.0).max(0.0) as usize;
        Ok(out)
    }
}

/// The rows of an instance and all that follow, or the rows between its two palettes.
fn shown_rows<'a>(
    scene: &Scene<'a>,
    draws: &DrawList,
    visible: &Visible,
) -> Result<Cow<'a, [Affine3x4]>, JobError> {
    let (shown, read) = draws.lists.shown(scene, visible);
    let palette = scene.palette.heap();
    if shown.row == shown.to_row {
        return Ok(Cow::Borrowed(tail(palette, shown.row)));
    }
    let count = read.len() - shown.row.abs_diff(shown.to_row) as usize;
    let rows = |first: u32| tail(palette, first).get(..count).unwrap_or(&[]);
    let mut output = vec![Affine3x4::IDENTITY; count];
    LerpPaletteJob {
        from: rows(shown.row),
        to: rows(shown.to_row),
        factor: shown.factor,
        output: &mut output,
    }
    .run()?;
    Ok(Cow::Owned(output))
}

fn tail<T>(slice: &[T], from: u32) -> &[T] {
    slice.get(from as usize..).unwrap_or(&[])
}

fn place(eye: &Eye, position: Vec3) -> Projection {
    let clip = eye.clip(position);
    if !clip.is_finite() {
        return Projection::Nowhere;
    }
    let edge = GUARD * clip.w;
    if clip.w < eye.near || clip.x.abs() > edge || clip.y.abs() > edge {
        return Projection::Outside;
    }
    Projection::Picture(corner(eye.size, clip, Vec3::ZERO))
}

/// Projects a clip-space point within the guard band to a corner of a triangle.
pub(super) fn corner(size: PictureSize, clip: Vec4, share: Vec3) -> Corner {
    // Clipping huge triangles can leave points beyond the guard band, by rounding.
    let on_guard = |v: f32| (v / clip.w).clamp(-GUARD, GUARD);
    let fixed = |v: f32, side: u32| (v * side as f32 * SUBPIXELS as f32).round() as i32;
    Corner {
        x: fixed(on_guard(clip.x) * 0.5 + 0.5, size.width),
        y: fixed(0.5 - on_guard(clip.y) * 0.5, size.height),
        depth: clip.z / clip.w,
        share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_beyond_the_end_are_empty() {
        let rows = [Affine3x4::IDENTITY; 3];
        assert_eq!(tail(&rows, 2).len(), 1);
        assert_eq!(tail(&rows, 9).len(), 0);
    }
}
