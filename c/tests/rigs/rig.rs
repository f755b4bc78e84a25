//! What rigs hold.

use super::*;
use phalanx::build::{BuildOptions, add_lod, build_rig};
use phalanx::import::raw::{RawNode, RawScene, RawSkin};
use phalanx::import::{MANNEQUIN, read_slice};
use phalanx::math::Affine3x4;
use phalanx::skeleton::{ChannelValue, UserChannel};

/// A rig with user channels.
pub fn with_channels() -> Rig {
    let node =
        |name: &str, parent| RawNode { name: Some(name.into()), parent, ..RawNode::default() };
    let channel = |name: &str, rest| UserChannel { name: name.into(), rest };
    let scene = RawScene {
        name: "made".into(),
        nodes: vec![node("hips", None), node("hand", Some(0)), node("hand", Some(0))],
        skins: vec![RawSkin {
            name: Some("all".into()),
            joints: vec![0, 1, 2],
            inverse_bind: vec![Affine3x4::IDENTITY.to_cols_array(); 3],
        }],
        channels: vec![
            channel("grip", ChannelValue::Float(0.25)),
            channel("look", ChannelValue::Quaternion([0.0, 1.0, 0.0, 0.0])),
            channel("tint", ChannelValue::Vec3([1.0, 2.0, 3.0])),
        ],
        ..RawScene::default()
    };
    build_rig(scene, &BuildOptions::default()).unwrap()
}

fn compare(own: *const phx_rig, rig: &Rig) {
    let (info, skeleton) = (rig_info(own), rig.skeleton());
    assert_eq!(string(info.name), rig.name());
    let counts = [
        (info.joint_count, skeleton.len()),
        (info.skin_count, rig.skins().len()),
        (info.clip_count, rig.clips().len()),
        (info.node_count, rig.nodes().len()),
        (info.mesh_count, rig.meshes().len()),
        (info.material_count, rig.materials().len()),
        (info.image_count, rig.images().len()),
        (info.palette_length, rig.palette_len()),
        (info.lod_count, rig.lod_count()),
        (info.channel_count, skeleton.channels().len()),
        (info.scalar_count, skeleton.scalars().len()),
    ];
    for (field, (have, wanted)) in counts.into_iter().enumerate() {
        assert_eq!(have as usize, wanted, "count {field}");
    }
    assert_eq!(info.structure_hash, skeleton.structure_hash());
    assert_eq!(info.layout_hash, skeleton.layout_hash());
    assert_eq!(slice(info.parents, skeleton.len()), skeleton.parents());
    for (own, scalar) in
        slice(info.scalars, skeleton.scalars().len()).iter().zip(skeleton.scalars())
    {
        assert_eq!((string(own.name), own.rest), (scalar.name.clone(), scalar.rest));
    }
    for joint in 0..skeleton.len() {
        let own = described(|out| unsafe { phx_rig_joint(own, joint as u32, out) });
        assert_eq!(string(own.name), skeleton.names()[joint]);
        let parent = skeleton.parents()[joint];
        let parent = if parent == u16::MAX { PHX_NONE } else { parent.into() };
        assert_eq!(own.parent, parent);
        let rest = skeleton.rest(joint);
        assert_eq!(own.rest.translation, rest.translation.to_array());
        assert_eq!(own.rest.rotation, rest.rotation.to_array());
        assert_eq!(own.rest.scale, rest.scale.to_array());
    }
    for (index, skin) in rig.skins().iter().enumerate() {
        let own = described(|out| unsafe { phx_rig_skin(own, index as u32, out) });
        assert_eq!(string(own.name), skin.name().unwrap_or(""));
        assert_eq!(own.first_row as usize, rig.palette_offset(index));
        assert_eq!(own.count as usize, skin.len());
        assert_eq!(slice(own.joints, skin.len()), skin.joints());
        let binds = slice(own.inverse_bind, skin.len()).iter().map(|m| m.rows);
        assert!(binds.eq(skin.inverse_bind().iter().map(|m| m.rows)));
    }
    let models = skeleton.rest_models().into_iter().map(|m| Affine3x4::from(m).rows);
    let mut own_models = vec![phx_matrix { rows: [[7.0; 4]; 3] }; skeleton.len() + 1];
    let room = own_models.as_mut_ptr();
    if !skeleton.is_empty() {
        let short = skeleton.len() - 1;
        assert_eq!(unsafe { phx_rig_rest_models(own, room, short) }, PHX_ERROR_SHORT);
        let sizes = format!("room for {short}, {} needed", skeleton.len());
        assert!(message().contains(&sizes), "{}", message());
        assert!(own_models.iter().all(|m| m.rows == [[7.0; 4]; 3]), "nothing is written");
    }
    ok(unsafe { phx_rig_rest_models(own, room, own_models.len()) });
    assert_eq!(own_models.pop().map(|m| m.rows), Some([[7.0; 4]; 3]), "no more than needed");
    assert!(own_models.iter().map(|m| m.rows).eq(models));
}

