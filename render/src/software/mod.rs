//! Drawing without a graphics device: CPU skinning and a small rasteriser on rayon.
//!
//! It follows `shaders/` formula by formula, so that both backends draw the same picture. No existing crate
//! fits: `euc` 0.5, the closest, divides by w without clipping at the near plane, tests pixel centres only
//! (no anti-aliasing, gaps and overlaps along edges) and draws on one thread.

mod clip;
mod frame;
mod raster;
mod shade;
mod skin;
mod vertices;

use std::collections::HashMap;

use rayon::prelude::*;

use super::blend::Blended;
use super::draw_list::{DrawList, Visible};
use super::texture::mip_chain;
use super::{PictureSize, RenderError, Scene};
use frame::Framebuffer;
use phalanx::mesh::Image;
use vertices::Character;

/// Vertices that are skinned at a time before they are drawn. This bounds the memory for any crowd.
const CHUNK_VERTICES: usize = 1 << 19;

/// Mip chains of the scene's images, by the addresses of the images.
type Chains = HashMap<usize, Vec<Image>>;

/// Draws a validated scene. The picture does not depend on the number of rayon workers.
pub(super) fn draw(
    scene: &Scene,
    size: PictureSize,
    draws: &DrawList,
) -> Result<image::RgbaImage, RenderError> {
    let mut frame = Framebuffer::new(size, &draws.eye)?;
    let chains = chains(scene, draws);
    // Front to back, so that hidden samples are not shaded.
    let mut bodies: Vec<&Visible> = draws.lists.bodies.iter().collect();
    bodies.sort_by(|a, b| {
        let near = a.distance.total_cmp(&b.distance);
        near.then(a.instance.cmp(&b.instance))
    });
    let shadows: Vec<&Visible> = draws.lists.shadows.iter().collect();
    let all = |v: &Visible| vertices(scene, v).iter().sum();
    in_chunks(
        &shadows,
        |v| all(v),
        |chunk| {
            let flat = chunk.par_iter().map(|v| Character::shadow(scene, draws, v));
            frame.cast(&flat.collect::<Result<Vec<_>, _>>()?, &chains);
            Ok(())
        },
    )?;
    in_chunks(
        &bodies,
        |v| all(v),
        |chunk| {
            let skinned = chunk.par_iter().map(|v| Character::body(scene, draws, v));
            frame.paint(&skinned.collect::<Result<Vec<_>, _>>()?, &chains);
            Ok(())
        },
    )?;
    let blended = &draws.lists.blended;
    if !blended.is_empty() {
        frame.put_backdrop_behind();
        let body = |b: &Blended| draws.lists.bodies.get(b.body);
        let one = |b: &Blended| {
            let sizes = body(b).map(|v| vertices(scene, v)).unwrap_or_default();
            sizes.get(b.mesh).copied().unwrap_or(0)
        };
        in_chunks(blended, one, |chunk| {
            let skinned = chunk.par_iter().filter_map(|b| {
                let visible = body(b)?;
                Some(Character::blended(scene, draws, visible, b.mesh))
            });
            frame.blend(&skinned.collect::<Result<Vec<_>, _>>()?, &chains);
            Ok(())
        })?;
    }
    frame.resolve()
}

/// The numbers of vertices of an instance's meshes.
fn vertices(scene: &Scene, v: &Visible) -> Vec<usize> {
    v.meshes(scene).iter().map(|m| m.primitive.positions.len()).collect()
}

/// Processes the list in chunks of at most [`CHUNK_VERTICES`], or of one element. `vertices` counts the vertices of an
/// element.
fn in_chunks<T>(
    list: &[T],
    vertices: impl Fn(&T) -> usize,
    mut work: impl FnMut(&[T]) -> Result<(), RenderError>,
) -> Result<(), RenderError> {
    let mut rest = list;
    while !rest.is_empty() {
        let mut sum = 0;
        let fits = rest.iter().take_while(|v| {
            sum += vertices(v);
            sum <= CHUNK_VERTICES
        });
        let (chunk, tail) = rest.split_at(fits.count().clamp(1, rest.len()));
        work(chunk)?;
        rest = tail;
    }
    Ok(())
}

fn chains(scene: &Scene, draws: &DrawList) -> Chains {
    let mut chains = Chains::new();
    // Shadows may have another detail. Only meshes whose alpha decides are needed for them.
    let lists = [(&draws.lists.bodies, false), (&draws.lists.shadows, true)];
    for (list, shadows) in lists {
        let mut last = None;
        for visible in list {
            // The list is grouped by model and detail.
            let here = (visible.model, visible.detail);
            if last.replace(here) == Some(here) {
                continue;
            }
            let meshes = visible.meshes(scene).iter();
            let meshes = meshes.filter(|m| !shadows || m.shadow_cutoff().is_some());
            for image in meshes.filter_map(|m| m.image) {
                chains.entry(std::ptr::from_ref(image).addr()).or_insert_with(|| mip_chain(image));
            }
        }
    }
    chains
}
