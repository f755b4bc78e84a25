//! What is refused, and that baking depends on nothing but its input.

use super::made;
use super::support::rig_of;
use libtest_mimic::Failed;
use phalanx::bake::{BakeError, BakeOptions, MAX_BAKED_KEYS, bake, measure_error};
use phalanx::clip::Clip;
use phalanx::format::codec::{decode, encode};
use rayon::prelude::*;
use std::sync::Arc;

/// The same clips for any number of threads.
pub fn threads() -> Result<(), Failed> {
    let rig = rig_of("mannequin.glb")?.swap_remove(0);
    let settings = BakeOptions::default();
    let mut first = None;
    for threads in [1, 2, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let one = |raw: &Arc<Clip>| {
            let (clip, report) = bake(raw, rig.skeleton(), &settings)?;
            Ok::<_, BakeError>((clip.content_hash(), report))
        };
        let clips: Result<Vec<_>, _> = pool.install(|| rig.clips().par_iter().map(one).collect());
        let clips = clips?;
        for (clip, raw) in clips.iter().zip(rig.clips()) {
            assert_eq!(clip.0, bake(raw, rig.skeleton(), &settings)?.0.content_hash());
        }
        assert_eq!(*first.get_or_insert(clips.clone()), clips, "{threads} threads");
    }
    Ok(())
}

/// What is not keys stays.
pub fn what_stays() -> Result<(), Failed> {
    for rig in rig_of("mannequin.glb")? {
        for raw in rig.clips() {
            let (built, _) = bake(raw, rig.skeleton(), &BakeOptions::default())?;
            assert_eq!((built.name(), built.duration()), (raw.name(), raw.duration()));
            assert_eq!((built.kind(), built.markers()), (raw.kind(), raw.markers()));
            assert_eq!(built.root_motion(), raw.root_motion());
            assert!(built.timelines().eq(raw.timelines()));
        }
    }
    Ok(())
}

/// Key times that no block needs any more go, and the disk form keeps what is left to the bit.
pub fn unused_timelines() -> Result<(), Failed> {
    let rig = made::barely();
    let (raw, skeleton) = (&rig.clips()[0], rig.skeleton());
    assert_eq!(raw.timelines().len(), 2);
    let (built, _) = bake(raw, skeleton, &BakeOptions::default())?;
    assert_eq!(built.timelines().len(), 1);
    assert_eq!(built.timelines().next().map(|times| times[1]), Some(0.125));
    let read = decode(&encode(&built, skeleton)?, skeleton, built.name().to_owned(), Vec::new())?;
    assert_eq!(read.content_hash(), built.content_hash());
    Ok(())
}

/// The hash of what the baker makes of the built-in character. A change of the baker's output raises the baker's number in
/// `cli/src/bake/settings.rs`, too: otherwise `phalanx bake` skips outputs of the older baker.
pub fn pinned() -> Result<(), Failed> {
    let rig = rig_of("mannequin.glb")?.swap_remove(0);
    let mut hash = 0u64;
    for raw in rig.clips() {
        let (built, _) = bake(raw, rig.skeleton(), &BakeOptions::default())?;
        hash = hash.rotate_left(9) ^ built.content_hash();
    }
    assert_eq!(hash, 0x6635_90f4_f4bf_8a99, "{hash:#018x}");
    Ok(())
}

pub fn refusals() -> Result<(), Failed> {
    let rig = made::rig();
    let (skeleton, raw) = (rig.skeleton(), &rig.clips()[0]);
    let with = |change: fn(&mut BakeOptions)| {
        let mut settings = BakeOptions::default();
        change(&mut settings);
        bake(raw, skeleton, &settings).map(drop)
    };
    let setting = |setting, value| Err(BakeError::Setting { setting, value });
    assert_eq!(with(|s| s.max_error = 0.0), setting("max_error", 0.0));
    assert_eq!(with(|s| s.shell = -1.0), setting("shell", -1.0));
    assert_eq!(with(|s| s.scalar_error = f32::INFINITY), setting("scalar_error", f32::INFINITY));
    let nan = with(|s| s.max_error = f32::NAN);
    assert!(matches!(nan, Err(BakeError::Setting { value, .. }) if value.is_nan()));
    let joints = |joint_errors, joint_shells| BakeOptions {
        joint_errors,
        joint_shells,
        ..BakeOptions::default()
    };
    for (settings, error) in [
        (joints(vec![(9, 1.0)], Vec::new()), BakeError::Joint { joint: 9, joints: 9 }),
        (joints(Vec::new(), vec![(9, 1.0)]), BakeError::Joint { joint: 9, joints: 9 }),
        (
            joints(vec![(0, 0.0)], Vec::new()),
            BakeError::Setting { setting: "a joint's max_error", value: 0.0 },
        ),
        (
            joints(Vec::new(), vec![(0, -2.0)]),
            BakeError::Setting { setting: "a joint's shell", value: -2.0 },
        ),
    ] {
        assert_eq!(bake(raw, skeleton, &settings).map(drop), Err(error.clone()));
        assert_eq!(measure_error(raw, raw, skeleton, &settings).map(drop), Err(error));
    }
    let settings = BakeOptions::default();
    let additive = made::additive(&rig);
    let different = measure_error(raw, &additive, skeleton, &settings);
    assert!(matches!(different, Err(BakeError::Different { what: "the kind", .. })));
    let (joints, times) = (420, 40_000);
    let large = made::held_by(joints - 1, times);
    assert!(joints * times > MAX_BAKED_KEYS && (joints - 1) * times <= MAX_BAKED_KEYS);
    let error = Err(BakeError::TooLarge { clip: "held".into(), times, joints });
    let (skeleton_of_many, held) = (large.skeleton(), &large.clips()[0]);
    assert_eq!(bake(held, skeleton_of_many, &settings).map(drop), error);
    let measured = measure_error(held, held, skeleton_of_many, &settings);
    assert_eq!(measured.map(drop), error);
    let stranger = phalanx::import::mannequin()?;
    for error in [
        bake(&stranger.clips()[0], skeleton, &settings).map(drop),
        measure_error(raw, &stranger.clips()[0], skeleton, &settings).map(drop),
        bake(raw, stranger.skeleton(), &settings).map(drop),
    ] {
        let typed = matches!(error, Err(BakeError::Sample(_) | BakeError::Skeleton { .. }));
        assert!(typed, "{error:?}");
    }
    Ok(())
}
