//! Planting of feet.

use crate::support::*;
use glam::DVec3;
use phalanx::build::RootMotionOptions;
use phalanx::clip::Clip;
use phalanx::import::{ImportOptions, import_path};
use phalanx::retarget::{HumanoidMap, MapOrigin, RetargetOptions, Retargeting};
use phalanx::rig::Rig;

fn planted() -> RetargetOptions {
    RetargetOptions { plant_feet: true, ..RetargetOptions::default() }
}

/// The mannequin's walk on other bodies: slide by the report, and measured here from poses.
#[test]
fn feet_that_stand_slide_less() {
    let from = phalanx::import::mannequin().unwrap();
    for (to, name) in ["pab.glb", "bl_humanoid.glb", "robot.glb"].map(|n| (model(n), n)) {
        let Some(to) = to else { continue };
        for walk in ["Walk", "Idle"] {
            let walk = clip(&from, walk);
            let plain = retarget(&from, &to, walk, RetargetOptions::default());
            let done = retarget(&from, &to, walk, planted());
            let feet = done.report.feet.unwrap();
            println!("{} on {name}: {feet:?}", walk.name());
            assert!(feet.contacts >= 2, "{feet:?}");
            assert!(feet.slide[1] <= 0.5 * feet.slide[0] + 1e-4, "{feet:?}");
            assert!(feet.worst[1] <= feet.worst[0] + 1e-4, "{feet:?}");
            // Nothing but the legs changes.
            let map = map(&to);
            for time in times(walk) {
                let a = Posed::at(to.skeleton(), &plain.clip, time);
                let b = Posed::at(to.skeleton(), &done.clip, time);
                for (bone, joint) in map.bones() {
                    let leg =
                        format!("{bone}").contains("Leg") || format!("{bone}").contains("Foot");
                    let error = angle(a.turns[joint], b.turns[joint]);
                    assert!(leg || error < 3e-4, "{bone}: {error:e}");
                }
            }
        }
    }
}

/// A foot that hangs still in a source that sways: the target's is led to stand still, by its own measure.
#[test]
fn a_standing_foot_stands() {
    let from = phalanx::import::mannequin().unwrap();
    let to = Made { axes: 5, size: 1.2, arms: 0.4, ..Made::default() }.rig();
    let idle = clip(&from, "Idle");
    let speed = |clip: &phalanx::clip::Clip| {
        let map = map(&to);
        let place = |k: usize| {
            let time = clip.duration() * (k as f32 / 200.0);
            Posed::at(to.skeleton(), clip, time).place(&map, B::LeftToes)
        };
        let places: Vec<DVec3> = (0..=200).map(place).collect();
        let step = f64::from(clip.duration()) / 200.0;
        let speeds = places.windows(2).map(|w| {
            let way = w[1] - w[0];
            DVec3::new(way.x, 0.0, way.z).length() / step
        });
        speeds.fold(0.0, f64::max)
    };
    let plain = retarget(&from, &to, idle, RetargetOptions::default());
    let done = retarget(&from, &to, idle, planted());
    let (before, after) = (speed(&plain.clip), speed(&done.clip));
    println!("{before} to {after}: {:?}", done.report.feet);
    assert!(after < 0.3 * before, "{before} {after}");
}

/// The farthest that toes of a clip are along the ground from where they are at a time, between two times.
fn drift(rig: &Rig, clip: &Clip, toes: B, times: [f64; 2]) -> f64 {
    let map = map(rig);
    let place = |k: usize| {
        let time = times[0] + (times[1] - times[0]) * k as f64 / 40.0;
        let place = Posed::at(rig.skeleton(), clip, time as f32).place(&map, toes);
        DVec3::new(place.x, 0.0, place.z)
    };
    let first = place(0);
    let away = (0..=40).map(|k| (place(k) - first).length());
    away.fold(0.0, f64::max)
}

/// The ground of a standing attack stands: a foot that moves little in the source does so on the target.
#[test]
fn resting_feet_do_not_drift() {
    let Some(from) = model("bl_humanoid.glb") else {
        return;
    };
    let to = phalanx::import::mannequin().unwrap();
    let attack = clip(&from, "Attack");
    let done = retarget(&from, &to, attack, planted());
    let feet = done.report.feet.unwrap();
    assert_eq!(feet.ground_velocity, [0.0; 3], "{feet:?}");
    assert_eq!(feet.world[1], feet.slide[1]);
    let source = drift(&from, attack, B::RightToes, [0.95, 1.15]) * done.report.ratio;
    let target = drift(&to, &done.clip, B::RightToes, [0.95, 1.15]);
    println!("{source} {target} {feet:?}");
    assert!(feet.contacts > 0 && target <= source + 1e-4, "{target} {source}");
}

