//! Rigs and crowds that all executions share: made once, never freed.

use super::source::Heap;
use phalanx_c::*;
use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

/// A walk along z, for root motion.
const BVH: &[u8] =
    b"HIERARCHY\nROOT Hips\n{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition \
Zrotation Xrotation Yrotation\nJOINT Leg\n{\nOFFSET 0 -0.5 0.1\nCHANNELS 3 Zrotation Xrotation \
Yrotation\nEnd Site\n{\nOFFSET 0 -0.5 0\n}\n}\n}\nMOTION\nFrames: 3\nFrame Time: 0.5\n\
0 1 0 0 0 0 0 10 0\n0 1 0.7 0 5 0 0 -10 0\n0 1 1.5 0 0 0 0 10 0\n";

pub const GLB: &[u8] = include_bytes!("../../seeds/import_gltf/little.glb");
pub const PHX: &[u8] = include_bytes!("../../seeds/read_phx/library-3.phx");

/// Joints of the first rig: name, parent, offset.
const JOINTS: [(&str, u32, [f32; 3]); 15] = [
    ("Hips", PHX_NONE, [0.0, 1.0, 0.0]),
    ("Spine", 0, [0.0, 0.3, 0.0]),
    ("Head", 1, [0.0, 0.4, 0.02]),
    ("LeftUpLeg", 0, [0.1, 0.0, 0.0]),
    ("LeftLeg", 3, [0.0, -0.48, 0.05]),
    ("LeftFoot", 4, [0.0, -0.45, -0.05]),
    ("RightUpLeg", 0, [-0.1, 0.0, 0.0]),
    ("RightLeg", 6, [0.0, -0.48, 0.05]),
    ("RightFoot", 7, [0.0, -0.45, -0.05]),
    ("LeftArm", 1, [0.2, 0.25, 0.0]),
    ("LeftForeArm", 9, [0.28, 0.0, -0.02]),
    ("LeftHand", 10, [0.25, 0.0, 0.02]),
    ("RightArm", 1, [-0.2, 0.25, 0.0]),
    ("RightForeArm", 12, [-0.28, 0.0, -0.02]),
    ("RightHand", 13, [-0.25, 0.0, 0.02]),
];

pub struct Kit {
    /// Two rigs of arrays, one of BVH with root motion, one of glTF with meshes, the built-in one.
    pub rigs: [*mut phx_rig; 5],
    pub import: *mut phx_import,
    pub library: *mut phx_library,
    pub pool: *mut phx_pool,
    /// Another crowd, and an id of each kind of it.
    pub other: *mut phx_crowd,
    pub foreign: [u64; 5],
    /// A handle that was freed.
    pub freed: *mut c_void,
}

// SAFETY: handles may be used from any thread.
unsafe impl Send for Kit {}
// SAFETY: as above.
unsafe impl Sync for Kit {}

pub fn kit() -> &'static Kit {
    static KIT: OnceLock<Kit> = OnceLock::new();
    KIT.get_or_init(Kit::new)
}

#[track_caller]
fn ok(status: phx_status) {
    assert_eq!(status, PHX_OK, "{}", message());
}

/// The message of the last failure.
pub fn message() -> String {
    let (mut text, mut length) = (null(), 0);
    // SAFETY: places are valid, and the text stays during the call.
    unsafe {
        assert_eq!(phx_error_message(&mut text, &mut length), PHX_OK);
        assert_eq!(*text.add(length), 0, "a NUL ends the message");
        let bytes = std::slice::from_raw_parts(text.cast::<u8>(), length);
        str::from_utf8(bytes).expect("messages are UTF-8").into()
    }
}

/// A struct of options at its defaults.
pub fn defaults<T: Copy>(kind: phx_options_kind) -> T {
    let heap = Heap::new(size_of::<T>(), align_of::<T>(), 0);
    // SAFETY: the place has so many bytes.
    ok(unsafe { phx_options_init(kind, heap.ptr_mut(), size_of::<T>()) });
    heap.read()
}

/// A number of each, for a rig's tracks.
fn track(
    joint: u32,
    channel: phx_channel,
    times: &'static [f32],
    values: &'static [f32],
) -> phx_track {
    phx_track {
        joint,
        channel,
        interpolation: PHX_LINEAR,
        times: times.as_ptr(),
        key_count: times.len(),
        values: values.as_ptr(),
        value_count: values.len(),
    }
}

