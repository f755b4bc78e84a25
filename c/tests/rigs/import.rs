//! Imports of files and bytes.

use super::*;
use phalanx::build::RootMotionOptions;
use phalanx::import::{Imported, MANNEQUIN, Severity, UpAxis, import_path, import_slice};

const BVH: &str = "HIERARCHY\nROOT Hips\n{\n OFFSET 0 90 0\n CHANNELS 1 Yrotation\n End Site\n {\n  OFFSET 0 80 0\n }\n}\n\
    MOTION\nFrames: 2\nFrame Time: 0.5\n0\n90\n";

/// Two nodes, an animation of each, and a camera, which is not read.
const SCENE: &str = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],
    "nodes":[{"name":"body","children":[1]},{"name":"sword"}],
    "cameras":[{"type":"perspective","perspective":{"yfov":1,"znear":1}}],
    "buffers":[{"byteLength":32,"uri":"data:application/octet-stream;base64,AAAAAAAAgD8AAAAAAAAAAAAAAAAAAIA/AAAAAAAAAAA="}],
    "bufferViews":[{"buffer":0,"byteLength":32}],
    "accessors":[{"bufferView":0,"componentType":5126,"count":2,"type":"SCALAR","min":[0],"max":[1]},
      {"bufferView":0,"byteOffset":8,"componentType":5126,"count":2,"type":"VEC3"}],
    "animations":[{"samplers":[{"input":0,"output":1}],"channels":[
      {"sampler":0,"target":{"node":0,"path":"translation"}},{"sampler":0,"target":{"node":1,"path":"translation"}}]}]}"#;

fn memory(bytes: &[u8], name: &str, options: *const phx_import_options) -> *mut phx_import {
    let (text, length) = (name.as_ptr().cast(), name.len());
    made(|out| unsafe {
        phx_import_new_memory(bytes.as_ptr(), bytes.len(), text, length, options, out)
    })
}

/// Compares an import with the library's own, and frees it.
fn compare(import: *mut phx_import, wanted: &Imported) {
    let info = described(|out| unsafe { phx_import_describe(import, out) });
    assert_eq!(info.rig_count, wanted.rigs.len());
    for (index, rig) in wanted.rigs.iter().enumerate() {
        let own = made(|out| unsafe { phx_import_rig(import, index, out) });
        let own_info = rig_info(own);
        assert_eq!(own_info.structure_hash, rig.skeleton().structure_hash());
        assert_eq!(own_info.layout_hash, rig.skeleton().layout_hash());
        assert_eq!(string(own_info.name), rig.name());
        assert_eq!(hashes(own), rust_hashes(rig));
        free_rig(own);
    }
    let links: Vec<phx_rig_link> = wanted
        .links
        .iter()
        .map(|l| phx_rig_link {
            child: l.child as u32,
            parent: l.parent as u32,
            node: l.node.map_or(PHX_NONE, |n| n as u32),
        })
        .collect();
    assert_eq!(slice(info.links, info.link_count), links);
    let severity = |s| match s {
        Severity::Note => PHX_NOTE,
        Severity::Repaired => PHX_REPAIRED,
        Severity::Dropped => PHX_DROPPED,
    };
    let entries: Vec<_> = slice(info.entries, info.entry_count)
        .iter()
        .map(|e| (e.severity, string(e.place), string(e.message)))
        .collect();
    let report = wanted.report.iter();
    let report: Vec<_> =
        report.map(|e| (severity(e.severity), e.place.clone(), e.message.clone())).collect();
    assert_eq!(entries, report);
    let count = wanted.rigs.len();
    let words = refused(PHX_ERROR_NOT_FOUND, |out| unsafe { phx_import_rig(import, count, out) });
    assert!(words.contains("rig"), "{words}");
    ok(unsafe { phx_import_free(import) });
    let mut gone: phx_import_info = sized(size_of::<phx_import_info>());
    assert_eq!(unsafe { phx_import_describe(import, &raw mut gone) }, PHX_ERROR_HANDLE);
    refused(PHX_ERROR_HANDLE, |out| unsafe { phx_import_rig(import, 0, out) });
    assert_eq!(unsafe { phx_import_free(import) }, PHX_ERROR_HANDLE);
}

