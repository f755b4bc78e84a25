//! Events, root motion, time and the calls of players. Times are computed by hand from clips and speeds.

use crate::common::{bare, bound, built_in};
use bevy::ecs::schedule::ScheduleLabel;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_phalanx::phalanx::crowd::{BlendSpace, EventKind};
use bevy_phalanx::{
    PhalanxCharacter, PhalanxCrowd, PhalanxError, PhalanxEvent, PhalanxPlayer, PhalanxPlugin,
    PhalanxRig, PhalanxRootMotion, PlayerError, RigSettings, RigSetup,
};
use std::time::Duration;

/// A character of the built-in rig that plays something.
fn spawn(app: &mut App, play: impl FnOnce(&mut PhalanxPlayer)) -> Entity {
    let rig: Handle<PhalanxRig> = app.world().resource::<AssetServer>().load("mannequin.glb");
    let mut player = PhalanxPlayer::default();
    play(&mut player);
    app.world_mut().spawn((PhalanxCharacter(rig), player)).id()
}

fn time(app: &App, entity: Entity, clip: &str) -> f64 {
    app.world().resource::<PhalanxCrowd>().state(entity, clip).expect("it plays").time
}

fn player(app: &mut App, entity: Entity) -> Mut<'_, PhalanxPlayer> {
    app.world_mut().get_mut::<PhalanxPlayer>(entity).expect("it has one")
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-5, "{a} instead of {b}");
}

#[test]
fn events_come_in_order_with_entity_clip_and_marker() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let walker = spawn(&mut app, |p| {
        p.play("Walk").repeat().with_speed(2.0);
    });
    let fighter = spawn(&mut app, |p| {
        p.play("Attack");
    });
    bound(&mut app, 2);
    let mut cursor = app.world().resource::<Messages<PhalanxEvent>>().get_cursor_current();
    let mut seen = Vec::new();
    // A second and a half.
    for frame in 1..=96 {
        app.update();
        for event in cursor.read(app.world().resource::<Messages<PhalanxEvent>>()) {
            let marker = event.marker().map(str::to_owned);
            seen.push((frame, event.entity, event.clip.name().to_owned(), event.kind(), marker));
        }
    }
    // Markers of the file at twice the speed; one at time t is passed in the first step that ends at t or later.
    let steps = [("RightFoot.strike", 0.5), ("LeftFoot.toeOff", 0.6), ("RightFoot.toeOff", 0.1)];
    for (name, at) in steps {
        let frames: Vec<i32> = seen
            .iter()
            .filter(|e| e.1 == walker && e.4.as_deref() == Some(name))
            .map(|e| e.0)
            .collect();
        let expected: Vec<i32> =
            (0..3).map(|pass| ((at + f64::from(pass)) * 32.0).ceil() as i32).collect();
        assert_eq!(frames, expected, "{name}");
    }
    let of = |entity, kind| {
        let frames = seen.iter().filter(|e| e.1 == entity && e.3 == kind).map(|e| e.0);
        frames.collect::<Vec<i32>>()
    };
    // A pass of the walk takes half a second, 32 steps; the attack 1.3 s.
    assert_eq!(of(walker, EventKind::Looped), [32, 64, 96]);
    assert!(of(walker, EventKind::Finished).is_empty());
    assert_eq!(of(fighter, EventKind::Finished), [(1.3f64 * 64.0).ceil() as i32]);
    assert!(seen.iter().all(|e| e.2 == if e.1 == walker { "Walk" } else { "Attack" }));
    // In one step of two passes they come by time.
    let second = TimeUpdateStrategy::ManualDuration(Duration::from_secs(1));
    let frame = app.world_mut().remove_resource::<TimeUpdateStrategy>().expect("set");
    app.insert_resource(second);
    app.world_mut().resource_mut::<Time<Virtual>>().set_max_delta(Duration::from_secs(2));
    app.update();
    app.insert_resource(frame);
    let events = cursor.read(app.world().resource::<Messages<PhalanxEvent>>());
    let markers: Vec<&str> = events.filter_map(PhalanxEvent::marker).collect();
    let mut of_pass = steps;
    of_pass.sort_by(|a, b| a.1.total_cmp(&b.1));
    let expected = of_pass.map(|(name, _)| name).repeat(2);
    let listed = markers.into_iter().filter(|marker| expected.contains(marker));
    assert_eq!(listed.collect::<Vec<_>>(), expected);
    // A stop within an eighth of a second.
    player(&mut app, walker).stop("Walk", 0.125);
    let mut stopped = Vec::new();
    for frame in 1..=10 {
        app.update();
        for event in cursor.read(app.world().resource::<Messages<PhalanxEvent>>()) {
            if event.kind() == EventKind::Stopped {
                stopped.push((frame, event.entity));
            }
        }
    }
    assert_eq!(stopped, [(8, walker)]);
    assert!(app.world().resource::<PhalanxCrowd>().state(walker, "Walk").is_none());
}

