//! What clips hold, and clips made of clips.

use super::*;
use phalanx::bake::{BakeOptions, bake};
use phalanx::build::{AdditiveReference, RootMotionOptions, build_additive};
use phalanx::clip::Marker;
use phalanx::import::MANNEQUIN;
use phalanx::retarget::{
    Alignment, BindOptions, Binding, Ground, HumanoidMap, Reference, RetargetOptions, Retargeting,
    TranslationMode, mirror,
};

/// The clip of this name of a rig.
fn named(rig: *const phx_rig, name: &str) -> *mut phx_clip {
    let mut index = 0;
    let text = name.as_ptr().cast();
    ok(unsafe { phx_rig_find(rig, PHX_PART_CLIP, text, name.len(), &raw mut index) });
    made(|out| unsafe { phx_rig_clip(rig, index, out) })
}

fn hash_of(clip: *mut phx_clip) -> u64 {
    let hash = clip_info(clip).content_hash;
    free_clip(clip);
    hash
}

#[test]
fn clips_tell_what_they_hold() {
    let options =
        phx_import_options { root_motion: 1, ..defaults::<phx_import_options>(PHX_IMPORT_OPTIONS) };
    let rust = ImportOptions { root_motion: Some(RootMotionOptions::default()), ..encoded() };
    let (name, bytes) = MANNEQUIN[0];
    let rig = import::import_slice(bytes, name, None, &rust).unwrap().rigs.remove(0);
    let own = rig_memory(bytes, name, &raw const options);
    let mut travels = 0;
    for clip in rig.clips() {
        let handle = named(own, clip.name());
        let info = clip_info(handle);
        assert_eq!(string(info.name), clip.name());
        assert_eq!((info.duration, info.additive), (clip.duration(), 0));
        assert_eq!(info.key_count as usize, clip.key_count());
        assert_eq!(info.bytes as usize, clip.bytes());
        assert_eq!(info.content_hash, clip.content_hash());
        let joint = clip.root_motion().map(|m| u32::from(m.parts().joint));
        assert_eq!(info.root_joint, joint.unwrap_or(PHX_NONE));
        let mut out = phx_rigid { rotation: [7.0; 4], translation: [7.0; 3] };
        let untouched = out;
        let motion =
            |from, to, passes, out| unsafe { phx_clip_root_motion(handle, from, to, passes, out) };
        match clip.root_motion() {
            Some(known) => {
                travels += 1;
                let end = f64::from(clip.duration());
                for (from, to, passes) in [(0.0, end, 0), (0.25, 0.5, 2), (end, 0.125, -1)] {
                    ok(motion(from, to, passes, &raw mut out));
                    let wanted = known.delta(from, to, passes);
                    assert_eq!(out.translation, wanted.translation.to_array());
                    assert_eq!(out.rotation, wanted.rotation.to_array());
                }
                out = untouched;
                assert_eq!(motion(f64::NAN, 1.0, 0, &raw mut out), PHX_ERROR_VALUE);
                assert_eq!(motion(0.0, f64::INFINITY, 0, &raw mut out), PHX_ERROR_VALUE);
                assert_eq!(motion(0.0, 1.0, 0, null_mut()), PHX_ERROR_NULL);
            }
            None => assert_eq!(motion(0.0, 1.0, 0, &raw mut out), PHX_ERROR_STATE),
        }
        assert_eq!(out, untouched);
        free_clip(handle);
        assert_eq!(motion(0.0, 1.0, 0, &raw mut out), PHX_ERROR_HANDLE);
    }
    assert!((1..rig.clips().len()).contains(&travels), "{travels} clips travel");
    free_rig(own);
}

