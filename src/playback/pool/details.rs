//! Details of a pool's rig, by which a crowd with tiers evaluates some of the instances.

use super::programs::PoolPrograms;
use super::{LayerOptions, Pool};
use crate::clip::Clip;
use crate::evaluate::{RigProgram, Sources};
use crate::playback::arena::Arena;
use crate::rig::{DetailOptions, Rig};
use crate::simd::SimdLevel;
use crate::skeleton::{JointRef, Skeleton};
use std::sync::Arc;

/// What a tier asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DetailRequest<'a> {
    /// A level that the rig lacks counts as its last.
    pub level: usize,
    /// Names or paths of joints; those that the rig lacks are ignored.
    pub leave_out: &'a [String],
}

/// The details of a pool. A detail's number counts from 1; 0 is the full rig.
#[derive(Debug, Default)]
pub(crate) struct PoolDetails {
    /// By tier.
    of_tier: Vec<u8>,
    all: Vec<PoolDetail>,
}

/// A detail, with the programs of the clips that have played.
#[derive(Debug)]
struct PoolDetail {
    level: usize,
    /// The joints that are listed, ascending.
    listed: Vec<u16>,
    /// What of them is left out, and what is kept.
    joints: KeptJoints,
    /// The detail of the level, with all joints that its slots need.
    whole: Arc<Rig>,
    rig: Arc<Rig>,
    programs: PoolPrograms,
}

/// Joints that differ from those that the slots of a detail need, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct KeptJoints {
    left_out: Vec<u16>,
    /// Watched ones that no slot needs.
    keep: Vec<u16>,
}

impl PoolDetail {
    /// `None` if the rig refuses, or its detail would leave nothing out.
    fn new(rig: &Rig, level: usize, listed: &[u16]) -> Option<Self> {
        let joints = KeptJoints {
            left_out: listed.to_vec(),
            keep: Vec::new(),
        };
        let whole = detail(rig, level, &KeptJoints::default())?;
        let of = detail(&whole, level, &joints)?;
        let evaluated = (0..rig.skeleton().len()).all(|joint| of.is_evaluated(joint));
        (of.palette_len() < rig.palette_len() || !evaluated).then(|| Self {
            level,
            listed: listed.to_vec(),
            joints,
            whole,
            programs: PoolPrograms::new(&of),
            rig: of,
        })
    }

    /// The joints with these watched ones, ascending: of the listed ones those that are watched, or that a watched
    /// joint is below, are not left out. `None` if the detail has them already.
    fn with_watched(&self, watched: &[u16]) -> Option<KeptJoints> {
        let parents = self.rig.skeleton().parents();
        let mut seen = vec![false; parents.len()];
        for &joint in watched {
            let mut at = usize::from(joint);
            while let Some(seen) = seen.get_mut(at).filter(|seen| !**seen) {
                *seen = true;
                at = parents[at].into();
            }
        }
        let listed = self.listed.iter().copied();
        let watched = watched.iter().copied();
        let joints = KeptJoints {
            left_out: listed.filter(|&j| !seen[usize::from(j)]).collect(),
            keep: watched
                .filter(|&j| !self.whole.is_evaluated(j.into()))
                .collect(),
        };
        (joints != self.joints).then_some(joints)
    }

    /// Evaluates watched joints, ascending, and those above them. Returns whether the detail has changed.
    fn watch(&mut self, watched: &[u16]) -> bool {
        let Some(joints) = self.with_watched(watched) else {
            return false;
        };
        if let Some(rig) = detail(&self.whole, self.level, &joints) {
            self.rig = rig;
            self.joints = joints;
            self.programs = PoolPrograms::new(&self.rig);
            return true;
        }
        false
    }
}

fn detail(rig: &Rig, level: usize, joints: &KeptJoints) -> Option<Arc<Rig>> {
    // A detail of a level without meshes has level 0 alone.
    let level = level.min(rig.lod_count() - 1);
    let refs = |joints: &[u16]| -> Vec<JointRef<'_>> {
        let indices = joints.iter().map(|&joint| usize::from(joint));
        indices.map(JointRef::from).collect()
    };
    let (keep, leave_out) = (refs(&joints.keep), refs(&joints.left_out));
    let options = DetailOptions {
        level,
        keep: &keep,
        leave_out: &leave_out,
    };
    rig.detail(&options).ok()
}

/// The joints of names or paths, ascending.
fn joints(skeleton: &Skeleton, names: &[String]) -> Vec<u16> {
    let found = names
        .iter()
        .filter_map(|name| skeleton.joint(name.as_str()).ok());
    let mut joints: Vec<u16> = found.map(|joint| joint as u16).collect();
    joints.sort_unstable();
    joints.dedup();
    joints
}

impl PoolDetails {
    fn get(&self, number: u8) -> Option<&PoolDetail> {
        self.all.get(usize::from(number.checked_sub(1)?))
    }

    /// The details in the order of their numbers.
    pub fn rigs(&self) -> impl ExactSizeIterator<Item = &Arc<Rig>> {
        self.all.iter().map(|d| &d.rig)
    }

