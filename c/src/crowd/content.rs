//! The clips and blend spaces of a crowd's rigs.

use super::*;
use crate::clip::phx_clip;
use crate::modifiers::phx_feet;
use phalanx::crowd::{BlendSpace, Feet};
use std::ffi::c_char;

/// Adds a clip to a rig of a crowd: one of another file, or made at run time. The crowd keeps it after `phx_clip_free`.
///
/// PHX_ERROR_DATA: the clip is of another skeleton; the message names the first joint that differs. PHX_ERROR_LIMIT:
/// too many clips, or too much memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_add_clip(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    clip: *const phx_clip,
    out: *mut phx_clip_id,
) -> phx_status {
    entry(|| {
        let rig = convert::rig_id(rig)?;
        // SAFETY: the caller's promise.
        let (mut state, clip, out) =
            unsafe { (lend(crowd)?, share(clip)?.clone(), output(out, "the clip's place")?) };
        out.write(state.crowd.add_clip(rig, clip)?.to_bits());
        Ok(())
    })
}

/// Removes a clip that nothing plays, also one of the rig's file; its id becomes stale.
///
/// PHX_ERROR_STATE: an action plays it, or a blend space has it. `phx_crowd_instances` tells who plays it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_remove_clip(
    crowd: *mut phx_crowd,
    clip: phx_clip_id,
) -> phx_status {
    entry(|| {
        let clip = convert::clip_id(clip)?;
        // SAFETY: the caller's promise.
        let mut state = unsafe { lend(crowd) }?;
        state.crowd.unload_clip(clip)?;
        Ok(())
    })
}

/// A new handle of a clip in a crowd, for `phx_clip_free`. It has the lane order of its rig.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_clip(
    crowd: *const phx_crowd,
    clip: phx_clip_id,
    out: *mut *mut phx_clip,
) -> phx_status {
    entry(|| {
        let clip = convert::clip_id(clip)?;
        // SAFETY: the caller's promise.
        let (state, out) = unsafe { (share(crowd)?, output(out, "the clip's place")?) };
        out.write(new(state.crowd.clip(clip)?.clone()));
        Ok(())
    })
}

/// The first clip of a rig in a crowd with this name.
///
/// PHX_ERROR_NOT_FOUND: there is none; the message names similar ones.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_clip_named(
    crowd: *const phx_crowd,
    rig: phx_rig_id,
    name: *const c_char,
    name_length: usize,
    out: *mut phx_clip_id,
) -> phx_status {
    entry(|| {
        let rig = convert::rig_id(rig)?;
        // SAFETY: the caller's promise.
        let (state, name, out) = unsafe {
            (share(crowd)?, text(name, name_length, "the name")?, output(out, "the clip's place")?)
        };
        out.write(state.crowd.clip_named(rig, name)?.to_bits());
        Ok(())
    })
}

/// A clip of a rig in a crowd by its index: those of the rig's file come first, in the file's order.
///
/// PHX_ERROR_NOT_FOUND: there is none, or it was removed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_clip_at(
    crowd: *const phx_crowd,
    rig: phx_rig_id,
    index: u32,
    out: *mut phx_clip_id,
) -> phx_status {
    entry(|| {
        let rig = convert::rig_id(rig)?;
        // SAFETY: the caller's promise.
        let (state, out) = unsafe { (share(crowd)?, output(out, "the clip's place")?) };
        let name = state.crowd.rig(rig)?.name();
        let clip = state.crowd.clip_by_index(rig, index as usize);
        let none = || {
            let message = format!("the rig \"{name}\" has no clip {index}, or it was removed");
            Error::new(PHX_ERROR_NOT_FOUND, message)
        };
        out.write(clip.ok_or_else(none)?.to_bits());
        Ok(())
    })
}

/// How the clips of a blend space are chosen.
pub type phx_blend_kind = u32;
/// By one parameter: the two neighbours of its value, by linear weights.
pub const PHX_BLEND_LINE: phx_blend_kind = 0;
/// By two parameters: the corners of the triangle of clips that their point lies in.
pub const PHX_BLEND_PLANE: phx_blend_kind = 1;
/// By the speed at which clips travel, in metres per second; the library measures where each lies.
pub const PHX_BLEND_BY_SPEED: phx_blend_kind = 2;
/// By the velocity at which clips travel, x and z in metres per second; the library measures where each lies.
pub const PHX_BLEND_BY_VELOCITY: phx_blend_kind = 3;

/// A clip of a blend space.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_space_point {
    /// The clip.
    pub clip: phx_clip_id,
    /// The parameter at which the clip plays alone. Kinds that measure it do not read it.
    pub at: phx_parameter,
}

