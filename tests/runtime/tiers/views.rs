//! Views and importances: which instances are in the picture, and in which tier.

use super::{DT, at, camera, chains, every, exact, palettes};
use glam::Mat4;
use phalanx::crowd::{
    BoneBuffer, Crowd, CrowdError, InstanceId, PlayOptions, RowLayout, Tier, Tiers, View,
};
use phalanx_testkit::chain::rig;

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
fn a_camera_that_turns_around_shows_all_visible_instances_in_that_frame() {
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
                assert!(crowd.shown(i).is_some(), "frame {frame}");
                seen += 1;
            }
        }
        let shown = all.iter().filter(|&&i| crowd.tier(i).is_some()).count();
        assert!(seen > 40 && shown < seen + 40, "{seen} of {shown}");
        let stats = crowd.tier_stats().unwrap();
        assert_eq!((stats.tiers[0].instances, stats.out), (shown, 360 - shown));
    }
}

/// An instance that comes into view has the palette of that frame, at any rate and budget.
#[test]
fn instances_that_a_turn_brings_into_view_are_new_in_that_frame() {
    for interpolate in [false, true] {
        let (mut crowd, all) = ring(120, 20.0);
        let rig = crowd.rig(all[0].rig()).unwrap().clone();
        crowd.set_tiers(Some(every(16, interpolate))).unwrap();
        crowd.set_views(&[camera(0.0)]).unwrap();
        let mut bones = BoneBuffer::new();
        crowd.evaluate(&mut bones);
        crowd.set_budget(Some(0)).unwrap();
        for _ in 0..3 {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
        }
        let before: Vec<_> = all.iter().map(|&i| crowd.tier(i)).collect();
        // By 180 degrees, and then by 20.
        for angle in [std::f32::consts::PI, 3.5] {
            let known: Vec<_> = all.iter().map(|&i| crowd.tier(i)).collect();
            crowd.set_views(&[camera(angle)]).unwrap();
            crowd.advance(DT).unwrap();
            let evaluated = crowd.evaluate(&mut bones).instances;
            let new: Vec<_> = (all.iter().zip(&known))
                .filter(|&(&i, known)| known.is_none() && crowd.tier(i).is_some())
                .map(|(&i, _)| i)
                .collect();
            assert!(new.len() > 2, "{}", new.len());
            assert_eq!(palettes(&crowd, &bones, &new), exact(&crowd, &rig, &new));
            let stats = crowd.tier_stats().unwrap();
            let each = 1 + usize::from(interpolate);
            assert_eq!(stats.tiers[0].evaluated, new.len());
            assert_eq!(evaluated, new.len(), "{each} palettes each");
            assert_eq!(stats.beyond_budget, new.len());
        }
        let now: Vec<_> = all.iter().map(|&i| crowd.tier(i)).collect();
        assert!(before.iter().zip(&now).all(|(a, b)| a.is_none() || b.is_none()));
    }
}

/// An instance that is teleported into the picture is there in that frame; one that is teleported out has no rows.
#[test]
fn teleports_are_seen_in_that_frame() {
    let (mut crowd, all) = ring(40, 20.0);
    let rig = crowd.rig(all[0].rig()).unwrap().clone();
    let patient = Tiers { max_age: 1000, ..every(16, false) };
    crowd.set_tiers(Some(patient)).unwrap();
    crowd.set_views(&[camera(0.0)]).unwrap();
    let mut bones = BoneBuffer::new();
    crowd.evaluate(&mut bones);
    crowd.set_budget(Some(0)).unwrap();
    let mut held = None;
    for frame in 0..20 {
        let i = all[frame % 40];
        crowd.set_world(i, super::at([0.0, 0.0, 30.0])).unwrap();
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        assert_eq!((crowd.tier(i), crowd.palette_range(i)), (None, None));
        // A jump within the picture is no change of the pose.
        crowd.set_world(i, super::at([0.0, 0.0, -9.0])).unwrap();
        crowd.advance(DT).unwrap();
        assert_eq!(crowd.evaluate(&mut bones).instances, 1);
        assert_eq!(palettes(&crowd, &bones, &[i]), exact(&crowd, &rig, &[i]));
        crowd.set_world(i, super::at([1.0, 0.0, -40.0])).unwrap();
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        let other = held.replace(i);
        assert!(other.is_none_or(|other| crowd.tier(other).is_some()));
        assert_eq!(palettes(&crowd, &bones, &[i]).len(), 1);
    }
}

