//! The machines of several reports, each once.

use maud::{Markup, html};

use super::parts::{fold, pairs};
use crate::model::Block;
use crate::words::Text;

/// A machine, and the numbers of its reports.
struct Machine<'a> {
    facts: &'a [(Text, Text)],
    reports: Vec<usize>,
}

/// Shows each machine that the reports are of.
pub(super) fn of_all(reports: &[Vec<Block>]) -> Markup {
    let machines = grouped(reports);
    html! {
        @for machine in &machines {
            (fold(&title(machine, machines.len() == 1), pairs(machine.facts))) "\n"
        }
    }
}

/// Groups the reports of equal machines, in the order of their first report.
fn grouped(reports: &[Vec<Block>]) -> Vec<Machine<'_>> {
    let mut machines: Vec<Machine<'_>> = Vec::new();
    for (number, blocks) in (1..).zip(reports) {
        let facts = blocks.iter().find_map(|block| match block {
            Block::Environment { machine, .. } if !machine.is_empty() => Some(&machine[..]),
            _ => None,
        });
        let Some(facts) = facts else { continue };
        match machines.iter_mut().find(|machine| machine.facts == facts) {
            Some(machine) => machine.reports.push(number),
            None => machines.push(Machine { facts, reports: vec![number] }),
        }
    }
    machines
}

/// `Machine: AMD EPYC`, or `Machine of reports 1 and 3: AMD EPYC`.
fn title(machine: &Machine<'_>, is_only: bool) -> String {
    let name = machine.facts.first().map_or("", |(_, processor)| &**processor);
    match machine.reports.as_slice() {
        _ if is_only => format!("Machine: {name}"),
        [report] => format!("Machine of report {report}: {name}"),
        reports => {
            let numbers: Vec<String> = reports.iter().map(usize::to_string).collect();
            format!("Machine of reports {}: {name}", numbers.join(", "))
        }
    }
}

/// Shows how a report was recorded, in one line.
pub(super) fn recording(facts: &[(Text, Text)]) -> Markup {
    let facts: Vec<String> = facts.iter().map(|(name, value)| format!("{name} {value}")).collect();
    html! {
        @if !facts.is_empty() {
            p class="context recording" { (facts.join("; ")) }
        }
    }
}
