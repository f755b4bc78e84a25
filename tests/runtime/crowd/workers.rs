//! A step of a crowd is the same for any number of workers: events, root motion, worlds, times and weights.

use super::walker;
use phalanx::clip::Marker;
use phalanx::crowd::{AtEnd, Crowd, InstanceId, LoopMode, PlayOptions};
use phalanx::playback::{BlendSpaceId, ClipId, CrossFade, Playable};
use phalanx::rig::Rig;
use phalanx_testkit::ruler::{line, with_clips};
use phalanx_workload::hash01;
use std::fmt::Write;
use std::sync::Arc;

const COUNT: usize = 1500;

fn marked() -> Arc<Rig> {
    let clips = vec![
        line("x", 1.0, [1.0, 0.0, 0.0]),
        line("y", 0.7, [0.0, 2.0, 0.0]),
        line("z", 2.0, [0.0, 0.0, 3.0]),
    ];
    let mut rig = Arc::into_inner(with_clips(clips)).unwrap();
    for (clip, times) in [(0, [0.25, 1.0]), (1, [0.0, 0.5])] {
        let markers = times.map(|t| Marker::new("step", t)).into();
        rig.set_markers(clip, markers).unwrap();
    }
    Arc::new(rig)
}

struct Stage {
    crowd: Crowd,
    instances: Vec<InstanceId>,
    clips: Vec<ClipId>,
    space: BlendSpaceId,
}

impl Stage {
    fn new(rig: Arc<Rig>, travels: bool) -> Self {
        let mut crowd = Crowd::with_tag(7).unwrap();
        let id = crowd.add_rig(rig.clone()).unwrap();
        crowd.apply_root_motion(id, travels).unwrap();
        let clips: Vec<_> =
            (0..rig.clips().len()).map(|c| crowd.clip_by_index(id, c).unwrap()).collect();
        let points = [(0.0, clips[0]), (1.0, clips[1])];
        let space = crowd.add_blend_space(id, &points).unwrap();
        let instances = (0..COUNT).map(|_| crowd.spawn(id).unwrap()).collect();
        Self { crowd, instances, clips, space }
    }

    /// Some calls, by the number of the frame.
    fn play(&mut self, frame: u64) {
        for (n, &i) in self.instances.iter().enumerate() {
            let seed = frame * COUNT as u64 + n as u64;
            let random = |k: u64| hash01(seed * 8 + k);
            if frame > 0 && random(0) > 0.1 {
                continue;
            }
            let clip = self.clips[(random(1) * self.clips.len() as f64) as usize];
            let motion = match random(2) < 0.2 {
                true => Playable::Space(self.space),
                false => Playable::Clip(clip),
            };
            let modes = [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong];
            let options = PlayOptions {
                speed: (3.0 * random(3) - 1.0) as f32,
                loop_mode: modes[(random(4) * 3.0) as usize],
                at_end: [AtEnd::Hold, AtEnd::Stop][usize::from(random(5) < 0.3)],
                parameter: (random(6) as f32).into(),
                time: random(7),
                ..PlayOptions::default()
            };
            let mut player = self.crowd.player(i).unwrap();
            let playing = player.playing().actions(0).unwrap().next();
            match playing {
                Some((from, _)) if random(5) > 0.8 => {
                    let fade = CrossFade { warp: true, ..0.2.into() };
                    let _refused = player.cross_fade(0, from, motion, fade, &options);
                }
                _ => player.fade_to(0, motion, 0.3, &options).unwrap(),
            }
        }
    }

    /// Everything that can be read after a step.
    fn look(&self) -> String {
        let mut all = String::new();
        let crowd = &self.crowd;
        for event in crowd.events() {
            writeln!(all, "{event:?}").unwrap();
        }
        let roots = crowd.root_motion(self.instances[0].rig()).unwrap();
        writeln!(all, "{} {roots:?}", crowd.dropped_events()).unwrap();
        for &i in &self.instances {
            let playing = crowd.playing(i).unwrap();
            for action in playing.actions(0).unwrap() {
                writeln!(all, "{action:?}").unwrap();
            }
            writeln!(all, "{:?}", crowd.world(i).unwrap()).unwrap();
        }
        all
    }
}

#[test]
fn steps_are_the_same_for_any_number_of_workers() {
    for (rig, travels) in [(marked(), false), (walker::rig(), true)] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut stage = Stage::new(rig.clone(), travels);
                let mut seen = Vec::new();
                let mut events = 0;
                for frame in 0..24 {
                    stage.play(frame);
                    // Backwards for a while, and once for hours.
                    let dt = match frame {
                        10 => 1e4,
                        11..15 => -1.0 / 30.0,
                        _ => 1.0 / 30.0,
                    };
                    stage.crowd.advance(dt).unwrap();
                    events += stage.crowd.events().len();
                    seen.push(stage.look());
                }
                assert!(events > COUNT, "{events}");
                seen
            })
        };
        let one = run(1);
        for threads in [2, 7, 32] {
            assert!(run(threads) == one, "{threads} workers, {travels}");
        }
    }
}
