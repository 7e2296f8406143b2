//! Checks for machines in which several CPUs take part, in which the processor lacks something, and
//! in which clocks change during the run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clockscope_records::units::time;
use serde_json::Value;

use crate::checks::{Served, measured, tick, watch_record};
use crate::seen::{Seen, named, number};

/// Most that a rate may be off, in ppm: the kernel's multiplier is rounded, by up to 0.3 ppm at
/// this frequency.
const RATE_PPM: f64 = 1.0;

/// A hundred million seconds between the dates that step.sh sets, in ns.
const STEP_NS: f64 = 1e17;

/// Two CPUs: the kernel finds their counters unsynchronized, and nothing that is served goes back
/// between them.
pub(super) fn smp(seen: &mut Seen) {
    measured(seen, &["tsc", "monotonic", "clockscope.now"]);
    let kernel = seen.output("kernel").map(|(_, text)| text).unwrap_or_default();
    seen.expect(kernel.contains("Marking TSC unstable"), || format!("the kernel does not reject the TSC:\n{kernel}"));
    let order = seen.json("order");
    for name in ["monotonic", "clockscope.now"] {
        let sequence = named(&order["sequences"], name);
        let right = sequence["regressions"] == 0 && number(&sequence["handoffs"]) > 10.0;
        seen.expect(right, || format!("the order of {name}: {sequence}"));
    }
    // Both counters are the host's, so that the kernel's judgment is wrong here; the instrument
    // reports that.
    let pair = seen.json("offsets")["pairs"][0].clone();
    let (offset_ns, bound_ns) = (number(&pair["offset_ns"]), number(&pair["bound_ns"]));
    seen.expect(pair["apart"] == false && offset_ns.abs() <= bound_ns, || format!("offsets: {pair}"));
    seen.found(format!("TSC rejected by the kernel, offset {} ± {}", time(offset_ns), time(bound_ns)));
    watch_record(seen, "watch", Served::OsClock, 1);
}

/// A CPU disappears: the answer says so, nothing hangs, and the exit code says that the answer is
/// incomplete.
pub(super) fn offline(seen: &mut Seen) {
    let order = seen.json_with("order", 3);
    let codes = ["moved_away", "not_bound", "cpu_missing"];
    let is_said = |lost: &Value| codes.iter().any(|code| lost["reason"]["code"] == *code);
    seen.expect(is_said(&order["lost"][0]), || {
        format!("order does not report that a CPU disappeared: {}", order["lost"])
    });
    let gaps = seen.json_with("gaps", 3);
    let [first, second] = [0, 1].map(|cpu| &gaps["gaps"][cpu]);
    seen.expect(first["reason"].is_null() && is_said(second), || format!("gaps on CPUs 0 and 1: {}", gaps["gaps"]));
    seen.found("order and gaps report that CPU 1 disappeared".into());
    watch_record(seen, "watch", Served::OsClock, 1);
}

/// A processor without RDTSCP: what needs it is missed, and nothing else.
pub(super) fn no_rdtscp(seen: &mut Seen) {
    measured(seen, &["tsc", "monotonic", "clockscope.now"]);
    let listed = named(&seen.json("list")["clocks"], "rdtscp");
    seen.expect(listed["reason"]["code"] == "no_instruction", || format!("rdtscp is listed as {listed}"));
    let record = seen.json("missing");
    let (missing, present) = (named(&record["clocks"], "rdtscp"), named(&record["clocks"], "tsc"));
    seen.expect(missing["available"] == false && missing["reason"] == listed["reason"], || {
        format!("rdtscp is measured as {missing}")
    });
    seen.expect(present["available"] == true, || format!("tsc beside rdtscp: {present}"));
    seen.found("rdtscp is missed and reported".into());
    watch_record(seen, "watch", Served::Counter, 1);
}

/// The kernel turns to the HPET during the run, and nobody asks it: its clock has become slower, so
/// that the library follows, and what it serves does not go back.
pub(super) fn switch(seen: &mut Seen) {
    let after = seen.json("info_after")["environment"]["clocksource"].clone();
    seen.expect(after == "hpet", || format!("the clocksource is {after} after the switch"));
    // A second generation: the counter was served, and is not any more.
    let watch = watch_record(seen, "watch", Served::OsClock, 2);
    seen.expect(watch["demotion"] == "os_clock_slower", || format!("the outcome is {}", watch["outcome"]));
    seen.found("demoted during the run".into());
    tick(seen, "monotonic", 10.0, 1e-6);
}

