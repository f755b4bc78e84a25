//! Calls of hosts that set the same in every frame: what changes nothing evaluates nothing anew.

use super::{DT, apart, every, palettes};
use phalanx::crowd::{
    AtEnd, BoneBuffer, ClipId, Crowd, InstanceId, LayerOptions, LoopMode, PlayOptions, PoseSpace,
    PoseStage, RigId,
};
use phalanx::math::Affine3x4;
use phalanx::playback::{BlendSpaceId, EventKinds};
use phalanx_testkit::chain::rig;

/// Two clips with weights on the first layer, a blend space on the second one; half of the instances have an override.
struct Course {
    crowd: Crowd,
    id: RigId,
    all: Vec<InstanceId>,
    clips: [ClipId; 2],
    space: BlendSpaceId,
}

fn turned(by: f32) -> Affine3x4 {
    glam::Affine3A::from_rotation_x(by).into()
}

impl Course {
    fn new() -> Self {
        let mut crowd = Crowd::new();
        let layers = vec![LayerOptions::default(); 2];
        let id = crowd.add_rig_with_layers(rig(), layers).unwrap();
        let clips = [0, 1].map(|c| crowd.clip_by_index(id, c).unwrap());
        let space = crowd.add_blend_space(id, &[(0.0, clips[0]), (1.0, clips[1])]);
        let space = space.unwrap();
        let mut all = Vec::new();
        crowd.spawn_many(id, 40, &mut all).unwrap();
        let mut course = Self { crowd, id, all, clips, space };
        for n in 0..course.all.len() {
            let (i, options) = (course.all[n], course.options(n));
            let [a, b] = course.clips;
            let mut player = course.crowd.player(i).unwrap();
            player.play(0, a, &options).unwrap();
            player.add(0, b, &options).unwrap();
            player.play(1, course.space, &options).unwrap();
            player.set_parameter(1, course.space, 0.3).unwrap();
            player.set_layer_weight(1, 0.7).unwrap();
            player.set_layer_speed(1, 1.3).unwrap();
            player.set_character_speed(0.8).unwrap();
        }
        let half: Vec<InstanceId> = course.all.iter().copied().step_by(2).collect();
        for &i in &half {
            course.crowd.player(i).unwrap().set_override(3, turned(0.2)).unwrap();
        }
        course
    }

    fn options(&self, n: usize) -> PlayOptions {
        PlayOptions { time: 0.037 * n as f64, speed: 0.9, weight: 0.5, ..PlayOptions::default() }
    }