    /// Fits the programs to a level and to the clips that are loaded: those that the pool has programs of.
    pub(super) fn fit(
        &mut self,
        level: SimdLevel,
        own: &PoolPrograms,
        clips: &Arena<Arc<Clip>>,
        layers: &[LayerOptions],
    ) {
        for detail in &mut self.all {
            detail
                .programs
                .fit(level.width(), &detail.rig, clips, layers);
        }
        self.follow(own, clips);
    }

    /// Makes the programs of the clips that the pool has programs of.
    pub(super) fn follow(&mut self, own: &PoolPrograms, clips: &Arena<Arc<Clip>>) {
        for detail in &mut self.all {
            detail.programs.follow(own, &detail.rig, clips);
        }
    }
}

impl Pool {
    /// Makes the details that tiers ask for, one per tier; `None` for the full rig. Those that there are already stay.
    pub fn set_details<'a>(&mut self, asked: impl Iterator<Item = Option<DetailRequest<'a>>>) {
        let mut old = std::mem::take(&mut self.details.all);
        let mut made = PoolDetails::default();
        // With the number of the detail; 0 if the rig refuses.
        let mut known: Vec<(usize, Vec<u16>, u8)> = Vec::new();
        for asked in asked {
            let Some(DetailRequest { level, leave_out }) = asked else {
                made.of_tier.push(0);
                continue;
            };
            let level = level.min(self.rig.lod_count() - 1);
            let listed = joints(self.rig.skeleton(), leave_out);
            if let Some(k) = known.iter().find(|k| k.0 == level && k.1 == listed) {
                made.of_tier.push(k.2);
                continue;
            }
            let same = |d: &PoolDetail| d.level == level && d.listed == listed;
            let detail = match old.iter().position(same) {
                Some(at) => Some(old.swap_remove(at)),
                None => PoolDetail::new(&self.rig, level, &listed),
            };
            let found = detail.is_some();
            made.all.extend(detail);
            // There are fewer tiers than numbers.
            let number = if found { made.all.len() as u8 } else { 0 };
            made.of_tier.push(number);
            known.push((level, listed, number));
        }
        self.details = made;
        self.watch_details();
        self.fit_details();
    }

    /// The full rig for all tiers.
    pub fn clear_details(&mut self) {
        self.details = PoolDetails::default();
    }

    /// Evaluates joints that all instances watch, and those above them, in every detail, whatever it leaves out or its
    /// level drops. Returns whether a detail has changed; its palettes have as many rows as before.
    pub fn watch_details(&mut self) -> bool {
        if self.details.all.is_empty() {
            return false;
        }
        let watched: Vec<u16> = self.watch.shared().collect();
        let mut changed = false;
        for detail in &mut self.details.all {
            changed |= detail.watch(&watched);
        }
        if changed {
            self.fit_details();
        }
        changed
    }

    fn fit_details(&mut self) {
        let level = self.level();
        let Self {
            details,
            programs,
            clips,
            layers,
            ..
        } = self;
        details.fit(level, programs, clips, layers);
    }

    /// The number of the detail by which an instance is evaluated in a tier: 0, the full rig, if it has overrides of
    /// joints or watches joints of its own.
    #[inline]
    pub fn detail_of(&self, index: usize, tier: u8) -> u8 {
        let number = self.detail_of_tier(tier);
        if number != 0 && self.needs_all_joints(index) {
            return 0;
        }
        number
    }

    /// The number of a tier's detail.
    #[inline]
    pub fn detail_of_tier(&self, tier: u8) -> u8 {
        let number = self.details.of_tier.get(usize::from(tier));
        number.copied().unwrap_or(0)
    }

    /// Whether an instance has overrides of joints, or watches joints of its own.
    #[inline]
    pub fn needs_all_joints(&self, index: usize) -> bool {
        !self.state.overrides().of(index).is_empty()
            || !self.watch.is_empty() && self.watch.watches_own(index)
    }

    /// A detail; the pool's rig for 0.
    #[inline]
    pub fn detail_rig(&self, number: u8) -> &Arc<Rig> {
        self.details.get(number).map_or(&self.rig, |d| &d.rig)
    }

    /// The tables of a detail's rig.
    #[inline]
    pub(super) fn program_of(&self, number: u8) -> &RigProgram {
        let (rig, programs) = match self.details.get(number) {
            None => (&self.rig, &self.programs),
            Some(detail) => (&detail.rig, &detail.programs),
        };
        programs.rig().get(rig, self.programs.width())
    }

    /// What instances are evaluated from by a detail.
    #[inline(always)]
    pub fn sources_of(&self, number: u8) -> Sources<'_> {
        let sources = self.sources();
        match self.details.get(number) {
            None => sources,
            Some(detail) => Sources {
                rig: &detail.rig,
                program: detail
                    .programs
                    .rig()
                    .get(&detail.rig, self.programs.width()),
                clips: detail.programs.clips(),
                ..sources
            },
        }
    }
}
