//! Rigs that are made from arrays.

use super::{new_rig, phx_rig};
use crate::border::*;
use crate::clip::{clips_of, phx_clip_arrays, raw_clip};
use crate::convert::some;
use crate::types::*;
use phalanx::build::with_clips;
use phalanx::glam::Quat;
use phalanx::import::raw::RawClip;
use phalanx::math::Affine3x4;
use phalanx::rig::{Rig, RigNode, RigParts};
use phalanx::skeleton::{Joint, NO_JOINT, Skeleton, Skin, Trs};
use std::ptr::null;
use std::sync::Arc;

/// A skin of `phx_rig_arrays`: the joints that move a mesh, each with a row of the palette.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_skin_arrays {
    /// The name; it may be empty.
    pub name: phx_text,
    /// The joint of each slot.
    pub joints: *const u32,
    /// The inverse bind matrix of each slot: from mesh space to the joint's. Null: the inverses of the rest pose.
    pub inverse_bind: *const phx_matrix,
    /// The number of slots.
    pub count: usize,
}

/// A rig as arrays, for characters that come from no file. `phx_options_init` with PHX_RIG_ARRAYS sets all to none.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_rig_arrays {
    /// The size of this struct.
    pub size: usize,
    /// The name, for messages.
    pub name: phx_text,
    /// The number of joints.
    pub joint_count: usize,
    /// The name of each joint. Null: joint 0, joint 1 and so on.
    pub joint_names: *const phx_text,
    /// The parent of each joint, which must come before it; PHX_NONE for a root.
    pub parents: *const u32,
    /// The rest pose of each joint, relative to its parent.
    pub rest: *const phx_trs,
    /// The skins.
    pub skins: *const phx_skin_arrays,
    /// The number of skins.
    pub skin_count: usize,
    /// The clips. Each states its size, and all the same.
    pub clips: *const phx_clip_arrays,
    /// The number of clips.
    pub clip_count: usize,
}

extensible!(
    phx_rig_arrays,
    Self {
        size: size_of::<Self>(),
        name: phx_text::empty(),
        joint_count: 0,
        joint_names: null(),
        parents: null(),
        rest: null(),
        skins: null(),
        skin_count: 0,
        clips: null(),
        clip_count: 0,
    }
);

/// A transform whose rotation has length 1, if it has a direction.
fn unit(trs: phx_trs) -> Trs {
    let mut trs = Trs::from(trs);
    let length = trs.rotation.as_dquat().length();
    if length > 0.0 && length.is_finite() && (length - 1.0).abs() > 1e-6 {
        trs.rotation =
            Quat::from_array(trs.rotation.to_array().map(|v| (f64::from(v) / length) as f32));
    }
    trs
}

/// The caller's joints.
///
/// # Safety
/// The caller's promise.
unsafe fn joints(arrays: &phx_rig_arrays) -> Result<Vec<Joint>, Error> {
    let count = arrays.joint_count;
    // SAFETY: the caller's promise.
    let (parents, rest, names) = unsafe {
        let named = if arrays.joint_names.is_null() { 0 } else { count };
        let names = array(arrays.joint_names, named, "the names of joints")?;
        let name = |t: &phx_text| text(t.data, t.length, "a joint's name").map(str::to_owned);
        (
            array(arrays.parents, count, "the parents of joints")?,
            array(arrays.rest, count, "the rest pose")?,
            names.iter().map(name).collect::<Result<Vec<String>, Error>>()?,
        )
    };
    let mut names = names.into_iter();
    let pairs = parents.iter().zip(rest).enumerate();
    let joint = pairs.map(|(joint, (&parent, &rest))| Joint {
        name: names.next().unwrap_or_else(|| format!("joint {joint}")),
        parent: some(parent),
        rest: unit(rest),
    });
    Ok(joint.collect())
}

