use super::*;
use crate::build::build_rig;
use crate::clip::BlockKind;
use crate::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use crate::rig::Rig;
use crate::runtime::random::numbers;

const JOINTS: usize = 40;

/// Forty joints with every channel in every interpolation, some tracks late, some with few keys.
fn scene() -> RawScene {
    let mut number = numbers(7);
    let mut tracks = Vec::new();
    for node in 0..JOINTS {
        for (c, channel) in [RawChannel::Translation, RawChannel::Rotation, RawChannel::Scale]
            .into_iter()
            .enumerate()
        {
            // Joints from 32 on have slerped and held lanes only, so that a block without splines exists.
            let kinds = if node < 32 { 3 } else { 2 };
            let interpolation =
                [Interpolation::Linear, Interpolation::Step, Interpolation::CubicSpline]
                    [(node + c) % kinds];
            let keys = 2 + (node * 3 + c) % 6;
            let times = (0..keys)
                .map(|k| (0.1 * (node % 4) as f32) + 0.37 * k as f32 + 0.01 * (node % 3) as f32)
                .collect();
            let width = if channel == RawChannel::Rotation { 4 } else { 3 };
            let groups = if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
            let mut values: Vec<f32> = (0..keys * groups * width).map(|_| number()).collect();
            if width == 4 && groups == 3 {
                // The lengths of a spline's keys count; those of files are unit quaternions.
                for key in values.chunks_exact_mut(12) {
                    let length = key[4..8].iter().map(|v| v * v).sum::<f32>().sqrt();
                    key[4..8].iter_mut().for_each(|v| *v /= length);
                }
            }
            tracks.push(RawTrack { node, channel, interpolation, times, values });
        }
    }
    RawScene {
        nodes: (0..JOINTS)
            .map(|i| RawNode { parent: i.checked_sub(1), ..RawNode::default() })
            .collect(),
        clips: vec![RawClip { duration: 2.5, tracks, ..RawClip::default() }],
        ..RawScene::default()
    }
}

fn unit(q: &[f64]) -> Vec<f64> {
    let n = q.iter().map(|v| v * v).sum::<f64>().sqrt();
    q.iter().map(|v| v / n).collect()
}

/// The expected value by glTF 2.0, appendix C, from the track's f32 arrays.
fn expected(track: &RawTrack, time: f32) -> Vec<f64> {
    let rotation = track.channel == RawChannel::Rotation;
    let width = if rotation { 4 } else { 3 };
    let cubic = track.interpolation == Interpolation::CubicSpline;
    let group = |k: usize, g: usize| -> Vec<f64> {
        let per_key = if cubic { 3 * width } else { width };
        let at = k * per_key + if cubic { g * width } else { 0 };
        track.values[at..at + width].iter().map(|&v| f64::from(v)).collect()
    };
    let value = |k| {
        let v = group(k, 1);
        if rotation { unit(&v) } else { v }
    };
    let last = track.times.len() - 1;
    if time <= track.times[0] {
        return value(0);
    }
    if time >= track.times[last] {
        return value(last);
    }
    let k = (0..last).rev().find(|&k| track.times[k] <= time).unwrap();
    let (t0, t1) = (f64::from(track.times[k]), f64::from(track.times[k + 1]));
    let (h, u) = (t1 - t0, (f64::from(time) - t0) / (t1 - t0));
    let (a, b) = (value(k), value(k + 1));
    match track.interpolation {
        Interpolation::Step => a,
        Interpolation::Linear if rotation => {
            let dot: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            let sign = if dot < 0.0 { -1.0 } else { 1.0 };
            let theta = dot.abs().min(1.0).acos();
            let (wa, wb) = if theta < 1e-6 {
                (1.0 - u, u)
            } else {
                (((1.0 - u) * theta).sin() / theta.sin(), (u * theta).sin() / theta.sin())
            };
            unit(&a.iter().zip(&b).map(|(x, y)| wa * x + wb * sign * y).collect::<Vec<_>>())
        }
        Interpolation::Linear => a.iter().zip(&b).map(|(x, y)| x + (y - x) * u).collect(),
        Interpolation::CubicSpline => {
            let (m0, m1) = (group(k, 2), group(k + 1, 0));
            let (u2, u3) = (u * u, u * u * u);
            let v: Vec<f64> = (0..width)
                .map(|c| {
                    (2.0 * u3 - 3.0 * u2 + 1.0) * a[c]
                        + h * (u3 - 2.0 * u2 + u) * m0[c]
                        + (3.0 * u2 - 2.0 * u3) * b[c]
                        + h * (u3 - u2) * m1[c]
                })
                .collect();
            if rotation { unit(&v) } else { v }
        }
    }
}

