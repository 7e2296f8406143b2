//! Which runtimes there are.

use clockscope_records::{RuntimeFound, RuntimesFound};

use super::{Block, counted};
use crate::cells::UNKNOWN;

pub(super) fn blocks(found: &RuntimesFound) -> Vec<Block> {
    let or = |text: &Option<String>| text.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let row = |one: &RuntimeFound| vec![one.runtime.clone(), or(&one.version), or(&one.program)];
    let there = found.runtimes.iter().filter(|one| one.available);
    let missing = found.runtimes.iter().filter(|one| !one.available).map(|one| {
        let reason = one.reason.as_deref().unwrap_or("no reason was recorded");
        format!("{}: {reason}; get it: {}", one.runtime, one.get)
    });
    vec![
        Block::table("", &["Runtime", "Version", "Program"], 3, there.map(row).collect()),
        Block::lines("Not available:", missing.collect()),
    ]
}

pub(super) fn conclusion(found: &RuntimesFound) -> Vec<String> {
    let there = found.runtimes.iter().filter(|one| one.available).count();
    let all = counted(found.runtimes.len() as u64, "runtime");
    vec![match there {
        0 => format!("None of {all} can be measured."),
        _ => format!("{there} of {all} can be measured: `clockscope runtimes`."),
    }]
}
