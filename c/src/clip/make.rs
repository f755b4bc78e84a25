//! Clips that are made of other clips: additive, bound, retargeted, baked.

use super::{new_clip, phx_clip};
use crate::border::*;
use crate::convert::choice;
use crate::rig::phx_rig;
use crate::types::*;
use phalanx::bake::{BakeOptions, bake};
use phalanx::build::{AdditiveReference, build_additive};
use phalanx::clip::{Clip, ClipKind};
use phalanx::retarget::{
    Alignment, BindOptions, Binding, Ground, HumanoidMap, Reference, RetargetOptions, Retargeting,
    TranslationMode,
};
use phalanx::rig::{Rig, RigParts};
use std::sync::Arc;

/// A clip in a rig's lane order, which may not be additive.
fn full(rig: &Rig, clip: &Arc<Clip>) -> Result<Arc<Clip>, Error> {
    if clip.kind() == ClipKind::Additive {
        let words = format!("clip \"{}\" is additive already", clip.name());
        return Err(Error::new(PHX_ERROR_DATA, words));
    }
    Ok(rig.lay_out(clip)?)
}

/// An additive clip: the differences of a clip to a pose, for an additive layer. The pose is that of `reference` at
/// `time`, seconds, or for null the rest pose. The result does not depend on other clips of the rig.
///
/// PHX_ERROR_DATA: a clip is of another skeleton, is additive already, or `time` lies outside of the reference.
/// PHX_ERROR_VALUE: `time` is not finite.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_clip_new_additive(
    rig: *const phx_rig,
    clip: *const phx_clip,
    reference: *const phx_clip,
    time: f32,
    out: *mut *mut phx_clip,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, clip, reference, out) = unsafe {
            let reference = if reference.is_null() { None } else { Some(share(reference)?) };
            (share(rig)?, share(clip)?, reference, output(out, "the clip's place")?)
        };
        if !time.is_finite() {
            return Err(Error::value(format!("the time is {time} s")));
        }
        let mut clips = vec![full(&state.rig, &clip)?];
        let pose = match reference {
            Some(reference) => {
                clips.push(full(&state.rig, &reference)?);
                AdditiveReference::Frame(1, time)
            }
            None => AdditiveReference::Rest,
        };
        // The skeleton and the clips are all that the differences need.
        let bare = Rig::new(RigParts {
            name: state.rig.name().to_owned(),
            skeleton: state.rig.skeleton().clone(),
            skins: Vec::new(),
            file_skins: 0,
            clips,
            nodes: Vec::new(),
            roots: Vec::new(),
            meshes: Vec::new(),
            materials: Vec::new(),
            images: Vec::new(),
        })?;
        out.write(new_clip(build_additive(&bare, 0, pose)?));
        Ok(())
    })
}

/// Where translations of joints below the hips come from when a clip is bound.
pub type phx_translations = u32;
/// From the clip where both rest poses have the same offset, else from the rest pose of the target.
pub const PHX_TRANSLATIONS_SAME_OFFSET: phx_translations = 0;
/// From the rest pose of the target: bones keep their lengths.
pub const PHX_TRANSLATIONS_SKELETON: phx_translations = 1;
/// From the clip.
pub const PHX_TRANSLATIONS_ANIMATION: phx_translations = 2;
/// From the clip, scaled by the ratio of the lengths of the bones.
pub const PHX_TRANSLATIONS_ANIMATION_SCALED: phx_translations = 3;
/// From the rest pose of the target, moved as the clip moves the joint from its own rest pose.
pub const PHX_TRANSLATIONS_ANIMATION_RELATIVE: phx_translations = 4;

/// Settings of `phx_clip_new_bound`. `phx_options_init` with PHX_BIND_OPTIONS sets the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_bind_options {
    /// The size of this struct.
    pub size: usize,
    /// Where translations come from, but for the root's. Default: PHX_TRANSLATIONS_SAME_OFFSET.
    pub translations: phx_translations,
    /// The factor of the root's translations. Default: 0, the ratio of the heights of the hips.
    pub root_scale: f32,
}

extensible!(
    phx_bind_options,
    Self { size: size_of::<Self>(), translations: PHX_TRANSLATIONS_SAME_OFFSET, root_scale: 0.0 }
);

impl phx_bind_options {
    fn convert(&self) -> Result<BindOptions, Error> {
        let modes = [
            TranslationMode::SameOffset,
            TranslationMode::Skeleton,
            TranslationMode::Animation,
            TranslationMode::AnimationScaled,
            TranslationMode::AnimationRelative,
        ];
        if !self.root_scale.is_finite() {
            return Err(Error::value(format!("the root's scale is {}", self.root_scale)));
        }
        Ok(BindOptions {
            translations: choice("the source of translations", self.translations, &modes)?,
            root_scale: (self.root_scale != 0.0).then_some(self.root_scale),
        })
    }
}

