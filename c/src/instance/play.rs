//! Starting, fading and stopping actions.

use super::{with_action, with_player};
use crate::border::*;
use crate::convert::*;
use crate::crowd::phx_crowd;
use crate::types::*;
use phalanx::crowd::{CrossFade, CrowdError, FadeKind, PlayOptions, Playable, Player, Sync};
use std::ptr::null;

/// How an action plays its clip or blend space. `phx_options_init` with `PHX_PLAY_OPTIONS` sets the defaults, which a null
/// pointer stands for, too.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_play_options {
    /// The size of this struct.
    pub size: usize,
    /// Factor on time, within ±1e6; below 0 plays backwards. Default 1.
    pub speed: f32,
    /// What happens at the ends of the clip. Default `PHX_LOOP_REPEAT`.
    pub loop_mode: phx_loop_mode,
    /// Passes over the clip, at least 1; `PHX_NONE` for no end. In a ping-pong, forwards and backwards count as one pass
    /// each; `PHX_LOOP_ONCE` is always one. Default `PHX_NONE`.
    pub repetitions: u32,
    /// What happens after the last pass. Default `PHX_END_HOLD`.
    pub at_end: phx_at_end,
    /// For `PHX_END_FADE_OUT`: seconds of the fade, 0 to 1e9, which ends with the last pass. Default 0.
    pub end_seconds: f32,
    /// Start: seconds for a clip, passes for a blend space; within ±1e9, mapped by the loop mode. Default 0.
    pub time: f64,
    /// Weight to play at, 0 to 1; on additive layers −1 to 1. Default 1.
    pub weight: f32,
    /// Seconds until the weight is reached, 0 to 1e9. Default 0.
    pub fade_in: f32,
    /// Start value of a blend space's parameter, within ±1e9; a clip has none. Default 0, 0.
    pub parameter: phx_parameter,
}

extensible!(
    phx_play_options,
    Self {
        size: size_of::<Self>(),
        speed: 1.0,
        loop_mode: PHX_LOOP_REPEAT,
        repetitions: PHX_NONE,
        at_end: PHX_END_HOLD,
        end_seconds: 0.0,
        time: 0.0,
        weight: 1.0,
        fade_in: 0.0,
        parameter: phx_parameter { x: 0.0, y: 0.0 },
    }
);

impl TryFrom<phx_play_options> for PlayOptions {
    type Error = Error;

    #[inline]
    fn try_from(o: phx_play_options) -> Result<Self, Error> {
        Ok(Self {
            speed: o.speed,
            loop_mode: loop_mode(o.loop_mode)?,
            repetitions: passes(o.repetitions),
            at_end: at_end(o.at_end, o.end_seconds)?,
            time: o.time,
            weight: o.weight,
            fade_in: o.fade_in,
            parameter: o.parameter.into(),
        })
    }
}

/// A number of passes; `None`, without end, for [`PHX_NONE`].
pub(crate) fn passes(number: u32) -> Option<u32> {
    (number != PHX_NONE).then_some(number)
}

/// How a crossfade hides the change.
pub type phx_fade_kind = u32;
/// Both actions play, and their weights change linearly.
pub const PHX_FADE_BLEND: phx_fade_kind = 0;
/// The second action plays alone at once; the offset of the pose that was shown, with its velocity, decays over the fade.
/// One clip is evaluated.
pub const PHX_FADE_INERTIAL: phx_fade_kind = 1;

/// At which time the second action of a crossfade starts.
pub type phx_sync = u32;
/// At its own.
pub const PHX_SYNC_NONE: phx_sync = 0;
/// At the same fraction of its duration as the first.
pub const PHX_SYNC_PHASE: phx_sync = 1;
/// In step with the first between markers of the same names, such as foot contacts.
pub const PHX_SYNC_MARKERS: phx_sync = 2;