/// A blend space: clips in step that a parameter blends, at most three at once.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_space_options {
    /// The size of this struct.
    pub size: usize,
    /// How clips are chosen. Default `PHX_BLEND_LINE`.
    pub kind: phx_blend_kind,
    /// Seconds in which the parameter follows a new value, smoothly. Default 0: at once.
    pub following: f32,
    /// The clips: of a line at ascending parameters, of a plane at least three and not all on one line. Default null.
    pub points: *const phx_space_point,
    /// The number of clips: at least 1, in a plane 3 to 64. Default 0, which is refused.
    pub count: usize,
    /// For kinds that measure, and clips without root motion: a `phx_feet`, or null. Default null: such clips stand.
    pub measured_by: *const phx_feet,
}

extensible!(
    phx_space_options,
    Self {
        size: size_of::<Self>(),
        kind: PHX_BLEND_LINE,
        following: 0.0,
        points: null(),
        count: 0,
        measured_by: null(),
    }
);

/// # Safety
/// The caller's promise of the points and the feet.
unsafe fn space(options: &phx_space_options) -> Result<BlendSpace, Error> {
    // SAFETY: as above.
    let (points, feet) = unsafe {
        (array(options.points, options.count, "the points")?, measured_by(options.measured_by)?)
    };
    let mut clips = Vec::new();
    for (i, point) in points.iter().enumerate() {
        clips.push(convert::clip_id(point.clip).map_err(of_element("point", i))?);
    }
    let at = points.iter().map(|point| point.at).zip(clips.iter().copied());
    let space = match options.kind {
        PHX_BLEND_LINE => BlendSpace::line(&at.map(|(p, clip)| (p.x, clip)).collect::<Vec<_>>()),
        PHX_BLEND_PLANE => {
            BlendSpace::plane(&at.map(|(p, clip)| ([p.x, p.y], clip)).collect::<Vec<_>>())
        }
        PHX_BLEND_BY_SPEED => BlendSpace::by_speed(&clips),
        PHX_BLEND_BY_VELOCITY => BlendSpace::by_velocity(&clips),
        other => return Err(Error::value(format!("the kind of blend space is {other}, beyond 3"))),
    };
    let space = space.following(options.following);
    Ok(match feet {
        Some(feet) => space.measured_by(feet),
        None => space,
    })
}

/// The feet that measure the clips of a space, unless they are null.
///
/// # Safety
/// The caller's promise of the feet.
unsafe fn measured_by(feet: *const phx_feet) -> Result<Option<Feet>, Error> {
    // SAFETY: as above.
    (!feet.is_null()).then(|| unsafe { crate::modifiers::feet(feet) }).transpose()
}

/// Adds a blend space of a rig's clips. Any of its characters can play it, each at a parameter of its own.
///
/// PHX_ERROR_ID: a clip is not of this rig. PHX_ERROR_VALUE: no clips, additive clips beside others, parameters of a line
/// that do not ascend, points of a plane that coincide or lie on one line, a number out of range, or kinds that measure
/// clips that last no time or do not travel. PHX_ERROR_LIMIT: too many clips.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_add_space(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    options: *const phx_space_options,
    out: *mut phx_space_id,
) -> phx_status {
    entry(|| {
        let rig = convert::rig_id(rig)?;
        // SAFETY: the caller's promise.
        let (mut state, space, out) = unsafe {
            (
                lend(crowd)?,
                space(&self::options(options)?)?,
                output(out, "the blend space's place")?,
            )
        };
        out.write(convert::space_bits(state.crowd.add_blend_space(rig, space)?));
        Ok(())
    })
}

/// Removes a blend space that no action plays; its id becomes stale.
///
/// PHX_ERROR_STATE: an action plays it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_remove_space(
    crowd: *mut phx_crowd,
    space: phx_space_id,
) -> phx_status {
    entry(|| {
        let space = convert::space_id(space)?;
        // SAFETY: the caller's promise.
        let mut state = unsafe { lend(crowd) }?;
        Ok(state.crowd.remove_blend_space(space)?)
    })
}

/// The clips of a blend space with their parameters, which some kinds have measured; in ascending order for one
/// parameter. `count` is their number. With `out` null and `capacity` 0, only `count` is written.
///
/// PHX_ERROR_SHORT: there are more than `capacity`; `count` is written, and no point.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_space_points(
    crowd: *const phx_crowd,
    space: phx_space_id,
    out: *mut phx_space_point,
    capacity: usize,
    count: *mut usize,
) -> phx_status {
    entry(|| {
        let space = convert::space_id(space)?;
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let needed = state.crowd.blend_space(space)?.count();
        let points = state
            .crowd
            .blend_space(space)?
            .map(|(at, clip)| phx_space_point { clip: clip.to_bits(), at: at.into() });
        // SAFETY: the caller's promise.
        unsafe { list(points, needed, (out, capacity), count, "the points' place") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_library() {
        // SAFETY: there are no points and no feet.
        let space = unsafe { space(&phx_space_options::DEFAULT) }.unwrap();
        assert_eq!(space, BlendSpace::line(&[]));
    }
}
