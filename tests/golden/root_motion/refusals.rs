//! What is no root motion, and what counts in a clip's hash.

use super::made::{ARC, Arc, build, with_turns};
use glam::Vec3;
use libtest_mimic::Failed;
use phalanx::build::{BuildError, BuildOptions, RootMotionOptions, build_rig};
use phalanx::clip::{ClipKind, ClipParts, RootMotionParts};
use phalanx::import::raw::{RawNode, RawScene};
use phalanx::skeleton::{LookupError, Trs};

/// The fault of the joint that was asked for.
fn joint_of(fault: &BuildError) -> Option<&LookupError> {
    match fault {
        BuildError::In { place, source } if place == "root motion" => match &**source {
            BuildError::Joint(joint) => Some(joint),
            _ => None,
        },
        _ => None,
    }
}

fn is_animated(fault: &BuildError) -> bool {
    matches!(fault, BuildError::RootMotion(words) if words.contains("is animated too"))
}

pub fn refusals() -> Result<(), Failed> {
    let named = |joint: &str| RootMotionOptions { joint: Some(joint.into()), ..with_turns() };
    let fault = |raw: RawScene, wanted| match build(raw, wanted) {
        Err(fault) => Ok(fault),
        Ok(_) => Err(Failed::from("was built")),
    };
    let armature = || ARC.scene(Some(Trs::IDENTITY));
    for wanted in [named("nobody"), named("2")] {
        let fault = fault(armature(), wanted)?;
        assert!(
            matches!(
                joint_of(&fault),
                Some(LookupError::NoJoint { .. } | LookupError::JointIndex { .. })
            ),
            "{fault}"
        );
    }
    let mut doubled = armature();
    doubled.nodes.push(RawNode { parent: Some(1), ..doubled.nodes[1].clone() });
    let mut track = doubled.clips[0].tracks[1].clone();
    track.node = 2;
    doubled.clips[0].tracks.push(track);
    let ambiguous = fault(doubled.clone(), named("walker"))?;
    assert!(
        matches!(joint_of(&ambiguous), Some(LookupError::SeveralJoints { count: 2, .. })),
        "{ambiguous}"
    );
    // The end of a path is one, too: that of the joint below, whose parent is animated.
    let below = fault(doubled.clone(), named("walker/walker"))?;
    assert!(is_animated(&below), "{below}");
    for joint in [named("armature/walker"), named("1")] {
        assert!(build(doubled.clone(), joint)?.clips()[0].root_motion().is_some());
    }
    let mut moving = armature();
    let mut track = moving.clips[0].tracks[0].clone();
    track.node = 0;
    moving.clips[0].tracks.push(track);
    let above = fault(moving.clone(), named("walker"))?;
    assert!(is_animated(&above), "{above}");
    // Left to itself it takes the joint that stands first.
    let rig = build(moving, with_turns())?;
    assert_eq!(rig.clips()[0].root_motion().map(|motion| motion.parts().joint), Some(0));
    for scale in [Vec3::new(1.0, 2.0, 1.0), Vec3::ZERO] {
        let above = Trs { scale, ..Trs::IDENTITY };
        let mut raw = armature();
        raw.nodes[0].local = above;
        let scale = fault(raw, named("walker"))?;
        assert!(
            matches!(&scale, BuildError::RootMotion(words) if words.contains("non-uniform or zero scale")),
            "{scale}"
        );
    }

    // Parts that are no root motion.
    let rig = build(ARC.scene(None), with_turns())?;
    let good = RootMotionParts {
        joint: 0,
        times: vec![0.0, 1.0],
        translations: vec![[0.0; 3], [0.0, 0.0, 1.0]],
        rotations: Vec::new(),
    };
    let make = |kind, parts: RootMotionParts| {
        let parts =
            ClipParts { duration: 1.0, kind, root_motion: Some(parts), ..ClipParts::default() };
        phalanx::clip::Clip::new(parts, rig.skeleton())
    };
    assert!(make(ClipKind::Full, good.clone()).is_ok());
    let bad: [fn(&mut RootMotionParts); 8] = [
        |p| p.joint = 1,
        |p| p.times.clear(),
        |p| p.times[1] = 0.0,
        |p| p.times[1] = f32::NAN,
        |p| p.translations[1][2] = f32::INFINITY,
        |p| p.translations.truncate(1),
        |p| p.rotations.push([0.0, 0.0, 0.0, 1.0]),
        |p| p.rotations = vec![[0.0; 4]; 2],
    ];
    for (i, spoil) in bad.iter().enumerate() {
        let mut parts = good.clone();
        spoil(&mut parts);
        let refused = make(ClipKind::Full, parts).unwrap_err().to_string();
        assert!(refused.contains("root motion: "), "{i}: {refused}");
    }
    let refused = make(ClipKind::Additive, good).unwrap_err().to_string();
    assert!(refused.contains("an additive clip cannot have root motion"), "{refused}");
    Ok(())
}

pub fn hashes() -> Result<(), Failed> {
    let hash = |angle: f64| -> Result<(u64, u64, usize), Failed> {
        let arc = Arc { angle, ..ARC };
        let rig = build(arc.scene(None), with_turns())?;
        let plain = build_rig(arc.scene(None), &BuildOptions::default())?;
        let (with, without) = (&rig.clips()[0], &plain.clips()[0]);
        assert_eq!(with.skeleton().structure_hash(), without.skeleton().structure_hash());
        Ok((with.content_hash(), without.content_hash(), with.bytes()))
    };
    let (with, without, bytes) = hash(0.7)?;
    assert_ne!(with, without);
    assert_ne!(with, hash(0.7000001)?.0);
    assert_eq!(with, hash(0.7)?.0);
    assert!(bytes >= Arc::KEYS * 8 * size_of::<f32>());
    Ok(())
}
