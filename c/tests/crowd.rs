//! Crowds behind the C ABI, beside crowds in Rust that get the same calls.

use phalanx::build::{BuildOptions, RootMotionOptions, build_rig};
use phalanx::crowd::*;
use phalanx::format::{ClipForm, Library, LibraryWriter, Provenance, RigOptions};
use phalanx::import::raw::*;
use phalanx::rig::Rig;
use phalanx::skeleton::JointMask;
use phalanx_c::*;
use std::ffi::CStr;
use std::io::Cursor;
use std::mem::{MaybeUninit, zeroed};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// Metres per second along z.
const WALK: f32 = 1.5;
const TAG: u16 = 7;

/// A chain of joints whose root walks, runs, or stays; the clip `walk` has a marker in its middle.
fn file(joints: usize, root_motion: bool) -> Vec<u8> {
    let clip =
        |name: &str, speed: f32, duration: f32, markers: Vec<phalanx::clip::Marker>| RawClip {
            name: Some(name.into()),
            duration,
            tracks: vec![RawTrack {
                node: 0,
                channel: RawChannel::Translation,
                interpolation: Interpolation::Linear,
                times: vec![0.0, duration],
                values: vec![0.0, 0.0, 0.0, 0.0, 0.0, speed * duration],
            }],
            markers,
            ..RawClip::default()
        };
    let parents = (0..joints).map(|joint| joint.checked_sub(1));
    let scene = RawScene {
        nodes: parents.map(|parent| RawNode { parent, ..RawNode::default() }).collect(),
        skins: vec![RawSkin {
            joints: (0..joints).collect(),
            inverse_bind: vec![phalanx::math::Affine3x4::IDENTITY.to_cols_array(); joints],
            ..RawSkin::default()
        }],
        clips: vec![
            clip("walk", WALK, 1.0, vec![phalanx::clip::Marker::new("step", 0.5)]),
            clip("run", 4.0, 0.5, Vec::new()),
            clip("idle", 0.0, 2.0, Vec::new()),
        ],
        ..RawScene::default()
    };
    let root = root_motion.then(RootMotionOptions::default);
    let options = BuildOptions { root_motion: root, ..BuildOptions::default() };
    let rig = build_rig(scene, &options).unwrap();
    let mut writer = LibraryWriter::new(Cursor::new(Vec::new()), rig.skeleton()).unwrap();
    writer.add_rig(&rig).unwrap();
    for clip in rig.clips() {
        writer.add_clip(clip, clip.name(), ClipForm::Rows).unwrap();
    }
    writer.finish(&Provenance::default()).unwrap().into_inner()
}

fn message() -> String {
    let (mut text, mut length) = (null(), 0);
    unsafe {
        assert_eq!(phx_error_message(&mut text, &mut length), PHX_OK);
        CStr::from_ptr(text).to_str().unwrap().to_owned()
    }
}

#[track_caller]
fn ok(status: phx_status) {
    assert_eq!(status, PHX_OK, "{}", message());
}

/// The call fails with this status, and its message has these words.
#[track_caller]
fn refuses(status: phx_status, expected: phx_status, words: &str) {
    assert_eq!(status, expected, "{}", message());
    assert!(message().contains(words), "{:?} is not in {:?}", words, message());
}

/// An output that the call writes; nothing may be written by one that fails.
#[track_caller]
fn get<T: Copy>(call: impl FnOnce(*mut T) -> phx_status) -> T {
    let mut value = MaybeUninit::uninit();
    ok(call(value.as_mut_ptr()));
    unsafe { value.assume_init() }
}

fn options<T>(kind: phx_options_kind) -> T {
    let mut value = MaybeUninit::<T>::zeroed();
    unsafe {
        ok(phx_options_init(kind, value.as_mut_ptr().cast(), size_of::<T>()));
        value.assume_init()
    }
}

fn rig_handle(file: &[u8]) -> *mut phx_rig {
    unsafe {
        get(|out| {
            phx_rig_new_memory(file.as_ptr(), file.len(), c"made".as_ptr(), PHX_NUL, null(), out)
        })
    }
}

fn rig_of(file: &[u8]) -> Arc<Rig> {
    Arc::new(Library::from_bytes(file).unwrap().rig(&RigOptions::default()).unwrap())
}

/// A crowd with one rig behind the ABI, and the same in Rust.
struct Pair {
    c: *mut phx_crowd,
    id: phx_rig_id,
    rust: Crowd,
    rig: RigId,
}

impl Pair {
    fn new(file: &[u8]) -> Self {
        let mut rust = Crowd::with_tag(TAG).unwrap();
        let rig = rust.add_rig(rig_of(file)).unwrap();
        let c = crowd(TAG.into(), null());
        let id = add_rig(c, file);
        assert_eq!(id, rig.to_bits());
        Self { c, id, rust, rig }
    }

    /// Two walkers and one that plays a space of walking and running; both crowds have the same state.
    fn playing(file: &[u8]) -> Self {
        let mut pair = Self::new(file);
        let [walk, run, idle] = pair.clips();
        let space = phx_space_point { clip: walk.to_bits(), at: phx_parameter { x: 1.0, y: 0.0 } };
        let points =
            [space, phx_space_point { clip: run.to_bits(), at: phx_parameter { x: 2.0, y: 0.0 } }];
        let space = pair.rust.add_blend_space(pair.rig, &[(1.0, walk), (2.0, run)]).unwrap();
        let options = phx_space_options {
            points: points.as_ptr(),
            count: 2,
            ..self::options(PHX_SPACE_OPTIONS)
        };
        let c_space = unsafe { get(|out| phx_crowd_add_space(pair.c, pair.id, &options, out)) };
        let crowd = &mut pair.rust;
        let mut all = Vec::new();
        crowd.spawn_many(pair.rig, 4, &mut all).unwrap();
        let once = PlayOptions { loop_mode: LoopMode::Once, ..PlayOptions::default() };
        let stops = PlayOptions { at_end: AtEnd::Stop, time: 0.6, ..once };
        crowd.play(all[0], walk, &PlayOptions::default()).unwrap();
        crowd.play(all[1], walk, &stops).unwrap();
        let half = PlayOptions { parameter: 1.5.into(), ..PlayOptions::default() };
        crowd.play(all[2], space, &half).unwrap();
        crowd.play(all[3], idle, &once).unwrap();
        pair.restore();
        let playing = pair.instances(c_space).unwrap();
        assert_eq!(playing, [all[2].to_bits()]);
        pair
    }

