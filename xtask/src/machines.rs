//! Emulated machines: every clocksource, and clocks that change during the run, on machines that a
//! test may break.
//!
//! Each boots Debian's kernel under qemu with nothing but busybox, the instrument and the library's
//! example `watch`, and runs a script of machines/, whose commands stand there as a user would type
//! them. What they must say is in `checks`.

mod boot;
mod build;
mod changes;
mod checks;
mod clocksource;
mod frames;
mod machine;
mod seen;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::plan::NotInstalled;
use crate::{cross, needs, run};
use boot::Images;
use build::Programs;
pub(crate) use frames::Frames;
use machine::{Architecture, Machine};
use seen::Seen;

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

/// The kernel was booted to use another clocksource, or found the counter bad.
const OTHER_CLOCKSOURCE_CHECKS: &[&str] = &["invariance", "clocksource", "kernel_verdict"];
const REJECTED: &[&str] = &["kernel_verdict"];

/// Two CPUs, whose counters the kernel compares by itself and rejects.
const PAIR: Machine = Machine { cpus: 2, kernel: "", clocksource: "hpet", verdict: "unfit", because: REJECTED, ..PC };

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

/// All machines. Verdicts were fixed before `check` ran in any of them.
const MACHINES: &[Machine] = &[
    Machine { name: "tsc", check: checks::tsc, ..PC },
    Machine {
        name: "hpet",
        kernel: "clocksource=hpet",
        clocksource: "hpet",
        because: OTHER_CLOCKSOURCE_CHECKS,
        check: checks::hpet,
        ..PC
    },
    Machine {
        name: "acpi_pm",
        kernel: "clocksource=acpi_pm",
        clocksource: "acpi_pm",
        because: OTHER_CLOCKSOURCE_CHECKS,
        check: checks::acpi_pm,
        ..PC
    },
    Machine {
        name: "jiffies",
        kernel: "clocksource=jiffies",
        clocksource: "jiffies",
        because: OTHER_CLOCKSOURCE_CHECKS,
        check: checks::jiffies,
        ..PC
    },
    Machine { name: "no-rdtscp", processor: Some("qemu64"), check: changes::no_rdtscp, ..PC },
    Machine { name: "step", check: changes::step, ..PC },
    Machine { name: "slew", check: changes::slew, ..PC },
    Machine { name: "daemons", check: changes::daemons, ..PC },
    Machine { name: "civil", check: changes::civil, ..PC },
    Machine { name: "wall", check: changes::wall, ..PC },
    Machine { name: "suspend", check: changes::suspend, ..PC },
    Machine { name: "switch", check: changes::switch, ..PC },
    Machine { name: "clocksource", check: clocksource::clocksource, ..PC },
    Machine { name: "icount", twice: true, options: DETERMINISTIC, kernel: REPEATABLE, check: changes::icount, ..PC },
    Machine { name: "arm64", check: checks::arm64, ..ARM },
    Machine { name: "census", cpus: 2, limit: Duration::from_secs(300), ..ARM },
    Machine { name: "monotone", cpus: 2, check: changes::monotone, limit: Duration::from_secs(3600), ..PC },
    Machine { name: "smp", check: changes::smp, ..PAIR },
    Machine { name: "offline", check: changes::offline, ..PAIR },
];

/// Machines for one program that was built elsewhere; both run the script `installed`.
const INSTALLED: [Machine; 2] = [Machine { name: "installed", ..PC }, Machine { name: "installed", ..ARM }];

/// Number of machines of one CPU that run at once.
const AT_ONCE: usize = 2;

/// Boots the usual machines for x86-64.
pub(crate) fn check() -> Result<()> {
    run_all(&usual(Architecture::X86).collect::<Vec<_>>())
}

/// Boots the usual machines for arm64.
pub(crate) fn check_arm() -> Result<()> {
    run_all(&usual(Architecture::Arm).collect::<Vec<_>>())
}

