//! Snapshots as bytes: the same bits in a crowd of another process, and nothing from bytes that are damaged.

use phalanx::crowd::{BoneBuffer, Crowd, CrowdError, CrowdSnapshot, PlayOptions};
use phalanx::format::{Library, RigOptions};
use phalanx::playback::{Mixer, MixerSnapshot, SNAPSHOT_VERSION};
use phalanx_testkit::lively::{Dice, Lively, seal_snapshot};
use phalanx_testkit::ruler::{line, ruler, with_clips};
use std::path::Path;
use std::sync::Arc;

/// Where bytes are no snapshot, and why.
fn misread(error: CrowdError) -> (u64, String) {
    match error {
        CrowdError::SnapshotBytes { offset, fault } => (offset, fault),
        other => panic!("{other}"),
    }
}

/// A crowd after some rounds.
fn lively(seed: u32, rounds: usize) -> Lively {
    let (mut dice, mut buffer) = (Dice(seed), BoneBuffer::new());
    let mut lively = Lively::new();
    for _ in 0..rounds {
        lively.round(&mut dice, &mut buffer);
    }
    lively
}

/// At other SIMD levels: `tests/palette_hash`.
#[test]
fn a_crowd_goes_on_in_another_one() {
    let mut dice = Dice(1);
    let mut original = Lively::new();
    let mut buffers = [BoneBuffer::new(), BoneBuffer::new()];
    for round in 0..1500 {
        original.round(&mut dice, &mut buffers[0]);
        if round % 25 != 7 {
            continue;
        }
        let snapshot = original.crowd.snapshot();
        let bytes = snapshot.to_bytes();
        let read = CrowdSnapshot::from_bytes(&bytes).unwrap_or_else(|e| panic!("{round}: {e}"));
        assert!(read.to_bytes() == bytes, "{round}");
        // It has another tag, and another past.
        let mut other = Lively::with_tag(8);
        for _ in 0..round % 4 {
            other.round(&mut Dice(round), &mut buffers[1]);
        }
        other.crowd.restore(&read).unwrap();
        // It took over the tag, so the handles of the original are its own.
        other.adopt(&original);
        assert!(other.crowd.snapshot().to_bytes() == bytes, "{round}");
        let mut again = dice.clone();
        // After a restore, instances that are not scheduled have no rows to keep.
        buffers = [BoneBuffer::new(), BoneBuffer::new()];
        for frame in 0..20 {
            let one = original.round(&mut dice, &mut buffers[0]);
            let two = other.round(&mut again, &mut buffers[1]);
            assert_eq!(one, two, "{round}: {frame}");
        }
        let bytes = original.crowd.snapshot().to_bytes();
        assert!(other.crowd.snapshot().to_bytes() == bytes, "{round}");
    }
}

/// Every truncation, every byte behind the end, every changed byte.
#[test]
fn damaged_bytes_are_refused() {
    let lively = lively(3, 60);
    let bytes = lively.crowd.snapshot().to_bytes();
    CrowdSnapshot::from_bytes(&bytes).unwrap();
    assert!(bytes.len() > 1000, "{}", bytes.len());
    for length in 0..bytes.len() {
        assert!(CrowdSnapshot::from_bytes(&bytes[..length]).is_err(), "{length}");
    }
    let extra = CrowdSnapshot::from_bytes(&[&bytes[..], &[0]].concat()).unwrap_err();
    let (expected, have) = (bytes.len() as u64, bytes.len() as u64 + 1);
    let fault = format!("the end is at byte {expected}, but the bytes continue to {have}");
    assert_eq!(misread(extra).1, fault);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 1 << (at % 8);
        assert!(CrowdSnapshot::from_bytes(&changed).is_err(), "{at}");
    }
    // Behind a valid checksum, too.
    for length in 32..bytes.len() {
        let mut short = bytes[..length].to_vec();
        seal_snapshot(&mut short);
        let error = CrowdSnapshot::from_bytes(&short).unwrap_err();
        let (offset, fault) = misread(error);
        assert!(offset <= length as u64, "{length}: {fault}");
    }
    let mut long = [&bytes[..], &[0; 3]].concat();
    seal_snapshot(&mut long);
    let (_, fault) = misread(CrowdSnapshot::from_bytes(&long).unwrap_err());
    assert!(fault.starts_with("the end is at byte"), "{fault}");
}

