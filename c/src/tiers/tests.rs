//! Tiers against the same calls of the library.

use super::*;
use crate::border::Extensible;
use crate::border::said;
use crate::frame::tests::{Twins, expect};
use phalanx::crowd::{BoneBuffer, CrowdError};
use std::ptr::null_mut;

fn all(size: f32) -> Vec<phx_tier> {
    let mut count = 0;
    // SAFETY: pointers of this function.
    unsafe {
        expect(phx_tiers_default(size, null_mut(), 0, &mut count), PHX_OK);
        let mut all = Vec::with_capacity(count);
        expect(phx_tiers_default(size, all.as_mut_ptr(), count, &mut count), PHX_OK);
        all.set_len(count);
        all
    }
}

#[test]
fn defaults_are_those_of_the_library() {
    // SAFETY: arrays of this test.
    unsafe {
        assert_eq!(tiers(&phx_tiers::DEFAULT).unwrap(), Tiers::default());
        assert_eq!(tier(0, &phx_tier::DEFAULT).unwrap(), Tier::default());
        for size in [0.01, 1.8, 40.0] {
            let all = all(size);
            let given = phx_tiers { tiers: all.as_ptr(), count: all.len(), ..Extensible::DEFAULT };
            assert_eq!(tiers(&given).unwrap(), Tiers::default().for_size(size));
            assert!(all.iter().all(|tier| tier.size == size_of::<phx_tier>()));
        }
        let (mut one, mut count) = (all(1.8)[0], 0);
        one.height = 77.0;
        expect(phx_tiers_default(1.8, &mut one, 1, &mut count), PHX_ERROR_SHORT);
        assert_eq!((one.height, count), (77.0, Tiers::default().tiers.len()));
        expect(phx_tiers_default(1.8, null_mut(), 1, &mut count), PHX_ERROR_NULL);
        expect(phx_tiers_default(1.8, null_mut(), 0, null_mut()), PHX_ERROR_NULL);
        for size in [0.0, -0.0, -1.8, f32::NAN, f32::INFINITY] {
            (one.height, count) = (77.0, 78);
            expect(phx_tiers_default(size, &mut one, 9, &mut count), PHX_ERROR_VALUE);
            assert_eq!((one.height, count), (77.0, 78), "{size}");
        }
        let names = ["LeftHand", "Neck"].map(phx_text::of);
        let detail = phx_tier { level: 2, leave_out: names.as_ptr(), leave_out_count: 2, ..one };
        let detail = tier(0, &detail).unwrap().detail.unwrap();
        assert_eq!((detail.level, detail.leave_out), (2, vec!["LeftHand".into(), "Neck".into()]));
        let detail = tier(0, &phx_tier { leave_out: names.as_ptr(), leave_out_count: 1, ..one });
        assert_eq!(detail.unwrap().detail.unwrap().level, 0);
    }
}

