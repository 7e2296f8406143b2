//! Why figures of a rate are not known.

use clockscope_records::{RateRecord, Unknown};

/// Why nothing is told.
pub(super) const TOO_FEW: &str = "it took too few brackets, or too little time passed between them";
pub(super) const NO_SCALE: &str =
    "one of the two has no rate against the reference by which its unit would have a length";
pub(super) const FEW: &str = "fewer than three brackets were not interrupted";
pub(super) const TICKED: &str = "one of the two is moved by the timer tick, which may come late: the bound takes for granted that it does \
                      not, and what looks like a step may be a late tick";

/// Says why each field is `null` that is.
pub(super) fn explain(record: &mut RateRecord, reason: &str, until_ppm: Option<f64>) {
    let is_counter = record.frequency_hz.is_some();
    let no_claim = "neither hardware nor hypervisor state a frequency that it could be compared with";
    let reason_of_rate = if is_counter { no_claim } else { reason };
    let no_ticks = "it tells time, not ticks";
    let reason_of_ticks = if record.available && record.ppm.is_some() { no_ticks } else { reason };
    let mut unknown = Unknown::new();
    let mut note = |field: &str, is_null: bool, reason: &str| {
        if is_null {
            unknown.insert(field.to_owned(), reason.to_owned());
        }
    };
    note(
        "stood_still_ns",
        record.stood_still_ns.is_none(),
        if record.seconds.is_some() { "it stepped" } else { reason },
    );
    note("ppm", record.ppm.is_none(), reason_of_rate);
    note("bound_ppm", record.bound_ppm.is_none(), reason);
    note("estimate_ppm", record.estimate_ppm.is_none(), if record.ppm.is_some() { FEW } else { reason_of_rate });
    note("frequency_hz", record.frequency_hz.is_none(), reason_of_ticks);
    note("frequency_bound_hz", record.frequency_bound_hz.is_none(), reason_of_ticks);
    note("nominal_hz", record.nominal_hz.is_none(), if is_counter { no_claim } else { reason_of_ticks });
    for (field, is_null) in [
        ("seconds", record.seconds.is_none()),
        ("bracket_ns", record.bracket_ns.is_none()),
        ("ticks_ns", record.ticks_ns.is_none()),
    ] {
        note(field, is_null, reason);
    }
    let untested = if record.seconds.is_some() { record.reason.as_deref().unwrap_or(FEW) } else { reason };
    let tested = record.constant.is_some();
    note("constant", !tested, untested);
    note("changed", record.changed.is_none(), if tested { "one rate explains all brackets" } else { untested });
    note("step", record.step.is_none(), if tested { "none was seen" } else { untested });
    let no_bound = if until_ppm.is_none() { "no bound was asked for" } else { reason };
    note("needed_s", record.needed_s.is_none(), no_bound);
    record.unknown = unknown;
}
