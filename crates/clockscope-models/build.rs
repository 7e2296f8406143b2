//! Has the library compiled with loom's atomics.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-cfg=clockscope_models");
}