#[test]
fn markers_are_replaced_in_a_copy() {
    let (own, rig) = (mannequin(), mannequin_rig());
    let walk = named(own, "Walk");
    let mark = |name, time| phx_marker { name: phx_text::of(name), time };
    let markers = [mark("right", 0.5), mark("left", 0.0), mark("right", 0.25)];
    let with = |clip, markers: &[phx_marker], out| unsafe {
        phx_clip_with_markers(clip, markers.as_ptr(), markers.len(), out)
    };
    let marked = made(|out| with(walk, &markers, out));
    let wanted = rig.clips()[rig.find_clip("Walk").unwrap()].as_ref().clone();
    let list = markers.iter().map(|m| Marker::new(string(m.name), m.time)).collect();
    let wanted = wanted.with_markers(list).unwrap();
    assert_eq!(clip_info(marked).marker_count, 3);
    for (index, marker) in wanted.markers().iter().enumerate() {
        let mut out = mark("", 9.0);
        ok(unsafe { phx_clip_marker(marked, index as u32, &raw mut out) });
        assert_eq!((string(out.name), out.time), (marker.name.clone(), marker.time));
    }
    let mut out = mark("", 9.0);
    assert_eq!(unsafe { phx_clip_marker(marked, 3, &raw mut out) }, PHX_ERROR_NOT_FOUND);
    assert_eq!(out.time, 9.0);
    assert_eq!(unsafe { phx_clip_marker(marked, 0, null_mut()) }, PHX_ERROR_NULL);
    let none = made(|out| with(marked, &[], out));
    assert_eq!(clip_info(none).marker_count, 0);
    for time in [-0.5, 2.0, f32::NAN] {
        refused(PHX_ERROR_VALUE, |out| with(walk, &[mark("late", time)], out));
    }
    let broken = phx_text { data: b"\xff".as_ptr().cast(), length: 1 };
    refused(PHX_ERROR_UTF8, |out| with(walk, &[phx_marker { name: broken, time: 0.0 }], out));
    refused(PHX_ERROR_NULL, |out| unsafe { phx_clip_with_markers(walk, null(), 1, out) });
    let many = vec![mark("x", 0.0); 65_536];
    refused(PHX_ERROR_LIMIT, |out| with(walk, &many, out));
    for clip in [walk, marked, none] {
        free_clip(clip);
        refused(PHX_ERROR_HANDLE, |out| with(clip, &markers, out));
        assert_eq!(unsafe { phx_clip_marker(clip, 0, &raw mut out) }, PHX_ERROR_HANDLE);
        assert_eq!(unsafe { phx_clip_free(clip) }, PHX_ERROR_HANDLE);
    }
    assert_eq!(unsafe { phx_clip_free(null_mut()) }, PHX_OK);
    let mut gone: phx_clip_info = sized(size_of::<phx_clip_info>());
    assert_eq!(unsafe { phx_clip_describe(walk, &raw mut gone) }, PHX_ERROR_HANDLE);
    assert_eq!(unsafe { phx_clip_describe(own.cast(), &raw mut gone) }, PHX_ERROR_HANDLE);
    assert_eq!(unsafe { phx_clip_describe(null(), &raw mut gone) }, PHX_ERROR_NULL);
    free_rig(own);
}

#[test]
fn additive_clips_are_differences_to_a_pose() {
    let (own, rig) = (mannequin(), mannequin_rig());
    let (wave, idle) = (named(own, "Wave"), named(own, "Idle"));
    let index = |name| rig.find_clip(name).unwrap();
    let additive = |clip, reference, time, out| unsafe {
        phx_clip_new_additive(own, clip, reference, time, out)
    };
    let rest = made(|out| additive(wave, null(), 0.0, out));
    assert_eq!(clip_info(rest).additive, 1);
    let wanted = build_additive(&rig, index("Wave"), AdditiveReference::Rest).unwrap();
    assert_eq!(clip_info(rest).content_hash, wanted.content_hash());
    let frame = AdditiveReference::Frame(index("Idle"), 1.5);
    let wanted = build_additive(&rig, index("Wave"), frame).unwrap();
    let made_of = made(|out| additive(wave, idle, 1.5, out));
    assert_eq!(hash_of(made_of), wanted.content_hash());
    // Beyond the clip, additive already, no number, of another skeleton.
    refused(PHX_ERROR_DATA, |out| additive(wave, idle, 100.0, out));
    refused(PHX_ERROR_DATA, |out| additive(wave, idle, -1.0, out));
    refused(PHX_ERROR_VALUE, |out| additive(wave, idle, f32::NAN, out));
    refused(PHX_ERROR_DATA, |out| additive(rest, null(), 0.0, out));
    refused(PHX_ERROR_DATA, |out| additive(wave, rest, 0.0, out));
    let other = rig_memory(&phx(&super::rig::with_channels(), ClipForm::Rows), "other", null());
    refused(PHX_ERROR_DATA, |out| unsafe { phx_clip_new_additive(other, wave, null(), 0.0, out) });
    refused(PHX_ERROR_NULL, |out| additive(null(), null(), 0.0, out));
    free_clip(idle);
    refused(PHX_ERROR_HANDLE, |out| additive(wave, idle, 0.0, out));
    free_rig(other);
    refused(PHX_ERROR_HANDLE, |out| unsafe {
        phx_clip_new_additive(other, wave, null(), 0.0, out)
    });
    free_clip(rest);
    free_clip(wave);
    free_rig(own);
}