/// A view without instances leaves no rows to evaluate; an instance that is seen again is new.
#[test]
fn a_view_without_instances_evaluates_nothing() {
    let (mut crowd, all) = ring(30, 20.0);
    crowd.set_tiers(Some(every(4, false))).unwrap();
    let mut bones = BoneBuffer::new();
    let up = View {
        clip_from_world: (Mat4::from_cols_array_2d(&camera(0.0).clip_from_world)
            * Mat4::from_rotation_x(-std::f32::consts::FRAC_PI_2))
        .to_cols_array_2d(),
        ..camera(0.0)
    };
    for views in [&[up][..], &[], &[up; 3]].into_iter().flat_map(|views| [None, Some(views)]) {
        let shown = if views.is_none() { 30 } else { 0 };
        match views {
            None => crowd.clear_views().unwrap(),
            Some(views) => crowd.set_views(views).unwrap(),
        }
        crowd.advance(DT).unwrap();
        assert_eq!(crowd.evaluate(&mut bones).instances, shown);
        let inside = all.iter().filter(|&&i| crowd.tier(i).is_some());
        assert_eq!(inside.count(), shown);
        let stats = crowd.tier_stats().unwrap();
        assert_eq!((stats.out, stats.tiers[0].held), (30 - shown, 0));
    }
}

/// Instances that change their tiers in every frame are new in every frame, and their rows are used again.
#[test]
fn tiers_that_change_every_frame() {
    let (mut crowd, all, id, _) = chains(64);
    let rig = crowd.rig(id).unwrap().clone();
    // Behind the camera: importances alone decide.
    for &i in &all {
        crowd.set_world(i, super::at([0.0, 0.0, 30.0])).unwrap();
    }
    let tier = |height, rate, interpolate| Tier { height, rate, interpolate, ..Tier::default() };
    crowd
        .set_tiers(Some(Tiers {
            tiers: vec![tier(100.0, 8, true), tier(10.0, 4, false), tier(0.0, 16, true)],
            ..Tiers::default()
        }))
        .unwrap();
    let mut bones = BoneBuffer::new();
    let mut most = 0;
    for frame in 0..90 {
        let height = [500.0, 40.0, 1.0];
        let importance: Vec<f32> = (0..64).map(|n| height[(n + frame) % 3]).collect();
        crowd.set_importances(id, &importance).unwrap();
        crowd.set_views(&[camera(0.0)]).unwrap();
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        for (n, &i) in all.iter().enumerate() {
            assert_eq!(crowd.tier(i), Some((n + frame) % 3));
        }
        assert_eq!(palettes(&crowd, &bones, &all), exact(&crowd, &rig, &all));
        match frame {
            0..30 => most = most.max(bones.rows().len()),
            _ => assert!(bones.rows().len() <= most, "frame {frame}"),
        }
    }
}

#[test]
fn two_views_show_the_union_and_none_shows_all() {
    let (mut crowd, all) = ring(90, 20.0);
    crowd.set_tiers(Some(every(1, false))).unwrap();
    let mut bones = BoneBuffer::new();
    let tiers = |crowd: &Crowd| all.iter().map(|&i| crowd.tier(i).is_some()).collect::<Vec<_>>();
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
    // Without views all instances are in the picture.
    crowd.clear_views().unwrap();
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
    let tier = |height, rate| Tier { height, rate, ..Tier::default() };
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
    assert!(tiers.windows(2).all(|t| order(&t[0]) <= order(&t[1])), "{tiers:?}");
    assert_eq!((tiers[0], tiers[49]), (Some(0), None));
    assert!(tiers.contains(&Some(1)) && tiers.contains(&Some(2)));
    let mut importance = vec![0.0; 50];
    importance[49] = 1e4;
    crowd.set_importances(id, &importance).unwrap();
    crowd.evaluate(&mut bones);
    assert_eq!(crowd.tier(all[49]), Some(0));
    assert_eq!(crowd.tier(all[48]), tiers[48]);
    // An instance that is teleported is ranked where it is.
    crowd.set_world(all[48], super::at([0.0, 0.0, -3.0])).unwrap();
    crowd.evaluate(&mut bones);
    assert_eq!(crowd.tier(all[48]), Some(0));
}

