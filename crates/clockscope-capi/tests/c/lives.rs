//! Programs in C at the ends and beginnings of threads, processes and the library, and under tools
//! that look for their errors.

use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::Command;

use crate::toolchain::{Folder, command_succeeds, has, program, run, run_with};
use clockscope_testing::skip;

/// The arguments that all of these programs are compiled with.
const COMPILED: [&str; 4] = ["-std=c99", "-O1", "-g", "-pthread"];

/// A program, linked with the library, and with these arguments more. `None` without the compiler.
fn compiled(folder: &Folder, compiler: &str, more: &[&str], name: &str) -> Option<PathBuf> {
    if !has(compiler) {
        skip(&format!("{compiler} is not installed"));
        return None;
    }
    let shared = folder.shared();
    let arguments: Vec<&str> = COMPILED.iter().chain(more).copied().chain(shared.iter().map(String::as_str)).collect();
    Some(folder.compile(compiler, &arguments, &program(&format!("{name}.c")), name))
}

#[test]
fn forked_children_go_on() {
    let folder = Folder::new();
    let Some(lives) = compiled(&folder, "gcc", &[], "lives") else { return };
    assert_eq!(run_with(&lives, &["fork"]), "");
}

#[test]
fn signal_handlers_may_read_the_clock() {
    let folder = Folder::new();
    let Some(lives) = compiled(&folder, "gcc", &[], "lives") else { return };
    assert_eq!(run_with(&lives, &["signal"]), "");
}

#[test]
fn a_disabled_counter_is_refused_for_that_reason() {
    let folder = Folder::new();
    let Some(demotion) = compiled(&folder, "gcc", &[], "demotion") else { return };
    assert_eq!(run(&demotion), "");
}

#[test]
fn a_process_survives_a_counter_that_is_disabled() {
    let folder = Folder::new();
    let Some(survive) = compiled(&folder, "gcc", &[], "survive") else { return };
    assert_eq!(run(&survive), "");
}

#[test]
fn a_process_without_a_clock_gets_an_error() {
    let folder = Folder::new();
    let Some(clockless) = compiled(&folder, "gcc", &[], "clockless") else { return };
    assert_eq!(run(&clockless), "");
}

/// Bounds of the time of day alone ask the kernel, for which the filter kills.
#[test]
fn timestamps_of_every_kind_may_be_taken_confined() {
    let folder = Folder::new();
    for more in [&[][..], &["-DCLOCKSCOPE_NO_INLINE"]] {
        let Some(confined) = compiled(&folder, "gcc", more, "confined") else { return };
        assert_eq!(run(&confined), "", "{more:?}");
    }
    let Some(asking) = compiled(&folder, "gcc", &["-DASK"], "confined") else { return };
    let status = Command::new(asking).status().unwrap();
    assert_eq!(status.signal(), Some(libc::SIGSYS), "{status}");
}

#[test]
fn threads_may_read_the_clock_while_they_end() {
    let folder = Folder::new();
    let Some(lives) = compiled(&folder, "gcc", &[], "lives") else { return };
    assert_eq!(run_with(&lives, &["thread"]), "");
}

#[test]
fn the_library_may_be_loaded_and_unloaded() {
    let folder = Folder::new();
    if !has("gcc") {
        return skip("gcc is not installed");
    }
    let last = std::path::Path::new("-ldl");
    let source = program("loads.c").display().to_string();
    let loads = folder.compile("gcc", &["-std=c99", "-pthread", &source], last, "loads");
    assert_eq!(run_with(&loads, &[&folder.path("libclockscope.so.0").display().to_string()]), "");
}

/// Returns true if stamps.c printed that the counter is not fit for stamps.
fn is_refused(printed: &str) -> bool {
    printed.starts_with("refused: ")
}

/// The sanitizers end a program at its first error.
#[test]
#[ignore = "needs clang and its sanitizers"]
fn sanitizers_find_nothing() {
    let folder = Folder::new();
    let sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
    for compiler in ["gcc", "clang"] {
        for name in ["usage", "lives", "stamps", "upkeep", "wall", "ticks"] {
            let Some(program) = compiled(&folder, compiler, &sanitize, name) else { continue };
            let printed = run(&program);
            assert!(name == "ticks" || printed.is_empty() || is_refused(&printed), "{compiler} {name}: {printed}");
        }
    }
}

/// Valgrind ends a program by a code of its own where it finds an error, or memory that is lost.
#[test]
#[ignore = "needs valgrind"]
fn valgrind_finds_nothing() {
    if !has("valgrind") {
        return skip("valgrind is not installed");
    }
    let folder = Folder::new();
    for (name, arguments) in [
        ("usage", &[][..]),
        ("stamps", &[]),
        ("upkeep", &[]),
        ("wall", &[]),
        ("lives", &["thread"]),
        ("lives", &["fork"]),
    ] {
        let Some(program) = compiled(&folder, "gcc", &["-DFEW_TURNS"], name) else { return };
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite"]);
        let printed = command_succeeds(valgrind.arg(program).args(arguments));
        assert!(printed.is_empty() || is_refused(&printed), "{name}: {printed}");
    }
}
