//! The error of baked clips, against points that the oracle carries.

use super::made;
use super::support::{Rigs, clip_of, rig_of};
use libtest_mimic::Failed;
use phalanx::bake::{BakeOptions, ErrorReport, bake, measure_error};
use phalanx::clip::{BlockKind, Channel, Clip, Encoding};
use phalanx::skeleton::Skeleton;
use phalanx_testkit::baked::{apart, lane, times};

/// Where the oracle looks between keys, besides where the library measures.
const BETWEEN: [f64; 8] = [0.11, 0.21, 0.36, 0.5, 0.64, 0.83, 0.89, JUST_BEFORE];
/// Of the way to a key whose steps are not taken yet.
const JUST_BEFORE: f64 = 0.999_99;

/// How near the oracle is to what is measured, as a share of the bound. It takes 16-bit keys along the arc between them;
/// frames leave it by up to 1.4e-6 radians between keys 30 degrees apart, and by 3.9e-5 at 60.
const NEAR: f64 = 0.04;

/// The largest of the oracle's errors where the library measures (at keys, and once before or behind the
/// middle in turns, at the quarters of splines, before steps), and at all of its times.
fn oracle_errors(raw: &Clip, built: &Clip, skeleton: &Skeleton, shell: f64) -> [f64; 2] {
    let worst = |parts: &[&[f64]]| {
        let all = times(raw, parts).into_iter();
        all.flat_map(|t| apart(raw, built, skeleton, shell, t)).fold(0.0, f64::max)
    };
    let blocks = Channel::ALL.iter().flat_map(|&c| raw.blocks(c));
    let measured = match blocks.into_iter().any(|b| b.kind == BlockKind::Cubic) {
        true => worst(&[&[0.25, 0.5, 0.75]]),
        false => worst(&[&[0.21], &[0.79]]),
    };
    let mut blocks = Channel::ALL.iter().flat_map(|&c| raw.blocks(c));
    let measured = match blocks.any(|b| b.hold != 0) {
        true => worst(&[&[JUST_BEFORE]]).max(measured),
        false => measured,
    };
    [measured, worst(&[&BETWEEN]).max(measured)]
}

/// What a report says of a clip, against the oracle.
fn check(
    raw: &Clip,
    built: &Clip,
    report: &ErrorReport,
    skeleton: &Skeleton,
    settings: &BakeOptions,
) -> Result<(), Failed> {
    let (shell, bound) = (f64::from(settings.shell), f64::from(settings.max_error));
    let [measured, all] = oracle_errors(raw, built, skeleton, shell);
    let name = raw.name();
    if !(report.max <= settings.max_error && all <= f64::from(report.max)) {
        return Err(format!("{name}: {} reported, {all} found, bound {bound}", report.max).into());
    }
    // It looks closer around the largest errors, so it may find more than there.
    let found = f64::from(report.measured);
    if found < measured - NEAR * bound || found > all + NEAR * bound {
        return Err(format!("{name}: {} reported, {measured} found", report.measured).into());
    }
    let at = apart(raw, built, skeleton, shell, report.worst_time.into())
        [usize::from(report.worst_joint)];
    if (at - f64::from(report.measured)).abs() > NEAR * bound {
        return Err(
            format!("{name}: {} at the worst place, {at} found there", report.measured).into()
        );
    }
    if !(report.mean <= report.p99 && report.p99 <= report.measured) {
        return Err(format!("{name}: mean {} p99 {}", report.mean, report.p99).into());
    }
    let frames = raw.timelines().map(<[f32]>::len).max().unwrap_or(1);
    assert_eq!(report.raw_bytes, 40 * skeleton.len() * frames, "{name}");
    assert_eq!(report.bytes, built.bytes(), "{name}");
    Ok(())
}

