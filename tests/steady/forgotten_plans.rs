//! Thousands of pairs of clips, one after another: their plans are forgotten in time, and nothing else is.

use phalanx::crowd::{BoneBuffer, ClipId, Crowd, InstanceId, PlayOptions};
use phalanx::import::mannequin;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use phalanx_testkit::alloc;
use std::collections::HashMap;
use std::sync::Arc;

/// Clips under handles of their own: 3,160 pairs.
const CLIPS: usize = 80;
/// By then plans have been forgotten once, of those that are kept at most (1,024).
const WARM: usize = 1_200;

/// Two clips of the rig, by index, half way from one to the other.
fn play(crowd: &mut Crowd, instance: InstanceId, [a, b]: [ClipId; 2]) {
    let options = |weight, time| PlayOptions { weight, time, ..PlayOptions::default() };
    let mut player = crowd.player(instance).unwrap();
    player.stop_all(0.0).unwrap();
    player.play(0, a, &options(0.5, 0.3)).unwrap();
    player.add(0, b, &options(0.5, 0.2)).unwrap();
}

/// What a crowd shows that has never played anything else.
fn alone(rig: &Arc<Rig>, clips: [usize; 2]) -> Vec<Affine3x4> {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let instance = crowd.spawn(id).unwrap();
    // A clip beside itself is a second handle.
    let second = match clips[0] == clips[1] {
        true => crowd.add_clip(id, rig.clips()[clips[1]].clone()).unwrap(),
        false => crowd.clip_by_index(id, clips[1]).unwrap(),
    };
    let first = crowd.clip_by_index(id, clips[0]).unwrap();
    play(&mut crowd, instance, [first, second]);
    let mut buffer = BoneBuffer::new();
    crowd.evaluate(&mut buffer);
    buffer.rows().to_vec()
}

#[test]
fn three_thousand_pairs_of_clips() {
    let _alone = alloc::alone();
    // One worker: the allocator counts by threads.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    pool.build().unwrap().install(pairs);
}

fn pairs() {
    let rig = Arc::new(mannequin().unwrap());
    let own = rig.clips().len();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let mut clips: Vec<ClipId> = (0..own).map(|c| crowd.clip_by_index(id, c).unwrap()).collect();
    while clips.len() < CLIPS {
        let clip = rig.clips()[clips.len() % own].clone();
        clips.push(crowd.add_clip(id, clip).unwrap());
    }
    // One changes its clips all the time; the others stay with theirs while plans are forgotten.
    let calm = [[0, 1], [4, 2], [3, 3 + own]];
    let instances: Vec<InstanceId> = (0..=calm.len()).map(|_| crowd.spawn(id).unwrap()).collect();
    for (&instance, pair) in instances[1..].iter().zip(calm) {
        play(&mut crowd, instance, pair.map(|c| clips[c]));
    }
    let mut expected: HashMap<[usize; 2], Vec<Affine3x4>> = HashMap::new();
    for a in 0..own {
        for b in 0..own {
            expected.insert([a, b], alone(&rig, [a, b]));
        }
    }
    let mut buffer = BoneBuffer::new();
    alloc::start();
    let (mut shown, mut warm) = (0, 0);
    for a in 0..CLIPS {
        for b in a + 1..CLIPS {
            play(&mut crowd, instances[0], [clips[a], clips[b]]);
            crowd.evaluate(&mut buffer);
            let all = [[a, b]].into_iter().chain(calm);
            for (&instance, pair) in instances.iter().zip(all) {
                let rows = &buffer.rows()[crowd.palette_range(instance).unwrap()];
                let right = rows == expected[&pair.map(|c| c % own)];
                assert!(right, "after {shown} pairs: clips {pair:?}");
            }
            shown += 1;
            if shown == WARM {
                warm = alloc::peak();
            }
        }
    }
    assert!(shown > 3_000, "{shown} pairs");
    let most = alloc::peak();
    assert!(most <= warm + warm / 10, "{most} bytes after {shown} pairs, {warm} after {WARM}");
}
