//! Settings of imports.

use crate::border::*;
use crate::convert::choice;
use crate::types::*;
use phalanx::build::RootMotionOptions;
use phalanx::import::{ImportOptions, UpAxis};
use phalanx::mesh::ImageMode;
use std::ptr::null;

/// The axis that points up in what an import makes.
pub type phx_up_axis = u32;
/// Y, as in glTF.
pub const PHX_UP_Y: phx_up_axis = 0;
/// Z; files are turned to it.
pub const PHX_UP_Z: phx_up_axis = 1;

/// What an import does with images.
pub type phx_images = u32;
/// They are left out.
pub const PHX_IMAGES_SKIP: phx_images = 0;
/// They keep the bytes of their file: PNG, JPEG, WebP or another format.
pub const PHX_IMAGES_ENCODED: phx_images = 1;
/// They become pixels. This build of the library has no decoders: PHX_ERROR_UNSUPPORTED.
pub const PHX_IMAGES_DECODED: phx_images = 2;

/// Settings of an import. `phx_options_init` with PHX_IMPORT_OPTIONS sets the defaults.
///
/// A .phx file holds a finished rig: of these settings only `images` and `without_clips` apply to it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct phx_import_options {
    /// The size of this struct.
    pub size: usize,
    /// The up axis of the result. Default: PHX_UP_Y.
    pub up_axis: phx_up_axis,
    /// Flag: clips get root motion. The travel of the root joint leaves the poses and moves characters instead.
    /// Default: 0.
    pub root_motion: u32,
    /// Metres per unit of a BVH file, which states none: 0.01 for centimetres. Finite, above 0. Default: 1.
    pub unit: f64,
    /// Nodes, by name or by index in the file, whose subtrees become rigs of their own. Default: none.
    pub split: *const phx_text,
    /// The number of texts at `split`.
    pub split_count: usize,
    /// The joint of the root motion, by name, path or index. Default: empty, the first joint that travels.
    pub root_joint: phx_text,
    /// The axes of the root motion: bits 1 for x, 2 for y, 4 for z. Default: 0, the two horizontal axes.
    pub root_axes: u32,
    /// Flag: the root motion has the rotation about the up axis too. Default: 0.
    pub root_rotation: u32,
    /// What becomes of images. Default: PHX_IMAGES_ENCODED.
    pub images: phx_images,
    /// Flag: files that a file refers to may lie outside its folder. Default: 0.
    pub parent_folders: u32,
    /// Flag: files that require an unsupported extension are read as far as possible; the report says what is missing.
    /// Default: 0, they are refused.
    pub lenient: u32,
    /// Flag: clips that begin late are cut, so that they begin at 0 s. Default: 0.
    pub trim: u32,
    /// Limit on the memory of the import, bytes. Default: 0, a limit that grows with the size of the file.
    pub memory_limit: u64,
    /// Flag: the rig of a .phx file has no clips; a `phx_library` reads them one by one. Default: 0.
    pub without_clips: u32,
}

extensible!(
    phx_import_options,
    Self {
        size: size_of::<Self>(),
        up_axis: PHX_UP_Y,
        root_motion: 0,
        unit: 1.0,
        split: null(),
        split_count: 0,
        root_joint: phx_text::empty(),
        root_axes: 0,
        root_rotation: 0,
        images: PHX_IMAGES_ENCODED,
        parent_folders: 0,
        lenient: 0,
        trim: 0,
        memory_limit: 0,
        without_clips: 0,
    }
);

/// The caller's options, converted.
pub(crate) struct Import {
    pub options: ImportOptions,
    /// Whether the rig of a .phx file has its clips.
    pub clips: bool,
}

/// Reads the caller's options.
///
/// # Safety
/// The caller's promise.
pub(crate) unsafe fn import_options(given: *const phx_import_options) -> Result<Import, Error> {
    // SAFETY: the caller's promise.
    let (o, split) = unsafe {
        let o = options(given)?;
        let texts = array(o.split, o.split_count, "the nodes to split at")?;
        let one = |t: &phx_text| text(t.data, t.length, "a node to split at").map(str::to_owned);
        (o, texts.iter().map(one).collect::<Result<Vec<String>, Error>>()?)
    };
    if !(o.unit > 0.0 && o.unit.is_finite()) {
        let words = format!("the unit is {} m, expected a finite number above 0", o.unit);
        return Err(Error::value(words));
    }
    let up_axis = choice("the up axis", o.up_axis, &[UpAxis::Y, UpAxis::Z])?;
    let images = choice(
        "the mode of images",
        o.images,
        &[Some(ImageMode::Skip), Some(ImageMode::Encoded), None],
    )?;
    let Some(images) = images else {
        let words =
            "this build of the library decodes no images; PHX_IMAGES_ENCODED keeps their bytes";
        return Err(Error::new(PHX_ERROR_UNSUPPORTED, words));
    };
    let mut root_motion = None;
    if o.root_motion != 0 {
        if o.root_axes > 7 {
            return Err(Error::value(format!("the root's axes are {}, beyond 7", o.root_axes)));
        }
        // SAFETY: the caller's promise.
        let joint = unsafe { text(o.root_joint.data, o.root_joint.length, "the root joint") }?;
        root_motion = Some(RootMotionOptions {
            joint: (!joint.is_empty()).then(|| joint.to_owned()),
            axes: (o.root_axes != 0).then(|| [1, 2, 4].map(|bit| o.root_axes & bit != 0)),
            rotation: o.root_rotation != 0,
            up: up_axis,
        });
    }
    let options = ImportOptions {
        up_axis,
        unit: o.unit,
        split,
        root_motion,
        images,
        parent_folders: o.parent_folders != 0,
        lenient: o.lenient != 0,
        trim: o.trim != 0,
        memory_limit: (o.memory_limit != 0).then_some(o.memory_limit),
    };
    Ok(Import { options, clips: o.without_clips == 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_options_are_those_of_the_library() {
        // SAFETY: null stands for the defaults.
        let import = unsafe { import_options(null()) }.unwrap();
        let wanted = ImportOptions { images: ImageMode::Encoded, ..ImportOptions::default() };
        assert_eq!(import.options, wanted);
        assert!(import.clips);
    }

    #[test]
    fn options_are_converted_one_by_one() {
        let names = [phx_text::of("sword"), phx_text::of("7")];
        let given = phx_import_options {
            up_axis: PHX_UP_Z,
            unit: 0.01,
            split: names.as_ptr(),
            split_count: 2,
            root_motion: 1,
            root_joint: phx_text::of("Hips"),
            root_axes: 5,
            root_rotation: 2,
            images: PHX_IMAGES_SKIP,
            parent_folders: 1,
            lenient: 1,
            trim: 1,
            memory_limit: 9,
            without_clips: 1,
            ..phx_import_options::DEFAULT
        };
        // SAFETY: all pointers are to values that live here.
        let import = unsafe { import_options(&raw const given) }.unwrap();
        let wanted = ImportOptions {
            up_axis: UpAxis::Z,
            unit: 0.01,
            split: vec!["sword".into(), "7".into()],
            root_motion: Some(RootMotionOptions {
                joint: Some("Hips".into()),
                axes: Some([true, false, true]),
                rotation: true,
                up: UpAxis::Z,
            }),
            images: ImageMode::Skip,
            parent_folders: true,
            lenient: true,
            trim: true,
            memory_limit: Some(9),
        };
        assert_eq!(import.options, wanted);
        assert!(!import.clips);
    }
}
