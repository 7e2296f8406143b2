//! The library on other platforms: what this machine can check, run under emulation, or neither.
//!
//! The compiler and its sources are Debian's rustc-web and rust-web-src, of which standard
//! libraries for other targets are built (`cross`).

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};

use crate::cross;
use crate::outcome::{Outcome, lacking};
use crate::run;
use crate::tally::Tally;

/// A target whose tests run here.
struct Emulated {
    target: &'static str,
    /// The linker, and the Debian package that it is in.
    linker: (&'static str, &'static str),
    /// What runs its programs, and the Debian package that it is in; `None` where this machine
    /// does.
    runner: Option<(&'static str, &'static str)>,
    /// The runner's first argument: a file of this repository.
    script: Option<&'static str>,
    /// Cargo's arguments for the tests.
    tests: &'static [&'static str],
    /// More variables of the environment: the compiler's flags by `RUSTFLAGS`, and the runner's
    /// own.
    variables: &'static [(&'static str, &'static str)],
    /// Whether CI runs it.
    in_ci: bool,
}

/// Static, so that the emulator needs no libraries of the target.
const STATIC: &[(&str, &str)] = &[(FLAGS, "-C target-feature=+crt-static")];

/// Against Debian's wasi-libc, which lacks the functions of threads: the runner has them.
const WASI: &str = "-C link-self-contained=no -C link-arg=--allow-undefined -L /usr/lib/wasm32-wasi \
                    -C link-arg=/usr/lib/wasm32-wasi/crt1-command.o";

/// The name under which a target's own flags of the compiler are listed.
const FLAGS: &str = "RUSTFLAGS";

const QEMU: &str = "qemu-user";

/// Targets whose tests run here, under qemu-user or Wine.
const EMULATED: &[Emulated] = &[
    Emulated {
        target: "i686-unknown-linux-gnu",
        linker: ("i686-linux-gnu-gcc", "gcc-i686-linux-gnu"),
        runner: None,
        script: None,
        tests: cross::LIBRARY,
        variables: STATIC,
        in_ci: true,
    },
    Emulated {
        target: "s390x-unknown-linux-gnu",
        linker: ("s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu"),
        runner: Some(("qemu-s390x", QEMU)),
        script: None,
        tests: cross::LIBRARY,
        variables: STATIC,
        in_ci: true,
    },
    Emulated {
        target: "x86_64-pc-windows-gnu",
        linker: ("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64"),
        runner: Some(("wine", "wine")),
        script: None,
        tests: cross::LIBRARY,
        variables: &[("WINEDEBUG", "-all")],
        in_ci: true,
    },
    Emulated {
        target: "wasm32-wasip1",
        linker: ("wasm-ld-22", "lld-22"),
        runner: Some(("node", "nodejs")),
        script: Some("xtask/wasi/run.mjs"),
        // The others need threads.
        tests: &["--package", "clockscope", "--test", "platform"],
        variables: &[(FLAGS, WASI)],
        in_ci: true,
    },
    Emulated {
        target: "armv7-unknown-linux-gnueabihf",
        linker: ("arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf"),
        runner: Some(("qemu-arm", QEMU)),
        script: None,
        tests: cross::LIBRARY,
        variables: STATIC,
        in_ci: false,
    },
    Emulated {
        target: "riscv64gc-unknown-linux-gnu",
        linker: ("riscv64-linux-gnu-gcc", "gcc-riscv64-linux-gnu"),
        runner: Some(("qemu-riscv64", QEMU)),
        script: None,
        tests: cross::LIBRARY,
        variables: STATIC,
        in_ci: false,
    },
    Emulated {
        target: "powerpc64le-unknown-linux-gnu",
        linker: ("powerpc64le-linux-gnu-gcc", "gcc-powerpc64le-linux-gnu"),
        runner: Some(("qemu-ppc64le", QEMU)),
        script: None,
        tests: cross::LIBRARY,
        variables: STATIC,
        in_ci: false,
    },
];

/// Targets of which the library is compiled, with the standard library.
const COMPILED: &[&str] = &[
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "powerpc-unknown-linux-gnu",
    "loongarch64-unknown-linux-gnu",
    "aarch64-linux-android",
    "i686-pc-windows-gnu",
    "aarch64-pc-windows-gnullvm",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "aarch64-apple-ios",
    "x86_64-unknown-freebsd",
    "x86_64-unknown-netbsd",
    "x86_64-unknown-openbsd",
    "x86_64-unknown-illumos",
    "wasm32-unknown-unknown",
];

