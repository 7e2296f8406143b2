//! Compilation of programs for other platforms.

use crate::cross;

/// Folder in which they are built. Not `cross`'s folder: both are built at the same time.
pub(super) const FOLDER: &str = "target/platforms";

/// The compiler's variables.
pub(super) const VARIABLES: [(&str, &str); 3] =
    [cross::OTHER_COMPILER[0], cross::OTHER_COMPILER[1], ("CARGO_TARGET_DIR", FOLDER)];
