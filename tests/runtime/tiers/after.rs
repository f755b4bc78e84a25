//! Frames after something was lost, restored, removed or stopped.

use super::{DT, at, camera, chains, every, palettes};
use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions, RowLayout, Tiers};
use phalanx::math::Affine3x4;
use phalanx_testkit::chain::rig;
use std::sync::Arc;

/// The input of a held cell is of a clip that has faded out since.
#[test]
fn inputs_of_clips_that_nothing_plays_are_written_again() {
    for (rate, interpolate) in [(16, false), (16, true)] {
        for at in 0..16 {
            let crowd = || {
                let mut crowd = Crowd::with_tag(7).unwrap();
                let id = crowd.add_rig(rig()).unwrap();
                let [first, second] = [0, 2].map(|c| crowd.clip_by_index(id, c).unwrap());
                let i = crowd.spawn(id).unwrap();
                crowd.set_tiers(Some(every(rate, interpolate))).unwrap();
                let options = PlayOptions { time: 0.4, ..PlayOptions::default() };
                crowd.play(i, first, &options).unwrap();
                (crowd, i, second)
            };
            let frame = |crowd: &mut Crowd, bones: &mut BoneBuffer, i| {
                crowd.advance(DT).unwrap();
                crowd.evaluate(bones);
                palettes(crowd, bones, &[i])
            };
            let [(mut one, i, second), (mut two, ..)] = [crowd(), crowd()];
            let mut bones = [BoneBuffer::new(), BoneBuffer::new()];
            for k in 0..at + 48 {
                if k == at {
                    for crowd in [&mut one, &mut two] {
                        let options = PlayOptions::default();
                        crowd.fade_to(i, second, 0.1, &options).unwrap();
                    }
                }
                if k > at && (k - at) % 2 == 1 {
                    bones[1] = BoneBuffer::new();
                }
                let a = frame(&mut one, &mut bones[0], i);
                let b = frame(&mut two, &mut bones[1], i);
                assert!(a == b, "rate {rate} {interpolate}, fade after {at}, frame {k}");
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
fn memory_is_lost_some_frames_after_a_budget_came() {
    let mut bad = Vec::new();
    for later in 0..8 {
        let run = |loses: bool| {
            let (mut crowd, all, ..) = chains(60);
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
            if loses {
                bones = BoneBuffer::new();
            }
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            palettes(&crowd, &bones, &all)
        };
        let (a, b) = (run(false), run(true));
        let n = a.iter().zip(&b).filter(|(a, b)| a != b).count();
        if n > 0 {
            bad.push((later, n));
        }
    }
    assert!(
        bad.is_empty(),
        "(frames with the budget before the loss, palettes that differ): {bad:?}"
    );
}

/// An action that stops at its end leaves the rest pose, which the sphere of its clip does not hold.
#[test]
fn rest_pose_after_an_action_that_stops_is_in_the_picture() {
    use phalanx::import::raw::{Interpolation, RawChannel, RawTrack};
    let mut raw = phalanx_testkit::chain::raw();
    for clip in &mut raw.clips {
        clip.tracks.retain(|t| t.node != 0 || t.channel != RawChannel::Translation);
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
    assert!(crowd.palette_range(i).is_some(), "the rest pose is in the picture and has no rows");
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
        let mut s = crowd.schedule(&RowLayout { align, compact: false, holds: None });
        rows.resize(s.rows(), Affine3x4::IDENTITY);
        s.write(&mut rows[..]).instances
    };
    go(&mut crowd, 0);
    assert!(go(&mut crowd, 1) < 10);
}

/// A frame that was scheduled and never written has updated no instance.
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

/// A frame whose parts were not all run may be written after that: in whole, with the same bits.
#[test]
fn frames_are_written_after_some_of_their_parts() {
    for run in 0..4 {
        let twin = || {
            let (mut crowd, all, ..) = chains(200);
            crowd.set_tiers(Some(every(2, true))).unwrap();
            let mut bones = BoneBuffer::new();
            for _ in 0..5 {
                crowd.advance(DT).unwrap();
                crowd.evaluate(&mut bones);
            }
            crowd.advance(DT).unwrap();
            (crowd, all, bones)
        };
        let (mut crowd, all, mut bones) = twin();
        let step = |crowd: &mut Crowd, bones: &mut BoneBuffer, run: usize| {
            let before = bones.rows().to_vec();
            let (mut schedule, rows) = crowd.schedule_into(bones);
            let mut first = before.clone();
            schedule.parts(4, &mut first[..]).take(run).for_each(|part| part());
            schedule.write(rows);
            palettes(crowd, bones, &all)
        };
        let a = step(&mut crowd, &mut bones, run);
        let (mut crowd, all, mut wanted) = twin();
        crowd.evaluate(&mut wanted);
        assert!(a == palettes(&crowd, &wanted, &all), "{run} parts");
    }
}
