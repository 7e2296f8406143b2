//! Other people's crates, by the tables of deny.toml: licenses, sources, and crates of several
//! versions. Advisories need the network, and are not checked here.

use anyhow::{Context, Result};

use crate::outcome::{Outcome, passed};
use crate::run;

/// Checks every crate of Cargo.lock with cargo-deny, and that the lock file of the fuzz targets is
/// up to date: nothing else looks at that before its long build.
pub(crate) fn check() -> Result<Outcome> {
    let arguments = ["metadata", "--format-version", "1", "--locked", "--manifest-path", "fuzz/Cargo.toml"];
    run::output("cargo", &arguments).context("`cargo metadata --manifest-path fuzz/Cargo.toml` mends its lock file")?;
    run::by_tool("cargo-deny", |program| {
        passed(run::with(&[], program, &["--log-level", "error", "check", "licenses", "bans", "sources"]))
    })
}
