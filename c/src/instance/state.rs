//! Reading characters: where they are, what they play, what of it a frame shows.

use super::list;
use crate::border::*;
use crate::convert::*;
use crate::crowd::phx_crowd;
use crate::types::*;
use phalanx::crowd::{ActionState, Crowd, InstanceId};

/// The palette that a character shows in the last frame: `from + (to − from) · factor`, number by number. After a frame
/// that was refused with PHX_ERROR_SHORT it is of that one, whose rows are nowhere, until the next frame is written.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_shown {
    /// Nonzero if the frame has a palette of it; else the character was hidden, out of the picture, or not there, and all
    /// other fields are 0, `detail` is `PHX_NONE`.
    pub in_picture: u32,
    /// First row of the earlier palette in the frame's memory.
    pub from: u32,
    /// First row of the later palette; `from` unless the character is interpolated.
    pub to: u32,
    /// Rows of either palette.
    pub row_count: u32,
    /// Weight of the later palette, 0 to 1.
    pub factor: f32,
    /// Which detail of the rig the rows are of; `PHX_NONE` for the full rig.
    pub detail: u32,
    /// Nonzero if other characters may show the same palette.
    pub shared: u32,
    /// Nonzero if the character had these rows in the frame before, too: for motion vectors, in memory that keeps two
    /// frames.
    pub stayed: u32,
}

impl phx_shown {
    const NONE: Self = Self {
        in_picture: 0,
        from: 0,
        to: 0,
        row_count: 0,
        factor: 0.0,
        detail: PHX_NONE,
        shared: 0,
        stayed: 0,
    };

    /// What the last frame shows of an instance, which is known.
    pub(crate) fn of(crowd: &Crowd, who: InstanceId) -> Self {
        crowd.shown(who).map_or(Self::NONE, |shown| Self {
            in_picture: 1,
            from: small(shown.from.start),
            to: small(shown.to.start),
            row_count: small(shown.from.len()),
            factor: shown.factor,
            detail: none(shown.detail),
            shared: shown.shared.into(),
            stayed: shown.stayed.into(),
        })
    }
}

/// A character.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_instance_info {
    /// The size of this struct. Set it before the call.
    pub size: usize,
    /// Its rig.
    pub rig: phx_rig_id,
    /// Its index among those of the rig, which a later one may have again.
    pub index: u32,
    /// The layers of the rig.
    pub layer_count: u32,
    /// Nonzero unless it is hidden.
    pub visible: u32,
    /// Nonzero if frames evaluate it; else it keeps its palette.
    pub scheduled: u32,
    /// Its tier in the last frame; `PHX_NONE` if it was out of the picture, or the crowd has no tiers.
    pub tier: u32,
    /// Factor on the speeds of its layers.
    pub speed: f32,
    /// Model space to world space.
    pub world: phx_matrix,
    /// Weight of the pose that the host has set; −1 if it has set none.
    pub pose_weight: f32,
    /// What the last frame shows.
    pub shown: phx_shown,
}

extensible!(
    phx_instance_info,
    Self {
        size: size_of::<Self>(),
        rig: 0,
        index: 0,
        layer_count: 0,
        visible: 0,
        scheduled: 0,
        tier: PHX_NONE,
        speed: 0.0,
        world: phx_matrix { rows: [[0.0; 4]; 3] },
        pose_weight: -1.0,
        shown: phx_shown::NONE,
    }
);

/// An action: a clip or a blend space that plays on a layer.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_action_state {
    /// The size of this struct. Set it before the call.
    pub size: usize,
    /// What plays.
    pub playable: phx_playable,
    /// Seconds, from 0 to the clip's duration; for a blend space, the fraction of a pass.
    pub time: f64,
    /// Passes that are over: whole, below 0 after playing backwards past the start.
    pub loops: f64,
    /// Seconds until the running fade ends; 0 without one.
    pub fade_left: f64,
    /// Present weight.
    pub weight: f32,
    /// Weight at the end of the running fade; the present one without a fade.
    pub target: f32,
    /// The action's factor on time.
    pub speed: f32,
    /// What happens at the ends of the clip. A single pass is `PHX_LOOP_ONCE`, unless it is of a ping-pong.
    pub loop_mode: phx_loop_mode,
    /// Passes over the clip; `PHX_NONE` for no end, and with `PHX_LOOP_ONCE`.
    pub repetitions: u32,
    /// What happens after the last pass.
    pub at_end: phx_at_end,
    /// Seconds of `PHX_END_FADE_OUT`; else 0.
    pub end_seconds: f32,
    /// Nonzero for a blend space.
    pub has_parameter: u32,
    /// The blend space's present parameter, within its ends.
    pub parameter: phx_parameter,
    /// Nonzero if the action is paused.
    pub paused: u32,
    /// Nonzero if it stops at the end of its fade.
    pub fading_out: u32,
    /// Nonzero if it holds the end of its last pass; backwards, the start of its first.
    pub finished: u32,
}

