//! Programs in C and C++, by the compilers of this machine: what they see of the library.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::toolchain::{Folder, HEADERS, command_succeeds, each, has, headers, program, run, with};
use clockscope_testing::skip;

#[test]
fn every_function_does_what_the_header_says() {
    let folder = Folder::new();
    let shared = folder.shared();
    each(|compiler, arguments| {
        let compiled = folder.compile(compiler, &with(arguments, &shared), &program("usage.c"), "usage");
        assert_eq!(run(&compiled), "", "{compiler} {arguments:?}");
    });
}

/// Functions do what the header says where CLOCK_BOOTTIME is a day ahead of CLOCK_MONOTONIC, as
/// after a suspend.
#[test]
fn boot_time_is_a_clock_of_its_own() {
    let apart = ["--time", "--boottime", "86400", "--fork"];
    if !Command::new("unshare").args(apart).arg("true").status().is_ok_and(|status| status.success()) {
        return skip("unshare --time needs root and Linux 5.6");
    }
    let folder = Folder::new();
    let shared = folder.shared();
    each(|compiler, arguments| {
        let usage = folder.compile(compiler, &with(arguments, &shared), &program("usage.c"), "usage");
        let printed = command_succeeds(Command::new("unshare").args(apart).arg(usage));
        assert_eq!(printed, "", "{compiler} {arguments:?}");
    });
}

/// Functions whose time is known are timed to 1%, by clocks of all ticks.
#[test]
#[ignore = "needs g++ and clang"]
fn a_function_is_timed_in_cpp() {
    let folder = Folder::new();
    each(|compiler, arguments| {
        if arguments.contains(&"c++") {
            let printed = run(&folder.compile(compiler, arguments, &program("time_function.cpp"), "time_function"));
            assert!(printed.trim().ends_with(" calls"), "{compiler} {arguments:?}: {printed}");
        }
    });
}

/// The clocks of clockscope.hpp have what <chrono> demands; with the last compiler, moments of the
/// wall clock have a `std::formatter`.
#[test]
#[ignore = "needs g++, clang and libc++"]
fn clocks_of_cpp_are_those_of_chrono() {
    const LIBCXX: (&str, [&str; 5]) = ("clang++-22", ["-std=c++20", "-O2", "-stdlib=libc++", "-x", "c++"]);
    let folder = Folder::new();
    let shared = folder.shared();
    let compiled = |compiler: &str, arguments: &[&str]| {
        let program = folder.compile(compiler, &with(arguments, &shared), &program("chrono.cpp"), "chrono");
        let printed = run(&program);
        println!("{compiler} {}: {}", arguments.join(" "), printed.trim());
        let is_new = arguments.contains(&"-std=c++20");
        let expected = format!("is_clock_v {}, std::format ", u8::from(is_new));
        assert!(printed.starts_with(&expected) && printed.lines().count() == 1, "{compiler} {arguments:?}: {printed}");
        printed.trim().ends_with('1')
    };
    each(|compiler, arguments| {
        if arguments.contains(&"c++") {
            compiled(compiler, arguments);
        }
    });
    match has(LIBCXX.0) {
        true => assert!(compiled(LIBCXX.0, &LIBCXX.1), "std::format was not compiled"),
        false => skip("clang++-22 is not installed, so that std::format was not compiled"),
    }
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
        let last = Path::new("-lpthread");
        let compiled = folder.compile(compiler, &[&arguments[..], &["-ldl", "-lm"]].concat(), last, "static");
        assert_eq!(run(&compiled), "");
    }
}

