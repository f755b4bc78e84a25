//! Sets `phalanx_unoptimized` for builds without optimisation, so that a frame's statistics can say so.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(phalanx_unoptimized)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| level == "0") {
        println!("cargo::rustc-cfg=phalanx_unoptimized");
    }
}
