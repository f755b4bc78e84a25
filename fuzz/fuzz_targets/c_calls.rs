//! Any sequence of calls of the C library, right and wrong: wrong handles, ids, sizes, numbers, lengths. Each array is
//! a block of exactly the stated length, so that AddressSanitizer sees accesses beyond it. No call may crash or report
//! a fault of the library; a call that fails changes neither the crowd nor its outputs; all handles can be freed.
#![no_main]

/// Calls a function; outputs stand behind the arguments. Returns whether it succeeded.
macro_rules! call {
    ($world:expr, $name:ident($($argument:expr),* $(,)?) $(, $out:expr)*) => {{
        // SAFETY: arrays have the stated lengths, text ends where it says, handles came from the library.
        let status = unsafe { $name($($argument),*) };
        $world.done(stringify!($name), status, &[$(&$out),*])
    }};
}

/// Calls a function of the crowd, whose handle is its first argument. The crowd is compared if the call fails.
macro_rules! on_crowd {
    ($world:expr, $name:ident($($argument:expr),* $(,)?) $(, $out:expr)*) => {{
        let before = $world.before();
        let crowd = $world.crowd_handle();
        // SAFETY: as in `call`.
        let status = unsafe { $name(crowd, $($argument),*) };
        $world.after(stringify!($name), status, before);
        $world.done(stringify!($name), status, &[$(&$out),*])
    }};
}

#[path = "c_calls/assets.rs"]
mod assets;
#[path = "c_calls/crowd.rs"]
mod crowd;
#[path = "c_calls/frames.rs"]
mod frames;
#[path = "c_calls/instance.rs"]
mod instance;
#[path = "c_calls/instances.rs"]
mod instances;
#[path = "c_calls/kit.rs"]
mod kit;
#[path = "c_calls/make.rs"]
mod make;
#[path = "c_calls/modifiers.rs"]
mod modifiers;
#[path = "c_calls/source.rs"]
mod source;

use frames::Frame;
use kit::{Kit, defaults, kit, message};
use libfuzzer_sys::fuzz_target;
use phalanx_c::*;
use source::{Heap, Source};
use std::ffi::c_void;
use std::ptr::null_mut;

/// Calls of an execution.
const MOST_CALLS: usize = 120;
/// Characters of a crowd, by what calls ask for.
pub const MOST_INSTANCES: usize = 300;

/// Kinds of ids, as places in `World::ids`.
pub const RIG: usize = 0;
pub const CLIP: usize = 1;
pub const SPACE: usize = 2;
pub const MODIFIER: usize = 3;
pub const INSTANCE: usize = 4;

/// Memory for an output, filled with a canary.
pub struct Out {
    pub heap: Heap,
    /// Bytes at the front that the harness wrote.
    skip: usize,
    /// The failure that writes it all the same.
    unless: phx_status,
}

pub struct World<'a> {
    pub source: Source<'a>,
    pub kit: &'static Kit,
    pub crowd: *mut phx_crowd,
    /// Ids that calls returned, of each kind.
    pub ids: [Vec<u64>; 5],
    /// Ids of removed things.
    pub stale: Vec<u64>,
    pub rigs: Vec<*mut phx_rig>,
    pub clips: Vec<*mut phx_clip>,
    pub imports: Vec<*mut phx_import>,
    pub libraries: Vec<*mut phx_library>,
    pub pools: Vec<*mut phx_pool>,
    /// Handles that were freed.
    pub dead: Vec<*mut c_void>,
    /// What plays, or did: character, layer, action.
    pub playing: Vec<(u64, u32, u64)>,
    pub frame: Option<Frame>,
    /// A snapshot.
    pub saved: Vec<u8>,
    /// Bytes of memory that frames need, as the last one said.
    pub needed: usize,
    /// What the arguments of the present call point to.
    kept: Vec<Heap>,
    calls: usize,
}

