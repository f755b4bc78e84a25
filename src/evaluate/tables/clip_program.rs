//! `ClipProgram`: a clip as one rig plays it, at one register width.

use super::constants::{Constants, Differences, on_side, same, stored};
use super::fold::Fold;
use super::rig_program::RigProgram;
use super::units::UnitSet;
use super::{CHANNELS, ROTATION, SCALE, TRANSLATION};
use crate::clip::{Channel, Clip, ClipKind, neutral, rest_value};
use crate::evaluate::kernel::Track;
use crate::math::LANES;
use crate::rig::Rig;
use crate::simd::prefetch;
use crate::skeleton::NO_JOINT;
use std::sync::Arc;

/// A clip's tracks and constants in the groups of a register width.
#[derive(Debug)]
pub(crate) struct ClipProgram {
    pub clip: Arc<Clip>,
    /// Units in which the clip moves a joint.
    pub moving: UnitSet,
    /// Differences of the clip's constants from the base; for an additive clip, from the neutral value.
    pub differences: Differences,
    /// Units in which the clip moves a joint or its constants differ.
    pub touched: UnitSet,
    /// One more than the last lane that the clip moves, and that it touches.
    pub moving_lanes: usize,
    pub touched_lanes: usize,
    /// Tracks per channel, in all groups of the units that the clip moves.
    pub tracks: [Vec<Track>; 3],
    /// The value of every lane that the clip does not move. Joints that the rig leaves out have their rest value.
    pub constants: Constants,
    /// First time in seconds and keys per second of each timeline, 0 if it is irregular: used to prefetch keys.
    pub rates: Vec<(f32, f32)>,
    /// Tables for playing alone; `None` for additive clips.
    pub alone: Option<Alone>,
}

/// Tables of a clip that plays alone, at full weight.
#[derive(Debug)]
pub(crate) struct Alone {
    /// The index of its topology.
    pub topology: usize,
    /// Folded constants of the topology that differ from the rig's base fold.
    pub fold: Fold,
    /// Channels in which the clip's constants, up to the last lane that moves, differ from the base.
    pub differs: [bool; 3],
}

impl ClipProgram {
    /// Prefetches the tables that a run reads at any time: of a clip that plays `alone` its fold and the constants that
    /// differ from the base.
    #[inline(always)]
    pub fn prefetch_tables(&self, alone: bool) {
        prefetch(std::slice::from_ref(&*self.clip));
        self.tracks.iter().for_each(|tracks| prefetch(tracks));
        prefetch(&self.rates);
        match &self.alone {
            Some(own) if alone => {
                for channel in (0..3).filter(|&channel| own.differs[channel]) {
                    prefetch(self.constants.first(channel, self.moving_lanes));
                }
                own.fold.walk.prefetch();
            }
            _ => {
                prefetch(self.constants.first(TRANSLATION, self.touched_lanes));
                prefetch(self.constants.first(ROTATION, self.touched_lanes));
            }
        }
    }

    #[inline(always)]
    pub fn prefetch_keys(&self, time: f32) {
        for (tracks, channel) in self.tracks.iter().zip(CHANNELS) {
            for track in tracks {
                let (first, rate) = self.rates[track.timeline()];
                // `as` saturates, so every time gives a key; keys outside the clip are not prefetched.
                let key = ((time - first) * rate) as usize;
                track.prefetch(&self.clip, channel.components(), key);
            }
        }
        for ((first, rate), times) in self.rates.iter().zip(self.clip.timelines()) {
            let key = ((time - first) * rate) as usize;
            prefetch(times.get(key..key + 2).unwrap_or_default());
        }
    }

    pub fn new(rig: &Rig, program: &RigProgram, clip: &Arc<Clip>) -> Self {
        let skeleton = rig.skeleton();
        let units = &program.units;
        let additive = clip.kind() == ClipKind::Additive;
        let left_out = |lane: usize| rig.is_left_out(skeleton.joint_of()[lane]);
        let mut moving = UnitSet::default();
        let mut moving_lanes = 0;
        for (c, channel) in CHANNELS.into_iter().enumerate() {
            for block in clip.blocks(channel) {
                for l in (0..LANES).filter(|&l| block.moves(l)) {
                    let lane = usize::from(block.block) * LANES + l;
                    if skeleton.joint_of()[lane] != NO_JOINT && !left_out(lane) {
                        moving.insert(c, units.of_lane(lane));
                        moving_lanes = moving_lanes.max(lane + 1);
                    }
                }
            }
        }
        let missing = |channel, lane| match additive {
            true => neutral(channel),
            false => rest_value(skeleton, channel, lane),
        };
        let side = |channel: Channel, lane| match additive {
            true => neutral(channel),
            false => program.base.value(channel, lane),
        };
        let constants = Constants::new(skeleton, units, |channel, lane| {
            let stored = stored(clip, channel, lane).filter(|_| !left_out(lane));
            let value = stored.unwrap_or(Some(missing(channel, lane)));
            // The constant of a lane that moves is never read.
            let of = side(channel, lane);
            let value = value.map_or(of, |value| on_side(channel, value, of));
            if same(value, of) { of } else { value }
        });
        let constant = |channel, lane| stored(clip, channel, lane) != Some(None);
        let neutral = &program.neutral;
        let base = if additive { neutral } else { &program.base };
        let differences = constants.differences(base, skeleton, constant);
        let mut touched = moving;
        touched.join(&differences.units);
        let tracks = CHANNELS.map(|channel| {
            let mut tracks = Vec::new();
            let mut bits = moving.0[channel as usize];
            while bits != 0 {
                let unit = bits.trailing_zeros();
                bits &= bits - 1;
                for group in units.groups_of(unit) {
                    let first = group * units.width;
                    let track = Track::new(clip, channel, first, units.width);
                    let offset = units.offset(channel as usize, group);
                    tracks.push(track.at(offset, first, unit));
                }
            }
            tracks
        });
        let alone = (!additive).then(|| {
            let topology = program.topology_of(moving_lanes);
            let (steps, common) = program.topology(rig, topology);
            let mut fold = Fold::new(rig, steps, &constants);
            fold.walk = steps.walk.own(fold.walk, &common.walk);
            let last = moving_lanes.checked_sub(1).map(|lane| units.of_lane(lane));
            let first = last.map_or(0, |unit| u64::MAX >> (63 - unit));
            Alone { topology, fold, differs: differences.units.0.map(|units| units & first != 0) }
        });
        Self {
            clip: clip.clone(),
            moving,
            touched,
            moving_lanes,
            touched_lanes: moving_lanes.max(differences.lanes),
            differences,
            tracks,
            constants,
            rates: clip.timelines.iter().map(|t| (clip.times(t)[0], t.rate)).collect(),
            alone,
        }
    }

    /// The index of the topology that the clip plays with, alone if it can.
    #[inline(always)]
    pub fn topology(&self, program: &RigProgram) -> usize {
        match &self.alone {
            Some(own) => own.topology,
            None => program.topology_of(self.touched_lanes),
        }
    }

    /// The constants to use if the clip plays alone, per channel in the registers of a pose.
    #[inline(always)]
    pub fn constants_alone<'a>(&'a self, own: &Alone, base: &'a Constants) -> [&'a [f32]; 3] {
        let (own, all) = (own.differs, [base.pose(), self.constants.pose()]);
        own.map(|own| all[usize::from(own)])
    }

    /// Units of scale in which all scales are 1 if the clip plays alone.
    pub fn unit_scale(&self) -> u64 {
        self.constants.unit_scale & !self.moving.0[SCALE]
    }
}