/// A clip of one rig for another rig whose joints have the same names. `options` may be null. For humanoids with other
/// names or proportions there is `phx_clip_new_retargeted`; clips of an equal skeleton need neither.
///
/// PHX_ERROR_DATA: the rigs have no joint in common, or the clip is not of the source or is additive. PHX_ERROR_VALUE:
/// an option is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_clip_new_bound(
    source: *const phx_rig,
    clip: *const phx_clip,
    target: *const phx_rig,
    options: *const phx_bind_options,
    out: *mut *mut phx_clip,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (source, clip, target, given, out) = unsafe {
            (
                share(source)?,
                share(clip)?,
                share(target)?,
                crate::border::options(options)?,
                output(out, "the clip's place")?,
            )
        };
        let binding =
            Binding::new(source.rig.skeleton(), target.rig.skeleton(), &given.convert()?)?;
        let clip = source.rig.lay_out(&clip)?;
        out.write(new_clip(binding.clip(&clip)?.clip));
        Ok(())
    })
}

/// Which bones of the target's reference pose are turned into the directions of the source's.
pub type phx_alignment = u32;
/// None: both reference poses are alike.
pub const PHX_ALIGN_NONE: phx_alignment = 0;
/// Arms and legs.
pub const PHX_ALIGN_LIMBS: phx_alignment = 1;
/// Arms, legs and fingers.
pub const PHX_ALIGN_LIMBS_AND_FINGERS: phx_alignment = 2;

/// The height at which the source stands.
pub type phx_ground_level = u32;
/// The reference pose's lowest foot or the origin, as the clip shows.
pub const PHX_GROUND_AUTO: phx_ground_level = 0;
/// The lowest foot of the reference pose.
pub const PHX_GROUND_REFERENCE: phx_ground_level = 1;
/// Height 0.
pub const PHX_GROUND_ORIGIN: phx_ground_level = 2;

/// The pose in which two characters stand alike.
pub type phx_reference = u32;
/// The rest pose, which must stand.
pub const PHX_REFERENCE_REST: phx_reference = 0;
/// The pose in which the rig's skins were bound.
pub const PHX_REFERENCE_BIND: phx_reference = 1;
/// The rest pose, the bind pose or a frame of the rig's clips: the first of them that stands.
pub const PHX_REFERENCE_FOUND: phx_reference = 2;

/// Settings of `phx_clip_new_retargeted`. `phx_options_init` with PHX_RETARGET_OPTIONS sets the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_retarget_options {
    /// The size of this struct.
    pub size: usize,
    /// The source's reference pose. Default: PHX_REFERENCE_REST.
    pub source_reference: phx_reference,
    /// The target's reference pose. Default: PHX_REFERENCE_REST.
    pub target_reference: phx_reference,
    /// The bones that are aligned. Default: PHX_ALIGN_LIMBS.
    pub alignment: phx_alignment,
    /// The ground on which the source stands. Default: PHX_GROUND_AUTO.
    pub ground: phx_ground_level,
    /// Flag: animated scales are kept. Default: 1.
    pub keep_scales: u32,
    /// Flag: left and right are swapped. Default: 0.
    pub mirror: u32,
    /// Flag: feet that stand in the source do not slide in the target; the legs bend. Default: 0.
    pub plant_feet: u32,
    /// The greatest height of a foot that stands, above its lowest: a share of the height of the source's hips. Above
    /// 0. Default: 0.05.
    pub plant_height: f64,
    /// The greatest speed of a foot that stands, heights of the source's hips per second. Above 0. Default: 0.35.
    pub plant_speed: f64,
    /// The time over which a correction comes and goes, seconds. Above 0. Default: 0.1.
    pub plant_fade: f64,
}

extensible!(
    phx_retarget_options,
    Self {
        size: size_of::<Self>(),
        source_reference: PHX_REFERENCE_REST,
        target_reference: PHX_REFERENCE_REST,
        alignment: PHX_ALIGN_LIMBS,
        ground: PHX_GROUND_AUTO,
        keep_scales: 1,
        mirror: 0,
        plant_feet: 0,
        plant_height: 0.05,
        plant_speed: 0.35,
        plant_fade: 0.1,
    }
);

impl phx_retarget_options {
    /// The options but for the reference poses, which are at rest.
    fn convert(&self) -> Result<RetargetOptions, Error> {
        for (what, value) in
            [("height", self.plant_height), ("speed", self.plant_speed), ("fade", self.plant_fade)]
        {
            if self.plant_feet != 0 && !(value > 0.0 && value.is_finite()) {
                let words = format!("the {what} of planting is {value}, expected a number above 0");
                return Err(Error::value(words));
            }
        }
        let alignments = [Alignment::None, Alignment::Limbs, Alignment::LimbsAndFingers];
        let grounds = [Ground::Auto, Ground::Reference, Ground::Origin];
        Ok(RetargetOptions {
            source_reference: Reference::Rest,
            target_reference: Reference::Rest,
            alignment: choice("the alignment", self.alignment, &alignments)?,
            keep_scales: self.keep_scales != 0,
            ground: choice("the ground", self.ground, &grounds)?,
            mirror: self.mirror != 0,
            plant_feet: self.plant_feet != 0,
            plant_height: self.plant_height,
            plant_speed: self.plant_speed,
            plant_fade: self.plant_fade,
        })
    }
}

