//! Blend spaces by speed and velocity: characters travel at what is asked, on made and on real files.

use glam::DVec3;
use phalanx::build::{BuildOptions, RootMotionOptions};
use phalanx::crowd::Crowd;
use phalanx::import::{ImportOptions, import_path, mannequin};
use phalanx::playback::{
    BlendSpace, BlendSpaceId, ClipId, Feet, LayerOptions, Mixer, PlayOptions, PlaybackError,
};
use phalanx::rig::Rig;
use phalanx_testkit::lively::Dice;
use phalanx_testkit::oracle::blend_space::follow;
use phalanx_testkit::{ruler, trials};
use std::sync::Arc;

/// The velocity of a character over three passes.
fn travels(mixer: &mut Mixer, space: BlendSpaceId) -> DVec3 {
    let phase = |mixer: &Mixer| {
        let state = mixer.playing().action(0, space).unwrap();
        state.loops + state.time
    };
    let before = phase(mixer);
    mixer.advance(0.0625).unwrap();
    // Files move unevenly within a pass, so steps are parts of one.
    let pass = 0.0625 / (phase(mixer) - before);
    let mut way = DVec3::ZERO;
    for _ in 0..3 * 48 {
        mixer.advance(pass / 48.0).unwrap();
        way += mixer.root_motion().translation;
    }
    way / (3.0 * pass)
}

fn named<const N: usize>(mixer: &Mixer, names: [&str; N]) -> [ClipId; N] {
    names.map(|name| mixer.clip_named(name).unwrap())
}

/// A file of the asset folders; `None` if it is missing and assets are not required.
fn asset(name: &str) -> Option<Mixer> {
    let path = trials::model(name)?;
    let root_motion = Some(RootMotionOptions::default());
    let options = ImportOptions { root_motion, ..ImportOptions::default() };
    let mut imported = import_path(&path, &options).unwrap();
    Some(Mixer::new(Arc::new(imported.rigs.swap_remove(0))).unwrap())
}

/// Between any two gaits of a real file; a space by its values alone falls short.
#[test]
fn real_characters_travel_at_the_asked_speed() {
    let Some(mut mixer) = asset("pab.glb") else { return };
    let clips = named(&mixer, ["run", "walk", "jog"]);
    let space = mixer.add_blend_space(BlendSpace::by_speed(&clips)).unwrap();
    let points = points(mixer.rig(), &["run", "walk", "jog"], BlendSpace::by_speed);
    let stated = [(1.07, "walk"), (3.12, "jog"), (5.02, "run")];
    let near = points.iter().zip(stated).all(|(p, s)| (p.0 - s.0).abs() < 0.01 && p.1 == s.1);
    assert!(near && points.len() == 3, "{points:?}");
    let plain = [0, 1, 2].map(|i| (points[i].0 as f32, clips[[1, 2, 0][i]]));
    let plain = mixer.add_blend_space(&plain).unwrap();
    let mut short = 0.0f64;
    for asked in [1.1f32, 1.6, 2.0, 2.9, 3.2, 4.4, 5.0] {
        let options = PlayOptions { parameter: asked.into(), ..PlayOptions::default() };
        for space in [space, plain] {
            mixer.player().stop_all(0.0).unwrap();
            mixer.player().play(0, space, &options).unwrap();
            let reads = mixer.playing().action(0, space).unwrap().parameter.unwrap();
            assert!((reads.x - asked).abs() < 2e-6 && reads.y == 0.0);
        }
        let off = f64::from(asked) - travels(&mut mixer, plain).length();
        short = short.max(off);
        mixer.player().play(0, space, &options).unwrap();
        let have = travels(&mut mixer, space).length();
        assert!((have / f64::from(asked) - 1.0).abs() < 1e-4, "{asked}: {have}");
    }
    assert!(short > 0.05, "{short}");
    // Beyond the ends, the clip there plays at its own speed.
    for (asked, speed) in [(0.2f32, points[0].0), (9.0, points[2].0)] {
        mixer.player().set_parameter(0, space, asked).unwrap();
        let have = travels(&mut mixer, space).length();
        assert!((have - speed).abs() < 1e-4, "{asked}: {have} {speed}");
    }
    // One clip that stands, four times as long as the other.
    let Some(mut mixer) = asset("mannequin.glb") else { return };
    let clips = named(&mixer, ["Walk_RootMotion", "Idle"]);
    let space = mixer.add_blend_space(BlendSpace::by_speed(&clips)).unwrap();
    for asked in [0.1f32, 0.7, 1.3] {
        let options = PlayOptions { parameter: asked.into(), ..PlayOptions::default() };
        mixer.player().restart(0, space, &options).unwrap();
        let have = travels(&mut mixer, space);
        assert!((have.z - f64::from(asked)).abs() < 1e-4 * f64::from(asked), "{asked}: {have}");
    }
}

