//! The runtimes that there are.

use clockscope_records::{RuntimeFound, RuntimesFound};
use serde_json::Value;

use super::question_page::QuestionPage;
use crate::model::{Block, Cell, Table};
use crate::sheet::Sheet;
use crate::style::View;
use crate::words::counted;

/// Columns of a spreadsheet.
const COLUMNS: &str = "runtime title version program available reason failure get";

impl QuestionPage for RuntimesFound {
    const LINES: &'static [(&'static str, &'static str)] = &[("runtimes", "runtime")];

    fn blocks(&self, _: View) -> Vec<Block> {
        let (there, missing): (Vec<_>, Vec<_>) = self.runtimes.iter().partition(|one| one.available);
        let missing = missing.into_iter().map(|one| {
            let reason = one.reason.as_deref().unwrap_or("no reason was recorded");
            let remedy = if one.get.is_empty() { String::new() } else { format!("; get it: {}", one.get) };
            format!("{}: {reason}{remedy}", one.runtime)
        });
        vec![
            Table::new(["Runtime", "Version", "Program"], 3, there.into_iter().map(row)).into(),
            Block::notes("Not available:", missing),
        ]
    }

    fn conclusion(&self) -> Vec<String> {
        vec![conclusion(self)]
    }

    fn sheet(&self, record: &Value) -> Sheet {
        Sheet::of_list(record, "runtimes", COLUMNS)
    }
}

fn row(one: &RuntimeFound) -> Vec<Cell> {
    vec![one.runtime.as_str().into(), Cell::text(one.version.as_deref()), Cell::text(one.program.as_deref())]
}

fn conclusion(found: &RuntimesFound) -> String {
    let there = found.runtimes.iter().filter(|one| one.available).count();
    let all = counted(found.runtimes.len() as u64, "runtime");
    match there {
        0 => format!("None of {all} can be measured."),
        _ => format!("{there} of {all} can be measured: `clockscope runtimes`."),
    }
}
