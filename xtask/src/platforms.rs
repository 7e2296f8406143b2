//! The library on other platforms, and the command on some: what this machine can check, by tests,
//! by the linker or by the compiler, and what it cannot.
//!
//! The compiler and its sources are Debian's rustc-web and rust-web-src, of which standard
//! libraries for other targets are built (`cross`).
//!
//! To add a target, add a row to `PLATFORMS`; `with_the_command` has the command compiled as well.
//! If its tests can run here, add a row to `emulated` or `wasm`, too. Rust's test harness prints
//! nothing on wasm32-unknown-unknown: the stack of its trap shows which test failed.

mod compiler;
mod emulated;
mod link;
mod wasm;
mod windows;

use anyhow::{Context, Result, bail};

use crate::cross;
use crate::needs;
use crate::run;
use crate::tally::Tally;
pub(crate) use emulated::ADDED_LIBRARY;
use emulated::Emulated;
pub(crate) use windows::print_path as windows;

/// Puts [`ADDED_LIBRARY`] into a folder.
pub(crate) fn add_library(folder: &str) -> Result<()> {
    emulated::WINDOWS.complete(folder)
}

/// A target, for which the library has to compile without a warning, and what else is checked here.
struct Platform {
    target: &'static str,
    check: Check,
    /// The command has to compile as well: nothing here runs it.
    command: bool,
}

/// The most that can be checked here.
#[derive(Clone, Copy)]
enum Check {
    /// The library's tests run, in one or more places.
    Tests(&'static [Emulated]),
    /// They are linked: nothing here runs the system.
    Links,
    /// They are compiled, because something is missing that links them: `missing`.
    Compiles { missing: &'static str, needs: &'static str },
}

impl Check {
    /// Packages that have to be installed to compile for the target.
    fn needs(self) -> &'static str {
        if let Self::Compiles { needs, .. } = self { needs } else { "" }
    }
}

const fn platform(target: &'static str, check: Check) -> Platform {
    Platform { target, check, command: false }
}

const fn tests(target: &'static str, hosts: &'static [Emulated]) -> Platform {
    platform(target, Check::Tests(hosts))
}

const fn links(target: &'static str) -> Platform {
    platform(target, Check::Links)
}

const fn compiles(target: &'static str, missing: &'static str) -> Platform {
    platform(target, Check::Compiles { missing, needs: "" })
}

impl Platform {
    const fn with_the_command(self) -> Self {
        Self { command: true, ..self }
    }
}

/// The standard library for 32-bit Windows makes its import libraries by this.
const DLLTOOL: &str = "i686-w64-mingw32-dlltool";

const NO_MUSL: &str = "musl's start files, which Debian's compiler lacks";
const NO_LIBC: &str = "the system's C library";
const NO_NDK: &str = "Android's NDK";
const NO_SDK: &str = "Apple's SDK";
const NO_LINK: &str = "Microsoft's linker and libraries";
const NO_MINGW: &str = "MinGW for this processor";

/// The target that the release check compiles the command for, of those that run nothing here.
const COMMAND_IN_CHECK: &str = "x86_64-unknown-freebsd";

/// All of them.
const PLATFORMS: &[Platform] = &[
    tests("aarch64-unknown-linux-gnu", &[emulated::AARCH64]),
    tests("i686-unknown-linux-gnu", &[emulated::I686]),
    tests("s390x-unknown-linux-gnu", &[emulated::S390X]),
    tests("armv7-unknown-linux-gnueabihf", &[emulated::ARMV7]),
    tests("riscv64gc-unknown-linux-gnu", &[emulated::RISCV64]),
    tests("powerpc64le-unknown-linux-gnu", &[emulated::POWERPC64LE]),
    tests(windows::TARGET, &[emulated::WINDOWS]),
    tests("wasm32-wasip1", &wasm::WASI),
    tests("wasm32-unknown-unknown", &wasm::WITHOUT_A_SYSTEM),
    links("x86_64-apple-darwin").with_the_command(),
    links("aarch64-apple-darwin").with_the_command(),
    links(COMMAND_IN_CHECK).with_the_command(),
    compiles("x86_64-unknown-linux-musl", NO_MUSL),
    compiles("i686-unknown-linux-musl", NO_MUSL),
    compiles("aarch64-unknown-linux-musl", NO_MUSL),
    compiles("armv7-unknown-linux-musleabihf", NO_MUSL),
    compiles("riscv64gc-unknown-linux-musl", NO_MUSL),
    compiles("powerpc64le-unknown-linux-musl", NO_MUSL),
    compiles("s390x-unknown-linux-musl", NO_MUSL),
    compiles("powerpc-unknown-linux-gnu", NO_LIBC),
    compiles("loongarch64-unknown-linux-gnu", NO_LIBC),
    compiles("aarch64-linux-android", NO_NDK),
    compiles("armv7-linux-androideabi", NO_NDK),
    platform("i686-pc-windows-gnu", Check::Compiles { missing: NO_MINGW, needs: DLLTOOL }),
    compiles("aarch64-pc-windows-gnullvm", NO_MINGW),
    compiles("x86_64-pc-windows-msvc", NO_LINK),
    compiles("aarch64-apple-ios", NO_SDK),
    compiles("x86_64-unknown-netbsd", NO_LIBC).with_the_command(),
    compiles("x86_64-unknown-openbsd", NO_LIBC).with_the_command(),
    compiles("x86_64-unknown-illumos", NO_LIBC),
];

