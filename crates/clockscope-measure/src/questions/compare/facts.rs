//! Other differences between records: the system, the program, the machine.

use std::collections::BTreeMap;
use std::fmt;

use clockscope_records::{
    ChangedFact, ClockRecord, ComparedFact, CounterFlags, Emulator, Envelope, Environment, FactValue, Figure,
    Measurement,
};
use clockscope_statistics::median;

/// Ticks that differ by more are different ones, as a share: their errors are far smaller.
const MIN_TICK_CHANGE: f64 = 0.01;

/// The values of a fact in the records of both sides, each once.
type Values = BTreeMap<(ComparedFact, Option<String>), [Vec<FactValue>; 2]>;

/// A fact of a machine by which another one is recognized; `None` if it is unknown.
type NamedFact = fn(&Environment) -> Option<String>;

/// Difference between two machines, as errors name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineDifference {
    fact: &'static str,
    values: [Option<String>; 2],
}

impl fmt::Display for MachineDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b] = self.values.each_ref().map(|value| value.as_deref().unwrap_or("unknown"));
        write!(f, "{} \"{a}\" and \"{b}\"", self.fact)
    }
}

/// Returns what differs between two machines; `None` for the same machine. Records have no number
/// of a machine: two of the same build are taken for one.
pub(super) fn other_machine(a: &Environment, b: &Environment) -> Option<MachineDifference> {
    let facts: [(_, NamedFact); 5] = [
        ("architecture", |of| Some(of.cpu.architecture.clone())),
        ("vendor", |of| of.cpu.vendor.known().cloned()),
        ("processor", |of| of.cpu.model.known().cloned()),
        ("hypervisor", |of| of.hypervisor.known().map(ToString::to_string)),
        ("system", |of| of.kernel.name.known().cloned()),
    ];
    let mut compared = facts.into_iter().map(|(fact, of)| MachineDifference { fact, values: [of(a), of(b)] });
    compared.find(|compared| compared.values[0] != compared.values[1]).or_else(|| other_identity(a, b))
}

/// Returns the difference of two processors of one name. Records that do not state family, model
/// and stepping may be of either.
fn other_identity(a: &Environment, b: &Environment) -> Option<MachineDifference> {
    let (one, other) = (a.cpu.identity.known()?, b.cpu.identity.known()?);
    (one != other).then(|| MachineDifference { fact: "processor", values: [a.cpu.name(), b.cpu.name()] })
}

/// The facts about machine, system and program that differ.
pub(super) fn changes_of_environments(sides: &[Vec<&Environment>; 2]) -> Vec<ChangedFact> {
    let mut values = Values::new();
    add_environments(&mut values, sides);
    changed(values)
}

/// The facts about machine, system and program that differ, and those that measurements have of
/// clocks and of their runs.
pub(super) fn changes_of_measurements(sides: &[Vec<&Envelope<Measurement>>; 2], clocks: &[String]) -> Vec<ChangedFact> {
    let mut values = Values::new();
    add_environments(&mut values, &sides.each_ref().map(|side| side.iter().map(|of| &of.environment).collect()));
    for (index, measurement) in
        sides.iter().enumerate().flat_map(|(index, side)| side.iter().map(move |of| (index, of)))
    {
        let run = measurement.run.as_ref();
        let cpu = run.and_then(|run| run.cpu.get());
        add(&mut values, index, (ComparedFact::MeasuredCpu, None), cpu.map(|cpu| FactValue::Number(cpu as u64)));
        let period = run.and_then(|run| run.timer_period_ns).map(|ns| FactValue::Time { ns: ns as f64 });
        add(&mut values, index, (ComparedFact::TimerPeriod, None), Some(period.unwrap_or(FactValue::Nothing)));
        let clock = measurement.found.advice.clock.known().cloned().map_or(FactValue::Nothing, FactValue::Name);
        add(&mut values, index, (ComparedFact::Recommendation, None), Some(clock));
    }
    for label in clocks {
        let records = sides.each_ref().map(|side| {
            let all = side.iter().flat_map(|measurement| &measurement.found.clocks);
            all.filter(|clock| clock.identity.label() == *label).collect::<Vec<&ClockRecord>>()
        });
        for (index, side) in records.iter().enumerate() {
            for clock in side {
                let readable = FactValue::Flag(clock.available);
                add(&mut values, index, (ComparedFact::Readable, Some(label.clone())), Some(readable));
            }
        }
        let ticks =
            records.map(|side| median(side.into_iter().filter_map(|clock| clock.tick_ns.get()).filter(|ns| *ns > 0.0)));
        if let [Some(base), Some(new)] = ticks
            && (new / base - 1.0).abs() > MIN_TICK_CHANGE
        {
            let ticks = [base, new].map(|ns| vec![FactValue::Time { ns }]);
            values.insert((ComparedFact::Tick, Some(label.clone())), ticks);
        }
    }
    changed(values)
}

