//! Programs in C and C++, by the compilers of this machine: what they see of the library.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod toolchain;

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use clockscope_testing::skip;
use toolchain::{Folder, has, headers, program, run};

/// Compilers of C and C++ that include the headers.
const COMPILERS: [(&str, &str); 2] = [("gcc", "g++"), ("clang", "clang++")];
const C: [&str; 3] = ["-std=c99", "-std=c11", "-std=c17"];
const CPP: [&str; 3] = ["-std=c++11", "-std=c++17", "-std=c++20"];
const LEVELS: [&str; 2] = ["-O0", "-O2"];

/// Every installed compiler, with each language and level.
fn each(mut check: impl FnMut(&str, &[&str])) {
    for (c, cpp) in COMPILERS {
        for (compiler, language, standards) in [(c, "c", C), (cpp, "c++", CPP)] {
            if !has(compiler) {
                skip(&format!("{compiler} is not installed"));
                continue;
            }
            for standard in standards {
                for level in LEVELS {
                    check(compiler, &[standard, level, "-x", language]);
                }
            }
        }
    }
}

/// Arguments, and those that link after the source.
fn with<'a>(arguments: &[&'a str], more: &'a [String]) -> Vec<&'a str> {
    arguments.iter().copied().chain(more.iter().map(String::as_str)).collect()
}

#[test]
fn every_function_does_what_the_header_says() {
    let folder = Folder::new();
    let shared = folder.shared();
    each(|compiler, arguments| {
        let compiled = folder.compile(compiler, &with(arguments, &shared), &program("usage.c"), "usage");
        assert_eq!(run(&compiled), "", "{compiler} {arguments:?}");
    });
}

#[test]
fn the_static_library_does_the_same() {
    let folder = Folder::new();
    for (compiler, standard) in [("gcc", "-std=c99"), ("g++", "-std=c++11")] {
        if !has(compiler) {
            skip(&format!("{compiler} is not installed"));
            continue;
        }
        let library = folder.path("libclockscope.a").display().to_string();
        // The language of what follows, up to the library.
        let language = if compiler == "gcc" { "c" } else { "c++" };
        let source = program("usage.c").display().to_string();
        let arguments = [standard, "-O2", "-x", language, &source, "-x", "none", &library];
        let last = std::path::Path::new("-lpthread");
        let compiled = folder.compile(compiler, &[&arguments[..], &["-ldl", "-lm"]].concat(), last, "static");
        assert_eq!(run(&compiled), "");
    }
}

/// Which readings take the time from the page, and which call the library.
#[test]
fn readings_are_inlined_where_they_can_be() {
    const CALLS: &str = "now call, unordered call, wall call, by address call";
    const SLOW: &str = "below the floor call, no offset call, no line call, no ticks call\n";
    let folder = Folder::new();
    let shared = folder.shared();
    let inlined = "now page, unordered page, wall page, by address call";
    each(|compiler, arguments| {
        for (define, expected) in
            [("-DPAGE", inlined), ("-DNO_PAGE", CALLS), ("-DCLOCKSCOPE_NO_INLINE", CALLS), ("-fsanitize=thread", CALLS)]
        {
            if define == "-fsanitize=thread" && arguments.contains(&"-O0") {
                continue;
            }
            let arguments = with(&[arguments, &[define][..]].concat(), &shared);
            // The program's page is in front of the library's.
            let compiled = folder.compile(compiler, &arguments, &program("page.c"), "page");
            assert_eq!(run(&compiled), format!("{expected}; {SLOW}"), "{compiler} {arguments:?}");
        }
    });
}

/// The header compiles for processors on which this test does not run.
#[test]
fn other_processors_compile_the_header() {
    let folder = Folder::new();
    for compiler in ["aarch64-linux-gnu-gcc", "i686-linux-gnu-gcc", "x86_64-w64-mingw32-gcc"] {
        if !has(compiler) {
            skip(&format!("{compiler} is not installed"));
            continue;
        }
        for level in LEVELS {
            folder.compile(compiler, &["-std=c99", level, "-c"], &program("readings.c"), "readings.o");
        }
    }
}

/// What the header declares, what the library exports, and the committed list are the same.
#[test]
fn exactly_the_documented_symbols_are_visible() {
    let header = fs::read_to_string(headers().join("clockscope.h")).unwrap();
    let declared: BTreeSet<&str> = header
        .lines()
        .filter(|line| line.starts_with("CLOCKSCOPE_API "))
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .collect();
    let listed: BTreeSet<&str> = include_str!("symbols.txt").lines().collect();
    assert_eq!(declared, listed);
    let library = Folder::new().path("libclockscope.so").canonicalize().unwrap();
    let Ok(output) = Command::new("nm").args(["--dynamic", "--defined-only"]).arg(library).output() else {
        return skip("nm is not installed");
    };
    let exported = String::from_utf8(output.stdout).unwrap();
    let exported: BTreeSet<&str> = exported.lines().filter_map(|line| line.rsplit(' ').next()).collect();
    assert_eq!(exported, listed);
}

/// The header names the version that the library has.
#[test]
fn the_header_has_the_librarys_version() {
    let header = fs::read_to_string(headers().join("clockscope.h")).unwrap();
    let [major, minor, patch] = ["MAJOR", "MINOR", "PATCH"].map(|part| {
        let name = format!("#define CLOCKSCOPE_VERSION_{part} ");
        header.lines().find_map(|line| line.strip_prefix(name.as_str())).unwrap()
    });
    assert_eq!(format!("{major}.{minor}.{patch}"), env!("CARGO_PKG_VERSION"));
}