/// Every clip of a model.
pub fn model(file: &str, settings: &BakeOptions) -> Result<(), Failed> {
    let rigs: Rigs = rig_of(file)?;
    for rig in &rigs {
        for raw in rig.clips() {
            let (built, report) = bake(raw, rig.skeleton(), settings)?;
            check(raw, &built, &report, rig.skeleton(), settings)?;
            assert_eq!(measure_error(raw, &built, rig.skeleton(), settings)?.max, report.max);
            if built.bytes() > raw.bytes() {
                return Err(
                    format!("{}: {} of {} bytes", raw.name(), built.bytes(), raw.bytes()).into()
                );
            }
        }
    }
    Ok(())
}

/// Steps, splines, scales, sparse keys and noise; full and additive.
pub fn every_kind() -> Result<(), Failed> {
    let rig = made::rig();
    let (skeleton, raw) = (rig.skeleton(), &rig.clips()[0]);
    let additive = made::additive(&rig);
    for clip in [&**raw, &additive] {
        for max_error in [1e-2, 1e-3, 1e-4, 2e-5] {
            let settings = BakeOptions { max_error, ..BakeOptions::default() };
            let (built, report) = bake(clip, skeleton, &settings)?;
            check(clip, &built, &report, skeleton, &settings)?;
            assert_eq!(built.kind(), clip.kind());
            // Finer than any keys of 16 bits down such a chain, clips stay as they are.
            assert!(max_error < 1e-4 || built != *clip, "keys at {max_error}");
        }
    }
    // A held scale and a held turn are not interpolated, just before a key as after the one before, but for the steps by
    // which a turn makes up for the errors of joints above.
    let (built, _) = bake(raw, skeleton, &BakeOptions::default())?;
    for (joint, channel) in [(3, Channel::Rotation), (8, Channel::Scale)] {
        let at = usize::from(skeleton.lane_of()[joint]);
        let (early, late) = (lane(&built, channel, at, 0.32), lane(&built, channel, at, 0.799));
        let after = lane(&built, channel, at, 0.801);
        let [early, late, after] = [early, late, after].map(Option::unwrap_or_default);
        let far =
            |a: [f64; 4], b: [f64; 4]| (0..4).map(|c| (a[c] - b[c]).abs()).fold(0.0, f64::max);
        assert!(far(early, late) < 1e-4, "joint {joint}: {early:?} {late:?}");
        assert!(far(late, after) > 1e-3, "joint {joint}: {late:?} {after:?}");
    }
    // Noise of a tenth of what may be off is no motion.
    let settings = BakeOptions { max_error: 1e-3, ..BakeOptions::default() };
    let (built, _) = bake(raw, skeleton, &settings)?;
    let at = usize::from(skeleton.lane_of()[6]);
    let moves = |clip: &Clip| {
        let b = clip.blocks(Channel::Rotation).iter().find(|b| usize::from(b.block) == at / 16);
        b.is_some_and(|b| b.moving >> (at % 16) & 1 == 1)
    };
    assert!(moves(raw) && !moves(&built), "noise is taken out");
    Ok(())
}

/// Where 16 bits are too coarse for a track, its block stays f32 and the others do not.
pub fn finer_than_16_bits() -> Result<(), Failed> {
    let rig = rig_of("pab.glb")?.swap_remove(0);
    let raw = rig.clips().iter().find(|c| c.name() == "atlas");
    let raw = raw.ok_or("pab.glb has no atlas")?;
    for (max_error, floats) in [(1e-4, false), (2e-5, true)] {
        let settings = BakeOptions { max_error, ..BakeOptions::default() };
        let (built, report) = bake(raw, rig.skeleton(), &settings)?;
        check(raw, &built, &report, rig.skeleton(), &settings)?;
        let moving = |packed: bool| {
            let blocks = Channel::ALL.into_iter().flat_map(|c| built.blocks(c));
            let of = |e: &Encoding| matches!(e, Encoding::Packed { .. }) == packed;
            blocks.filter(|b| b.moving != 0 && of(&b.encoding)).count()
        };
        assert!(moving(true) > 0, "16 bits at {max_error}");
        assert_eq!(moving(false) > 0, floats, "f32 at {max_error}");
    }
    Ok(())
}