extensible!(
    phx_action_state,
    Self {
        size: size_of::<Self>(),
        playable: 0,
        time: 0.0,
        loops: 0.0,
        fade_left: 0.0,
        weight: 0.0,
        target: 0.0,
        speed: 0.0,
        loop_mode: PHX_LOOP_ONCE,
        repetitions: 0,
        at_end: PHX_END_HOLD,
        end_seconds: 0.0,
        has_parameter: 0,
        parameter: phx_parameter { x: 0.0, y: 0.0 },
        paused: 0,
        fading_out: 0,
        finished: 0,
    }
);

impl phx_action_state {
    fn of(playable: phx_playable, state: &ActionState) -> Self {
        let (at_end, end_seconds) = at_end_number(state.at_end);
        Self {
            size: size_of::<Self>(),
            playable,
            time: state.time,
            loops: state.loops,
            fade_left: state.fade_left,
            weight: state.weight,
            target: state.target,
            speed: state.speed,
            loop_mode: loop_number(state.loop_mode),
            repetitions: state.repetitions.unwrap_or(PHX_NONE),
            at_end,
            end_seconds,
            has_parameter: state.parameter.is_some().into(),
            parameter: state.parameter.unwrap_or_default().into(),
            paused: state.paused.into(),
            fading_out: state.fading_out.into(),
            finished: state.finished.into(),
        }
    }
}

/// A layer of a character.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_layer_state {
    /// The size of this struct. Set it before the call.
    pub size: usize,
    /// Seconds until the running fade of the layer ends; 0 without one.
    pub fade_left: f64,
    /// Present weight.
    pub weight: f32,
    /// Weight at the end of the running fade; the present one without a fade.
    pub target: f32,
    /// Factor on the speeds of the layer's actions.
    pub speed: f32,
    /// Its actions, those that fade out among them.
    pub action_count: u32,
}

extensible!(
    phx_layer_state,
    Self {
        size: size_of::<Self>(),
        fade_left: 0.0,
        weight: 0.0,
        target: 0.0,
        speed: 0.0,
        action_count: 0,
    }
);

/// Reads where a character is and what the last frame shows of it. Nothing is evaluated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_describe(
    crowd: *const phx_crowd,
    who: phx_instance,
    out: *mut phx_instance_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let (crowd, who) = (&state.crowd, instance(who)?);
        let playing = crowd.playing(who)?;
        let view = crowd.view(who.rig())?;
        let flag = |all: &[bool]| all.get(who.index()).copied().unwrap_or_default().into();
        let info = phx_instance_info {
            size: size_of::<phx_instance_info>(),
            rig: who.rig().to_bits(),
            index: small(who.index()),
            layer_count: small(playing.layers()),
            visible: flag(view.visible),
            scheduled: flag(view.scheduled),
            tier: none(crowd.tier(who)),
            speed: playing.character_speed(),
            world: (*crowd.world(who)?).into(),
            pose_weight: playing.pose_weight().unwrap_or(-1.0),
            shown: phx_shown::of(crowd, who),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// Reads the state of an action.
///
/// PHX_ERROR_NOT_FOUND: it does not play on the layer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_action(
    crowd: *const phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    out: *mut phx_action_state,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let motion = crate::convert::playable(playable)?;
        let action = state.crowd.playing(instance(who)?)?.action(layer as usize, motion)?;
        // SAFETY: the caller's promise.
        unsafe { fill(out, phx_action_state::of(playable, &action)) }
    })
}

/// What plays on a layer, oldest first: the order in which it is blended. `count` gets the number also if there is too
/// little room; with `out` null and a capacity of 0 the call only counts. A layer plays at most 4.
///
/// PHX_ERROR_NOT_FOUND: there is no such layer. PHX_ERROR_SHORT: more play than there is room for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_actions(
    crowd: *const phx_crowd,
    who: phx_instance,
    layer: u32,
    out: *mut phx_playable,
    capacity: usize,
    count: *mut usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let playing = state.crowd.playing(instance(who)?)?;
        let needed = playing.actions(layer as usize)?.count();
        // SAFETY: the caller's promise.
        let room = unsafe { list(out, capacity, count, needed, "the actions") }?;
        for (place, (motion, _)) in room.iter_mut().zip(playing.actions(layer as usize)?) {
            *place = playable_bits(motion);
        }
        Ok(())
    })
}

/// Reads a layer of a character.
///
/// PHX_ERROR_NOT_FOUND: there is no such layer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_layer(
    crowd: *const phx_crowd,
    who: phx_instance,
    layer: u32,
    out: *mut phx_layer_state,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let (playing, layer) = (state.crowd.playing(instance(who)?)?, layer as usize);
        let (target, fade_left) = playing.layer_fade(layer)?;
        let layer = phx_layer_state {
            size: size_of::<phx_layer_state>(),
            fade_left,
            weight: playing.layer_weight(layer)?,
            target,
            speed: playing.layer_speed(layer)?,
            action_count: small(playing.actions(layer)?.count()),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, layer) }
    })
}
