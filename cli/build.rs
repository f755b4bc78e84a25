//! Passes the compiler's version and flags to `phalanx bench`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = std::process::Command::new(compiler).arg("--version").output();
    let version = version.ok().filter(|out| out.status.success());
    let version = version.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    println!("cargo::rustc-env=PHALANX_RUSTC={}", version.as_deref().unwrap_or("an unknown rustc"));
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    println!("cargo::rustc-env=PHALANX_RUSTFLAGS={}", flags.replace('\u{1f}', " "));
}
