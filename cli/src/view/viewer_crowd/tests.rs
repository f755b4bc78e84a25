use super::*;
use phalanx::crowd::BoneBuffer;
use phalanx::playback::PoseAction;
use phalanx_testkit::trials;

fn crowd(count: usize) -> ViewerCrowd {
    let model = Model::load(None, false, Default::default()).unwrap();
    ViewerCrowd::new(&model, Playing::Clip(0), count).unwrap()
}

#[test]
fn choosing_fades_and_scrubbing_keeps_everyones_distance() {
    let mut crowd = crowd(7);
    let old = crowd.motion_of(0).unwrap().0;
    crowd.choose(Playing::Clip(1), 0.5).unwrap();
    crowd.advance(0.25).unwrap();
    let (new, duration) = crowd.motion_of(0).unwrap();
    let weight = |crowd: &ViewerCrowd, clip| {
        let state = crowd.crowd.playing(crowd.instances[3]).unwrap().action(0, clip);
        state.map(|s| s.weight)
    };
    assert!((weight(&crowd, old).unwrap() - 0.5).abs() < 1e-3);
    assert!((weight(&crowd, new).unwrap() - 0.5).abs() < 1e-3);
    assert!((crowd.time() - 0.25).abs() < 1e-6);
    crowd.advance(0.5).unwrap();
    assert!(weight(&crowd, old).is_err() && weight(&crowd, new) == Ok(1.0));
    crowd.set_time(0.1).unwrap();
    assert!((crowd.time() - 0.1).abs() < 1e-6);
    let other = crowd.crowd.playing(crowd.instances[3]).unwrap().action(0, new);
    let expected = (0.1 + ViewerCrowd::lag(3) * duration) % duration;
    assert!((other.unwrap().time - expected).abs() < 1e-6);
    crowd.choose(Playing::Rest, 0.0).unwrap();
    crowd.advance(0.01).unwrap();
    assert_eq!((crowd.time(), crowd.duration()), (0.0, 0.0));
}

#[test]
fn crowds_grow_and_shrink_and_those_unseen_are_not_evaluated() {
    let mut crowd = crowd(1);
    crowd.choose(Playing::Mixed, 0.0).unwrap();
    crowd.set_count(400).unwrap();
    assert_eq!(crowd.count(), 400);
    let (min, max) = crowd.extent();
    let size = PictureSize { width: 640, height: 360 };
    let aside = Camera {
        eye: Vec3::new(0.0, 2.0, max.z + 2.0),
        target: Vec3::new(3.0, 1.0, max.z - 2.0),
        up: Vec3::Y,
        fov_y: 0.5,
        near: 0.1,
    };
    let look = Look::over(min, max, aside.eye);
    let mut buffer = BoneBuffer::new();
    let mut evaluate = |skip| {
        crowd.look(&aside, &look, size, skip).unwrap();
        let evaluated = crowd.evaluate(|crowd| Ok(crowd.evaluate(&mut buffer)));
        (evaluated.unwrap().0, crowd.drawn().len())
    };
    let (all, drawn) = evaluate(false);
    assert_eq!(all, 400);
    assert!(drawn > 10 && drawn < 300, "{drawn}");
    assert_eq!(evaluate(true), (drawn, drawn));
    let found = crowd.joints(aside.eye, 3).unwrap();
    assert_eq!((found.shown, found.visible > 10), (3, true));
    let near =
        |joint: &super::joints::Joint| joint.parent.is_none_or(|p| p.distance(joint.at) < 1.0);
    assert!(found.joints.len() > 100 && found.joints.iter().all(near));
    let roots = found.joints.iter().filter(|j| j.parent.is_none());
    assert_eq!(roots.count(), 3);
    crowd.set_count(0).unwrap();
    assert_eq!(crowd.count(), 1);
}

/// A rig whose clips have different floors: a fox that runs deeper than it stands, and one clip far above.
#[test]
fn feet_of_the_clip_that_plays_stand_on_the_ground() {
    let mut crowd = crowd(2);
    // Floors as if the first clip were played in the air.
    crowd.floors = Floors::known([(None, 0.5), (Some(0), 0.25), (Some(1), -0.5)]);
    crowd.stand().unwrap();
    let height = |crowd: &ViewerCrowd| {
        let worlds = crowd.instances.iter().map(|&i| crowd.crowd.world(i));
        let heights: Vec<f32> = worlds.map(|w| w.unwrap().translation().y).collect();
        assert_eq!(heights[0], heights[1]);
        heights[0]
    };
    assert_eq!((height(&crowd), crowd.sinking), (-0.25, false));
    // A fade goes from one to the other without a jump.
    crowd.choose(Playing::Clip(1), 0.5).unwrap();
    crowd.advance(0.0).unwrap();
    assert_eq!((height(&crowd), crowd.sinking), (-0.25, true));
    crowd.advance(0.25).unwrap();
    assert!((height(&crowd) - 0.125).abs() < 1e-3);
    crowd.advance(0.5).unwrap();
    crowd.advance(0.1).unwrap();
    assert_eq!((height(&crowd), crowd.sinking), (0.5, false));
    crowd.choose(Playing::Rest, 0.0).unwrap();
    crowd.advance(0.01).unwrap();
    crowd.advance(0.01).unwrap();
    assert_eq!((height(&crowd), crowd.sinking), (-0.5, false));
}

#[test]
fn no_model_floats_or_sinks() {
    for file in ["Fox.glb", "pab.glb", "robot.glb", "CesiumMan.glb"] {
        let Some(path) = trials::model(file) else {
            continue;
        };
        let model = Model::load(Some(&path), false, Default::default()).unwrap();
        let mut crowd = ViewerCrowd::new(&model, Playing::Rest, 1).unwrap();
        for clip in 0..model.rig.clips().len() {
            crowd.choose(Playing::Clip(clip), 0.0).unwrap();
            crowd.advance(0.0).unwrap();
            let (_, max) = crowd.extent();
            let lowest = lowest_seen(&mut crowd, &model);
            assert!(lowest.abs() < 0.01 * max.y, "{file} {clip}: {lowest}");
        }
    }
}

/// Height of the lowest vertex that is seen over the clip's time, in the picture's world.
fn lowest_seen(crowd: &mut ViewerCrowd, model: &Model) -> f32 {
    let Playing::Clip(clip) = crowd.playing() else {
        return f32::NAN;
    };
    let instance = crowd.instances[0];
    let mut lowest = f32::INFINITY;
    for step in 0..24 {
        let time = crowd.duration() as f32 * (step as f32 + 0.5) / 24.0;
        let action = PoseAction { clip, time, weight: 1.0 };
        let pose = model.pose(&[action]).unwrap();
        let world = *crowd.crowd.world(instance).unwrap();
        for positions in pose.vertices(&model.rig).unwrap().concat() {
            let heights = positions.iter();
            let heights = heights.map(|&p| world.transform_point3(p.into()).y);
            lowest = heights.fold(lowest, f32::min);
        }
    }
    lowest
}
