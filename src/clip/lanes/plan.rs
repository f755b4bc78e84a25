//! The origin of the lanes of each new block, and whether they can be moved bit for bit.

use super::mixed;
use crate::clip::limits::check_keys;
use crate::clip::{Block, BlockKind, Channel, Clip, Encoding, MAX_KEYS};
use crate::error::BuildError;
use crate::math::LANES;
use crate::skeleton::{NO_JOINT, Skeleton};
use std::collections::HashMap;

/// A lane in the old order.
#[derive(Clone, Copy)]
pub struct Old<'a> {
    pub block: &'a Block,
    pub lane: usize,
}

impl Old<'_> {
    pub fn moves(self) -> bool {
        self.block.moves(self.lane)
    }

    pub fn holds(self) -> bool {
        self.block.holds(self.lane)
    }
}

/// The lanes of a new block, in the old order; `None` where no keys are stored.
pub type OldLanes<'a> = [Option<Old<'a>>; LANES];

/// A block of the new order that has keys.
pub struct BlockPlan<'a> {
    pub channel: Channel,
    pub block: usize,
    pub old: OldLanes<'a>,
    /// Whether the keys come from several timelines or kinds. Otherwise they are moved lane by lane, bit for bit.
    pub mixed: bool,
    /// The kind of the new block; constant if no lane moves.
    pub kind: BlockKind,
    /// The encoding of the new keys, with 0 for the first integer until they are laid out.
    pub encoding: Encoding,
    /// Index of the block's timeline in the new clip, and the number of its keys.
    pub timeline: u32,
    pub keys: usize,
}

impl<'a> BlockPlan<'a> {
    /// The lanes that move.
    pub fn moving(&self) -> impl Iterator<Item = (usize, Old<'a>)> + use<'_, 'a> {
        let lanes = self.old.iter().enumerate();
        lanes.filter_map(|(l, old)| Some((l, (*old)?)).filter(|(_, old)| old.moves()))
    }
}

/// The blocks of a clip in the new order, and the timelines that they use.
pub struct Plans<'a> {
    pub blocks: Vec<BlockPlan<'a>>,
    pub timelines: Vec<Vec<f32>>,
}

/// The timelines of the new clip, each once.
struct Timelines<'a> {
    clip: &'a Clip,
    /// For each timeline of the old clip, its index in the new one, if it is used there.
    kept: Vec<Option<u32>>,
    known: HashMap<Vec<u32>, u32>,
    all: Vec<Vec<f32>>,
}

impl Timelines<'_> {
    fn keep(&mut self, old: u32) -> u32 {
        if let Some(known) = self.kept[old as usize] {
            return known;
        }
        let times = self.clip.times(&self.clip.timelines[old as usize]);
        let new = self.add(times.to_vec());
        self.kept[old as usize] = Some(new);
        new
    }

    fn add(&mut self, times: Vec<f32>) -> u32 {
        let bits = times.iter().map(|t| t.to_bits()).collect();
        let next = self.all.len() as u32;
        let place = *self.known.entry(bits).or_insert(next);
        if place == next {
            self.all.push(times);
        }
        place
    }
}

/// The target skeleton; and if its joints have another order, for each joint the joint of the clip's skeleton.
pub type To<'a> = (&'a Skeleton, Option<&'a [u16]>);

/// Finds the origin of the lanes of all new blocks.
///
/// # Errors
/// If the union of the key times of a block's lanes is larger than a timeline allows.
pub fn plan<'a>(clip: &'a Clip, to: To<'_>) -> Result<Plans<'a>, BuildError> {
    let mut timelines = Timelines {
        clip,
        kept: vec![None; clip.timelines().len()],
        known: HashMap::new(),
        all: Vec::new(),
    };
    let mut blocks = Vec::new();
    for channel in Channel::ALL {
        if clip.blocks(channel).is_empty() {
            continue;
        }
        let count = match channel {
            Channel::Scalar => to.0.rest_pose().scalar_blocks(),
            _ => to.0.blocks(),
        };
        for block in 0..count {
            let old = std::array::from_fn(|l| old_lane(clip, to, channel, block * LANES + l));
            if old.iter().all(Option::is_none) {
                continue;
            }
            let mut plan = BlockPlan {
                channel,
                block,
                old,
                mixed: false,
                kind: BlockKind::Constant,
                encoding: Encoding::Float,
                timeline: 0,
                keys: 1,
            };
            if let Some(first) = plan.old.iter().flatten().copied().find(|old| old.moves()) {
                (plan.mixed, plan.kind) = mixed_kind(&plan, first);
                plan.timeline = match plan.mixed {
                    true => {
                        let times = mixed::union(clip, &plan);
                        // Fewer are allowed if the timeline is irregular: the clip's own check rejects it then.
                        check_keys(clip.name(), timelines.all.len(), times.len(), MAX_KEYS)?;
                        timelines.add(times)
                    }
                    false => {
                        let lanes = plan.moving().map(|(l, old)| (l, old.block.encoding));
                        plan.encoding = Encoding::of_lanes(lanes);
                        timelines.keep(first.block.timeline)
                    }
                };
                plan.keys = timelines.all[plan.timeline as usize].len();
            }
            blocks.push(plan);
        }
    }
    Ok(Plans { blocks, timelines: timelines.all })
}

/// The old position of a lane of the new order, if keys are stored for it.
fn old_lane<'a>(
    clip: &'a Clip,
    (to, joints): To<'_>,
    channel: Channel,
    lane: usize,
) -> Option<Old<'a>> {
    let lane = match channel {
        Channel::Scalar => lane,
        _ => match *to.joint_of().get(lane)? {
            NO_JOINT => return None,
            joint => {
                let joint = usize::from(joint);
                let own = joints.map_or(joint, |joints| joints[joint].into());
                usize::from(*clip.skeleton().lane_of().get(own)?)
            }
        },
    };
    let block = clip.block_at(channel, lane / LANES)?;
    let lane = lane % LANES;
    Some(Old { block, lane })
}

/// Whether the lanes of a block come from several timelines or kinds, and its kind.
fn mixed_kind(plan: &BlockPlan<'_>, first: Old<'_>) -> (bool, BlockKind) {
    let (mut one_timeline, mut kind) = (true, first.block.kind);
    let (mut cubic, mut count) = (0, 0);
    for (_, old) in plan.moving() {
        one_timeline &= old.block.timeline == first.block.timeline;
        cubic += usize::from(old.block.kind == BlockKind::Cubic);
        count += 1;
        if kind != old.block.kind {
            // Some lanes need the correction of slerp; it is harmless to the others.
            kind = BlockKind::Slerp;
        }
    }
    if cubic > 0 {
        kind = BlockKind::Cubic;
    }
    (!one_timeline || (cubic > 0 && cubic < count), kind)
}
