use super::*;
use crate::build::build_rig;
use crate::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};

const JOINTS: usize = 40;

/// Forty joints whose tracks have keys at different times.
fn scene() -> RawScene {
    let track = |node: usize| {
        let keys = 2 + node * 3 % 6;
        RawTrack {
            node,
            channel: RawChannel::Translation,
            interpolation: [Interpolation::Linear, Interpolation::Step][node % 2],
            times: (0..keys).map(|k| 0.1 * (node % 4) as f32 + 0.37 * k as f32).collect(),
            values: (0..keys * 3).map(|v| (v * v + node) as f32).collect(),
        }
    };
    RawScene {
        nodes: (0..JOINTS)
            .map(|i| RawNode { parent: i.checked_sub(1), ..RawNode::default() })
            .collect(),
        clips: vec![RawClip {
            duration: 2.5,
            tracks: (0..JOINTS).map(track).collect(),
            ..RawClip::default()
        }],
        ..RawScene::default()
    }
}

#[test]
fn hints_never_change_a_result() {
    let rig = build_rig(scene(), &Default::default()).unwrap();
    let (skeleton, clip) = (rig.skeleton(), &rig.clips()[0]);
    assert!(clip.hint_count() > 0);
    let sample = |time: f32, hint: u16| {
        let mut output = skeleton.new_pose();
        let hints = &mut vec![hint; clip.hint_count()];
        let cursors = &mut vec![Cursor::default(); clip.timelines().len()];
        SampleJob { skeleton, clip, time, hints, cursors, output: &mut output }.run().unwrap();
        output
    };
    for i in 0..60 {
        let time = i as f32 * 0.05;
        assert_eq!(sample(time, 0), sample(time, u16::MAX));
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
