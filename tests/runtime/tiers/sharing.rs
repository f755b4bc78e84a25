//! Shared palettes.

use super::{DT, apart, chains, exact, lost_memory_changes_no_bit, one, palettes, shared};
use phalanx::crowd::{
    BoneBuffer, Crowd, InstanceId, LayerOptions, LoopMode, PlayOptions, PoseStage, Tier,
};
use phalanx::math::Affine3x4;
use phalanx_testkit::chain::rig;

#[test]
fn instances_in_one_phase_share_their_rows() {
    let (mut crowd, all, id, clip) = chains(400);
    let duration = f64::from(crowd.clip(clip).unwrap().duration());
    crowd.set_tiers(Some(shared(16))).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    let phase = |crowd: &phalanx::crowd::Crowd, i| {
        let mut actions = crowd.playing(i).unwrap().actions(0).unwrap();
        let time = actions.next().unwrap().1.time;
        (time / duration * 16.0).round()
    };
    for (n, &a) in all.iter().enumerate() {
        assert!(crowd.shown(a).is_some_and(|s| s.shared));
        for &b in &all[..n] {
            let same = crowd.palette_range(a) == crowd.palette_range(b);
            assert_eq!(same, phase(&crowd, a) == phase(&crowd, b));
        }
    }
    let stats = crowd.tier_stats().unwrap();
    assert_eq!((stats.tiers[0].shared, stats.shared_palettes), (400, 17));
    // Every phase has been evaluated, and none is again.
    for _ in 0..100 {
        crowd.advance(DT).unwrap();
        assert_eq!(crowd.evaluate(&mut bones).instances, 0);
    }
    let _ = id;
}

#[test]
fn the_error_of_sharing_is_within_its_bound() {
    for error in [0.2, 0.02] {
        let (mut crowd, all, id, _) = chains(60);
        let rig = crowd.rig(id).unwrap().clone();
        crowd.set_tiers(Some(one(Tier { shared_error: Some(error), ..Tier::default() }))).unwrap();
        let primitive = &rig.meshes()[0].mesh.primitives[0];
        let positions = |rows: &[Affine3x4]| {
            let mut positions = vec![[0.0f32; 3]; primitive.positions.len()];
            phalanx::runtime::SkinningJob {
                primitive,
                palette: rows,
                rigid: Affine3x4::IDENTITY,
                morph_weights: &[],
                positions: &mut positions,
                normals: &mut [],
                tangents: &mut [],
            }
            .run()
            .unwrap();
            positions
        };
        let mut worst = 0.0f32;
        let mut bones = BoneBuffer::new();
        for _ in 0..50 {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            let shown = palettes(&crowd, &bones, &all);
            for (shown, exact) in shown.iter().zip(exact(&crowd, &rig, &all)) {
                for (a, b) in positions(shown).iter().zip(positions(&exact)) {
                    let square = (0..3).map(|c| (a[c] - b[c]) * (a[c] - b[c])).sum::<f32>();
                    worst = worst.max(square.sqrt());
                }
            }
        }
        assert!(worst > 0.0 && worst <= error, "{worst} of {error}");
    }
}

/// Phases are found without a look at what plays, for minutes. They are those that a look finds.
#[test]
fn phases_do_not_drift() {
    let (mut crowd, all, _, clip) = chains(400);
    for (n, &i) in all.iter().enumerate() {
        let speed = 10.0 + 0.13 * n as f32;
        let mut player = crowd.player(i).unwrap();
        player.set_speed(0, clip, speed).unwrap();
        // So that the product has more than the 24 bits of an f32.
        player.set_character_speed(1.1).unwrap();
    }
    let tiers = Some(shared(4096));
    crowd.set_tiers(tiers.clone()).unwrap();
    let mut bones = BoneBuffer::new();
    for _ in 0..3 {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
    }
    for _ in 0..3 {
        crowd.advance(333.3).unwrap();
        crowd.evaluate(&mut bones);
    }
    let shown = palettes(&crowd, &bones, &all);
    crowd.set_tiers(None).unwrap();
    crowd.set_tiers(tiers).unwrap();
    crowd.evaluate(&mut bones);
    let looked = palettes(&crowd, &bones, &all);
    // Some are between two phases.
    let others = shown.iter().zip(&looked).filter(|(a, b)| a != b).count();
    // Their rows are those of the instances that show the phase: the rows of the frame before are not known.
    assert!(all.iter().all(|&i| crowd.shown(i).is_some_and(|s| s.shared && !s.stayed)));
    assert!(others <= 400 / 50, "{others}");
}

