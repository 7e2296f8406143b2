//! The environment as names and values, and what it makes of a conclusion.

use clockscope_records::{
    CounterFlags, Cpu, Emulator, Envelope, Environment, Figure, Hypervisor, MoveNotice, MoveNotices, Run,
};

use crate::model::{Block, Conclusion, Line, Tone};
use crate::report::Blocks;
use crate::style::View;
use crate::units::{PpmBound, megahertz, percent, time};
use crate::words::texts;

/// A line of the environment block.
pub(super) type Fact = (&'static str, String);

/// The head that all documents share: machine, time and, where there was one, the run.
pub(super) struct DocumentHead<'a> {
    environment: &'a Environment,
    recorded_at: Option<&'a str>,
    /// The facts of the run.
    run: Vec<Fact>,
    is_interrupted: bool,
    /// Share of the run for which the measuring thread waited for a CPU.
    busy_share: Option<f64>,
}

/// Share of a run from which on it is said that its thread waited for a CPU.
const BUSY_SHARE: f64 = 0.05;

impl<'a> DocumentHead<'a> {
    pub(super) fn of<F>(envelope: &'a Envelope<F>) -> Self {
        let Envelope { environment, recorded_at, run, .. } = envelope;
        Self {
            environment,
            recorded_at: recorded_at.as_deref(),
            run: run.as_ref().map(of_run).unwrap_or_default(),
            is_interrupted: run.as_ref().is_some_and(|run| run.interrupted),
            busy_share: run.as_ref().and_then(|run| Some(run.waited_s? / run.duration_s)),
        }
    }

    /// Adds facts about the measurement, and whether it was interrupted.
    pub(super) fn measured(mut self, run: impl IntoIterator<Item = Fact>, is_interrupted: bool) -> Self {
        self.run.extend(run);
        self.is_interrupted |= is_interrupted;
        self
    }

    pub(super) fn facts(&self) -> Vec<Fact> {
        of_machine(self.environment).into_iter().chain(self.recording()).collect()
    }

    /// The facts of the recording.
    fn recording(&self) -> Vec<Fact> {
        let recorded = self.recorded_at.unwrap_or("unknown (no wall clock could be read)").to_owned();
        std::iter::once(("recorded", recorded)).chain(self.run.iter().cloned()).collect()
    }

    pub(super) fn block(&self) -> Block {
        Block::environment(of_machine(self.environment), self.recording())
    }

    /// Names the machine: processor, kernel, clocksource and hypervisor, as far as they are known.
    fn machine(&self) -> Block {
        let Environment { cpu, kernel, clocksource, hypervisor, .. } = self.environment;
        let kernel = kernel.name.as_deref().map(|name| [Some(name), kernel.release.as_deref()]);
        let kernel = kernel.map(|names| names.into_iter().flatten().collect::<Vec<_>>().join(" "));
        let clocksource = clocksource.as_deref().map(|name| format!("clocksource {name}"));
        let cpu = cpu.name().unwrap_or_else(|| cpu.architecture.clone());
        let hypervisor = hypervisor.known().map(|found| match found {
            Hypervisor::None => "no hypervisor".to_owned(),
            Hypervisor::Named(name) => name.clone(),
        });
        let facts = [Some(cpu), kernel, clocksource, hypervisor].into_iter().flatten().collect::<Vec<_>>();
        Block::notes("", [Line::toned(facts.join(", "), Tone::Context)])
    }

    /// Makes a page: the conclusion with its reservations, those of other questions, what was
    /// found, and the machine.
    pub(super) fn page(&self, view: View, lines: Vec<String>, findings: Vec<String>, contents: Vec<Block>) -> Blocks {
        let mut above = vec![self.conclusion(lines, findings)];
        above.extend(contents);
        Blocks::around(if view.has_machine { self.block() } else { self.machine() }, above, Vec::new())
    }