#[test]
fn rigs_tell_what_they_hold() {
    let own = mannequin();
    compare(own, &mannequin_rig());
    free_rig(own);
    let rig = with_channels();
    let own = rig_memory(&phx(&rig, ClipForm::Rows), "made", null());
    compare(own, &rig);
    let info = rig_info(own);
    let channels: Vec<_> = slice(info.channels, 3)
        .iter()
        .map(|c| (string(c.name), c.components, c.is_rotation, c.rest))
        .collect();
    let wanted = [
        ("grip".to_owned(), 1, 0, [0.25, 0.0, 0.0, 0.0]),
        ("look".to_owned(), 4, 1, [0.0, 1.0, 0.0, 0.0]),
        ("tint".to_owned(), 3, 0, [1.0, 2.0, 3.0, 0.0]),
    ];
    assert_eq!(channels, wanted);
    free_rig(own);
    for name in ["Fox.glb", "bl_morphbones.glb", "bl_rider.glb"] {
        let Some(path) = asset(name) else { continue };
        let rig = import::import_path(path.as_ref(), &encoded()).unwrap().rigs.remove(0);
        let own = rig_file(&path, null());
        compare(own, &rig);
        free_rig(own);
    }
}

fn find(rig: *const phx_rig, part: phx_rig_part, name: &str) -> Result<u32, phx_status> {
    let mut out = 77;
    match unsafe { phx_rig_find(rig, part, name.as_ptr().cast(), name.len(), &raw mut out) } {
        PHX_OK => Ok(out),
        status => {
            assert_eq!(out, 77);
            Err(status)
        }
    }
}

#[test]
fn parts_are_found_by_name() {
    let (own, rig) = (mannequin(), mannequin_rig());
    let hand = rig.skeleton().joint("RightHand").unwrap() as u32;
    assert_eq!(find(own, PHX_PART_JOINT, "RightHand"), Ok(hand));
    assert_eq!(find(own, PHX_PART_JOINT, &rig.skeleton().path(hand as usize)), Ok(hand));
    assert_eq!(find(own, PHX_PART_CLIP, "Run"), Ok(rig.find_clip("Run").unwrap() as u32));
    for (part, name) in
        [(PHX_PART_JOINT, "RightHnad"), (PHX_PART_CLIP, "Wlak"), (PHX_PART_CHANNEL, "x")]
    {
        assert_eq!(find(own, part, name), Err(PHX_ERROR_NOT_FOUND));
        assert!(message().contains(name), "{}", message());
    }
    assert_eq!(find(own, 3, "Run"), Err(PHX_ERROR_VALUE));
    let mut out = 77;
    let nul = |text| unsafe { phx_rig_find(own, PHX_PART_CLIP, text, PHX_NUL, null_mut()) };
    assert_eq!(nul(c"Run".as_ptr()), PHX_ERROR_NULL);
    let latin = c"R\xfcn".as_ptr();
    assert_eq!(
        unsafe { phx_rig_find(own, PHX_PART_CLIP, latin, PHX_NUL, &raw mut out) },
        PHX_ERROR_UTF8
    );
    ok(unsafe { phx_rig_find(own, PHX_PART_CLIP, c"Run".as_ptr(), PHX_NUL, &raw mut out) });
    assert_eq!(out as usize, rig.find_clip("Run").unwrap());
    free_rig(own);
    let made = rig_memory(&phx(&with_channels(), ClipForm::Rows), "made", null());
    assert_eq!(find(made, PHX_PART_CHANNEL, "tint"), Ok(2));
    // Two joints have the name.
    assert_eq!(find(made, PHX_PART_JOINT, "hand"), Err(PHX_ERROR_NOT_FOUND));
    free_rig(made);
    assert_eq!(find(made, PHX_PART_CHANNEL, "tint"), Err(PHX_ERROR_HANDLE));
}