/// The caller's skins.
///
/// # Safety
/// The caller's promise.
unsafe fn skins(arrays: &phx_rig_arrays, skeleton: &Skeleton) -> Result<Vec<Skin>, Error> {
    let mut inverse_rest = Vec::new();
    let mut made = Vec::new();
    // SAFETY: the caller's promise.
    for s in unsafe { array(arrays.skins, arrays.skin_count, "the skins") }? {
        // SAFETY: the caller's promise.
        let (name, slots, binds) = unsafe {
            let bound = if s.inverse_bind.is_null() { 0 } else { s.count };
            (
                text(s.name.data, s.name.length, "a skin's name")?,
                array(s.joints, s.count, "a skin's joints")?,
                array(s.inverse_bind, bound, "a skin's inverse bind matrices")?,
            )
        };
        if inverse_rest.is_empty() && binds.is_empty() {
            let models = skeleton.rest_models().into_iter();
            inverse_rest = models.map(|model| Affine3x4::from(model.inverse())).collect();
        }
        let (mut joints, mut inverse_bind) = (Vec::new(), Vec::new());
        for (slot, &joint) in slots.iter().enumerate() {
            let joint = skeleton.joint(joint as usize)?;
            let bind = binds.get(slot).map(|&bind| Affine3x4::from(bind));
            let bind = bind.or_else(|| inverse_rest.get(joint).copied());
            // A skeleton has fewer than 2^16 joints, and as many inverses.
            joints.push(u16::try_from(joint).unwrap_or(NO_JOINT));
            inverse_bind.push(bind.unwrap_or_default());
        }
        let name = (!name.is_empty()).then(|| name.to_owned());
        made.push(Skin::new(name, joints, inverse_bind, skeleton.len())?);
    }
    Ok(made)
}

fn make(
    name: &str,
    joints: Vec<Joint>,
    skeleton: Skeleton,
    skins: Vec<Skin>,
    clips: Vec<RawClip>,
) -> Result<Rig, Error> {
    let clips = clips_of(&skeleton, clips)?;
    let node = |(source, joint): (usize, &Joint)| RigNode {
        source,
        name: Some(joint.name.clone()),
        parent: joint.parent,
        local: skeleton.rest(source),
        matrix: None,
        joint: u16::try_from(source).ok(),
        morphs: 0..0,
    };
    let roots = joints.iter().enumerate().filter(|j| j.1.parent.is_none());
    let rig = Rig::new(RigParts {
        name: name.to_owned(),
        file_skins: skins.len(),
        skins,
        clips: Vec::new(),
        nodes: joints.iter().enumerate().map(node).collect(),
        roots: roots.map(|j| j.0).collect(),
        meshes: Vec::new(),
        materials: Vec::new(),
        images: Vec::new(),
        skeleton: Arc::new(skeleton),
    })?;
    Ok(if clips.is_empty() { rig } else { with_clips(&rig, clips)? })
}

/// A rig of the caller's arrays: joints, skins, clips, no meshes. All is copied. Joints keep their indices. Rotations
/// of the rest pose may have any length above 0.
///
/// PHX_ERROR_DATA: a parent does not come before its joint, a track has the wrong number of values, times do not
/// increase. PHX_ERROR_NOT_FOUND: a skin or a track refers to a joint that is not there. PHX_ERROR_VALUE: a number is
/// not finite or beyond its limit. PHX_ERROR_LIMIT: more than 65,535 joints.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_rig_new_arrays(
    arrays: *const phx_rig_arrays,
    out: *mut *mut phx_rig,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (arrays, name, joints, out) = unsafe {
            let arrays = required(arrays)?;
            let name = text(arrays.name.data, arrays.name.length, "the rig's name")?;
            (arrays, name, joints(&arrays)?, output(out, "the rig's place")?)
        };
        let skeleton = Skeleton::new(&joints, None, Vec::new())?;
        // SAFETY: the caller's promise.
        let (skins, clips) = unsafe {
            let clips = sized(arrays.clips, arrays.clip_count, "the clips")?;
            let clips = clips.iter().map(|clip| raw_clip(clip, skeleton.len()));
            (skins(&arrays, &skeleton)?, clips.collect::<Result<Vec<RawClip>, Error>>()?)
        };
        out.write(new_rig(make(name, joints, skeleton, skins, clips)?));
        Ok(())
    })
}
