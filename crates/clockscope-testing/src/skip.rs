//! Tests that the machine does not permit.

use std::fs::OpenOptions;
use std::io::Write;
use std::panic::Location;

/// Names the file that skipped tests are written to, a line each. `cargo xtask test` sets it, and
/// counts them.
const LIST: &str = "CLOCKSCOPE_SKIPPED_TESTS";

/// Reports that the calling test is skipped, and why. The test must return right after it.
///
/// The line goes to standard error even if the test harness captures output.
///
/// # Panics
/// The list cannot be written.
#[track_caller]
pub fn skip(reason: &str) {
    let location = Location::caller();
    let line = format!("skipped: {}:{}: {reason}\n", location.file(), location.line());
    // The harness captures `eprint!`, but not this.
    let _ = std::io::stderr().write_all(line.as_bytes());
    if let Some(list) = std::env::var_os(LIST) {
        // One write per line, so that lines of several processes do not mix.
        let mut list = OpenOptions::new().append(true).create(true).open(list).expect("the list of skipped tests");
        list.write_all(line.as_bytes()).expect("the list of skipped tests");
    }
}
