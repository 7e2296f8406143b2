//! The environment as key and value, for table and Markdown.

use clockscope_records::{Announcement, Announcements, CounterFlags, Document, Environment, Run, Runtimes};

use crate::cells::{significant, time};

/// A line of the environment block.
pub(crate) type Fact = (&'static str, String);

/// The environment block of a document: the machine, when it was recorded, and how it was measured if it was.
pub(crate) fn of_document(document: &Document) -> Vec<Fact> {
    let (recorded_at, run) = match document {
        Document::Measurement(measurement) => {
            let mut run = of_run(&measurement.run);
            run.push(empty_loop(measurement.baseline.empty_loop_ns));
            (&measurement.recorded_at, run)
        }
        Document::Steps(steps) => (&steps.recorded_at, of_run(&steps.run)),
        Document::Plan(plan) => (&plan.recorded_at, Vec::new()),
        Document::Order(answer) => (&answer.recorded_at, of_run(&answer.run)),
        Document::Offsets(answer) => (&answer.recorded_at, of_run(&answer.run)),
        Document::Rates(answer) => (&answer.recorded_at, of_run(&answer.run)),
        Document::Gaps(answer) => (&answer.recorded_at, of_run(&answer.run)),
        Document::Sleep(answer) => (&answer.recorded_at, of_run(&answer.run)),
        Document::Check(answer) => (&answer.recorded_at, of_run(&answer.run)),
        Document::Shootout(answer) => (&answer.recorded_at, of_run(&answer.run)),
        Document::Clocksources(found) => (&found.recorded_at, Vec::new()),
        Document::Switched(found) => (&found.recorded_at, Vec::new()),
        Document::Runtimes(found) => (&found.recorded_at, of_runtimes(found)),
        Document::RuntimesFound(found) => (&found.recorded_at, Vec::new()),
        Document::Listing(listing) => (&listing.recorded_at, Vec::new()),
        Document::Info(info) => (&info.recorded_at, Vec::new()),
    };
    let recorded = recorded_at.as_deref().unwrap_or("unknown (no wall clock could be read)").to_owned();
    let mut facts = of_machine(document.environment());
    facts.push(("recorded", recorded));
    facts.extend(run);
    facts
}

/// Facts about the machine.
fn of_machine(environment: &Environment) -> Vec<Fact> {
    let unknown = |field: &str| match environment.unknown.get(field) {
        Some(reason) => format!("unknown ({reason})"),
        None => "unknown".to_owned(),
    };
    let or = |value: &Option<String>, field: &str| value.clone().unwrap_or_else(|| unknown(field));
    let cpu = &environment.cpu;
    let kernel = &environment.kernel;
    let mut facts = vec![("CPU", format!("{} ({})", or(&cpu.model, "cpu.model"), cpu.architecture))];
    facts.push(("CPUs", cpus(environment, &unknown)));
    if let Some(flags) = &environment.counter_flags {
        facts.push(("TSC", flags_line(flags)));
    }
    facts.push(("claimed frequency", claims(environment)));
    let readable = match environment.counter_readable {
        Some(true) => "yes".to_owned(),
        Some(false) => "no: disabled for this process by prctl(PR_SET_TSC)".to_owned(),
        None => unknown("counter_readable"),
    };
    facts.push(("counter readable", readable));
    facts.push(("hypervisor", or(&environment.hypervisor, "hypervisor")));
    facts.extend(announcements(&environment.announcements).map(|found| ("moves announced by", found)));
    facts.push(("kernel", format!("{} {}", or(&kernel.name, "kernel.name"), or(&kernel.release, "kernel.release"))));
    let available =
        environment.clocksources_available.as_ref().map_or_else(|| "unknown".to_owned(), |names| names.join(" "));
    facts.push((
        "clocksource",
        match &environment.clocksource {
            Some(name) => format!("{name} (available: {available})"),
            None => unknown("clocksource"),
        },
    ));
    facts.push((
        "vDSO",
        match environment.vdso {
            Some(true) => "present".to_owned(),
            Some(false) => "absent".to_owned(),
            None => unknown("vdso"),
        },
    ));
    facts.push(("governor", or(&environment.governor, "governor")));
    let emulation =
        if environment.emulation.is_empty() { "none found".to_owned() } else { environment.emulation.join(", ") };
    facts.push(("emulation", emulation));
    let build = if environment.program.debug_build { ", debug build" } else { "" };
    facts.push(("clockscope", format!("{} ({}{build})", environment.program.version, environment.program.target)));
    facts
}

/// The devices that announce moves of the machine, as far as there are any.
fn announcements(found: &Announcements) -> Option<String> {
    let named = [("VMClock", found.vmclock), ("VM generation ID", found.vm_generation)];
    let lines = named.iter().filter_map(|(name, found)| {
        let state = match (*found)? {
            Announcement::Available => "available",
            Announcement::NotPermitted => "not permitted for this process",
            Announcement::KernelOnly => "used by the kernel alone",
            Announcement::NoDriver => "offered by the firmware, but no driver",
            Announcement::NotOffered => return None,
        };
        Some(format!("{name} ({state})"))
    });
    Some(lines.collect::<Vec<_>>().join(", ")).filter(|lines| !lines.is_empty())
}

/// How the run was made.
fn of_run(run: &Run) -> Vec<Fact> {
    let timer = &run.timer;
    let pinned = match run.cpu {
        Some(cpu) => format!("CPU {cpu}"),
        None => run.unknown.get("cpu").cloned().unwrap_or_else(|| "unknown".to_owned()),
    };
    vec![
        ("measured on", format!("{pinned}, for {}", time(run.duration_s * 1e9))),
        (
            "timed by",
            format!(
                "{}, {:.6} MHz ± {:.3} ppm against {}",
                timer.name,
                timer.frequency_hz / 1e6,
                timer.frequency_bound_ppm,
                timer.reference
            ),
        ),
    ]
}

/// How runtimes were measured.
fn of_runtimes(found: &Runtimes) -> Vec<Fact> {
    let read = format!("{}, after its warm-up, bound to no CPU", time(found.duration_s * 1e9));
    let was = found.was.iter().map(|was| ("clocksource was", format!("{was}, before it was switched")));
    std::iter::once(("each API read for", read)).chain(was).collect()
}

fn empty_loop(ns: Option<f64>) -> Fact {
    let cost = match ns {
        Some(ns) => format!("{} ns a turn, not subtracted", significant(ns, 3)),
        None => "unknown (no batch was completed)".to_owned(),
    };
    ("empty loop", cost)
}

/// The flags with what they mean, as /proc/cpuinfo and Coreinfo name them.
pub(crate) fn flags(flags: &CounterFlags) -> [(&'static str, Option<bool>, &'static str); 8] {
    [
        ("tsc", flags.tsc, "the time-stamp counter exists"),
        ("rdtscp", flags.rdtscp, "the RDTSCP instruction exists"),
        ("constant_tsc", flags.constant_tsc, "its rate does not follow the core's frequency (kernel)"),
        ("nonstop_tsc", flags.nonstop_tsc, "it goes on in deep sleep states (kernel)"),
        ("tsc_adjust", flags.tsc_adjust, "the register that shifts it exists"),
        ("tsc_deadline_timer", flags.tsc_deadline_timer, "the local APIC can fire at a counter value"),
        ("tsc_known_freq", flags.tsc_known_freq, "the kernel was told its frequency (kernel)"),
        ("invariant", flags.invariant, "constant rate in all power states (processor)"),
    ]
}

/// `*` present, `-` absent, `?` unknown.
pub(crate) fn mark(flag: Option<bool>) -> &'static str {
    match flag {
        Some(true) => "*",
        Some(false) => "-",
        None => "?",
    }
}

