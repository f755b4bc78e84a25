//! The migration of README.md: both sides are compiled and run, and the diff is theirs.

mod after;
mod before;

use crate::common;
use bevy::ecs::system::RunSystemOnce;
use bevy::prelude::*;
use bevy_phalanx::{PhalanxCrowd, PhalanxInstance};

/// An app in which the fox runs, then walks for half a second.
fn app<S, W>(
    spawn: impl IntoSystem<(), (), S> + 'static,
    walk: impl IntoSystem<(), (), W> + 'static,
    ready: fn(&mut World) -> bool,
) -> Option<App> {
    let mut app = common::app(&common::models()?);
    let _file = common::loaded(&mut app, "Fox.glb");
    app.world_mut().run_system_once(spawn).expect("it runs");
    common::until(&mut app, "the fox plays", ready);
    app.update();
    app.world_mut().run_system_once(walk).expect("it runs");
    (0..30).for_each(|_| app.update());
    Some(app)
}

#[test]
fn the_fox_walks_before_and_after() {
    let plays = |world: &mut World| {
        world.query_filtered::<(), With<AnimationTransitions>>().iter(world).count() == 1
    };
    let Some(mut app) = app(before::spawn, before::walk, plays) else { return };
    let world = app.world_mut();
    let player = world.query::<&AnimationPlayer>().single(world).expect("a player");
    let playing: Vec<_> = player.playing_animations().map(|(node, _)| *node).collect();
    // Nodes of the graph: root, run, walk.
    assert_eq!(playing, [AnimationNodeIndex::new(2)]);
    assert!(player.playing_animations().all(|(_, played)| played.weight() == 1.0));

    let bound = |world: &mut World| {
        world.query_filtered::<(), With<PhalanxInstance>>().iter(world).count() == 1
    };
    let Some(mut app) = self::app(after::spawn, after::walk, bound) else { return };
    let world = app.world_mut();
    let fox = world.query_filtered::<Entity, With<PhalanxInstance>>().single(world).expect("a fox");
    let crowd = world.resource::<PhalanxCrowd>();
    assert!(crowd.state(fox, "Run").is_none());
    assert_eq!(crowd.state(fox, "Walk").expect("it walks").weight, 1.0);
}

#[test]
fn the_diff_of_the_readme_is_that_of_the_two_files() {
    let readme = include_str!("../../../README.md");
    let (_, diff) = readme.split_once("```diff\n").expect("a diff");
    let (diff, _) = diff.split_once("```").expect("an end");
    let side = |sign: char| -> String {
        let of_side = diff.lines().filter(|line| line.is_empty() || line.starts_with([' ', sign]));
        of_side.map(|line| format!("{}\n", line.get(1..).unwrap_or(""))).collect()
    };
    assert_eq!(side('-'), include_str!("before.rs"));
    assert_eq!(side('+'), include_str!("after.rs"));
    assert!(diff.lines().all(|line| line.is_empty() || line.starts_with([' ', '-', '+'])));
}
