//! Calls on one character: `play` starts and ends actions, `settings` changes what plays, `state` and `pose` read.

mod play;
mod pose;
mod settings;
mod state;
#[cfg(test)]
pub(crate) mod tests;

pub use play::*;
pub use pose::*;
pub use settings::*;
pub use state::*;

use crate::border::*;
use crate::convert::*;
use crate::crowd::phx_crowd;
use crate::types::*;
use phalanx::crowd::{CrowdError, Player};

/// Runs an entry that changes what a character plays. It allocates only for an error.
///
/// # Safety
/// The caller's promise of handles.
#[inline]
unsafe fn with_player<E: Into<Error>>(
    crowd: *mut phx_crowd,
    who: phx_instance,
    act: impl FnOnce(&mut Player<'_>) -> Result<(), E>,
) -> phx_status {
    entry(|| {
        // SAFETY: as above.
        let mut state = unsafe { lend(crowd) }?;
        act(&mut state.crowd.player(instance(who)?)?).map_err(Into::into)
    })
}

/// [`with_player`] for an entry on one action.
///
/// # Safety
/// The caller's promise of handles.
#[inline]
unsafe fn with_action(
    crowd: *mut phx_crowd,
    who: phx_instance,
    motion: phx_playable,
    act: impl FnOnce(&mut Player<'_>, phalanx::crowd::Playable) -> Result<(), CrowdError>,
) -> phx_status {
    // SAFETY: as above.
    unsafe { with_player(crowd, who, |player| Ok::<_, Error>(act(player, playable(motion)?)?)) }
}

/// The caller's room for a list of `needed` values: its beginning, or nothing if the list is only counted, with `out` null
/// and no capacity. The count is written in both cases, and also if the room is too short.
///
/// # Safety
/// The caller's promise. Any bytes must be a `T`.
pub(crate) unsafe fn list<'a, T>(
    out: *mut T,
    capacity: usize,
    count: *mut usize,
    needed: usize,
    what: &str,
) -> Result<&'a mut [T], Error> {
    // SAFETY: as above.
    let (room, count) = unsafe { (array_mut(out, capacity, what)?, output(count, "the count")?) };
    count.write(needed);
    if out.is_null() {
        return Ok(&mut []);
    }
    room.get_mut(..needed).ok_or_else(|| Error::short(what, capacity, needed))
}