/// Boots the machines of these names, or the usual ones for x86-64, and checks what the instrument
/// and the library report there.
pub(crate) fn measure(names: &[String]) -> Result<()> {
    run_all(&chosen(&names.iter().map(String::as_str).collect::<Vec<_>>())?)
}

/// Builds the programs, boots these machines, and checks what is reported there.
fn run_all(machines: &[&Machine]) -> Result<()> {
    let start = Instant::now();
    let images = prepare(machines)?;
    let prepared = start.elapsed().as_secs_f64();
    let failures = boot_all(machines, &images);
    let booted = start.elapsed().as_secs_f64() - prepared;
    println!("   {} machines in {booted:.0} s, after {prepared:.0} s of building", machines.len());
    if failures.is_empty() { Ok(()) } else { bail!("machines are not as expected:\n{}", failures.join("\n")) }
}

/// Boots a machine that holds busybox and this program, as `clockscope`, and runs the script
/// `installed` there. Returns the outputs of its commands. The initial file system and the console
/// are kept in `folder`.
pub(crate) fn run_installed(architecture: &str, program: &Path, folder: &Path) -> Result<Frames> {
    let machine = INSTALLED.iter().find(|machine| machine.architecture.name() == architecture);
    let machine =
        machine.with_context(|| format!("there is no machine for {architecture}: expected amd64 or arm64"))?;
    let images = Images::of_program(&self::folder(), folder, machine.architecture, program)?;
    boot::boot(machine, &images)
}

/// Fails if something is missing to run a program by [`run_installed`].
pub(crate) fn require_to_install(architecture: &str) -> Result<()> {
    let machines = INSTALLED.iter().filter(|machine| machine.architecture.name() == architecture);
    require_to_boot(&architectures(machines))
}

/// Returns the machines of these names, or the usual ones for x86-64 if none is named.
fn chosen(names: &[&str]) -> Result<Vec<&'static Machine>> {
    if let Some(unknown) = names.iter().find(|name| !MACHINES.iter().any(|machine| machine.name == **name)) {
        let all: Vec<&str> = MACHINES.iter().map(|machine| machine.name).collect();
        bail!("there is no machine {unknown}; there are {}", all.join(", "));
    }
    if names.is_empty() {
        return Ok(usual(Architecture::X86).collect());
    }
    Ok(MACHINES.iter().filter(|machine| names.contains(&machine.name)).collect())
}

/// The machines of an architecture, without those that take long.
fn usual(architecture: Architecture) -> impl Iterator<Item = &'static Machine> {
    MACHINES.iter().filter(move |machine| machine.architecture == architecture && machine.limit <= LIMIT)
}

/// Builds the programs, and packs them with what was fetched.
fn prepare(machines: &[&Machine]) -> Result<Images> {
    let architectures = architectures(machines.iter().copied());
    require(&architectures)?;
    let programs: Vec<Programs> = architectures.into_iter().map(Programs::build).collect::<Result<_>>()?;
    Images::pack(&folder(), &programs)
}

/// Boots them, those of one CPU two at a time and the others alone; gives what is wrong.
fn boot_all(machines: &[&Machine], images: &Images) -> Vec<String> {
    let (single, several): (Vec<&Machine>, Vec<&Machine>) = machines.iter().partition(|machine| machine.cpus == 1);
    let mut failures = boot_some(&single, images, AT_ONCE);
    failures.extend(boot_some(&several, images, 1));
    failures
}

/// Boots them, so many at a time.
fn boot_some(machines: &[&Machine], images: &Images, at_once: usize) -> Vec<String> {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(machine) = machines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let wrong = boot_one(machine, images);
                    failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).extend(wrong);
                }
            });
        }
    });
    failures.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Boots one, prints its line, and gives what is wrong with it.