/// Whatever the bytes say, what is read plays on.
#[test]
fn changed_values_are_refused_or_play_on() {
    let mut source = lively(5, 80);
    let bytes = source.crowd.snapshot().to_bytes();
    let mut dice = Dice(9);
    let mut buffer = BoneBuffer::new();
    let (mut accepted, mut restored) = (0, 0);
    for _ in 0..6000 {
        let mut changed = bytes.clone();
        for _ in 0..=dice.below(3) {
            let at = 32 + dice.below(bytes.len() - 32);
            changed[at] = match dice.below(4) {
                0 => 0,
                1 => 255,
                2 => changed[at] ^ (1 << dice.below(8)),
                _ => dice.below(256) as u8,
            };
        }
        seal_snapshot(&mut changed);
        let Ok(read) = CrowdSnapshot::from_bytes(&changed) else {
            continue;
        };
        assert!(read.to_bytes() == changed, "two forms of one snapshot");
        accepted += 1;
        if accepted % 8 != 0 {
            continue;
        }
        let before = source.crowd.snapshot();
        match source.crowd.restore(&read) {
            Ok(()) => {
                restored += 1;
                for _ in 0..3 {
                    source.round(&mut dice, &mut buffer);
                }
                assert!(buffer.rows().iter().all(|row| row.is_finite()));
            }
            Err(CrowdError::Snapshot { .. }) => assert!(source.crowd.snapshot() == before),
            Err(other) => panic!("{other}"),
        }
        source = lively(5, 80);
    }
    assert!(accepted > 500 && restored > 50, "{accepted} {restored}");
}

#[test]
fn the_head_is_checked_first() {
    let bytes = Crowd::with_tag(3).unwrap().snapshot().to_bytes();
    let error = |bytes: &[u8]| CrowdSnapshot::from_bytes(bytes).unwrap_err();
    for other in [&b""[..], b"glTF"] {
        assert_eq!(misread(error(other)), (0, "this is not a snapshot".into()));
    }
    let mut newer = bytes.clone();
    newer[8..10].copy_from_slice(&(SNAPSHOT_VERSION + 1).to_le_bytes());
    let have = SNAPSHOT_VERSION + 1;
    assert_eq!(error(&newer[..10]), CrowdError::SnapshotVersion { have });
    assert_eq!(error(&newer), CrowdError::SnapshotVersion { have });
    newer[8..10].copy_from_slice(&[0; 2]);
    assert_eq!(error(&newer), CrowdError::SnapshotVersion { have: 0 });
    let mixer = Mixer::new(ruler()).unwrap().snapshot().to_bytes();
    let (offset, kind) = misread(error(&mixer));
    assert!(offset == 10 && kind.contains("of kind 2, needed is kind 1"), "{offset} {kind}");
    assert!(MixerSnapshot::from_bytes(&bytes).is_err());
    assert!(MixerSnapshot::from_bytes(&mixer).is_ok());
}

/// Errors of a restore name what differs.
#[test]
fn errors_name_what_differs() {
    let crowd = |rig| {
        let mut crowd = Crowd::with_tag(2).unwrap();
        crowd.add_rig(rig).unwrap();
        crowd
    };
    let snapshot = crowd(ruler()).snapshot().to_bytes();
    let snapshot = CrowdSnapshot::from_bytes(&snapshot).unwrap();
    let farther =
        with_clips(vec![line("x", 1.0, [1.0, 0.0, 0.0]), line("y", 1.0, [0.0, 3.0, 0.0])]);
    let (there, here) = (ruler().clips()[1].content_hash(), farther.clips()[1].content_hash());
    let error = crowd(farther).restore(&snapshot).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "the snapshot does not fit: clip 1 (\"y\") of rig 0 (\"ruler\") has the hash {here:016x}, in the \
             snapshot {there:016x}"
        )
    );
    assert!(matches!(error, CrowdError::Snapshot { part: "clips", .. }));
}

const STEP: f64 = 1.0 / 16.0;

/// What the stored file was made of: a crowd of the rig in `library-1.phx`.
fn stored() -> (Crowd, Vec<phalanx::crowd::InstanceId>) {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let library = Library::open(&data.join("library-1.phx")).unwrap();
    let rig = Arc::new(library.rig(&RigOptions::default()).unwrap());
    let mut crowd = Crowd::with_tag(5).unwrap();
    let id = crowd.add_rig(rig).unwrap();
    let clips: Vec<_> = (0..2).filter_map(|c| crowd.clip_by_index(id, c)).collect();
    crowd.add_blend_space(id, &[(0.0, clips[0]), (1.0, clips[1])]).unwrap();
    let mut all = Vec::new();
    crowd.spawn_many(id, 4, &mut all).unwrap();
    let ping_pong = PlayOptions {
        loop_mode: phalanx::playback::LoopMode::PingPong,
        time: 0.125,
        ..PlayOptions::default()
    };
    crowd.play_many(&all, 0, &[clips[0]], &[ping_pong]).unwrap();
    crowd.fade_to(all[1], clips[1], 0.5, &PlayOptions::default()).unwrap();
    crowd.player(all[2]).unwrap().set_override(0, phalanx_testkit::ruler::shift(0.5)).unwrap();
    crowd.despawn(all[3]).unwrap();
    crowd.advance(STEP).unwrap();
    (crowd, all)
}

