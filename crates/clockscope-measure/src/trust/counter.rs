//! What speaks for and against the processor's counter.

use clockscope::{Evidence, Finding};
use clockscope_machine::frequencies;
use clockscope_records::{ClockRecord, OffsetPair, RateRecord, Sequence};

use super::case::{Case, Gravity};
use super::events;
use super::seen::{Mean, Seen, TRAPPED_NS, TWO_CPUS};

/// A claimed frequency that is further off than this, in ppm, is of no use: what NTP may steer at most.
const CLAIM_PPM: f64 = 500.0;
/// Offsets that are known to be less than this, in ns, are none.
const TOLD_NS: f64 = 10_000.0;
/// What a crystal's frequency moves by within seconds, in ppm.
const WANDER_PPM: f64 = 0.2;

const USE_OS: &str =
    "use the system's monotonic clock by system call, or clockscope's, which gives the counter up by itself";
const SYNCHRONISE: &str =
    "keep readings on one CPU, or use the system's clock; a newer firmware or hypervisor may synchronise the counters";

const SEE_WHY: &str = "see why with `clockscope clocksource`; until then the system's clock is the safe one";
const SEE_AND_REVALIDATE: &str =
    "see why with `clockscope clocksource`; where the counter is sound, clockscope::revalidate() takes it into use";

/// The counter's case; `None` where the architecture has none that is known.
pub(super) fn judge(seen: &Seen) -> Option<Case> {
    let counters: Vec<&ClockRecord> = seen.counters().collect();
    let plain = counters.first()?;
    let mut case = Case::of(&plain.identity.name);
    case.need(readable(&counters));
    case.need(invariance(seen));
    case.need(clocksource(seen));
    kernel_says(seen).into_iter().for_each(|evidence| case.add(evidence));
    case.add(hypervisor(seen));
    emulation(seen).into_iter().for_each(|evidence| case.add(evidence));
    let read: Vec<&ClockRecord> = counters.iter().copied().filter(|clock| clock.available).collect();
    if read.is_empty() {
        return Some(case);
    }
    case.add(events::steps_back(&read, USE_OS, Gravity::Forbids));
    case.add(events::standing(seen, &read, false, Gravity::Forbids));
    case.add(events::jumps(&read, seen.doubt(), USE_OS, Gravity::Forbids));
    let handed_over: Vec<&Sequence> =
        read.iter().filter_map(|clock| seen.handed_over(&clock.identity.label())).collect();
    case.need(events::order(seen, &handed_over, SYNCHRONISE, Gravity::Forbids));
    case.add(offsets(seen));
    case.need(constancy(seen));
    case.add(claims(seen));
    case.add(cost(seen));
    Some(case)
}

fn readable(counters: &[&ClockRecord]) -> (Evidence, Gravity) {
    let name = "readable";
    let refused = counters.iter().find(|clock| !clock.available).and_then(|clock| clock.reason.clone());
    let evidence = if counters.iter().any(|clock| clock.available) {
        Evidence::new(name, Finding::For, "this process can read it")
    } else {
        let why = refused.unwrap_or_else(|| "it cannot be read".to_owned());
        let advice = "find out who disabled it for this process (prctl PR_SET_TSC in a parent, a sandbox, a hypervisor); \
                      programs that read it, and the vDSO, die there";
        Evidence::new(name, Finding::Against, why).advise(advice)
    };
    (evidence.by("a trial read"), Gravity::Forbids)
}

fn invariance(seen: &Seen) -> (Evidence, Gravity) {
    let name = "invariance";
    let is_x86 = seen.environment.counter_flags.is_some();
    let source = if is_x86 { "CPUID 80000007h" } else { "the architecture" };
    let evidence = match seen.is_invariant {
        Some(true) => {
            Evidence::new(name, Finding::For, "the hardware promises a constant rate in all power states").word("yes")
        }
        Some(false) => Evidence::new(name, Finding::Against, "the hardware does not promise a constant rate")
            .word("no")
            .advise(
                "on a virtual machine pass the promise on (QEMU: -cpu host,+invtsc); on old hardware use the system's clock",
            ),
        None => Evidence::new(name, Finding::Unknown, "the hardware does not tell whether its rate is constant")
            .advise("use the system's clock, or compare rates over a long time: clockscope rate --until 0.01ppm"),
    };
    (evidence.by(source), Gravity::Limits)
}

