//! Rigs and clips that are made from arrays.

use super::*;
use phalanx::build::{BuildOptions, build_rig};
use phalanx::import::raw::{Interpolation, RawChannel};
use phalanx::import::{MANNEQUIN, read_slice};

const REST: phx_trs =
    phx_trs { translation: [0.0, 1.0, 0.0], rotation: [0.0, 0.0, 0.0, 1.0], scale: [1.0; 3] };
const PARENTS: [u32; 3] = [PHX_NONE, 0, 1];

fn track(channel: phx_channel, times: &[f32], values: &[f32]) -> phx_track {
    phx_track {
        joint: 1,
        channel,
        interpolation: PHX_LINEAR,
        times: times.as_ptr(),
        key_count: times.len(),
        values: values.as_ptr(),
        value_count: values.len(),
    }
}

fn clip_arrays(tracks: &[phx_track]) -> phx_clip_arrays {
    phx_clip_arrays {
        name: phx_text::of("made"),
        tracks: tracks.as_ptr(),
        track_count: tracks.len(),
        ..defaults::<phx_clip_arrays>(PHX_CLIP_ARRAYS)
    }
}

fn arm(rest: &[phx_trs; 3]) -> phx_rig_arrays {
    phx_rig_arrays {
        name: phx_text::of("arm"),
        joint_count: 3,
        parents: PARENTS.as_ptr(),
        rest: rest.as_ptr(),
        ..defaults::<phx_rig_arrays>(PHX_RIG_ARRAYS)
    }
}

fn rig_of(arrays: &phx_rig_arrays) -> *mut phx_rig {
    made(|out| unsafe { phx_rig_new_arrays(arrays, out) })
}

fn clip_of(rig: *const phx_rig, arrays: &phx_clip_arrays) -> *mut phx_clip {
    made(|out| unsafe { phx_clip_new_arrays(rig, arrays, out) })
}

/// The tracks of a file, handed over as arrays, make the clips that its import makes.
#[test]
fn clips_of_arrays_equal_those_of_a_file() {
    let (name, bytes) = MANNEQUIN[0];
    let (raw, _) = read_slice(bytes, name, None, &encoded()).unwrap();
    let rig = build_rig(raw.clone(), &BuildOptions::default()).unwrap();
    let own = rig_memory(bytes, name, null());
    for (index, clip) in raw.clips.iter().enumerate() {
        let tracks: Vec<phx_track> = clip
            .tracks
            .iter()
            .map(|t| phx_track {
                joint: rig.nodes()[t.node].joint.unwrap().into(),
                channel: match t.channel {
                    RawChannel::Translation => PHX_CHANNEL_TRANSLATION,
                    RawChannel::Rotation => PHX_CHANNEL_ROTATION,
                    RawChannel::Scale => PHX_CHANNEL_SCALE,
                    RawChannel::Weights => panic!("it has no morph targets"),
                },
                interpolation: match t.interpolation {
                    Interpolation::Linear => PHX_LINEAR,
                    Interpolation::Step => PHX_STEP,
                    Interpolation::CubicSpline => PHX_CUBIC,
                },
                ..track(0, &t.times, &t.values)
            })
            .collect();
        let mark =
            |m: &phalanx::clip::Marker| phx_marker { name: phx_text::of(&m.name), time: m.time };
        let markers: Vec<phx_marker> = clip.markers.iter().map(mark).collect();
        let arrays = phx_clip_arrays {
            name: phx_text::of(rig.clips()[index].name()),
            markers: markers.as_ptr(),
            marker_count: markers.len(),
            duration: clip.duration,
            ..clip_arrays(&tracks)
        };
        let made = clip_of(own, &arrays);
        assert_eq!(clip_info(made).content_hash, rig.clips()[index].content_hash());
        free_clip(made);
    }
    free_rig(own);
}

