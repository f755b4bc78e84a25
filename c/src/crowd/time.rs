//! Time, what a step leaves: events and root motion, and snapshots.

use super::*;
use phalanx::crowd::{CrowdSnapshot, Event, EventKind};
use phalanx::glam::{Quat, Vec3};

/// Advances all characters by `seconds`: their times, and their fades by the absolute value. It replaces the events and
/// the root motion of the last step. It runs on the crowd's threads.
///
/// PHX_ERROR_VALUE: the seconds are not finite, or beyond 1,000,000,000.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_advance(crowd: *mut phx_crowd, seconds: f64) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let mut state = unsafe { lend(crowd) }?;
        let CrowdState { crowd, pool, events, .. } = &mut *state;
        on_pool(pool, || crowd.advance(seconds))?;
        events.clear();
        events.extend(crowd.events().iter().map(phx_event::of));
        Ok(())
    })
}

/// What an event is about.
pub type phx_event_kind = u32;
/// A marker of a clip was passed.
pub const PHX_EVENT_MARKER: phx_event_kind = 0;
/// A pass over a clip ended and another began.
pub const PHX_EVENT_LOOPED: phx_event_kind = 1;
/// The last pass ended.
pub const PHX_EVENT_FINISHED: phx_event_kind = 2;
/// The action left its layer in the step: its fade-out ended, or its last pass if it stops there.
pub const PHX_EVENT_STOPPED: phx_event_kind = 3;

/// An event of an action.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_event {
    /// The character.
    pub instance: phx_instance,
    /// The clip; of a blend space the one with the marker, for other kinds the one of the greatest weight.
    pub clip: phx_clip_id,
    /// The layer of the action.
    pub layer: u32,
    /// What happened.
    pub kind: phx_event_kind,
    /// The index of the marker, for `phx_clip_marker`; 0 for other kinds.
    pub marker: u32,
    /// Clip time, in seconds.
    pub time: f32,
    /// The weight of the clip in the pose when the step began.
    pub weight: f32,
    /// 1 if the clip had the greatest weight of its layer's clips with markers, else 0. So of clips that play in step, one
    /// leads: play a footstep's sound for it alone.
    pub leading: u32,
}

impl phx_event {
    fn of(event: &Event) -> Self {
        let kind = match event.kind {
            EventKind::Marker => PHX_EVENT_MARKER,
            EventKind::Looped => PHX_EVENT_LOOPED,
            EventKind::Finished => PHX_EVENT_FINISHED,
            EventKind::Stopped => PHX_EVENT_STOPPED,
        };
        Self {
            instance: event.instance.to_bits(),
            clip: event.clip.to_bits(),
            layer: event.layer.into(),
            kind,
            marker: event.marker.into(),
            time: event.time,
            weight: event.weight,
            leading: event.leading.into(),
        }
    }
}

/// The events of the last step, by the order of `phx_crowd_instances`, then by layer, then by age of the action, oldest
/// first, then by time. They stay until the next `phx_crowd_advance` or `phx_crowd_restore`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_events(
    crowd: *const phx_crowd,
    out: *mut *const phx_event,
    count: *mut usize,
) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { put_view(&share(crowd)?.events, out, count) })
}

/// The movements of a rig's characters in the last step, each in the space of its root before the step.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_root_motion {
    /// The size of this struct.
    pub size: usize,
    /// The characters that play clips with root motion.
    pub instances: *const phx_instance,
    /// x, y, z for each, in units of the model.
    pub translations: *const f32,
    /// A unit quaternion x, y, z, w for each.
    pub rotations: *const f32,
    /// The number of characters.
    pub count: usize,
}

extensible!(
    phx_root_motion,
    Self {
        size: size_of::<Self>(),
        instances: null(),
        translations: null(),
        rotations: null(),
        count: 0,
    }
);

/// The movements of a rig's characters in the last step. The arrays stay until the next call of this function,
/// `phx_crowd_advance`, `phx_crowd_restore` or `phx_crowd_remove_rig`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_root_motion(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    out: *mut phx_root_motion,
) -> phx_status {
    // So many numbers per element, without others between.
    const { assert!(size_of::<Vec3>() == 12 && size_of::<Quat>() == 16) };
    entry(|| {
        let rig = convert::rig_id(rig)?;
        // SAFETY: the caller's promise.
        let mut state = unsafe { lend(crowd) }?;
        // SAFETY: the caller's promise.
        unsafe { fillable(out) }?;
        let CrowdState { crowd, moved, .. } = &mut *state;
        let moves = crowd.root_motion(rig)?;
        moved.clear();
        moved.extend(moves.instances.iter().map(|id| id.to_bits()));
        let motion = phx_root_motion {
            size: 0,
            instances: moved.as_ptr(),
            translations: moves.translations.as_ptr().cast(),
            rotations: moves.rotations.as_ptr().cast(),
            count: moved.len(),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, motion) }
    })
}

/// Takes a snapshot: what plays with times, weights and fades, transforms, overrides, targets and ids. Of rigs and clips
/// it has hashes. The bytes stay until the next call of this function or `phx_crowd_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_snapshot(
    crowd: *mut phx_crowd,
    data: *mut *const u8,
    size: *mut usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, data, size) = unsafe {
            (lend(crowd)?, output(data, "the snapshot's place")?, output(size, "the size's place")?)
        };
        state.snapshot = state.crowd.snapshot().to_bytes();
        data.write(state.snapshot.as_ptr());
        size.write(state.snapshot.len());
        Ok(())
    })
}

/// Restores a snapshot, which may come from anywhere. The same calls then give the same playback, events and ids, every
/// time. Of another crowd that the same calls have built, this one takes over the tag, so that its ids are valid here,
/// and ids that this one gave before are stale: keep the ids with the snapshot. Characters that were spawned after the
/// snapshot are gone; clips and blend spaces that were added after it stay. There are no events until the next step.
///
/// PHX_ERROR_DATA: the bytes are no snapshot, or the crowd's rigs, clips, blend spaces or modifiers are others.
/// PHX_ERROR_VERSION: they are a snapshot of another version of the library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_restore(
    crowd: *mut phx_crowd,
    data: *const u8,
    size: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, data) = unsafe { (lend(crowd)?, bytes(data, size, "the snapshot")?) };
        let snapshot = CrowdSnapshot::from_bytes(data)?;
        state.crowd.restore(&snapshot)?;
        state.events.clear();
        Ok(())
    })
}
