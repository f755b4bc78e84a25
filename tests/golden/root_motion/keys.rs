//! Keys of every kind below parents of any kind.

use super::made::{ARC, build, with_turns};
use super::support::{clip_motion, matrix, place};
use glam::{DVec3, Quat, Vec3};
use libtest_mimic::Failed;
use phalanx::build::RootMotionOptions;
use phalanx::import::raw::{Interpolation, RawChannel, RawClip, RawNode, RawScene, RawTrack};
use phalanx::skeleton::Trs;

/// Keys that hold, splines, and joints below a parent that turns and scales (centimetres, Z up).
pub fn made_scenes() -> Result<(), Failed> {
    let above = Trs {
        translation: Vec3::new(0.3, 0.0, -0.2),
        rotation: Quat::from_rotation_x(-std::f32::consts::FRAC_PI_2),
        scale: Vec3::splat(0.01),
    };
    let rig = build(ARC.scene(Some(above)), with_turns())?;
    let (motion, duration) = clip_motion(&rig, "arc")?;
    assert_eq!(motion.parts().joint, 1);
    for k in 0..=100 {
        let time = duration * f64::from(k) / 100.0;
        let world = place(&rig, 0, time as f32)?[1];
        let actual = matrix(&motion.at(f64::from(time as f32))) * world;
        let expected = ARC.place(f64::from(time as f32)).w_axis - actual.w_axis;
        // The chords between 48 keys of the bobbing leave 1.1e-4.
        assert!(expected.length() < 2e-4, "{time}: {expected}");
    }

    let one = |interpolation, times: &[f32], values: &[[f32; 3]]| RawScene {
        nodes: vec![RawNode::default()],
        clips: vec![RawClip {
            duration: 2.0,
            tracks: vec![RawTrack {
                node: 0,
                channel: RawChannel::Translation,
                interpolation,
                times: times.to_vec(),
                values: values.concat(),
            }],
            ..RawClip::default()
        }],
        ..RawScene::default()
    };
    let rig = build(
        one(
            Interpolation::Step,
            &[0.0, 1.0, 2.0],
            &[[0.0, 1.0, 0.0], [0.0, 2.0, 3.0], [0.0, 1.0, 7.0]],
        ),
        RootMotionOptions::default(),
    )?;
    let motion = rig.clips()[0].root_motion().ok_or("steps travel")?;
    for (time, z) in [(0.0, 0.0), (0.999, 0.0), (1.0, 3.0), (1.999, 3.0), (2.0, 7.0)] {
        assert_eq!(motion.at(time).translation, DVec3::new(0.0, 0.0, z), "{time}");
        let y = place(&rig, 0, time as f32)?[0].w_axis.y;
        assert_eq!(y, if (1.0..2.0).contains(&time) { 2.0 } else { 1.0 });
    }

    // A spline: in-tangent, value, out-tangent. z(u) by Hermite's formula of its own.
    let spline = one(
        Interpolation::CubicSpline,
        &[0.0, 2.0],
        &[[0.0; 3], [0.0, 0.5, 0.0], [0.0, 2.0, 8.0], [0.0, -1.0, -4.0], [0.0, 0.5, 5.0], [0.0; 3]],
    );
    let rig = build(spline, RootMotionOptions::default())?;
    let motion = rig.clips()[0].root_motion().ok_or("splines travel")?;
    for k in 0..=200 {
        let time = f64::from(k) / 100.0;
        let u = time / 2.0;
        let hermite = |p0: f64, m0: f64, p1: f64, m1: f64| {
            (2.0 * u.powi(3) - 3.0 * u * u + 1.0) * p0
                + (u.powi(3) - 2.0 * u * u + u) * m0 * 2.0
                + (3.0 * u * u - 2.0 * u.powi(3)) * p1
                + (u.powi(3) - u * u) * m1 * 2.0
        };
        let z = motion.at(time).translation.z;
        // The model has no size here, so the cuts are the finest: 256 parts.
        assert!((z - hermite(0.0, 8.0, 5.0, -4.0)).abs() < 2e-4, "{time}");
        let world = place(&rig, 0, time as f32)?[0].w_axis;
        assert!((world.y - hermite(0.5, 2.0, 0.5, -1.0)).abs() < 1e-6, "{time}");
        assert!(world.z.abs() < 1e-6, "{time}");
    }
    Ok(())
}
