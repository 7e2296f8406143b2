//! The library's figures, beside its peers': bench/peers has the programs.

mod languages;
mod programs;

use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use super::{BusyLoops, Values, figure, median, printed_figures, value};
use crate::run;
use programs::{folder, pinned, program, values};

/// A part of the bench by its name.
type Part = (&'static str, fn() -> Result<()>);

/// Fresh processes that are started, and how many at a time: they sleep most of the time.
const PROCESSES: usize = 1000;
const AT_A_TIME: usize = 4;
/// Busy loops beside them, on two CPUs.
const BUSY: usize = 4;
/// Seconds over which the error is watched.
const DURATION_S: &str = "60";

/// Parts that can be measured by themselves.
const PARTS: &[Part] = &[
    ("costs", costs),
    ("light", light_callers),
    ("rare", rare_callers),
    ("slew", slew),
    ("bursts", || bursts("quiet", 0)),
    ("bursts-busy", || bursts("4 busy loops", BUSY)),
    ("os-clock", os_clock),
    ("first", first_readings),
    ("idle", after_a_pause),
    ("children", children),
    ("hammer", hammer),
    ("order", order),
    ("fresh", || fresh_processes("quiet", 0)),
    ("fresh-busy", || fresh_processes("4 busy loops", BUSY)),
    ("watch", || watch("quiet", 0, "<= 100 ns")),
    ("watch-busy", || watch("4 busy loops", BUSY, "<= 1000 ns")),
    ("wall", || wall("quiet", 0)),
    ("wall-busy", || wall("4 busy loops", BUSY)),
    ("monotone", monotone),
    ("languages", languages::measure),
    ("stamps", || stamps("1 s", &["1", "100"]).and_then(|()| stamps("60 s", &["60", "1000"]))),
    ("stamps-long", || stamps("10 min", &["600", "1000"])),
];

/// Measures the parts that are named, or all of them in half an hour, and prints a line a figure.
pub(crate) fn measure(names: &[String]) -> Result<()> {
    if let Some(unknown) = names.iter().find(|name| !PARTS.iter().any(|(known, _)| known == name)) {
        let known: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        bail!("there is no part {unknown}; there are {}", known.join(", "));
    }
    run::with(
        &[("CARGO_TARGET_DIR", &folder())],
        "cargo",
        &["build", "--release", "--quiet", "--manifest-path", "bench/peers/Cargo.toml"],
    )?;
    PARTS
        .iter()
        .filter(|(name, _)| names.is_empty() || names.iter().any(|chosen| chosen == name))
        .try_for_each(|(_, measure)| measure())
}

/// The time of day beside CLOCK_REALTIME itself.
fn wall(when: &str, busy: usize) -> Result<()> {
    let _busy = BusyLoops::start(busy, None)?;
    let seen = values(&run::output(&program("wall"), &[DURATION_S])?)?;
    let of = |name: &str| value(&seen, name);
    figure(
        &format!("{when}: |wall::now - CLOCK_REALTIME| in {DURATION_S} s"),
        "<= 200 ns",
        &format!("{:.0} ns in {:.0} comparisons, bound {:.0} ns", of("error")?, of("comparisons")?, of("bound")?),
    );
    figure(&format!("{when}: comparisons outside the bound"), "0", &format!("{:.0}", of("exceeded")?));
    Ok(())
}

/// Readings by two threads that hand each other the largest.
fn monotone() -> Result<()> {
    let seen = values(&run::output(&program("monotone"), &["1000"])?)?;
    let measured = format!("{:.0} in {:.0} million", value(&seen, "regressions")?, value(&seen, "readings")? / 1e6);
    figure("regressions of wall::now_monotone by two threads", "0", &measured);
    Ok(())
}

/// Ratios of costs, each of one interleaved run: the median of ten runs, and the largest.
fn costs() -> Result<()> {
    const RUNS: usize = 10;
    let runs: Vec<Values> = (0..RUNS).map(|_| pinned("cost", &[])).collect::<Result<_>>()?;
    let of = |name: &str| runs.iter().map(|costs| value(costs, name)).collect::<Result<Vec<f64>>>();
    for (name, _) in &runs[0] {
        figure(&format!("cost of {name}"), "-", &format!("{:.2} ns", median(&mut of(name)?)));
    }
    for (what, target, ours, theirs) in [
        ("now_unordered / rdtsc", "<= 1.03, 1.05", "now_unordered", "rdtsc"),
        ("now_unordered / converted rdtsc", "<= 1.03", "now_unordered", "converted_rdtsc"),
        ("quanta / converted rdtsc", "-", "quanta", "converted_rdtsc"),
        ("serialized now_unordered / rdtsc", "<= 1.20", "serialized_now_unordered", "serialized_rdtsc"),
        (
            "serialized now_unordered / converted rdtsc",
            "<= 1.05",
            "serialized_now_unordered",
            "serialized_converted_rdtsc",
        ),
        ("now / rdtscp", "<= 1.12 each", "now", "rdtscp"),
        ("now / std", "< 1", "now", "std"),
        ("wall::now / now", "<= 1.15", "wall_now", "now"),
        ("wall::now / SystemTime", "< 1", "wall_now", "system_time"),
        ("wall::now_unordered / SystemTime", "< 1", "wall_now_unordered", "system_time"),
        ("boot::now / now", "<= 1.05", "boot_now", "now"),
        ("bounded::now / now", "<= 1.30", "bounded_now", "now"),
        ("two now_unordered and a Duration / rdtsc", "<= 2.05", "duration_now_unordered", "rdtsc"),
        ("two now and a Duration / now", "<= 2.10", "duration_now", "now"),
        (
            "two now_unordered and a Duration / two converted rdtsc and a Duration",
            "-",
            "duration_now_unordered",
            "duration_converted_rdtsc",
        ),
    ] {
        let mut ratios: Vec<f64> = of(ours)?.iter().zip(of(theirs)?).map(|(ours, theirs)| ours / theirs).collect();
        let largest = ratios.iter().copied().fold(0.0, f64::max);
        figure(what, target, &format!("{:.3}, at most {largest:.3} in {RUNS} runs", median(&mut ratios)));
    }
    Ok(())
}

/// Costs of `now()` and of std's clock in runs of a program that reads both, and their ratios.
#[derive(Default)]
struct BesideStd {
    ours: Vec<f64>,
    theirs: Vec<f64>,
    ratios: Vec<f64>,
}

impl BesideStd {
    fn measure(program: &str, arguments: &[&str], runs: usize) -> Result<Self> {
        let mut found = Self::default();
        for _ in 0..runs {
            let costs = pinned(program, arguments)?;
            let (now, std) = (value(&costs, "now")?, value(&costs, "std")?);
            found.ours.push(now);
            found.theirs.push(std);
            found.ratios.push(now / std);
        }
        Ok(found)
    }

    /// The largest ratio, in words.
    fn largest(&self) -> String {
        format!(", at most {:.2}", self.ratios.iter().copied().fold(0.0, f64::max))
    }

    /// The medians of the ratios and of both costs.
    fn medians(&mut self, largest: &str) -> String {
        let [ratio, ours, theirs] = [&mut self.ratios, &mut self.ours, &mut self.theirs].map(|all| median(all));
        format!("{ratio:.2}{largest} ({ours:.0} ns, {theirs:.0} ns)")
    }
}

/// One reading every so many µs, in a program that spins in between, or sleeps: the median of five
/// interleaved runs, and the largest.
fn light_callers() -> Result<()> {
    for (what, sleeps, target) in [("spinning", "0", "<= 1.15, 1.30"), ("cold", "1", "<= 1.00, 1.30")] {
        for every in ["10", "50", "200", "400", "600", "800", "950", "1050", "1500", "2500"] {
            let mut found = BesideStd::measure("light", &[every, "16", sleeps], 5)?;
            let largest = found.largest();
            figure(&format!("a read every {every} us, {what}: now / std"), target, &found.medians(&largest));
        }
    }
    Ok(())
}

/// A program that reads every 2 ms, or every 10 ms: the median of nine runs' ratios.
fn rare_callers() -> Result<()> {
    for (what, every_us, reads) in [("every 2 ms", "2000", "500"), ("every 10 ms", "10000", "100")] {
        let mut found = BesideStd::measure("cold", &[every_us, reads], 9)?;
        figure(&format!("a read {what}, cold: now / std"), "<= 1.30", &found.medians(""));
    }
    Ok(())
}

/// Two threads that read in bursts: 20 runs of 20 s.
fn bursts(when: &str, busy: usize) -> Result<()> {
    let _busy = BusyLoops::start(busy, None)?;
    let (mut worst, mut outside) = (Vec::new(), 0.0);
    for _ in 0..20 {
        let seen = values(&run::output(&program("bursts"), &["20"])?)?;
        worst.push(value(&seen, "worst")?);
        outside += value(&seen, "outside")?;
    }
    figure(&format!("{when}: bursts of two threads outside the bound"), "0", &format!("{outside} in 20 runs"));
    let target = if busy == 0 { "<= 300 ns" } else { "-" };
    let largest = worst.iter().copied().fold(0.0, f64::max);
    figure(
        &format!("{when}: worst error in bursts"),
        target,
        &format!("{largest:.0} ns, median of the runs {:.0} ns", median(&mut worst)),
    );
    Ok(())
}

/// Compares with the OS clock itself where the counter may not be used.
fn os_clock() -> Result<()> {
    // On all CPUs: two threads on one would not meet.
    let mut ratios = [Vec::new(), Vec::new()];
    let mut last = Vec::new();
    for _ in 0..9 {
        last = values(&run::output(&program("os_clock"), &[])?)?;
        for (ratios, threads) in ratios.iter_mut().zip(["1", "2"]) {
            let cost = |name: &str| value(&last, &format!("{name}_{threads}"));
            ratios.push(cost("ours")? / cost("clock_gettime")?);
        }
    }
    for (mut ratios, threads) in ratios.into_iter().zip(["1", "2"]) {
        let cost = |name: &str| value(&last, &format!("{name}_{threads}"));
        let (ours, theirs) = (cost("ours")?, cost("clock_gettime")?);
        let measured = format!("{:.3} ({ours:.1} ns, {theirs:.1} ns)", median(&mut ratios));
        figure(&format!("the OS clock served, threads: {threads}: now / clock_gettime"), "<= 1.15", &measured);
    }
    Ok(())
}

/// The first reading of a process, beside std's first in processes that are started in turn.
fn first_readings() -> Result<()> {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..PROCESSES {
        for (costs, which) in [(&mut ours, "now"), (&mut theirs, "std")] {
            costs.push(run::output(&program("first"), &[which])?.trim().parse::<f64>()?);
        }
    }
    let (now, std) = (median(&mut ours), median(&mut theirs));
    let measured = format!("{:.2} ({:.2} us, {:.2} us)", now / std, now / 1e3, std / 1e3);
    figure("the first reading of a process: now / std", "<= 1.5", &measured);
    Ok(())
}

/// The first reading after half a second without any: the median of nine runs' ratios.
fn after_a_pause() -> Result<()> {
    let measured = BesideStd::measure("idle", &["500", "15"], 9)?.medians("");
    figure("the first reading after 0.5 s: now / std", "<= 1.30", &measured);
    Ok(())
}

/// Children by all ways to make one, by the test that CI runs with fewer of them.
fn children() -> Result<()> {
    let said = test("process", "every_child_has_a_clock_at_once", &[("CLOCKSCOPE_CHILDREN", "2000")])?;
    for (way, wrong) in said.iter().filter_map(|(name, wrong)| Some((name.strip_prefix("wrong_by_")?, wrong))) {
        let made = value(&said, &format!("made_by_{way}"))?;
        figure(&format!("children, {way}"), "0", &format!("{wrong} of {made} children were wrong"));
    }
    Ok(())
}

/// Everything at once for a minute, by the test that CI runs for five seconds.
fn hammer() -> Result<()> {
    let said = test("process", "nothing_goes_back_whatever_happens", &[("CLOCKSCOPE_HAMMER_S", "60")])?;
    let of = |name: &str| value(&said, name);
    let seen = format!(
        "{} regressions{} in {} readings, {} signals, {} children of which {} were wrong",
        of("regressions")?,
        by_counters(&said),
        of("readings")?,
        of("signals")?,
        of("children")?,
        of("wrong")?
    );
    figure("stops, signals, forks, hops, short threads for 60 s", "0", &seen);
    Ok(())
}

/// States by how much the counters of the CPUs are apart, where readings that went back had it
/// measured; a test fails where readings went back by more.
fn by_counters(said: &Values) -> String {
    value(said, "counters_apart_ns")
        .map_or_else(|_| String::new(), |ns| format!(" (the CPUs' counters are {ns} ns apart)"))
}

/// The figures that a test of the library printed.
fn test(target: &str, name: &str, variables: &[(&str, &str)]) -> Result<Values> {
    let words = ["test", "--release", "--quiet", "--package", "clockscope", "--test", target, name];
    printed_figures(&run::output_with(variables, "cargo", &[&words[..], &["--", "--nocapture"]].concat())?)
}

/// The OS clock's rate changes by 500 ppm, and back.
fn slew() -> Result<()> {
    let errors = pinned("slew", &["500"])?;
    for (name, what) in [("slewed", "OS clock slewed 0 -> 500 ppm: error"), ("back", "and back: error")] {
        figure(what, "<= 1000 ns", &format!("{:.0} ns", value(&errors, name)?));
    }
    Ok(())
}

/// Readings across threads, by the test that CI runs with fewer of them.
fn order() -> Result<()> {
    for threads in ["2", "8"] {
        let variables = [("CLOCKSCOPE_ORDER_READS", "1000000000"), ("CLOCKSCOPE_ORDER_THREADS", threads)];
        let said = test("platform", "order::", &variables)?;
        let (regressions, readings) = (value(&said, "regressions")?, value(&said, "readings")?);
        let seen = format!("{regressions} regressions{} in {readings} readings", by_counters(&said));
        figure(&format!("order, {} threads", value(&said, "threads")?), "0", &seen);
    }
    for line in run::output(&program("order"), &[])?.lines() {
        let (name, regressions) = line.split_once(' ').context("a line without a value")?;
        figure(&format!("regressions in 10^8 readings by 2 threads: {name}"), "-", regressions);
    }
    Ok(())
}

/// A frequency with its bounds, in Hz.
#[derive(Deserialize)]
struct Known {
    hz: f64,
    lowest_hz: f64,
    highest_hz: f64,
}

/// Output of a fresh process.
#[derive(Deserialize)]
struct Start {
    first_ticks: f64,
    takeover_ticks: f64,
    soon: Known,
    late: Known,
    /// Both clocks at its end.
    ticks: u64,
    ns: u64,
}

/// First readings, takeovers, and rates with their bounds of many processes.
fn fresh_processes(when: &str, busy: usize) -> Result<()> {
    let _busy = BusyLoops::start(busy, None)?;
    let mut starts = Vec::new();
    while starts.len() < PROCESSES {
        let children: Vec<Child> = (0..AT_A_TIME)
            .map(|_| Command::new(program("start")).stdout(Stdio::piped()).spawn().context("cannot run `start`"))
            .collect::<Result<_>>()?;
        for child in children {
            let printed = child.wait_with_output()?.stdout;
            starts.push(serde_json::from_slice::<Start>(&printed).context("`start` printed something else")?);
        }
    }
    let (Some(first), Some(last)) = (starts.first(), starts.last()) else { return Ok(()) };
    // Minutes between two comparisons that are good to some 50 ns.
    let hz = (last.ticks - first.ticks) as f64 / (last.ns - first.ns) as f64 * 1e9;
    let all = |what: &str, target: &str, share: f64, unit: f64, of: &dyn Fn(&Start) -> f64| {
        let mut values: Vec<f64> = starts.iter().map(of).collect();
        figure(&format!("{when}: {what}"), target, &format!("{:.4}", quantile(&mut values, share) * unit));
    };
    let us = 1e6 / hz;
    all("first reading, median us", "<= 50", 0.5, us, &|start| start.first_ticks);
    all("first reading, 99 % us", "<= 500", 0.99, us, &|start| start.first_ticks);
    all("counter takes over, median ms", "<= 10", 0.5, us / 1e3, &|start| start.takeover_ticks);
    all("counter takes over, 99 % ms", "-", 0.99, us / 1e3, &|start| start.takeover_ticks);
    let bound = |known: &Known| (known.highest_hz - known.lowest_hz) / 2.0 / hz;
    let error = |known: &Known| (known.hz / hz - 1.0).abs();
    all("bound after 5 ms, median ppm", "<= 10", 0.5, 1e6, &|start| bound(&start.soon));
    all("error after 5 ms, median ppm", "<= 1", 0.5, 1e6, &|start| error(&start.soon));
    all("bound after 1 s, median ppm", "<= 0.05", 0.5, 1e6, &|start| bound(&start.late));
    all("error after 1 s, median ppm", "<= 0.005", 0.5, 1e6, &|start| error(&start.late));
    // The true rate is known no better than this.
    let uncertainty = 100.0 / (last.ns - first.ns) as f64;
    let is_inside =
        |known: &Known| known.lowest_hz * (1.0 - uncertainty) <= hz && hz <= known.highest_hz * (1.0 + uncertainty);
    let outside = starts.iter().filter(|start| !is_inside(&start.soon) || !is_inside(&start.late)).count();
    figure(&format!("{when}: true rate outside the bound"), "0", &format!("{outside} of {} processes", starts.len()));
    Ok(())
}

/// A minute of use.
fn watch(when: &str, busy: usize, target: &str) -> Result<()> {
    let _busy = BusyLoops::start(busy, None)?;
    let seen = pinned("drift", &[DURATION_S])?;
    let ns = |name: &str| Ok::<_, anyhow::Error>(format!("{:.0} ns", value(&seen, name)?));
    figure(&format!("{when}, 60 s: error_bound().now, 99 %"), target, &ns("bound_now")?);
    figure(&format!("{when}, 60 s: error_bound().largest, which has pauses"), "-", &ns("bound")?);
    figure(&format!("{when}, 60 s: largest certain error"), "-", &ns("error")?);
    let exceeded = format!("{} of {} comparisons", value(&seen, "exceeded")?, value(&seen, "comparisons")?);
    figure(&format!("{when}, 60 s: bound exceeded"), "0", &exceeded);
    for peer in ["quanta", "minstant", "fastant"] {
        figure(&format!("{when}, 60 s: error of {peer}"), "-", &ns(peer)?);
    }
    Ok(())
}

/// Stamps that are kept for so long: their cost, that of their conversion, and their error, beside
/// that of peers who convert by one rate.
fn stamps(what: &str, arguments: &[&str]) -> Result<()> {
    let seen = pinned("stamps", arguments)?;
    let of = |name: &str| value(&seen, name);
    let ratio = |ours: &str, theirs: &str| Ok::<_, anyhow::Error>(format!("{:.3}", of(ours)? / of(theirs)?));
    figure(&format!("stamps, {what}: now_unordered / rdtsc"), "<= 1.01", &ratio("stamps_now_unordered", "rdtsc")?);
    figure(&format!("stamps, {what}: now / ticks::now"), "<= 1.02", &ratio("stamps_now", "lfence_rdtsc")?);
    for peer in ["quanta", "minstant", "fastant", "std"] {
        figure(&format!("stamps, {what}: {peer} / rdtsc"), "-", &ratio(peer, "rdtsc")?);
    }
    for (name, target, order) in [
        ("instants_sorted", "<= 5 ns", "sorted, in batches"),
        ("instants_random", "-", "in random order, in batches"),
        ("instant_sorted", "-", "sorted, one by one"),
    ] {
        figure(&format!("stamps, {what}: conversion, {order}"), target, &format!("{:.1} ns", of(name)?));
    }
    let bounds = (of("stamps_bound_ns_median")?, of("stamps_bound_ns_max")?);
    let stated = format!("{:.0} ns, at most {:.0} ns", bounds.0, bounds.1);
    figure(&format!("stamps, {what}: stated bound"), "-", &stated);
    let outside = format!("{:.0} of {:.0}", of("stamps_outside_bound")?, of("stamps")?);
    figure(&format!("stamps, {what}: outside the bound"), "0", &outside);
    for (name, value) in ["stamps", "minstant", "fastant", "quanta"].map(|name| (name, of(&format!("{name}_error_ns"))))
    {
        figure(&format!("stamps, {what}: certain error of {name}"), "-", &format!("{:.0} ns", value?));
    }
    Ok(())
}

fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((values.len() - 1) as f64 * share).round() as usize]
}