#[test]
fn a_character_that_goes_in_the_frame_of_its_event_has_none() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let two = [0, 1].map(|_| {
        spawn(&mut app, |p| {
            p.play("Walk").repeat().seek_to(0.99);
        })
    });
    bound(&mut app, 2);
    let mut cursor = app.world().resource::<Messages<PhalanxEvent>>().get_cursor_current();
    app.world_mut().despawn(two[0]);
    app.update();
    let events: Vec<PhalanxEvent> =
        cursor.read(app.world().resource::<Messages<PhalanxEvent>>()).cloned().collect();
    assert!(!events.is_empty());
    assert!(events.iter().all(|event| event.entity == two[1]));
}

#[test]
fn a_refused_call_is_told_and_changes_nothing() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let entity = spawn(&mut app, |p| {
        p.play("Walk").repeat();
    });
    bound(&mut app, 1);
    player(&mut app, entity).transition("Wolk", 0.2);
    player(&mut app, entity).set_parameter("Walk", [1.0, 0.0]);
    app.update();
    let errors = app.world().resource::<Messages<PhalanxError>>();
    let errors: Vec<PhalanxError> = errors.get_cursor().read(errors).cloned().collect();
    assert_eq!(errors.len(), 2);
    assert!(matches!(errors[1].error, PlayerError::NoParameter), "{}", errors[1]);
    assert_eq!((errors[0].entity, errors[0].name.as_deref()), (entity, Some("Wolk")));
    let text = errors[0].to_string();
    assert!(text.contains("Wolk") && text.contains("Walk"), "{text}");
    let state = app.world().resource::<PhalanxCrowd>().state(entity, "Walk").expect("it plays");
    assert_eq!((state.weight, state.target, state.fading_out), (1.0, 1.0, false));
    close(state.time, 1.0 / 64.0);
}

#[test]
fn calls_do_what_they_say() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let entity = spawn(&mut app, |p| {
        p.play("Walk").repeat().with_speed(0.5).seek_to(0.25);
    });
    bound(&mut app, 1);
    for _ in 0..16 {
        app.update();
    }
    close(time(&app, entity, "Walk"), 0.25 + 0.5 * 16.0 / 64.0);
    player(&mut app, entity).pause("Walk");
    app.update();
    assert!(!app.world().resource::<PhalanxCrowd>().is_playing(entity, "Walk"));
    close(time(&app, entity, "Walk"), 0.375);
    player(&mut app, entity).resume("Walk");
    player(&mut app, entity).set_speed("Walk", 1.0);
    player(&mut app, entity).seek_to("Walk", 0.5);
    app.update();
    close(time(&app, entity, "Walk"), 0.5 + 1.0 / 64.0);
    // Half of a transition of a quarter of a second.
    player(&mut app, entity).transition("Run", 0.25).repeat();
    for _ in 0..8 {
        app.update();
    }
    let crowd = app.world().resource::<PhalanxCrowd>();
    let (walk, run) = (crowd.state(entity, "Walk"), crowd.state(entity, "Run"));
    let (walk, run) = (walk.expect("it fades"), run.expect("it plays"));
    assert!(walk.fading_out && (run.weight - 0.5).abs() < 1e-4, "{run:?}");
    player(&mut app, entity).transition("Idle", 0.25).repeat().inertial();
    app.update();
    assert!(app.world().resource::<PhalanxCrowd>().is_playing(entity, "Idle"));
    player(&mut app, entity).set_character_speed(0.0);
    app.update();
    let before = time(&app, entity, "Idle");
    app.update();
    assert_eq!(time(&app, entity, "Idle"), before);
}

