//! `Spheres`: the bounding spheres of a pool's instances in world space, eight to a register.

use crate::math::Affine3x4;
use crate::playback::changes::Changes;
use crate::playback::pool::Pool;
use ultraviolet::Vec3x8;
use wide::f32x8;

/// The instances of a register.
pub(super) const LANES: usize = 8;

/// World-space spheres, as arrays over the instances; the last register is filled with hidden ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Spheres {
    x: Vec<f32x8>,
    y: Vec<f32x8>,
    z: Vec<f32x8>,
    /// Negative: hidden, or not alive. [`UNBOUNDED`]: always in the picture.
    radius: Vec<f32x8>,
    /// The [longest side](Pool::longest_side) of the rest pose, in world space.
    size: Vec<f32x8>,
    /// The visible ones.
    shown: usize,
}

/// Eight spheres.
pub(super) struct Eight {
    pub center: Vec3x8,
    pub radius: f32x8,
    pub size: f32x8,
}

const HIDDEN: f32 = -1.0;
/// Beyond all world transforms, and small enough that products with it are finite.
const UNBOUNDED: f32 = 1e30;

impl Spheres {
    /// Makes one entry per instance.
    pub fn resize(&mut self, instances: usize) {
        let registers = instances.div_ceil(LANES);
        let Self { x, y, z, radius, size, .. } = self;
        for all in [x, y, z, size] {
            all.resize(registers, f32x8::ZERO);
        }
        radius.resize(registers, f32x8::splat(HIDDEN));
    }

    /// Hides the instances from an index on.
    pub fn truncate(&mut self, instances: usize) {
        (instances..self.radius.len() * LANES).for_each(|index| self.set(index, None));
    }

    pub fn eight(&self, register: usize) -> Eight {
        Eight {
            center: Vec3x8::new(self.x[register], self.y[register], self.z[register]),
            radius: self.radius[register],
            size: self.size[register],
        }
    }

    pub fn shown(&self) -> usize {
        self.shown
    }

    fn set(&mut self, index: usize, sphere: Option<([f32; 3], f32, f32)>) {
        let (register, lane) = (index / LANES, index % LANES);
        let was = self.radius[register].as_array_ref()[lane] >= 0.0;
        self.shown = self.shown + usize::from(sphere.is_some()) - usize::from(was);
        let (center, radius, size) = sphere.unwrap_or(([0.0; 3], HIDDEN, 0.0));
        let put = |all: &mut Vec<f32x8>, value: f32| all[register].as_array_mut()[lane] = value;
        put(&mut self.x, center[0]);
        put(&mut self.y, center[1]);
        put(&mut self.z, center[2]);
        put(&mut self.radius, radius);
        put(&mut self.size, size);
    }

    /// Renews the spheres of the instances that have changed; of all if root motion moves them.
    pub fn renew(&mut self, pool: &Pool, changes: &Changes) {
        self.resize(pool.state().len());
        let side = pool.longest_side();
        if pool.state().applies_roots() {
            for index in 0..pool.state().len() {
                self.renew_one(pool, index, side);
            }
            return;
        }
        for (index, _) in changes.all() {
            self.renew_one(pool, index, side);
        }
    }

    fn renew_one(&mut self, pool: &Pool, index: usize, side: f32) {
        let shown = pool.state().is_shown(index);
        let sphere = shown.then(|| {
            let world = pool.state().world(index);
            let scale = world.stretch_bound() as f32;
            match pool.extent(index) {
                Some(sphere) => {
                    let center = point(world, sphere.center);
                    (center, sphere.radius * scale, side * scale)
                }
                None => (world.translation().to_array(), UNBOUNDED, side * scale),
            }
        });
        // Whatever the rig measures, heights are numbers.
        let sphere = sphere.map(|(center, radius, size)| {
            let finite = |v: f32| if v.is_finite() { v } else { UNBOUNDED };
            (center.map(finite), finite(radius), finite(size))
        });
        self.set(index, sphere);
    }
}

fn point(world: &Affine3x4, p: [f32; 3]) -> [f32; 3] {
    world.rows.map(|r| r[0] * p[0] + r[1] * p[1] + r[2] * p[2] + r[3])
}
