//! `phalanx info`: shows the contents of a file and the import's report.

mod document;
mod library;
mod tree;

use super::error::CliError;
use super::model::Model;
use super::output;
use super::text::{self, line};
use clap::Args;
use document::{ClipInfo, Document, MeshInfo};
use std::path::PathBuf;

/// Show a model: skeleton, skins, clips, meshes, and what the import repaired or dropped
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct InfoArgs {
    /// A .gltf, .glb or .phx file; default: the built-in character
    file: Option<PathBuf>,
    /// Print JSON, with every joint and the whole import report
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  phalanx info
  phalanx info robot.glb
  phalanx info robot.glb --json | jq .clips[].name";

/// Largest number of report lines printed; JSON contains all.
const REPORT_LINES: usize = 30;

/// Imports and prints.
pub fn run(args: &InfoArgs) -> Result<(), CliError> {
    let model = Model::load(args.file.as_deref(), true)?;
    let document = Document::new(&model);
    if args.json {
        return output::print_json(&document, true);
    }
    let mut out = String::new();
    line(&mut out, format_args!("{}", text::one_line(&model.file)));
    line(&mut out, format_args!("{}", summary(&document)));
    out += &tree::text(model.rig.skeleton());
    out += &skins(&document);
    out += &clips(&document);
    out += &meshes(&document);
    out += &surfaces(&document);
    out += &report(&document);
    if let Some(library) = &document.library {
        out += &library.text();
    }
    output::print(&out)
}

fn summary(d: &Document) -> String {
    format!(
        "{} nodes, {} joints, {} skins, {} clips, {} meshes in {} {} of detail, {} materials, {} images",
        d.nodes,
        d.skeleton.joints.len(),
        d.skins.len(),
        d.clips.len(),
        d.meshes.len(),
        d.levels_of_detail,
        if d.levels_of_detail == 1 {
            "level"
        } else {
            "levels"
        },
        d.materials.len(),
        d.images.len(),
    )
}

fn skins(d: &Document) -> String {
    if d.skins.is_empty() {
        return String::new();
    }
    let rows = d.skins.iter();
    let rows = rows.map(|s| {
        vec![
            s.skin.to_string(),
            text::name(s.name.as_deref()),
            s.slots.to_string(),
        ]
    });
    format!(
        "\nSkins\n{}",
        text::table(&["skin", "name", "slots"], rows.collect(), 2)
    )
}

fn clips(d: &Document) -> String {
    if d.clips.is_empty() {
        return "\nNo clips\n".into();
    }
    let header = [
        "clip",
        "name",
        "seconds",
        "timelines",
        "translations",
        "rotations",
        "scales",
        "scalars",
        "keys",
        "bytes",
    ];
    let rows = d.clips.iter().map(|c: &ClipInfo| {
        let mut row = vec![
            c.clip.to_string(),
            text::name(Some(&c.name)),
            format!("{:.3}", c.duration),
            format!("{} + {}", c.timelines.regular, c.timelines.irregular),
        ];
        let t = &c.tracks;
        let channels = [&t.translation, &t.rotation, &t.scale, &t.scalar];
        row.extend(channels.map(|t| format!("{} + {}", t.animated, t.constant)));
        row.push(text::count(c.keys as u64));
        row.push(text::bytes(c.bytes as f64));
        row
    });
    let table = text::table(&header, rows.collect(), 2);
    format!(
        "\nClips (timelines: regular + irregular; tracks: animated + constant but not at rest)\n{table}"
    )
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
    let table = text::table(&header, rows.collect(), 2);
    format!(
        "\nMeshes (influences: most per vertex; dropped: largest weight that a vertex loses)\n{table}"
    )
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
            ]
        });
        let header = ["material", "name", "base colour", "image", "sides"];
        line(&mut out, format_args!("\nMaterials"));
        out += &text::table(&header, rows.collect(), 5);
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

fn report(d: &Document) -> String {
    let mut out = String::new();
    if d.report.is_empty() {
        line(
            &mut out,
            format_args!("\nImport report: nothing was repaired or dropped"),
        );
        return out;
    }
    line(&mut out, format_args!("\nImport report"));
    for entry in d.report.iter().take(REPORT_LINES) {
        let text = format!("{}: {}: {}", entry.severity, entry.place, entry.message);
        line(&mut out, format_args!("  {}", text::one_line(&text)));
    }
    let more = d.report.len().saturating_sub(REPORT_LINES);
    if more > 0 {
        line(
            &mut out,
            format_args!("  and {more} more (--json prints all)"),
        );
    }
    out
}