/// A fade, an override and a second layer need palettes of their own; afterwards they are shared again.
#[test]
fn instances_with_several_clips_or_overrides_have_palettes_of_their_own() {
    let (mut crowd, all, id, _) = chains(50);
    let rig = crowd.rig(id).unwrap().clone();
    let other = crowd.clip_by_index(id, 1).unwrap();
    crowd.set_tiers(Some(shared(1024))).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    crowd.fade_to(all[1], other, 0.1, &PlayOptions::default()).unwrap();
    crowd.player(all[2]).unwrap().set_override(0, super::at([0.0, 1.0, 0.0])).unwrap();
    crowd.despawn(all[3]).unwrap();
    for frame in 0..12 {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        assert!(!crowd.shown(all[2]).is_some_and(|s| s.shared));
        assert_eq!(crowd.shown(all[1]).is_some_and(|s| s.shared), frame >= 6, "frame {frame}");
        assert_eq!(crowd.palette_range(all[3]), None);
        for &i in &all[..3] {
            let shown = palettes(&crowd, &bones, &[i]).remove(0);
            let exact = exact(&crowd, &rig, &[i]).remove(0);
            if crowd.shown(i).is_some_and(|s| s.shared) {
                let error = apart(&shown, &exact);
                assert!(error < 2e-2, "{error}");
            } else {
                assert_eq!(shown, exact);
            }
        }
    }
    crowd.player(all[2]).unwrap().clear_overrides();
    crowd.evaluate(&mut bones);
    assert!(crowd.shown(all[2]).is_some_and(|s| s.shared));
}

