use super::*;
use crate::runtime::random::numbers;
use crate::skeleton::{Joint, Skeleton, Trs};
use glam::{DQuat, DVec3, Quat, Vec3};

const JOINTS: usize = 21;

/// Transforms of joints, the same for each seed.
fn transforms(seed: u64) -> impl FnMut() -> Trs {
    let mut number = numbers(seed);
    move || {
        let [translation, scale] = [(); 2].map(|()| Vec3::new(number(), number(), number()));
        let rotation = Quat::from_xyzw(number(), number(), number(), number()).normalize();
        Trs { translation, rotation, scale: scale + Vec3::new(1.5, 1.5, -1.5) }
    }
}

fn skeleton() -> Skeleton {
    let mut trs = transforms(3);
    let joints: Vec<Joint> = (0..JOINTS)
        .map(|i| Joint { name: i.to_string(), parent: i.checked_sub(1), rest: trs() })
        .collect();
    Skeleton::new(&joints, None, Vec::new()).unwrap()
}

fn pose(skeleton: &Skeleton, seed: u64) -> Pose {
    let mut trs = transforms(seed);
    let mut pose = skeleton.rest_pose().clone();
    (0..JOINTS).for_each(|l| pose.set_lane(l, &trs()));
    pose
}

type D = (DVec3, DQuat, DVec3);

fn lane(pose: &Pose, l: usize) -> D {
    let t = pose.lane(l);
    (t.translation.as_dvec3(), t.rotation.as_dquat(), t.scale.as_dvec3())
}

fn close(have: &Pose, l: usize, want: D, what: &str) {
    let (t, r, s) = lane(have, l);
    let sign = if r.dot(want.1) < 0.0 { -1.0 } else { 1.0 };
    let error = (t - want.0)
        .abs()
        .max_element()
        .max((s - want.2).abs().max_element())
        .max((r * sign - want.1).length());
    assert!(error < 2e-6, "{what}, lane {l}: {error} {:?} {want:?}", (t, r, s));
}

/// The rules of a layer, in f64.
fn mixed(actions: &[(D, f64)], rest: D) -> D {
    let total: f64 = actions.iter().map(|a| a.1).sum();
    let (mut t, mut s, mut r) = (DVec3::ZERO, DVec3::ZERO, DQuat::from_xyzw(0., 0., 0., 0.));
    let mut all = actions.to_vec();
    if total < 1.0 {
        all.push((rest, 1.0 - total));
    }
    let scale = if total > 1.0 { 1.0 / total } else { 1.0 };
    for (v, w) in all.into_iter().filter(|a| a.1 > 0.0) {
        t += v.0 * w * scale;
        s += v.2 * w * scale;
        let sign = if r.dot(v.1) < 0.0 { -1.0 } else { 1.0 };
        r += v.1 * (w * sign);
    }
    (t, r.normalize(), s)
}

#[test]
fn a_layer_follows_the_rules_at_every_level() {
    let skeleton = skeleton();
    let rest = skeleton.rest_pose();
    let poses: Vec<Pose> = (10..13).map(|s| pose(&skeleton, s)).collect();
    for level in SimdLevel::supported() {
        for weights in [
            [0.2f32, 0.3, 0.5],
            [0.3, 0.0, 0.3],
            [1.0, 2.0, 0.5],
            [0.0, 0.0, 0.0],
            [0.0, 0.0, 1e-6],
            [1.0, 0.0, 0.0],
        ] {
            let actions: Vec<(&Pose, f32)> = poses.iter().zip(weights).collect();
            let mut output = pose(&skeleton, 99);
            BlendJob { actions: &actions, rest, output: &mut output }.run_at(level).unwrap();
            for l in 0..JOINTS {
                let lanes: Vec<(D, f64)> =
                    actions.iter().map(|(p, w)| (lane(p, l), f64::from(*w))).collect();
                close(&output, l, mixed(&lanes, lane(rest, l)), &format!("{level} {weights:?}"));
            }
        }
    }
}

#[test]
fn layers_and_additive_layers_follow_the_rules_at_every_level() {
    let skeleton = skeleton();
    let (below, above) = (pose(&skeleton, 20), pose(&skeleton, 21));
    let masks: Vec<f32> = (0..JOINTS).map(|j| j as f32 / 20.0).collect();
    let mask = JointMask::from_weights(&skeleton, &masks).unwrap();
    for level in SimdLevel::supported() {
        for (weight, mask) in
            [(0.0f32, None), (0.6, Some(&mask)), (1.0, None), (-0.7, Some(&mask)), (-1.0, None)]
        {
            let w = |l: usize| f64::from(weight) * f64::from(mask.map_or(1.0, |_| masks[l]));
            let run = |kind| {
                let mut pose = below.clone();
                let job = LayerJob { pose: &mut pose, layer: &above, kind, weight, mask };
                job.run_at(level).unwrap();
                pose
            };
            let added = run(ClipKind::Additive);
            for l in 0..JOINTS {
                let (b, d, w) = (lane(&below, l), lane(&above, l), w(l));
                let near = if d.1.w < 0.0 { -d.1 } else { d.1 };
                let near = if w < 0.0 { near.conjugate() } else { near };
                let step = (DQuat::IDENTITY * (1.0 - w.abs()) + near * w.abs()).normalize();
                let want = (b.0 + d.0 * w, b.1 * step, b.2 * (DVec3::ONE + (d.2 - 1.0) * w));
                close(&added, l, want, &format!("additive {level} {weight}"));
            }
            if weight < 0.0 {
                continue;
            }
            let over = run(ClipKind::Full);
            for l in 0..JOINTS {
                let (b, a, w) = (lane(&below, l), lane(&above, l), w(l));
                let want = mixed(&[(b, 1.0 - w), (a, w)], b);
                close(&over, l, want, &format!("layer {level} {weight}"));
            }
        }
    }
}

#[test]
fn poses_and_masks_of_another_shape_and_weights_beyond_their_range_are_refused() {
    let skeleton = skeleton();
    let (good, small) = (pose(&skeleton, 1), Pose::identity(16, 0));
    let rest = skeleton.rest_pose();
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
    let one = Skeleton::new(
        &[Joint { name: String::new(), parent: None, rest: Trs::IDENTITY }],
        None,
        vec![],
    )
    .unwrap();
    let narrow = JointMask::from_weights(&one, &[1.0]).unwrap();
    for kind in [ClipKind::Full, ClipKind::Additive] {
        let run = |layer: &Pose, weight, mask| {
            let mut pose = good.clone();
            let result = LayerJob { pose: &mut pose, layer, kind, weight, mask }.run();
            assert!(result.is_ok() || pose == good, "a refused job writes nothing");
            result
        };
        assert_eq!(run(&good, 1.0, None), Ok(()));
        assert!(matches!(
            run(&small, 1.0, None),
            Err(JobError::Size { buffer: "layer.translation", .. })
        ));
        assert!(matches!(
            run(&good, 1.0, Some(&narrow)),
            Err(JobError::Size { buffer: "mask", have: 1, needed: 2, .. })
        ));
        assert_eq!(run(&good, -1.0, None).is_ok(), kind == ClipKind::Additive);
        for weight in [1.1, -1.1, f32::NAN] {
            let refused = run(&good, weight, None);
            assert!(matches!(refused, Err(JobError::Value { what: "weight", .. })), "{weight}");
        }
    }
}