#[test]
fn spaces_and_layers_are_those_of_the_setup() {
    use bevy_phalanx::phalanx::crowd::LayerOptions;
    use bevy_phalanx::phalanx::skeleton::JointMask;
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let rig: Handle<PhalanxRig> = app.world().resource::<AssetServer>().load("mannequin.glb");
    let setup = RigSetup::new(|crowd, rig, names| {
        let [idle, walk] = ["Idle", "Walk"].map(|name| crowd.clip_named(rig, name));
        let space = crowd.add_blend_space(rig, BlendSpace::line(&[(0.0, idle?), (1.4, walk?)]))?;
        names.playable("gait", space);
        Ok(())
    })
    .with_layers(|rig| {
        let mask = Some(JointMask::subtree(rig.skeleton(), "RightArm")?);
        Ok(vec![LayerOptions::default(), LayerOptions { mask, ..LayerOptions::default() }])
    });
    app.world_mut().resource_mut::<PhalanxCrowd>().set_up(&rig, setup);
    let entity = spawn(&mut app, |p| {
        p.play("gait").repeat().at([0.7, 0.0]);
        p.play("Wave").repeat().on_layer(1).with_weight(0.5);
        p.set_layer_weight(1, 0.25);
    });
    bound(&mut app, 1);
    player(&mut app, entity).set_parameter("gait", [1.0, 0.0]);
    app.update();
    let crowd = app.world().resource::<PhalanxCrowd>();
    let gait = crowd.state(entity, "gait").and_then(|s| s.parameter).expect("a space");
    assert!((gait.x - 1.0).abs() < 1e-5, "{gait:?}");
    assert_eq!(crowd.state(entity, "Wave").map(|s| s.weight), Some(0.5));
    let playing = crowd.playing(entity).expect("bound");
    assert_eq!((playing.layers(), playing.layer_weight(1)), (2, Ok(0.25)));
}

#[test]
fn a_reload_keeps_the_fades_and_pauses_of_each_layer() {
    use bevy_phalanx::phalanx::crowd::LayerOptions;
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let rig: Handle<PhalanxRig> = app.world().resource::<AssetServer>().load("mannequin.glb");
    let setup = RigSetup::default()
        .with_layers(|_| Ok(vec![LayerOptions::default(), LayerOptions::default()]));
    app.world_mut().resource_mut::<PhalanxCrowd>().set_up(&rig, setup);
    let entity = spawn(&mut app, |p| {
        for layer in [0, 1] {
            p.add("Walk").on_layer(layer).repeat().with_weight(0.25);
            p.add("Run").on_layer(layer).repeat().with_weight(0.5);
        }
        p.set_layer_weight(1, 0.25);
        p.fade_layer(1, 0.75, 1.0);
    });
    bound(&mut app, 1);
    let crowd = &mut app.world_mut().resource_mut::<PhalanxCrowd>().crowd;
    let id = crowd.instances().next().expect("one");
    let [walk, run] = ["Walk", "Run"].map(|name| crowd.clip_named(id.rig(), name).expect("it has"));
    let mut player = crowd.player(id).expect("an instance");
    player.set_paused(1, walk, true).expect("it plays");
    player.fade(1, walk, 0.75, 1.0).expect("it plays");
    player.stop(1, run, 2.0).expect("it plays");
    for _ in 0..16 {
        app.update();
    }
    app.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(default()));
    let all = |app: &App| {
        let crowd = app.world().resource::<PhalanxCrowd>();
        let playing = crowd.playing(entity).expect("bound");
        let mut all = Vec::new();
        for layer in [0, 1] {
            let of_layer = (playing.layer_weight(layer), playing.layer_fade(layer));
            for (what, state) in playing.actions(layer).expect("a layer") {
                let bevy_phalanx::Playable::Clip(clip) = what else { panic!("clips alone") };
                let name = crowd.crowd.clip(clip).expect("its own").name().to_owned();
                // The clips of each file are clips of their own.
                all.push((layer, of_layer.clone(), name, format!("{state:.5?}")));
            }
        }
        all
    };
    let before = all(&app);
    let id = app.world().resource::<PhalanxCrowd>().rig(&rig);
    app.world().resource::<AssetServer>().reload("mannequin.glb");
    crate::common::until(&mut app, "the file is read again", |world| {
        world.resource::<PhalanxCrowd>().rig(&rig) != id
    });
    app.update();
    // A quarter of the fades.
    assert!(before[3].3.contains("fade_left: 1.75000"), "{}", before[3].3);
    assert_eq!(before[3].1, (Ok(0.375), Ok((0.75, 0.75))));
    assert_eq!(all(&app), before);
}

