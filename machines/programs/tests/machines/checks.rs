//! Checks of the instrument and of the library in each machine.

use clockscope_records::units::time;
use serde_json::Value;

use crate::machine::{Architecture, Machine};
use crate::seen::{Seen, frequency, named, number};

/// Checks that hold in every machine: the facts are right, no clock goes back, and the clock of the
/// library is right.
pub(super) fn common(machine: &Machine, seen: &mut Seen) {
    facts(machine, seen);
    listed(machine, seen);
    verdict(machine, seen);
}

/// The kernel took the clocksource that the machine is about, and the emulation was noticed.
fn facts(machine: &Machine, seen: &mut Seen) {
    let environment = seen.json("info")["environment"].clone();
    let is = |value: &Value, expected: &str| value == expected;
    seen.expect(is(&environment["clocksource"], machine.clocksource), || {
        format!("the clocksource is {} instead of {}", environment["clocksource"], machine.clocksource)
    });
    let online = &environment["cpu"]["online"];
    seen.expect(*online == machine.cpus, || format!("{online} CPUs instead of {}", machine.cpus));
    if machine.architecture == Architecture::X86 {
        let readable = &environment["counter_readable"];
        seen.expect(*readable == true, || format!("the counter may not be read: {readable}"));
        let emulation = &environment["emulation"];
        seen.expect(*emulation == serde_json::json!(["qemu-tcg"]), || format!("emulation: {emulation}"));
    }
}

/// Clocks that every machine has; RDTSCP only where the processor has it.
fn listed(machine: &Machine, seen: &mut Seen) {
    let clocks = seen.json("list")["clocks"].clone();
    let names: &[&str] = match machine.architecture {
        Architecture::X86 => &["tsc", "tsc_lfence", "hpet"],
        Architecture::Arm => &["cntvct", "cntvct_isb"],
    };
    let everywhere = ["monotonic", "monotonic_raw", "realtime", "boottime", "clockscope.now"];
    for name in names.iter().chain(&everywhere) {
        let clock = named(&clocks, name);
        seen.expect(clock["available"] == true, || format!("{name} is listed as {clock}"));
    }
    if machine.architecture == Architecture::X86 {
        let expected = machine.processor.is_none();
        let clock = named(&clocks, "rdtscp");
        seen.expect(clock["available"] == expected, || format!("rdtscp is listed as {clock}"));
    }
}

/// The instrument's own judgment: of the counter what was expected, for the reasons that were; of
/// the kernel's clock that it is expensive or coarse where the clocksource is; and something to do
/// about all evidence against a clock.
fn verdict(machine: &Machine, seen: &mut Seen) {
    let document = seen.json("check");
    let counter = match machine.architecture {
        Architecture::X86 => "tsc",
        Architecture::Arm => "cntvct",
    };
    let verdicts = document["verdicts"].as_array().cloned().unwrap_or_default();
    let of = |clock: &str| verdicts.iter().find(|verdict| verdict["clock"] == clock).cloned().unwrap_or_default();
    let (found, monotonic) = (of(counter), of("monotonic"));
    let evidence = list(&found["evidence"]);
    let expected = machine.verdict;
    seen.expect(found["verdict"] == expected, || {
        format!("check says of {counter} {} instead of {expected}, because {evidence:?}", found["verdict"])
    });
    // What is for a counter decides that it is trusted.
    let deciding = evidence.iter().filter(|one| one["decides"] == true && one["finding"] != "for");
    let mut decisive: Vec<&str> = deciding.map(|one| one["check"].as_str().unwrap_or_default()).collect();
    decisive.dedup();
    if machine.cpus > 1 {
        // QEMU moves the TSC ahead where two CPUs read it at once (`cpu_get_ticks`), which the
        // instrument sees or not.
        decisive.retain(|check| *check != "constant_rate");
    }
    if is_measured_at_boot(machine) {
        decisive.retain(|check| *check != "nominal_frequency");
    }
    seen.expect(decisive == machine.because, || {
        format!("check of {counter} is decided by {decisive:?} instead of {:?}", machine.because)
    });
    let usual = if ["hpet", "acpi_pm", "jiffies"].contains(&machine.clocksource) { "limited" } else { "trusted" };
    seen.expect(monotonic["verdict"] == usual, || format!("check says of monotonic {monotonic}"));
    for one in verdicts.iter().flat_map(|verdict| list(&verdict["evidence"])) {
        seen.expect(one["finding"] != "against" || one["advice"].is_string(), || format!("no advice: {one}"));
    }
    nominal_frequency(machine, seen, &evidence);
    seen.found(format!("{counter} {}", found["verdict"].as_str().unwrap_or("nothing")));
}

