//! Comparison of the records of two times: whether clocks cost more than they did, or anything else
//! has changed.
//!
//! A run's own interval covers what drifts within it, and the next run's median may lie far
//! outside. So runs are compared, each by one number. Their speed moves together with the machine's
//! between one minute and the next: a clock is slower only if it is so in ns and relative to what
//! the machine itself does, the empty loop and the read of a counter in the same run.

mod costs;
mod events;
mod facts;
mod side;

use std::collections::BTreeMap;

use clockscope_records::{
    Check, ComparedSide, ComparedVerdict, Comparison, Document, Envelope, Environment, Measurement, Trustworthiness,
};
use thiserror::Error;

pub use costs::MISRATE;
pub use facts::MachineDifference;
use side::{ComparedClock, Side};

/// A record that takes part in a comparison.
#[derive(Clone, Debug)]
pub struct ComparedRecord {
    /// The name of its file; `None` for what was measured just now.
    pub file: Option<String>,
    /// Content of the file.
    pub document: Document,
}

/// Request for a comparison.
#[derive(Clone, Debug)]
pub struct CompareRequest {
    /// Names of the clocks that may be compared; all if empty.
    pub clocks: Vec<String>,
    /// True to compare all of them; else those are left out of many that programs seldom read.
    pub all: bool,
    /// The change of a cost that does not matter, as a share.
    pub margin: f64,
    /// True if the sides may be of different machines.
    pub across_machines: bool,
}

/// Reason why records cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CompareError {
    /// A side has no record.
    #[error("{side}: no record: expected records of `clockscope measure` or `clockscope check`")]
    NoRecord {
        /// The side.
        side: &'static str,
    },
    /// A record answers another question.
    #[error("{file}: its schema is \"{schema}\": expected a record of `clockscope measure` or `clockscope check`")]
    OtherDocument {
        /// The file.
        file: String,
        /// The schema that it names.
        schema: String,
    },
    /// Some records are of `measure`, some of `check`.
    #[error("{measured} is a record of `measure` and {checked} one of `check`: compare records of one command")]
    MixedDocuments {
        /// A record of one command.
        measured: String,
        /// A record of the other.
        checked: String,
    },
    /// One record twice.
    #[error("{first} and {second} are the same record: a run says nothing about how runs differ from itself")]
    SameRecord {
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// A side has records of different machines.
    #[error("{side}: {first} and {second} are of different machines: expected records of one machine on each side")]
    MixedMachines {
        /// The side.
        side: &'static str,
        /// One of them.
        first: String,
        /// The other.
        second: String,
    },
    /// The sides are of different machines.
    #[error("{base} and {new} are of different machines ({difference}): --across-machines compares them")]
    OtherMachine {
        /// A record that is compared with.
        base: String,
        /// A record that is judged.
        new: String,
        /// The difference.
        difference: MachineDifference,
    },
    /// No record has this clock.
    #[error("unknown clock: {0}; none of the records has it")]
    UnknownClock(String),
}

