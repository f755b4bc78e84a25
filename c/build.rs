//! Gives the shared library its name for the loader.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("VENDOR") == "apple" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libphalanx_c.dylib");
    } else if target("FAMILY") == "unix" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libphalanx_c.so");
    }
}
