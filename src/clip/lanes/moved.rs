//! The keys in the new order: moved lane by lane, bit for bit, in blocks that are not mixed.

use super::mixed;
use super::plan::{BlockPlan, Old, Plans, To};
use crate::clip::{Block, BlockKind, Clip, ClipParts, Defaults, Extent, FloatKeys, PACKED_END};
use crate::error::BuildError;
use crate::math::{LANES, Row};
use crate::words::shorten;

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
        let extent = |p: &BlockPlan<'_>| p.encoding.extent(p.channel, p.kind, p.keys);
        let mut all: Extent = plans.blocks.iter().map(extent).sum();
        all.integers += if all.integers > 0 { PACKED_END } else { 0 };
        let needed = all.bytes();
        // Rows and integers are indexed with 32 bits.
        let limit = max_bytes.min(u32::MAX as usize);
        if needed > limit {
            let name = shorten(clip.name());
            let what = format!("clip \"{name}\" needs {needed} bytes in another lane order");
            return Err(BuildError::limit(what, needed, limit));
        }
        let mut parts = ClipParts { timelines: plans.timelines.clone(), ..clip.outline() };
        if let (Some(motion), Some(joints)) = (&mut parts.root_motion, joints) {
            let place = joints.iter().position(|joint| *joint == motion.joint);
            motion.joint = place.map_or(motion.joint, |joint| joint as u16);
        }
        parts.rows.reserve_exact(all.rows);
        parts.packed.reserve_exact(all.integers);
        Ok(Self { clip, plans, parts, defaults: Defaults::new(to, clip.kind()) })
    }

    /// The parts of the clip in the new order.
    pub fn parts(mut self) -> ClipParts {
        for plan in &self.plans.blocks {
            self.block(plan);
        }
        self.parts.end_packed();
        self.parts
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
            kind: plan.kind,
            hold: hold.fold(0, |bits, (l, _)| bits | 1 << l),
            timeline: plan.timeline,
            ..Block::constant(plan.block, self.parts.rows.len())
        };
        let (parts, kind) = (&mut self.parts, (channel, plan.kind));
        if plan.mixed {
            let mut keys = FloatKeys::append(&mut parts.rows, kind, still, plan.keys);
            let times = &self.plans.timelines[plan.timeline as usize];
            mixed::write(self.clip, plan, times, &mut keys);
        } else if plan.kind != BlockKind::Constant || differs {
            let had = |old: Old<'_>| (self.clip.keys(channel, old.block), old.lane);
            let lanes = plan.moving().map(|(l, old)| (l, had(old)));
            new.encoding = plan.encoding.append(parts, kind, still, plan.keys, lanes);
        } else {
            return;
        }
        self.parts.channels[channel as usize].push(new);
    }
}
