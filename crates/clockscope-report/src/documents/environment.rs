//! The environment as names and values, and the reservations that follow from it.

use clockscope_records::{
    CounterFlags, Cpu, Emulator, Envelope, Environment, Figure, Hypervisor, MoveNotice, MoveNotices, Run,
};

use crate::model::{Block, Conclusion};
use crate::style::View;
use crate::units::{PpmBound, megahertz, percent, time};
use crate::words::{text_pairs, texts};

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

/// Smallest share of a run for which a wait for a CPU is reported.
const MIN_BUSY_SHARE: f64 = 0.05;

impl<'a> DocumentHead<'a> {
    pub(super) fn new<F>(envelope: &'a Envelope<F>) -> Self {
        let Envelope { environment, recorded_at, run, .. } = envelope;
        Self {
            environment,
            recorded_at: recorded_at.as_deref(),
            run: run.as_ref().map(run_facts).unwrap_or_default(),
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
        machine_facts(self.environment).into_iter().chain(self.recording()).collect()
    }

    /// The facts of the recording.
    fn recording(&self) -> Vec<Fact> {
        let recorded = self.recorded_at.unwrap_or("unknown (no wall clock could be read)").to_owned();
        std::iter::once(("recorded", recorded)).chain(self.run.iter().cloned()).collect()
    }

    pub(super) fn block(&self) -> Block {
        let machine = text_pairs(machine_facts(self.environment));
        Block::Environment { machine, recording: text_pairs(self.recording()) }
    }

    /// Names the machine: processor, kernel, clocksource and hypervisor, as far as they are known.
    fn machine(&self) -> Block {
        let Environment { cpu, kernel, clocksource, hypervisor, .. } = self.environment;
        let kernel = kernel.name.as_deref().map(|name| [Some(name), kernel.release.as_deref()]);
        let kernel = kernel.map(|names| names.into_iter().flatten().collect::<Vec<_>>().join(" "));
        let clocksource = clocksource.as_deref().map(|name| format!("clocksource {name}"));
        let cpu = cpu.design_name().unwrap_or_else(|| cpu.architecture.clone());
        let hypervisor = hypervisor.known().map(|found| match found {
            Hypervisor::None => "no hypervisor".to_owned(),
            Hypervisor::Named(name) => name.clone(),
        });
        let facts = [Some(cpu), kernel, clocksource, hypervisor].into_iter().flatten().collect::<Vec<_>>();
        Block::context(facts.join(", "))
    }

    /// Makes a page: the conclusion with its reservations, the conclusions of other questions, the
    /// contents, and the machine.
    pub(super) fn page(
        &self,
        view: View,
        lines: Vec<String>,
        findings: Vec<String>,
        contents: Vec<Block>,
    ) -> Vec<Block> {
        let mut blocks = vec![self.conclusion(lines, findings)];
        blocks.extend(contents);
        blocks.push(if view.has_machine { self.block() } else { self.machine() });
        blocks
    }

    /// Makes a conclusion after the reservations, and before the conclusions of other questions.
    pub(super) fn conclusion(&self, lines: Vec<String>, findings: Vec<String>) -> Block {
        let mut caveats = Vec::new();
        if self.is_interrupted {
            caveats.push("Interrupted: these are the figures until then.".to_owned());
        }
        if let Some(share) = self.busy_share
            && share >= MIN_BUSY_SHARE
        {
            let share = percent((share * 100.0).round().min(100.0));
            caveats.push(format!("{share} of the time went to other programs or a quota: see clockscope gaps."));
        }
        caveats.extend(reservation(self.environment));
        let caveats = caveats.into_iter().map(|caveat| format!("! {caveat}"));
        Block::Conclusion(Conclusion { caveats: texts(caveats), lines: texts(lines), findings: texts(findings) })
    }
}

/// Facts about the machine.
fn machine_facts(environment: &Environment) -> Vec<Fact> {
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
    let readable = fact_text(&environment.counter_readable, |is| {
        if *is { "yes" } else { "no: disabled for this process by prctl(PR_SET_TSC)" }.to_owned()
    });
    facts.push(("counter readable", readable));
    facts.push(("hypervisor", fact_text(&environment.hypervisor, ToString::to_string)));
    facts.extend(move_notices(&environment.move_notices).map(|found| ("migration notice", found)));
    facts.push(("kernel", format!("{} {}", text(&kernel.name), text(&kernel.release))));
    let available =
        environment.clocksources_available.known().map_or_else(|| "unknown".to_owned(), |names| names.join(" "));
    let clocksource = fact_text(&environment.clocksource, |name| format!("{name} (available: {available})"));
    facts.push(("clocksource", clocksource));
    facts.push(("vDSO", fact_text(&environment.vdso, |is| if *is { "present" } else { "absent" }.to_owned())));
    facts.push(("governor", text(&environment.governor)));
    let is_linux = is_of_linux(environment);
    facts.retain(|(fact, _)| match *fact {
        "counter readable" => is_linux || environment.counter_readable.is_known(),
        "clocksource" => is_linux || environment.clocksource.is_known(),
        "governor" => is_linux || environment.governor.is_known(),
        "vDSO" => is_linux,
        _ => true,
    });
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

/// Returns whether the system is Linux: only there it is known whether there is a vDSO.
fn is_of_linux(environment: &Environment) -> bool {
    environment.vdso.is_known()
}

/// Facts that only Linux shows, by their paths in the record.
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

/// Returns whether a fact that is unknown could be known on this system and processor.
pub(super) fn is_missed(environment: &Environment, path: &str) -> bool {
    let architecture = &environment.cpu.architecture;
    let is_of_other = path.starts_with("frequencies.cpuid") && !architecture.starts_with("x86")
        || path.starts_with("frequencies.cntfrq") && !architecture.starts_with("aarch64");
    !is_of_other && (is_of_linux(environment) || !OF_LINUX.contains(&path))
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

/// Lists the devices that announce migrations of the machine; `None` if there are none.
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
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { None } else { Some(lines.join(", ")) }
}

/// Facts about a run.
fn run_facts(run: &Run) -> Vec<Fact> {
    let timer = &run.timer;
    let pinned = match &run.cpu {
        Figure::Known(cpu) => format!("CPU {cpu}"),
        Figure::Unknown(unknown) => unknown.to_string(),
    };
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
    if let Some(ns) = run.timer_period_ns {
        facts.push(("timer period", format!("{}, requested for the run", time(ns as f64))));
    }
    facts
}

/// A flag of the counter: its name, its state if known, and its meaning.
type Flag = (&'static str, Option<bool>, &'static str);

/// Returns the flags as /proc/cpuinfo and Coreinfo name them; on systems other than Linux without
/// unknown flags of Linux's kernel.
pub(super) fn flags_of(environment: &Environment) -> Vec<Flag> {
    environment.counter_flags.known().map(|found| flags(found, is_of_linux(environment))).unwrap_or_default()
}

fn flags(flags: &CounterFlags, is_of_linux: bool) -> Vec<Flag> {
    let mut all = vec![
        ("tsc", flags.tsc.get(), "the time-stamp counter exists"),
        ("rdtscp", flags.rdtscp.get(), "the RDTSCP instruction exists"),
        ("constant_tsc", flags.constant_tsc.get(), "its rate does not follow the core's frequency (kernel)"),
        ("nonstop_tsc", flags.nonstop_tsc.get(), "it keeps running in deep sleep states (kernel)"),
        ("tsc_adjust", flags.tsc_adjust.get(), "its offset register exists (IA32_TSC_ADJUST)"),
        ("tsc_deadline_timer", flags.tsc_deadline_timer.get(), "the local APIC can fire at a counter value"),
        ("tsc_known_freq", flags.tsc_known_freq.get(), "its frequency is known without measuring it (kernel)"),
        ("invariant", flags.invariant.get(), "constant rate in all power states (processor)"),
    ];
    all.retain(|(name, flag, _)| is_of_linux || flag.is_some() || !BY_KERNEL.contains(name));
    all
}

/// Flags of Linux's kernel.
const BY_KERNEL: [&str; 3] = ["constant_tsc", "nonstop_tsc", "tsc_known_freq"];

fn flags_line(found: &CounterFlags, is_of_linux: bool) -> String {
    let flags = flags(found, is_of_linux);
    let mut line = String::new();
    for (wanted, prefix) in [(Some(true), ""), (Some(false), "; without: "), (None, "; unknown: ")] {
        let names: Vec<&str> = flags.iter().filter(|flag| flag.1 == wanted).map(|flag| flag.0).collect();
        if !names.is_empty() {
            line.extend([prefix, &names.join(" ")]);
        }
    }
    line
}

/// Names the counter's generation, and the flag that shows it.
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

/// Returns the numbers that identify the processor; `None` for records without them.
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

/// Returns the reason why the costs are not those of the clocks, if there is one.
fn reservation(environment: &Environment) -> Option<String> {
    if !environment.emulation.is_empty() {
        return Some(format!(
            "Measured under {}: the costs are the emulator's, not the machine's.",
            Emulator::names(&environment.emulation)
        ));
    }
    if environment.program.debug_build {
        return Some("A debug build: the costs are not those of the clocks. Use --release.".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use clockscope_records::Figure;

    use super::*;

    #[test]
    fn a_counter_has_the_generation_that_its_flags_say() {
        let (yes, no) = (Some(true), Some(false));
        for (tsc, invariant, constant_tsc, expected) in [
            (yes, yes, yes, "invariant (CPUID 80000007h EDX bit 8)"),
            (yes, yes, None, "invariant (CPUID 80000007h EDX bit 8)"),
            (yes, no, yes, "constant: "),
            (yes, no, no, "variant: "),
            (yes, no, None, "not invariant "),
            (no, no, no, "absent "),
            (yes, None, yes, "unknown ("),
        ] {
            let [tsc, invariant, constant_tsc] =
                [tsc, invariant, constant_tsc].map(|flag| flag.map_or_else(Figure::default, Figure::Known));
            let generation = generation(&CounterFlags { tsc, invariant, constant_tsc, ..CounterFlags::default() });
            assert!(generation.starts_with(expected), "{generation}");
        }
    }
}
