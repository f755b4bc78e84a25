//! `docs/surface.md` lists the library's public surface as it is.

use phalanx_testkit::surface::{difference, page, read};
use std::path::Path;

const RENEWAL: &str = "PHALANX_STORE=1 cargo test --test surface";

#[test]
fn the_page_lists_the_surface() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("docs/surface.md");
    let listed = page("phalanx", RENEWAL, &read(&root.join("src")));
    if std::env::var_os("PHALANX_STORE").is_some() {
        std::fs::write(&path, &listed).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    if let Some(difference) = difference(&stored, &listed) {
        panic!("docs/surface.md is not the surface; {RENEWAL} writes it anew\n{difference}");
    }
}