    /// Makes a conclusion with the reservations that come first, and those of other questions after
    /// it.
    pub(super) fn conclusion(&self, lines: Vec<String>, findings: Vec<String>) -> Block {
        let interrupted = self.is_interrupted.then(|| "Interrupted: these are the figures until then.".to_owned());
        let busy = self.busy_share.filter(|share| *share >= BUSY_SHARE).map(|share| {
            let share = percent((share * 100.0).round().min(100.0));
            format!(
                "For {share} of the measurement, the thread waited for a CPU: other programs ran, or a quota was used \
                 up (`clockscope gaps` shows more)."
            )
        });
        let caveats = texts(interrupted.into_iter().chain(busy).chain(reservation(self.environment)));
        Block::Conclusion(Conclusion { caveats, lines: texts(lines), findings: texts(findings) })
    }
}

/// Facts about the machine.
fn of_machine(environment: &Environment) -> Vec<Fact> {
    let cpu = &environment.cpu;
    let kernel = &environment.kernel;
    let mut facts = vec![("CPU", format!("{} ({})", text(&cpu.model), cpu.architecture))];
    facts.extend(cpu_identity(cpu).map(|identity| ("CPU identity", identity)));
    facts.push(("CPUs", cpus(environment)));
    if let Some(flags) = environment.counter_flags.known() {
        facts.push(("TSC", generation(flags)));
        facts.push(("TSC flags", flags_line(flags, is_of_linux(environment))));
    }
    facts.push(("nominal frequency", nominal_frequencies(environment)));
    let readable =
        |is: &bool| if *is { "yes" } else { "no: disabled for this process by prctl(PR_SET_TSC)" }.to_owned();
    let of_linux = |is_known: bool, fact: Fact| (is_known || is_of_linux(environment)).then_some(fact);
    let fact = ("counter readable", fact_text(&environment.counter_readable, readable));
    facts.extend(of_linux(environment.counter_readable.is_known(), fact));
    facts.push(("hypervisor", fact_text(&environment.hypervisor, ToString::to_string)));
    facts.extend(move_notices(&environment.move_notices).map(|found| ("migration notice", found)));
    facts.push(("kernel", format!("{} {}", text(&kernel.name), text(&kernel.release))));
    let available =
        environment.clocksources_available.known().map_or_else(|| "unknown".to_owned(), |names| names.join(" "));
    let clocksource = |name: &String| format!("{name} (available: {available})");
    let fact = ("clocksource", fact_text(&environment.clocksource, clocksource));
    facts.extend(of_linux(environment.clocksource.is_known(), fact));
    let fact = ("vDSO", fact_text(&environment.vdso, |is| if *is { "present" } else { "absent" }.to_owned()));
    facts.extend(of_linux(environment.vdso.is_known(), fact));
    facts.extend(of_linux(environment.governor.is_known(), ("governor", text(&environment.governor))));
    let emulation = if environment.emulation.is_empty() {
        "none found".to_owned()
    } else {
        Emulator::names(&environment.emulation)
    };
    facts.push(("emulation", emulation));
    let build = if environment.program.debug_build { ", debug build" } else { "" };
    facts.push(("clockscope", format!("{} ({}{build})", environment.program.version, environment.program.target)));
    facts
}

/// Returns whether the system is Linux, of which it is always known whether it mapped a vDSO. Names
/// decide nothing.
fn is_of_linux(environment: &Environment) -> bool {
    environment.vdso.is_known()
}

/// Facts that Linux alone shows, by their paths in the record.
const OF_LINUX: [&str; 12] = [
    "move_notices.vm_generation",
    "move_notices.vmclock",
    "clocksource",
    "clocksources_available",
    "counter_flags.constant_tsc",
    "counter_flags.nonstop_tsc",
    "counter_flags.tsc_known_freq",
    "counter_readable",
    "cpu.microcode",
    "frequencies.perf_mmap_hz",
    "governor",
    "vdso",
];

/// Returns whether a fact that is unknown could be known on this system.
pub(super) fn is_missed(environment: &Environment, path: &str) -> bool {
    is_of_linux(environment) || !OF_LINUX.contains(&path)
}

/// Shows a fact, or why it is unknown.
fn fact_text<T>(fact: &Figure<T>, show: impl Fn(&T) -> String) -> String {
    match fact {
        Figure::Known(value) => show(value),
        Figure::Unknown(unknown) => format!("unknown ({})", unknown),
    }
}

