//! The models of files, each onto each other.

use crate::support::*;
use phalanx::retarget::{HumanoidMap, RetargetOptions, Retargeting};

const MODELS: [(&str, &str); 5] = [
    ("pab.glb", "walk"),
    ("mannequin.glb", "Walk"),
    ("bl_humanoid.glb", "Walk"),
    ("robot.glb", "Robot_Walking"),
    ("CesiumMan.glb", ""),
];

/// The height of hips above the origin, if legs were straight and the lowest foot or toe stayed where it is; of the foot
/// that points down less.
fn standing(rest: &Posed, map: &HumanoidMap) -> f64 {
    let sides = [
        [B::LeftUpperLeg, B::LeftLowerLeg, B::LeftFoot, B::LeftToes],
        [B::RightUpperLeg, B::RightLowerLeg, B::RightFoot, B::RightToes],
    ];
    let feet = sides.map(|[upper, lower, foot, toes]| {
        let [upper, lower, foot] = [upper, lower, foot].map(|b| rest.place(map, b));
        let tip = map.joint(toes).map_or(foot, |joint| rest.places[joint]);
        let low = foot.y.min(tip.y);
        let longer = upper.distance(lower) + lower.distance(foot) - (upper.y - foot.y);
        (low, low - longer)
    });
    let low = feet[0].0.min(feet[1].0);
    rest.place(map, B::Hips).y + low - feet[0].1.max(feet[1].1)
}

/// Limbs point where those of the source do, and hips are where the ratio of heights puts them, in every clip of
/// every model on every other one.
#[test]
fn each_walks_as_each() {
    for (from, name) in MODELS {
        for (to, _) in MODELS {
            let (Some(a), Some(b)) = (model(from), model(to)) else {
                continue;
            };
            let walk = clip(&a, name);
            let done = retarget(&a, &b, walk, RetargetOptions::default());
            let (map_a, map_b) = (map(&a), map(&b));
            let (rest_a, rest_b) = (Posed::rest(a.skeleton()), Posed::rest(b.skeleton()));
            let (mut worst, mut at) = (0.0f64, B::Hips);
            let mut hips = 0.0f64;
            for time in times(walk) {
                let source = Posed::at(a.skeleton(), walk, time);
                let result = Posed::at(b.skeleton(), &done.clip, time);
                for (bone, end) in LIMBS {
                    // Where the source's own limb keeps its length, it is rigid; a loose foot slides along.
                    if from == "robot.glb" && matches!(end, B::LeftFoot | B::RightFoot) {
                        continue;
                    }
                    let wanted = source.direction(&map_a, bone, end);
                    let error = (result.direction(&map_b, bone, end) - wanted).length();
                    if error > worst {
                        (worst, at) = (error, bone);
                    }
                }
                let way = source.place(&map_a, B::Hips) - rest_a.place(&map_a, B::Hips);
                let mut wanted = rest_b.place(&map_b, B::Hips) + way * done.report.ratio;
                // All of them stand on the origin.
                wanted.y = source.place(&map_a, B::Hips).y * done.report.ratio;
                hips = hips.max(
                    (result.place(&map_b, B::Hips) - wanted).length() / done.report.heights[1],
                );
            }
            let heights = [standing(&rest_a, &map_a), standing(&rest_b, &map_b)];
            for (height, have) in heights.into_iter().zip(done.report.heights) {
                assert!((height / have - 1.0).abs() < 1e-6, "{from} on {to}: {height} {have}");
            }
            let ratio = heights[1] / heights[0];
            assert!((done.report.ratio / ratio - 1.0).abs() < 1e-6, "{from} on {to}");
            println!(
                "{from} on {to}: {worst:.1e} at {at}, hips {hips:.1e}, ratio {:.4}, heights {:?}, aligned {:?}, between {:.1e}",
                done.report.ratio,
                done.report.heights,
                done.report
                    .aligned
                    .iter()
                    .map(|a| format!("{} {:.0}°", a.0, a.1.to_degrees()))
                    .collect::<Vec<_>>(),
                done.report.between_keys,
            );
            if from == to {
                let source = Posed::at(a.skeleton(), walk, 0.4);
                let result = Posed::at(b.skeleton(), &done.clip, 0.4);
                let hips = map_a.joint(B::Hips).unwrap();
                let parents = a.skeleton().parents();
                let below = |j: usize| {
                    let up =
                        |j: &usize| Some(usize::from(parents[*j])).filter(|&p| p < parents.len());
                    std::iter::successors(Some(j), up).any(|j| j == hips)
                };
                for joint in (0..a.skeleton().len()).filter(|&j| below(j)) {
                    let error = angle(source.turns[joint], result.turns[joint]);
                    let name = &a.skeleton().names()[joint];
                    assert!(error < 1e-5, "{from}: {name} {error:e}");
                }
                assert!(done.report.left.is_empty() && done.report.between_keys == 0.0);
            }
            assert!(worst < 1e-4, "{from} on {to}: {at} {worst:e}");
            assert!(hips < 1e-4, "{from} on {to}: hips {hips:e}");
        }
    }
}

/// Of a map in which the hips' sides are taken for upper legs, what points elsewhere is not turned, and named.
#[test]
fn far_limbs_are_not_aligned() {
    let (Some(a), Some(b)) = (model("greenman.glb"), model("pab.glb")) else {
        return;
    };
    let text = r#"{"hips": "root", "spine": "body_low", "leftUpperLeg": "hip_L", "leftLowerLeg": "leg_L",
        "rightUpperLeg": "hip_R", "rightLowerLeg": "leg_R"}"#;
    let map_a = HumanoidMap::from_json(text, a.skeleton()).unwrap();
    let map_b = map(&b);
    let (rest_a, rest_b) = (Posed::rest(a.skeleton()), Posed::rest(b.skeleton()));
    let sides = ((a.skeleton(), &map_a), (b.skeleton(), &map_b));
    let ready = Retargeting::new(sides.0, sides.1, RetargetOptions::default()).unwrap();
    let done = Retargeted::from(ready.retarget(&a.clips()[0]).unwrap());
    let (aligned, left) = (&done.report.aligned, &done.report.not_aligned);
    let mut far = 0;
    for (bone, end) in LIMBS {
        if map_a.joint(bone).is_none() || map_a.joint(end).is_none() {
            continue;
        }
        let from = rest_a.direction(&map_a, bone, end);
        let angle = from.angle_between(rest_b.direction(&map_b, bone, end));
        let named =
            |list: &[(B, f64)]| list.iter().any(|l| l.0 == bone && (l.1 - angle).abs() < 1e-5);
        assert_eq!(named(left), angle > 95f64.to_radians(), "{bone} {angle}: {left:?}");
        assert_eq!(named(left), !named(aligned), "{bone} {angle}: {aligned:?}");
        far += usize::from(named(left));
    }
    assert!(far > 0, "{left:?}");
}