#[test]
fn views_of_shadows_give_the_tier_of_shadows() {
    let (mut crowd, all) = ring(90, 20.0);
    let tier = |height| Tier { height, ..Tier::default() };
    crowd
        .set_tiers(Some(Tiers {
            tiers: vec![tier(10.0), tier(1.0)],
            shadows: Some(1),
            ..Tiers::default()
        }))
        .unwrap();
    let shadow = View { shadows: true, ..camera(std::f32::consts::PI) };
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
    assert_eq!(refused.to_string(), "view 1: a number of the matrix is NaN");
    view = View { height: 0.0, ..camera(0.0) };
    assert!(crowd.set_views(&[view]).is_err());
    assert_eq!(
        crowd.set_importances(id, &[1.0, f32::NAN, 2.0]).unwrap_err().to_string(),
        "importance 1 is NaN; importances are at least 0"
    );
    assert_eq!(
        crowd.set_importances(id, &[1.0]).unwrap_err().to_string(),
        "1 importance for a rig whose arrays have length 3"
    );
    assert!(crowd.set_importances(id, &[-1.0, 0.0, 0.0]).is_err());
    let mut bones = BoneBuffer::new();
    assert_eq!(crowd.evaluate(&mut bones).instances, 3);
    let tiers = Tiers { tiers: Vec::new(), ..Tiers::default() };
    assert!(crowd.set_tiers(Some(tiers)).is_err());
    assert_eq!(crowd.tiers(), Some(&every(1, false)));
    // A handle of another crowd.
    let (other, ..) = (chains(1).2, ());
    assert!(matches!(crowd.set_importances(other, &[]), Err(CrowdError::UnknownRig { .. })));
    let _ = PlayOptions::default();
}

/// Numbers that are refused leave the frames as they are without the call: views, importances and the budget stay.
#[test]
fn refused_numbers_change_no_frame() {
    let bad_view = |change: &dyn Fn(&mut View)| {
        let mut view = camera(1.0);
        change(&mut view);
        view
    };
    let views = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY]
        .map(|bad| [bad_view(&|v| v.clip_from_world[3][2] = bad), bad_view(&|v| v.height = bad)]);
    let views = views
        .into_iter()
        .flatten()
        .chain([bad_view(&|v| v.height = 0.0), bad_view(&|v| v.height = -1.0)]);
    let views: Vec<View> = views.collect();
    let importances = [f32::NAN, -f32::NAN, -1e-30, f32::NEG_INFINITY];
    let frames = |refused: bool| {
        let (mut crowd, all) = ring(60, 20.0);
        let id = all[0].rig();
        crowd.set_tiers(Some(every(4, false))).unwrap();
        crowd.set_views(&[camera(0.5)]).unwrap();
        // An infinite one is as large as can be.
        let height = |n: usize| {
            if n.is_multiple_of(7) { f32::INFINITY } else { 0.0 }
        };
        let given: Vec<f32> = (0..60).map(height).collect();
        crowd.set_importances(id, &given).unwrap();
        crowd.set_budget(Some(3)).unwrap();
        let mut bones = BoneBuffer::new();
        let frame = |frame: usize| {
            if refused {
                let view = views[frame % views.len()];
                assert!(crowd.set_views(&[camera(2.0), view]).is_err());
                let mut bad = vec![1e6; 60];
                bad[59] = importances[frame % importances.len()];
                assert!(crowd.set_importances(id, &bad).is_err());
                assert!(crowd.set_importances(id, &bad[..30]).is_err());
            }
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
            let tiers: Vec<_> = all.iter().map(|&i| crowd.tier(i)).collect();
            (tiers, bones.hash())
        };
        (0..16).map(frame).collect::<Vec<_>>()
    };
    let wanted = frames(false);
    let shown = wanted[0].0.iter().filter(|tier| tier.is_some()).count();
    assert!(shown > 9 && shown < 50, "{shown}");
    assert!(frames(true) == wanted);
}