fn flags_line(found: &CounterFlags) -> String {
    let flags = flags(found);
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

fn cpus(environment: &Environment, unknown: &impl Fn(&str) -> String) -> String {
    let online = environment.cpu.online.map_or_else(|| unknown("cpu.online"), |count| format!("{count} online"));
    match &environment.cpu.allowed {
        Some(allowed) => format!("{online}, {} allowed to this process", allowed.len()),
        None => online,
    }
}

fn claims(environment: &Environment) -> String {
    let claimed = &environment.frequencies;
    let claims = [
        claimed.cpuid_15h_hz.map(|hz| format!("{:.6} MHz (CPUID 15h)", hz as f64 / 1e6)),
        claimed.cpuid_16h_base_mhz.map(|mhz| format!("{mhz} MHz (CPUID 16h, base)")),
        claimed.cpuid_40000010h_tsc_khz.map(|khz| format!("{:.3} MHz (CPUID 40000010h)", f64::from(khz) / 1e3)),
        claimed.cntfrq_hz.map(|hz| format!("{:.6} MHz (CNTFRQ_EL0)", hz as f64 / 1e6)),
        claimed.perf_mmap_hz.map(|hz| format!("{:.6} MHz (the kernel, by perf)", hz / 1e6)),
    ];
    let claims: Vec<String> = claims.into_iter().flatten().collect();
    if claims.is_empty() { "none".to_owned() } else { claims.join(", ") }
}

/// Why no claim about cost is made from a measurement; `None` if one may be.
pub(crate) fn reservation(environment: &Environment) -> Option<String> {
    if !environment.emulation.is_empty() {
        return Some(format!(
            "Measured under {}: the costs are the emulator's, not the machine's.",
            environment.emulation.join(", ")
        ));
    }
    environment
        .program
        .debug_build
        .then(|| "A debug build: the costs are not those of the clocks. Use --release.".to_owned())
}
