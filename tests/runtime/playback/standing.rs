//! At speed 0 a character stands still: times, fades and warps go on from there.

use super::stage::{marked, rig};
use phalanx::crowd::{BoneBuffer, Crowd, CrowdSnapshot, InstanceId, Tier, Tiers, View};
use phalanx::playback::{CrossFade, LayerOptions, Mixer, PlayOptions, Sync};

/// A mixer with two layers in the middle of a warped crossfade, a layer's fade, and a fade that ends its action.
fn fading() -> Mixer {
    let layers = vec![LayerOptions::default(), LayerOptions::default()];
    let mut mixer = Mixer::with_layers(rig(), layers).unwrap();
    let [a, b, c] = ["a", "b", "c"].map(|name| mixer.clip_named(name).unwrap());
    let options = PlayOptions::default();
    let mut player = mixer.player();
    player.play(0, a, &options).unwrap();
    let fade = CrossFade { seconds: 1.0, warp: true, sync: Sync::Phase, ..CrossFade::default() };
    player.cross_fade(0, a, c, fade, &options).unwrap();
    player.play(1, b, &options).unwrap();
    player.set_layer_weight(1, 0.0).unwrap();
    player.fade_layer(1, 0.75, 1.5).unwrap();
    player.stop(1, b, 1.25).unwrap();
    mixer.advance(0.4).unwrap();
    mixer
}

fn bits(mixer: &mut Mixer) -> Vec<u32> {
    let rows = mixer.evaluate().iter().flat_map(|m| m.rows);
    rows.flatten().map(f32::to_bits).collect()
}

#[test]
fn a_character_of_speed_0_keeps_its_pose() {
    let (mut mixer, mut twin) = (fading(), fading());
    let before = bits(&mut mixer);
    mixer.player().set_character_speed(0.0).unwrap();
    twin.player().set_character_speed(0.0).unwrap();
    let states = |mixer: &Mixer| {
        let layers = [0, 1].map(|l| {
            let playing = mixer.playing();
            let actions: Vec<_> = playing.actions(l).unwrap().collect();
            (playing.layer_weight(l).unwrap(), actions)
        });
        format!("{layers:?}")
    };
    let still = states(&mixer);
    assert_eq!(bits(&mut mixer), before);
    // Frames, steps back, hours and a leap of time.
    let steps = [0.01, 0.3, 2.0, -0.5, -3.0, 0.0, 0.2, 4000.0, 4000.0, 4000.0, 1e6, 0.1];
    for dt in steps {
        mixer.advance(dt).unwrap();
        assert!(mixer.events().is_empty());
        assert_eq!(bits(&mut mixer), before, "{dt}");
        assert_eq!(states(&mixer), still, "{dt}");
    }
    // A snapshot holds it, in memory and as bytes.
    let snapshot = mixer.snapshot();
    let bytes = snapshot.to_bytes();
    for snapshot in [snapshot, phalanx::playback::MixerSnapshot::from_bytes(&bytes).unwrap()] {
        let mut other = fading();
        other.restore(&snapshot).unwrap();
        other.advance(5.0).unwrap();
        assert_eq!(bits(&mut other), before);
        assert_eq!(states(&other), still);
    }
    // It goes on as if no time had passed.
    for mixer in [&mut mixer, &mut twin] {
        mixer.player().set_character_speed(1.0).unwrap();
    }
    let mut last = before;
    for frame in 0..90 {
        let rows = [&mut mixer, &mut twin].map(|mixer| {
            mixer.advance(1.0 / 60.0).unwrap();
            (bits(mixer), states(mixer))
        });
        assert_eq!(rows[0], rows[1], "{frame}");
        assert_ne!(rows[0].0, last, "{frame}");
        last.clone_from(&rows[0].0);
    }
    assert_eq!(mixer.playing().layer_weight(1), Ok(0.75));
}

#[test]
fn calls_act_on_a_character_that_stands() {
    let (mut mixer, a) = marked("a", &[0.0]);
    let c = mixer.clip_named("c").unwrap();
    let options = PlayOptions::default();
    mixer.player().set_character_speed(-0.0).unwrap();
    mixer.player().play(0, a, &options).unwrap();
    mixer.player().fade_to(0, c, 1.0, &options).unwrap();
    for _ in 0..100 {
        mixer.advance(0.1).unwrap();
        assert!(mixer.events().is_empty());
    }
    let weights =
        |mixer: &Mixer| [a, c].map(|clip| mixer.playing().action(0, clip).unwrap().weight);
    assert_eq!(weights(&mixer), [1.0, 0.0]);
    mixer.player().set_weight(0, a, 0.5).unwrap();
    mixer.advance(0.25).unwrap();
    assert_eq!(weights(&mixer), [0.5, 0.0]);
    // Fades take their seconds at any other speed.
    mixer.player().set_character_speed(0.25).unwrap();
    mixer.advance(0.5).unwrap();
    assert_eq!(weights(&mixer)[1], 0.5);
    assert_eq!(mixer.events().len(), 1);
    mixer.player().set_character_speed(0.0).unwrap();
    mixer.advance(0.5).unwrap();
    mixer.player().set_character_speed(-4.0).unwrap();
    mixer.advance(0.25).unwrap();
    assert_eq!(weights(&mixer)[1], 0.75);
}