fn sample_at(rig: &Rig, level: SimdLevel, time: f32, hints: &mut [u16]) -> Pose {
    let (skeleton, clip) = (rig.skeleton(), &rig.clips()[0]);
    let mut output = skeleton.rest_pose().clone();
    let job = SampleJob {
        skeleton,
        clip,
        time,
        hints,
        cursors: &mut vec![Cursor::default(); clip.timelines().len()],
        output: &mut output,
    };
    job.run_at(level).unwrap();
    output
}

#[test]
fn every_level_follows_the_specification() {
    let raw = scene();
    let rig = build_rig(raw.clone(), &Default::default()).unwrap();
    let clip = &rig.clips()[0];
    assert!(clip.blocks(Channel::Rotation).iter().any(|b| b.kind == BlockKind::Slerp));
    assert!(clip.blocks(Channel::Rotation).iter().any(|b| b.kind == BlockKind::Cubic));
    assert!(clip.hint_count() > 0);
    let mut times: Vec<f32> = (0..97).map(|i| -0.1 + i as f32 * 0.029).collect();
    times.extend(raw.clips[0].tracks.iter().flat_map(|t| t.times.iter().copied()));
    for level in SimdLevel::supported() {
        let mut hints = vec![900; clip.hint_count()];
        let mut worst = 0.0f64;
        for &time in &times {
            let pose = sample_at(&rig, level, time, &mut hints);
            for track in &raw.clips[0].tracks {
                let joint = rig.nodes()[track.node].joint.unwrap();
                let trs = pose.lane(usize::from(rig.skeleton().lane_of()[usize::from(joint)]));
                let have = match track.channel {
                    RawChannel::Translation => trs.translation.to_array().to_vec(),
                    RawChannel::Rotation => trs.rotation.to_array().to_vec(),
                    _ => trs.scale.to_array().to_vec(),
                };
                let want = expected(track, time);
                let dot: f64 = have.iter().zip(&want).map(|(a, b)| f64::from(*a) * b).sum();
                let sign =
                    if track.channel == RawChannel::Rotation && dot < 0.0 { -1.0 } else { 1.0 };
                for (a, b) in have.iter().zip(&want) {
                    let error = (f64::from(*a) * sign - b).abs();
                    assert!(error < 6e-6, "{level} {time} {track:?}: {have:?} {want:?}");
                    worst = worst.max(error);
                    if track.interpolation == Interpolation::Step
                        && track.channel != RawChannel::Rotation
                    {
                        assert_eq!(f64::from(*a), *b, "a held value is exact at {time}");
                    }
                }
            }
        }
        assert!(worst > 0.0);
    }
}

#[test]
fn hints_never_change_a_result() {
    let rig = build_rig(scene(), &Default::default()).unwrap();
    let count = rig.clips()[0].hint_count();
    for i in 0..60 {
        let time = i as f32 * 0.05;
        let fresh = sample_at(&rig, SimdLevel::Portable, time, &mut vec![0; count]);
        let stale = sample_at(&rig, SimdLevel::Portable, time, &mut vec![u16::MAX; count]);
        assert_eq!(fresh, stale);
    }
}

#[test]
fn buffers_that_are_too_short_and_clips_of_other_skeletons_are_refused() {
    let rig = build_rig(scene(), &Default::default()).unwrap();
    let other = {
        let mut raw = scene();
        raw.nodes[3].local.translation.x = 1.0;
        build_rig(raw, &Default::default()).unwrap()
    };
    let clip = rig.clips()[0].clone();
    let run = |skeleton: &Skeleton, hints: usize, cursors: usize, blocks: usize| {
        let mut output = Pose::identity(blocks * 16, 0);
        SampleJob {
            skeleton,
            clip: &clip,
            time: f32::NAN,
            hints: &mut vec![0; hints],
            cursors: &mut vec![Cursor::default(); cursors],
            output: &mut output,
        }
        .run()
    };
    let (h, c) = (clip.hint_count(), clip.timelines().len());
    assert_eq!(run(rig.skeleton(), h, c, 3), Ok(()));
    let size = |r: Result<(), JobError>, name: &str| match r {
        Err(JobError::Size { buffer, have, needed, .. }) => {
            assert_eq!(buffer, name);
            assert!(have < needed);
        }
        other => panic!("{other:?}"),
    };
    size(run(rig.skeleton(), h - 1, c, 3), "hints");
    size(run(rig.skeleton(), h, c - 1, 3), "cursors");
    size(run(rig.skeleton(), h, c, 2), "output.translation");
    assert!(matches!(run(other.skeleton(), h, c, 3), Err(JobError::Skeleton { .. })));
}