/// Checks the platforms of these names, or all, as far as this machine can; prints what it cannot.
pub(crate) fn check(names: &[String]) -> Result<()> {
    let chosen = chosen(names)?;
    needs::require("other platforms", cross::COMPILER)?;
    let mut tally = Tally::default();
    let mut seen = Seen::default();
    if names.is_empty() {
        seen.take("without std", "compiles for every processor", cross::without_std_everywhere());
    }
    for Platform { target, check, command } in chosen {
        if let Some(missing) = needs::missing_of(check.needs()) {
            seen.unseen(target, format!("is not compiled: {missing}"));
            continue;
        }
        seen.take(target, "compiles without a warning", compile(target, LIBRARY));
        if *command {
            seen.take(target, "compiles the command without a warning", compile(target, COMMAND));
            seen.take(target, "compiles the tests of its clocks without a warning", compile(target, TESTS_OF_CLOCKS));
        }
        match check {
            Check::Tests(hosts) => hosts.iter().for_each(|host| seen.run(target, host, &mut tally)),
            Check::Links => match link::missing() {
                Some(missing) => seen.unseen(target, format!("is not linked: {missing}")),
                None => seen.take(target, "links the tests, which do not run here", link::link(target)),
            },
            Check::Compiles { missing, .. } => seen.unseen(target, format!("is not linked: that needs {missing}")),
        }
    }
    tally.print();
    seen.end()
}

/// Results of the checks.
#[derive(Default)]
struct Seen {
    /// Checks that were left out, and why.
    unseen: Vec<String>,
    failed: Vec<&'static str>,
}

impl Seen {
    fn run(&mut self, target: &'static str, host: &Emulated, tally: &mut Tally) {
        let name = host.location;
        if let Some(missing) = host.missing() {
            return self.unseen(target, format!("is not tested {name}: {missing}"));
        }
        self.take(target, &format!("passes the library's tests {name}"), host.test(target, tally));
        if target == cross::RUN {
            self.take(target, "has a fast path", cross::fast_path(tally));
        }
        if target == windows::TARGET {
            let good = format!("answers the instrument's questions and serves programs in C {name}");
            self.take(target, &good, windows::check(tally));
        }
        if host.serves_the_systems_clock {
            match host.cost_beside_std(target) {
                Ok(ratio) => println!("   {target:32} now() costs {ratio} times as much as std's clock {name}"),
                Err(error) => self.fail(target, &format!("FAILED: the cost beside std's clock {name}"), &error),
            }
        }
    }

    fn take(&mut self, target: &'static str, good: &str, result: Result<()>) {
        match result {
            Ok(()) => println!("   {target:32} {good}"),
            Err(error) => self.fail(target, &format!("FAILED: {good}"), &error),
        }
    }

    fn fail(&mut self, target: &'static str, what: &str, error: &anyhow::Error) {
        println!("   {target:32} {what}: {error:#}");
        self.failed.push(target);
    }

    fn unseen(&mut self, target: &str, why: String) {
        self.unseen.push(format!("{target:32} {why}"));
    }

    /// Prints what was not checked.
    fn end(mut self) -> Result<()> {
        if !self.unseen.is_empty() {
            println!("not checked here:");
        }
        for line in &self.unseen {
            println!("   {line}");
        }
        self.failed.dedup();
        if self.failed.is_empty() { Ok(()) } else { bail!("failed: {}", self.failed.join(", ")) }
    }
}