/// Actions and layers of weight 0 are no part of the pose: an instance shares its palette beside them, until the frame
/// in which one gets a weight, and again from the frame in which its fade to 0 has ended.
#[test]
fn zero_weight_actions_do_not_block_sharing() {
    let mut crowd = Crowd::new();
    let layers = vec![LayerOptions::default(); 2];
    let id = crowd.add_rig_with_layers(rig(), layers).unwrap();
    let [a, b] = [0, 1].map(|c| crowd.clip_by_index(id, c).unwrap());
    let i = crowd.spawn(id).unwrap();
    // Plays the first clip alone: the shared palette is this one's.
    let other = crowd.spawn(id).unwrap();
    for i in [i, other] {
        crowd.play(i, a, &PlayOptions::default()).unwrap();
    }
    crowd.set_tiers(Some(shared(16))).unwrap();
    let mut bones = BoneBuffer::new();
    let mut go = |crowd: &mut Crowd, frames: usize, alone: bool, what: &str| {
        for frame in 0..frames {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            assert_eq!(crowd.shown(i).is_some_and(|s| s.shared), alone, "{what}, frame {frame}");
            let same = crowd.palette_range(i) == crowd.palette_range(other);
            assert_eq!(same, alone, "{what}, frame {frame}");
        }
    };
    go(&mut crowd, 5, true, "one clip");
    let none = PlayOptions { weight: 0.0, ..PlayOptions::default() };
    // Older and younger than the one that has a weight.
    crowd.player(i).unwrap().add(0, b, &none).unwrap();
    go(&mut crowd, 30, true, "a younger clip of weight 0");
    crowd.player(i).unwrap().restart(0, a, &PlayOptions::default()).unwrap();
    crowd.player(i).unwrap().add(0, b, &none).unwrap();
    crowd.play(other, b, &PlayOptions::default()).unwrap();
    crowd.player(other).unwrap().restart(0, a, &PlayOptions::default()).unwrap();
    go(&mut crowd, 30, true, "an older clip of weight 0");
    crowd.player(i).unwrap().set_weight(0, b, 0.25).unwrap();
    go(&mut crowd, 5, false, "the other has a weight");
    // Twelve frames of a fade, then none.
    crowd.player(i).unwrap().fade(0, b, 0.0, 0.2).unwrap();
    go(&mut crowd, 11, false, "the other fades to 0");
    crowd.advance(DT).unwrap();
    go(&mut crowd, 30, true, "the other has faded to 0");
    // From weight 0: it counts from the frame of the call on.
    crowd.player(i).unwrap().fade(0, b, 1.0, 0.2).unwrap();
    go(&mut crowd, 20, false, "the other fades in");
    crowd.player(i).unwrap().stop(0, b, 0.0).unwrap();
    go(&mut crowd, 3, true, "the other has stopped");
    // A layer above, without its weight.
    let mut player = crowd.player(i).unwrap();
    player.play(1, b, &PlayOptions::default()).unwrap();
    player.fade_layer(1, 0.0, 0.2).unwrap();
    go(&mut crowd, 11, false, "the layer fades to 0");
    crowd.advance(DT).unwrap();
    go(&mut crowd, 30, true, "the layer has faded to 0");
    // What fades on a layer without a weight is not seen.
    crowd.player(i).unwrap().fade(1, b, 0.5, 0.1).unwrap();
    go(&mut crowd, 20, true, "an action fades on a layer of weight 0");
    crowd.player(i).unwrap().set_layer_weight(1, 0.5).unwrap();
    go(&mut crowd, 3, false, "the layer has a weight");
    crowd.player(i).unwrap().set_weight(1, b, 0.0).unwrap();
    go(&mut crowd, 20, true, "the action of the layer has none");
    // The other layer alone.
    crowd.player(i).unwrap().set_weight(0, a, 0.0).unwrap();
    crowd.advance(DT).unwrap();
    crowd.evaluate(&mut bones);
    assert!(crowd.shown(i).is_some_and(|s| s.shared), "the rest pose");
    assert_ne!(crowd.palette_range(i), crowd.palette_range(other));
}

