//! The rig that gives a process a faulty counter: `tests/rigs/trap.c`, which says what it can be told.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The variable that tells the rig what to do.
pub(crate) const FAULTS: &str = "CLOCKSCOPE_TRAP";

/// The rig's shared library, compiled once a test program.
pub(crate) fn trap() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("trap-{}.so", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rigs/trap.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Werror", "-O2", "-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
        assert!(compiler.status().expect("cc is installed").success(), "{compiler:?}");
        library
    })
}
