//! Long takes: regular timelines beyond 65,535 keys, and irregular ones that are resampled.

use phalanx::bake::{BakeError, BakeOptions, MAX_BAKED_KEYS, bake};
use phalanx::build::{
    BuildOptions, RESAMPLE_RATE, RootMotionOptions, build_rig, build_rig_reporting,
};
use phalanx::clip::{Clip, MAX_IRREGULAR_KEYS};
use phalanx::import::ImportOptions;
use phalanx::import::bvh::read_slice;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::import::{ImportError, Severity};
use phalanx::rig::Rig;
use phalanx::skeleton::{ChannelValue, Pose, Skeleton, UserChannel};
use phalanx_testkit::capture::{swing, take};
use phalanx_testkit::sample::sample;

const REGULAR_TOLERANCE: f64 = 0.25;
const MAX_RESAMPLED_KEYS: usize = 1 << 22;

/// Degrees about Z of a joint in a pose.
fn degrees(pose: &Pose, skeleton: &Skeleton, joint: usize) -> f64 {
    let q = pose.lane(usize::from(skeleton.lane_of()[joint])).rotation;
    2.0 * f64::from(q.z).atan2(f64::from(q.w)).to_degrees()
}

fn check(clip: &Clip, rig: &Rig, frames: usize, frame_time: f64, within: f64) {
    for frame in (0..frames).step_by(997).chain([frames - 1]) {
        let pose = sample(clip, rig.skeleton(), (frame as f64 * frame_time) as f32).unwrap();
        for joint in 0..rig.skeleton().len() {
            let found = degrees(&pose, rig.skeleton(), joint);
            let expected = swing(frame, joint);
            assert!((found - expected).abs() < within, "{frame}, {joint}: {found}, not {expected}");
        }
    }
}

/// Number of keys of a clip's first timeline.
fn keys(clip: &Clip) -> usize {
    clip.timelines().next().map_or(0, <[f32]>::len)
}

/// Keys per second of a clip's first timeline.
fn rate(clip: &Clip) -> f64 {
    let times = clip.timelines().next().unwrap();
    (times.len() - 1) as f64 / (f64::from(times[times.len() - 1]) - f64::from(times[0]))
}

/// Ten minutes at 120 Hz are 72,000 keys: they are imported, sampled, baked and measured.
#[test]
fn ten_minutes_at_120_hz() {
    let (frames, frame_time) = (72_000, 0.008_333_3);
    let text = take(4, frames, frame_time);
    let (raw, report) = read_slice(text.as_bytes(), "take.bvh", &ImportOptions::default()).unwrap();
    assert_eq!(report, []);
    let (rig, report) = build_rig_reporting(raw.clone(), &BuildOptions::default()).unwrap();
    assert_eq!(report, [], "regular times are kept");
    let clip = &rig.clips()[0];
    assert_eq!(clip.timelines().len(), 1);
    assert_eq!((keys(clip), clip.hint_count()), (frames, 0));
    assert!((rate(clip) - 120.0).abs() < 0.01);
    check(clip, &rig, frames, frame_time, 2e-3);
    let (baked, measured) = bake(clip, rig.skeleton(), &BakeOptions::default()).unwrap();
    assert!(measured.max <= 1e-4 && 3 * baked.bytes() < 2 * clip.bytes());
    check(&baked, &rig, frames, frame_time, 0.2);
    // Root motion of all of it.
    let options =
        BuildOptions { root_motion: Some(RootMotionOptions::default()), ..BuildOptions::default() };
    let walked = build_rig(raw, &options).unwrap();
    let motion = walked.clips()[0].root_motion().expect("it walks 7.2 m");
    assert_eq!(motion.parts().times.len(), frames);
    let way = motion.whole().translation;
    assert!((way.x - 7.1999).abs() < 1e-4, "{way}");
}

