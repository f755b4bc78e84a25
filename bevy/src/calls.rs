//! Calls of [`PhalanxPlayer`]s, applied to the crowd.

use crate::character::{PhalanxCharacter, PhalanxInstance};
use crate::crowd::{Names, PhalanxCrowd};
use crate::events::{PhalanxError, PlayerError};
use crate::player::{Call, Change, PhalanxPlayer, PlayCall};
use bevy::ecs::message::MessageWriter;
use bevy::ecs::prelude::*;
use phalanx::crowd::{
    AtEnd, CrossFade, Crowd, CrowdError, FadeKind, InstanceId, LoopMode, Playable, Player,
};
use tracing::warn;

/// Calls that make another instance play what one plays, by its names.
pub(crate) fn resume(crowd: &Crowd, names: &Names, instance: InstanceId) -> Vec<Call> {
    let Ok(playing) = crowd.playing(instance) else { return Vec::new() };
    let mut player = PhalanxPlayer::default();
    for layer in 0..playing.layers() {
        for (what, state) in playing.actions(layer).into_iter().flatten() {
            let clip = match what {
                Playable::Clip(clip) => crowd.clip(clip).ok(),
                Playable::Space(_) => None,
            };
            let name = names.name_of(what).or_else(|| clip.map(|clip| clip.name()));
            let Some(name) = name.map(str::to_owned) else { continue };
            let pass = clip.map_or(1.0, |clip| f64::from(clip.duration()));
            let call = player.add(&name);
            call.on_layer(layer).with_weight(state.weight).with_speed(state.speed);
            call.ping_pong = state.loop_mode == LoopMode::PingPong;
            call.repetitions = match state.loop_mode {
                LoopMode::Once => Some(1),
                _ => state.repetitions,
            };
            call.stop_at_end = state.at_end == AtEnd::Stop;
            call.parameter = state.parameter.map_or([0.0; 2], |p| [p.x, p.y]);
            // Every second pass of a ping-pong runs backwards.
            let back = call.ping_pong && state.loops.rem_euclid(2.0) == 1.0;
            call.time = match (state.loop_mode, back) {
                (LoopMode::Once, _) => state.time,
                (_, false) => state.loops * pass + state.time,
                (_, true) => (state.loops + 1.0) * pass - state.time,
            };
            let (weight, fade) = (state.target, state.fade_left as f32);
            let mut change = |change| {
                let name = name.clone();
                player.push(Call::Named { name, layer: Some(layer), change });
            };
            if state.paused {
                change(Change::Pause { paused: true });
            }
            if state.fading_out {
                change(Change::Stop { fade });
            } else if fade > 0.0 {
                change(Change::Weight { weight, fade });
            }
        }
        player.set_layer_weight(layer, playing.layer_weight(layer).unwrap_or(1.0));
        let (weight, left) = playing.layer_fade(layer).unwrap_or((1.0, 0.0));
        if left > 0.0 {
            player.fade_layer(layer, weight, left as f32);
        }
    }
    player.set_character_speed(playing.character_speed());
    player.calls
}

type Waiting = Or<(Changed<PhalanxPlayer>, Changed<PhalanxCharacter>, Added<PhalanxInstance>)>;

/// Applies the calls of players whose characters are instances.
pub fn apply(
    mut crowd: ResMut<PhalanxCrowd>,
    mut players: Query<(Entity, &PhalanxCharacter, &PhalanxInstance, &mut PhalanxPlayer), Waiting>,
    mut errors: MessageWriter<PhalanxError>,
) {
    for (entity, character, instance, mut player) in &mut players {
        // The calls are for the rig that it is to have.
        if !instance.is_of(character) {
            continue;
        }
        for call in player.bypass_change_detection().calls.drain(..) {
            apply_one(&mut crowd, entity, instance.id(), &call, &mut errors);
        }
    }
}

/// Applies one call; a refusal is logged and told.
pub(crate) fn apply_one(
    crowd: &mut PhalanxCrowd,
    entity: Entity,
    instance: InstanceId,
    call: &Call,
    errors: &mut MessageWriter<PhalanxError>,
) {
    if let Err(error) = call_one(crowd, instance, call) {
        let error = PhalanxError { entity, name: call.name().map(str::to_owned), error };
        warn!("{error}");
        errors.write(error);
    }
}

/// The layer in which something plays; 0 if in none, where the crowd says what is wrong.
fn layer_of(crowd: &Crowd, instance: InstanceId, what: Playable) -> usize {
    let Ok(playing) = crowd.playing(instance) else { return 0 };
    (0..playing.layers()).find(|&layer| playing.action(layer, what).is_ok()).unwrap_or(0)
}

fn call_one(crowd: &mut PhalanxCrowd, id: InstanceId, call: &Call) -> Result<(), PlayerError> {
    let (name, layer, change) = match call {
        Call::Named { name, layer, change } => (name, *layer, change),
        Call::StopAll { fade } => return Ok(crowd.crowd.player(id)?.stop_all(*fade)?),
        Call::LayerWeight { layer, weight, fade } => {
            return Ok(crowd.crowd.player(id)?.fade_layer(*layer, *weight, *fade)?);
        }
        Call::CharacterSpeed { speed } => {
            return Ok(crowd.crowd.player(id)?.set_character_speed(*speed)?);
        }
    };
    let what = crowd.playable(id.rig(), name)?;
    let layer = layer.unwrap_or_else(|| layer_of(&crowd.crowd, id, what));
    let mut player = crowd.crowd.player(id)?;
    match change {
        Change::Play(call) => play(&mut player, what, call)?,
        Change::Stop { fade } => player.stop(layer, what, *fade)?,
        Change::Weight { weight, fade } => player.fade(layer, what, *weight, *fade)?,
        Change::Speed { speed } => player.set_speed(layer, what, *speed)?,
        Change::Seek { time } => player.set_time(layer, what, *time)?,
        Change::Pause { paused } => player.set_paused(layer, what, *paused)?,
        Change::Parameter { parameter } => match what {
            Playable::Space(space) => player.set_parameter(layer, space, *parameter)?,
            Playable::Clip(_) => return Err(PlayerError::NoParameter),
        },
    }
    Ok(())
}

fn play(player: &mut Player<'_>, what: Playable, call: &PlayCall) -> Result<(), CrowdError> {
    let options = call.options();
    if call.beside {
        return player.add(call.layer, what, &options);
    }
    let playing = player.playing();
    let goes_on = playing.action(call.layer, what).is_ok_and(|s| !s.fading_out && !s.finished);
    let mut others = Vec::from_iter(playing.actions(call.layer)?);
    let alone = others.is_empty();
    // One that stays comes first: a crossfade to what plays already, from an action on its way out, is under way.
    others.retain(|(other, state)| *other != what && !(goes_on && state.fading_out));
    others.sort_by_key(|(_, state)| state.fading_out);
    if let Some(&(from, _)) = others.first()
        && call.inertial
        && call.fade > 0.0
    {
        let fade = CrossFade { kind: FadeKind::Inertial, ..CrossFade::from(call.fade) };
        player.cross_fade(call.layer, from, what, fade, &options)?;
    }
    // Where no offset is possible, as on an additive layer, others than these two are still there.
    let seconds = if call.inertial && alone { 0.0 } else { call.fade };
    player.fade_to(call.layer, what, seconds, &options)
}
