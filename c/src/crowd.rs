//! Crowds: rigs, clips, blend spaces, characters, time, events, root motion, snapshots.

mod content;
mod instances;
mod time;

pub use self::{content::*, instances::*, time::*};

use crate::border::*;
use crate::convert::{self, choice};
use crate::rig::{RigState, phx_rig};
use crate::types::*;
use phalanx::crowd::{
    Crowd, CrowdError, EventKinds, Fill, FrameId, InstanceId, LayerOptions, MAX_LAYERS,
};
use phalanx::rig::Rig;
use phalanx::skeleton::JointMask;
use rayon::ThreadPool;
use std::ptr::null;
use std::sync::Arc;

/// What a crowd's handle owns.
#[derive(Default)]
pub struct CrowdState {
    pub(crate) crowd: Crowd,
    /// The threads that evaluate it; `None` for the process's.
    pub(crate) pool: Option<Arc<ThreadPool>>,
    /// Instances of the call that runs, converted.
    pub(crate) ids: Vec<InstanceId>,
    /// The last frame that was written whole, for `phx_frame_options::keep`.
    pub(crate) frame: Option<FrameId>,
    /// The events of the last step, which `phx_crowd_events` lends.
    events: Vec<phx_event>,
    /// The instances that `phx_crowd_root_motion` lends.
    moved: Vec<phx_instance>,
    /// What `phx_crowd_snapshot` lends.
    snapshot: Vec<u8>,
}

impl CrowdState {
    /// A crowd without rigs.
    pub(crate) fn new(crowd: Crowd, pool: Option<Arc<ThreadPool>>) -> Self {
        Self { crowd, pool, ..Self::default() }
    }
}

/// Runs a call of rayon on a crowd's threads.
pub(crate) fn on_pool<R: Send>(
    pool: &Option<Arc<ThreadPool>>,
    call: impl FnOnce() -> R + Send,
) -> R {
    match pool {
        Some(pool) => pool.install(call),
        None => call(),
    }
}

/// Writes a list for the caller. Its length is written in any case, so that null asks for the length alone.
///
/// # Safety
/// The caller's promise.
pub(crate) unsafe fn list<T>(
    values: impl Iterator<Item = T>,
    needed: usize,
    (out, capacity): (*mut T, usize),
    count: *mut usize,
    what: &str,
) -> Result<(), Error> {
    // SAFETY: as above.
    let (room, count) =
        unsafe { (array_mut(out, capacity, what)?, output(count, "the count's place")?) };
    count.write(needed);
    if capacity < needed && !out.is_null() {
        return Err(Error::short(what, capacity, needed));
    }
    for (room, value) in room.iter_mut().zip(values) {
        *room = value;
    }
    Ok(())
}

/// Writes a view of an array for the caller.
///
/// # Safety
/// The caller's promise; the array stays as long as the header says.
pub(crate) unsafe fn put_view<T>(
    values: &[T],
    data: *mut *const T,
    count: *mut usize,
) -> Result<(), Error> {
    // SAFETY: as above; both places are looked at before either is written.
    let (data, count) =
        unsafe { (output(data, "the array's place")?, output(count, "the count's place")?) };
    data.write(values.as_ptr());
    count.write(values.len());
    Ok(())
}

/// A crowd: rigs, their clips, and the characters that play them.
pub struct phx_crowd {
    _opaque: [u8; 0],
}

handle!(phx_crowd, CrowdState, b"crwd", "crowd");

/// Options of `phx_crowd_new`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_crowd_options {
    /// The size of this struct.
    pub size: usize,
    /// A number within 1 to 1,023 that all ids of the crowd contain, so that crowds refuse each other's. Crowds with the
    /// same tag that make the same calls give the same ids, in every run. Default 0: random.
    pub tag: u32,
    /// The threads that advance and evaluate the crowd. Default null: those of the process.
    pub pool: *const crate::base::phx_pool,
}

extensible!(phx_crowd_options, Self { size: size_of::<Self>(), tag: 0, pool: null() });

/// An empty crowd. Null options are the defaults. The crowd keeps its threads after `phx_pool_free`.
///
/// PHX_ERROR_VALUE: the tag is beyond 1,023.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_new(
    options: *const phx_crowd_options,
    out: *mut *mut phx_crowd,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (options, out) =
            unsafe { (self::options(options)?, output(out, "the crowd's place")?) };
        let pool = match options.pool.is_null() {
            true => None,
            // SAFETY: the caller's promise.
            false => Some((*unsafe { share(options.pool) }?).clone()),
        };
        let crowd = match options.tag {
            0 => Crowd::new(),
            tag => Crowd::with_tag(u16::try_from(tag).unwrap_or(u16::MAX))?,
        };
        out.write(new(CrowdState::new(crowd, pool)));
        Ok(())
    })
}