/// The wall clock is set: that clock shows it, and no other.
pub(super) fn step(seen: &mut Seen) {
    let (realtime, monotonic) = (seen.clock("rate", "realtime"), seen.clock("rate", "monotonic"));
    let step = &realtime["step"];
    seen.expect(number(&step["ns"]) > STEP_NS && number(&step["at_s"]) > 0.0, || {
        format!("rate saw no step of realtime: {step}")
    });
    let steady = |clock: &Value| clock["step"].is_null() && clock["constant"] == true;
    seen.expect(steady(&monotonic), || format!("rate of monotonic while realtime was set: {monotonic}"));
    let counter = seen.clock("rate", "tsc");
    seen.expect(steady(&counter), || format!("rate of tsc while realtime was set: {counter}"));

    let steps = seen.clock("steps_realtime", "realtime");
    let back = &steps["worst"]["regression"][0]["size_ns"];
    let right = steps["events"]["regression"] == 1 && (number(back) / STEP_NS - 1.0).abs() < 1e-6;
    seen.expect(right, || format!("steps of realtime: back by {back} ns, {}", steps["events"]));
    let monotonic = seen.clock("steps_monotonic", "monotonic");
    let events = &monotonic["events"];
    seen.expect(events["regression"] == 0 && events["hidden_regression"] == 0, || {
        format!("steps of monotonic while realtime was set: {events}")
    });
    seen.found("a step of realtime, none of monotonic".into());
    watch_record(seen, "watch", Served::Counter, 1);
}

/// The kernel's clock is steered: its rate shows it to the ppm, the counter's does not, and the
/// library follows.
pub(super) fn slew(seen: &mut Seen) {
    let mut counter_hz = Vec::new();
    for (command, expected) in [("rate_slewed", 1000.0), ("rate_back", 0.0)] {
        let monotonic = seen.clock(command, "monotonic");
        let ppm = number(&monotonic["ppm"]);
        seen.expect((ppm - expected).abs() < RATE_PPM && monotonic["constant"] == true, || {
            format!("{command}: monotonic runs {ppm} ppm fast instead of {expected}: {monotonic}")
        });
        counter_hz.push(number(&seen.clock(command, "tsc")["frequency_hz"]));
    }
    let moved = (counter_hz[0] / counter_hz[1] - 1.0).abs() * 1e6;
    seen.expect(moved < RATE_PPM, || format!("tsc moved by {moved} ppm when monotonic was steered: {counter_hz:?}"));

    let (monotonic, counter) = (seen.clock("rate", "monotonic"), seen.clock("rate", "tsc"));
    seen.expect(monotonic["constant"] == false && monotonic["changed"].is_object(), || {
        format!("the change of monotonic's rate during the run was not seen: {monotonic}")
    });
    seen.expect(counter["constant"] == true, || format!("tsc changed its rate: {counter}"));
    seen.found("1000 ppm of monotonic, none of tsc".into());
    let watch = watch_record(seen, "watch", Served::Counter, 1);
    seen.found(format!("at most {} off", time(number(&watch["outside_ns"]))));
    let stamps = seen.json("stamps");
    let [taken, outside] = ["stamps", "outside_bound"].map(|name| stamps[name].as_u64().unwrap_or(0));
    seen.expect(taken > 1000 && outside == 0 && stamps["unconverted"] == 0, || format!("stamps: {stamps}"));
    let bounds = ["worst_ns", "bound_median_ns", "bound_ns"].map(|name| time(number(&stamps[name])));
    seen.found(format!("{taken} stamps at most {} off, {} and at most {} stated", bounds[0], bounds[1], bounds[2]));
}

/// Time daemons steer the kernel's clock, by up to 83,333 ppm: the library follows each, keeps the
/// counter, and was never further off than it says.
pub(super) fn daemons(seen: &mut Seen) {
    for (daemon, calls) in [("chronyd", 9), ("ntpd", 3), ("timesyncd", 3), ("phc2sys", 7)] {
        let said = seen.output(&format!("steer_{daemon}")).map(|(_, text)| text).unwrap_or_default();
        seen.expect(said.trim() == format!("{calls} calls"), || format!("steer {daemon}: {said}"));
        let watch = watch_record(seen, &format!("watch_{daemon}"), Served::Counter, 1);
        seen.found(format!("{daemon}: at most {} off", time(number(&watch["outside_ns"]))));
    }
    watch_record(seen, "watch", Served::Counter, 1);
}

