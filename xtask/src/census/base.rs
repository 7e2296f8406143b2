//! Base records, from which those of a census are derived.

use anyhow::{Context, Result, bail};
use clockscope_records::{Check, Document, Envelope, EvidenceKind, Finding};

use crate::run;

/// A check of a guest of KVM whose clocksource is the TSC. Its names are not of a machine.
const KEPT: [&str; 1] = [include_str!("bases/tsc.json")];

/// Reads the kept records.
pub(super) fn kept() -> Result<Vec<Envelope<Check>>> {
    KEPT.into_iter().map(read).collect()
}

/// Checks this machine, by the command that was built for release.
pub(super) fn of_this_machine() -> Result<Envelope<Check>> {
    let built = run::built("release/clockscope");
    let program = if std::path::Path::new(&built).is_file() { built } else { run::release_program()? };
    // A check that finds something exits with another code than 0.
    let output = std::process::Command::new(&program).args(["check", "--quiet", "--format", "json"]).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    read(&String::from_utf8_lossy(&output.stdout)).context("this machine's check is not a base record")
}

/// Reads a check of a machine whose clocks are fit, apart from civil time.
fn read(text: &str) -> Result<Envelope<Check>> {
    let Document::Check(check) = Document::from_json(text)? else { bail!("expected a record of check") };
    let all = check.found.verdicts.iter().flat_map(|verdict| &verdict.evidence);
    let mut wrong = all.filter(|found| {
        found.finding != Finding::For
            && !matches!(found.data.kind(), EvidenceKind::Synchronization | EvidenceKind::NominalFrequency)
    });
    match wrong.next() {
        Some(found) => bail!("a base record supports its clocks, but {}: {}", found.data.name(), found.text()),
        None => Ok(check),
    }
}
