use bevy::prelude::*;
use bevy::world_serialization::WorldInstanceReady;
use std::time::Duration;

#[derive(Resource)]
pub struct Animations(Handle<AnimationGraph>, Vec<AnimationNodeIndex>);

pub fn spawn(
    mut commands: Commands,
    assets: Res<AssetServer>,
    mut graphs: ResMut<Assets<AnimationGraph>>,
) {
    let clip = |i| assets.load(GltfAssetLabel::Animation(i).from_asset("Fox.glb"));
    let (graph, clips) = AnimationGraph::from_clips([2, 1].map(clip));
    commands.insert_resource(Animations(graphs.add(graph), clips));
    let scene = assets.load(GltfAssetLabel::Scene(0).from_asset("Fox.glb"));
    commands.spawn(WorldAssetRoot(scene)).observe(play);
}

fn play(
    ready: On<WorldInstanceReady>,
    mut commands: Commands,
    animations: Res<Animations>,
    children: Query<&Children>,
    mut players: Query<&mut AnimationPlayer>,
) {
    for child in children.iter_descendants(ready.entity) {
        if let Ok(mut player) = players.get_mut(child) {
            let mut transitions = AnimationTransitions::new();
            transitions.play(&mut player, animations.1[0], Duration::ZERO).repeat();
            let graph = AnimationGraphHandle(animations.0.clone());
            commands.entity(child).insert((graph, transitions));
        }
    }
}

pub fn walk(
    animations: Res<Animations>,
    mut players: Query<(&mut AnimationPlayer, &mut AnimationTransitions)>,
) {
    for (mut player, mut transitions) in &mut players {
        let seconds = Duration::from_millis(250);
        transitions.play(&mut player, animations.1[1], seconds).repeat();
    }
}
