//! Details of a pool's rig, with which the tiers of a crowd evaluate their instances.

use super::programs::PoolPrograms;
use super::{LayerOptions, Pool};
use crate::clip::Clip;
use crate::evaluate::Sources;
use crate::playback::arena::Arena;
use crate::rig::{DetailOptions, Rig};
use crate::simd::SimdLevel;
use crate::skeleton::{JointRef, Skeleton};
use std::sync::Arc;

/// The detail that a tier requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DetailRequest<'a> {
    /// Level of detail; a level that the rig lacks counts as its last.
    pub level: usize,
    /// Names or paths of joints to leave out; those that the rig lacks are ignored.
    pub leave_out: &'a [String],
}

/// The details of a pool. A detail's number is its index in `all` plus 1; 0 is the full rig.
#[derive(Debug, Default)]
pub(crate) struct PoolDetails {
    /// Number of the detail of each tier.
    of_tier: Vec<u8>,
    all: Vec<PoolDetail>,
}

/// A detail, with the programs of its clips.
#[derive(Debug)]
struct PoolDetail {
    level: usize,
    /// Joints that the tier lists to leave out, ascending.
    listed: Vec<u16>,
    /// Joints that are left out and kept in fact, since some are watched.
    joints: KeptJoints,
    /// The detail of the level with all joints that its slots need, from which `rig` is made.
    whole: Arc<Rig>,
    rig: Arc<Rig>,
    programs: PoolPrograms,
}

/// Differences from the joints that the slots of a detail need, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct KeptJoints {
    left_out: Vec<u16>,
    /// Watched joints that no slot needs.
    keep: Vec<u16>,
}

impl PoolDetail {
    /// Makes a detail; `None` if the rig refuses, or if it would leave nothing out.
    fn new(rig: &Rig, level: usize, listed: &[u16]) -> Option<Self> {
        let joints = KeptJoints { left_out: listed.to_vec(), keep: Vec::new() };
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

    /// The joints to leave out and to keep if these joints, ascending, are watched: a watched joint and all joints
    /// above it are not left out. `None` if that changes nothing.
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
            keep: watched.filter(|&j| !self.whole.is_evaluated(j.into())).collect(),
        };
        (joints != self.joints).then_some(joints)
    }

    /// Makes the detail evaluate watched joints, ascending, and those above them. Returns whether the detail has
    /// changed.
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
    // A detail of a level without meshes has only level 0.
    let level = level.min(rig.lod_count() - 1);
    let refs = |joints: &[u16]| -> Vec<JointRef<'_>> {
        let indices = joints.iter().map(|&joint| usize::from(joint));
        indices.map(JointRef::from).collect()
    };
    let (keep, leave_out) = (refs(&joints.keep), refs(&joints.left_out));
    let options = DetailOptions { level, keep: &keep, leave_out: &leave_out };
    rig.detail(&options).ok()
}

/// The joints that names or paths match, ascending.
fn joints(skeleton: &Skeleton, names: &[String]) -> Vec<u16> {
    let found = names.iter().filter_map(|name| skeleton.joint(name.as_str()).ok());
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

    /// Fits the programs to a level and to the clips that the pool has programs of.
    pub(super) fn fit(
        &mut self,
        level: SimdLevel,
        own: &PoolPrograms,
        clips: &Arena<Arc<Clip>>,
        layers: &[LayerOptions],
    ) {
        for detail in &mut self.all {
            detail.programs.fit(level.width(), &detail.rig, clips, layers);
        }
        self.follow(own, clips);
    }

    /// Makes the programs of the clips that the pool has programs of, where they are missing.
    pub(super) fn follow(&mut self, own: &PoolPrograms, clips: &Arena<Arc<Clip>>) {
        for detail in &mut self.all {
            detail.programs.follow(own, &detail.rig, clips);
        }
    }
}

impl Pool {
    /// Makes the details that tiers request, one per tier; `None` requests the full rig. Existing details are kept.
    pub fn set_details<'a>(&mut self, asked: impl Iterator<Item = Option<DetailRequest<'a>>>) {
        let mut old = std::mem::take(&mut self.details.all);
        let mut made = PoolDetails::default();
        // Level, listed joints, and the number of their detail; 0 if the rig refuses.
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
            // There are fewer tiers than a `u8` has numbers.
            let number = if found { made.all.len() as u8 } else { 0 };
            made.of_tier.push(number);
            known.push((level, listed, number));
        }
        self.details = made;
        self.watch_details();
        self.fit_details();
    }

    /// Lets all tiers use the full rig.
    pub fn clear_details(&mut self) {
        self.details = PoolDetails::default();
    }

    /// Makes every detail evaluate the joints that all instances watch and those above them, even if it would leave
    /// them out. Returns whether a detail has changed; the number of rows of its palettes stays.
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
        let Self { details, programs, clips, layers, .. } = self;
        details.fit(level, programs, clips, layers);
    }

    /// The number of the detail with which an instance is evaluated in a tier; 0, the full rig, if it has overrides or
    /// watches joints that not all instances watch.
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

    /// Whether an instance has overrides, or watches joints that not all instances watch.
    #[inline]
    pub fn needs_all_joints(&self, index: usize) -> bool {
        !self.state.overrides().of(index).is_empty()
            || !self.watch.is_empty() && self.watch.watches_own(index)
    }

    /// The rig of a detail; the pool's rig for 0.
    #[inline]
    pub fn detail_rig(&self, number: u8) -> &Arc<Rig> {
        self.details.get(number).map_or(&self.rig, |d| &d.rig)
    }

    /// The inputs of an evaluation with a detail.
    #[inline(always)]
    pub fn sources_of(&self, number: u8) -> Sources<'_> {
        let sources = self.sources();
        match self.details.get(number) {
            None => sources,
            Some(detail) => Sources {
                rig: &detail.rig,
                program: detail.programs.rig().get(&detail.rig, self.programs.width()),
                clips: detail.programs.clips(),
                ..sources
            },
        }
    }
}