/// Clips that travel have a ground that stands; below those in place it moves, and the report has both speeds.
#[test]
fn the_ground_moves_only_below_clips_in_place() {
    let mannequin = phalanx::import::mannequin().unwrap();
    let ground = |from: &Rig, name: &str| {
        let done = retarget(from, &mannequin, clip(from, name), planted());
        let feet = done.report.feet.unwrap();
        println!("{name}: {feet:?}");
        feet
    };
    for name in ["Walk", "Run"] {
        let feet = ground(&mannequin, name);
        let speed = DVec3::from_array(feet.ground_velocity).length();
        assert!(speed > 0.5 && feet.contacts > 0, "{feet:?}");
        // What stands on ground that moves, moves in the world.
        assert!(feet.slide[1] < 0.1 * speed, "{feet:?}");
        assert!((feet.world[1] - speed).abs() < 0.1 * speed, "{feet:?}");
    }
    for name in ["Idle", "Attack", "Wave"] {
        assert_eq!(ground(&mannequin, name).ground_velocity, [0.0; 3], "{name}");
    }
    let Some(pab) = model("pab.glb") else { return };
    for name in ["walk", "jog", "run"] {
        assert_eq!(ground(&pab, name).ground_velocity, [0.0; 3], "{name}");
    }
}

/// Root motion that was extracted takes the character along: its feet stand in the world.
#[test]
fn feet_stand_in_the_world_with_root_motion() {
    let whole = phalanx::import::mannequin().unwrap();
    let Some(path) = phalanx_testkit::trials::model("mannequin.glb") else {
        return;
    };
    let options = ImportOptions {
        root_motion: Some(RootMotionOptions::default()),
        ..ImportOptions::default()
    };
    let from = import_path(&path, &options).unwrap().rigs.swap_remove(0);
    let name = "Walk_RootMotion";
    assert!(clip(&from, name).root_motion().is_some());
    let to = Made { size: 1.2, ..Made::default() }.rig();
    let feet = |from: &Rig| {
        let done = retarget(from, &to, clip(from, name), planted());
        done.report.feet.unwrap()
    };
    let (here, there) = (feet(&from), feet(&whole));
    println!("{here:?}\n{there:?}");
    assert_eq!(here.ground_velocity, [0.0; 3]);
    assert_eq!(here.contacts, there.contacts);
    assert!(here.contacts >= 2 && (here.seconds - there.seconds).abs() < 0.05);
    assert!((here.slide[0] - there.slide[0]).abs() < 0.02);
    assert!(here.slide[1] < 0.5 * here.slide[0] + 1e-4);
}

/// The last pose of a loop is its first: the foot does not jump at the seam.
#[test]
fn loops_stay_closed() {
    let from = phalanx::import::mannequin().unwrap();
    for (to, name) in ["pab.glb", "bl_humanoid.glb"].map(|n| (model(n), n)) {
        let Some(to) = to else { continue };
        let map = map(&to);
        for walk in ["Walk", "Run", "Idle"] {
            let walk = clip(&from, walk);
            let seam = |options: RetargetOptions| {
                let done = retarget(&from, &to, walk, options);
                let ends = [0.0, walk.duration()];
                let [a, b] = ends.map(|t| Posed::at(to.skeleton(), &done.clip, t));
                let feet = [B::LeftFoot, B::RightFoot].map(|f| a.place(&map, f) - b.place(&map, f));
                feet[0].length().max(feet[1].length())
            };
            let (plain, planted) = (seam(RetargetOptions::default()), seam(planted()));
            println!("{} on {name}: {plain:e}, {planted:e}", walk.name());
            assert!(planted <= plain + 1e-4, "{} on {name}: {planted}", walk.name());
        }
    }
}

