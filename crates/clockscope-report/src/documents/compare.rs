//! Changes between records.

mod charts;

use clockscope_records::units::figure;
use clockscope_records::{
    AppearedEvents, Bounds, ChangedFact, ClockComparison, ComparedFact, ComparedSide, ComparedVerdict, Comparison,
    CostChange, FactValue, FaultKind, MachineComparison, Trustworthiness, Undecided,
};
use serde_json::Value;

use super::environment::Fact;
use super::question_page::QuestionPage;
use crate::model::{Block, Cell, Line, Row, Table, Tone};
use crate::sheet::Sheet;
use crate::style::View;
use crate::units::{cost, percent, time};
use crate::words::{by_reason, counted, grouped, sentence, yes_no};

/// Heads of the table; the last one only in views that show all.
const HEAD: [&str; 6] = ["Clock", "Change", "Base", "New", "Ratio", "Relative to machine"];

/// Columns of a spreadsheet of costs.
const COSTS: &str = "\
    name change undecided base_ns new_ns ratio=ratio.estimate ratio_low=ratio.low ratio_high=ratio.high \
    own=own.estimate own_low=own.low own_high=own.high difference_low_ns=difference_ns.0 \
    difference_high_ns=difference_ns.1 basis base_runs=runs.0 new_runs=runs.1 unknown";

/// Columns of a spreadsheet of verdicts.
const VERDICTS: &str = "clock base new";

/// Most clocks that a conclusion names.
const MAX_NAMES: usize = 3;

impl QuestionPage for Comparison {
    const LINES: &'static [(&'static str, &'static str)] =
        &[("changes", "change"), ("verdicts", "verdict"), ("clocks", "clock")];

    fn blocks(&self, view: View) -> Vec<Block> {
        let verdicts = self.verdicts.iter().filter(|verdict| verdict.base != verdict.new).map(verdict_line);
        let facts = self.changes.iter().map(|change| Line::from(fact_line(change)));
        let columns = if view.is_all { HEAD.len() } else { HEAD.len() - 1 };
        let rows = self.clocks.iter().filter(|clock| clock.ratio.is_known()).map(|clock| row(clock, columns));
        let mut table = Table::new(HEAD.into_iter().take(columns), 2, rows).below(legend(self));
        table.omitted = Some("clocks");
        let appeared = self.clocks.iter().flat_map(|clock| {
            clock.appeared.iter().flatten().map(|events| Line::toned(appeared_line(&clock.name, events), Tone::Bad))
        });
        let undecided = self.clocks.iter().filter_map(|clock| Some((clock.name.clone(), clock.undecided?)));
        let (left_out, open): (Vec<_>, Vec<_>) = undecided.partition(|(_, reason)| *reason == Undecided::NotCompared);
        let [left_out, open] = [left_out, open]
            .map(|clocks| by_reason(clocks.into_iter().map(|(clock, reason)| (clock, undecided_reason(reason)))));
        let same = self.verdicts.iter().filter(|verdict| verdict.base == verdict.new);
        let same = same.map(|verdict| format!("{}: {}", verdict.clock, verdict.base));
        let [costs, ratios] = charts::charts(self);
        vec![
            Block::notes("Changed:", verdicts.chain(facts).collect::<Vec<_>>()),
            table.into(),
            ratios.into(),
            costs.into(),
            Block::notes("Faults that the base does not have:", appeared.collect::<Vec<_>>()),
            Block::notes("Inconclusive:", open),
            Block::notes("Not compared:", left_out),
            Block::notes("Verdicts that are the same:", same),
        ]
    }

    fn how(&self) -> Vec<Fact> {
        let mut facts = vec![("base", records(&self.base)), ("new", records(&self.new))];
        if self.machine.is_some() {
            facts.push(("margin", percent(self.margin * 100.0)));
            facts.push(("error rate", format!("{} at most, for all clocks together", percent(self.misrate * 100.0))));
        }
        facts
    }

