use bevy::prelude::*;
use bevy_phalanx::{PhalanxCharacter, PhalanxPlayer};

pub fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
    let mut player = PhalanxPlayer::default();
    player.play("Run").repeat();
    commands.spawn((PhalanxCharacter(assets.load("Fox.glb")), player));
}

pub fn walk(mut players: Query<&mut PhalanxPlayer>) {
    for mut player in &mut players {
        player.transition("Walk", 0.25).repeat();
    }
}
