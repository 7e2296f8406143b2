//! Numbers with their units, for readers.

pub(crate) use clockscope_records::units::{
    PpmBound, decimals, figure, fixed, percent, rounded_up, significant, tick_parts, tick_time, time, time_parts,
    time_unit, trimmed,
};

use clockscope_records::units::time_with;

/// The digits of a cost.
pub(crate) const COST_DIGITS: i32 = 4;

/// Shows a cost in ns: a time with four digits.
pub(crate) fn cost(ns: f64) -> String {
    time_with(ns, COST_DIGITS)
}

/// Shows a time with six digits, in ns below a millisecond, so that a column of times has one unit.
pub(crate) fn exact_time(ns: f64) -> String {
    if ns.abs() < 1e6 { format!("{} ns", figure(ns, 6)) } else { time(ns) }
}

/// Shows parts per million with three digits, but no finer than a millionth of one.
pub(crate) fn ppm(value: f64) -> String {
    let text = if value.abs() >= 1e-3 { significant(value, 3) } else { format!("{value:.6}") };
    match trimmed(&text) {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// Shows a frequency in MHz, to the Hz.
pub(crate) fn megahertz(hz: f64) -> String {
    format!("{:.6} MHz", hz / 1e6)
}

/// Shows a frequency with four digits and the unit that fits it.
pub(crate) fn hertz(hz: f64) -> String {
    let (scale, unit) = match hz {
        hz if hz >= 1e9 => (1e9, "GHz"),
        hz if hz >= 1e6 => (1e6, "MHz"),
        hz if hz >= 1e3 => (1e3, "kHz"),
        _ => (1.0, "Hz"),
    };
    format!("{} {unit}", figure(hz / scale, 4))
}

/// Shows a share in percent, rounded down, so that only all of them are 100.
pub(crate) fn share(count: u64, all: u64) -> String {
    let percent = (count as f64 / all.max(1) as f64 * 1e6).floor() / 1e4;
    match count {
        0 => "0".to_owned(),
        _ if count == all => "100".to_owned(),
        _ if percent == 0.0 => "< 0.0001".to_owned(),
        _ => format!("{percent:.4}"),
    }
}
