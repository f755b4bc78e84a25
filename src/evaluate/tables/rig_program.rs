//! `RigProgram`: the tables of a rig at one register width; and `Programs`, which holds one per width.

use super::clip_program::ClipProgram;
use super::constants::{Constants, Differences, base};
use super::fold::{Fold, rows, wide};
use super::topology::Topology;
use super::units::Units;
use crate::clip::{Clip, neutral, rest_value};
use crate::math::Affine3x4;
use crate::rig::Rig;
use crate::skeleton::NO_JOINT;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// The largest number of topologies of a rig, besides the one without moving lanes. Each has
/// at least four moving lanes more than the one before; the last one may have fewer more.
const TOPOLOGIES: usize = 64;

/// The tables that all instances of a rig share, whatever they play.
#[derive(Debug)]
pub(crate) struct RigProgram {
    pub units: Units,
    pub base: Constants,
    /// The rest pose, and where it differs from the base.
    pub rest: Constants,
    pub rest_differences: Differences,
    /// The values that make an additive clip change nothing.
    pub neutral: Constants,
    /// The binary logarithm of the number of lanes from one topology to the next.
    granule: u32,
    topologies: Vec<OnceLock<(Topology, Fold)>>,
    /// For each joint, the palette row and the bind matrix whose product is the joint's model matrix; `None` if no row
    /// gives it.
    pub slots: Vec<Option<(u32, Affine3x4)>>,
    unslotted: Vec<u16>,
    /// The programs of the rig's own clips that have played.
    clips: Vec<OnceLock<Arc<ClipProgram>>>,
    /// Programs of clips that were added at run time, as long as both are used.
    added: Mutex<Vec<(Weak<Clip>, Weak<ClipProgram>)>>,
}

impl RigProgram {
    fn new(rig: &Rig, width: usize) -> Self {
        let skeleton = rig.skeleton();
        let lanes = skeleton.joint_of().len();
        let units = Units::new(lanes, width);
        let base = base(rig, &units);
        let rest = Constants::new(skeleton, &units, |channel, lane| {
            let value = rest_value(skeleton, channel, lane);
            super::constants::on_side(channel, value, base.value(channel, lane))
        });
        let rest_differences = rest.differences(&base, skeleton, |_, _| true);
        let granule = lanes.div_ceil(TOPOLOGIES).max(4).next_power_of_two();
        let slots = slots(rig);
        let unslotted = slots.iter().enumerate().filter(|s| s.1.is_none());
        Self {
            units,
            rest_differences,
            neutral: Constants::new(skeleton, &units, |channel, _| neutral(channel)),
            granule: granule.trailing_zeros(),
            topologies: (0..=lanes.div_ceil(granule)).map(|_| OnceLock::new()).collect(),
            unslotted: unslotted.map(|s| s.0 as u16).collect(),
            slots,
            clips: rig.clips().iter().map(|_| OnceLock::new()).collect(),
            added: Mutex::default(),
            base,
            rest,
        }
    }

    /// The index of the topology in which the first `lanes` lanes move.
    #[inline(always)]
    pub fn topology_of(&self, lanes: usize) -> usize {
        (lanes + (1 << self.granule) - 1) >> self.granule
    }

    /// A topology, with its fold of the base's constants.
    #[inline(always)]
    pub fn topology(&self, rig: &Rig, index: usize) -> (&Topology, &Fold) {
        let at = index.min(self.topologies.len() - 1);
        let (topology, fold) = match self.topologies[at].get() {
            Some(known) => known,
            None => self.make_topology(rig, at),
        };
        (topology, fold)
    }

    /// Makes the topology of `lanes` lanes, so that no frame has to.
    pub fn prepare(&self, rig: &Rig, lanes: usize) {
        self.topology(rig, self.topology_of(lanes));
    }

    #[cold]
    fn make_topology(&self, rig: &Rig, at: usize) -> &(Topology, Fold) {
        self.topologies[at].get_or_init(|| {
            let lanes = (at << self.granule).min(self.units.lanes());
            let topology = Topology::new(rig, lanes, self.units.width, &self.unslotted);
            let fold = Fold::new(rig, &topology, &self.base);
            (topology, fold)
        })
    }

    /// The program of a clip: the rig's own clip `index`, or another clip that fits the rig's skeleton.
    pub fn clip(&self, rig: &Rig, index: usize, clip: &Arc<Clip>) -> Arc<ClipProgram> {
        let own = rig.clips().get(index);
        if let Some(program) = self.clips.get(index)
            && own.is_some_and(|own| Arc::ptr_eq(own, clip))
        {
            let make = || Arc::new(ClipProgram::new(rig, self, clip));
            return program.get_or_init(make).clone();
        }
        // A poisoned list is still whole, since single calls change it.
        let mut added = self.added.lock().unwrap_or_else(PoisonError::into_inner);
        added.retain(|(clip, program)| clip.strong_count() > 0 && program.strong_count() > 0);
        let known = added.iter().find(|(known, _)| std::ptr::eq(known.as_ptr(), Arc::as_ptr(clip)));
        if let Some(program) = known.and_then(|k| k.1.upgrade()) {
            return program;
        }
        let program = Arc::new(ClipProgram::new(rig, self, clip));
        added.push((Arc::downgrade(clip), Arc::downgrade(&program)));
        program
    }
}

/// For every joint the first palette row whose inverse bind matrix has an inverse.
fn slots(rig: &Rig) -> Vec<Option<(u32, Affine3x4)>> {
    let mut slots = vec![None; rig.skeleton().len()];
    let mut row = 0;
    for skin in rig.skins() {
        for (&joint, inverse_bind) in skin.joints().iter().zip(skin.inverse_bind()) {
            if joint != NO_JOINT && slots[usize::from(joint)].is_none() {
                slots[usize::from(joint)] = bind(inverse_bind).map(|bind| (row, bind));
            }
            row += 1;
        }
    }
    slots
}

/// The smallest volume of an inverse bind matrix, relative to the product of its columns' lengths, at which its
/// inverse keeps five digits in f32.
const LEAST_VOLUME: f64 = 1e-2;

fn bind(inverse: &Affine3x4) -> Option<Affine3x4> {
    let m = wide(inverse);
    let lengths = m.matrix3.x_axis.length() * m.matrix3.y_axis.length() * m.matrix3.z_axis.length();
    let volume = m.matrix3.determinant().abs();
    if volume.is_nan() || volume <= LEAST_VOLUME * lengths || volume < f64::from(f32::MIN_POSITIVE)
    {
        return None;
    }
    let inverse = Affine3x4 { rows: rows(m.inverse(), 1.0) };
    inverse.is_finite().then_some(inverse)
}

/// The programs of a rig, one per register width, made when they are first used. All who share a rig share them.
#[derive(Debug, Default)]
pub(crate) struct Programs([OnceLock<Box<RigProgram>>; 3]);

impl Programs {
    /// The programs of a rig. A look-up: callers keep them.
    pub fn of(rig: &Rig) -> Arc<Self> {
        rig.derived()
    }

    /// The program for registers of `width` lanes: 4, 8 or 16. `rig` is the rig that they are of.
    #[inline]
    pub fn get(&self, rig: &Rig, width: usize) -> &RigProgram {
        let at = match width {
            4 => 0,
            8 => 1,
            _ => 2,
        };
        self.0[at].get_or_init(|| Box::new(RigProgram::new(rig, width)))
    }
}