#[test]
fn clips_of_arrays_fit_rigs_with_channels() {
    let own = rig_memory(&phx(&super::rig::with_channels(), ClipForm::Rows), "made", null());
    let times = [0.0, 0.5, 2.0];
    let steps = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.0, 0.0];
    let tracks = [phx_track { interpolation: PHX_STEP, ..track(0, &times, &steps) }];
    let mark = phx_marker { name: phx_text::of("tick"), time: 1.5 };
    let arrays =
        phx_clip_arrays { markers: &raw const mark, marker_count: 1, ..clip_arrays(&tracks) };
    let clip = clip_of(own, &arrays);
    let info = clip_info(clip);
    assert_eq!((string(info.name).as_str(), info.duration), ("made", 2.0));
    assert_eq!((info.marker_count, info.key_count), (1, 3));
    // An additive clip of it needs the rig's skeleton, channels and all.
    free_clip(made(|out| unsafe { phx_clip_new_additive(own, clip, null(), 0.0, out) }));
    free_clip(clip);
    free_rig(own);
}

#[test]
fn rigs_of_arrays_keep_joints_and_bind_to_their_rest_pose() {
    let twice = phx_trs { rotation: [0.0, 2.0, 0.0, 0.0], ..REST };
    let rest = [REST, twice, REST];
    let names = ["root", "arm", "hand"].map(phx_text::of);
    let slots = [2_u32, 1];
    let mut bind = phx_matrix { rows: [[0.0; 4]; 3] };
    (bind.rows[0][0], bind.rows[1][1], bind.rows[2][2], bind.rows[0][3]) = (1.0, 1.0, 1.0, 4.0);
    let binds = [bind; 2];
    let of_rest = phx_skin_arrays {
        name: phx_text::of("skin"),
        joints: slots.as_ptr(),
        inverse_bind: null(),
        count: 2,
    };
    let skins = [of_rest, phx_skin_arrays { inverse_bind: binds.as_ptr(), ..of_rest }];
    let (times, values) = ([0.0, 1.0], [0.0, 0.0, 0.0, 0.0, 3.0, 0.0]);
    let tracks = [track(PHX_CHANNEL_TRANSLATION, &times, &values)];
    let clips = [clip_arrays(&tracks), phx_clip_arrays { duration: 0.5, ..clip_arrays(&[]) }];
    let arrays = phx_rig_arrays {
        joint_names: names.as_ptr(),
        skins: skins.as_ptr(),
        skin_count: 2,
        clips: clips.as_ptr(),
        clip_count: 2,
        ..arm(&rest)
    };
    let rig = rig_of(&arrays);
    let info = rig_info(rig);
    assert_eq!(string(info.name), "arm");
    assert_eq!((info.joint_count, info.node_count, info.mesh_count), (3, 3, 0));
    assert_eq!((info.skin_count, info.palette_length, info.clip_count), (2, 4, 2));
    for (joint, name) in names.iter().enumerate() {
        let own = described(|out| unsafe { phx_rig_joint(rig, joint as u32, out) });
        assert_eq!(string(own.name), string(*name));
        assert_eq!(own.parent, PARENTS[joint]);
        assert_eq!(own.rest.translation, REST.translation);
        let node = described(|out| unsafe { phx_rig_node(rig, joint as u32, out) });
        assert_eq!((node.joint, node.parent), (joint as u32, PARENTS[joint]));
    }
    let arm = described(|out| unsafe { phx_rig_joint(rig, 1, out) });
    assert_eq!(arm.rest.rotation, [0.0, 1.0, 0.0, 0.0], "of length 1");
    let skin = |index| described(|out| unsafe { phx_rig_skin(rig, index, out) });
    assert_eq!(slice(skin(0).joints, 2), [2, 1]);
    // The hand rests at (0, 3, 0), the arm at (0, 2, 0), both turned half about Y.
    for (bind, height) in slice(skin(0).inverse_bind, 2).iter().zip([3.0, 2.0]) {
        let wanted = [[-1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, -height], [0.0, 0.0, -1.0, 0.0]];
        for (have, wanted) in bind.rows.iter().flatten().zip(wanted.as_flattened()) {
            assert!((have - wanted).abs() < 1e-6, "{:?}", bind.rows);
        }
    }
    assert_eq!(slice(skin(1).inverse_bind, 2), binds);
    assert_eq!(skin(1).first_row, 2);
    let clip = made(|out| unsafe { phx_rig_clip(rig, 0, out) });
    assert_eq!((clip_info(clip).duration, clip_info(clip).key_count), (1.0, 2));
    let still = made(|out| unsafe { phx_rig_clip(rig, 1, out) });
    assert_eq!((clip_info(still).duration, clip_info(still).key_count), (0.5, 0));
    // The same clip for the rig that is there is the same.
    let again = clip_of(rig, &clips[0]);
    assert_eq!(clip_info(again).content_hash, clip_info(clip).content_hash);
    for clip in [clip, still, again] {
        free_clip(clip);
    }
    free_rig(rig);
    let plain = rig_of(&self::arm(&rest));
    let joint = described(|out| unsafe { phx_rig_joint(plain, 2, out) });
    assert_eq!(string(joint.name), "joint 2");
    free_rig(plain);
    let nothing = rig_of(&defaults::<phx_rig_arrays>(PHX_RIG_ARRAYS));
    assert_eq!(rig_info(nothing).joint_count, 0);
    free_rig(nothing);
}

