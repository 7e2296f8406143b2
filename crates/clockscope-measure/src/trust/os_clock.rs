//! What speaks for and against a clock of the operating system.

use clockscope::{Evidence, Finding};
use clockscope_machine::clocksource;
use clockscope_records::{Basis, CivilWorth, ClockRecord, RateRecord, ReadPath, Sequence};

use super::case::{Case, Gravity};
use super::events;
use super::seen::{SUSPECTED, SYSCALL, Seen, TRAPPED_NS, at_most_ns};
use crate::rate::base_name;

/// A clock that runs by more than this, in ppm, against the one that nobody steers is being slewed: a crystal is off by less.
const SLEWED_PPM: f64 = 200.0;
/// No steering makes a clock run by more than this, in ppm: adjtimex changes the length of a tick by a tenth at most.
const STEERABLE_PPM: f64 = 101_000.0;
/// A step of so many ns is no stopwatch's.
const COARSE_NS: f64 = 100_000.0;
/// A read that costs this share of a system call's is one.
const LIKE_A_SYSCALL: f64 = 0.7;
/// One that costs so many of them is more than that.
const FAR_ABOVE_A_SYSCALL: f64 = 10.0;

const REPORT: &str = "use another clock, and report it: the kernel promises that this one runs on and never goes back";
/// What to do about a clock that is coarse and says so, and about one that does not.
const COARSE_BY_DESIGN: &str = "measure only what is much longer by it, and the rest by monotonic";
const COARSE_UNAWARES: &str = "the kernel has no fine clocksource (boot without clocksource=jiffies, with HPET or ACPI timer enabled), or \
                               a preloaded library rounds it; until then measure only what is much longer";
const WAS_SET: &str = "measure durations by monotonic; somebody set this clock: look for NTP steps and settimeofday";

/// Its case. What was judged against the counter says nothing where there is doubt about that one.
/// `faults` are the counter's.
pub(super) fn judge(seen: &Seen, clock: &ClockRecord, doubt: Option<&str>, faults: &[&str]) -> Case {
    let label = clock.identity.label();
    let mut case = Case::of(&label);
    case.need(readable(seen, clock));
    if !clock.available {
        return case;
    }
    let is_wall = clock.identity.is_wall;
    // What monotonic shows as well is not somebody who sets the wall clock.
    let may_be_set = is_wall && !went_back(seen, "monotonic");
    let (advice, gravity) = if may_be_set { (WAS_SET, Gravity::Limits) } else { (REPORT, Gravity::Forbids) };
    let this = [clock];
    if !clock.identity.is_cpu_time {
        kernel_entry(seen, clock).into_iter().for_each(|evidence| case.add(evidence));
    }
    case.add(resolution(clock));
    stands_on_counter(seen, clock, faults).into_iter().for_each(|evidence| case.add(evidence));
    case.need(events::steps_back(&this, advice, gravity));
    case.add(events::standing(seen, &this, is_coarse(clock), Gravity::Forbids));
    if clock.identity.is_cpu_time {
        return case;
    }
    case.add(events::jumps(&this, doubt, advice, gravity));
    let handed_over: Vec<&Sequence> = seen.handed_over(&label).into_iter().collect();
    if !handed_over.is_empty() {
        case.add(events::order(seen, &handed_over, advice, gravity));
    }
    rate(seen, clock, advice, gravity).into_iter().for_each(|evidence| case.add(evidence));
    if is_wall {
        case.add(synchronization(seen));
    }
    case
}

/// Whether a clock went back, on one CPU or across CPUs.
fn went_back(seen: &Seen, name: &str) -> bool {
    let on_one = seen.clock(name).and_then(|clock| clock.events.as_ref()).is_some_and(|events| events.regression > 0);
    let across = seen.handed_over(name).and_then(|sequence| sequence.regressions).is_some_and(|count| count > 0);
    on_one || across
}

fn readable(seen: &Seen, clock: &ClockRecord) -> (Evidence, Gravity) {
    let name = "readable";
    let label = clock.identity.label();
    let compared = seen.rates.as_ref().ok().and_then(|rates| rates.clocks.iter().find(|rate| rate.name == label));
    let failed = compared.map(|rate| rate.errors).filter(|errors| *errors > 0);
    let failed = failed.map(|errors| format!("{errors} reads failed while its rate was compared"));
    let evidence = match clock.reason.as_ref().or(failed.as_ref()) {
        None => Evidence::new(name, Finding::For, "it answers"),
        Some(why) if clock.available => Evidence::new(name, Finding::Against, why.clone())
            .advise("look for what disturbed it (a seccomp filter that was installed under way?), and ask again"),
        Some(why) if why.contains("prctl") => Evidence::new(name, Finding::Against, why.clone())
            .advise("the vDSO reads the counter: find out who disabled it, or read by the bare system call"),
        Some(why) => Evidence::new(name, Finding::Against, why.clone())
            .advise("look for a seccomp filter, a sandbox or an old kernel that denies the call"),
    };
    (evidence.by("a trial read"), Gravity::Forbids)
}