/// A rig of the first joints, with three clips.
fn rig(count: usize) -> *mut phx_rig {
    let joints = &JOINTS[..count];
    let names: Vec<_> = joints.iter().map(|&(name, ..)| phx_text::of(name)).collect();
    let parents: Vec<_> = joints.iter().map(|&(_, parent, _)| parent).collect();
    let rest = joints.iter().map(|&(.., translation)| phx_trs {
        translation,
        rotation: [0.0, 0.0, 0.0, 1.0],
        scale: [1.0; 3],
    });
    let rest: Vec<_> = rest.collect();
    let slots: Vec<u32> = (0..count as u32).collect();
    let skin = phx_skin_arrays {
        name: phx_text::of("body"),
        joints: slots.as_ptr(),
        inverse_bind: null(),
        count,
    };
    let turn = &[0.0, 0.0, 0.0, 1.0, 0.2, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let walk = [
        track(0, PHX_CHANNEL_TRANSLATION, &[0.0, 1.0], &[0.0, 1.0, 0.0, 0.0, 1.0, 1.4]),
        track(2, PHX_CHANNEL_ROTATION, &[0.0, 0.5, 1.0], turn),
    ];
    let nod = [track(1, PHX_CHANNEL_ROTATION, &[0.0, 0.25, 0.5], turn)];
    let marker = |name, time| phx_marker { name: phx_text::of(name), time };
    let steps = [marker("l", 0.0), marker("r", 0.5), marker("l", 1.0)];
    let none: phx_clip_arrays = defaults(PHX_CLIP_ARRAYS);
    let clips = [
        phx_clip_arrays {
            name: phx_text::of("walk"),
            tracks: walk.as_ptr(),
            track_count: walk.len(),
            markers: steps.as_ptr(),
            marker_count: steps.len(),
            ..none
        },
        phx_clip_arrays {
            name: phx_text::of("nod"),
            tracks: nod.as_ptr(),
            track_count: nod.len(),
            ..none
        },
        phx_clip_arrays { name: phx_text::of("still"), ..none },
    ];
    let arrays = phx_rig_arrays {
        name: phx_text::of("kit"),
        joint_count: count,
        joint_names: names.as_ptr(),
        parents: parents.as_ptr(),
        rest: rest.as_ptr(),
        skins: &raw const skin,
        skin_count: 1,
        clips: clips.as_ptr(),
        clip_count: clips.len(),
        ..defaults(PHX_RIG_ARRAYS)
    };
    let mut rig = null_mut();
    // SAFETY: arrays have their counts.
    ok(unsafe { phx_rig_new_arrays(&arrays, &mut rig) });
    rig
}

impl Kit {
    fn new() -> Self {
        let (mut bvh, mut glb, mut mannequin, mut pool) =
            (null_mut(), null_mut(), null_mut(), null_mut());
        let travels = phx_import_options { root_motion: 1, ..defaults(PHX_IMPORT_OPTIONS) };
        let name = c"kit".as_ptr();
        let (mut import, mut library) = (null_mut(), null_mut());
        // SAFETY: bytes and places are valid.
        unsafe {
            ok(phx_rig_new_memory(BVH.as_ptr(), BVH.len(), name, 3, &travels, &mut bvh));
            ok(phx_rig_new_memory(GLB.as_ptr(), GLB.len(), name, 3, null(), &mut glb));
            ok(phx_import_new_memory(BVH.as_ptr(), BVH.len(), name, 3, null(), &mut import));
            ok(phx_library_new_memory(PHX.as_ptr(), PHX.len(), &mut library));
            ok(phx_rig_new_mannequin(&mut mannequin));
            ok(phx_pool_new(2, &mut pool));
        }
        let rigs = [rig(JOINTS.len()), rig(3), bvh, glb, mannequin];
        let (mut other, mut foreign, mut gone) = (null_mut(), [0; 5], null_mut());
        let [id, clip, space, modifier, instance] = &mut foreign;
        let options = phx_crowd_options { tag: 1023, ..defaults(PHX_CROWD_OPTIONS) };
        // SAFETY: handles and places are valid.
        unsafe {
            ok(phx_crowd_new(&options, &mut other));
            ok(phx_crowd_add_rig(other, rigs[0], null(), 0, id));
            ok(phx_crowd_clip_at(other, *id, 0, clip));
            let at = phx_parameter { x: 0.0, y: 0.0 };
            let point = phx_space_point { clip: *clip, at };
            let line = defaults::<phx_space_options>(PHX_SPACE_OPTIONS);
            let line = phx_space_options { points: &point, count: 1, ..line };
            ok(phx_crowd_add_space(other, *id, &line, space));
            ok(phx_crowd_add_hook(other, *id, null(), modifier));
            ok(phx_crowd_spawn(other, *id, 1, instance));
            ok(phx_instance_play(other, *instance, 0, *clip, null()));
            ok(phx_crowd_new(&options, &mut gone));
            ok(phx_crowd_free(gone));
        }
        Self { rigs, import, library, pool, other, foreign, freed: gone.cast() }
    }
}
