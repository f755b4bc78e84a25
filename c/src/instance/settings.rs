//! The settings of actions, of layers and of the character.

use super::{with_action, with_player};
use crate::border::*;
use crate::convert::*;
use crate::crowd::phx_crowd;
use crate::types::*;

/// Sets the speed of an action: a factor on its time, within ±1e6. It ends the warp of a crossfade.
///
/// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: the speed is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_speed(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    speed: f32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_action(crowd, who, playable, |p, motion| p.set_speed(layer as usize, motion, speed))
    }
}

/// Sets the time of an action, within ±1e9: seconds for a clip, passes for a blend space. No events fire for the time
/// between.
///
/// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: the time is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_time(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    time: f64,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_action(crowd, who, playable, |p, motion| p.set_time(layer as usize, motion, time))
    }
}

/// Sets the time of an action in passes: 0 is the start of the clip, 1 its end. No events fire for the time between.
///
/// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: the time is not within ±1e9 seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_phase(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    phase: f64,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_action(crowd, who, playable, |p, motion| p.set_phase(layer as usize, motion, phase))
    }
}

/// Pauses an action, or resumes it for 0. A paused action keeps its weight, and its fades go on.
///
/// PHX_ERROR_NOT_FOUND: it does not play on the layer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_paused(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    paused: u32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_action(crowd, who, playable, |p, motion| {
            p.set_paused(layer as usize, motion, paused != 0)
        })
    }
}

/// Sets the loop mode of an action and the number of its passes, at least 1; `PHX_NONE` for no end. If either changes, the
/// action goes on from its time, in its first pass.
///
/// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: there is no such mode, or 0 passes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_loop(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    mode: phx_loop_mode,
    repetitions: u32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_player(crowd, who, |player| {
            let (motion, mode) = (crate::convert::playable(playable)?, loop_mode(mode)?);
            let passes = super::play::passes(repetitions);
            Ok::<_, Error>(player.set_loop(layer as usize, motion, mode, passes)?)
        })
    }
}

/// Sets what an action does after its last pass; `seconds`, 0 to 1e9, are those of `PHX_END_FADE_OUT`.
///
/// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: there is no such behaviour, or the seconds are out
/// of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_at_end(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    at_end: phx_at_end,
    seconds: f32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_player(crowd, who, |player| {
            let motion = crate::convert::playable(playable)?;
            let at_end = crate::convert::at_end(at_end, seconds)?;
            Ok::<_, Error>(player.set_at_end(layer as usize, motion, at_end)?)
        })
    }
}

/// Sets the parameter of a blend space that plays: `x` and `y` within ±1e9, `y` without effect on a line. Beyond the ends
/// of the space its nearest value counts. A space that follows its parameter gets there with time.
///
/// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: a number is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_parameter(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    space: phx_space_id,
    x: f32,
    y: f32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_player(crowd, who, |player| {
            let at = phx_parameter { x, y };
            Ok::<_, Error>(player.set_parameter(layer as usize, space_id(space)?, at)?)
        })
    }
}

/// Fades the weight of a layer to `weight`, 0 to 1, on additive layers −1 to 1, over `seconds`, 0 to 1e9; 0 sets it at once.
///
/// PHX_ERROR_NOT_FOUND: there is no such layer. PHX_ERROR_VALUE: a number is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_fade_layer(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    weight: f32,
    seconds: f32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe { with_player(crowd, who, |player| player.fade_layer(layer as usize, weight, seconds)) }
}

/// Sets the speed of a layer: a factor on the speeds of its actions, within ±1e6.
///
/// PHX_ERROR_NOT_FOUND: there is no such layer. PHX_ERROR_VALUE: the speed is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_layer_speed(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    speed: f32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe { with_player(crowd, who, |player| player.set_layer_speed(layer as usize, speed)) }
}

/// Sets the speed of a character: a factor on the speeds of its layers, within ±1e6. At 0 it stands still, and its fades
/// wait; at any other speed fades take their seconds.
///
/// PHX_ERROR_VALUE: the speed is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_character_speed(
    crowd: *mut phx_crowd,
    who: phx_instance,
    speed: f32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe { with_player(crowd, who, |player| player.set_character_speed(speed)) }
}

/// Sets the world transform of a character: model space to world space. Its palette does not change.
/// `phx_instances_set_worlds` can also put characters elsewhere at once, with springs at rest.
///
/// PHX_ERROR_VALUE: a number is not finite, or beyond ±1e15.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_set_world(
    crowd: *mut phx_crowd,
    who: phx_instance,
    world: *const phx_matrix,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, world) = unsafe { (lend(crowd)?, array(world, 1, "the transform")?) };
        let who = instance(who)?;
        world.iter().try_for_each(|&world| Ok(state.crowd.set_world(who, world)?))
    })
}
