//! The figures that bench/README.md promises, measured on this machine. Ratios are taken within one
//! run, alternating.

mod across;
mod advice;
mod check;
mod compare;
pub(crate) mod fleet;
mod library;
mod paths;
pub(crate) mod recorded;
mod runtimes;
mod steps;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::Value;

use crate::{fuzz, run};

/// The task `bench`.
#[derive(Subcommand)]
pub(crate) enum Bench {
    /// Measures the command's costs beside C loops, quiet and beside a busy loop.
    Command,
    /// Measures order, offsets and rates across CPUs (2 minutes).
    Across,
    /// Measures CLOCK_MONOTONIC by the C library, the vDSO and system call (half a minute).
    Paths,
    /// Records 10^8 reads, and finds the ticks of 30,000 simulated clocks (5 minutes).
    Steps,
    /// Measures all language runtimes, and the C probe beside the instrument (4 minutes).
    Runtimes,
    /// Checks a healthy machine many times (half an hour).
    Check {
        #[arg(default_value_t = 100)]
        runs: u32,
    },
    /// Counts the alarms of `compare` for identical runs, quiet and beside load (half an hour).
    Compare {
        #[arg(default_value_t = 200)]
        pairs: u32,
    },
    /// Counts the pairs in which `compare` finds a clock slower by 5, 10 and 15 % (15 minutes).
    Slower {
        #[arg(default_value_t = 200)]
        pairs: u32,
    },
    /// Compares the errors that `advise` states with those of intervals in C (15 minutes).
    Advice {
        #[arg(default_value_t = 3)]
        rounds: u32,
    },
    /// Measures ingest and queries of clockscope-fleet, and their growth (an hour).
    Fleet {
        #[arg(default_value_t = 10_000)]
        hosts: u64,
        #[arg(default_value_t = 30)]
        days: u64,
    },
    /// Feeds every parser with a million inputs.
    Fuzz,
    /// Measures the library beside its peers, or parts of that (half an hour).
    Library {
        #[arg(value_name = "PART")]
        parts: Vec<String>,
    },
}

impl Bench {
    /// Runs the bench and records its figures if they are to be kept.
    pub(crate) fn run(self, is_recorded: bool) -> Result<()> {
        let (name, outcome) = match self {
            Self::Command => ("command", measure()),
            Self::Across => ("across", across::measure()),
            Self::Paths => ("paths", paths::measure()),
            Self::Steps => ("steps", steps::measure()),
            Self::Runtimes => ("runtimes", runtimes::measure()),
            Self::Check { runs } => ("check", check::measure(runs)),
            Self::Compare { pairs } => ("compare", compare::measure(pairs)),
            Self::Slower { pairs } => ("slower", compare::measure_slower(pairs)),
            Self::Advice { rounds } => ("advice", advice::measure(rounds)),
            Self::Fleet { hosts, days } => ("fleet", fleet::measure(hosts, days)),
            Self::Fuzz => ("fuzz", fuzz::bench()),
            Self::Library { parts } => ("library", library::measure(&parts)),
        };
        // Also figures that were measured before something failed.
        if is_recorded { recorded::write(name).and(outcome) } else { outcome }
    }
}

/// The programs, in the folder that cargo builds into.
const PROGRAM: &str = "release/clockscope";
/// The program of archives and packages.
const DIST_PROGRAM: &str = "dist/clockscope";
const LOOPS: &str = "bench-loops";
const PEAK: &str = "bench-peak";
/// CPU that everything is pinned to: the last that this process may use.
static CPU: LazyLock<String> =
    LazyLock::new(|| allowed_cpus().ok().and_then(|cpus| cpus.last().cloned()).unwrap_or_default());
/// Clocks that the kernel makes of CPU times: its work grows when the CPU is shared.
const BY_KERNEL: &[&str] = &["process", "thread", "clock", "times", "getrusage", "getrusage_thread"];
/// The other clocks that have a loop in C: the processor's counter, and what the vDSO serves.
const SERVED: &str = "tsc tsc_lfence rdtscp rdtscp_lfence tsc_cpuid realtime realtime_coarse tai monotonic \
                      monotonic_coarse monotonic_raw boottime gettimeofday time ftime timespec_get";
/// Alternating pairs of a comparison.
const PAIRS: usize = 5;
/// Pairs of the comparison with C when nothing else runs: the processor's frequency, which differs
/// between runs by more than what is allowed, is then the same in the median.
const PAIRS_BESIDE_C: usize = 15;

/// The CPUs that this process may use, ascending (taskset(1)).
fn allowed_cpus() -> Result<Vec<String>> {
    let said = run::output("sh", &["-c", "taskset --cpu-list --pid $$"])?;
    let list = said.rsplit(' ').next().unwrap_or_default().trim();
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let ends: [u32; 2] = [first.parse().ok()?, last.parse().ok()?];
        Some((ends[0]..=ends[1]).map(|cpu| cpu.to_string()).collect::<Vec<_>>())
    };
    let cpus: Option<Vec<_>> = list.split(',').map(range).collect();
    Ok(cpus.with_context(|| format!("taskset names no CPUs: {said}"))?.concat())
}

