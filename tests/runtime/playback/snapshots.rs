//! Snapshots of mixers: what is called after a restore gives the bits of the first time, and a snapshot that does not
//! fit changes nothing.

use phalanx::math::Affine3x4;
use phalanx::playback::{
    BlendSpaceId, ClipId, CrossFade, FadeKind, Fill, LayerOptions, LoopMode, Mixer, MixerSnapshot,
    PlayOptions, Playable, PlaybackError, Sync,
};
use phalanx_testkit::ruler::{busy, line, ruler, turn, with_clips};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn unit(&mut self) -> f32 {
        self.below(1024) as f32 / 1024.0
    }
}

fn layers() -> Vec<LayerOptions> {
    let above = LayerOptions { fill: Fill::Below, ..LayerOptions::default() };
    vec![LayerOptions::default(), above]
}

fn mixer() -> (Mixer, BlendSpaceId) {
    let clips = vec![
        line("x", 1.0, [1.0, 0.0, 0.0]),
        turn("turn", 0.0, 90.0),
        busy("busy"),
        line("y", 0.7, [0.0, 2.0, 0.0]),
    ];
    let mut mixer = Mixer::with_layers(with_clips(clips), layers()).unwrap();
    let [x, y] = ["x", "y"].map(|name| mixer.clip_named(name).unwrap());
    let space = mixer.add_blend_space(&[(0.0, x), (1.0, y)]).unwrap();
    (mixer, space)
}

/// What a frame shows: palette and events.
type Shown = (Vec<Affine3x4>, Vec<String>);

/// One frame of a plan: a few calls, which may be refused, then a step.
fn frame(mixer: &mut Mixer, space: BlendSpaceId, random: &mut Random) -> Shown {
    for _ in 0..2 {
        let clip: ClipId = mixer.clip_by_index(random.below(4)).unwrap();
        let other = mixer.clip_by_index(random.below(4)).unwrap();
        let motion =
            if random.below(4) == 0 { Playable::Space(space) } else { Playable::Clip(clip) };
        let (layer, seconds) = (random.below(2), random.unit());
        let modes = [LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong];
        let options = PlayOptions {
            speed: 4.0 * random.unit() - 2.0,
            loop_mode: modes[random.below(3)],
            time: f64::from(random.unit()),
            weight: random.unit(),
            fade_in: random.unit(),
            parameter: random.unit().into(),
            ..PlayOptions::default()
        };
        let _refused = match random.below(13) {
            0 => mixer.player().fade_to(layer, motion, seconds, &options),
            1 | 2 => mixer.player().restart(layer, motion, &options),
            3 | 4 => mixer.player().stop(layer, motion, seconds),
            5 | 6 => mixer.player().play(layer, motion, &options),
            7 => mixer.player().fade_to(0, motion, seconds, &options),
            8 => mixer.player().add(layer, motion, &options),
            9 => mixer.player().fade_layer(layer, seconds, 0.5),
            10 => mixer.player().set_layer_speed(layer, 2.0 * seconds),
            11 => mixer.player().set_character_speed(2.0 * seconds),
            12 => mixer.player().set_parameter(layer, space, seconds),
            _ => {
                let kind = if seconds < 0.5 { FadeKind::Inertial } else { FadeKind::Blend };
                let fade = CrossFade { seconds, kind, warp: true, sync: Sync::Phase };
                let mut player = mixer.player();
                player.cross_fade(layer, motion, other, fade, &options)
            }
        };
    }
    mixer.advance(f64::from(random.unit()) * 0.1).unwrap();
    let events = mixer.events().iter().map(|event| format!("{event:?}"));
    let events = events.collect();
    (mixer.evaluate().to_vec(), events)
}

#[test]
fn a_replay_gives_the_same_bits_and_events() {
    let (mut fired, mut differ) = (0, 0);
    for seed in 0..20 {
        let (mut mixer, space) = mixer();
        let mut random = Random(seed);
        for _ in 0..30 {
            frame(&mut mixer, space, &mut random);
        }
        let snapshot = mixer.snapshot();
        let then = Random(random.0);
        let first: Vec<Shown> = (0..40).map(|_| frame(&mut mixer, space, &mut random)).collect();
        fired += first.iter().map(|shown| shown.1.len()).sum::<usize>();
        mixer.restore(&snapshot).unwrap();
        assert!(mixer.snapshot() == snapshot);
        // A clip and a blend space that were added since are no hindrance.
        let added = mixer.clip_by_index(0).unwrap();
        let clip = mixer.clip(added).unwrap().clone();
        mixer.add_clip(clip).unwrap();
        mixer.add_blend_space(&[(0.5, added)]).unwrap();
        mixer.restore(&snapshot).unwrap();
        assert!(mixer.events().is_empty());
        let mut random = Random(then.0);
        for (n, shown) in first.iter().enumerate() {
            let again = frame(&mut mixer, space, &mut random);
            assert_eq!(again.0, shown.0, "seed {seed}, frame {n}");
            assert_eq!(again.1, shown.1, "seed {seed}, frame {n}");
        }
        // Another mixer of the same rig takes it, whatever it played.
        let (mut other, space) = self::mixer();
        let mut random = Random(99);
        frame(&mut other, space, &mut random);
        other.restore(&snapshot).unwrap();
        let mut random = Random(then.0);
        for shown in &first {
            let again = frame(&mut other, space, &mut random);
            assert_eq!(again, *shown);
        }
        differ += usize::from(first[0].0 != first[39].0);
    }
    assert!(fired > 100 && differ > 15, "{fired} {differ}");
}

/// Asserts that a mixer refuses a snapshot, and that nothing changes by it.
#[track_caller]
fn refused(mixer: &mut Mixer, snapshot: &MixerSnapshot, what: &'static str) {
    let (before, events) = (mixer.snapshot(), mixer.events().len());
    let refused = mixer.restore(snapshot);
    let Err(PlaybackError::Snapshot { part, .. }) = refused else {
        panic!("{what}: {refused:?}");
    };
    assert_eq!(part, what);
    assert!(mixer.snapshot() == before, "{what}: something changed");
    assert_eq!(mixer.events().len(), events);
}

#[test]
fn snapshots_that_do_not_fit_change_nothing() {
    let (mut mixer, space) = mixer();
    let x = mixer.clip_named("x").unwrap();
    mixer.player().play(0, x, &PlayOptions::default()).unwrap();
    mixer.advance(1.5).unwrap();
    assert_eq!(mixer.events().len(), 1);
    let snapshot = mixer.snapshot();
    // Other clips, another number of layers, another skeleton.
    let other = Mixer::with_layers(ruler(), layers()).unwrap();
    refused(&mut mixer, &other.snapshot(), "clips");
    let one_layer = Mixer::new(mixer.rig().clone()).unwrap();
    refused(&mut mixer, &one_layer.snapshot(), "layers");
    let chain = Mixer::with_layers(super::stage::rig(), layers()).unwrap();
    refused(&mut mixer, &chain.snapshot(), "rigs");
    // A blend space and a clip that have gone.
    mixer.remove_blend_space(space).unwrap();
    refused(&mut mixer, &snapshot, "blend spaces");
    let y = mixer.clip_named("y").unwrap();
    let without = mixer.snapshot();
    mixer.unload_clip(y).unwrap();
    refused(&mut mixer, &without, "clips");
}
