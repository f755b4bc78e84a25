use super::*;
use crate::skeleton::{Joint, Trs};
use glam::{Quat, Vec3};

fn skeleton() -> Skeleton {
    let joints: Vec<Joint> = (0..37)
        .map(|i| {
            let f = i as f32;
            Joint {
                name: i.to_string(),
                // Two roots, a fan and a chain.
                parent: match i {
                    0 | 20 => None,
                    1..10 => Some(0),
                    _ => Some(i - 1),
                },
                rest: Trs {
                    translation: Vec3::new(0.1 * f, 0.3, -0.2),
                    rotation: Quat::from_euler(glam::EulerRot::XYZ, 0.3 * f, 0.1, -0.2 * f),
                    scale: Vec3::new(1.0 + 0.01 * f, 0.9, if i % 5 == 0 { -1.0 } else { 1.1 }),
                },
            }
        })
        .collect();
    let order: Vec<u16> = (0..37).map(|i| (i * 7 % 37) as u16).collect();
    Skeleton::new(&joints, Some(&order), Vec::new()).unwrap()
}

#[test]
fn rotations_need_not_be_normalised() {
    let skeleton = skeleton();
    let models = |pose: &Pose| {
        let mut output = vec![Affine3x4::IDENTITY; skeleton.len()];
        let locals = &mut vec![[Row::splat(0.0); LOCAL_ROWS]; skeleton.blocks()];
        LocalToModelJob { skeleton: &skeleton, pose, locals, output: &mut output }.run().unwrap();
        output
    };
    let mut pose = skeleton.new_pose();
    let expected = models(&pose);
    for row in pose.rotation.iter_mut().flatten() {
        row.0.iter_mut().for_each(|v| *v *= 1.7);
    }
    let floats = |models: &[Affine3x4]| models.iter().flat_map(|m| m.rows).flatten().collect();
    let [found, expected]: [Vec<f32>; 2] = [floats(&models(&pose)), floats(&expected)];
    let largest = expected.iter().fold(1.0f32, |most, v| most.max(v.abs()));
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 4e-6 * largest, "{found} {expected}");
    }
}

#[test]
fn sizes_that_do_not_fit_the_skeleton_are_refused() {
    let skeleton = skeleton();
    let run = |blocks: usize, locals: usize, output: usize| {
        LocalToModelJob {
            skeleton: &skeleton,
            pose: &Pose::identity(blocks * 16, 0),
            locals: &mut vec![[Row::splat(0.0); LOCAL_ROWS]; locals],
            output: &mut vec![Affine3x4::IDENTITY; output],
        }
        .run()
    };
    assert_eq!(run(3, 3, 37), Ok(()));
    let size = |r| match r {
        Err(JobError::Size { buffer, have, needed, .. }) => (buffer, have, needed),
        other => panic!("{other:?}"),
    };
    assert_eq!(size(run(2, 3, 37)), ("pose.translation", 2, 3));
    assert_eq!(size(run(3, 2, 37)), ("locals", 2, 3));
    assert_eq!(size(run(3, 3, 36)), ("output", 36, 37));
}