#[test]
fn files_of_all_kinds_in_memory_become_what_the_library_makes_of_them() {
    let split = [phx_text::of("sword")];
    let base = defaults::<phx_import_options>(PHX_IMPORT_OPTIONS);
    let centimetres = phx_import_options { unit: 0.01, up_axis: PHX_UP_Z, ..base };
    let apart = phx_import_options { split: split.as_ptr(), split_count: 1, ..base };
    let travel = phx_import_options { root_motion: 1, root_rotation: 1, ..base };
    let (glb, bytes) = MANNEQUIN[0];
    let root = RootMotionOptions { rotation: true, ..RootMotionOptions::default() };
    let cases = [
        (BVH.as_bytes(), "turn.bvh", null(), encoded()),
        (
            BVH.as_bytes(),
            "no extension",
            &raw const centimetres,
            ImportOptions { unit: 0.01, up_axis: UpAxis::Z, ..encoded() },
        ),
        (SCENE.as_bytes(), "scene.gltf", null(), encoded()),
        (
            SCENE.as_bytes(),
            "scene.gltf",
            &raw const apart,
            ImportOptions { split: vec!["sword".into()], ..encoded() },
        ),
        (bytes, glb, &raw const travel, ImportOptions { root_motion: Some(root), ..encoded() }),
    ];
    for (bytes, name, options, rust) in cases {
        let wanted = import_slice(bytes, name, None, &rust).unwrap();
        compare(memory(bytes, name, options), &wanted);
        if wanted.rigs.len() == 1 {
            let rig = rig_memory(bytes, name, options);
            assert_eq!(hashes(rig), rust_hashes(&wanted.rigs[0]), "{name}");
            free_rig(rig);
        } else {
            assert_eq!((wanted.rigs.len(), wanted.links.len()), (2, 1));
            let (text, length) = (name.as_ptr().cast(), name.len());
            let words = refused(PHX_ERROR_DATA, |out| unsafe {
                phx_rig_new_memory(bytes.as_ptr(), bytes.len(), text, length, options, out)
            });
            assert!(words.contains("phx_import_new_file"), "{words}");
        }
    }
    // The camera is told of, and the test above compares the words.
    assert!(!import_slice(SCENE.as_bytes(), "", None, &encoded()).unwrap().report.is_empty());
}

#[test]
fn phx_files_are_recognised_by_their_content() {
    let folder = Folder::new("phx");
    let rig = mannequin_rig();
    let bytes = phx(&rig, ClipForm::Rows);
    // A name says nothing.
    let path = folder.file("file.glb", &bytes);
    let without = phx_import_options {
        without_clips: 1,
        ..defaults::<phx_import_options>(PHX_IMPORT_OPTIONS)
    };
    for (options, wanted) in [(null(), rust_hashes(&rig)), (&raw const without, Vec::new())] {
        for own in [rig_memory(&bytes, "memory", options), rig_file(&path, options)] {
            assert_eq!(hashes(own), wanted);
            assert_eq!(rig_info(own).layout_hash, rig.skeleton().layout_hash());
            free_rig(own);
        }
    }
    let wanted = Imported { rigs: vec![rig], links: Vec::new(), report: Vec::new() };
    let text = path.as_ptr().cast();
    let import = made(|out| unsafe { phx_import_new_file(text, path.len(), null(), out) });
    compare(import, &wanted);
    let mut newer = bytes.clone();
    newer[8] = 0xff;
    let mut cut = bytes.clone();
    cut.truncate(bytes.len() - 9);
    for (bytes, status) in [(newer, PHX_ERROR_VERSION), (cut, PHX_ERROR_DATA)] {
        let name = c"damaged".as_ptr();
        let words = refused(status, |out| unsafe {
            phx_import_new_memory(bytes.as_ptr(), bytes.len(), name, PHX_NUL, null(), out)
        });
        assert!(words.contains("damaged"), "{words}");
        let path = folder.file("damaged.phx", &bytes);
        let text = path.as_ptr().cast();
        let words =
            refused(status, |out| unsafe { phx_rig_new_file(text, path.len(), null(), out) });
        assert!(words.contains("damaged.phx"), "{words}");
    }
}