/// Measures and prints a line a figure.
fn measure() -> Result<()> {
    run::cargo(&["build", "--release", "--quiet", "--package", "clockscope-cli"])?;
    run::cargo(&["build", "--profile", "dist", "--quiet", "--package", "clockscope-cli"])?;
    compile("loops.c", LOOPS)?;
    compile("peak.c", PEAK)?;
    whole_run()?;
    binary()?;
    intervals()?;
    against_c("quiet", &SERVED.split(' ').chain(BY_KERNEL.iter().copied()).collect::<Vec<_>>(), false)?;
    against_c("beside a busy loop", BY_KERNEL, true)?;
    beside_busy_loop()?;
    profiles()
}

fn compile(source: &str, program: &str) -> Result<()> {
    // Where a loop of a few ns begins in a line of the cache changes its time by a tenth.
    let flags = ["-O2", "-falign-loops=64", "-Wno-deprecated-declarations", "-o"];
    run::with(&[], "cc", &[&flags[..], &[&run::built(program), &format!("bench/c/{source}")]].concat())
}

fn figure(what: &str, target: &str, measured: &str) {
    println!("{}", recorded::line(what, target, measured));
    recorded::note(what, target, measured);
}

/// Wall time and peak memory of measuring all clocks: medians of five.
fn whole_run() -> Result<()> {
    let (mut walls, mut peaks) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        let taken = run::document(&run::built(PEAK), &[&run::built(PROGRAM), "--format", "json"])?;
        walls.push(taken["wall_s"].as_f64().context("no wall time")?);
        peaks.push(taken["peak_mb"].as_f64().context("no peak")?);
    }
    figure("all clocks, wall", "<= 3.0 s", &format!("{:.2} s", median(&mut walls)));
    figure("all clocks, peak memory", "<= 24 MB", &format!("{:.1} MB", median(&mut peaks)));
    Ok(())
}

fn binary() -> Result<()> {
    for (profile, program, target) in [("dist", DIST_PROGRAM, "<= 8 MB"), ("release", PROGRAM, "-")] {
        let bytes = Path::new(&run::built(program)).metadata()?.len();
        figure(&format!("program with the profile {profile}"), target, &format!("{:.2} MB", bytes as f64 / 1e6));
    }
    Ok(())
}

/// The cost of every clock in a clone's program over that in an archive's.
fn profiles() -> Result<()> {
    for (name, mut ratios) in ratios(|| Ok([clocks(&[])?, clocks_by(DIST_PROGRAM, &[])?]))? {
        figure(&format!("release / dist: {name}"), "1 +- 0.01", &format!("{:.3}", median(&mut ratios)));
    }
    Ok(())
}

/// Returns how many times as much as in the second run each clock costs in the first, by pairs.
fn ratios(pair: impl Fn() -> Result<[Vec<Value>; 2]>) -> Result<BTreeMap<String, Vec<f64>>> {
    let mut ratios: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for _ in 0..PAIRS {
        let [first, second] = pair()?;
        for clock in second.iter().filter(|clock| clock["available"] == true) {
            let name = clock["name"].as_str().unwrap_or_default();
            let ratio = cost_of(&first, name)? / cost_of(&second, name)?;
            ratios.entry(name.to_owned()).or_default().push(ratio);
        }
    }
    Ok(ratios)
}

/// Half-widths of the confidence intervals of counters and clocks that the vDSO serves.
fn intervals() -> Result<()> {
    let clocks = clocks(&[])?;
    let served = clocks.iter().filter(|clock| {
        let name = clock["name"].as_str().unwrap_or_default();
        clock["available"] == true && !BY_KERNEL.contains(&name)
    });
    let half_width = |clock: &Value| {
        let ends = &clock["cost_ns"]["between_runs"]["interval95"];
        Some((ends[1].as_f64()? - ends[0].as_f64()?) / 2.0 / clock["cost_ns"]["median"].as_f64()?)
    };
    let widths = served.filter_map(|clock| Some((half_width(clock)?, clock["name"].to_string())));
    let (width, name) = widths.max_by(|a, b| a.0.total_cmp(&b.0)).context("no clock was measured")?;
    figure(
        "quiet: widest half-width of counters and vDSO clocks",
        "<= 1 %",
        &format!("{:.2} % ({name})", width * 100.0),
    );
    Ok(())
}

