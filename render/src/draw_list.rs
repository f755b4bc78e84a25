//! `DrawList`: validation, culling and levels of detail of a scene, for both backends.

use std::ops::Range;

use glam::Vec3;

use super::blend::{self, Blended, Centers};
use super::cull::{Seen, cull};
use super::scene::{MeshFault, Shown, mirrors};
use super::view::Eye;
use super::{DrawInstance, DrawMesh, DrawModel, PictureSize, RenderError, Scene};
use phalanx::math::Affine3x4;

/// Numbers of instances and triangles of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DrawCounts {
    /// Instances drawn.
    pub instances: usize,
    /// Instances outside the picture.
    pub culled: usize,
    /// Triangles of the instances drawn, without shadows.
    pub triangles: u64,
}

/// One instance with the level of detail that it is drawn in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Visible {
    pub instance: usize,
    pub model: usize,
    pub detail: usize,
    /// Whether the world transform mirrors.
    pub world_mirrors: bool,
    /// Distance along the view axis.
    pub distance: f32,
}

impl Visible {
    /// Instances with equal keys use the same pipelines and meshes.
    pub fn key(&self) -> (usize, usize, bool) {
        (self.model, self.detail, self.world_mirrors)
    }

    /// The meshes of the detail.
    pub fn meshes<'a>(&self, scene: &Scene<'a>) -> &'a [DrawMesh<'a>] {
        let detail = scene.models.get(self.model).and_then(|m| m.details.get(self.detail));
        detail.map_or(&[], |d| d.meshes)
    }
}

/// A validated scene: the camera, the visible instances and those whose shadows are visible.
///
/// Both lists are grouped by [`Visible::key`], front to back within a group.
#[derive(Debug)]
pub(super) struct DrawList {
    pub eye: Eye,
    pub lists: Lists,
    pub counts: DrawCounts,
    /// The most palette rows that an instance reads.
    pub joints: usize,
}

/// The lists of a [`DrawList`], reused from picture to picture, so that a steady picture allocates nothing.
#[derive(Debug, Default)]
pub(super) struct Lists {
    pub bodies: Vec<Visible>,
    pub shadows: Vec<Visible>,
    /// Blended meshes of the bodies, farthest first.
    pub blended: Vec<Blended>,
    /// The palette rows that an instance of each model reads, of one palette.
    pub rows: Vec<usize>,
    seen: Vec<Seen>,
}

impl DrawList {
    /// # Errors
    /// If the scene or the size is invalid.
    pub fn new(scene: &Scene, size: PictureSize) -> Result<Self, RenderError> {
        size.validate()?;
        let needs = Needs::of(scene.models)?;
        Self::with(scene, size, &needs, Lists::default())
    }

    /// A list for models that are validated.
    pub fn with(
        scene: &Scene,
        size: PictureSize,
        needs: &Needs,
        mut lists: Lists,
    ) -> Result<Self, RenderError> {
        size.validate()?;
        let eye = Eye::new(&scene.camera, &scene.look, size)?;
        for (index, instance) in scene.instances.iter().enumerate() {
            check_instance(scene, index, instance, needs)?;
        }
        lists.seen.clear();
        lists.seen.resize(scene.instances.len(), Seen::default());
        cull(&eye, scene.instances, &mut lists.seen);
        lists.rows.clear();
        lists.rows.extend((0..needs.len()).map(|m| needs.rows(m)));
        let mut counts = DrawCounts::default();
        lists.place(&eye, scene, &mut counts);
        blend::order(&eye, scene, needs, &lists.bodies, &mut lists.blended);
        Ok(Self { eye, lists, counts, joints: needs.most_rows() })
    }

    /// The most rows from the first to the last that a visible instance reads, of both its palettes.
    pub fn most_rows(&self, scene: &Scene) -> usize {
        let Lists { bodies, shadows, .. } = &self.lists;
        let visible = bodies.iter().chain(shadows);
        let rows = visible.map(|v| self.lists.shown(scene, v).1.len());
        rows.max().unwrap_or(0).max(self.joints)
    }
}

