//! Bytes that the library's `now()` adds to a program: two programs of bench/size differ by that
//! alone.
//!
//! Formatting of floats, which the panic of `f64::clamp` needs, is 25 kB of code and tables. Each
//! string of a table takes five words beside its letters, because it is relocated. Cold functions
//! that are called from several places are `#[inline(never)]`. For those with one caller, that
//! makes a program larger.

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::run;

/// The programs, without the library and with it.
const WITHOUT: &str = "size-std";
const WITH: &str = "size-now";

/// Bytes that it may add: for x86-64 Linux and the linker that rustc chooses there.
const MAX_ADDED_BYTES: u64 = 40_500;

/// Builds both programs as a user does and compares their sizes.
pub(crate) fn check() -> Result<()> {
    let folder = run::built("size");
    let arguments = ["build", "--release", "--quiet", "--manifest-path", "bench/size/Cargo.toml"];
    run::with(&[("CARGO_TARGET_DIR", &folder)], "cargo", &arguments)?;
    let (without, with) = (bytes(&folder, WITHOUT)?, bytes(&folder, WITH)?);
    let added = with.saturating_sub(without);
    println!("   {WITHOUT}: {without} bytes, {WITH}: {with} bytes; now() adds {added}, {MAX_ADDED_BYTES} at most");
    let is_stated = cfg!(all(target_os = "linux", target_arch = "x86_64"));
    ensure!(!is_stated || added <= MAX_ADDED_BYTES, "now() adds {added} bytes, expected {MAX_ADDED_BYTES} at most");
    Ok(())
}

/// Size of a program of that folder.
fn bytes(folder: &str, program: &str) -> Result<u64> {
    let path = format!("{folder}/release/{program}{}", std::env::consts::EXE_SUFFIX);
    Ok(fs::metadata(&path).with_context(|| format!("cannot read {path}"))?.len())
}