    fn conclusion(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.is_other_machine {
            lines.push("The records are of different machines.".to_owned());
        }
        match &self.machine {
            Some(machine) => {
                lines.extend(clocksource(self));
                lines.push(costs(self));
                lines.extend(speed(machine));
            }
            None => {
                lines.push(verdicts(&self.verdicts));
                lines.extend(clocksource(self));
            }
        }
        let faulty = self.clocks.iter().filter(|clock| has_faults(clock)).map(|clock| clock.name.clone());
        if let Some(names) = shortened(faulty.collect()) {
            lines.push(format!("Readings show FAULTS that the base does not have: {names}."));
        }
        lines
    }

    fn sheet(&self, record: &Value) -> Sheet {
        match self.machine {
            Some(_) => Sheet::of_list(record, "clocks", COSTS),
            None => Sheet::of_list(record, "verdicts", VERDICTS),
        }
    }
}

/// The origin of a side's records.
fn records(side: &ComparedSide) -> String {
    let runs = counted(side.runs.into(), "run");
    let times = match (&side.first_recorded_at, &side.last_recorded_at) {
        (Some(first), Some(last)) if first == last => format!(", {first}"),
        (Some(first), Some(last)) => format!(", {first} to {last}"),
        _ => String::new(),
    };
    let files = match side.files.as_slice() {
        [] => "measured now".to_owned(),
        [file] => file.clone(),
        [first, .., last] => format!("{} files, {first} to {last}", side.files.len()),
    };
    format!("{files} ({runs}{times})")
}

fn verdict_line(verdict: &ComparedVerdict) -> Line {
    let tone = match (verdict.base, verdict.new) {
        // One of them may have been any.
        (_, Trustworthiness::Undecided) => Tone::Warning,
        (Trustworthiness::Undecided, new) if new < Trustworthiness::Trusted => Tone::Warning,
        (base, new) if new < base => Tone::Bad,
        _ => Tone::Good,
    };
    let text = format!("{}: was {}, is {}", verdict.clock, verdict.base, verdict.new);
    Line::toned(text, tone)
}

fn fact_line(change: &ChangedFact) -> String {
    let clock = change.clock.as_ref().map(|clock| format!(" of {clock}")).unwrap_or_default();
    let [base, new] = [&change.base, &change.new].map(|values| match values.as_slice() {
        [] => "unknown".to_owned(),
        values => values.iter().map(value).collect::<Vec<_>>().join(" or "),
    });
    format!("{}{clock}: was {base}, is {new}", fact_name(change.fact))
}

fn value(value: &FactValue) -> String {
    match value {
        FactValue::Nothing => "none".to_owned(),
        FactValue::Flag(is) => yes_no(*is).to_owned(),
        FactValue::Number(number) => number.to_string(),
        FactValue::Time { ns } => time(*ns),
        FactValue::Name(name) => name.clone(),
        FactValue::Names(names) if names.is_empty() => "none".to_owned(),
        FactValue::Names(names) => names.join(" "),
        FactValue::Program { version, target, debug_build } => {
            format!("{version} ({target}{})", if *debug_build { ", debug build" } else { "" })
        }
    }
}

const fn fact_name(fact: ComparedFact) -> &'static str {
    match fact {
        ComparedFact::Clocksource => "clocksource",
        ComparedFact::ClocksourcesAvailable => "available clocksources",
        ComparedFact::Vdso => "vDSO",
        ComparedFact::Recommendation => "recommended clock",
        ComparedFact::Readable => "readable",
        ComparedFact::Tick => "tick",
        ComparedFact::Kernel => "kernel",
        ComparedFact::Program => "clockscope",
        ComparedFact::Processor => "CPU",
        ComparedFact::ProcessorIdentity => "CPU identity",
        ComparedFact::Microcode => "microcode",
        ComparedFact::CpusOnline => "CPUs online",
        ComparedFact::Hypervisor => "hypervisor",
        ComparedFact::CounterFlags => "flags of the counter",
        ComparedFact::CounterReadable => "counter readable",
        ComparedFact::Governor => "governor",
        ComparedFact::Emulation => "emulation",
        ComparedFact::MeasuredCpu => "measured on CPU",
        ComparedFact::TimerPeriod => "timer period",
    }
}