impl Lists {
    /// The palettes of a visible instance, and the rows that it reads; none of rigid models.
    pub fn shown(&self, scene: &Scene, visible: &Visible) -> (Shown, Range<usize>) {
        let count = self.rows.get(visible.model).copied().unwrap_or(0);
        let shown = match scene.instances.get(visible.instance) {
            Some(instance) if count > 0 => instance.shown(),
            _ => Shown::NOTHING,
        };
        (shown, shown.rows(count))
    }

    fn place(&mut self, eye: &Eye, scene: &Scene, counts: &mut DrawCounts) {
        self.bodies.clear();
        self.shadows.clear();
        for (index, (instance, seen)) in scene.instances.iter().zip(&self.seen).enumerate() {
            counts.culled += usize::from(!seen.body);
            if !seen.any() {
                continue;
            }
            let model = scene.models.get(instance.model as usize);
            let details = model.map_or(&[][..], |m| m.details);
            let Some(last) = details.len().checked_sub(1) else {
                continue;
            };
            let fine = details.iter().position(|d| seen.pixels >= d.min_pixels);
            let detail = fine.unwrap_or(last);
            let visible = Visible {
                instance: index,
                model: instance.model as usize,
                detail,
                world_mirrors: mirrors(&instance.world),
                distance: eye.forward.dot(center(instance, eye.position)),
            };
            if seen.body {
                self.bodies.push(visible);
            }
            if seen.shadow {
                self.shadows.push(Visible {
                    // Only a shadow's outline is visible: the next coarser detail is enough.
                    detail: (detail + 1).min(last),
                    ..visible
                });
            }
        }
        for list in [&mut self.bodies, &mut self.shadows] {
            list.sort_unstable_by(|a, b| {
                let near = a.distance.total_cmp(&b.distance);
                (a.key().cmp(&b.key())).then(near).then(a.instance.cmp(&b.instance))
            });
        }
        counts.instances = self.bodies.len();
        counts.triangles = self.bodies.iter().map(|v| triangles(scene, v)).sum();
    }
}

fn triangles(scene: &Scene, visible: &Visible) -> u64 {
    visible.meshes(scene).iter().map(|m| m.primitive.indices.len() as u64 / 3).sum()
}

/// The centre of an instance relative to the eye.
fn center(instance: &DrawInstance, eye: Vec3) -> Vec3 {
    let world = relative(&instance.world, eye);
    match instance.bounds {
        None => world.translation(),
        Some(sphere) => world.transform_point3(Vec3::from_array(sphere.center)),
    }
}

/// Columns count as orthogonal if their dot products stay below this share of the longest one's square.
pub(super) const SKEW: f32 = 1e-4;
/// Bound of the extra scale that columns of that skew can have.
pub(super) const SKEW_SLACK: f32 = 1.0002;

/// An upper bound of a transform's scale, its largest singular value.
pub(super) fn largest_scale(m: &Affine3x4) -> f32 {
    // The Frobenius norm bounds the largest singular value, but is √3 times too large for a uniform scale.
    let columns = [0, 1, 2].map(|c| {
        let column = m.rows.map(|row| row[c]);
        Vec3::from_array(column).length()
    });
    let [a, b, c] = columns;
    let largest = a.max(b).max(c);
    let frobenius = (a * a + b * b + c * c).sqrt();
    let axes = [0, 1, 2].map(|c| Vec3::from_array(m.rows.map(|row| row[c])));
    let skew = axes[0].dot(axes[1]).abs() + axes[1].dot(axes[2]).abs() + axes[2].dot(axes[0]).abs();
    // The scale of orthogonal columns is the length of the longest.
    if skew <= SKEW * largest * largest { largest * SKEW_SLACK } else { frobenius }
}

/// A world transform relative to the eye.
///
/// The difference of two close numbers is exact, so pictures far from the origin jitter no more than the
/// transforms themselves.
pub(super) fn relative(world: &Affine3x4, eye: Vec3) -> Affine3x4 {
    let mut out = *world;
    for (row, eye) in out.rows.iter_mut().zip(eye.to_array()) {
        row[3] -= eye;
    }
    out
}

