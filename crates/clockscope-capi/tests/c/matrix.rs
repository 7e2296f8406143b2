//! The headers with every standard and every level of optimization.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::toolchain::{Folder, has, program};
use clockscope_testing::skip;

const C: [&str; 4] = ["-std=c99", "-std=c11", "-std=c17", "-std=c2x"];
const CPP: [&str; 5] = ["-std=c++11", "-std=c++14", "-std=c++17", "-std=c++20", "-std=c++2b"];
const LEVELS: [&[&str]; 5] = [&["-O0"], &["-O1"], &["-O2"], &["-O3"], &["-O2", "-flto"]];

/// No diagnostic in any of them. Linked, because -flto compiles then.
#[test]
#[ignore = "needs g++ and clang"]
fn every_standard_and_level_compiles_without_a_warning() {
    let mut combinations = Vec::new();
    for (compiler, language, standards) in
        [("gcc", "c", &C[..]), ("g++", "c++", &CPP), ("clang", "c", &C), ("clang++", "c++", &CPP)]
    {
        if !has(compiler) {
            skip(&format!("{compiler} is not installed"));
            continue;
        }
        for standard in standards {
            combinations.extend(LEVELS.map(|level| (compiler, language, *standard, level)));
        }
    }
    let folder = Folder::new();
    let next = AtomicUsize::new(0);
    let compile = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((compiler, language, standard, level)) = combinations.get(index) else { return };
            let arguments = [&[*standard, "-x", *language, "-shared", "-fPIC"], *level].concat();
            folder.compile(compiler, &arguments, &program("headers.c"), &format!("{index}.so"));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(compile))));
}
