//! The stored form of a layer of an instance and of its actions: their state at the layer's anchor.

use super::super::action::Action;
use super::super::arena::Arena;
use super::super::blend_space::Parameter;
use super::super::blend_space::space::{ONE, Place, Space, pace_by};
use super::super::blend_space::steer::{Extra, Steer};
use super::super::clock::{Clock, LONGEST_WAIT, Wait};
use super::super::entries::Stored;
use super::super::error::PlaybackError;
use super::super::ids::Source;
use super::super::interval::Playhead;
use super::super::layer_state::{ACTIONS_PER_LAYER, LayerState};
use super::super::linear_fade::LinearFade;
use super::super::options::{MAX_PARAMETER, MAX_SPEED, MAX_TIME};
use super::super::state::stands_still;
use super::bytes::{Reader, Writer};
use super::identity::{ClipIdentity, LayerIdentity};
use super::offset;
use crate::clip::ClipKind;
use crate::evaluate::Offsets;

/// The parts of a snapshot that a layer refers to.
#[derive(Clone, Copy)]
pub(in crate::playback) struct Context<'a> {
    pub clips: &'a Arena<ClipIdentity>,
    pub spaces: &'a Arena<Space>,
    pub clock: Clock,
    /// Speed of the instance.
    pub speed: f32,
    pub layer: LayerIdentity,
}

impl Context<'_> {
    fn duration(&self, clip: u16) -> f32 {
        self.clips.get(clip).map_or(0.0, |c| c.duration)
    }

    /// The change of an action's time per second of the clock, if it moves.
    fn rate(&self, action: &Action, layer: &LayerState) -> f64 {
        let factor = f64::from(self.speed) * f64::from(layer.speed);
        let pace = pace_by(self.spaces, action, |clip| f64::from(self.duration(clip)));
        self.clock.sign() * factor * (f64::from(action.speed()) * pace)
    }

    /// The range of weights that the layer allows.
    fn weights(&self) -> (f64, f64) {
        (if self.layer.additive { -1.0 } else { 0.0 }, 1.0)
    }
}

pub(in crate::playback) fn write_fade(w: &mut Writer, fade: &LinearFade) {
    match fade.parts() {
        None => w.f32(fade.end()),
        Some((from, to, total, left)) => {
            w.f32(from);
            w.f32(to);
            w.f64(total);
            w.f64(left);
        }
    }
}

pub(in crate::playback) fn read_fade(
    r: &mut Reader<'_>,
    runs: bool,
    what: &'static str,
    (low, high): (f64, f64),
) -> Result<LinearFade, PlaybackError> {
    let from = r.f32(what, low, high)?;
    if !runs {
        return Ok(LinearFade::still(from));
    }
    let to = r.f32(what, low, high)?;
    let total = r.f64("seconds of a fade", f64::MIN_POSITIVE, MAX_TIME)?;
    let left = r.f64("seconds left of a fade", f64::MIN_POSITIVE, total)?;
    Ok(LinearFade::of_parts((from, to, total, left)))
}

pub(in crate::playback) fn write(
    w: &mut Writer,
    (layer, anchor, wait): &Stored,
    clock: Clock,
    offsets: &Offsets,
) {
    w.u64(anchor.ticks_to(clock.now()));
    // Only whether there is a wait is stored; its length follows from the rest.
    w.flags([layer.weight.running(), *wait != Wait::NONE, layer.offset.is_some()]);
    write_fade(w, &layer.weight);
    w.f32(layer.speed);
    w.u8(layer.len() as u8);
    for (a, action) in layer.actions().iter().enumerate() {
        let (warp, playhead) = (layer.warp(a), action.playhead());
        let Extra { steer, fade_out, .. } = *layer.extra(a);
        w.flags(action.flags());
        let (moves, fades) = (action.rate != 0.0, action.weight.running());
        let extras = (steer.running(), fade_out > 0.0, action.in_phases());
        w.flags([moves, fades, warp.is_some(), extras.0, extras.1, extras.2]);
        let (Source::Clip(motion) | Source::Space(motion)) = action.source();
        w.u16(motion);
        if action.in_phases() {
            let Place { cell, shares } = action.place();
            w.u16(cell);
            shares.iter().for_each(|&share| w.u32(share));
        }
        w.u32(action.passes);
        w.f64(playhead.pass);
        w.f64(playhead.time);
        w.f32(action.speed);
        write_fade(w, &action.weight);
        if let Some(warp) = warp {
            write_fade(w, warp);
        }
        if steer.running() {
            for Parameter { x, y } in [steer.from, steer.push, steer.to] {
                w.f32(x);
                w.f32(y);
            }
            w.f64(steer.total);
            w.f64(steer.left);
        }
        if fade_out > 0.0 {
            w.f32(fade_out);
        }
    }
    if let Some(by) = &layer.offset {
        offset::write(w, by, offsets);
    }
}

