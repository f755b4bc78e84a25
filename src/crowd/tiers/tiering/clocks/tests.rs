use super::*;
use crate::crowd::{
    BoneBuffer, Crowd, CrowdSnapshot, InstanceId, LayerOptions, PlayOptions, PoseStage, RigId,
    Tier, Tiers,
};
use crate::math::Affine3x4;
use crate::playback::{ClipId, CrossFade, FadeKind, LoopMode, Sync};
use crate::rig::Rig;
use crate::scene::{OnRemove, SceneGraph};
use phalanx_testkit::lively::Dice;
use std::sync::Arc;

/// A crowd of the built-in character in which everything happens that starts, stops or reverses a clock.
struct Course {
    dice: Dice,
    crowd: Crowd,
    rig: Arc<Rig>,
    id: RigId,
    all: Vec<InstanceId>,
    scene: SceneGraph,
    saved: CrowdSnapshot,
    bones: BoneBuffer,
}

/// Known clocks that were compared with the playback state.
#[derive(Debug, Default)]
struct Known {
    forwards: usize,
    backwards: usize,
    still: usize,
    rest: usize,
    /// Value of the last chunk.
    last: usize,
}

impl Course {
    fn new(count: usize) -> Self {
        let mut crowd = Crowd::new();
        let rig = Arc::new(crate::import::mannequin().unwrap());
        let layers = vec![LayerOptions::default(); 2];
        let id = crowd.add_rig_with_layers(rig.clone(), layers).unwrap();
        let mut all = Vec::new();
        crowd.spawn_many(id, count, &mut all).unwrap();
        let tier = |height, rate, error| Tier {
            height,
            rate,
            shared_error: Some(error),
            ..Tier::default()
        };
        let tiers =
            Tiers { tiers: vec![tier(10.0, 1, 0.04), tier(0.0, 4, 0.15)], ..Tiers::default() };
        crowd.set_tiers(Some(tiers)).unwrap();
        // Most play something at first.
        let clips = (0..count).map(|n| crowd.clip_by_index(id, n % rig.clips().len()).unwrap());
        let clips: Vec<ClipId> = clips.collect();
        let most = count - count / 8;
        let options = [PlayOptions::default()];
        let played = crowd.play_many(&all[..most], 0, &clips[..most], &options);
        played.unwrap();
        Self {
            dice: Dice(7),
            rig,
            id,
            all,
            scene: SceneGraph::new(),
            saved: crowd.snapshot(),
            crowd,
            bones: BoneBuffer::new(),
        }
    }

    fn clip(&mut self) -> ClipId {
        let clip = self.dice.below(self.rig.clips().len());
        self.crowd.clip_by_index(self.id, clip).unwrap()
    }

    fn options(&mut self) -> PlayOptions {
        let dice = &mut self.dice;
        let modes = [LoopMode::Repeat, LoopMode::PingPong, LoopMode::Once];
        PlayOptions {
            speed: dice.below(41) as f32 / 10.0 - 2.0,
            loop_mode: modes[dice.below(6) % 3 * dice.below(2)],
            repetitions: dice.among(&[None, None, None, Some(2)]),
            time: dice.below(100) as f64 * 0.01,
            ..PlayOptions::default()
        }
    }

    /// A call on an instance. Refused calls are ignored.
    fn call(&mut self) {
        let i = self.dice.among(&self.all);
        let (clip, other, options) = (self.clip(), self.clip(), self.options());
        let joint = self.dice.below(4);
        let Self { dice, crowd, scene, .. } = self;
        let seconds = dice.among(&[0.0, 0.2]);
        let layer = dice.below(8) / 7;
        let yes = dice.below(2) == 0;
        let kind = dice.below(20);
        if let Ok(mut player) = crowd.player(i) {
            let of = dice.among(&[FadeKind::Blend, FadeKind::Inertial]);
            let sync = dice.among(&[Sync::No, Sync::Phase]);
            let fade = CrossFade { seconds: 0.4, kind: of, warp: yes, sync };
            let _ = match kind {
                0..3 => player.play(layer, clip, &options),
                3..6 => player.fade_to(layer, clip, seconds, &options),
                6 => player.set_character_speed(options.speed),
                7 => player.stop_all(seconds),
                8 => player.set_layer_speed(layer, options.speed),
                9 => player.cross_fade(0, clip, other, fade, &options),
                10 => player.set_paused(0, clip, yes),
                11 => player.set_speed(0, clip, dice.among(&[0.0, -1.0, 1.7])),
                12 => player.set_loop(0, clip, options.loop_mode, options.repetitions),
                13 => player.set_time(0, clip, options.time),
                _ => Ok(()),
            };
        }
        let _ = match kind {
            14 => crowd.set_visible(i, yes),
            15 => crowd.player(i).and_then(|mut p| p.set_override(joint, Affine3x4::IDENTITY)),
            16 => crowd.player(i).map(|mut p| p.clear_overrides()),
            17 => crowd.mirror(i, scene, Some(&[joint])).map(|_| ()),
            18 => crowd.unmirror(i, scene, OnRemove::Remove),
            19 => crowd.set_scheduled(i, yes),
            _ => Ok(()),
        };
    }

