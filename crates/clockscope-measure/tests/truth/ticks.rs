//! A tick that was reported, against the true one.

use clockscope_records::TickEvidence;
use clockscope_system::Unit;

use crate::machine::{Machine, Spec};

/// Share by which a tick may differ from the true one: no other tick is as near.
const NEAR: f64 = 1e-4;
/// Clocks whose step is shorter than this, in ns, are known to be that fine at most.
const MIN_FOUND_TICK_NS: f64 = 3.0;

/// It is right or unknown; and so is what it is at most.
///
/// # Panics
/// It is not.
pub(crate) fn check(machine: &Machine, spec: &Spec, reported_ns: Option<f64>, evidence: Option<&TickEvidence>) {
    check_to(0.0, machine, spec, reported_ns, evidence);
}

/// Checks a tick, where the length of a counter's unit may be off by this share, beside [`NEAR`].
///
/// # Panics
/// As above.
pub(crate) fn check_to(
    near: f64,
    machine: &Machine,
    spec: &Spec,
    reported_ns: Option<f64>,
    evidence: Option<&TickEvidence>,
) {
    let near = if spec.id.is_none() { NEAR + near } else { NEAR };
    // Nothing states the length of a counter's unit: it is measured, in ns of the reference.
    let fast =
        machine.spec("monotonic_raw").filter(|_| spec.info.unit == Unit::Counts(None)).map_or(0.0, |raw| raw.fast);
    let true_ns = spec.tick_ns * (1.0 + fast);
    if let Some(reported_ns) = reported_ns {
        // A clock of whole ns shows no finer step than these.
        let is_visible = spec.id.is_none() || true_ns >= 1.0;
        let expected_ns = if is_visible { true_ns } else { 1.0 };
        let off = (reported_ns / expected_ns - 1.0).abs();
        assert!(off <= near, "{}: the tick is {expected_ns} ns, and {reported_ns} ns was reported", spec.label());
    }
    if let Some(at_most_ns) = evidence.and_then(|evidence| evidence.at_most_ns) {
        let is_above = at_most_ns >= true_ns.min(MIN_FOUND_TICK_NS) * (1.0 - near);
        assert!(is_above, "{}: the tick is {true_ns} ns, and {at_most_ns} ns at most was reported", spec.label());
    }
}
