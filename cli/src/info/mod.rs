//! `phalanx info`: shows the contents of a file and the import's report.

mod document;
mod library;
mod size;
mod tree;

use super::bake::proportion;
use super::clips::ClipArgs;
use super::error::CliError;
use super::findings::with_options;
use super::import_args::ImportArgs;
use super::model::Model;
use super::output;
use super::text::{self, line};
use clap::Args;
use document::{ClipInfo, Document, MeshInfo};
use size::Travel;
use std::path::PathBuf;

/// Show a model: size, clips, skins, meshes, what the import repaired, dropped or did not use, and the joints
///
/// A clip travels if its root joint ends elsewhere than it began: by the root motion of the file, or in the
/// pose, along the ground.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct InfoArgs {
    /// A .gltf, .glb, .vrm, .bvh or .phx file; default: the built-in character
    file: Option<PathBuf>,
    /// Print JSON, with every joint and the whole import report
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    clips: ClipArgs,
    #[command(flatten)]
    import: ImportArgs,
}

const EXAMPLES: &str = "\
Examples:
  phalanx info
  phalanx info robot.glb
  phalanx info robot.glb --json | jq .clips[].duration";

/// Largest number of report lines printed; JSON contains all.
const REPORT_LINES: usize = 30;

/// The place of the report entry about a BVH file's unit.
const UNIT: &str = "unit";

/// Models whose longest side is below this have their size in millimetres, metres.
const SMALL: f32 = 0.1;

/// Largest number of markers printed per clip; JSON contains all.
const MARKERS: usize = 12;

/// Imports and prints.
pub fn run(args: &InfoArgs) -> Result<(), CliError> {
    let mut model = Model::load(args.file.as_deref(), true, args.import)?;
    model.add_clips(&args.clips, args.import)?;
    args.clips.check_files(&args.file, args.import)?;
    let document = Document::new(&model);
    if args.json {
        return output::print_json(&document, true);
    }
    let mut out = String::new();
    line(&mut out, format_args!("{}", text::one_line(&model.file)));
    line(&mut out, format_args!("{}", summary(&document)));
    out += &size(&document, model.is_bvh());
    out += &humanoid(&document);
    out += &springs(&document);
    out += &clips(&document);
    out += &skins(&document);
    out += &meshes(&document);
    out += &surfaces(&document);
    out += &bound(&document);
    out += &report(&document, model.is_bvh());
    if let Some(library) = &document.library {
        out += &library.text();
    }
    out += &tree::text(model.rig.skeleton());
    output::print(&out)
}

/// The text about clips bound from other files.
fn bound(d: &Document) -> String {
    let mut out = String::new();
    for file in &d.bound {
        line(&mut out, format_args!("\nclips of {}", text::one_line(&file.file)));
        let names = file.clips.iter().map(|n| format!("\"{}\"", text::one_line(n)));
        line(&mut out, format_args!("  {}", names.collect::<Vec<_>>().join(", ")));
        for found in &file.report {
            line(&mut out, format_args!("  {}", text::one_line(found)));
        }
    }
    out
}

fn summary(d: &Document) -> String {
    let several =
        |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let triangles: usize =
        d.meshes.iter().filter(|m| m.level_of_detail == 0).map(|m| m.triangles).sum();
    let levels = match d.levels_of_detail {
        0 | 1 => String::new(),
        n => format!(" in {n} levels of detail"),
    };
    [
        text::plural(d.clips.len(), "clip"),
        text::plural(d.skeleton.joints.len(), "joint"),
        text::plural(d.skins.len(), "skin"),
        several(d.meshes.len(), "mesh", "meshes") + &levels,
        match triangles {
            1 => "1 triangle".to_owned(),
            n => format!("{} triangles", text::count(n as u64)),
        },
    ]
    .join(", ")
}

/// Size and unit.
fn size(d: &Document, is_bvh: bool) -> String {
    let mut out = String::new();
    let Some(bounds) = &d.bounds else {
        line(&mut out, format_args!("size unknown: no meshes and no joints"));
        return out;
    };
    // Of small models metres have no digits.
    let (unit, per_metre) = match bounds.longest() {
        longest if longest < SMALL => ("mm", 1000.0),
        _ => ("m", 1.0),
    };
    let corner = |p: [f32; 3]| p.map(|v| metres(v, per_metre)).join(" ");
    let size = sides(bounds.size, per_metre);
    let (min, max) = (corner(bounds.min), corner(bounds.max));
    line(
        &mut out,
        format_args!(
            "size {size} {unit} (width x height x depth)\n  from {min} to {max} in the rest pose"
        ),
    );
    // Of BVH files the import knows more than the size.
    if let Some(entry) = d.report.iter().flatten().find(|e| is_bvh && e.place == UNIT) {
        line(&mut out, format_args!("  {}", text::one_line(&entry.message)));
        out += "  --unit cm, or metres as a number, reads it in another unit\n";
    }
    if d.unit_hint.is_some() {
        line(
            &mut out,
            format_args!("  seems to be in centimetres: {} m", sides(bounds.size, 0.01)),
        );
        // A .phx file cannot be baked again.
        if d.library.is_none() {
            out += "  bake it with --max-error 0.01 --shell 3\n";
        }
    }
    let longest = bounds.longest();
    if d.library.is_none() && proportion::is_tiny(longest) {
        out += &proportion::hint(longest);
    }
    out
}

