//! .phx files, clip by clip.

use super::*;
use phalanx::format::Library;

#[test]
fn clips_are_read_one_by_one() {
    let folder = Folder::new("library");
    let rig = mannequin_rig();
    for form in [ClipForm::Rows, ClipForm::Coded] {
        let bytes = phx(&rig, form);
        let path = folder.file("clips.phx", &bytes);
        let wanted = Library::from_bytes(&bytes).unwrap();
        let of_memory =
            made(|out| unsafe { phx_library_new_memory(bytes.as_ptr(), bytes.len(), out) });
        let of_file =
            made(|out| unsafe { phx_library_new_file(path.as_ptr().cast(), path.len(), out) });
        for own in [of_memory, of_file] {
            let info = described(|out| unsafe { phx_library_describe(own, out) });
            assert_eq!(info.bytes as usize, bytes.len());
            assert_eq!(info.clip_count as usize, wanted.clip_count());
            for (index, entry) in slice(info.clips, wanted.clip_count()).iter().enumerate() {
                let known = wanted.clip_info(index).unwrap();
                assert_eq!(string(entry.name), known.name);
                assert_eq!((entry.duration, entry.bytes), (known.duration, known.bytes));
                assert_eq!(entry.coded, u32::from(form == ClipForm::Coded));
                let clip = made(|out| unsafe { phx_library_clip(own, index as u32, null(), out) });
                assert_eq!(clip_info(clip).content_hash, rig.clips()[index].content_hash());
                free_clip(clip);
            }
            refused(PHX_ERROR_NOT_FOUND, |out| unsafe {
                phx_library_clip(own, info.clip_count, null(), out)
            });
            ok(unsafe { phx_library_free(own) });
            let mut gone: phx_library_info = sized(size_of::<phx_library_info>());
            assert_eq!(unsafe { phx_library_describe(own, &raw mut gone) }, PHX_ERROR_HANDLE);
            refused(PHX_ERROR_HANDLE, |out| unsafe { phx_library_clip(own, 0, null(), out) });
            assert_eq!(unsafe { phx_library_free(own) }, PHX_ERROR_HANDLE);
        }
    }
}

#[test]
fn clips_come_in_the_lane_order_of_a_rig() {
    // Without the clips that move most joints, the order of the lanes is another.
    let rig = mannequin_rig();
    let few = Rig::new(phalanx::rig::RigParts { clips: Vec::new(), ..rig.parts() }).unwrap();
    let wave = rig.clips()[rig.find_clip("Wave").unwrap()].as_ref().clone();
    let few = phalanx::build::with_clips(&few, vec![wave]).unwrap();
    assert_ne!(few.skeleton().layout_hash(), rig.skeleton().layout_hash());
    let bytes = phx(&few, ClipForm::Rows);
    let library = made(|out| unsafe { phx_library_new_memory(bytes.as_ptr(), bytes.len(), out) });
    let own = mannequin();
    let clip = made(|out| unsafe { phx_library_clip(library, 0, own, out) });
    let wanted = Library::from_bytes(&bytes).unwrap().clip_for(0, rig.skeleton()).unwrap();
    assert_eq!(clip_info(clip).content_hash, wanted.content_hash());
    let filed = made(|out| unsafe { phx_library_clip(library, 0, null(), out) });
    assert_eq!(clip_info(filed).content_hash, few.clips()[0].content_hash());
    assert_ne!(clip_info(filed).content_hash, clip_info(clip).content_hash);
    let other = rig_memory(&phx(&super::rig::with_channels(), ClipForm::Rows), "other", null());
    refused(PHX_ERROR_DATA, |out| unsafe { phx_library_clip(library, 0, other, out) });
    free_rig(other);
    refused(PHX_ERROR_HANDLE, |out| unsafe { phx_library_clip(library, 0, other, out) });
    free_rig(own);
    free_clip(clip);
    free_clip(filed);
    ok(unsafe { phx_library_free(library) });
}

#[test]
fn files_that_are_no_libraries_are_refused() {
    let folder = Folder::new("no-library");
    let path = folder.file("text.phx", b"text");
    let file =
        |path: &str, out| unsafe { phx_library_new_file(path.as_ptr().cast(), path.len(), out) };
    let words = refused(PHX_ERROR_DATA, |out| file(&path, out));
    assert!(words.contains("text.phx"), "{words}");
    refused(PHX_ERROR_FILE, |out| file("/nowhere/to be found.phx", out));
    refused(PHX_ERROR_NULL, |out| unsafe { phx_library_new_file(null(), PHX_NUL, out) });
    refused(PHX_ERROR_UTF8, |out| unsafe { phx_library_new_file(c"\xff".as_ptr(), PHX_NUL, out) });
    refused(PHX_ERROR_DATA, |out| unsafe { phx_library_new_memory(null(), 0, out) });
    refused(PHX_ERROR_NULL, |out| unsafe { phx_library_new_memory(null(), 9, out) });
    let mut newer = phx(&mannequin_rig(), ClipForm::Rows);
    newer[8] = 2;
    refused(PHX_ERROR_VERSION, |out| unsafe {
        phx_library_new_memory(newer.as_ptr(), newer.len(), out)
    });
    assert_eq!(unsafe { phx_library_free(null_mut()) }, PHX_OK);
}
