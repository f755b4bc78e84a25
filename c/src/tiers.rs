//! Tiers: how often characters are evaluated, and which share palettes, by their height on screen.

#[cfg(test)]
mod tests;

use crate::border::*;
use crate::convert;
use crate::crowd::on_pool;
use crate::crowd::{CrowdState, phx_crowd};
use crate::types::*;
use phalanx::crowd::{Tier, TierDetail, TierFrame, TierStats, Tiers, View};
use std::ptr::null;

/// A camera: a picture of the frame, or the map of a shadow.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_view {
    /// World space to clip space, projection times view, column by column. Any convention of depth will do.
    pub clip_from_world: [f32; 16],
    /// Height of the picture in pixels, above 0.
    pub height: f32,
    /// Not 0 for the map of a shadow.
    pub shadows: u32,
}

/// How characters of a range of heights on screen are evaluated. `phx_options_init` with PHX_TIER sets the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_tier {
    /// The size of this struct.
    pub size: usize,
    /// The least height on screen, pixels, in [0, 1e6]. Default 0.
    pub height: f32,
    /// Frames from one update to the next: 1, 2, 4, 8 or 16. Default 1.
    pub rate: u32,
    /// Not 0 if rows are interpolated between updates (`phx_shown::factor`); otherwise they are held. Default 0.
    pub interpolate: u32,
    /// The error within which characters share palettes, in units of the model; 0, the default: each has a palette
    /// of its own.
    pub shared_error: f32,
    /// The level of detail whose palettes characters have; `PHX_NONE`: the full rig. A level that a rig lacks counts as
    /// its last. Default `PHX_NONE`.
    pub level: u32,
    /// Names or paths of joints that are at rest though meshes of the level use them, such as fingers. With `PHX_NONE`
    /// the level is 0. Default null: none.
    pub leave_out: *const phx_text,
    /// The number of these names.
    pub leave_out_count: usize,
    /// Not 0 if springs swing. Default 1.
    pub springs: u32,
}

extensible!(
    phx_tier,
    Self {
        size: size_of::<Self>(),
        height: 0.0,
        rate: 1,
        interpolate: 0,
        shared_error: 0.0,
        level: PHX_NONE,
        leave_out: null(),
        leave_out_count: 0,
        springs: 1,
    }
);

/// The tiers of a crowd.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_tiers {
    /// The size of this struct.
    pub size: usize,
    /// The tiers by descending height, at most 16, all with the `size` of the first; below the last height a character is
    /// out of the picture. Default null: those of `phx_tiers_default` for people.
    pub tiers: *const phx_tier,
    /// The number of tiers.
    pub count: usize,
    /// A character changes its tier when its height is beyond the tier's by this share, in [0, 1]. Default 0.1.
    pub hysteresis: f32,
    /// The most frames that a character waits for the budget, at least 1. Default 32.
    pub max_age: u32,
    /// The tier of characters that are seen in maps of shadows only. Default `PHX_NONE`: their height there decides.
    pub shadows: u32,
}

extensible!(
    phx_tiers,
    Self {
        size: size_of::<Self>(),
        tiers: null(),
        count: 0,
        hysteresis: 0.1,
        max_age: 32,
        shadows: PHX_NONE,
    }
);

/// A tier in the last frame.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct phx_tier_stats {
    /// Characters in the tier.
    pub instances: u64,
    /// Those that show a shared palette.
    pub shared: u64,
    /// Those that were evaluated into palettes of their own.
    pub evaluated: u64,
    /// Those that kept the palettes of an earlier frame.
    pub held: u64,
    /// Those that were due and wait for the budget.
    pub waiting: u64,
    /// The largest number of frames since the last update of a palette that is not shared.
    pub oldest: u64,
    /// Nanoseconds of the threads that evaluated the tier's palettes, summed.
    pub nanoseconds: u64,
}

/// The last frame of a crowd with tiers.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_tier_frame {
    /// The size of this struct.
    pub size: usize,
    /// Visible characters that are out of the picture.
    pub out: u64,
    /// Shared palettes that the memory holds.
    pub shared_palettes: u64,
    /// Those that were evaluated in this frame.
    pub shared_evaluated: u64,
    /// Nanoseconds for them.
    pub shared_nanoseconds: u64,
    /// Evaluations beyond the budget, which the frame had to make.
    pub beyond_budget: u64,
}

extensible!(
    phx_tier_frame,
    Self {
        size: size_of::<Self>(),
        out: 0,
        shared_palettes: 0,
        shared_evaluated: 0,
        shared_nanoseconds: 0,
        beyond_budget: 0,
    }
);

