//! clockscope_stamps.h: counts that become times later.

use std::fs;

use crate::toolchain::{Folder, each, has, program, run, with};
use clockscope_testing::skip;

/// Every function does what its comment says, unless this machine's counter is refused.
#[test]
fn stamps_become_times() {
    let folder = Folder::new();
    let shared = folder.shared();
    each(|compiler, arguments| {
        let compiled = folder.compile(compiler, &with(arguments, &shared), &program("stamps.c"), "stamps");
        let printed = run(&compiled);
        match printed.strip_prefix("refused: ") {
            Some(reason) => skip(reason.trim()),
            None => assert_eq!(printed, "", "{compiler} {arguments:?}"),
        }
    });
}

/// A stamp is the counter's instruction, without a call; an ordered one has fences around it.
#[test]
fn a_stamp_is_one_instruction() {
    let folder = Folder::new();
    for (compiler, counter, fence, call) in [
        ("gcc", "rdtsc", "lfence", "call"),
        ("clang", "rdtsc", "lfence", "call"),
        ("aarch64-linux-gnu-gcc", "cntvct_el0", "isb", "\tbl\t"),
    ] {
        if !has(compiler) {
            skip(&format!("{compiler} is not installed"));
            continue;
        }
        let compiled = folder.compile(compiler, &["-std=c99", "-O2", "-S"], &program("stamp_readings.c"), "stamps.s");
        let assembly = fs::read_to_string(compiled).unwrap();
        for (function, is_ordered) in [("ordered", true), ("unordered", false)] {
            let code = assembly.split_once(&format!("\n{function}:")).unwrap().1.split_once(".size").unwrap().0;
            assert_eq!(code.matches(counter).count(), 1, "{compiler}: {code}");
            assert!(!code.contains(call), "{compiler}: {code}");
            let (before, after) = code.split_once(counter).unwrap();
            assert_eq!([before, after].map(|code| code.contains(fence)), [is_ordered; 2], "{compiler}: {code}");
        }
    }
}
