//! Types of the library and their twins of the header.

use crate::border::{Error, of_element};
use crate::types::*;
use phalanx::crowd::{
    AtEnd, BlendSpaceId, ClipId, InstanceId, LoopMode, ModifierId, Parameter, Playable, PoseSpace,
    PoseStage, RigId,
};
use phalanx::glam::{Quat, Vec3};
use phalanx::math::{Affine3x4, Rigid};
use phalanx::rig::Aabb;
use phalanx::skeleton::Trs;

/// The bit that tells ids of blend spaces from those of clips: the highest, which no clip of a crowd has.
const SPACE: u64 = 1 << 63;

/// A number that is no id of the kind.
#[cold]
#[inline(never)]
fn no_id(kind: &str, bits: u64) -> Error {
    Error::new(PHX_ERROR_ID, format!("{bits:#x} is not the id of {kind}"))
}

#[inline]
pub fn rig_id(bits: phx_rig_id) -> Result<RigId, Error> {
    RigId::from_bits(bits).ok_or_else(|| no_id("a rig", bits))
}

#[inline]
pub fn instance(bits: phx_instance) -> Result<InstanceId, Error> {
    InstanceId::from_bits(bits).ok_or_else(|| no_id("an instance", bits))
}

#[inline]
pub fn clip_id(bits: phx_clip_id) -> Result<ClipId, Error> {
    ClipId::from_bits(bits).filter(|_| bits < SPACE).ok_or_else(|| no_id("a clip", bits))
}

#[inline]
pub fn space_id(bits: phx_space_id) -> Result<BlendSpaceId, Error> {
    let id = || BlendSpaceId::from_bits(bits ^ SPACE);
    (bits >= SPACE).then(id).flatten().ok_or_else(|| no_id("a blend space", bits))
}

#[inline]
pub fn modifier_id(bits: phx_modifier_id) -> Result<ModifierId, Error> {
    ModifierId::from_bits(bits).ok_or_else(|| no_id("a modifier", bits))
}

#[inline]
pub fn playable(bits: phx_playable) -> Result<Playable, Error> {
    if bits < SPACE {
        clip_id(bits).map(Playable::Clip).map_err(|_| no_id("a clip or a blend space", bits))
    } else {
        space_id(bits).map(Playable::Space)
    }
}

pub fn space_bits(id: BlendSpaceId) -> phx_space_id {
    id.to_bits() | SPACE
}

pub fn playable_bits(playable: Playable) -> phx_playable {
    match playable {
        Playable::Clip(clip) => clip.to_bits(),
        Playable::Space(space) => space_bits(space),
    }
}

/// Ids of an array, one converted after another into `into`, which is emptied first.
pub fn ids<T>(
    bits: &[u64],
    into: &mut Vec<T>,
    of: impl Fn(u64) -> Result<T, Error>,
) -> Result<(), Error> {
    into.clear();
    into.reserve(bits.len());
    for (i, &bits) in bits.iter().enumerate() {
        into.push(of(bits).map_err(of_element("element", i))?);
    }
    Ok(())
}

/// A value of an enumeration, by its number.
#[inline]
pub fn choice<T: Copy>(what: &str, number: u32, all: &[T]) -> Result<T, Error> {
    all.get(number as usize).copied().ok_or_else(|| no_choice(what, number, all.len()))
}

#[cold]
#[inline(never)]
fn no_choice(what: &str, number: u32, count: usize) -> Error {
    Error::value(format!("{what} is {number}, beyond {}", count - 1))
}

#[inline]
pub fn loop_mode(number: phx_loop_mode) -> Result<LoopMode, Error> {
    choice("the loop mode", number, &[LoopMode::Once, LoopMode::Repeat, LoopMode::PingPong])
}

pub fn loop_number(mode: LoopMode) -> phx_loop_mode {
    match mode {
        LoopMode::Once => PHX_LOOP_ONCE,
        LoopMode::Repeat => PHX_LOOP_REPEAT,
        LoopMode::PingPong => PHX_LOOP_PING_PONG,
    }
}