/// A clock that the kernel computes from a counter that is at fault is no better, whether or not that showed.
fn stands_on_counter(seen: &Seen, clock: &ClockRecord, faults: &[&str]) -> Option<(Evidence, Gravity)> {
    let is_computed = clock.identity.basis == Basis::Clocksource
        && clock.identity.path == ReadPath::Libc
        && !clock.identity.is_coarse
        && seen
            .clocksource()
            .is_some_and(|name| seen.kernel.is_current == Some(true) || clocksource::is_scaled_counter(name));
    if !is_computed || faults.is_empty() {
        return None;
    }
    // That this process cannot read it says nothing of how the kernel reads it.
    let mut named: Vec<&str> = faults.iter().copied().filter(|fault| *fault != "readable").collect();
    named.dedup();
    if named.is_empty() {
        return None;
    }
    let text = format!("the kernel computes it from the counter, which is unfit: {}", named.join(", "));
    let advice = "have the kernel use another clocksource (clocksource=hpet or acpi_pm on its command line) until the counter is sound";
    let evidence = Evidence::new("counter", Finding::Against, text).by("the counter's verdict").advise(advice);
    Some((evidence, Gravity::Limits))
}

/// A clock whose readings step by as much as the timer tick.
fn is_coarse(clock: &ClockRecord) -> bool {
    step_ns(clock).is_some_and(|ns| ns >= COARSE_NS)
}

/// Returns its step by the lattice of its readings: found, or no larger than this, or the smallest
/// difference that was seen.
fn step_ns(clock: &ClockRecord) -> Option<f64> {
    clock.tick_ns.or_else(|| at_most_ns(clock)).or(clock.observed_resolution_ns)
}

/// A clock that is coarse by design is what it states to be.
fn resolution(clock: &ClockRecord) -> (Evidence, Gravity) {
    let (name, source) = ("resolution", "its readings");
    let is_meant = clock.identity.is_coarse;
    let claimed_ns = clock.nominal_resolution_ns.filter(|ns| *ns >= COARSE_NS && !is_meant);
    if let (Some(ns), None) = (claimed_ns, clock.tick_ns) {
        let seen = format!("its nominal resolution is {}", events::time(ns));
        let evidence = Evidence::new(name, Finding::Against, seen).advise(COARSE_BY_DESIGN);
        return (evidence.figure(ns, "ns").by("the interface"), Gravity::Limits);
    }
    let Some(ns) = step_ns(clock) else {
        let why = clock.unknown.get("tick_ns").cloned().unwrap_or_else(|| "no step was seen".to_owned());
        return (Evidence::new(name, Finding::Unknown, why).by(source), Gravity::Limits);
    };
    let or_less = if clock.tick_ns.is_none() { " or less" } else { "" };
    let seen = format!("its readings step by {}{or_less}", events::time(ns));
    let advice = if claimed_ns.is_some() { COARSE_BY_DESIGN } else { COARSE_UNAWARES };
    // What only bounds the step says nothing about it.
    let evidence = match (ns >= COARSE_NS && !is_meant, clock.tick_ns) {
        (true, None) => Evidence::new(name, Finding::Unknown, seen),
        (is_coarse, _) => events::against_if(is_coarse, name, seen, advice),
    };
    (evidence.figure(ns, "ns").by(source), Gravity::Limits)
}

/// Whether reading it enters the kernel although that could be avoided. Told by the clocksource, and by what it costs.
fn kernel_entry(seen: &Seen, clock: &ClockRecord) -> Option<(Evidence, Gravity)> {
    let name = "cost";
    let known = seen.clocksource().and_then(clocksource::known);
    let ns = clock.cost_ns.as_ref()?.median;
    let syscall_ns = seen.cost_ns(SYSCALL);
    let beside = syscall_ns.map_or_else(String::new, |ns| format!("; a system call of its kind costs {ns:.0} ns"));
    let text = format!("a read costs {ns:.1} ns{beside}");
    // A clock that the timer tick moves needs no counter; devices and calls by number are system calls by nature.
    let may_avoid = clock.identity.path == ReadPath::Libc && !clock.identity.is_coarse;
    let has_no_vdso = known.is_some_and(|known| known.vdso == Some(false));
    let costs_as_much = syscall_ns.is_some_and(|syscall| ns >= LIKE_A_SYSCALL * syscall);
    let against = |text: String, advice: &'static str| Evidence::new(name, Finding::Against, text).advise(advice);
    let emulators = seen.emulators();
    let evidence = if may_avoid && has_no_vdso && (costs_as_much || emulators.is_some()) {
        let current = seen.clocksource().unwrap_or_default();
        against(
            format!("with the clocksource {current} every read enters the kernel: {text}"),
            "have the kernel use the counter (see `clockscope clocksource`), or read less often; rdtscp or clockscope::now() are \
             cheaper where the counter's verdict permits them",
        )
    } else if let Some(emulators) = emulators {
        Evidence::new(name, Finding::Unknown, format!("{text}: of {emulators}, not of the machine"))
    } else if may_avoid && seen.is_trapped() && ns > TRAPPED_NS {
        against(format!("it reads the counter, which somebody traps: {text}"), "see the advice on the counter's cost")
    } else if may_avoid && syscall_ns.is_some_and(|syscall| ns > FAR_ABOVE_A_SYSCALL * syscall) {
        against(
            format!("it costs far more than entering the kernel does: {text}"),
            "look what slows it down: a hypervisor that traps, a debugger or ptrace, a preloaded library",
        )
    } else if may_avoid && costs_as_much {
        against(
            format!("a read costs as much as entering the kernel: {text}"),
            "look why the vDSO is not used: a C library that does not know it, a preloaded one that wraps it, vdso=0 on the kernel's \
             command line, gVisor, ptrace, or a time namespace on an old kernel",
        )
    } else {
        Evidence::new(name, Finding::For, text)
    };
    Some((evidence.figure(ns, "ns").by("batches of reads"), Gravity::Limits))
}

