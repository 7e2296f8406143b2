//! Other architectures: the counter layer is checked without std, and the instrument runs on an emulated aarch64.
//!
//! The compiler and its sources are Debian's rustc-web and rust-web-src: standard libraries for other targets are built
//! from these, so that no toolchain has to be downloaded.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::run;

/// Targets that the counter layer is checked for: those without an operating system show that it needs none.
const CHECKED: &[&str] = &[
    "x86_64-unknown-none",
    "i686-unknown-linux-gnu",
    "aarch64-unknown-none",
    "riscv64gc-unknown-none-elf",
    "powerpc64le-unknown-linux-gnu",
    "s390x-unknown-linux-gnu",
    "wasm32-unknown-unknown",
];

/// The target that also runs, under qemu-user.
const RUN: &str = "aarch64-unknown-linux-gnu";

/// What this needs: a program, and the Debian package that it is in.
const TOOLS: &[(&str, &str)] = &[("qemu-aarch64", "qemu-user"), ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu")];
const COMPILER: &str = "/usr/bin/rustc";
/// The same for files.
const FILES: &[(&str, &str)] = &[
    ("/usr/lib/rustlib/src/rust/library/std/Cargo.toml", "rust-web-src"),
    ("/usr/aarch64-linux-gnu/lib/crt1.o", "libc6-dev-arm64-cross"),
];

/// Another compiler builds into another folder.
const FOLDER: &str = "target/cross";

/// The compiler's variables: nightly features of a stable compiler, for building its own standard library.
const VARIABLES: &[(&str, &str)] = &[
    ("RUSTC", COMPILER),
    ("RUSTC_BOOTSTRAP", "1"),
    ("CARGO_TARGET_DIR", FOLDER),
    ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc"),
    ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu"),
];

/// Checks every target, or says what is missing: a failure under CI, a hint elsewhere.
pub(crate) fn check() -> Result<()> {
    if let Some(missing) = missing() {
        if std::env::var_os("CI").is_some() {
            bail!("{missing}");
        }
        println!("skipped: {missing}");
        return Ok(());
    }
    for target in CHECKED {
        println!("   {target}: the counter layer, without std");
        let arguments = [
            "check",
            "--quiet",
            "--package",
            "clockscope",
            "--no-default-features",
            "--target",
            target,
            "-Zbuild-std=core,alloc",
        ];
        run::with(VARIABLES, "cargo", &arguments).with_context(|| format!("clockscope without std on {target}"))?;
    }
    println!("   {RUN}: tests of the clocks under qemu-user");
    let build_std = "-Zbuild-std=std,panic_abort,test";
    run::with(
        VARIABLES,
        "cargo",
        &["test", "--quiet", "--package", "clockscope", "--lib", "--target", RUN, build_std],
    )?;
    println!("   {RUN}: order across threads under qemu-user");
    let fewer = [VARIABLES, &[("CLOCKSCOPE_ORDER_READS", "1000000")]].concat();
    run::with(
        &fewer,
        "cargo",
        &["test", "--quiet", "--package", "clockscope", "--test", "order", "--target", RUN, build_std],
    )?;
    println!("   {RUN}: the instrument under qemu-user");
    run::with(VARIABLES, "cargo", &["build", "--quiet", "--target", RUN, build_std])?;
    run_emulated()
}

/// A file in the folder that is built into.
pub(crate) fn built(file: &str) -> String {
    format!("{FOLDER}/{file}")
}

/// Runs cargo with these arguments for the target that runs, with flags of the compiler.
pub(crate) fn build(flags: &str, arguments: &[&str]) -> Result<()> {
    let variables = [VARIABLES, &[("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS", flags)]].concat();
    run::with(&variables, "cargo", &[arguments, &["-Zbuild-std=std,panic_abort"]].concat())
}

/// Measures on the emulated machine: every aarch64 counter must be there, and the emulation must be noticed.
fn run_emulated() -> Result<()> {
    let program = format!("{FOLDER}/{RUN}/debug/clockscope");
    let arguments = ["-L", "/usr/aarch64-linux-gnu", &program, "measure", "--duration", "1s", "--format", "json"];
    let measurement: serde_json::Value = serde_json::from_str(&run::output("qemu-aarch64", &arguments)?)?;
    let clock = |name: &str| {
        measurement["clocks"].as_array().and_then(|clocks| clocks.iter().find(|clock| clock["name"] == name).cloned())
    };
    for name in ["cntvct", "cntvct_isb", "monotonic", "realtime", "time"] {
        let found = clock(name).with_context(|| format!("{name} is not in the record"))?;
        if found["available"] != true || found["monotonic"]["weak"] != true {
            bail!("{name} under qemu-user: {found}");
        }
    }
    if measurement["environment"]["emulation"] != serde_json::json!(["qemu-user"]) {
        bail!("the emulation was not noticed: {}", measurement["environment"]["emulation"]);
    }
    let arguments = ["order", "cntvct_isb", "monotonic", "clockscope.now", "--duration", "300ms", "--format", "json"];
    let order: serde_json::Value = serde_json::from_str(&run::output(
        "qemu-aarch64",
        &[&["-L", "/usr/aarch64-linux-gnu", &program], arguments.as_slice()].concat(),
    )?)?;
    let went_back = |sequence: &serde_json::Value| sequence["regressions"].as_u64().is_some_and(|count| count > 0);
    if order["sequences"].as_array().is_none_or(|sequences| sequences.len() != 3 || sequences.iter().any(went_back)) {
        bail!("order under qemu-user: {order}");
    }
    Ok(())
}

/// What is missing, and how to get it.
fn missing() -> Option<String> {
    let packages = missing_packages();
    (!packages.is_empty())
        .then(|| format!("other architectures need Debian's packages: apt-get install {}", packages.join(" ")))
}

/// Debian's packages that are missing.
pub(crate) fn missing_packages() -> Vec<&'static str> {
    let mut packages: Vec<&str> =
        TOOLS.iter().filter(|(program, _)| !run::exists(program)).map(|(_, package)| *package).collect();
    let is_debians = run::output(COMPILER, &["--print", "sysroot"]).is_ok_and(|sysroot| sysroot.trim() == "/usr");
    if !is_debians {
        packages.push("rustc-web");
    }
    for (file, package) in FILES {
        if !Path::new(file).exists() {
            packages.push(package);
        }
    }
    packages
}