/// # Safety
/// The caller's promise of the names.
unsafe fn tier(number: usize, tier: &phx_tier) -> Result<Tier, Error> {
    let rate = tier.rate;
    let rate = u8::try_from(rate).map_err(|_| {
        Error::value(format!(
            "tier {number}: the rate is {rate}, which is none of 1, 2, 4, 8 and 16"
        ))
    })?;
    // SAFETY: as above.
    let names = unsafe { array(tier.leave_out, tier.leave_out_count, "the joints to leave out") }?;
    let mut leave_out = Vec::with_capacity(names.len());
    for name in names {
        // SAFETY: as above.
        leave_out.push(unsafe { text(name.data, name.length, "a joint to leave out") }?.into());
    }
    let level = convert::some(tier.level);
    let detail = (level.is_some() || !leave_out.is_empty())
        .then(|| TierDetail { level: level.unwrap_or(0), leave_out });
    Ok(Tier {
        height: tier.height,
        rate,
        interpolate: tier.interpolate != 0,
        shared_error: (tier.shared_error != 0.0).then_some(tier.shared_error),
        detail,
        springs: tier.springs != 0,
    })
}

/// # Safety
/// The caller's promise of the arrays.
unsafe fn tiers(given: &phx_tiers) -> Result<Tiers, Error> {
    // SAFETY: as above.
    let all = unsafe { sized(given.tiers, given.count, "the tiers of phx_tiers") }?;
    // SAFETY: as above.
    let each = all.iter().enumerate().map(|(number, of)| unsafe { tier(number, of) });
    let each: Vec<Tier> = each.collect::<Result<_, _>>()?;
    let default = Tiers::default();
    Ok(Tiers {
        tiers: if given.tiers.is_null() { default.tiers } else { each },
        hysteresis: given.hysteresis,
        max_age: given.max_age,
        shadows: convert::some(given.shadows),
    })
}

/// Turns tiers on, changes them, or turns them off for null. Times, fades, events and root motion do not depend on
/// tiers. The next frame is written whole. If a tier shares palettes, this call measures the clips that play, and calls
/// that start clips measure them: some milliseconds per minute of a clip, once.
///
/// PHX_ERROR_VALUE: a number is out of range, or the heights do not descend; the message names the tier.
/// PHX_ERROR_STRUCT_SIZE: the library knows no such size, or a tier states another than the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_set_tiers(
    crowd: *mut phx_crowd,
    tiers: *const phx_tiers,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, tiers) = unsafe {
            let tiers = match tiers.is_null() {
                true => None,
                false => Some(self::tiers(&options(tiers)?)?),
            };
            (lend(crowd)?, tiers)
        };
        let CrowdState { crowd, pool, .. } = &mut *state;
        on_pool(pool, || Ok(crowd.set_tiers(tiers)?))
    })
}

/// The default tiers, for models of this size: the longest side of the box around the rest pose, in units of the model,
/// such as 1.8 for people in metres. `out` has room for `capacity` structs of this library's size, which need not state it:
/// the call sets the `size` of each that it writes. `count` is how many there are, also after PHX_ERROR_SHORT. Null `out`
/// with capacity 0 only counts.
///
/// PHX_ERROR_SHORT: there is room for fewer. PHX_ERROR_VALUE: the size is not finite and above 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_tiers_default(
    size: f32,
    out: *mut phx_tier,
    capacity: usize,
    count: *mut usize,
) -> phx_status {
    entry(|| {
        if !(size > 0.0 && size.is_finite()) {
            return Err(Error::value(format!("the size of the model is {size}")));
        }
        let all = Tiers::default().for_size(size).tiers;
        let one = |tier: &Tier| phx_tier {
            size: size_of::<phx_tier>(),
            height: tier.height,
            rate: tier.rate.into(),
            interpolate: tier.interpolate.into(),
            shared_error: tier.shared_error.unwrap_or(0.0),
            level: convert::none(tier.detail.as_ref().map(|detail| detail.level)),
            leave_out: null(),
            leave_out_count: 0,
            springs: tier.springs.into(),
        };
        // SAFETY: the caller's promise.
        unsafe { list(all.iter().map(one), out, capacity, count) }
    })
}