fn add(values: &mut Values, index: usize, fact: (ComparedFact, Option<String>), value: Option<FactValue>) {
    let known = &mut values.entry(fact).or_default()[index];
    known.extend(value.filter(|value| !known.contains(value)));
}

/// Returns true if both have the same values, in whatever order.
fn are_same(base: &[FactValue], new: &[FactValue]) -> bool {
    base.len() == new.len() && base.iter().all(|value| new.contains(value))
}

/// Facts that have other values on one side than on the other. A fact that only one side knows is
/// one of them. A clock that only one side has is not, since it was not asked for there, nor is the
/// CPU where both sides have measured on one of them: by default it is the one that a run begins
/// on. Identity and microcode of the processor have changed if both sides state them: earlier
/// versions recorded neither.
fn changed(values: Values) -> Vec<ChangedFact> {
    let differing = values.into_iter().filter(|((fact, clock), [base, new])| match (fact, clock) {
        (_, Some(_)) | (ComparedFact::ProcessorIdentity | ComparedFact::Microcode, None) => {
            !are_same(base, new) && !base.is_empty() && !new.is_empty()
        }
        (ComparedFact::MeasuredCpu, None) => base.iter().all(|cpu| !new.contains(cpu)) && base.len() + new.len() > 0,
        _ => !are_same(base, new),
    });
    differing.map(|((fact, clock), [base, new])| ChangedFact { fact, clock, base, new }).collect()
}

fn add_environments(values: &mut Values, sides: &[Vec<&Environment>; 2]) {
    for (index, side) in sides.iter().enumerate() {
        for environment in side {
            for (fact, value) in of_environment(environment) {
                add(values, index, (fact, None), value);
            }
        }
    }
}

/// Joins those parts of a fact that are known.
fn joined(parts: [Option<&String>; 3]) -> Option<FactValue> {
    let known: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    let text = known.join(" ");
    if text.is_empty() { None } else { Some(FactValue::Name(text)) }
}

fn name(fact: &Figure<String>) -> Option<FactValue> {
    fact.known().cloned().map(FactValue::Name)
}

fn flag(fact: &Figure<bool>) -> Option<FactValue> {
    fact.get().map(FactValue::Flag)
}

fn of_environment(environment: &Environment) -> [(ComparedFact, Option<FactValue>); 14] {
    let Environment { cpu, kernel, program, .. } = environment;
    let emulators = environment.emulation.iter().map(|emulator| Emulator::as_str(emulator).to_owned()).collect();
    let program = FactValue::Program {
        version: program.version.clone(),
        target: program.target.clone(),
        debug_build: program.debug_build,
    };
    [
        (ComparedFact::Clocksource, name(&environment.clocksource)),
        (
            ComparedFact::ClocksourcesAvailable,
            environment.clocksources_available.known().cloned().map(FactValue::Names),
        ),
        (ComparedFact::Vdso, flag(&environment.vdso)),
        (ComparedFact::Kernel, joined([kernel.name.known(), kernel.release.known(), kernel.version.known()])),
        (ComparedFact::Program, Some(program)),
        (ComparedFact::Processor, joined([Some(&cpu.architecture), cpu.vendor.known(), cpu.model.known()])),
        (ComparedFact::ProcessorIdentity, cpu.identity.known().map(|one| FactValue::Name(one.to_string()))),
        (ComparedFact::Microcode, name(&cpu.microcode)),
        (ComparedFact::CpusOnline, cpu.online.get().map(|count| FactValue::Number(count as u64))),
        (ComparedFact::Hypervisor, environment.hypervisor.known().map(|one| FactValue::Name(one.to_string()))),
        (ComparedFact::CounterFlags, environment.counter_flags.known().map(flags)),
        (ComparedFact::CounterReadable, flag(&environment.counter_readable)),
        (ComparedFact::Governor, name(&environment.governor)),
        (ComparedFact::Emulation, Some(FactValue::Names(emulators))),
    ]
}

/// The flags that are set, by their names.
fn flags(flags: &CounterFlags) -> FactValue {
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
    let set = named.iter().filter(|(_, flag)| flag.get() == Some(true)).map(|(name, _)| (*name).to_owned());
    FactValue::Names(set.collect())
}
