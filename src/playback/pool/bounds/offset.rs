//! What offsets of layers add to the reach of clips.

use super::{More, Pool, PoolBounds};
use crate::evaluate::{OffsetId, ROTATION, SCALARS, SCALE, TRANSLATION};
use crate::math::LANES;
use crate::playback::inertia::largest;

impl Pool {
    /// Adds what an offset of a layer can add, whatever is left of it.
    pub(super) fn add_offset(&self, bounds: &PoolBounds, id: OffsetId, more: &mut More) {
        let rig = self.library.rig();
        for part in self.state.offsets().parts(id) {
            let rows = &part.rows[..3];
            for lane in (0..LANES).filter(|&lane| largest(rows, lane) > 0.0) {
                let at = part.block * LANES + lane;
                if part.channel == SCALARS {
                    let longest = rig.displacements().get(at).copied().unwrap_or(0.0);
                    more.morph += f64::from(longest * largest(rows, lane)) * bounds.morph_scale;
                    continue;
                }
                let joint = rig.skeleton().joint_of()[at];
                let above = bounds.chain.iter().skip(1).any(|above| *above == joint);
                match part.channel {
                    TRANSLATION => {
                        let [x, y, z] = [0, 1, 2].map(|row| f64::from(rows[row].0[lane]));
                        more.longer += x.hypot(y).hypot(z);
                    }
                    SCALE => {
                        let [_, scale, _] = bounds.offsets[usize::from(joint)];
                        more.wider *= 1.0 + f64::from(largest(rows, lane)) / scale;
                    }
                    _ => {}
                }
                more.escapes |= above && matches!(part.channel, ROTATION | SCALE);
            }
        }
    }
}
