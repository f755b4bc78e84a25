//! Grounds in snapshots.

use super::super::stored::changed_bytes_are_refused_or_finite;
use super::{Body, Cast, both, cast};
use glam::Vec3;
use phalanx::crowd::{CrowdSnapshot, PlayOptions};
use phalanx::playback::{Feet, Ground, ModifierId, PlaybackError};
use phalanx_testkit::lively::seal_snapshot;

fn played() -> (Cast, ModifierId) {
    let body = Body::character();
    let (mut cast, by) = cast(body, &both(body), 4);
    for n in 0..4 {
        let clip = cast.crowd.clip_by_index(cast.rig, n).unwrap();
        cast.crowd.play(cast.all[n], clip, &PlayOptions::default()).unwrap();
        let slope = Ground { height: 0.1 * n as f32, normal: Vec3::new(0.1, 1.0, 0.2) };
        if n < 3 {
            cast.stand(n, by, &[slope, Ground::level(0.05)], 0.3 * n as f32);
        }
    }
    cast.crowd.player(cast.all[1]).unwrap().fade_modifier(by, 1.0, 0.4).unwrap();
    cast.crowd.advance(0.1).unwrap();
    (cast, by)
}

/// Frames in which the ground follows from where feet are.
fn run(cast: &mut Cast, by: ModifierId) -> Vec<u64> {
    let frame = |_| {
        let mut at = vec![Vec3::ZERO; 8];
        cast.crowd.foot_positions(by, &cast.all, &mut at).unwrap();
        for (n, at) in at.chunks(2).enumerate() {
            let grounds = [at[0], at[1]].map(|at| Ground::level(0.3 * at.z + 0.1 * at.x));
            cast.crowd.player(cast.all[n]).unwrap().set_grounds(by, &grounds).unwrap();
        }
        cast.crowd.advance(1.0 / 30.0).unwrap();
        cast.crowd.evaluate(&mut cast.bones);
        cast.bones.hash()
    };
    (0..12).map(frame).collect()
}

#[test]
fn snapshots_bring_grounds_back() {
    let (mut cast, by) = played();
    cast.crowd.evaluate(&mut cast.bones);
    let saved = cast.crowd.snapshot();
    let read = CrowdSnapshot::from_bytes(&saved.to_bytes()).unwrap();
    assert!(read == saved && read.to_bytes() == saved.to_bytes());
    let wanted = run(&mut cast, by);
    for from in [&saved, &read] {
        // Positions are those of the moment of the snapshot, to the bit.
        cast.crowd.restore(from).unwrap();
        assert!(run(&mut cast, by) == wanted);
    }
    let mut other = Cast::new(&Body::character().rig, 0);
    other.crowd.add_modifier(other.rig, both(Body::character())).unwrap();
    other.crowd.restore(&read).unwrap();
    other.all = cast.all.clone();
    other.crowd.evaluate(&mut other.bones);
    assert!(run(&mut other, by) == wanted);
}

#[test]
fn snapshots_differ_where_grounds_do() {
    let (mut cast, by) = played();
    let saved = cast.crowd.snapshot();
    let mut seen = vec![saved.to_bytes()];
    for (n, grounds) in [
        (2, [Ground::level(0.2), Ground::level(0.05)]),
        (2, [Ground::level(0.2), Ground::level(0.06)]),
        (2, [Ground::level(0.2), Ground { height: 0.06, normal: Vec3::X }]),
        (3, [Ground::level(0.0); 2]),
    ] {
        cast.crowd.player(cast.all[n]).unwrap().set_grounds(by, &grounds).unwrap();
        let now = cast.crowd.snapshot();
        let bytes = now.to_bytes();
        assert!(!seen.contains(&bytes) && now != saved);
        assert!(CrowdSnapshot::from_bytes(&bytes).unwrap() == now);
        seen.push(bytes);
    }
}

#[test]
fn snapshots_of_other_feet_are_refused() {
    let body = Body::character();
    let (cast, _) = played();
    let saved = cast.crowd.snapshot();
    let good = both(body);
    let mut marked = good.clone();
    marked.feet[0].markers = Some(["a".into(), "b".into()]);
    let mut soft = good.clone();
    soft.feet[1].leg.soft = 0.1;
    let mut swapped = good.clone();
    swapped.feet.reverse();
    let root = Feet { pelvis: body.joint("Root"), ..good.clone() };
    let others = [
        Feet { reach: 0.4, ..good.clone() },
        Feet { tilt: 0.4, ..good.clone() },
        marked,
        soft,
        swapped,
        root,
    ];
    for (n, feet) in others.into_iter().enumerate() {
        let (mut other, _) = super::cast(body, &feet, 0);
        let error = other.crowd.restore(&saved).unwrap_err();
        assert!(matches!(error, PlaybackError::Snapshot { part: "modifiers", .. }), "{n}: {error}");
    }
    let (mut same, _) = super::cast(body, &good, 0);
    same.crowd.restore(&saved).unwrap();
}

/// A snapshot with any byte changed is refused, or gives finite palettes.
#[test]
fn hostile_grounds_are_refused_or_finite() {
    let (mut cast, _) = played();
    changed_bytes_are_refused_or_finite(&mut cast, &[1, 0x40]);
}

/// Grounds of more feet than the modifier has.
#[test]
fn grounds_without_a_foot_are_refused() {
    let body = Body::character();
    let two = both(body);
    let one = Feet { feet: two.feet[..1].to_vec(), ..two.clone() };
    let (mut small, _) = super::cast(body, &one, 0);
    // Without instances both snapshots differ in the modifier's hash alone, and in the check sum.
    let of = |feet: &Feet| super::cast(body, feet, 0).0.crowd.snapshot().to_bytes();
    let (of_one, of_two) = (of(&one), of(&two));
    let at = (32..of_one.len()).find(|&at| of_one[at] != of_two[at]).unwrap();
    let (of_one, of_two) = (&of_one[at..at + 8], &of_two[at..at + 8]);
    let mut bytes = played().0.crowd.snapshot().to_bytes();
    assert!(&bytes[at..at + 8] == of_two);
    bytes[at..at + 8].copy_from_slice(of_one);
    seal_snapshot(&mut bytes);
    let snapshot = CrowdSnapshot::from_bytes(&bytes).unwrap();
    let error = small.crowd.restore(&snapshot).unwrap_err().to_string();
    assert!(error.contains("targets in the snapshot do not fit"), "{error}");
}