/// Costs beside those of plain C loops.
fn against_c(when: &str, names: &[&str], busy: bool) -> Result<()> {
    let mut ratios = vec![Vec::new(); names.len()];
    let _busy = BusyLoops::start(usize::from(busy), Some(&CPU))?;
    for _ in 0..if busy { PAIRS } else { PAIRS_BESIDE_C } {
        let ours = clocks(&[names, &["--duration", "1s"]].concat())?;
        let theirs = run::document(&run::built(LOOPS), &[&CPU, "1"])?;
        for (name, ratios) in names.iter().zip(&mut ratios) {
            let c_ns = theirs[name].as_f64().context("no cost from C")?;
            ratios.push(cost_of(&ours, name)? / c_ns);
        }
    }
    for (name, ratios) in names.iter().zip(&mut ratios) {
        let target = if busy { "1 +- 0.10" } else { "1 +- 0.03" };
        figure(&format!("{when}: {name}, clockscope / C loop"), target, &format!("{:.3}", median(ratios)));
    }
    Ok(())
}

/// Every clock beside a busy loop on the same CPU, against its quiet cost.
fn beside_busy_loop() -> Result<()> {
    let ratios = ratios(|| {
        let quiet = clocks(&[])?;
        let _busy = BusyLoops::start(1, Some(&CPU))?;
        Ok([clocks(&[])?, quiet])
    })?;
    for (name, mut ratios) in ratios {
        let target = if BY_KERNEL.contains(&name.as_str()) { "-" } else { "1 +- 0.10" };
        let worst =
            ratios.iter().copied().max_by(|a, b| (a - 1.0).abs().total_cmp(&(b - 1.0).abs())).unwrap_or(f64::NAN);
        figure(
            &format!("busy / quiet: {name}"),
            target,
            &format!("{:.3} (worst pair {worst:.3})", median(&mut ratios)),
        );
    }
    Ok(())
}

/// The clocks of a run of the instrument on the CPU of the comparison.
fn clocks(arguments: &[&str]) -> Result<Vec<Value>> {
    clocks_by(PROGRAM, arguments)
}

/// Returns the clocks of a run of a program, which is in the folder that cargo builds into.
fn clocks_by(program: &str, arguments: &[&str]) -> Result<Vec<Value>> {
    let arguments = [&["measure", "--cpu", &CPU, "--format", "json"], arguments].concat();
    let measurement = run::document(&run::built(program), &arguments)?;
    Ok(measurement["clocks"].as_array().cloned().unwrap_or_default())
}

fn cost_of(clocks: &[Value], name: &str) -> Result<f64> {
    let clock = clocks.iter().find(|clock| clock["name"] == name);
    clock.and_then(|clock| clock["cost_ns"]["median"].as_f64()).with_context(|| format!("{name} has no cost"))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Values that a program or a test measured, by name.
type Values = Vec<(String, f64)>;

fn value(values: &[(String, f64)], name: &str) -> Result<f64> {
    let found = values.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| *value).with_context(|| format!("no value for {name}"))
}

/// The lines `figure NAME VALUE` that a test printed among others.
fn printed_figures(output: &str) -> Result<Values> {
    let figures = output.lines().filter_map(|line| line.strip_prefix("figure "));
    let figures = figures.map(|line| {
        let (name, value) = line.split_once(' ').context("a figure without a value")?;
        Ok((name.to_owned(), value.parse().with_context(|| format!("the figure {name} is \"{value}\""))?))
    });
    let found: Values = figures.collect::<Result<_>>()?;
    if found.is_empty() { bail!("the test printed no figure") } else { Ok(found) }
}

/// Busy loops on one CPU, or on none in particular, until they are dropped.
struct BusyLoops(Vec<Child>);

impl BusyLoops {
    fn start(count: usize, cpu: Option<&str>) -> Result<Self> {
        let mut loops = Self(Vec::new());
        for _ in 0..count {
            let mut command = match cpu {
                Some(cpu) => {
                    let mut command = Command::new("taskset");
                    command.args(["--cpu-list", cpu, "sh"]);
                    command
                }
                None => Command::new("sh"),
            };
            // They end with this program, also where that is killed.
            command.args(["-c", "while kill -0 $PPID; do :; done"]).stdout(Stdio::null()).stderr(Stdio::null());
            loops.0.push(command.spawn().context("cannot start a busy loop: apt-get install util-linux")?);
        }
        Ok(loops)
    }
}

impl Drop for BusyLoops {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended by itself; either way it is gone afterwards.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_among_other_lines() {
        let said =
            "running 1 test\ntest order ... \nfigure regressions 0\nfigure slowest_s 0.0123\nfigures of speech\nok\n";
        let found = printed_figures(said).unwrap();
        assert_eq!((value(&found, "regressions").unwrap(), value(&found, "slowest_s").unwrap()), (0.0, 0.0123));
        assert!(value(&found, "readings").is_err() && found.len() == 2);
        for wrong in ["", "ok\n", "figure alone\n", "figure wrong many\n"] {
            assert!(printed_figures(wrong).is_err(), "{wrong}");
        }
    }
}