/// How it runs against the clock that nobody steers. NTP steers slowly: that is what it is for.
fn rate(seen: &Seen, clock: &ClockRecord, advice: &'static str, gravity: Gravity) -> Option<(Evidence, Gravity)> {
    let rates = match &seen.rates {
        Ok(rates) => rates,
        Err(why) => return Some(events::constancy(Err(why), advice, gravity)),
    };
    let label = clock.identity.label();
    if rates.reference_suspected {
        return Some(beside_suspected(&label, &rates.reference, advice, gravity));
    }
    let found = rates.clocks.iter().find(|rate| rate.name == label)?;
    // A step is no rate.
    Some(if found.step.is_some() { events::constancy(Ok(found), advice, gravity) } else { steered(found) })
}

/// The reference changed against all other clocks, and these not against each other.
fn beside_suspected(label: &str, reference: &str, advice: &'static str, gravity: Gravity) -> (Evidence, Gravity) {
    let name = "constant rate";
    let is_suspected = base_name(label) == base_name(reference);
    let evidence = if is_suspected {
        let seen = "all other clocks changed against it, and not against each other".to_owned();
        events::against_if(true, name, seen, advice)
    } else {
        Evidence::new(name, Finding::Unknown, SUSPECTED)
    };
    (evidence.by("brackets"), gravity)
}

fn steered(found: &RateRecord) -> (Evidence, Gravity) {
    let (name, source) = ("rate", "brackets");
    let (Some(ppm), Some(bound)) = (found.ppm, found.bound_ppm) else {
        let why = found.unknown.get("ppm").or(found.reason.as_ref()).cloned();
        let why = why.unwrap_or_else(|| "it was not compared".to_owned());
        return (Evidence::new(name, Finding::Unknown, why).by(source), Gravity::Limits);
    };
    let changing = if found.constant == Some(false) { ", and changes" } else { "" };
    let text = format!("it runs by {ppm:+.3} ± {bound:.3} ppm against {}{changing}", found.reference);
    let off = ppm.abs() - bound;
    let slewed =
        "it is being slewed (adjtime, chrony, ntpd): measure short durations by monotonic_raw until it has caught up";
    let (advice, gravity) = if off > STEERABLE_PPM { (REPORT, Gravity::Forbids) } else { (slewed, Gravity::Limits) };
    (events::within(ppm, bound, SLEWED_PPM, name, text, advice).figure(ppm, "ppm").by(source), gravity)
}

/// How well civil time is known, by what the error is worth that a daemon has stated.
fn synchronization(seen: &Seen) -> (Evidence, Gravity) {
    let (name, source) = ("synchronization", "adjtimex");
    let unknown = |text: &'static str| Evidence::new(name, Finding::Unknown, text);
    let Some(kernel) = seen.rates.as_ref().ok().and_then(|rates| rates.adjtimex.as_ref()) else {
        return (unknown("the kernel cannot be asked").by(source), Gravity::Told);
    };
    let advice = "let chronyd or ntpd keep the clock, if civil time matters";
    let evidence = match (kernel.worth, kernel.civil_error_s) {
        (Some(CivilWorth::Trusted), Some(s)) => {
            Evidence::new(name, Finding::For, format!("civil time is right within {s:.6} s")).figure(s, "s")
        }
        (Some(CivilWorth::WhileNotSlewing), Some(s)) => {
            let text = format!("civil time is right within {s:.6} s, unless its daemon is correcting it by the rate");
            Evidence::new(name, Finding::For, text).figure(s, "s")
        }
        (Some(CivilWorth::Slewing), _) => {
            unknown("civil time is being corrected by the clock's rate; how far it is off is not known")
        }
        (Some(CivilWorth::Worthless), _) => unknown(
            "the daemon that keeps civil time states no error: it sets that to zero, as timesyncd and phc2sys do, or has \
             only begun",
        )
        .advise(advice),
        (Some(CivilWorth::Unsynchronized), _) => unknown("nobody keeps civil time right").advise(advice),
        _ => unknown("what the stated error of civil time is worth is not known"),
    };
    (evidence.by(source), Gravity::Told)
}
