//! What a crowd refuses, and that nothing changes by it.

use phalanx::crowd::{Crowd, CrowdError, PlayOptions, Unknown};
use phalanx::math::Affine3x4;
use phalanx::skeleton::LookupError;
use phalanx_testkit::chain::rig;
use std::sync::Arc;

#[test]
fn handles_know_their_rig() {
    let mut crowd = Crowd::new();
    let (one, two) = (crowd.add_rig(rig()).unwrap(), crowd.add_rig(rig()).unwrap());
    let a = crowd.clip_named(one, "a").unwrap();
    let i = crowd.spawn(two).unwrap();
    let options = PlayOptions::default();
    let why = Unknown::OtherRig { here: two, user: "this instance" };
    assert_eq!(
        crowd.play(i, a, &options),
        Err(CrowdError::UnknownClip { clip: a, why, rig: crowd.rig(two).unwrap().name().into() })
    );
    crowd.remove_rig(one).unwrap();
    let again = crowd.add_rig(rig()).unwrap();
    let j = crowd.spawn(again).unwrap();
    let refused = crowd.play(j, a, &options).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "clip 0 belongs to rig 0, this instance is of rig 2 (\"{}\")",
            crowd.rig(again).unwrap().name()
        )
    );
}

#[test]
fn refused_calls_change_nothing() {
    let rig = rig();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let a = crowd.clip_named(id, "a").unwrap();
    let i = crowd.spawn(id).unwrap();
    crowd.play(i, a, &PlayOptions::default()).unwrap();
    let before = crowd.snapshot();
    for bad in [f32::NAN, f32::INFINITY, -1e30] {
        assert!(crowd.player(i).unwrap().set_character_speed(bad).is_err());
        assert!(crowd.advance(f64::from(bad)).is_err());
        assert!(crowd.fade_to(i, a, bad, &PlayOptions::default()).is_err());
        assert!(crowd.player(i).unwrap().set_time(0, a, f64::from(bad)).is_err());
        assert!(crowd.player(i).unwrap().set_weight(0, a, bad).is_err());
        assert!(crowd.player(i).unwrap().set_layer_weight(0, bad).is_err());
        let options = PlayOptions { speed: bad, ..PlayOptions::default() };
        assert!(crowd.play(i, a, &options).is_err());
    }
    let mut world = Affine3x4::IDENTITY;
    world.rows[0][3] = f32::NAN;
    let refused = crowd.set_world(i, world).unwrap_err();
    assert!(
        matches!(refused, CrowdError::Beyond { instance, value, .. } if instance == i && value.is_nan())
    );
    let out = LookupError::JointIndex { joint: 20, joints: 20 };
    assert_eq!(crowd.model_matrix(i, 20), Err(CrowdError::Lookup(out)));
    let used = |by: &'static str| move |e: CrowdError| matches!(e, CrowdError::InUse { users, .. } if users.starts_with(by));
    assert!(crowd.remove_rig(id).is_err_and(used("1 instance")));
    assert!(crowd.unload_clip(a).is_err_and(used("1 action")));
    assert_eq!(crowd.snapshot(), before);
    let other = Crowd::new();
    assert!(matches!(other.rig(id), Err(CrowdError::UnknownRig { .. })));

    // Stale handles are known as such.
    crowd.despawn(i).unwrap();
    assert!(matches!(crowd.despawn(i), Err(CrowdError::UnknownInstance { .. })));
    let again = crowd.spawn(id).unwrap();
    assert_ne!(again, i);
    assert!(crowd.play(i, a, &PlayOptions::default()).is_err());
    assert_eq!(crowd.palette_range(again), None);
    let unloaded = crowd.unload_clip(a).unwrap();
    assert_eq!(unloaded.name(), "a");
    assert!(matches!(
        crowd.play(again, a, &PlayOptions::default()),
        Err(CrowdError::UnknownClip { .. })
    ));
    crowd.despawn(again).unwrap();
    let held = crowd.remove_rig(id).unwrap();
    drop((unloaded, crowd));
    drop(rig);
    assert_eq!(Arc::strong_count(&held), 1, "nothing else holds the rig");
}