#[test]
fn an_inertial_transition_ends_all_others_without_a_jump() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let all = [("Walk", 0.2), ("Run", 0.5), ("Idle", 0.3)];
    let entity = spawn(&mut app, |p| {
        for (name, weight) in all {
            p.add(name).repeat().with_weight(weight).seek_to(0.3);
        }
    });
    bound(&mut app, 1);
    app.update();
    let step = |seconds| {
        bevy::time::TimeUpdateStrategy::ManualDuration(std::time::Duration::from_secs_f64(seconds))
    };
    let names = {
        let crowd = app.world().resource::<PhalanxCrowd>();
        let rig = crowd.instance(entity).expect("bound").rig();
        crowd.crowd.rig(rig).expect("there").skeleton().names().to_vec()
    };
    let joints = |app: &App| -> Vec<GlobalTransform> {
        let crowd = app.world().resource::<PhalanxCrowd>();
        names.iter().map(|name| crowd.joint(entity, name).expect("a joint")).collect()
    };
    let moved = |a: &[GlobalTransform], b: &[GlobalTransform]| {
        a.iter().zip(b).map(|(a, b)| a.translation().distance(b.translation())).fold(0.0, f32::max)
    };
    // What plays is first on its way out, then stays, then plays no more; the target plays already, or does not yet.
    for (target, stopped) in [("Idle", Some("Walk")), ("Attack", None), ("Walk", Some("Attack"))] {
        app.insert_resource(step(0.0));
        if target == "Attack" {
            let mut player = player(&mut app, entity);
            player.set_weight("Idle", 0.3, 0.0);
            player.add("Walk").repeat().with_weight(0.2);
            player.add("Run").repeat().with_weight(0.5);
        }
        stopped.into_iter().for_each(|name| player(&mut app, entity).stop(name, 10.0));
        app.update();
        let before = joints(&app);
        player(&mut app, entity).transition(target, 0.5).repeat().inertial();
        app.update();
        let playing = app.world().resource::<PhalanxCrowd>().playing(entity).expect("bound");
        assert_eq!(playing.actions(0).expect("a layer").count(), 1, "{target}");
        assert!(app.world().resource::<PhalanxCrowd>().is_playing(entity, target));
        let way = moved(&before, &joints(&app));
        assert!(way < 1e-3, "{target}: joints jump by {way} m");
        // It is another pose that they go to, even if the call is repeated in each frame.
        app.insert_resource(step(1.0 / 64.0));
        for _ in 0..34 {
            player(&mut app, entity).transition(target, 0.5).repeat().inertial();
            app.update();
        }
        let way = moved(&before, &joints(&app));
        assert!(way > 0.05, "{target}: {way} m");
    }
    // At once.
    player(&mut app, entity).add("Run").repeat();
    player(&mut app, entity).add("Idle").repeat();
    player(&mut app, entity).transition("Idle", 0.0).repeat().inertial();
    app.update();
    let playing = app.world().resource::<PhalanxCrowd>().playing(entity).expect("bound");
    assert_eq!(playing.actions(0).expect("a layer").count(), 1);
}

#[test]
fn paused_time_holds_all_and_relative_speed_counts() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let entity = spawn(&mut app, |p| {
        p.play("Idle").repeat();
    });
    bound(&mut app, 1);
    app.world_mut().resource_mut::<Time<Virtual>>().pause();
    for _ in 0..5 {
        app.update();
    }
    close(time(&app, entity, "Idle"), 0.0);
    let mut virtual_time = app.world_mut().resource_mut::<Time<Virtual>>();
    virtual_time.unpause();
    virtual_time.set_relative_speed(3.0);
    app.update();
    app.update();
    close(time(&app, entity, "Idle"), 6.0 / 64.0);
    // A frame of an hour: 900 passes of four seconds.
    let mut virtual_time = app.world_mut().resource_mut::<Time<Virtual>>();
    virtual_time.set_relative_speed(1.0);
    virtual_time.set_max_delta(std::time::Duration::from_secs(7200));
    let hour = std::time::Duration::from_secs(3600);
    app.insert_resource(bevy::time::TimeUpdateStrategy::ManualDuration(hour));
    app.update();
    close(time(&app, entity, "Idle"), 6.0 / 64.0);
    let state = app.world().resource::<PhalanxCrowd>().state(entity, "Idle").expect("it plays");
    assert_eq!(state.loops, 900.0);
}