/// A finer error, and a wider shell, for one joint.
pub fn joint_quality() -> Result<(), Failed> {
    let (rig, raw) = clip_of("pab.glb", "jog")?;
    let skeleton = rig.skeleton();
    let hand = skeleton.joint("RightHand").or(skeleton.joint("Righthand"))?;
    let error_of = |built: &Clip, shell: f64| {
        let all = times(&raw, &[&[0.21], &[0.79]]).into_iter();
        all.map(|t| apart(&raw, built, skeleton, shell, t)[hand]).fold(0.0, f64::max)
    };
    let plain = bake(&raw, skeleton, &BakeOptions::default())?.0;
    let mut settings =
        BakeOptions { joint_errors: vec![(hand as u16, 1e-5)], ..BakeOptions::default() };
    let (fine, report) = bake(&raw, skeleton, &settings)?;
    assert!(error_of(&plain, 0.03) > 1.2e-5, "the hand is not finer by itself");
    assert!(error_of(&fine, 0.03) <= 1.02e-5, "{}", error_of(&fine, 0.03));
    assert!(report.max <= settings.max_error);
    settings.joint_errors.clear();
    settings.joint_shells.push((hand as u16, 1.0));
    let (wide, _) = bake(&raw, skeleton, &settings)?;
    assert!(error_of(&plain, 1.0) > 1.2e-4, "a metre away it is off by more");
    assert!(error_of(&wide, 1.0) <= 1.02e-4, "{}", error_of(&wide, 1.0));
    // One joint at an error takes no more bytes than all of them at it.
    settings.joint_errors.push((hand as u16, 3e-5));
    settings.joint_shells.clear();
    let (one, _) = bake(&raw, skeleton, &settings)?;
    let everywhere = BakeOptions { max_error: 3e-5, ..BakeOptions::default() };
    let (all, _) = bake(&raw, skeleton, &everywhere)?;
    assert!(error_of(&one, 0.03) <= 3.06e-5);
    assert!(
        one.bytes() <= all.bytes() && all.bytes() < raw.bytes(),
        "{} and {} bytes of {}",
        one.bytes(),
        all.bytes(),
        raw.bytes()
    );
    coarse_below(hand, &raw, skeleton)
}

/// What is reported is a distance, however coarse the joint may be where it is found.
fn coarse_below(hand: usize, raw: &Clip, skeleton: &Skeleton) -> Result<(), Failed> {
    let mut coarse = vec![false; skeleton.len()];
    for (joint, &parent) in skeleton.parents().iter().enumerate() {
        coarse[joint] = joint == hand || coarse.get(usize::from(parent)).is_some_and(|&c| c);
    }
    let below = (0..coarse.len()).filter(|&j| coarse[j]);
    let settings = BakeOptions {
        joint_errors: below.map(|joint| (joint as u16, 5e-3)).collect(),
        ..BakeOptions::default()
    };
    let (built, report) = bake(raw, skeleton, &settings)?;
    let mut found = vec![0.0f64; coarse.len()];
    for t in times(raw, &[&[0.5]]) {
        let now = apart(raw, &built, skeleton, 0.03, t);
        for (most, error) in found.iter_mut().zip(now) {
            *most = most.max(error);
        }
    }
    let worst = found.iter().copied().fold(0.0, f64::max);
    assert!((1e-3..=5.1e-3).contains(&worst), "{worst} of 5 mm");
    assert!((f64::from(report.measured) - worst).abs() < 0.02 * worst);
    assert!(coarse[usize::from(report.worst_joint)]);
    for (joint, error) in found.iter().enumerate() {
        assert!(coarse[joint] || *error <= 1.02e-4, "joint {joint}: {error}");
    }
    Ok(())
}
