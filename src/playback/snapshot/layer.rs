//! The stored form of a layer of an instance and of its actions: their state at the layer's anchor.

use super::super::action::{Action, NO_SPACE};
use super::super::arena::Arena;
use super::super::blend_space::{Members, Space, pace_by};
use super::super::clock::{Clock, LONGEST_WAIT, Wait};
use super::super::entries::Stored;
use super::super::error::PlaybackError;
use super::super::ids::{NO_CLIP, Source};
use super::super::interval::Playhead;
use super::super::layer_state::{ACTIONS_PER_LAYER, LayerState};
use super::super::linear_fade::LinearFade;
use super::super::options::MAX_SPEED;
use super::super::options::MAX_TIME;
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
        let pace = pace_by(action, |clip| f64::from(self.duration(clip)));
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
        w.flags(action.flags());
        w.flags([action.rate != 0.0, action.weight.running(), warp.is_some()]);
        w.u16(action.clip);
        w.u16(action.other);
        w.u16(action.space);
        w.f32(action.mix);
        w.u32(action.passes);
        w.f64(playhead.pass);
        w.f64(playhead.time);
        w.f32(action.speed);
        write_fade(w, &action.weight);
        if let Some(warp) = warp {
            write_fade(w, warp);
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
    let flags: [bool; 6] = r.flags("flags of an action")?;
    let [moves, fades, warps] = r.flags("flags of an action")?;
    let (clip, other) = (r.u16("clip of an action")?, r.u16("clip of an action")?);
    let space = r.u16("blend space of an action")?;
    let mix = r.f32("share of a clip", 0.0, 1.0)?;
    let members = Members { clip, other, mix };
    let (source, length) = read_source(r, context, members, space)?;
    r.needs(layer.find(source).is_none(), "a layer plays a motion twice")?;
    let passes = r.u32("passes")?;
    let pass = r.f64("pass", f64::MIN, f64::MAX)?;
    let bounded = passes == 0 || (0.0..f64::from(passes)).contains(&pass);
    r.needs(pass.fract() == 0.0 && bounded, "a pass is not one of those")?;
    let time = r.f64("time", 0.0, f64::from(length))?;
    let speed = r.f32("speed of an action", -MAX_SPEED, MAX_SPEED)?;
    let weight = read_fade(r, fades, "weight of an action", context.weights())?;
    let mut action = Action::NOTHING;
    (action.speed, action.weight, action.length) = (speed, weight, length);
    (action.passes, action.space) = (passes, space);
    action.set_members(members);
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
    Ok(())
}

/// The motion of an action, and the length of a pass, if the motion has these clips.
fn read_source(
    r: &Reader<'_>,
    context: &Context<'_>,
    members: Members,
    space: u16,
) -> Result<(Source, f32), PlaybackError> {
    let Members { clip, other, mix } = members;
    let known = context.clips.get(clip);
    let additive = known.is_some_and(|c| c.kind == ClipKind::Additive);
    let fits = known.is_some() && additive == context.layer.additive;
    r.needs(fits, "an action plays a clip that its layer cannot play")?;
    if space == NO_SPACE {
        r.needs(other == NO_CLIP && mix == 0.0, "a clip has a second one")?;
        return Ok((Source::Clip(clip), context.duration(clip)));
    }
    let points = context.spaces.get(space).map_or(&[][..], |s| &s.points);
    let holds = match mix > 0.0 {
        false => clip == other && points.iter().any(|p| p.clip == clip),
        true => points.windows(2).any(|pair| (pair[0].clip, pair[1].clip) == (clip, other)),
    };
    r.needs(holds, "a blend space does not have the clips of its action")?;
    Ok((Source::Space(space), 1.0))
}
