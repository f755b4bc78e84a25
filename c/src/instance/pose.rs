//! Reading poses of one character. Each call evaluates it, at about the cost of its part of a frame; the arrays of many
//! characters are in `modifiers.rs`.

use super::list;
use crate::border::*;
use crate::convert::*;
use crate::crowd::phx_crowd;
use crate::types::*;
use std::cell::Cell;

/// Where a character's meshes are, in model space.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_bounds {
    /// The size of this struct. Set it before the call.
    pub size: usize,
    /// The box around the deformed meshes as they are now, for morph weights from 0 to 1. Empty if the rig draws nothing.
    pub r#box: phx_box,
    /// Center of a sphere that holds the meshes in every pose of what plays.
    pub center: [f32; 3],
    /// Radius of the sphere; below 0 if the rig draws nothing, or no sphere holds it.
    pub radius: f32,
}

extensible!(
    phx_bounds,
    Self {
        size: size_of::<Self>(),
        r#box: phx_box { min: [0.0; 3], max: [0.0; 3] },
        center: [0.0; 3],
        radius: -1.0,
    }
);

/// Reads the bounds of a character. The box is of the present pose, which is evaluated. The sphere is found without: it
/// holds until the character is given other clips, weights or overrides.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_bounds(
    crowd: *const phx_crowd,
    who: phx_instance,
    out: *mut phx_bounds,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let who = instance(who)?;
        let sphere = state.crowd.bounding_sphere(who)?;
        let bounds = phx_bounds {
            size: size_of::<phx_bounds>(),
            r#box: state.crowd.bounds(who)?.into(),
            center: sphere.map_or([0.0; 3], |sphere| sphere.center),
            radius: sphere.map_or(-1.0, |sphere| sphere.radius),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, bounds) }
    })
}

/// The model matrix of a joint as it is now: joint space to model space. The character is evaluated.
///
/// PHX_ERROR_NOT_FOUND: there is no such joint.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_model_matrix(
    crowd: *const phx_crowd,
    who: phx_instance,
    joint: u32,
    out: *mut phx_matrix,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, out) = unsafe { (share(crowd)?, output(out, "the matrix")?) };
        out.write(state.crowd.model_matrix(instance(who)?, joint as usize)?.into());
        Ok(())
    })
}

/// The model matrices of all joints as they are now: joint space to model space. The character is evaluated. `count` is the
/// room of `out`.
///
/// PHX_ERROR_SHORT: the rig has more joints than there is room for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_model_matrices(
    crowd: *const phx_crowd,
    who: phx_instance,
    out: *mut phx_matrix,
    count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, out) = unsafe { (share(crowd)?, array_mut(out, count, "the matrices")?) };
        let who = instance(who)?;
        state.crowd.playing(who)?;
        let needed = state.crowd.rig(who.rig())?.skeleton().len();
        let short = || Error::short("the matrices", count, needed);
        let out = out.get_mut(..needed).ok_or_else(short)?;
        for (place, matrix) in out.iter_mut().zip(state.crowd.model_matrices(who)?) {
            *place = matrix.into();
        }
        Ok(())
    })
}

/// The value of a user channel as it is now: `channel` is its index in the rig. `out` has room for 4 numbers; those beyond
/// the channel's become 0. Scalars are evaluated, joints are not.
///
/// PHX_ERROR_NOT_FOUND: there is no such channel.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_channel(
    crowd: *const phx_crowd,
    who: phx_instance,
    channel: u32,
    out: *mut f32,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, out) = unsafe { (share(crowd)?, output(out.cast::<[f32; 4]>(), "the value")?) };
        let who = instance(who)?;
        state.crowd.playing(who)?;
        let skeleton = state.crowd.rig(who.rig())?.skeleton();
        let channels = skeleton.channels();
        let (index, have) = (channel as usize, channels.len());
        // Names of channels are unique.
        let handle = { channels }.nth(index).and_then(|channel| skeleton.channel(&channel.name));
        let handle = handle.ok_or_else(|| Error::index("user channel", index, have))?;
        let value = state.crowd.channel(who, handle)?;
        let mut four = [0.0; 4];
        four.iter_mut().zip(value.as_slice()).for_each(|(to, from)| *to = *from);
        out.write(four);
        Ok(())
    })
}

thread_local! {
    /// Scalars of a character, kept so that calls do not allocate.
    static SCALARS: Cell<Vec<f32>> = const { Cell::new(Vec::new()) };
}

/// All scalars of a character as they are now, in the rig's order: morph weights, then the numbers of user channels. Joints
/// are not evaluated. `count` gets the number also if there is too little room; with `out` null and a capacity of 0 the call
/// only counts.
///
/// PHX_ERROR_SHORT: the rig has more scalars than there is room for.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_instance_scalars(
    crowd: *const phx_crowd,
    who: phx_instance,
    out: *mut f32,
    capacity: usize,
    count: *mut usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let who = instance(who)?;
        state.crowd.playing(who)?;
        let needed = state.crowd.rig(who.rig())?.skeleton().scalars().len();
        // SAFETY: the caller's promise.
        let room = unsafe { list(out, capacity, count, needed, "the scalars") }?;
        if room.is_empty() {
            return Ok(());
        }
        scratch(&SCALARS, |scalars| {
            scalars.clear();
            state.crowd.scalars(who, scalars)?;
            room.iter_mut().zip(scalars).for_each(|(to, from)| *to = *from);
            Ok(())
        })
    })
}
