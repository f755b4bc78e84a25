//! Arbitrary sequences of crowd calls: never a panic, refused calls change nothing.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions};
use phalanx::offline::mannequin;
use phalanx::playback::LoopMode;
use phalanx::rig::Rig;
use std::sync::{Arc, OnceLock};

#[derive(Arbitrary, Debug)]
enum Call {
    Spawn,
    Despawn(u8),
    Play(u8, u8, f32, f64, f32, u8),
    Fade(u8, u8, f32, f32),
    Stop(u8, u8, f32),
    Speed(u8, f32),
    Time(u8, u8, f64),
    Weight(u8, u8, f32),
    LayerWeight(u8, u8, f32),
    Visible(u8, bool),
    Advance(f64),
    Evaluate,
    Unload(u8),
    Snapshot,
    Restore,
    Ask(u8, u16),
}

static RIG: OnceLock<Arc<Rig>> = OnceLock::new();

fuzz_target!(|calls: Vec<Call>| {
    let rig = RIG.get_or_init(|| Arc::new(mannequin().expect("the built-in character loads")));
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).expect("an empty crowd takes a rig");
    let mut instances: Vec<InstanceId> = Vec::new();
    let mut buffer = BoneBuffer::new();
    let mut saved = None;
    for call in calls.into_iter().take(200) {
        let pick = |n: u8| instances.get(usize::from(n) % instances.len().max(1)).copied();
        let clip = |crowd: &Crowd, n: u8| crowd.clip_by_index(id, usize::from(n) % 11);
        let before = crowd.snapshot();
        let refused = match call {
            Call::Spawn if instances.len() < 64 => match crowd.spawn(id) {
                Ok(i) => {
                    instances.push(i);
                    false
                }
                Err(_) => true,
            },
            Call::Spawn => false,
            Call::Despawn(i) => pick(i).is_some_and(|i| crowd.despawn(i).is_err()),
            Call::Play(i, c, speed, time, weight, mode) => {
                let options = PlayOptions {
                    speed,
                    time,
                    weight,
                    loop_mode: [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong]
                        [usize::from(mode % 3)],
                };
                match (pick(i), clip(&crowd, c)) {
                    (Some(i), Some(c)) => crowd.play(i, c, &options).is_err(),
                    _ => false,
                }
            }
            Call::Fade(i, c, seconds, speed) => {
                let options = PlayOptions {
                    speed,
                    ..PlayOptions::default()
                };
                match (pick(i), clip(&crowd, c)) {
                    (Some(i), Some(c)) => crowd.fade_to(i, c, seconds, &options).is_err(),
                    _ => false,
                }
            }
            Call::Stop(i, layer, s) => {
                pick(i).is_some_and(|i| crowd.stop(i, usize::from(layer), s).is_err())
            }
            Call::Speed(i, s) => pick(i).is_some_and(|i| crowd.set_speed(i, s).is_err()),
            Call::Time(i, c, t) => match (pick(i), clip(&crowd, c)) {
                (Some(i), Some(c)) => crowd.set_time(i, 0, c, t).is_err(),
                _ => false,
            },
            Call::Weight(i, c, w) => match (pick(i), clip(&crowd, c)) {
                (Some(i), Some(c)) => crowd.set_weight(i, 0, c, w).is_err(),
                _ => false,
            },
            Call::LayerWeight(i, l, w) => {
                pick(i).is_some_and(|i| crowd.set_layer_weight(i, usize::from(l), w).is_err())
            }
            Call::Visible(i, v) => pick(i).is_some_and(|i| crowd.set_visible(i, v).is_err()),
            Call::Advance(dt) => crowd.advance(dt).is_err(),
            Call::Evaluate => {
                crowd.evaluate(&mut buffer);
                let finite = buffer.rows().iter().all(|r| r.is_finite());
                assert!(finite, "a palette of the built-in character is finite");
                false
            }
            Call::Unload(c) => match clip(&crowd, c) {
                Some(c) => crowd.unload_clip(id, c).is_err(),
                None => false,
            },
            Call::Snapshot => {
                saved = Some(crowd.snapshot());
                false
            }
            Call::Restore => saved.as_ref().is_some_and(|s| crowd.restore(s).is_err()),
            Call::Ask(i, joint) => {
                if let Some(i) = pick(i) {
                    let _ = crowd.bounds(i);
                    let _ = crowd.model_matrix(i, usize::from(joint));
                    let _ = crowd.palette_range(i);
                }
                false
            }
        };
        if refused {
            assert!(crowd.snapshot() == before, "a refused call changes nothing");
        }
    }
});