/// Properties of the models that are computed once: the palette rows and morph weights that an instance of each reads,
/// and its blended meshes.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    reads: Vec<(u64, u64)>,
    /// Blended meshes per model and detail.
    blended: Vec<Vec<Centers>>,
}

impl Needs {
    /// # Errors
    /// If the arrays of a mesh do not fit each other.
    pub fn of(models: &[DrawModel]) -> Result<Self, RenderError> {
        let mut reads = Vec::with_capacity(models.len());
        for (model, m) in models.iter().enumerate() {
            let mut need = (0, 0);
            for (detail, d) in m.details.iter().enumerate() {
                for (mesh, draw) in d.meshes.iter().enumerate() {
                    let (rows, weights) =
                        draw.validate().map_err(|MeshFault(what, found, relation, expected)| {
                            RenderError::Mesh {
                                model,
                                detail,
                                mesh,
                                what,
                                found,
                                relation,
                                expected,
                            }
                        })?;
                    need = (rows.max(need.0), weights.max(need.1));
                }
            }
            reads.push(need);
        }
        let blended = models.iter().map(blend::centers).collect();
        Ok(Self { reads, blended })
    }

    /// The number of models.
    fn len(&self) -> usize {
        self.reads.len()
    }

    /// The palette rows that an instance of a model reads.
    fn rows(&self, model: usize) -> usize {
        let rows = self.reads.get(model).map_or(0, |n| n.0);
        usize::try_from(rows).unwrap_or(usize::MAX)
    }

    /// The most palette rows that an instance of any model reads.
    pub fn most_rows(&self) -> usize {
        let models = 0..self.reads.len();
        models.map(|m| self.rows(m)).max().unwrap_or(0)
    }

    /// The blended meshes of a detail.
    pub fn blended(&self, model: usize, detail: usize) -> &[(usize, Vec3)] {
        let details = self.blended.get(model);
        details.and_then(|d| d.get(detail)).map_or(&[], Vec::as_slice)
    }
}

fn check_instance(
    scene: &Scene,
    index: usize,
    instance: &DrawInstance,
    needs: &Needs,
) -> Result<(), RenderError> {
    let Some(&(rows, weights)) = needs.reads.get(instance.model as usize) else {
        return Err(RenderError::Model {
            instance: index,
            model: instance.model,
            models: scene.models.len(),
        });
    };
    if let Some(lerp) = instance.lerp
        // True for NaN.
        && !(0.0..=1.0).contains(&lerp.factor)
    {
        return Err(RenderError::Factor { instance: index, factor: lerp.factor });
    }
    let count = usize::try_from(rows).unwrap_or(usize::MAX);
    let read = instance.shown().rows(count);
    if rows > 0 && !scene.palette.holds(read.clone()) {
        return Err(RenderError::Palette {
            instance: index,
            needed: read.end as u64,
            rows: scene.palette.len(),
        });
    }
    let end = u64::from(instance.morph_offset) + weights;
    if weights > 0 && !scene.morph_weights.is_empty() && end > scene.morph_weights.len() as u64 {
        return Err(RenderError::MorphWeights {
            instance: index,
            needed: end,
            weights: scene.morph_weights.len(),
        });
    }
    let bad = |what| Err(RenderError::NotFinite { instance: index, what });
    if !instance.world.is_finite() {
        return bad("world transform");
    }
    if !instance.tint.iter().all(|v| v.is_finite()) {
        return bad("tint");
    }
    if let Some(s) = instance.bounds
        && !(s.radius.is_finite() && s.center.iter().all(|v| v.is_finite()))
    {
        return bad("bounding sphere");
    }
    let first = instance.morph_offset as usize;
    let read = first..first.saturating_add(weights as usize);
    let read = scene.morph_weights.get(read).unwrap_or(&[]);
    if !read.iter().all(|w| w.is_finite()) {
        return bad("morph weight");
    }
    Ok(())
}
