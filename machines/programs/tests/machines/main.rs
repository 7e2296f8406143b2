//! Emulated machines: every clocksource, and clocks that change during the run, on machines that a
//! test may break.
//!
//! Each boots Debian's kernel under qemu with nothing but busybox, the instrument and the programs
//! of this package, and runs a script of machines/, whose commands stand there as a user would type
//! them. What they must report is in `checks`, `changes` and `clocksource`. `cargo xtask machines`
//! packs the initial file systems and runs these tests.

#![allow(clippy::print_stdout, reason = "a test prints what its machine showed")]

mod boot;
mod changes;
mod checks;
mod clocksource;
mod frames;
mod machine;
mod seen;

use std::fs;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use anyhow::Result;

use frames::Frames;
use machine::{Architecture, Machine};
use seen::Seen;

/// The variable that names the folder of kernels, initial file systems and consoles.
const IMAGES: &str = "CLOCKSCOPE_IMAGES";

/// Several times what the slowest of the usual machines needs on a busy computer.
const LIMIT: Duration = Duration::from_secs(90);

/// The usual machine: a PC with one CPU whose kernel builds its clocks on the TSC, and believes
/// that it is sound although the processor does not promise it.
const PC: Machine = Machine {
    name: "",
    architecture: Architecture::X86,
    cpus: 1,
    processor: None,
    twice: false,
    options: &[],
    kernel: "clocksource=tsc tsc=reliable",
    clocksource: "tsc",
    verdict: "limited",
    because: &["invariance", "kernel_verdict"],
    check: |_| (),
    limit: LIMIT,
};

/// Two CPUs, whose counters the kernel compares by itself and rejects.
const PAIR: Machine =
    Machine { cpus: 2, kernel: "", clocksource: "hpet", verdict: "unfit", because: &["kernel_verdict"], ..PC };

/// Arm's board `virt`, whose counter is the architecture's.
const ARM: Machine = Machine {
    architecture: Architecture::Arm,
    kernel: "",
    clocksource: "arch_sys_counter",
    verdict: "trusted",
    because: &[],
    ..PC
};

/// Each instruction takes a nanosecond, the calendar starts at a fixed date, and the board is of a
/// version that hands no random seed to the kernel.
const DETERMINISTIC: &[&str] =
    &["-machine", "pc-i440fx-7.1", "-icount", "shift=0,sleep=off", "-rtc", "base=2026-01-01,clock=vm"];

/// Nothing is placed at random addresses.
const REPEATABLE: &str = "clocksource=tsc tsc=reliable nokaslr norandmaps";

/// Held by machines of one CPU together, and by one of several alone.
static CPUS: RwLock<()> = RwLock::new(());

impl Machine {
    /// Boots it and fails with everything that is wrong there.
    fn check(&self) {
        let start = Instant::now();
        let (found, mut wrong) = match self.boots() {
            Err(error) => (String::new(), vec![format!("{error:#}")]),
            Ok(frames) => self.judged(frames),
        };
        let (name, seconds) = (self.name, start.elapsed().as_secs_f64());
        if wrong.is_empty() {
            println!("   {name:<10} {found}  {seconds:.1} s");
        } else {
            wrong.push(format!("its console is kept in {}", self.console().display()));
            panic!("{name}:\n  {}", wrong.join("\n  "));
        }
    }

    /// Returns its output; of both boots, where there are two.
    fn boots(&self) -> Result<Frames> {
        let _together = (self.cpus == 1).then(|| CPUS.read().unwrap_or_else(PoisonError::into_inner));
        let _alone = (self.cpus > 1).then(|| CPUS.write().unwrap_or_else(PoisonError::into_inner));
        let mut frames = boot::boot(self)?;
        if self.twice {
            let again = boot::boot(self)?;
            frames.extend(again.into_iter().map(|(name, frame)| (format!("again_{name}"), frame)));
        }
        Ok(frames)
    }

    /// Returns findings, and what is wrong.
    fn judged(&self, frames: Frames) -> (String, Vec<String>) {
        let mut seen = Seen::new(frames);
        checks::common(self, &mut seen);
        (self.check)(&mut seen);
        seen.end()
    }
}

/// The folder of kernels, initial file systems and consoles.
fn images() -> PathBuf {
    PathBuf::from(std::env::var_os(IMAGES).expect("machines are booted by `cargo xtask machines`"))
}

/// Defines a test for each machine, which boots it and checks what it shows.
macro_rules! tests {
    ($($name:ident: $machine:expr;)*) => {$(
        #[test]
        #[ignore = "an emulated machine"]
        fn $name() {
            $machine.check();
        }
    )*};
}

/// The machines. Verdicts were fixed before `check` ran in any of them.
mod booted {
    use super::*;

    /// The kernel was booted to use another clocksource than the TSC.
    const OTHER: Machine = Machine { because: &["invariance", "clocksource", "kernel_verdict"], ..PC };
    const HOUR: Duration = Duration::from_secs(3600);

    tests! {
        tsc: Machine { name: "tsc", check: checks::tsc, ..PC };
        hpet: Machine { name: "hpet", kernel: "clocksource=hpet", clocksource: "hpet", check: checks::hpet, ..OTHER };
        acpi_pm: Machine {
            name: "acpi_pm",
            kernel: "clocksource=acpi_pm",
            clocksource: "acpi_pm",
            check: checks::acpi_pm,
            ..OTHER
        };
        jiffies: Machine {
            name: "jiffies",
            kernel: "clocksource=jiffies",
            clocksource: "jiffies",
            check: checks::jiffies,
            ..OTHER
        };
        no_rdtscp: Machine { name: "no-rdtscp", processor: Some("qemu64"), check: changes::no_rdtscp, ..PC };
        step: Machine { name: "step", check: changes::step, ..PC };
        slew: Machine { name: "slew", check: changes::slew, ..PC };
        daemons: Machine { name: "daemons", check: changes::daemons, ..PC };
        bounds: Machine { name: "bounds", check: changes::bounds, ..PC };
        wall: Machine { name: "wall", check: changes::wall, ..PC };
        suspend: Machine { name: "suspend", check: changes::suspend, ..PC };
        switch: Machine { name: "switch", check: changes::switch, ..PC };
        clocksource: Machine { name: "clocksource", check: clocksource::clocksource, ..PC };
        icount: Machine {
            name: "icount",
            twice: true,
            options: DETERMINISTIC,
            kernel: REPEATABLE,
            check: changes::icount,
            ..PC
        };
        arm64: Machine { name: "arm64", check: checks::arm64, ..ARM };
        census: Machine { name: "census", cpus: 2, limit: Duration::from_secs(300), ..ARM };
        monotone: Machine { name: "monotone", cpus: 2, check: changes::monotone, limit: HOUR, ..PC };
        smp: Machine { name: "smp", check: changes::smp, ..PAIR };
        offline: Machine { name: "offline", check: changes::offline, ..PAIR };
    }

    /// One program that was built elsewhere; the outputs of its commands are written to a file.
    #[test]
    #[ignore = "an emulated machine"]
    fn installed() {
        let machine = match std::env::var("CLOCKSCOPE_ARCHITECTURE").as_deref() {
            Ok("arm64") => Machine { name: "installed", ..ARM },
            _ => Machine { name: "installed", ..PC },
        };
        let frames = machine.boots().unwrap();
        fs::write(images().join("frames.json"), serde_json::to_string(&frames).unwrap()).unwrap();
    }
}