/// Checks every platform that this machine can, and says which it cannot.
pub(crate) fn check() -> Result<()> {
    if let Some(missing) = cross::missing() {
        bail!("{missing}");
    }
    let mut failed = BTreeSet::new();
    for target in COMPILED.iter().chain(EMULATED.iter().map(|emulated| &emulated.target)) {
        match compile(target) {
            Ok(()) => println!("   {target:32} compiles without a warning"),
            Err(error) => {
                println!("   {target:32} does not compile: {error:#}");
                failed.insert(*target);
            }
        }
    }
    let tally = Tally::default();
    for emulated in EMULATED {
        match emulated.missing() {
            Some(package) => println!("   {:32} is not run: apt-get install {package}", emulated.target),
            None => match emulated.test(&tally) {
                Ok(()) => println!("   {:32} passes the tests of the library", emulated.target),
                Err(error) => {
                    println!("   {:32} fails the tests of the library: {error:#}", emulated.target);
                    failed.insert(emulated.target);
                }
            },
        }
    }
    tally.print();
    if failed.is_empty() { Ok(()) } else { bail!("{} of these platforms failed", failed.len()) }
}

/// Runs the tests of the library on one platform of each kind, for CI.
pub(crate) fn test_some(tally: &Tally) -> Result<Outcome> {
    let chosen = || EMULATED.iter().filter(|emulated| emulated.in_ci);
    if let Some(missing) = cross::missing() {
        return lacking(missing);
    }
    let missing: Vec<&str> = chosen().filter_map(Emulated::missing).collect();
    if !missing.is_empty() {
        return lacking(format!("other platforms need Debian's packages: apt-get install {}", missing.join(" ")));
    }
    for emulated in chosen() {
        println!("   {}: tests of the library", emulated.target);
        emulated.test(tally).context(emulated.target)?;
    }
    Ok(Outcome::Passed)
}

/// Checks the library with the standard library; a warning is an error.
fn compile(target: &str) -> Result<()> {
    let deny = [("RUSTFLAGS", "--deny warnings")];
    let arguments = ["check", "--quiet", "--package", "clockscope", "--target", target, "-Zbuild-std=std,panic_abort"];
    run::output_with(&[cross::VARIABLES, &deny].concat(), "cargo", &arguments).map(|_| ())
}

impl Emulated {
    /// A Debian package that is missing.
    fn missing(&self) -> Option<&'static str> {
        [Some(self.linker), self.runner]
            .into_iter()
            .flatten()
            .find(|(program, _)| !run::exists(program))
            .map(|(_, it)| it)
    }

    /// Runs the tests of the library, order across threads among them.
    fn test(&self, tally: &Tally) -> Result<()> {
        if self.target.contains("windows") {
            complete_wine(self)?;
        }
        let prefix = format!("CARGO_TARGET_{}", self.target.to_uppercase().replace('-', "_"));
        let of_target = |name: &str| format!("{prefix}_{name}");
        let mut own = vec![(of_target("LINKER"), self.linker.0)];
        let runner = self.runner.map(|(program, _)| match self.script {
            Some(script) => format!("{program} {}", run::root().join(script).display()),
            None => program.to_owned(),
        });
        own.extend(runner.as_deref().map(|runner| (of_target("RUNNER"), runner)));
        own.extend(self.variables.iter().map(|(name, value)| match *name {
            FLAGS => (of_target(FLAGS), *value),
            name => (name.to_owned(), *value),
        }));
        let own = own.iter().map(|(name, value)| (name.as_str(), *value));
        let variables: Vec<(&str, &str)> = cross::VARIABLES.iter().copied().chain(own).collect();
        cross::test_library(self.target, self.tests, &variables, tally)
    }
}

/// Puts a library beside the test programs that Wine before version 9 lacks and Rust's standard
/// library needs.
fn complete_wine(windows: &Emulated) -> Result<()> {
    let folder = format!("{}/{}/debug/deps", cross::FOLDER, windows.target);
    std::fs::create_dir_all(&folder)?;
    let library = format!("{folder}/bcryptprimitives.dll");
    let arguments = ["-shared", "-O2", "-o", &library, "xtask/wine/bcryptprimitives.c", "-ladvapi32"];
    run::with(&[], windows.linker.0, &arguments)
}