    /// A call on neighbours at once.
    fn bulk(&mut self) {
        let first = self.dice.below(self.all.len());
        let some = self.all[first..].iter().copied().take(7);
        let some: Vec<InstanceId> = some.collect();
        let (clips, options) = ([self.clip()], [self.options()]);
        let Self { dice, crowd, all, .. } = self;
        match dice.below(6) {
            0 => {
                // Others get their indices.
                crowd.despawn_many(&some).unwrap();
                all.drain(first..first + some.len());
                crowd.spawn_many(self.id, some.len(), all).unwrap();
            }
            1 | 2 => crowd.play_many(&some, 0, &clips, &options).unwrap(),
            3 => {
                let fades = [PlayOptions { fade_in: 0.2, ..options[0] }];
                crowd.play_many(&some, 0, &clips, &fades).unwrap();
            }
            // Some do not play it.
            4 => _ = crowd.set_times(&some, 0, &clips, &[0.1]),
            _ => _ = crowd.fade_many(&some, 0, &clips, &[0.5], &[0.0]),
        }
    }

    /// A call that concerns all instances: which are in the picture, watched joints, snapshots.
    fn direct(&mut self) {
        let Self { dice, crowd, id, .. } = self;
        match dice.below(40) {
            0 => crowd.watch(*id, &[3], PoseStage::After).unwrap(),
            1 => crowd.unwatch(*id, &[3], PoseStage::After).unwrap(),
            2 => self.saved = crowd.snapshot(),
            3 | 4 => {
                crowd.restore(&self.saved).unwrap();
                self.all = crowd.instances().collect();
            }
            5..8 => {
                let indices = crowd.view(*id).unwrap().alive.len();
                // Out of the picture, in one tier or the other.
                let height = |_| dice.among(&[0.0, 5.0, 20.0]);
                let given: Vec<f32> = (0..indices).map(height).collect();
                let none = dice.below(3) == 0;
                let given = if none { &[][..] } else { &given };
                crowd.set_importances(*id, given).unwrap();
            }
            _ => {}
        }
    }

    /// A step of time: forwards or backwards for a while, now and then by much, or there and back.
    fn step(&mut self, back: bool) {
        let Self { dice, crowd, .. } = self;
        let step = match dice.below(60) {
            0 => 5000.0,
            1 => 300.0,
            2 => 0.0,
            _ => 1.0 / 60.0,
        };
        let sign = if back { -1.0 } else { 1.0 };
        crowd.advance(sign * step).unwrap();
        if dice.below(10) == 0 {
            // The clock is another one, though it runs in the same direction.
            crowd.advance(sign * -0.5).unwrap();
            crowd.advance(sign * 0.1).unwrap();
        }
    }

    /// Every clock that is known is where the playback state has the action.
    fn compare(&self, frame: usize, known: &mut Known) {
        let pool = self.crowd.pools[0].as_ref().unwrap();
        let clocks = &self.crowd.tiering.pools[0].clocks;
        let now = pool.state().clock();
        for (index, clock) in clocks.all.iter().enumerate() {
            let (from, sign) = clocks.origins[index / CHUNK].unwrap();
            assert_eq!(sign, now.sign());
            let Some((clip, share)) = clock.after(now.since(from)) else {
                continue;
            };
            let at = || format!("frame {frame}, instance {index}");
            let (found, time) = pool.plays_alone(index, 0.0, true).unwrap();
            assert_eq!(clip, found, "{}", at());
            known.last += usize::from(index / CHUNK + 1 == clocks.origins.len());
            if clip == NO_CLIP {
                known.rest += 1;
                continue;
            }
            match clock.rate() {
                0.0 => known.still += 1,
                rate if rate < 0.0 => known.backwards += 1,
                _ => known.forwards += 1,
            }
            let length = self.rig.clips()[usize::from(clip)].duration();
            let error = (f64::from(share) / PASS - f64::from(time / length)).abs();
            let error = error.min(1.0 - error);
            // The time in seconds is an f32.
            assert!(error < CLOCK_ERROR + 1e-7, "{}: {error}", at());
        }
    }

    /// Runs `frames` frames with fewer than `calls` calls on instances each.
    fn run(&mut self, frames: usize, calls: usize) -> Known {
        let mut known = Known::default();
        for frame in 0..frames {
            for _ in 0..self.dice.below(calls) {
                self.call();
            }
            for _ in 0..self.dice.below(calls.div_ceil(6)) {
                self.bulk();
            }
            self.direct();
            self.step(frame / 20 % 3 == 1);
            self.crowd.evaluate(&mut self.bones);
            if frame % 4 == 0 {
                self.crowd.update_scene(&mut self.scene);
            }
            self.compare(frame, &mut known);
        }
        known
    }
}

#[test]
fn rates_have_37_bits() {
    let most = [FASTEST, -FASTEST, 0.0, 1.0, 1.0 / 3.0, -1e-300, 511.999_999_999_99];
    let random = (1..1000u32).map(|n| f64::from(n).sqrt() * 16.0 - 250.0);
    for rate in most.into_iter().chain(random) {
        let nearest = |rate| PhaseClock::new(0, 0, rate).rate();
        let found = nearest(rate);
        assert!((found - rate).abs() <= rate.abs() * 0.5f64.powi(37), "{rate}");
        assert_eq!(nearest(found), found);
    }
}

/// Whatever calls and steps there are, a clock that is known is where the action is.
#[test]
fn clocks_are_those_of_the_actions() {
    let known = Course::new(100).run(300, 6);
    let Known { forwards, backwards, still, rest, last } = known;
    assert!(forwards > 5_000 && backwards > 2_000, "{known:?}");
    assert!(still > 500 && rest > 1_000 && last > 10_000, "{known:?}");
}

/// In several chunks, of which the last one is not full.
#[test]
fn clocks_of_many_are_those_of_the_actions() {
    let known = Course::new(2 * CHUNK + 700).run(60, 700);
    assert!(known.forwards > 50_000, "{known:?}");
    assert!(known.last > 10_000, "{known:?}");
}
