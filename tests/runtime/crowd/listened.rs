//! What is listened to changes which events there are, and nothing else: no bit of a time, a fade, a pose, a world
//! transform or a root motion. Nor does it matter which entries a step visits, or which instances are evaluated.

use super::walker;
use phalanx::crowd::{BoneBuffer, Crowd, LoopMode, PlayOptions};
use phalanx::playback::{Event, EventKind, EventKinds, RigId};
use phalanx_testkit::lively::{Dice, Lively};
use phalanx_testkit::ruler::{line, with_clips};
use std::sync::Arc;

const MARKERS: EventKinds = EventKinds { markers: true, ..EventKinds::NONE };
const LOOPS: EventKinds = EventKinds { loops: true, ..EventKinds::NONE };
const FINISHES: EventKinds = EventKinds { finishes: true, ..EventKinds::NONE };
const STOPS: EventKinds = EventKinds { stops: true, ..EventKinds::NONE };

fn listen(crowd: &mut Crowd, rigs: &[RigId], kinds: EventKinds) {
    for &rig in rigs {
        crowd.set_event_filter(rig, kinds).unwrap();
    }
}

fn kind_of(event: &Event, kinds: EventKinds) -> bool {
    match event.kind {
        EventKind::Marker => kinds.markers,
        EventKind::Looped => kinds.loops,
        EventKind::Finished => kinds.finishes,
        EventKind::Stopped => kinds.stops,
    }
}

/// Random plans of everything that playback has, steps backwards, of hours and of nothing, with twins that listen to
/// other kinds, of which one visits all entries in each step and one is never evaluated.
#[test]
fn what_is_listened_to_changes_no_bit() {
    for seed in [11, 12] {
        let mut dice = Dice(seed);
        let mut all = Lively::new();
        let mut twins =
            [EventKinds::NONE, MARKERS, LOOPS, FINISHES, STOPS, EventKinds::ALL].map(|kinds| {
                let mut twin = Lively::new();
                listen(&mut twin.crowd, &twin.rigs, kinds);
                (twin, kinds)
            });
        let mut buffers = [BoneBuffer::new(), BoneBuffer::new()];
        let (mut events, mut rows) = (0, 0);
        for round in 0..1200 {
            let start = dice.clone();
            all.round(&mut dice, &mut buffers[0]);
            let bytes = all.crowd.snapshot().to_bytes();
            events += all.crowd.events().len();
            rows += buffers[0].rows().len();
            for (n, (twin, kinds)) in twins.iter_mut().enumerate() {
                let mut again = start.clone();
                if *kinds == EventKinds::ALL {
                    // What is due is forgotten: the step visits all.
                    listen(&mut twin.crowd, &twin.rigs, EventKinds::NONE);
                    listen(&mut twin.crowd, &twin.rigs, EventKinds::ALL);
                }
                if n == 0 {
                    twin.round(&mut again, &mut buffers[1]);
                    assert_eq!(buffers[0].hash(), buffers[1].hash(), "{seed}: {round}");
                } else {
                    for _ in 0..again.below(6) {
                        twin.call(&mut again);
                    }
                    twin.step(&mut again);
                }
                let (have, want) = (twin.crowd.events(), all.crowd.events());
                let want_some = want.iter().filter(|event| kind_of(event, *kinds));
                // Of an action that drops events others are dropped if fewer kinds are listened to.
                if all.crowd.dropped_events() == 0 {
                    assert!(have.iter().eq(want_some), "{seed}: {round}: {kinds:?}");
                }
                for &rig in &all.rigs {
                    let roots = all.crowd.root_motion(rig).unwrap();
                    assert_eq!(twin.crowd.root_motion(rig).unwrap(), roots);
                }
                let same = twin.crowd.snapshot().to_bytes() == bytes;
                assert!(same, "{seed}: {round}: {kinds:?}");
            }
        }
        assert!(events > 2000 && rows > 10_000, "{events} {rows}");
    }
}