pub(in crate::playback) fn read(
    r: &mut Reader<'_>,
    context: &Context<'_>,
    offsets: &mut Offsets,
) -> Result<Stored, PlaybackError> {
    let most = LONGEST_WAIT as u64;
    let elapsed = r.up_to("ticks since a layer changed", most)?;
    let [runs, stands, has_offset] = r.flags("flags of a layer")?;
    let weight = read_fade(r, runs, "weight of a layer", context.weights())?;
    let speed = r.f32("speed of a layer", -MAX_SPEED, MAX_SPEED)?;
    let mut layer = LayerState::new(weight, speed);
    let count = r.u8("actions of a layer")?;
    r.limit("actions of a layer", count.into(), ACTIONS_PER_LAYER as u64)?;
    for _ in 0..count {
        read_action(r, context, &mut layer)?;
    }
    if has_offset {
        let fits = count > 0 && !context.layer.additive;
        r.needs(fits, "a layer has an offset of nothing")?;
        layer.offset = Some(offset::read(r, offsets)?);
    }
    // Both numbers are at most 2^61.
    let anchor = context.clock.now().later(-(elapsed as i64));
    if !stands {
        return Ok((layer, anchor, Wait::NONE));
    }
    let still = stands_still(context.speed);
    let wait = Wait::of(layer.steady());
    // No wait has ended: each step visits the entries whose wait ends in it.
    let within = elapsed < wait.ticks() as u64 || still && elapsed == 0;
    r.needs(within, "a layer stands still for too long")?;
    if still {
        r.needs(elapsed == 0, "a character stands still and ages")?;
        return Ok((layer, anchor, Wait::of(f64::INFINITY)));
    }
    Ok((layer, anchor, wait))
}

fn read_action(
    r: &mut Reader<'_>,
    context: &Context<'_>,
    layer: &mut LayerState,
) -> Result<(), PlaybackError> {
    let flags: [bool; 7] = r.flags("flags of an action")?;
    let [moves, fades, warps, steers, fades_out, in_space] = r.flags("flags of an action")?;
    let (source, place, length) = read_source(r, context, in_space)?;
    r.needs(layer.find(source).is_none(), "a layer plays a motion twice")?;
    let passes = r.u32("passes")?;
    let pass = r.f64("pass", f64::MIN, f64::MAX)?;
    let bounded = passes == 0 || (0.0..f64::from(passes)).contains(&pass);
    r.needs(pass.fract() == 0.0 && bounded, "a pass is not one of those")?;
    let time = r.f64("time", 0.0, f64::from(length))?;
    let speed = r.f32("speed of an action", -MAX_SPEED, MAX_SPEED)?;
    let weight = read_fade(r, fades, "weight of an action", context.weights())?;
    let mut action = Action::of(source, length);
    (action.speed, action.weight, action.passes) = (speed, weight, passes);
    action.set_place(place);
    action.restore(flags, Playhead { pass, time });
    if moves {
        action.rate = context.rate(&action, layer);
        r.needs(action.rate != 0.0, "an action moves at no speed")?;
    }
    let (a, _) = layer.push(action);
    if warps {
        let warp = read_fade(r, true, "speed of a warp", (-MAX_SPEED, MAX_SPEED))?;
        layer.set_warp(a, warp);
    }
    if steers {
        r.needs(action.in_phases(), "a clip has a parameter")?;
        layer.moving(a).1.steer = read_steer(r)?;
    }
    if fades_out {
        r.needs(action.stops_at_end(), "an action fades out and does not stop")?;
        let seconds = r.f32("seconds of a fade", f64::from(f32::MIN_POSITIVE), MAX_TIME)?;
        layer.moving(a).1.fade_out = seconds;
    }
    Ok(())
}

fn read_steer(r: &mut Reader<'_>) -> Result<Steer, PlaybackError> {
    let mut read = || {
        let [x, y] =
            [(); 2].map(|()| r.f32("value of a blend space", -MAX_PARAMETER, MAX_PARAMETER));
        Ok::<_, PlaybackError>(Parameter { x: x?, y: y? })
    };
    let (from, push, to) = (read()?, read()?, read()?);
    let total = r.f64("seconds of a parameter", f64::MIN_POSITIVE, MAX_TIME)?;
    let left = r.f64("seconds left of a parameter", f64::MIN_POSITIVE, total)?;
    Ok(Steer { from, push, to, total, left })
}

fn read_share(r: &mut Reader<'_>) -> Result<u32, PlaybackError> {
    let share = r.u32("share of a clip")?;
    r.limit("share of a clip", share.into(), ONE.into())?;
    Ok(share)
}

/// The motion of an action, its place in a blend space, and the length of a pass.
fn read_source(
    r: &mut Reader<'_>,
    context: &Context<'_>,
    in_space: bool,
) -> Result<(Source, Place, f32), PlaybackError> {
    let motion = r.u16("motion of an action")?;
    let mut read = (Source::Clip(motion), Place::default(), context.duration(motion));
    // All clips of a blend space are of one kind.
    let mut clip = Some(motion);
    if in_space {
        let cell = r.u16("cell of a blend space")?;
        let place = Place { cell, shares: [read_share(r)?, read_share(r)?] };
        let space = context.spaces.get(motion);
        let has = space.is_some_and(|space| space.has(place));
        r.needs(has, "a blend space does not have the place of its action")?;
        clip = space.and_then(|space| space.points().first()).map(|point| point.clip);
        read = (Source::Space(motion), place, 1.0);
    }
    let known = clip.and_then(|clip| context.clips.get(clip));
    let additive = known.is_some_and(|c| c.kind == ClipKind::Additive);
    let fits = known.is_some() && additive == context.layer.additive;
    r.needs(fits, "an action plays a clip that its layer cannot play")?;
    Ok(read)
}
