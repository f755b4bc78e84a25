//! Held palettes are evaluated by another SIMD level, of clips that nothing plays by then.

use phalanx::crowd::{BoneBuffer, Crowd, PlayOptions, PoseSpace, Tier, Tiers};
use phalanx::math::Affine3x4;
use phalanx::simd::SimdLevel;
use phalanx::skeleton::Trs;
use phalanx_testkit::chain::rig;

pub fn held_palettes_are_evaluated_at_another_level() {
    let current = SimdLevel::current();
    let levels: Vec<_> = SimdLevel::supported().collect();
    for (from, to) in levels.iter().flat_map(|&from| levels.iter().map(move |&to| (from, to))) {
        for interpolate in [false, true] {
            go_on((from, to), interpolate);
        }
    }
    current.set().unwrap();
}

fn go_on((from, to): (SimdLevel, SimdLevel), interpolate: bool) {
    const DT: f64 = 1.0 / 60.0;
    from.set().unwrap();
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let [first, second] = [0, 2].map(|c| crowd.clip_by_index(id, c).unwrap());
    let tier = Tier { rate: 16, interpolate, ..Tier::default() };
    let tiers = Tiers { tiers: vec![tier], ..Tiers::default() };
    crowd.set_tiers(Some(tiers)).unwrap();
    let i = crowd.spawn(id).unwrap();
    let mut bones = BoneBuffer::new();
    let options = PlayOptions { time: 0.4, ..PlayOptions::default() };
    crowd.play(i, first, &options).unwrap();
    let mut shown = |crowd: &mut Crowd, lost: bool| {
        crowd.advance(DT).unwrap();
        if lost {
            bones = BoneBuffer::new();
        }
        crowd.evaluate(&mut bones);
        let range = crowd.palette_range(i).unwrap();
        bones.rows()[range].to_vec()
    };
    shown(&mut crowd, false);
    crowd.fade_to(i, second, 0.05, &PlayOptions::default()).unwrap();
    // The fade has ended, and the palette is of its beginning.
    let mut before = Vec::new();
    for _ in 0..6 {
        before = shown(&mut crowd, false);
    }
    to.set().unwrap();
    let after = shown(&mut crowd, true);
    let flat =
        |rows: &[Affine3x4]| -> Vec<f32> { rows.iter().flat_map(|r| r.to_cols_array()).collect() };
    let (before, after) = (flat(&before), flat(&after));
    assert_eq!(before.len(), after.len());
    let pairs = before.iter().zip(&after);
    let worst = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(worst < 1e-4, "{from}, {to}, interpolated {interpolate}: {worst}");
}

/// A pose that was set at one level is the same at all others.
pub fn poses_are_the_same_at_all_levels() {
    let current = SimdLevel::current();
    for from in SimdLevel::supported() {
        from.set().unwrap();
        let mut crowd = Crowd::new();
        let id = crowd.add_rig(rig()).unwrap();
        let i = crowd.spawn(id).unwrap();
        let clip = crowd.clip_by_index(id, 0).unwrap();
        crowd.play(i, clip, &PlayOptions { time: 0.3, ..PlayOptions::default() }).unwrap();
        let skeleton = crowd.rig(id).unwrap().skeleton().clone();
        let turned = |joint: usize| {
            let rest = skeleton.rest(joint);
            let turn = glam::Quat::from_rotation_z(0.1 + 0.01 * joint as f32);
            Trs { rotation: rest.rotation * turn, ..rest }
        };
        let pose: Vec<Trs> = (0..skeleton.len()).map(turned).collect();
        crowd.set_poses(id, &[i], &pose, PoseSpace::Local, &[0.6]).unwrap();
        let wanted = crowd.model_matrices(i).unwrap();
        for to in SimdLevel::supported() {
            to.set().unwrap();
            crowd.evaluate(&mut BoneBuffer::new());
            let have = crowd.model_matrices(i).unwrap();
            let flat = |all: &[Affine3x4]| all.iter().flat_map(|m| m.to_cols_array()).collect();
            let (have, wanted): (Vec<f32>, Vec<f32>) = (flat(&have), flat(&wanted));
            let off = have.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off < 1e-4, "{from}, {to}: {off}");
        }
    }
    current.set().unwrap();
}
