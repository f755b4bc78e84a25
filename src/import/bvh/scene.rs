//! Joints and frames to a raw scene, and the notes of the report about them.

use super::hierarchy::Hierarchy;
use super::motion::Motion;
use crate::import::ImportOptions;
use crate::import::repeated::Repeated;
use crate::import::{ReportEntry, Severity};
use crate::raw::{RawClip, RawNode, RawScene, RawSkin};
use crate::skeleton::Trs;
use glam::{DVec3, Mat4, Vec3};
use std::path::Path;

/// Sizes of a skeleton in metres beyond which the unit is doubtful: a mouse, a large dinosaur.
const SIZES: [f64; 2] = [0.05, 15.0];

/// Sizes of people, metres, from children to giants; the unit is guessed by them.
const PEOPLE: [f64; 2] = [0.8, 3.5];

/// A person's height, metres: of the less common units the one whose size comes nearest is named.
const PERSON: f64 = 1.7;

/// Units of most files, metres, with their names. No size fits both.
const COMMON_UNITS: [(f64, &str); 2] = [(0.01, "centimetres"), (1.0, "metres")];

/// Other units of files that were found. The unit of the CMU collection is 1/0.45 inch.
const OTHER_UNITS: [(f64, &str); 3] =
    [(0.0564, "units of the CMU collection"), (0.0254, "inches"), (0.001, "millimetres")];

/// The raw scene of a file. Joints are nodes and slots of the only skin; End Sites are only nodes.
pub(super) fn scene(
    name: &str,
    hierarchy: Hierarchy,
    motion: Motion,
    options: &ImportOptions,
    report: &mut Vec<ReportEntry>,
) -> RawScene {
    repaired(&hierarchy, report);
    repeated_joints(&hierarchy, report);
    // Only offsets place the joints at rest; parents come before their children.
    let mut rest: Vec<DVec3> = Vec::with_capacity(hierarchy.entries.len());
    for e in &hierarchy.entries {
        let above = e.parent.map_or(DVec3::ZERO, |p| rest[p]);
        rest.push(above + DVec3::from_array(e.offset));
    }
    doubtful_unit(&rest, options, report);
    let joints: Vec<usize> = (0..rest.len()).filter(|&n| !hierarchy.entries[n].is_end).collect();
    let back = |&n: &usize| Mat4::from_translation(-rest[n].as_vec3()).to_cols_array();
    let skin = RawSkin { name: None, inverse_bind: joints.iter().map(back).collect(), joints };
    let nodes: Vec<RawNode> = hierarchy
        .entries
        .into_iter()
        .enumerate()
        .map(|(source, e)| RawNode {
            source,
            name: Some(e.name),
            parent: e.parent,
            local: Trs {
                translation: Vec3::from_array(e.offset.map(|v| v as f32)),
                ..Trs::default()
            },
            ..RawNode::default()
        })
        .collect();
    let roots = (0..nodes.len()).filter(|&n| nodes[n].parent.is_none());
    RawScene {
        name: name.to_owned(),
        scenes: vec![roots.collect()],
        default_scene: Some(0),
        clips: clip(name, motion, report).into_iter().collect(),
        nodes,
        skins: vec![skin],
        ..RawScene::default()
    }
}

/// The motion as a clip that is named after the file; `None` if nothing is animated.
fn clip(name: &str, motion: Motion, report: &mut Vec<ReportEntry>) -> Option<RawClip> {
    if motion.frames == 0 || motion.tracks.is_empty() {
        let why = if motion.frames == 0 { "there are no frames" } else { "no joint has channels" };
        report.push(ReportEntry::new(Severity::Note, "motion", format!("{why}: there is no clip")));
        return None;
    }
    let stem = Path::new(name).file_stem().map(|s| s.to_string_lossy());
    Some(RawClip {
        name: Some(stem.map_or_else(|| name.to_owned(), |s| s.into_owned())),
        duration: ((motion.frames - 1) as f64 * motion.frame_time) as f32,
        tracks: motion.tracks,
        ..RawClip::default()
    })
}

fn repaired(hierarchy: &Hierarchy, report: &mut Vec<ReportEntry>) {
    if let Some(&first) = hierarchy.repaired_names.first() {
        let more = match hierarchy.repaired_names.len() - 1 {
            0 => String::new(),
            n => format!(", and {n} more"),
        };
        let name = &hierarchy.entries[first].name;
        let place = format!("joint {first}");
        let message =
            format!("its name is not UTF-8 and became \"{}\"{more}", crate::words::shorten(name));
        report.push(ReportEntry::new(Severity::Repaired, place, message));
    }
}

/// Notes names that several joints have. End Sites are not joints.
fn repeated_joints(hierarchy: &Hierarchy, report: &mut Vec<ReportEntry>) {
    let joints: Vec<usize> =
        (0..hierarchy.entries.len()).filter(|&n| !hierarchy.entries[n].is_end).collect();
    let names = joints.iter().map(|&n| {
        let entry = &hierarchy.entries[n];
        (Some(entry.name.as_str()), entry.parent)
    });
    // Numbers count joints, as in the skeleton, not entries.
    let groups = Repeated::of(names);
    if !groups.is_empty() {
        let mut entry = ReportEntry::new(Severity::Note, "joints", groups.joints_message("joints"));
        entry.items = groups.items("joints");
        report.push(entry);
    }
}

/// Notes that the unit is probably wrong if the skeleton is very large or small.
fn doubtful_unit(rest: &[DVec3], options: &ImportOptions, report: &mut Vec<ReportEntry>) {
    let (least, most) =
        rest.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(least, most), &p| {
            (least.min(p), most.max(p))
        });
    // Not only the height counts: in some files every bone of the rest pose lies along one axis.
    let size = (most - least).max_element();
    if size <= 0.0 || (SIZES[0]..=SIZES[1]).contains(&size) {
        return;
    }
    let units = size / options.unit;
    let fits = |&&(unit, _): &&(f64, &str)| (PEOPLE[0]..=PEOPLE[1]).contains(&(units * unit));
    let off = |unit: f64| (units * unit / PERSON).ln().abs();
    let other = || {
        let fitting = OTHER_UNITS.iter().filter(fits);
        fitting.min_by(|a, b| off(a.0).total_cmp(&off(b.0)))
    };
    let guess = match COMMON_UNITS.iter().find(fits).or_else(other) {
        Some((unit, name)) => {
            let metres = units * unit;
            format!("in {name} (unit {unit}) it is {metres:.2} m")
        }
        None => "its unit is unknown".to_owned(),
    };
    let message = format!(
        "the skeleton is {units:.4} units in size, which is {size:.4} m with a unit of {} m; {guess}",
        options.unit
    );
    report.push(ReportEntry::new(Severity::Note, "unit", message));
}