/// Importances without views: an instance of none is out of the picture. Taken back, all are in it again.
#[test]
fn importances_without_views_are_given_and_taken_back() {
    let (mut crowd, all) = ring(20, 20.0);
    let id = all[0].rig();
    crowd.set_tiers(Some(every(2, true))).unwrap();
    let mut bones = BoneBuffer::new();
    let given: Vec<f32> = (0..20).map(|n| (n % 2) as f32).collect();
    for (importances, views, shown) in [
        (&[][..], 0, 20),
        (&given, 0, 10),
        (&[], 0, 20),
        // The camera, 57 degrees wide, sees the first one and those 18 degrees beside it, which are important.
        (&given, 1, 10 + 1),
        (&[], 0, 20),
    ] {
        crowd.set_importances(id, importances).unwrap();
        match views {
            0 => crowd.clear_views().unwrap(),
            _ => crowd.set_views(&vec![camera(0.0); views]).unwrap(),
        }
        crowd.advance(DT).unwrap();
        crowd.evaluate(&mut bones);
        let inside: Vec<_> = all.iter().map(|&i| crowd.tier(i).is_some()).collect();
        let important = importances.iter().zip(&inside).filter(|(i, _)| **i > 0.0);
        assert!(important.into_iter().all(|(_, inside)| *inside));
        assert_eq!(inside.iter().filter(|i| **i).count(), shown);
        assert_eq!(crowd.tier_stats().unwrap().out, 20 - shown);
    }
}

/// After a fade an instance has the tier of one that never faded, wherever it stands: its bounds are those of its clip.
#[test]
fn an_ended_fade_leaves_no_trace() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let [clip, other] = [0, 2].map(|c| crowd.clip_by_index(id, c).unwrap());
    crowd.set_tiers(Some(Tiers::default())).unwrap();
    crowd.set_views(&[camera(0.0)]).unwrap();
    let mut pairs = Vec::new();
    for n in 0..400 {
        let place = at([0.04 * n as f32 - 8.0, 0.0, -4.0]);
        let pair = [0, 1].map(|_| {
            let i = crowd.spawn(id).unwrap();
            crowd.play(i, clip, &PlayOptions::default()).unwrap();
            crowd.set_world(i, place).unwrap();
            i
        });
        pairs.push(pair);
    }
    let mut bones = BoneBuffer::new();
    let mut frames = |crowd: &mut Crowd, count| {
        for _ in 0..count {
            crowd.advance(DT).unwrap();
            crowd.evaluate(&mut bones);
        }
    };
    let fade = |crowd: &mut Crowd, to| {
        for &[_, faded] in &pairs {
            let options = PlayOptions::default();
            crowd.fade_to(faded, to, 0.2, &options).unwrap();
        }
    };
    let differ = |crowd: &Crowd| {
        let apart = |[a, b]: &&[InstanceId; 2]| crowd.tier(*a) != crowd.tier(*b);
        pairs.iter().filter(apart).count()
    };
    frames(&mut crowd, 3);
    fade(&mut crowd, other);
    frames(&mut crowd, 3);
    // While it fades its bounds are wider.
    assert!(differ(&crowd) > 2, "{}", differ(&crowd));
    fade(&mut crowd, clip);
    frames(&mut crowd, 30);
    assert_eq!(differ(&crowd), 0);
}