/// Readings take the time from the page where they can, and call the library elsewhere.
#[test]
#[ignore = "needs clang and objdump"]
fn readings_are_inlined_where_they_can_be() {
    const CALLS: &str = "now call, unordered call, wall call, boot call, by address call";
    const SLOW: &str = "below the floor call, no offset call, no boot offset call, no line call, no ticks call\n";
    let folder = Folder::new();
    let shared = folder.shared();
    let inlined = "now page, unordered page, wall page, boot page, by address call";
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

/// Ordered readings read the counter after a fence, and on aarch64 after the branch on the version
/// that the fence waits for. The other ones have no fence. Those after stores wait for them first.
#[test]
fn ordered_readings_wait_before_the_counter() {
    let folder = Folder::new();
    let in_order = |code: &str, instructions: &[&str]| {
        let mut remaining = code;
        instructions.iter().all(|instruction| match remaining.split_once(instruction) {
            Some((_, after)) => {
                remaining = after;
                true
            }
            None => false,
        })
    };
    let on_x86: [&[&str]; 1] = [&["lfence", "rdtsc"]];
    let stored_on_x86: [&[&str]; 2] = [&["mfence", "lfence", "rdtsc"], &["lock ", "lfence", "rdtsc"]];
    let on_aarch64: [&[&str]; 2] = [&["ldar", "tbz", "isb", "cntvct_el0"], &["ldar", "tbnz", "isb", "cntvct_el0"]];
    let stored_on_aarch64: [&[&str]; 1] = [&["dsb ish", "isb", "ldar", "isb", "cntvct_el0"]];
    let compilers = [
        ("gcc", "lfence", &on_x86[..], &stored_on_x86[..]),
        ("clang", "lfence", &on_x86[..], &stored_on_x86[..]),
        ("aarch64-linux-gnu-gcc", "isb", &on_aarch64[..], &stored_on_aarch64[..]),
    ];
    for (compiler, fence, expected, after_stores) in compilers {
        if !has(compiler) {
            skip(&format!("{compiler} is not installed"));
            continue;
        }
        let compiled = folder.compile(compiler, &["-std=c99", "-O2", "-S"], &program("readings.c"), "readings.s");
        let assembly = fs::read_to_string(compiled).unwrap();
        let code_of =
            |function: &str| assembly.split_once(&format!("\n{function}:")).unwrap().1.split_once(".size").unwrap().0;
        for function in ["ordered", "after_stores"] {
            let code = code_of(function);
            let waits = after_stores.iter().any(|instructions| in_order(code, instructions));
            assert_eq!(waits, function == "after_stores", "{compiler}: {code}");
        }
        let functions =
            [("ordered", true), ("wall", true), ("boot", true), ("after_stores", true), ("unordered", false)];
        for (function, is_ordered) in functions {
            let code = code_of(function);
            let waits = expected.iter().any(|instructions| in_order(code, instructions));
            assert_eq!((waits, code.contains(fence)), (is_ordered, is_ordered), "{compiler}: {code}");
        }
    }
}

/// The headers compile with any feature test macros and with none, before other headers and after
/// them, and define none: a program keeps the functions that it asked for.
#[test]
fn the_headers_define_no_feature_test_macros() {
    // Compilers of C++ define _GNU_SOURCE.
    const NONE: &str = "-U_GNU_SOURCE";
    const MACROS: [&[&str]; 8] = [
        &[NONE],
        &[NONE, "-DLATE"],
        &[NONE, "-DALLOWED", "-D_POSIX_C_SOURCE=200809L"],
        &[NONE, "-DALLOWED", "-D_POSIX_C_SOURCE=200809L", "-DLATE"],
        &[NONE, "-DALLOWED", "-D_POSIX_SOURCE"],
        &[NONE, "-DALLOWED", "-D_XOPEN_SOURCE=500"],
        &[NONE, "-DALLOWED", "-D_DEFAULT_SOURCE", "-DLATE"],
        &[NONE, "-DALLOWED", "-D_GNU_SOURCE"],
    ];
    let folder = Folder::new();
    each(|compiler, arguments| {
        if arguments.contains(&"-O0") {
            return;
        }
        let is_cpp = arguments.contains(&"c++");
        let (cpp, macros) = if is_cpp { (Some("clockscope.hpp"), &MACROS[..2]) } else { (None, &MACROS[..]) };
        for header in HEADERS.into_iter().chain(["clockscope_ticks.h", "compat/rdtsc.h"]).chain(cpp) {
            for macros in macros {
                let header = format!("-DHEADER=\"{header}\"");
                let arguments = [arguments, macros, &["-c", &header]].concat();
                folder.compile(compiler, &arguments, &program("feature_macros.c"), "feature_macros.o");
            }
        }
    });
}

/// The headers compile for processors on which this test does not run.
#[test]
#[ignore = "needs compilers for other processors"]
fn other_processors_compile_the_headers() {
    let folder = Folder::new();
    for (compiler, has_ticks) in [
        ("aarch64-linux-gnu-gcc", true),
        ("arm-linux-gnueabihf-gcc", false),
        ("i686-linux-gnu-gcc", true),
        ("powerpc64le-linux-gnu-gcc", true),
        ("riscv64-linux-gnu-gcc", true),
        ("s390x-linux-gnu-gcc", true),
        ("x86_64-w64-mingw32-gcc", true),
    ] {
        if !has(compiler) {
            skip(&format!("{compiler} is not installed"));
            continue;
        }
        let sources = ["readings.c", "stamp_readings.c", "ticks_other_file.c"];
        for source in sources.into_iter().take(if has_ticks { 3 } else { 2 }) {
            folder.compile(compiler, &["-std=c99", "-O2", "-c"], &program(source), "compiled.o");
        }
    }
}

/// Blocks of the guides for C in a language. One without `main` is the body of one.
fn guide_programs(language: &str) -> Vec<String> {
    let guides = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides");
    let page = |name| fs::read_to_string(guides.join(name)).expect("a guide");
    let guide = ["c.md", "c-stamps.md", "c-windows.md", "c-migrate.md", "time-a-function.md"].map(page).join("\n");
    let begin = format!("\n```{language}\n");
    let blocks = guide.split(begin.as_str()).skip(1).filter_map(|block| block.split("\n```").next());
    let whole = |block: &str| match block.contains("int main") {
        true => block.to_owned(),
        false => format!(
            "#include <clockscope.h>\n#include <stdio.h>\nint main(void) {{\n{block}\n\
             printf(\"%d\\n\", (int)elapsed);\nreturn 0;\n}}\n"
        ),
    };
    blocks.map(whole).collect()
}

/// The programs of the guide compile as they are shown, and print what they say; that of stamps
/// something else where the counter is refused.
#[test]
fn the_guide_shows_programs_that_run() {
    let folder = Folder::new();
    let shared = folder.shared();
    for (compiler, language, standard, expected) in [
        ("gcc", "c", "-std=c99", &["work\n", "2000\n", "work\n", "work\n"][..]),
        ("g++", "cpp", "-std=c++11", &["work\n", ""][..]),
    ] {
        if !has(compiler) {
            skip(&format!("{compiler} is not installed"));
            continue;
        }
        let blocks = guide_programs(language);
        assert_eq!(blocks.len(), expected.len(), "{blocks:?}");
        for (block, expected) in blocks.iter().zip(expected) {
            let source = folder.path(&format!("shown.{language}"));
            fs::write(&source, block).unwrap();
            let compiled = folder.compile(compiler, &with(&[standard], &shared), &source, "shown");
            let printed = run(&compiled);
            let is_refused = printed.starts_with("no stamps: ");
            assert!(printed.starts_with(expected) || is_refused, "{block}\n{printed}");
        }
    }
}

/// The headers' declarations, the library's exports and the committed list are the same.
#[test]
fn exactly_the_documented_symbols_are_visible() {
    let texts = HEADERS.map(|name| fs::read_to_string(headers().join(name)).unwrap());
    let declared: BTreeSet<&str> = texts
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| line.starts_with("CLOCKSCOPE_API "))
        .filter_map(|line| line.split_once('(')?.0.rsplit([' ', '*']).next())
        .collect();
    let listed: BTreeSet<&str> = include_str!("../symbols.txt").lines().collect();
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