fn list(value: &Value) -> Vec<Value> {
    value.as_array().cloned().unwrap_or_default()
}

/// The kernel's or the architecture's nominal frequency of the counter was compared with what was
/// measured. Where the kernel rejects the counter, it states none.
fn nominal_frequency(machine: &Machine, seen: &mut Seen, evidence: &[Value]) {
    let found = evidence.iter().find(|one| one["check"] == "nominal_frequency").cloned().unwrap_or_default();
    let who = match (machine.architecture, machine.verdict) {
        (Architecture::Arm, _) => "firmware",
        (Architecture::X86, "unfit") => return,
        (Architecture::X86, _) => "kernel",
    };
    let findings: &[&str] = match machine.clocksource {
        // By the timer tick nothing is known so closely.
        "jiffies" => &["unknown", "against"],
        _ if is_measured_at_boot(machine) => &["for", "against"],
        _ => &["for"],
    };
    let is_expected = found["finding"].as_str().is_some_and(|finding| findings.contains(&finding));
    seen.expect(found["reported_by"] == who && is_expected && found["ppm"].is_number(), || {
        format!("the nominal frequency: {found}")
    });
}

/// Returns true if the kernel's figure is what it measured at boot, by a timer, and compared with
/// another clock later. On a busy host it may be wrong, as it was by 800 ppm, and jiffies
/// lose time.
fn is_measured_at_boot(machine: &Machine) -> bool {
    ["jiffies", "acpi_pm", "hpet"].contains(&machine.clocksource)
}

/// No clock of `measure` goes back, and each can be read.
pub(super) fn measured(seen: &mut Seen, clocks: &[&str]) {
    for name in clocks {
        let clock = seen.clock("measure", name);
        let monotonic = &clock["monotonic"];
        seen.expect(monotonic["weak"] == true, || format!("{name} went back: {}", clock["events"]));
    }
}

/// The tick of a clock, as `steps` found it.
pub(super) fn tick(seen: &mut Seen, clock: &str, expected_ns: f64, tolerance: f64) {
    let tick_ns = number(&seen.clock(&format!("steps_{clock}"), clock)["tick_ns"]);
    seen.expect((tick_ns / expected_ns - 1.0).abs() < tolerance, || {
        format!("{clock} ticks in {tick_ns} ns instead of {expected_ns} ns")
    });
    seen.found(format!("tick {} ({})", time(tick_ns), frequency(1e9 / tick_ns)));
}

/// Cost of reading CLOCK_MONOTONIC, for the line.
fn cost(seen: &mut Seen) {
    let cost_ns = number(&seen.clock("measure", "monotonic")["cost_ns"]["median"]);
    seen.found(format!("monotonic {}", time(cost_ns)));
}

/// Source of the library's clock at the end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Served {
    Counter,
    OsClock,
}

