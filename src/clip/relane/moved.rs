//! The keys in the new order: moved lane by lane, bit for bit, where the plan says so.

use super::mixed;
use super::plan::{BlockPlan, Plans, To, Way};
use crate::clip::{
    Block, BlockKind, Channel, Clip, ClipParts, Defaults, Encoding, FloatKeys, PackedKeys, Part,
    RelaneFault, Stored,
};
use crate::error::BuildError;
use crate::math::{LANES, Row};

pub struct Mover<'a> {
    clip: &'a Clip,
    plans: &'a Plans<'a>,
    parts: ClipParts,
    defaults: Defaults<'a>,
}

impl<'a> Mover<'a> {
    /// Counts the memory of the new keys, and allocates their rows at once.
    pub fn new(
        clip: &'a Clip,
        (to, joints): To<'a>,
        plans: &'a Plans<'a>,
        max_bytes: usize,
    ) -> Result<Self, BuildError> {
        let (mut rows, mut integers) = (0usize, 0usize);
        for plan in &plans.blocks {
            let width = plan.channel.components();
            let (more, shorts) = match plan.way {
                Way::Constant => (width, 0),
                Way::Integers(lanes) => (width + 1, plan.keys.saturating_mul(width * lanes)),
                Way::Rows | Way::Mixed => {
                    let per_key = plan.kind.rows_per_key(plan.channel);
                    (plan.keys.saturating_mul(per_key), 0)
                }
            };
            rows = rows.saturating_add(more);
            integers = integers.saturating_add(shorts);
        }
        // The end of the integers is padded.
        integers += if integers > 0 { LANES } else { 0 };
        let shorts = integers.saturating_mul(size_of::<u16>());
        let needed = rows.saturating_mul(size_of::<Row>()).saturating_add(shorts);
        // Rows and integers are indexed with 32 bits.
        let limit = max_bytes.min(u32::MAX as usize);
        if needed > limit {
            return Err(BuildError::Relane(RelaneFault::Memory {
                clip: clip.name().to_owned(),
                needed,
                limit,
            }));
        }
        let motion = clip.root_motion().map(|motion| {
            let mut parts = motion.parts().clone();
            let place = joints.and_then(|joints| joints.iter().position(|j| *j == parts.joint));
            parts.joint = place.map_or(parts.joint, |joint| joint as u16);
            parts
        });
        let mut parts = ClipParts {
            name: clip.name().to_owned(),
            duration: clip.duration(),
            kind: clip.kind(),
            timelines: plans.timelines.clone(),
            tracks: Channel::ALL.map(|c| clip.tracks(c)),
            root_motion: motion,
            markers: clip.markers().to_vec(),
            ..ClipParts::default()
        };
        parts.rows.to_mut().reserve_exact(rows);
        parts.packed.to_mut().reserve_exact(integers);
        Ok(Self {
            clip,
            plans,
            parts,
            defaults: Defaults::new(to, clip.kind()),
        })
    }

    /// The parts of the clip in the new order.
    pub fn parts(mut self) -> Result<ClipParts, BuildError> {
        for plan in &self.plans.blocks {
            self.block(plan);
        }
        self.parts.end_packed();
        Ok(self.parts)
    }

    /// Adds a block of the new order, unless all its lanes are at their defaults.
    fn block(&mut self, plan: &BlockPlan<'_>) {
        let (channel, width) = (plan.channel, plan.channel.components());
        let mut rows = [Row::splat(0.0); 4];
        let still = &mut rows[..width];
        let mut differs = false;
        for (l, old) in plan.old.iter().enumerate() {
            let default = self.defaults.value(channel, plan.block * LANES + l);
            let value = match old {
                Some(old) => self.clip.constant(channel, old.block, old.lane),
                None => default,
            };
            for (c, row) in still.iter_mut().enumerate() {
                row.0[l] = value[c];
                differs |= value[c].to_bits() != default[c].to_bits();
            }
        }
        let hold = plan.moving().filter(|(_, old)| old.holds());
        let mut new = Block {
            block: plan.block as u16,
            kind: plan.kind,
            encoding: Encoding::Float,
            hold: hold.fold(0, |bits, (l, _)| bits | 1 << l),
            moving: 0,
            timeline: plan.timeline,
            first_row: self.parts.rows.len() as u32,
        };
        match plan.way {
            Way::Constant if differs => self.parts.rows.to_mut().extend_from_slice(still),
            Way::Constant => return,
            Way::Integers(lanes) => new.encoding = self.integers(plan, (lanes, still)),
            Way::Rows => self.rows(plan, still),
            Way::Mixed => {
                let rows = self.parts.rows.to_mut();
                let mut keys = FloatKeys::append(rows, (channel, plan.kind), still, plan.keys);
                let times = &self.plans.timelines[plan.timeline as usize];
                mixed::write(self.clip, plan, times, &mut keys);
            }
        }
        self.parts.channels[channel as usize].push(new);
    }

    /// Writes a packed block: its ranges, then its keys up to the last lane that moves.
    fn integers(&mut self, plan: &BlockPlan<'_>, (lanes, still): (usize, &[Row])) -> Encoding {
        let mut new = PackedKeys::new(still, plan.keys, lanes);
        for (l, old) in plan.moving() {
            let had = self.clip.keys(plan.channel, old.block);
            for (key, c) in (0..plan.keys).flat_map(|k| (0..still.len()).map(move |c| (k, c))) {
                if let Stored::Integer {
                    least,
                    step,
                    integer,
                } = had.number(key, Part::Value, c, old.lane)
                {
                    if key == 0 {
                        new.set_range(c, l, least, step);
                    }
                    new.set(key, c, l, integer);
                }
            }
        }
        new.append(&mut self.parts)
    }

    /// Writes a block's rows of f32; the keys of packed lanes are exact in f32.
    fn rows(&mut self, plan: &BlockPlan<'_>, still: &[Row]) {
        let parts: &[Part] = match plan.kind {
            BlockKind::Cubic => &[Part::In, Part::Value, Part::Out],
            _ => &[Part::Value],
        };
        let rows = self.parts.rows.to_mut();
        let mut new = FloatKeys::append(rows, (plan.channel, plan.kind), still, plan.keys);
        for (l, old) in plan.moving() {
            let had = self.clip.keys(plan.channel, old.block);
            for key in 0..plan.keys {
                for &part in parts {
                    new.set(key, part, l, &had.get(key, part, old.lane));
                }
            }
        }
    }
}