/// If the true time is known, `utc_now()` holds it or says that it does not know, for each daemon;
/// and in a leap second.
pub(super) fn bounds(seen: &mut Seen) {
    let mut bounds = |(name, calls): (&str, u32)| {
        let run = seen.json(&format!("bounds_{name}"));
        seen.expect(run["command"] == format!("{calls} calls"), || format!("steer bounds-{name}: {}", run["command"]));
        run
    };
    let runs = [("chronyd", 2), ("ntpd", 1), ("timesyncd", 1), ("phc2sys", 3)];
    let [chronyd, ntpd, timesyncd, phc2sys] = runs.map(&mut bounds);
    let leap = seen.json("bounds_leap");
    let said = seen.output("steer_leap").map(|(_, text)| text).unwrap_or_default();
    seen.expect(said.trim() == "3 calls", || format!("steer leap: {said}"));
    let count = |run: &Value, answer: &str, field: &str| run[answer][field].as_u64().unwrap_or(0);
    for (name, run, answer) in [
        ("chronyd", &chronyd, "while_not_slewing"),
        ("ntpd", &ntpd, "synchronized"),
        ("leap", &leap, "synchronized"),
        ("leap", &leap, "tai"),
        ("chronyd", &chronyd, "bounded"),
        ("ntpd", &ntpd, "bounded"),
        ("leap", &leap, "bounded"),
    ] {
        let (inside, outside) = (count(run, answer, "inside"), count(run, answer, "outside"));
        seen.expect(inside > 0 && outside == 0, || {
            format!("{name}: {answer} held the true time {inside} times, and did not {outside} times")
        });
    }
    for (name, run) in [("timesyncd", &timesyncd), ("phc2sys", &phc2sys)] {
        let is_accepted = ["synchronized", "while_not_slewing"].iter().any(|answer| !run[*answer].is_null());
        seen.expect(!is_accepted && !run["worthless"].is_null(), || format!("{name}: {run}"));
    }
    let bounded = |run: &Value| number(&run["bounded"]["inside"]) + number(&run["bounded"]["outside"]);
    seen.expect(bounded(&timesyncd) + bounded(&phc2sys) == 0.0, || "bounded::now() believed a worthless error".into());
    seen.expect(number(&leap["leap_states"]) > 0.0, || format!("bounded::now() named no leap second: {leap}"));
    // What would have been wrong is not believed.
    seen.expect(count(&phc2sys, "worthless", "outside") > 0, || format!("phc2sys was right: {phc2sys}"));
    seen.expect(count(&chronyd, "slewing", "outside") > 0, || format!("chronyd's slew was not seen: {chronyd}"));
    seen.expect(number(&leap["in_leap"]) > 0.0, || format!("no leap second was seen: {leap}"));
    seen.found(format!("ntpd's bound at most {} wide", time(number(&ntpd["widest_ns"]))));
    watch_record(seen, "watch", Served::Counter, 1);
}

/// `steer chronyd` slews by 83,333 ppm for 800 ms, back for 700 ms and again for 400 ms, twice: 58
/// ms in all. Waits are longer on a busy computer.
const SLEWED_NS: u64 = 10_000_000;

/// CLOCK_REALTIME is set: `wall::now()` follows within the time that it is granted, and
/// `now_monotone()` never goes back.
pub(super) fn wall(seen: &mut Seen) {
    for name in ["wall", "wallupkeep"] {
        let wall = seen.json(name);
        // Five dates, alone and beside threads.
        followed(seen, &wall, 10);
        let stale_ns = number(&wall["longest_stale_ns"]);
        seen.found(format!("a set shows after {}", time(stale_ns)));
        // Of two milliseconds; the program's own time passes while others run on the only CPU.
        seen.expect(stale_ns < 1e9, || format!("{name}: stale for {stale_ns} ns"));
    }
    let steered = seen.json("wall_steered");
    let (worst_ns, bound_ns) = (number(&steered["worst_ns"]), number(&steered["bound_ns"]));
    seen.expect(steered["generations"] == 0 && worst_ns <= bound_ns, || format!("a slew is no step: {steered}"));
    let mut ahead_ns = |name: &str| -> Option<i64> { seen.output(name)?.1.trim().parse().ok() };
    let moved_ns = ahead_ns("moved_after").zip(ahead_ns("moved_before")).map_or(0, |(after, before)| after - before);
    seen.expect(moved_ns.unsigned_abs() > SLEWED_NS, || format!("the clock was slewed by {moved_ns} ns alone"));
    watch_record(seen, "watch", Served::Counter, 1);
}