/// The library's clock never went back, and was never further from CLOCK_MONOTONIC than it says.
pub(super) fn watch_record(seen: &mut Seen, command: &str, served: Served, generation: u64) -> Value {
    let watch = seen.json(command);
    let reads = number(&watch["reads"]);
    seen.expect(reads > 10_000.0, || format!("{command} made {reads} reads"));
    let regressions = &watch["regressions"];
    seen.expect(*regressions == 0, || format!("{command}: now() went back {regressions} times"));
    let (outside_ns, bound_ns) = (number(&watch["outside_ns"]), number(&watch["bound_ns"]));
    seen.expect(outside_ns <= bound_ns, || {
        format!("{command}: now() was {outside_ns} ns off, and its bound is {bound_ns} ns")
    });
    let (source, outcome) = (&watch["source_last"], &watch["outcome"]);
    let (expected, words) = match served {
        Served::Counter => ("Counter", "now() by the counter"),
        Served::OsClock => ("OsClock", "now() by the OS clock"),
    };
    seen.expect(*source == expected, || format!("{command}: now() is served by {source}: {outcome}"));
    seen.expect(outcome.is_null() == (served == Served::Counter), || format!("{command}: the outcome is {outcome}"));
    let found = &watch["generation"];
    seen.expect(*found == generation, || format!("{command}: generation {found} instead of {generation}"));
    seen.found(words.into());
    watch
}

/// The kernel builds its clocks on the TSC: it serves the library, too, and is the tick of both.
pub(super) fn tsc(seen: &mut Seen) {
    measured(seen, &["tsc", "rdtscp", "monotonic", "clockscope.now"]);
    let rate = seen.clock("rate", "tsc");
    let megahertz = number(&rate["frequency_hz"]) / 1e6;
    seen.expect(rate["constant"] == true && megahertz > 100.0, || format!("the rate of tsc: {rate}"));
    seen.found(format!("tsc {megahertz:.3} MHz"));
    cost(seen);
    // The kernel turns from its first guess of the frequency to a better one during the run.
    let early = seen.json("watch_early");
    let (regressions, outside_ns) = (&early["regressions"], &early["outside_ns"]);
    seen.expect(*regressions == 0, || format!("now() went back {regressions} times in the first seconds"));
    seen.expect(number(outside_ns) <= number(&early["bound_ns"]), || {
        format!("now() was {outside_ns} ns off in the first seconds, and its bound is {} ns", early["bound_ns"])
    });
    watch_record(seen, "watch", Served::Counter, 1);
}

/// QEMU's HPET counts at 100 MHz; read as a device it states that itself.
pub(super) fn hpet(seen: &mut Seen) {
    measured(seen, &["hpet", "tsc", "monotonic", "clockscope.now"]);
    tick(seen, "monotonic", 10.0, 1e-6);
    let device = seen.clock("steps_hpet", "hpet");
    seen.expect(device["unit_ns"] == 10.0 && device["path"] == "mmap", || {
        format!("/dev/hpet counts in {} ns, by {}", device["unit_ns"], device["path"])
    });
    let back = &device["events"]["regression"];
    seen.expect(*back == 0, || format!("/dev/hpet went back {back} times"));
    let rate = seen.clock("rate", "hpet");
    let (hz, bound_hz) = (number(&rate["frequency_hz"]), number(&rate["frequency_bound_hz"]));
    seen.expect((hz - 1e8).abs() <= bound_hz && bound_hz < 1e4, || {
        format!("/dev/hpet runs at {hz} ± {bound_hz} Hz instead of 100 MHz")
    });
    seen.found("/dev/hpet 10 ns".into());
    cost(seen);
    watch_record(seen, "watch", Served::OsClock, 1);
}

/// The power management timer runs at 3.579545 MHz.
pub(super) fn acpi_pm(seen: &mut Seen) {
    measured(seen, &["tsc", "monotonic", "clockscope.now"]);
    tick(seen, "monotonic", 1e3 / 3.579_545, 1e-4);
    cost(seen);
    watch_record(seen, "watch", Served::OsClock, 1);
}

