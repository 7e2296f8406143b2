//! Base records, from which those of a census are derived.

use anyhow::{Context, Result, bail};
use clockscope_records::Figure::Known;
use clockscope_records::{Check, Document, Envelope, EvidenceKind, Finding, Identity, Verdict};

use super::architecture::Architecture;
use crate::{machines, run};

/// Checks of machines whose clocks are fit. Their names are not of a machine:
///
/// - tsc.json: a guest of KVM whose clocksource is the TSC (`clockscope check --format json`).
/// - emulated.json: a guest of QEMU for aarch64 (`cargo xtask machines census`).
/// - simulated.json: a simulated machine (`cargo test -p clockscope-measure --test truth census`).
///
/// `cargo xtask census bases` makes the last two anew.
const KEPT: [&str; 3] =
    [include_str!("bases/tsc.json"), include_str!("bases/simulated.json"), include_str!("bases/emulated.json")];

/// Boots of the emulated machine until its clocks are fit: on a busy computer, some checks decide
/// nothing.
const BOOTS: usize = 5;

/// Evidence that need not be for a clock: a census makes the first two kinds, and no Arm machine
/// shows the third.
const OPTIONAL: [EvidenceKind; 3] =
    [EvidenceKind::Synchronization, EvidenceKind::NominalFrequency, EvidenceKind::Hypervisor];

/// A base record.
pub(super) struct Base(pub(super) Envelope<Check>);

impl Base {
    /// Returns whether its machine has this architecture.
    pub(super) fn is_of(&self, architecture: &Architecture) -> bool {
        self.0.environment.cpu.architecture == architecture.name
    }

    /// Returns the clocksource of its machine.
    pub(super) fn clocksource(&self) -> Option<&String> {
        self.0.environment.clocksource.known()
    }

    /// Returns the clocks whose costs it has.
    pub(super) fn clocks(&self) -> impl Iterator<Item = &str> {
        let has_cost =
            |verdict: &&Verdict| verdict.evidence.iter().any(|found| found.data.kind() == EvidenceKind::Cost);
        self.0.found.verdicts.iter().filter(has_cost).map(|verdict| verdict.clock.as_str())
    }
}

/// Reads the kept records.
pub(super) fn kept() -> Result<Vec<Base>> {
    KEPT.into_iter().map(|text| read(text).map(Base)).collect()
}

/// Checks this machine, by the command that was built for release.
pub(super) fn of_this_machine() -> Result<Base> {
    let built = run::built("release/clockscope");
    let program = if std::path::Path::new(&built).is_file() { built } else { run::release_program()? };
    // A check that finds something exits with another code than 0.
    let output = std::process::Command::new(&program).args(["check", "--quiet", "--format", "json"]).output();
    let output = output.with_context(|| format!("cannot run {program}"))?;
    let check = read(&String::from_utf8_lossy(&output.stdout)).context("this machine's check is not a base record")?;
    Ok(Base(check))
}

/// Makes the kept records of the emulated and of the simulated machine anew.
pub(super) fn renew() -> Result<()> {
    let mut check = String::new();
    for _ in 0..BOOTS {
        check = machines::check_on("census")?;
        if read(&check).is_ok() {
            break;
        }
    }
    keep("emulated", &check)?;
    run::cargo(&["test", "--quiet", "--package", "clockscope-measure", "--test", "truth", "census"])?;
    let file = run::built("tmp/simulated-check.json");
    keep("simulated", &std::fs::read_to_string(&file).with_context(|| format!("cannot read {file}"))?)
}

/// Keeps a base record, without names of a machine and without what a census or a reader makes
/// anew.
fn keep(name: &str, text: &str) -> Result<()> {
    let mut record = read(text)?;
    record.recorded_at = Some("2026-10-31T12:00:00Z".to_owned());
    record.environment.kernel.version = Known("#1 SMP PREEMPT_DYNAMIC".to_owned());
    let nobody = || "0".repeat(64);
    record.found.check_id = "0".repeat(32);
    record.found.identity = Identity { host: Known(nobody()), boot: Known(nobody()), ..Identity::default() };
    let mut record = serde_json::to_value(Document::Check(record))?;
    let verdicts = record["verdicts"].as_array_mut().into_iter().flatten();
    for found in verdicts.filter_map(|verdict| verdict["evidence"].as_array_mut()).flatten() {
        if let Some(found) = found.as_object_mut() {
            found.retain(|key, _| !["name", "source", "text", "advice"].contains(&key.as_str()));
            found.entry("histogram").and_modify(|bins| *bins = serde_json::json!([]));
        }
    }
    let file = run::root().join(format!("xtask/src/census/bases/{name}.json"));
    std::fs::write(&file, format!("{record:#}\n")).with_context(|| format!("cannot write {}", file.display()))
}

/// Reads a check of a machine whose clocks are fit, apart from what is [`OPTIONAL`].
fn read(text: &str) -> Result<Envelope<Check>> {
    let Document::Check(check) = Document::from_json(text)? else { bail!("expected a record of check") };
    let all = check.found.verdicts.iter().flat_map(|verdict| &verdict.evidence);
    let mut wrong = all.filter(|found| found.finding != Finding::For && !OPTIONAL.contains(&found.data.kind()));
    match wrong.next() {
        Some(found) => bail!("a base record supports its clocks, but {}: {}", found.data.name(), found.text()),
        None => Ok(check),
    }
}
