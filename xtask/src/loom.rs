//! The clock's protocol under loom, which replaces the atomics by ones that try what the memory model allows.

use anyhow::Result;

use crate::run;

/// Runs the models, in a folder of their own: everything is compiled with another configuration.
pub(crate) fn check() -> Result<()> {
    let variables = [("RUSTFLAGS", "--cfg loom"), ("CARGO_TARGET_DIR", "target/loom")];
    run::with(&variables, "cargo", &["test", "--quiet", "--package", "clockscope", "--lib", "protocol"])
}
