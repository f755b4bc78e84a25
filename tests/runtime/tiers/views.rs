//! Views and importances: who is in the picture, and in which tier.

use super::{DT, chains, every};
use glam::{Mat4, Vec3};
use phalanx::crowd::{BoneBuffer, Crowd, InstanceId, PlayOptions, Tier, TierError, Tiers, View};

/// A camera at the origin that looks along an angle around the vertical axis.
fn camera(angle: f32) -> View {
    let to = Vec3::new(angle.sin(), 0.0, -angle.cos());
    let projection = glam::camera::rh::proj::directx::perspective_infinite_reverse(1.0, 1.0, 0.1);
    View {
        clip_from_world: (projection
            * glam::camera::rh::view::look_to_mat4(Vec3::ZERO, to, Vec3::Y))
        .to_cols_array_2d(),
        height: 1000.0,
        shadows: false,
    }
}

/// Instances on a ring around the origin.
fn ring(count: usize, radius: f32) -> (Crowd, Vec<InstanceId>) {
    let (mut crowd, all, ..) = chains(count);
    for (n, &i) in all.iter().enumerate() {
        let angle = n as f32 / count as f32 * std::f32::consts::TAU;
        let place = [radius * angle.sin(), 0.0, -radius * angle.cos()];
        crowd.set_world(i, super::at(place)).unwrap();
    }
    (crowd, all)
}

/// All vertices of an instance that are inside of a view's frustum.
fn inside(crowd: &Crowd, view: &View, i: InstanceId) -> bool {
    let bounds = crowd.bounds(i).unwrap();
    let world = crowd.world(i).unwrap();
    let clip = Mat4::from_cols_array_2d(&view.clip_from_world);
    let center = world.translation() + bounds.center();
    let p = clip * center.extend(1.0);
    p.w > 0.0 && p.x.abs() < p.w && p.y.abs() < p.w
}

#[test]
fn a_camera_that_turns_around_finds_everybody_in_that_frame() {
    let (mut crowd, all) = ring(360, 20.0);
    crowd.set_tiers(Some(every(8, true))).unwrap();
    let mut bones = BoneBuffer::new();
    for (frame, angle) in [0.0f32, 0.1, 3.2, 1.0, 4.2, 4.2].into_iter().enumerate() {
        let view = camera(angle);
        crowd.set_views(&[view]).unwrap();
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        let mut seen = 0;
        for &i in &all {
            if inside(&crowd, &view, i) {
                assert!(crowd.palette_pair(i).is_some(), "frame {frame}");
                seen += 1;
            }
        }
        let shown = all.iter().filter(|&&i| crowd.tier(i).is_some()).count();
        assert!(seen > 40 && shown < seen + 40, "{seen} of {shown}");
        let stats = crowd.tier_stats().unwrap();
        assert_eq!((stats.tiers[0].instances, stats.out), (shown, 360 - shown));
    }
}

#[test]
fn two_views_show_what_either_shows_and_none_shows_nothing_else() {
    let (mut crowd, all) = ring(90, 20.0);
    crowd.set_tiers(Some(every(1, false))).unwrap();
    let mut bones = BoneBuffer::new();
    let tiers = |crowd: &Crowd| {
        all.iter()
            .map(|&i| crowd.tier(i).is_some())
            .collect::<Vec<_>>()
    };
    let shown: Vec<Vec<bool>> = [vec![0.0f32], vec![2.0], vec![0.0, 2.0]]
        .into_iter()
        .map(|angles| {
            let views: Vec<View> = angles.into_iter().map(camera).collect();
            crowd.set_views(&views).unwrap();
            crowd.evaluate(&mut bones);
            tiers(&crowd)
        })
        .collect();
    let either = shown[0].iter().zip(&shown[1]).map(|(a, b)| *a || *b);
    assert!(shown[2].iter().copied().eq(either));
    // Without views everybody is in the picture.
    crowd.set_views(&[]).unwrap();
    assert_eq!(crowd.evaluate(&mut bones).instances, 90);
    assert!(tiers(&crowd).iter().all(|&t| t));
}

