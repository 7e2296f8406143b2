//! What else differs between records: the system, the program, the machine.

use std::collections::{BTreeMap, BTreeSet};

use clockscope_records::units::time;
use clockscope_records::{
    ChangedFact, ClockRecord, ComparedFact, CounterFlags, Emulator, Envelope, Environment, Figure, Measurement,
};
use clockscope_statistics::quantile;

/// Ticks that differ by more are different ones, as a share: their errors are far smaller.
const OTHER_TICK: f64 = 0.01;

/// The values of a fact in the records of both sides.
type Values = BTreeMap<(ComparedFact, Option<String>), [BTreeSet<String>; 2]>;

/// Returns what differs between two machines; `None` for the same machine. Records have no number
/// of a machine: two of the same build are taken for one.
pub(super) fn other_machine(a: &Environment, b: &Environment) -> Option<String> {
    let text = |fact: &Figure<String>| fact.known().cloned().unwrap_or_else(|| "unknown".to_owned());
    let facts = [
        ["architecture".to_owned(), a.cpu.architecture.clone(), b.cpu.architecture.clone()],
        ["vendor".to_owned(), text(&a.cpu.vendor), text(&b.cpu.vendor)],
        ["processor".to_owned(), text(&a.cpu.model), text(&b.cpu.model)],
        ["hypervisor".to_owned(), hypervisor(a), hypervisor(b)],
        ["system".to_owned(), text(&a.kernel.name), text(&b.kernel.name)],
    ];
    let differing = facts.into_iter().find(|[_, a, b]| a != b);
    differing.map(|[fact, a, b]| format!("{fact} \"{a}\" and \"{b}\""))
}

fn hypervisor(environment: &Environment) -> String {
    environment.hypervisor.known().map_or_else(|| "unknown".to_owned(), ToString::to_string)
}

/// The facts about machine, system and program that differ.
pub(super) fn changes_of_environments(sides: &[Vec<&Environment>; 2]) -> Vec<ChangedFact> {
    let mut values = Values::new();
    add_environments(&mut values, sides);
    changed(values)
}

/// The same, and the facts that measurements have of clocks and of their runs.
pub(super) fn changes_of_measurements(sides: &[Vec<&Envelope<Measurement>>; 2], clocks: &[String]) -> Vec<ChangedFact> {
    let mut values = Values::new();
    add_environments(&mut values, &sides.each_ref().map(|side| side.iter().map(|of| &of.environment).collect()));
    for (place, measurement) in
        sides.iter().enumerate().flat_map(|(place, side)| side.iter().map(move |of| (place, of)))
    {
        let run = measurement.run.as_ref();
        let cpu = run.and_then(|run| run.cpu.get());
        add(&mut values, place, ComparedFact::MeasuredCpu, cpu.map(|cpu| cpu.to_string()));
        let period = run.and_then(|run| run.timer_period_ns).map_or_else(|| "none".to_owned(), |ns| time(ns as f64));
        add(&mut values, place, ComparedFact::TimerPeriod, Some(period));
        let clock = measurement.found.advice.clock.clone().unwrap_or_else(|| "none".to_owned());
        add(&mut values, place, ComparedFact::Recommendation, Some(clock));
    }
    for label in clocks {
        let records = sides.each_ref().map(|side| {
            let all = side.iter().flat_map(|measurement| &measurement.found.clocks);
            all.filter(|clock| clock.identity.label() == *label).collect::<Vec<&ClockRecord>>()
        });
        for (place, side) in records.iter().enumerate() {
            let readable = side.iter().map(|clock| if clock.available { "yes" } else { "no" }.to_owned());
            slot(&mut values, place, (ComparedFact::Readable, Some(label.clone()))).extend(readable);
        }
        let ticks = records.map(|side| middle_tick(&side));
        if let [Some(base), Some(new)] = ticks
            && (new / base - 1.0).abs() > OTHER_TICK
        {
            values.insert(
                (ComparedFact::Tick, Some(label.clone())),
                ticks.map(|tick| tick.map(time).into_iter().collect()),
            );
        }
    }
    changed(values)
}

