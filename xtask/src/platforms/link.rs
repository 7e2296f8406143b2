//! Links test programs for systems that cannot be run here, by zig, which has the interfaces of
//! their libraries.

use anyhow::Result;

use super::compiler;
use crate::cross;
use crate::needs::{self, Missing};
use crate::run;

/// Requirements that have to be installed.
pub(super) fn missing() -> Option<Missing> {
    needs::missing_of("cargo-zigbuild ziglang")
}

/// Links the library's tests.
pub(super) fn link(target: &str) -> Result<()> {
    let build = ["test", "--no-run", "--quiet", "--target", target, cross::BUILD_STD];
    run::output_with(&compiler::VARIABLES, "cargo-zigbuild", &[&build[..], cross::LIBRARY].concat()).map(|_| ())
}