#[test]
fn masks_are_of_a_joint_and_all_below() {
    let (own, rig) = (mannequin(), mannequin_rig());
    let skeleton = rig.skeleton();
    let count = skeleton.len();
    for top in 0..count {
        let mut weights = vec![0.5; count + 1];
        ok(unsafe { phx_rig_mask_subtree(own, top as u32, weights.as_mut_ptr(), count + 1) });
        assert_eq!(weights.pop(), Some(0.5), "no more than needed");
        let path = skeleton.path(top);
        let below = |j: usize| j == top || skeleton.path(j).starts_with(&format!("{path}/"));
        let wanted: Vec<f32> = (0..count).map(|j| if below(j) { 1.0 } else { 0.0 }).collect();
        assert_eq!(weights, wanted, "{path}");
    }
    let mut weights = vec![0.5; count];
    let mut mask =
        |joint, room| unsafe { phx_rig_mask_subtree(own, joint, weights.as_mut_ptr(), room) };
    assert_eq!(mask(0, count - 1), PHX_ERROR_SHORT);
    assert_eq!(mask(count as u32, count), PHX_ERROR_NOT_FOUND);
    assert_eq!(mask(PHX_NONE, count), PHX_ERROR_NOT_FOUND);
    assert!(weights.iter().all(|&w| w == 0.5), "nothing is written");
    assert_eq!(unsafe { phx_rig_mask_subtree(own, 0, null_mut(), count) }, PHX_ERROR_NULL);
    free_rig(own);
}

#[test]
fn levels_of_detail_come_from_other_files() {
    let folder = Folder::new("lod");
    let (name, bytes) = MANNEQUIN[0];
    let coarse = folder.file("coarse.glb", MANNEQUIN[1].1);
    let (scene, _) = read_slice(MANNEQUIN[1].1, "coarse.glb", None, &encoded()).unwrap();
    let mut wanted = import::import_slice(bytes, name, None, &encoded()).unwrap().rigs.remove(0);
    let own = rig_memory(bytes, name, null());
    let with = |rig, path: &str, out| {
        let text = path.as_ptr().cast();
        unsafe { phx_rig_with_lod_file(rig, text, path.len(), null(), out) }
    };
    let more = made(|out| with(own, &coarse, out));
    assert_eq!(rig_info(own).lod_count, 1, "the rig itself does not change");
    add_lod(&mut wanted, &scene).unwrap();
    compare(more, &wanted);
    assert_eq!(rig_info(more).lod_count, 2);
    free_rig(more);
    let other = folder.file(
        "other.gltf",
        br#"{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":[{"name":"x"}]}"#,
    );
    refused(PHX_ERROR_DATA, |out| with(own, &other, out));
    refused(PHX_ERROR_FILE, |out| with(own, "/nowhere/to be found", out));
    free_rig(own);
    refused(PHX_ERROR_HANDLE, |out| with(own, &coarse, out));
}

#[test]
fn indices_and_handles_are_checked() {
    let own = mannequin();
    let info = rig_info(own);
    let mut joint: phx_joint_info = sized(size_of::<phx_joint_info>());
    let mut skin: phx_skin_info = sized(size_of::<phx_skin_info>());
    let joint = &raw mut joint;
    let skin = &raw mut skin;
    assert_eq!(unsafe { phx_rig_joint(own, info.joint_count, joint) }, PHX_ERROR_NOT_FOUND);
    assert_eq!(unsafe { phx_rig_skin(own, info.skin_count, skin) }, PHX_ERROR_NOT_FOUND);
    refused(PHX_ERROR_NOT_FOUND, |out| unsafe { phx_rig_clip(own, info.clip_count, out) });
    assert_eq!(unsafe { phx_rig_free(null_mut()) }, PHX_OK);
    free_rig(own);
    let mut whole: phx_rig_info = sized(size_of::<phx_rig_info>());
    for (rig, status) in [(own.cast_const(), PHX_ERROR_HANDLE), (null(), PHX_ERROR_NULL)] {
        assert_eq!(unsafe { phx_rig_describe(rig, &raw mut whole) }, status);
        assert_eq!(unsafe { phx_rig_joint(rig, 0, joint) }, status);
        assert_eq!(unsafe { phx_rig_skin(rig, 0, skin) }, status);
        assert_eq!(unsafe { phx_rig_rest_models(rig, null_mut(), 0) }, status);
        assert_eq!(unsafe { phx_rig_mask_subtree(rig, 0, null_mut(), 0) }, status);
        refused(status, |out| unsafe { phx_rig_clip(rig, 0, out) });
    }
    assert_eq!(unsafe { phx_rig_free(own) }, PHX_ERROR_HANDLE);
}
