//! Names of clips that say nothing.

use phalanx::import::clip_name_from_file;
use std::path::Path;

/// Whether a file of one clip gives it the name of the file.
fn is_placeholder(name: &str) -> bool {
    clip_name_from_file(Path::new("the file.glb"), name) == "the file"
}

#[test]
fn placeholders_of_exporters() {
    for name in [
        "",
        "  ",
        "mixamo.com",
        "Mixamo.com",
        "mixamo.com.001",
        ".001",
        "Armature|.001",
        "Armature|.001|Layer0",
        "Take 001",
        "Take001",
        "TAKE_001",
        "Take 001.002",
        "Unreal Take",
        "Armature|mixamo.com",
        "Armature|mixamo.com|Layer0",
        "Armature.001|mixamo.com|Layer0.001",
        "mixamorig:Hips|Take 001|BaseLayer",
        "Armature||Layer0",
        "Animation",
        "animation_0",
        "Animation 0",
    ] {
        assert!(is_placeholder(name), "{name:?}");
    }
}

#[test]
fn names_that_someone_chose() {
    for name in [
        "Walk",
        "Take 002",
        "Take 0011",
        "Take",
        "ArmatureAction",
        "Armature|Walk",
        "Armature|Walk|BaseLayer",
        "Armature|Walk|Take 001|Run",
        "mixamo",
        "mixamo.com walk",
        "mixamo.community",
        "Animations",
        "animation_1",
        "Layer0",
        "001",
        "a.001",
    ] {
        assert!(!is_placeholder(name), "{name:?}");
    }
}

#[test]
fn the_file_gives_its_name() {
    let cases = [
        ("clips/walk.glb", "Take 001", "walk"),
        ("clips/walk.slow.glb", "mixamo.com", "walk.slow"),
        ("walk", "", "walk"),
        ("clips/walk.glb", "Stroll", "Stroll"),
        // No name to take.
        ("..", "mixamo.com", "mixamo.com"),
        ("/", "", ""),
    ];
    for (path, name, expected) in cases {
        assert_eq!(clip_name_from_file(Path::new(path), name), expected, "{path}");
    }
}
