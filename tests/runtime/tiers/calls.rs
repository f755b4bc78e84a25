//! Calls of hosts that set the same in every frame: what changes nothing evaluates nothing anew.

use super::{DT, every};
use phalanx::crowd::{
    AtEnd, BoneBuffer, ClipId, Crowd, InstanceId, LayerOptions, LoopMode, PlayOptions, RigId,
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
        let mut course = Self {
            crowd,
            id,
            all,
            clips,
            space,
        };
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
            course.crowd.set_override(i, 3, turned(0.2)).unwrap();
        }
        course
    }

    fn options(&self, n: usize) -> PlayOptions {
        PlayOptions {
            time: 0.037 * n as f64,
            speed: 0.9,
            weight: 0.5,
            ..PlayOptions::default()
        }
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
                    crowd.set_override(i, 3, turned(0.2)).unwrap();
                }
                "set_override"
            }
            16 => {
                let locals = vec![turned(0.2); half.len()];
                crowd.set_overrides(id, &[3], &half, &locals).unwrap();
                "set_overrides"
            }
            17 => {
                for &i in all {
                    crowd.clear_override(i, 5).unwrap();
                }
                "clear_override"
            }
            18 => {
                crowd.set_weights(all, 0, &[a], &[0.5]).unwrap();
                "set_weights"
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
                crowd.listen(id, EventKinds::ALL).unwrap();
                "listen"
            }
            25 => {
                crowd.watch(id, &[4]).unwrap();
                crowd.unwatch(id, &[4]).unwrap();
                "watch, unwatch"
            }
            26 => {
                crowd.set_views(&[]).unwrap();
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
        course
            .crowd
            .set_tiers(Some(every(16, interpolate)))
            .unwrap();
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
                course.crowd.set_override(course.all[0], 3, other).unwrap();
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
