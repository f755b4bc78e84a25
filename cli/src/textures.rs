//! Textures that a model names and does not have: it is drawn without, and says so.

use super::model::Model;
use phalanx::import::{ReportEntry, Severity};
use phalanx::mesh::ImageData;

/// What is wrong with a model's textures, if anything: the first that is missing, and how many more.
pub fn missing(model: &Model) -> Option<String> {
    let images = model.rig.images();
    let materials = model.rig.materials().iter();
    let mut unread: Vec<usize> = materials.filter_map(|m| m.base_color_image).collect();
    let drawable = |i: &usize| matches!(images.get(*i), Some(Some(ImageData::Decoded(_))));
    unread.retain(|i| !drawable(i));
    unread.sort_unstable();
    unread.dedup();
    let dropped = || {
        let entries = model.report.entries.iter();
        entries.filter(|e| e.severity == Severity::Dropped)
    };
    let image = |&i: &usize| {
        let place = format!("image {i}");
        let here = |e: &&ReportEntry| {
            let rest = e.place.strip_prefix(&place);
            rest.is_some_and(|r| r.is_empty() || r.starts_with(' '))
        };
        match dropped().find(here) {
            Some(e) => format!("{}: {}", e.place, e.message),
            // A .phx file keeps no reasons.
            None => format!("{place}: the file holds no picture"),
        }
    };
    // Textures in forms of which no image is known.
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
