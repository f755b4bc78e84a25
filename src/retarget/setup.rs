//! `Setup`: two bodies in their reference poses, and the links between their bones.

use super::body::{Aligned, Body};
use super::error::RetargetError;
use super::feet::missing;
use super::hips::Hips;
use super::humanoid::HumanoidMap;
use super::link::Link;
use super::options::RetargetOptions;
use super::reference::Reference;
use super::sole::{Tilts, tilts};
use super::space::Space;
use crate::skeleton::Skeleton;
use std::sync::Arc;

/// The constants of a transfer.
pub(super) struct Setup {
    pub source: Body,
    pub target: Body,
    pub space: Space,
    pub links: Vec<Link>,
    pub aligned: Aligned,
    /// Whether the source's soles are tilted in its reference pose.
    pub tilted: bool,
    /// Whether both are one body in one reference pose.
    pub one_body: bool,
    /// For each joint of the source the joint of the target, if both are one body whose clips need no transfer.
    pub same: Option<Vec<u16>>,
}

/// A skeleton and its map.
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
        if options.feet.is_some()
            && let [(side, bone), _] = missing(&source, &target, &space)[..]
        {
            return Err(RetargetError::Legs { side, bone });
        }
        let tilts = tilts(&source).filter(|_| same.is_none());
        let tilted = tilts.map(|tilts| {
            let (mut source, mut target) = (source.clone(), target.clone());
            source.tilt(tilts);
            if one_body {
                target.tilt(tilts);
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
        let aligned = target.align(&source, space, options.alignment);
        Hips::new(&source, &target, space, one_body)?;
        let links = Link::all(&source, &target, space);
        if same.is_none() {
            source.check_signs(links.iter().map(|l| l.source), "source")?;
            target.check_signs(links.iter().map(|l| l.target), "target")?;
        }
        Ok(Self { source, target, space: *space, links, aligned, tilted: false, one_body, same })
    }
}