    /// The call of a kind on all instances, with what is set.
    fn call(&mut self, kind: usize) -> Option<&'static str> {
        let [a, b] = self.clips;
        let (id, space) = (self.id, self.space);
        let half: Vec<InstanceId> = self.all.iter().copied().step_by(2).collect();
        for (n, &i) in self.all.iter().enumerate() {
            let options = self.options(n);
            let mut player = self.crowd.player(i).unwrap();
            match kind {
                0 => player.add(0, a, &options),
                1 => player.add(0, b, &options),
                2 => player.play(1, space, &options),
                3 => player.fade_to(1, space, 0.3, &options),
                4 => player.fade(0, a, 0.5, 0.2),
                5 => player.set_weight(0, b, 0.5),
                6 => player.set_speed(0, b, 0.9),
                7 => player.set_loop(0, a, LoopMode::Repeat, None),
                8 => player.set_at_end(0, a, AtEnd::default()),
                9 => player.set_paused(0, a, false),
                10 => player.set_parameter(1, space, 0.3),
                11 => player.set_layer_weight(1, 0.7),
                12 => player.fade_layer(1, 0.7, 0.4),
                13 => player.set_layer_speed(1, 1.3),
                14 => player.set_character_speed(0.8),
                _ => Ok(()),
            }
            .unwrap();
        }
        let (crowd, all) = (&mut self.crowd, &self.all);
        Some(match kind {
            0 | 1 => "add",
            2 => "play",
            3 => "fade_to",
            4 => "fade",
            5 => "set_weight",
            6 => "set_speed",
            7 => "set_loop",
            8 => "set_at_end",
            9 => "set_paused",
            10 => "set_parameter",
            11 => "set_layer_weight",
            12 => "fade_layer",
            13 => "set_layer_speed",
            14 => "set_character_speed",
            15 => {
                for &i in &half {
                    crowd.player(i).unwrap().set_override(3, turned(0.2)).unwrap();
                }
                "set_override"
            }
            16 => {
                let locals = vec![turned(0.2); half.len()];
                crowd.set_overrides(id, &[3], &half, &locals, PoseSpace::Local, &[1.0]).unwrap();
                "set_overrides"
            }
            17 => {
                for &i in all {
                    crowd.player(i).unwrap().clear_override(5).unwrap();
                }
                "clear_override"
            }
            18 => {
                crowd.fade_many(all, 0, &[a], &[0.5], &[0.0]).unwrap();
                "fade_many"
            }
            19 => {
                let options = [self.options(0)];
                let crowd = &mut self.crowd;
                crowd.play_many(all, 1, &[space], &options).unwrap();
                "play_many"
            }
            20 => {
                crowd.set_visible_many(all, &[true]).unwrap();
                "set_visible_many"
            }
            21 => {
                crowd.set_scheduled_many(all, &[true]).unwrap();
                "set_scheduled_many"
            }
            22 => {
                let worlds: Vec<Affine3x4> =
                    all.iter().map(|&i| *crowd.world(i).unwrap()).collect();
                crowd.set_worlds(all, &worlds).unwrap();
                "set_worlds"
            }
            23 => {
                crowd.apply_root_motion(id, false).unwrap();
                crowd.track_root_motion(id, true).unwrap();
                "apply_root_motion, track_root_motion"
            }
            24 => {
                crowd.set_event_filter(id, EventKinds::ALL).unwrap();
                "set_event_filter"
            }
            25 => {
                crowd.watch(id, &[4], PoseStage::After).unwrap();
                crowd.unwatch(id, &[4], PoseStage::After).unwrap();
                "watch, unwatch"
            }
            26 => {
                crowd.clear_views().unwrap();
                crowd.set_importances(id, &[]).unwrap();
                crowd.set_budget(None).unwrap();
                "set_views, set_importances, set_budget"
            }
            _ => return None,
        })
    }
}

/// At low rates, held and interpolated, a frame behind such a call evaluates what it evaluates without it.
#[test]
fn calls_that_change_nothing_evaluate_nothing() {
    for interpolate in [false, true] {
        let mut course = Course::new();
        course.crowd.set_tiers(Some(every(16, interpolate))).unwrap();
        let mut bones = BoneBuffer::new();
        course.crowd.evaluate(&mut bones);
        let round = |course: &mut Course, bones: &mut BoneBuffer, kind: Option<usize>| {
            let mut instances = 0;
            for _ in 0..16 {
                if let Some(kind) = kind {
                    course.call(kind);
                }
                course.crowd.advance(DT).unwrap();
                instances += course.crowd.evaluate(bones).instances;
            }
            instances
        };
        for _ in 0..2 {
            round(&mut course, &mut bones, None);
        }
        let without = round(&mut course, &mut bones, None);
        assert_eq!(without, 40);
        let mut kind = 0;
        while let Some(name) = course.call(kind) {
            assert_eq!(
                round(&mut course, &mut bones, Some(kind)),
                without,
                "{name}, interpolated: {interpolate}"
            );
            kind += 1;
        }
        assert_eq!(kind, 27);
    }
}

/// A bit of a matrix that differs is a change, and so is another speed.
#[test]
fn calls_that_change_a_bit_are_seen() {
    let mut course = Course::new();
    course.crowd.set_tiers(Some(every(16, false))).unwrap();
    let mut bones = BoneBuffer::new();
    let mut counts = Vec::new();
    for frame in 0..64 {
        match frame % 16 {
            // An instance whose own turn is another frame.
            _ if frame < 16 => {}
            3 => {
                let mut other = turned(0.2);
                other.rows[0][3] = if frame / 16 % 2 == 1 { -0.0 } else { 0.0 };
                course.crowd.player(course.all[0]).unwrap().set_override(3, other).unwrap();
            }
            5 => {
                let speed = 0.5 * (frame / 16) as f32;
                let mut player = course.crowd.player(course.all[1]).unwrap();
                player.set_character_speed(speed).unwrap();
            }
            _ => {}
        }
        course.crowd.advance(DT).unwrap();
        counts.push(course.crowd.evaluate(&mut bones).instances);
    }
    let rounds: Vec<usize> = counts.chunks(16).skip(1).map(|c| c.iter().sum()).collect();
    assert_eq!(rounds, [42; 3], "{counts:?}");
}