fn reference(
    kind: phx_reference,
    rig: &Rig,
    map: &HumanoidMap,
    side: &'static str,
) -> Result<Reference, Error> {
    match kind {
        PHX_REFERENCE_REST => Ok(Reference::Rest),
        PHX_REFERENCE_BIND => Ok(Reference::bind(rig, map)?),
        PHX_REFERENCE_FOUND => Ok(Reference::find(rig, map, side)?.0),
        other => Err(Error::value(format!("the {side}'s reference is {other}, beyond 2"))),
    }
}

/// A clip of one humanoid for another of other names, proportions and rest pose. The bones are those that the rigs'
/// files state (VRM), else found by common names or by the shape of the skeleton. `options` may be null.
///
/// With `mirror`, and the same rig as source and target, it swaps the sides of a clip.
///
/// PHX_ERROR_DATA: a rig is no humanoid, its reference pose lies, or the clip is not of the source or is additive.
/// PHX_ERROR_VALUE: an option is out of range.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_clip_new_retargeted(
    source: *const phx_rig,
    clip: *const phx_clip,
    target: *const phx_rig,
    options: *const phx_retarget_options,
    out: *mut *mut phx_clip,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (source, clip, target, given, out) = unsafe {
            (
                share(source)?,
                share(clip)?,
                share(target)?,
                crate::border::options(options)?,
                output(out, "the clip's place")?,
            )
        };
        let (source, target) = (&source.rig, &target.rig);
        let converted = given.convert()?;
        let maps = (HumanoidMap::of_rig(source)?, HumanoidMap::of_rig(target)?);
        let options = RetargetOptions {
            source_reference: reference(given.source_reference, source, &maps.0, "source")?,
            target_reference: reference(given.target_reference, target, &maps.1, "target")?,
            ..converted
        };
        let pairs = ((source.skeleton(), &maps.0), (target.skeleton(), &maps.1));
        let retargeting = Retargeting::new(pairs.0, pairs.1, options)?;
        let (made, _) = retargeting.retarget(&*source.lay_out(&clip)?)?;
        out.write(new_clip(made));
        Ok(())
    })
}

/// Settings of `phx_clip_new_baked`. Each number is finite and above 0. `phx_options_init` with PHX_BAKE_OPTIONS sets
/// the defaults.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_bake_options {
    /// The size of this struct.
    pub size: usize,
    /// The greatest displacement of points on a joint's shell, units of the model. Default: 0.0001.
    pub max_error: f32,
    /// The distance of the shell from the joint, units of the model. Default: 0.03.
    pub shell: f32,
    /// The greatest error of scalars, relative to their range or to 1, whichever is larger. Default: 0.0001.
    pub scalar_error: f32,
}

extensible!(
    phx_bake_options,
    Self { size: size_of::<Self>(), max_error: 1e-4, shell: 0.03, scalar_error: 1e-4 }
);

impl phx_bake_options {
    fn convert(&self) -> BakeOptions {
        BakeOptions {
            max_error: self.max_error,
            shell: self.shell,
            scalar_error: self.scalar_error,
            joint_errors: Vec::new(),
            joint_shells: Vec::new(),
        }
    }
}

/// A clip with fewer and smaller keys, within bounds of error. It may take seconds. `options` may be null. `error`,
/// which may be null too, receives the greatest displacement at any time, units of the model.
///
/// PHX_ERROR_DATA: the clip is of another skeleton. PHX_ERROR_VALUE: an option is out of range, or the clip is too large.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn phx_clip_new_baked(
    rig: *const phx_rig,
    clip: *const phx_clip,
    options: *const phx_bake_options,
    error: *mut f32,
    out: *mut *mut phx_clip,
) -> phx_status {
    entry(|| {
        // SAFETY: the caller's promise.
        let (state, clip, given, error, out) = unsafe {
            let error =
                if error.is_null() { None } else { Some(output(error, "the error's place")?) };
            (
                share(rig)?,
                share(clip)?,
                crate::border::options(options)?,
                error,
                output(out, "the clip's place")?,
            )
        };
        let clip = state.rig.lay_out(&clip)?;
        let (baked, report) = bake(&clip, state.rig.skeleton(), &given.convert())?;
        if let Some(error) = error {
            error.write(report.max);
        }
        out.write(new_clip(baked));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_options_are_those_of_the_library() {
        assert_eq!(phx_bind_options::DEFAULT.convert().unwrap(), BindOptions::default());
        assert_eq!(phx_retarget_options::DEFAULT.convert().unwrap(), RetargetOptions::default());
        assert_eq!(phx_bake_options::DEFAULT.convert(), BakeOptions::default());
    }
}