#[test]
fn joints_and_skins_are_checked() {
    let rest = [REST; 3];
    let base = arm(&rest);
    let refuse = |status, arrays: phx_rig_arrays| {
        refused(status, |out| unsafe { phx_rig_new_arrays(&raw const arrays, out) })
    };
    let broken = phx_text { data: b"\xff".as_ptr().cast(), length: 1 };
    let late = [1_u32, PHX_NONE, 0];
    let zero = [REST, REST, phx_trs { rotation: [0.0; 4], ..REST }];
    let nan = [REST, REST, phx_trs { scale: [f32::NAN; 3], ..REST }];
    let flat = [REST, REST, phx_trs { scale: [0.0; 3], ..REST }];
    let slots = [0_u32, 3];
    let foreign = phx_skin_arrays {
        name: phx_text::empty(),
        joints: slots.as_ptr(),
        inverse_bind: null(),
        count: 2,
    };
    let last = [2_u32];
    let singular = phx_skin_arrays { joints: last.as_ptr(), count: 1, ..foreign };
    for (status, arrays) in [
        (PHX_ERROR_STRUCT_SIZE, phx_rig_arrays { size: 8, ..base }),
        (PHX_ERROR_NULL, phx_rig_arrays { parents: null(), ..base }),
        (PHX_ERROR_NULL, phx_rig_arrays { rest: null(), ..base }),
        (PHX_ERROR_NULL, phx_rig_arrays { skin_count: 1, ..base }),
        (PHX_ERROR_NULL, phx_rig_arrays { clip_count: 1, ..base }),
        (PHX_ERROR_UTF8, phx_rig_arrays { name: broken, ..base }),
        (PHX_ERROR_DATA, phx_rig_arrays { parents: late.as_ptr(), ..base }),
        (PHX_ERROR_VALUE, phx_rig_arrays { rest: zero.as_ptr(), ..base }),
        (PHX_ERROR_VALUE, phx_rig_arrays { rest: nan.as_ptr(), ..base }),
        (PHX_ERROR_NOT_FOUND, phx_rig_arrays { skins: &raw const foreign, skin_count: 1, ..base }),
        (
            PHX_ERROR_VALUE,
            phx_rig_arrays {
                skins: &raw const singular,
                skin_count: 1,
                rest: flat.as_ptr(),
                ..base
            },
        ),
    ] {
        refuse(status, arrays);
    }
    refused(PHX_ERROR_NULL, |out| unsafe { phx_rig_new_arrays(null(), out) });
    let many = vec![PHX_NONE; 65_536];
    let rests = vec![REST; 65_536];
    refuse(
        PHX_ERROR_LIMIT,
        phx_rig_arrays {
            joint_count: many.len(),
            parents: many.as_ptr(),
            rest: rests.as_ptr(),
            ..base
        },
    );
    // Clips state their size, and all the same.
    let whole = clip_arrays(&[]);
    let mixed = [whole, phx_clip_arrays { size: 0, ..whole }];
    let words = refuse(
        PHX_ERROR_STRUCT_SIZE,
        phx_rig_arrays { clips: mixed.as_ptr(), clip_count: 2, ..base },
    );
    assert!(words.contains("the clips: 1 states another size"), "{words}");
}

