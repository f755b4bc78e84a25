//! Bounds on the values of a lane over all times, without sampling.

use super::block::{Block, BlockKind, Channel};
use super::clip_data::Clip;
use super::encoding::Part;
use crate::math::LANES;

impl Clip {
    /// The least and the greatest value of each component of a lane over all times, without sampling.
    ///
    /// `block` is an index into [`Clip::blocks`], `lane` a position in its rows, below 16. `None` if there is
    /// no such block or lane. Unused components are `[inf, -inf]`.
    pub fn value_range(
        &self,
        channel: Channel,
        block: usize,
        lane: usize,
    ) -> Option<[[f32; 2]; 4]> {
        let block = self.blocks(channel).get(block).filter(|_| lane < LANES)?;
        Some(self.reach(channel, block, lane))
    }

    /// The least and the greatest value of each component of a lane over all times.
    ///
    /// Linear and stepped keys bound the values between them. A cubic segment stays within the control points
    /// of its Bézier form, which are included.
    pub(crate) fn reach(&self, channel: Channel, b: &Block, lane: usize) -> [[f32; 2]; 4] {
        let width = channel.components();
        let keys = self.keys(channel, b);
        let mut reach = [[f32::INFINITY, f32::NEG_INFINITY]; 4];
        let mut add = |value: [f32; 4]| {
            for ([least, most], value) in reach.iter_mut().zip(value).take(width) {
                (*least, *most) = (least.min(value), most.max(value));
            }
        };
        for (key, value) in keys.values(lane).enumerate() {
            add(value);
            if b.kind != BlockKind::Cubic {
                continue;
            }
            // Tangents are per interval, so a control point is a third of its tangent away.
            if key > 0 {
                let into = keys.get(key, Part::In, lane);
                add(std::array::from_fn(|c| value[c] - into[c] / 3.0));
            }
            if key + 1 < keys.len() {
                let out = keys.get(key, Part::Out, lane);
                add(std::array::from_fn(|c| value[c] + out[c] / 3.0));
            }
        }
        reach
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ClipParts, Encoding};
    use super::*;
    use crate::math::Row;
    use crate::skeleton::{Joint, Skeleton, Trs};

    /// The bounds of lane 3 in a block of scales with keys at 0 and 1 s; `rows` holds the values of lane 3.
    fn reach(kind: BlockKind, rows: &[f32], encoding: Encoding, packed: Vec<u16>) -> [[f32; 2]; 3] {
        let joint = |name: &str| Joint { name: name.into(), parent: None, rest: Trs::IDENTITY };
        let joints = ["a", "b", "c", "d"].map(joint);
        let skeleton = Skeleton::new(&joints, None, Vec::new()).expect("four roots");
        let mut parts = ClipParts {
            duration: 1.0,
            timelines: vec![vec![0.0, 1.0]],
            packed,
            ..Default::default()
        };
        let lane_3 = |&v: &f32| Row(std::array::from_fn(|l| if l == 3 { v } else { 0.0 }));
        parts.rows = rows.iter().map(lane_3).collect();
        parts.channels[Channel::Scale as usize] =
            vec![Block { kind, encoding, ..Block::constant(0, 0) }];
        let clip = Clip::new(parts, &skeleton).expect("sound parts");
        let [x, y, z, _] = clip.reach(Channel::Scale, &clip.blocks(Channel::Scale)[0], 3);
        [x, y, z]
    }

    #[test]
    fn what_a_clip_lacks_has_no_range() {
        let joint = Joint { name: "a".into(), parent: None, rest: Trs::IDENTITY };
        let skeleton = Skeleton::new(&[joint], None, Vec::new()).expect("one root");
        let mut parts =
            ClipParts { duration: 1.0, timelines: vec![vec![0.0, 1.0]], ..Default::default() };
        parts.rows = vec![Row([2.0; LANES]); 3];
        parts.channels[Channel::Scale as usize] = vec![Block::constant(0, 0)];
        let clip = Clip::new(parts, &skeleton).expect("sound parts");
        let range = clip.value_range(Channel::Scale, 0, 0).expect("a lane");
        assert_eq!(range[..3], [[2.0; 2]; 3]);
        assert!(clip.value_range(Channel::Scale, 0, LANES - 1).is_some());
        assert_eq!(clip.value_range(Channel::Scale, 0, LANES), None);
        assert_eq!(clip.value_range(Channel::Scale, 1, 0), None);
        assert_eq!(clip.value_range(Channel::Rotation, 0, 0), None);
    }

    #[test]
    fn keys_bound_linear_constant_and_packed_blocks() {
        let linear =
            reach(BlockKind::Linear, &[1.0, 2.0, -3.0, 0.5, 4.0, 3.0], Encoding::Float, Vec::new());
        assert_eq!(linear, [[0.5, 1.0], [2.0, 4.0], [-3.0, 3.0]]);
        let one = [1.0, 2.0, -3.0];
        let constant = reach(BlockKind::Constant, &one, Encoding::Float, Vec::new());
        assert_eq!(constant, one.map(|v| [v, v]));
        // Rows of least values, then of steps; two keys of three components of four lanes.
        let mut packed = vec![0; 24];
        (packed[3], packed[15], packed[11], packed[23]) = (4, 8, 1, 0);
        packed.extend([0; 12]);
        let encoding = Encoding::Packed { first: 0, lanes: 4 };
        let packed = reach(BlockKind::Linear, &[-3.0, 1.0, 1.0, 0.5], encoding, packed);
        assert_eq!(packed, [[-1.0, 1.0], [1.0, 1.0], [1.0, 1.5]]);
    }

    #[test]
    fn splines_stay_within_their_reach_and_beyond_their_keys() {
        // In-tangents, values and out-tangents of three components. The outer tangents must not count.
        let (a, out) = ([1.0, 1.0, 2.0], [-9.0, 3.0, 0.0]);
        let (b, into) = ([1.5, 1.0, 0.5], [6.0, 3.0, -0.3]);
        let rows = [[99.0; 3], a, out, into, b, [-99.0; 3]].concat();
        let reach = reach(BlockKind::Cubic, &rows, Encoding::Float, Vec::new());
        for c in 0..3 {
            let [least, most] = reach[c].map(f64::from);
            let mut below = 0;
            for step in 0..=100 {
                let t = f64::from(step) / 100.0;
                let (t2, t3) = (t * t, t * t * t);
                let value = (2.0 * t3 - 3.0 * t2 + 1.0) * f64::from(a[c])
                    + (t3 - 2.0 * t2 + t) * f64::from(out[c])
                    + (3.0 * t2 - 2.0 * t3) * f64::from(b[c])
                    + (t3 - t2) * f64::from(into[c]);
                assert!((least - 1e-6..=most + 1e-6).contains(&value), "{c} at {t}: {value}");
                below += i32::from(value < f64::from(a[c].min(b[c])) - 0.1);
            }
            assert_eq!(below > 0, c < 2, "only the first two overshoot");
            assert!(least > -3.0 && most < 4.0);
        }
    }
}
