//! The full tier: everything that a change has to pass. Its first steps take seconds, then come
//! `cargo test` and the steps that need more than Rust and a C compiler.
//!
//! To add a step, add a row to [`TEST`], and what it needs to `needs::TEST`. A check that takes
//! more than 60 s is a bench or a step of the release check: `.ci/run` is to come to 20 minutes.

use anyhow::Result;

use crate::browsers::{self, Extent};
use crate::outcome::passed;
use crate::plan::{Plan, Step};
use crate::tally::Tally;
use crate::{
    dependencies, docs, fast_path, machines, members, needs, package, program_size, python, run, runtimes, spelling,
    structure, traces, workflows,
};

pub(crate) const TEST: Plan = Plan {
    task: "test",
    basics: &[
        Step("format", |_| passed(run::cargo(&["fmt", "--all", "--check"]))),
        Step("structure", |_| passed(structure::check())),
        Step("dependencies", |_| dependencies::check()),
        Step("docs", |_| passed(docs::check())),
        Step("site", |_| docs::site::check()),
        Step("spelling", |_| spelling::check()),
        Step("workflows", |_| workflows::check()),
        Step("packages", |_| passed(package::check())),
    ],
    // The tests, and those of real clocks that need a quiet machine.
    alone: &[
        Step("quick", |tally| passed(tally.cargo_test(&ALL_CASES, &[]))),
        Step("crates", |tally| passed(crates(tally))),
        Step("ignored", |tally| passed(ignored(tally))),
    ],
    // Lanes take about the same time. The first builds into the folder of `cargo test`, which cargo
    // locks while it builds. In the second, `programs` has a folder of its own, `fast-path` builds
    // two other profiles, `size` a workspace of its own, and `pages` builds nothing after the
    // tests.
    lanes: &[
        &[
            Step("lints", |_| passed(lints())),
            Step("documentation", |_| passed(documentation())),
            Step("loom", |tally| passed(loom(tally))),
            Step("traces", |_| traces::check()),
            Step("python", python::check),
        ],
        &[
            Step("programs", |_| machines::build()),
            Step("fast-path", |_| passed(fast_path::check())),
            Step("size", |_| passed(program_size::check())),
            Step("pages", |_| browsers::check(Extent::Some)),
        ],
    ],
    last: &[Step("runtimes", |_| runtimes::check()), Step("machines", |_| machines::check())],
    needs: needs::TEST,
};

/// Property tests draw all cases, four times as many as by `cargo test` alone
/// (`.cargo/config.toml`).
const ALL_CASES: [(&str, &str); 1] = [("PROPTEST_CASES", "256")];

/// The models of the clock's protocol, which loom runs.
const MODELS: &str = "disciplined::protocol";

/// Cfgs that users of other crates set for all that they build, the library included, and a package
/// that is built on the library as theirs are.
const FOREIGN_CFGS: [&str; 2] = ["loom", "fuzzing"];
const DEPENDENT: &str = "clockscope-capi";

/// The tests of members that `cargo test` leaves out.
fn crates(tally: &Tally) -> Result<()> {
    members::test_others(tally, &ALL_CASES, &[])
}

/// The tests that `cargo test` ignores. Members are chosen as by `quick` and `crates`: other
/// choices have other features, and build all tests again.
fn ignored(tally: &Tally) -> Result<()> {
    let of_default_members = tally.cargo_test(&[], &["--tests", "--", "--ignored"]);
    let of_others = members::test_others(tally, &[], &["--tests", "--", "--ignored", "--skip", MODELS]);
    of_default_members.and(of_others)
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
fn loom(tally: &Tally) -> Result<()> {
    members::test_others(tally, &[], &["--test", "models", "--", "--ignored", MODELS])
}

fn documentation() -> Result<()> {
    run::with(&[("RUSTDOCFLAGS", "--deny warnings")], "cargo", &["doc", "--workspace", "--no-deps", "--quiet"])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::release_check::RELEASE_CHECK;

    #[test]
    fn every_step_has_a_name_of_its_own() {
        let all: Vec<&str> = TEST.names().chain(RELEASE_CHECK.names()).collect();
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    }
}
