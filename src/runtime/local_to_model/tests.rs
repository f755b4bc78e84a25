use super::*;
use crate::skeleton::{Joint, Trs};
use glam::{DAffine3, Quat, Vec3};

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
fn every_level_agrees_with_f64_matrices_of_rotations_of_any_length() {
    let skeleton = skeleton();
    let mut pose = skeleton.rest_pose().clone();
    // Unnormalised rotations are normalised by 2 / |q|².
    for row in pose.rotation.iter_mut().flatten() {
        row.0.iter_mut().for_each(|v| *v *= 1.7);
    }
    let mut want: Vec<DAffine3> = Vec::new();
    for joint in 0..skeleton.len() {
        let rest = skeleton.rest(joint);
        let local = DAffine3::from_scale_rotation_translation(
            rest.scale.as_dvec3(),
            rest.rotation.as_dquat().normalize(),
            rest.translation.as_dvec3(),
        );
        let parent = skeleton.parents()[joint];
        want.push(match want.get(usize::from(parent)) {
            Some(&above) => above * local,
            None => local,
        });
    }
    // Errors of a chain grow with the largest entry along it.
    let entries = want.iter().flat_map(|m| m.to_cols_array());
    let scale = entries.fold(1.0f64, |a, v| a.max(v.abs()));
    for level in SimdLevel::supported() {
        let mut output = vec![Affine3x4::IDENTITY; skeleton.len()];
        let job = LocalToModelJob {
            skeleton: &skeleton,
            pose: &pose,
            locals: &mut vec![[Row::splat(0.0); LOCAL_ROWS]; skeleton.blocks()],
            output: &mut output,
        };
        job.run_at(level).unwrap();
        for (have, want) in output.iter().zip(&want) {
            let near = DAffine3::from(*have).abs_diff_eq(*want, 2e-6 * scale);
            assert!(near, "{level}: {have:?} {want:?}");
        }
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