/// The platforms of these names; all if there is none.
fn chosen(names: &[String]) -> Result<Vec<&'static Platform>> {
    let known = || PLATFORMS.iter().map(|platform| platform.target);
    if let Some(unknown) = names.iter().find(|name| !known().any(|target| target == *name)) {
        bail!("unknown target {unknown:?}: expected one of {}", known().collect::<Vec<_>>().join(", "));
    }
    Ok(PLATFORMS
        .iter()
        .filter(|platform| names.is_empty() || names.iter().any(|name| name == platform.target))
        .collect())
}

/// Tests of another system, for the release check.
fn in_release_check() -> impl Iterator<Item = (&'static str, &'static Emulated)> {
    PLATFORMS.iter().flat_map(|Platform { target, check, .. }| {
        let hosts = if let Check::Tests(hosts) = check { *hosts } else { &[] };
        hosts.iter().filter(|host| host.in_release_check).map(|host| (*target, host))
    })
}

/// Runs the tests of the library on these platforms, and compiles the command for another.
pub(crate) fn test_some(tally: &mut Tally) -> Result<()> {
    let needed: Vec<&str> = in_release_check().map(|(_, host)| host.needs).chain([cross::COMPILER]).collect();
    needs::require("other platforms", &needed.join(" "))?;
    println!("   {COMMAND_IN_CHECK}: the command compiles without a warning");
    compile(COMMAND_IN_CHECK, COMMAND).context(COMMAND_IN_CHECK)?;
    for (target, host) in in_release_check() {
        println!("   {target}: tests of the library {}", host.location);
        host.test(target, tally).context(target)?;
        if target == windows::TARGET {
            println!("   {target}: the instrument, and programs in C {}", host.location);
            windows::check(tally).context(target)?;
        }
    }
    Ok(())
}

/// The standard library for programs.
const STD: &str = "-Zbuild-std=std,panic_abort";

const LIBRARY: &[&str] = &["--package", "clockscope", STD];

/// The command, with all crates that it consists of. The compiler then compares the clocks of
/// `clockscope-system` for the target with the catalog.
const COMMAND: &[&str] = &["--package", "clockscope-cli", STD];

/// The tests of the crate that has the clocks of each system.
const TESTS_OF_CLOCKS: &[&str] = &["--package", "clockscope-system", "--tests", cross::BUILD_STD];

/// Checks what these arguments of cargo name; a warning is an error.
fn compile(target: &str, what: &[&str]) -> Result<()> {
    let deny = [("RUSTFLAGS", "--deny warnings")];
    let arguments = [&["check", "--quiet", "--target", target], what].concat();
    run::output_with(&[&compiler::VARIABLES[..], &deny].concat(), "cargo", &arguments).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platforms_are_chosen_by_name() {
        let chosen = |names: &[&str]| chosen(&names.iter().map(ToString::to_string).collect::<Vec<_>>());
        let targets = |names: &[&str]| chosen(names).map(|all| all.iter().map(|it| it.target).collect::<Vec<_>>());
        assert_eq!(targets(&[]).unwrap().len(), PLATFORMS.len());
        assert_eq!(targets(&["wasm32-wasip1"]).unwrap(), ["wasm32-wasip1"]);
        let error = targets(&["wasm32-wasip1", "pdp11"]).unwrap_err().to_string();
        assert!(error.starts_with("unknown target \"pdp11\": expected one of aarch64-"), "{error}");
    }

    #[test]
    fn what_is_needed_is_in_a_list() {
        assert_eq!(needs::missing_of(""), None);
        let hosts = PLATFORMS.iter().flat_map(|platform| match platform.check {
            Check::Tests(hosts) => hosts,
            _ => &[],
        });
        let needed = PLATFORMS.iter().map(|platform| platform.check.needs()).chain(hosts.map(|host| host.needs));
        // It panics if none has a name.
        needed.chain([cross::COMPILER]).for_each(|names| drop(needs::missing_of(names)));
    }

    /// `needs::RELEASE` has what these need, and nothing for another.
    #[test]
    fn the_release_check_tests_another_system() {
        let covered: Vec<_> = in_release_check().map(|(target, host)| (target, host.location)).collect();
        assert_eq!(covered, [("x86_64-pc-windows-gnu", "under Wine")]);
    }
}