#[test]
fn an_instance_of_a_crowd_stands_alone() {
    for tiers in [false, true] {
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig()).unwrap();
        let [a, c] = ["a", "c"].map(|name| crowd.clip_named(id, name).unwrap());
        if tiers {
            crowd.set_tiers(Some(Tiers::default())).unwrap();
            let unit =
                std::array::from_fn(|c| std::array::from_fn(|r| f32::from(u8::from(c == r))));
            let view = View { clip_from_world: unit, height: 1080.0, shadows: false };
            crowd.set_views(&[view]).unwrap();
        }
        let all: Vec<_> = (0..70).map(|_| crowd.spawn(id).unwrap()).collect();
        let options = PlayOptions::default();
        for &i in &all {
            crowd.play(i, a, &options).unwrap();
            crowd.fade_to(i, c, 2.0, &options).unwrap();
        }
        crowd.advance(0.5).unwrap();
        let (still, moves) = (all[66], all[67]);
        crowd.player(still).unwrap().set_character_speed(0.0).unwrap();
        let pose = |crowd: &Crowd, i| crowd.model_matrices(i).unwrap();
        let before = [still, moves].map(|i| pose(&crowd, i));
        let mut bones = BoneBuffer::new();
        let mut rows = None;
        for frame in 0..60 {
            if frame == 30 {
                let snapshot = crowd.snapshot();
                let bytes = snapshot.to_bytes();
                let read = CrowdSnapshot::from_bytes(&bytes).unwrap();
                assert!(read == snapshot && read.to_bytes() == bytes);
                crowd.restore(&CrowdSnapshot::from_bytes(&bytes).unwrap()).unwrap();
            }
            crowd.advance(1.0 / 60.0).unwrap();
            crowd.evaluate(&mut bones);
            assert_eq!(pose(&crowd, still), before[0]);
            let now = bones.rows()[crowd.palette_range(still).unwrap()].to_vec();
            let first = rows.get_or_insert_with(|| now.clone());
            assert_eq!(now, *first, "{frame}");
        }
        assert_ne!(pose(&crowd, moves), before[1]);
        assert_eq!(crowd.playing(still).unwrap().action(0, c).unwrap().weight, 0.25);
    }
}

/// In tiers of any rate, held, interpolated and shared, the rows of who stands stay the same.
#[test]
fn rows_of_tiers_stand_with_their_characters() {
    let kinds = [(4, false, None), (4, true, None), (8, true, Some(0.05)), (1, false, Some(0.05))];
    for (rate, interpolate, shared_error) in kinds {
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig()).unwrap();
        let [a, c] = ["a", "c"].map(|name| crowd.clip_named(id, name).unwrap());
        let all: Vec<_> = (0..24).map(|_| crowd.spawn(id).unwrap()).collect();
        let options = PlayOptions::default();
        for (n, &i) in all.iter().enumerate() {
            let time = n as f64 / 24.0;
            crowd.play(i, a, &PlayOptions { time, ..options }).unwrap();
        }
        let tier = Tier { rate, interpolate, shared_error, ..Tier::default() };
        let tiers = Tiers { tiers: vec![tier], ..Tiers::default() };
        crowd.set_tiers(Some(tiers)).unwrap();
        // Half of them are in the middle of a fade.
        for &i in &all[..12] {
            crowd.fade_to(i, c, 2.0, &options).unwrap();
        }
        let mut bones = BoneBuffer::new();
        for _ in 0..30 {
            crowd.advance(1.0 / 60.0).unwrap();
            crowd.evaluate(&mut bones);
        }
        let shares = |&i: &InstanceId| crowd.shown(i).is_some_and(|shown| shown.shared);
        assert_eq!(all.iter().any(shares), shared_error.is_some());
        let (still, moves) = (&all[6..18], [all[0], all[23]]);
        for &i in still {
            crowd.player(i).unwrap().set_character_speed(0.0).unwrap();
        }
        // What was predicted before the calls is gone after an update.
        for _ in 0..rate {
            crowd.advance(1.0 / 60.0).unwrap();
            crowd.evaluate(&mut bones);
        }
        let rows = |crowd: &Crowd, bones: &BoneBuffer, i| {
            bones.rows()[crowd.palette_range(i).unwrap()].to_vec()
        };
        let before: Vec<_> = still.iter().map(|&i| rows(&crowd, &bones, i)).collect();
        let moving = moves.map(|i| rows(&crowd, &bones, i));
        // Not a multiple of a second, the length of the clip.
        for frame in 0..50 {
            crowd.advance(1.0 / 60.0).unwrap();
            crowd.evaluate(&mut bones);
            for (i, before) in still.iter().zip(&before) {
                let now = rows(&crowd, &bones, *i);
                assert_eq!(now, *before, "{rate} {shared_error:?} {frame} {i}");
            }
        }
        for (i, before) in moves.into_iter().zip(moving) {
            assert_ne!(rows(&crowd, &bones, i), before, "{rate} {shared_error:?}");
        }
    }
}