/// Whether the kernel builds its clocks on it.
fn clocksource(seen: &Seen) -> (Evidence, Gravity) {
    let name = "clocksource";
    if let (Some(current), Some(former)) = (seen.clocksource(), &seen.turned_from) {
        let text = format!("the kernel turned from {former} to {current} while it was checked");
        let evidence =
            Evidence::new(name, Finding::Against, text).word(current.to_owned()).by("sysfs, current_clocksource");
        return (
            evidence.advise("find out why: `clockscope clocksource`, the kernel's log, or who switched it"),
            Gravity::Limits,
        );
    }
    let evidence = match (seen.clocksource(), seen.kernel.is_current) {
        (Some(current), Some(true)) => {
            Evidence::new(name, Finding::For, format!("the kernel builds its clocks on it ({current})"))
                .word(current.to_owned())
        }
        (Some(current), _) => {
            let advice = if seen.is_invariant == Some(true) { SEE_AND_REVALIDATE } else { SEE_WHY };
            let text = format!("the kernel builds its clocks on {current}");
            Evidence::new(name, Finding::Against, text).word(current.to_owned()).advise(advice)
        }
        (None, _) => Evidence::new(name, Finding::Unknown, "the kernel does not tell its clocksource").advise(
            "mount /sys into the container, and ask again; clockscope::revalidate() tests the counter without it",
        ),
    };
    (evidence.by("sysfs, current_clocksource"), Gravity::Limits)
}

/// Why the kernel does not use it. What the kernel calls a fault forbids its use.
fn kernel_says(seen: &Seen) -> Vec<(Evidence, Gravity)> {
    let name = "kernel's verdict";
    // A program that is emulated alone sees the host's log.
    if seen.kernel.is_current == Some(true) || seen.is_emulated_alone() {
        return Vec::new();
    }
    let reasons = seen.kernel.reasons.iter().map(|reason| {
        let gravity = if reason.is_fault { Gravity::Forbids } else { Gravity::Limits };
        let evidence = Evidence::new(name, Finding::Against, reason.seen.clone());
        (evidence.by(reason.source.clone()).advise(reason.advice.clone()), gravity)
    });
    let mut found: Vec<_> = reasons.collect();
    if let Some(why) = &seen.kernel.not_looked_at {
        let evidence = Evidence::new(name, Finding::Unknown, why.clone()).by("the kernel's log");
        found.push((
            evidence.advise("ask again as root: the log says why the kernel gave the counter up"),
            Gravity::Told,
        ));
    } else if found.is_empty() {
        let seen = "neither log nor command line says why the kernel does not use it";
        found.push((Evidence::new(name, Finding::Unknown, seen).by("the kernel's log"), Gravity::Told));
    }
    found
}

/// Under a hypervisor a counter may be scaled, trapped, or moved to another machine, without a word.
fn hypervisor(seen: &Seen) -> (Evidence, Gravity) {
    let name = "hypervisor";
    let is_known = |flag: Option<bool>| flag == Some(true);
    let states_frequency = seen.environment.frequencies.cpuid_40000010h_tsc_khz.is_some()
        || seen.environment.counter_flags.as_ref().is_some_and(|flags| is_known(flags.tsc_known_freq));
    let mut says: Vec<&str> = seen.advice.iter().map(|advice| advice.says).collect();
    if states_frequency {
        says.push("the kernel was told the counter's frequency");
    }
    let is_reliable =
        seen.advice.as_ref().map_or(states_frequency && is_known(seen.is_invariant), |advice| advice.is_reliable);
    let evidence = match seen.environment.hypervisor.as_deref() {
        Some("none") => Evidence::new(name, Finding::For, "there is none").word("none"),
        Some(hypervisor) => {
            let text = if says.is_empty() {
                "says nothing about the counter".to_owned()
            } else {
                format!("says: {}", says.join("; "))
            };
            let finding = if is_reliable { Finding::For } else { Finding::Unknown };
            let evidence = Evidence::new(name, finding, format!("{hypervisor} {text}")).word(hypervisor.to_owned());
            let advice =
                "check again after a migration or a restored snapshot: value and rate may be another machine's";
            if is_reliable { evidence } else { evidence.advise(advice) }
        }
        None => {
            let why = seen.environment.unknown.get("hypervisor").cloned();
            Evidence::new(
                name,
                Finding::Unknown,
                why.unwrap_or_else(|| "it is not known whether there is one".to_owned()),
            )
        }
    };
    (evidence.by("CPUID"), Gravity::Told)
}

