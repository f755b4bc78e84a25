//! `include/phalanx.h` is what cbindgen makes of the sources, and holds no more than it may.

use std::path::Path;

const RENEWAL: &str = "PHALANX_STORE=1 cargo test -p phalanx-c --test header";

fn made() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).unwrap();
    // By its files, not through `cargo metadata`: it needs no network and no lock. Groups come in the order of modules.
    let builder = cbindgen::Builder::new().with_config(config).with_src(root.join("src/lib.rs"));
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    String::from_utf8(header).unwrap()
}

#[test]
fn the_header_is_that_of_the_sources() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/phalanx.h");
    let made = made();
    if std::env::var_os("PHALANX_STORE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == made, "include/phalanx.h is not made of the sources; {RENEWAL} writes it");
}

#[test]
fn there_are_at_most_150_functions_named_phx_noun_verb() {
    let made = made();
    let functions: Vec<&str> = made
        .lines()
        .filter_map(|line| line.strip_prefix("phx_status ")?.split_once('('))
        .map(|f| f.0)
        .collect();
    assert!(functions.len() > 1 && functions.len() <= 150, "{} functions", functions.len());
    assert!(functions.iter().all(|name| name.starts_with("phx_")), "{functions:?}");
}
