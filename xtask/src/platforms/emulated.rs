//! Tests of the library on an emulated processor, system or host.

use anyhow::{Context, Result, ensure};

use super::compiler;
use crate::cross;
use crate::needs::{self, Missing};
use crate::run;
use crate::tally::Tally;

/// Tests of one target in one place.
#[derive(Clone, Copy)]
pub(super) struct Emulated {
    /// Place in which they run, for people: `under qemu-user`.
    pub(super) location: &'static str,
    /// Command that runs a program of the target; nothing where this machine does. A word with a
    /// slash is a file of this repository.
    pub(super) runner: &'static [&'static str],
    pub(super) linker: &'static str,
    /// Packages of linker and runner.
    pub(super) needs: &'static str,
    /// Cargo's arguments for the tests.
    pub(super) tests: &'static [&'static str],
    /// The compiler's flags.
    pub(super) flags: &'static str,
    /// More variables of the environment.
    pub(super) variables: &'static [(&'static str, &'static str)],
    /// True if the library has to cost no more than std's clock there, which it serves.
    pub(super) serves_the_systems_clock: bool,
    /// True if `cargo xtask release-check` runs them.
    pub(super) in_release_check: bool,
}

/// The emulator needs no libraries of the target then.
const STATIC: &str = "-C target-feature=+crt-static";

const LINUX: Emulated = Emulated {
    location: "under qemu-user",
    runner: &[],
    linker: "",
    needs: "",
    tests: cross::LIBRARY,
    flags: STATIC,
    variables: &[],
    serves_the_systems_clock: false,
    in_release_check: false,
};

/// A Linux that qemu-user emulates: the end of the emulator's name, and the beginning of the
/// linker's.
macro_rules! qemu {
    ($emulator:literal, $triple:literal) => {
        Emulated {
            runner: &[concat!("qemu-", $emulator)],
            linker: concat!($triple, "-gcc"),
            needs: concat!("qemu-", $emulator, " ", $triple, "-gcc /usr/", $triple, "/lib/crt1.o"),
            ..LINUX
        }
    };
}

pub(super) const I686: Emulated = Emulated {
    location: "on this machine's processor",
    linker: "i686-linux-gnu-gcc",
    needs: "i686-linux-gnu-gcc /usr/i686-linux-gnu/lib/crt1.o",
    ..LINUX
};
pub(super) const S390X: Emulated = qemu!("s390x", "s390x-linux-gnu");
pub(super) const AARCH64: Emulated = qemu!("aarch64", "aarch64-linux-gnu");
pub(super) const ARMV7: Emulated = qemu!("arm", "arm-linux-gnueabihf");
pub(super) const RISCV64: Emulated = qemu!("riscv64", "riscv64-linux-gnu");
pub(super) const POWERPC64LE: Emulated = qemu!("ppc64le", "powerpc64le-linux-gnu");

pub(super) const WINDOWS: Emulated = Emulated {
    location: "under Wine",
    runner: &["wine"],
    linker: MINGW,
    needs: "wine x86_64-w64-mingw32-gcc",
    tests: OF_WINDOWS,
    flags: "",
    variables: &[("WINEDEBUG", "-all")],
    serves_the_systems_clock: true,
    in_release_check: true,
};

/// The library's tests, and those of what the instrument has for Windows alone: its clocks, facts
/// of the machine, the timer's period, and programs in jobs.
const OF_WINDOWS: &[&str] = &[
    "-p",
    "clockscope-core",
    "-p",
    "clockscope",
    "-p",
    "clockscope-system",
    "-p",
    "clockscope-runtimes",
    "--lib",
    "--test",
    "platform",
];

pub(super) const MINGW: &str = "x86_64-w64-mingw32-gcc";

/// Library that Rust's standard library needs and Wine before version 9 lacks.
pub(crate) const ADDED_LIBRARY: &str = "bcryptprimitives.dll";

/// A reading of the library may cost so many times as much as one of the system's clock, where that
/// is what it serves.
const MOST: f64 = 1.15;

/// Other programs may spoil a comparison of costs, and none makes the library cheaper.
const TRIES: usize = 3;

impl Emulated {
    /// Requirements that have to be installed.
    pub(super) fn missing(&self) -> Option<Missing> {
        needs::missing_of(self.needs)
    }

    /// Runs the tests.
    pub(super) fn test(&self, target: &str, tally: &mut Tally) -> Result<()> {
        self.complete(&format!("{}/{target}/debug/deps", compiler::FOLDER))?;
        let own = self.variables(target);
        let variables: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        cross::test_library(target, self.tests, &variables, tally)
    }

    /// Returns how many times as much as std's clock the library's costs.
    pub(super) fn cost_beside_std(&self, target: &str) -> Result<f64> {
        self.complete(&format!("{}/{target}/release/examples", compiler::FOLDER))?;
        let own = self.variables(target);
        let variables: Vec<(&str, &str)> = own.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let example = ["run", "--quiet", "--release", "--package", "clockscope", "--example", "beside_std"];
        let arguments = [&example[..], &["--target", target, "-Zbuild-std=std,panic_abort"]].concat();
        let mut least = f64::INFINITY;
        for _ in 0..TRIES {
            let printed = run::output_with(&variables, "cargo", &arguments)?;
            least = least.min(printed.trim().parse().with_context(|| format!("{printed:?} is not a number"))?);
            if least <= MOST {
                return Ok(least);
            }
        }
        ensure!(least <= MOST, "now() costs {least} times as much as std's clock: expected {MOST} at most");
        Ok(least)
    }

    /// The environment of cargo.
    pub(super) fn variables(&self, target: &str) -> Vec<(String, String)> {
        let prefix = format!("CARGO_TARGET_{}", target.to_uppercase().replace('-', "_"));
        let runner: Vec<String> = self.runner.iter().map(|word| filled(word)).collect();
        let of_target =
            [("LINKER", self.linker.to_owned()), ("RUNNER", runner.join(" ")), ("RUSTFLAGS", self.flags.to_owned())];
        let of_target = of_target.into_iter().filter(|(_, value)| !value.is_empty());
        let of_all = compiler::VARIABLES.iter().chain(self.variables);
        let of_all = of_all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        of_all.chain(of_target.map(|(name, value)| (format!("{prefix}_{name}"), value))).collect()
    }

    /// Puts [`ADDED_LIBRARY`] beside programs for Windows.
    pub(super) fn complete(&self, folder: &str) -> Result<()> {
        if self.linker != MINGW {
            return Ok(());
        }
        std::fs::create_dir_all(folder)?;
        let library = format!("{folder}/{ADDED_LIBRARY}");
        let arguments = ["-shared", "-O2", "-o", &library, "xtask/wine/bcryptprimitives.c", "-ladvapi32"];
        run::with(&[], MINGW, &arguments)
    }
}

/// A word of a command, with files of this repository by their whole path.
fn filled(word: &str) -> String {
    if word.contains('/') { run::root().join(word).display().to_string() } else { word.to_owned() }
}
