//! Clips: what they hold, and clips of arrays.

use crate::border::*;
use crate::convert::small;
use crate::rig::at;
use crate::types::*;
use phalanx::clip::{Clip, ClipKind};
use std::sync::Arc;

mod arrays;
mod make;

pub use arrays::*;
pub use make::*;

/// An animation of one skeleton. It does not change, and crowds share it.
pub struct phx_clip {
    _opaque: [u8; 0],
}

handle!(phx_clip, Arc<Clip>, b"clip", "clip");

/// A handle of a clip that was made.
fn new_clip(clip: Clip) -> *mut phx_clip {
    new(Arc::new(clip))
}

/// Frees a clip's handle. Crowds and rigs that have the clip keep it. Null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_clip_free(clip: *mut phx_clip) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { free(clip) })
}

/// What a clip holds. The views stay until this handle of the clip is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_clip_info {
    /// The size of this struct.
    pub size: usize,
    /// The name; it may be empty.
    pub name: phx_text,
    /// Seconds; 0 for a single pose.
    pub duration: f32,
    /// Flag: the clip holds differences, for additive layers.
    pub additive: u32,
    /// The number of markers, for `phx_clip_marker`.
    pub marker_count: u32,
    /// The number of keys of all timelines.
    pub key_count: u32,
    /// The joint whose travel became root motion; PHX_NONE: the clip has none.
    pub root_joint: u32,
    /// The size in memory.
    pub bytes: u64,
    /// Equal clips have equal numbers.
    pub content_hash: u64,
}

extensible!(phx_clip_info);

/// Tells what a clip holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_clip_describe(
    clip: *const phx_clip,
    out: *mut phx_clip_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let clip = unsafe { share(clip) }?;
        let info = phx_clip_info {
            size: 0,
            name: phx_text::of(clip.name()),
            duration: clip.duration(),
            additive: (clip.kind() == ClipKind::Additive).into(),
            marker_count: small(clip.markers().len()),
            key_count: small(clip.key_count()),
            root_joint: clip.root_motion().map_or(PHX_NONE, |m| m.parts().joint.into()),
            bytes: clip.bytes() as u64,
            content_hash: clip.content_hash(),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// A marker of a clip; they are sorted by time. Its name stays until this handle of the clip is freed.
///
/// PHX_ERROR_NOT_FOUND: there is no marker of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_clip_marker(
    clip: *const phx_clip,
    index: u32,
    out: *mut phx_marker,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (clip, out) = unsafe { (share(clip)?, output(out, "the marker's place")?) };
        let marker = at(clip.markers(), index as usize, "marker")?;
        out.write(phx_marker { name: phx_text::of(&marker.name), time: marker.time });
        Ok(())
    })
}

/// A copy of a clip with these markers in place of its own. `count` of 0 leaves none.
///
/// PHX_ERROR_VALUE: a marker lies outside the clip. PHX_ERROR_LIMIT: more than 65,535 markers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_clip_with_markers(
    clip: *const phx_clip,
    markers: *const phx_marker,
    count: usize,
    out: *mut *mut phx_clip,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (clip, markers, out) = unsafe {
            (share(clip)?, read_markers(markers, count)?, output(out, "the clip's place")?)
        };
        out.write(new_clip(Clip::clone(&clip).with_markers(markers)?));
        Ok(())
    })
}

/// The root motion of a clip between two of its times, seconds, in the space of the root at `from`. `passes` is how
/// often playback goes from the end to the start in between, below 0 in reverse; 0 for clips that play once. Times
/// outside the clip count as its ends.
///
/// PHX_ERROR_STATE: the clip has no root motion. PHX_ERROR_VALUE: a time is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_clip_root_motion(
    clip: *const phx_clip,
    from: f64,
    to: f64,
    passes: i64,
    out: *mut phx_rigid,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (clip, out) = unsafe { (share(clip)?, output(out, "the motion's place")?) };
        if !(from.is_finite() && to.is_finite()) {
            return Err(Error::value(format!("the times are {from} and {to} s")));
        }
        let motion = clip.root_motion().ok_or_else(|| {
            let words = format!("clip \"{}\" has no root motion", clip.name());
            Error::new(PHX_ERROR_STATE, words)
        })?;
        out.write(motion.delta(from, to, passes).into());
        Ok(())
    })
}
