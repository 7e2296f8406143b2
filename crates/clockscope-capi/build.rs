//! Gives the shared library the name by which programs load it.

#![allow(clippy::print_stdout, reason = "cargo reads what a build script prints")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    // Until 1.0 any minor version may change the interface. The number is then raised.
    if matches!(system.as_str(), "linux" | "android" | "freebsd" | "netbsd" | "openbsd" | "dragonfly") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libclockscope.so.0");
    }
}