/// A crossfade from one action to another. `phx_options_init` with `PHX_CROSS_FADE` sets the defaults, which a null pointer
/// stands for, too.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_cross_fade {
    /// The size of this struct.
    pub size: usize,
    /// Duration of the fade in seconds, 0 to 1e9. Default 0.
    pub seconds: f32,
    /// How the change is hidden. Default `PHX_FADE_BLEND`.
    pub kind: phx_fade_kind,
    /// Nonzero: both speeds change over the fade, from that of the first clip to that of the second, so that strides in
    /// phase stay in phase. Default 0.
    pub warp: u32,
    /// At which time the second action starts. Default `PHX_SYNC_NONE`.
    pub sync: phx_sync,
    /// For `PHX_SYNC_MARKERS`: the names that count; null with a count of 0 for all that both clips have. Default null.
    pub markers: *const phx_text,
    /// The number of names. Default 0.
    pub marker_count: usize,
}

extensible!(
    phx_cross_fade,
    Self {
        size: size_of::<Self>(),
        seconds: 0.0,
        kind: PHX_FADE_BLEND,
        warp: 0,
        sync: PHX_SYNC_NONE,
        markers: null(),
        marker_count: 0,
    }
);

/// Markers that a crossfade names without an allocation.
const FEW: usize = 8;

/// Runs an entry that plays something.
///
/// # Safety
/// The caller's promise.
#[inline]
unsafe fn start(
    crowd: *mut phx_crowd,
    who: phx_instance,
    motion: phx_playable,
    settings: *const phx_play_options,
    act: impl FnOnce(&mut Player<'_>, Playable, &PlayOptions) -> Result<(), CrowdError>,
) -> phx_status {
    // SAFETY: as above.
    unsafe {
        with_player(crowd, who, |player| {
            let settings = PlayOptions::try_from(options(settings)?)?;
            Ok::<_, Error>(act(player, playable(motion)?, &settings)?)
        })
    }
}

/// Plays a clip or a blend space alone on a layer: the others of the layer fade out over `options->fade_in`. What plays
/// already goes on from its time, with the options' speed, loop mode, end and weight; so the call may be made every frame.
/// If the layer is full, the action of the lowest weight is evicted.
///
/// PHX_ERROR_NOT_FOUND: there is no such layer. PHX_ERROR_VALUE: the clip is additive and the layer is not, or the reverse;
/// or a number of the options is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_play(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    options: *const phx_play_options,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        start(crowd, who, playable, options, |p, motion, o| p.play(layer as usize, motion, o))
    }
}

/// Plays a clip or a blend space beside the others of a layer, which do not change. What plays already goes on.
///
/// PHX_ERROR_LIMIT: the layer is full: it plays 4 others. Else as `phx_instance_play`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_add(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    options: *const phx_play_options,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe { start(crowd, who, playable, options, |p, motion, o| p.add(layer as usize, motion, o)) }
}

/// As `phx_instance_play`, but starts at `options->time`, also what plays already.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_restart(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    options: *const phx_play_options,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        start(crowd, who, playable, options, |p, motion, o| p.restart(layer as usize, motion, o))
    }
}

/// As `phx_instance_play`, over `seconds` instead of `options->fade_in`, which must be valid all the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_fade_to(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    seconds: f32,
    options: *const phx_play_options,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        start(crowd, who, playable, options, |p, motion, o| {
            p.fade_to(layer as usize, motion, seconds, o)
        })
    }
}