impl World<'_> {
    /// A handle of the kind, or null, or one that is freed or of another kind.
    pub fn handle<T>(&mut self, right: *mut T) -> *mut T {
        if !self.source.wrong(8) {
            return right;
        }
        match self.source.below(5) {
            0 => null_mut(),
            1 => self.kit.freed.cast(),
            2 => self.dead.last().map_or(self.kit.freed, |&dead| dead).cast(),
            // Of another kind: pools are not freed by chance, as no call gets them here.
            3 if !std::any::type_name::<T>().ends_with("phx_pool") => self.kit.pool.cast(),
            _ => right,
        }
    }

    pub fn crowd_handle(&mut self) -> *mut phx_crowd {
        self.handle(self.crowd)
    }

    /// A rig: one of the kit or of this execution.
    pub fn rig(&mut self) -> *const phx_rig {
        let own = self.rigs.len();
        let n = self.source.below(8 + own);
        let right = match n.checked_sub(8) {
            Some(n) => self.rigs[n],
            None => self.kit.rigs[[0, 1, 2, 3, 4, 0, 0, 2][n]],
        };
        self.handle(right)
    }

    /// A clip of this execution, or null if there is none.
    pub fn clip(&mut self) -> *const phx_clip {
        let right = if self.clips.is_empty() {
            null_mut()
        } else {
            let n = self.source.below(self.clips.len());
            self.clips[n]
        };
        self.handle(right)
    }

    /// An id of the kind, or a wrong one.
    pub fn id(&mut self, kind: usize) -> u64 {
        if self.source.wrong(6) {
            return match self.source.below(8) {
                0 => 0,
                1 => u64::MAX,
                2 => self.kit.foreign[kind],
                3 => self.stale.last().copied().unwrap_or(1),
                4 => self.source.u64(),
                5 => self.known(kind) ^ (1 << self.source.below(64)),
                _ => {
                    let other = self.source.below(5);
                    self.known(other)
                }
            };
        }
        self.known(kind)
    }

    pub fn known(&mut self, kind: usize) -> u64 {
        let n = self.source.below(self.ids[kind].len());
        self.ids[kind].get(n).copied().unwrap_or(0)
    }

    /// A clip or a blend space.
    pub fn playable(&mut self) -> u64 {
        let kind = if self.source.one_of(4) { SPACE } else { CLIP };
        self.id(kind)
    }

    pub fn playables(&mut self, count: usize) -> Vec<u64> {
        (0..count).map(|_| self.playable()).collect()
    }

    /// Some characters.
    pub fn instances(&mut self) -> Vec<u64> {
        let count = self.source.below(7);
        (0..count).map(|_| self.id(INSTANCE)).collect()
    }

    /// Removes an id of a kind from those in use.
    pub fn forget(&mut self, kind: usize, id: u64) {
        self.ids[kind].retain(|&other| other != id);
        self.stale.push(id);
    }

    /// 1, or one value for each of `count`, or another number.
    pub fn each(&mut self, count: usize) -> usize {
        let one = self.source.one_of(2);
        let right = if one { 1 } else { count };
        self.room(right)
    }

    /// The room that a call needs, or less, or more.
    pub fn room(&mut self, needed: usize) -> usize {
        if !self.source.wrong(4) {
            return needed;
        }
        let other = [0, needed.saturating_sub(1), needed + 1, 2 * needed];
        self.source.pick(&other)
    }

    fn skew(&mut self) -> usize {
        usize::from(self.source.wrong(40))
    }

    /// Keeps a block until the present call is over.
    pub fn keep(&mut self, heap: Heap) -> *mut c_void {
        let at = heap.ptr_mut();
        self.kept.push(heap);
        at
    }

    /// An array with its length, or null.
    pub fn array<T: Copy>(&mut self, values: &[T]) -> (*const T, usize) {
        if self.source.wrong(16) {
            let count = [values.len(), 0, usize::MAX];
            return (std::ptr::null(), self.source.pick(&count));
        }
        let skew = self.skew();
        let count = if self.source.wrong(40) { usize::MAX } else { values.len() };
        (self.keep(Heap::copy(values, size_of_val(values), skew)).cast(), count)
    }

    /// An array of the length that another argument states, or null.
    pub fn exactly<T: Copy>(&mut self, values: &[T]) -> *const T {
        if self.source.wrong(16) {
            return std::ptr::null();
        }
        self.keep(Heap::of(values)).cast_const().cast()
    }

    /// One value, or null.
    pub fn one<T: Copy>(&mut self, value: T) -> *const T {
        let skew = self.skew();
        if self.source.wrong(10) {
            return std::ptr::null();
        }
        self.keep(Heap::copy(&[value], size_of::<T>(), skew)).cast_const().cast()
    }

    /// The size of a struct, or a wrong one, and the bytes of its block.
    fn size<T>(&mut self) -> (usize, usize) {
        let right = size_of::<T>();
        if !self.source.wrong(10) {
            return (right, right);
        }
        let wrong = [0, 4, 8, right - 1, right + 8, 0x1000_0000, usize::MAX];
        let size = self.source.pick(&wrong);
        // Of a wrong size only the size itself is read.
        (size, size.clamp(8, right + 8))
    }

    /// A struct that begins with its size, which may be wrong; null sometimes.
    pub fn options<T: Copy>(&mut self, value: T) -> *const T {
        if self.source.one_of(6) {
            return std::ptr::null();
        }
        let (size, bytes) = self.size::<T>();
        let skew = self.skew();
        let heap = Heap::copy(&[value], bytes, skew);
        // SAFETY: the block has room for the size.
        unsafe { heap.ptr_mut::<usize>().write_unaligned(size) };
        self.keep(heap).cast_const().cast()
    }

    /// Text: names that rigs have, and others.
    pub fn text(&mut self) -> phx_text {
        const NAMES: [&str; 12] = [
            "walk",
            "Hips",
            "LeftFoot",
            "Head",
            "",
            "nod",
            "l",
            "r",
            "Idle",
            "Hips/Spine",
            "0",
            "é",
        ];
        if self.source.wrong(4) {
            let data: &[u8] = match self.source.below(5) {
                0 => return phx_text { data: std::ptr::null(), length: 0 },
                1 => return phx_text { data: std::ptr::null(), length: 3 },
                2 => return phx_text { data: std::ptr::null(), length: PHX_NUL },
                3 => b"\xFF\xC0no text",
                _ => b"a\0b",
            };
            return phx_text { data: self.keep(Heap::of(data)).cast(), length: data.len() };
        }
        let name = self.source.pick(&NAMES);
        let nul = self.source.one_of(3);
        let bytes: Vec<u8> = name.bytes().chain(nul.then_some(0)).collect();
        let length = if nul { PHX_NUL } else { name.len() };
        phx_text { data: self.keep(Heap::of(&bytes)).cast(), length }
    }

    pub fn texts(&mut self, most: usize) -> Vec<phx_text> {
        let count = self.source.below(most + 1);
        (0..count).map(|_| self.text()).collect()
    }

    /// Room for `count` values; null sometimes.
    pub fn out<T>(&mut self, count: usize) -> Out {
        let skew = self.skew();
        let heap = match self.source.wrong(12) {
            true => Heap::null(),
            false => Heap::new(count * size_of::<T>(), align_of::<T>(), skew),
        };
        Out { heap, skip: 0, unless: PHX_OK }
    }

    /// The place of a count, which is written even if the array is too short.
    pub fn counter(&mut self) -> Out {
        Out { unless: PHX_ERROR_SHORT, ..self.out::<usize>(1) }
    }

    /// An output that begins with its size.
    pub fn info<T>(&mut self) -> Out {
        let (size, bytes) = self.size::<T>();
        let skew = self.skew();
        if self.source.wrong(12) {
            return Out { heap: Heap::null(), skip: 0, unless: PHX_OK };
        }
        let heap = Heap::new(bytes, align_of::<T>(), skew);
        // SAFETY: the block has room for the size.
        unsafe { heap.ptr_mut::<usize>().write_unaligned(size) };
        Out { heap, skip: size_of::<usize>(), unless: PHX_OK }
    }

    /// What a call returned is a status, and no fault; outputs of one that failed are as before.
    pub fn done(&mut self, name: &str, status: phx_status, outs: &[&Out]) -> bool {
        assert!((PHX_OK..PHX_ERROR_INTERNAL).contains(&status), "{name}: {status}, {}", message());
        if status != PHX_OK {
            assert!(!message().is_empty(), "{name}: no message");
            for (i, out) in outs.iter().enumerate() {
                let intact = out.unless == status || out.heap.intact(out.skip);
                assert!(intact, "{name}: {status} has written to output {i}, {}", message());
            }
        }
        status == PHX_OK
    }

    /// A snapshot of the crowd before a call, of every fourth call that is right and every second other.
    pub fn before(&mut self) -> Option<Vec<u8>> {
        self.calls += 1;
        let due = self.calls.is_multiple_of(if self.source.wild { 2 } else { 4 });
        if due && self.frame.is_none() { Some(self.snapshot()) } else { None }
    }

    pub fn snapshot(&self) -> Vec<u8> {
        let (mut data, mut size) = (std::ptr::null(), 0);
        // SAFETY: the crowd is alive, and the bytes stay until the next call of this function.
        unsafe {
            assert_eq!(phx_crowd_snapshot(self.crowd, &mut data, &mut size), PHX_OK);
            std::slice::from_raw_parts(data, size).to_vec()
        }
    }

    /// A call that failed has not changed the crowd; while a frame is in parts, every call fails.
    pub fn after(&mut self, name: &str, status: phx_status, before: Option<Vec<u8>>) {
        if status == PHX_OK {
            assert!(self.frame.is_none(), "{name} during a frame");
        } else if let Some(before) = before {
            let same = before == self.snapshot();
            assert!(same, "{name}: {status} has changed the crowd, {}", message());
        }
    }

    fn call(&mut self) {
        let source = &mut self.source;
        let group = source.byte();
        source.wild = group & 0x80 != 0;
        match group & 31 {
            0 => self.base(),
            1 => self.rig_calls(),
            2 => self.mesh_calls(),
            3 => self.import_calls(),
            4 | 5 => self.clip_calls(),
            6..11 => self.crowd_calls(),
            11..17 => self.instance_calls(),
            17..21 => self.instances_calls(),
            21..27 => self.modifier_calls(),
            _ => self.frame_calls(),
        }
        self.kept.clear();
    }

    /// A crowd with a rig, its first clips, and characters.
    fn begin(&mut self) {
        let pool = if self.source.one_of(4) { self.kit.pool } else { null_mut() };
        let options = phx_crowd_options { tag: 7, pool, ..defaults(PHX_CROWD_OPTIONS) };
        let mut crowd = null_mut();
        // SAFETY: the options and the place are valid.
        assert_eq!(unsafe { phx_crowd_new(&options, &mut crowd) }, PHX_OK);
        self.crowd = crowd;
        self.furnish();
        if self.source.one_of(2) {
            self.add_rig();
        }
        self.spawn();
        let mut clip = null_mut();
        // SAFETY: the rig and the place are valid.
        assert_eq!(unsafe { phx_rig_clip(self.kit.rigs[0], 0, &mut clip) }, PHX_OK);
        self.clips.push(clip);
        for who in self.ids[INSTANCE].clone() {
            let action = self.known(CLIP);
            if on_crowd!(self, phx_instance_play(who, 0, action, std::ptr::null())) {
                self.playing.push((who, 0, action));
            }
            for modifier in self.ids[MODIFIER].clone() {
                on_crowd!(self, phx_instance_fade_modifier(who, modifier, 1.0, 0.0));
            }
        }
        self.kept.clear();
    }

    /// Frees all handles.
    fn end(mut self) {
        self.end_frame();
        // SAFETY: each handle is of its kind and was not freed.
        unsafe {
            assert_eq!(phx_crowd_free(self.crowd), PHX_OK);
            for &rig in &self.rigs {
                assert_eq!(phx_rig_free(rig), PHX_OK);
            }
            for &clip in &self.clips {
                assert_eq!(phx_clip_free(clip), PHX_OK);
            }
            for &import in &self.imports {
                assert_eq!(phx_import_free(import), PHX_OK);
            }
            for &library in &self.libraries {
                assert_eq!(phx_library_free(library), PHX_OK);
            }
            for &pool in &self.pools {
                assert_eq!(phx_pool_free(pool), PHX_OK);
            }
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut world = World {
        source: Source::new(bytes),
        kit: kit(),
        crowd: null_mut(),
        ids: Default::default(),
        stale: Vec::new(),
        rigs: Vec::new(),
        clips: Vec::new(),
        imports: Vec::new(),
        libraries: Vec::new(),
        pools: Vec::new(),
        dead: Vec::new(),
        playing: Vec::new(),
        frame: None,
        saved: Vec::new(),
        needed: 0,
        kept: Vec::new(),
        calls: 0,
    };
    world.begin();
    for _ in 0..MOST_CALLS {
        if world.source.ended() {
            break;
        }
        world.call();
    }
    world.end();
});
