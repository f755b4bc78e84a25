//! Where springs are kept: any number of workers, snapshots, tiers, instances that come and go.

use super::{STEP, body, chain, play, swinging, walk};
use crate::modifiers::{Body, Cast};
use crate::tiers::one;
use glam::Vec3;
use phalanx::crowd::{BoneBuffer, CrowdSnapshot, Tier};
use phalanx::playback::{Mixer, MixerSnapshot};
use phalanx_testkit::alloc::pool;
use phalanx_testkit::lively::{Dice, seal_snapshot};
use phalanx_testkit::rigs::finite;
use phalanx_testkit::vrm::Version;

const COUNT: usize = 40;

fn crowd(body: &Body) -> Cast {
    let (mut cast, _) = swinging(body, body.rig.springs(), COUNT, 1.0);
    for n in 0..COUNT {
        play(&mut cast.crowd, (cast.all[n], cast.rig), 0.1 * n as f64);
    }
    cast
}

fn step(cast: &mut Cast, frame: usize, dt: f64) {
    cast.crowd.advance(dt).unwrap();
    for n in 0..cast.all.len() {
        let world = walk(n, Vec3::ZERO, frame as f64 * dt);
        cast.crowd.set_world(cast.all[n], world).unwrap();
    }
}

#[test]
fn any_number_of_workers_gives_the_same_bits() {
    let (body, _) = body(Version::Newest);
    let frames = |threads| {
        pool(threads).install(|| {
            let mut cast = crowd(&body);
            let rows = (0..20).flat_map(|frame| {
                step(&mut cast, frame, 0.011);
                cast.frame()
            });
            let rows: Vec<_> = rows.collect();
            (rows, cast.crowd.snapshot().to_bytes())
        })
    };
    let one = frames(1);
    assert!(frames(2) == one && frames(5) == one);
}

/// A replay from a snapshot, in the same crowd and in another one from bytes, has the same bits.
#[test]
fn springs_go_on_after_a_restore() {
    let (body, _) = body(Version::Oldest);
    for dt in [STEP, 0.007] {
        let mut cast = crowd(&body);
        for frame in 0..25 {
            step(&mut cast, frame, dt);
            cast.frame();
        }
        let saved = cast.crowd.snapshot();
        let bytes = saved.to_bytes();
        let play = |cast: &mut Cast| -> Vec<_> {
            let frames = (25..45).map(|frame| {
                step(cast, frame, dt);
                cast.frame()
            });
            frames.collect()
        };
        let wanted = play(&mut cast);
        let mut other = crowd(&body);
        for cast in [&mut cast, &mut other] {
            cast.crowd.restore(&CrowdSnapshot::from_bytes(&bytes).unwrap()).unwrap();
            assert_eq!(cast.crowd.snapshot().to_bytes(), bytes);
            cast.frame();
            assert_eq!(cast.crowd.snapshot().to_bytes(), bytes, "a frame at the same time");
            assert!(play(cast) == wanted, "{dt}");
        }
        // Without their state they would be elsewhere.
        cast.crowd.restore(&saved).unwrap();
        cast.all.iter().for_each(|&i| cast.crowd.player(i).unwrap().rest_springs());
        assert!(play(&mut cast) != wanted);
    }
}

#[test]
fn a_mixer_keeps_its_springs_in_snapshots() {
    let (body, springs) = chain(4);
    let make = || {
        let mut mixer = Mixer::new(body.rig.clone()).unwrap();
        let by = mixer.add_modifier(springs.clone()).unwrap();
        mixer.player().fade_modifier(by, 1.0, 1.0).unwrap();
        mixer
    };
    let play = |mixer: &mut Mixer| -> Vec<_> {
        let frames = (0..20).map(|_| {
            mixer.advance(0.02).unwrap();
            mixer.evaluate().to_vec()
        });
        frames.collect()
    };
    let mut mixer = make();
    play(&mut mixer);
    let saved = mixer.snapshot().to_bytes();
    let wanted = play(&mut mixer);
    let mut other = make();
    other.restore(&MixerSnapshot::from_bytes(&saved).unwrap()).unwrap();
    assert!(play(&mut other) == wanted);
}

/// Snapshots of other springs are refused, and any bytes give an error or finite poses.
#[test]
fn snapshots_are_checked() {
    let (body, springs) = chain(3);
    let (mut cast, _) = swinging(&body, &springs, 2, 1.0);
    for frame in 0..9 {
        step(&mut cast, frame, 0.013);
        cast.frame();
    }
    let bytes = cast.crowd.snapshot().to_bytes();
    let mut other = springs.clone();
    other.chains[0].joints[1].drag = 0.3;
    let (mut wrong, _) = swinging(&body, &other, 2, 1.0);
    let refused = wrong.crowd.restore(&CrowdSnapshot::from_bytes(&bytes).unwrap());
    assert!(refused.is_err());
    let mut dice = Dice(11);
    let (mut read, mut restored) = (0, 0);
    for _ in 0..4000 {
        let mut changed = bytes.clone();
        for _ in 0..1 + dice.below(3) {
            let at = 32 + dice.below(changed.len() - 32);
            changed[at] = dice.among(&[0, 1, 0x7f, 0x80, 0xff, 0x3f]);
        }
        seal_snapshot(&mut changed);
        let Ok(snapshot) = CrowdSnapshot::from_bytes(&changed) else { continue };
        read += 1;
        if cast.crowd.restore(&snapshot).is_ok() {
            restored += 1;
            for _ in 0..2 {
                cast.crowd.advance(STEP).unwrap();
                cast.crowd.evaluate(&mut cast.bones);
                finite(cast.bones.rows(), "a changed snapshot");
                CrowdSnapshot::from_bytes(&cast.crowd.snapshot().to_bytes()).unwrap();
            }
        }
    }
    assert!(read > 1000 && restored > 500, "{read} {restored}");
}

