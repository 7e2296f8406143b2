//! What stands in the cells of a table, for every format that has one.

use clockscope_records::{ClockKind, ClockRecord, Cost, Listed, Monotonic, ReadPath, TickEvidence};

/// What is not known. The reason stands below the table.
pub(crate) const UNKNOWN: &str = "?";

/// Heads of the table of measured clocks.
pub(crate) const MEASURED: [&str; 14] = [
    "Name", "Cost(ns)", "±95 %", "×", "Nominal", "Observed", "Tick", "Mono", "Stuck", "Warp", "Stal", "Regr", "Jump",
    "Gap",
];

/// Heads of the list of clocks.
pub(crate) const LISTED: [&str; 6] = ["Name", "Kind", "Path", "Nominal", "Available", "What"];

/// The cells of a measured clock, in the order of [`MEASURED`].
pub(crate) fn measured(clock: &ClockRecord) -> [String; 14] {
    let cost = clock.cost_ns.as_ref();
    let events = clock.events.as_ref();
    let count = |value: Option<u64>| known(value, |value| value.to_string());
    [
        clock.identity.label(),
        known(cost, |cost| significant(cost.median, 4)),
        known(cost.and_then(|cost| Some((interval(cost)?, cost.median))), |([low, high], median)| {
            format!("{:.2}%", (high - low) / 2.0 / median * 100.0)
        }),
        known(clock.ratio_to_fastest, |ratio| format!("{ratio:.2}")),
        known(clock.nominal_resolution_ns, time),
        known(clock.observed_resolution_ns, time),
        tick(clock.tick_ns, clock.tick_evidence.as_ref()),
        known(clock.monotonic, |monotonic| mono(monotonic).to_owned()),
        count(events.map(|events| events.stuck)),
        count(events.and_then(|events| events.warp)),
        count(events.map(|events| events.stall)),
        known(events, |events| match events.hidden_regression {
            Some(hidden) if hidden > 0 => format!("{}+{hidden}h", events.regression),
            _ => events.regression.to_string(),
        }),
        count(events.and_then(|events| events.jump)),
        count(events.and_then(|events| events.gap)),
    ]
}

/// Between runs where there were several, else of this one.
fn interval(cost: &Cost) -> Option<[f64; 2]> {
    cost.between_runs.map_or(cost.ci95, |between| between.interval95)
}

/// A tick, or what it is at most.
pub(crate) fn tick(tick_ns: Option<f64>, evidence: Option<&TickEvidence>) -> String {
    match (tick_ns, evidence.and_then(|evidence| evidence.at_most_ns)) {
        (Some(ns), _) => precise_time(ns),
        (None, Some(ns)) => format!("≤ {}", time(ns)),
        (None, None) => UNKNOWN.to_owned(),
    }
}

/// The cells of a listed clock, in the order of [`LISTED`].
pub(crate) fn listed(clock: &Listed) -> [String; 6] {
    let identity = &clock.identity;
    let aliases =
        if identity.aliases.is_empty() { String::new() } else { format!(" ({})", identity.aliases.join(", ")) };
    [
        identity.name.clone() + &aliases,
        kind(identity.kind).to_owned(),
        path(identity.path).to_owned(),
        known(clock.nominal_resolution_ns, time),
        (if clock.available { "yes" } else { "no" }).to_owned(),
        identity.description.clone(),
    ]
}

/// Whether the clock did something that a clock must not do.
pub(crate) fn is_faulty(clock: &ClockRecord) -> bool {
    clock.events.as_ref().is_some_and(|events| {
        events.regression + events.hidden_regression.unwrap_or(0) + events.jump.unwrap_or(0) + events.errors > 0
    })
}

/// A kind, as JSON writes it.
pub(crate) fn kind(kind: ClockKind) -> &'static str {
    match kind {
        ClockKind::Counter => "counter",
        ClockKind::Cycles => "cycles",
        ClockKind::Monotonic => "monotonic",
        ClockKind::Wall => "wall",
        ClockKind::CpuTime => "cpu_time",
    }
}

/// A path, as JSON writes it.
pub(crate) fn path(path: ReadPath) -> &'static str {
    match path {
        ReadPath::Instruction => "instruction",
        ReadPath::Libc => "libc",
        ReadPath::Vdso => "vdso",
        ReadPath::Syscall => "syscall",
        ReadPath::Std => "std",
        ReadPath::Mmap => "mmap",
        ReadPath::Library => "library",
    }
}

/// strict, weak or no.
pub(crate) fn mono(monotonic: Monotonic) -> &'static str {
    match monotonic {
        Monotonic { strict: true, .. } => "strict",
        Monotonic { weak: true, .. } => "weak",
        _ => "no",
    }
}

/// A time in ns with the unit that fits it.
pub(crate) fn time(ns: f64) -> String {
    time_with(ns, 3)
}

/// The same with four digits, as costs are told.
pub(crate) fn cost(ns: f64) -> String {
    time_with(ns, 4)
}

/// The same with six digits.
pub(crate) fn precise_time(ns: f64) -> String {
    time_with(ns, 6)
}

fn time_with(ns: f64, digits: i32) -> String {
    // What is rounded to 1000 of a unit is 1 of the next.
    let (scale, unit) = match ns.abs() * (1.0 + 0.5 * 10f64.powi(-digits)) {
        ns if ns >= 1e9 => (1e9, "s"),
        ns if ns >= 1e6 => (1e6, "ms"),
        ns if ns >= 1e3 => (1e3, "µs"),
        _ => (1.0, "ns"),
    };
    format!("{} {unit}", trimmed(&significant(ns / scale, digits)))
}

/// A time with six digits, in ns below a millisecond, so that times below each other are in one unit.
pub(crate) fn exact_time(ns: f64) -> String {
    if ns.abs() < 1e6 { format!("{} ns", trimmed(&significant(ns, 6))) } else { time(ns) }
}

/// A number without the zeros that end its fraction.
pub(crate) fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// So many of all in percent, rounded down, so that only all of them are 100.
pub(crate) fn share(count: u64, all: u64) -> String {
    let percent = (count as f64 / all.max(1) as f64 * 1e6).floor() / 1e4;
    match count {
        0 => "0".to_owned(),
        _ if count == all => "100".to_owned(),
        _ if percent == 0.0 => "< 0.0001".to_owned(),
        _ => format!("{percent:.4}"),
    }
}

/// A number with so many significant digits, never in scientific notation.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let before_point = value.abs().log10().floor() as i32 + 1;
    format!("{value:.*}", (digits - before_point).max(0) as usize)
}

/// A value, or that it is not known.
pub(crate) fn known<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| UNKNOWN.to_owned(), show)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_fitting_units() {
        for (ns, shown) in [
            (1.0, "1 ns"),
            (0.385_19, "0.385 ns"),
            (10.01, "10 ns"),
            (1000.0, "1 µs"),
            (4e6, "4 ms"),
            (1e9, "1 s"),
            (69.841, "69.8 ns"),
            (100.0, "100 ns"),
            (999.6, "1 µs"),
            (999.4, "999 ns"),
            (999_999.9, "1 ms"),
        ] {
            assert_eq!(time(ns), shown);
        }
        assert_eq!([999.999_6, 999.99].map(precise_time), ["1 µs", "999.99 ns"]);
    }

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!(
            [significant(9.4949, 4), significant(247.12, 4), significant(12_345.6, 4)],
            ["9.495", "247.1", "12346"]
        );
    }
}