#[test]
fn tiers_are_refused_and_change_nothing() {
    let twins = Twins::new(2, None);
    let one = phx_tier { height: 10.0, rate: 2, shared_error: 0.0, ..all(1.8)[0] };
    let bytes = [0xff_u8];
    let foreign = phx_text { data: bytes.as_ptr().cast(), length: 1 };
    let given = [
        (phx_tier { size: 8, ..one }, PHX_ERROR_STRUCT_SIZE),
        (phx_tier { rate: 3, ..one }, PHX_ERROR_VALUE),
        (phx_tier { rate: 258, ..one }, PHX_ERROR_VALUE),
        (phx_tier { height: f32::NAN, ..one }, PHX_ERROR_VALUE),
        (phx_tier { shared_error: f32::NAN, ..one }, PHX_ERROR_VALUE),
        (phx_tier { shared_error: -1.0, ..one }, PHX_ERROR_VALUE),
        (phx_tier { leave_out: &foreign, leave_out_count: 1, ..one }, PHX_ERROR_UTF8),
        (phx_tier { leave_out: null(), leave_out_count: 1, ..one }, PHX_ERROR_NULL),
    ];
    // SAFETY: pointers of this test.
    unsafe {
        for (number, (tier, status)) in given.iter().enumerate() {
            let tiers = phx_tiers { tiers: tier, count: 1, ..Extensible::DEFAULT };
            let got = phx_crowd_set_tiers(twins.c, &tiers);
            assert_eq!(got, *status, "{number}: {}", said());
        }
        let sizes = [one, phx_tier { size: one.size - 8, height: 1.0, ..one }];
        let tiers = phx_tiers { tiers: sizes.as_ptr(), count: 2, ..Extensible::DEFAULT };
        expect(phx_crowd_set_tiers(twins.c, &tiers), PHX_ERROR_STRUCT_SIZE);
        let tiers = phx_tiers { tiers: &one, count: 1, ..Extensible::DEFAULT };
        let given = [
            (phx_tiers { size: 4, ..tiers }, PHX_ERROR_STRUCT_SIZE),
            (phx_tiers { count: 0, ..tiers }, PHX_ERROR_VALUE),
            (phx_tiers { tiers: null(), ..tiers }, PHX_ERROR_NULL),
            (phx_tiers { hysteresis: f32::NAN, ..tiers }, PHX_ERROR_VALUE),
            (phx_tiers { max_age: 0, ..tiers }, PHX_ERROR_VALUE),
            (phx_tiers { shadows: 1, ..tiers }, PHX_ERROR_VALUE),
        ];
        for (number, (tiers, status)) in given.iter().enumerate() {
            let got = phx_crowd_set_tiers(twins.c, tiers);
            assert_eq!(got, *status, "{number}: {}", said());
        }
        expect(phx_crowd_set_tiers(null_mut(), &tiers), PHX_ERROR_NULL);
        assert!(twins.state(|state| state.crowd.tiers().is_none()));
        // Without tiers nothing of theirs is known.
        let mut count = 7;
        let view = phx_view { clip_from_world: [0.0; 16], height: 1.0, shadows: 0 };
        let c = twins.c;
        expect(phx_crowd_set_views(c, &view, 1), PHX_ERROR_STATE);
        expect(phx_crowd_set_views(c, null(), 0), PHX_ERROR_STATE);
        expect(phx_crowd_set_budget(c, 1), PHX_ERROR_STATE);
        expect(phx_crowd_set_importances(c, twins.rig.to_bits(), null(), 0), PHX_ERROR_STATE);
        let stats = phx_crowd_tier_stats(c, null_mut(), 0, &mut count, null_mut());
        expect(stats, PHX_ERROR_STATE);
        assert_eq!(count, 7);
        expect(phx_crowd_set_tiers(c, &tiers), PHX_OK);
        assert_eq!(twins.state(|state| state.crowd.tiers().unwrap().tiers[0].rate), 2);
        // There are no counts before a frame.
        expect(phx_crowd_tier_stats(c, null_mut(), 0, &mut count, null_mut()), PHX_OK);
        assert_eq!(count, 0);
        expect(phx_crowd_set_tiers(c, null()), PHX_OK);
        assert!(twins.state(|state| state.crowd.tiers().is_none()));
    }
}

