//! Snapshots of mixers as bytes.

use phalanx::crowd::Crowd;
use phalanx::playback::{AtEnd, LoopMode, Mixer, MixerSnapshot, PlayOptions};
use phalanx_testkit::lively::{Dice, layers, seal_snapshot, travelling};

fn mixer() -> Mixer {
    let rig = travelling();
    let mut mixer = Mixer::with_layers(rig.clone(), layers(&rig)).unwrap();
    let clips = [0, 1, 2].map(|c| mixer.clip_by_index(c).unwrap());
    let points = [(0.0, clips[0]), (1.0, clips[1]), (2.0, clips[2])];
    mixer.add_blend_space(&points).unwrap();
    mixer
}

/// A mixer whose actions play.
fn playing(seed: u32) -> Mixer {
    let mut dice = Dice(seed);
    let mut mixer = mixer();
    for _ in 0..20 {
        let clip = mixer.clip_by_index(dice.below(4)).unwrap();
        let layer = dice.below(2);
        let options = PlayOptions {
            loop_mode: dice.among(&[LoopMode::PingPong, LoopMode::Repeat]),
            repetitions: dice.among(&[None, Some(4)]),
            at_end: dice.among(&[AtEnd::Hold, AtEnd::Stop, AtEnd::FadeOut(0.3)]),
            speed: dice.among(&[1.0, -0.5]),
            weight: 0.5,
            time: 0.25,
            fade_in: 0.125,
            parameter: (-1.5).into(),
        };
        let mut player = mixer.player();
        player.fade_to(layer, clip, 0.3, &options).unwrap();
        mixer.advance(0.05).unwrap();
    }
    mixer
}

#[test]
fn a_mixer_goes_on_in_another_one() {
    for seed in 0..40 {
        let mut one = playing(seed);
        let bytes = one.snapshot().to_bytes();
        let read = MixerSnapshot::from_bytes(&bytes).unwrap();
        assert!(read == one.snapshot() && read.to_bytes() == bytes);
        let mut two = mixer();
        two.restore(&read).unwrap();
        for frame in 0..60 {
            for mixer in [&mut one, &mut two] {
                let clip = mixer.clip_by_index(frame % 4).unwrap();
                if frame % 7 == 0 {
                    mixer.player().play(0, clip, &PlayOptions::default()).unwrap();
                }
                mixer.advance(0.04).unwrap();
            }
            assert_eq!(one.evaluate(), two.evaluate(), "{seed} {frame}");
            assert_eq!(one.root_motion(), two.root_motion());
            let events = |m: &Mixer| format!("{:?}", m.events());
            assert_eq!(events(&one), events(&two));
        }
        assert!(one.snapshot() == two.snapshot());
    }
}

#[test]
fn damaged_bytes_of_a_mixer_are_refused_or_play_on() {
    let bytes = playing(3).snapshot().to_bytes();
    for length in 0..bytes.len() {
        assert!(MixerSnapshot::from_bytes(&bytes[..length]).is_err());
        let mut short = bytes[..length].to_vec();
        seal_snapshot(&mut short);
        assert!(MixerSnapshot::from_bytes(&short).is_err());
    }
    let mut mixer = mixer();
    let mut accepted = 0;
    for at in 32..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            let refused = MixerSnapshot::from_bytes(&changed).unwrap_err().to_string();
            assert!(refused.contains("the checksum is"), "{refused}");
            seal_snapshot(&mut changed);
            if let Ok(read) = MixerSnapshot::from_bytes(&changed) {
                assert!(read.to_bytes() == changed);
                accepted += 1;
                if mixer.restore(&read).is_ok() {
                    mixer.advance(0.1).unwrap();
                    assert!(mixer.evaluate().iter().all(|row| row.is_finite()));
                }
            }
        }
    }
    assert!(accepted > 500, "{accepted}");
}

/// The stored form of a crowd's only rig is that of a mixer, but for the number of its instances.
#[test]
fn stored_mixers_have_one_instance() {
    // Before the rig in a crowd: the head, tag, rigs added, rigs, and whether the first is there.
    const BEFORE: usize = 32 + 2 + 4 + 4 + 1;
    let head = mixer().snapshot().to_bytes()[..32].to_vec();
    let read = |instances: usize| {
        let mut crowd = Crowd::new();
        let rig = crowd.add_rig(travelling()).unwrap();
        crowd.spawn_many(rig, instances, &mut Vec::new()).unwrap();
        let mut bytes = head.clone();
        bytes.extend_from_slice(&crowd.snapshot().to_bytes()[BEFORE..]);
        seal_snapshot(&mut bytes);
        MixerSnapshot::from_bytes(&bytes)
    };
    assert!(read(1).is_ok());
    for instances in [0, 2] {
        let refused = read(instances).unwrap_err().to_string();
        assert!(refused.ends_with("a mixer has one instance"), "{refused}");
    }
}
