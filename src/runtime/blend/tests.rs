use super::*;
use crate::skeleton::{Joint, Skeleton, Trs};

fn skeleton(joints: usize) -> Skeleton {
    let joint = |i: usize| Joint {
        name: i.to_string(),
        parent: i.checked_sub(1),
        rest: Trs { translation: glam::Vec3::splat(i as f32), ..Trs::IDENTITY },
    };
    let joints: Vec<Joint> = (0..joints).map(joint).collect();
    Skeleton::new(&joints, None, Vec::new()).unwrap()
}

#[test]
fn poses_and_masks_of_another_shape_and_weights_beyond_their_range_are_refused() {
    let (large, one) = (skeleton(21), skeleton(1));
    let (good, small) = (large.new_pose(), Pose::identity(16, 0));
    let rest = large.rest_pose();
    let blend = |p: &Pose, w: f32, out: &Pose| {
        let mut output = out.clone();
        BlendJob { actions: &[(p, w)], rest, output: &mut output }.run()
    };
    assert_eq!(blend(&good, 0.5, rest), Ok(()));
    assert!(matches!(
        blend(&small, 0.5, rest),
        Err(JobError::Size { buffer: "action.translation", have: 1, needed: 2, .. })
    ));
    assert!(matches!(
        blend(&good, 0.5, &small),
        Err(JobError::Size { buffer: "output.translation", .. })
    ));
    for w in [-0.1, f32::NAN, f32::INFINITY, 2e6] {
        assert!(
            matches!(blend(&good, w, rest), Err(JobError::Value { what: "weight", .. })),
            "{w}"
        );
    }
    let narrow = JointMask::from_weights(&one, &[1.0]).unwrap();
    let layer = |above: &Pose, weight, mask| {
        let mut pose = good.clone();
        let result = LayerJob { pose: &mut pose, above, weight, mask }.run();
        assert!(result.is_ok() || pose == good, "a refused job writes nothing");
        result
    };
    assert_eq!(layer(&good, 1.0, None), Ok(()));
    assert!(matches!(layer(&small, 1.0, None), Err(JobError::Size { .. })));
    assert!(matches!(
        layer(&good, 1.0, Some(&narrow)),
        Err(JobError::Size { buffer: "mask", have: 1, needed: 2, .. })
    ));
    assert!(matches!(layer(&good, 1.1, None), Err(JobError::Value { .. })));
    let add = |delta: &Pose, weight, mask| {
        let mut pose = good.clone();
        AdditiveJob { pose: &mut pose, delta, weight, mask }.run()
    };
    assert_eq!(add(&good, -1.0, None), Ok(()));
    assert!(matches!(
        add(&small, 1.0, None),
        Err(JobError::Size { buffer: "delta.translation", .. })
    ));
    assert!(matches!(add(&good, 1.0, Some(&narrow)), Err(JobError::Size { buffer: "mask", .. })));
    assert!(matches!(add(&good, f32::NAN, None), Err(JobError::Value { .. })));
}