/// Root motion of the built-in walk: 1.4 m a second along Z.
fn walked(plugin: PhalanxPlugin) {
    let mut app = bare(&built_in(), plugin);
    app.insert_resource(Time::<Fixed>::from_seconds(1.0 / 64.0));
    let settings = |settings: &mut RigSettings| settings.root_motion = true;
    let rig: Handle<PhalanxRig> = app
        .world()
        .resource::<AssetServer>()
        .load_builder()
        .with_settings(settings)
        .load("mannequin.glb");
    let place = Transform::from_xyz(1.0, 0.0, 2.0)
        .with_rotation(Quat::from_rotation_y(std::f32::consts::FRAC_PI_2))
        .with_scale(Vec3::splat(2.0));
    let [applied, told] = [PhalanxRootMotion::applied(), PhalanxRootMotion::default()].map(|m| {
        let mut player = PhalanxPlayer::default();
        player.play("Walk_RootMotion").repeat();
        app.world_mut().spawn((PhalanxCharacter(rig.clone()), player, place, m)).id()
    });
    bound(&mut app, 2);
    let before = app.world().get::<Transform>(applied).expect("it has one").translation;
    let clip = app.world().resource::<PhalanxCrowd>().state(applied, "Walk_RootMotion");
    let start = clip.map_or(0.0, |s| s.loops + s.time);
    for _ in 0..64 {
        app.update();
    }
    let clip = app.world().resource::<PhalanxCrowd>().state(applied, "Walk_RootMotion");
    let seconds = (clip.map_or(0.0, |s| s.loops + s.time) - start) as f32;
    assert!(seconds > 0.9, "{seconds}");
    // Z turned by a quarter about Y is X; twice as large, it walks twice as far.
    let way = app.world().get::<Transform>(applied).expect("it has one").translation - before;
    let expected = Vec3::new(2.0 * 1.4 * seconds, 0.0, 0.0);
    assert!(way.distance(expected) < 0.03, "{way} instead of {expected}");
    assert_eq!(app.world().get::<Transform>(told), Some(&place));
    let motion = app.world().get::<PhalanxRootMotion>(told).expect("it has one").translation;
    assert!((motion.z - 1.4 / 64.0).abs() < 4e-3, "{motion}");
}

#[test]
fn root_motion_moves_scaled_and_turned_characters() {
    walked(PhalanxPlugin::default());
}

#[test]
fn root_motion_in_fixed_steps() {
    walked(PhalanxPlugin { schedule: FixedPostUpdate.intern(), ..PhalanxPlugin::default() });
}

#[test]
fn what_is_set_in_each_frame_does_not_crowd_out_what_plays() {
    let mut app = bare(&built_in(), PhalanxPlugin::default());
    let mut player = PhalanxPlayer::default();
    player.play("Walk").repeat();
    for i in 0..3000 {
        player.set_speed("Walk", 1.0 + i as f32 / 3000.0);
        player.set_layer_weight(0, 0.5);
        player.set_character_speed(2.0);
    }
    let rig = app.world().resource::<AssetServer>().load("mannequin.glb");
    let entity = app.world_mut().spawn((PhalanxCharacter(rig), player)).id();
    bound(&mut app, 1);
    app.update();
    let crowd = app.world().resource::<PhalanxCrowd>();
    assert_eq!(crowd.state(entity, "Walk").expect("it walks").speed, 1.0 + 2999.0 / 3000.0);
    let playing = crowd.playing(entity).expect("bound");
    assert_eq!((playing.layer_weight(0), playing.character_speed()), (Ok(0.5), 2.0));
}