/// Random weights of actions and layers: an instance with one clip of full weight shares its palette. Shared or
/// not, the palette has the pose.
#[test]
fn random_weights_show_the_right_poses() {
    use phalanx_testkit::lively::Dice;
    let rig = rig();
    let mut crowd = Crowd::new();
    let layers = vec![LayerOptions::default(); 2];
    let id = crowd.add_rig_with_layers(rig.clone(), layers.clone()).unwrap();
    let clips = [0, 1, 2].map(|c| crowd.clip_by_index(id, c).unwrap());
    let mut all: Vec<InstanceId> = Vec::new();
    crowd.spawn_many(id, 30, &mut all).unwrap();
    crowd.set_tiers(Some(shared(1024))).unwrap();
    let mut bones = BoneBuffer::new();
    let mut dice = Dice(11);
    let (mut sharing, mut own, mut beside) = (0, 0, 0);
    for frame in 0..900 {
        // All fades have ended after a while.
        let quiet = frame % 60 >= 40;
        for _ in 0..if quiet { 0 } else { 6 } {
            let (i, layer, clip) = (dice.among(&all), dice.below(2), dice.among(&clips));
            let weight = dice.among(&[0.0, 0.0, 0.5, 1.0, 1.0]);
            let seconds = dice.among(&[0.0, 0.1, 0.3]);
            let options = PlayOptions {
                weight,
                time: 0.01 * dice.below(100) as f64,
                speed: 0.1 * dice.below(20) as f32,
                loop_mode: dice.among(&[LoopMode::Repeat, LoopMode::PingPong, LoopMode::Once]),
                ..PlayOptions::default()
            };
            let mut player = crowd.player(i).unwrap();
            // What does not play is refused.
            let _ = match dice.below(9) {
                0 | 1 => player.add(layer, clip, &options),
                2 => player.fade_to(layer, clip, seconds, &options),
                3 | 4 => player.fade(layer, clip, weight, seconds),
                5 => player.stop(layer, clip, seconds),
                6 => player.fade_layer(layer, weight, seconds),
                7 => player.set_paused(layer, clip, frame % 2 == 0),
                _ => player.stop_all(seconds),
            };
        }
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        let mut copy = Crowd::new();
        copy.add_rig_with_layers(rig.clone(), layers.clone()).unwrap();
        copy.restore(&crowd.snapshot()).unwrap();
        let mut full = BoneBuffer::new();
        copy.evaluate(&mut full);
        for &i in &all {
            let shown = palettes(&crowd, &bones, &[i]).remove(0);
            let wanted = palettes(&copy, &full, &[i]).remove(0);
            let shares = crowd.shown(i).is_some_and(|s| s.shared);
            if shares {
                let error = apart(&shown, &wanted);
                assert!(error < 2e-2, "frame {frame}: {error}");
            } else {
                assert_eq!(shown, wanted, "frame {frame}");
            }
            if frame % 60 < 59 {
                continue;
            }
            let playing = crowd.playing(i).unwrap();
            let mut weights = Vec::new();
            let mut actions = 0;
            for layer in 0..2 {
                let over = playing.layer_weight(layer).unwrap();
                for (_, action) in playing.actions(layer).unwrap() {
                    actions += 1;
                    assert_eq!(action.fade_left, 0.0);
                    let weight = if action.weight == 1.0 { over } else { action.weight * 0.5 };
                    weights.extend([weight].into_iter().filter(|_| over * action.weight != 0.0));
                }
            }
            assert_eq!(shares, weights.is_empty() || weights == [1.0], "{weights:?}");
            sharing += usize::from(shares);
            own += usize::from(!shares);
            beside += usize::from(shares && actions > 1);
        }
    }
    assert!(sharing > 50 && own > 50 && beside > 20, "{sharing} {own} {beside}");
}

/// Instances that play nothing share the rest pose.
#[test]
fn the_rest_pose_is_one_palette() {
    let (mut crowd, _, id, _) = chains(1);
    let mut idle = Vec::new();
    crowd.spawn_many(id, 20, &mut idle).unwrap();
    crowd.set_tiers(Some(shared(8))).unwrap();
    let mut bones = BoneBuffer::new();
    assert_eq!(crowd.evaluate(&mut bones).instances, 2);
    let first = crowd.palette_range(idle[0]).unwrap();
    assert!(idle.iter().all(|&i| crowd.palette_range(i) == Some(first.clone())));
}

/// Cells that no instance needs are used again: memory stays flat while clips come and go.
#[test]
fn unused_phases_are_freed_and_clips_can_be_unloaded() {
    let (mut crowd, all, id, clip) = chains(10);
    crowd.set_tiers(Some(shared(64))).unwrap();
    let mut bones = BoneBuffer::new();
    for _ in 0..200 {
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
    }
    let many = crowd.tier_stats().unwrap().shared_palettes;
    assert!(many > 60, "{many}");
    for &i in &all {
        crowd.player(i).unwrap().set_speed(0, clip, 0.0).unwrap();
    }
    for _ in 0..500 {
        crowd.evaluate(&mut bones);
    }
    let few = crowd.tier_stats().unwrap().shared_palettes;
    assert!(few <= 10, "{few}");
    for &i in &all {
        crowd.player(i).unwrap().stop(0, clip, 0.0).unwrap();
    }
    crowd.evaluate(&mut bones);
    let unloaded = crowd.unload_clip(clip).unwrap();
    crowd.evaluate(&mut bones);
    assert_eq!(crowd.tier_stats().unwrap().shared_palettes, 1);
    let clip = crowd.add_clip(id, unloaded).unwrap();
    crowd.play(all[0], clip, &PlayOptions::default()).unwrap();
    crowd.evaluate(&mut bones);
    assert!(crowd.shown(all[0]).is_some_and(|s| s.shared));
}