/// `PHALANX_STORE=1 cargo test --test runtime stored` rewrites the file, which is allowed only before a version is
/// released.
#[test]
fn versions_are_read_for_ever() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let path = data.join(format!("snapshot-{SNAPSHOT_VERSION}.phs"));
    let (mut crowd, all) = stored();
    let expected = crowd.snapshot();
    if std::env::var_os("PHALANX_STORE").is_some() {
        std::fs::write(&path, expected.to_bytes()).unwrap();
    }
    let bytes = std::fs::read(&path).unwrap();
    assert!(bytes == expected.to_bytes());
    crowd.stop_everything(&all);
    crowd.restore(&CrowdSnapshot::from_bytes(&bytes).unwrap()).unwrap();
    assert!(crowd.snapshot() == expected);
    let playing = crowd.playing(all[1]).unwrap();
    let actions: Vec<_> = playing.actions(0).unwrap().map(|(_, state)| state).collect();
    let weight = (2.0 * STEP) as f32;
    assert_eq!((actions[0].weight, actions[1].weight), (1.0 - weight, weight));
    assert_eq!((actions[0].time, actions[1].time), (0.125 + STEP, STEP));
    assert_eq!(crowd.instance_count(), 3);
    assert_eq!(crowd.spawn(all[3].rig()).unwrap().index(), 3);
}

trait StopEverything {
    fn stop_everything(&mut self, all: &[phalanx::crowd::InstanceId]);
}

impl StopEverything for Crowd {
    /// So that nothing is left of what the snapshot brings.
    fn stop_everything(&mut self, all: &[phalanx::crowd::InstanceId]) {
        for &instance in &all[..3] {
            self.player(instance).unwrap().stop_all(0.0).unwrap();
            self.player(instance).unwrap().clear_overrides();
        }
        self.advance(1.0).unwrap();
    }
}

/// Fades of a character of speed 0 stand still.
#[test]
fn bytes_of_characters_that_stand_count_no_ticks() {
    const SPEED: f32 = 1.5;
    let (mut crowd, all) = stored();
    let stands = PlayOptions { speed: 0.0, ..PlayOptions::default() };
    let [walk, run] = [0, 1].map(|c| crowd.clip_by_index(all[0].rig(), c).unwrap());
    crowd.play(all[0], walk, &stands).unwrap();
    crowd.fade_to(all[0], run, 1.0, &stands).unwrap();
    crowd.player(all[0]).unwrap().set_character_speed(SPEED).unwrap();
    // A visit after which it stands still, and ticks since then.
    crowd.advance(STEP).unwrap();
    crowd.advance(3.0 * STEP).unwrap();
    let mut bytes = crowd.snapshot().to_bytes();
    let mut places = bytes.windows(4).enumerate();
    let mut places = places.by_ref().filter(|(_, b)| *b == SPEED.to_le_bytes());
    let (at, next) = (places.next().unwrap().0, places.next());
    assert!(next.is_none());
    bytes[at..at + 4].fill(0);
    seal_snapshot(&mut bytes);
    let refused = CrowdSnapshot::from_bytes(&bytes).unwrap_err();
    assert!(refused.to_string().ends_with("a character stands still and ages"), "{refused}");
}

/// Where an instance stood that is gone is neither state nor stored: who compares two sides for differences gets none.
#[test]
fn snapshots_are_equal_if_their_bytes_are() {
    let crowd = |moved: bool| {
        let mut crowd = Crowd::with_tag(7).unwrap();
        let rig = crowd.add_rig(ruler()).unwrap();
        let [stays, goes] = [0; 2].map(|_| crowd.spawn(rig).unwrap());
        if moved {
            let far = glam::Affine3A::from_translation(glam::vec3(4.0, 5.0, 6.0));
            crowd.set_world(goes, far).unwrap();
            crowd.set_visible(goes, false).unwrap();
            crowd.set_scheduled(goes, false).unwrap();
            let mut player = crowd.player(goes).unwrap();
            player.set_layer_speed(0, 2.0).unwrap();
            player.set_character_speed(3.0).unwrap();
        }
        crowd.advance(0.5).unwrap();
        crowd.despawn(goes).unwrap();
        (crowd, stays)
    };
    let ((one, stays), (mut other, _)) = (crowd(true), crowd(false));
    let [a, b] = [one.snapshot(), other.snapshot()];
    assert!(a.to_bytes() == b.to_bytes());
    assert!(a == b);
    // What is stored tells them apart, to the last bit.
    other.set_world(stays, glam::Affine3A::from_translation(glam::vec3(-0.0, 0.0, 0.0))).unwrap();
    assert!(one.snapshot() != other.snapshot());
    assert!(one.snapshot().to_bytes() != other.snapshot().to_bytes());
    // Many of one past, in memory and as read.
    let mut all = Vec::new();
    for seed in 0..4 {
        for rounds in [0, 1, 30] {
            let snapshot = lively(seed, rounds).crowd.snapshot();
            all.push(CrowdSnapshot::from_bytes(&snapshot.to_bytes()).unwrap());
            all.push(snapshot);
        }
    }
    for a in &all {
        for b in &all {
            assert_eq!(a == b, a.to_bytes() == b.to_bytes());
        }
    }
}
