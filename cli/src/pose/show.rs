//! The pose as readable tables.

use super::super::model::Model;
use super::super::text::{self, line};
use super::document::{Document, PrimitiveEntry};

/// All tables.
pub fn text(model: &Model, document: &Document) -> String {
    let mut out = heading(model, document);
    out += &nodes(document);
    if !document.skins.is_empty() {
        let rows = document.skins.iter().map(|s| {
            let name = model.rig.file_skins().get(s.skin).and_then(|k| k.name());
            vec![s.skin.to_string(), text::name(name), s.joints.len().to_string()]
        });
        line(&mut out, format_args!("\nSkins (palettes with --json)"));
        out += &text::table(&["skin", "name", "slots"], rows.collect(), 2);
    }
    if !document.morph.is_empty() {
        let rows = document.morph.iter();
        let rows = rows.map(|m| vec![m.node.to_string(), numbers(&m.weights)]);
        line(&mut out, format_args!("\nMorph weights"));
        out += &text::table(&["node", "weights"], rows.collect(), 2);
    }
    if let Some(primitives) = &document.primitives {
        line(&mut out, format_args!("\nDeformed primitives (positions with --json)"));
        let header = ["node", "mesh", "primitive", "skin", "vertices", "least", "greatest"];
        let optional = ["vertices", "least", "greatest", "skin", "primitive"];
        let rows = primitives.iter().map(primitive).collect();
        out += &text::table_of(&header, rows, 4, &optional);
    }
    out
}

fn heading(model: &Model, document: &Document) -> String {
    let file = text::one_line(&model.file);
    let mut out = String::new();
    match (&document.clip, document.time, document.duration) {
        (Some(clip), Some(time), Some(duration)) => line(
            &mut out,
            format_args!("{file}: clip {} at {time} of {duration} s", text::name(Some(clip))),
        ),
        _ if document.blend.is_empty() => line(&mut out, format_args!("{file}: rest pose")),
        _ => line(&mut out, format_args!("{file}: blend")),
    }
    for b in &document.blend {
        let clip = text::name(Some(&b.clip));
        line(
            &mut out,
            format_args!("  {clip} at {} of {} s, weight {}", b.time, b.duration, b.weight),
        );
    }
    out
}

fn nodes(document: &Document) -> String {
    let rows = document.nodes.iter().map(|n| {
        let [.., x, y, z, _] = n.world;
        vec![
            n.node.to_string(),
            text::name(n.name.as_deref()),
            n.parent.to_string(),
            numbers(&n.local[..3]),
            numbers(&n.local[3..7]),
            numbers(&n.local[7..]),
            numbers(&[x, y, z]),
        ]
    });
    let header =
        ["node", "name", "parent", "translation", "rotation xyzw", "scale", "world position"];
    let optional = ["world position", "translation", "rotation xyzw", "parent", "scale"];
    text::table_of(&header, rows.collect(), 3, &optional)
}

fn primitive(p: &PrimitiveEntry) -> Vec<String> {
    let corner = |pick: fn(f32, f32) -> f32| {
        let all = p.positions.iter().copied();
        let corner = all.reduce(|a, b| [0, 1, 2].map(|i| pick(a[i], b[i])));
        corner.map_or_else(|| "-".into(), |c| numbers(&c))
    };
    vec![
        p.node.to_string(),
        p.mesh.to_string(),
        p.primitive.to_string(),
        p.skin.map_or_else(|| "-".into(), |s| s.to_string()),
        text::count(p.positions.len() as u64),
        corner(f32::min),
        corner(f32::max),
    ]
}

fn numbers(values: &[f32]) -> String {
    let all: Vec<String> = values.iter().map(|&v| number(v)).collect();
    all.join(" ")
}

/// Four decimals, or an exponent for small and large numbers. `--json` prints exact numbers.
fn number(v: f32) -> String {
    // Adding 0 turns -0 into 0.
    let v = v + 0.0;
    if v != 0.0 && (v.abs() < 1e-3 || v.abs() >= 1e6) {
        if v.abs() < 5e-8 { "0.0000".into() } else { format!("{v:.2e}") }
    } else {
        format!("{v:.4}")
    }
}
