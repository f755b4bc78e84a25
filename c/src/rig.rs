//! Rigs: skeletons, skins, and what they are made from.

use crate::border::*;
use crate::clip::phx_clip;
use crate::convert::small;
use crate::import::{import_options, phx_import_options};
use crate::types::*;
use phalanx::build::add_lod;
use phalanx::import::read_path;
use phalanx::math::Affine3x4;
use phalanx::rig::Rig;
use std::ffi::c_char;
use std::path::Path;
use std::ptr::null;
use std::sync::Arc;

mod arrays;

pub use arrays::*;

/// What a rig's handle owns.
pub struct RigState {
    pub(crate) rig: Arc<Rig>,
    // Views of the skeleton's channels and scalars; their texts are the skeleton's.
    channels: Vec<phx_channel_info>,
    scalars: Vec<phx_scalar_info>,
}

impl RigState {
    pub(crate) fn new(rig: Arc<Rig>) -> Self {
        let skeleton = rig.skeleton();
        let channel = |c: &phalanx::skeleton::UserChannel| {
            let numbers = c.rest.as_slice();
            let mut rest = [0.0; 4];
            rest.iter_mut().zip(numbers).for_each(|(to, from)| *to = *from);
            let is_rotation = matches!(c.rest, phalanx::skeleton::ChannelValue::Quaternion(_));
            phx_channel_info {
                name: phx_text::of(&c.name),
                components: small(numbers.len()),
                is_rotation: is_rotation.into(),
                rest,
            }
        };
        let channels = skeleton.channels().map(channel).collect();
        let scalars = skeleton.scalars().iter();
        let scalars = scalars
            .map(|s| phx_scalar_info { name: phx_text::of(&s.name), rest: s.rest })
            .collect();
        Self { rig, channels, scalars }
    }
}

/// A handle of a rig that was made.
pub(crate) fn new_rig(rig: Rig) -> *mut phx_rig {
    new(RigState::new(Arc::new(rig)))
}

/// A pointer to values for the caller; null for none.
pub(crate) fn view<T>(values: &[T]) -> *const T {
    if values.is_empty() { null() } else { values.as_ptr() }
}

/// One of several things, by its index.
pub(crate) fn at<'a, T>(all: &'a [T], index: usize, what: &str) -> Result<&'a T, Error> {
    all.get(index).ok_or_else(|| Error::index(what, index, all.len()))
}

/// What a file of one character becomes: skeleton, skins, clips, meshes. It does not change, and crowds share it.
pub struct phx_rig {
    _opaque: [u8; 0],
}

handle!(phx_rig, RigState, b"rigs", "rig");

/// Frees a rig's handle, and with it the views of the rig. Crowds and clips that have the rig keep it. Null is nothing
/// to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_free(rig: *mut phx_rig) -> phx_status {
    // SAFETY: the caller's promise.
    entry(|| unsafe { free(rig) })
}

/// A user channel: a named value that clips animate beside the joints.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_channel_info {
    /// The name, which no other channel of the rig has.
    pub name: phx_text,
    /// How many numbers a value has, 1 to 4.
    pub components: u32,
    /// Flag: the value is a rotation, a quaternion x, y, z, w.
    pub is_rotation: u32,
    /// The value while no clip animates the channel; numbers beyond `components` are 0.
    pub rest: [f32; 4],
}

/// A scalar: a morph weight, or one number of a user channel.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_scalar_info {
    /// The name, such as: Face.weights[3], or that of the channel with .x to .w behind.
    pub name: phx_text,
    /// The value while no clip animates it.
    pub rest: f32,
}

/// What a rig holds. The views stay until this handle of the rig is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_rig_info {
    /// The size of this struct.
    pub size: usize,
    /// The name: that of the rig's file.
    pub name: phx_text,
    /// The number of joints, for `phx_rig_joint`.
    pub joint_count: u32,
    /// The number of skins, for `phx_rig_skin`: those of the file, then one for rigid meshes if there are any.
    pub skin_count: u32,
    /// The number of clips, for `phx_rig_clip`.
    pub clip_count: u32,
    /// The number of nodes of the file, for `phx_rig_node`.
    pub node_count: u32,
    /// The number of meshes, for `phx_rig_mesh`.
    pub mesh_count: u32,
    /// The number of materials, for `phx_rig_material`.
    pub material_count: u32,
    /// The number of images, for `phx_rig_image`.
    pub image_count: u32,
    /// The rows of a character's palette: one for each joint of each skin.
    pub palette_length: u32,
    /// The number of levels of detail, at least 1.
    pub lod_count: u32,
    /// The number of user channels.
    pub channel_count: u32,
    /// The number of scalars.
    pub scalar_count: u32,
    /// The parent of each joint, which comes before it; 0xFFFF for a root.
    pub parents: *const u16,
    /// The user channels.
    pub channels: *const phx_channel_info,
    /// The scalars: the morph weights of all nodes, then the numbers of the user channels.
    pub scalars: *const phx_scalar_info,
    /// Equal for skeletons with the same joints, rest pose and scalars.
    pub structure_hash: u64,
    /// Equal for skeletons with the same order of joints in memory. Clips of rigs with both hashes equal fit each
    /// other as they are; clips of rigs with the same structure are converted when a crowd gets them.
    pub layout_hash: u64,
}