    fn clips(&self) -> [ClipId; 3] {
        ["walk", "run", "idle"].map(|name| self.rust.clip_named(self.rig, name).unwrap())
    }

    /// Gives the ABI's crowd the state of the one in Rust.
    fn restore(&self) {
        let bytes = self.rust.snapshot().to_bytes();
        ok(unsafe { phx_crowd_restore(self.c, bytes.as_ptr(), bytes.len()) });
        self.same();
    }

    fn same(&self) {
        assert!(snapshot(self.c) == self.rust.snapshot().to_bytes(), "snapshots differ");
    }

    fn instances(&self, playable: phx_playable) -> Result<Vec<u64>, phx_status> {
        let (mut out, mut count) = ([u64::MAX; 16], usize::MAX);
        match unsafe {
            phx_crowd_instances(self.c, playable, out.as_mut_ptr(), out.len(), &mut count)
        } {
            PHX_OK => Ok(out[..count].to_vec()),
            status => {
                assert!(out.iter().all(|&id| id == u64::MAX));
                Err(status)
            }
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        ok(unsafe { phx_crowd_free(self.c) });
    }
}

fn crowd(tag: u32, pool: *const phx_pool) -> *mut phx_crowd {
    let options = phx_crowd_options { tag, pool, ..options(PHX_CROWD_OPTIONS) };
    unsafe { get(|out| phx_crowd_new(&options, out)) }
}

fn add_rig(crowd: *mut phx_crowd, file: &[u8]) -> phx_rig_id {
    let rig = rig_handle(file);
    unsafe {
        let id = get(|out| phx_crowd_add_rig(crowd, rig, null(), 0, out));
        ok(phx_rig_free(rig));
        id
    }
}

fn snapshot(crowd: *mut phx_crowd) -> Vec<u8> {
    let (mut data, mut size) = (null(), 0);
    unsafe {
        ok(phx_crowd_snapshot(crowd, &mut data, &mut size));
        std::slice::from_raw_parts(data, size).to_vec()
    }
}

fn spawn(crowd: *mut phx_crowd, rig: phx_rig_id, count: usize) -> Vec<phx_instance> {
    let mut ids = vec![0; count];
    ok(unsafe { phx_crowd_spawn(crowd, rig, count, ids.as_mut_ptr()) });
    ids
}

fn describe(crowd: *const phx_crowd) -> phx_crowd_info {
    let mut info = phx_crowd_info { size: size_of::<phx_crowd_info>(), ..unsafe { zeroed() } };
    ok(unsafe { phx_crowd_describe(crowd, &mut info) });
    info
}

fn root_motion(crowd: *mut phx_crowd, rig: phx_rig_id) -> (Vec<u64>, Vec<f32>, Vec<f32>) {
    let mut out = phx_root_motion { size: size_of::<phx_root_motion>(), ..unsafe { zeroed() } };
    unsafe {
        ok(phx_crowd_root_motion(crowd, rig, &mut out));
        let view = |data, count| std::slice::from_raw_parts::<f32>(data, count).to_vec();
        (
            std::slice::from_raw_parts(out.instances, out.count).to_vec(),
            view(out.translations, 3 * out.count),
            view(out.rotations, 4 * out.count),
        )
    }
}

fn events(crowd: *const phx_crowd) -> Vec<phx_event> {
    let (mut data, mut count) = (null(), 0);
    unsafe {
        ok(phx_crowd_events(crowd, &mut data, &mut count));
        std::slice::from_raw_parts(data, count).to_vec()
    }
}

#[test]
fn a_crowd_is_made_by_its_options() {
    unsafe {
        let random: *mut phx_crowd = get(|out| phx_crowd_new(null(), out));
        let other: *mut phx_crowd = get(|out| phx_crowd_new(null(), out));
        let file = file(2, true);
        assert_ne!(add_rig(random, &file), add_rig(other, &file));
        for crowd in [random, other] {
            ok(phx_crowd_free(crowd));
        }
        ok(phx_crowd_free(null_mut()));

        let none = null_mut::<phx_crowd>();
        let good: phx_crowd_options = options(PHX_CROWD_OPTIONS);
        let pool: *mut phx_pool = get(|out| phx_pool_new(1, out));
        ok(phx_pool_free(pool));
        let cases = [
            (phx_crowd_options { tag: 1024, ..good }, PHX_ERROR_VALUE, "tag"),
            (phx_crowd_options { tag: 65_537, ..good }, PHX_ERROR_VALUE, "tag"),
            (phx_crowd_options { size: good.size - 1, ..good }, PHX_ERROR_STRUCT_SIZE, "size"),
            (phx_crowd_options { pool, ..good }, PHX_ERROR_HANDLE, "the pool was freed"),
        ];
        for (options, status, words) in cases {
            let mut out = none;
            refuses(phx_crowd_new(&options, &mut out), status, words);
            assert_eq!(out, none);
        }
        refuses(phx_crowd_new(&good, null_mut()), PHX_ERROR_NULL, "the crowd's place");
    }
}

/// A step on threads of its own has the same results, also after the pool's handle is gone.
#[test]
fn a_crowd_keeps_its_pool() {
    let file = file(2, true);
    let mut pair = Pair::playing(&file);
    unsafe {
        let pool: *mut phx_pool = get(|out| phx_pool_new(2, out));
        ok(phx_crowd_free(pair.c));
        pair.c = crowd(TAG.into(), pool);
        ok(phx_pool_free(pool));
    }
    assert_eq!(add_rig(pair.c, &file), pair.id);
    let [walk, run, _] = pair.clips().map(ClipId::to_bits);
    let at = |clip, x| phx_space_point { clip, at: phx_parameter { x, y: 0.0 } };
    let points = [at(walk, 1.0), at(run, 2.0)];
    let options =
        phx_space_options { points: points.as_ptr(), count: 2, ..options(PHX_SPACE_OPTIONS) };
    let _: phx_space_id = unsafe { get(|out| phx_crowd_add_space(pair.c, pair.id, &options, out)) };
    pair.restore();
    pair.rust.advance(0.3).unwrap();
    ok(unsafe { phx_crowd_advance(pair.c, 0.3) });
    pair.same();
}

/// The first calls take an id of a rig, a clip or a blend space.
#[test]
fn wrong_handles_and_ids_are_refused() {
    type Call<'a> = &'a dyn Fn(*mut phx_crowd, phx_rig_id, phx_clip_id, phx_space_id) -> phx_status;
    let file = file(2, true);
    let pair = Pair::playing(&file);
    let rig = rig_handle(&file);
    let walk = pair.clips()[0].to_bits();
    let clip: *mut phx_clip = unsafe { get(|out| phx_crowd_clip(pair.c, walk, out)) };
    let name = c"walk".as_ptr();
    let calls: [(&str, Call<'_>); 20] = unsafe {
        [
            ("rig", &|c, id, _, _| phx_crowd_rig(c, id, &mut null_mut())),
            ("remove_rig", &|c, id, _, _| phx_crowd_remove_rig(c, id)),
            ("set_rig_options", &|c, id, _, _| phx_crowd_set_rig_options(c, id, null())),
            ("add_clip", &|c, id, _, _| phx_crowd_add_clip(c, id, clip, &mut 0)),
            ("clip_named", &|c, id, _, _| phx_crowd_clip_named(c, id, name, PHX_NUL, &mut 0)),
            ("clip_at", &|c, id, _, _| phx_crowd_clip_at(c, id, 0, &mut 0)),
            ("add_space", &|c, id, _, _| phx_crowd_add_space(c, id, null(), &mut 0)),
            ("spawn", &|c, id, _, _| phx_crowd_spawn(c, id, 1, &mut 0)),
            ("root_motion", &|c, id, _, _| {
                let size = size_of::<phx_root_motion>();
                phx_crowd_root_motion(c, id, &mut phx_root_motion { size, ..zeroed() })
            }),
            ("remove_clip", &|c, _, clip, _| phx_crowd_remove_clip(c, clip)),
            ("clip", &|c, _, clip, _| phx_crowd_clip(c, clip, &mut null_mut())),
            ("instances", &|c, _, clip, _| phx_crowd_instances(c, clip, null_mut(), 0, &mut 0)),
            ("despawn", &|c, _, clip, _| phx_crowd_despawn(c, &clip, 1)),
            ("remove_space", &|c, _, _, space| phx_crowd_remove_space(c, space)),
            ("space_points", &|c, _, _, space| {
                phx_crowd_space_points(c, space, null_mut(), 0, &mut 0)
            }),
            ("add_rig", &|c, _, _, _| phx_crowd_add_rig(c, rig, null(), 0, &mut 0)),
            ("advance", &|c, _, _, _| phx_crowd_advance(c, 0.1)),
            ("events", &|c, _, _, _| phx_crowd_events(c, &mut null(), &mut 0)),
            ("snapshot", &|c, _, _, _| phx_crowd_snapshot(c, &mut null(), &mut 0)),
            ("describe", &|c, _, _, _| {
                let size = size_of::<phx_crowd_info>();
                phx_crowd_describe(c, &mut phx_crowd_info { size, ..zeroed() })
            }),
        ]
    };
    let freed = crowd(1, null());
    ok(unsafe { phx_crowd_free(freed) });
    // A crowd with the same calls and another tag: its ids are well-formed, and of another crowd.
    let foreign = crowd(8, null());
    let foreign_rig = add_rig(foreign, &file);
    let foreign_clip = unsafe { get(|out| phx_crowd_clip_at(foreign, foreign_rig, 0, out)) };
    let space_bit = 1 << 63;
    let with_ids = 15;
    let space = space_bit | walk;
    for (i, (name, call)) in calls.iter().enumerate() {
        println!("{name}");
        refuses(call(null_mut(), pair.id, walk, space), PHX_ERROR_NULL, "the crowd is null");
        refuses(call(freed, pair.id, walk, space), PHX_ERROR_HANDLE, "the crowd was freed");
        refuses(call(rig.cast(), pair.id, walk, space), PHX_ERROR_HANDLE, "not of a crowd");
        if i < with_ids {
            let junk = space_bit | 1;
            for (rig, clip, space) in [
                (foreign_rig, foreign_clip, foreign_clip | space_bit),
                (foreign_rig << 40, u64::MAX >> 1, walk),
                (1 << 40, space_bit | 5, junk),
            ] {
                refuses(call(pair.c, rig, clip, space), PHX_ERROR_ID, "");
            }
        }
    }
    pair.same();
    unsafe {
        ok(phx_crowd_free(foreign));
        ok(phx_clip_free(clip));
        ok(phx_rig_free(rig));
    }
}

/// Null and misaligned places, arrays that are null: nothing changes.
#[test]
fn wrong_places_are_refused() {
    let file = file(2, true);
    let pair = Pair::playing(&file);
    let rig = rig_handle(&file);
    let (c, id, walk) = (pair.c, pair.id, pair.clips()[0].to_bits());
    unsafe {
        let clip: *mut phx_clip = get(|out| phx_crowd_clip(c, walk, out));
        let name = c"walk".as_ptr();
        let statuses = [
            phx_crowd_add_rig(c, rig, null(), 0, null_mut()),
            phx_crowd_add_rig(c, rig, null(), 1, &mut 0),
            phx_crowd_add_rig(c, null(), null(), 0, &mut 0),
            phx_crowd_rig(c, id, null_mut()),
            phx_crowd_add_clip(c, id, clip, null_mut()),
            phx_crowd_add_clip(c, id, null(), &mut 0),
            phx_crowd_clip(c, walk, null_mut()),
            phx_crowd_clip_named(c, id, name, PHX_NUL, null_mut()),
            phx_crowd_clip_named(c, id, null(), PHX_NUL, &mut 0),
            phx_crowd_clip_named(c, id, null(), 4, &mut 0),
            phx_crowd_clip_at(c, id, 0, null_mut()),
            phx_crowd_spawn(c, id, 3, null_mut()),
            phx_crowd_despawn(c, null(), 1),
            phx_crowd_instances(c, 0, null_mut(), 0, null_mut()),
            phx_crowd_instances(c, 0, null_mut(), 4, &mut 0),
            phx_crowd_events(c, null_mut(), &mut 0),
            phx_crowd_events(c, &mut null(), null_mut()),
            phx_crowd_root_motion(c, id, null_mut()),
            phx_crowd_snapshot(c, null_mut(), &mut 0),
            phx_crowd_snapshot(c, &mut null(), null_mut()),
            phx_crowd_restore(c, null(), 1),
            phx_crowd_describe(c, null_mut()),
        ];
        assert_eq!(statuses, [PHX_ERROR_NULL; 22]);
        let mut place = [0u64; 2];
        let odd = place.as_mut_ptr().cast::<u8>().add(1);
        refuses(phx_crowd_spawn(c, id, 1, odd.cast()), PHX_ERROR_VALUE, "multiple of 8");
        let mut info = phx_crowd_info { size: 8, ..zeroed() };
        refuses(phx_crowd_describe(c, &mut info), PHX_ERROR_STRUCT_SIZE, "phx_crowd_info");
        let mut roots = phx_root_motion { size: 1 << 20, ..zeroed() };
        refuses(phx_crowd_root_motion(c, id, &mut roots), PHX_ERROR_STRUCT_SIZE, "phx_root_motion");
        assert!(roots.instances.is_null());
        ok(phx_clip_free(clip));
        ok(phx_rig_free(rig));
    }
    pair.same();
}

#[test]
fn rigs_have_the_layers_that_they_are_given() {
    let file = file(3, true);
    let (handle, rig) = (rig_handle(&file), rig_of(&file));
    let weights = [0.0, 0.5, 1.0];
    let zeros: phx_layer_options = unsafe {
        let mut layer: phx_layer_options = zeroed();
        let size = size_of::<phx_layer_options>();
        ok(phx_options_init(PHX_LAYER_OPTIONS, (&raw mut layer).cast(), size));
        layer
    };
    let masked = phx_layer_options { mask: weights.as_ptr(), mask_count: 3, ..zeros };
    let layers = [
        zeros,
        phx_layer_options { fill: PHX_FILL_BELOW, ..masked },
        phx_layer_options { additive: 7, ..zeros },
    ];
    let mask = JointMask::from_weights(rig.skeleton(), &weights).unwrap();
    let rust = vec![
        LayerOptions::default(),
        LayerOptions { mask: Some(mask), fill: Fill::Below, additive: false },
        LayerOptions { additive: true, ..LayerOptions::default() },
    ];
    let mut twin = Crowd::with_tag(TAG).unwrap();
    let twin_rig = twin.add_rig_with_layers(rig, rust).unwrap();
    let c = crowd(TAG.into(), null());
    unsafe {
        let nan = [f32::NAN, 0.0, 0.0];
        let many = vec![zeros; 17];
        let refused = [
            (
                vec![zeros, phx_layer_options { fill: 2, ..zeros }],
                PHX_ERROR_VALUE,
                "layer 1: the fill is 2",
            ),
            (
                vec![phx_layer_options { mask_count: 2, ..masked }],
                PHX_ERROR_DATA,
                "2 weights given for 3 joints",
            ),
            (vec![phx_layer_options { mask: nan.as_ptr(), ..masked }], PHX_ERROR_DATA, "NaN"),
            (vec![phx_layer_options { mask: null(), ..masked }], PHX_ERROR_NULL, "the mask"),
            (many, PHX_ERROR_LIMIT, "layers"),
            (
                vec![phx_layer_options { size: 0, ..zeros }, zeros],
                PHX_ERROR_STRUCT_SIZE,
                "phx_layer_options",
            ),
            (
                vec![zeros, phx_layer_options { size: zeros.size - 8, ..zeros }],
                PHX_ERROR_STRUCT_SIZE,
                "the layers: 1 states another size than the first",
            ),
        ];
        for (layers, status, words) in refused {
            let mut id = 5;
            let call = phx_crowd_add_rig(c, handle, layers.as_ptr(), layers.len(), &mut id);
            refuses(call, status, words);
            assert_eq!(id, 5);
        }
        let id = get(|out| phx_crowd_add_rig(c, handle, layers.as_ptr(), 3, out));
        assert_eq!(id, twin_rig.to_bits());
        assert!(snapshot(c) == twin.snapshot().to_bytes());
        let other = crowd(TAG.into(), null());
        let _: u64 = get(|out| phx_crowd_add_rig(other, handle, layers.as_ptr(), 2, out));
        let bytes = snapshot(c);
        refuses(phx_crowd_restore(other, bytes.as_ptr(), bytes.len()), PHX_ERROR_DATA, "");

        // The handle of a crowd's rig is one of its own, and outlives the crowd.
        let again: *mut phx_rig = get(|out| phx_crowd_rig(c, id, out));
        ok(phx_rig_free(handle));
        spawn(c, id, 1);
        refuses(phx_crowd_remove_rig(c, id), PHX_ERROR_STATE, "1 instance");
        let all = twin.spawn(twin_rig).unwrap().to_bits();
        ok(phx_crowd_despawn(c, &all, 1));
        ok(phx_crowd_remove_rig(c, id));
        refuses(phx_crowd_remove_rig(c, id), PHX_ERROR_ID, "was removed");
        ok(phx_crowd_free(c));
        let id: phx_rig_id = get(|out| phx_crowd_add_rig(other, again, null(), 0, out));
        assert_ne!(id, 0);
        ok(phx_rig_free(again));
        ok(phx_crowd_free(other));
    }
}

#[test]
fn clips_come_and_go() {
    let made = file(2, true);
    let mut pair = Pair::new(&made);
    let (c, id) = (pair.c, pair.id);
    let [walk, run, idle] = pair.clips();
    unsafe {
        for (i, (name, clip)) in ["walk", "run", "idle"].iter().zip([walk, run, idle]).enumerate() {
            let named =
                get(|out| phx_crowd_clip_named(c, id, name.as_ptr().cast(), name.len(), out));
            let at = get(|out| phx_crowd_clip_at(c, id, i as u32, out));
            assert_eq!([named, at], [clip.to_bits(); 2], "{name}");
        }
        let mut out = 9;
        let named = phx_crowd_clip_named(c, id, c"wolk".as_ptr(), PHX_NUL, &mut out);
        refuses(named, PHX_ERROR_NOT_FOUND, "walk");
        let named = phx_crowd_clip_named(c, id, [0xffu8].as_ptr().cast(), 1, &mut out);
        refuses(named, PHX_ERROR_UTF8, "the name");
        for index in [3, u32::MAX] {
            let at = phx_crowd_clip_at(c, id, index, &mut out);
            refuses(at, PHX_ERROR_NOT_FOUND, &format!("no clip {index}"));
        }
        assert_eq!(out, 9);

        // A clip of another rig with the same joints fits, one of other joints does not.
        let other = crowd(8, null());
        let donor = |joints| {
            let rig = add_rig(other, &file(joints, true));
            let clip = get(|out| phx_crowd_clip_at(other, rig, 1, out));
            get(|out: *mut *mut phx_clip| phx_crowd_clip(other, clip, out))
        };
        let (fits, differs) = (donor(2), donor(3));
        ok(phx_crowd_free(other));
        let added = pair.rust.add_clip(pair.rig, rig_of(&made).clips()[1].clone()).unwrap();
        assert_eq!(get(|out| phx_crowd_add_clip(c, id, fits, out)), added.to_bits());
        assert_eq!(get(|out| phx_crowd_clip_at(c, id, 3, out)), added.to_bits());
        refuses(phx_crowd_add_clip(c, id, differs, &mut out), PHX_ERROR_DATA, "joint");
        ok(phx_clip_free(fits));
        refuses(phx_crowd_add_clip(c, id, fits, &mut out), PHX_ERROR_HANDLE, "the clip was freed");
        ok(phx_clip_free(differs));

        ok(phx_crowd_remove_clip(c, added.to_bits()));
        refuses(phx_crowd_remove_clip(c, added.to_bits()), PHX_ERROR_ID, "");
        refuses(phx_crowd_clip_at(c, id, 3, &mut out), PHX_ERROR_NOT_FOUND, "no clip 3");
        pair.rust.unload_clip(added).unwrap();
        pair.same();
        let all = pair.rust.spawn(pair.rig).unwrap();
        pair.rust.play(all, walk, &PlayOptions::default()).unwrap();
        pair.restore();
        refuses(phx_crowd_remove_clip(c, walk.to_bits()), PHX_ERROR_STATE, "walk");
        assert_eq!(pair.instances(walk.to_bits()), Ok(vec![all.to_bits()]));
        assert_eq!(pair.instances(run.to_bits()), Ok(vec![]));
    }
}

#[test]
fn blend_spaces_are_those_of_the_library() {
    let file = file(2, true);
    let mut pair = Pair::new(&file);
    let (c, id) = (pair.c, pair.id);
    let [walk, run, idle] = pair.clips();
    let at =
        |clip: ClipId, x, y| phx_space_point { clip: clip.to_bits(), at: phx_parameter { x, y } };
    let points = [at(idle, 0.0, 0.0), at(walk, 1.0, 2.0), at(run, 4.0, 1.0)];
    let base = phx_space_options {
        points: points.as_ptr(),
        count: 3,
        following: 0.25,
        ..options(PHX_SPACE_OPTIONS)
    };
    let plane = [([0.0; 2], idle), ([1.0, 2.0], walk), ([4.0, 1.0], run)];
    let kinds = [
        (PHX_BLEND_LINE, BlendSpace::line(&[(0.0, idle), (1.0, walk), (4.0, run)])),
        (PHX_BLEND_PLANE, BlendSpace::plane(&plane)),
        (PHX_BLEND_BY_SPEED, BlendSpace::by_speed(&[idle, walk, run])),
    ];
    let mut spaces = Vec::new();
    unsafe {
        for (kind, space) in kinds {
            let options = phx_space_options { kind, ..base };
            let space = pair.rust.add_blend_space(pair.rig, space.following(0.25)).unwrap();
            let added = get(|out| phx_crowd_add_space(c, id, &options, out));
            let mut count = 0;
            ok(phx_crowd_space_points(c, added, null_mut(), 0, &mut count));
            assert_eq!(count, 3);
            let mut have = [at(idle, 9.0, 9.0); 3];
            let short = phx_crowd_space_points(c, added, have.as_mut_ptr(), 2, &mut count);
            refuses(short, PHX_ERROR_SHORT, "room for 2, 3 needed");
            assert_eq!((count, have), (3, [at(idle, 9.0, 9.0); 3]));
            ok(phx_crowd_space_points(c, added, have.as_mut_ptr(), 3, &mut count));
            let want = pair.rust.blend_space(space).unwrap();
            assert!(want.map(|(p, clip)| at(clip, p.x, p.y)).eq(have));
            if kind == PHX_BLEND_BY_SPEED {
                assert_eq!(have[1], at(walk, WALK, 0.0));
            }
            spaces.push((added, space));
        }
        // Its clips travel along one line.
        let velocity = phx_space_options { kind: PHX_BLEND_BY_VELOCITY, ..base };
        let refused =
            pair.rust.add_blend_space(pair.rig, BlendSpace::by_velocity(&[idle, walk, run]));
        let words = refused.unwrap_err().to_string();
        assert!(words.contains("line"));
        let mut out = 3;
        refuses(phx_crowd_add_space(c, id, &velocity, &mut out), PHX_ERROR_VALUE, &words);
        pair.same();

        let foreign = add_rig(c, &self::file(3, true));
        let other = get(|out| phx_crowd_clip_at(c, foreign, 0, out));
        let of = |points: &[phx_space_point]| phx_space_options {
            points: points.as_ptr(),
            count: points.len(),
            ..base
        };
        let falls = [at(walk, 1.0, 0.0), at(run, 0.5, 0.0)];
        let nan = [at(walk, f32::NAN, 0.0)];
        let foreigner = [at(walk, 1.0, 0.0), phx_space_point { clip: other, ..at(run, 2.0, 0.0) }];
        let unknown = [at(walk, 1.0, 0.0), phx_space_point { clip: 0, ..at(run, 2.0, 0.0) }];
        let refused = [
            (phx_space_options { kind: 4, ..base }, PHX_ERROR_VALUE, "blend space is 4"),
            (phx_space_options { following: f32::NAN, ..base }, PHX_ERROR_VALUE, "following"),
            (phx_space_options { count: 0, ..base }, PHX_ERROR_VALUE, "no clips"),
            (phx_space_options { points: null(), ..base }, PHX_ERROR_NULL, "the points"),
            (phx_space_options { size: 4, ..base }, PHX_ERROR_STRUCT_SIZE, "phx_space_options"),
            (of(&falls), PHX_ERROR_VALUE, "ascend"),
            (of(&nan), PHX_ERROR_VALUE, "NaN"),
            (of(&foreigner), PHX_ERROR_ID, ""),
            (of(&unknown), PHX_ERROR_ID, "point 1: 0x0 is not the id of a clip"),
        ];
        let before = snapshot(c);
        for (options, status, words) in refused {
            refuses(phx_crowd_add_space(c, id, &options, &mut out), status, words);
        }
        refuses(phx_crowd_add_space(c, id, &base, null_mut()), PHX_ERROR_NULL, "place");
        assert_eq!(out, 3);
        assert!(snapshot(c) == before);
        ok(phx_crowd_remove_rig(c, foreign));
        pair.rust
            .add_rig(rig_of(&self::file(3, true)))
            .and_then(|rig| pair.rust.remove_rig(rig))
            .unwrap();

        let (added, space) = spaces[0];
        let who = pair.rust.spawn(pair.rig).unwrap();
        pair.rust.play(who, space, &PlayOptions::default()).unwrap();
        pair.restore();
        refuses(phx_crowd_remove_space(c, added), PHX_ERROR_STATE, "1 action");
        refuses(phx_crowd_remove_clip(c, walk.to_bits()), PHX_ERROR_STATE, "walk");
        ok(phx_crowd_remove_space(c, spaces[1].0));
        refuses(phx_crowd_remove_space(c, spaces[1].0), PHX_ERROR_ID, "");
        refuses(phx_crowd_space_points(c, spaces[1].0, null_mut(), 0, &mut 0), PHX_ERROR_ID, "");
    }
}

#[test]
fn characters_come_and_go() {
    let file = file(2, true);
    let mut pair = Pair::new(&file);
    let (c, id) = (pair.c, pair.id);
    let ids = spawn(c, id, 5);
    let mut all = Vec::new();
    pair.rust.spawn_many(pair.rig, 5, &mut all).unwrap();
    assert!(all.iter().map(|id| id.to_bits()).eq(ids.iter().copied()));
    spawn(c, id, 0);
    assert_eq!(pair.instances(0), Ok(ids.clone()));
    assert_eq!(describe(c).instance_count, 5);
    unsafe {
        let mut count = 0;
        ok(phx_crowd_instances(c, 0, null_mut(), 0, &mut count));
        assert_eq!(count, 5);
        let mut out = [1; 5];
        let short = phx_crowd_instances(c, 0, out.as_mut_ptr(), 4, &mut count);
        refuses(short, PHX_ERROR_SHORT, "room for 4, 5 needed");
        assert_eq!((count, out), (5, [1; 5]));
        refuses(phx_crowd_instances(c, 1, null_mut(), 0, &mut count), PHX_ERROR_ID, "a clip or a");

        // One id of several is wrong: all stay.
        let twice = [ids[1], ids[2], ids[1]];
        refuses(phx_crowd_despawn(c, twice.as_ptr(), 3), PHX_ERROR_ID, "element 2");
        let wrong = [ids[1], 0];
        refuses(phx_crowd_despawn(c, wrong.as_ptr(), 2), PHX_ERROR_ID, "element 1: 0x0");
        pair.same();
        ok(phx_crowd_despawn(c, ids[1..3].as_ptr(), 2));
        pair.rust.despawn_many(&all[1..3]).unwrap();
        pair.same();
        refuses(phx_crowd_despawn(c, &ids[1], 1), PHX_ERROR_ID, "was despawned");
        ok(phx_crowd_despawn(c, null(), 0));
        assert_eq!(pair.instances(0), Ok(vec![ids[0], ids[3], ids[4]]));

        let mut room = vec![1; MAX_INSTANCES + 1];
        let spawned = phx_crowd_spawn(c, id, room.len(), room.as_mut_ptr());
        refuses(spawned, PHX_ERROR_LIMIT, "instances");
        assert!(room.iter().all(|&id| id == 1));
        pair.same();
    }
}

#[test]
fn steps_give_the_events_and_root_motion_of_the_library() {
    let mut pair = Pair::playing(&file(2, true));
    let (c, id) = (pair.c, pair.id);
    assert_eq!((events(c), root_motion(c, id).0), (vec![], vec![]));
    let mut kinds = [0; 4];
    for step in 0..30 {
        let seconds = 0.1 + 0.003 * f64::from(step);
        pair.rust.advance(seconds).unwrap();
        ok(unsafe { phx_crowd_advance(c, seconds) });
        let have = events(c);
        let want = pair.rust.events().iter().map(|e| phx_event {
            instance: e.instance.to_bits(),
            clip: e.clip.to_bits(),
            layer: e.layer.into(),
            kind: [EventKind::Marker, EventKind::Looped, EventKind::Finished, EventKind::Stopped]
                .iter()
                .position(|&kind| kind == e.kind)
                .unwrap() as u32,
            marker: e.marker.into(),
            time: e.time,
            weight: e.weight,
            leading: e.leading.into(),
        });
        assert!(want.eq(have.iter().copied()), "{have:?}");
        have.iter().for_each(|event| kinds[event.kind as usize] += 1);
        let (ids, translations, rotations) = root_motion(c, id);
        let want = pair.rust.root_motion(pair.rig).unwrap();
        assert!(want.instances.iter().map(|id| id.to_bits()).eq(ids.iter().copied()));
        assert_eq!(
            want.translations.iter().flat_map(|t| t.to_array()).collect::<Vec<_>>(),
            translations
        );
        assert_eq!(want.rotations.iter().flat_map(|r| r.to_array()).collect::<Vec<_>>(), rotations);
        // The first walks at its speed, through all loops.
        assert!((translations[2] - WALK * seconds as f32).abs() < 1e-5, "{translations:?}");
        assert_eq!(rotations[..4], [0.0, 0.0, 0.0, 1.0]);
    }
    pair.same();
    assert!(kinds.iter().all(|&count| count > 0), "{kinds:?}");
    // A step that is refused keeps all.
    ok(unsafe { phx_crowd_advance(c, 0.7) });
    let (had, before) = (events(c), snapshot(c));
    assert!(!had.is_empty());
    for seconds in [f64::NAN, f64::INFINITY, 1.1e9, -1.1e9] {
        refuses(unsafe { phx_crowd_advance(c, seconds) }, PHX_ERROR_VALUE, "dt");
    }
    assert!(events(c) == had && snapshot(c) == before);
    // An action fires at most 64 events in a step.
    ok(unsafe { phx_crowd_advance(c, 100.0) });
    pair.rust.advance(0.7).unwrap();
    pair.rust.advance(100.0).unwrap();
    let info = describe(c);
    let want = phx_crowd_info {
        size: size_of::<phx_crowd_info>(),
        instance_count: 4,
        evicted: pair.rust.evicted(),
        dropped_events: pair.rust.dropped_events(),
        inertial_bytes: pair.rust.inertial_bytes() as u64,
        inertial_refused: pair.rust.inertial_refused(),
    };
    assert_eq!(info, want);
    assert!(info.dropped_events > 0);
}

/// The counts of `phx_crowd_describe` that need full layers and inertial fades.
#[test]
fn counts_are_those_of_the_library() {
    let mut pair = Pair::new(&file(2, false));
    let [walk, run, _] = pair.clips();
    let who = pair.rust.spawn(pair.rig).unwrap();
    pair.rust.play(who, walk, &PlayOptions::default()).unwrap();
    pair.rust.advance(0.1).unwrap();
    let fade = CrossFade { seconds: 0.5, kind: FadeKind::Inertial, ..CrossFade::default() };
    let mut player = pair.rust.player(who).unwrap();
    player.cross_fade(0, walk, run, fade, &PlayOptions::default()).unwrap();
    // One action more than a layer has room for.
    for n in 0..=ACTIONS_PER_LAYER {
        let at = n as f32;
        let space = pair.rust.add_blend_space(pair.rig, &[(at, walk)]).unwrap();
        let point = phx_space_point { clip: walk.to_bits(), at: phx_parameter { x: at, y: 0.0 } };
        let options = phx_space_options { points: &point, count: 1, ..options(PHX_SPACE_OPTIONS) };
        let added = unsafe { get(|out| phx_crowd_add_space(pair.c, pair.id, &options, out)) };
        assert_eq!(added, space.to_bits() | 1 << 63);
        pair.rust.fade_to(who, space, 9.0, &PlayOptions::default()).unwrap();
        pair.rust.advance(0.01).unwrap();
    }
    pair.restore();
    let (info, bytes) = (describe(pair.c), pair.rust.inertial_bytes() as u64);
    assert!(bytes > 0 && pair.rust.evicted() > 0);
    assert_eq!((info.inertial_bytes, info.evicted), (bytes, pair.rust.evicted()));
}

#[test]
fn options_of_rigs_are_those_of_the_library() {
    let mut pair = Pair::playing(&file(2, true));
    let (c, id) = (pair.c, pair.id);
    let base: phx_rig_options = options(PHX_RIG_OPTIONS);
    assert_eq!((base.events, base.track_root_motion, base.apply_root_motion), (15, 1, 0));
    let set = |options: &phx_rig_options| unsafe { phx_crowd_set_rig_options(c, id, options) };
    let step = || {
        ok(unsafe { phx_crowd_advance(c, 1.7) });
        let kinds = events(c).iter().fold(0, |kinds, event| kinds | 1 << event.kind);
        (kinds, root_motion(c, id).0.len())
    };
    let start = pair.rust.snapshot().to_bytes();
    let again = || ok(unsafe { phx_crowd_restore(c, start.as_ptr(), start.len()) });
    let all = PHX_EVENTS_MARKERS | PHX_EVENTS_LOOPS | PHX_EVENTS_FINISHES | PHX_EVENTS_STOPS;
    // Nothing has finished within 1.7 s but the action that stops.
    let (with_all, roots) = step();
    assert_eq!((with_all, roots), (all, 3));
    for kinds in [0, PHX_EVENTS_MARKERS, PHX_EVENTS_LOOPS, PHX_EVENTS_FINISHES, PHX_EVENTS_STOPS, 6]
    {
        again();
        ok(set(&phx_rig_options { events: kinds, ..base }));
        assert_eq!(step(), (kinds, 3));
    }
    again();
    ok(set(&phx_rig_options { track_root_motion: 0, ..base }));
    assert_eq!(step(), (all, 0));

    // Applied, it moves the characters in the world.
    again();
    ok(set(&phx_rig_options { apply_root_motion: 1, ..base }));
    pair.rust.apply_root_motion(pair.rig, true).unwrap();
    pair.same();
    step();
    pair.rust.advance(1.7).unwrap();
    pair.same();
    let first = pair.rust.instances().next().unwrap();
    assert!((pair.rust.world(first).unwrap().translation().z - WALK * 1.7).abs() < 1e-5);
    refuses(
        set(&phx_rig_options { events: 16, apply_root_motion: 0, ..base }),
        PHX_ERROR_VALUE,
        "16",
    );
    refuses(set(&phx_rig_options { size: 0, ..base }), PHX_ERROR_STRUCT_SIZE, "phx_rig_options");
    pair.same();
    // Null stands for the defaults.
    ok(unsafe { phx_crowd_set_rig_options(c, id, null()) });
    pair.rust.apply_root_motion(pair.rig, false).unwrap();
    step();
    pair.rust.advance(1.7).unwrap();
    pair.same();
}

#[test]
fn root_motion_is_not_applied_to_rigs_without_any() {
    let pair = Pair::playing(&file(2, false));
    let (c, id) = (pair.c, pair.id);
    let options = phx_rig_options { events: 0, apply_root_motion: 1, ..options(PHX_RIG_OPTIONS) };
    refuses(unsafe { phx_crowd_set_rig_options(c, id, &options) }, PHX_ERROR_STATE, "root motion");
    // The events stay, too.
    ok(unsafe { phx_crowd_advance(c, 1.7) });
    assert!(!events(c).is_empty());
    assert!(root_motion(c, id).0.is_empty());
}

#[test]
fn snapshots_go_back_and_forth() {
    let mut pair = Pair::playing(&file(2, true));
    let c = pair.c;
    unsafe {
        let (mut data, mut size) = (null(), 0);
        ok(phx_crowd_snapshot(c, &mut data, &mut size));
        let start = std::slice::from_raw_parts(data, size).to_vec();
        ok(phx_crowd_advance(c, 0.75));
        let (later, had) = (snapshot_of(&pair, 0.75), events(c));
        assert!(!had.is_empty());
        // The bytes stay over other calls, and may be those that the crowd lends.
        assert!(std::slice::from_raw_parts(data, size) == start);
        ok(phx_crowd_restore(c, data, size));
        assert!(events(c).is_empty());
        assert!(snapshot(c) == start);
        ok(phx_crowd_advance(c, 0.75));
        assert!(snapshot(c) == later && events(c) == had);

        let (mut turned, mut versions) = (start.clone(), 0);
        for cut in (0..32).chain((32..start.len()).step_by(7)).chain([start.len() - 1]) {
            refuses(phx_crowd_restore(c, start.as_ptr(), cut), PHX_ERROR_DATA, "");
            turned[cut] ^= 0x55;
            let (status, words) = match CrowdSnapshot::from_bytes(&turned).unwrap_err() {
                error @ CrowdError::SnapshotVersion { .. } => {
                    versions += 1;
                    (PHX_ERROR_VERSION, error.to_string())
                }
                error => (PHX_ERROR_DATA, error.to_string()),
            };
            refuses(phx_crowd_restore(c, turned.as_ptr(), turned.len()), status, &words);
            turned[cut] ^= 0x55;
        }
        assert!(versions > 0);
        assert!(snapshot(c) == later && events(c) == had);
        // Another crowd's takes its tag along.
        let other = crowd(8, null());
        let rig = rig_handle(&file(2, true));
        let _: u64 = get(|out| phx_crowd_add_rig(other, rig, null(), 0, out));
        refuses(phx_crowd_restore(other, start.as_ptr(), start.len()), PHX_ERROR_DATA, "space");
        ok(phx_rig_free(rig));
        ok(phx_crowd_free(other));
    }
    pair.rust.advance(0.75).unwrap();
    pair.same();
}

/// The state of the pair's crowd in Rust, were it advanced.
fn snapshot_of(pair: &Pair, seconds: f64) -> Vec<u8> {
    let mut twin = Crowd::with_tag(TAG).unwrap();
    let rig = twin.add_rig(pair.rust.rig(pair.rig).unwrap().clone()).unwrap();
    let [walk, run, _] = pair.clips();
    assert_eq!(rig, pair.rig);
    twin.add_blend_space(rig, &[(1.0, walk), (2.0, run)]).unwrap();
    twin.restore(&pair.rust.snapshot()).unwrap();
    twin.advance(seconds).unwrap();
    twin.snapshot().to_bytes()
}
