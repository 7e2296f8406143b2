//! The programs of examples/c, built by their Makefile, and those in other languages.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::toolchain::{Folder, STRICT, command_succeeds, has, headers, run};
use clockscope_testing::skip;

/// More lines than this are not read.
const MAX_LINES: usize = 80;

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

/// The folder of the examples in a language.
fn examples(language: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(language)
}

/// Runs a program that loads the library by its name.
fn run_with_library(folder: &Folder, program: &str, arguments: &[&str]) -> String {
    let directory = folder.path("");
    command_succeeds(Command::new(program).args(arguments).current_dir(&directory).env("LD_LIBRARY_PATH", &directory))
}

/// The rows of a table that end in two positive figures, by their names.
fn rows(printed: &str) -> Vec<&str> {
    let is_positive = |figure: &&str| figure.parse::<f64>().is_ok_and(|figure| figure > 0.0);
    let row = |line: &'_ str| line.split_whitespace().skip(1).take(2).filter(is_positive).count() == 2;
    printed.lines().filter(|line| row(line)).filter_map(|line| line.split_whitespace().next()).collect()
}

#[test]
#[ignore = "needs mono"]
fn the_example_in_dotnet_runs() {
    if !has("mcs") || !has("mono") {
        return skip("mcs or mono is not installed");
    }
    let folder = Folder::new();
    let source = examples("dotnet").join("Shootout.cs").display().to_string();
    run_with_library(&folder, "mcs", &["-warnaserror", "-out:Shootout.exe", &source]);
    let printed = run_with_library(&folder, "mono", &["Shootout.exe"]);
    assert_eq!(rows(&printed), ["Stopwatch.GetTimestamp", "clockscope_now", "clockscope_now_unordered"], "{printed}");
    assert!(printed.contains("\nclockscope is within "), "{printed}");
}

/// With java.lang.foreign all rows; an older Java reports that it has none.
#[test]
#[ignore = "needs a JDK"]
fn the_example_in_java_runs() {
    if !has("javac") || !has("java") {
        return skip("javac or java is not installed");
    }
    let folder = Folder::new();
    let source = examples("java").join("Shootout.java").display().to_string();
    run_with_library(&folder, "javac", &["-Xlint:all", "-Werror", "-d", ".", &source]);
    let has_api = run_with_library(&folder, "java", &["--list-modules"])
        .lines()
        .find_map(|line| line.strip_prefix("java.base@")?.split('.').next()?.parse::<u32>().ok())
        .is_some_and(|version| version >= 22);
    let access = ["--enable-native-access=ALL-UNNAMED"];
    let access = if has_api { &access[..] } else { &[] };
    let printed = run_with_library(&folder, "java", &[access, &["-cp", ".", "Shootout"]].concat());
    let all = ["System.nanoTime", "clockscope_now", "clockscope_now_unordered"];
    assert_eq!(rows(&printed), all[..if has_api { 3 } else { 1 }], "{printed}");
    assert_eq!(printed.contains("has no java.lang.foreign"), !has_api, "{printed}");
}

#[test]
fn the_examples_in_c_are_built_and_run() {
    if !has("make") || !has("gcc") {
        return skip("make or gcc is not installed");
    }
    let folder = Folder::new();
    let sources = examples("c");
    for name in ["Makefile", "usleep.c", "calibrate.c", "shootout.c"] {
        fs::copy(sources.join(name), folder.path(name)).unwrap();
    }
    let directory = folder.path("");
    let mut make = Command::new("make");
    make.arg("--silent").arg("-C").arg(&directory).arg("CC=gcc").arg(format!("CFLAGS=-O2 {}", STRICT.join(" ")));
    make.arg(format!("INCLUDE={}", headers().display()));
    make.arg(format!("LIBRARY={}", folder.shared().join(" ")));
    let made = make.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for (name, expected) in EXPECTED {
        let source = fs::read_to_string(folder.path(&format!("{name}.c"))).unwrap();
        assert!(source.lines().count() <= MAX_LINES, "{name}.c has more than {MAX_LINES} lines");
        let printed = run(&folder.path(name));
        let mut remaining = printed.as_str();
        for text in expected {
            let found = remaining.split_once(text);
            remaining = found.unwrap_or_else(|| panic!("{name} does not print {text:?} there:\n{printed}")).1;
        }
    }
}