/// Frees a crowd with all that it lends. Rigs and clips have handles of their own. Null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_free(crowd: *mut phx_crowd) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { free(crowd) })
}

/// Counts of a crowd.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct phx_crowd_info {
    /// The size of this struct.
    pub size: usize,
    /// The characters that are alive, of all rigs.
    pub instance_count: u64,
    /// The actions so far that others have evicted, as their layer was full.
    pub evicted: u64,
    /// The events that the last step left out: an action fires at most 64 in a step.
    pub dropped_events: u64,
    /// Memory of inertial fades and evicted actions that decay now, in bytes.
    pub inertial_bytes: u64,
    /// The inertial fades so far that began as ordinary ones, and the evicted actions that ended at once, as that memory
    /// was used up.
    pub inertial_refused: u64,
}

extensible!(
    phx_crowd_info,
    Self {
        size: size_of::<Self>(),
        instance_count: 0,
        evicted: 0,
        dropped_events: 0,
        inertial_bytes: 0,
        inertial_refused: 0,
    }
);

/// Counts of a crowd.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_describe(
    crowd: *const phx_crowd,
    out: *mut phx_crowd_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(crowd) }?;
        let info = phx_crowd_info {
            size: 0,
            instance_count: state.crowd.instance_count() as u64,
            evicted: state.crowd.evicted(),
            dropped_events: state.crowd.dropped_events(),
            inertial_bytes: state.crowd.inertial_bytes() as u64,
            inertial_refused: state.crowd.inertial_refused(),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// What fills in where the weights of a layer's actions sum to less than 1.
pub type phx_fill = u32;
/// The rest pose.
pub const PHX_FILL_REST: phx_fill = 0;
/// The layers below.
pub const PHX_FILL_BELOW: phx_fill = 1;

/// A layer of a rig in a crowd: what its instances play is blended in layers, from the first up. `phx_options_init` with
/// PHX_LAYER_OPTIONS sets the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_layer_options {
    /// The size of this struct.
    pub size: usize,
    /// Not 0: the layer adds additive clips to the layers below. Default 0: it blends over them.
    pub additive: u32,
    /// What fills in on a layer that blends. Default `PHX_FILL_REST`.
    pub fill: phx_fill,
    /// A weight within 0 to 1 for each joint: how far the layer reaches. Default null: 1 for all.
    pub mask: *const f32,
    /// The number of joints, if there is a mask.
    pub mask_count: usize,
}

extensible!(
    phx_layer_options,
    Self { size: size_of::<Self>(), additive: 0, fill: PHX_FILL_REST, mask: null(), mask_count: 0 }
);

/// Adds a rig. Its instances have the given layers, all with the `size` of the first; `layer_count` 0 is one layer with the
/// defaults. The crowd keeps what it needs of the rig after `phx_rig_free`.
///
/// PHX_ERROR_DATA: a mask has not one weight per joint, each within 0 to 1. PHX_ERROR_LIMIT: more than 16 layers, or too
/// many rigs or clips. PHX_ERROR_VALUE: there is no such fill. PHX_ERROR_STRUCT_SIZE: the library knows no such
/// size, or a layer states another than the first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_add_rig(
    crowd: *mut phx_crowd,
    rig: *const phx_rig,
    layers: *const phx_layer_options,
    layer_count: usize,
    out: *mut phx_rig_id,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (mut state, rig, out) =
            unsafe { (lend(crowd)?, share(rig)?.rig.clone(), output(out, "the rig's place")?) };
        if layer_count > MAX_LAYERS {
            let (count, limit) = (layer_count, MAX_LAYERS);
            return Err(CrowdError::Limit { what: "layers", count, limit }.into());
        }
        // SAFETY: the caller's promise.
        let layers = unsafe { sized(layers, layer_count, "the layers") }?;
        let mut all = Vec::new();
        for (layer, options) in layers.iter().enumerate() {
            // SAFETY: the caller's promise.
            let options = unsafe { self::layer(&rig, options) };
            all.push(options.map_err(of_element("layer", layer))?);
        }
        if all.is_empty() {
            all.push(LayerOptions::default());
        }
        out.write(state.crowd.add_rig_with_layers(rig, all)?.to_bits());
        Ok(())
    })
}

/// # Safety
/// The caller's promise of the mask.
unsafe fn layer(rig: &Rig, options: &phx_layer_options) -> Result<LayerOptions, Error> {
    let fill = choice("the fill", options.fill, &[Fill::Rest, Fill::Below])?;
    let mut mask = None;
    if !options.mask.is_null() || options.mask_count > 0 {
        // SAFETY: as above.
        let weights = unsafe { array(options.mask, options.mask_count, "the mask") }?;
        mask = Some(JointMask::from_weights(rig.skeleton(), weights)?);
    }
    Ok(LayerOptions { additive: options.additive != 0, mask, fill })
}