fn middle_tick(clocks: &[&ClockRecord]) -> Option<f64> {
    let mut ticks: Vec<f64> = clocks.iter().filter_map(|clock| clock.tick_ns.get()).filter(|ns| *ns > 0.0).collect();
    ticks.sort_by(f64::total_cmp);
    quantile(&ticks, 0.5)
}

fn slot(values: &mut Values, place: usize, fact: (ComparedFact, Option<String>)) -> &mut BTreeSet<String> {
    &mut values.entry(fact).or_default()[place]
}

fn add(values: &mut Values, place: usize, fact: ComparedFact, value: Option<String>) {
    slot(values, place, (fact, None)).extend(value);
}

/// Facts that have other values on one side than on the other. A fact that only one side knows is
/// one of them. A clock that only one side has is not, since it was not asked for there, nor is the
/// CPU where both sides have measured on one of them: by default it is the one that a run begins
/// on.
fn changed(values: Values) -> Vec<ChangedFact> {
    let differing = values.into_iter().filter(|((fact, clock), [base, new])| match (fact, clock) {
        (_, Some(_)) => base != new && !base.is_empty() && !new.is_empty(),
        (ComparedFact::MeasuredCpu, None) => base.is_disjoint(new) && base.len() + new.len() > 0,
        _ => base != new,
    });
    let changed = differing.map(|((fact, clock), [base, new])| ChangedFact {
        fact,
        clock,
        base: base.into_iter().collect(),
        new: new.into_iter().collect(),
    });
    changed.collect()
}

fn add_environments(values: &mut Values, sides: &[Vec<&Environment>; 2]) {
    for (place, side) in sides.iter().enumerate() {
        for environment in side {
            for (fact, value) in of_environment(environment) {
                add(values, place, fact, value);
            }
        }
    }
}

fn of_environment(environment: &Environment) -> [(ComparedFact, Option<String>); 12] {
    let Environment { cpu, kernel, program, .. } = environment;
    let yes_no = |fact: &Figure<bool>| fact.get().map(|is| if is { "yes" } else { "no" }.to_owned());
    let parts = |parts: [Option<&String>; 3]| {
        let known: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
        Some(known.join(" ")).filter(|text| !text.is_empty())
    };
    let names = Emulator::names(&environment.emulation);
    let build = if program.debug_build { ", debug build" } else { "" };
    [
        (ComparedFact::Clocksource, environment.clocksource.known().cloned()),
        (ComparedFact::ClocksourcesAvailable, environment.clocksources_available.known().map(|all| all.join(" "))),
        (ComparedFact::Vdso, yes_no(&environment.vdso)),
        (ComparedFact::Kernel, parts([kernel.name.known(), kernel.release.known(), kernel.version.known()])),
        (ComparedFact::Program, Some(format!("{} ({}{build})", program.version, program.target))),
        (ComparedFact::Processor, parts([Some(&cpu.architecture), cpu.vendor.known(), cpu.model.known()])),
        (ComparedFact::CpusOnline, cpu.online.get().map(|count| count.to_string())),
        (ComparedFact::Hypervisor, environment.hypervisor.known().map(ToString::to_string)),
        (ComparedFact::CounterFlags, environment.counter_flags.known().map(flags)),
        (ComparedFact::CounterReadable, yes_no(&environment.counter_readable)),
        (ComparedFact::Governor, environment.governor.known().cloned()),
        (ComparedFact::Emulation, Some(if names.is_empty() { "none".to_owned() } else { names })),
    ]
}

/// The flags that are set, by their names.
fn flags(flags: &CounterFlags) -> String {
    let named = [
        ("tsc", &flags.tsc),
        ("rdtscp", &flags.rdtscp),
        ("constant_tsc", &flags.constant_tsc),
        ("nonstop_tsc", &flags.nonstop_tsc),
        ("tsc_adjust", &flags.tsc_adjust),
        ("tsc_deadline_timer", &flags.tsc_deadline_timer),
        ("tsc_known_freq", &flags.tsc_known_freq),
        ("invariant", &flags.invariant),
    ];
    let set = named.iter().filter(|(_, flag)| flag.get() == Some(true)).map(|(name, _)| *name);
    set.collect::<Vec<_>>().join(" ")
}
