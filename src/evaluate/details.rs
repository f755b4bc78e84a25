//! Details of a pool's rig, with which the tiers of a crowd evaluate their instances.

use super::rig_tables::ClipPrograms;
use crate::rig::{DetailOptions, Rig};
use crate::skeleton::{JointRef, Skeleton};
use std::sync::Arc;

/// The [detail](crate::rig::Rig::detail) of a rig by which a tier evaluates instances.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TierDetail {
    /// The level of detail that instances are drawn in; 0, the default, is the finest. A level that a rig lacks counts as
    /// its last. The palette has the slots that vertices of the level use.
    pub level: usize,
    /// Names or paths of joints that are at rest below their parents though meshes of the level use them, such as those
    /// of fingers and faces. The joints below them are not left out. What matches no joint of a rig, or several, is
    /// ignored. Default: none.
    pub leave_out: Vec<String>,
}

/// The details of a pool. A detail's number is its index in `all` plus 1; 0 is the full rig.
#[derive(Debug, Default)]
pub(crate) struct Details {
    /// Number of the detail of each tier.
    of_tier: Vec<u8>,
    all: Vec<Detail>,
}

/// A detail, with the programs of its clips.
#[derive(Debug)]
struct Detail {
    level: usize,
    /// Joints that the tier lists to leave out, ascending.
    listed: Vec<u16>,
    /// Joints that are left out and kept in fact, since some are watched.
    joints: KeptJoints,
    /// The detail of the level with all joints that its slots need, from which the rig of `programs` is made.
    whole: Arc<Rig>,
    programs: ClipPrograms,
}

/// Differences from the joints that the slots of a detail need, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct KeptJoints {
    left_out: Vec<u16>,
    /// Watched joints that no slot needs.
    keep: Vec<u16>,
}

impl Detail {
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
            programs: ClipPrograms::new(of),
        })
    }

    /// The joints to leave out and to keep if these joints, ascending, are watched: a watched joint and all joints
    /// above it are not left out. `None` if that changes nothing.
    fn with_watched(&self, watched: &[u16]) -> Option<KeptJoints> {
        let parents = self.whole.skeleton().parents();
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
            self.joints = joints;
            self.programs = ClipPrograms::new(rig);
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

impl Details {
    /// The programs of a detail; `None` for 0, the full rig.
    #[inline(always)]
    pub(super) fn get(&self, number: u8) -> Option<&ClipPrograms> {
        self.all.get(usize::from(number.checked_sub(1)?)).map(|d| &d.programs)
    }

    pub fn rigs(&self) -> impl ExactSizeIterator<Item = &Arc<Rig>> {
        self.all.iter().map(|d| d.programs.rig())
    }

    pub(super) fn programs(&mut self) -> impl Iterator<Item = &mut ClipPrograms> {
        self.all.iter_mut().map(|d| &mut d.programs)
    }

    /// The number of a tier's detail.
    #[inline]
    pub fn of_tier(&self, tier: u8) -> u8 {
        self.of_tier.get(usize::from(tier)).copied().unwrap_or(0)
    }

    /// Makes the details that tiers request, one per tier; `None` requests the full rig. Existing details are kept.
    pub fn set<'a>(
        &mut self,
        rig: &Arc<Rig>,
        requested: impl Iterator<Item = Option<&'a TierDetail>>,
    ) {
        let mut old = std::mem::take(&mut self.all);
        self.of_tier.clear();
        // Level, listed joints, and the number of their detail; 0 if the rig refuses.
        let mut known: Vec<(usize, Vec<u16>, u8)> = Vec::new();
        for requested in requested {
            let Some(&TierDetail { level, ref leave_out }) = requested else {
                self.of_tier.push(0);
                continue;
            };
            let level = level.min(rig.lod_count() - 1);
            let listed = joints(rig.skeleton(), leave_out);
            if let Some(k) = known.iter().find(|k| k.0 == level && k.1 == listed) {
                self.of_tier.push(k.2);
                continue;
            }
            let same = |d: &Detail| d.level == level && d.listed == listed;
            let detail = match old.iter().position(same) {
                Some(at) => Some(old.swap_remove(at)),
                None => Detail::new(rig, level, &listed),
            };
            let found = detail.is_some();
            self.all.extend(detail);
            // There are fewer tiers than a `u8` has numbers.
            let number = if found { self.all.len() as u8 } else { 0 };
            self.of_tier.push(number);
            known.push((level, listed, number));
        }
    }

    /// Makes every detail evaluate watched joints, ascending, and those above them. Returns whether a detail has
    /// changed: it has no programs yet.
    pub fn watch(&mut self, watched: &[u16]) -> bool {
        let watch = |changed, detail: &mut Detail| detail.watch(watched) | changed;
        self.all.iter_mut().fold(false, watch)
    }
}
