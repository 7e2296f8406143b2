//! clockscope_wall.h and clockscope_upkeep.h: the time of day, and a recent time.

use crate::toolchain::{Folder, each, has, program, run, with};
use clockscope_testing::skip;

/// Every function does what its comment says.
#[test]
fn time_of_day_has_an_error_and_conversions() {
    let folder = Folder::new();
    let shared = folder.shared();
    each(|compiler, arguments| {
        let compiled = folder.compile(compiler, &with(arguments, &shared), &program("wall.c"), "wall");
        assert_eq!(run(&compiled), "", "{compiler} {arguments:?}");
    });
}

/// The recent time goes on, also in forked children.
#[test]
fn a_thread_keeps_a_recent_time() {
    let folder = Folder::new();
    let shared = folder.shared();
    each(|compiler, arguments| {
        let compiled = folder.compile(compiler, &with(arguments, &shared), &program("upkeep.c"), "upkeep");
        assert_eq!(run(&compiled), "", "{compiler} {arguments:?}");
    });
}

/// A wait ends when the moment is past, or nothing bounds the true time: of a kernel that knows its
/// error.
#[test]
fn a_commit_waits_until_its_moment_is_past() {
    if !has("gcc") {
        return skip("gcc is not installed");
    }
    let folder = Folder::new();
    let shared = folder.shared();
    let kernel = program("synchronized.c").display().to_string();
    let arguments = with(&["-std=c99", "-O2", &kernel], &shared);
    let compiled = folder.compile("gcc", &arguments, &program("commit_wait.c"), "wait");
    assert_eq!(run(&compiled), "");
}