/// The values of a space, and the names of its clips.
fn points(
    rig: &Arc<Rig>,
    names: &[&str],
    of: impl Fn(&[ClipId]) -> BlendSpace,
) -> Vec<(f64, String)> {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig.clone()).unwrap();
    let clips: Vec<_> = names.iter().map(|name| crowd.clip_named(id, name).unwrap()).collect();
    let space = crowd.add_blend_space(id, of(&clips)).unwrap();
    let all = crowd.blend_space(space).unwrap();
    all.map(|(at, clip)| (at.x.into(), crowd.clip(clip).unwrap().name().into())).collect()
}

/// In every direction, with clips of different lengths.
#[test]
fn made_characters_travel_at_the_asked_velocity() {
    let ways = [
        ("idle", 3.0, [0.0, 0.0]),
        ("ahead", 1.0, [0.1, 1.5]),
        ("back", 0.8, [-0.1, -0.9]),
        ("left", 0.7, [0.9, 0.0]),
        ("right", 1.3, [-1.1, 0.2]),
        ("fast", 0.5, [0.3, 1.9]),
    ];
    let lines = ways.iter().map(|&(name, s, [x, z])| ruler::line(name, s, [x, 0.0, z]));
    let root = RootMotionOptions { joint: Some("base".into()), ..RootMotionOptions::default() };
    let options = BuildOptions { root_motion: Some(root), ..BuildOptions::default() };
    let mut mixer = Mixer::new(ruler::built(lines.collect(), &options)).unwrap();
    let clips: Vec<_> = ways.iter().map(|way| mixer.clip_named(way.0).unwrap()).collect();
    let space = mixer.add_blend_space(BlendSpace::by_velocity(&clips)).unwrap();
    let mut dice = Dice(8);
    for _ in 0..60 {
        // A mean of velocities lies within the hull.
        let weights = ways.map(|_| f64::from(dice.below(100) as u32) + 1.0);
        let sum: f64 = weights.iter().sum();
        let mean = |axis: usize| {
            let each = ways.iter().zip(weights);
            each.map(|((_, s, way), w)| f64::from(way[axis]) / f64::from(*s) * w / sum).sum::<f64>()
        };
        let asked = [0, 1].map(|axis| mean(axis) as f32);
        let options = PlayOptions { parameter: asked.into(), ..PlayOptions::default() };
        mixer.player().restart(0, space, &options).unwrap();
        let have = travels(&mut mixer, space);
        let off = DVec3::new(asked[0].into(), 0.0, asked[1].into()) - have;
        assert!(off.length() < 1e-5, "{asked:?}: {have}");
    }
    // One speed along the way of the fastest clip, which a clip that walks back has against it.
    let line = mixer.add_blend_space(BlendSpace::by_speed(&clips[..3])).unwrap();
    for asked in [-1.0f32, -0.2, 0.4, 1.4] {
        let options = PlayOptions { parameter: asked.into(), ..PlayOptions::default() };
        mixer.player().restart(0, line, &options).unwrap();
        let have = travels(&mut mixer, line);
        let along = have.dot(DVec3::new(0.1, 0.0, 1.5).normalize());
        assert!((along - f64::from(asked)).abs() < 1e-5, "{asked}: {along}");
    }
}