/// Removes a rig of which no character is alive. Its id and those of its clips become stale.
///
/// PHX_ERROR_STATE: characters of it are alive.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_remove_rig(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
) -> phx_status {
    entry(|| {
        let rig = convert::rig_id(rig)?;
        // SAFETY: the caller's promise.
        let mut state = unsafe { lend(crowd) }?;
        state.crowd.remove_rig(rig)?;
        Ok(())
    })
}

/// A new handle of a rig in a crowd, for `phx_rig_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_rig(
    crowd: *const phx_crowd,
    rig: phx_rig_id,
    out: *mut *mut phx_rig,
) -> phx_status {
    entry(|| {
        let rig = convert::rig_id(rig)?;
        // SAFETY: the caller's promise.
        let (state, out) = unsafe { (share(crowd)?, output(out, "the rig's place")?) };
        out.write(rig_handle(state.crowd.rig(rig)?.clone()));
        Ok(())
    })
}

fn rig_handle(rig: Arc<Rig>) -> *mut phx_rig {
    new(RigState::new(rig))
}

/// Kinds of events: a sum of `PHX_EVENTS_MARKERS` and the others.
pub type phx_event_kinds = u32;
/// `PHX_EVENT_MARKER`
pub const PHX_EVENTS_MARKERS: phx_event_kinds = 1;
/// `PHX_EVENT_LOOPED`
pub const PHX_EVENTS_LOOPS: phx_event_kinds = 2;
/// `PHX_EVENT_FINISHED`
pub const PHX_EVENTS_FINISHES: phx_event_kinds = 4;
/// `PHX_EVENT_STOPPED`
pub const PHX_EVENTS_STOPS: phx_event_kinds = 8;

/// Options of a rig's characters. Snapshots do not contain the first two.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_rig_options {
    /// The size of this struct.
    pub size: usize,
    /// The kinds that `phx_crowd_events` has. Others cost nothing. Default 15: all.
    pub events: phx_event_kinds,
    /// Not 0: every step computes root motion, for `phx_crowd_root_motion`, if the rig has any. Default 1.
    pub track_root_motion: u32,
    /// Not 0: root motion moves the characters in the world. Default 0.
    pub apply_root_motion: u32,
}

extensible!(
    phx_rig_options,
    Self { size: size_of::<Self>(), events: 15, track_root_motion: 1, apply_root_motion: 0 }
);

fn event_kinds(bits: phx_event_kinds) -> Result<EventKinds, Error> {
    if bits > 15 {
        return Err(Error::value(format!("the kinds of events are {bits}, beyond 15")));
    }
    Ok(EventKinds {
        markers: bits & PHX_EVENTS_MARKERS != 0,
        loops: bits & PHX_EVENTS_LOOPS != 0,
        finishes: bits & PHX_EVENTS_FINISHES != 0,
        stops: bits & PHX_EVENTS_STOPS != 0,
    })
}

/// Sets all options of a rig's characters, of those alive and of later ones. Null options are the defaults.
///
/// PHX_ERROR_STATE: root motion shall be applied, and no clip of the rig has any. PHX_ERROR_VALUE: there are no such
/// events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_crowd_set_rig_options(
    crowd: *mut phx_crowd,
    rig: phx_rig_id,
    options: *const phx_rig_options,
) -> phx_status {
    entry(|| {
        let rig = convert::rig_id(rig)?;
        // SAFETY: the caller's promise.
        let (mut state, options) = unsafe { (lend(crowd)?, self::options(options)?) };
        let kinds = event_kinds(options.events)?;
        // The only one that may be refused for a rig of the crowd.
        state.crowd.apply_root_motion(rig, options.apply_root_motion != 0)?;
        state.crowd.track_root_motion(rig, options.track_root_motion != 0)?;
        Ok(state.crowd.set_event_filter(rig, kinds)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_library() {
        let rig = phx_rig_options::DEFAULT;
        assert_eq!(event_kinds(rig.events).unwrap(), EventKinds::default());
        let mannequin = phalanx::import::mannequin().unwrap();
        // SAFETY: there is no mask.
        let layer = unsafe { layer(&mannequin, &phx_layer_options::DEFAULT) };
        assert_eq!(layer.unwrap(), LayerOptions::default());
    }

    #[test]
    fn a_crowd_runs_on_its_pool() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let pool: *mut crate::base::phx_pool = new(Arc::new(pool));
        let options = phx_crowd_options { pool, ..phx_crowd_options::DEFAULT };
        let mut crowd = std::ptr::null_mut();
        // SAFETY: handles and structs are as they should be.
        unsafe {
            assert_eq!(phx_crowd_new(&options, &mut crowd), PHX_OK);
            free(pool).unwrap();
            assert_eq!(on_pool(&share(crowd).unwrap().pool, rayon::current_num_threads), 3);
            free(crowd).unwrap();
        }
    }
}
