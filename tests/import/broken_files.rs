//! Files that are refused before anything of glTF is looked at.

use crate::refusals::{refused, sound};

const MAX_JSON_DEPTH: usize = 100;

#[test]
fn empty_and_foreign_files() {
    refused(b"", &["empty"]);
    refused(b"   ", &["neither binary glTF nor JSON"]);
    refused(b"solid cube", &["neither binary glTF nor JSON"]);
    refused(&[0; 64], &["neither binary glTF nor JSON"]);
    refused(b"{", &["JSON line 1, column 1"]);
    refused(b"{}", &["JSON line 1", "asset"]);
    refused(br#"{"asset":{"version":"1.0"}}"#, &["\"1.0\"", "2.0"]);
    refused(br#"{"asset":{"version":"2.0","minVersion":"2.1"}}"#, &["\"2.1\""]);
    refused(b"{\"asset\":{\"version\":\"2.0\"},\"nodes\":\"\n\xff\"}", &["JSON"]);
}

#[test]
fn broken_binary_containers() {
    let glb = sound().glb();
    let with = |at: usize, word: u32| {
        let mut glb = glb.clone();
        glb[at..at + 4].copy_from_slice(&word.to_le_bytes());
        glb
    };
    let size = glb.len();
    refused(&glb[..4], &["12 bytes", "has 4"]);
    refused(&glb[..11], &["12 bytes", "has 11"]);
    refused(&with(4, 1), &["version 1", "2"]);
    refused(&with(8, 11), &["claims 11 bytes"]);
    refused(&with(8, u32::MAX), &["claims 4294967295 bytes", &format!("has {size}")]);
    refused(&glb[..size - 1], &[&format!("claims {size} bytes")]);
    refused(&with(12, u32::MAX), &["chunk 0 claims 4294967295 bytes"]);
    refused(&with(16, 0), &["not JSON"]);
    refused(&with(8, 12), &["not JSON"]);
    refused(&with(8, 16), &["chunk 0 claims 8 bytes, 4 are left"]);
    let bin = 20 + u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    refused(&with(bin, size as u32), &["chunk 1 claims"]);
    refused(&with(bin + 4, 7), &["buffer 0", "no uri"]);
    // Every truncation is an error.
    for length in 0..size {
        refused(&glb[..length], &[]);
    }
}

#[test]
fn json_depth_bombs() {
    let deep = MAX_JSON_DEPTH + 1;
    for bomb in [
        "[".repeat(200_000),
        format!("{{\"asset\":{{\"extras\":{}", "[".repeat(200_000)),
        "{\"a\":".repeat(100_000),
        format!("{{\"nodes\":{}{}}}", "[".repeat(deep), "]".repeat(deep)),
    ] {
        let bomb = format!(" {bomb}").replacen(" [", "{\"x\":[", 1);
        refused(bomb.as_bytes(), &["levels deep", &MAX_JSON_DEPTH.to_string()]);
    }
}