#[test]
fn tracks_are_checked() {
    let rest = [REST; 3];
    let rig = rig_of(&arm(&rest));
    let (times, values) = ([0.0, 1.0], [0.0; 6]);
    let base = track(PHX_CHANNEL_TRANSLATION, &times, &values);
    let (same, back, early, endless) = ([1.0, 1.0], [1.0, 0.5], [-1.0, 1.0], [0.0, f32::INFINITY]);
    let (nan, zero) =
        ([0.0, 0.0, f32::NAN, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let with = |times: &[f32; 2]| phx_track { times: times.as_ptr(), ..base };
    let cases = [
        (PHX_ERROR_NOT_FOUND, phx_track { joint: 3, ..base }),
        (PHX_ERROR_NOT_FOUND, phx_track { joint: PHX_NONE, ..base }),
        (PHX_ERROR_VALUE, phx_track { channel: 3, ..base }),
        (PHX_ERROR_VALUE, phx_track { interpolation: 3, ..base }),
        (PHX_ERROR_NULL, phx_track { times: null(), ..base }),
        (PHX_ERROR_NULL, phx_track { values: null(), ..base }),
        (PHX_ERROR_DATA, phx_track { key_count: 0, value_count: 0, ..base }),
        (PHX_ERROR_DATA, phx_track { value_count: 5, ..base }),
        (PHX_ERROR_DATA, phx_track { interpolation: PHX_CUBIC, ..base }),
        (PHX_ERROR_DATA, phx_track { channel: PHX_CHANNEL_ROTATION, ..base }),
        (PHX_ERROR_DATA, with(&same)),
        (PHX_ERROR_DATA, with(&back)),
        (PHX_ERROR_VALUE, with(&early)),
        (PHX_ERROR_VALUE, with(&endless)),
        (PHX_ERROR_VALUE, phx_track { values: nan.as_ptr(), ..base }),
        (PHX_ERROR_VALUE, track(PHX_CHANNEL_ROTATION, &times, &zero)),
    ];
    let refuse = |status, arrays: phx_clip_arrays| {
        refused(status, |out| unsafe { phx_clip_new_arrays(rig, &raw const arrays, out) });
        let rest = [REST; 3];
        let whole = phx_rig_arrays { clips: &raw const arrays, clip_count: 1, ..arm(&rest) };
        refused(status, |out| unsafe { phx_rig_new_arrays(&raw const whole, out) });
    };
    for (status, track) in cases {
        refuse(status, clip_arrays(&[track]));
    }
    refuse(PHX_ERROR_DATA, clip_arrays(&[base, base]));
    let mark = phx_marker { name: phx_text::empty(), time: 1.5 };
    for (status, arrays) in [
        (PHX_ERROR_VALUE, phx_clip_arrays { duration: f32::NAN, ..clip_arrays(&[base]) }),
        (PHX_ERROR_VALUE, phx_clip_arrays { duration: -1.0, ..clip_arrays(&[base]) }),
        (PHX_ERROR_NULL, phx_clip_arrays { marker_count: 1, ..clip_arrays(&[base]) }),
        (
            PHX_ERROR_VALUE,
            phx_clip_arrays { markers: &raw const mark, marker_count: 1, ..clip_arrays(&[base]) },
        ),
        (PHX_ERROR_STRUCT_SIZE, phx_clip_arrays { size: 12, ..clip_arrays(&[base]) }),
    ] {
        refuse(status, arrays);
    }
    refused(PHX_ERROR_NULL, |out| unsafe { phx_clip_new_arrays(rig, null(), out) });
    free_rig(rig);
    let tracks = [base];
    let arrays = clip_arrays(&tracks);
    refused(PHX_ERROR_HANDLE, |out| unsafe { phx_clip_new_arrays(rig, &raw const arrays, out) });
}