fn boot_one(machine: &Machine, images: &Images) -> Option<String> {
    let (name, start) = (machine.name, Instant::now());
    let (found, wrong) = match boots(machine, images) {
        Err(error) => (String::new(), vec![format!("{error:#}")]),
        Ok(frames) => judged(machine, frames, images),
    };
    let seconds = start.elapsed().as_secs_f64();
    let line = if wrong.is_empty() { &found } else { "FAILED" };
    println!("   {name:<10} {line}  {seconds:.1} s");
    (!wrong.is_empty()).then(|| format!("  {name}: {}", wrong.join(&format!("\n  {name}: "))))
}

/// Output of a machine; of both boots, where there are two.
fn boots(machine: &Machine, images: &Images) -> Result<Frames> {
    let mut frames = boot::boot(machine, images)?;
    if machine.twice {
        let again = boot::boot(machine, images)?;
        frames.extend(again.into_iter().map(|(name, frame)| (format!("again_{name}"), frame)));
    }
    Ok(frames)
}

/// Findings of a machine, and what is wrong with it.
fn judged(machine: &Machine, frames: Frames, images: &Images) -> (String, Vec<String>) {
    let mut seen = Seen::new(frames);
    checks::common(machine, &mut seen);
    (machine.check)(&mut seen);
    let (found, mut wrong) = seen.end();
    if !wrong.is_empty() {
        wrong.push(format!("its console is kept in {}", images.console(machine).display()));
    }
    (found, wrong)
}

/// Fails if something is missing to build the programs and to boot.
fn require(architectures: &[Architecture]) -> Result<()> {
    if architectures.contains(&Architecture::Arm) {
        cross::require()?;
    }
    require_to_boot(architectures)
}

/// Fails if something is missing to boot.
fn require_to_boot(architectures: &[Architecture]) -> Result<()> {
    for architecture in architectures {
        needs::require("emulated machines", &architecture.needs())?;
        if !folder().join(architecture.name()).join("kernel").exists() {
            let (folder, name) = (folder(), architecture.name());
            bail!(NotInstalled(format!("emulated machines need machines/fetch.sh {} {name}", folder.display())));
        }
    }
    Ok(())
}

/// The architectures of some machines, each once.
fn architectures<'a>(machines: impl Iterator<Item = &'a Machine>) -> Vec<Architecture> {
    let used: Vec<Architecture> = machines.map(|machine| machine.architecture).collect();
    [Architecture::X86, Architecture::Arm].into_iter().filter(|architecture| used.contains(architecture)).collect()
}

/// Folder to which kernels are fetched, and in which consoles are kept.
fn folder() -> PathBuf {
    PathBuf::from(run::built("machines"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_has_its_script_and_a_name_of_its_own() {
        let folder = run::root().join("machines");
        for (at, machine) in MACHINES.iter().enumerate() {
            assert!(folder.join(format!("{}.sh", machine.name)).exists(), "{}", machine.name);
            assert!(MACHINES[..at].iter().all(|other| other.name != machine.name), "{}", machine.name);
        }
    }

    #[test]
    fn machines_are_chosen_by_name() {
        let usual = chosen(&[]).unwrap();
        assert_eq!(usual.len(), MACHINES.len() - 3);
        let named = ["arm64", "census", "monotone"];
        assert!(usual.iter().all(|machine| !named.contains(&machine.name)), "they take long");
        let arm: Vec<&str> = super::usual(Architecture::Arm).map(|machine| machine.name).collect();
        assert_eq!(arm, ["arm64"]);
        assert_eq!(chosen(&["monotone"]).unwrap().len(), 1);
        let names: Vec<&str> = chosen(&["hpet", "tsc"]).unwrap().iter().map(|machine| machine.name).collect();
        assert_eq!(names, ["tsc", "hpet"]);
        let error = chosen(&["sundial"]).err().unwrap().to_string();
        assert!(error.starts_with("there is no machine sundial; there are tsc, hpet"), "{error}");
    }
}
