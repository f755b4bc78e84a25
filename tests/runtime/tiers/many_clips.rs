//! Rigs with so many clips that palettes are sorted by them, and keys prefetched.

use super::{DT, apart, every, one, shared};
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions, Tiers};
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx_testkit::chain;
use phalanx_workload::live::{ClipSource, library};
use std::sync::Arc;

/// Clips of the built-in character: 4 MB of keys.
const CLIPS: usize = 150;
const COUNT: usize = 300;

fn many() -> Arc<Rig> {
    let rig = Arc::new(phalanx::import::mannequin().unwrap());
    let rig = library(&ClipSource::new(&rig), &[0, 1, 2], CLIPS).unwrap();
    let keys: usize = rig.clips().iter().map(|clip| clip.bytes()).sum();
    assert!(keys > 3 << 20, "{keys}");
    Arc::new(rig)
}

/// A crowd of characters with many clips, and some with one; every third crossfades.
fn crowd(rig: &Arc<Rig>, tiers: Option<Tiers>) -> (Crowd, Vec<InstanceId>) {
    let mut crowd = Crowd::new();
    let few = crowd.add_rig(chain::rig()).unwrap();
    let many = crowd.add_rig(rig.clone()).unwrap();
    crowd.set_tiers(tiers).unwrap();
    let mut all = Vec::new();
    for n in 0..COUNT {
        let rig = if n % 5 == 0 { few } else { many };
        let instance = crowd.spawn(rig).unwrap();
        let clips = crowd.rig(rig).unwrap().clips().len();
        let clip = |n: usize| crowd.clip_by_index(rig, n * 67 % clips).unwrap();
        let (first, second) = (clip(n), clip(n + 7));
        let options = PlayOptions { time: 0.037 * n as f64, ..PlayOptions::default() };
        crowd.play(instance, first, &options).unwrap();
        if n % 3 == 0 {
            crowd.fade_to(instance, second, 0.4, &options).unwrap();
        }
        all.push(instance);
    }
    (crowd, all)
}

/// The pairs of palettes of all instances in every frame, with the factor between them.
type Course = Vec<Vec<(Vec<Affine3x4>, Vec<Affine3x4>, f32)>>;

fn course(rig: &Arc<Rig>, tiers: Option<Tiers>, workers: usize, frames: usize) -> Course {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers);
    pool.build().unwrap().install(|| {
        let (mut crowd, all) = crowd(rig, tiers);
        let mut bones = BoneBuffer::new();
        let mut frame = |_| {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            let pair = |&i: &InstanceId| {
                let pair = crowd.shown(i).unwrap();
                let rows = |range: std::ops::Range<usize>| bones.rows()[range].to_vec();
                (rows(pair.from), rows(pair.to), pair.factor)
            };
            all.iter().map(pair).collect()
        };
        (0..frames).map(&mut frame).collect()
    })
}

#[test]
fn sorted_palettes_are_those_of_their_instances() {
    let rig = many();
    let frames = 12;
    let plain = course(&rig, None, 1, frames + 4);
    let full = course(&rig, Some(every(1, false)), 1, frames);
    assert_eq!(full[..], plain[..frames]);

    let pairs = course(&rig, Some(every(4, true)), 1, frames);
    // After the first update of all.
    for (n, frame) in pairs.iter().enumerate().skip(4) {
        for (i, (from, to, factor)) in frame.iter().enumerate() {
            // In which frames the two poses are reached.
            let part = (factor * 4.0).round() as usize;
            let (earlier, later) = (&plain[n - part][i].0, &plain[n - part + 4][i].0);
            assert!(apart(from, earlier) < 1e-3, "frame {n}, instance {i}");
            assert!(apart(to, later) < 1e-3, "frame {n}, instance {i}");
        }
    }

    let phases = course(&rig, Some(shared(1024)), 1, frames);
    for (n, (shared, plain)) in phases.iter().zip(&plain).enumerate() {
        for (i, (shared, plain)) in shared.iter().zip(plain).enumerate() {
            assert!(apart(&shared.0, &plain.0) < 0.02, "frame {n}, instance {i}");
        }
    }

    for tiers in [every(1, false), every(4, true), every(2, false), shared(64)] {
        let course = |workers| course(&rig, Some(tiers.clone()), workers, 5);
        assert_eq!(course(1), course(4));
    }
}

/// With a budget cells that are updated in every frame may wait. It can come at any time.
#[test]
fn a_budget_comes_later() {
    let rig = many();
    let (mut with, all) = crowd(&rig, Some(one(Default::default())));
    let mut bones = BoneBuffer::new();
    with.evaluate(&mut bones);
    with.set_budget(Some(10)).unwrap();
    let mut held = 0;
    for _ in 0..6 {
        with.advance(DT).unwrap();
        with.evaluate(&mut bones);
        held += with.tier_stats().unwrap().tiers[0].held;
    }
    assert!(held > 5 * (COUNT - 10 - COUNT / 3), "{held}");
    assert!(all.iter().all(|&i| with.palette_range(i).is_some()));
    with.set_budget(None).unwrap();
    with.advance(DT).unwrap();
    with.evaluate(&mut bones);
    let plain = course(&rig, None, 1, 7);
    for (n, &i) in all.iter().enumerate() {
        let rows = &bones.rows()[with.palette_range(i).unwrap()];
        assert_eq!(rows, plain[6][n].0);
    }
}