#[test]
fn heights_choose_tiers_and_importance_lifts_them() {
    let (mut crowd, all, id, _) = chains(50);
    for (n, &i) in all.iter().enumerate() {
        let place = [0.0, 0.0, -3.0 * (n + 1) as f32];
        crowd.set_world(i, super::at(place)).unwrap();
    }
    let tier = |height, rate| Tier {
        height,
        rate,
        ..Tier::default()
    };
    crowd
        .set_tiers(Some(Tiers {
            tiers: vec![tier(400.0, 1), tier(100.0, 2), tier(30.0, 4)],
            ..Tiers::default()
        }))
        .unwrap();
    crowd.set_views(&[camera(0.0)]).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    let tiers: Vec<_> = all.iter().map(|&i| crowd.tier(i)).collect();
    // Nearer ones are in finer tiers; the last ones are too small.
    let order = |t: &Option<usize>| t.unwrap_or(3);
    assert!(
        tiers.windows(2).all(|t| order(&t[0]) <= order(&t[1])),
        "{tiers:?}"
    );
    assert_eq!((tiers[0], tiers[49]), (Some(0), None));
    assert!(tiers.contains(&Some(1)) && tiers.contains(&Some(2)));
    let mut importance = vec![0.0; 50];
    importance[49] = 1e4;
    crowd.set_importances(id, &importance).unwrap();
    crowd.evaluate(&mut bones);
    assert_eq!(crowd.tier(all[49]), Some(0));
    assert_eq!(crowd.tier(all[48]), tiers[48]);
    // Somebody who is teleported is ranked where it is.
    crowd
        .set_world(all[48], super::at([0.0, 0.0, -3.0]))
        .unwrap();
    crowd.evaluate(&mut bones);
    assert_eq!(crowd.tier(all[48]), Some(0));
}

#[test]
fn views_of_shadows_give_the_tier_of_shadows() {
    let (mut crowd, all) = ring(90, 20.0);
    let tier = |height| Tier {
        height,
        ..Tier::default()
    };
    crowd
        .set_tiers(Some(Tiers {
            tiers: vec![tier(10.0), tier(1.0)],
            shadows: Some(1),
            ..Tiers::default()
        }))
        .unwrap();
    let shadow = View {
        shadows: true,
        ..camera(std::f32::consts::PI)
    };
    crowd.set_views(&[camera(0.0), shadow]).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    assert_eq!(crowd.tier(all[0]), Some(0));
    assert_eq!(crowd.tier(all[45]), Some(1));
    assert_eq!(crowd.tier(all[22]), None);
}

#[test]
fn nonsense_is_refused_and_changes_nothing() {
    let (mut crowd, _, id, _) = chains(3);
    crowd.set_tiers(Some(every(1, false))).unwrap();
    let mut view = camera(0.0);
    view.clip_from_world[2][1] = f32::NAN;
    let refused = crowd.set_views(&[camera(0.0), view]).unwrap_err();
    assert!(
        matches!(refused, TierError::View { view: 1, .. }),
        "{refused}"
    );
    view = View {
        height: 0.0,
        ..camera(0.0)
    };
    assert!(crowd.set_views(&[view]).is_err());
    assert_eq!(
        crowd
            .set_importances(id, &[1.0, f32::NAN, 2.0])
            .unwrap_err()
            .to_string(),
        "importance 1 is NaN; importances are at least 0"
    );
    assert_eq!(
        crowd.set_importances(id, &[1.0]).unwrap_err(),
        TierError::Importances {
            found: 1,
            needed: 3
        }
    );
    assert!(crowd.set_importances(id, &[-1.0, 0.0, 0.0]).is_err());
    let mut bones = BoneBuffer::new();
    assert_eq!(crowd.evaluate(&mut bones).instances, 3);
    let tiers = Tiers {
        tiers: Vec::new(),
        ..Tiers::default()
    };
    assert!(crowd.set_tiers(Some(tiers)).is_err());
    assert_eq!(crowd.tiers(), Some(&every(1, false)));
    // A handle of another crowd.
    let (other, ..) = (chains(1).2, ());
    assert!(matches!(
        crowd.set_importances(other, &[]),
        Err(TierError::Crowd(_))
    ));
    let _ = PlayOptions::default();
}