/// Debian's kernels for virtual machines count 250 timer interrupts a second.
pub(super) fn jiffies(seen: &mut Seen) {
    measured(seen, &["monotonic", "clockscope.now"]);
    tick(seen, "monotonic", 4e6, 1e-6);
    cost(seen);
    watch_record(seen, "watch", Served::OsClock, 1);
}

/// The generic timer: readable, at the frequency that it states, and serving the library.
pub(super) fn arm64(seen: &mut Seen) {
    measured(seen, &["cntvct", "cntvct_isb", "monotonic", "clockscope.now"]);
    let nominal = seen.json("info")["environment"]["frequencies"]["cntfrq_hz"].clone();
    let rate = seen.clock("rate", "cntvct");
    let (hz, bound_hz) = (number(&rate["frequency_hz"]), number(&rate["frequency_bound_hz"]));
    // The kernel's own multiplier is rounded.
    let right = (hz - number(&nominal)).abs() <= bound_hz + 1e-6 * hz;
    seen.expect(right, || format!("cntvct runs at {hz} ± {bound_hz} Hz and states {nominal} Hz"));
    seen.found(format!("cntvct {:.3} MHz", hz / 1e6));
    tick(seen, "monotonic", 1e9 / number(&nominal), 1e-4);
    cost(seen);
    watch_record(seen, "watch", Served::Counter, 1);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::PC;
    use crate::frames::{Frame, Frames};

    fn judged(verdicts: Value) -> Vec<String> {
        let text = serde_json::json!({ "verdicts": verdicts }).to_string();
        let frames: Frames = BTreeMap::from([("check".into(), Frame { code: 0, text })]);
        let mut seen = Seen::new(frames);
        verdict(&PC, &mut seen);
        seen.end().1
    }

    #[test]
    fn verdicts_reasons_and_advice_are_compared() {
        let evidence = |finding: &str, check: &str, advice: Value| serde_json::json!({ "check": check, "finding": finding, "decides": finding == "against", "advice": advice });
        let statement =
            serde_json::json!({ "check": "nominal_frequency", "reported_by": "kernel", "finding": "for", "ppm": 0.1 });
        // It is booted with tsc=reliable.
        let kernels = evidence("against", "kernel_verdict", "remove it".into());
        let says = |verdict: &str, check: &str, advice: Value| {
            let counter = serde_json::json!({ "clock": "tsc", "verdict": verdict, "evidence": [evidence("against", check, advice), kernels, statement] });
            judged(serde_json::json!([counter, { "clock": "monotonic", "verdict": "trusted", "evidence": [] }]))
        };
        assert_eq!(says("limited", "invariance", "buy another".into()), [""; 0]);
        assert!(
            says("trusted", "invariance", "buy another".into())[0]
                .starts_with("check says of tsc \"trusted\" instead of limited")
        );
        assert!(says("limited", "weather", "wait".into())[0].starts_with("check of tsc is decided by"));
        assert!(says("limited", "invariance", Value::Null)[0].starts_with("no advice"));
        assert_eq!(judged(serde_json::json!([])).len(), 4);
    }

    #[test]
    fn a_clock_that_goes_back_is_wrong() {
        let watch = |regressions: u32, outside_ns: u32| {
            let text = serde_json::json!({
                "reads": 100_000, "regressions": regressions, "outside_ns": outside_ns, "bound_ns": 50, "generation": 1,
                "source_last": "Counter", "outcome": null,
            });
            let mut seen = Seen::new(BTreeMap::from([("watch".into(), Frame { code: 0, text: text.to_string() })]));
            watch_record(&mut seen, "watch", Served::Counter, 1);
            seen.end().1
        };
        assert_eq!(watch(0, 50), [""; 0]);
        assert_eq!(watch(1, 0), ["watch: now() went back 1 times"]);
        assert_eq!(watch(0, 51), ["watch: now() was 51 ns off, and its bound is 50 ns"]);
    }
}