/// An interpolated instance has the rows of the nearer of its two poses: the earlier one before the middle.
#[test]
fn the_range_of_an_interpolated_instance_is_that_of_the_nearer_pose() {
    let (mut crowd, all, ..) = super::chains(16);
    crowd.set_tiers(Some(super::every(4, true))).unwrap();
    let mut bones = BoneBuffer::new();
    // What was shown on each side of the middle, and in it.
    let mut seen = [0; 3];
    for _ in 0..24 {
        crowd.advance(super::DT).unwrap();
        crowd.evaluate(&mut bones);
        for &i in &all {
            let pair = crowd.shown(i).unwrap();
            let range = crowd.palette_range(i).unwrap();
            assert!((0.0..=1.0).contains(&pair.factor));
            let side = match pair.factor {
                f if f < 0.49 => 0,
                f if f > 0.51 => 2,
                _ => 1,
            };
            seen[side] += 1;
            match side {
                0 => assert_eq!(range, pair.from),
                2 => assert_eq!(range, pair.to),
                _ => assert!(range == pair.from || range == pair.to),
            }
            if side != 1 && pair.from != pair.to {
                // Nearer in numbers, too, to what is shown.
                let rows = bones.rows();
                let between: Vec<_> = palettes(&crowd, &bones, &[i]).remove(0);
                let far = |range: std::ops::Range<usize>| apart(&between, &rows[range]);
                let (near, other) = match side {
                    0 => (far(pair.from.clone()), far(pair.to.clone())),
                    _ => (far(pair.to.clone()), far(pair.from.clone())),
                };
                assert!(near <= other, "{near} {other}");
            }
        }
    }
    assert!(seen[0] > 50 && seen[2] > 50, "{seen:?}");
}

/// Where an interpolated instance stands between its poses, frame by frame after an update.
#[test]
fn the_factor_goes_from_the_earlier_pose_to_the_later_one() {
    let (mut crowd, all, ..) = super::chains(8);
    crowd.set_tiers(Some(super::every(4, true))).unwrap();
    let mut bones = BoneBuffer::new();
    for _ in 0..8 {
        crowd.advance(super::DT).unwrap();
        crowd.evaluate(&mut bones);
    }
    for &i in &all {
        let mut factors = Vec::new();
        for _ in 0..8 {
            crowd.advance(super::DT).unwrap();
            crowd.evaluate(&mut bones);
            factors.push(crowd.shown(i).unwrap().factor);
        }
        // Four frames of a quarter each, twice.
        let mut sorted: Vec<f32> = factors.clone();
        sorted.sort_by(f32::total_cmp);
        for (n, factor) in sorted.iter().enumerate() {
            let quarter = 0.25 * (n / 2) as f32;
            assert!((factor - quarter).abs() < 1e-3, "{factors:?}");
        }
        let rises = factors.windows(2).filter(|w| w[1] > w[0]).count();
        assert!(rises >= 5, "{factors:?}");
    }
    // Time that stops leaves it where it is; time beyond what was predicted shows the later pose.
    let before = all.iter().map(|&i| crowd.shown(i).unwrap().factor);
    let before: Vec<f32> = before.collect();
    crowd.advance(0.0).unwrap();
    for (&i, factor) in all.iter().zip(before) {
        assert_eq!(crowd.shown(i).unwrap().factor, factor);
    }
    crowd.advance(10.0).unwrap();
    for &i in &all {
        assert_eq!(crowd.shown(i).unwrap().factor, 1.0);
    }
    // Without interpolation there is one pose.
    crowd.set_tiers(Some(super::every(4, false))).unwrap();
    crowd.evaluate(&mut bones);
    for &i in &all {
        let pair = crowd.shown(i).unwrap();
        assert_eq!((pair.factor, pair.from), (0.0, pair.to));
    }
}
