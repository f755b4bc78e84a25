//! The compiler, its flags and the version of Phalanx, for the head of the table.

use std::process::Command;

fn main() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = Command::new(compiler).arg("--version").output();
    let version = version.map(|v| String::from_utf8_lossy(&v.stdout).trim().to_owned());
    println!("cargo::rustc-env=PEERS_RUSTC={}", version.unwrap_or_default());
    let workspace = std::fs::read_to_string("../../Cargo.toml").unwrap_or_default();
    let version = workspace.lines().find_map(|line| line.strip_prefix("version = "));
    println!("cargo::rustc-env=PEERS_PHALANX={}", version.unwrap_or_default().trim_matches('"'));
    println!("cargo::rerun-if-changed=../../Cargo.toml");
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    println!("cargo::rustc-env=PEERS_FLAGS={}", flags.replace('\x1f', " "));
}