#[test]
fn views_importances_and_budgets_decide_what_a_frame_evaluates() {
    let mut twins = Twins::new(20, Some(2));
    let (c, rig) = (twins.c, twins.rig);
    let mut list = all(1.8);
    // Frames between updates are what a budget is about.
    (list[1].rate, list[1].shared_error) = (4, 0.0);
    let given =
        phx_tiers { tiers: list.as_ptr(), count: list.len(), max_age: 8, ..Extensible::DEFAULT };
    // Looking along -z from (0, 1, 8), 90 degrees high and wide.
    let mut clip_from_world = [0.0; 16];
    (clip_from_world[0], clip_from_world[5], clip_from_world[10]) = (1.0, 1.0, -1.0);
    (clip_from_world[11], clip_from_world[13], clip_from_world[14], clip_from_world[15]) =
        (-1.0, -1.0, 7.9, 8.0);
    let views = [
        phx_view { clip_from_world, height: 720.0, shadows: 0 },
        phx_view { clip_from_world, height: 300.0, shadows: 1 },
    ];
    let rust: Vec<View> = views
        .iter()
        .map(|v| View {
            clip_from_world: std::array::from_fn(|c| {
                std::array::from_fn(|r| clip_from_world[4 * c + r])
            }),
            height: v.height,
            shadows: v.shadows == 1,
        })
        .collect();
    let heights: Vec<f32> = (0..20).map(|n| 9.0 * n as f32).collect();
    let bad = [views[0], phx_view { height: 0.0, ..views[0] }];
    // SAFETY: pointers of this test.
    unsafe {
        expect(phx_crowd_set_tiers(c, &given), PHX_OK);
        expect(phx_crowd_set_views(c, bad.as_ptr(), 2), PHX_ERROR_VALUE);
        expect(phx_crowd_set_views(c, null(), 2), PHX_ERROR_NULL);
        expect(phx_crowd_set_views(c, views.as_ptr(), 2), PHX_OK);
        let importances =
            |rig, all: &[f32]| phx_crowd_set_importances(c, rig, all.as_ptr(), all.len());
        expect(importances(rig.to_bits(), &heights[1..]), PHX_ERROR_VALUE);
        expect(importances(rig.to_bits(), &[f32::NAN; 20]), PHX_ERROR_VALUE);
        expect(importances(0, &heights), PHX_ERROR_ID);
        expect(importances(rig.to_bits(), &heights), PHX_OK);
        expect(phx_crowd_set_budget(c, 2), PHX_OK);
        expect(phx_crowd_set_budget(null_mut(), 2), PHX_ERROR_NULL);
        twins.rust.set_tiers(Some(tiers(&given).unwrap())).unwrap();
    }
    twins.rust.set_views(&rust).unwrap();
    twins.rust.set_importances(rig, &heights).unwrap();
    twins.rust.set_budget(Some(2)).unwrap();
    let places = twins.ids.clone();
    let (mut of_c, mut of_rust) = (BoneBuffer::new(), BoneBuffer::new());
    let mut seen = [0; 4];
    for frame in 0..12 {
        twins.both(|crowd| {
            for (n, &id) in places.iter().enumerate() {
                let mut world = *crowd.world(id)?;
                (world.rows[0][3], world.rows[2][3]) = (n as f32 - 4.0, -2.0 * n as f32);
                crowd.set_world(id, world)?;
            }
            crowd.advance(1.0 / 60.0)?;
            Ok::<_, CrowdError>(())
        });
        // SAFETY: pointers of this test.
        unsafe {
            match frame {
                6 => {
                    expect(phx_crowd_set_budget(c, usize::MAX), PHX_OK);
                    twins.rust.set_budget(None).unwrap();
                }
                8 => {
                    expect(phx_crowd_set_views(c, views.as_ptr(), 0), PHX_OK);
                    expect(phx_crowd_set_importances(c, rig.to_bits(), null(), 0), PHX_OK);
                    twins.rust.set_views(&[]).unwrap();
                    twins.rust.set_importances(rig, &[]).unwrap();
                }
                10 => {
                    expect(phx_crowd_set_views(c, null(), 0), PHX_OK);
                    twins.rust.clear_views().unwrap();
                }
                _ => {}
            }
        }
        twins.rust.evaluate(&mut of_rust);
        twins.state(|state| state.crowd.evaluate(&mut of_c));
        assert_eq!(of_c.hash(), of_rust.hash(), "frame {frame}");
        let (mut stats, mut count) = ([phx_tier_stats { held: 99, ..Default::default() }; 7], 0);
        let mut whole = phx_tier_frame::DEFAULT;
        // SAFETY: pointers of this test.
        unsafe {
            let read = phx_crowd_tier_stats(c, stats.as_mut_ptr(), 5, &mut count, &mut whole);
            expect(read, PHX_ERROR_SHORT);
            assert_eq!((stats[0].held, whole.out, count), (99, 0, 6));
            let mut size = phx_tier_frame { size: 1, ..whole };
            let read = phx_crowd_tier_stats(c, stats.as_mut_ptr(), 7, &mut count, &mut size);
            expect(read, PHX_ERROR_STRUCT_SIZE);
            assert_eq!(stats[0].held, 99);
            let read = phx_crowd_tier_stats(c, stats.as_mut_ptr(), 7, &mut count, &mut whole);
            expect(read, PHX_OK);
            expect(phx_crowd_tier_stats(c, null_mut(), 0, &mut count, null_mut()), PHX_OK);
        }
        assert_eq!((count, stats[6].held), (6, 99));
        let rust = twins.rust.tier_stats().unwrap();
        for (stats, of) in stats.iter().zip(&rust.tiers) {
            let got = [
                stats.instances,
                stats.shared,
                stats.evaluated,
                stats.held,
                stats.waiting,
                stats.oldest,
            ];
            let wanted =
                [of.instances, of.shared, of.evaluated, of.held, of.waiting, of.oldest as usize];
            assert_eq!(got, wanted.map(|n| n as u64), "frame {frame}");
        }
        let got = [whole.out, whole.shared_palettes, whole.shared_evaluated, whole.beyond_budget];
        let wanted = [rust.out, rust.shared_palettes, rust.shared_evaluated, rust.beyond_budget];
        assert_eq!(got, wanted.map(|n| n as u64), "frame {frame}");
        for (seen, now) in seen.iter_mut().zip([
            got[0],
            got[1],
            got[3],
            stats[..6].iter().map(|s| s.waiting + s.held).sum(),
        ]) {
            *seen += now;
        }
        assert_eq!(got[0] == 20, (8..10).contains(&frame), "frame {frame}");
    }
    assert!(seen.iter().all(|&n| n > 0), "{seen:?}");
}