#[test]
fn clips_are_bound_to_rigs_with_the_same_names() {
    let (own, rig) = (mannequin(), mannequin_rig());
    let mut joints: Vec<phx_joint_info> = Vec::new();
    for joint in 0..rig_info(own).joint_count {
        joints.push(described(|out| unsafe { phx_rig_joint(own, joint, out) }));
    }
    // Longer by half.
    let names: Vec<phx_text> = joints.iter().map(|j| j.name).collect();
    let parents: Vec<u32> = joints.iter().map(|j| j.parent).collect();
    let longer =
        |j: &phx_joint_info| phx_trs { translation: j.rest.translation.map(|v| 1.5 * v), ..j.rest };
    let rest: Vec<phx_trs> = joints.iter().map(longer).collect();
    let arrays = phx_rig_arrays {
        joint_count: joints.len(),
        joint_names: names.as_ptr(),
        parents: parents.as_ptr(),
        rest: rest.as_ptr(),
        ..defaults::<phx_rig_arrays>(PHX_RIG_ARRAYS)
    };
    let target = made(|out| unsafe { phx_rig_new_arrays(&raw const arrays, out) });
    let longer = |joint: usize| phalanx::skeleton::Joint {
        name: rig.skeleton().names()[joint].clone(),
        parent: Some(rig.skeleton().parents()[joint].into()).filter(|&p: &usize| p < joint),
        rest: phalanx::skeleton::Trs {
            translation: rig.skeleton().rest(joint).translation * 1.5,
            ..rig.skeleton().rest(joint)
        },
    };
    let longer: Vec<_> = (0..joints.len()).map(longer).collect();
    let longer = phalanx::skeleton::Skeleton::new(&longer, None, Vec::new()).unwrap();
    assert_eq!(rig_info(target).structure_hash, longer.structure_hash());
    let walk = named(own, "Walk");
    let clip = &rig.clips()[rig.find_clip("Walk").unwrap()];
    let bind = |options: *const phx_bind_options, out| unsafe {
        phx_clip_new_bound(own, walk, target, options, out)
    };
    let base = defaults::<phx_bind_options>(PHX_BIND_OPTIONS);
    let scaled = phx_bind_options {
        translations: PHX_TRANSLATIONS_ANIMATION_SCALED,
        root_scale: 1.25,
        ..base
    };
    let rust =
        BindOptions { translations: TranslationMode::AnimationScaled, root_scale: Some(1.25) };
    for (options, rust) in [(null(), BindOptions::default()), (&raw const scaled, rust)] {
        let wanted = Binding::new(rig.skeleton(), &longer, &rust).unwrap().clip(clip).unwrap();
        let bound = made(|out| bind(options, out));
        assert_eq!(hash_of(bound), wanted.clip.content_hash());
    }
    for (status, options) in [
        (PHX_ERROR_VALUE, phx_bind_options { translations: 5, ..base }),
        (PHX_ERROR_VALUE, phx_bind_options { root_scale: f32::NAN, ..base }),
        (PHX_ERROR_STRUCT_SIZE, phx_bind_options { size: 0, ..base }),
    ] {
        refused(status, |out| bind(&raw const options, out));
    }
    let other = rig_memory(&phx(&super::rig::with_channels(), ClipForm::Rows), "other", null());
    refused(PHX_ERROR_DATA, |out| unsafe { phx_clip_new_bound(other, walk, target, null(), out) });
    free_rig(other);
    refused(PHX_ERROR_HANDLE, |out| unsafe { phx_clip_new_bound(own, walk, other, null(), out) });
    free_clip(walk);
    refused(PHX_ERROR_HANDLE, |out| bind(null(), out));
    free_rig(target);
    free_rig(own);
}