/// The records of both sides, by the command that wrote them.
enum Sides<'a> {
    Measured([Vec<&'a Envelope<Measurement>>; 2]),
    Checked([Vec<&'a Envelope<Check>>; 2]),
}

/// Clocks that are all compared where none is named: more would widen the bounds too far.
const MAX_DEFAULT_CLOCKS: usize = 8;

const SIDES: [&str; 2] = ["BASE", "NEW"];

/// Compares the costs, events and facts of records with those of others, or their verdicts. The
/// answer's head is that of the last new record.
///
/// # Errors
/// The records are not comparable: see [`CompareError`].
pub fn compare(
    base: &[ComparedRecord],
    new: &[ComparedRecord],
    request: &CompareRequest,
) -> Result<Envelope<Comparison>, CompareError> {
    let records = [base, new];
    let last = new.last().ok_or(CompareError::NoRecord { side: SIDES[1] })?;
    let sides = sorted(records)?;
    refuse_copies(records)?;
    let is_other_machine = machines(records, request.across_machines)?;
    let mut found = Comparison {
        base: side(base, &sides, 0),
        new: side(new, &sides, 1),
        is_other_machine,
        margin: request.margin,
        misrate: MISRATE,
        changes: Vec::new(),
        verdicts: Vec::new(),
        machine: None,
        clocks: Vec::new(),
    };
    match &sides {
        Sides::Measured(measured) => {
            let sides = measured.each_ref().map(|side| Side::from_records(side));
            let clocks = labels(&sides, &request.clocks)?;
            found.changes = facts::changes_of_measurements(measured, &clocks);
            let (compared, others) = if request.all { (clocks, Vec::new()) } else { usual(&sides, clocks) };
            let costs = costs::compare(&sides, &compared, request.margin);
            (found.machine, found.clocks) = (Some(costs.machine), costs.clocks);
            found.clocks.extend(others.iter().map(|label| costs::not_compared(&sides, label)));
            found.clocks.iter_mut().for_each(|clock| clock.appeared = events::appeared(measured, &clock.name));
        }
        Sides::Checked(checked) => {
            found.changes = facts::changes_of_environments(&environments(records));
            found.verdicts = verdicts(checked);
            if let Some(name) = request.clocks.iter().find(|name| !found.verdicts.iter().any(|of| of.clock == **name)) {
                return Err(CompareError::UnknownClock(name.clone()));
            }
            found.verdicts.retain(|verdict| request.clocks.is_empty() || request.clocks.contains(&verdict.clock));
        }
    }
    Ok(Envelope::of_facts(recorded_at(&last.document).map(str::to_owned), last.document.environment().clone(), found))
}

/// Command whose answer is going to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparedQuestion {
    /// `clockscope measure`.
    Measure,
    /// `clockscope check`.
    Check,
}

/// Refuses records with which an answer of this machine could not be compared, before it is there.
///
/// # Errors
/// The records are not comparable with it: see [`CompareError`].
pub fn comparable(
    base: &[ComparedRecord],
    question: ComparedQuestion,
    here: &Environment,
    across_machines: bool,
) -> Result<(), CompareError> {
    let sides = sorted([base, base])?;
    refuse_copies([base, &[]])?;
    let Some(first) = base.first() else { return Err(CompareError::NoRecord { side: SIDES[0] }) };
    match (question, sides) {
        (ComparedQuestion::Measure, Sides::Checked(_)) => {
            return Err(CompareError::MixedDocuments { measured: NEW_RUN.to_owned(), checked: name(first) });
        }
        (ComparedQuestion::Check, Sides::Measured(_)) => {
            return Err(CompareError::MixedDocuments { measured: name(first), checked: NEW_RUN.to_owned() });
        }
        (ComparedQuestion::Measure, Sides::Measured(_)) | (ComparedQuestion::Check, Sides::Checked(_)) => {}
    }
    refuse_several_machines(base, 0)?;
    let differing = base.iter().find_map(|record| {
        let difference = facts::other_machine(record.document.environment(), here)?;
        Some((record, difference))
    });
    match differing {
        Some((record, difference)) if !across_machines => {
            Err(CompareError::OtherMachine { base: name(record), new: NEW_RUN.to_owned(), difference })
        }
        _ => Ok(()),
    }
}

/// Name of what was measured just now, in sentences.
const NEW_RUN: &str = "the new run";

/// The name of a record in sentences.
fn name(record: &ComparedRecord) -> String {
    record.file.clone().unwrap_or_else(|| NEW_RUN.to_owned())
}

/// The records by their commands; those of both are not comparable.
fn sorted(records: [&[ComparedRecord]; 2]) -> Result<Sides<'_>, CompareError> {
    let (mut measured, mut checked) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    let (mut first_measured, mut first_checked) = (None, None);
    for (index, side) in records.iter().enumerate() {
        if side.is_empty() {
            return Err(CompareError::NoRecord { side: SIDES[index] });
        }
        for record in *side {
            match &record.document {
                Document::Measurement(measurement) => {
                    measured[index].push(measurement);
                    first_measured.get_or_insert_with(|| name(record));
                }
                Document::Check(check) => {
                    checked[index].push(check);
                    first_checked.get_or_insert_with(|| name(record));
                }
                other => {
                    return Err(CompareError::OtherDocument { file: name(record), schema: other.schema().to_owned() });
                }
            }
        }
    }
    match (first_measured, first_checked) {
        (Some(measured), Some(checked)) => Err(CompareError::MixedDocuments { measured, checked }),
        (_, None) => Ok(Sides::Measured(measured)),
        (None, Some(_)) => Ok(Sides::Checked(checked)),
    }
}

/// Refuses a record that is there twice, under whatever names.
fn refuse_copies(records: [&[ComparedRecord]; 2]) -> Result<(), CompareError> {
    let all: Vec<&ComparedRecord> = records.iter().copied().flatten().collect();
    for (index, record) in all.iter().enumerate() {
        if let Some(copy) = all[index + 1..].iter().find(|other| other.document == record.document) {
            return Err(CompareError::SameRecord { first: name(record), second: name(copy) });
        }
    }
    Ok(())
}

fn environments(records: [&[ComparedRecord]; 2]) -> [Vec<&Environment>; 2] {
    records.map(|side| side.iter().map(|record| record.document.environment()).collect())
}

/// Returns true if the sides are of different machines. Refuses it unless it was asked for, and a
/// side of several in any case.
fn machines(records: [&[ComparedRecord]; 2], across_machines: bool) -> Result<bool, CompareError> {
    for (index, side) in records.iter().enumerate() {
        refuse_several_machines(side, index)?;
    }
    match difference(records[0], records[1]) {
        Some((base, new, difference)) if !across_machines => {
            Err(CompareError::OtherMachine { base: name(base), new: name(new), difference })
        }
        found => Ok(found.is_some()),
    }
}

/// Refuses a side with records of different machines.
fn refuse_several_machines(side: &[ComparedRecord], index: usize) -> Result<(), CompareError> {
    match difference(side, side) {
        Some((first, second, _)) => {
            Err(CompareError::MixedMachines { side: SIDES[index], first: name(first), second: name(second) })
        }
        None => Ok(()),
    }
}

/// Returns the first records of two lists that are of different machines. Each is compared with
/// each: one that does not state the processor's family may be of the same machine as any.
fn difference<'a>(
    some: &'a [ComparedRecord],
    others: &'a [ComparedRecord],
) -> Option<(&'a ComparedRecord, &'a ComparedRecord, MachineDifference)> {
    let mut pairs = some.iter().flat_map(|a| others.iter().map(move |b| (a, b)));
    pairs.find_map(|(a, b)| Some((a, b, facts::other_machine(a.document.environment(), b.document.environment())?)))
}

