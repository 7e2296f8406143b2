//! The common parts of documents on clocks.

use clockscope_records::{ClockIdentity, TickEvidence, Unknown, unavailable_because};
use serde_json::Value;

use crate::model::{Block, Cell};
use crate::units::{self, time_parts};

/// A clock with whether it could be read and why not.
pub(super) type Readable<'a> = (&'a ClockIdentity, bool, Option<&'a Unknown>);

/// Lists the clocks that could not be read.
pub(super) fn not_available<'a>(clocks: impl Iterator<Item = Readable<'a>>) -> Block {
    let missing = clocks.filter(|(_, available, _)| !available);
    let named = missing.map(|(identity, _, reason)| {
        let label = identity.label();
        let reason = unavailable_because(&label, reason.unwrap_or(&Unknown::Unrecorded));
        (label, reason)
    });
    Block::folded("Clocks that are not available", [Block::notes("Not available:", in_order(named))])
}

/// Groups names by their reasons: a line a reason, in the order of the first name of each.
pub(super) fn in_order<R: Into<String>>(names: impl Iterator<Item = (String, R)>) -> Vec<String> {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for (name, reason) in names {
        let reason = reason.into();
        match lines.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => lines.push((reason, vec![name])),
        }
    }
    lines.iter().map(|(reason, names)| format!("{}: {reason}", names.join(", "))).collect()
}

/// Returns the figure and the unit of a tick, or of its upper bound with `≤`; `None` if neither is
/// known.
pub(super) fn tick_parts(tick_ns: Option<f64>, evidence: Option<&TickEvidence>) -> Option<(String, &'static str)> {
    if let Some(tick_ns) = tick_ns {
        return Some(units::tick_parts(tick_ns));
    }
    let (figure, unit) = time_parts(evidence?.at_most_ns?, 3);
    Some((format!("≤ {figure}"), unit))
}

/// Shows a tick, or its upper bound.
pub(super) fn tick_cell(tick_ns: Option<f64>, evidence: Option<&TickEvidence>) -> Cell {
    Cell::known(tick_parts(tick_ns, evidence), |(figure, unit)| format!("{figure} {unit}"))
}

/// Returns the text of a JSON string.
pub(super) fn word(json: &Value) -> String {
    json.as_str().unwrap_or_default().to_owned()
}