/// How much of a humanoid the file states; JSON lists the bones.
fn humanoid(d: &Document) -> String {
    let Some(humanoid) = &d.humanoid else {
        return String::new();
    };
    let bones = text::plural(humanoid.bones.len(), "bone");
    match humanoid.lacking[..] {
        [] => format!("humanoid of the file: {bones}\n"),
        _ => format!(
            "humanoid of the file: {bones}; {} that VRM requires are missing: {}\n",
            humanoid.lacking.len(),
            humanoid.lacking.join(", ")
        ),
    }
}

/// The springs of the file.
fn springs(d: &Document) -> String {
    let Some(springs) = &d.springs else {
        return String::new();
    };
    let [chains, joints, colliders] =
        [(springs.chains, "chain"), (springs.joints, "joint"), (springs.colliders, "collider")]
            .map(|(count, what)| text::plural(count, what));
    format!("springs of the file: {chains} of {joints}, {colliders}\n")
}

fn sides(size: [f32; 3], unit: f32) -> String {
    size.map(|v| metres(v, unit)).join(" x ")
}

/// Two decimals, one for long lengths.
fn metres(v: f32, unit: f32) -> String {
    // Adding 0 turns -0 into 0.
    let v = v * unit + 0.0;
    match v.abs() {
        a if a >= 1e6 => format!("{v:.2e}"),
        a if a >= 10.0 => format!("{v:.1}"),
        _ if (-5e-3..0.0).contains(&v) => "0.00".into(),
        _ => format!("{v:.2}"),
    }
}

fn skins(d: &Document) -> String {
    if d.skins.is_empty() {
        return String::new();
    }
    let rows = d.skins.iter();
    let rows =
        rows.map(|s| vec![s.skin.to_string(), text::name(s.name.as_deref()), s.slots.to_string()]);
    format!("\nSkins\n{}", text::table(&["skin", "name", "slots"], rows.collect(), 2))
}