fn emulation(seen: &Seen) -> Option<(Evidence, Gravity)> {
    let emulators = seen.emulators()?;
    let evidence = Evidence::new(
        "emulation",
        Finding::Unknown,
        format!("{emulators} emulates the counter: what is found holds for the emulator"),
    );
    Some((evidence.word(emulators).by("CPUID and /proc"), Gravity::Told))
}

/// How far the CPUs' counters are apart.
fn offsets(seen: &Seen) -> (Evidence, Gravity) {
    let (name, source) = ("offsets between CPUs", "exchanges");
    let found = &seen.offsets;
    let tested = found.pairs.iter().filter(|pair| pair.apart.is_some()).count();
    if tested == 0 {
        if seen.environment.cpu.online == Some(1) {
            return (Evidence::new(name, Finding::For, "there is one CPU").by("the system"), Gravity::Limits);
        }
        let why = found.untestable.clone().unwrap_or_else(|| "no pair of CPUs was tested".to_owned());
        return (Evidence::new(name, Finding::Unknown, why).by(source).advise(TWO_CPUS), Gravity::Limits);
    }
    if found.apart == 0 {
        let within = found.within_ns.map_or_else(String::new, |ns| format!(": they agree within {}", events::time(ns)));
        // A bound that is longer than any way between CPUs was not measured, but interrupted.
        let is_told = found.within_ns.is_some_and(|ns| ns <= TOLD_NS);
        let finding = if is_told { Finding::For } else { Finding::Unknown };
        let evidence = Evidence::new(name, finding, format!("no CPU's counter is certainly apart{within}"));
        let evidence = found.within_ns.map_or(evidence.clone(), |ns| evidence.figure(ns, "ns"));
        return (evidence.by(source), Gravity::Limits);
    }
    let furthest = found
        .pairs
        .iter()
        .filter(|pair| pair.apart == Some(true))
        .max_by(|one, other| apart_ns(one).total_cmp(&apart_ns(other)));
    let evidence = match furthest {
        Some(OffsetPair { a, b, offset_ns: Some(ns), bound_ns: Some(bound), .. }) => {
            let seen = format!(
                "the counter of CPU {b} is {} ± {} ahead of that of CPU {a}",
                events::time(*ns),
                events::time(*bound)
            );
            Evidence::new(name, Finding::Against, seen).figure(*ns, "ns")
        }
        Some(pair) => {
            let seen = format!("the counters of CPUs {} and {} drifted apart under way", pair.a, pair.b);
            Evidence::new(name, Finding::Against, seen)
        }
        None => Evidence::new(name, Finding::Against, format!("{} pairs of CPUs are apart", found.apart)),
    };
    (evidence.by(source).advise(SYNCHRONISE), Gravity::Limits)
}

/// What changed under way is as far apart as it likes.
fn apart_ns(pair: &OffsetPair) -> f64 {
    pair.offset_ns.map_or(f64::INFINITY, f64::abs)
}

/// The ordered sequence that was compared with the kernel's clock.
pub(super) fn rate(seen: &Seen) -> Result<&RateRecord, &str> {
    let rates = seen.rates.as_ref().map_err(String::as_str)?;
    let of_counter = |rate: &&RateRecord| seen.counters().any(|clock| clock.identity.label() == rate.name);
    rates.clocks.iter().find(of_counter).ok_or("the counter was not compared")
}

/// Whether its rate against the kernel's clock is constant.
fn constancy(seen: &Seen) -> (Evidence, Gravity) {
    let found = events::constancy(seen.doubt().map_or_else(|| rate(seen), Err), USE_OS, Gravity::Forbids);
    match changed_since(seen).filter(|_| found.0.finding != Finding::Against && seen.doubt().is_none()) {
        Some(seen) => (events::against_if(true, found.0.name, seen, USE_OS).by(found.0.source), found.1),
        None => found,
    }
}