/// Beyond 2^22 frames rounding to f32 moves times by more than a quarter of a frame: they stay a regular timeline with
/// all keys, also where a joint turns fast. The keys are a channel's, which take a quarter of a translation's memory.
#[test]
fn a_take_of_a_day_and_a_half_keeps_its_frames() {
    // Times of f32 are 1/64 s apart at its end: half a frame.
    let (frames, frame_time) = (4_300_000_usize, 131_073.0 / 4_200_000.0);
    let mut text = format!(
        "HIERARCHY ROOT a {{ OFFSET 0 1 0 CHANNELS 1 Xposition }} MOTION Frames: {frames} Frame Time: {frame_time}\n"
    );
    (0..frames).for_each(|k| text.push_str(["1\n", "2\n", "4\n"][k % 3]));
    let (mut raw, report) = read_slice(text.as_bytes(), "x", &ImportOptions::default()).unwrap();
    assert_eq!(report, []);
    let track = raw.clips[0].tracks.remove(0);
    let off = |(k, &t): (usize, &f32)| (f64::from(t) / frame_time - k as f64).abs();
    let worst = track.times.iter().enumerate().map(off).fold(0.0, f64::max);
    assert!(worst > REGULAR_TOLERANCE, "{worst}");
    raw.channels.push(UserChannel { name: "x".into(), rest: ChannelValue::Float(0.0) });
    raw.clips[0].user_tracks.push(RawTrack {
        node: 0,
        channel: RawChannel::Weights,
        interpolation: Interpolation::Linear,
        values: track.values.iter().copied().step_by(3).collect(),
        times: track.times.clone(),
    });
    let (rig, report) = build_rig_reporting(raw, &BuildOptions::default()).unwrap();
    assert_eq!(report, [], "nothing is resampled");
    let clip = &rig.clips()[0];
    assert_eq!((keys(clip), clip.hint_count()), (frames, 0));
    assert_eq!(clip.timelines().next(), Some(&track.times[..]));
    assert!((rate(clip) * frame_time - 1.0).abs() < 1e-6);
    for frame in (0..frames).step_by(99_991).chain([frames - 2, frames - 1]) {
        let pose = sample(clip, rig.skeleton(), track.times[frame]).unwrap();
        assert_eq!(pose.scalar(0), [1.0, 2.0, 4.0][frame % 3], "{frame}");
    }
}

/// A file of so few characters a frame that its keys take more memory than a file of its size may: the error has both
/// numbers, and what the limit comes from.
#[test]
fn the_memory_of_a_file_of_short_lines() {
    let text = |frames: usize| {
        let head = "HIERARCHY ROOT a { OFFSET 0 1 0 CHANNELS 1 Xrotation } MOTION Frames:";
        let lines = "0\n9\n".repeat(frames / 2);
        format!("{head} {frames} Frame Time: 0.01\n{lines}")
    };
    // 256 bytes of rows for two of text.
    let import = |text: &str| {
        phalanx::import::import_slice(text.as_bytes(), "x.bvh", None, &Default::default())
    };
    assert!(import(&text(70_000)).is_ok());
    let long = text(100_000);
    let error = import(&long).unwrap_err();
    let (needed, limit) = (256 * 100_000, 24 * long.len() + (16 << 20));
    assert!(needed > limit);
    let says = error.to_string();
    let expected = format!(
        "x.bvh: animation 0: clip \"x\", with blocks of 100000 keys, needs {needed} bytes of rows, the limit is {limit}: \
         24 for each of the {} bytes of the file, and 16777216",
        long.len()
    );
    assert_eq!(says, expected);
    assert!(matches!(error, ImportError::ClipBytes { file_bytes, .. } if file_bytes == long.len()));
    // Without a file there is no such limit.
    let (raw, _) = read_slice(long.as_bytes(), "x.bvh", &ImportOptions::default()).unwrap();
    let rig = build_rig(raw, &BuildOptions::default()).unwrap();
    assert_eq!(keys(&rig.clips()[0]), 100_000);
}

/// What the baker's limit means: 2^24 joints times keys.
#[test]
fn the_limit_of_the_baker() {
    let joints = 512;
    let keys = MAX_BAKED_KEYS / joints + 1;
    let mut nodes: Vec<RawNode> = Vec::new();
    for joint in 0..joints {
        nodes.push(RawNode { parent: joint.checked_sub(1), ..RawNode::default() });
    }
    let times: Vec<f32> = (0..keys).map(|k| k as f32).collect();
    let track = RawTrack {
        node: joints - 1,
        channel: RawChannel::Translation,
        interpolation: Interpolation::Linear,
        values: (0..3 * keys).map(|i| (i % 7) as f32).collect(),
        times,
    };
    let raw = RawScene {
        nodes,
        clips: vec![RawClip {
            name: Some("days".into()),
            duration: (keys - 1) as f32,
            tracks: vec![track],
            ..RawClip::default()
        }],
        ..RawScene::default()
    };
    let rig = build_rig(raw, &BuildOptions::default()).unwrap();
    let clip = &rig.clips()[0];
    assert_eq!(clip.timelines().next().map(<[f32]>::len), Some(keys));
    let pose = sample(clip, rig.skeleton(), 30_000.5).unwrap();
    let lane = usize::from(rig.skeleton().lane_of()[joints - 1]);
    let expected = [0, 1, 2].map(|c| 0.5 * (((90_000 + c) % 7) + ((90_003 + c) % 7)) as f32);
    assert_eq!(pose.lane(lane).translation.to_array(), expected);
    let refused = bake(clip, rig.skeleton(), &BakeOptions::default()).unwrap_err();
    assert!(matches!(refused, BakeError::TooLarge { times, joints: 512, .. } if times == keys));
    let says = refused.to_string();
    assert!(says.contains("32769 key times × 512 joints") && says.contains("16777216"), "{says}");
}