extensible!(phx_rig_info);

/// Tells what a rig holds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_describe(
    rig: *const phx_rig,
    out: *mut phx_rig_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(rig) }?;
        let (rig, skeleton) = (&state.rig, state.rig.skeleton());
        let info = phx_rig_info {
            size: 0,
            name: phx_text::of(rig.name()),
            joint_count: small(skeleton.len()),
            skin_count: small(rig.skins().len()),
            clip_count: small(rig.clips().len()),
            node_count: small(rig.nodes().len()),
            mesh_count: small(rig.meshes().len()),
            material_count: small(rig.materials().len()),
            image_count: small(rig.images().len()),
            palette_length: small(rig.palette_len()),
            lod_count: small(rig.lod_count()),
            channel_count: small(state.channels.len()),
            scalar_count: small(state.scalars.len()),
            parents: view(skeleton.parents()),
            channels: view(&state.channels),
            scalars: view(&state.scalars),
            structure_hash: skeleton.structure_hash(),
            layout_hash: skeleton.layout_hash(),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// A part of a rig that has names.
pub type phx_rig_part = u32;
/// A joint: by its name or, where several have it, a path such as LeftArm/Hand.
pub const PHX_PART_JOINT: phx_rig_part = 0;
/// A clip: the first with the name.
pub const PHX_PART_CLIP: phx_rig_part = 1;
/// A user channel.
pub const PHX_PART_CHANNEL: phx_rig_part = 2;

/// The index of a joint, clip or user channel, by name.
///
/// PHX_ERROR_NOT_FOUND: none has the name, or several joints have it; the message suggests others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_find(
    rig: *const phx_rig,
    part: phx_rig_part,
    name: *const c_char,
    name_length: usize,
    out: *mut u32,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, name, out) = unsafe {
            (share(rig)?, text(name, name_length, "the name")?, output(out, "the index's place")?)
        };
        let rig = &state.rig;
        let found = match part {
            PHX_PART_JOINT => rig.skeleton().joint(name)?,
            PHX_PART_CLIP => rig.clip_named(name)?,
            PHX_PART_CHANNEL => {
                let found = rig.skeleton().channels().position(|c| c.name == name);
                found.ok_or_else(|| {
                    let words = format!("the rig has no user channel \"{name}\"");
                    Error::new(PHX_ERROR_NOT_FOUND, words)
                })?
            }
            other => return Err(Error::value(format!("the part is {other}, beyond 2"))),
        };
        out.write(small(found));
        Ok(())
    })
}

/// A joint. The views stay until this handle of the rig is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_joint_info {
    /// The size of this struct.
    pub size: usize,
    /// The name; it may be empty, and other joints may have it.
    pub name: phx_text,
    /// The joint above, of a smaller index; PHX_NONE for a root.
    pub parent: u32,
    /// The rest pose, relative to the parent.
    pub rest: phx_trs,
}

extensible!(phx_joint_info);

/// Tells of a joint.
///
/// PHX_ERROR_NOT_FOUND: there is no joint of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_joint(
    rig: *const phx_rig,
    joint: u32,
    out: *mut phx_joint_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(rig) }?;
        let (skeleton, index) = (state.rig.skeleton(), joint as usize);
        let name = at(skeleton.names(), index, "joint")?;
        let parent = *at(skeleton.parents(), index, "joint")?;
        let info = phx_joint_info {
            size: 0,
            name: phx_text::of(name),
            parent: if parent == phalanx::skeleton::NO_JOINT { PHX_NONE } else { parent.into() },
            rest: skeleton.rest(index).into(),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// The rest pose as matrices in model space, one per joint. `count` is the room at `out`.
///
/// PHX_ERROR_SHORT: there is room for fewer than the rig has joints.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_rest_models(
    rig: *const phx_rig,
    out: *mut phx_matrix,
    count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, out) = unsafe { (share(rig)?, array_mut(out, count, "the matrices")?) };
        let skeleton = state.rig.skeleton();
        if out.len() < skeleton.len() {
            return Err(Error::short("the matrices", out.len(), skeleton.len()));
        }
        for (out, model) in out.iter_mut().zip(skeleton.rest_models()) {
            *out = Affine3x4::from(model).into();
        }
        Ok(())
    })
}

