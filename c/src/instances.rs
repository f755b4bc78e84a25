//! Calls on many characters, by arrays. All is checked before anything changes.

// Arrays come with their counts.
#![allow(clippy::too_many_arguments)]

use crate::border::*;
use crate::convert::*;
use crate::crowd::{CrowdState, phx_crowd};
use crate::instance::{passes, phx_play_options, phx_shown};
use crate::types::*;
use phalanx::crowd::{
    BlendSpaceId, Crowd, CrowdError, InstanceId, MAX_INSTANCES, PlayOptions, Playable, Player,
};
use phalanx::playback::MAX_SPEED;
use std::cell::Cell;
use std::cmp::Ordering;

/// Arrays of a call, converted.
#[derive(Default)]
struct Scratch {
    playables: Vec<Playable>,
    spaces: Vec<BlendSpaceId>,
    options: Vec<PlayOptions>,
    flags: Vec<bool>,
}

impl Scratch {
    /// Converts flags, of which any byte but 0 is set.
    fn flag(&mut self, bytes: &[u8]) {
        self.flags.clear();
        self.flags.extend(bytes.iter().map(|&byte| byte != 0));
    }
}

thread_local! {
    /// Kept by a thread, so that calls of the same lengths do not allocate.
    static SCRATCH: Cell<Scratch> = const {
        Cell::new(Scratch {
            playables: Vec::new(),
            spaces: Vec::new(),
            options: Vec::new(),
            flags: Vec::new(),
        })
    };
}

/// Runs an entry that changes many characters, with this thread's scratch.
///
/// # Safety
/// The caller's promise.
unsafe fn with_instances(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    act: impl FnOnce(&mut Crowd, &[InstanceId], &mut Scratch) -> Result<(), Error>,
) -> phx_status {
    entry(|| {
        // SAFETY: as above.
        let (mut state, who) = unsafe { (lend(crowd)?, array(who, count, "the instances")?) };
        let CrowdState { crowd, ids, .. } = &mut *state;
        crate::convert::ids(who, ids, instance)?;
        scratch(&SCRATCH, |scratch| act(crowd, ids, scratch))
    })
}

/// The caller's array of playables, converted.
///
/// # Safety
/// The caller's promise.
unsafe fn motions(
    data: *const phx_playable,
    count: usize,
    into: &mut Vec<Playable>,
) -> Result<&[Playable], Error> {
    // SAFETY: as above.
    ids(unsafe { array(data, count, "the playables") }?, into, playable)?;
    Ok(into)
}

/// The caller's array of options, converted: each has the size that the first one states. Null is the defaults for all.
///
/// # Safety
/// The caller's promise.
unsafe fn settings(
    data: *const phx_play_options,
    count: usize,
    into: &mut Vec<PlayOptions>,
) -> Result<&[PlayOptions], Error> {
    into.clear();
    match (data.is_null(), count) {
        (true, 0) => into.push(PlayOptions::default()),
        (true, _) => return Err(Error::new(PHX_ERROR_NULL, "the options are null")),
        _ => into.reserve(count.min(MAX_INSTANCES)),
    }
    let mut stride = 0;
    for i in 0..count {
        let mut read = || {
            // SAFETY: as above; the first one's size was checked before it is a stride.
            let one = unsafe { options(data.wrapping_byte_add(i.wrapping_mul(stride))) }?;
            if i > 0 && one.size != stride {
                let size = one.size;
                let message = format!("the options have {size} bytes, the first ones {stride}");
                return Err(Error::new(PHX_ERROR_STRUCT_SIZE, message));
            }
            stride = one.size;
            PlayOptions::try_from(one)
        };
        into.push(read().map_err(of_element("element", i))?);
    }
    Ok(into)
}

/// The caller's array of one value for each character.
///
/// # Safety
/// The caller's promise. Any bytes must be a `T`.
unsafe fn one_each<'a, T>(
    data: *const T,
    count: usize,
    who: &[InstanceId],
    what: &str,
) -> Result<&'a [T], Error> {
    // SAFETY: as above.
    let values = unsafe { array(data, count, what) }?;
    let status = match count.cmp(&who.len()) {
        Ordering::Equal => return Ok(values),
        Ordering::Less => PHX_ERROR_SHORT,
        Ordering::Greater => PHX_ERROR_VALUE,
    };
    Err(Error::new(status, format!("{what}: {count} for {} characters", who.len())))
}

