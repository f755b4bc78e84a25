//! The lists of names in the report of a retargeting.

use super::body::twin;
use super::hips::Hips;
use super::humanoid::HumanBone;
use super::link::Link;
use super::motion::{Motion, Property, path};
use super::setup::Setup;

impl Setup {
    pub(super) fn names(&self, joints: &[usize]) -> Vec<String> {
        let names = self.source.skeleton.names();
        joints.iter().map(|&j| names[j].clone()).collect()
    }

    pub(super) fn bones(&self) -> Vec<(HumanBone, String, String)> {
        let (from, to) = (self.source.skeleton.names(), self.target.skeleton.names());
        let bone = |l: &Link| Some((l.bone?, from[l.source].clone(), to[l.target].clone()));
        let mut bones: Vec<_> = self.links.iter().filter_map(bone).collect();
        bones.sort_by_key(|b| b.0);
        bones
    }

    pub(super) fn by_name(&self) -> Vec<String> {
        let named = self.links.iter().filter(|l| l.bone.is_none());
        let names = self.target.skeleton.names();
        named.map(|l| names[l.target].clone()).collect()
    }

    pub(super) fn passed_on(&self) -> Vec<HumanBone> {
        let there = |b: HumanBone| self.target.map.joint(twin(b, &self.space)).is_some();
        // Without a bone below, nothing takes over the rotation.
        let taken = |joint: &usize| self.links.iter().any(|l| l.down.contains(joint));
        let bones = self.source.map.bones();
        let passed = bones.filter(|(b, joint)| !there(*b) && taken(joint));
        passed.map(|b| b.0).collect()
    }

    pub(super) fn kept(&self) -> Vec<HumanBone> {
        let there = |b: HumanBone| self.source.map.joint(twin(b, &self.space)).is_some();
        let bones = self.target.map.bones().map(|b| b.0);
        bones.filter(|b| !there(*b)).collect()
    }

    /// Joints of the source whose translation, and joints whose rotation, reaches no joint of the target.
    pub(super) fn unused(
        &self,
        motion: &Motion<'_>,
        hips: &Hips<'_>,
        shifted: &[usize],
    ) -> (Vec<String>, Vec<String>) {
        let skeleton = &self.source.skeleton;
        let mut turns = vec![false; skeleton.len()];
        let mut moves = vec![false; skeleton.len()];
        for joint in self.links.iter().flat_map(|l| l.up.iter().chain(&l.down)) {
            turns[*joint] = true;
        }
        shifted.iter().for_each(|&joint| moves[joint] = true);
        for joint in path(skeleton, hips.joint()) {
            turns[joint] = true;
            moves[joint] = true;
        }
        let names = |used: &[bool], property: Property| {
            let unused = (0..used.len()).filter(|&j| !used[j]);
            let moving = unused.filter(|&j| motion.curve(j, property).is_some());
            moving.map(|j| skeleton.names()[j].clone()).collect()
        };
        (names(&moves, Property::Translation), names(&turns, Property::Rotation))
    }
}
