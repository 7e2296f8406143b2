//! The C library for Windows: built by MinGW, and programs in C that are linked with it, by its DLL
//! and statically, under Wine.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::process::{Command, Stdio};

/// The crate's folder.
const CRATE: &str = env!("CARGO_MANIFEST_DIR");
const MINGW: &str = "x86_64-w64-mingw32-gcc";
/// Lists the symbols of an import library. It comes with the compiler.
const NM: &str = "x86_64-w64-mingw32-nm";
/// Diagnostics that no program may cause which includes the headers.
const STRICT: [&str; 5] = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"];
/// Libraries of the system that the static library needs, as docs/guides/c.md names them.
const SYSTEM_LIBRARIES: [&str; 5] = ["-lkernel32", "-lntdll", "-luserenv", "-lws2_32", "-ldbghelp"];

/// A program of the crate's tests.
struct Program {
    name: &'static str,
    needs_library: bool,
    /// Checks the text that it prints.
    is_right: fn(&str) -> bool,
}

const PROGRAMS: [Program; 6] = [
    Program { name: "usage", needs_library: true, is_right: str::is_empty },
    Program { name: "wall", needs_library: true, is_right: str::is_empty },
    Program { name: "upkeep", needs_library: true, is_right: str::is_empty },
    Program { name: "stamps", needs_library: true, is_right: is_refusal },
    Program { name: "ticks", needs_library: false, is_right: are_bounds },
    Program { name: "rdtsc_usage", needs_library: false, is_right: |text| text.starts_with("duration of usleep") },
];

/// The folder of what was built for Windows.
fn folder() -> String {
    std::env::var("CLOCKSCOPE_WINDOWS").expect("the folder of programs for Windows")
}

#[test]
#[ignore = "needs Wine and a library for it: cargo xtask platforms x86_64-pc-windows-gnu"]
fn programs_in_c_run_under_wine() {
    let folder = folder();
    let shared = [format!("-L{folder}"), "-lclockscope_c".to_owned()];
    let archive = format!("{folder}/libclockscope_c.a");
    let linked_statically = [&[archive.as_str()], &SYSTEM_LIBRARIES[..]].concat();
    let optimized = ["-std=c99", "-O2"];
    for program in &PROGRAMS {
        if !program.needs_library {
            program.check("alone", &optimized, &[]);
            continue;
        }
        program.check("shared", &optimized, &shared.each_ref().map(String::as_str));
        program.check("static", &["-std=c17", "-O0", "-DCLOCKSCOPE_STATIC"], &linked_statically);
    }
}

/// The DLL exports the documented functions and nothing else.
#[test]
#[ignore = "needs a library for Windows: cargo xtask platforms x86_64-pc-windows-gnu"]
fn the_library_under_wine_exports_what_is_documented() {
    let library = format!("{}/libclockscope_c.dll.a", folder());
    let output = Command::new(NM).args(["--defined-only", &library]).output().unwrap();
    let symbols = String::from_utf8(output.stdout).unwrap();
    let exported: BTreeSet<&str> = symbols.lines().filter_map(|line| line.split_once(" T ")).map(|it| it.1).collect();
    let list = fs::read_to_string(format!("{CRATE}/tests/symbols.txt")).unwrap();
    assert_eq!(exported, list.lines().collect());
}

impl Program {
    /// Compiles and links it with these arguments, and runs it.
    fn check(&self, kind: &str, arguments: &[&str], libraries: &[&str]) {
        let name = self.name;
        let program = format!("{}/{kind}-{name}.exe", folder());
        let source = format!("{CRATE}/tests/programs/{name}.c");
        let include = format!("{CRATE}/include");
        let headers = ["-I", &include, "-I", &format!("{include}/compat"), "-o", &program, &source];
        let compiled = Command::new(MINGW).args([&STRICT, arguments, &headers, libraries].concat()).status().unwrap();
        assert!(compiled.success(), "{name}.c ({kind}): {compiled}");
        // A file, since a process of Wine that is left behind would keep a pipe open.
        let file = format!("{program}.stdout");
        let mut command = Command::new("wine");
        command.arg(&program).env("WINEDEBUG", "-all");
        command.stdin(Stdio::null()).stdout(File::create(&file).unwrap());
        let status = command.status().unwrap();
        let printed = fs::read_to_string(&file).unwrap();
        let is_right = status.success() && (self.is_right)(printed.trim());
        assert!(is_right, "{name}.c ({kind}) under Wine: {status}\n{printed}");
    }
}

/// The counter is not used on Windows, so there are no stamps.
fn is_refusal(text: &str) -> bool {
    text.starts_with("refused: the clock does not use the counter")
}

/// Bounds of a rate in Hz.
fn are_bounds(text: &str) -> bool {
    let bounds: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    bounds.is_ok_and(|bounds| matches!(bounds[..], [lowest, highest] if 0.0 < lowest && lowest <= highest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_two_figures_in_order() {
        assert!(are_bounds("2596114312.3867021 2596174589.1421103"));
        for wrong in ["", "1", "2 1", "0 1", "1 nan", "1 2 3", "line 98: expected rate.lowest_hz <= rate.hz\n1 2"] {
            assert!(!are_bounds(wrong), "{wrong:?}");
        }
    }
}