/// One value for all characters, or one each, without end.
fn of_each<'a, T: Copy>(
    what: &'static str,
    values: &'a [T],
    who: &[InstanceId],
) -> Result<impl Iterator<Item = T> + Clone + use<'a, T>, CrowdError> {
    let (values, instances) = (values.iter().copied(), who.len());
    if values.len() != 1 && values.len() != instances {
        return Err(CrowdError::Lengths { what, values: values.len(), instances });
    }
    Ok(values.cycle())
}

/// Sets a value of actions of a layer. All is checked first: that the actions play, then the values.
fn set_each<T: Copy>(
    (crowd, who): (&mut Crowd, &[InstanceId]),
    (layer, motions): (u32, &[Playable]),
    (what, values): (&'static str, &[T]),
    check: impl Fn(T) -> Result<(), CrowdError>,
    set: impl Fn(&mut Player<'_>, usize, Playable, T) -> Result<(), CrowdError>,
) -> Result<(), Error> {
    let layer = layer as usize;
    let motions = of_each("motions", motions, who)?;
    let values = of_each(what, values, who)?;
    let all = || who.iter().zip(motions.clone()).zip(values.clone());
    for (element, ((&who, motion), value)) in all().enumerate() {
        let playing = crowd.playing(who).and_then(|playing| playing.action(layer, motion));
        playing.and_then(|_| check(value)).map_err(|source| {
            let source = Box::new(source);
            CrowdError::Element { element, source }
        })?;
    }
    for ((&who, motion), value) in all() {
        set(&mut crowd.player(who)?, layer, motion, value)?;
    }
    Ok(())
}

/// Checks a number as the library does.
fn within(what: &'static str, value: f64, low: f64, high: f64) -> Result<(), CrowdError> {
    if value >= low && value <= high {
        return Ok(());
    }
    Err(CrowdError::Value { what, value, low, high })
}

/// `phx_instance_play` for many characters: a playable and options for all, or one each; options null with a count of 0 are
/// the defaults.
///
/// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
/// that is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_play(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    layer: u32,
    playables: *const phx_playable,
    playable_count: usize,
    options: *const phx_play_options,
    option_count: usize,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_instances(crowd, who, count, |crowd, who, scratch| {
            let playables = motions(playables, playable_count, &mut scratch.playables)?;
            let options = settings(options, option_count, &mut scratch.options)?;
            Ok(crowd.play_many(who, layer as usize, playables, options)?)
        })
    }
}

/// `phx_instance_fade` for many characters: a playable, a weight and seconds for all, or one each.
///
/// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
/// that is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_fade(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    layer: u32,
    playables: *const phx_playable,
    playable_count: usize,
    weights: *const f32,
    weight_count: usize,
    seconds: *const f32,
    second_count: usize,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_instances(crowd, who, count, |crowd, who, scratch| {
            let playables = motions(playables, playable_count, &mut scratch.playables)?;
            let weights = array(weights, weight_count, "the weights")?;
            let seconds = array(seconds, second_count, "the seconds")?;
            Ok(crowd.fade_many(who, layer as usize, playables, weights, seconds)?)
        })
    }
}

/// `phx_instance_set_speed` for many characters: a playable and a speed for all, or one each.
///
/// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
/// that is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_speeds(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    layer: u32,
    playables: *const phx_playable,
    playable_count: usize,
    speeds: *const f32,
    speed_count: usize,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_instances(crowd, who, count, |crowd, who, scratch| {
            let playables = motions(playables, playable_count, &mut scratch.playables)?;
            let speeds = array(speeds, speed_count, "the speeds")?;
            let check = |speed: f32| within("speed", speed.into(), -MAX_SPEED, MAX_SPEED);
            let set = |player: &mut Player<'_>, layer, motion, speed| {
                player.set_speed(layer, motion, speed)
            };
            set_each((crowd, who), (layer, playables), ("speeds", speeds), check, set)
        })
    }
}

/// `phx_instance_set_loop` for many characters: a playable for all, or one each; a mode and a number of passes for all.
///
/// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
/// that is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_loops(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    layer: u32,
    playables: *const phx_playable,
    playable_count: usize,
    mode: phx_loop_mode,
    repetitions: u32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_instances(crowd, who, count, |crowd, who, scratch| {
            let playables = motions(playables, playable_count, &mut scratch.playables)?;
            let mode = loop_mode(mode)?;
            let passes = [passes(repetitions)];
            let check = |passes: Option<u32>| {
                within("repetitions", passes.map_or(1.0, f64::from), 1.0, u32::MAX.into())
            };
            let set = |player: &mut Player<'_>, layer, motion, passes| {
                player.set_loop(layer, motion, mode, passes)
            };
            set_each((crowd, who), (layer, playables), ("repetitions", &passes), check, set)
        })
    }
}