fn text(fact: &Figure<String>) -> String {
    fact_text(fact, String::clone)
}

/// The devices that announce moves of the machine, as far as there are any.
fn move_notices(found: &MoveNotices) -> Option<String> {
    let named = [("VMClock", found.vmclock.get()), ("VM generation ID", found.vm_generation.get())];
    let lines = named.iter().filter_map(|(name, found)| {
        let state = match (*found)? {
            MoveNotice::Available => "available",
            MoveNotice::NotPermitted => "not permitted for this process",
            MoveNotice::KernelOnly => "used by the kernel alone",
            MoveNotice::NoDriver => "offered by the firmware, but no driver",
            MoveNotice::NotOffered => return None,
        };
        Some(format!("{name} ({state})"))
    });
    Some(lines.collect::<Vec<_>>().join(", ")).filter(|lines| !lines.is_empty())
}

/// The facts of a run.
fn of_run(run: &Run) -> Vec<Fact> {
    let timer = &run.timer;
    let pinned = match &run.cpu {
        Figure::Known(cpu) => format!("CPU {cpu}"),
        Figure::Unknown(unknown) => unknown.to_string(),
    };
    let requested =
        run.timer_period_ns.map(|ns| ("timer period", format!("{}, requested for the run", time(ns as f64))));
    let mut facts = vec![
        ("measured on", format!("{pinned}, for {}", time(run.duration_s * 1e9))),
        (
            "timed by",
            format!(
                "{}, {} ± {} ppm against {}",
                timer.name,
                megahertz(timer.frequency_hz),
                PpmBound(timer.frequency_bound_ppm),
                timer.reference
            ),
        ),
    ];
    facts.extend(requested);
    facts
}

/// A flag of the counter: its name, whether it is set, and what it means.
type Flag = (&'static str, Option<bool>, &'static str);

/// The flags as /proc/cpuinfo and Coreinfo name them; on other systems than Linux, without those
/// that its kernel decides.
pub(super) fn flags_of(environment: &Environment) -> Vec<Flag> {
    environment.counter_flags.known().map(|found| flags(found, is_of_linux(environment))).unwrap_or_default()
}

fn flags(flags: &CounterFlags, is_of_linux: bool) -> Vec<Flag> {
    let all = [
        ("tsc", flags.tsc.get(), "the time-stamp counter exists"),
        ("rdtscp", flags.rdtscp.get(), "the RDTSCP instruction exists"),
        ("constant_tsc", flags.constant_tsc.get(), "its rate does not follow the core's frequency (kernel)"),
        ("nonstop_tsc", flags.nonstop_tsc.get(), "it goes on in deep sleep states (kernel)"),
        ("tsc_adjust", flags.tsc_adjust.get(), "the register that shifts it exists"),
        ("tsc_deadline_timer", flags.tsc_deadline_timer.get(), "the local APIC can fire at a counter value"),
        ("tsc_known_freq", flags.tsc_known_freq.get(), "the kernel knows its frequency without measuring it (kernel)"),
        ("invariant", flags.invariant.get(), "constant rate in all power states (processor)"),
    ];
    let is_left_out = |flag: &Flag| !is_of_linux && flag.1.is_none() && BY_KERNEL.contains(&flag.0);
    all.into_iter().filter(|flag| !is_left_out(flag)).collect()
}

/// Flags that Linux's kernel decides.
const BY_KERNEL: [&str; 3] = ["constant_tsc", "nonstop_tsc", "tsc_known_freq"];

fn flags_line(found: &CounterFlags, is_of_linux: bool) -> String {
    let flags = flags(found, is_of_linux);
    let these =
        |wanted: Option<bool>| flags.iter().filter(move |flag| flag.1 == wanted).map(|flag| flag.0).collect::<Vec<_>>();
    let mut line = these(Some(true)).join(" ");
    for (wanted, word) in [(Some(false), "without"), (None, "unknown")] {
        let names = these(wanted);
        if !names.is_empty() {
            line.push_str(&format!("; {word}: {}", names.join(" ")));
        }
    }
    line
}