#[inline]
pub fn at_end(number: phx_at_end, seconds: f32) -> Result<AtEnd, Error> {
    match number {
        PHX_END_HOLD => Ok(AtEnd::Hold),
        PHX_END_STOP => Ok(AtEnd::Stop),
        PHX_END_FADE_OUT => Ok(AtEnd::FadeOut(seconds)),
        _ => Err(no_choice("the behaviour at the end", number, 3)),
    }
}

/// The number, and the seconds of a fade.
pub fn at_end_number(at_end: AtEnd) -> (phx_at_end, f32) {
    match at_end {
        AtEnd::Hold => (PHX_END_HOLD, 0.0),
        AtEnd::Stop => (PHX_END_STOP, 0.0),
        AtEnd::FadeOut(seconds) => (PHX_END_FADE_OUT, seconds),
    }
}

pub fn stage(number: phx_pose_stage) -> Result<PoseStage, Error> {
    choice("the stage", number, &[PoseStage::Before, PoseStage::After])
}

pub fn pose_space(number: phx_pose_space) -> Result<PoseSpace, Error> {
    choice("the space", number, &[PoseSpace::Local, PoseSpace::Model, PoseSpace::World])
}

/// `None` for [`PHX_NONE`].
pub fn some(number: u32) -> Option<usize> {
    (number != PHX_NONE).then_some(number as usize)
}

/// [`PHX_NONE`] for `None`. Counts and indices of rigs fit 32 bits.
pub fn none(index: Option<usize>) -> u32 {
    index.and_then(|index| u32::try_from(index).ok()).unwrap_or(PHX_NONE)
}

/// An index or a count, which is far below 2^32 in any rig and crowd.
pub fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

impl From<phx_parameter> for Parameter {
    fn from(p: phx_parameter) -> Self {
        Self { x: p.x, y: p.y }
    }
}

impl From<Parameter> for phx_parameter {
    fn from(p: Parameter) -> Self {
        Self { x: p.x, y: p.y }
    }
}

impl From<phx_matrix> for Affine3x4 {
    #[inline]
    fn from(m: phx_matrix) -> Self {
        Self { rows: m.rows }
    }
}

impl From<Affine3x4> for phx_matrix {
    #[inline]
    fn from(m: Affine3x4) -> Self {
        Self { rows: m.rows }
    }
}

impl From<phx_trs> for Trs {
    fn from(t: phx_trs) -> Self {
        Self {
            translation: Vec3::from_array(t.translation),
            rotation: Quat::from_array(t.rotation),
            scale: Vec3::from_array(t.scale),
        }
    }
}

impl From<Trs> for phx_trs {
    fn from(t: Trs) -> Self {
        Self {
            translation: t.translation.into(),
            rotation: t.rotation.into(),
            scale: t.scale.into(),
        }
    }
}

impl From<Rigid> for phx_rigid {
    fn from(r: Rigid) -> Self {
        Self { rotation: r.rotation.into(), translation: r.translation.into() }
    }
}

impl From<Aabb> for phx_box {
    fn from(b: Aabb) -> Self {
        Self { min: b.min.into(), max: b.max.into() }
    }
}

/// The caller's matrices as rows: the same 48 bytes.
pub fn rows(matrices: &[phx_matrix]) -> &[Affine3x4] {
    const {
        assert!(
            size_of::<phx_matrix>() == size_of::<Affine3x4>()
                && align_of::<phx_matrix>() == align_of::<Affine3x4>()
        )
    }
    // SAFETY: both are `repr(C)` with `[[f32; 4]; 3]` as their only field.
    unsafe { std::slice::from_raw_parts(matrices.as_ptr().cast(), matrices.len()) }
}

/// The caller's matrices as rows to write.
pub fn rows_mut(matrices: &mut [phx_matrix]) -> &mut [Affine3x4] {
    // SAFETY: as in `rows`.
    unsafe { std::slice::from_raw_parts_mut(matrices.as_mut_ptr().cast(), matrices.len()) }
}
