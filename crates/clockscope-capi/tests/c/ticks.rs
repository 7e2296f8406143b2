//! clockscope_ticks.h and compat/rdtsc.h: headers without a library.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::toolchain::{Folder, command_succeeds, each, has, headers, program, run};
use clockscope_testing::skip;

/// The bounds that ticks.c prints, in Hz.
struct Bounds {
    lowest: f64,
    highest: f64,
}

impl Bounds {
    fn parse(printed: &str) -> Self {
        let bounds: Vec<f64> = printed.split_whitespace().filter_map(|figure| figure.parse().ok()).collect();
        let [lowest, highest] = bounds[..] else { panic!("{printed}") };
        Self { lowest, highest }
    }

    /// Returns true if a rate between these may be the same. The windows differ, and a time daemon
    /// may change the clock's rate by as much as this.
    fn hold(&self, lowest: f64, highest: f64) -> bool {
        const SLEW: f64 = 0.11;
        self.lowest * (1.0 - SLEW) <= highest && lowest <= self.highest * (1.0 + SLEW)
    }

    /// Returns true if the rate of this machine's counter may be the same as one between these.
    fn hold_here(&self) -> bool {
        match clockscope::calibrate_blocking(Duration::from_millis(20)) {
            Ok(conversion) => self.hold(conversion.frequency().lowest_hz, conversion.frequency().highest_hz),
            Err(reason) => {
                skip(&format!("the library finds no rate: {reason}"));
                true
            }
        }
    }
}

/// Every function does what its comment says, and the rate is the one that the library finds.
#[test]
fn the_counter_needs_no_library() {
    let folder = Folder::new();
    each(|compiler, arguments| {
        // And as where the compiler has no integers of 128 bits.
        for variant in [&[][..], &["-U__SIZEOF_INT128__"]] {
            let arguments = [arguments, variant].concat();
            let compiled = folder.compile(compiler, &arguments, &program("ticks.c"), "ticks");
            let printed = run(&compiled);
            assert!(Bounds::parse(&printed).hold_here(), "{compiler} {arguments:?}: {printed}");
        }
    });
}

/// The counters of other processors and systems, as emulators have them.
#[test]
#[ignore = "needs compilers and emulators of other processors"]
fn other_machines_have_counters() {
    type IsRight = fn(&Bounds) -> bool;
    let any: IsRight = |_| true;
    // The architecture's own rate.
    let of_s390x: IsRight = |bounds| bounds.hold(4.096e9, 4.096e9);
    let targets = [
        ("aarch64-linux-gnu-gcc", "qemu-aarch64", any),
        ("powerpc64le-linux-gnu-gcc", "qemu-ppc64le", any),
        ("riscv64-linux-gnu-gcc", "qemu-riscv64", any),
        ("s390x-linux-gnu-gcc", "qemu-s390x", of_s390x),
        // Not emulated: this machine's.
        ("x86_64-w64-mingw32-gcc", "wine", Bounds::hold_here),
    ];
    let folder = Folder::new();
    for (compiler, emulator, is_right) in targets {
        if !has(compiler) || !has(emulator) {
            skip(&format!("{compiler} or {emulator} is not installed"));
            continue;
        }
        let name = format!("{emulator}.exe");
        let compiled = folder.compile(compiler, &["-std=c99", "-O2", "-static"], &program("ticks.c"), &name);
        let printed = command_succeeds(Command::new(emulator).env("WINEDEBUG", "-all").arg(compiled));
        assert!(is_right(&Bounds::parse(&printed)), "{emulator}: {printed}");
    }
}

/// The usage that the README of rdtsc shows, unchanged, in a program of two source files. usleep()
/// is not in C99.
#[test]
fn programs_of_rdtsc_compile_unchanged() {
    let folder = Folder::new();
    let compat = headers().join("compat").display().to_string();
    each(|compiler, arguments| {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["-D_DEFAULT_SOURCE", "-I", &compat]).collect();
        let usage = program("rdtsc_usage.c");
        let other = folder.compile(compiler, &[&arguments[..], &["-c", "-Dmain=other"]].concat(), &usage, "other.o");
        let object = folder.compile(compiler, &[&arguments[..], &["-c"]].concat(), &usage, "usage.o");
        let object = object.display().to_string();
        let linked = folder.compile(compiler, &[object.as_str()], Path::new(&other), "usage");
        let printed = run(&linked);
        let seconds =
            printed.strip_prefix("duration of usleep(1000) is ").and_then(|tail| tail.strip_suffix(" sec.\n"));
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
