//! Other architectures: the library is checked without std, and the instrument runs on an emulated
//! aarch64.
//!
//! The compiler and its sources are Debian's rustc-web and rust-web-src: standard libraries for
//! other targets are built from these, so that no toolchain has to be downloaded.

use anyhow::{Context, Result, bail};

use crate::needs;
use crate::run;
use crate::tally::Tally;

/// Targets that the library is checked for without std: those without an operating system show that
/// it needs none.
const WITHOUT_STD: &[&str] = &[
    "x86_64-unknown-none",
    "i686-unknown-linux-gnu",
    "aarch64-unknown-none",
    "riscv64gc-unknown-none-elf",
    "powerpc64le-unknown-linux-gnu",
    "s390x-unknown-linux-gnu",
    "thumbv7em-none-eabihf",
    "riscv32imac-unknown-none-elf",
    "wasm32-unknown-unknown",
];

/// The one of them in the release check: it has no atomics of 64 bits.
const NARROW: &str = "thumbv7em-none-eabihf";

/// The target that also runs, under qemu-user.
pub(crate) const RUN: &str = "aarch64-unknown-linux-gnu";

/// A compiler for every target, and the standard library's sources.
pub(crate) const COMPILER: &str = "/usr/bin/rustc /usr/lib/rustlib/src/rust/library/std/Cargo.toml";

/// Requirements for running programs for aarch64.
const TOOLS: &str = "qemu-aarch64 aarch64-linux-gnu-gcc /usr/aarch64-linux-gnu/lib/crt1.o";

/// Debian's compiler.
const RUSTC: &str = "/usr/bin/rustc";

/// Another compiler builds into another folder.
const FOLDER: &str = "target/cross";

/// The compiler's variables: nightly features of a stable compiler, for building its own standard
/// library.
pub(crate) const OTHER_COMPILER: [(&str, &str); 2] = [("RUSTC", RUSTC), ("RUSTC_BOOTSTRAP", "1")];

const VARIABLES: &[(&str, &str)] = &[
    OTHER_COMPILER[0],
    OTHER_COMPILER[1],
    ("CARGO_TARGET_DIR", FOLDER),
    ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc"),
    ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", EMULATOR),
    // As the programs of the emulated machines have to be, which it is one of.
    ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-C target-feature=+crt-static"),
];

/// Arguments of cargo for all that is built for the target that runs.
const BUILT: [&str; 5] = ["--profile", "emulated", "--target", RUN, "-Zbuild-std=std,panic_abort"];

const EMULATOR: &str = "qemu-aarch64";

/// Builds the standard library as well, with the harness for tests.
pub(crate) const BUILD_STD: &str = "-Zbuild-std=std,panic_abort,test";

/// Checks every target, or says what is missing.
pub(crate) fn check() -> Result<()> {
    require()?;
    println!("   {NARROW}: the library without std");
    without_std(&[NARROW])?;
    println!("   {RUN}: the instrument under qemu-user");
    build(&["--package", "clockscope-cli"])?;
    run_emulated()
}

/// The library's tests, order across threads among them.
pub(crate) const LIBRARY: &[&str] =
    &["--package", "clockscope-core", "--package", "clockscope", "--lib", "--test", "platform"];

/// An emulator reads clocks slowly.
const FEWER: (&str, &str) = ("CLOCKSCOPE_ORDER_READS", "1000000");

/// Runs tests for a target.
pub(crate) fn test_library(target: &str, tests: &[&str], variables: &[(&str, &str)], tally: &mut Tally) -> Result<()> {
    tally.cargo_test(&[variables, &[FEWER]].concat(), &[tests, &["--target", target, BUILD_STD]].concat())
}

/// Checks the library without std for all targets.
pub(crate) fn without_std_everywhere() -> Result<()> {
    without_std(WITHOUT_STD)
}

/// Checks the fast path's machine code, as clones and archives have it.
pub(crate) fn fast_path(tally: &mut Tally) -> Result<()> {
    let variables = [("CARGO_PROFILE_RELEASE_STRIP", "none"), ("CARGO_PROFILE_DIST_STRIP", "none")];
    for profile in ["release", run::DIST_PROFILE] {
        let example = ["build", "--quiet", "--package", "clockscope", "--example", "fast_path", "--profile", profile];
        run::with(&[VARIABLES, &variables].concat(), "cargo", &[&example[..], &["--target", RUN, BUILD_STD]].concat())?;
    }
    let folder = run::root().join(FOLDER).join(RUN).display().to_string();
    let test = ["--test", "machine_code", "--", "--ignored", "a_reading_on_aarch64_executes_few_instructions"];
    tally.cargo_test(&[("CLOCKSCOPE_AARCH64", &folder)], &test)
}

fn without_std(targets: &[&str]) -> Result<()> {
    let mut arguments =
        vec!["check", "--quiet", "--package", "clockscope-core", "--package", "clockscope", "--no-default-features"];
    arguments.extend(targets.iter().flat_map(|target| ["--target", *target]));
    // No memory is allocated there: `alloc` is not built.
    arguments.push("-Zbuild-std=core");
    run::with(VARIABLES, "cargo", &arguments).context("clockscope without std")
}

/// A file in the folder that is built into.
pub(crate) fn built(file: &str) -> String {
    format!("{FOLDER}/{RUN}/emulated/{file}")
}

/// Builds what these arguments of cargo name, for the target that runs.
pub(crate) fn build(what: &[&str]) -> Result<()> {
    run::with(VARIABLES, "cargo", &[&["build", "--quiet"], &BUILT[..], what].concat())
}

/// Measures on the emulated machine: every aarch64 counter must be there, and the emulation must be
/// noticed.
fn run_emulated() -> Result<()> {
    let program = built("clockscope");
    let arguments = [&program, "measure", "--duration", "1s", "--format", "json"];
    let measurement = run::document(EMULATOR, &arguments)?;
    let clock = |name: &str| {
        measurement["clocks"].as_array().and_then(|clocks| clocks.iter().find(|clock| clock["name"] == name).cloned())
    };
    for name in ["cntvct", "cntvct_isb", "cntvct_dsb_isb", "monotonic", "realtime", "time"] {
        let found = clock(name).with_context(|| format!("{name} is not in the record"))?;
        if found["available"] != true || found["monotonic"]["weak"] != true {
            bail!("{name} under qemu-user: {found}");
        }
    }
    if measurement["environment"]["emulation"] != serde_json::json!(["qemu-user"]) {
        bail!("the emulation was not noticed: {}", measurement["environment"]["emulation"]);
    }
    let names = ["cntvct_isb", "monotonic", "clockscope.now"];
    let options = ["--duration", "300ms", "--format", "json"];
    let arguments = [&[program.as_str(), "order"], names.as_slice(), &options].concat();
    let order = run::document(EMULATOR, &arguments)?;
    let went_back = |sequence: &serde_json::Value| sequence["regressions"].as_u64().is_some_and(|count| count > 0);
    if order["sequences"].as_array().is_none_or(|sequences| sequences.len() != 3 || sequences.iter().any(went_back)) {
        bail!("order under qemu-user: {order}");
    }
    Ok(())
}

/// Fails if something of all this is missing.
pub(crate) fn require() -> Result<()> {
    needs::require("other architectures", &[TOOLS, COMPILER].join(" "))
}