/// A skin. The views stay until this handle of the rig is freed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_skin_info {
    /// The size of this struct.
    pub size: usize,
    /// The name; it may be empty.
    pub name: phx_text,
    /// The joint of each slot; 0xFFFF for a slot that stays at the origin of the model.
    pub joints: *const u16,
    /// The inverse bind matrix of each slot: from mesh space to the joint's.
    pub inverse_bind: *const phx_matrix,
    /// The number of slots.
    pub count: u32,
    /// The row of the first slot in a character's palette.
    pub first_row: u32,
}

extensible!(phx_skin_info);

/// Tells of a skin.
///
/// PHX_ERROR_NOT_FOUND: there is no skin of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_skin(
    rig: *const phx_rig,
    skin: u32,
    out: *mut phx_skin_info,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let state = unsafe { share(rig) }?;
        let (rig, index) = (&state.rig, skin as usize);
        let skin = at(rig.skins(), index, "skin")?;
        let info = phx_skin_info {
            size: 0,
            name: phx_text::of_option(skin.name()),
            joints: view(skin.joints()),
            // The same 48 bytes, as `convert::rows` asserts.
            inverse_bind: view(skin.inverse_bind()).cast(),
            count: small(skin.len()),
            first_row: small(rig.palette_offset(index)),
        };
        // SAFETY: the caller's promise.
        unsafe { fill(out, info) }
    })
}

/// A clip of a rig, as a handle of its own.
///
/// PHX_ERROR_NOT_FOUND: there is no clip of this index.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_clip(
    rig: *const phx_rig,
    index: u32,
    out: *mut *mut phx_clip,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, out) = unsafe { (share(rig)?, output(out, "the clip's place")?) };
        let clip = at(state.rig.clips(), index as usize, "clip")?;
        out.write(new(clip.clone()));
        Ok(())
    })
}

/// Weights for the mask of a layer: 1 for a joint and all below it, 0 for the others. `count` is the room at
/// `weights`.
///
/// PHX_ERROR_NOT_FOUND: there is no joint of this index. PHX_ERROR_SHORT: there is room for fewer than the rig has
/// joints.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_mask_subtree(
    rig: *const phx_rig,
    joint: u32,
    weights: *mut f32,
    count: usize,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, out) = unsafe { (share(rig)?, array_mut(weights, count, "the weights")?) };
        let skeleton = state.rig.skeleton();
        let top = skeleton.joint(joint as usize)?;
        if out.len() < skeleton.len() {
            return Err(Error::short("the weights", out.len(), skeleton.len()));
        }
        for (joint, &parent) in skeleton.parents().iter().enumerate() {
            // Parents come first; a root's is beyond all joints.
            let above = out.get(usize::from(parent)).filter(|_| usize::from(parent) < joint);
            let weight = if joint == top { 1.0 } else { above.copied().unwrap_or(0.0) };
            if let Some(out) = out.get_mut(joint) {
                *out = weight;
            }
        }
        Ok(())
    })
}

/// A new rig with the meshes of another file as its next, coarser level of detail. The file's skinned meshes are
/// matched to the rig's joints by name; its bind pose must be the rig's. `options` may be null; they must be those of
/// the rig's import.
///
/// PHX_ERROR_DATA: the file has no skinned mesh, a joint that the rig lacks, or another bind pose. Other errors are
/// those of `phx_import_new_file`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_with_lod_file(
    rig: *const phx_rig,
    path: *const c_char,
    path_length: usize,
    options: *const phx_import_options,
    out: *mut *mut phx_rig,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, path, import, out) = unsafe {
            (
                share(rig)?,
                text(path, path_length, "the path")?,
                import_options(options)?,
                output(out, "the rig's place")?,
            )
        };
        let (scene, _) = read_path(Path::new(path), &import.options)?;
        let mut made = Rig::clone(&state.rig);
        add_lod(&mut made, &scene)?;
        out.write(new_rig(made));
        Ok(())
    })
}