/// One node that rotates about Z by an angle in radians at each time.
fn turning(times: Vec<f32>, interpolation: Interpolation, angle: impl Fn(f64) -> f64) -> RawScene {
    let value = |t: &f32| {
        let half = 0.5 * angle(f64::from(*t));
        [0.0, 0.0, half.sin() as f32, half.cos() as f32]
    };
    RawScene {
        name: "made".into(),
        nodes: vec![RawNode::default()],
        clips: vec![RawClip {
            name: Some("odd".into()),
            duration: times[times.len() - 1],
            tracks: vec![RawTrack {
                node: 0,
                channel: RawChannel::Rotation,
                interpolation,
                values: times.iter().flat_map(value).collect(),
                times,
            }],
            ..RawClip::default()
        }],
        ..RawScene::default()
    }
}

/// Times that are on no grid: 0.9 of the intervals after an interval of 1.1.
fn odd_times(keys: usize, rate: f64) -> Vec<f32> {
    (0..keys).map(|k| ((k as f64 + if k % 2 == 1 { 0.4 } else { 0.0 }) / rate) as f32).collect()
}

fn radians(clip: &Clip, rig: &Rig, time: f32) -> f64 {
    degrees(&sample(clip, rig.skeleton(), time).unwrap(), rig.skeleton(), 0).to_radians()
}

#[test]
fn irregular_times_are_resampled_and_the_error_is_reported() {
    let angle = |t: f64| (0.5 * t).sin();
    // As many as a timeline holds are kept.
    let times = odd_times(MAX_IRREGULAR_KEYS, 100.0);
    let raw = turning(times, Interpolation::Linear, angle);
    let (rig, report) = build_rig_reporting(raw, &BuildOptions::default()).unwrap();
    assert_eq!(report, []);
    assert_eq!(keys(&rig.clips()[0]), MAX_IRREGULAR_KEYS);
    // One more is not.
    let times = odd_times(MAX_IRREGULAR_KEYS + 1, 100.0);
    let last = times[times.len() - 1];
    let raw = turning(times.clone(), Interpolation::Linear, angle);
    let (rig, report) = build_rig_reporting(raw.clone(), &BuildOptions::default()).unwrap();
    let clip = &rig.clips()[0];
    assert_eq!(clip.hint_count(), 0);
    assert!((rate(clip) - RESAMPLE_RATE).abs() < 0.01, "{}", rate(clip));
    assert_eq!(keys(clip), (f64::from(last) * RESAMPLE_RATE).ceil() as usize + 1);
    let entry = &report[0];
    assert_eq!((entry.severity, report.len()), (Severity::Repaired, 1));
    assert_eq!(entry.place, "animation 0 \"odd\", rotation");
    let says = &entry.message;
    let head =
        format!("65536 irregular key times were resampled at 120.001 Hz to {}, ", keys(clip));
    assert!(says.starts_with(&head), "{says}");
    // The stated error is that of the clip: sampled here, at the keys and between them.
    let said = says.rsplit_once("up to ").unwrap().1.strip_suffix(" degrees").unwrap();
    let said = said.parse::<f64>().unwrap().to_radians();
    let mut worst: f64 = 0.0;
    for pair in times.windows(2).step_by(101) {
        for time in [pair[0], 0.5 * (pair[0] + pair[1])] {
            let way = f64::from((time - pair[0]) / (pair[1] - pair[0]));
            let (a, b) = (angle(f64::from(pair[0])), angle(f64::from(pair[1])));
            let found = radians(&rig.clips()[0], &rig, time);
            worst = worst.max((found - (a + (b - a) * way)).abs());
        }
    }
    assert!(said > 0.0 && worst <= said + 2e-6 && said < 1e-3, "{worst} of {said}");
    // Another rate is an option; it is not below the mean rate.
    for (wanted, expected) in [(480.0, 480.0), (1.0, 100.0), (f64::NAN, 100.0), (9e9, 800.0)] {
        let options = BuildOptions { resample_rate: wanted, ..BuildOptions::default() };
        let (rig, report) = build_rig_reporting(raw.clone(), &options).unwrap();
        let rate = rate(&rig.clips()[0]);
        assert!((rate / expected - 1.0).abs() < 1e-3, "{rate}");
        assert_eq!(report.len(), 1);
    }
}

