//! Feeds every parser with mutated input, by libFuzzer (fuzz/). The compiler's flags are
//! cargo-fuzz's, which a stable compiler takes as well.
//!
//! To add a parser, add its target to `fuzz/targets`, a `[[bin]]` to `fuzz/Cargo.toml`, and inputs
//! to a folder of the target's name in `fuzz/corpus`. A function that is not public is exported by
//! a module under `cfg(fuzzing)`. Commit an input that broke something to the corpus.

use std::fs;

use anyhow::{Context, Result, bail};

use crate::{needs, run, structure};

/// Folder in which the targets are built, and what the fuzzer finds is kept.
const FOLDER: &str = "target/fuzz";

const FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares";

/// A build of the targets: the name of its folder, and cargo's arguments for it.
#[derive(Clone, Copy)]
struct Build(&'static str, &'static [&'static str]);

/// Built in a third of the time, and feeds fewer inputs in a second.
const DEBUG: Build = Build("debug", &[]);
const OPTIMIZED: Build = Build("release", &["--release"]);

/// Time for which CI feeds all targets together, in seconds. The fuzzer takes whole seconds.
const SECONDS: usize = 20;

/// Number of inputs that the bench feeds.
const MILLION: &str = "1000000";

/// Runs every target for a short time.
pub(crate) fn check() -> Result<()> {
    needs::require("fuzz targets", "g++")?;
    build(DEBUG)?;
    let targets = targets()?;
    let seconds = (SECONDS / targets.len().max(1)).max(1);
    for target in targets {
        feed(DEBUG, &target, &format!("-max_total_time={seconds}"))?;
    }
    Ok(())
}

/// Runs one target: so many inputs, or until something is found.
pub(crate) fn run(target: &str, runs: Option<u64>) -> Result<()> {
    let targets = targets()?;
    if !targets.iter().any(|known| known == target) {
        bail!("there is no target {target}: there are {}", targets.join(", "));
    }
    build(OPTIMIZED)?;
    feed(OPTIMIZED, target, &runs.map_or_else(|| "-runs=-1".to_owned(), |runs| format!("-runs={runs}")))
}

/// Every target with a million inputs.
pub(crate) fn bench() -> Result<()> {
    build(OPTIMIZED)?;
    targets()?.iter().try_for_each(|target| feed(OPTIMIZED, target, &format!("-runs={MILLION}")))
}

/// All targets: the files in fuzz/targets.
fn targets() -> Result<Vec<String>> {
    structure::names_in("fuzz/targets", ".rs")
}

/// The target triple of this machine: named, so that the flags are not those of build scripts.
fn host() -> Result<String> {
    let version = run::output("rustc", &["--version", "--verbose"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc names no host")?;
    Ok(host.to_owned())
}

fn build(Build(_, profile): Build) -> Result<()> {
    let variables = [("RUSTC_BOOTSTRAP", "1"), ("RUSTFLAGS", FLAGS), ("CARGO_TARGET_DIR", FOLDER)];
    let host = host()?;
    let arguments = ["build", "--quiet", "--locked", "--manifest-path", "fuzz/Cargo.toml", "--target", &host];
    run::with(&variables, "cargo", &[&arguments, profile].concat()).context("the fuzz targets")
}

/// Feeds a target from its corpus. What is new goes into the folder that is built into; an input
/// that breaks something is named in the error.
fn feed(Build(built, _): Build, target: &str, limit: &str) -> Result<()> {
    let program = format!("{FOLDER}/{}/{built}/{target}", host()?);
    let (found, broken) = (format!("{FOLDER}/corpus/{target}"), format!("{FOLDER}/broken/{target}-"));
    for folder in [found.as_str(), &format!("{FOLDER}/broken")] {
        fs::create_dir_all(folder)?;
    }
    let corpus = format!("fuzz/corpus/{target}");
    let prefix = format!("-artifact_prefix={broken}");
    let arguments =
        [limit, "-timeout=60", "-rss_limit_mb=2048", "-max_len=65536", "-verbosity=0", "-print_final_stats=1"];
    let command = std::process::Command::new(&program)
        .args(arguments)
        .args([prefix.as_str(), &found, &corpus])
        .output()
        .with_context(|| format!("cannot run {program}"))?;
    let said = String::from_utf8_lossy(&command.stderr).into_owned();
    if !command.status.success() {
        let lines: Vec<&str> = said.lines().collect();
        bail!("{target}: {}\n{}", command.status, lines[lines.len().saturating_sub(40)..].join("\n"));
    }
    let inputs =
        said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:")).unwrap_or("?").trim();
    println!("   {target}: {inputs} inputs");
    Ok(())
}