/// Palettes that are held step when their turn comes; memory that is lost changes no bit.
#[test]
fn tiers_step_at_their_rate() {
    let (body, _) = body(Version::Newest);
    for (rate, interpolate) in [(2, false), (4, true), (8, false)] {
        let mut all = [(); 2].map(|()| crowd(&body));
        for cast in &mut all {
            let tier = Tier { rate, interpolate, ..Tier::default() };
            cast.crowd.set_tiers(Some(one(tier))).unwrap();
        }
        let mut dice = Dice(rate.into());
        let (mut swung, mut stood) = (0, 0);
        for frame in 0..40 {
            let lost = dice.below(3) == 0;
            for (loses, cast) in all.iter_mut().enumerate() {
                cast.crowd.advance(STEP).unwrap();
                if frame % 3 == 0 {
                    step(cast, frame, 0.0);
                }
                if loses == 1 && lost {
                    cast.bones = BoneBuffer::new();
                }
                cast.frame();
            }
            for n in 0..COUNT {
                let rows = all.each_ref().map(|cast| cast.rows(n));
                assert!(rows[0] == rows[1], "rate {rate}, frame {frame}, instance {n}");
            }
            let bytes = all.each_ref().map(|cast| cast.crowd.snapshot().to_bytes());
            assert!(bytes[0] == bytes[1], "rate {rate}, frame {frame}");
            let models = all[0].models(3);
            let rest = models[4] == body.rig.skeleton().rest_models()[4].into();
            (swung, stood) = (swung + usize::from(!rest), stood + usize::from(rest));
        }
        assert!(swung > stood);
    }
}

/// A tier that leaves springs out shows poses without them, and shares palettes.
#[test]
fn tiers_can_leave_springs_out() {
    let (body, _) = body(Version::Newest);
    for shared_error in [None, Some(0.01)] {
        let (mut with, mut without) = (crowd(&body), Cast::new(&body.rig, COUNT));
        for n in 0..COUNT {
            play(&mut without.crowd, (without.all[n], without.rig), 0.1 * n as f64);
        }
        for cast in [&mut with, &mut without] {
            let tier = Tier { springs: false, shared_error, ..Tier::default() };
            cast.crowd.set_tiers(Some(one(tier))).unwrap();
        }
        for frame in 0..12 {
            step(&mut with, frame, STEP);
            step(&mut without, frame, STEP);
            let (with, without) = (with.frame(), without.frame());
            assert!(with == without, "{shared_error:?}, frame {frame}");
        }
        let shared = |cast: &Cast, n: usize| cast.crowd.shown(cast.all[n]).unwrap().shared;
        assert!((0..COUNT).all(|n| shared(&with, n) == shared_error.is_some()));
        // Other modifiers still have palettes of their own.
        with.crowd.set_tiers(Some(one(Tier { shared_error, ..Tier::default() }))).unwrap();
        step(&mut with, 12, STEP);
        with.frame();
        assert!((0..COUNT).all(|n| !shared(&with, n)));
    }
}

/// An index that another instance takes begins at rest, as does a weight that leaves 0 again.
#[test]
fn instances_come_and_go() {
    let (body, springs) = chain(3);
    let (mut cast, by) = swinging(&body, &springs, 2, 1.0);
    for frame in 0..30 {
        step(&mut cast, frame, STEP);
        cast.frame();
    }
    let swung = cast.models(0);
    cast.crowd.despawn(cast.all[0]).unwrap();
    cast.all[0] = cast.crowd.spawn(cast.rig).unwrap();
    cast.crowd.player(cast.all[0]).unwrap().fade_modifier(by, 1.0, 0.0).unwrap();
    let mut player = cast.crowd.player(cast.all[1]).unwrap();
    player.fade_modifier(by, 0.0, 0.0).unwrap();
    player.fade_modifier(by, 1.0, 0.0).unwrap();
    cast.crowd.advance(STEP).unwrap();
    cast.frame();
    assert!(cast.models(0) != swung);
    let rest = body.rig.skeleton().rest_models();
    for (model, rest) in cast.models(0).iter().chain(&cast.models(1)).zip(rest.iter().cycle()) {
        let away = model.translation().distance(rest.translation.into());
        assert!(away < 1e-6, "{away}");
    }
    cast.crowd.remove_modifier(by).unwrap();
    cast.crowd.advance(STEP).unwrap();
    cast.frame();
    let bytes = cast.crowd.snapshot().to_bytes();
    assert!(bytes.len() < 400, "{}", bytes.len());
}