/// The machine is suspended: `boot::now()` counts that as CLOCK_BOOTTIME does, within the time that
/// it is granted, and never goes back.
pub(super) fn suspend(seen: &mut Seen) {
    /// Alarms ring after 3, 2 and 4 s, on whole seconds of the machine's calendar.
    const SUSPENDED_NS: std::ops::Range<f64> = 5e9..9e9;
    let boot = seen.json("boot");
    let suspends = seen.output("kernel_suspends").map(|(_, text)| text.trim().to_owned());
    seen.expect(suspends.as_deref() == Some("3"), || format!("the kernel suspended {suspends:?} times"));
    let suspended_ns = number(&boot["suspended_ns"]);
    seen.expect(SUSPENDED_NS.contains(&suspended_ns) && boot["counts_suspends"] == true, || {
        format!("boot::now() counted {suspended_ns} ns of suspends: {boot}")
    });
    let (worst_ns, bound_ns) = (number(&boot["worst_ns"]), number(&boot["bound_ns"]));
    seen.expect(worst_ns <= bound_ns, || format!("{worst_ns} ns off, and its bound is {bound_ns} ns: {boot}"));
    let stale_ns = number(&boot["longest_stale_ns"]);
    // Of two milliseconds; the program's own time passes while others run on the only CPU.
    seen.expect(stale_ns < 1e9, || format!("a suspend was not counted for {stale_ns} ns"));
    let comparisons = number(&boot["comparisons"]);
    seen.expect(boot["regressions"] == 0 && comparisons > 10_000.0, || format!("boot::now() went back: {boot}"));
    seen.expect(boot["source"] == "Counter", || format!("boot::now() is not served by the counter: {boot}"));
    // A suspend is no error of readings.
    seen.expect(bound_ns < 1e9, || format!("the bound is {bound_ns} ns: {boot}"));
    seen.found(format!("three suspends of {} counted, each after {}", time(suspended_ns), time(stale_ns)));
    watch_record(seen, "watch", Served::Counter, 1);
}

/// The same on two CPUs, for a billion readings.
pub(super) fn monotone(seen: &mut Seen) {
    let monotone = seen.json("monotone");
    followed(seen, &monotone, 4);
    let (readings, sets) = (number(&monotone["readings"]), number(&monotone["commands"]));
    seen.expect(readings >= 1e9, || format!("{readings} readings of the monotone time"));
    seen.found(format!("{readings} readings of two threads while the clock was set {sets} times, none went back"));
    watch_record(seen, "watch", Served::Counter, 1);
}

/// Each of at least so many commands set the clock by an hour or more: each was noticed, and the
/// monotone time was ahead.
fn followed(seen: &mut Seen, wall: &Value, least: u64) {
    const BACK_NS: f64 = 3.5e12;
    let sets = wall["commands"].as_u64().unwrap_or(0);
    seen.expect(sets >= least && wall["generations"] == sets, || format!("not each set was noticed once: {wall}"));
    let readings = number(&wall["readings"]);
    seen.expect(wall["regressions"] == 0 && readings > 100_000.0, || format!("now_monotone: {wall}"));
    seen.expect(number(&wall["ahead_ns"]) >= BACK_NS, || format!("now_monotone was not ahead: {wall}"));
    let (worst_ns, bound_ns) = (number(&wall["worst_ns"]), number(&wall["bound_ns"]));
    seen.expect(worst_ns <= bound_ns, || format!("{worst_ns} ns off, and its bound is {bound_ns} ns: {wall}"));
}

/// Number of instructions that the deterministic machine takes from one reading to the next, below
/// a line that names compiler and kernel: with others it takes another number.
const GOLDEN: &str = "machines/icount.golden";

/// Returns the path of [`GOLDEN`].
fn golden_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(GOLDEN)
}

