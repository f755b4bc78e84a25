//! Warnings about textures that a model refers to but that cannot be drawn.

use super::findings::with_options;
use super::model::Model;
use phalanx::import::{ReportEntry, Severity};
use phalanx::mesh::ImageData;

/// Describes a model's first missing texture, and counts the others; `None` if all can be drawn.
pub fn missing(model: &Model) -> Option<String> {
    let images = model.rig.images();
    let materials = model.rig.materials().iter();
    let drawn = materials.filter_map(|m| m.base_color_texture.as_ref());
    let mut unread: Vec<usize> = drawn.map(|t| t.image).collect();
    let drawable = |i: &usize| matches!(images.get(*i), Some(Some(ImageData::Decoded(_))));
    unread.retain(|i| !drawable(i));
    unread.sort_unstable();
    unread.dedup();
    let dropped = || {
        let entries = model.report.iter();
        entries.filter(|e| e.severity == Severity::Dropped)
    };
    let image = |&i: &usize| {
        let place = format!("image {i}");
        let here = |e: &&ReportEntry| {
            let rest = e.place.strip_prefix(&place);
            rest.is_some_and(|r| r.is_empty() || r.starts_with(' '))
        };
        match dropped().find(here) {
            Some(e) => with_options(&format!("{}: {}", e.place, e.message)),
            // A .phx file stores no reasons.
            None => format!("{place}: the file contains no usable image"),
        }
    };
    // Textures whose format has no known image.
    let sources = dropped().filter(|e| e.message.starts_with("texture "));
    let sources = sources.map(|e| format!("{}: {}", e.place, e.message));
    let all: Vec<String> = unread.iter().map(image).chain(sources).collect();
    let first = all.first()?;
    let more = match all.len() - 1 {
        0 => String::new(),
        n => format!(" (and {n} more)"),
    };
    Some(format!("{}: drawn without {first}{more}", model.file))
}
