//! `Setup`: two bodies in their reference poses, and the links between their bones.

use super::body::{Body, Tilts, twin};
use super::error::RetargetError;
use super::feet::missing;
use super::hips::Hips;
use super::humanoid::{HumanBone, HumanoidMap};
use super::link::Link;
use super::looks::tilts;
use super::motion::Motion;
use super::options::RetargetOptions;
use super::pose::path;
use super::reference::Reference;
use super::report::RetargetReport;
use super::space::Space;
use crate::clip::Channel;
use crate::skeleton::Skeleton;
use std::sync::Arc;

pub(super) struct Setup {
    pub source: Body,
    pub target: Body,
    pub space: Space,
    pub links: Vec<Link>,
    /// Bones of the target that were turned into the directions of the source's, and those too far from it, with the angles
    /// in radians.
    aligned: [Vec<(HumanBone, f64)>; 2],
    /// Whether the sides of source and target are swapped.
    swapped: [bool; 2],
    /// Whether the source's soles are tilted in its reference pose.
    pub tilted: bool,
    /// Whether both are one body in one reference pose.
    pub one_body: bool,
    /// For each joint of the source the joint of the target, if both are one body whose clips need no transfer.
    pub same: Option<Vec<u16>>,
}

type Side<'a> = (&'a Arc<Skeleton>, &'a HumanoidMap);

impl Setup {
    /// The setups to choose from for a clip: with the source's soles level in its reference pose, and with soles that are
    /// turned along with its legs, if those are spread.
    pub fn all(
        (source, target): (Side<'_>, Side<'_>),
        options: &RetargetOptions,
    ) -> Result<(Self, Option<(Self, Tilts)>), RetargetError> {
        let references = [&options.source_reference, &options.target_reference];
        let source = Body::new(source.0, source.1, references[0], "source")?;
        let target = Body::new(target.0, target.1, references[1], "target")?;
        // The poses are compared before alignment, which would turn bones that differ by rounding.
        let same = source.same(&target);
        let one_body = same.is_some();
        let keeps = !options.mirror && options.keep_scales;
        let same = same.filter(|_| keeps);
        if same.is_none() {
            for (body, reference, side) in
                [(&source, references[0], "source"), (&target, references[1], "target")]
            {
                if *reference == Reference::Rest {
                    body.check_stance(side)?;
                }
            }
        }
        let space = Space { from: source.facing, to: target.facing, mirror: options.mirror };
        if options.plant_feet
            && let [(side, bone), _] = missing(&source, &target, &space)[..]
        {
            return Err(RetargetError::Legs { side, bone });
        }
        let tilts = tilts(&source).filter(|_| same.is_none());
        let tilted = tilts.map(|tilts| {
            let (mut source, mut target) = (source.clone(), target.clone());
            source.tilts = tilts;
            if one_body {
                target.tilts = tilts;
            }
            let made = Self::new((source, target), (&space, one_body), None, options);
            made.map(|made| (Self { tilted: true, ..made }, tilts))
        });
        let level = Self::new((source, target), (&space, one_body), same, options)?;
        Ok((level, tilted.transpose()?))
    }

    fn new(
        (mut source, mut target): (Body, Body),
        (space, one_body): (&Space, bool),
        same: Option<Vec<u16>>,
        options: &RetargetOptions,
    ) -> Result<Self, RetargetError> {
        Body::measure(&mut source, &mut target, options.alignment);
        // Aligned legs no longer show how they were bent.
        let swapped = [&source, &target].map(Body::is_swapped);
        let aligned = target.align(&source, space, options.alignment);
        Hips::new(&source, &target, space, one_body)?;
        let links = Link::all(&source, &target, space);
        if same.is_none() {
            source.check_signs(links.iter().map(|l| l.source), "source")?;
            target.check_signs(links.iter().map(|l| l.target), "target")?;
        }
        let space = *space;
        let tilted = false;
        Ok(Self { source, target, space, links, aligned, swapped, tilted, one_body, same })
    }

    /// A report of the bones and the reference poses.
    pub fn report(&self) -> RetargetReport {
        let (from, to) = (self.source.skeleton.names(), self.target.skeleton.names());
        let bone = |l: &Link| Some((l.bone?, from[l.source].clone(), to[l.target].clone()));
        let mut bones: Vec<_> = self.links.iter().filter_map(bone).collect();
        bones.sort_by_key(|b| b.0);
        let by_name = self.links.iter().filter(|l| l.bone.is_none());
        let lacks = |body: &Body, b: HumanBone| body.map.joint(twin(b, &self.space)).is_none();
        // Without a bone below, nothing takes over the rotation.
        let taken = |joint: usize| self.links.iter().any(|l| l.applies(joint));
        let source = self.source.map.bones();
        let passed_on = source.filter(|b| lacks(&self.target, b.0) && taken(b.1));
        let kept = self.target.map.bones().filter(|b| lacks(&self.source, b.0));
        let carried = self.target.loose.iter().filter_map(|l| self.target.map.bone(l.joint));
        let [aligned, not_aligned] = self.aligned.clone();
        let bodies = [&self.source, &self.target];
        RetargetReport {
            maps: bodies.map(|body| body.map.origin()),
            bones,
            by_name: by_name.map(|l| to[l.target].clone()).collect(),
            passed_on: passed_on.map(|b| b.0).collect(),
            kept: kept.map(|b| b.0).collect(),
            carried: carried.collect(),
            aligned,
            not_aligned,
            tilted: self.tilted,
            swapped: self.swapped,
            lying: bodies.map(Body::is_lying),
            ..RetargetReport::default()
        }
    }

    pub fn names(&self, joints: impl Iterator<Item = usize>) -> Vec<String> {
        joints.map(|j| self.source.skeleton.names()[j].clone()).collect()
    }

    /// Names of the source's joints whose translation, and of those whose rotation, reaches no joint of the target. `kept`
    /// holds joints whose translation is kept.
    pub fn unused(&self, motion: &Motion<'_>, hips: usize, kept: &[usize]) -> [Vec<String>; 2] {
        let above = path(&self.source.skeleton, hips);
        let steps = self.links.iter().flat_map(|l| &l.steps).map(|s| usize::from(s.joint));
        let turns: Vec<usize> = steps.chain(above.iter().copied()).collect();
        let moves = [&above, kept].concat();
        [(Channel::Translation, moves), (Channel::Rotation, turns)].map(|(channel, used)| {
            let mut unused = vec![true; self.source.skeleton.len()];
            used.into_iter().for_each(|joint| unused[joint] = false);
            let unused = (0..unused.len()).filter(|&j| unused[j]);
            self.names(unused.filter(|&j| motion.curve(j, channel).is_some()))
        })
    }
}