/// Shared palettes at low rates, a watched joint, a budget that begins, a clip that plays for the first time: with other
/// memory in the middle.
#[test]
fn lost_memory_has_the_same_bits() {
    for (rate, watch, budget) in
        [(4, false, None), (4, true, None), (1, true, Some(20)), (2, false, Some(7))]
    {
        let make = || {
            let (mut crowd, _, id, _) = chains(60);
            if watch {
                crowd.watch(id, &[1], PoseStage::After).unwrap();
            }
            let mut tiers = shared(64);
            tiers.tiers[0].rate = rate;
            crowd.set_tiers(Some(tiers)).unwrap();
            crowd
        };
        let run = |crowd: &mut Crowd, bones: &mut BoneBuffer, frames: std::ops::Range<usize>| {
            let all: Vec<InstanceId> = crowd.instances().collect();
            let frame = |frame: usize| {
                if frame == 20 {
                    crowd.set_budget(budget).unwrap();
                }
                let clip = crowd.clip_by_index(all[0].rig(), frame / 20 % 3).unwrap();
                let i = all[frame * 7 % 60];
                crowd.fade_to(i, clip, 0.1, &PlayOptions::default()).unwrap();
                // Clocks get old, and time reverses between two frames.
                crowd.advance(if frame % 50 == 3 { 100.0 } else { DT }).unwrap();
                if frame % 30 == 11 {
                    crowd.advance(-0.3).unwrap();
                    crowd.advance(0.1).unwrap();
                }
                crowd.evaluate(bones);
                palettes(crowd, bones, &all)
            };
            frames.map(frame).collect::<Vec<_>>()
        };
        lost_memory_changes_no_bit(make, run);
    }
}

/// Who takes the place of another has no palette before the next frame.
#[test]
fn a_new_instance_does_not_show_the_one_before_it() {
    let (mut crowd, all, id, clip) = chains(3);
    crowd.set_tiers(Some(shared(8))).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.advance(DT).unwrap();
    crowd.evaluate(&mut bones);
    assert!(crowd.palette_range(all[1]).is_some());
    crowd.despawn(all[1]).unwrap();
    let new = crowd.spawn(id).unwrap();
    assert_eq!(new.index(), all[1].index());
    crowd.play(new, clip, &PlayOptions::default()).unwrap();
    assert_eq!((crowd.palette_range(new), crowd.tier(new)), (None, None));
    assert_eq!((crowd.shown(new), crowd.shown(new).is_some_and(|s| s.shared)), (None, false));
    crowd.evaluate(&mut bones);
    assert!(crowd.palette_range(new).is_some());
    assert_eq!(crowd.tier(new), Some(0));
}

/// A crowd in which hardly two instances have the same phase keeps few palettes that no instance shows.
#[test]
fn shared_palettes_are_few_for_few_instances() {
    for count in [20, 200] {
        let (mut crowd, all, ..) = chains(count);
        crowd.set_tiers(Some(shared(2048))).unwrap();
        let mut bones = BoneBuffer::new();
        let mut most = 0;
        for _ in 0..400 {
            crowd.advance(0.37 * DT).unwrap();
            crowd.evaluate(&mut bones);
            most = most.max(crowd.tier_stats().unwrap().shared_palettes);
        }
        assert!(all.iter().all(|&i| crowd.shown(i).is_some_and(|s| s.shared)));
        // Four for each, and 64; those of the frame come to them.
        assert!(most <= 5 * count + 64, "{most} of {count}");
        assert!(most > count);
    }
}