fn clips(d: &Document) -> String {
    if d.clips.is_empty() {
        return "\nNo clips\n".into();
    }
    let header = [
        "clip",
        "name",
        "seconds",
        "joints",
        "travels",
        "speed",
        "markers",
        "keys",
        "bytes",
        "timelines",
        "translations",
        "rotations",
        "scales",
        "scalars",
    ];
    let rows = d.clips.iter().map(|c: &ClipInfo| {
        let travel =
            |value: fn(&Travel) -> String| c.root_motion.as_ref().map_or_else(|| "-".into(), value);
        let mut row = vec![
            c.clip.to_string(),
            text::name(Some(&c.name)),
            format!("{:.3}", c.duration),
            c.moving_joints.to_string(),
            travel(|t| format!("{} m", metres(t.distance, 1.0))),
            travel(|t| format!("{} m/s", metres(t.speed, 1.0))),
            match c.markers.len() {
                0 => "-".into(),
                n => n.to_string(),
            },
            text::count(c.keys as u64),
            text::bytes(c.bytes as f64),
            format!("{} + {}", c.timelines.regular, c.timelines.irregular),
        ];
        let t = &c.tracks;
        let channels = [&t.translation, &t.rotation, &t.scale, &t.scalar];
        row.extend(channels.map(|t| format!("{} + {}", t.animated, t.constant)));
        row
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    let mut header = header.to_vec();
    // Columns of dashes say nothing.
    for c in (2..header.len()).rev() {
        if rows.iter().all(|row| row[c] == "-") {
            header.remove(c);
            rows.iter_mut().for_each(|row| drop(row.remove(c)));
        }
    }
    let optional = [
        "seconds",
        "joints",
        "travels",
        "speed",
        "markers",
        "keys",
        "bytes",
        "translations+rotations+scales+scalars",
        "timelines",
    ];
    let table = text::table_of(&header, rows, 2, &optional);
    let heading = match text::has_column(&table, "joints") {
        true => "Clips (joints: those that move)",
        false => "Clips",
    };
    let mut out = format!("\n{heading}\n{table}");
    let shown = |column: &&str| text::has_column(&table, column);
    let channels = ["translations", "rotations", "scales", "scalars"];
    let channels: Vec<&str> = channels.into_iter().filter(shown).collect();
    if !channels.is_empty() {
        let channels = channels.join(", ");
        line(&mut out, format_args!("{channels}: animated + constant but not at rest"));
    }
    if shown(&"timelines") {
        out += "timelines: regular + irregular\n";
    }
    for c in d.clips.iter().filter(|c| !c.markers.is_empty()) {
        let markers = c.markers.iter().take(MARKERS);
        let mut all: Vec<String> =
            markers.map(|m| format!("{} {:.3} s", text::one_line(&m.name), m.time)).collect();
        if c.markers.len() > MARKERS {
            all.push(format!("and {} more", c.markers.len() - MARKERS));
        }
        let name = text::name(Some(&c.name));
        line(&mut out, format_args!("  markers of {name}: {}", all.join(", ")));
    }
    out
}

fn meshes(d: &Document) -> String {
    if d.meshes.is_empty() {
        return "\nNo meshes\n".into();
    }
    let header = [
        "mesh",
        "name",
        "node",
        "detail",
        "skin",
        "primitives",
        "vertices",
        "triangles",
        "targets",
        "influences",
        "dropped for 4",
        "for 8",
    ];
    let optional = |n: Option<usize>| n.map_or_else(|| "-".into(), |n: usize| n.to_string());
    let rows = d.meshes.iter().map(|m: &MeshInfo| {
        vec![
            m.mesh.to_string(),
            text::name(m.name.as_deref()),
            m.node.to_string(),
            m.level_of_detail.to_string(),
            optional(m.skin),
            m.primitives.to_string(),
            text::count(m.vertices as u64),
            text::count(m.triangles as u64),
            m.morph_targets.to_string(),
            m.influences.to_string(),
            format!("{:.4}", m.dropped_weight.four),
            format!("{:.4}", m.dropped_weight.eight),
        ]
    });
    let optional = [
        "triangles",
        "vertices",
        "skin",
        "detail",
        "targets",
        "influences",
        "node",
        "primitives",
        "dropped for 4+for 8",
    ];
    let table = text::table_of(&header, rows.collect(), 2, &optional);
    let about = [
        ("influences", "influences: most per vertex"),
        ("dropped for 4", "dropped: largest weight that a vertex loses"),
    ];
    let shown = about.iter().filter(|(c, _)| text::has_column(&table, c));
    let shown: Vec<&str> = shown.map(|(_, what)| *what).collect();
    match shown[..] {
        [] => format!("\nMeshes\n{table}"),
        _ => format!("\nMeshes ({})\n{table}", shown.join("; ")),
    }
}

/// The textures of a material that pictures do not show, and its emitted light.
fn not_drawn(m: &document::MaterialInfo) -> String {
    let textures = m.textures.iter().filter(|t| !t.drawn);
    let mut all: Vec<&str> = textures.map(|t| t.used_as).collect();
    if m.emissive != [0.0; 3] && !all.contains(&"emissive") {
        all.push("emissive");
    }
    match all[..] {
        [] => "-".into(),
        _ => all.join(", "),
    }
}

fn surfaces(d: &Document) -> String {
    let mut out = String::new();
    if !d.materials.is_empty() {
        let rows = d.materials.iter().map(|m| {
            vec![
                m.material.to_string(),
                text::name(m.name.as_deref()),
                m.base_color.map(|c| format!("{c:.3}")).join(" "),
                m.image.map_or_else(|| "-".into(), |i| i.to_string()),
                if m.double_sided { "both" } else { "one" }.into(),
                m.alpha_mode.to_lowercase(),
                not_drawn(m),
            ]
        });
        let header = ["material", "name", "base colour", "image", "sides", "alpha", "not drawn"];
        line(&mut out, format_args!("\nMaterials"));
        let optional = ["not drawn", "alpha", "base colour", "image", "sides"];
        out += &text::table_of(&header, rows.collect(), 3, &optional);
    }
    if !d.images.is_empty() {
        let size = |i: &Option<document::ImageInfo>| match i {
            Some(i) => format!("{} x {}", i.width, i.height),
            None => "not decoded".into(),
        };
        let sizes: Vec<String> = d.images.iter().map(size).collect();
        line(&mut out, format_args!("Images: {}", sizes.join(", ")));
    }
    out
}

fn report(d: &Document, is_bvh: bool) -> String {
    let mut out = String::new();
    let Some(report) = &d.report else {
        out += "\nA .phx file holds no import report: it was given when the file was baked.\n";
        return out;
    };
    // The unit stands below the size.
    let entries: Vec<_> = report.iter().filter(|e| !is_bvh || e.place != UNIT).collect();
    if entries.is_empty() {
        line(&mut out, format_args!("\nImport report: all was used, and nothing repaired"));
        return out;
    }
    line(&mut out, format_args!("\nImport report"));
    for entry in entries.iter().take(REPORT_LINES) {
        let text = format!("{}: {}: {}", entry.severity, entry.place, entry.message);
        let text = with_options(&text);
        line(&mut out, format_args!("  {}", text::one_line(&text)));
    }
    let more = entries.len().saturating_sub(REPORT_LINES);
    if more > 0 {
        line(&mut out, format_args!("  and {more} more (--json prints all)"));
    }
    out
}