/// On its way to another speed, a character travels the integral of its speeds.
#[test]
fn the_way_to_another_speed_is_as_long_as_its_speeds() {
    let root = RootMotionOptions { joint: Some("base".into()), ..RootMotionOptions::default() };
    let options = BuildOptions { root_motion: Some(root), ..BuildOptions::default() };
    let lines = [("slow", 1.0, 0.5), ("mid", 0.8, 1.2), ("fast", 0.5, 1.5)];
    let lines = lines.map(|(name, seconds, z)| ruler::line(name, seconds, [0.0, 0.0, z]));
    let mut mixer = Mixer::new(ruler::built(lines.into(), &options)).unwrap();
    let clips = named(&mixer, ["slow", "mid", "fast"]);
    let space = mixer.add_blend_space(BlendSpace::by_speed(&clips).following(0.8)).unwrap();
    let slow = PlayOptions { parameter: 0.6.into(), ..PlayOptions::default() };
    for steps in [24, 96] {
        mixer.player().restart(0, space, &slow).unwrap();
        mixer.advance(0.1).unwrap();
        mixer.player().set_parameter(0, space, 2.9).unwrap();
        let (mut way, dt) = (0.0, 0.8 / f64::from(steps));
        for step in 1..=steps {
            mixer.advance(dt).unwrap();
            way += mixer.root_motion().translation.z;
            let expected = follow((0.6, 0.0), 2.9, (dt * f64::from(step), 0.8)).0;
            let have = mixer.playing().action(0, space).unwrap().parameter.unwrap().x;
            assert!((f64::from(have) - expected).abs() < 2e-6, "{step}: {have} {expected}");
        }
        // The mean of both ends, as the way is even.
        assert!((way - 0.8 * 0.5 * (0.6 + 2.9)).abs() < 2e-3, "{steps}: {way}");
    }
}

/// By their contact markers: the speeds that the file's maker states.
#[test]
fn clips_in_place_are_measured_by_their_feet() {
    let mut mixer = Mixer::new(Arc::new(mannequin().unwrap())).unwrap();
    let clips = named(&mixer, ["Idle", "Walk", "Jog", "Run"]);
    let refused = mixer.add_blend_space(BlendSpace::by_speed(&clips)).unwrap_err();
    assert!(refused.to_string().contains("no clip travels"), "{refused}");
    let skeleton = mixer.rig().skeleton();
    let joints = ["Hips", "LeftFoot", "RightFoot"].map(|name| skeleton.joint(name).unwrap());
    let mut feet = Feet::new(joints[0], &joints[1..]);
    for (foot, side) in feet.feet.iter_mut().zip(["LeftFoot", "RightFoot"]) {
        foot.markers = Some(["strike", "toeOff"].map(|part| format!("{side}.{part}")));
    }
    let measured = |clips: &[ClipId]| BlendSpace::by_speed(clips).measured_by(feet.clone());
    let have = points(mixer.rig(), &["Run", "Idle", "Jog", "Walk"], measured);
    let stated = [(0.0, "Idle"), (1.4, "Walk"), (2.7, "Jog"), (4.5, "Run")];
    assert_eq!(have.len(), 4);
    for ((speed, clip), (stated, name)) in have.into_iter().zip(stated) {
        assert_eq!(clip, name);
        assert!((speed - stated).abs() <= 0.03 * stated, "{name}: {speed} {stated}");
    }
    // Feet that are not on this rig.
    feet.feet[0].leg.end = 9999;
    assert!(mixer.add_blend_space(BlendSpace::by_speed(&clips).measured_by(feet)).is_err());
}

#[test]
fn what_has_no_speed_is_refused() {
    let clips = vec![
        ruler::line("x", 1.0, [1.0, 0.0, 0.0]),
        ruler::line("same", 2.0, [2.0, 0.0, 0.0]),
        ruler::line("pose", 0.0, [0.5, 0.0, 0.0]),
    ];
    let mut clips = clips;
    clips[2].tracks.iter_mut().for_each(|track| {
        track.times.truncate(1);
        track.values.truncate(3);
    });
    let root = RootMotionOptions { joint: Some("base".into()), ..RootMotionOptions::default() };
    let options = BuildOptions { root_motion: Some(root), ..BuildOptions::default() };
    let rig = ruler::built(clips, &options);
    let mut mixer = Mixer::with_layers(rig, vec![LayerOptions::default()]).unwrap();
    let [x, same, pose] = named(&mixer, ["x", "same", "pose"]);
    let mut what = |space: BlendSpace| match mixer.add_blend_space(space).unwrap_err() {
        PlaybackError::BlendSpace { what } => what,
        other => panic!("{other}"),
    };
    let lasts = what(BlendSpace::by_speed(&[x, pose]));
    assert!(lasts.contains("(\"pose\")") && lasts.contains("lasts 0.0 s"), "{lasts}");
    let equal = what(BlendSpace::by_speed(&[x, same]));
    assert!(equal.contains("must ascend") && equal.contains("1.0 after 1.0"), "{equal}");
    assert!(what(BlendSpace::by_velocity(&[x, same, x])).contains("at one point"));
    assert!(what(BlendSpace::by_speed(&[])).contains("no clips"));
}