/// `phx_instance_set_time` for many characters: a playable and a time for all, or one each.
///
/// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
/// that is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_times(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    layer: u32,
    playables: *const phx_playable,
    playable_count: usize,
    times: *const f64,
    time_count: usize,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_instances(crowd, who, count, |crowd, who, scratch| {
            let playables = motions(playables, playable_count, &mut scratch.playables)?;
            let times = array(times, time_count, "the times")?;
            Ok(crowd.set_times(who, layer as usize, playables, times)?)
        })
    }
}

/// `phx_instance_set_parameter` for many characters: a blend space and a parameter for all, or one each.
///
/// PHX_ERROR_VALUE: a count is neither 1 nor that of the characters. Else as for one character; the message names the first
/// that is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_parameters(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    layer: u32,
    spaces: *const phx_space_id,
    space_count: usize,
    parameters: *const phx_parameter,
    parameter_count: usize,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_instances(crowd, who, count, |crowd, who, scratch| {
            let spaces = array(spaces, space_count, "the blend spaces")?;
            ids(spaces, &mut scratch.spaces, space_id)?;
            let parameters = array(parameters, parameter_count, "the parameters")?;
            Ok(crowd.set_parameters(who, layer as usize, &scratch.spaces, parameters)?)
        })
    }
}

/// Sets the world transforms of many characters: one each. With `teleport` nonzero they are elsewhere at once, and their
/// springs start at rest.
///
/// PHX_ERROR_SHORT: there are fewer transforms than characters. PHX_ERROR_VALUE: there are more, or a number is not finite
/// or beyond ±1e15; the message names the first that is refused.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_worlds(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    worlds: *const phx_matrix,
    world_count: usize,
    teleport: u32,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_instances(crowd, who, count, |crowd, who, _| {
            let worlds = rows(one_each(worlds, world_count, who, "the transforms")?);
            let set = if teleport == 0 { Crowd::set_worlds } else { Crowd::teleport_many };
            Ok(set(crowd, who, worlds)?)
        })
    }
}

/// Shows or hides characters: a byte each, nonzero to show it. A hidden one goes on in time, is not evaluated and has no
/// palette.
///
/// PHX_ERROR_SHORT: there are fewer bytes than characters. PHX_ERROR_VALUE: there are more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_visible(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    visible: *const u8,
    visible_count: usize,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_instances(crowd, who, count, |crowd, who, scratch| {
            scratch.flag(one_each(visible, visible_count, who, "the flags")?);
            Ok(crowd.set_visible_many(who, &scratch.flags)?)
        })
    }
}

/// Sets which characters the next frames evaluate: a byte each, nonzero to evaluate it. The others keep their palettes,
/// which costs nothing; their time, events and root motion go on. One without a palette is evaluated in any case.
///
/// PHX_ERROR_SHORT: there are fewer bytes than characters. PHX_ERROR_VALUE: there are more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_set_scheduled(
    crowd: *mut phx_crowd,
    who: *const phx_instance,
    count: usize,
    scheduled: *const u8,
    scheduled_count: usize,
) -> phx_status {
    // SAFETY: the caller's promise.
    unsafe {
        with_instances(crowd, who, count, |crowd, who, scratch| {
            scratch.flag(one_each(scheduled, scheduled_count, who, "the flags")?);
            Ok(crowd.set_scheduled_many(who, &scratch.flags)?)
        })
    }
}

/// The output of `phx_instances_shown` in messages.
const OUT: &str = "the place of what is shown";

/// What the last frame shows of many characters: one each. It holds until the next frame. After a frame
/// that was refused with PHX_ERROR_SHORT it is of that one, whose rows are nowhere, until the next frame is written.
///
/// PHX_ERROR_SHORT: there is room for fewer than `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instances_shown(
    crowd: *const phx_crowd,
    who: *const phx_instance,
    count: usize,
    out: *mut phx_shown,
    out_count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, who, out) = unsafe {
            let who = array(who, count, "the instances")?;
            (share(crowd)?, who, array_mut(out, out_count, OUT)?)
        };
        let out = out.get_mut(..count).ok_or_else(|| Error::short(OUT, out_count, count))?;
        let known = |bits| Ok(state.crowd.playing(instance(bits)?).map(|_| ())?);
        for (i, &bits) in who.iter().enumerate() {
            known(bits).map_err(of_element("element", i))?;
        }
        for (place, &bits) in out.iter_mut().zip(who) {
            *place = phx_shown::of(&state.crowd, instance(bits)?);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
