//! `CullJob`: tests many instances against a camera, eight at a time, before any of them is evaluated.

use rayon::prelude::*;
use ultraviolet::{Vec3x8, f32x8};

use super::draw_list::{SKEW, SKEW_SLACK};
use super::scene::PictureSize;
use super::view::Eye;
use super::{Camera, DrawInstance, Look, RenderError};
use glam::Vec3;

/// Instances per task: 20 µs of work, well above the cost of scheduling a task.
const CHUNK: usize = 1024;

/// The visibility of an instance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// The instance may touch the picture.
    pub body: bool,
    /// The instance's shadow on the ground may touch the picture.
    pub shadow: bool,
    /// Height of the bounding sphere in pixels; infinite if the sphere contains the eye or there is none.
    pub pixels: f32,
}

impl Seen {
    /// True if the picture needs the instance's pose: the body or the shadow may be visible.
    pub fn any(self) -> bool {
        self.body || self.shadow
    }
}

/// Tests the bounding spheres of instances, and of their shadows on the ground, against a camera.
///
/// Bounds are in model space, transforms map to world space, in metres. A sphere that touches the picture is
/// always reported; one near a corner may be reported without touching it. Bounds must contain the instance
/// in the pose that is drawn: see [`Crowd::bounding_sphere`](phalanx::crowd::Crowd::bounding_sphere).
#[derive(Debug)]
pub struct CullJob<'a> {
    /// The camera.
    pub camera: &'a Camera,
    /// The light and the ground, for shadows.
    pub look: &'a Look,
    /// The size of the picture.
    pub size: PictureSize,
    /// The instances to test.
    pub instances: &'a [DrawInstance],
    /// Output: the visibility of each instance.
    pub seen: &'a mut [Seen],
}

impl CullJob<'_> {
    /// Tests all instances on the current rayon pool.
    ///
    /// # Errors
    /// If the camera is invalid, the picture is empty, or `seen` is not as long as `instances`.
    pub fn run(self) -> Result<(), RenderError> {
        self.size.validate()?;
        let (found, expected) = (self.seen.len(), self.instances.len());
        if found != expected {
            return Err(RenderError::Seen { found, expected });
        }
        let eye = Eye::new(self.camera, self.look, self.size)?;
        cull(&eye, self.instances, self.seen);
        Ok(())
    }
}

/// [`CullJob`] for a camera that is validated.
pub(super) fn cull(eye: &Eye, instances: &[DrawInstance], seen: &mut [Seen]) {
    let wide = WideEye::new(eye);
    let chunks = instances.par_chunks(CHUNK);
    chunks.zip(seen.par_chunks_mut(CHUNK)).for_each(|(i, s)| {
        for (instances, seen) in i.chunks(8).zip(s.chunks_mut(8)) {
            wide.eight(instances, seen);
        }
    });
}

/// The camera with every number splatted to eight lanes.
struct WideEye {
    position: Vec3x8,
    right: Vec3x8,
    up: Vec3x8,
    forward: Vec3x8,
    near: f32x8,
    tan_x: f32x8,
    tan_y: f32x8,
    /// Factor on a radius for the slanted planes of each axis.
    slant_x: f32x8,
    slant_y: f32x8,
    height: f32x8,
    /// Present if the light casts shadows on the ground.
    shadow: Option<WideShadow>,
}

struct WideShadow {
    /// Height of the ground relative to the eye.
    ground: f32x8,
    /// Offset of a point's shadow per metre of the point's height.
    slope: Vec3x8,
    /// Radius of a sphere's shadow, relative to the radius of the sphere.
    reach: f32x8,
}

fn wide(v: Vec3) -> Vec3x8 {
    Vec3x8::new(f32x8::splat(v.x), f32x8::splat(v.y), f32x8::splat(v.z))
}

fn dot(a: Vec3x8, b: Vec3x8) -> f32x8 {
    a.x * b.x + a.y * b.y + a.z * b.z
}

impl WideEye {
    fn new(eye: &Eye) -> Self {
        let slant = |tan: f32| f32x8::splat((1.0 + tan * tan).sqrt());
        let shadow = eye.shadow_ground().map(|ground| {
            let over = 1.0 / eye.light.y;
            WideShadow {
                ground: f32x8::splat(ground),
                slope: wide(eye.light * over),
                reach: f32x8::splat(over),
            }
        });
        Self {
            position: wide(eye.position),
            right: wide(eye.right),
            up: wide(eye.up),
            forward: wide(eye.forward),
            near: f32x8::splat(eye.near),
            tan_x: f32x8::splat(eye.tan_x),
            tan_y: f32x8::splat(eye.tan_y),
            slant_x: slant(eye.tan_x),
            slant_y: slant(eye.tan_y),
            height: f32x8::splat(eye.size.height as f32),
            shadow,
        }
    }

