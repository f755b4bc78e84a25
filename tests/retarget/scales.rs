//! Animated scales: kept, approximated or dropped.

use crate::support::*;
use crate::transfer::unaligned;
use glam::{DMat3, DQuat, DVec3};
use phalanx::import::raw::{Interpolation, RawChannel, RawTrack};
use phalanx::retarget::RetargetOptions;
use phalanx::rig::Rig;

/// A humanoid with a clip `grow`, in which the head takes a scale.
fn growing(mut made: Made, scale: [f32; 3]) -> Rig {
    let node = made.bones().iter().find(|b| b.0 == B::Head).unwrap().1;
    made.clips.push(phalanx::import::raw::RawClip {
        name: Some("grow".into()),
        duration: 1.0,
        tracks: vec![RawTrack {
            node,
            channel: RawChannel::Scale,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: [[1.0; 3], scale].concat(),
        }],
        ..Default::default()
    });
    made.rig()
}

/// The scale of a joint of a clip at a time.
fn scale(rig: &Rig, clip: &phalanx::clip::Clip, joint: usize, time: f32) -> DVec3 {
    Posed::at(rig.skeleton(), clip, time).locals[joint].scale.as_dvec3()
}

#[test]
fn scales_are_dropped_or_kept_as_asked() {
    let mut from = Made { axes: 4, ..Made::default() };
    let node = from.bones().iter().find(|b| b.0 == B::Head).unwrap().1;
    from.clips.push(phalanx::import::raw::RawClip {
        name: Some("grow".into()),
        duration: 1.0,
        tracks: vec![RawTrack {
            node,
            channel: RawChannel::Scale,
            interpolation: Interpolation::Linear,
            times: vec![0.0, 1.0],
            values: vec![1.0, 1.0, 1.0, 2.0, 2.0, 2.0],
        }],
        ..Default::default()
    });
    let (a, b) = (from.rig(), Made { axes: 6, ..Made::default() }.rig());
    let grow = clip(&a, "grow");
    let head = map(&b).joint(B::Head).unwrap();
    let options = RetargetOptions { keep_scales: false, ..unaligned() };
    let dropped = retarget(&a, &b, grow, options);
    assert_eq!(dropped.report.scales_dropped, ["mixamorig:Head"]);
    let scale = |c, t| Posed::at(b.skeleton(), c, t).locals[head].scale.as_dvec3();
    assert_eq!(scale(&dropped.clip, 1.0), DVec3::ONE);
    let kept = retarget(&a, &b, grow, unaligned());
    assert_eq!(kept.report.scales_kept, ["mixamorig:Head"]);
    assert!((scale(&kept.clip, 0.5) - DVec3::splat(1.5)).length() < 1e-6);
}

/// Axes of the head are those of the other body in another order: factors change places.
#[test]
fn scales_follow_axes_in_another_order() {
    let a = growing(Made::default(), [2.0, 1.5, 0.5]);
    let b = Made { facing: DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2), ..Made::default() }
        .rig();
    let head = map(&b).joint(B::Head).unwrap();
    let done = retarget(&a, &b, clip(&a, "grow"), unaligned());
    assert_eq!(done.report.scales_kept, ["mixamorig:Head"]);
    assert!(done.report.scales_approximated.is_empty());
    // The source's forward axis, z, is x in the target.
    let have = scale(&b, &done.clip, head, 1.0);
    assert!((have - DVec3::new(0.5, 1.5, 2.0)).length() < 1e-6, "{have}");
}

/// Of axes between, the target has the diagonal of the scale's tensor, and the report has the angle.
#[test]
fn scales_between_axes_are_not_called_kept() {
    let factors = DVec3::new(2.0, 1.5, 0.5);
    let made = |axes: u64| Made { axes, ..Made::default() };
    for seed in [6, 8, 9] {
        let a = growing(made(4), factors.as_vec3().to_array());
        let b = made(seed).rig();
        let (from, to) = (map(&a).joint(B::Head).unwrap(), map(&b).joint(B::Head).unwrap());
        let done = retarget(&a, &b, clip(&a, "grow"), unaligned());
        let [(name, angle)] = &done.report.scales_approximated[..] else {
            panic!("{:?}", done.report);
        };
        assert_eq!(name, "mixamorig:Head");
        assert!(done.report.scales_kept.is_empty() && done.report.scales_dropped.is_empty());
        let turn =
            Posed::rest(b.skeleton()).turns[to].conjugate() * Posed::rest(a.skeleton()).turns[from];
        let turn = DMat3::from_quat(turn);
        // The least over all orders of the largest angle between axes.
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let worst = |order: &[usize; 3]| {
            let angle = |c: usize| turn.col(order[c])[c].abs().min(1.0).acos();
            (0..3).map(angle).fold(0.0, f64::max)
        };
        let wanted = orders.iter().map(worst).fold(f64::INFINITY, f64::min);
        assert!((angle - wanted).abs() < 1e-5, "{angle} {wanted}");
        for (time, part) in [(0.0f32, 0.0), (0.5, 0.5), (1.0, 1.0)] {
            let now = DVec3::ONE + (factors - DVec3::ONE) * part;
            let tensor = turn * DMat3::from_diagonal(now) * turn.transpose();
            let wanted = DVec3::new(tensor.x_axis.x, tensor.y_axis.y, tensor.z_axis.z);
            let have = scale(&b, &done.clip, to, time);
            assert!((have - wanted).length() < 1e-5, "seed {seed}: {have} {wanted}");
        }
    }
}
