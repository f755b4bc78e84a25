//! The offset of a layer's pose that decays.

use super::{Mix, Over};
use crate::evaluate::kernel::blend::join;
use crate::evaluate::kernel::decay::{decay, turned};
use crate::evaluate::kernel::quat::product;
use crate::evaluate::kernel::track::load;
use crate::evaluate::offsets::{OffsetInput, SCALARS};
use crate::evaluate::tables::ROTATION;
use crate::math::LANES;
use crate::simd::{Lanes, out_of_line};
use fearless_simd::prelude::*;

impl<S: Lanes> Mix<'_, S> {
    /// Adds what is left of an offset to a layer's pose, in the units that its actions have written. Rotations turn in
    /// their own frame; they may have any length.
    #[inline(always)]
    pub(super) fn offset(&self, by: &OffsetInput, over: &Over<'_>, pose: &mut [f32]) {
        let Some(offsets) = self.offsets else {
            return;
        };
        out_of_line(
            self.simd,
            #[inline(always)]
            || {
                let units = &self.sources.program.units;
                let (n, groups) = (S::f32s::LEN, LANES / S::f32s::LEN);
                let time = (self.splat(by.seconds), self.splat(by.inverse));
                for part in offsets.parts(by.id).filter(|part| part.channel != SCALARS) {
                    for slice in 0..groups {
                        let (group, lane) = (part.block * groups + slice, (slice * n) as u8);
                        let differ = u32::from(part.lanes) >> lane & ((1 << n) - 1);
                        let unit = (group >> units.shift) as u32;
                        if differ == 0 || !over.units.contains(part.channel, unit) {
                            continue;
                        }
                        let d: [_; 3] = load(self.simd, part.rows, 0, lane);
                        let [rate] = load(self.simd, part.rows, 3, lane);
                        let share = decay(self.simd, rate, time);
                        let at = units.register(part.channel, group) * n;
                        if part.channel == ROTATION {
                            let turn = turned(self.simd, &d, share);
                            let q = product(&self.get(pose, at), &turn);
                            self.put(pose, at, &q);
                        } else {
                            let v: [_; 3] = self.get(pose, at);
                            self.put(pose, at, &join(self.simd, &v, &d, share));
                        }
                    }
                }
            },
        );
    }
}