/// Time is the number of instructions: readings are the same in every boot, and the counter runs at
/// 1 GHz.
pub(super) fn icount(seen: &mut Seen) {
    let mut printed = |command: &str| seen.output(command).map(|(_, text)| text).unwrap_or_default();
    let differences = printed("differences");
    let once = differences.clone() + &printed("readings");
    let again = printed("again_differences") + &printed("again_readings");
    seen.expect(once == again && !once.is_empty(), || format!("two boots differ: {}", first_difference(&once, &again)));
    let release = seen.json("info")["environment"]["kernel"]["release"].clone();
    let compiler = Command::new("rustc").arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let compiler = String::from_utf8_lossy(&compiler);
    let head = format!("{}, Linux {}\n", compiler.trim(), release.as_str().unwrap_or_default());
    let usual = head.clone() + &usual_differences(&differences);
    if std::env::var_os("CLOCKSCOPE_GOLDEN").is_some_and(|value| value == "write") {
        let written = fs::write(golden_file(), &usual);
        seen.expect(written.is_ok(), || format!("cannot write {GOLDEN}: {written:?}"));
    }
    let golden = fs::read_to_string(golden_file()).unwrap_or_default();
    let is_comparable = golden.starts_with(&head);
    seen.expect(usual == golden || !is_comparable, || {
        format!("{}; CLOCKSCOPE_GOLDEN=write writes {GOLDEN}", first_difference(&golden, &usual))
    });
    measured(seen, &["tsc", "monotonic", "clockscope.now"]);
    let rate = seen.clock("rate", "tsc");
    let (hz, bound_hz) = (number(&rate["frequency_hz"]), number(&rate["frequency_bound_hz"]));
    seen.expect((hz - 1e9).abs() <= bound_hz && bound_hz < 1e6, || {
        format!("tsc runs at {hz} ± {bound_hz} Hz, not 1 GHz")
    });
    seen.found(match is_comparable {
        true => format!("two boots alike, {} golden differences", golden.lines().count() - 1),
        false => format!("two boots alike; {GOLDEN} is of another compiler or kernel and was not compared"),
    });
    watch_record(seen, "watch", Served::Counter, 1);
}

/// The most frequent difference of each clock, a line each, from the CSV of `differences`. How
/// often the timer's interrupt comes between two readings depends on when the program started, and
/// so on every instruction before: that is left out.
fn usual_differences(csv: &str) -> String {
    let mut usual = BTreeMap::new();
    for line in csv.lines().skip(1) {
        let [clock, _, difference, count] = line.split(',').collect::<Vec<_>>()[..] else { continue };
        let count: u64 = count.parse().unwrap_or_default();
        let most = usual.entry(clock).or_insert((difference, count));
        if count > most.1 {
            *most = (difference, count);
        }
    }
    usual.into_iter().map(|(clock, (difference, _))| format!("{clock},{difference}\n")).collect()
}

/// The first line in which two texts differ.
fn first_difference(expected: &str, found: &str) -> String {
    let (mut expected, mut found) = (expected.lines(), found.lines());
    for line in 1.. {
        match (expected.next(), found.next()) {
            (None, None) => break,
            (a, b) if a == b => {}
            (a, b) => {
                return format!("line {line} is `{}` instead of `{}`", b.unwrap_or("missing"), a.unwrap_or("missing"));
            }
        }
    }
    "the ends of lines differ".into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_between_two_readings_leaves_the_usual_difference() {
        let quiet = "name,available,difference_units,count\ntsc,true,7,99\nmonotonic,true,77,99\n";
        let interrupted =
            "name,available,difference_units,count\nmonotonic,true,77,98\nmonotonic,true,5012,1\ntsc,true,7,99\n";
        assert_eq!(usual_differences(quiet), "monotonic,77\ntsc,7\n");
        assert_eq!(usual_differences(interrupted), usual_differences(quiet));
        assert_ne!(usual_differences(&quiet.replace(",77,", ",78,")), usual_differences(quiet));
    }

    #[test]
    fn the_first_difference_is_said() {
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), "line 2 is `c` instead of `b`");
        assert_eq!(first_difference("a\n", ""), "line 1 is `missing` instead of `a`");
        assert_eq!(first_difference("a", "a\n"), "the ends of lines differ");
    }
}
