//! Frames after something was lost, restored, removed or stopped.

use super::{DT, at, camera, chains, every, palettes};
use phalanx::crowd::{BoneBuffer, Crowd, CrowdSnapshot, PlayOptions, RowLayout, RowOrder, Tiers};
use phalanx::math::Affine3x4;
use phalanx_testkit::chain::rig;
use std::sync::Arc;

/// The input of a held cell is of a clip that has faded out since.
#[test]
fn inputs_of_clips_that_nothing_plays_are_restored() {
    for (rate, interpolate) in [(16, false), (16, true)] {
        for at in 0..16 {
            let mut crowd = Crowd::with_tag(7).unwrap();
            let id = crowd.add_rig(rig()).unwrap();
            let [first, second] = [0, 2].map(|c| crowd.clip_by_index(id, c).unwrap());
            let i = crowd.spawn(id).unwrap();
            crowd.set_tiers(Some(every(rate, interpolate))).unwrap();
            let mut bones = BoneBuffer::new();
            crowd
                .play(
                    i,
                    first,
                    &PlayOptions {
                        time: 0.4,
                        ..PlayOptions::default()
                    },
                )
                .unwrap();
            let frame = |crowd: &mut Crowd, bones: &mut BoneBuffer| {
                crowd.advance(DT).unwrap();
                crowd.evaluate(bones);
                palettes(crowd, bones, &[i])
            };
            (0..at).for_each(|_| drop(frame(&mut crowd, &mut bones)));
            crowd
                .fade_to(i, second, 0.1, &PlayOptions::default())
                .unwrap();
            for k in 0..24 {
                frame(&mut crowd, &mut bones);
                let saved = CrowdSnapshot::from_bytes(&crowd.snapshot().to_bytes()).unwrap();
                let mut fresh = Crowd::with_tag(7).unwrap();
                fresh.add_rig(rig()).unwrap();
                fresh.restore(&saved).unwrap();
                let mut own = BoneBuffer::new();
                let mut other = BoneBuffer::new();
                fresh.advance(DT).unwrap();
                fresh.evaluate(&mut other);
                crowd.advance(DT).unwrap();
                crowd.evaluate(&mut own);
                let (a, b) = (palettes(&crowd, &own, &[i]), palettes(&fresh, &other, &[i]));
                assert!(
                    a == b,
                    "rate {rate} {interpolate}, fade after {at}, {k} frames later"
                );
            }
        }
    }
}

/// A palette that is an instance's own is held as long as it is not scheduled.
#[test]
fn own_palettes_are_held() {
    for rate in [1, 4] {
        let (mut crowd, all, ..) = chains(8);
        crowd.set_tiers(Some(every(rate, false))).unwrap();
        let mut bones = BoneBuffer::new();
        for _ in 0..5 {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
        }
        crowd.set_scheduled(all[3], false).unwrap();
        let shown = |crowd: &Crowd, bones: &BoneBuffer| palettes(crowd, bones, &all[3..4]);
        let before = shown(&crowd, &bones);
        for _ in 0..20 {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            assert_eq!(shown(&crowd, &bones), before);
        }
        crowd.set_scheduled(all[3], true).unwrap();
        for _ in 0..rate {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
        }
        assert_ne!(shown(&crowd, &bones), before);
    }
}

#[test]
fn importances_of_a_removed_rig_are_forgotten() {
    let mut crowd = Crowd::new();
    let a = crowd.add_rig(rig()).unwrap();
    let b = crowd.add_rig(rig()).unwrap();
    let i = crowd.spawn(a).unwrap();
    let j = crowd.spawn(b).unwrap();
    crowd.set_tiers(Some(Tiers::default())).unwrap();
    crowd.set_importances(a, &[100.0]).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    assert!(crowd.tier(j).is_none());
    crowd.despawn(i).unwrap();
    crowd.remove_rig(a).unwrap();
    crowd.evaluate(&mut bones);
    assert_eq!(
        crowd.tier(j),
        Some(0),
        "no views, no importances of any rig: all are in the first tier"
    );
}

/// Cells of rate 1 that wait for a budget that came later.
#[test]
fn restored_some_frames_after_a_budget_came() {
    let mut bad = Vec::new();
    for later in 0..8 {
        let (mut crowd, all, id, _) = chains(60);
        let rig = crowd.rig(id).unwrap().clone();
        crowd.set_tiers(Some(every(1, false))).unwrap();
        let mut bones = BoneBuffer::new();
        for _ in 0..3 {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
        }
        crowd.set_budget(Some(5)).unwrap();
        for _ in 0..later {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
        }
        let mut fresh = Crowd::new();
        fresh.add_rig(rig).unwrap();
        fresh.restore(&crowd.snapshot()).unwrap();
        let mut other = BoneBuffer::new();
        fresh.advance(DT).unwrap();
        fresh.evaluate(&mut other);
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        let (a, b) = (
            palettes(&crowd, &bones, &all),
            palettes(&fresh, &other, &all),
        );
        let n = a.iter().zip(&b).filter(|(a, b)| a != b).count();
        if n > 0 {
            bad.push((later, n));
        }
    }
    assert!(
        bad.is_empty(),
        "(frames with the budget before the snapshot, palettes that differ): {bad:?}"
    );
}