fn row(clock: &ClockComparison, columns: usize) -> Row {
    let tone = match clock.change {
        CostChange::Slower => Tone::Bad,
        CostChange::Faster | CostChange::Same => Tone::Good,
        CostChange::Inconclusive => Tone::Normal,
    };
    let is_changed = matches!(clock.change, CostChange::Slower | CostChange::Faster);
    let mut cells = vec![
        clock.name.as_str().into(),
        Cell::word(clock.change.as_str(), tone),
        Cell::known(clock.base_ns.get(), cost),
        Cell::known(clock.new_ns.get(), cost),
        Cell::known(clock.ratio.get(), with_bounds),
        Cell::known(clock.own.get(), with_bounds),
    ];
    cells.truncate(columns);
    Row { cells, weight: is_changed.into(), ..Row::default() }
}

/// Shows a ratio with its bounds.
fn with_bounds(ratio: Bounds) -> String {
    let Bounds { estimate, low, high } = ratio;
    let [estimate, low, high] = [estimate, low, high].map(times);
    format!("{estimate} [{low}, {high}]")
}

/// Shows a factor: with three decimals from 0.1 to 10, otherwise with three digits.
fn times(factor: f64) -> String {
    if (0.1..10.0).contains(&factor) { format!("{factor:.3}") } else { figure(factor, 3) }
}

/// The meaning of the columns.
fn legend(found: &Comparison) -> Vec<String> {
    if found.clocks.iter().all(|clock| !clock.ratio.is_known()) {
        return Vec::new();
    }
    let mut lines = vec![format!(
        "Ratio: new cost / base cost [bounds]. Slower or faster: beyond {} both in ns and relative to the machine; same: \
         within it.",
        percent(found.margin * 100.0)
    )];
    let no_own = found.clocks.iter().filter(|clock| clock.ratio.is_known());
    lines.extend(by_reason(
        no_own.filter_map(|clock| Some((format!("? {} relative to the machine", clock.name), clock.own.why()?))),
    ));
    lines
}

const fn undecided_reason(undecided: Undecided) -> &'static str {
    match undecided {
        Undecided::NotCompared => "name them (--clock) or ask for all (--all), which widens the bounds of the others",
        Undecided::NotMeasured => "a side has no measured cost",
        Undecided::OneRun => {
            "one run a side does not show how much runs differ: record for 1.6 s or more, which is 16 runs"
        }
        Undecided::NoRounds => {
            "one run a side, and a record without rounds: record for 1.6 s or more, which is 16 runs"
        }
        Undecided::FewRuns => {
            "fewer than five runs on a side do not show how much runs differ: record for 1.6 s or more, which is 16 runs"
        }
        Undecided::WideBounds => {
            "the bounds include both a change and none: --repeat 30 or fewer clocks (--clock) narrow them"
        }
        Undecided::Emulated => "an emulator ran the program, and costs are its own",
        Undecided::DebugBuild => "only some records are of a debug build",
    }
}

fn appeared_line(clock: &str, events: &AppearedEvents) -> String {
    let AppearedEvents { event, count, reads, base_reads } = *events;
    let what = match event {
        FaultKind::Regression => "regression",
        FaultKind::HiddenRegression => "hidden regression",
        FaultKind::Jump => "jump",
        FaultKind::Stuck => "stuck run",
        FaultKind::Error => "failed read",
    };
    format!("{clock}: {} in {} reads, none in {} before", counted(count, what), grouped(reads), grouped(base_reads))
}

fn has_faults(clock: &ClockComparison) -> bool {
    clock.appeared.as_ref().is_some_and(|events| !events.is_empty())
}