#[test]
fn humanoids_take_clips_of_each_other() {
    let (own, rig) = (mannequin(), mannequin_rig());
    let walk = named(own, "Walk");
    let clip = &rig.clips()[rig.find_clip("Walk").unwrap()];
    let base = defaults::<phx_retarget_options>(PHX_RETARGET_OPTIONS);
    let onto = |source, target, options: *const phx_retarget_options, out| unsafe {
        phx_clip_new_retargeted(source, walk, target, options, out)
    };
    let map = HumanoidMap::of_rig(&rig).unwrap();
    let sides = phx_retarget_options { mirror: 1, ..base };
    let (wanted, _) = mirror(clip, rig.skeleton(), &map).unwrap();
    let mirrored = made(|out| onto(own, own, &raw const sides, out));
    assert_eq!(hash_of(mirrored), wanted.content_hash());
    let other = asset("bl_humanoid.glb");
    if let Some(path) = &other {
        let other = import::import_path(path.as_ref(), &encoded()).unwrap().rigs.remove(0);
        let target = rig_file(path, null());
        let target_map = HumanoidMap::of_rig(&other).unwrap();
        let all = phx_retarget_options {
            source_reference: PHX_REFERENCE_BIND,
            target_reference: PHX_REFERENCE_FOUND,
            alignment: PHX_ALIGN_LIMBS_AND_FINGERS,
            ground: PHX_GROUND_ORIGIN,
            keep_scales: 0,
            plant_feet: 1,
            plant_height: 0.1,
            plant_speed: 0.5,
            plant_fade: 0.2,
            ..base
        };
        let rust = RetargetOptions {
            source_reference: Reference::bind(&rig, &map).unwrap(),
            target_reference: Reference::find(&other, &target_map, "target").unwrap().0,
            alignment: Alignment::LimbsAndFingers,
            ground: Ground::Origin,
            keep_scales: false,
            mirror: false,
            plant_feet: true,
            plant_height: 0.1,
            plant_speed: 0.5,
            plant_fade: 0.2,
        };
        for (options, rust) in [(null(), RetargetOptions::default()), (&raw const all, rust)] {
            let to = (other.skeleton(), &target_map);
            let retargeting = Retargeting::new((rig.skeleton(), &map), to, rust).unwrap();
            let (wanted, _) = retargeting.retarget(clip).unwrap();
            let retargeted = made(|out| onto(own, target, options, out));
            assert_eq!(hash_of(retargeted), wanted.content_hash());
        }
        free_rig(target);
    }
    for (status, options) in [
        (PHX_ERROR_VALUE, phx_retarget_options { source_reference: 3, ..base }),
        (PHX_ERROR_VALUE, phx_retarget_options { target_reference: 3, ..base }),
        (PHX_ERROR_VALUE, phx_retarget_options { alignment: 3, ..base }),
        (PHX_ERROR_VALUE, phx_retarget_options { ground: 3, ..base }),
        (PHX_ERROR_VALUE, phx_retarget_options { plant_feet: 1, plant_speed: f64::NAN, ..base }),
        (PHX_ERROR_VALUE, phx_retarget_options { plant_feet: 1, plant_fade: 0.0, ..base }),
        (PHX_ERROR_STRUCT_SIZE, phx_retarget_options { size: 1, ..base }),
    ] {
        refused(status, |out| onto(own, own, &raw const options, out));
    }
    let stick = rig_memory(&phx(&super::rig::with_channels(), ClipForm::Rows), "stick", null());
    refused(PHX_ERROR_DATA, |out| onto(own, stick, null(), out));
    free_rig(stick);
    refused(PHX_ERROR_HANDLE, |out| onto(stick, own, null(), out));
    free_clip(walk);
    refused(PHX_ERROR_HANDLE, |out| onto(own, own, null(), out));
    free_rig(own);
}

#[test]
fn baked_clips_stay_within_their_bounds() {
    let (own, rig) = (mannequin(), mannequin_rig());
    let walk = named(own, "Walk");
    let clip = &rig.clips()[rig.find_clip("Walk").unwrap()];
    let base = defaults::<phx_bake_options>(PHX_BAKE_OPTIONS);
    let coarse = phx_bake_options { max_error: 0.01, shell: 0.1, scalar_error: 0.001, ..base };
    let rust =
        BakeOptions { max_error: 0.01, shell: 0.1, scalar_error: 0.001, ..BakeOptions::default() };
    let bake_c = |options: *const phx_bake_options, error, out| unsafe {
        phx_clip_new_baked(own, walk, options, error, out)
    };
    for (options, rust) in [(null(), BakeOptions::default()), (&raw const coarse, rust)] {
        let (wanted, report) = bake(clip, rig.skeleton(), &rust).unwrap();
        let mut error = -1.0;
        let mut out = null_mut();
        ok(bake_c(options, &raw mut error, &raw mut out));
        assert_eq!(error, report.max);
        assert!(error > 0.0 && error <= rust.max_error, "{error}");
        assert_eq!(hash_of(out), wanted.content_hash());
        ok(bake_c(options, null_mut(), &raw mut out));
        free_clip(out);
    }
    for (status, options) in [
        (PHX_ERROR_VALUE, phx_bake_options { max_error: 0.0, ..base }),
        (PHX_ERROR_VALUE, phx_bake_options { shell: f32::NAN, ..base }),
        (PHX_ERROR_VALUE, phx_bake_options { scalar_error: -1.0, ..base }),
        (PHX_ERROR_STRUCT_SIZE, phx_bake_options { size: 0, ..base }),
    ] {
        let mut error = -1.0;
        refused(status, |out| bake_c(&raw const options, &raw mut error, out));
        assert_eq!(error, -1.0);
    }
    let mut error = -1.0;
    assert_eq!(bake_c(null(), &raw mut error, null_mut()), PHX_ERROR_NULL);
    assert_eq!(error, -1.0);
    let other = rig_memory(&phx(&super::rig::with_channels(), ClipForm::Rows), "other", null());
    refused(PHX_ERROR_DATA, |out| unsafe {
        phx_clip_new_baked(other, walk, null(), &raw mut error, out)
    });
    assert_eq!(error, -1.0);
    free_rig(other);
    free_rig(own);
    refused(PHX_ERROR_HANDLE, |out| bake_c(null(), null_mut(), out));
    free_clip(walk);
}
