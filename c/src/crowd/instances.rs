//! The characters of a crowd.

use super::*;

/// Adds `count` characters of a rig and writes their ids. They are in the rest pose, at the origin, visible, at speed 1.
///
/// PHX_ERROR_LIMIT: a rig has at most 2^20 characters.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_spawn(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    count: usize,
    out: *mut phx_instance,
) -> phx_status {
    entry(|| {
        let rig = convert::rig_id(rig)?;
        // SAFETY: the caller's promise.
        let (mut state, out) =
            unsafe { (lend(crowd)?, array_mut(out, count, "the instances' place")?) };
        let CrowdState { crowd, ids, .. } = &mut *state;
        ids.clear();
        crowd.spawn_many(rig, count, ids)?;
        for (out, id) in out.iter_mut().zip(ids) {
            *out = id.to_bits();
        }
        Ok(())
    })
}

/// Removes characters; their ids become stale.
///
/// PHX_ERROR_ID: an id is unknown, or listed twice; the message has its place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_despawn(
    crowd: *mut phx_crowd,
    instances: *const phx_instance,
    count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, instances) =
            unsafe { (lend(crowd)?, array(instances, count, "the instances")?) };
        let CrowdState { crowd, ids, .. } = &mut *state;
        convert::ids(instances, ids, convert::instance)?;
        Ok(crowd.despawn_many(ids)?)
    })
}

/// The characters that are alive, in the order of rigs, then of indices: all for `playable` 0, else those that play this
/// blend space or this clip, alone or in a blend space. `count` is their number. With `out` null and `capacity` 0, only
/// `count` is written.
///
/// PHX_ERROR_SHORT: there are more than `capacity`; `count` is written, and no id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_instances(
    crowd: *const phx_crowd,
    playable: phx_playable,
    out: *mut phx_instance,
    capacity: usize,
    count: *mut usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let (crowd, room, what) = (&state.crowd, (out, capacity), "the instances' place");
        if playable == 0 {
            let ids = crowd.instances().map(InstanceId::to_bits);
            // SAFETY: the caller's promise.
            return unsafe { list(ids, crowd.instance_count(), room, count, what) };
        }
        let playable = convert::playable(playable)?;
        let needed = crowd.instances_playing(playable)?.count();
        let ids = crowd.instances_playing(playable)?.map(InstanceId::to_bits);
        // SAFETY: the caller's promise.
        unsafe { list(ids, needed, room, count, what) }
    })
}
