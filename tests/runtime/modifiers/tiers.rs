//! Modifiers of instances in tiers: with details, held, interpolated.

use super::{Body, Cast};
use crate::tiers::{DT, lost_memory_changes_no_bit, one, palettes};
use glam::Vec3;
use phalanx::crowd::{BoneBuffer, PlayOptions, Tier, TierDetail};
use phalanx::math::Affine3x4;
use phalanx::playback::{ModifierId, Target, TwoBoneIk};

const NEAR: Vec3 = Vec3::new(-0.28, 1.25, 0.27);

fn tier(rate: u8, interpolate: bool, level: Option<usize>) -> Tier {
    let detail = level.map(|level| TierDetail { level, ..TierDetail::default() });
    Tier { rate, interpolate, detail, ..Tier::default() }
}

/// Instances that play, or hold what they play, in one tier.
fn cast(tier: Tier, speed: f32) -> (Cast, ModifierId) {
    let body = Body::character();
    let mut cast = Cast::new(&body.rig, 24);
    let by = cast.crowd.add_modifier(cast.rig, TwoBoneIk::new(body.joint("RightHand"))).unwrap();
    for n in 0..24 {
        let clip = cast.crowd.clip_by_index(cast.rig, n % 10).unwrap();
        let options = PlayOptions { time: 0.05 * n as f64, speed, ..PlayOptions::default() };
        cast.crowd.play(cast.all[n], clip, &options).unwrap();
    }
    cast.crowd.set_tiers(Some(one(tier))).unwrap();
    (cast, by)
}

/// The palettes of all, in a crowd without tiers in the same state.
fn exact(cast: &Cast) -> Vec<Vec<Affine3x4>> {
    let body = Body::character();
    let mut plain = Cast::new(&body.rig, 0);
    plain.crowd.add_modifier(plain.rig, TwoBoneIk::new(body.joint("RightHand"))).unwrap();
    plain.crowd.restore(&cast.crowd.snapshot()).unwrap();
    plain.all = cast.all.clone();
    plain.frame()
}

fn shown(cast: &mut Cast) -> Vec<Vec<Affine3x4>> {
    cast.crowd.evaluate(&mut cast.bones);
    palettes(&cast.crowd, &cast.bones, &cast.all)
}

/// An active modifier brings the palette of the full rig, and takes it back when it is gone.
#[test]
fn an_active_modifier_keeps_the_full_rig() {
    for (rate, interpolate) in [(1, false), (4, false), (8, true)] {
        let (mut cast, by) = cast(tier(rate, interpolate, Some(2)), 0.0);
        let detail = |cast: &Cast, n: usize| cast.crowd.shown(cast.all[n]).unwrap().detail;
        shown(&mut cast);
        assert!((0..24).all(|n| detail(&cast, n) == Some(0)));
        for k in 0..3 {
            cast.aim(5, by, Target::model(NEAR + Vec3::X * 0.1 * k as f32), 1.0);
            let rows = shown(&mut cast);
            assert!((0..24).all(|n| detail(&cast, n) == (n != 5).then_some(0)));
            assert!(rows[5] == exact(&cast)[5], "{rate} {interpolate}");
            cast.crowd.advance(DT).unwrap();
        }
        cast.aim(5, by, Target::model(NEAR), 0.0);
        let rows = shown(&mut cast);
        assert_eq!(detail(&cast, 5), Some(0));
        assert!(rows[5].len() < Body::character().rig.palette_len());
    }
}

/// A fade is seen with the age of the tier, and its end too.
#[test]
fn fades_are_as_old_as_the_tier_allows() {
    for rate in [1, 2, 4, 8] {
        let (mut cast, by) = cast(tier(rate, false, None), 0.0);
        shown(&mut cast);
        for n in 0..24 {
            let mut player = cast.crowd.player(cast.all[n]).unwrap();
            player.set_target(by, Target::model(NEAR)).unwrap();
            player.fade_modifier(by, 1.0, 0.2).unwrap();
        }
        let mut last = Vec::new();
        for frame in 0..40 {
            if frame == 20 {
                for n in 0..24 {
                    cast.crowd.player(cast.all[n]).unwrap().fade_modifier(by, 0.0, 0.1).unwrap();
                }
            }
            cast.crowd.advance(DT).unwrap();
            let rows = shown(&mut cast);
            last.push(exact(&cast));
            for n in 0..24 {
                let known = last.iter().rev().take(rate.into());
                let age = known.map(|all| &all[n]).position(|exact| *exact == rows[n]);
                assert!(age.is_some(), "rate {rate}, frame {frame}, instance {n}");
            }
        }
    }
}

/// A new target or weight of an instance that is held between two updates is seen at once.
#[test]
fn calls_are_seen_at_once() {
    let (mut cast, by) = cast(tier(16, false, None), 0.0);
    shown(&mut cast);
    for frame in 0..20 {
        let n = frame * 7 % 24;
        cast.aim(n, by, Target::model(NEAR + Vec3::Y * 0.01 * frame as f32), 0.5);
        cast.crowd.advance(DT).unwrap();
        let rows = shown(&mut cast);
        assert!(rows == exact(&cast), "{frame}");
    }
}

/// A restored target or weight is seen at once, too.
#[test]
fn restored_inputs_are_seen_at_once() {
    let (mut cast, by) = cast(tier(16, false, None), 0.0);
    cast.aim(3, by, Target::model(NEAR), 0.5);
    cast.aim(4, by, Target::model(NEAR), 0.5);
    for _ in 0..20 {
        cast.crowd.advance(DT).unwrap();
        shown(&mut cast);
    }
    let saved = cast.crowd.snapshot();
    for (target, weight) in [(NEAR + Vec3::Y * 0.1, 0.5), (NEAR, 0.9)] {
        cast.aim(3, by, Target::model(target), weight);
        let changed = shown(&mut cast);
        cast.crowd.restore(&saved).unwrap();
        let rows = shown(&mut cast);
        assert!(rows == exact(&cast) && rows[3] != changed[3] && rows[4] == changed[4]);
    }
}

#[test]
fn lost_memory_changes_no_bit_of_modifiers() {
    let rates = [(1, false), (4, false), (8, true)];
    // Of fades that run while a palette is held, a palette evaluated again has the present weight.
    for ((rate, interpolate), fades) in rates.map(|r| (r, r.0 == 1)) {
        let by = cast(tier(1, false, None), 1.0).1;
        let make = || {
            let (mut cast, by) = cast(tier(rate, interpolate, None), 1.0);
            for n in (0..24).step_by(2) {
                cast.aim(n, by, Target::model(NEAR), 0.1 + 0.03 * n as f32);
            }
            cast.crowd
        };
        let run = |crowd: &mut _, bones: &mut BoneBuffer, frames: std::ops::Range<usize>| {
            let crowd: &mut phalanx::crowd::Crowd = crowd;
            let all: Vec<_> = crowd.instances().collect();
            frames
                .map(|frame| {
                    // Fades that run while palettes are held.
                    if fades && frame == 20 {
                        for &i in &all {
                            crowd.player(i).unwrap().fade_modifier(by, 0.9, 0.5).unwrap();
                        }
                    }
                    crowd.advance(DT).unwrap();
                    crowd.evaluate(bones);
                    palettes(crowd, bones, &all)
                })
                .collect()
        };
        lost_memory_changes_no_bit(make, run);
    }
}
