//! The full tier: everything that a change has to pass. And the release check: everything that a
//! release has to pass beside it.
//!
//! To add a step, add a row to [`TEST`], and what it needs to xtask/needs/test.txt. A check that
//! takes more than 60 s is a bench or a step of the release check: `.ci/run` is to come to 20
//! minutes.

use anyhow::{Context, Result};

use crate::plan::Plan;
use crate::tally::Tally;
use crate::{
    browsers, cross, dist, docs, fleet, fuzz, machines, members, needs, package, platforms, program_size, python, run,
    structure,
};

/// The full tier: checks that take seconds, `cargo test`, and the steps that need more than Rust
/// and a C compiler.
pub(crate) const TEST: Plan = Plan {
    task: "test",
    steps: &[
        ("format", |_| run::cargo(&["fmt", "--all", "--check"])),
        ("structure", |_| structure::check()),
        ("dependencies", |_| dependencies()),
        ("docs", |_| docs::check()),
        ("site", |_| docs::site::build().map(drop)),
        // The words of all files (`_typos.toml`).
        ("spelling", |_| run::tool("typos", &["--format", "brief"])),
        // Commands of the workflows' steps, too, if shellcheck is installed.
        ("workflows", |_| run::tool("actionlint", &[])),
        ("packages", |_| package::check()),
        // Tests of real clocks, which need a quiet machine, come first.
        ("quick", |tally| tally.cargo_test(&ALL_CASES, &[])),
        ("crates", |tally| members::test_others(tally, &ALL_CASES, &[])),
        ("ignored", ignored),
        ("lints", |_| lints()),
        ("documentation", |_| documentation()),
        ("loom", loom),
        ("traces", |tally| tally.cargo_test(&[], &["--test", "traces", "--", "--ignored"])),
        ("python", python::check),
        ("fast-path", fast_path),
        ("size", |_| program_size::check()),
        ("pages", |_| browsers::check(browsers::SOME)),
        ("runtimes", runtimes),
        ("machines", machines::check),
    ],
    needs: needs::TEST,
};

pub(crate) const RELEASE_CHECK: Plan = Plan {
    task: "release-check",
    steps: &[
        ("dist", |_| dist::check()),
        ("publish", |_| package::verify()),
        ("cross", |_| cross::check()),
        ("fuzz", |_| fuzz::check()),
        ("machines-full", machines_full),
        ("fleet", fleet::check),
        ("all-pages", |_| browsers::check(browsers::ALL)),
        ("platforms", platforms::test_some),
        ("machines-arm", |tally| machines::check_named(tally, &["arm64"])),
    ],
    needs: needs::RELEASE,
};

/// Property tests draw all cases, four times as many as by `cargo test` alone
/// (`.cargo/config.toml`).
const ALL_CASES: [(&str, &str); 1] = [("PROPTEST_CASES", "256")];

/// The models of the clock's protocol, which loom runs.
const MODELS: &str = "disciplined::protocol";

/// The test that measures all runtimes of other languages, and needs the whole machine.
const ALL_RUNTIMES: &str = "runtimes::all";

/// The tests that boot emulated machines.
const MACHINES: &str = "booted::";

/// The tests that run programs for Windows.
const WINE: &str = "under_wine";

/// The tests that build programs and count their instructions.
const MACHINE_CODE: &str = "executes_few_instructions";

/// The tests in which other programs open traces of examples.
const TRACES: &str = "trace_opened_by";

/// Cfgs that users of other crates set for all that they build, the library included, and a package
/// that is built on the library as theirs are.
const FOREIGN_CFGS: [&str; 2] = ["loom", "fuzzing"];
const DEPENDENT: &str = "clockscope-capi";

/// Checks other people's crates by deny.toml (licenses, sources, versions; advisories need the
/// network), and that the lock file of the fuzz targets is up to date: nothing else looks at that
/// before its long build.
fn dependencies() -> Result<()> {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--manifest-path", "fuzz/Cargo.toml"];
    run::output("cargo", &arguments).context("`cargo metadata --manifest-path fuzz/Cargo.toml` mends its lock file")?;
    run::tool("cargo-deny", &["--log-level", "error", "check", "licenses", "bans", "sources"])
}

/// Measures all runtimes of other languages that CI installs.
fn runtimes(tally: &mut Tally) -> Result<()> {
    tally.cargo_test(&[], &["--test", "cli", "--", "--ignored", ALL_RUNTIMES])
}

/// The tests that `cargo test` ignores, but for those of other steps. Members are chosen as by
/// `quick` and `crates`: other choices have other features, and build all tests again.
fn ignored(tally: &mut Tally) -> Result<()> {
    let skipped = ["--skip", ALL_RUNTIMES, "--skip", TRACES, "--skip", MACHINE_CODE, "--skip", WINE];
    let of_default_members = tally.cargo_test(&[], &[&["--tests", "--", "--ignored"], &skipped[..]].concat());
    let skipped = ["--skip", MODELS, "--skip", MACHINES, "--skip", WINE];
    let of_others = members::test_others(tally, &[], &[&["--tests", "--", "--ignored"], &skipped[..]].concat());
    of_default_members.and(of_others)
}

/// Counts the instructions of the library's readings, and of the loops that measure clocks.
fn fast_path(tally: &mut Tally) -> Result<()> {
    tally.cargo_test(&[], &["--test", "machine_code", "--", "--ignored", "--skip", "aarch64"])
}

fn lints() -> Result<()> {
    run::cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"])?;
    FOREIGN_CFGS.into_iter().try_for_each(|name| {
        let flags = format!("--cfg {name}");
        let variables = [("RUSTFLAGS", flags.as_str()), ("CARGO_TARGET_DIR", "target/cfgs")];
        run::with(&variables, "cargo", &["check", "--package", DEPENDENT, "--quiet"])
    })
}

/// The models that take too long for `crates`.
fn loom(tally: &mut Tally) -> Result<()> {
    members::test_others(tally, &[], &["--test", "models", "--", "--ignored", MODELS])
}

fn documentation() -> Result<()> {
    run::with(&[("RUSTDOCFLAGS", "--deny warnings")], "cargo", &["doc", "--workspace", "--no-deps", "--quiet"])
}

/// The questions to simulated machines, and the ticks of simulated clocks, with all their seeds.
fn machines_full(tally: &mut Tally) -> Result<()> {
    let full = [("CLOCKSCOPE_MACHINES", "full")];
    tally.cargo_test(&full, &["--lib", "--", "tick::tests"])?;
    tally.cargo_test(&full, &["--test", "truth"])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_step_has_a_name_of_its_own() {
        let all: Vec<&str> = TEST.names().chain(RELEASE_CHECK.names()).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    }
}
