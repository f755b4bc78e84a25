//! Additive clips of a rig's clips are those of the raw scene that the rig was built from.

use phalanx::build::{AdditiveReference, build_additive, build_additive_raw, build_rig};
use phalanx::clip::Clip;
use phalanx::import::ImportOptions;
use phalanx::import::MANNEQUIN;
use phalanx::import::raw::RawScene;
use phalanx::import::read_slice;
use phalanx::mesh::ImageMode;
use phalanx::rig::Rig;
use phalanx_testkit::sample::sample;

/// Rounding to f32 of keys and values.
const ROUNDING: f32 = 1e-6;
/// The same for splines of user channels with values up to 4.
const SCALARS: f32 = 8e-6;
/// Rotations between distant keys: both clips follow slerp, each with keys of its own.
const ROTATION: f32 = 4e-6;

/// The largest differences of two additive clips: of rotations, of the rest, and of scalars.
fn apart(rig: &Rig, [a, b]: [&Clip; 2]) -> [f32; 3] {
    let mut most = [0f32; 3];
    let skeleton = rig.skeleton();
    for step in 0..=200 {
        let time = a.duration() * step as f32 / 200.0;
        let [a, b] = [a, b].map(|clip| sample(clip, skeleton, time).unwrap());
        for joint in 0..skeleton.len() {
            let lane = usize::from(skeleton.lane_of()[joint]);
            let (a, b) = (a.lane(lane), b.lane(lane));
            let (u, v) = (a.rotation.xyz(), b.rotation.xyz());
            let turn = v * a.rotation.w - u * b.rotation.w - u.cross(v);
            most[0] = most[0].max(2.0 * turn.length());
            let moved = a.translation - b.translation;
            most[1] = most[1].max(moved.abs().max_element());
            most[1] = most[1].max((a.scale - b.scale).abs().max_element());
        }
        for i in 0..skeleton.scalars().len() {
            most[2] = most[2].max((a.scalar(i) - b.scalar(i)).abs());
        }
    }
    most
}

fn assert_same(raw: &RawScene, what: &str) {
    let rig = build_rig(raw.clone(), &Default::default()).unwrap();
    for clip in 0..rig.clips().len() {
        for reference in [AdditiveReference::Rest, AdditiveReference::Frame(clip, 0.0)] {
            let of_raw = build_additive_raw(&rig, (raw, clip), reference).unwrap();
            let of_rig = build_additive(&rig, clip, reference).unwrap();
            assert_eq!(of_rig.name(), of_raw.name());
            assert_eq!(of_rig.markers(), of_raw.markers());
            let most = apart(&rig, [&of_raw, &of_rig]);
            let good = most[0] <= ROTATION && most[1] <= ROUNDING && most[2] <= SCALARS;
            assert!(good, "{what}, clip {clip}, {reference:?}: {most:?}");
        }
    }
}

#[test]
fn of_the_built_in_character() {
    let (name, bytes) = MANNEQUIN[0];
    let options = ImportOptions { images: ImageMode::Skip, ..ImportOptions::default() };
    let (raw, _) = read_slice(bytes, name, None, &options).unwrap();
    assert_same(&raw, name);
}

#[test]
fn of_a_chain_with_splines() {
    assert_same(&phalanx_testkit::chain::raw(), "chain");
}

/// Numbers of every kind of interpolation; the difference of two quaternions is a rotation.
#[test]
fn of_user_channels() {
    assert_same(&super::channels::raw(), "channels");
}