/// An action that stops at its end leaves the rest pose, which the sphere of its clip does not hold.
#[test]
fn rest_pose_after_an_action_that_stops_is_in_the_picture() {
    use phalanx::import::raw::{Interpolation, RawChannel, RawTrack};
    let mut raw = phalanx_testkit::chain::raw();
    for clip in &mut raw.clips {
        clip.tracks
            .retain(|t| t.node != 0 || t.channel != RawChannel::Translation);
        clip.tracks.push(RawTrack {
            node: 0,
            channel: RawChannel::Translation,
            interpolation: Interpolation::Linear,
            times: vec![0.0, clip.duration],
            values: vec![100.0, 0.0, 0.0, 100.0, 0.0, 0.0],
        });
    }
    let rig = Arc::new(phalanx::build::build_rig(raw, &Default::default()).unwrap());
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig).unwrap();
    let clip = crowd.clip_by_index(id, 0).unwrap();
    let i = crowd.spawn(id).unwrap();
    crowd.set_world(i, at([0.0, 0.0, -10.0])).unwrap();
    crowd.set_tiers(Some(Tiers::default())).unwrap();
    crowd.set_views(&[camera(0.0)]).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    assert!(crowd.tier(i).is_some());
    let once = PlayOptions {
        loop_mode: phalanx::playback::LoopMode::Once,
        at_end: phalanx::playback::AtEnd::Stop,
        ..PlayOptions::default()
    };
    crowd.play(i, clip, &once).unwrap();
    crowd.advance(DT).unwrap();
    crowd.evaluate(&mut bones);
    for _ in 0..400 {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
    }
    assert_eq!(crowd.playing(i).unwrap().clips().count(), 0);
    assert!(
        crowd.palette_range(i).is_some(),
        "the rest pose is in the picture and has no rows"
    );
}

/// Both mean no padding: cells stay.
#[test]
fn align_zero_is_one() {
    let (mut crowd, ..) = chains(10);
    crowd.set_tiers(Some(every(16, false))).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    let mut rows = Vec::new();
    let mut go = |crowd: &mut Crowd, align| {
        let mut s = crowd.schedule(&RowLayout {
            align,
            order: RowOrder::Index,
            holds: None,
        });
        rows.resize(s.rows(), Affine3x4::IDENTITY);
        s.write(&mut rows[..]).instances
    };
    go(&mut crowd, 0);
    assert!(go(&mut crowd, 1) < 10);
}

/// A frame that was scheduled and never written has updated nobody.
#[test]
fn ages_count_from_the_last_written_frame() {
    let (mut crowd, all, ..) = chains(20);
    crowd.set_tiers(Some(every(1, false))).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    for _ in 0..3 {
        crowd.advance(DT).unwrap();
        let _ = crowd.schedule_into(&mut bones);
    }
    crowd.set_scheduled(all[3], false).unwrap();
    crowd.advance(DT).unwrap();
    crowd.evaluate(&mut bones);
    let tier = crowd.tier_stats().unwrap().tiers[0];
    assert_eq!((tier.held, tier.oldest), (1, 4));
}

/// A crowd and its copy have the same bytes after a frame that neither writes.
#[test]
fn bytes_of_frames_that_were_not_written() {
    for (rate, interpolate) in [(1, false), (4, false), (4, true)] {
        for budget in [None, Some(5)] {
            let (mut crowd, all, id, clip) = chains(30);
            let rig = crowd.rig(id).unwrap().clone();
            crowd.set_tiers(Some(every(rate, interpolate))).unwrap();
            let mut bones = BoneBuffer::new();
            crowd.set_budget(budget).unwrap();
            for _ in 0..7 {
                crowd.advance(DT).unwrap();
                crowd.evaluate(&mut bones);
            }
            // One is changed, one is new; then time turns around.
            let other = crowd.clip_by_index(id, 1).unwrap();
            crowd.play(all[4], other, &PlayOptions::default()).unwrap();
            let new = crowd.spawn(id).unwrap();
            crowd.play(new, clip, &PlayOptions::default()).unwrap();
            let layout = RowLayout::default();
            let _ = crowd.schedule(&layout);
            crowd.advance(-DT).unwrap();
            let mut copy = Crowd::new();
            copy.add_rig(rig).unwrap();
            copy.restore(&crowd.snapshot()).unwrap();
            for frame in 0..3 {
                let bytes = [&crowd, &copy].map(|c| c.snapshot().to_bytes());
                assert!(
                    bytes[0] == bytes[1],
                    "rate {rate} {interpolate}, {budget:?}, {frame}"
                );
                for c in [&mut crowd, &mut copy] {
                    let _ = c.schedule(&layout);
                }
            }
        }
    }
}

/// A frame whose parts were not all run may be written after that: in whole, with the same bits.
#[test]
fn frames_are_written_after_some_of_their_parts() {
    for run in 0..4 {
        let (mut crowd, all, ..) = chains(200);
        crowd.set_tiers(Some(every(2, true))).unwrap();
        let mut bones = BoneBuffer::new();
        for _ in 0..5 {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
        }
        let saved = crowd.snapshot();
        let mut wanted = bones.clone();
        let step = |crowd: &mut Crowd, bones: &mut BoneBuffer, run: usize| {
            crowd.advance(DT).unwrap();
            let before = bones.rows().to_vec();
            let (mut schedule, rows) = crowd.schedule_into(bones);
            let mut first = before.clone();
            schedule
                .parts(4, &mut first[..])
                .take(run)
                .for_each(|part| part.run());
            schedule.write(rows);
            palettes(crowd, bones, &all)
        };
        let a = step(&mut crowd, &mut bones, run);
        crowd.restore(&saved).unwrap();
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut wanted);
        assert!(a == palettes(&crowd, &wanted, &all), "{run} parts");
    }
}
