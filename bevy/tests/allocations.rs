//! A frame in which nobody comes or goes allocates nothing in the plugin's systems.
//!
//! On one thread: Bevy's pool allocates for each task that it is given, and with more threads the plugin gives it some.

use bevy::app::{TaskPoolOptions, TaskPoolPlugin};
use bevy::asset::AssetPlugin;
use bevy::ecs::schedule::SingleThreadedExecutor;
use bevy::prelude::*;
use bevy_phalanx::phalanx::crowd::{Aim, Feet, Tiers};
use bevy_phalanx::{
    PhalanxAttachment, PhalanxCharacter, PhalanxEvent, PhalanxGround, PhalanxInstance,
    PhalanxOverrides, PhalanxPlayer, PhalanxPlugin, PhalanxRootMotion, PhalanxTarget,
    PhalanxTargets, RigAssets, RigSetup, TargetPoint, phalanx,
};
use std::time::Duration;

/// Characters that walk, look at an entity, stand on a ground and have something at a hand.
fn app(tiers: Option<Tiers>) -> App {
    let mut app = App::new();
    let options = TaskPoolOptions::with_num_threads(1);
    app.add_plugins((
        MinimalPlugins.set(TaskPoolPlugin { task_pool_options: options }),
        AssetPlugin::default(),
        PhalanxPlugin { tiers, ..PhalanxPlugin::default() },
    ))
    .insert_resource(PhalanxGround::new(|at| (0.1 * at.x, Vec3::new(-0.1, 1.0, 0.0))))
    .edit_schedule(PostUpdate, |schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    app.finish();
    app.cleanup();
    let make = |mut assets: RigAssets| {
        assets.add(phalanx::import::mannequin().expect("built in")).expect("no images")
    };
    let rig = app.world_mut().run_system_cached(make).expect("it runs");
    let setup = RigSetup::new(|crowd, rig, names| {
        let skeleton = crowd.rig(rig)?.skeleton().clone();
        let ankles = [skeleton.joint("LeftFoot")?, skeleton.joint("RightFoot")?];
        let feet = Feet::new(skeleton.joint("Hips")?, &ankles);
        names.modifier("look", crowd.add_modifier(rig, Aim::new(skeleton.joint("Head")?))?);
        names.modifier("feet", crowd.add_modifier(rig, feet)?);
        Ok(())
    });
    app.world_mut().resource_mut::<bevy_phalanx::PhalanxCrowd>().set_up(&rig, setup);
    let target = app.world_mut().spawn(GlobalTransform::from_xyz(3.0, 2.0, 5.0)).id();
    for i in 0..64 {
        let mut player = PhalanxPlayer::default();
        player.play("Walk").repeat().seek_to(i as f32 * 0.013);
        let look = PhalanxTarget::new("look", TargetPoint::Entity(target));
        let character = (
            PhalanxCharacter(rig.clone()),
            player,
            Transform::from_xyz(i as f32, 0.0, 0.0),
            PhalanxTargets(vec![look]),
            PhalanxOverrides::default(),
            PhalanxRootMotion::applied(),
            children![PhalanxAttachment::new("RightHand")],
        );
        app.world_mut().spawn(character);
    }
    app
}

fn frame(app: &mut App) -> u64 {
    let world = app.world_mut();
    world.resource_mut::<Messages<PhalanxEvent>>().update();
    world.resource_mut::<Time>().advance_by(Duration::from_secs_f64(1.0 / 60.0));
    let mut moved = world.query_filtered::<&mut GlobalTransform, With<PhalanxCharacter>>();
    for mut place in moved.iter_mut(world) {
        *place = GlobalTransform::from_translation(place.translation() + 0.01 * Vec3::X);
    }
    let told = allocation_counter::measure(|| world.run_schedule(PostUpdate));
    told.count_total
}

#[test]
fn steady_frames_allocate_nothing() {
    for tiers in [None, Some(Tiers::default())] {
        let mut app = app(tiers.clone());
        app.update();
        let count = app.world_mut().query::<&PhalanxInstance>().iter(app.world()).count();
        assert_eq!(count, 64);
        // Two passes of the clip, in which buffers of events grow.
        let before: u64 = (0..120).map(|_| frame(&mut app)).sum();
        assert!(before > 0, "allocations are counted");
        let counts: Vec<u64> = (0..120).map(|_| frame(&mut app)).collect();
        assert_eq!(counts.iter().sum::<u64>(), 0, "with {tiers:?}: {counts:?}");
    }
}
