//! Placeholder names of clips, and the name of the file in their place.

use crate::words::unnumbered;
use std::borrow::Cow;
use std::path::Path;

/// Names that exporters give a clip without one, in lower case: the names of Mixamo's site, of FBX takes from
/// Autodesk's tools, Unreal and converters, and of glTF writers that number animations.
const PLACEHOLDERS: [&str; 9] = [
    "mixamo.com",
    "take 001",
    "take001",
    "take_001",
    "unreal take",
    "animation",
    "animation_0",
    "animation0",
    "animation 0",
];

/// Names of layers, the last part of `Armature|Take 001|BaseLayer`, in lower case.
const LAYERS: [&str; 3] = ["layer0", "baselayer", "base layer"];

/// True for the names that [`clip_name_from_file`] replaces.
fn is_placeholder(name: &str) -> bool {
    let name = name.trim().to_lowercase();
    let name = unnumbered(&name);
    let mut parts: Vec<&str> = name.split('|').map(|p| unnumbered(p.trim())).collect();
    if parts.len() > 1 && parts.last().is_some_and(|p| LAYERS.contains(p)) {
        parts.pop();
    }
    // The text before the name is the armature's. Nothing may be left of a name but its number.
    let nameless = |p: &str| unnumbered(&format!("_{p}")) == "_";
    parts.last().is_none_or(|p| nameless(p) || PLACEHOLDERS.contains(p))
}

/// The name of the only clip of a file: the file's name without extension if the clip's name does not describe the
/// motion, otherwise the clip's name.
///
/// Such placeholders are an empty name, `mixamo.com`, `Take 001`, `Take001`, `Take_001`, `Unreal Take`, `Animation`,
/// `Animation 0`, `animation_0` and `Animation0`. Case is ignored, and so are an armature before the name and a layer
/// behind it, as Blender joins them (`Armature|mixamo.com|Layer0`), and Blender's number of a copy (`mixamo.com.001`).
/// `Take 002` and names that an artist may have chosen, such as `ArmatureAction`, are kept.
///
/// Use it for files of one clip: one file name cannot name several.
///
/// ```
/// use phalanx::import::clip_name_from_file;
/// use std::path::Path;
///
/// assert_eq!(clip_name_from_file(Path::new("clips/walk.glb"), "mixamo.com"), "walk");
/// assert_eq!(clip_name_from_file(Path::new("clips/walk.glb"), "Stroll"), "Stroll");
/// ```
pub fn clip_name_from_file<'n>(path: &'n Path, name: &'n str) -> Cow<'n, str> {
    match path.file_stem() {
        Some(stem) if is_placeholder(name) => stem.to_string_lossy(),
        _ => Cow::Borrowed(name),
    }
}
