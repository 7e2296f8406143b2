//! The clock's protocol under loom, which replaces the atomics by ones that try what the memory
//! model allows.

use anyhow::Result;

use crate::tally::Tally;

/// Runs the models, in a folder of their own: everything is compiled with another configuration.
pub(crate) fn check(tally: &Tally) -> Result<()> {
    let variables = [("RUSTFLAGS", "--cfg loom"), ("CARGO_TARGET_DIR", "target/loom")];
    tally.cargo_test(&variables, &["--package", "clockscope", "--lib", "protocol"])
}