/// Root motion that nobody reads or applies is not computed, and everything else is the same.
#[test]
fn untracked_root_motion_changes_no_bit() {
    let twin = |track: bool| {
        let mut twin = Lively::new();
        let rig = twin.rigs[0];
        twin.crowd.apply_root_motion(rig, false).unwrap();
        twin.crowd.track_root_motion(rig, track).unwrap();
        (twin, Dice(5), BoneBuffer::new())
    };
    let (mut tracked, mut other) = (twin(true), twin(false));
    let mut moved = 0;
    for round in 0..800 {
        let frames = [&mut tracked, &mut other].map(|(twin, dice, buffer)| {
            let frame = twin.round(dice, buffer);
            (frame, twin.crowd.snapshot().to_bytes())
        });
        assert!(frames[0] == frames[1], "{round}");
        let rig = tracked.0.rigs[0];
        moved += tracked.0.crowd.root_motion(rig).unwrap().instances.len();
        let none = other.0.crowd.root_motion(rig).unwrap();
        assert!(none.instances.is_empty());
        if round % 100 == 99 {
            // Tracked for a step, and no longer.
            other.0.crowd.track_root_motion(rig, true).unwrap();
            for (twin, _, _) in [&mut tracked, &mut other] {
                twin.crowd.advance(0.25).unwrap();
            }
            let [now, then] = [&tracked, &other].map(|t| t.0.crowd.root_motion(rig).unwrap());
            assert_eq!(now, then);
            other.0.crowd.track_root_motion(rig, false).unwrap();
        }
    }
    assert!(moved > 1000, "{moved}");
}

/// Applied root motion moves, tracked or not, whatever is listened to.
#[test]
fn applied_root_motion_is_always_computed() {
    let run = |kinds, track| {
        let mut crowd = Crowd::with_tag(3).unwrap();
        let rig = crowd.add_rig(walker::rig()).unwrap();
        crowd.apply_root_motion(rig, true).unwrap();
        crowd.track_root_motion(rig, track).unwrap();
        crowd.set_event_filter(rig, kinds).unwrap();
        let clip = crowd.clip_by_index(rig, 0).unwrap();
        let walker = crowd.spawn(rig).unwrap();
        crowd.play(walker, clip, &PlayOptions::default()).unwrap();
        for _ in 0..600 {
            crowd.advance(1.0 / 60.0).unwrap();
        }
        let roots = format!("{:?}", crowd.root_motion(rig).unwrap());
        (*crowd.world(walker).unwrap(), roots)
    };
    let all = run(EventKinds::ALL, true);
    assert_ne!(all.0, phalanx::math::Affine3x4::IDENTITY);
    assert_eq!(run(EventKinds::NONE, false), all);
}

/// Many passes that nobody listens to: time, count of passes and clip time are those of arithmetic.
#[test]
fn passes_are_counted_unheard() {
    let rig = with_clips(vec![line("x", 1.0, [1.0, 0.0, 0.0])]);
    for mode in [LoopMode::Repeat, LoopMode::PingPong] {
        for speed in [1.0f32, -0.5, 7.25] {
            let mut crowd = Crowd::new();
            let id = crowd.add_rig(Arc::clone(&rig)).unwrap();
            crowd.set_event_filter(id, EventKinds::NONE).unwrap();
            let clip = crowd.clip_by_index(id, 0).unwrap();
            let options = PlayOptions { loop_mode: mode, speed, ..PlayOptions::default() };
            let i = crowd.spawn(id).unwrap();
            crowd.play(i, clip, &options).unwrap();
            // Steps that are exact, over more than the longest wait.
            for step in 1..=11_000 {
                crowd.advance(1.0 + 0.0625).unwrap();
                let time = 1.0625 * f64::from(step) * f64::from(speed);
                let have = crowd.playing(i).unwrap().action(0, clip).unwrap();
                assert_eq!(have.loops, time.floor(), "{mode:?} {speed} {step}");
                assert_eq!(have.time, mode.clip_time(time, 1.0), "{mode:?} {speed}");
                assert!(!have.finished);
            }
        }
    }
}