/// What is said of a mean rate that was another one than that which was looked at: by more than both bounds, and than a
/// crystal wanders.
fn changed_since(seen: &Seen) -> Option<String> {
    let found = rate(seen).ok().and_then(|found| found.frequency_hz.zip(found.bound_ppm));
    seen.means.iter().find_map(|mean| match (*mean, found) {
        (Mean::WentBack, _) => Some("it stood still, or went back behind where it was when the check began".to_owned()),
        (Mean::Known { hz, bound_ppm }, Some((looked_at, bound))) => {
            let moved = (looked_at / hz - 1.0) * 1e6;
            (moved.abs() > bound_ppm + bound + WANDER_PPM).then(|| {
                format!(
                    "it ran at {:.6} MHz while it was looked at, and at {:.6} MHz on average: its rate changed, or it stepped",
                    looked_at / 1e6,
                    hz / 1e6
                )
            })
        }
        _ => None,
    })
}

/// By how much the claimed frequency is off, and by how much that may be, in ppm.
pub(super) fn claim_error_ppm(seen: &Seen) -> Option<(f64, f64)> {
    let (hz, _) = frequencies::nominal_hz(&seen.environment.frequencies)?;
    let rate = rate(seen).ok()?;
    Some(((hz / rate.frequency_hz? - 1.0) * 1e6, rate.bound_ppm?))
}

/// A frequency that is claimed and wrong misleads whoever uses it.
fn claims(seen: &Seen) -> (Evidence, Gravity) {
    let name = "claimed frequency";
    let (hz, who) = match frequencies::nominal_hz(&seen.environment.frequencies) {
        Some((hz, by)) => (hz, by.name()),
        None => {
            let why = "neither hardware nor hypervisor nor kernel state one to programs";
            return (Evidence::new(name, Finding::Unknown, why).by("CPUID and perf"), Gravity::Limits);
        }
    };
    let Some((ppm, bound)) = claim_error_ppm(seen) else {
        let why = format!("{:.6} MHz is claimed, and nothing was measured to compare it with", hz / 1e6);
        return (Evidence::new(name, Finding::Unknown, why).by(who), Gravity::Limits);
    };
    let text = format!(
        "{:.6} MHz is claimed, {ppm:+.3} ± {bound:.3} ppm from what was measured against the kernel's clock",
        hz / 1e6
    );
    let advice = "measure the frequency against the system's clock, as clockscope does, and do not use the claim; or the kernel's \
                  own clock is off: compare it with NTP (chronyc tracking)";
    let evidence = events::within(ppm, bound, CLAIM_PPM, name, text, advice);
    (evidence.figure(ppm, "ppm").by(who), Gravity::Limits)
}

/// What the cheapest ordered read costs: more than the system's own only where it is trapped.
fn cost(seen: &Seen) -> (Evidence, Gravity) {
    let (name, source) = ("cost", "batches of reads");
    let Some((clock, ns)) = seen.cheapest_ordered() else {
        return (Evidence::new(name, Finding::Unknown, "no batch was completed").by(source), Gravity::Limits);
    };
    let systems = seen.cost_ns("monotonic");
    let beside = systems.map_or_else(String::new, |ns| format!("; monotonic costs {ns:.1} ns"));
    let text = format!("{clock} costs {ns:.1} ns{beside}");
    if let Some(emulators) = seen.emulators() {
        let text = format!("{text}: of {emulators}, not of the machine");
        return (Evidence::new(name, Finding::Unknown, text).figure(ns, "ns").by(source), Gravity::Limits);
    }
    let advice = "every read is trapped, by a hypervisor (TSC scaling or offsetting without hardware support) or a debugger: read \
                  seldom, and look for the hypervisor's setting (Xen: tsc_mode=native; VirtualBox: TSCTiedToExecution off)";
    (events::against_if(ns > TRAPPED_NS, name, text, advice).figure(ns, "ns").by(source), Gravity::Limits)
}