fn recorded_at(document: &Document) -> Option<&str> {
    match document {
        Document::Measurement(measurement) => measurement.recorded_at.as_deref(),
        Document::Check(check) => check.recorded_at.as_deref(),
        _ => None,
    }
}

/// Description of a side's records.
fn side(records: &[ComparedRecord], sides: &Sides<'_>, index: usize) -> ComparedSide {
    let runs = match sides {
        Sides::Measured(measured) => {
            let runs = measured[index].iter().map(|measurement| measurement.run.as_ref().and_then(|run| run.runs));
            runs.map(|runs| runs.unwrap_or(1)).sum()
        }
        Sides::Checked(checked) => u32::try_from(checked[index].len()).unwrap_or(u32::MAX),
    };
    // RFC 3339 in UTC is in the order of its letters.
    let times = records.iter().filter_map(|record| recorded_at(&record.document));
    ComparedSide {
        files: records.iter().filter_map(|record| record.file.clone()).collect(),
        runs,
        first_recorded_at: times.clone().min().map(str::to_owned),
        last_recorded_at: times.max().map(str::to_owned),
    }
}

/// The labels of the clocks that are compared, in the order of the records.
fn labels(sides: &[Side; 2], names: &[String]) -> Result<Vec<String>, CompareError> {
    let mut clocks: Vec<(&String, bool)> = Vec::new();
    for clock in sides.iter().rev().flat_map(|side| &side.clocks) {
        let is_requested = names.is_empty() || names.iter().any(|name| clock.has_name(name));
        if !clocks.iter().any(|(label, _)| *label == &clock.label) {
            clocks.push((&clock.label, is_requested));
        }
    }
    let recorded = sides.iter().flat_map(|side| &side.clocks);
    match names.iter().find(|name| !recorded.clone().any(|clock| clock.has_name(name))) {
        Some(name) => Err(CompareError::UnknownClock(name.clone())),
        None => {
            Ok(clocks.into_iter().filter(|(_, is_requested)| *is_requested).map(|(label, _)| label.clone()).collect())
        }
    }
}

/// Divides clocks into those that are compared unless all are to be, and the others. All of a few
/// are compared, else those that programs usually read and the cheapest sequence of the counter
/// that waits for what precedes it.
fn usual(sides: &[Side; 2], labels: Vec<String>) -> (Vec<String>, Vec<String>) {
    let measured = labels.iter().filter(|label| is_measured(sides, label));
    if measured.count() <= MAX_DEFAULT_CLOCKS {
        return (labels, Vec::new());
    }
    let ordered = sides[0].clocks.iter().filter(|clock| clock.is_ordered_counter && labels.contains(&clock.label));
    let measured = ordered.filter(|clock| is_measured(sides, &clock.label));
    let counter = measured.min_by(|a, b| cost(a).total_cmp(&cost(b))).map(|clock| clock.label.clone());
    labels.into_iter().partition(|label| {
        counter.as_ref() == Some(label)
            || sides.iter().any(|side| side.clock(label).is_some_and(|clock| clock.is_usual))
    })
}

/// Returns true if both sides have the cost of a clock.
fn is_measured(sides: &[Side; 2], label: &str) -> bool {
    sides.iter().all(|side| side.clock(label).is_some_and(costs::has_cost))
}

/// Median cost of a clock in its first run with one, in ns.
fn cost(clock: &ComparedClock) -> f64 {
    clock.measured().next().map_or(f64::INFINITY, |cost| cost.median)
}

/// The verdicts on the clocks that both sides judge: the worst of each side.
fn verdicts(checked: &[Vec<&Envelope<Check>>; 2]) -> Vec<ComparedVerdict> {
    let [base, new] = checked.each_ref().map(|side| {
        let mut worst: BTreeMap<String, Trustworthiness> = BTreeMap::new();
        for verdict in side.iter().flat_map(|check| &check.found.verdicts) {
            let known = worst.entry(verdict.clock.clone()).or_insert(verdict.verdict);
            *known = verdict.verdict.min(*known);
        }
        worst
    });
    let names = checked[1].iter().flat_map(|check| &check.found.verdicts).map(|verdict| &verdict.clock);
    let mut found: Vec<ComparedVerdict> = Vec::new();
    for clock in names {
        let is_known = found.iter().any(|verdict| verdict.clock == *clock);
        if let (false, Some(base), Some(new)) = (is_known, base.get(clock), new.get(clock)) {
            found.push(ComparedVerdict { clock: clock.clone(), base: *base, new: *new });
        }
    }
    found
}

#[cfg(test)]
mod tests;