fn clocksource(found: &Comparison) -> Option<String> {
    let change = found.changes.iter().find(|change| change.fact == ComparedFact::Clocksource)?;
    Some(sentence(fact_line(change).replacen("clocksource: was", "The clocksource was", 1)))
}

fn verdicts(verdicts: &[ComparedVerdict]) -> String {
    let changed = verdicts.iter().filter(|verdict| verdict.base != verdict.new);
    let changed = changed.map(|verdict| format!("{} was {}, is {}", verdict.clock, verdict.base, verdict.new));
    match (verdicts.len(), shortened(changed.collect())) {
        (_, Some(changed)) => format!("Verdicts CHANGED: {changed}."),
        (0, None) => "No clock has a verdict on both sides.".to_owned(),
        (1, None) => "The verdict is the same.".to_owned(),
        (count, None) => format!("All {count} verdicts are the same."),
    }
}

/// Names the clocks that are slower or faster, and counts those that could be judged.
fn costs(found: &Comparison) -> String {
    let compared: Vec<&ClockComparison> = found.clocks.iter().filter(|clock| clock.ratio.is_known()).collect();
    if compared.is_empty() {
        return "No clock has a cost on both sides.".to_owned();
    }
    let [slower, faster, same, open] =
        [CostChange::Slower, CostChange::Faster, CostChange::Same, CostChange::Inconclusive]
            .map(|change| compared.iter().copied().filter(|clock| clock.change == change).collect::<Vec<_>>());
    let mut parts = Vec::new();
    for (word, clocks) in [("SLOWER", &slower), ("Faster", &faster)] {
        parts.extend(named(clocks).map(|names| format!("{word}: {names}.")));
    }
    if parts.is_empty() {
        parts.push("No clock is known to be slower or faster.".to_owned());
    }
    let [slower, faster, same, open] = [slower, faster, same, open].map(|clocks| clocks.len());
    let all = counted(compared.len() as u64, "clock");
    let left_out = found.clocks.iter().filter(|clock| clock.undecided == Some(Undecided::NotCompared)).count();
    let others = if left_out > 0 { format!(" {left_out} are not compared.") } else { String::new() };
    parts.push(format!(
        "{all} compared: {slower} slower, {faster} faster, {same} the same, {open} inconclusive.{others}"
    ));
    parts.join(" ")
}

/// Names the first clocks with their ratios, and counts the others; `None` for no clock.
fn named(clocks: &[&ClockComparison]) -> Option<String> {
    let names = clocks.iter().map(|clock| match clock.ratio.get() {
        Some(found) => format!("{} ({} times)", clock.name, times(found.estimate)),
        None => clock.name.clone(),
    });
    shortened(names.collect())
}

/// Joins the first names, and counts the others; `None` for no name.
fn shortened(names: Vec<String>) -> Option<String> {
    match names.get(MAX_NAMES..) {
        Some([_, ..]) => Some(format!("{} and {} more", names[..MAX_NAMES].join(", "), names.len() - MAX_NAMES)),
        _ if names.is_empty() => None,
        _ => Some(names.join(", ")),
    }
}

/// States the machine's speed, if that is known.
fn speed(machine: &MachineComparison) -> Option<String> {
    let counter = machine.counter.get();
    let parts = [
        counter.map(|found| {
            let name = machine.counter_name.as_deref().unwrap_or("the counter");
            format!("{name} costs {} times as much", times(found.estimate))
        }),
        machine.empty_loop.get().map(|found| format!("the empty loop takes {} times as long", times(found.estimate))),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let change = match machine.change {
        CostChange::Slower => "is SLOWER",
        CostChange::Faster => "is faster",
        CostChange::Same => "is as fast as it was",
        CostChange::Inconclusive => "is not known to be slower or faster",
    };
    if parts.is_empty() { None } else { Some(format!("The machine {change}: {}.", parts.join(", "))) }
}
