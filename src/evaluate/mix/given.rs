//! Blending of a pose that the host gives with that of the clips.

use super::Mix;
use crate::evaluate::kernel::blend::{cover, cover_rotation};
use crate::evaluate::kernel::quat::unit;
use crate::evaluate::kernel::track::load;
use crate::evaluate::stage::{Given, POSE_ROWS};
use crate::evaluate::tables::{ROTATION, SCALE, TRANSLATION};
use crate::math::LANES;
use crate::simd::Lanes;
use fearless_simd::prelude::*;

impl<S: Lanes> Mix<'_, S> {
    /// Blends a given pose over the pose of the clips, whose units that do not vary are in `constants`. Writes all
    /// units, but for those of scale that stay 1. At weight 1 nothing of the clips is read.
    #[inline(always)]
    pub fn given(
        &self,
        given: &Given<'_>,
        (constants, unit_scale): ([&[f32]; 3], u64),
        pose: &mut [f32],
    ) {
        let units = &self.sources.program.units;
        let whole = given.weight >= 1.0;
        let w = self.splat(given.weight);
        let groups = LANES / S::f32s::LEN;
        for (block, rows) in given.rows.chunks_exact(POSE_ROWS).enumerate() {
            for part in 0..groups {
                let (group, lane) = (block * groups + part, (part * S::f32s::LEN) as u8);
                let of = (group >> units.shift) as u32;
                let at = units.register(ROTATION, group) * S::f32s::LEN;
                let mut q: [_; 4] = load(self.simd, rows, 3, lane);
                if !whole {
                    let varies = self.varying.contains(ROTATION, of);
                    let below = if varies { &*pose } else { constants[ROTATION] };
                    let below = unit(self.simd, &self.get(below, at));
                    q = cover_rotation(self.simd, &below, &q, w);
                }
                self.put(pose, at, &q);
                for (channel, first) in [(TRANSLATION, 0), (SCALE, 7)] {
                    if channel == SCALE && unit_scale >> of & 1 == 1 {
                        continue;
                    }
                    let at = units.register(channel, group) * S::f32s::LEN;
                    let mut v: [_; 3] = load(self.simd, rows, first, lane);
                    if !whole {
                        let varies = self.varying.contains(channel, of);
                        let below = if varies { &*pose } else { constants[channel] };
                        v = cover(self.simd, &self.get(below, at), &v, w);
                    }
                    self.put(pose, at, &v);
                }
            }
        }
    }
}
