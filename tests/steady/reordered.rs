//! A clip in another lane order takes one allocation for its key rows.

use phalanx::build::{BuildOptions, build_rig};
use phalanx::clip::reorder_lanes;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx_testkit::alloc;

const JOINTS: usize = 32;
const KEYS: usize = 5_000;

fn raw() -> RawScene {
    let track = |node: usize| RawTrack {
        node,
        channel: RawChannel::Translation,
        interpolation: Interpolation::Linear,
        times: (0..KEYS).map(|k| k as f32 / 60.0).collect(),
        values: (0..KEYS * 3).map(|v| (v * (node + 3) % 17) as f32).collect(),
    };
    RawScene {
        nodes: (0..JOINTS)
            .map(|i| RawNode {
                name: Some(i.to_string()),
                parent: i.checked_sub(1),
                ..RawNode::default()
            })
            .collect(),
        clips: vec![RawClip {
            duration: KEYS as f32 / 60.0,
            tracks: (0..JOINTS).map(track).collect(),
            ..RawClip::default()
        }],
        ..RawScene::default()
    }
}

#[test]
fn key_rows_are_allocated_at_once() {
    let _alone = alloc::alone();
    let rig = build_rig(raw(), &BuildOptions::default()).unwrap();
    let order: Vec<u16> = (0..JOINTS as u16).map(|l| l * 5 % JOINTS as u16).collect();
    let to = rig.skeleton().in_lane_order(&order).unwrap();
    let clip = &rig.clips()[0];
    alloc::start();
    let laid = reorder_lanes(clip, &to, usize::MAX).unwrap();
    let peak = alloc::peak() as usize;
    assert!(reorder_lanes(&laid, rig.skeleton(), usize::MAX).unwrap() == **clip);
    let rows = laid.rows().len() * 64;
    assert_eq!(rows, JOINTS / 16 * KEYS * 3 * 64);
    // Beside the rows there are key times, in three places for a moment; rows that grow would need their half again.
    let times = 4 * KEYS * 4;
    assert!(peak < rows + times + 65_536, "{peak} bytes for {rows} bytes of rows");
}