/// A leg that lacks a bone is named; without either the options are refused.
#[test]
fn missing_legs_are_named() {
    let from = phalanx::import::mannequin().unwrap();
    let without = |bones: &'static [B]| Made { without: bones, ..Made::default() };
    let pairs = |made: &Made| {
        let names = made.rig();
        let joint = |node: usize| {
            let name = names.nodes()[node].name.clone().unwrap();
            names.skeleton().joint(name.as_str()).unwrap()
        };
        let pairs: Vec<(B, usize)> = made.bones().iter().map(|b| (b.0, joint(b.1))).collect();
        HumanoidMap::new(names.skeleton(), &pairs, MapOrigin::Given).unwrap()
    };
    let own = map(&from);
    let ready = |made: &Made| {
        let rig = made.rig();
        let map = pairs(made);
        Retargeting::new((from.skeleton(), &own), (rig.skeleton(), &map), planted())
    };
    let one = ready(&without(&[B::LeftLowerLeg])).unwrap_or_else(|e| panic!("{e}"));
    let done = Retargeted::from(one.retarget(clip(&from, "Walk")).unwrap());
    assert_eq!(done.report.feet.unwrap().missing, [("target", B::LeftLowerLeg)]);
    let both = ready(&without(&[B::LeftLowerLeg, B::RightUpperLeg])).err().unwrap();
    assert_eq!(both.to_string(), "no foot can be planted: the target has no leftLowerLeg");
    // Feet without joints in the source cannot be told to stand.
    let small = without(&[B::LeftFoot, B::LeftToes, B::RightFoot, B::RightToes]);
    let (rig, map) = (small.rig(), pairs(&small));
    let refused = Retargeting::new((rig.skeleton(), &map), (from.skeleton(), &own), planted());
    assert_eq!(
        refused.err().unwrap().to_string(),
        "no foot can be planted: the source has no leftFoot"
    );
}

#[test]
fn thresholds_are_checked() {
    let rig = Made::default().rig();
    for (options, what) in [
        (
            RetargetOptions { plant_height: 0.0, ..planted() },
            "the option `plant_height` is 0, allowed are finite numbers above 0",
        ),
        (RetargetOptions { plant_speed: -1.0, ..planted() }, "`plant_speed` is -1"),
        (RetargetOptions { plant_fade: f64::NAN, ..planted() }, "`plant_fade` is NaN"),
        (RetargetOptions { plant_fade: f64::INFINITY, ..planted() }, "`plant_fade` is inf"),
    ] {
        let map = map(&rig);
        let side = (rig.skeleton(), &map);
        let refused = phalanx::retarget::Retargeting::new(side, side, options).err().unwrap();
        assert!(refused.to_string().contains(what), "{refused}");
    }
}

/// The feet of bl_humanoid's walk and run swing like pendulums: whatever the ground's velocity, no low foot keeps to it
/// for as long as a step takes. So none is found, and that is no matter of thresholds.
#[test]
fn feet_that_never_stand_have_no_contacts() {
    let Some(from) = model("bl_humanoid.glb") else {
        return;
    };
    let own = map(&from);
    let hips = Posed::rest(from.skeleton()).place(&own, B::Hips).y;
    for (name, stands) in [("Walk", false), ("Run", false), ("Idle", true)] {
        let clip = clip(&from, name);
        let feet = retarget(&from, &from, clip, planted()).report.feet.unwrap();
        assert_eq!(feet.contacts > 0, stands, "{name}: {feet:?}");
        let step = f64::from(clip.duration()) / 200.0;
        let poses: Vec<Posed> = (0..=200)
            .map(|k| Posed::at(from.skeleton(), clip, (step * f64::from(k)) as f32))
            .collect();
        for toes in [B::LeftToes, B::RightToes] {
            let places: Vec<DVec3> = poses.iter().map(|p| p.place(&own, toes)).collect();
            let least = places.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
            // Speeds forward of samples in which the foot is low, in heights of the hips per second.
            let speeds: Vec<Option<f64>> = (places.windows(2))
                .map(|w| (w[0].y - least <= 0.05 * hips).then(|| (w[1].z - w[0].z) / step / hips))
                .collect();
            // The longest time in which they are within 0.35 of any one speed.
            let keeps = |from: usize| {
                let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
                let run = speeds[from..].iter().take_while(|speed| {
                    let Some(speed) = speed else { return false };
                    (low, high) = (low.min(*speed), high.max(*speed));
                    high - low <= 2.0 * 0.35
                });
                run.count() as f64 * step
            };
            let longest = (0..speeds.len()).map(keeps).fold(0.0, f64::max);
            println!("{name}, {toes}: {longest:.3} s of {:.3} s", clip.duration());
            // In a walk a foot stands for more than half of the time.
            let share = longest / f64::from(clip.duration());
            assert_eq!(share > 0.25, stands, "{name}, {toes}: {longest} s");
        }
    }
}
