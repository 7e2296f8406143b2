//! The programs of examples/c: built by their Makefile, and run.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod toolchain;

use std::fs;
use std::path::Path;
use std::process::Command;

use clockscope_testing::skip;
use toolchain::{Folder, STRICT, has, headers, run};

/// More lines than this are not read.
const MOST_LINES: usize = 80;

/// Each example prints these, in this order.
const EXPECTED: [(&str, &[&str]); 3] = [
    ("usleep", &["usleep(1000), 200 times: median ", "us late", "#", "each reading is within "]),
    (
        "calibrate",
        &[
            "rdtsc_ticks_per_sec=",
            "\n1ms~=",
            " ticks (",
            "\n1m rdtsc=",
            " ns/rdtsc\n",
            "1m clock_gettime=",
            " ns/clock_gettime\n",
            "the frequency is within ",
        ],
    ),
    ("shootout", &["counter: ", "\nclock_gettime ", "\ncounter ", "\nclockscope "]),
];

#[test]
fn the_examples_in_c_are_built_and_run() {
    if !has("make") || !has("gcc") {
        return skip("make or gcc is not installed");
    }
    let folder = Folder::new();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c");
    for name in ["Makefile", "usleep.c", "calibrate.c", "shootout.c"] {
        fs::copy(sources.join(name), folder.path(name)).unwrap();
    }
    let place = folder.path("");
    let mut make = Command::new("make");
    make.arg("--silent").arg("-C").arg(&place).arg("CC=gcc").arg(format!("CFLAGS=-O2 {}", STRICT.join(" ")));
    make.arg(format!("INCLUDE={}", headers().display()));
    make.arg(format!("LIBRARY={}", folder.shared().join(" ")));
    let made = make.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for (name, expected) in EXPECTED {
        let source = fs::read_to_string(folder.path(&format!("{name}.c"))).unwrap();
        assert!(source.lines().count() <= MOST_LINES, "{name}.c has more than {MOST_LINES} lines");
        let printed = run(&folder.path(name));
        let mut rest = printed.as_str();
        for text in expected {
            let found = rest.split_once(text);
            rest = found.unwrap_or_else(|| panic!("{name} does not print {text:?} there:\n{printed}")).1;
        }
    }
}
