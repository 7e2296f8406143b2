//! Libraries in C that break the clocks of the process that preloads them. The comment at the head
//! of each file in `rigs/` lists what it accepts. The build script compiles them.

use std::path::{Path, PathBuf};

/// The variable that lists for the rig `trap` which faults the counter has.
pub const TRAP_FAULTS: &str = "CLOCKSCOPE_TRAP";

/// Returns the shared library of a rig, for `LD_PRELOAD`.
///
/// # Panics
/// There is no rig of this name, or none for this architecture (x86-64 Linux has them).
#[must_use]
pub fn rig(name: &str) -> PathBuf {
    let library = Path::new(env!("OUT_DIR")).join(format!("{name}.so"));
    assert!(library.exists(), "{} does not exist: rigs are for x86-64 Linux", library.display());
    library
}