/// The counter's generation, and what says so.
fn generation(flags: &CounterFlags) -> String {
    let Figure::Known(is_invariant) = &flags.invariant else { return fact_text(&flags.invariant, |_| String::new()) };
    match (flags.tsc.get(), is_invariant, flags.constant_tsc.get()) {
        (Some(false), ..) => "absent (CPUID 1 EDX bit 4)",
        (_, true, _) => "invariant (CPUID 80000007h EDX bit 8)",
        (_, false, Some(true)) => {
            "constant: one rate, but it may stop in deep sleep states (Linux's flag constant_tsc)"
        }
        (_, false, Some(false)) => "variant: its rate follows the core's (neither invariant nor constant_tsc)",
        (_, false, None) => "not invariant (CPUID 80000007h EDX bit 8 is not set)",
    }
    .to_owned()
}

/// The numbers that identify the processor; `None` for records that do not state them.
fn cpu_identity(cpu: &Cpu) -> Option<String> {
    let identity = fact_text(&cpu.identity, ToString::to_string);
    match cpu.microcode.known() {
        Some(microcode) => Some(format!("{identity}, microcode {microcode}")),
        None if cpu.identity.is_unrecorded() => None,
        None => Some(identity),
    }
}

fn cpus(environment: &Environment) -> String {
    let online = fact_text(&environment.cpu.online, |count| format!("{count} online"));
    match environment.cpu.allowed.known() {
        Some(allowed) => format!("{online}, {} allowed to this process", allowed.len()),
        None => online,
    }
}

fn nominal_frequencies(environment: &Environment) -> String {
    let frequencies = &environment.frequencies;
    let nominal = [
        frequencies.cpuid_15h_hz.get().map(|hz| format!("{} (CPUID 15h)", megahertz(hz as f64))),
        frequencies.cpuid_16h_base_mhz.get().map(|mhz| format!("{mhz} MHz (CPUID 16h, base)")),
        frequencies
            .cpuid_40000010h_tsc_khz
            .get()
            .map(|khz| format!("{:.3} MHz (CPUID 40000010h)", f64::from(khz) / 1e3)),
        frequencies.cntfrq_hz.get().map(|hz| format!("{} (CNTFRQ_EL0)", megahertz(hz as f64))),
        frequencies.perf_mmap_hz.get().map(|hz| format!("{} (the kernel, by perf)", megahertz(hz))),
    ];
    let nominal: Vec<String> = nominal.into_iter().flatten().collect();
    if nominal.is_empty() { "none".to_owned() } else { nominal.join(", ") }
}

/// Reason why no statement about cost is made from a measurement; `None` if one may be.
fn reservation(environment: &Environment) -> Option<String> {
    if !environment.emulation.is_empty() {
        return Some(format!(
            "Measured under {}: the costs are the emulator's, not the machine's.",
            Emulator::names(&environment.emulation)
        ));
    }
    environment
        .program
        .debug_build
        .then(|| "A debug build: the costs are not those of the clocks. Use --release.".to_owned())
}

#[cfg(test)]
mod tests {
    use clockscope_records::Figure;

    use super::*;

    #[test]
    fn a_counter_has_the_generation_that_its_flags_say() {
        let of = |tsc: Option<bool>, invariant: Option<bool>, constant: Option<bool>| {
            let figure = |flag: Option<bool>| flag.map_or_else(Figure::default, Figure::Known);
            let flags = CounterFlags {
                tsc: figure(tsc),
                invariant: figure(invariant),
                constant_tsc: figure(constant),
                ..CounterFlags::default()
            };
            generation(&flags)
        };
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(of(yes, yes, yes), "invariant (CPUID 80000007h EDX bit 8)");
        assert_eq!(of(yes, yes, None), "invariant (CPUID 80000007h EDX bit 8)");
        assert!(of(yes, no, yes).starts_with("constant: "));
        assert!(of(yes, no, no).starts_with("variant: "));
        assert!(of(yes, no, None).starts_with("not invariant "));
        assert!(of(no, no, no).starts_with("absent "));
        assert!(of(yes, None, yes).starts_with("unknown ("), "{}", of(yes, None, yes));
    }
}