/// Fades the action of `from` out and stops it, and fades `to` in over the same seconds; other actions of the layer do not
/// change. `PHX_FADE_INERTIAL` stops all others at once. A sync sets the time of `to` even if it plays already.
///
/// PHX_ERROR_NOT_FOUND: there is no such layer, or `from` does not play on it. PHX_ERROR_VALUE: as `phx_instance_play`, or
/// the clips share no markers to be in step by.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_cross_fade(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    from: phx_playable,
    to: phx_playable,
    fade: *const phx_cross_fade,
    options: *const phx_play_options,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_player(crowd, who, |player| {
            let settings = PlayOptions::try_from(crate::border::options(options)?)?;
            let fade = crate::border::options(fade)?;
            let texts = match fade.sync {
                PHX_SYNC_MARKERS => array(fade.markers, fade.marker_count, "the markers")?,
                _ => &[],
            };
            let (mut few, mut many) = ([""; FEW], Vec::new());
            let names = match few.get_mut(..texts.len()) {
                Some(few) => few,
                None => {
                    many.resize(texts.len(), "");
                    &mut many[..]
                }
            };
            for (name, marker) in names.iter_mut().zip(texts) {
                *name = text(marker.data, marker.length, "a marker")?;
            }
            let kinds = [FadeKind::Blend, FadeKind::Inertial];
            let syncs = [Sync::No, Sync::Phase, Sync::Markers(names)];
            let fade = CrossFade {
                seconds: fade.seconds,
                kind: choice("the kind of the fade", fade.kind, &kinds)?,
                warp: fade.warp != 0,
                sync: choice("the sync", fade.sync, &syncs)?,
            };
            let (from, to) = (playable(from)?, playable(to)?);
            Ok::<_, Error>(player.cross_fade(layer as usize, from, to, fade, &settings)?)
        })
    }
}

/// Fades the weight of an action to `weight` over `seconds`, 0 to 1e9; 0 sets it at once. The weight is 0 to 1, on additive
/// layers −1 to 1; at 0 the action goes on.
///
/// PHX_ERROR_NOT_FOUND: it does not play on the layer. PHX_ERROR_VALUE: a number is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_fade(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    weight: f32,
    seconds: f32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_action(crowd, who, playable, |p, motion| {
            p.fade(layer as usize, motion, weight, seconds)
        })
    }
}

/// Fades an action out over `seconds`, 0 to 1e9, and then stops it; 0 stops it at once. The layer `PHX_NONE` is all layers,
/// the playable 0 all actions.
///
/// PHX_ERROR_NOT_FOUND: there is no such layer, or the playable plays on none of those meant. PHX_ERROR_VALUE: the seconds
/// are out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_stop(
    crowd: *mut phx_crowd,
    who: phx_instance,
    layer: u32,
    playable: phx_playable,
    seconds: f32,
) -> phx_status {
    let stop = |player: &mut Player<'_>| {
        let motion = (playable != 0).then(|| crate::convert::playable(playable)).transpose()?;
        match (some(layer), motion) {
            (Some(layer), Some(motion)) => Ok(player.stop(layer, motion, seconds)?),
            (Some(layer), None) => Ok(player.stop_layer(layer, seconds)?),
            (None, Some(motion)) => stop_everywhere(player, motion, seconds),
            (None, None) => Ok(player.stop_all(seconds)?),
        }
    };
    // SAFETY: the caller's promise.
    unsafe { with_player(crowd, who, stop) }
}

/// Stops a motion on all layers. The first layer on which it plays refuses wrong seconds before anything changes.
fn stop_everywhere(player: &mut Player<'_>, motion: Playable, seconds: f32) -> Result<(), Error> {
    let mut found = false;
    for layer in 0..player.playing().layers() {
        if player.playing().actions(layer)?.any(|(playing, _)| playing == motion) {
            player.stop(layer, motion, seconds)?;
            found = true;
        }
    }
    if found {
        return Ok(());
    }
    match player.stop(0, motion, seconds) {
        Err(CrowdError::NotPlaying { name, .. }) => {
            Err(Error::new(PHX_ERROR_NOT_FOUND, format!("{name} plays on no layer")))
        }
        other => Ok(other?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_library() {
        let options = PlayOptions::try_from(phx_play_options::DEFAULT).unwrap();
        assert_eq!(options, PlayOptions::default());
        let phx_cross_fade { seconds, kind, warp, sync, markers, marker_count, .. } =
            phx_cross_fade::DEFAULT;
        let fade = CrossFade::default();
        assert_eq!((seconds, warp != 0), (fade.seconds, fade.warp));
        assert_eq!((fade.kind, fade.sync), (FadeKind::Blend, Sync::No));
        assert_eq!((kind, sync, marker_count), (PHX_FADE_BLEND, PHX_SYNC_NONE, 0));
        assert!(markers.is_null());
    }
}
