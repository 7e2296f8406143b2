//! clockscope_ticks.h and compat/rdtsc.h: headers without a library.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod toolchain;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use clockscope_testing::skip;
use toolchain::{Folder, command_succeeds, each, has, headers, program, run};

/// Every function does what its comment says, and the rate is the one that the library finds.
#[test]
fn the_counter_needs_no_library() {
    let folder = Folder::new();
    each(|compiler, arguments| {
        let compiled = folder.compile(compiler, arguments, &program("ticks.c"), "ticks");
        let printed = run(&compiled);
        let bounds: Vec<f64> = printed.split_whitespace().filter_map(|figure| figure.parse().ok()).collect();
        let [lowest, highest] = bounds[..] else { panic!("{compiler} {arguments:?}: {printed}") };
        let Ok(conversion) = clockscope::calibrate_blocking(Duration::from_millis(20)) else {
            return skip("the library finds no rate");
        };
        let ours = conversion.frequency();
        // The windows differ, and a time daemon may change the clock's rate by as much as this.
        const SLEW: f64 = 0.11;
        assert!(
            lowest * (1.0 - SLEW) <= ours.highest_hz && ours.lowest_hz <= highest * (1.0 + SLEW),
            "{printed} {ours}"
        );
    });
}

/// Counters of other processors, as an emulator has them.
#[test]
fn other_processors_have_counters() {
    let folder = Folder::new();
    for processor in ["aarch64", "powerpc64le", "riscv64", "s390x"] {
        let compiler = format!("{processor}-linux-gnu-gcc");
        let emulator = format!("qemu-{}", if processor == "powerpc64le" { "ppc64le" } else { processor });
        if !has(&compiler) || !has(&emulator) {
            skip(&format!("{compiler} or {emulator} is not installed"));
            continue;
        }
        let compiled = folder.compile(&compiler, &["-std=c99", "-O2", "-static"], &program("ticks.c"), processor);
        let printed = command_succeeds(Command::new(&emulator).arg(compiled));
        assert_eq!(printed.lines().count(), 1, "{processor}: {printed}");
    }
}

/// The usage that the README of rdtsc shows, unchanged, in a program of two source files.
#[test]
fn programs_of_rdtsc_compile_unchanged() {
    let folder = Folder::new();
    let compat = headers().join("compat").display().to_string();
    each(|compiler, arguments| {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["-I", &compat]).collect();
        let usage = program("rdtsc_usage.c");
        let other = folder.compile(compiler, &[&arguments[..], &["-c", "-Dmain=other"]].concat(), &usage, "other.o");
        let object = folder.compile(compiler, &[&arguments[..], &["-c"]].concat(), &usage, "usage.o");
        let object = object.display().to_string();
        let linked = folder.compile(compiler, &[object.as_str()], Path::new(&other), "usage");
        let printed = run(&linked);
        let seconds =
            printed.strip_prefix("duration of usleep(1000) is ").and_then(|rest| rest.strip_suffix(" sec.\n"));
        let seconds: f64 = seconds.and_then(|seconds| seconds.parse().ok()).unwrap_or(f64::NAN);
        // A sleep is never too short; the clock may be slewed meanwhile.
        assert!(seconds > 0.0008, "{printed}");
    });
}

/// With the extensions that compilers have by default, other headers may come first.
#[test]
fn other_headers_may_come_first() {
    let folder = Folder::new();
    let compat = headers().join("compat").display().to_string();
    each(|compiler, arguments| {
        let is_cpp = arguments.contains(&"c++");
        let (standard, language) = if is_cpp { ("-std=gnu++17", "-xc++") } else { ("-std=gnu17", "-xc") };
        let arguments = [standard, language, "-Wall", "-Werror", "-include", "stdio.h", "-I", &compat, "-c"];
        folder.compile(compiler, &arguments, &program("rdtsc_usage.c"), "late.o");
    });
}