/// Memory of another alignment leaves instances in their tiers, between two heights, too.
#[test]
fn another_alignment_keeps_tiers() {
    let mut crowd = Crowd::new();
    let id = crowd.add_rig(rig()).unwrap();
    let clip = crowd.clip_by_index(id, 0).unwrap();
    crowd.set_tiers(Some(Tiers::default())).unwrap();
    crowd.set_views(&[camera(0.0)]).unwrap();
    let mut all = Vec::new();
    for _ in 0..400 {
        let i = crowd.spawn(id).unwrap();
        crowd.play(i, clip, &PlayOptions::default()).unwrap();
        all.push(i);
    }
    // They come nearer, and go.
    let place = |crowd: &mut Crowd, n: usize, step: f32| {
        let place = at([0.0, 0.0, -1.0 - 0.2 * n as f32 - step]);
        crowd.set_world(all[n], place).unwrap();
    };
    for step in [0.0, 1.0, 2.0] {
        (0..400).for_each(|n| place(&mut crowd, n, step));
        let _ = crowd.schedule(&RowLayout::default());
    }
    let tiers = |crowd: &Crowd| all.iter().map(|&i| crowd.tier(i)).collect::<Vec<_>>();
    let before = tiers(&crowd);
    let counts = |crowd: &Crowd| {
        let tiers = &crowd.tier_stats().unwrap().tiers;
        tiers.iter().map(|t| t.instances).collect::<Vec<_>>()
    };
    let counted = counts(&crowd);
    let layout = RowLayout { align: 16, ..RowLayout::default() };
    let _ = crowd.schedule(&layout);
    assert_eq!((tiers(&crowd), counts(&crowd)), (before, counted));
    for &i in all.iter().filter(|&&i| crowd.tier(i).is_some()) {
        assert_eq!(crowd.palette_range(i).unwrap().start % 16, 0);
    }
}

/// Maps of shadows count where the pictures give no tier, and there alone.
#[test]
fn shadows_of_instances_that_are_too_small_are_kept() {
    let (mut crowd, all, ..) = chains(1);
    let i = all[0];
    let tier = |height| Tier { height, ..Tier::default() };
    crowd
        .set_tiers(Some(Tiers { tiers: vec![tier(200.0), tier(5.0)], ..Tiers::default() }))
        .unwrap();
    let mut bones = BoneBuffer::new();
    // A view from so many metres nearer.
    let nearer = |by: f32, shadows| View {
        clip_from_world: (Mat4::from_cols_array_2d(&camera(0.0).clip_from_world)
            * Mat4::from_translation(glam::Vec3::new(0.0, 0.0, by)))
        .to_cols_array_2d(),
        shadows,
        ..camera(0.0)
    };
    for (far, views, wanted) in [
        (60.0, vec![camera(0.0)], Some(1)),
        (60.0, vec![camera(0.0), nearer(56.0, false)], Some(0)),
        (60.0, vec![camera(0.0), nearer(56.0, true)], Some(1)),
        (60.0, vec![nearer(56.0, true)], Some(0)),
        (600.0, vec![camera(0.0)], None),
        (600.0, vec![nearer(596.0, true)], Some(0)),
        (600.0, vec![camera(0.0), nearer(596.0, true)], Some(0)),
        (600.0, vec![camera(0.0), nearer(596.0, false)], Some(0)),
        (600.0, vec![camera(0.0), nearer(0.0, true)], None),
    ] {
        // From out of the picture.
        crowd.set_world(i, super::at([0.0, 0.0, 50.0])).unwrap();
        crowd.set_views(&[camera(0.0)]).unwrap();
        crowd.evaluate(&mut bones);
        assert_eq!(crowd.tier(i), None);
        crowd.set_world(i, super::at([0.0, 0.0, -far])).unwrap();
        crowd.set_views(&views).unwrap();
        for _ in 0..3 {
            crowd.evaluate(&mut bones);
            assert_eq!(crowd.tier(i), wanted, "{far}, {} views", views.len());
            assert_eq!(crowd.palette_range(i).is_some(), wanted.is_some());
        }
    }
}