    /// Tests at most eight instances; unused lanes repeat the last.
    fn eight(&self, instances: &[DrawInstance], seen: &mut [Seen]) {
        let Some(last) = instances.len().checked_sub(1) else {
            return;
        };
        let gather = |f: &dyn Fn(&DrawInstance) -> f32| {
            f32x8::new(std::array::from_fn(|l| f(&instances[l.min(last)])))
        };
        let world = |r: usize, c: usize| gather(&|i| i.world.rows[r][c]);
        let local = |c: usize| gather(&|i| i.bounds.map_or(0.0, |s| s.center[c]));
        let sphere = Vec3x8::new(local(0), local(1), local(2));
        let rows: [[f32x8; 4]; 3] = std::array::from_fn(|r| std::array::from_fn(|c| world(r, c)));
        // The eye is subtracted from the translation, not from the centre: the difference of two close
        // numbers is exact, so the result does not change far from the origin.
        let axis = |r: usize, eye: f32x8| {
            let [x, y, z, t] = rows[r];
            x * sphere.x + y * sphere.y + z * sphere.z + (t - eye)
        };
        let center = Vec3x8::new(
            axis(0, self.position.x),
            axis(1, self.position.y),
            axis(2, self.position.z),
        );
        let radius = gather(&|i| i.bounds.map_or(0.0, |s| s.radius)) * stretch(&rows);
        let body = self.margin(center, radius);
        let along = dot(self.forward, center);
        let pixels = radius / (along * self.tan_y) * self.height;
        let around = along - radius;
        let shadow = self.shadow.as_ref().map(|shadow| {
            let height = (center.y - shadow.ground).max(f32x8::ZERO);
            let thrown = Vec3x8::new(
                center.x - shadow.slope.x * height,
                center.y - shadow.slope.y * height,
                center.z - shadow.slope.z * height,
            );
            self.margin(thrown, radius * shadow.reach).to_array()
        });
        let (body, pixels, around) = (body.to_array(), pixels.to_array(), around.to_array());
        for (lane, (seen, instance)) in seen.iter_mut().zip(instances).enumerate() {
            let endless = !instance.bounds.is_some_and(|s| s.radius.is_finite());
            // Margins that overflow to NaN count as visible.
            let seen_by = |margin: f32| endless || margin >= 0.0 || margin.is_nan();
            *seen = Seen {
                body: seen_by(body[lane]),
                shadow: shadow.is_some_and(|shadow| seen_by(shadow[lane])),
                pixels: if endless || around[lane] <= 0.0 || around[lane].is_nan() {
                    f32::INFINITY
                } else {
                    pixels[lane]
                },
            };
        }
    }

    /// How far each sphere reaches across the frustum plane that it is furthest outside of; negative outside.
    fn margin(&self, center: Vec3x8, radius: f32x8) -> f32x8 {
        let along = dot(self.forward, center);
        // Both slanted planes of an axis: the absolute value mirrors the sphere to the positive side.
        let inside =
            |across: f32x8, tan: f32x8, slant: f32x8| radius * slant - (across.abs() - along * tan);
        let x = inside(dot(self.right, center), self.tan_x, self.slant_x);
        let y = inside(dot(self.up, center), self.tan_y, self.slant_y);
        x.min(y).min(along + radius - self.near)
    }
}

/// An upper bound of the scale of each of eight transforms: `largest_scale` in lanes.
fn stretch(rows: &[[f32x8; 4]; 3]) -> f32x8 {
    let column = |c: usize| Vec3x8::new(rows[0][c], rows[1][c], rows[2][c]);
    let (a, b, c) = (column(0), column(1), column(2));
    let (aa, bb, cc) = (dot(a, a), dot(b, b), dot(c, c));
    let skew = (dot(a, b).abs() + dot(b, c).abs() + dot(c, a).abs()).to_array();
    let largest = aa.max(bb).max(cc);
    let (straight, skewed) = (largest.sqrt().to_array(), (aa + bb + cc).sqrt().to_array());
    let largest = largest.to_array();
    f32x8::new(std::array::from_fn(|l| {
        if skew[l] <= SKEW * largest[l] { straight[l] * SKEW_SLACK } else { skewed[l] }
    }))
}

#[cfg(test)]
mod tests;