#[test]
fn files_are_imported_with_the_markers_beside_them() {
    let folder = Folder::new("markers");
    let (_, bytes) = MANNEQUIN[0];
    let path = folder.file("hero.glb", bytes);
    folder.file("hero.events.json", br#"{"clips": {"Walk": [{"name": "step", "time": 0.25}]}}"#);
    let wanted = import_path(path.as_ref(), &encoded()).unwrap();
    let text = path.as_ptr().cast();
    compare(made(|out| unsafe { phx_import_new_file(text, path.len(), null(), out) }), &wanted);
    let walk = wanted.rigs[0].find_clip("Walk").unwrap();
    let rig = rig_file(&path, null());
    let clip = made(|out| unsafe { phx_rig_clip(rig, walk as u32, out) });
    assert_eq!(clip_info(clip).marker_count, 1);
    let mut marker = phx_marker { name: phx_text::of(""), time: 0.0 };
    ok(unsafe { phx_clip_marker(clip, 0, &raw mut marker) });
    assert_eq!((string(marker.name).as_str(), marker.time), ("step", 0.25));
    free_clip(clip);
    free_rig(rig);
}

#[test]
fn what_cannot_be_imported_is_refused_and_leaves_no_handle() {
    let folder = Folder::new("refused");
    let base = defaults::<phx_import_options>(PHX_IMPORT_OPTIONS);
    let broken = phx_text { data: b"\xff".as_ptr().cast(), length: 1 };
    let absent = [phx_text::of("shield")];
    let given = [
        (PHX_ERROR_STRUCT_SIZE, phx_import_options { size: 4, ..base }),
        (PHX_ERROR_VALUE, phx_import_options { up_axis: 2, ..base }),
        (PHX_ERROR_VALUE, phx_import_options { images: 3, ..base }),
        (PHX_ERROR_UNSUPPORTED, phx_import_options { images: PHX_IMAGES_DECODED, ..base }),
        (PHX_ERROR_VALUE, phx_import_options { unit: f64::NAN, ..base }),
        (PHX_ERROR_VALUE, phx_import_options { unit: 0.0, ..base }),
        (PHX_ERROR_VALUE, phx_import_options { root_motion: 1, root_axes: 8, ..base }),
        (PHX_ERROR_UTF8, phx_import_options { root_motion: 1, root_joint: broken, ..base }),
        (PHX_ERROR_UTF8, phx_import_options { split: &raw const broken, split_count: 1, ..base }),
        (PHX_ERROR_NULL, phx_import_options { split_count: 1, ..base }),
        (PHX_ERROR_DATA, phx_import_options { split: absent.as_ptr(), split_count: 1, ..base }),
        (PHX_ERROR_LIMIT, phx_import_options { memory_limit: 1, ..base }),
        (PHX_ERROR_NOT_FOUND, phx_import_options { root_motion: 1, root_joint: absent[0], ..base }),
    ];
    let path = folder.file("scene.gltf", SCENE.as_bytes());
    let (text, length) = (path.as_ptr().cast(), path.len());
    let (data, size) = (SCENE.as_ptr(), SCENE.len());
    for (status, options) in given {
        let options = &raw const options;
        refused(status, |out| unsafe { phx_import_new_file(text, length, options, out) });
        refused(status, |out| unsafe { phx_rig_new_file(text, length, options, out) });
        refused(status, |out| unsafe {
            phx_import_new_memory(data, size, text, length, options, out)
        });
        refused(status, |out| unsafe {
            phx_rig_new_memory(data, size, text, length, options, out)
        });
    }
    let files = [
        ("missing.glb", None, PHX_ERROR_FILE),
        ("bad.glb", Some(&b"no model"[..]), PHX_ERROR_DATA),
    ];
    for (name, bytes, status) in files {
        let path = match bytes {
            Some(bytes) => folder.file(name, bytes),
            None => folder.0.join(name).to_str().unwrap().to_owned(),
        };
        let (text, length) = (path.as_ptr().cast(), path.len());
        let words =
            refused(status, |out| unsafe { phx_import_new_file(text, length, null(), out) });
        assert!(words.contains(name), "{words}");
        refused(status, |out| unsafe { phx_rig_new_file(text, length, null(), out) });
    }
    refused(PHX_ERROR_FILE, |out| {
        let folder = folder.0.to_str().unwrap();
        unsafe { phx_rig_new_file(folder.as_ptr().cast(), folder.len(), null(), out) }
    });
    refused(PHX_ERROR_NULL, |out| unsafe { phx_rig_new_file(null(), PHX_NUL, null(), out) });
    refused(PHX_ERROR_UTF8, |out| unsafe { phx_rig_new_file(broken.data, 1, null(), out) });
    refused(PHX_ERROR_NULL, |out| unsafe {
        phx_rig_new_memory(null(), 5, text, length, null(), out)
    });
    refused(PHX_ERROR_DATA, |out| unsafe {
        phx_import_new_memory(null(), 0, null(), 0, null(), out)
    });
    assert_eq!(unsafe { phx_import_free(null_mut()) }, PHX_OK);
    // A handle of another kind.
    let rig = mannequin();
    let mut info: phx_import_info = sized(size_of::<phx_import_info>());
    assert_eq!(unsafe { phx_import_describe(rig.cast(), &raw mut info) }, PHX_ERROR_HANDLE);
    assert_eq!(unsafe { phx_import_free(rig.cast()) }, PHX_ERROR_HANDLE);
    assert_eq!(unsafe { phx_import_describe(null(), &raw mut info) }, PHX_ERROR_NULL);
    free_rig(rig);
}