/// A glitch that turns by 170 degrees within a frame needs keys between even ones: the multiple of the rate has
/// all of them on it.
#[test]
fn even_times_with_a_glitch_keep_their_keys() {
    let keys = 80_000;
    let times: Vec<f32> = (0..keys).map(|k| (k as f64 / 60.0) as f32).collect();
    let glitch = times[40_000];
    let raw = turning(times.clone(), Interpolation::Linear, |t| {
        if t as f32 >= glitch { 170.0_f64.to_radians() } else { 0.0 }
    });
    let (rig, report) = build_rig_reporting(raw, &BuildOptions::default()).unwrap();
    let clip = &rig.clips()[0];
    let own: Vec<f32> = clip.timelines().flatten().copied().collect();
    assert_eq!(own.len(), 3 * (keys - 1) + 1);
    let own: Vec<f32> = own.into_iter().step_by(3).collect();
    assert_eq!(own, times);
    let says = &report[0].message;
    assert!(says.contains("resampled at 180.000 Hz"), "{says}");
    assert!((radians(clip, &rig, times[39_999])).abs() < 1e-6);
    assert!((radians(clip, &rig, glitch).to_degrees() - 170.0).abs() < 1e-3);
    // Times of f32 round to 1/270 of an interval here.
    let middle = 0.5 * (times[39_999] + glitch);
    let way = f64::from((middle - times[39_999]) / (glitch - times[39_999]));
    assert!((radians(clip, &rig, middle).to_degrees() - 170.0 * way).abs() < 0.02);
}

#[test]
fn steps_hold_on_the_grid_and_splines_follow() {
    let times = odd_times(MAX_IRREGULAR_KEYS + 10, 100.0);
    let step = |t: f64| if t > 300.0 { 1.0 } else { 0.25 };
    let raw = turning(times.clone(), Interpolation::Step, step);
    let (rig, report) = build_rig_reporting(raw, &BuildOptions::default()).unwrap();
    let clip = &rig.clips()[0];
    // The step is late by less than an interval of the grid, and the report says that it is off by all of it.
    assert!((radians(clip, &rig, 299.9) - 0.25).abs() < 1e-5);
    assert!((radians(clip, &rig, 300.1) - 1.0).abs() < 1e-5);
    let says = &report[0].message;
    assert!(
        says.ends_with("up to 42.9718 degrees") || says.ends_with("up to 0.0000 degrees"),
        "{says}"
    );
    // A spline of translations with flat tangents at every key.
    let values = times.iter().flat_map(|t| {
        let x = (0.3 * t).sin();
        [[0.0; 3], [x, 0.0, 0.0], [0.0; 3]].concat()
    });
    let raw = RawScene {
        nodes: vec![RawNode::default()],
        clips: vec![RawClip {
            duration: times[times.len() - 1],
            tracks: vec![RawTrack {
                node: 0,
                channel: RawChannel::Translation,
                interpolation: Interpolation::CubicSpline,
                values: values.collect(),
                times: times.clone(),
            }],
            ..RawClip::default()
        }],
        ..RawScene::default()
    };
    let (rig, report) = build_rig_reporting(raw, &BuildOptions::default()).unwrap();
    let says = report[0].to_string();
    assert!(
        says.starts_with("repaired: animation 0 \"\", translation: ") && says.ends_with(" m"),
        "{says}"
    );
    let lane = usize::from(rig.skeleton().lane_of()[0]);
    for &time in times.iter().step_by(499) {
        let x = sample(&rig.clips()[0], rig.skeleton(), time).unwrap().lane(lane).translation.x;
        assert!((x - (0.3 * time).sin()).abs() < 2e-3, "{time}: {x}");
    }
}

/// Where f32 cannot space times evenly, or they are too many: an error with both numbers.
#[test]
fn times_that_fit_no_grid() {
    // A second of keys, an hour of which f32 has no room between.
    let keys = MAX_IRREGULAR_KEYS + 1;
    let mut time = 3.0e7_f32;
    let times: Vec<f32> = (0..keys)
        .map(|k| {
            time = time.next_up();
            if k % 3 == 0 {
                time = time.next_up();
            }
            time
        })
        .collect();
    let options = BuildOptions { resample_rate: 1e9, ..BuildOptions::default() };
    let raw = turning(times, Interpolation::Linear, |t| 0.1 * (t % 3.0));
    let says = build_rig(raw, &options).unwrap_err().to_string();
    assert!(says.contains("rotation block 0 has 65536 key times, the limit is 65535"), "{says}");
    assert!(says.contains(&format!("no {MAX_RESAMPLED_KEYS} evenly spaced times")), "{says}");
}