/// Writes a list, as far as it is wanted, and its length.
///
/// # Safety
/// The caller's promise.
unsafe fn list<T>(
    values: impl ExactSizeIterator<Item = T>,
    out: *mut T,
    capacity: usize,
    count: *mut usize,
) -> Result<(), Error> {
    let needed = values.len();
    // SAFETY: as above.
    let (out_all, count) =
        unsafe { (array_mut(out, capacity, "the output")?, output(count, "the count's place")?) };
    count.write(needed);
    if out.is_null() {
        return Ok(());
    }
    let places = out_all.get_mut(..needed);
    let places = places.ok_or_else(|| Error::short("the output", capacity, needed))?;
    places.iter_mut().zip(values).for_each(|(place, value)| *place = value);
    Ok(())
}

/// Sets the cameras of the next frames. A character has the greatest of its heights in the pictures; maps of shadows
/// count for those that no picture gives a tier. With an array of no cameras (not null, 0) nothing is in the picture;
/// null takes all cameras back: without importances all visible characters then are in the picture, as at first.
///
/// PHX_ERROR_STATE: there are no tiers. PHX_ERROR_VALUE: a number is not finite, or a height not above 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_set_views(
    crowd: *mut phx_crowd,
    views: *const phx_view,
    count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, all) = unsafe { (lend(crowd)?, array(views, count, "the views")?) };
        if views.is_null() {
            return Ok(state.crowd.clear_views()?);
        }
        let view = |v: &phx_view| {
            let column = |c: usize| std::array::from_fn(|r| v.clip_from_world[4 * c + r]);
            let clip_from_world = std::array::from_fn(column);
            View { clip_from_world, height: v.height, shadows: v.shadows != 0 }
        };
        Ok(state.crowd.set_views(&all.iter().map(view).collect::<Vec<_>>())?)
    })
}

/// Sets how many palettes a frame evaluates at most; `SIZE_MAX` for all that are due. What a frame must evaluate comes
/// first, whatever the budget is: characters that are new, that a call has changed, or that have waited too long.
///
/// PHX_ERROR_STATE: there are no tiers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_set_budget(
    crowd: *mut phx_crowd,
    palettes: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let mut state = unsafe { lend(crowd) }?;
        Ok(state.crowd.set_budget((palettes != usize::MAX).then_some(palettes))?)
    })
}

/// Sets the importances of a rig's characters in the next frames, by their `phx_instance_info::index`: heights in pixels,
/// at least 0. The greater of it and of the height in the views decides. None (null, 0) takes all back. Importances
/// without views have characters of other rigs out of the picture.
///
/// PHX_ERROR_STATE: there are no tiers. PHX_ERROR_VALUE: an importance is NaN or negative, or the count is neither 0 nor
/// the largest number of characters of the rig that were alive at once; the message names it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_set_importances(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    importances: *const f32,
    count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, all) =
            unsafe { (lend(crowd)?, array(importances, count, "the importances")?) };
        Ok(state.crowd.set_importances(convert::rig_id(rig)?, all)?)
    })
}

/// Counts of the last frame, by tier and in all. `count` is the number of tiers, also after PHX_ERROR_SHORT, and 0 before
/// the first frame. Null `out`
/// with capacity 0 only counts; null `frame` is not wanted.
///
/// PHX_ERROR_STATE: there are no tiers. PHX_ERROR_SHORT: there is room for fewer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_tier_stats(
    crowd: *const phx_crowd,
    out: *mut phx_tier_stats,
    capacity: usize,
    count: *mut usize,
    frame: *mut phx_tier_frame,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let none = || Error::new(PHX_ERROR_STATE, "the crowd has no tiers");
        let last: &TierFrame = state.crowd.tier_stats().ok_or_else(none)?;
        let one = |of: &TierStats| phx_tier_stats {
            instances: of.instances as u64,
            shared: of.shared as u64,
            evaluated: of.evaluated as u64,
            held: of.held as u64,
            waiting: of.waiting as u64,
            oldest: of.oldest.into(),
            nanoseconds: of.nanoseconds,
        };
        let whole = phx_tier_frame {
            out: last.out as u64,
            shared_palettes: last.shared_palettes as u64,
            shared_evaluated: last.shared_evaluated as u64,
            shared_nanoseconds: last.shared_nanoseconds,
            beyond_budget: last.beyond_budget as u64,
            ..Extensible::DEFAULT
        };
        // SAFETY: the caller's promise.
        unsafe {
            if !frame.is_null() {
                // The frame's size is looked at before anything is written.
                fillable(frame.cast_const())?;
            }
            list(last.tiers.iter().map(one), out, capacity, count)?;
            if frame.is_null() { Ok(()) } else { fill(frame, whole) }
        }
    })
}
